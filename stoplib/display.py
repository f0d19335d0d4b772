"""An outcome in a notebook: what happened as a table, the reason in a sentence."""

from __future__ import annotations

import html

from stoplib.limits import in_seconds
from stoplib.outcome import Outcome, counted, describe
from stoplib.transcript import NOT_RUN, Result, Step

SHOWN = 20


def as_html(outcome: Outcome) -> str:
    """The outcome as a table of steps, with the reason and the spend in its caption."""
    rows = "".join(_row(step) for step in _shown(outcome))
    left_out = len(outcome.trace) - SHOWN
    if left_out > 0:
        rows += f'<tr><td colspan="4">… and {left_out} earlier steps</td></tr>'
    head = "".join(f'<th scope="col">{name}</th>' for name in ("step", "seconds", "the model", "what came of it"))
    caption = html.escape(f"{sentence(outcome)} Spent: {spend(outcome)}.")
    return (
        f'<table class="stop-outcome"><caption style="text-align: left">{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def as_text(outcome: Outcome) -> str:
    """The same facts in plain text."""
    lines = [f"{sentence(outcome)} Spent: {spend(outcome)}."]
    left_out = len(outcome.trace) - SHOWN
    if left_out > 0:
        lines.append(f"  ({left_out} earlier steps are not shown)")
    for step in _shown(outcome):
        lines.append(f"  step {step.number}, {in_seconds(step.seconds)}: {said(step)} -> {came(step)}")
    return "\n".join(lines)


def sentence(outcome: Outcome) -> str:
    """How the run ended, as a sentence."""
    state = "Complete" if outcome.complete else "Incomplete"
    detail = f" ({outcome.detail})" if outcome.detail else ""
    said = f" Answer: {outcome.answer}" if outcome.answer else ""
    return f"{state}: {outcome.reason}{detail}.{said}"


def spend(outcome: Outcome) -> str:
    """What the run used, in words."""
    parts = [counted(outcome.steps, "step"), counted(outcome.tool_calls, "tool call")]
    parts.append(counted(outcome.usage.total, "token"))
    if outcome.cost is not None:
        parts.append(f"{outcome.cost:g} of money")
    parts.append(in_seconds(outcome.seconds))
    if outcome.waited:
        parts.append(f"{in_seconds(outcome.waited)} of them waiting for a person")
    if outcome.inner:
        parts.append(f"with {counted(len(outcome.inner), 'run')} within it")
    return ", ".join(parts)


def _shown(outcome: Outcome) -> list[Step]:
    return outcome.trace[-SHOWN:]


def said(step: Step) -> str:
    """What the model said and asked for in a step, as one line."""
    calls = ", ".join(describe(call) for call in step.reply.calls)
    return "; ".join(part for part in (describe(step.reply.text), calls) if part) or "nothing"


def came(step: Step) -> str:
    """What came of the calls of a step, as one line."""
    return "; ".join(_result(result) for result in step.results) or "no tool ran"


def _result(result: Result) -> str:
    text = describe(result.text)
    return text if result.status == NOT_RUN else f"{result.status}: {text}"  # that text says it already


def _row(step: Step) -> str:
    cells = (in_seconds(step.seconds).removesuffix(" s"), said(step), came(step))
    return f'<tr><th scope="row">{step.number}</th>{"".join(f"<td>{html.escape(c)}</td>" for c in cells)}</tr>'
