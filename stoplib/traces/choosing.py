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
from stoplib.traces.tally import Group, Tally, together
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


def trial(tally: Tally, place: int, headroom: float, seed: int) -> Trial | None:
    """Choose on half of the tasks and try on the others, for several splits; None if no split has what it takes."""
    ladder = tally.ladders[place]
    numbers, lost, stopped, saved = [], [], [], []
    for number in range(SPLITS):
        known, others = (
            together(tally.groups[name] for name in names) for names in split(list(tally.groups), seed + number)
        )
        rung = chosen(ladder, place, known, headroom)
        ran = {label: others.ran.get((place, label)) for label in (SUCCESS, FAILURE)}
        if rung is None or ran[SUCCESS] is None or ran[FAILURE] is None:
            continue
        cut = {label: others.cut.get((place, rung, label)) for label in (SUCCESS, FAILURE)}
        numbers.append(ladder.numbers[rung])
        lost.append(cut[SUCCESS].runs / ran[SUCCESS].runs if cut[SUCCESS] else 0.0)
        stopped.append(cut[FAILURE].runs / ran[FAILURE].runs if cut[FAILURE] else 0.0)
        calls = sum(spent.calls for (where, _), spent in others.ran.items() if where == place)
        saved.append(cut[FAILURE].calls / calls if cut[FAILURE] and calls else 0.0)
    if not numbers:
        return None
    least, most = min(numbers), max(numbers)
    return Trial(headroom, (least, most), mean(lost), max(lost), mean(stopped), mean(saved), len(numbers))
