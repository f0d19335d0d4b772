"""One run of a lab, driven by hand: it waits before each model call and before each question to a person."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from typing import Any

from stoplib.clocks import ManualClock
from stoplib.course.charts.drawing import RUNNING
from stoplib.course.lab.choices import ACTING, ACTS, ALL, NOBODY, TASK
from stoplib.course.lab.settings import Settings
from stoplib.drivers import moments
from stoplib.messages import ToolCall
from stoplib.outcome import Ending, Outcome, counted, outcome_of
from stoplib.reasons import INTERRUPTED
from stoplib.state import Run

FUSE = 60  # steps; a time limit on a clock that stands still, for instance, ends no run


class Session:
    """A run with these settings, which waits before its first model call.

    `answers` are what a person said when a session before this one asked; they are used up before anybody is asked.
    `question` is the tool call that a person is asked about, and `problem` says why there is no run at all.

    >>> from stoplib.course.lab.settings import choose
    >>> session = Session(choose({"max_steps": 3}))
    >>> session.step()
    >>> session.outcome.reason, session.outcome.steps
    ('running', 1)
    >>> session.run()
    >>> session.outcome.reason, session.outcome.steps
    ('max_steps', 3)
    """

    def __init__(self, settings: Settings, answers: Iterable[bool] = ()) -> None:
        self.settings = settings
        self.answers: list[bool] = []
        self.question: ToolCall | None = None
        self.problem = ""
        self.fused = False
        self._known = deque(answers)
        self._end: Outcome | None = None
        self._run = Run(TASK, ManualClock())
        self._moments: Generator[Any, None, None]
        asks = settings["ask"] != NOBODY
        options = {**settings.run, "guards": settings.guards, "approve": self._approve if asks else None}
        try:
            self._run, self._moments = moments(task=TASK, **options)
        except (TypeError, ValueError) as error:
            self.problem = str(error)
        else:
            self._go_on()

    @property
    def over(self) -> bool:
        """Whether there is nothing more to come."""
        return self._end is not None or bool(self.problem)

    @property
    def stopped(self) -> bool:
        """Whether the person has stopped it."""
        return self._end is not None and self._end.reason == INTERRUPTED and not self.fused

    @property
    def outcome(self) -> Outcome:
        """How the run ended, or how far it is, with the reason `running`."""
        return self._end or outcome_of(self._run, Ending(RUNNING), None)

    @property
    def wants_reply(self) -> bool:
        """Whether the run waits for the person who plays its model."""
        return self.settings.played and not self.over and self._run.steps >= len(self.settings.replies)

    @property
    def waits(self) -> bool:
        """Whether it cannot go on by itself: it is over, or a person has to say something."""
        return self.over or self.question is not None or self.wants_reply

    def step(self) -> None:
        """One step: the model is called, its tools run, and the guards look. Does nothing while the run `waits`."""
        if not self.waits:
            self._go_on()

    def run(self) -> None:
        """Go on as far as it goes by itself."""
        while not self.waits:
            self._go_on()

    def answer(self, yes: bool) -> None:
        """Say whether the tool call that was asked about may run, and go on with the step."""
        if self.question is not None:
            self._known.append(yes)
            self._go_on()

    def stop(self) -> None:
        """Press Ctrl-C: the run ends as `interrupted`, with all that it has found out."""
        if not self.over:
            self.question = None
            self._end = self._moments.throw(KeyboardInterrupt()).outcome

    def _go_on(self) -> None:
        """To the next model call, to a question, or to the end."""
        self.question = None
        for moment in self._moments:
            if moment.kind == "end":
                self._end = moment.outcome
                return
            if moment.kind == "model":
                break
            if moment.kind == "person" and self._asks(moment.args[0]) and not self._known:
                self.question = moment.args[0]
                return
        if self._run.steps >= FUSE:
            self.fused = True
            self.stop()

    def _asks(self, call: ToolCall) -> bool:
        return self.settings["ask"] == ALL or (self.settings["ask"] == ACTING and call.name in ACTS)

    def _approve(self, call: ToolCall) -> bool:
        if not self._asks(call):
            return True
        self.answers.append(self._known.popleft())
        return self.answers[-1]

    @property
    def sentence(self) -> str:
        """How things stand, in words and numbers."""
        if self.problem:
            return f"This cannot run. {self.problem}"
        outcome = self.outcome
        steps = counted(outcome.steps, "step")
        if self.question is not None:
            return f"Step {outcome.steps} asks for {self.question}. May it run? Approve or Decline."
        if self.wants_reply:
            return f"The loop calls the model for step {outcome.steps + 1}: what does it reply?"
        if not self.over:
            return f"{steps} so far. The model is called next." if outcome.steps else "The run has not begun."
        if self.fused:
            return f"The lab ended the run after {steps}: none of these guards does."
        if self.stopped:
            return f"You stopped the run after {steps}: {INTERRUPTED}."
        return ending(outcome)


def ending(outcome: Outcome) -> str:
    """Why a run ended, in a sentence."""
    if outcome.complete:
        return f"The model answered in step {outcome.steps}; no guard fired."
    steps = counted(outcome.steps, "step")
    if not outcome.fired:
        return f"The run stopped after {steps}: {outcome.reason}, {outcome.detail}."
    first, *others = outcome.fired
    tie = f" {', '.join(others)} fired as well: the first in the list gives the reason." if others else ""
    return f"{first} stopped the run after {steps}: {outcome.detail}.{tie}"
