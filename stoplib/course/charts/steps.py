"""The steps of a run as a strip: a column for each step, a mark for each tool call and for the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from stoplib.course.charts.drawing import BLUE, BROWN, FAINT, GREEN, INK, ORANGE, PAPER, PURPLE, RUNNING, Chart
from stoplib.messages import ToolCall
from stoplib.outcome import Outcome, counted, describe
from stoplib.repeats import canonical
from stoplib.transcript import DECLINED, ERROR, NOT_RUN, OK, Step

REPEAT, ASKED, ANSWER, OTHER = "repeat", "asked", "answer", "other"


@dataclass(frozen=True)
class Mark:
    """How a kind of result looks and what it is called. Kinds differ in shape, not in colour alone."""

    word: str
    shape: str
    colour: str
    filled: bool = True


MARKS = {
    OK: Mark("ok", "o", BLUE),
    REPEAT: Mark("repeat", "d", BROWN),
    ERROR: Mark("error", "X", ORANGE),
    DECLINED: Mark("declined", "s", PURPLE),
    NOT_RUN: Mark("not run", "o", FAINT, filled=False),
    ASKED: Mark("asked for", "^", INK, filled=False),
    ANSWER: Mark("answer", "*", GREEN),
    OTHER: Mark("reply without a tool call", "D", FAINT, filled=False),
}


def plot_steps(outcome: Outcome) -> Figure:
    """A strip of the run: a column for each step, a mark for each tool call and for the answer."""
    return StepsChart().draw(outcome)


def describe_steps(outcome: Outcome) -> str:
    """The facts of `plot_steps` in words.

    >>> from stoplib import answer, call, run, script
    >>> model = script(call("look"), call("look"), call("lok"), answer("found"))
    >>> describe_steps(run(model, "go", tools={"look": lambda: "nothing"}))
    '4 steps: ok, repeat, error, answer. The run ended: answered.'
    """
    what = [" + ".join(_counted(MARKS[kind].word for kind in kinds)) for kinds in _kinds(outcome)]
    steps = f"{counted(outcome.steps, 'step')}: {', '.join(_runs(what))}" if what else "0 steps"
    return f"{steps}. {_ending(outcome)}."


class StepsChart(Chart):
    """See `plot_steps`."""

    NUMBERS, TOP, ROW = 16, 44, 24

    def draw(self, outcome: Outcome, least: int = 0) -> Figure:
        """Draw `outcome`, with room for at least so many steps; the same figure every time."""
        kinds = _kinds(outcome)
        bottom = self.TOP + self.ROW * (max(map(len, kinds), default=1) - 1)
        column = self.column(len(kinds), least)
        self.clear(bottom + 58)
        self.numbers(self.NUMBERS, len(kinds), column)
        counts = Counter(kind for made in kinds for kind in made)
        for kind in filter(counts.get, MARKS):
            places = [(x, y) for x, made in enumerate(kinds, 1) for y, one in enumerate(made) if one == kind]
            xs, ys = [self.x(x, column) for x, _ in places], [self.TOP + self.ROW * y for _, y in places]
            self._dots(MARKS[kind], xs, ys, min(11, 0.6 * column))
        if outcome.reason != RUNNING:
            self._end(self.LEFT + column * len(kinds), bottom, outcome.reason)
        self._legend(counts, bottom + 38)
        return self.done()

    def _dots(self, mark: Mark, xs: Sequence[float], ys: Sequence[float], size: float) -> None:
        face = mark.colour if mark.filled else PAPER
        size *= 1.4 if mark.shape == "*" else 1
        how: dict[str, Any] = {"marker": mark.shape, "ms": size, "mfc": face, "mec": mark.colour, "mew": 1.2}
        self.axes.add_artist(Line2D(xs, ys, linestyle="None", **how))

    def _end(self, x: float, bottom: float, reason: str) -> None:
        """The line that ends the run, and the reason."""
        self.line([x, x], [self.TOP - 14, bottom + 14])
        size = 11 if len(reason) <= 16 else 176 / len(reason)
        self.write(x + 10, self.TOP, reason, size=size, bold=True)

    def _legend(self, counts: Counter[str], y: float) -> None:
        x = self.LEFT + 10
        for kind in filter(counts.get, MARKS):
            words = f"{MARKS[kind].word}: {counts[kind]}"
            self._dots(MARKS[kind], [x], [y], 9)
            self.write(x + 16, y, words, size=10)
            x += 46 + 8 * len(words)


def _kinds(outcome: Outcome) -> list[list[str]]:
    """What came of each step: a kind for each tool call, or one for the reply."""
    seen: set[tuple[str, str]] = set()
    return [_calls(step, seen) or [_reply(step, outcome)] for step in outcome.trace]


def _calls(step: Step, seen: set[tuple[str, str]]) -> list[str]:
    """A kind for each call of a step; `seen` are the calls of the steps before it."""
    statuses = [result.status for result in step.results]
    if step.calls and not statuses and step.reply.calls:
        statuses = [ASKED] * len(step.calls)
    keys = [_key(call) for call in step.calls]
    kinds = [REPEAT if status == OK and key in seen else status for status, key in zip(statuses, keys, strict=False)]
    seen.update(keys)
    return kinds


def _key(call: ToolCall) -> tuple[str, str]:
    try:
        return call.name, canonical(call.args)
    except Exception:  # nested too deep: equal to nothing
        return call.name, str(id(call))


def _reply(step: Step, outcome: Outcome) -> str:
    return ANSWER if outcome.complete and step is outcome.trace[-1] else OTHER


def _ending(outcome: Outcome) -> str:
    if outcome.complete:
        return f"The run ended: {outcome.reason}"
    if outcome.reason == RUNNING:
        return "The run goes on"
    detail = f", {describe(outcome.detail)}" if outcome.detail else ""
    return f"The run stopped: {outcome.reason}{detail}"


def _counted(words: Iterable[str]) -> list[str]:
    return [word if count == 1 else f"{count} {word}" for word, count in Counter(words).items()]


def _runs(words: Iterable[str]) -> list[str]:
    runs = [(word, len(list(same))) for word, same in groupby(words)]
    return [word if count == 1 else f"{word} × {count}" for word, count in runs]
