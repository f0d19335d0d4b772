"""Intervals: how far a number from these runs may be from that of the runs to come."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

Z = 1.959964  # two-sided 95 %


class Share(NamedTuple):
    """A share with its 95 % interval; without one where nothing varies.

    >>> print(Share(0.125, 0.05, 0.28))
    12.5 % (5.0 to 28.0)
    """

    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        text = f"{100 * self.value:.1f} %"
        return (
            text if self.low is None or self.high is None else f"{text} ({100 * self.low:.1f} to {100 * self.high:.1f})"
        )


def wilson(part: int, whole: int) -> Share:
    """The share of a count, with Wilson's interval. Of nothing it says nothing: from 0 to 1.

    >>> print(wilson(0, 84))
    0.0 % (0.0 to 4.4)
    """
    if not whole:
        return Share(0.0, 0.0, 1.0)
    share, square = part / whole, Z * Z / whole
    middle = (share + square / 2) / (1 + square)
    half = Z / (1 + square) * math.sqrt(share * (1 - share) / whole + square / (4 * whole))
    return Share(share, max(0.0, middle - half) if part else 0.0, min(1.0, middle + half) if part < whole else 1.0)


class Bootstrap:
    """Ratios of sums over tasks, with intervals by drawing tasks: runs of one task are alike, so they stay together.

    groups     how many tasks, or groups of tasks, there are
    resamples  how often as many of them are drawn, with replacement

    >>> saved = Bootstrap(20, seed=1).ratio({3: 50.0}, [10.0] * 20)
    >>> print(saved)
    25.0 % (0.0 to 75.0)
    """

    def __init__(self, groups: int, seed: int = 0, resamples: int = 300) -> None:
        random = Random(seed)
        self.groups = groups
        self._drawn: list[list[int]] = []
        for _ in range(resamples if groups > 1 else 0):
            counts = [0] * groups
            for place in random.choices(range(groups), k=groups):
                counts[place] += 1
            self._drawn.append(counts)
        self._wholes: dict[tuple[float, ...], list[float]] = {}

    def ratio(self, parts: Mapping[int, float], wholes: Sequence[float]) -> Share:
        """The sum of the parts over that of the wholes; `parts` by the number of their group, those of 0 left out."""
        whole = sum(wholes)
        if not whole:
            return Share(0.0)
        value = sum(parts.values()) / whole
        if not parts or not self._drawn:
            return Share(value)
        drawn = self._drawn_wholes(tuple(wholes))
        ratios = sorted(
            sum(counts[place] * part for place, part in parts.items()) / below
            for counts, below in zip(self._drawn, drawn, strict=True)
            if below
        )
        return Share(value, _quantile(ratios, 0.025), _quantile(ratios, 0.975))

    def _drawn_wholes(self, wholes: tuple[float, ...]) -> list[float]:
        if wholes not in self._wholes:
            self._wholes[wholes] = [
                sum(count * whole for count, whole in zip(counts, wholes, strict=True)) for counts in self._drawn
            ]
        return self._wholes[wholes]


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
