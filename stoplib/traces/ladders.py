"""Each guard with the numbers that are tried for it, from the strictest on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from stoplib.guards import (
    Guard,
    cost_budget,
    going_in_circles,
    max_steps,
    max_tool_calls,
    no_new_results,
    repeated_call,
    repeated_round,
    rough_token_budget,
    time_limit,
    token_budget,
    too_many_errors,
    too_many_refusals,
)
from stoplib.limits import amount

DECADE = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)


class Ladder(NamedTuple):
    """A guard with the numbers that are tried for it.

    make      gives the guard for a number; the higher the number, the later it fires in any run
    numbers   the numbers, from the strictest on
    needs     what a recording has to say for it: some of usage, seconds, errors, arguments, results, price
    size      of a budget, what a run needs of it: steps, calls, tokens, rough, money or seconds
    label     what it is called in tables, if not by the guard's own name
    least     the strictest number that is ever proposed: one repeat, or one error, is often sound work

    >>> Ladder(max_steps, (5, 10, 20)).guards
    (max_steps(5), max_steps(10), max_steps(20))
    """

    make: Callable[[Any], Guard]
    numbers: tuple[float, ...]
    needs: frozenset[str] = frozenset()
    size: str = ""
    label: str = ""
    least: float = 0

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The guard for each number."""
        return tuple(self.make(number) for number in self.numbers)

    @property
    def name(self) -> str:
        """What it is called: its label, or the guard's own name."""
        return self.label or self.make(self.numbers[0]).name

    def rung(self, least: float) -> int | None:
        """The place of the first number that is at least this, or None."""
        return next((place for place, number in enumerate(self.numbers) if number >= least), None)


def checked(also: Iterable[Ladder]) -> list[Ladder]:
    """Ladders of somebody's own. Raises TypeError or ValueError for what would fail far from here, or count wrongly.

    >>> checked([Ladder(max_steps, (20, 10))])
    Traceback (most recent call last):
    ValueError: Ladder: numbers must rise, from the strictest on, such as (5, 10, 20), not (20, 10)
    """
    if isinstance(also, Ladder):
        raise TypeError("also must be a list such as [Ladder(…)], not one ladder")
    mine = list(also)
    for ladder in mine:
        if not isinstance(ladder, Ladder):
            raise TypeError(f"also must hold ladders such as Ladder(max_steps, (5, 10)), not {ladder!r}")
        numbers = [amount("Ladder", "each of its numbers", number) for number in ladder.numbers]
        if not numbers or numbers != sorted(set(numbers)):  # each is asked only when those before it have fired
            wanted = "numbers must rise, from the strictest on, such as (5, 10, 20)"
            raise ValueError(f"Ladder: {wanted}, not {ladder.numbers!r}")
        for guard in ladder.guards:
            if not isinstance(guard, Guard):
                raise TypeError(f"Ladder: make must give a Guard for each number; {ladder.make!r} gives {guard!r}")
    return mine


def rungs(least: float, most: float) -> Iterator[float]:
    """Round numbers from `least` to `most`, ten in each decade, whole ones where they can be.

    >>> list(rungs(5, 20))
    [5, 6, 8, 10, 12, 15, 20]
    >>> list(rungs(0.02, 0.05))
    [0.02, 0.025, 0.03, 0.04, 0.05]
    """
    power = -12
    while True:
        for step in DECADE:
            number = step * 10**power if power >= 0 else float(f"{step}e{power}")
            if number > most:
                return
            if number >= least:
                yield int(number) if number == int(number) else number
        power += 1


def _all(*numbers: Iterable[float]) -> tuple[float, ...]:
    return tuple(sorted({number for some in numbers for number in some}))


COUNTS = _all(range(1, 13), rungs(10, 1000))
FEW = _all(range(2, 11), rungs(10, 100))
TOKENS = tuple(rungs(1000, 100_000_000))
SECONDS = tuple(rungs(1, 1_000_000))
MONEY = tuple(rungs(0.001, 10_000))
CIRCLES = frozenset({"arguments", "results"})


def ladders(*, priced: bool = False) -> tuple[Ladder, ...]:
    """The library's guards with the numbers that are tried for each; a budget of money needs a price.

    >>> [ladder.name for ladder in ladders()][:3]
    ['max_steps', 'max_tool_calls', 'token_budget']
    """
    money = [Ladder(cost_budget, MONEY, frozenset({"usage", "price"}), "money")] if priced else []
    return (
        Ladder(max_steps, COUNTS, size="steps"),
        Ladder(max_tool_calls, COUNTS, size="calls"),
        Ladder(token_budget, TOKENS, frozenset({"usage"}), "tokens"),
        *money,
        Ladder(rough_token_budget, TOKENS, CIRCLES, "rough"),
        Ladder(time_limit, SECONDS, frozenset({"seconds"}), "seconds"),
        Ladder(repeated_call, FEW, frozenset({"arguments"}), least=3),
        Ladder(_round, (2,), CIRCLES, least=3),
        Ladder(_any_round, (2,), CIRCLES, label="repeated_round(ever=True)", least=3),
        Ladder(going_in_circles, FEW, CIRCLES, least=3),
        Ladder(no_new_results, FEW, frozenset({"results"}), least=3),
        Ladder(too_many_errors, (1, *FEW), frozenset({"errors"}), least=3),
        Ladder(too_many_refusals, (1, *FEW), frozenset({"errors"}), least=2),
    )


def _round(number: int) -> Guard:
    return repeated_round()


def _any_round(number: int) -> Guard:
    return repeated_round(ever=True)
