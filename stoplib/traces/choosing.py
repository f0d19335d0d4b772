"""Choose a number for each guard from some runs, and try the same rule on tasks that it was not chosen on.

A budget is the largest success times the headroom, rounded up to the next number of its ladder. A rule about behaviour
is the smallest number that loses no success, and at least the headroom times what a success has reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import mean
from typing import NamedTuple

from stoplib.traces.ladders import Ladder
from stoplib.traces.tally import Group, Spent, Tally, together
from stoplib.traces.trace import FAILURE, SUCCESS

SPLITS = 20
SHARE = 0.5


class Trial(NamedTuple):
    """A rule for choosing a number, tried on tasks that it was not chosen on: shares of the runs of those.

    headroom     the factor
    numbers      the least and the largest number that was chosen
    lost         successes lost on the other tasks, the mean over the splits
    most_lost    the same in the worst split
    stopped      failures stopped
    saved        calls of failed runs saved, as a share of all calls
    splits       how often the tasks were split; in the others no number could be chosen
    """

    headroom: float
    numbers: tuple[float, float]
    lost: float
    most_lost: float
    stopped: float
    saved: float
    splits: int

    @property
    def span(self) -> str:
        """The numbers that were chosen, in words."""
        return " to ".join(dict.fromkeys(f"{number:,.12g}" for number in self.numbers))


def chosen(ladder: Ladder, place: int, runs: Group, headroom: float) -> int | None:
    """The number that these runs speak for, by its place in the ladder; None if they speak for none.

    `place` is that of the ladder in the tally.
    """
    if (place, SUCCESS) not in runs.ran:
        return None
    if ladder.size:
        return ladder.rung(max(ladder.least, headroom * runs.sizes.get(ladder.size, 0)))
    needed = next((rung for rung in range(len(ladder.numbers)) if (place, rung, SUCCESS) not in runs.cut), None)
    if needed is None:
        return None
    reached = ladder.numbers[needed - 1] if needed else 0
    return ladder.rung(max(ladder.least, ladder.numbers[needed], headroom * reached))


def split(groups: Sequence[str], seed: int, share: float = SHARE) -> tuple[list[str], list[str]]:
    """Tasks to choose on, drawn by the seed, and the others. The order in which they come does not matter.

    >>> known, others = split(["b", "a", "d", "c"], seed=1)
    >>> sorted(known + others), len(known)
    (['a', 'b', 'c', 'd'], 2)
    """
    names = sorted(groups)
    Random(seed).shuffle(names)
    middle = round(share * len(names))
    return names[:middle], names[middle:]


def halves(tally: Tally, seed: int) -> list[tuple[Group, Group]]:
    """The runs of the tasks to choose on and those of the others, for several splits."""
    names = list(tally.groups)
    splits = (split(names, seed + number) for number in range(SPLITS))
    return [(_of(tally, known), _of(tally, others)) for known, others in splits]


def _of(tally: Tally, names: Sequence[str]) -> Group:
    return together(tally.groups[name] for name in names)


def trial(ladder: Ladder, place: int, headroom: float, splits: Sequence[tuple[Group, Group]]) -> Trial | None:
    """Choose on the one half of the tasks and try on the other; None if no split has what it takes."""
    numbers, lost, stopped, saved = [], [], [], []
    for known, others in splits:
        rung = chosen(ladder, place, known, headroom)
        good, bad = others.ran.get((place, SUCCESS)), others.ran.get((place, FAILURE))
        if rung is None or good is None or bad is None:
            continue
        nothing = Spent()
        good_cut, bad_cut = (others.cut.get((place, rung, label), nothing) for label in (SUCCESS, FAILURE))
        numbers.append(ladder.numbers[rung])
        lost.append(good_cut.runs / good.runs)
        stopped.append(bad_cut.runs / bad.runs)
        saved.append(bad_cut.calls / max(1, others.used(place, "calls")))
    if not numbers:
        return None
    least, most = min(numbers), max(numbers)
    return Trial(headroom, (least, most), mean(lost), max(lost), mean(stopped), mean(saved), len(numbers))
