"""The guards of one run: who looks where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any

from stoplib.guards.budgets import time_limit
from stoplib.guards.core import GATES, Guard, Joined, as_guard
from stoplib.guards.outside import goal_reached
from stoplib.reasons import GOAL_REACHED, RESERVED
from stoplib.state import Run

Fired = list[tuple[Guard, str]]
Look = Callable[[Run], Fired | None]
Deadline = tuple[float, float, time_limit]


@cache
def _alarm(counters: tuple[str, ...]) -> Callable[..., Look]:
    """`_alarm(("steps", "tokens"))(all, rest, 10, 5000)` asks `all` of a run with 10 steps or 5000 tokens, else `rest`.

    Compiled once, as named tuples are: a function for each counter would cost a third of a step.
    """
    for counter in counters:
        if not all(part.isidentifier() for part in counter.split(".")):
            raise ValueError(f"alarms: {counter!r} is no counter of a run, such as 'steps' or 'repeats.call'")
    names = [f"number{place}" for place in range(len(counters))]
    reached = [f"run.{counter} >= {name}" for counter, name in zip(counters, names, strict=True)]
    source = f"lambda {', '.join(['all', 'rest', *names])}: lambda run: (all if {' or '.join(reached)} else rest)(run)"
    made: Callable[..., Look] = eval(source, {})
    return made


def _looking(guards: Iterable[Guard]) -> Look:
    """How the guards of one gate look at a run. Those with silent alarms are not asked: that is most."""
    together = [(g, _alarms(g)) for g in guards]
    numbers: dict[str, float] = {}
    for _, alarms in together:
        for counter, number in alarms.items():
            numbers[counter] = min(number, numbers.get(counter, number))
    everybody = _asking(g for g, _ in together)
    if not numbers:
        return everybody
    return _alarm(tuple(numbers))(everybody, _asking(g for g, alarms in together if not alarms), *numbers.values())


def _asking(guards: Iterable[Guard]) -> Look:
    """A look that asks each of these guards: those that fire, each with what it saw, in order; None if none does."""
    asked = [_asking_one(g) for g in guards]
    if len(asked) == 1:
        return asked[0]

    def ask(run: Run) -> Fired | None:
        fired: Fired | None = None
        for ask_one in asked:
            if seen := ask_one(run):
                fired = fired + seen if fired else seen
        return fired

    return ask


def _asking_one(guard: Guard) -> Look:
    fires = _quick(guard)

    def ask(run: Run) -> Fired | None:
        try:
            seen = fires(run)
            if not seen:
                return None
            return [(guard, seen if isinstance(seen, str) else _said(guard, run))]
        except Exception as error:
            error.add_note(f"(in the guard {guard.name})")
            raise

    return ask


def _said(guard: Guard, run: Run) -> str:
    detail: object = guard.says(run)
    if not isinstance(detail, str):
        raise TypeError(f"guard {guard.name} says {detail!r}; it must be a text")
    return detail


class GuardSet:
    """The guards of one run, sorted by gate.

    Raises TypeError for what is no guard, and ValueError if none of them bounds a run that is not `finite`.
    """

    def __init__(self, guards: Iterable[Any], finite: bool = False) -> None:
        if isinstance(guards, (Guard, str)) or not isinstance(guards, Iterable):
            raise TypeError(f"guards must be a list such as [max_steps(10)], not {guards!r}")
        self.guards = tuple(part for g in guards for part in as_guard(g).parts)
        for g in self.guards:
            _check(g)
        if not finite and not any(g.bounds for g in self.guards):
            raise ValueError(
                f"guards={list(self.guards)!r} do not bound the run: a model that never answers would"
                " go on for ever. Add max_steps(n) or time_limit(seconds)."
            )
        self._at = {gate: _looking(g for g in self.guards if gate in g.gates) for gate in GATES}
        self._objectors = self._with_own("objection")
        self._settlers = self._with_own("settle")
        #: whether one of them wants to know what each model call cost
        self.settles = bool(self._settlers)

    def begin(self, run: Run) -> None:
        """Before the first step. Raises ValueError if a guard cannot work in this run."""
        for g in self.guards:
            g.begin(run)

    def at(self, gate: str) -> Look:
        """How to look at this gate."""
        return self._at[gate]

    def settle(self, run: Run) -> None:
        """After each model call."""
        for g in self._settlers:
            g.settle(run)

    def objection(self, run: Run) -> str | None:
        """What the first guard that minds has against taking the model's answer for the end."""
        for g in self._objectors:
            try:
                why = g.objection(run)
            except Exception as error:
                error.add_note(f"(in the guard {g.name})")
                raise
            if why:
                return why
        return None

    def end(self, run: Run) -> None:
        """After the run, however it ended."""
        for g in self.guards:
            g.end(run)

    def no_room(self, run: Run) -> bool:
        """Whether a cap on model calls allows none any more."""
        return any(g.caps_calls and g(run) for g in self.guards)

    def time_left(self, run: Run, waiting: bool = False) -> float | None:
        """Seconds to the nearest deadline, or None; with `waiting`, to one that waiting counts against."""
        left = [limit - used for limit, used, _ in self._deadlines(run, waiting)]
        return min(left, default=None)

    def nearest_deadline(self, run: Run, waiting: bool) -> tuple[Guard, float]:
        """The guard whose deadline comes first, and its limit in seconds."""
        limit, _, g = min(self._deadlines(run, waiting), key=lambda d: d[0] - d[1])
        return g, limit

    def longest_cycle(self, usual: int = 8) -> int:
        """The longest cycle that any of the guards looks for."""
        return max([usual, *(getattr(g, "longest", usual) for g in _all(self.guards))])

    def _deadlines(self, run: Run, waiting: bool) -> list[Deadline]:
        found: list[Deadline] = []
        for g in self.guards:
            if isinstance(g, time_limit) and not (waiting and g.working):
                used, limit = g.measure(run)
                found.append((limit, used, g))
        return found

    def _with_own(self, method: str) -> tuple[Guard, ...]:
        """The guards that do something of their own in `method`."""
        plain = (getattr(Guard, method), getattr(Joined, method))
        return tuple(g for g in self.guards if any(getattr(type(part), method) not in plain for part in _all((g,))))


