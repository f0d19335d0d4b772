"""The lab of chapter 10: a guard set with sliders, held against recorded runs."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from stoplib import guards
from stoplib.course.charts.effects import Effect, EffectsChart, describe_effects, effects
from stoplib.course.lab.choices import Number
from stoplib.course.lab.panel import Panel
from stoplib.course.population import Recorded
from stoplib.course.show import picture
from stoplib.guards import Guard

LIMITS = {
    "going_in_circles": Number("Passes of a cycle", 6, 2, 20, 1, guards.going_in_circles, "passes"),
    "repeated_call": Number("Times the same call", 5, 1, 20, 1, guards.repeated_call, "times"),
    "no_new_results": Number("Equal results in a row", 8, 1, 20, 1, guards.no_new_results, "results"),
    "too_many_errors": Number("Errors in a row", 3, 1, 10, 1, guards.too_many_errors, "errors"),
    "token_budget": Number("Tokens at most", 100_000, 0, 200_000, 1_000, guards.token_budget, "tokens"),
    "max_steps": Number("Steps at most", 20, 0, 100, 1, guards.max_steps, "steps"),
}


class RecordedState:
    """The runs, the guards that are on with their limits, and what they would have done to the runs."""

    def __init__(self, runs: Sequence[Recorded]) -> None:
        self.runs = runs
        self.limits = {name: number.usual for name, number in LIMITS.items()}
        self.on = {"max_steps"}
        self._known: dict[str, list[Effect]] = {}

    def change(self, name: str, limit: Any) -> None:
        """Set a limit. Raises ValueError for what cannot be."""
        self.limits[name] = LIMITS[name].checked(name, limit)

    def switch(self, name: str, on: bool) -> None:
        """Switch a guard on or off."""
        self.on = self.on | {name} if on else self.on - {name}

    @property
    def guards(self) -> list[Guard]:
        return [
            made(self.limits[name]) for name, number in LIMITS.items() if name in self.on and (made := number.makes)
        ]

    @property
    def code(self) -> str:
        return f"guards = {self.guards!r}"

    @property
    def effects(self) -> list[Effect]:
        """What these guards do to the runs, worked out once for each set."""
        if self.code not in self._known:
            self._known[self.code] = effects(self.runs, self.guards)
        return self._known[self.code]

    @property
    def sentence(self) -> str:
        """The harm and the good, in a sentence."""
        stopped, lost, _, tokens = self.effects
        return (
            f"Stops {stopped.percent:.1f} % of the failures, loses {lost.percent:.1f} % of the successes,"
            f" saves {tokens.percent:.1f} % of the tokens."
        )

    @property
    def text(self) -> str:
        """The lab in words."""
        title = f"Lab: a guard set over {len(self.runs)} recorded runs"
        return "\n".join([title, self.sentence, describe_effects(self.effects), self.code])


class RecordedLab(Panel):
    """The guards to set, and a bar for each effect."""

    def __init__(self, runs: Sequence[Recorded]) -> None:
        self.state = RecordedState(runs)
        self._chart = EffectsChart()
        super().__init__()

    def __repr__(self) -> str:
        return self.state.text

    def parts(self) -> Iterator[Any]:
        state = self.state
        self.picture, self.code = self.widgets.HTML(), self.widgets.HTML()
        for name, number in LIMITS.items():
            change, switch = partial(state.change, name), partial(state.switch, name)
            yield self.guard(name, number, state.limits[name], name in state.on, change, switch)
        yield from (self.status, self.picture, self.code)

    def draw(self) -> None:
        state = self.state
        self.say(state.sentence)
        self.picture.value = picture(self._chart.draw(state.effects), describe_effects(state.effects))
        self.code.value = f'<pre class="stop-code">{html.escape(state.code)}</pre>'
