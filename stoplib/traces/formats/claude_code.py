"""Session files of Claude Code: JSON lines, a tree of messages, one run for each thing that a person asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stoplib.traces.builder import Builder, Draft
from stoplib.traces.fields import anthropic_usage, moment, since, text_of
from stoplib.traces.formats.anthropic_messages import blocks_of, calls_in, spoken
from stoplib.traces.formats.base import Format, Head, Options, has
from stoplib.traces.jsonstream import Broken, Item
from stoplib.traces.records import assembled
from stoplib.traces.trace import DECLINED, ERROR, OK, Trace

NOT_A_PERSON = ("<command-", "<local-command-", "<bash-", "Caveat:", "[Request interrupted")
SAID_NO = "The user doesn't want to"


class ClaudeCode(Format):
    """One run from a person's request to the next one; a subagent's side chain is a run of its own.

    A model's reply is several lines, each with the whole usage: it counts once, with the largest output.
    """

    name = "Claude Code"

    def recognises(self, head: Head) -> bool:
        return has(head.object, "sessionId", "type")

    def records(self, pieces: Iterator[Item]) -> Iterator[Item]:
        """The lines of one request each, with their session's id and the request's number."""
        session: list[Any] = []
        for item in assembled(pieces):
            line = item.value
            if isinstance(line, Broken):
                yield item
            elif has(line, "message", "type", "sessionId") and _is_said(line):
                if session and line["sessionId"] != session[0]["sessionId"]:
                    yield from _requests(session)
                    session = []
                line.pop("toolUseResult", None)  # the result once more, in the words of the tool
                session.append(line)
        yield from _requests(session)

    def trace(self, record: Any, options: Options) -> Trace:
        number, lines = record
        run = Builder()
        start = before = moment(lines[0].get("timestamp"))
        replies: dict[str, Draft] = {}
        model = ""
        for line in lines:
            message = line["message"]
            if line["type"] == "assistant":
                model = message.get("model") or model
                _read_block(run, message, replies, since(start, before))
            else:
                _read_user(run, message.get("content"))
            if line["type"] == "assistant" or _results(message):
                before = moment(line.get("timestamp")) or before
        session = str(lines[0]["sessionId"])
        return run.trace(
            f"{session}#{number}",
            session,
            model=str(model),
            seconds=since(start, before),
            errors="flagged",
        )


def _is_said(line: dict[str, Any]) -> bool:
    return line["type"] in ("user", "assistant") and isinstance(line["message"], dict)


def _requests(session: list[dict[str, Any]]) -> Iterator[Item]:
    """The lines below each request, by the tree of messages. What a side chain repeats is left out."""
    requests: dict[str, list[dict[str, Any]]] = {}
    belongs: dict[str, str] = {}
    owner: dict[str, str] = {}
    latest: dict[bool, str] = {}
    for count, line in enumerate(session):
        side = bool(line.get("isSidechain"))
        uuid = str(line.get("uuid") or f"line {count}")
        parent = line.get("parentUuid")
        if _is_request(line) or (side and parent is None):
            request = uuid
        else:
            request = belongs.get(str(parent)) or latest.get(side) or uuid
        said = line["message"].get("id")
        belongs[uuid] = latest[side] = request
        if said is not None and owner.setdefault(str(said), request) != request:
            continue
        requests.setdefault(request, []).append(line)
    runs = [lines for lines in requests.values() if _is_request(lines[0]) or _has_reply(lines)]
    for number, lines in enumerate(runs, 1):
        yield Item((number, lines), number=number)


def _has_reply(lines: list[dict[str, Any]]) -> bool:
    return any(line["type"] == "assistant" for line in lines)


def _results(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in blocks_of(message.get("content")) if block.get("type") == "tool_result"]


def _is_request(line: dict[str, Any]) -> bool:
    """Whether a person asks for something here, on the main chain."""
    if line["type"] != "user" or line.get("isMeta") or line.get("isCompactSummary") or line.get("isSidechain"):
        return False
    blocks = list(blocks_of(line["message"].get("content")))
    words = "".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text").strip()
    return bool(blocks) and not _results(line["message"]) and not words.startswith(NOT_A_PERSON)


def _read_block(run: Builder, message: dict[str, Any], replies: dict[str, Draft], seconds: float | None) -> None:
    """One line of a reply: a new one, or one more block of one that has begun."""
    id = str(message.get("id") or f"reply {len(replies)}")
    usage = anthropic_usage(message.get("usage"))
    draft = replies.get(id)
    if draft is None:
        draft = replies[id] = run.reply(usage=usage, seconds=seconds)
    elif usage and (draft.usage is None or usage.output > draft.usage.output):
        draft.usage = usage
    blocks = list(blocks_of(message.get("content")))
    draft.text += spoken(blocks)
    draft.stop = message.get("stop_reason") or draft.stop
    for call in calls_in(blocks):
        run.call(call, draft)


def _read_user(run: Builder, content: Any) -> None:
    for block in blocks_of(content):
        if block.get("type") == "tool_result":
            text = text_of(block.get("content"))
            failed = DECLINED if text.startswith(SAID_NO) else ERROR
            run.result(text, block.get("tool_use_id"), failed if block.get("is_error") else OK)
        elif block.get("type") == "text":
            run.asked(text_of(block.get("text")))
