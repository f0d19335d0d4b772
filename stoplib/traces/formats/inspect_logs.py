"""Logs of Inspect: one run for each sample, as JSON or as a zip archive with the same in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoplib.messages import Usage
from stoplib.traces.builder import Builder
from stoplib.traces.fields import label_of, moment, since, text_of, usage_of
from stoplib.traces.formats.base import Format, Head, Options
from stoplib.traces.formats.openai_messages import calls_of
from stoplib.traces.jsonstream import Broken, Item
from stoplib.traces.trace import ERROR, OK, UNKNOWN, Trace

ATTACHMENT = "attachment://"
SCORERS = ("scorer", "scorers")


class InspectLogs(Format):
    """`samples` of a log. The events are read where they have the model calls: messages may be the last part only.

    What is called while the sample is scored belongs to the scorer, not to the run.
    """

    name = "Inspect"

    def recognises(self, head: Head) -> bool:
        spec = head.members.get("eval")
        return isinstance(spec, dict) and ("task" in spec or "model" in spec)

    def records(self, pieces: Iterator[Item]) -> Iterator[Item]:
        """Each sample, with what the log says of all of them."""
        spec: Any = {}
        for item in pieces:
            if item.key == "eval" and isinstance(item.value, dict):
                spec = item.value
            elif item.key == "samples" and item.number is not None:
                broken = isinstance(item.value, Broken)
                yield item if broken else item._replace(value=(spec, item.value))
            elif isinstance(item.value, Broken):
                yield item

    def trace(self, record: Any, options: Options) -> Trace:
        spec, sample = record
        run = Builder()
        attachments = sample.get("attachments") or {}
        for message in sample.get("messages") or []:
            if message["role"] == "user":
                run.asked(_resolved(text_of(message.get("content")), attachments))
        events = _of_the_run(sample.get("events") or [])
        if any(event.get("event") == "model" for event in events):
            _read_events(run, events, attachments)
        else:
            _read_messages(run, sample.get("messages") or [], attachments)
        limit = sample.get("limit") or {}
        return run.trace(
            f"{sample['id']}/{sample.get('epoch', 1)}",
            f"{spec.get('task', '')}/{sample['id']}",
            label=_label(sample.get("scores"), options),
            model=str(spec.get("model") or ""),
            ended=f"limit: {limit['type']}" if limit.get("type") else "error" if sample.get("error") else "",
            usage=_total(sample.get("model_usage"), spec.get("model")),
            seconds=moment(sample.get("total_time")),
            errors="flagged",
        )


def _of_the_run(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events before the sample is scored."""
    for place, event in enumerate(events):
        begins = event.get("event") == "span_begin" or event.get("action") == "begin"
        if begins and (event.get("type") in SCORERS or event.get("name") in SCORERS):
            return events[:place]
    return events


def _read_events(run: Builder, events: list[dict[str, Any]], attachments: Mapping[str, str]) -> None:
    start = moment(next((event["timestamp"] for event in events if event.get("timestamp")), None))
    for event in events:
        if event.get("event") == "model" and not event.get("pending"):
            output = event.get("output") or {}
            message = ((output.get("choices") or [{}])[0]).get("message") or {}
            stop = (output.get("choices") or [{}])[0].get("stop_reason")
            seconds = since(start, moment(event.get("timestamp")))
            text = _resolved(text_of(message.get("content")), attachments)
            run.reply(text, calls_of(message), usage=_usage(output.get("usage")), seconds=seconds, stop=stop)
        elif event.get("event") == "tool" and not event.get("pending") and run.waits_for(event.get("id")):
            _read_result(run, event.get("id"), event.get("result"), event.get("error"), attachments)


def _read_messages(run: Builder, messages: list[dict[str, Any]], attachments: Mapping[str, str]) -> None:
    for message in messages:
        text = _resolved(text_of(message.get("content")), attachments)
        if message["role"] == "assistant":
            run.reply(text, calls_of(message))
        elif message["role"] == "tool":
            _read_result(run, message.get("tool_call_id"), text, message.get("error"), attachments)


def _read_result(run: Builder, id: Any, content: Any, error: Any, attachments: Mapping[str, str]) -> None:
    """A result. That of a failed call often has no text but that of the error."""
    text = _resolved(text_of(content), attachments)
    if error:
        run.result(text or str(error.get("message") or ""), id, ERROR)
    else:
        run.result(text, id, OK)


def _resolved(text: str, attachments: Mapping[str, str]) -> str:
    """A long text that the log keeps elsewhere."""
    if not text.startswith(ATTACHMENT):
        return text
    return str(attachments.get(text.removeprefix(ATTACHMENT), text))


def _usage(usage: Any) -> Usage | None:
    """Tokens. Older logs have the cached part inside the input: there input and output are the total."""
    if not isinstance(usage, Mapping):
        return None
    sent, answered, total = (usage.get(f"{kind}_tokens") or 0 for kind in ("input", "output", "total"))
    read, written = usage.get("input_tokens_cache_read"), usage.get("input_tokens_cache_write")
    return usage_of(sent, answered, read, written, inside=sent + answered == total)


def _total(usage: Any, model: Any) -> Usage | None:
    """Tokens of the run: those of its own model, for graders are listed beside it."""
    return _usage(usage.get(model)) if isinstance(usage, Mapping) else None


def _label(scores: Any, options: Options) -> str:
    """The label by the first score."""
    if not isinstance(scores, Mapping) or not scores:
        return UNKNOWN
    first = next(iter(scores.values()))
    return label_of(first.get("value") if isinstance(first, Mapping) else first, options.success_at)
