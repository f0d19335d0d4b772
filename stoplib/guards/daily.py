"""A cap on what somebody spends in a day, over all their runs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from stoplib.guards.budgets import next_call
from stoplib.guards.core import Guard
from stoplib.limits import in_full
from stoplib.messages import Usage
from stoplib.state import Run

if TYPE_CHECKING:  # the ledger is an extra, loaded by those who use it
    from stoplib.ledger import Ledger, Reservation


class Held:
    """What a run keeps: the reservation of its next call, and what has been settled so far."""

    def __init__(self) -> None:
        self.reservation: Reservation | None = None
        self.steps = 0
        self.cost = 0.0


class daily_cap(Guard):
    """At most `amount` of money a day by `who`, over all runs and processes that share the `ledger`.

    Before each model call what it is likely to cost is reserved, or else the call is not made; after it the
    true cost takes the reserve's place. A call that fails gives its reserve back. A reply that reports no
    usage costs what was reserved for it: unknown is not zero. A run whose model has no price is refused.

    What a call will cost is estimated as by `cost_budget(hard=True)`. One that costs more than was reserved is
    recorded in full. `replay` leaves the ledger alone, so there this guard never fires.
    """

    ledger: Ledger
    who: str
    amount: float

    caps_calls = True

    def validate(self) -> None:
        super().validate()
        verbs = ("reserve", "settle", "release")
        if isinstance(self.ledger, type) or not all(callable(getattr(self.ledger, verb, None)) for verb in verbs):
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
        if run.price is None or not run.live or held.reservation is not None:
            return None
        sent, answer = next_call(run)
        need = run.price.of(Usage(input=sent, output=answer))
        held.reservation = self.ledger.reserve(self.who, need, self.amount)
        return None if held.reservation else self._refusal(need)

    def settle(self, run: Run) -> None:
        held = self._held(run)
        if held.steps == run.steps or not run.live:
            return
        cost = run.spent - held.cost
        if held.reservation is not None:
            self.ledger.settle(held.reservation, cost or held.reservation.up_to)
        elif cost:  # refused, and made all the same, because of the other side of `daily_cap(…) & …`
            self.ledger.record(self.who, cost)
        held.reservation, held.steps, held.cost = None, run.steps, run.spent

    def end(self, run: Run) -> None:
        """Settle a call that was made, release one that was not. If that fails, the reserve stays until it expires."""
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
