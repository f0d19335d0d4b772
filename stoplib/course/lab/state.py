"""What is chosen in a lab and how far its run is: everything that a lab knows, without any widget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from stoplib.course.charts.race import Lane, race_in_words
from stoplib.course.charts.shares import Share, shares, shares_in_words
from stoplib.course.charts.spend import describe_spend
from stoplib.course.charts.steps import describe_steps
from stoplib.course.lab.choices import GUARDS, MODELS
from stoplib.course.lab.racing import Racing
from stoplib.course.lab.session import Session
from stoplib.course.lab.settings import Settings, choose, from_data
from stoplib.outcome import Outcome

FORMAT = 1
LONGEST = 10_000  # characters of a shared text

ALL_GUARDS = choose({name: guard.usual for name, guard in GUARDS.items()})
PRESETS = {
    "only a step cap": choose({"max_steps": 20}),
    "full set": ALL_GUARDS.switch("cost_budget", False),  # money is tokens once more
}


class LabState:
    """The settings, the run that they make, and what can be done with it.

    A change of a setting makes a new run, which goes as far as the one before it had gone: to its end, or to
    the same step with the same answers of the person; one that the person has stopped is stopped again.

    >>> state = LabState("Lab", choose({"time_limit": 6, "max_steps": 10}))
    >>> state.run()
    >>> state.sentence
    'time_limit stopped the run after 5 steps: 6 of 6 s used.'
    >>> state.change("max_steps", 4)
    >>> state.sentence
    'max_steps stopped the run after 4 steps: 4 of 4 steps used.'
    """

    def __init__(self, title: str, start: Settings, offered: Iterable[str] = GUARDS) -> None:
        self.title = title
        self.start = start
        self.session = Session(start)
        self._racing = Racing(offered)

    @property
    def settings(self) -> Settings:
        return self.session.settings

    @property
    def outcome(self) -> Outcome:
        return self.session.outcome

    @property
    def sentence(self) -> str:
        return self.session.sentence

    @property
    def behaviour(self) -> str:
        """How the model behaves, in a sentence."""
        return "You are the model." if self.settings.played else MODELS[self.settings["model"]].behaviour

    def change(self, name: str, value: Any) -> None:
        """Set one thing. Raises ValueError, and leaves everything as it was, for what cannot be."""
        self.choose(self.settings.change(name, value))

    def switch(self, guard: str, on: bool) -> None:
        """Switch a guard on or off."""
        self.choose(self.settings.switch(guard, on))

    def choose(self, settings: Settings) -> None:
        """Other settings, and a run with them that goes as far as this one had gone."""
        before = self.session
        self.session = Session(settings, before.answers)
        self._go_to(None if before.over and not before.stopped else before.outcome.steps, before.stopped)

    def preset(self, name: str) -> None:
        """The guards of a preset, next to the model and all else that is chosen."""
        guards = PRESETS[name]
        limits = {guard: guards[guard] for guard in guards.on}
        self.choose(replace(self.settings, values={**self.settings.values, **limits}, on=guards.on))

    def reply(self, name: str) -> None:
        """The next reply, where a person plays the model; after the end it is the first one of a new run."""
        settings = replace(self.settings, replies=()) if self.session.over else self.settings
        self.session = Session(settings.reply(name))
        self.session.run()

    def begin(self) -> None:
        """A new run, if the last one is over."""
        if self.session.over:
            self.session = Session(self.settings)

    def run(self) -> None:
        """Let it run, from the beginning if it was over."""
        self.begin()
        self.session.run()

    def step(self) -> None:
        """One step, the first one of a new run if the last one was over."""
        self.begin()
        self.session.step()

    def answer(self, yes: bool) -> None:
        """Say whether the tool call that was asked about may run."""
        self.session.answer(yes)

    def stop(self) -> None:
        """End the run like a person who presses Ctrl-C."""
        self.session.stop()

    def reset(self) -> None:
        """Back to before the first step."""
        self.session = Session(replace(self.settings, replies=()))

    @property
    def shares(self) -> list[Share]:
        """How far each guard that is on is from firing."""
        return shares(self.outcome, self.settings.guards)

    @property
    def budget(self) -> float | None:
        """The budget that the spend is held against."""
        return self.settings["token_budget"] if "token_budget" in self.settings.on else None

    @property
    def race(self) -> tuple[Outcome, list[Lane]]:
        """Who would have won: this model and these tools, left alone for so many steps, and a lane for each guard."""
        return self._racing.race(self.settings)

    def describe(self, chart: str) -> str:
        """One of the charts, `steps`, `spend`, `shares` or `race`, in words."""
        match chart:
            case "steps":
                return describe_steps(self.outcome)
            case "spend":
                return describe_spend(self.outcome, self.budget)
            case "shares":
                return shares_in_words(self.shares)
        return race_in_words(*self.race)

    def text(self, charts: Iterable[str]) -> str:
        """The whole lab in words."""
        told = (self.title, self.behaviour, self.sentence, *map(self.describe, charts), self.settings.code)
        return "\n".join(told)

    @property
    def shared(self) -> str:
        """The settings and how far the run is, as a short text; `restore` takes it."""
        session = self.session
        run: dict[str, Any] = {"answers": session.answers} if session.answers else {}
        if session.stopped or not session.over:
            run |= {"steps": session.outcome.steps, "stopped": session.stopped}
        return json.dumps({"stoplib_lab": FORMAT, **self.settings.as_data(), "run": run})

    def restore(self, text: str) -> None:
        """Take on what `shared` gave. Raises ValueError, and leaves everything as it was, for any other text."""
        settings, answers, steps, stopped = _read(text)
        if settings.played != self.start.played:
            raise ValueError(
                f"in this lab the model is {'you' if self.start.played else 'scripted'}; in the text it is not"
            )
        self.session = Session(settings, answers)
        self._go_to(steps, stopped)

    def _go_to(self, steps: int | None, stopped: bool) -> None:
        """To where so many steps have been made, or as near as it goes; then stop it, if it was stopped there."""
        while (steps is None or self.outcome.steps < steps) and not self.session.waits:
            self.session.step()
        if stopped:
            self.session.stop()


def _read(text: str) -> tuple[Settings, list[bool], int | None, bool]:
    """(settings, answers, steps, stopped) from a shared text. Raises ValueError with what is wrong with it."""
    begin, end = text.find("{"), text.rfind("}") + 1  # also in the middle of lab('…')
    if len(text) > LONGEST:
        raise ValueError(f"this text has {len(text):,} characters, and that of a lab has a few hundred")
    try:
        data = json.loads(text[begin:end])
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, Mapping) or "stoplib_lab" not in data:
        raise ValueError(f'this is not the text of a lab, which begins with {{"stoplib_lab": {FORMAT}')
    data = dict(data)
    if (version := data.pop("stoplib_lab")) != FORMAT:
        raise ValueError(f"this is the text of a lab in format {version!r}; this version of stoplib reads {FORMAT}")
    how_far = data.pop("run", {})
    settings = from_data(data)
    if not isinstance(how_far, Mapping) or not how_far.keys() <= {"answers", "steps", "stopped"}:
        raise ValueError(f"'run' holds answers, steps and stopped, not {json.dumps(how_far)[:80]}")
    answers, steps, stopped = how_far.get("answers", []), how_far.get("steps"), how_far.get("stopped", False)
    if not isinstance(answers, list) or not all(isinstance(yes, bool) for yes in answers):
        raise ValueError(f"'answers' must be a list of true and false, not {json.dumps(answers)[:80]}")
    if not (steps is None or (type(steps) is int and steps >= 0)) or not isinstance(stopped, bool):
        raise ValueError("'steps' must be a whole number, and 'stopped' true or false")
    return settings, answers, steps, stopped
