"""The lab: a thin view of a `LabState`."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from stoplib.course.charts.race import RaceChart
from stoplib.course.charts.shares import SharesChart
from stoplib.course.charts.spend import SpendChart, costs_of
from stoplib.course.charts.steps import StepsChart
from stoplib.course.lab.choices import CONTROLS, GUARDS, REPLIES, YOUR_REPLIES, Number
from stoplib.course.lab.panel import Panel
from stoplib.course.lab.player import Player
from stoplib.course.lab.sharing import Sharing
from stoplib.course.lab.state import PRESETS, LabState
from stoplib.course.lab.table import transcript
from stoplib.course.show import picture

AS_IT_BEGAN, OWN = "as it began", "a choice of your own"
PLAYER = ("Run", "Step", "Play", "Pause", "Stop", "Reset")
EXPECTED = 12  # steps that a chart has room for before its columns get narrower


class Lab(Panel):
    """A lab with some of the controls and charts.

    controls  the names of the controls, from `CONTROLS`
    charts    the names of the charts, in their order: steps, spend, shares, race
    buttons   the names of the buttons; in a lab without any, each change shows the whole run at once
    switches  whether each guard can be switched on and off
    shared    whether it has presets, and a text that restores its settings and its run
    """

    def __init__(
        self,
        state: LabState,
        controls: Sequence[str],
        charts: Sequence[str] = ("steps", "shares"),
        *,
        buttons: Sequence[str] = (),
        switches: bool = False,
        shared: bool = False,
    ) -> None:
        self.state = state
        self.player = Player(self._tick)
        self._controls, self._charts, self._names = controls, charts, buttons
        self._switches, self._shared = switches, shared
        self._steps, self._spend, self._shares, self._race = StepsChart(), SpendChart(), SharesChart(), RaceChart()
        self._drawn: dict[str, str] = {}
        super().__init__()

    def __repr__(self) -> str:
        return self.state.text(self._charts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the settings, and how far the run is, to a small file; `lab(path)` takes them on."""
        Path(path).write_text(self.state.shared + "\n", encoding="utf-8", newline="\n")

    def parts(self) -> Iterator[Any]:
        self.behaviour, self.code, self.table = (self.widgets.HTML() for _ in range(3))
        self.pictures = {name: self.widgets.HTML() for name in self._charts}
        yield self.row(self._control(name) for name in self._controls if name not in GUARDS)
        yield self.behaviour
        if self._shared:
            yield self.dropdown("preset", "Guards", [AS_IT_BEGAN, *PRESETS, OWN], AS_IT_BEGAN, self._preset)
        yield self.row(self._guard(name) for name in self._controls if name in GUARDS)
        if "Reply" in self._names:
            yield self.dropdown("reply", "The next reply", REPLIES, next(iter(REPLIES)), lambda reply: None)
        yield self.row(self.button(name, partial(self._press, name)) for name in self._names)
        yield self.status
        self.asking = self.row(self.button(name, partial(self._answer, name)) for name in ("Approve", "Decline"))
        yield self.asking
        yield from self.pictures.values()
        yield self.code
        yield self.table
        if self._shared:
            self.sharing = Sharing(self, self._restore)
            yield from self.sharing.parts

    def draw(self) -> None:
        state = self.state
        asks = state.session.question is not None
        self.say(state.sentence, urgent=asks)
        self.asking.layout.display = "" if asks else "none"
        for name, shown in self.pictures.items():
            words = state.describe(name)
            if words != self._drawn.get(name):  # the words say all that the picture shows
                shown.value = picture(self._chart(name), words)
                self._drawn[name] = words
        self.behaviour.value = f'<p style="margin: 0">{html.escape(state.behaviour)}</p>'
        self.code.value = f'<pre class="stop-code">{html.escape(state.settings.code)}</pre>'
        self.table.value = transcript(state.outcome)
        if self._shared:
            self.load([(self.choices["preset"], self._preset_name())])
            self.sharing.show(state.shared)

    def _chart(self, name: str) -> Figure:
        state = self.state
        match name:
            case "steps":
                return self._steps.draw(state.outcome, EXPECTED)
            case "spend":
                return self._spend.draw(costs_of(state.outcome), state.budget, "tokens", EXPECTED)
            case "shares":
                return self._shares.draw(state.shares)
        return self._race.draw(*state.race)

    def _control(self, name: str) -> Any:
        control, value, change = CONTROLS[name], self.state.settings[name], partial(self.state.change, name)
        if isinstance(control, Number):
            return self.number(name, control, value, change, slider=not self._shared)
        if isinstance(value, bool):
            return self.switch(name, control.label, value, change)
        options = [option for option in control.options if option != YOUR_REPLIES]
        return self.dropdown(name, control.label, options, value, change)

    def _guard(self, name: str) -> Any:
        settings, control, change = self.state.settings, GUARDS[name], partial(self.state.change, name)
        if not self._switches:
            return self.number(name, control, settings[name], change)
        return self.guard(name, control, settings[name], name in settings.on, change, partial(self.state.switch, name))

    def _press(self, button: str) -> None:
        state = self.state
        if button != "Play":
            self.player.pause()
        match button:
            case "Run":
                state.run()
            case "Step":
                state.step()
            case "Play":
                state.begin()
                self.player.play()
            case "Stop":
                state.stop()
            case "Reset":
                state.reset()
            case "Reply":
                state.reply(self.choices["reply"].value)

    def _answer(self, button: str) -> None:
        self.state.answer(button == "Approve")
        if self.state.session.question is None and "Step" in self.buttons:
            self.buttons["Step"].focus()  # else the focus goes where these two buttons go: nowhere

    def _tick(self) -> bool:
        """One step of a run that is played. While a person is asked, it waits."""
        session = self.state.session
        if session.question is not None:
            return True
        return self.safely(self._step)() and not session.over

    def _step(self) -> None:
        self.state.session.step()
        self.draw()

    def _preset(self, name: str) -> None:
        if name in PRESETS:
            self.state.preset(name)
        elif name == AS_IT_BEGAN:
            self.state.choose(self.state.start)
        self._load()

    def _preset_name(self) -> str:
        settings = self.state.settings
        if settings == self.state.start:
            return AS_IT_BEGAN
        return next((name for name, preset in PRESETS.items() if preset.guards == settings.guards), OWN)

    def _restore(self, text: str) -> None:
        self.player.pause()
        self.state.restore(text)
        self._load()

    def _load(self) -> None:
        """Bring all controls to what is chosen now."""
        settings = self.state.settings
        named = [(made, settings[name]) for name, made in self.fields.items()]
        named += [(made, settings[name]) for name, made in self.choices.items() if name in CONTROLS]
        for name, made in self.switches.items():
            named.append((made, name in settings.on if name in GUARDS else settings[name]))
        self.load(named)
