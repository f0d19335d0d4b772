"""The race: for one recorded run, where would each guard have stopped it, if it had been alone?

`race` gives the facts, `plot_race` a chart of them, `describe_race` the same in words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from stoplib.course.charts import BLUE, FAINT, FREE, INK, ORANGE, Chart
from stoplib.guards import Guard, max_steps
from stoplib.guards.core import as_guard
from stoplib.outcome import Outcome
from stoplib.replaying import replay


@dataclass(frozen=True)
class Lane:
    """One guard in the race. `steps` is None if it would not have stopped the run."""

    name: str
    steps: int | None
    tool_calls: int
    tokens: int

    @property
    def place(self) -> tuple[float, int]:
        """Who comes first: fewer steps, and at the same step whoever stopped before the tools ran."""
        return (float("inf") if self.steps is None else self.steps, self.tool_calls)


def race(outcome: Outcome, guards: Iterable[Any]) -> list[Lane]:
    """Every guard alone against a recorded run, the first one to stop it first.

    >>> from stoplib import going_in_circles, no_new_results, run
    >>> from stoplib.fakes import retries
    >>> outcome = run(retries, "go", tools={"search": lambda query: "nothing"}, guards=[max_steps(8)])
    >>> [(lane.name, lane.steps) for lane in race(outcome, [no_new_results(3), going_in_circles(), max_steps(20)])]
    [('going_in_circles', 2), ('no_new_results', 3), ('max_steps', None)]
    """
    recorded = outcome.replaced(fired=())  # else a replay to the end would repeat what fired then
    lanes = [_lane(recorded, part) for guard in guards for part in as_guard(guard).parts]
    return sorted(lanes, key=lambda lane: lane.place)


def _lane(recorded: Outcome, guard: Guard) -> Lane:
    """The guard alone, with a bound that is out of reach."""
    alone = replay(recorded, [guard, max_steps(recorded.steps + 1)])
    return Lane(guard.name, alone.steps if alone.fired else None, alone.tool_calls, alone.usage.total)


def plot_race(outcome: Outcome, guards: Iterable[Any]) -> Figure:
    """A lane for each guard, as long as the run that it would have allowed."""
    return RaceChart().draw(outcome, race(outcome, guards))


def describe_race(outcome: Outcome, guards: Iterable[Any]) -> str:
    """The facts of `plot_race` in words.

    >>> from stoplib import no_new_results, run, too_many_errors
    >>> from stoplib.fakes import rewords
    >>> outcome = run(rewords, "go", tools={"search": lambda query: "nothing"}, guards=[max_steps(8)])
    >>> describe_race(outcome, [too_many_errors(3), max_steps(5), no_new_results(3)])
    'Race over 8 recorded steps: first no_new_results at step 3 (0 tokens); max_steps at step 5 (0 tokens); \
too_many_errors does not stop it.'
    """
    lanes = race(outcome, guards)
    first = "first " if lanes and lanes[0].steps is not None else ""
    return f"Race over {outcome.steps} recorded steps: {first}{'; '.join(map(_said, lanes)) or 'no guards'}."


def _said(lane: Lane) -> str:
    if lane.steps is None:
        return f"{lane.name} does not stop it"
    return f"{lane.name} at step {lane.steps} ({lane.tokens:,} tokens)"


class RaceChart(Chart):
    """See `plot_race`."""

    START, END, TOP, ROW, THICK = 170, 620, 40, 34, 18

    def draw(self, outcome: Outcome, lanes: list[Lane]) -> Figure:
        """Draw the lanes in their order; the same figure every time."""
        self.clear(self.TOP + self.ROW * max(len(lanes), 1) + 8)
        longest = max(outcome.steps, 1)
        every = next(n for n in (1, 5, 10, 20, 50, 100, 1000, 10_000) if longest <= 12 * n)
        self.write(16, 16, "step", size=9, colour=FAINT)
        for step in (n for n in range(1, longest + 1) if n == 1 or n % every == 0):
            self.write(self._x(step, longest), 16, str(step), size=9, colour=FAINT, ha="center")
        for row, lane in enumerate(lanes):
            self._lane(self.TOP + self.ROW * (row + 0.5), lane, longest, first=row == 0 and lane.steps is not None)
        return self.figure

    def _x(self, step: int, longest: int) -> float:
        return self.START + (self.END - self.START) * step / longest

    def _lane(self, y: float, lane: Lane, longest: int, first: bool) -> None:
        self.write(self.START - 12, y, lane.name, ha="right")
        self._rectangle(y, self.END, facecolor=FREE)
        if lane.steps is None:
            self.write(self.END + 14, y, "does not stop it", size=10, colour=FAINT)
            return
        colour, hatch = (ORANGE, "///") if first else (BLUE, None)
        end = self._x(lane.steps, longest)
        self._rectangle(y, end, facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0)
        self.axes.plot([end, end], [y - self.THICK / 2 - 4, y + self.THICK / 2 + 4], color=INK, lw=2)
        words = f"step {lane.steps}, {lane.tokens:,} tokens"
        self.write(
            self.END + 14, y, f"{words}: first" if first else words, size=10, weight="bold" if first else "normal"
        )

    def _rectangle(self, y: float, end: float, **how: Any) -> None:
        self.axes.add_patch(Rectangle((self.START, y - self.THICK / 2), end - self.START, self.THICK, **how))
