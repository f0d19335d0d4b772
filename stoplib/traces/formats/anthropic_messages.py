"""Anthropic's messages, as people save them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stoplib.messages import ToolCall
from stoplib.traces.builder import Builder
from stoplib.traces.fields import anthropic_usage, arguments_of, own_label, text_of
from stoplib.traces.formats.base import Format, Head, Options
from stoplib.traces.trace import ERROR, Trace

BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})


class AnthropicMessages(Format):
    """A list of messages, alone or as `messages` of a record.

    What a server's tool does inside one reply is part of that reply: the loop never ran it.
    """

    name = "Anthropic messages"

    def recognises(self, head: Head) -> bool:
        return any(_telling(message) for message in head.messages)

    def trace(self, record: Any, options: Options) -> Trace:
        about = record if isinstance(record, dict) else {}
        run = Builder()
        said = Said(options)
        messages = record if isinstance(record, list) else record["messages"]
        for message in messages:
            if message["role"] == "assistant":
                read_reply(run, message)
            elif message["role"] == "user":
                said.read(run, message.get("content"))
        model = about.get("model") or next((m["model"] for m in messages if m.get("model")), "")
        return run.trace(
            str(about.get("id") or options.id),
            str(about["task_id"]) if about.get("task_id") is not None else None,
            label=own_label(about, options.success_at),
            model=str(model),
            errors=said.errors,
        )


def _telling(message: dict[str, Any]) -> bool:
    kinds = {block.get("type") for block in blocks_of(message.get("content"))}
    return bool(kinds & BLOCKS) or "stop_reason" in message


def blocks_of(content: Any) -> Iterator[dict[str, Any]]:
    """The blocks of a message's content; a text is one of them."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def read_reply(run: Builder, message: dict[str, Any]) -> None:
    """One reply of the model."""
    blocks = list(blocks_of(message.get("content")))
    run.reply(
        spoken(blocks), calls_in(blocks), usage=anthropic_usage(message.get("usage")), stop=message.get("stop_reason")
    )


def spoken(blocks: Iterable[dict[str, Any]]) -> str:
    """What the model says in these blocks, thinking apart."""
    return "".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text")


def calls_in(blocks: Iterable[dict[str, Any]]) -> list[ToolCall]:
    """The calls that the loop is asked for in these blocks."""
    return [
        ToolCall(str(block["name"]), arguments_of(block.get("input")), block.get("id"))
        for block in blocks
        if block.get("type") == "tool_use"
    ]


class Said:
    """What user messages say: results and a person's words. A result that has no `is_error` says nothing of errors."""

    def __init__(self, options: Options) -> None:
        self.errors = options.guesses
        self._options = options

    def read(self, run: Builder, content: Any) -> None:
        """One user message."""
        for block in blocks_of(content):
            if block.get("type") == "tool_result":
                text = text_of(block.get("content"))
                status = self._options.status(text)
                if block.get("is_error") is not None:
                    self.errors = "flagged"
                    status = ERROR if block["is_error"] else "ok"
                run.result(text, block.get("tool_use_id"), status)
            elif block.get("type") == "text":
                run.asked(text_of(block.get("text")))
