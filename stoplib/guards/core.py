"""What a guard is, how guards combine, and how a run looks at them.

A guard knows its gate, the place in a step where it looks:

    before_call     before the model is called
    before_action   the reply is there; before any of its tools runs
    after_round     after all tools of the reply have run
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from stoplib.limits import amount, flag, in_full, whole
from stoplib.state import Run
from stoplib.values import Value, field

GATES = ("before_call", "before_action", "after_round")


class Guard(Value):
    """A stop rule: a frozen value that looks at the run and has no state of its own.

    Called with a run, it returns a text (what it saw) to end the run, or None to let it go on. A guard of
    one's own says when it `fires`, and what it `says` then. Its name is the reason that the run ends with.
    `gate=` moves a guard to another gate.
    """

    gate: str | None = field(default=None, kw_only=True)

    #: where it looks unless `gate` says otherwise
    usual_gates: ClassVar[tuple[str, ...]] = ("before_call",)
    #: whether it ends every run, whatever the model does
    bounds: ClassVar[bool] = False
    #: whether it limits model calls, the closing summary included
    caps_calls: ClassVar[bool] = False
    #: whether a closing summary makes sense after it has fired
    summary_after: ClassVar[bool] = True

    def validate(self) -> None:
        if self.gate is not None and self.gate not in GATES:
            raise ValueError(f"{self.name}: gate must be one of {', '.join(GATES)}, not {self.gate!r}")

    def _whole(self, limit: str, at_least: int = 0) -> None:
        """Check a limit, and keep it as an int."""
        self.__dict__[limit] = whole(self.name, limit, getattr(self, limit), at_least)

    def _amount(self, limit: str) -> None:
        self.__dict__[limit] = amount(self.name, limit, getattr(self, limit))

    def _flag(self, option: str) -> None:
        flag(self.name, option, getattr(self, option))

    def fires(self, run: Run) -> Any:
        """Whether it ends the run now: true or false, or at once the text of what it saw."""
        raise NotImplementedError(f"{type(self).__name__} does not say when it fires")

    def says(self, run: Run) -> str:
        """What it saw, in words; asked when it fires."""
        return f"{self!r} fired"

    def __call__(self, run: Run) -> str | None:
        seen = self.fires(run)
        if not seen:
            return None
        return seen if isinstance(seen, str) else self.says(run)

    def begin(self, run: Run) -> None:
        """Before the first step. Raises ValueError if the guard cannot work in this run."""

    def objection(self, run: Run) -> str | None:
        """What speaks against taking the model's answer for the end of the task, or None."""
        return None

    def settle(self, run: Run) -> None:
        """After each model call: what it cost is now known."""

    def end(self, run: Run) -> None:
        """After the run, however it ended."""

    @property
    def alarms(self) -> dict[str, float]:
        """Counters of the run, each with a number: while none has reached its number, the guard need not be asked.

        With no alarms at all it is asked each time. The names are those of `Run`; `repeats.call` is one of its
        `repeats`. An alarm may come too early, never too late.
        """
        return {}

    @property
    def gates(self) -> tuple[str, ...]:
        """Where it looks."""
        return self.usual_gates if self.gate is None else (self.gate,)

    @property
    def parts(self) -> tuple[Guard, ...]:
        """The guards that look each for itself: those of `a | b`, else this one."""
        return (self,)

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


