"""What a guard is, how guards combine, and how a run looks at them.

A guard knows its gate, the place in a step where it looks:

    before_call     before the model is called
    before_action   the reply is there; before any of its tools runs
    after_round     after all tools of the reply have run
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar

from stoplib.reasons import RESERVED
from stoplib.state import Run

GATES = ("before_call", "before_action", "after_round")


@dataclass(frozen=True, repr=False)
class Guard:
    """A stop rule: a frozen value that looks at the run and has no state of its own.

    Called with a run, it returns a text (what it saw) to end the run, or None to let it go on. A
    guard's name is the reason that the run ends with. `gate=` moves a guard to another gate.
    """

    gate: str = field(default="", kw_only=True)

    default_gate: ClassVar[str] = "before_call"
    #: whether it ends every run, whatever the model does
    bounds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.gate:
            object.__setattr__(self, "gate", self.default_gate)
        if self.gate not in GATES:
            raise ValueError(f"{self.name}: gate must be one of {', '.join(GATES)}, not {self.gate!r}")

    def __call__(self, run: Run) -> str | None:
        raise NotImplementedError(f"{type(self).__name__} does not say when it fires")

    @property
    def name(self) -> str:
        """The reason of a run that this guard ends."""
        return type(self).__name__

    def __or__(self, other: Any) -> Guard:
        return _join(AnyOf, self, other)

    def __ror__(self, other: Any) -> Guard:
        return _join(AnyOf, other, self)

    def __and__(self, other: Any) -> Guard:
        return _join(AllOf, self, other)

    def __rand__(self, other: Any) -> Guard:
        return _join(AllOf, other, self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._arguments())})"

    def _arguments(self) -> Iterator[str]:
        """What it was built with, as source; what is as usual is left out."""
        for f in sorted(fields(self), key=lambda f: f.kw_only is True):
            value = getattr(self, f.name)
            usual = self.default_gate if f.name == "gate" else f.default
            if usual is MISSING:
                yield repr(value)
            elif value != usual:
                yield f"{f.name}={value!r}"


@dataclass(frozen=True, repr=False)
class Limit(Guard):
    """A guard that fires when what is used reaches a limit."""

    unit: ClassVar[str] = ""

    def measure(self, run: Run) -> tuple[float, float]:
        """(used, limit): how far the run is, in this guard's unit."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it measures")

    def __call__(self, run: Run) -> str | None:
        used, limit = self.measure(run)
        if used < limit:
            return None
        over = f", {used - limit:g} {self.unit} over" if used > limit else ""
        return f"{used:g} of {limit:g} {self.unit} used{over}"


@dataclass(frozen=True, repr=False)
class Function(Guard):
    """A plain function `guard(run) -> str | None` as a guard; its name is the reason."""

    function: Callable[[Run], str | None]

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name in RESERVED:
            raise ValueError(f"a guard cannot be called {self.name!r}: that is a reason of the loop's own")

    def __call__(self, run: Run) -> str | None:
        detail = self.function(run)
        if detail and not isinstance(detail, str):
            raise TypeError(f"guard {self.name} returned {detail!r}; it must return a text or None")
        return detail or None

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Joined(Guard):
    """Several guards as one, at the latest of their gates."""

    guards: tuple[Guard, ...]

    sign: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gate", max((g.gate for g in self.guards), key=GATES.index))

    @property
    def name(self) -> str:
        return f" {self.sign} ".join(g.name for g in self.guards)

    def __repr__(self) -> str:
        inner = (f"({g!r})" if isinstance(g, Joined) else repr(g) for g in self.guards)
        return f" {self.sign} ".join(inner)


@dataclass(frozen=True, repr=False)
class AnyOf(Joined):
    """`a | b`: both, each at its own gate."""

    sign: ClassVar[str] = "|"

    @property
    def bounds(self) -> bool:  # type: ignore[override]
        return any(g.bounds for g in self.guards)

    def __call__(self, run: Run) -> str | None:
        return next((detail for g in self.guards if (detail := g(run))), None)


@dataclass(frozen=True, repr=False)
class AllOf(Joined):
    """`a & b`: fires where both fire."""

    sign: ClassVar[str] = "&"

    @property
    def bounds(self) -> bool:  # type: ignore[override]
        return all(g.bounds for g in self.guards)

    def __call__(self, run: Run) -> str | None:
        details = [g(run) for g in self.guards]
        return None if None in details else "; ".join(str(d) for d in details)


def as_guard(value: Any) -> Guard:
    """`value` as a guard. Raises TypeError for what is neither a guard nor a function."""
    if isinstance(value, type) and issubclass(value, Guard):
        raise TypeError(f"{value.__name__} is a kind of guard: give it its limit, {value.__name__}(…)")
    if isinstance(value, Guard):
        return value
    if callable(value):
        return Function(value)
    raise TypeError(f"not a guard: {value!r}; a guard is built like max_steps(10), or a function of the run")


def _join(kind: type[Joined], *sides: Any) -> Guard:
    if not all(callable(side) for side in sides):
        return NotImplemented  # type: ignore[no-any-return]  # so that Python raises TypeError
    guards = (as_guard(side) for side in sides)
    return kind(tuple(part for g in guards for part in (g.guards if isinstance(g, kind) else (g,))))


class GuardSet:
    """The guards of one run, sorted by gate.

    Raises TypeError for what is no guard, and ValueError if none of them bounds the run.
    """

    def __init__(self, guards: Iterable[Any]) -> None:
        if isinstance(guards, Guard) or not isinstance(guards, Iterable):
            raise TypeError(f"guards must be a list such as [max_steps(10)], not {guards!r}")
        self.guards = tuple(part for g in guards for part in _parts(as_guard(g)))
        if not any(g.bounds for g in self.guards):
            raise ValueError(
                f"guards={list(self.guards)!r} do not bound the run: a model that never answers would"
                " go on for ever. Add max_steps(n) or time_limit(seconds)."
            )
        self.at = {gate: tuple(g for g in self.guards if g.gate == gate) for gate in GATES}

    def look(self, gate: str, run: Run) -> list[tuple[str, str]]:
        """The guards of this gate that fire now, as (name, detail), in the order given."""
        return [(g.name, detail) for g in self.at[gate] if (detail := g(run))]


def _parts(guard: Guard) -> Iterator[Guard]:
    if not isinstance(guard, AnyOf):
        yield guard
        return
    for part in guard.guards:
        yield from _parts(part)
