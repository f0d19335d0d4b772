"""What a guard set does to recorded runs: what it stops, what it loses, what it saves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from stoplib.course.charts.drawing import BLUE, FAINT, FREE, ORANGE, Box, Chart, number
from stoplib.course.population import Recorded
from stoplib.guards import max_steps
from stoplib.outcome import Outcome
from stoplib.replaying import replay


@dataclass(frozen=True)
class Effect:
    """A part of a whole: so many of the failed runs, of the successes, of the steps or of the tokens."""

    what: str
    part: int
    whole: int
    unit: str
    harm: bool = False

    @property
    def percent(self) -> float:
        return 100 * self.part / self.whole if self.whole else 0.0

    def __str__(self) -> str:
        return f"{self.what}: {number(self.part)} of {number(self.whole)} {self.unit} ({self.percent:.1f} %)"


def effects(runs: Sequence[Recorded], guards: Iterable[Any]) -> list[Effect]:
    """What these guards would have done to the runs, by replay. What is saved is what failed runs spent after the cut.

    >>> from stoplib.course.population import recorded_runs
    >>> for effect in effects(recorded_runs(seed=23, tasks=10), [max_steps(8)]):
    ...     print(effect)
    failures stopped: 9 of 21 failed runs (42.9 %)
    successes lost: 2 of 19 successful runs (10.5 %)
    steps saved: 116 of 375 steps (30.9 %)
    tokens saved: 821,894 of 1,681,302 tokens (48.9 %)
    """
    guards = list(guards)
    cut = [(one, end) for one in runs if (end := _ended(one.outcome, guards)).steps < one.outcome.steps]
    failed = [(one.outcome, end) for one, end in cut if not one.success]
    good = sum(one.success for one in runs)
    steps, tokens = (sum(o.steps - e.steps for o, e in failed), sum(o.usage.total - e.usage.total for o, e in failed))
    return [
        Effect("failures stopped", len(failed), len(runs) - good, "failed runs"),
        Effect("successes lost", len(cut) - len(failed), good, "successful runs", harm=True),
        Effect("steps saved", steps, sum(one.outcome.steps for one in runs), "steps"),
        Effect("tokens saved", tokens, sum(one.outcome.usage.total for one in runs), "tokens"),
    ]


def _ended(outcome: Outcome, guards: Sequence[Any]) -> Outcome:
    """The run as these guards would have ended it; the bound that a replay needs is out of reach."""
    return replay(outcome, [*guards, max_steps(outcome.steps + 1)])


def plot_effects(found: Sequence[Effect]) -> Figure:
    """A bar for each effect, in per cent of its kind; harm is hatched."""
    return EffectsChart().draw(found)


def describe_effects(found: Sequence[Effect]) -> str:
    """The facts of `plot_effects` in words.

    >>> describe_effects([Effect("failures stopped", 1, 4, "failed runs")])
    'failures stopped: 1 of 4 failed runs (25.0 %).'
    """
    return "; ".join(map(str, found)) + "."


class EffectsChart(Chart):
    """See `plot_effects`."""

    START, END, TOP, ROW, THICK = 150, 420, 34, 34, 20

    def draw(self, found: Sequence[Effect]) -> Figure:
        """Draw these effects; the same figure every time."""
        self.clear(self.TOP + self.ROW * len(found) + 8)
        for percent in (0, 25, 50, 75, 100):
            self.write(self._x(percent), 16, f"{percent} %", size=9, colour=FAINT, ha="center")
        rows = [(self.TOP + self.ROW * (row + 0.5), effect) for row, effect in enumerate(found)]
        self.bars(FREE, [self._bar(y, 100) for y, _ in rows])
        self.bars(BLUE, [self._bar(y, effect.percent) for y, effect in rows if not effect.harm])
        self.bars(ORANGE, [self._bar(y, effect.percent) for y, effect in rows if effect.harm], hatched=True)
        for y, effect in rows:
            self.write(self.START - 12, y, effect.what, size=10, ha="right")
            words = f"{number(effect.part)} of {number(effect.whole)} ({effect.percent:.1f} %)"
            self.write(self.END + 14, y, words, size=10)
        return self.done()

    def _x(self, percent: float) -> float:
        return self.START + (self.END - self.START) * percent / 100

    def _bar(self, y: float, percent: float) -> Box:
        return self.START, y - self.THICK / 2, self._x(percent) - self.START, self.THICK
