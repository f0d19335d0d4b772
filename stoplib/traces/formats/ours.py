"""This library's own recordings. They hold the whole run, so `replay` gets it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stoplib.outcome import Outcome
from stoplib.recording import IncompleteRecording, outcome_from
from stoplib.traces.formats.base import Format, Head, Options, has
from stoplib.traces.jsonstream import Broken, Item
from stoplib.traces.records import assembled
from stoplib.traces.trace import Trace, TraceStep


class Ours(Format):
    """One run in a file, or several one after the other. One that breaks off is read as far as it goes."""

    name = "stoplib"

    def recognises(self, head: Head) -> bool:
        return has(head.object, "stoplib")

    def records(self, pieces: Iterator[Item]) -> Iterator[Item]:
        """The lines of one run each, and whether one of them is broken."""
        lines: list[Any] = []
        broken = False
        for item in assembled(pieces):
            if has(item.value, "stoplib") and lines:
                yield Item((lines, broken))
                lines, broken = [], False
            if isinstance(item.value, Broken):
                broken = True
                yield item
            elif not broken:
                lines.append(item.value)
        if lines:
            yield Item((lines, broken))

    def trace(self, record: Any, options: Options) -> Trace:
        lines, broken = record
        try:
            outcome = outcome_from(lines, broken, options.name)
        except IncompleteRecording as error:
            if error.outcome is None:
                raise
            outcome = error.outcome
        return trace_of(outcome, options.name)


def trace_of(outcome: Outcome, id: str) -> Trace:
    """A run of this library as a trace."""
    price = outcome.price
    steps = []
    for step in (step for step in outcome.trace if not step.closing):
        usage = step.reply.usage if any(step.reply.usage) else None
        results = [*step.results, *[None] * (len(step.calls) - len(step.results))]
        cost = None if price is None or usage is None else price.of(usage)
        steps.append(TraceStep(step.reply.text, step.calls, tuple(results), usage, cost, step.seconds, step.reply.stop))
    return Trace(
        id=id,
        task=outcome.task,
        steps=tuple(steps),
        model=outcome.model,
        prompt=outcome.task,
        ended=outcome.reason,
        seconds=outcome.seconds,
        errors="flagged",
        recorded=outcome,
    )
