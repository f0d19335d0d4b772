"""Guards that ask the world outside the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from stoplib.guards.core import GATES, Guard
from stoplib.state import Run


class goal_reached(Guard):
    """The task is done when `check()` says so, whatever the model thinks.

    Looked at after each round; the run is then complete. It is also asked when the model answers: if
    it says no, the run ends as `unfinished`, not as `answered`. `check` takes nothing, or the run.
    """

    check: Callable[..., Any]

    usual_gates = ("after_round",)
    summary_after = False

    def validate(self) -> None:
        super().validate()
        if not callable(self.check):
            raise TypeError(f"{self.name}: check must be a function, not {self.check!r}")

    def begin(self, run: Run) -> None:
        from stoplib.schema import argument_error  # it loads `inspect`, which the import of the package can do without

        if argument_error(self.check, {}):
            run.notes[id(self)] = (run,)

    def fires(self, run: Run) -> bool:
        return self._passes(run)

    def says(self, run: Run) -> str:
        return "the goal check passes"

    def objection(self, run: Run) -> str | None:
        return None if self._passes(run) else "the model answered, but the goal check does not pass"

    def _passes(self, run: Run) -> bool:
        passes = self.check(*run.notes.get(id(self), ()))
        if hasattr(passes, "__await__"):  # it has not run, and as an object it is true
            getattr(passes, "close", bool)()
            raise TypeError(f"{self.name}: check gave something that nobody has awaited; it must be a plain function")
        return bool(passes)

    def _arguments(self) -> Iterator[str]:
        yield getattr(self.check, "__name__", None) or repr(self.check)
        if self.gate is not None:
            yield f"gate={self.gate!r}"


class cancelled(Guard):
    """Somebody has set `event`, a `threading.Event` or anything else with `is_set()`.

    A flag that was already set when the run started belongs to no run, and does not stop this one until
    it has been cleared and set again.
    """

    event: Any

    usual_gates = GATES
    summary_after = False

    def validate(self) -> None:
        super().validate()
        if not callable(getattr(self.event, "is_set", None)):
            raise TypeError(f"{self.name}: event must have is_set(), like threading.Event(), not {self.event!r}")

    def begin(self, run: Run) -> None:
        if self.event.is_set():
            run.notes[id(self)] = True

    def fires(self, run: Run) -> bool:
        if not self.event.is_set():
            if run.notes:
                run.notes.pop(id(self), None)  # seen clear: from now on it counts
            return False
        return not run.notes.get(id(self))

    def says(self, run: Run) -> str:
        return "somebody cancelled the run"
