"""What the judge sends: values, pickled, with handles for what must stay here.

Functions, events and exceptions get handles. A list or a dictionary that is an argument is sent once, and then what
has changed in it; a `Run` as well.
"""

from __future__ import annotations

import builtins
import io
import pickle
import threading
from collections.abc import Callable
from itertools import takewhile
from operator import is_
from types import FunctionType, MethodType
from typing import Any, Protocol

import stoplib
from stoplib.course.checks import OURS, ChecksFailed, Endless, NotSolvedYet
from stoplib.course.grading.judging import inside
from stoplib.course.grading.judging.plain import parameters_of
from stoplib.state import Run

OURS.add(__file__)

ERRORS: dict[str, type[BaseException]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException) and not issubclass(kind, BaseExceptionGroup)
} | {kind.__name__: kind for kind in (Endless, ChecksFailed, NotSolvedYet, stoplib.Fatal)}
KNOWN_ERRORS = frozenset(ERRORS.values())


# Those of any run: what a recorded one holds besides is the judge's.
SENT = frozenset(Run.__slots__) - inside.NOT_SENT


class Keeper(Protocol):
    """Who gives out handles, and knows what the other end has been told of a run."""

    def give(self, value: Any) -> int:
        """The handle of an object that stays here."""

    def tell(self, run: Run) -> dict[str, Any]:
        """What is new in a run."""


class Shared:
    """A list or dictionary that both sides have."""

    def __init__(self, key: int, value: Any) -> None:
        self.key, self.value = key, value
        self._sent: list[Any] = []

    def news(self, dumps: Callable[[Any], bytes]) -> tuple[int, bytes] | None:
        """(how many parts stay as they are, the parts after them), or None if the other side knows it all."""
        now = list(self.value) if type(self.value) is list else [*self.value, *self.value.values()]
        same = sum(1 for _ in takewhile(bool, map(is_, now, self._sent)))
        if same == len(now) == len(self._sent):
            return None
        if type(self.value) is dict:
            same, new = 0, list(self.value.items())
        else:
            new = now[same:]
        self._sent = now
        return same, dumps(new)

    def become(self, contents: Any) -> None:
        """Take over new contents from the other side."""
        if type(contents) is not type(self.value):
            raise TypeError("a list stays a list")
        self.value.clear()
        if type(self.value) is list:
            self.value.extend(contents)
        else:
            self.value.update(contents)
        self._sent = list(self.value) if type(self.value) is list else [*self.value, *self.value.values()]


class Told:
    """What the other end knows of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.fetch = lambda: run.repeats
        self.clock = lambda: run._clock()  # a function stays here; a clock that is an object would be copied
        self.steps = self.messages = 0

    def news(self) -> dict[str, Any]:
        run = self.run
        if self.steps > len(run.trace) or self.messages > len(run.messages):
            self.steps = self.messages = 0
        first_step, first_message = max(0, self.steps - 1), self.messages
        self.steps, self.messages = len(run.trace), len(run.messages)
        return {
            "state": {name: getattr(run, name) for name in SENT},
            "trace": (first_step, run.trace[first_step:]),
            "messages": (first_message, run.messages[first_message:]),
            "repeats": self.fetch,
            "clock": self.clock,
        }


class Pickler(pickle.Pickler):
    """Pickles by value, but for what has to stay in one of the two processes."""

    def __init__(self, file: io.BytesIO, keeper: Keeper) -> None:
        super().__init__(file, protocol=5)
        self._keeper = keeper

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Shared):
            return inside.shared, (value.key, type(value.value) is list)
        theirs = getattr(value, "__theirs__", None)
        if type(theirs) is int:
            return inside.mine, (theirs,)
        if isinstance(value, Run):
            return inside.run, (self._keeper.give(value), self._keeper.tell(value))
        if isinstance(value, threading.Event):
            return inside.event, (self._keeper.give(value), lambda: value.is_set(), lambda: value.set())
        if isinstance(value, BaseException):
            return inside.error, (self._keeper.give(value), *_copied(value))
        if isinstance(value, FunctionType | MethodType) and _stays(value):
            about = (getattr(value, "__name__", "function"), value.__doc__ or "", parameters_of(value))
            return inside.function, (self._keeper.give(value), *about)
        return NotImplemented


def _stays(function: FunctionType | MethodType) -> bool:
    """Whether a function is one of the check's, and not what pickle itself or the other end needs by name."""
    module = function.__module__ or ""
    return "<" in function.__qualname__ or (module.startswith("stoplib") and module != inside.__name__)


def _copied(error: BaseException) -> tuple[type[BaseException], tuple[Any, ...], list[str]]:
    """Class, arguments and notes of an exception, as far as they can be sent."""
    kind = next(kind for kind in type(error).__mro__ if kind in KNOWN_ERRORS)
    args = tuple(arg for arg in error.args if isinstance(arg, str | int | float | bool | type(None)))
    return kind, args, list(getattr(error, "__notes__", ()))
