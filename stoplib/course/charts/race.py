"""The race: for one recorded run, where would each guard have stopped it, if it had been alone?

`race` gives the facts, `plot_race` a chart of them, `describe_race` the same in words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from stoplib.course.charts.drawing import BLUE, FAINT, FREE, ORANGE, Box, Chart, every
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
    lanes = [lane_of(outcome, part) for guard in guards for part in as_guard(guard).parts]
    return sorted(lanes, key=lambda lane: lane.place)


def lane_of(outcome: Outcome, guard: Guard) -> Lane:
    """The guard alone, with a bound that is out of reach."""
    recorded = outcome.replaced(fired=())  # else a replay to the end would repeat what fired then
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
    return race_in_words(outcome, race(outcome, guards))


def race_in_words(outcome: Outcome, lanes: list[Lane]) -> str:
    """Lanes that are known already, in words."""
    first = "first " if lanes and lanes[0].steps is not None else ""
    return f"Race over {outcome.steps} recorded steps: {first}{'; '.join(map(_said, lanes)) or 'no guards'}."


def _said(lane: Lane) -> str:
    if lane.steps is None:
        return f"{lane.name} does not stop it"
    return f"{lane.name} at step {lane.steps} ({lane.tokens:,} tokens)"


class RaceChart(Chart):
    """See `plot_race`."""

    START, END, TOP, ROW, THICK = 190, 480, 34, 26, 16

    def draw(self, outcome: Outcome, lanes: list[Lane]) -> Figure:
        """Draw the lanes in their order; the same figure every time."""
        self.clear(self.TOP + self.ROW * max(len(lanes), 1) + 8)
        longest = max(outcome.steps, 1)
        self.write(self.START - 12, 16, "step", size=9, colour=FAINT, ha="right")
        for step in every(longest, 24, (self.END - self.START) / longest):
            self.write(self._x(step, longest), 16, str(step), size=9, colour=FAINT, ha="center")
        rows = [(self.TOP + self.ROW * (row + 0.5), lane) for row, lane in enumerate(lanes)]
        ran = [self._bar(y, self._x(lane.steps, longest)) for y, lane in rows if lane.steps is not None]
        self.bars(FREE, [self._bar(y, self.END) for y, _ in rows])
        self.bars(BLUE, ran[1:])
        self.bars(ORANGE, ran[:1], hatched=True)
        for y, lane in rows:
            self._label(y, lane, longest, first=lane is lanes[0])
        return self.done()

    def _x(self, step: int, longest: int) -> float:
        return self.START + (self.END - self.START) * step / longest

    def _label(self, y: float, lane: Lane, longest: int, first: bool) -> None:
        self.write(self.START - 12, y, lane.name, size=10, ha="right")
        if lane.steps is None:
            self.write(self.END + 14, y, "does not stop it", size=10, colour=FAINT)
            return
        end = self._x(lane.steps, longest)
        self.line([end, end], [y - self.THICK / 2 - 4, y + self.THICK / 2 + 4])
        words = f"step {lane.steps}, {lane.tokens:,} tokens"
        self.write(self.END + 14, y, f"{words}: first" if first else words, size=10, bold=first)

    def _bar(self, y: float, end: float) -> Box:
        return self.START, y - self.THICK / 2, end - self.START, self.THICK
