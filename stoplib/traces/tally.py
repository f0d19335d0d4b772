"""What guards would have done to many runs: sums by task, which need the same memory for ten runs and for a million."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from zlib import crc32

from stoplib.prices import Price
from stoplib.traces.climbing import Climbed, Climber, Place
from stoplib.traces.ladders import Ladder
from stoplib.traces.report import Report
from stoplib.traces.trace import SUCCESS, Trace

MOST_GROUPS = 512
"""More tasks than this are put together at random, so that memory does not grow with them."""

CHARACTERS_PER_TOKEN = 4
BILLION = 1_000_000_000
SPENT = ("calls", "tokens", "money")
START = Place(0, 0, 0, 0.0)


@dataclass
class Spent:
    """Sums over runs: how many there are, and the calls, tokens and money that they used.

    Money is in billionths, since whole numbers add up to the same in any order.
    """

    runs: int = 0
    calls: int = 0
    tokens: int = 0
    money: int = 0

    def add(self, other: Spent) -> None:
        """Add what others used."""
        self.runs += other.runs
        self.calls += other.calls
        self.tokens += other.tokens
        self.money += other.money


@dataclass
class Group:
    """The runs of one task, or of several.

    ran     what the runs used, by ladder and label: those whose recording says what the ladder needs
    cut     what those runs used after the guard had fired, by ladder, number and label
    sizes   what the largest success needs: steps, calls, tokens, rough tokens, money, seconds
    """

    ran: dict[tuple[int, str], Spent] = field(default_factory=dict)
    cut: dict[tuple[int, int, str], Spent] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)

    def used(self, ladder: int, what: str) -> float:
        """The calls, tokens or money of all runs that were held against this ladder."""
        return float(sum(getattr(spent, what) for (number, _), spent in self.ran.items() if number == ladder))

    def add(self, other: Group) -> None:
        """Add the runs of another group."""
        for key, spent in other.ran.items():
            self.ran.setdefault(key, Spent()).add(spent)
        for cell, spent in other.cut.items():
            self.cut.setdefault(cell, Spent()).add(spent)
        for name, size in other.sizes.items():
            self.sizes[name] = max(size, self.sizes.get(name, 0))


def together(groups: Iterable[Group]) -> Group:
    """The runs of several groups as one."""
    total = Group()
    for group in groups:
        total.add(group)
    return total


class Tally:
    """What each guard of some ladders would have done to runs, by task. Tallies of the same ladders add up."""

    def __init__(self, ladders: Iterable[Ladder], price: Price | None = None) -> None:
        self.ladders = tuple(ladders)
        self.price = price
        self.groups: dict[str, Group] = {}
        self.report = Report()
        self.folded = False

    def count(self, trace: Trace, climber: Climber) -> None:
        """Count one run in."""
        climbed = climber.climb(trace, self.price)
        end = climbed.end
        money = Money(trace, self.price)
        known = trace.known | ({"price"} if money.priced else set())
        group = self.groups.setdefault(group_of(trace, self.folded), Group())
        used = money.between(START, end)
        for number, (ladder, fired) in enumerate(zip(self.ladders, climbed.fired, strict=True)):
            if not ladder.needs <= known:
                continue
            group.ran.setdefault((number, trace.label), Spent()).add(used)
            for rung, place in enumerate(fired):
                if not goes_on(place, end):
                    break  # nor does it after the places that follow
                cell = (number, rung, trace.label)
                if cell in group.cut:
                    group.cut[cell].add(money.between(place, end))
                else:
                    group.cut[cell] = money.between(place, end)
        if trace.label == SUCCESS:
            for name, size in _sizes(trace, climbed, money.at(end)).items():
                group.sizes[name] = max(size, group.sizes.get(name, 0))
        if len(self.groups) > MOST_GROUPS:
            self._fold()

    def add(self, other: Tally) -> None:
        """Count in what another tally has counted."""
        self.report = self.report + other.report
        if self.folded != other.folded:
            (other if self.folded else self)._fold()
        for name, group in other.groups.items():
            self.groups.setdefault(name, Group()).add(group)
        if len(self.groups) > MOST_GROUPS:
            self._fold()

    def _fold(self) -> None:
        groups, self.groups = self.groups, {}
        for name, group in groups.items():
            self.groups.setdefault(name if self.folded else _folded(name), Group()).add(group)
        self.folded = True


class Money:
    """What a run had spent at a place: by the price if there is one, else as the recording has it."""

    def __init__(self, trace: Trace, price: Price | None) -> None:
        self.priced = price is not None or (trace.recorded is not None and trace.recorded.price is not None)
        self._costs = list(accumulate((step.cost or 0.0 for step in trace.steps), initial=0.0))

    def at(self, place: Place) -> float:
        """Money spent up to here."""
        return place.money if self.priced else self._costs[place.steps]

    def between(self, place: Place, end: Place) -> Spent:
        """What the run used from one place to another."""
        money = round((self.at(end) - self.at(place)) * BILLION)
        return Spent(1, end.calls - place.calls, end.tokens - place.tokens, money)


def goes_on(place: Place, end: Place) -> bool:
    """Whether a run goes on after this place, so that a guard that fires there cuts it."""
    return place.steps < end.steps or place.calls < end.calls


def group_of(trace: Trace, folded: bool) -> str:
    """The name of the group that a run belongs to: its task, or one of a fixed number of groups of tasks."""
    name = f"{trace.format}: {trace.task}"
    return _folded(name) if folded else name


def _folded(name: str) -> str:
    return f"tasks {crc32(name.encode('utf-8', 'surrogatepass')) % MOST_GROUPS}"


def _sizes(trace: Trace, climbed: Climbed, cost: float) -> dict[str, float]:
    """How large the budgets have to be that do not cut this run."""
    return {
        "steps": climbed.end.steps,
        "calls": climbed.end.calls + (not trace.steps[-1].calls),  # a used-up quota leaves no call for the answer
        "tokens": climbed.end.tokens,
        "rough": climbed.characters / CHARACTERS_PER_TOKEN,
        "money": cost,
        "seconds": trace.seconds or max((step.seconds or 0.0 for step in trace.steps), default=0.0),
    }
