"""One pass over a run tells for each guard and each number where it would have fired.

Guards of one ladder fire in the order of their numbers. So while a run is counted only the strictest one that has not
fired yet has to be asked, and no number costs a replay of its own. Tests hold this pass to `replay`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from stoplib.guards import GATES, Guard, GuardSet
from stoplib.guards.core import Function
from stoplib.prices import Price
from stoplib.replaying import Recounted, replay
from stoplib.state import Run
from stoplib.traces.ladders import Ladder
from stoplib.traces.trace import Trace


class Place(NamedTuple):
    """How far a run had come: model calls made, tool calls carried out, tokens and money used."""

    steps: int
    calls: int
    tokens: int
    money: float


class Climb:
    """One ladder during one run: the guard that is asked now, and where those before it have fired.

    `fires` is that of the guard that is asked: most looks end with it, so nothing stands in between.
    """

    def __init__(self, guards: Sequence[Guard]) -> None:
        self.guards = guards
        self.fired: list[Place] = []
        self.fires: Callable[[Run], Any] = guards[0].fires

    def go_on(self, run: Run) -> None:
        """The guard has fired: ask the next ones, until one does not."""
        place = Place(len(run.trace), run.tool_calls, run.tokens, run.cost or 0.0)
        while self.fires(run):
            self.fired.append(place)
            number = len(self.fired)
            self.fires = self.guards[number].fires if number < len(self.guards) else _never


def _never(run: Run) -> bool:
    return False


class Lookout:
    """Looks at one gate on behalf of several ladders, and stops nothing."""

    def __init__(self, climbs: Iterable[Climb]) -> None:
        self.climbs = list(climbs)

    def look(self, run: Run) -> None:
        """Let each ladder look."""
        for climb in self.climbs:
            if climb.fires(run):
                climb.go_on(run)


class Climbed(NamedTuple):
    """What became of ladders in one run: where the guards of each fire, from the strictest on, and where the run ends.

    `characters` are those of the transcript.
    """

    fired: list[list[Place]]
    end: Place
    characters: int


class Climber:
    """Ladders, ready to be climbed by many runs."""

    def __init__(self, ladders: Iterable[Ladder]) -> None:
        self.ladders = tuple(ladders)
        self._guards = [ladder.guards for ladder in self.ladders]
        self._longest = GuardSet(chain.from_iterable(self._guards), finite=True).longest_cycle()

    def climb(self, trace: Trace, price: Price | None = None) -> Climbed:
        """Let the guards of each ladder look at this run, in one pass.

        >>> from stoplib import max_steps
        >>> from stoplib.traces.trace import TraceStep
        >>> trace = Trace("1", "a task", (TraceStep("One"), TraceStep("Two"), TraceStep("Three")))
        >>> [[place.steps for place in fired] for fired in Climber([Ladder(max_steps, (1, 2, 5))]).climb(trace).fired]
        [[1, 2]]
        """
        climbs = [Climb(guards) for guards in self._guards]
        lookouts = {gate: Lookout(c for c in climbs if gate in c.guards[0].gates) for gate in GATES}
        run = self._recorded(trace, price, lookouts) if trace.recorded else self._counted(trace, price, lookouts)
        end = Place(len(trace.steps), run.tool_calls, run.tokens, run.cost or 0.0)
        return Climbed([climb.fired for climb in climbs], end, run.characters)

    def _counted(self, trace: Trace, price: Price | None, lookouts: dict[str, Lookout]) -> Run:
        run = Recounted(trace.prompt, lambda: 0.0, price=price, longest=self._longest)
        for gate in trace.count(run):
            lookouts[gate].look(run)
        return run

    def _recorded(self, trace: Trace, price: Price | None, lookouts: dict[str, Lookout]) -> Run:
        """The same for a run of this library, which is replayed: a recording holds more than a trace."""
        seen: list[Run] = []
        guards = [Function(seen.append), *(Function(lookouts[gate].look, gate=gate) for gate in GATES)]
        replay(trace.outcome(price), guards)
        return seen[0]
