"""A chart of what a run spends, step by step, and the same facts in words.

Each step's bar begins where the one before it ended, so a bar's length is what the step cost and its
right end is what the run has cost so far. What lies beyond the budget is hatched.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from stoplib.course.charts import BLUE, FAINT, FREE, INK, ORANGE, Chart


def plot_spend(costs: Sequence[float], budget: float | None = None, unit: str = "tokens") -> Figure:
    """A bar for each step, one after the other, the budget as a line, and what is over it hatched."""
    return SpendChart().draw(costs, budget, unit)


def describe_spend(costs: Sequence[float], budget: float | None = None, unit: str = "tokens") -> str:
    """The facts of `plot_spend` in words.

    >>> describe_spend([30_500, 20_400], budget=50_000)
    '2 steps, in tokens: 30,500 + 20,400 = 50,900 in all. The budget of 50,000 is passed by step 2: 900 over.'
    >>> describe_spend([30_500], budget=50_000)
    '1 step, in tokens: 30,500 in all. The budget of 50,000 is not passed: 19,500 left.'
    """
    steps = f"{len(costs)} step{'' if len(costs) == 1 else 's'}, in {unit}"
    sums = " + ".join(map(_number, costs))
    total = f"{sums} = {_number(sum(costs))}" if len(costs) > 1 else _number(sum(costs))
    return f"{steps}: {total} in all.{_against(costs, budget)}"


class SpendChart(Chart):
    """See `plot_spend`."""

    START, END, EACH, ALL, TOP = 84, 640, 760, 880, 52

    def draw(self, costs: Sequence[float], budget: float | None, unit: str) -> Figure:
        """Draw `costs`; the same figure every time."""
        row = min(34.0, max(12.0, 400 / max(len(costs), 1)))
        bottom = self.TOP + row * len(costs)
        most = max(sum(costs), budget or 0, 1)
        self.clear(bottom + 34)
        self.write(self.EACH, 34, f"{unit}, this step", size=9, colour=FAINT, ha="right")
        self.write(self.ALL, 34, "in all", size=9, colour=FAINT, ha="right")
        for number, (cost, total) in enumerate(zip(costs, accumulate(costs), strict=True), 1):
            y = self.TOP + row * (number - 0.5)
            self.write(self.START - 12, y, f"step {number}", size=10, ha="right")
            self._bar(y, 0.7 * row, most, (total - cost, total), budget)
            self.write(self.EACH, y, _number(cost), size=10, ha="right")
            self.write(self.ALL, y, _number(total), size=10, ha="right")
        if budget is not None:
            self._budget(bottom, self._at(budget, most), budget)
        self.write(self.START, bottom + 18, _against(costs, budget).strip(), size=10)
        return self.figure

    def _at(self, amount: float, most: float) -> float:
        return self.START + (self.END - self.START) * amount / most

    def _bar(self, y: float, thick: float, most: float, ends: tuple[float, float], budget: float | None) -> None:
        """One step, and in pale what had been spent before it."""
        first, last = ends
        limit = last if budget is None else min(max(budget, first), last)
        self._piece(y, thick, self._at(0, most), self._at(first, most), facecolor=FREE)
        self._piece(y, thick, self._at(first, most), self._at(limit, most), facecolor=BLUE)
        if last > limit:
            over: dict[str, Any] = {"facecolor": ORANGE, "hatch": "///", "edgecolor": "white", "linewidth": 0}
            self._piece(y, thick, self._at(limit, most), self._at(last, most), **over)

    def _piece(self, y: float, thick: float, start: float, end: float, **how: Any) -> None:
        self.axes.add_patch(Rectangle((start, y - thick / 2), end - start, thick, **how))

    def _budget(self, bottom: float, x: float, budget: float) -> None:
        self.axes.plot([x, x], [self.TOP - 8, bottom], "--", color=INK, lw=1.2)
        self.write(x, 16, f"budget {_number(budget)}", size=9, ha="center")


def _against(costs: Sequence[float], budget: float | None) -> str:
    """How the spend stands to the budget, in a sentence."""
    if budget is None:
        return ""
    over = sum(costs) - budget
    if over <= 0:
        return f" The budget of {_number(budget)} is not passed: {_number(-over)} left."
    step = next(number for number, total in enumerate(accumulate(costs), 1) if total > budget)
    return f" The budget of {_number(budget)} is passed by step {step}: {_number(over)} over."


def _number(amount: float) -> str:
    return f"{amount:,.10g}"
