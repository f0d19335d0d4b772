"""Guards on what goes wrong again and again."""

from __future__ import annotations

from stoplib.guards.core import Limit
from stoplib.state import Run


class too_many_errors(Limit):
    """`n` tool errors, and no success in between. In a batch, one success ends the streak.

    Only a tool that could not do its job is an error; "no match" and a failed test are results.
    """

    n: int = 3

    unit = "errors in a row"
    verb = ""
    usual_gates = ("after_round",)

    def validate(self) -> None:
        super().validate()
        self._whole("n", at_least=1)

    @property
    def alarms(self) -> dict[str, float]:
        return {"errors": self.n}

    def measure(self, run: Run) -> tuple[float, float]:
        return run.errors, self.n


class too_many_refusals(Limit):
    """A person has declined `n` calls, and no tool has done its job in between."""

    n: int = 3

    unit = "refusals in a row"
    verb = ""
    usual_gates = ("after_round",)

    def validate(self) -> None:
        super().validate()
        self._whole("n", at_least=1)

    @property
    def alarms(self) -> dict[str, float]:
        return {"refusals": self.n}

    def measure(self, run: Run) -> tuple[float, float]:
        return run.refusals, self.n
