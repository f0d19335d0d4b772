"""How far each guard is from firing: a bar for the used share of its limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from stoplib.course.charts.drawing import BLUE, FAINT, FREE, ORANGE, Box, Chart, number
from stoplib.guards import Guard, Limit, going_in_circles, max_tool_calls, no_new_results, repeated_call, repeated_round
from stoplib.guards.core import as_guard
from stoplib.outcome import Outcome
from stoplib.replaying import recounted
from stoplib.state import Run


@dataclass(frozen=True)
class Share:
    """How far one guard is: `used` of `limit`, in `unit`, and its effect on the run in words, if it had one."""

    name: str
    used: float
    limit: float
    unit: str
    effect: str = ""

    @property
    def part(self) -> float:
        """The used part, where 1 is all of it. Of nothing, all is used."""
        return self.used / self.limit if self.limit else 1.0

    @property
    def amount(self) -> str:
        return f"{number(self.used)} of {number(self.limit)} {self.unit}"


def shares(outcome: Outcome, guards: Iterable[Any]) -> list[Share]:
    """How far each of the guards is that can be measured; the parts of `a | b` apart.

    >>> from stoplib import max_steps, run
    >>> from stoplib.fakes import retries
    >>> guards = [going_in_circles(3), max_steps(8)]
    >>> outcome = run(retries, "go", tools={"search": lambda query: "nothing"}, guards=guards)
    >>> [(share.name, share.part, share.effect) for share in shares(outcome, guards)]
    [('going_in_circles', 1.0, 'ended the run'), ('max_steps', 0.375, '')]
    """
    parts = [part for guard in guards for part in as_guard(guard).parts]
    longest = max((part.longest for part in parts if isinstance(part, going_in_circles)), default=1)
    run = recounted(outcome, longest)
    found = []
    for part in parts:
        if measured := _measured(part, run):
            used, limit, unit = measured
            fired = part.name in outcome.fired and (used >= limit or _looks_ahead(part))
            effect = "" if not fired else "ended the run" if part.name == outcome.reason else "fired as well"
            found.append(Share(part.name, used, limit, unit, effect))
    return found


def _measured(guard: Guard, run: Run) -> tuple[float, float, str] | None:
    """(used, limit, unit), or None for a guard that has no measure, such as a function."""
    repeats = run.repeats
    match guard:
        case Limit():
            return (*guard.measure(run), guard.unit)
        case repeated_call():
            return repeats.call, guard.limit, "times the same call"
        case repeated_round():
            return (repeats.round if guard.ever else repeats.in_a_row), 2, "times the same round"
        case going_in_circles():
            passes = range(guard.times, 0, -1)
            return next((n for n in passes if repeats.cycle(n, guard.longest)), 0), guard.times, "passes of a cycle"
        case no_new_results():
            return repeats.same, guard.n, "equal results"
    return None


def _looks_ahead(guard: Guard) -> bool:
    """Whether it can fire before its limit is reached: the next call, or the batch, would pass it."""
    return isinstance(guard, max_tool_calls) or getattr(guard, "hard", False)


def plot_shares(outcome: Outcome, guards: Iterable[Any]) -> Figure:
    """A bar for each of the guards that can be measured: how far it was, and which one ended the run."""
    return SharesChart().draw(shares(outcome, guards))


def describe_shares(outcome: Outcome, guards: Iterable[Any]) -> str:
    """The facts of `plot_shares` in words.

    >>> from stoplib import max_steps, run, time_limit
    >>> from stoplib.fakes import never_answers
    >>> guards = [time_limit(60), max_steps(4)]
    >>> outcome = run(never_answers, "go", tools={"search": lambda query: "nothing"}, guards=guards, clock=lambda: 0)
    >>> describe_shares(outcome, guards)
    'Guards: time_limit 0 of 60 s; max_steps 4 of 4 steps, ended the run.'
    """
    return shares_in_words(shares(outcome, guards))


def shares_in_words(found: list[Share]) -> str:
    """Shares that are known already, in words."""
    uses = [", ".join(filter(None, (f"{share.name} {share.amount}", share.effect))) for share in found]
    return f"Guards: {'; '.join(uses) or 'none that can be measured'}."


class SharesChart(Chart):
    """See `plot_shares`."""

    START, LIMIT, TEXT, TOP, ROW, THICK = 170, 386, 426, 34, 26, 16

    def draw(self, found: list[Share]) -> Figure:
        """Draw these shares; the same figure every time."""
        self.clear(self.TOP + self.ROW * max(len(found), 1) + 8)
        if not found:
            self.write(16, self.TOP, "None of the guards can be measured.")
            return self.done()
        width = self.LIMIT - self.START
        rows = [(self.TOP + self.ROW * (row + 0.5), share) for row, share in enumerate(found)]
        used = [(self._bar(y, width * min(share.part, 1.1)), share.effect) for y, share in rows]
        self.bars(FREE, [self._bar(y, width) for y, _ in rows])
        self.bars(BLUE, [bar for bar, effect in used if not effect])
        self.bars(ORANGE, [bar for bar, effect in used if effect], hatched=True)
        for y, share in rows:
            self.write(self.START - 12, y, share.name, size=10, ha="right")
            words = ", ".join(filter(None, (share.amount, share.effect)))
            self.write(self.TEXT, y, words, size=10, bold=bool(share.effect))
        self.write(self.LIMIT, 16, "limit", size=9, colour=FAINT, ha="center")
        self.line([self.LIMIT] * 2, [self.TOP - 8, self.TOP + self.ROW * len(found)], dashed=True)
        return self.done()

    def _bar(self, y: float, width: float) -> Box:
        return self.START, y - self.THICK / 2, width, self.THICK
