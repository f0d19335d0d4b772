"""What recorded runs say about limits, as values: rows, trials, a proposal, and what they cannot carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from stoplib.guards import Guard
from stoplib.traces.choosing import Trial
from stoplib.traces.estimates import Share, wilson
from stoplib.traces.report import Report
from stoplib.traces.tally import SPENT, Group
from stoplib.traces.trace import FAILURE, SUCCESS

Paths = str | Path

WIDTH = 100
"""Characters in a line of what is written for people."""


class Row(NamedTuple):
    """One guard with one number, held against all runs.

    guard         the guard; its `repr` is source
    name          what its ladder is called
    number        the number
    cut           runs that it cuts, whatever their label, of `runs`
    stopped       failures that it cuts, of `failures`
    lost          successes that it cuts, of `successes`: an upper bound on harm, since the work may have been done
    saved         calls, tokens and money of failed runs after the cut, as shares of all runs' own; None if unknown
    forgone       the same of successful runs
    """

    guard: Guard
    name: str
    number: float
    cut: int
    runs: int
    stopped: int
    failures: int
    lost: int
    successes: int
    saved: dict[str, Share | None]
    forgone: dict[str, Share | None]

    @property
    def share_stopped(self) -> Share:
        """Failures stopped, with Wilson's interval."""
        return wilson(self.stopped, self.failures)

    @property
    def share_lost(self) -> Share:
        """Successes lost, with Wilson's interval."""
        return wilson(self.lost, self.successes)

    @property
    def precision(self) -> Share:
        """Failures among the labelled runs that it cuts: it tells something as far as this exceeds that of all runs."""
        return wilson(self.stopped, self.stopped + self.lost)


class Proposed(NamedTuple):
    """A guard that the runs speak for, and one sentence that says why."""

    guard: Guard
    reason: str


class Together(NamedTuple):
    """The guards chosen on half of the tasks, replayed together over the runs of the other half."""

    guards: tuple[Guard, ...]
    stopped: int
    failures: int
    lost: int
    successes: int
    saved: dict[str, float | None]

    def __str__(self) -> str:
        stopped, lost = wilson(self.stopped, self.failures), wilson(self.lost, self.successes)
        saved = ", ".join(
            f"{100 * share:.1f} % of the {what}" for what, share in self.saved.items() if share is not None
        )
        return (
            f"Chosen on one half of the tasks and replayed together over the other half, they stopped {self.stopped} of"
            f" {self.failures} failures, {stopped}, lost {self.lost} of {self.successes} successes, {lost},"
            f" and saved {saved}."
        )


def tried_together(guards: tuple[Guard, ...], found: Group, known: set[str]) -> Together:
    """What `sweep.tried` found, in numbers. `known` says which of calls, tokens and money are."""
    ran = {label: found.ran.get((0, label)) for label in (SUCCESS, FAILURE)}
    cut = {label: found.cut.get((0, 0, label)) for label in (SUCCESS, FAILURE)}
    saved: dict[str, float | None] = {}
    for what in SPENT:
        whole = sum(getattr(spent, what) for spent in found.ran.values())
        stopped = cut[FAILURE]
        saved[what] = (getattr(stopped, what) if stopped else 0) / whole if what in known and whole else None
    runs = {label: (spent.runs if spent else 0) for label, spent in ran.items()}
    hit = {label: (spent.runs if spent else 0) for label, spent in cut.items()}
    return Together(guards, hit[FAILURE], runs[FAILURE], hit[SUCCESS], runs[SUCCESS], saved)


@dataclass
class Findings:
    """What `limits` found.

    report      what was read, dropped and unknown
    tasks       how many tasks the runs are of
    successes, failures     runs with these labels
    headroom    the factor that the proposal was made with
    known       which of calls, tokens and money are known well enough to say what is saved
    rows        each guard with each number
    unjudged    the guards that the runs say nothing about, and why
    trials      for each guard: the rule with several headrooms, tried on tasks that it was not chosen on
    proposal    the guards that the runs speak for; empty if `refused` says why there are none
    together    the proposal's guards tried together
    notes       what the numbers cannot say
    """

    report: Report
    tasks: int
    successes: int
    failures: int
    headroom: float
    known: set[str]
    rows: list[Row]
    unjudged: dict[str, str]
    trials: dict[str, list[Trial]]
    proposal: list[Proposed] = field(default_factory=list)
    refused: str = ""
    together: Together | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def guards(self) -> list[Guard]:
        """The proposed guards."""
        return [proposed.guard for proposed in self.proposal]

    @property
    def python(self) -> str:
        """The proposed guard set as Python, with a sentence of reason for each number."""
        if not self.proposal:
            said = f"No guard set is proposed: {self.refused}"
            return fill(said, WIDTH, initial_indent="# ", subsequent_indent="# ") + "\n"
        kinds = {type(guard) for guard in self.guards if type(guard).__module__.startswith("stoplib.")}
        names = sorted(kind.__name__ for kind in kinds)  # guards of one's own are where one has them
        lines = [_import(names), "", "GUARDS = ["]
        for guard, reason in self.proposal:
            lines.append(fill(reason, WIDTH, initial_indent="    # ", subsequent_indent="    # "))
            lines.append(f"    {guard!r},")
        return "\n".join([*lines, "]"]) + "\n"

    def __str__(self) -> str:
        from stoplib.traces.table import as_text

        return as_text(self)

    def as_csv(self) -> str:
        """Every row, with its intervals."""
        from stoplib.traces.table import as_csv

        return as_csv(self)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data, ready for JSON."""
        from stoplib.traces.table import as_dict

        return as_dict(self)

    def as_html(self) -> str:
        """Everything as one page that needs no other file. Its charts need matplotlib, and are left out without it."""
        from stoplib.traces.page import as_html

        return as_html(self)

    def chart(self, path: Paths) -> None:
        """Draw failures stopped and successes lost over each guard's numbers, to a file such as `limits.png`.

        Raises ImportError without matplotlib.
        """
        from stoplib.traces.chart import draw

        draw(self).savefig(path)


def _import(names: Sequence[str]) -> str:
    """An import of these names, as formatters write it.

    >>> print(_import(["max_steps", "time_limit"]))
    from stoplib import max_steps, time_limit
    >>> print(_import(["a" * 50, "b" * 50]).replace("a" * 50, "a").replace("b" * 50, "b"))
    from stoplib import (
        a,
        b,
    )
    """
    line = f"from stoplib import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join(["from stoplib import (", *(f"    {name}," for name in names), ")"])
