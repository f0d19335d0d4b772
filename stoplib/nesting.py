"""Runs within runs: a tool that runs another agent shares the limits of the run that called it."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import Context, ContextVar, copy_context
from typing import Any

from stoplib.guards import Fired, Look
from stoplib.guards.core import as_guard
from stoplib.state import Run
from stoplib.transcript import Inner

current: ContextVar[Run | None] = ContextVar("current_run", default=None)

# What a guard of the outer run has to know about the call that the inner one is about to make.
OF_THE_NEXT_CALL = frozenset(
    {"batch", "trace", "characters", "requested", "output_cap", "largest", "price", "model"},
)


def current_run() -> Run:
    """The run that has called the tool in which this is asked. For `run(…, within=current_run())`.

    It is known in the tool's own thread and tasks; for another thread ask before it starts, and pass it on.
    Raises RuntimeError where no run is going on.

    >>> from stoplib import TickClock, Usage, answer, call, run, script, token_budget
    >>> def ask_expert(question):
    ...     expert = script(call("look", usage=Usage(400, 100)), answer("Paris", usage=Usage(500, 20)))
    ...     inner = run(expert, question, tools={"look": lambda: "a map"}, within=current_run())
    ...     return inner.answer or f"{inner.reason}: {inner.detail}"
    >>> def asks():
    ...     return script(call("ask_expert", question="Where?", usage=Usage(100, 20)), answer("It is in Paris."))
    >>> run(asks(), "Find it.", tools=[ask_expert], guards=[token_budget(5000)], clock=TickClock(0))
    <answered: 'It is in Paris.' | 4 steps, 2 tool calls, 1140 tokens, 0 s>
    >>> outcome = run(asks(), "Find it.", tools=[ask_expert], guards=[token_budget(500)])
    >>> print(outcome.trace[0].results[0].text)
    token_budget: 620 of 500 tokens used, 120 tokens over, in the run around this one
    >>> outcome.reason
    'token_budget'
    """
    found = current.get()
    if found is None:
        raise RuntimeError(
            "no run is going on here: current_run() is for a tool that a run has called."
            " In a thread of the tool's own, ask before the thread starts, and pass the run on."
        )
    return found


def inside(run: Run) -> Context:
    """A context in which `run` is the current one. Nothing has to be put back after it, whatever happens."""
    context = copy_context()
    context.run(current.set, run)
    return context


def around(run: Run) -> Iterator[Run]:
    """The runs around this one, from the inside out."""
    outer = run.outer
    while outer is not None:
        yield outer
        outer = outer.outer


def looking_outside(gate: str, own: Look) -> Look:
    """How an inner run looks at a gate: first the guards of the runs around it, then its own."""
    return lambda run: outside(gate, run) or own(run)


def outside(gate: str, run: Run) -> Fired | None:
    """What the guards of the runs around this one say. The outermost run with a guard that fires wins."""
    for outer in reversed([*around(run)]):
        outer.read_clock()
        if outer.over:
            return [(as_guard(outer_run_over), "the run whose tool started this one has ended")]
        if fired := outer.guards.at(gate)(Seen(outer, run)):
            return [(guard, f"{detail}, in the run around this one") for guard, detail in fired]
    return None


def outer_run_over(run: Run) -> str | None:
    """A name for the reason of a run that goes on in the background after the one around it has ended."""
    return None


def settle_outside(run: Run) -> None:
    """A model call has been made: the guards of the runs around this one may want to know."""
    for outer in around(run):
        outer.guards.settle(Seen(outer, run))


def hand_over(run: Run, reason: str) -> None:
    """The run is over: leave with the outer one what it used, for the recording."""
    if run.outer is not None and not run.over:
        step = len(run.outer.trace)
        used = Inner(step, run.task, reason, run.steps, dict(run.calls_of), run.usage, run.cost)
        run.outer.ended_within(run, used)
    run.over = True


class Seen:
    """An outer run as its guards see it while an inner one is going on: its counters, and the inner one's next call."""

    def __init__(self, outer: Run, inner: Run) -> None:
        self._outer = outer
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner if name in OF_THE_NEXT_CALL else self._outer, name)