class Limit(Guard):
    """A guard that fires when what is used reaches a limit."""

    unit: ClassVar[str] = ""
    verb: ClassVar[str] = " used"

    def measure(self, run: Run) -> tuple[float, float]:
        """(used, limit): how far the run is, in this guard's unit."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it measures")

    def fires(self, run: Run) -> Any:
        used, limit = self.measure(run)
        return used >= limit

    def says(self, run: Run) -> str:
        used, limit = self.measure(run)
        over = f", {in_full(used - limit)} {self.unit} over" if used > limit else ""
        return f"{in_full(used)} of {in_full(limit)} {self.unit}{self.verb}{over}"


class Function(Guard):
    """A plain function `guard(run) -> str | None` as a guard; its name is the reason."""

    function: Callable[[Run], str | None]

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def fires(self, run: Run) -> str | None:
        detail = self.function(run)
        if detail and not isinstance(detail, str):
            if hasattr(detail, "__await__"):  # it has not run, and Python would warn of that
                getattr(detail, "close", bool)()
            raise TypeError(f"guard {self.name} returned {detail!r}; it must return a text or None, and not be async")
        return detail

    def __repr__(self) -> str:
        return self.name


class Joined(Guard):
    """Several guards as one."""

    guards: tuple[Guard, ...]

    sign: ClassVar[str] = ""

    @property
    def name(self) -> str:
        return f" {self.sign} ".join(f"({g.name})" if isinstance(g, Joined) else g.name for g in self.guards)

    @property
    def gates(self) -> tuple[str, ...]:
        """The latest of the gates at which one of them looks."""
        return (max((gate for g in self.guards for gate in g.gates), key=GATES.index),)

    def begin(self, run: Run) -> None:
        for g in self.guards:
            g.begin(run)

    def settle(self, run: Run) -> None:
        for g in self.guards:
            g.settle(run)

    def end(self, run: Run) -> None:
        for g in self.guards:
            g.end(run)

    def __repr__(self) -> str:
        inner = (f"({g!r})" if isinstance(g, Joined) else repr(g) for g in self.guards)
        return f" {self.sign} ".join(inner)


class AnyOf(Joined):
    """`a | b`: both, each at its own gate."""

    sign: ClassVar[str] = "|"

    @property
    def bounds(self) -> bool:  # type: ignore[override]
        return any(g.bounds for g in self.guards)

    @property
    def caps_calls(self) -> bool:  # type: ignore[override]
        return any(g.caps_calls for g in self.guards)

    @property
    def parts(self) -> tuple[Guard, ...]:
        return tuple(part for g in self.guards for part in g.parts)

    def fires(self, run: Run) -> str | None:
        return next((detail for g in self.guards if (detail := g(run))), None)


class AllOf(Joined):
    """`a & b`: fires where both fire, at the later of their gates."""

    sign: ClassVar[str] = "&"

    @property
    def bounds(self) -> bool:  # type: ignore[override]
        return all(g.bounds for g in self.guards)

    @property
    def caps_calls(self) -> bool:  # type: ignore[override]
        return all(g.caps_calls for g in self.guards)

    def fires(self, run: Run) -> str | None:
        details = [g(run) for g in self.guards]
        return "; ".join(str(d) for d in details) if all(details) else None


def as_guard(value: Any) -> Guard:
    """`value` as a guard. Raises TypeError for what is neither a guard nor a function."""
    if isinstance(value, type) and issubclass(value, Guard):
        raise TypeError(f"{value.__name__} is a kind of guard: give it its limit, {value.__name__}(…)")
    if isinstance(value, Guard):
        return value
    if has_parts(value):  # nobody would look there
        name = getattr(value, "__name__", type(value).__name__)
        raise TypeError(f"{name} has parts of a guard: derive its class from stoplib.Guard")
    if callable(value):
        return Function(value)
    raise TypeError(f"not a guard: {value!r}; a guard is built like max_steps(10), or a function of the run")


def has_parts(value: Any) -> bool:
    """Whether something has what only a guard needs."""
    return any(hasattr(value, part) for part in ("fires", "gates", "usual_gates"))


def _join(kind: type[Joined], *sides: Any) -> Guard:
    if not all(callable(side) for side in sides):
        return NotImplemented  # type: ignore[no-any-return]  # so that Python raises TypeError
    guards = (as_guard(side) for side in sides)
    return kind(tuple(part for g in guards for part in (g.guards if isinstance(g, kind) else (g,))))
