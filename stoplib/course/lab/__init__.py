"""The labs: change a model, a guard or the clock, watch the run, stop it, and see which guard wins.

From the bottom: `choices` are what can be chosen, `settings` the choice as a frozen value, `session` one run that is
driven by hand, `state` all that a lab knows. None of these knows a widget. `panel`, `table`, `sharing` and `view` show
it, and `player` plays it. Each chapter shows the part that it needs:

    lab_steps      01  a model, and a limit on its steps
    lab_limits     02  a clock, and limits on time and on steps
    lab_guards     03  guards to pick
    lab_sequences  04  twelve runs, and the rules that judge them
    lab_spend      05  what each call costs, and a budget
    lab_person     06  Approve, Decline, Stop
    lab_replies    07  one reply at a time
    lab_recorded   10  a guard set over recorded runs
    lab            11  everything
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from stoplib.course.lab.choices import ACTING, CONTROLS, YOUR_REPLIES
from stoplib.course.lab.recorded import RecordedLab
from stoplib.course.lab.sequences import SequencesLab
from stoplib.course.lab.settings import Settings, choose
from stoplib.course.lab.state import PRESETS, LabState
from stoplib.course.lab.view import PLAYER, Lab
from stoplib.course.population import Recorded

__all__ = [
    "Lab",
    "LabState",
    "lab",
    "lab_guards",
    "lab_limits",
    "lab_person",
    "lab_recorded",
    "lab_replies",
    "lab_sequences",
    "lab_spend",
    "lab_steps",
]


def lab_steps() -> Lab:
    """The lab of chapter 01: a model, and a limit on its steps."""
    return _at_once("Lab: a model and a limit", choose({"max_steps": 4}), ["model", "max_steps"])


def lab_limits() -> Lab:
    """The lab of chapter 02: a model, a clock, and limits on time and on steps."""
    start = choose({"time_limit": 12, "max_steps": 10})
    return _at_once("Lab: which limit fires?", start, ["model", "tick", "time_limit", "max_steps"])


def lab_guards() -> Lab:
    """The lab of chapter 03: pick guards, and see which of them ends the run of which model."""
    names = ["too_many_errors", "repeated_call", "no_new_results", "max_tool_calls", "max_steps"]
    start = choose({"repeated_call": 2, "max_tool_calls": 10, "max_steps": 20}, model="alternates")
    return _at_once("Lab: pick guards", start, ["model", "searches", *names], switches=True)


def lab_sequences() -> SequencesLab:
    """The lab of chapter 04: the twelve sequences, and rules to pick; the table fills in row by row."""
    return SequencesLab()


def lab_spend() -> Lab:
    """The lab of chapter 05: what each call costs and all of them, against a soft or a hard budget."""
    start = choose({"token_budget": 15_000, "max_steps": 20})
    controls = ["model", "hard", "growth", "token_budget", "max_steps"]
    return _at_once("Lab: what a run spends", start, controls, ["spend", "shares"])


def lab_person() -> Lab:
    """The lab of chapter 06: you are the person who is asked, and who can stop it all."""
    start = choose({"too_many_refusals": 3, "max_steps": 10}, model="cleans up", ask=ACTING)
    state = LabState("Lab: you are the person in the loop", start)
    return Lab(state, ["model", "ask", "too_many_refusals", "max_steps"], buttons=PLAYER)


def lab_replies() -> Lab:
    """The lab of chapter 07: you are the model, and give one reply at a time."""
    start = choose({"too_many_errors": 3, "max_steps": 10}, model=YOUR_REPLIES)
    state = LabState("Lab: you are the model", start)
    return Lab(state, ["searches", "too_many_errors", "max_steps"], buttons=("Reply", "Reset"))


def lab_recorded(runs: Sequence[Recorded]) -> RecordedLab:
    """The lab of chapter 10: what a guard set would have done to these recorded runs."""
    return RecordedLab(runs)


def lab(saved: str | PathLike[str] | None = None) -> Lab:
    """The whole lab. `saved` is a text that a lab has shown under "Share it", or a file that it has saved.

    Raises ValueError if it is neither.

    >>> print(lab('{"stoplib_lab": 1, "model": "retries", "on": ["max_steps"]}').state.sentence)
    max_steps stopped the run after 20 steps: 20 of 20 steps used.
    """
    state = LabState("The lab", PRESETS["full set"])
    state.run()
    if saved is not None:
        state.restore(_text_of(saved))
    charts = ["steps", "spend", "shares", "race"]
    return Lab(state, [*CONTROLS], charts, buttons=PLAYER, switches=True, shared=True)


def _at_once(title: str, start: Settings, controls: list[str], charts: Any = ("steps", "shares"), **how: Any) -> Lab:
    state = LabState(title, start)
    state.run()
    return Lab(state, controls, charts, **how)


def _text_of(saved: str | PathLike[str]) -> str:
    if isinstance(saved, str) and "{" in saved:
        return saved
    try:
        return Path(saved).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ValueError(f"{str(saved)[:80]!r} is neither the text of a lab nor a file that can be read") from error