def _quick(guard: Guard) -> Callable[[Run], Any]:
    """The quick way to look, `fires`, unless a guard of one's own has its own way to be called."""
    return guard.fires if type(guard).__call__ is Guard.__call__ else guard


def _alarms(guard: Guard) -> dict[str, float]:
    """Its alarms, unless they are those of a guard that it was made from and fires otherwise than."""
    return guard.alarms if _alarms_fit(type(guard)) else {}  # type: ignore[arg-type]  # classes can be hashed


@lru_cache(maxsize=200)
def _alarms_fit(kind: type[Guard]) -> bool:
    def place(name: str) -> int:
        return next((n for n, base in enumerate(kind.__mro__) if name in vars(base)), len(kind.__mro__))

    return all(place("alarms") <= place(name) for name in ("fires", "measure", "__call__"))


def _check(guard: Guard) -> None:
    """Refuse a guard that would never be looked at, or whose reason would say something untrue."""
    if not guard.gates or not set(guard.gates) <= set(GATES):
        raise ValueError(f"{guard.name}: its gates are {guard.gates!r}; there are {', '.join(GATES)}")
    if not isinstance(guard.name, str) or not guard.name:
        raise TypeError(f"{guard!r}: its name is {guard.name!r}; it must be a text, since it is the reason")
    if guard.name in RESERVED or (guard.name == GOAL_REACHED and not isinstance(guard, goal_reached)):
        raise ValueError(f"a guard cannot be called {guard.name!r}: that is a reason of the loop's own")


def _all(guards: Iterable[Guard]) -> list[Guard]:
    """The guards and those that they are made of."""
    found: list[Guard] = []
    for g in guards:
        found.append(g)
        if isinstance(g, Joined):
            found.extend(_all(g.guards))
    return found
