"""The transcript of a run as a table."""

from __future__ import annotations

import html

from stoplib.display import came, said
from stoplib.outcome import Outcome
from stoplib.transcript import Step

HEADS = ("step", "seconds", "tokens", "the model", "what came of it")


def transcript(outcome: Outcome) -> str:
    """A row for each step: when, at what cost, what the model said, and what came of it.

    >>> from stoplib import answer, run, script
    >>> transcript(run(script(answer("Paris")), "go", clock=lambda: 0)).count("<tr>")
    2
    """
    heads = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    rows = "".join(map(_row, outcome.trace))
    return (
        '<table class="stop-table"><caption>The steps of this run</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(step: Step) -> str:
    cells = (f"{step.seconds:g}", f"{step.reply.usage.total:,}", said(step), came(step))
    return f'<tr><th scope="row">{step.number}</th>{"".join(f"<td>{html.escape(cell)}</td>" for cell in cells)}</tr>'
