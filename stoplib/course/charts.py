"""Charts of a run, and the same facts in words.

`plot_steps` shows what came of each tool call, `plot_limits` how far each limit was used up. The
words are a chart's alternative text, and stand in for it where there are no pictures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from stoplib.events import describe
from stoplib.guards.core import Limit, as_guard
from stoplib.outcome import Outcome
from stoplib.replaying import recounted
from stoplib.state import Run
from stoplib.transcript import DECLINED, ERROR, NOT_RUN, OK, Step

ANSWER, OTHER = "answer", "other"

INK, FAINT, FREE = "#222222", "#595959", "#e6e6e6"
BLUE, ORANGE, PURPLE, GREEN, BROWN = "#0072b2", "#c44e00", "#a6447f", "#00795a", "#7d5a00"


@dataclass(frozen=True)
class Mark:
    """How a kind of result looks and what it is called. Kinds differ in shape, not in colour alone."""

    word: str
    shape: str
    colour: str
    filled: bool = True


MARKS = {
    OK: Mark("ok", "o", BLUE),
    ERROR: Mark("error", "X", ORANGE),
    DECLINED: Mark("declined", "s", PURPLE),
    NOT_RUN: Mark("not run", "o", FAINT, filled=False),
    ANSWER: Mark("answer", "*", GREEN),
    OTHER: Mark("reply without a tool call", "D", BROWN),
}


def plot_steps(outcome: Outcome) -> Figure:
    """A strip of the run: a column for each step, a mark for each tool call and for the answer."""
    return StepsChart().draw(outcome)


def plot_limits(outcome: Outcome, guards: Iterable[Any]) -> Figure:
    """A bar for each limit among `guards`: how much of it was used, and which one ended the run."""
    return LimitsChart().draw(outcome, guards)


def describe_steps(outcome: Outcome) -> str:
    """The facts of `plot_steps` in words.

    >>> from stoplib import answer, call, run, script
    >>> model = script(call("look"), call("look"), call("lok"), answer("found"))
    >>> describe_steps(run(model, "go", tools={"look": lambda: "nothing"}))
    '4 steps: ok × 2, error, answer. The run ended: answered.'
    """
    what = [" + ".join(_counted(MARKS[kind].word for kind in kinds)) for kinds in _kinds(outcome)]
    steps = f"{_plural(outcome.steps, 'step')}: {', '.join(_runs(what))}" if what else "0 steps"
    return f"{steps}. {_ending(outcome)}."


def describe_limits(outcome: Outcome, guards: Iterable[Any]) -> str:
    """The facts of `plot_limits` in words.

    >>> from stoplib import max_steps, run, time_limit
    >>> from stoplib.fakes import never_answers
    >>> guards = [time_limit(60), max_steps(4)]
    >>> outcome = run(never_answers, "go", tools={"search": lambda query: "nothing"}, guards=guards, clock=lambda: 0)
    >>> describe_limits(outcome, guards)
    'Limits: time_limit 0 of 60 s; max_steps 4 of 4 steps, ended the run.'
    """
    uses = [", ".join(filter(None, (f"{use.name} {use.amount}", use.effect))) for use in _uses(outcome, guards)]
    return f"Limits: {'; '.join(uses) or 'none'}."


class Chart:
    """A picture that is drawn again and again: the figure is kept, which halves the time.

    One axes fills it, and its coordinates are pixels from the upper left corner.
    """

    WIDTH = 900

    def __init__(self) -> None:
        self.figure = Figure(dpi=200, facecolor="white")
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()

    def clear(self, height: float) -> None:
        """Take everything away and make the picture `height` pixels high."""
        for artist in (*self.axes.lines, *self.axes.patches, *self.axes.texts):
            artist.remove()
        self.figure.set_size_inches(self.WIDTH / 100, height / 100)
        self.axes.set(xlim=(0, self.WIDTH), ylim=(height, 0))

    def write(self, x: float, y: float, text: str, size: float = 11, colour: str = INK, **how: Any) -> None:
        """Write `text` at the height of `y`, starting at `x` unless `ha` says otherwise."""
        font: dict[str, Any] = {"fontsize": size, "color": colour, "family": "DejaVu Sans", "parse_math": False}
        self.axes.text(x, y, text, va="center", **font, **how)


class StepsChart(Chart):
    """See `plot_steps`."""

    LEFT, NUMBERS, TOP, ROW, COLUMN = 60, 16, 44, 24, 36

    def draw(self, outcome: Outcome) -> Figure:
        """Draw `outcome`; the same figure every time."""
        kinds = _kinds(outcome)
        bottom = self.TOP + self.ROW * (max(map(len, kinds), default=1) - 1)
        room = self.WIDTH - self.LEFT - 40 - 10 * len(outcome.reason)
        column = min(self.COLUMN, room / max(len(kinds), 1))
        self.clear(bottom + 58)
        self._numbers(len(kinds), column)
        counts = Counter(kind for made in kinds for kind in made)
        for kind in filter(counts.get, MARKS):
            places = [(x, y) for x, made in enumerate(kinds) for y, one in enumerate(made) if one == kind]
            xs, ys = [self.LEFT + column * x for x, _ in places], [self.TOP + self.ROW * y for _, y in places]
            self._dots(MARKS[kind], xs, ys, min(11, 0.6 * column))
        self._end(self.LEFT + column * (len(kinds) - 0.5), bottom, outcome.reason)
        self._legend(counts, bottom + 38)
        return self.figure

    def _numbers(self, steps: int, column: float) -> None:
        self.write(16, self.NUMBERS, "step", size=9, colour=FAINT)
        every = next(n for n in (1, 5, 10, 20, 50, 100, 1000) if n * column >= 24)
        for step in (n for n in range(1, steps + 1) if n == 1 or n % every == 0):
            self.write(self.LEFT + column * (step - 1), self.NUMBERS, str(step), size=9, colour=FAINT, ha="center")

    def _dots(self, mark: Mark, xs: Sequence[float], ys: Sequence[float], size: float) -> None:
        face = mark.colour if mark.filled else "white"
        size *= 1.4 if mark.shape == "*" else 1
        self.axes.plot(xs, ys, mark.shape, ms=size, mfc=face, mec=mark.colour, mew=1.2)

    def _end(self, x: float, bottom: float, reason: str) -> None:
        """The line that ends the run, and the reason."""
        self.axes.plot([x, x], [self.TOP - 14, bottom + 14], color=INK, lw=2)
        self.write(x + 12, self.TOP, reason, weight="bold")

    def _legend(self, counts: Counter[str], y: float) -> None:
        x: float = self.LEFT
        for kind in filter(counts.get, MARKS):
            words = f"{MARKS[kind].word}: {counts[kind]}"
            self._dots(MARKS[kind], [x], [y], 9)
            self.write(x + 16, y, words, size=10)
            x += 50 + 8 * len(words)


class LimitsChart(Chart):
    """See `plot_limits`."""

    START, LIMIT, TEXT, TOP, ROW, THICK = 150, 560, 612, 34, 46, 24

    def draw(self, outcome: Outcome, guards: Iterable[Any]) -> Figure:
        """Draw `outcome` against `guards`; the same figure every time."""
        uses = _uses(outcome, guards)
        self.clear(self.TOP + self.ROW * max(len(uses), 1) + 8)
        if not uses:
            self.write(16, self.TOP, "There are no limits among the guards.")
            return self.figure
        for row, use in enumerate(uses):
            self._bar(self.TOP + self.ROW * (row + 0.5), use)
        self.write(self.LIMIT, 16, "limit", size=9, colour=FAINT, ha="center")
        self.axes.plot([self.LIMIT] * 2, [self.TOP - 8, self.TOP + self.ROW * len(uses)], "--", color=INK, lw=1.2)
        return self.figure

    def _bar(self, y: float, use: Use) -> None:
        width = self.LIMIT - self.START
        self._rectangle(y, width, facecolor=FREE)
        colour, hatch = (ORANGE, "///") if use.effect else (BLUE, None)
        self._rectangle(y, width * min(use.share, 1.1), facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0)
        self.write(self.START - 12, y, use.name, ha="right")
        self.write(self.TEXT, y - 9 if use.effect else y, use.amount)
        self.write(self.TEXT, y + 10, use.effect, size=10, colour=ORANGE, weight="bold")

    def _rectangle(self, y: float, width: float, **how: Any) -> None:
        self.axes.add_patch(Rectangle((self.START, y - self.THICK / 2), width, self.THICK, **how))


@dataclass(frozen=True)
class Use:
    """How far one limit was used."""

    name: str
    used: float
    limit: float
    unit: str
    effect: str

    @property
    def share(self) -> float:
        """The used part, where 1 is all of it. Of nothing, all is used."""
        return self.used / self.limit if self.limit else 1.0

    @property
    def amount(self) -> str:
        return f"{self.used:,.10g} of {self.limit:,.10g} {self.unit}"


def _uses(outcome: Outcome, guards: Iterable[Any]) -> list[Use]:
    limits = [part for guard in guards for part in as_guard(guard).parts if isinstance(part, Limit)]
    run = recounted(outcome)
    return [_use(limit, run, outcome) for limit in limits]


def _use(limit: Limit, run: Run, outcome: Outcome) -> Use:
    used, at_most = limit.measure(run)
    fired = limit.name in outcome.fired and used >= at_most
    effect = "" if not fired else "ended the run" if limit.name == outcome.reason else "fired as well"
    return Use(limit.name, used, at_most, limit.unit, effect)


def _kinds(outcome: Outcome) -> list[list[str]]:
    """What came of each step: a kind for each tool call, or one for the reply."""
    return [[result.status for result in step.results] or [_reply(step, outcome)] for step in outcome.trace]


def _reply(step: Step, outcome: Outcome) -> str:
    return ANSWER if outcome.complete and step is outcome.trace[-1] else OTHER


def _ending(outcome: Outcome) -> str:
    if outcome.complete:
        return f"The run ended: {outcome.reason}"
    detail = f", {describe(outcome.detail)}" if outcome.detail else ""
    return f"The run stopped: {outcome.reason}{detail}"


def _counted(words: Iterable[str]) -> list[str]:
    return [word if count == 1 else f"{count} {word}" for word, count in Counter(words).items()]


def _runs(words: Iterable[str]) -> list[str]:
    runs = [(word, len(list(same))) for word, same in groupby(words)]
    return [word if count == 1 else f"{word} × {count}" for word, count in runs]


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
