"""A recorded run of some agent, in one shape whatever the format was. What a recording does not say is None."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from stoplib.messages import NO_USAGE, Reply, ToolCall, Usage, identified
from stoplib.outcome import Ending, Outcome, outcome_of
from stoplib.prices import Price
from stoplib.reasons import UNFINISHED, ending
from stoplib.state import Run
from stoplib.transcript import CARRIED_OUT, DECLINED, ERROR, NOT_RUN, OK, Result

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

    @property
    def known(self) -> frozenset[str]:
        """Of `usage`, `cost`, `seconds`, `errors`, `arguments` and `results`: what the recording says enough about."""
        counts = {"usage": 0, "cost": 0, "seconds": 0}
        for step in self.steps:
            counts["usage"] += step.usage is not None
            counts["cost"] += step.cost is not None
            counts["seconds"] += step.seconds is not None
        known = {what for what, count in counts.items() if count >= ENOUGH * len(self.steps)}
        if self.errors != "unknown":
            known.add("errors")
        return frozenset(known | ({"arguments", "results"} - self.unknown))

    def labelled(self, label: str) -> Trace:
        """The same run with another label."""
        return replace(self, label=label)

    def outcome(self, price: Price | None = None) -> Outcome:
        """The run as `replay` takes it, with this price if it has none of its own.

        A reply that only talks to somebody who then answers is a paused turn: the run goes on. What is unknown is
        0 here, so look at `known` before you hold a limit on tokens, money or time against it.

        >>> from stoplib import call, max_tool_calls, replay
        >>> from stoplib import Result
        >>> request = call("look").calls
        >>> trace = Trace("1", "a task", (TraceStep("", request, (Result(request[0], "here"),)), TraceStep("Done.")))
        >>> trace.outcome().reason, replay(trace.outcome(), [max_tool_calls(1)]).reason
        ('answered', 'max_tool_calls')
        """
        if self.recorded is not None:
            return self.recorded if price is None else self.recorded.replaced(price=price)
        run = Run(self.prompt, lambda: 0.0, model=self.model or "model", price=price)
        for _ in self.count(run):
            pass
        if self.seconds is not None:
            run.seconds = max(run.seconds, self.seconds)
        said = ending(run.trace[-1].reply) if run.trace else None
        reason, detail = said or (UNFINISHED, self.ended or "the recording ends here")
        return outcome_of(run, Ending(reason, detail), None)

    def count(self, run: Run) -> Iterator[str]:
        """Let a run count the steps as it counts those of a live one, and wait at each gate where guards look.

        >>> run = Run("a task", lambda: 0.0)
        >>> [(gate, run.steps) for gate in Trace("1", "a task", (TraceStep("One"), TraceStep("Two"))).count(run)]
        [('before_call', 0), ('before_action', 1), ('after_round', 1), ('before_call', 1)]
        """
        for number, step in enumerate(self.steps, 1):
            at_end = number == len(self.steps)
            there = len(step.calls) if not at_end else _answered(step)
            if step.seconds is not None and step.seconds > run.seconds:
                run.seconds = step.seconds
            yield "before_call"
            # A reply after which the run went on has ended nothing, whatever the API's word for it was.
            stop = step.stop if at_end and not there else None if step.calls else "pause_turn"
            run.record_reply(identified(Reply(step.text, step.calls, step.usage or NO_USAGE, stop), number))
            if at_end and ending(run.trace[-1].reply):
                return
            run.record_request()
            yield "before_action"
            for call, result in zip(run.trace[-1].calls[:there], step.results, strict=False):
                text, status = result[1:] if result else (f"no result ({number}, {call.id})", NOT_RUN)
                run.record_result(Result(call, text, status))
            if there < len(step.calls):  # nobody knows what became of the rest
                return
            run.record_round()
            yield "after_round"


def _answered(step: TraceStep) -> int:
    """The calls of a last step up to the last one that has a result."""
    return max((place for place, result in enumerate(step.results, 1) if result), default=0)
