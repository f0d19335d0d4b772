"""Who would have won? The guards of a lab, each alone, against its model left alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stoplib.course.charts.race import Lane, lane_of
from stoplib.course.lab.choices import GUARDS, TASK
from stoplib.course.lab.settings import Settings
from stoplib.drivers import run
from stoplib.guards import max_steps
from stoplib.outcome import Outcome

STEPS = 40
#: what a recording does not depend on
ELSEWHERE = {*GUARDS, "ask", "hard"}


class Racing:
    """The race between these guards, on or off. What a change leaves as it was is not worked out again."""

    def __init__(self, guards: Iterable[str]) -> None:
        self._guards = tuple(guards)
        self._model: dict[str, object] = {}
        self._outcome: Outcome
        self._lanes: dict[str, Lane] = {}

    def race(self, settings: Settings) -> tuple[Outcome, list[Lane]]:
        """A run that nothing but a distant step limit ends, and a lane for each guard, the first to stop it first."""
        model = {name: value for name, value in settings.values.items() if name not in ELSEWHERE}
        if model != self._model:
            self._outcome = run(task=TASK, guards=[max_steps(STEPS)], **settings.run)
            self._model, self._lanes = model, {}
        return self._outcome, sorted((self._lane(settings, name) for name in self._guards), key=lambda lane: lane.place)

    def _lane(self, settings: Settings, name: str) -> Lane:
        guard = settings.guard(name)
        lane = self._lanes.get(repr(guard))
        if lane is None:
            lane = self._lanes[repr(guard)] = lane_of(self._outcome, guard)
        return lane if name in settings.on else replace(lane, name=f"{name} (off)")
