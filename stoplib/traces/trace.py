"""A recorded run of some agent, in one shape whatever the format was. What a recording does not say is None."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from stoplib.messages import NO_USAGE, Reply, ToolCall, Usage
from stoplib.outcome import Ending, Outcome, outcome_of
from stoplib.prices import Price
from stoplib.reasons import UNFINISHED, ending
from stoplib.state import CARRIED_OUT, DECLINED, ERROR, NOT_RUN, OK, Result, Run

SUCCESS, FAILURE, UNKNOWN = "success", "failure", "unknown"
LABELS = (SUCCESS, FAILURE, UNKNOWN)

__all__ = ["DECLINED", "ERROR", "FAILURE", "LABELS", "OK", "SUCCESS", "UNKNOWN", "Result", "Trace", "TraceStep"]

ENOUGH = 0.95
"""The share of a run's steps whose usage (cost, time) has to be known before the run's own is."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One model call and what came of it.

    text      what the model said beside its calls
    calls     the tool calls that the reply asked for, in order
    results   their results in the same order; None for a call without a result in the recording
    usage     tokens of this call
    cost      money that this call cost, as the recording has it
    seconds   the run's time when the model was called
    stop      the API's own word for why the model stopped talking
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[Result | None, ...] = ()
    usage: Usage | None = None
    cost: float | None = None
    seconds: float | None = None
    stop: str | None = None

    @property
    def carried_out(self) -> int:
        """How many of the calls ran, or failed to."""
        return sum(result is not None and result.status in CARRIED_OUT for result in self.results)


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded run.

    id        names the run within its file
    task      what it was about: runs of one task are alike, and are kept together when tasks are split
    steps     the model calls, in order
    label     `success`, `failure` or `unknown`: a check of the result, which is not the reason for the end
    format    the name of the format it was read from
    source    the file
    model     the model's name, or ""
    prompt    the first thing that a person asked for, or ""
    ended     the recording's own word for why the run ended, or ""
    usage, cost     of the whole run, where the recording has them only for that
    seconds   how long the run took
    errors    how failed calls are known: `flagged`, `guessed` from the text, or `unknown`
    unknown   what else the recording leaves out: `arguments`, `results`
    stray     results that belong to no call
    recorded  the outcome itself, if the run was recorded by this library
    """

    id: str
    task: str
    steps: tuple[TraceStep, ...]
    label: str = UNKNOWN
    format: str = ""
    source: str = ""
    model: str = ""
    prompt: str = ""
    ended: str = ""
    usage: Usage | None = None
    cost: float | None = None
    seconds: float | None = None
    errors: str = "unknown"
    unknown: frozenset[str] = frozenset()
    stray: int = 0
    recorded: Outcome | None = field(default=None, repr=False)

    @property
    def tool_calls(self) -> int:
        """Tool calls that were carried out."""
        return sum(step.carried_out for step in self.steps)

    def knows(self, what: str) -> bool:
        """Whether the recording says enough about `usage`, `cost`, `seconds`, `errors`, `arguments` or `results`."""
        if what == "errors":
            return self.errors != "unknown"
        if what in ("usage", "cost", "seconds"):
            known = sum(getattr(step, what) is not None for step in self.steps)
            return known >= ENOUGH * len(self.steps)
        return what not in self.unknown

    def labelled(self, label: str) -> Trace:
        """The same run with another label."""
        return replace(self, label=label)

    def outcome(self, price: Price | None = None) -> Outcome:
        """The run as `replay` takes it, with this price if it has none of its own.

        A reply that only talks to somebody who then answers is a paused turn: the run goes on. What is unknown is
        0 here, so ask `knows` before you hold a limit on tokens, money or time against it.

        >>> from stoplib import call, max_tool_calls, replay
        >>> from stoplib.state import Result
        >>> request = call("look").calls
        >>> trace = Trace("1", "a task", (TraceStep("", request, (Result(request[0], "here"),)), TraceStep("Done.")))
        >>> trace.outcome().reason, replay(trace.outcome(), [max_tool_calls(1)]).reason
        ('answered', 'max_tool_calls')
        """
        if self.recorded is not None:
            return self.recorded if price is None else self.recorded.replaced(price=price)
        run = Run(self.prompt, lambda: 0.0, model=self.model or "model", price=price)
        for number, step in enumerate(self.steps, 1):
            _count(run, step, last=number == len(self.steps))
        if self.seconds is not None:
            run.seconds = max(run.seconds, self.seconds)
        said = ending(run.trace[-1].reply) if run.trace else None
        reason, detail = said or (UNFINISHED, self.ended or "the recording ends here")
        return outcome_of(run, Ending(reason, detail), None)


def _count(run: Run, step: TraceStep, last: bool) -> None:
    """Let the run count one step, as it counts those of a live one."""
    there = [place for place, result in enumerate(step.results, 1) if result is not None]
    goes_on = not last or bool(there)
    stop = step.stop if not goes_on else None if step.calls else "pause_turn"
    run.seconds = max(run.seconds, step.seconds or 0.0)
    run.record_reply(Reply(step.text, step.calls, step.usage or NO_USAGE, stop))
    calls = run.trace[-1].calls
    answered = (there[-1] if there else 0) if last else len(calls)  # at the end the rest was not to be had
    for call, result in zip(calls[:answered], step.results, strict=False):
        said = (result.text, result.status) if result else (f"no result ({run.steps}, {call.id})", NOT_RUN)
        run.record_result(Result(call, *said))
    run.at = "asked" if last and answered < len(calls) else "called" if goes_on else run.at
