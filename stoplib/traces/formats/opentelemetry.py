"""OpenTelemetry's spans for generative AI: OTLP as JSON, and the shapes that Tempo and Jaeger give them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stoplib.messages import ToolCall, Usage
from stoplib.reasons import TOOLS_ASKED
from stoplib.traces.builder import Builder
from stoplib.traces.fields import arguments_of, label_of, since, text_of, usage_of
from stoplib.traces.formats.base import Format, Head, Options
from stoplib.traces.jsonstream import Broken, Item
from stoplib.traces.spans import EVALUATION, Span, Spans, spans_in
from stoplib.traces.trace import ERROR, OK, UNKNOWN, Trace

NO_CONTENT = "(no content)"
"""Stands for words that the spans leave out: there were some, so the reply was not empty."""

MODEL, TOOL = ("chat", "generate_content", "text_completion"), "execute_tool"


class OpenTelemetry(Format):
    """One run for each trace. The innermost model spans alone are counted, since those around them repeat their tokens.

    By default spans hold no messages, arguments or results: then the arguments are unknown.
    """

    name = "OpenTelemetry"

    def recognises(self, head: Head) -> bool:
        return next(spans_in(head.object), None) is not None

    def records(self, pieces: Iterator[Item]) -> Iterator[Item]:
        """The spans of each trace, which may be anywhere in the file."""
        with Spans() as spans:
            for item in pieces:
                if isinstance(item.value, Broken):
                    yield item
                elif item.key is None or item.number is not None:
                    document = item.value if item.key is None else {item.key: [item.value]}
                    yield from (Item(broken, item.key, item.number) for broken in spans.add(document))
            yield from (Item(trace) for trace in spans.traces())

    def trace(self, record: Any, options: Options) -> Trace:
        spans: list[Span] = record
        inner = _innermost(spans)
        models = [span for span in spans if span.id in inner]
        tools = [span for span in spans if span["gen_ai.operation.name"] == TOOL]
        reader = _Reader(spans[0].start)
        for span in sorted([*models, *tools], key=lambda span: span.start):
            if span.id in inner:
                reader.model(span)
            else:
                reader.tool(span)
        first = next((span for span in spans if span["gen_ai.request.model"]), None)
        return reader.run.trace(
            spans[0].trace,
            model=str(first["gen_ai.request.model"]) if first else "",
            label=_label(spans, options),
            seconds=max(span.end for span in spans) - spans[0].start,
            errors="flagged" if tools else options.guesses,
            unknown=frozenset(reader.unknown),
        )


def _innermost(spans: list[Span]) -> set[str]:
    """The ids of the model spans that have no other model span inside."""
    parents = {span.id: span.parent for span in spans}
    models = {span.id for span in spans if _is_model(span)}
    outer: set[str] = set()
    for id in models:
        above = parents.get(id)
        passed = {id}
        while above is not None and above not in passed:  # ids may be wrong and form a circle
            passed.add(above)
            if above in models:
                outer.add(above)
            above = parents.get(above)
    return models - outer


def _is_model(span: Span) -> bool:
    operation = span["gen_ai.operation.name"]
    if operation is not None:
        return operation in MODEL
    return span["gen_ai.usage.output_tokens"] is not None or span["gen_ai.usage.completion_tokens"] is not None


class _Reader:
    """Puts the run together. What the spans leave out is in `unknown`."""

    def __init__(self, start: float) -> None:
        self.run = Builder()
        self.unknown: set[str] = set()
        self.start = start

    def model(self, span: Span) -> None:
        """One model call, and what the messages that it got say about the calls before."""
        for message in _messages(span, "gen_ai.input.messages", "gen_ai.prompt"):
            for part in message.get("parts") or []:
                if part.get("type") == "tool_call_response" and self.run.waits_for(part.get("id")):
                    self.run.result(text_of(part.get("response", part.get("result"))), part.get("id"))
                elif message.get("role") == "user" and part.get("type") == "text":
                    self.run.asked(text_of(part.get("content")))
        calls, words = [], []
        messages = _messages(span, "gen_ai.output.messages", "gen_ai.completion")
        for message in messages:
            for part in message.get("parts") or []:
                if part.get("type") == "tool_call":
                    calls.append(ToolCall(str(part["name"]), arguments_of(part.get("arguments")), part.get("id")))
                elif part.get("type") == "text":
                    words.append(text_of(part.get("content")))
        reasons = span["gen_ai.response.finish_reasons"]
        stop = str(reasons[0]) if isinstance(reasons, list) and reasons and not calls else None
        if not messages and stop not in TOOLS_ASKED:
            words.append(NO_CONTENT)
        seconds = since(self.start, span.start)
        self.run.reply("".join(words), calls, usage=_usage(span), seconds=seconds, stop=stop)

    def tool(self, span: Span) -> None:
        """A tool span: the result of a call in the messages, or the call itself where there are none."""
        id = span["gen_ai.tool.call.id"]
        if not self.run.waits_for(id):
            arguments = span["gen_ai.tool.call.arguments"]
            if arguments is None:
                self.unknown.add("arguments")
            self.run.call(ToolCall(str(span["gen_ai.tool.name"] or span.name), arguments_of(arguments), id or span.id))
            id = id or span.id
        result = span["gen_ai.tool.call.result"]
        if result is None and not span.failed:
            self.unknown.add("results")
        text = text_of(result) or (span["error.type"] or "" if span.failed else "")
        self.run.result(str(text), id, ERROR if span.failed else OK)


def _messages(span: Span, *names: str) -> list[dict[str, Any]]:
    """Messages of a span, as values or as JSON in a text."""
    for name in names:
        value = span[name]
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                value = None
        if isinstance(value, list):
            return [message for message in value if isinstance(message, Mapping)]  # type: ignore[misc]
    return []


def _usage(span: Span) -> Usage | None:
    sent = span["gen_ai.usage.input_tokens"]
    answered = span["gen_ai.usage.output_tokens"]
    if sent is None and answered is None:
        sent, answered = span["gen_ai.usage.prompt_tokens"], span["gen_ai.usage.completion_tokens"]
    read, written = span["gen_ai.usage.cache_read.input_tokens"], span["gen_ai.usage.cache_creation.input_tokens"]
    return usage_of(sent, answered, read, written, inside=True)


def _label(spans: list[Span], options: Options) -> str:
    """The label by an event that says what an evaluation found."""
    for span in spans:
        for event in span.events:
            if event["name"] == EVALUATION:
                found = event["attributes"]
                label = label_of(found.get("gen_ai.evaluation.score.label"), options.success_at)
                if label == UNKNOWN:
                    label = label_of(found.get("gen_ai.evaluation.score.value"), options.success_at)
                if label != UNKNOWN:
                    return label
    return UNKNOWN
