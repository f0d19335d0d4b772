"""The loop, written once: a generator that asks the outside world for what it needs.

It yields requests (ask the model, ask a person, run a tool) and is sent the answers; where it is
watched, it yields events in between. The drivers carry out the requests and decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stoplib import reasons
from stoplib.events import Event, describe
from stoplib.guards import GuardSet
from stoplib.messages import Fatal, Reply, ToolCall
from stoplib.outcome import Ending, Outcome, outcome_of
from stoplib.schema import argument_error
from stoplib.state import DECLINED, ERROR, Result, Run
from stoplib.tools import Tool, Toolbox, as_text

DECLINED_TEXT = "a person declined this: do not ask for it again; say what you would have done"


@dataclass(frozen=True, slots=True)
class Request:
    """Something that only the outside world can give: `function(*args, **kwargs)` gets it."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def carry_out(self) -> Any:
        return self.function(*self.args, **self.kwargs)


Body = Generator[Request | Event, Any, Outcome]


@dataclass(frozen=True, slots=True)
class Loop:
    """All that one run needs."""

    run: Run
    ask_model: Request
    guards: GuardSet
    tools: Toolbox
    approve: Callable[[ToolCall], Any] | None
    watched: bool

    def body(self) -> Body:
        """Go to the end, whatever happens on the way, and return the outcome."""
        try:
            ending = yield from self._go()
        except KeyboardInterrupt:
            ending = Ending(reasons.INTERRUPTED, "stopped by a person")
        except Fatal as error:
            ending = Ending(reasons.FATAL, str(error), error=error)
        except Exception as error:  # tools' errors are results: this is the model, a guard, a listener
            ending = Ending(reasons.FATAL, f"{type(error).__name__}: {error}", error=error)
        self.run.close(ending.reason)
        outcome = outcome_of(self.run, ending)
        if self.watched:
            yield Event("end", self.run, self.run.steps, outcome=outcome)
        return outcome

    def _go(self) -> Generator[Request | Event, Any, Ending]:
        run = self.run
        while True:
            run.read_clock()
            if fired := self.guards.look("before_call", run):
                return _stopped(fired)
            reply = _checked((yield self.ask_model))
            run.record_reply(reply)
            if self.watched:
                yield Event("reply", run, run.steps, reply=reply)
            if end := reasons.ending(reply):
                return Ending(*end)
            if fired := self.guards.look("before_action", run):
                return _stopped(fired)
            yield from self._act()
            if fired := self.guards.look("after_round", run):
                return _stopped(fired)

    def _act(self) -> Generator[Request | Event, Any, None]:
        """One result for each call of the batch: look each up, ask the person about each, run each."""
        run = self.run
        asked: list[tuple[ToolCall, Tool | Result | str]] = []
        for call in run.batch:
            found = self.tools.find(call)
            if self.approve and isinstance(found, Tool) and not (yield from self._approved(call)):
                asked.append((call, Result(call, DECLINED_TEXT, DECLINED)))
            else:
                asked.append((call, found))
        for call, got in asked:
            if self.watched:
                yield Event("call", run, run.steps, call=call)
            result = got if isinstance(got, Result) else (yield from self._result(call, got))
            run.record_result(result)
            if self.watched:
                yield Event("result", run, run.steps, result=result)

    def _approved(self, call: ToolCall) -> Generator[Request | Event, Any, bool]:
        assert self.approve is not None
        self.run.read_clock()
        asked_at = self.run.seconds
        said = yield Request(self.approve, (call,))
        self.run.record_wait(asked_at)
        return bool(said)

    def _result(self, call: ToolCall, found: Tool | str) -> Generator[Request | Event, Any, Result]:
        if isinstance(found, str):
            return Result(call, found, ERROR)
        assert isinstance(call.args, Mapping)
        try:
            value = yield Request(found.function, (), call.args)
        except Exception as error:
            return Result(call, _what_went_wrong(error, found, call), ERROR)
        return Result(call, as_text(value))


def _what_went_wrong(error: Exception, tool: Tool, call: ToolCall) -> str:
    """A tool's exception in the words that help the model."""
    wrong = argument_error(tool.function, call.args) if isinstance(error, TypeError) else None
    return f"wrong arguments for {tool.name}: {wrong}" if wrong else f"{type(error).__name__}: {error}"


def _checked(reply: Any) -> Reply:
    if not isinstance(reply, Reply):
        raise TypeError(f"the model returned {describe(repr(reply))}; it must return a Reply, such as answer('…')")
    return reply


def _stopped(fired: list[tuple[str, str]]) -> Ending:
    return Ending(*fired[0], fired=tuple(name for name, _ in fired))
