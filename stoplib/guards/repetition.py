"""Is it stuck? Guards that look at what has happened before."""

from __future__ import annotations

from stoplib.guards.core import Guard
from stoplib.state import Run

ROUND_GATES = ("before_action", "after_round")


class repeated_call(Guard):
    """The same tool has been asked for with the same arguments `limit` times, anywhere in the run.

    It stops at the ask, before the call runs once more; with `gate="before_call"` it notices after it ran.
    """

    limit: int

    usual_gates = ("before_action",)

    def validate(self) -> None:
        super().validate()
        self._whole("limit", at_least=1)

    @property
    def alarms(self) -> dict[str, float]:
        return {"repeats.call": self.limit}

    def fires(self, run: Run) -> bool:
        return run.repeats.call >= self.limit

    def says(self, run: Run) -> str:
        return f"the same call was asked for {run.repeats.call} time{'' if run.repeats.call == 1 else 's'}"


class repeated_round(Guard):
    """The last round equals the one before it, or with `ever=True` any earlier one: same calls, same results."""

    ever: bool = False

    usual_gates = ROUND_GATES

    def validate(self) -> None:
        super().validate()
        self._flag("ever")

    @property
    def alarms(self) -> dict[str, float]:
        return {"repeats.round": 2}

    def fires(self, run: Run) -> bool:
        return (run.repeats.round if self.ever else run.repeats.in_a_row) >= 2

    def says(self, run: Run) -> str:
        where = "an earlier round" if self.ever else "the round before"
        return f"the same calls, with the same results, as in {where}"


class going_in_circles(Guard):
    """The last rounds are `times` passes of one cycle of at most `longest` rounds: same calls, same results.

    What a tool declares is respected: a poll has its own patience, volatile fields do not count, and
    what acts on the world is judged by the request alone, before it runs again.
    """

    times: int = 2
    longest: int = 8

    usual_gates = ROUND_GATES

    def validate(self) -> None:
        super().validate()
        self._whole("times", at_least=2)
        self._whole("longest", at_least=1)

    @property
    def alarms(self) -> dict[str, float]:
        return {"repeats.round": self.times}

    def fires(self, run: Run) -> bool:
        return run.repeats.cycle(self.times, self.longest) > 0

    def says(self, run: Run) -> str:
        length = run.repeats.cycle(self.times, self.longest)
        what = "the same round" if length == 1 else f"a cycle of {length} rounds"
        return f"{what}, {self.times} times in a row"


class no_new_results(Guard):
    """The last `n` rounds all brought the same result, whatever was asked.

    Catches a query that is reworded again and again. Results of tools that act on the world say
    nothing and do not count; a new action starts the count anew.
    """

    n: int

    usual_gates = ("after_round",)

    def validate(self) -> None:
        super().validate()
        self._whole("n", at_least=1)

    @property
    def alarms(self) -> dict[str, float]:
        return {"repeats.same": self.n}

    def fires(self, run: Run) -> bool:
        return run.repeats.same >= self.n

    def says(self, run: Run) -> str:
        return f"the last {run.repeats.same} results are the same"
