"""Budgets: what the run has used, against a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stoplib.guards.core import Limit
from stoplib.limits import amount, whole
from stoplib.state import Run


@dataclass(frozen=True, repr=False)
class max_steps(Limit):
    """At most `n` steps, that is, `n` model calls. `max_steps(0)` makes none.

    >>> from stoplib import call, run
    >>> run(lambda messages: call("wait"), "go", tools={"wait": lambda: "ok"}, guards=[max_steps(4)]).steps
    4
    """

    n: int

    unit: ClassVar[str] = "steps"
    bounds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.name, "n", self.n)

    def measure(self, run: Run) -> tuple[float, float]:
        return run.steps, self.n


@dataclass(frozen=True, repr=False)
class time_limit(Limit):
    """No model call once `seconds` have passed since the run started.

    The clock is read before each call, so a tool that is already running is not cut short. With
    `working=True` the time spent waiting for a person does not count.
    """

    seconds: float
    working: bool = False

    unit: ClassVar[str] = "s"
    bounds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        amount(self.name, "seconds", self.seconds)

    def measure(self, run: Run) -> tuple[float, float]:
        return (run.seconds - run.waited if self.working else run.seconds), self.seconds
