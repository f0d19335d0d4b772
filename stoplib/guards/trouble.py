"""Guards on what goes wrong again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stoplib.guards.core import Limit
from stoplib.state import Run


@dataclass(frozen=True, repr=False)
class too_many_errors(Limit):
    """`n` tool errors, and no success in between. In a batch, one success ends the streak.

    Only a tool that could not do its job is an error; "no match" and a failed test are results.
    """

    n: int = 3

    unit: ClassVar[str] = "errors in a row"
    usual_gates: ClassVar[tuple[str, ...]] = ("after_round",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole("n", at_least=1)

    def fires(self, run: Run) -> bool:
        return run.errors >= self.n

    def measure(self, run: Run) -> tuple[float, float]:
        return run.errors, self.n


@dataclass(frozen=True, repr=False)
class too_many_refusals(Limit):
    """A person has declined `n` calls, and let none through in between."""

    n: int = 3

    unit: ClassVar[str] = "refusals in a row"
    usual_gates: ClassVar[tuple[str, ...]] = ("after_round",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole("n", at_least=1)

    def fires(self, run: Run) -> bool:
        return run.refusals >= self.n

    def measure(self, run: Run) -> tuple[float, float]:
        return run.refusals, self.n
