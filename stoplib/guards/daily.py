"""A cap on what somebody spends in a day, over all their runs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stoplib.guards.budgets import next_call
from stoplib.guards.core import Guard
from stoplib.limits import in_full
from stoplib.messages import Usage
from stoplib.state import Run

if TYPE_CHECKING:  # the ledger is an extra, loaded by those who use it
    from stoplib.ledger import Ledger, Reservation


@dataclass
class Held:
    """What a run keeps: the reservation of its next call, and what has been settled so far."""

    reservation: Reservation | None = None
    steps: int = 0
    cost: float = 0.0


@dataclass(frozen=True, repr=False)
class daily_cap(Guard):
    """At most `amount` of money a day by `who`, over all runs and processes that share the `ledger`.

    Before each model call what it is likely to cost is reserved, or else the call is not made; after it the
    true cost takes the reserve's place. A call that fails gives its reserve back. A reply that reports no
    usage costs what was reserved for it: unknown is not zero.

    What a call will cost is an estimate, see `cost_budget(hard=True)`, so a call can cost more than was reserved. A run whose model
    has no price is refused. `replay` leaves the ledger alone, and so this guard never fires there.
    """

    ledger: Ledger
    who: str
    amount: float

    caps_calls: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(callable(getattr(self.ledger, verb, None)) for verb in ("reserve", "settle", "release")):
            raise TypeError(f"{self.name}: ledger must be a Ledger, such as Ledger('spend.db'), not {self.ledger!r}")
        if not isinstance(self.who, str) or not self.who:
            raise TypeError(f"{self.name}: who must be a text that is not empty, not {self.who!r}")
        self._amount("amount")
        if self.gate not in (None, "before_call"):
            raise ValueError(f"{self.name}: it reserves for the next call, so it cannot look at {self.gate}")

    def begin(self, run: Run) -> None:
        if run.price is None:
            raise ValueError(
                f"{self.name}: there is no price for the model {run.model!r}, and unknown is not zero."
                f" Pass prices={{{run.model!r}: {{'input': …, 'output': …}}}}, in money per million tokens."
            )

    def fires(self, run: Run) -> str | None:
        held = self._held(run)
        if run.price is None or not _live(run) or held.reservation is not None:
            return None
        sent, answer = next_call(run)
        need = run.price.of(Usage(input=sent, output=answer))
        held.reservation = self.ledger.reserve(self.who, need, self.amount)
        return None if held.reservation else self._refusal(need)

    def settle(self, run: Run) -> None:
        held = self._held(run)
        if held.steps == run.steps or not _live(run):
            return
        cost = (run.cost or 0.0) - held.cost
        if held.reservation is not None:
            self.ledger.settle(held.reservation, cost or held.reservation.up_to)
        elif cost:  # another guard had its way, as in `daily_cap(…) & …`
            self.ledger.record(self.who, cost)
        held.reservation, held.steps, held.cost = None, run.steps, run.cost or 0.0

    def end(self, run: Run) -> None:
        """A call that was made is settled, one that was not gives its reserve back. If the ledger cannot be
        reached, the reserve stays until it expires."""
        held = self._held(run)
        with suppress(Exception):
            self.settle(run)
            if held.reservation is not None:
                self.ledger.release(held.reservation)
                held.reservation = None

    def _held(self, run: Run) -> Held:
        held: Held = run.notes.setdefault(id(self), Held())
        return held

    def _refusal(self, need: float) -> str:
        spent, reserved = self.ledger.spent(self.who), self.ledger.reserved(self.who)
        running = f", {in_full(reserved)} reserved for calls that are running" if reserved else ""
        return (
            f"{in_full(spent)} of {in_full(self.amount)} spent today by {self.who}{running},"
            f" and the next call needs about {in_full(need)}"
        )


def _live(run: Run) -> bool:
    """Whether the run really happens: what is replayed costs nothing."""
    return getattr(run, "live", True)
