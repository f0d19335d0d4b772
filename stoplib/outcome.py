"""How a run ended, as a value to branch on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple

from stoplib.limits import in_seconds
from stoplib.messages import Message, Usage
from stoplib.prices import Price
from stoplib.reasons import COMPLETE, FATAL
from stoplib.state import Run
from stoplib.tools import Traits
from stoplib.transcript import OK, Inner, Step, transcript
from stoplib.values import Value


class Ending(NamedTuple):
    """Why the loop left off: the reason, what was seen, and all guards that fired at that gate."""

    reason: str
    detail: str = ""
    fired: tuple[str, ...] = ()
    error: BaseException | None = None
    wants_summary: bool = False

    @classmethod
    def by(cls, fired: Sequence[tuple[Any, str]]) -> Ending:
        """The ending by the guards that fired, each with what it saw; the first one gives the reason."""
        first, detail = fired[0]
        names = tuple(g.name for g, _ in fired)
        return cls(first.name, detail, names, wants_summary=all(g.summary_after for g, _ in fired))

    @classmethod
    def fatal(cls, error: BaseException) -> Ending:
        """The ending by an exception that nobody expected."""
        return cls(FATAL, in_words(error), error=error)


def counted(number: int, thing: str) -> str:
    """A number of things: `1 step`, `2 steps`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def describe(value: Any) -> str:
    """A value as one short line, for traces and details."""
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def in_words(error: BaseException) -> str:
    """An exception in words, also if it has none of its own."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:
        text = type(error).__name__
    return " ".join([text, *getattr(error, "__notes__", ())])


class Outcome(Value):
    """How a run ended and what it used.

    reason      the one name that says why (see `stoplib.reasons`)
    detail      what was seen, in words
    complete    whether the task was done; an answer that a guard forestalled is not complete
    answer      the model's final answer, or None if the run is not complete
    text        the last thing that the model said, complete or not
    summary     the closing summary of an incomplete run, if one was asked for
    steps, tool_calls, usage, cost, seconds, waited     what was spent; `seconds` up to the last reading of the
                clock, so what the last model call took is not in it
    task        what the person asked for
    trace       what happened, one `Step` per model call
    messages    the same as a transcript; each tool call in it has exactly one result
    fired       the names of all guards that fired; the first is the reason
    error       the exception behind `fatal`
    model, price, traits    what a replay has to know: the model's name, its price, what tools declared
    at          how far the last step had come: called, replied, asked
    inner       what was used by the runs that its tools started `within` this one; it is part of what was spent
    """

    reason: str
    detail: str
    answer: str | None
    text: str
    summary: str | None
    steps: int
    tool_calls: int
    usage: Usage
    cost: float | None
    seconds: float
    waited: float
    task: str
    trace: list[Step]
    fired: tuple[str, ...]
    error: BaseException | None
    model: str
    price: Price | None
    traits: Mapping[str, Traits]
    at: str
    inner: tuple[Inner, ...] = ()

    @property
    def complete(self) -> bool:
        return self.reason in COMPLETE

    @cached_property
    def messages(self) -> list[Message]:
        """The transcript, written anew from the trace: whole, whatever a model did to the list it was given."""
        return transcript(self.task, self.trace)

    def __repr__(self) -> str:
        parts = [counted(self.steps, "step"), counted(self.tool_calls, "tool call"), counted(self.usage.total, "token")]
        parts += [] if self.cost is None else [f"cost {self.cost:g}"]
        parts.append(in_seconds(self.seconds))
        said = f": {describe(repr(self.answer))}" if self.answer else f" ({self.detail})" if self.detail else ""
        return f"<{self.reason}{said} | {', '.join(parts)}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows: a table, or the same facts as text."""
        from stoplib.display import as_html, as_text

        return {"text/plain": as_text(self), "text/html": as_html(self)}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the run to a file of JSON lines; `load` reads it. See `stoplib.recording`."""
        from stoplib.recording import save

        save(self, path)

    def report(self) -> dict[str, Any]:
        """The outcome as JSON-ready facts, for a caller that has to decide what to do next.

        `evidence` holds what the tools did find out, also when the run is incomplete.
        """
        return {
            "status": "complete" if self.complete else "incomplete",
            "reason": self.reason,
            "detail": self.detail,
            "answer": self.answer,
            "summary": self.summary,
            "evidence": [
                {"step": step.number, "call": str(result.call), "result": result.text}
                for step in self.trace
                for result in step.results
                if result.status == OK
            ],
            "spend": {
                "steps": self.steps,
                "tool_calls": self.tool_calls,
                "tokens": self.usage.total,
                "cost": self.cost,
                "seconds": self.seconds,
                "waited": self.waited,
            },
        }


def outcome_of(run: Run, ending: Ending, summary: str | None) -> Outcome:
    """The outcome of `run`, which has just ended."""
    text = run.text
    return Outcome(
        reason=ending.reason,
        detail=ending.detail,
        answer=(text or None) if ending.reason in COMPLETE else None,
        text=text,
        summary=summary,
        steps=run.steps,
        tool_calls=run.tool_calls,
        usage=run.usage,
        cost=run.cost,
        seconds=run.seconds,
        waited=run.waited,
        task=run.task,
        trace=run.trace,
        fired=ending.fired,
        error=ending.error,
        model=run.model,
        price=run.price,
        traits=run.known_tools,
        at=run.at,
        inner=tuple(run.inner),
    )
