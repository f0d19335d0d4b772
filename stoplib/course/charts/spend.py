"""What a run spends: a column for each step, which begins where the one before it ended.

So a column's height is what the step cost, and its upper end is what the run has cost so far. What lies beyond
the budget is hatched.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from matplotlib.figure import Figure

from stoplib.course.charts.drawing import BLUE, FREE, LABEL, ORANGE, Box, Chart, every, number
from stoplib.outcome import Outcome, counted

Spent = Outcome | Sequence[float]


def plot_spend(spent: Spent, budget: float | None = None, unit: str = "tokens") -> Figure:
    """A column for each step, one above the other, the budget as a line, and what is over it hatched.

    `spent` is an outcome, whose tokens are shown, or a list of what each step cost.
    """
    return SpendChart().draw(costs_of(spent), budget, unit)


def describe_spend(spent: Spent, budget: float | None = None, unit: str = "tokens") -> str:
    """The facts of `plot_spend` in words.

    >>> describe_spend([30_500, 20_400], budget=50_000)
    '2 steps, in tokens: 30,500 + 20,400 = 50,900 in all. The budget of 50,000 is passed by step 2: 900 over.'
    >>> describe_spend([30_500], budget=50_000)
    '1 step, in tokens: 30,500 in all. The budget of 50,000 is not passed: 19,500 left.'
    """
    costs = costs_of(spent)
    sums = " + ".join(map(number, costs))
    total = f"{sums} = {number(sum(costs))}" if len(costs) > 1 else number(sum(costs))
    return f"{counted(len(costs), 'step')}, in {unit}: {total} in all.{_against(costs, budget)}"


def costs_of(spent: Spent) -> Sequence[float]:
    """What each step cost; of an outcome, in tokens."""
    if isinstance(spent, Outcome):
        return [step.reply.usage.total for step in spent.trace]
    return spent


class SpendChart(Chart):
    """See `plot_spend`."""

    TOP, BOTTOM, ROW = 22, 150, 18

    def draw(self, costs: Sequence[float], budget: float | None, unit: str, least: int = 0) -> Figure:
        """Draw `costs`, with room for at least so many steps; the same figure every time."""
        column = self.column(len(costs), least)
        totals = list(accumulate(costs))
        most = max(sum(costs), budget or 0) or 1
        self.clear(self.BOTTOM + 3 * self.ROW + 36)
        self._columns(costs, totals, column, most, budget)
        if budget is not None:
            self._budget(self._at(budget, most), budget)
        self.numbers(self.BOTTOM + self.ROW, len(costs), column)
        self._row(self.BOTTOM + 2 * self.ROW, "costs", costs, column)
        self._row(self.BOTTOM + 3 * self.ROW, "in all", totals, column)
        self.write(self.LEFT, self.BOTTOM + 3 * self.ROW + 24, f"In {unit}.{_against(costs, budget)}", size=10)
        return self.done()

    def _at(self, amount: float, most: float) -> float:
        return self.BOTTOM - (self.BOTTOM - self.TOP) * amount / most

    def _columns(
        self, costs: Sequence[float], totals: Sequence[float], column: float, most: float, budget: float | None
    ) -> None:
        """What each step cost, what had been spent before it in pale, and hatched what is over the budget."""
        before: list[Box] = []
        within: list[Box] = []
        over: list[Box] = []
        for step, (cost, total) in enumerate(zip(costs, totals, strict=True), 1):
            limit = total if budget is None else min(max(budget, total - cost), total)
            low, top, high = (self._at(amount, most) for amount in (total - cost, limit, total))
            left, width = self.x(step, column) - 0.35 * column, 0.7 * column
            before.append((left, low, width, self.BOTTOM - low))
            within.append((left, top, width, low - top))
            over.append((left, high, width, top - high))
        self.bars(FREE, before)
        self.bars(BLUE, within)
        self.bars(ORANGE, over, hatched=True)

    def _budget(self, y: float, budget: float) -> None:
        end = self.WIDTH - self.RIGHT + 20
        self.line([self.LEFT, end], [y, y], dashed=True)
        self.write(end + 8, y, f"budget {number(budget)}", size=10)

    def _row(self, y: float, name: str, amounts: Sequence[float], column: float) -> None:
        """An amount under each column, as many as there is room for."""
        self.name(y, name)
        width = LABEL * max((len(number(amount)) for amount in amounts), default=1)
        for step in every(len(amounts), width, column):
            self.write(self.x(step, column), y, number(amounts[step - 1]), size=9, ha="center")


def _against(costs: Sequence[float], budget: float | None) -> str:
    """How the spend stands to the budget, in a sentence."""
    if budget is None:
        return ""
    over = sum(costs) - budget
    if over <= 0:
        return f" The budget of {number(budget)} is not passed: {number(-over)} left."
    step = next(place for place, total in enumerate(accumulate(costs), 1) if total > budget)
    return f" The budget of {number(budget)} is passed by step {step}: {number(over)} over."
