"""Checking a learner's code: run it on several cases, bounded, and say what was seen.

The code is hostile by accident: it may loop for ever, raise anything, return anything. A check
survives that and says which case went wrong. It never shows a solution.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, TextIO, TypeVar

import stoplib
from stoplib.course.text import wrapped

Case = TypeVar("Case")

MOST_LINES = 300_000
_bounds: list[int] = []

# Lines of these files do not count in `bounded`; they are not the learner's. (Leaving its `with` runs some.)
OURS = {__file__, contextlib.__file__}
# Nor is code in these places: Python's own, what is installed, and the course.
FOLDERS = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
INSTALLED = ("<frozen ", *(f"{folder}{os.sep}" for folder in (Path(stoplib.__file__).parent, *sorted(FOLDERS))))
CALLS_A_LINE = 20


class _Friendly(Exception):
    """An exception that a notebook shows as its message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class NotSolvedYet(_Friendly):
    """The answer cell still holds its stub."""


class ChecksFailed(_Friendly):
    """At least one case is not right yet."""


class Endless(BaseException):
    """The learner's code went on for too long. Not an Exception, so that `except Exception` lets it through."""


@dataclass(frozen=True)
class Verdict:
    """What one case showed: `seen` in words if it is not right, with the hint that fits."""

    case: str
    ok: bool
    seen: str = ""
    hint: str = ""


def judge(exercise: str, verdicts: Iterable[Verdict]) -> None:
    """Print a line per case and raise ChecksFailed if one is not right, NotSolvedYet for a stub.

    >>> judge("99", [Verdict("an empty list", True)])
    right: an empty list
    All right.
    """
    wrong = total = 0
    told: set[str] = set()
    seen = ""
    for verdict in _until_stub(exercise, verdicts):
        total += 1
        if verdict.ok:
            print(f"right: {verdict.case}")
            seen = ""
            continue
        wrong += 1
        the_same = bool(seen) and verdict.seen == seen
        print(wrapped(f"not yet: {verdict.case}{' (seen: the same)' if the_same else ''}", "    "))
        if not the_same:
            print(wrapped(f"    seen: {verdict.seen}", "        "))
        seen = verdict.seen
        if verdict.hint and verdict.hint not in told:
            told.add(verdict.hint)
            print(wrapped(f"    hint: {verdict.hint}", "        "))
    if wrong:
        raise ChecksFailed(f"Exercise {exercise}: {wrong} of {total} lines above are not right yet.")
    print("All right.")


def _until_stub(exercise: str, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    try:
        yield from verdicts
    except NotImplementedError:
        raise NotSolvedYet(
            f"Exercise {exercise} is not solved yet. Write your code where it says YOUR CODE HERE, "
            "run that cell, then this one."
        ) from None


class Muted(io.TextIOBase):
    """Takes what the learner's code prints and passes on the first `lines` lines of it."""

    def __init__(self, out: TextIO, lines: int = 20) -> None:
        self._out, self._left = out, lines

    def write(self, text: str) -> int:
        if self._left > 0:
            self._left -= text.count("\n")
            self._out.write(text if self._left > 0 else "\n(what your code prints further is not shown)\n")
        return len(text)


@contextmanager
def bounded(lines: int = MOST_LINES) -> Iterator[None]:
    """Raise Endless in code that runs more than `lines` lines of the learner's own.

    Lines of installed code, `copy.deepcopy` or a replay, do not count. Its calls do, up to 20 for each of the
    lines, so that a loop without a line of the learner's ends as well. The count does not depend on the
    machine: the same code is stopped at the same place everywhere.
    """
    left, calls_left = lines, CALLS_A_LINE * lines
    outer = sys.gettrace()
    _bounds.append(lines)

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left, calls_left
        if event == "line":
            left -= 1
            if left < 0:
                raise Endless(f"did not stop within {lines:,} lines")
        elif event == "call" and (file := frame.f_code.co_filename) in OURS:
            return None
        elif event == "call" and _installed(file):
            calls_left -= 1
            if calls_left < 0:
                raise Endless(f"did not stop within {CALLS_A_LINE * lines:,} calls of other functions")
            return None
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(outer)
        _bounds.pop()


def bound() -> int:
    """How many lines the code that runs now may take: those of the innermost `bounded`, or what is usual."""
    return _bounds[-1] if _bounds else MOST_LINES


def lines_of(error: BaseException) -> list[tuple[str, str]]:
    """The functions that an error came through, each with the line of it where Python knows its text.

    An error from another process brings them along.
    """
    told: list[tuple[str, str]] | None = getattr(error, "__lines__", None)
    if told is not None:
        return told
    return [(frame.name, frame.line or "") for frame in traceback.extract_tb(error.__traceback__)]


_secret: str | None = None


@contextmanager
def fresh_cases(secret: str) -> Iterator[None]:
    """While this lasts, checks also try cases that follow from `secret`: those of the grader, not of a notebook."""
    global _secret
    before, _secret = _secret, secret
    try:
        yield
    finally:
        _secret = before


def fresh(make: Callable[[Random], Case], count: int = 3) -> Iterator[Case]:
    """Cases that nobody can have seen before, `count` of them; none outside of `fresh_cases`.

    >>> list(fresh(lambda dice: dice.randint(1, 9)))
    []
    >>> with fresh_cases("a secret"):
    ...     len(list(fresh(lambda dice: dice.randint(1, 9))))
    3
    """
    if _secret is not None:
        dice = Random(f"{_secret} {make.__qualname__}")
        yield from (make(dice) for _ in range(count))


def shuffled(values: Iterable[Case]) -> list[Case]:
    """The values in an order that nobody knows in advance; outside of `fresh_cases` it is always the same.

    >>> sorted(shuffled("abc"))
    ['a', 'b', 'c']
    """
    mixed = list(values)
    Random(_secret or "").shuffle(mixed)
    return mixed


@cache
def _installed(file: str) -> bool:
    """Whether the code of this file is somebody else's than the learner's."""
    return file.startswith(INSTALLED)


def shown(value: Any, width: int = 90) -> str:
    """`repr(value)`, cut to `width`; also for objects whose repr fails."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"an object whose repr raises {type(error).__name__}"
    return text if len(text) <= width else text[: width - 3] + "..."
