"""Spans out of the several JSON shapes that they come in, put together by trace. They wait on disk, not in memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from stoplib.traces.jsonstream import NOT_AS_IT_SHOULD, Broken, broken_by

NANO, MICRO = 1e-9, 1e-6
GROUPS = ("scopeSpans", "instrumentationLibrarySpans")
EVALUATION = "gen_ai.evaluation.result"
FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR")


@dataclass(slots=True)
class Span:
    """One span, whatever shape it came in. Times are in seconds; `span[name]` is an attribute or None."""

    trace: str
    id: str
    parent: str | None
    name: str
    start: float
    end: float
    failed: bool
    attributes: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)

    def __getitem__(self, name: str) -> Any:
        return self.attributes.get(name)


class Spans:
    """Spans by trace, in a temporary file, so that a trace may be spread over a file of any size."""

    def __enter__(self) -> Spans:
        self._file = sqlite3.connect("")  # a database that lives as long as the connection, on disk if it is large
        self._file.execute("CREATE TABLE span (trace TEXT, start REAL, body TEXT)")
        self._file.execute("CREATE INDEX by_trace ON span (trace, start)")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, document: Any) -> list[Broken]:
        """All spans of a document; returns what stands for those that are not as they should be."""
        rows, broken = [], []
        for found in spans_in(document):
            if isinstance(found, Broken):
                broken.append(found)
                continue
            body = [getattr(found, name) for name in Span.__slots__]
            rows.append((found.trace, found.start, json.dumps(body)))
        self._file.executemany("INSERT INTO span VALUES (?, ?, ?)", rows)
        return broken

    def traces(self) -> Iterator[list[Span]]:
        """The spans of each trace by their start, in the order in which the traces first appear."""
        names = self._file.execute("SELECT trace FROM span GROUP BY trace ORDER BY min(rowid)")
        for (name,) in names:
            bodies = self._file.execute("SELECT body FROM span WHERE trace = ? ORDER BY start, rowid", (name,))
            yield [Span(*json.loads(body)) for (body,) in bodies]


def spans_in(document: Any) -> Iterator[Span | Broken]:
    """The spans of a document of OTLP, Tempo or Jaeger. What is no span is passed over."""
    for read, span in _candidates(document):
        try:
            yield read(span)
        except NOT_AS_IT_SHOULD as error:
            yield broken_by(error)


def _candidates(document: Any) -> Iterator[tuple[Callable[[Mapping[str, Any]], Span], Mapping[str, Any]]]:
    if not isinstance(document, Mapping):
        return
    for resource in _objects(document, "resourceSpans", "batches"):
        for group in _objects(resource, *GROUPS):
            for span in _objects(group, "spans"):
                if "traceId" in span and "spanId" in span:
                    yield _otlp, span
    for trace in _objects(document, "data"):
        for span in _objects(trace, "spans"):
            if "traceID" in span and "spanID" in span:
                yield _jaeger, span


def _objects(value: Mapping[str, Any], *names: str) -> Iterator[Mapping[str, Any]]:
    for name in names:
        found = value.get(name)
        if isinstance(found, list):
            yield from (one for one in found if isinstance(one, Mapping))


def _otlp(span: Mapping[str, Any]) -> Span:
    attributes = _attributes(span.get("attributes"))
    events = []
    for event in _objects(span, "events"):
        name, found = str(event.get("name")), _attributes(event.get("attributes"))
        events.append({"name": name, "attributes": found})
        if name != EVALUATION:  # content that is on an event instead of the span
            attributes = found | attributes
    status = span.get("status")
    code = status.get("code") if isinstance(status, Mapping) else None
    return Span(
        str(span["traceId"]),
        str(span["spanId"]),
        str(span["parentSpanId"]) if span.get("parentSpanId") else None,
        str(span.get("name") or ""),
        _number(span.get("startTimeUnixNano")) * NANO,
        _number(span.get("endTimeUnixNano")) * NANO,
        code in FAILED or "error.type" in attributes,
        attributes,
        events,
    )


def _jaeger(span: Mapping[str, Any]) -> Span:
    attributes = {str(tag.get("key")): tag.get("value") for tag in _objects(span, "tags")}
    parents = [ref.get("spanID") for ref in _objects(span, "references") if ref.get("refType") == "CHILD_OF"]
    start = _number(span.get("startTime")) * MICRO
    failed = attributes.get("error") in (True, "true") or attributes.get("otel.status_code") in FAILED
    return Span(
        str(span["traceID"]),
        str(span["spanID"]),
        str(parents[0]) if parents else None,
        str(span.get("operationName") or ""),
        start,
        start + _number(span.get("duration")) * MICRO,
        failed or "error.type" in attributes,
        attributes,
    )


def _number(value: Any) -> float:
    """Large whole numbers are texts in OTLP, and numbers in some exports."""
    return float(value) if isinstance(value, (int, float, str)) else 0.0


def _attributes(pairs: Any) -> dict[str, Any]:
    if isinstance(pairs, Mapping):
        return dict(pairs)
    return {str(pair.get("key")): _plain(pair.get("value")) for pair in pairs or [] if isinstance(pair, Mapping)}


def _plain(value: Any) -> Any:
    """A value without the wrapping that names its type."""
    if not isinstance(value, Mapping):
        return value
    for kind, inner in value.items():
        if kind == "intValue":
            return int(inner)
        if kind == "arrayValue":
            return [_plain(one) for one in inner.get("values") or []]
        if kind == "kvlistValue":
            return _attributes(inner.get("values"))
        if kind in ("stringValue", "doubleValue", "boolValue", "bytesValue"):
            return inner
    return None
