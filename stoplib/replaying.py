"""Replay: hold guards against a run that is over. What would they have done?"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import suppress
from typing import Any

from stoplib.driving import drive
from stoplib.guards import GuardSet
from stoplib.loop import Loop, Wanted
from stoplib.messages import Message, Reply
from stoplib.outcome import Ending, Outcome
from stoplib.reasons import FATAL, INTERRUPTED
from stoplib.state import Run
from stoplib.tools import Toolbox
from stoplib.transcript import Inner, Step, written


def replay(trace: Outcome, guards: Iterable[Any]) -> Outcome:
    """The outcome that a recorded run would have had with these guards.

    If none of them fires before the recording ends, the run ends as it did. The guards see what the
    live run would have shown them; what a model would have done next is in no recording.

    >>> from stoplib import TickClock, max_steps, run
    >>> from stoplib.fakes import never_answers
    >>> search = {"search": lambda query: "nothing"}
    >>> outcome = run(never_answers, "go", tools=search, guards=[max_steps(8)], clock=TickClock())
    >>> replay(outcome, [max_steps(3)])
    <max_steps (3 of 3 steps used) | 3 steps, 3 tool calls, 0 tokens, 4 s>
    """
    if not isinstance(trace, Outcome):
        raise TypeError(f"replay needs an outcome, from run(…) or load(path), not {trace!r}")
    guard_set = GuardSet(guards, finite=True)  # a recording ends by itself
    run = RecordedRun(trace, guard_set.longest_cycle())
    guard_set.begin(run)
    loop = Replay(run, run.next_reply, Toolbox(), guard_set, summarize=run.summary_to_come)
    return drive(loop.body(), None)


def recounted(trace: Outcome, longest: int = 1) -> Run:
    """The run of a recording, counted again to its end: for whoever wants to measure it.

    Cycles are counted up to a length of `longest` rounds.

    >>> from stoplib import max_tool_calls, run, script, answer, batch, call
    >>> outcome = run(script(batch(call("a"), call("a")), answer("x")), "go", tools={"a": lambda: 1})
    >>> max_tool_calls(9).measure(recounted(outcome))
    (2, 9)
    """
    run = RecordedRun(trace, longest)
    try:
        while run.next is not None:
            run.read_clock()
            run.record_reply(run.next_reply())
            run.stop_at_reply()
            run.record_request()
            run.record_results()
            run.record_round()
    except (EndOfRecording, ValueError):  # the live run was stopped in the middle of this step
        pass
    for step in trace.trace:
        if step.closing:
            with suppress(ValueError):
                run.record_reply(step.reply, closing=True)
    run.seconds, run.waited = trace.seconds, trace.waited
    return run


class EndOfRecording(Exception):
    """The recorded run goes no further."""


class Recounted(Run):
    """A run that is over, and is counted again. Its messages are written when somebody reads them, which few do."""

    _messages: list[Message]
    _settled_messages: int
    _settled_steps: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.live = False

    @property
    def messages(self) -> list[Message]:
        """The transcript: always the same list, brought up to date."""
        messages = self._messages
        del messages[self._settled_messages :]  # what was written of a step that was not over
        for step in self.trace[self._settled_steps : -1]:
            messages += written(step)
            self._settled_steps += 1
        self._settled_messages = len(messages)
        for step in self.trace[-1:]:
            messages += written(step)
        return messages

    @messages.setter
    def messages(self, task: list[Message]) -> None:
        self._messages, self._settled_messages, self._settled_steps = task, len(task), 0

    def rewrite(self) -> None:
        self.messages = self._messages[:1]


class RecordedRun(Recounted):
    """A run that is counted again from its recording."""

    def __init__(self, recorded: Outcome, longest: int) -> None:
        task = recorded.task
        model, price, traits = recorded.model, recorded.price, recorded.traits
        super().__init__(task, lambda: 0.0, tools=traits, model=model, price=price, longest=longest)
        self.recorded = recorded
        self.summary_to_come = recorded.summary is not None
        self.stops_at_reply = recorded.at == "replied" and recorded.reason in (INTERRUPTED, FATAL)
        self._inner: dict[int, list[Inner]] = {}
        for inner in recorded.inner:
            self._inner.setdefault(inner.step, []).append(inner)
        self._steps = iter([step for step in recorded.trace if not step.closing])
        self.next: Step | None = next(self._steps, None)

    def start(self) -> None:
        pass  # the recorded times count from the start

    def read_clock(self) -> None:
        then = self.next or self.recorded
        self.seconds, self.waited = then.seconds, then.waited

    def next_reply(self) -> Reply:
        """What the model said next. Raises EndOfRecording."""
        if self.next is None:
            raise EndOfRecording
        self._current, self.next = self.next, next(self._steps, None)
        return self._current.reply

    def stop_at_reply(self) -> None:
        """Raises EndOfRecording where the live run was stopped between a reply and what it asks for."""
        if self.next is None and self.stops_at_reply:
            self.record_results()
            raise EndOfRecording

    def record_results(self) -> None:
        """What came of the current reply's calls. Raises EndOfRecording where the live run was stopped."""
        step, then = self._current, self.recorded
        for result in step.results:
            self.record_result(result)
        if self._inner:
            for inner in self._inner.pop(step.number, ()):
                self.take_in(inner)
        if self.next is None:
            if then.at == "asked":
                raise EndOfRecording
            self.seconds, self.waited = then.seconds, then.waited  # a person may have been waited for
        elif len(self._results) == len(self.batch):
            self.trace[-1] = step  # the same step: one is kept, not two


class Replay(Loop):
    """The loop with its outside world taken from a recording."""

    run: RecordedRun

    def _steps(self) -> Generator[Wanted, Any, Ending]:
        yield from ()
        steps, reply = super()._steps(), self.run.next_reply
        try:
            next(steps)
            while True:  # all that the steps ask for is replies
                steps.send(reply())
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        except EndOfRecording:
            then = self.run.recorded
            self.run.seconds, self.run.waited = then.seconds, then.waited
            return Ending(then.reason, then.detail, then.fired, then.error, wants_summary=True)

    def _settles(self) -> bool:
        return super()._settles() or self.run.stops_at_reply

    def _settle(self) -> None:
        super()._settle()
        self.run.stop_at_reply()

    def _act(self) -> Any:
        self.run.record_results()
        return ()  # nothing is asked of the outside world

    def _summary(self, ending: Ending) -> Generator[Wanted, Any, str | None]:
        """The recorded summary, if the run ended where it did."""
        yield from ()
        run, then = self.run, self.run.recorded
        if run.next is not None or ending.reason != then.reason:
            return None
        run.close(ending.reason)
        run.seconds = then.seconds
        for step in then.trace:
            if step.closing:
                run.ask_for_summary()
                with suppress(ValueError):  # usage that cannot be true
                    run.record_reply(step.reply, closing=True)
                run.close("no tools are available any more")
        return then.summary
