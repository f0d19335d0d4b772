"""The loop, written once: a generator that asks the outside world for what it needs.

It yields requests (ask the model, ask a person, run a tool) and is sent the answers; where it is
watched, it yields events in between. The drivers carry out the requests and decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from stoplib import reasons
from stoplib.events import Event
from stoplib.guards import GATES, GuardSet, Look
from stoplib.messages import Fatal, Reply, ToolCall
from stoplib.nesting import hand_over, looking_outside, outside, settle_outside
from stoplib.outcome import Ending, Outcome, counted, describe, in_words, outcome_of
from stoplib.requests import CUT_OFF, DeadlinePassed, Request, what_went_wrong
from stoplib.state import Run
from stoplib.tools import Toolbox, as_text, own_copy
from stoplib.transcript import DECLINED, ERROR, Result

DECLINED_TEXT = "a person declined this: do not ask for it again; say what you would have done"
NO_SUMMARY = "There is no summary by the model. The run stopped ({reason}) after {steps}; see the evidence."

Wanted = Request | Event
Body = Generator[Wanted, Any, Outcome]
Act = Generator[Wanted, Any, None]


class Loop:
    """All that one run needs. `cancels` says that the driver can cancel what is running at a deadline."""

    def __init__(
        self,
        run: Run,
        model: Callable[..., Any],
        tools: Toolbox,
        guards: GuardSet,
        *,
        schemas: Sequence[Mapping[str, Any]] = (),
        asks: str = "second",
        approve: Callable[[ToolCall], Any] | None = None,
        watched: bool = False,
        summarize: bool = False,
    ) -> None:
        self.run = run
        self.model = model
        self.tools = tools
        self.guards = guards
        self.schemas = schemas
        self.asks = asks
        self.approve = approve
        self.watched = watched
        self.summarize = summarize
        self.cancels = self.asking = False
        run.guards = guards

    def body(self) -> Body:
        """Go to the end, whatever happens on the way, and return the outcome."""
        summary: str | None = None
        try:
            try:
                ending = yield from self._steps()
            except BaseException as error:
                ending = self._ended_by(error)
            if self.summarize and ending.wants_summary:
                summary = yield from self._summary(ending)
        except BaseException:  # SystemExit, or a task that is cancelled, passes through
            self.run.rewrite()
            self._close("the program was ended")
            raise
        outcome = self._outcome(ending, summary)
        if self.watched:
            outcome = yield from self._tell_the_end(outcome)
        return outcome

    def _outcome(self, ending: Ending, summary: str | None) -> Outcome:
        while True:
            try:
                self._close(ending.reason)
                return outcome_of(self.run, ending, summary)
            except KeyboardInterrupt:  # the work here is short; it is done once more, and the person is heard
                ending = Ending(reasons.INTERRUPTED, "stopped by a person")

    def _close(self, reason: str) -> None:
        self.run.close(reason)
        self.guards.end(self.run)
        hand_over(self.run, reason)

    def _ended_by(self, error: BaseException) -> Ending:
        """What an exception means that came up to here. Raises it again if it is none of the run's business.

        An ordinary one is the model's, a guard's or a listener's; a tool's is a result.
        """
        if isinstance(error, KeyboardInterrupt):
            return Ending(reasons.INTERRUPTED, "stopped by a person")
        if isinstance(error, DeadlinePassed):
            guard, limit = self.guards.nearest_deadline(self.run, self.asking)
            self.run.read_clock()
            return Ending.by([(guard, f"what was running was cancelled at the limit of {limit:g} s")])
        if isinstance(error, Fatal):
            return Ending(reasons.FATAL, str(error), error=error)
        if isinstance(error, Exception):
            self._count_what_came(error)
            stop = error.__cause__  # Python turns a StopIteration that leaves a generator into RuntimeError
            return Ending.fatal(stop if isinstance(stop, StopIteration) else error)
        if isinstance(error, BaseExceptionGroup) and error.subgroup(Fatal):
            return Ending.fatal(error)
        raise error

    def _count_what_came(self, error: Exception) -> None:
        """A call that broke off is paid for as far as it came, which its exception may hold as `reply`."""
        reply = getattr(error, "reply", None)
        if isinstance(reply, Reply) and self.run.at == "called":
            with suppress(TypeError, ValueError):  # what has gone wrong is known already
                self.run.record_reply(reply)
                self._settle()

    def _tell_the_end(self, outcome: Outcome) -> Generator[Wanted, Any, Outcome]:
        """Once the end has been told the reason stands, whatever a listener makes of it."""
        try:
            yield Event("end", self.run, len(self.run.trace), outcome=outcome)
        except (Exception, KeyboardInterrupt, Fatal) as error:
            return outcome if outcome.error else outcome.replaced(error=error)
        return outcome

    def _steps(self) -> Generator[Wanted, Any, Ending]:
        run, guards, watched = self.run, self.guards, self.watched
        before_call, before_action, after_round = map(self._look_at, GATES)
        ask = self._ask_model(self.schemas)
        settles = self._settles()
        run.start()
        while True:
            run.read_clock()
            if fired := before_call(run):
                return Ending.by(fired)
            if self.cancels:
                ask.time_left = guards.time_left(run)
            reply = _sound((yield ask))
            run.record_reply(reply)
            if settles:
                self._settle()
            if watched:
                yield Event("reply", run, len(run.trace), reply=reply)
            if end := reasons.ending(reply):
                return self._said(*end)
            run.record_request()
            if fired := before_action(run):
                return Ending.by(fired)
            yield from self._act()
            run.record_round()
            if fired := after_round(run):
                return Ending.by(fired)

    def _look_at(self, gate: str) -> Look:
        own = self.guards.at(gate)
        return own if self.run.outer is None else looking_outside(gate, own)

    def _settles(self) -> bool:
        """Whether there is anything to do once a reply has been counted."""
        return self.guards.settles or self.run.outer is not None

    def _settle(self) -> None:
        self.guards.settle(self.run)
        if self.run.outer is not None:
            settle_outside(self.run)

    def _ask_model(self, schemas: Sequence[Mapping[str, Any]]) -> Request:
        messages = self.run.messages
        if self.asks == "keyword":
            return Request("model", self.model, (messages,), {"tools": schemas})
        return Request("model", self.model, (messages, schemas) if self.asks == "second" else (messages,))

    def _said(self, reason: str, detail: str) -> Ending:
        """The reply ends the run, unless a guard knows that the task is not done."""
        if reason == reasons.ANSWERED and (objection := self.guards.objection(self.run)):
            return Ending(reasons.UNFINISHED, objection)
        return Ending(reason, detail)

    def _act(self) -> Act:
        """One result for each call of the batch: look each up, ask the person about each, run each."""
        run, watched = self.run, self.watched
        found = [self._look_up(call) for call in run.batch]
        if self.approve:
            yield from self._ask_person(self.approve, found)
        if self.cancels:
            self._prepare([one for one in found if isinstance(one, Request)])
        for call, one in zip(run.batch, found, strict=True):
            if watched:
                yield Event("call", run, len(run.trace), call=call)
            if isinstance(one, Result):
                result = one
            else:
                try:
                    value = yield one
                    result = Result(call, value if type(value) is str else as_text(value))
                except BaseException as error:
                    result = self._failed(call, one, error)
                    if not isinstance(error, Exception) or isinstance(error, DeadlinePassed):
                        run.record_result(result)
                        self._leave_off(found)
                        raise
            run.record_result(result)
            if watched:
                yield Event("result", run, len(run.trace), result=result)

    def _failed(self, call: ToolCall, request: Request, error: BaseException) -> Result:
        """The result of a tool that raised `error`, or that was running when something ended the run."""
        if isinstance(error, DeadlinePassed):
            return Result(call, CUT_OFF.format("the time limit was reached"), ERROR)
        if isinstance(error, KeyboardInterrupt):
            return Result(call, CUT_OFF.format("a person stopped the run"), ERROR)
        if isinstance(error, Exception):
            return Result(call, what_went_wrong(error, request.function, call), ERROR)
        return Result(call, in_words(error), ERROR)

    def _leave_off(self, found: Sequence[Request | Result]) -> None:
        """Write down what has become of the rest of the batch, which may have run side by side."""
        run = self.run
        place = len(run.trace[-1].results)
        for call, one in list(zip(run.batch, found, strict=True))[place:]:
            if isinstance(one, Request) and not one.begun:
                return  # it has not run, and is answered as such when the run is closed
            run.record_result(one.left_off(call) if isinstance(one, Request) else one)

    def _look_up(self, call: ToolCall) -> Request | Result:
        found = self.tools.find(call)
        if isinstance(found, str):
            return Result(call, found, ERROR)
        tool, args = found
        try:
            own = own_copy(args)
        except Exception as error:  # nested too deep, or of a kind that cannot be copied
            return Result(call, f"the arguments cannot be used: {in_words(error)}", ERROR)
        request = Request("tool", tool.function, (), own)
        if tool.timeout is not None:
            request.timeout = tool.timeout
        return request

    def _ask_person(self, approve: Callable[[ToolCall], Any], found: list[Request | Result]) -> Act:
        """Replace what a person declines by a result that says so. Who cannot run anyway is not asked about."""
        run = self.run
        for place, call in enumerate(run.batch):
            if isinstance(found[place], Result):
                continue
            run.read_clock()
            asked_at = run.seconds
            ask = Request("person", approve, (call,))
            if self.cancels:
                ask.time_left = self.guards.time_left(run, waiting=True)
            self.asking = True
            said = yield ask
            self.asking = False
            run.record_wait(asked_at)
            if said is not None and type(said) is not bool:  # None is no yes
                raise TypeError(f"approve returned {describe(repr(said))}; it must return True or False")
            if not said:
                found[place] = Result(call, DECLINED_TEXT, DECLINED)

    def _prepare(self, requests: list[Request]) -> None:
        """A driver that cancels may also run the tools of a batch side by side."""
        for request in requests:
            request.siblings = tuple(requests)
            if self.approve:  # the clock has just been read
                request.time_left = self.guards.time_left(self.run)

    def _summary(self, ending: Ending) -> Generator[Wanted, Any, str | None]:
        """One more call, without tools, inside what was kept back for it. It changes nothing but the summary."""
        run = self.run
        stand_in = NO_SUMMARY.format(reason=ending.reason, steps=counted(run.steps, "step"))
        run.summary_to_come, then = False, run.seconds
        run.close(ending.reason)
        run.rewrite()
        try:
            run.read_clock()
            run.ask_for_summary()
            if self.guards.no_room(run) or outside("before_call", run):
                run.seconds = then  # a replay shows its guards the last time that is recorded
                return stand_in
            ask = self._ask_model([])
            if self.cancels:
                ask.time_left = self.guards.time_left(run)
            reply = _sound((yield ask))
            run.record_reply(reply, closing=True)
            self._settle()
            run.close("no tools are available any more")
        except (Exception, Fatal, KeyboardInterrupt):  # a summary that fails changes no reason
            return stand_in
        # Half a sentence, or words beside a request for one more look, are no summary.
        return reply.text.strip() if reasons.ending(reply) == (reasons.ANSWERED, "") else stand_in


def _sound(reply: Any) -> Reply:
    if not isinstance(reply, Reply):
        raise TypeError(f"the model returned {describe(repr(reply))}; it must return a Reply, such as answer('…')")
    return reply
