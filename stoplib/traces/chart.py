"""Findings as charts: what each number of a guard stops and loses. They need matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from itertools import groupby
from typing import Any

from stoplib.traces.findings import Findings, Row
from stoplib.traces.table import silent

STOPPED, LOST, CHOSEN = "#0072b2", "#d55e00", "#555555"
ACROSS = 3
FEWEST_NUMBERS = 3
HASH = "stoplib"


def charted(found: Findings) -> list[list[Row]]:
    """The rows of each guard that has enough numbers for a line."""
    rows = [list(of_guard) for _, of_guard in groupby(found.rows, key=lambda row: row.name)]
    return [one for one in rows if len(one) >= FEWEST_NUMBERS and one[0].name not in silent(found)]


def draw(found: Findings) -> Any:
    """One picture with a chart for each guard, as a matplotlib figure. Raises ImportError without matplotlib."""
    from matplotlib.figure import Figure

    guards = charted(found)
    down = max(1, -(-len(guards) // ACROSS))
    figure = Figure(figsize=(4 * ACROSS, 2.8 * down), layout="constrained")
    for place, rows in enumerate(guards, 1):
        _chart(figure.add_subplot(down, ACROSS, place), rows, found)
    if guards:
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return figure


def _chart(axes: Any, rows: Sequence[Row], found: Findings) -> None:
    numbers = [row.number for row in rows]
    for share, color, marker, what in (
        ([row.share_stopped for row in rows], STOPPED, "o-", "failures stopped"),
        ([row.share_lost for row in rows], LOST, "X--", "successes lost"),
    ):
        axes.plot(numbers, [100 * s.value for s in share], marker, color=color, label=what, markersize=4)
        low, high = ([100 * (s.low or 0.0) for s in share], [100 * (s.high or 0.0) for s in share])
        axes.fill_between(numbers, low, high, color=color, alpha=0.15, linewidth=0)
    proposed = [row.number for row in rows if row.guard in found.guards]
    for number in proposed:
        axes.axvline(number, color=CHOSEN, linestyle=":", label="proposed")
    axes.set(title=rows[0].name, ylim=(0, 100), xscale="log" if numbers[-1] > 20 * numbers[0] else "linear")
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.set_ylabel("% of its kind")
    axes.grid(alpha=0.3)


def as_svg(found: Findings) -> str:
    """The picture as SVG to stand inside a page, the same bytes each time. Raises ImportError without matplotlib."""
    from matplotlib import rc_context

    text = StringIO()
    with rc_context({"svg.hashsalt": HASH, "svg.fonttype": "none"}):
        draw(found).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def in_words(found: Findings) -> str:
    """What the picture shows, for those who do not see it."""
    said = []
    for rows in charted(found):
        best = next((row for row in rows if row.guard in found.guards), rows[-1])
        said.append(
            f"{best.guard!r} stops {best.share_stopped.value:.1%} of the failures and loses"
            f" {best.share_lost.value:.1%} of the successes"
        )
    return "Failures stopped and successes lost fall as the numbers grow: " + "; ".join(said) + "."
