"""Findings as one HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from stoplib.traces.estimates import Share
from stoplib.traces.findings import Findings
from stoplib.traces.table import silent, worth_showing
from stoplib.traces.tally import SPENT

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222;
       background: #fff; }
h1, h2 { line-height: 1.2; }
pre { background: #f4f4f4; padding: 1rem; overflow-x: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; padding: .3rem 0; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; font-family: ui-monospace, monospace; }
tr.proposed { background: #e8f1f8; font-weight: 600; }
svg { max-width: 100%; height: auto; }
.no { border-left: 4px solid #d55e00; padding-left: 1rem; }
"""

NO_CHART = "There is no chart, since matplotlib is not installed."


def as_html(found: Findings) -> str:
    """The page: what was read, the proposal, the rows, the charts, the trials, and what the numbers cannot say."""
    parts = [
        "<h1>Limits from recorded runs</h1>",
        f"<pre>{escape(str(found.report))}</pre>",
        "<h2>A guard set</h2>",
        _refused(found) if found.refused else f"<pre>{escape(found.python)}</pre>",
        f"<p>{escape(str(found.together))}</p>" if found.together else "",
        "<h2>What each number would have done</h2>",
        *_rows(found),
        *_chart(found),
        *_trials(found),
        "<h2>What these numbers cannot say</h2>",
        _list([*found.notes, *(f"{name} is not judged: {why}." for name, why in found.unjudged.items())]),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Limits from recorded runs</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _refused(found: Findings) -> str:
    return f'<p class="no">No guard set is proposed: {escape(found.refused)}</p>'


def _rows(found: Findings) -> list[str]:
    known = [what for what in SPENT if what in found.known]
    heads = ["guard", "failures stopped", "successes lost", *(f"{what} saved" for what in known), "runs cut"]
    rows = []
    for row in worth_showing(found):
        shares = [row.share_stopped, row.share_lost, *(row.saved[what] for what in known)]
        cells = [repr(row.guard), *(_percent(share) for share in shares), f"{row.cut} of {row.runs}"]
        rows.append(("proposed" if row.guard in found.guards else "", cells))
    caption = (
        f"{found.successes} successes and {found.failures} failures, {found.tasks} tasks. In %, with 95 % intervals:"
        " Wilson's for shares of runs, by drawing tasks for what is saved. The proposed numbers are marked."
    )
    quiet = [f"<p>{escape(name)} cuts none of these runs, whatever its number.</p>" for name in silent(found)]
    return [_table(heads, rows, caption), *quiet]


def _percent(share: Share | None) -> str:
    return "unknown" if share is None else str(share).replace(" %", "")


def _chart(found: Findings) -> list[str]:
    from stoplib.traces.chart import as_svg, charted, in_words

    if not found.successes or not found.failures or not charted(found):
        return []
    try:
        picture = as_svg(found)
    except ImportError:
        return [f"<p>{NO_CHART}</p>"]
    words = escape(in_words(found), quote=True)
    return [f'<figure role="img" aria-label="{words}">{picture}<figcaption>{words}</figcaption></figure>']


def _trials(found: Findings) -> list[str]:
    rows = []
    for name, trials in found.trials.items():
        if name in silent(found):
            continue
        for one in trials:
            shares = (one.stopped, one.lost, one.most_lost, one.saved)
            cells = [name, f"{one.headroom:g}", one.span, *(f"{100 * share:.1f}" for share in shares)]
            rows.append(("proposed" if one.headroom == found.headroom else "", cells))
    if not rows:
        return []
    heads = ["guard", "headroom", "numbers", "stopped", "lost", "lost, worst split", "calls saved"]
    caption = "Chosen on half of the tasks and tried on the other half: the mean of the splits, in %."
    return ["<h2>Tried on other tasks</h2>", _table(heads, rows, caption)]


def _table(heads: Iterable[str], rows: Iterable[tuple[str, Iterable[str]]], caption: str) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    lines = []
    for kind, cells in rows:
        mark = f' class="{kind}"' if kind else ""
        lines.append(f"<tr{mark}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    body = "\n".join(lines)
    return (
        f'<div class="wide"><table>\n<caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _list(texts: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{escape(text)}</li>" for text in texts) + "\n</ul>"
