"""Findings as text, CSV and plain data."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from itertools import groupby
from textwrap import fill
from typing import Any

from stoplib.traces.estimates import Share
from stoplib.traces.findings import WIDTH, Findings, Row
from stoplib.traces.tally import SPENT

MOST_LOST = 0.2
"""Numbers that lose more of the successes than this are left out of the text: nobody would take them."""


def as_text(found: Findings) -> str:
    """What was read, the rows that matter, the trials, and the proposal."""
    return "\n".join(
        [
            str(found.report),
            "",
            *_rows(found),
            *_unjudged(found),
            *_trials(found),
            found.python,
            *([fill(str(found.together), WIDTH), ""] if found.together else []),
            *(fill(note, WIDTH, initial_indent="- ", subsequent_indent="  ") for note in found.notes),
        ]
    )


def worth_showing(found: Findings) -> list[Row]:
    """The rows that somebody may want: from few successes lost up to the number that is proposed, or to none lost.

    A guard that cuts no run has none.
    """
    proposed = {repr(guard) for guard in found.guards}
    shown = []
    for _, rows in groupby(found.rows, key=lambda row: row.name):
        of_guard = list(rows)
        if not of_guard[0].cut:
            continue
        wanted = next((n for n, row in enumerate(of_guard) if repr(row.guard) in proposed), None)
        if wanted is None:
            wanted = next((n for n, row in enumerate(of_guard) if not row.lost), len(of_guard))
        shown += [row for row in of_guard[: wanted + 1] if row.share_lost.value <= MOST_LOST]
    return shown


def silent(found: Findings) -> list[str]:
    """The guards that cut no run, whatever their number."""
    first = [next(rows) for _, rows in groupby(found.rows, key=lambda row: row.name)]
    return [row.name for row in first if not row.cut]


def _rows(found: Findings) -> Iterator[str]:
    known = [what for what in SPENT if what in found.known]
    if not found.successes and not found.failures:
        yield f"{'guard':32}{'cuts':>8} of runs"
        yield from (f"{row.guard!r:32}{row.cut:>8} of {row.runs}" for row in worth_showing(found))
        yield ""
        return
    yield f"{'':32}{'failures stopped':<22}{'successes lost':<22}saved, of all runs' {', '.join(known)}"
    for row in worth_showing(found):
        saved = "  ".join(f"{_percent(row.saved[what]):>22}" for what in known)
        yield f"{row.guard!r:32}{_percent(row.share_stopped):<22}{_percent(row.share_lost):<22}{saved}".rstrip()
    yield ""
    yield "In %, with 95 % intervals: Wilson's for shares of runs, by drawing tasks for what is saved."
    yield ""


def _percent(share: Share | None) -> str:
    return "unknown" if share is None else str(share).replace(" %", "")


def _unjudged(found: Findings) -> Iterator[str]:
    for name in silent(found):
        yield f"{name} cuts none of these runs, whatever its number."
    for name, why in found.unjudged.items():
        yield fill(f"{name} is not judged: {why}.", WIDTH)
    if silent(found) or found.unjudged:
        yield ""


def _trials(found: Findings) -> Iterator[str]:
    if not found.trials:
        return
    yield "Chosen on half of the tasks, tried on the other half: mean of the splits, in %"
    yield f"{'':32}{'headroom':>9}{'numbers':>22}{'stopped':>9}{'lost':>7}{'worst':>7}{'calls saved':>13}"
    for name in [name for name in found.trials if name not in silent(found)]:
        for one in found.trials[name]:
            shares = f"{100 * one.stopped:9.1f}{100 * one.lost:7.1f}{100 * one.most_lost:7.1f}{100 * one.saved:13.1f}"
            yield f"{name:32}{one.headroom:>9g}{one.span:>22}{shares}"
    yield ""


def as_csv(found: Findings) -> str:
    """Every row."""
    text = StringIO()
    rows = [_plain(row) for row in found.rows]
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _plain(row: Row) -> dict[str, Any]:
    """A row as plain values; what is unknown is None."""
    plain: dict[str, Any] = {"guard": repr(row.guard), "name": row.name, "number": row.number}
    plain |= {"cut": row.cut, "runs": row.runs, "stopped": row.stopped, "failures": row.failures}
    plain |= {"lost": row.lost, "successes": row.successes}
    shares: dict[str, Share | None] = {"share_stopped": row.share_stopped, "share_lost": row.share_lost}
    shares["precision"] = row.precision
    shares |= {f"{what}_saved": row.saved[what] for what in SPENT}
    shares |= {f"{what}_forgone": row.forgone[what] for what in SPENT}
    for name, share in shares.items():
        value, low, high = share or (None, None, None)
        plain |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return plain


def as_dict(found: Findings) -> dict[str, Any]:
    """Everything as plain data."""
    together = found.together
    return {
        "report": found.report.as_dict(),
        "tasks": found.tasks,
        "successes": found.successes,
        "failures": found.failures,
        "headroom": found.headroom,
        "rows": [_plain(row) for row in found.rows],
        "not_judged": dict(found.unjudged),
        "trials": {name: [trial._asdict() for trial in trials] for name, trials in found.trials.items()},
        "proposal": [{"guard": repr(guard), "reason": reason} for guard, reason in found.proposal],
        "refused": found.refused or None,
        "together": None if together is None else together._asdict() | {"guards": [repr(g) for g in together.guards]},
        "notes": list(found.notes),
    }
