"""Puts a run together from what a log says in its order: replies, and the results of their calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from stoplib.messages import ToolCall, Usage
from stoplib.traces.fields import digest
from stoplib.traces.trace import OK, Result, Trace, TraceStep


@dataclass(slots=True)
class Draft:
    """A step whose results are still to come."""

    text: str
    usage: Usage | None = None
    cost: float | None = None
    seconds: float | None = None
    stop: str | None = None
    calls: list[ToolCall] = field(default_factory=list)
    results: list[Result | None] = field(default_factory=list)

    def step(self) -> TraceStep:
        """The step, as far as the recording has it."""
        stop = self.stop if isinstance(self.stop, str) else None
        return TraceStep(self.text, tuple(self.calls), tuple(self.results), self.usage, self.cost, self.seconds, stop)


class Builder:
    """One run. A result belongs to the latest unanswered call of its id; without an id, to the first unanswered one.

    Ids are not unique in real logs, not even within a run, so they are never looked up anywhere else.
    """

    def __init__(self) -> None:
        self.prompt = ""
        self.stray = 0
        self._steps: list[Draft] = []
        self._open: list[tuple[Draft, int]] = []

    @property
    def last(self) -> Draft | None:
        """The latest reply."""
        return self._steps[-1] if self._steps else None

    def asked(self, text: str) -> None:
        """A person has said something; the first of it is what the run is about."""
        self.prompt = self.prompt or text

    def reply(self, text: str = "", calls: Iterable[ToolCall] = (), **known: Any) -> Draft:
        """The model has replied. `known` is what else is known of a `Draft`."""
        draft = Draft(text, **known)
        self._steps.append(draft)
        for call in calls:
            self.call(call)
        return draft

    def call(self, call: ToolCall, draft: Draft | None = None) -> None:
        """The latest reply, or this one, asks for one more call."""
        draft = draft or self.last or self.reply()
        draft.calls.append(call._replace(id=_id(call.id)))
        draft.results.append(None)
        self._open.append((draft, len(draft.calls) - 1))

    def result(self, text: str, id: str | None = None, status: str = OK) -> bool:
        """A call has been answered. Whether there was one that this can belong to."""
        place = self._place(_id(id))
        if place is None:
            self.stray += 1
            return False
        draft, number = self._open.pop(place)
        draft.results[number] = Result(draft.calls[number], text, status)
        return True

    @property
    def waiting(self) -> bool:
        """Whether a call is unanswered."""
        return bool(self._open)

    def waits_for(self, id: str | None) -> bool:
        """Whether a call with this id is unanswered."""
        return id is not None and any(draft.calls[number].id == _id(id) for draft, number in self._open)

    def _place(self, id: str | None) -> int | None:
        if id is None:
            return 0 if self._open else None
        places = range(len(self._open) - 1, -1, -1)
        return next((p for p in places if self._open[p][0].calls[self._open[p][1]].id == id), None)

    def trace(self, id: str, task: str | None = None, **about: Any) -> Trace:
        """The run. Without a task's name, runs with the same prompt are of one task."""
        task = task or (f"prompt {digest(self.prompt)}" if self.prompt else id)
        steps = tuple(draft.step() for draft in self._steps)
        return Trace(id=id, task=task, steps=steps, prompt=self.prompt, stray=self.stray, **about)


def _id(id: Any) -> str | None:
    """An id as a text; what can be no id is none."""
    return id if isinstance(id, str) else str(id) if isinstance(id, (int, float)) else None
