"""How far the grading is: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import os
import time
from typing import Self, TextIO

WIDTH = 24
SECONDS_BETWEEN_LINES = 10.0


class Bar:
    """Call it with how many are done, of how many, and what has just been finished."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._last = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        if self._terminal:
            print("\r\033[K", end="", file=self._out, flush=True)

    def __call__(self, done: int, of: int, what: str) -> None:
        """Show it."""
        if self._terminal:
            full = WIDTH * done // max(of, 1)
            line = f"[{'#' * full}{'.' * (WIDTH - full)}] {done} of {of}  {what}"
            print(f"\r\033[K{line[: _columns() - 1]}", end="", file=self._out, flush=True)
        elif done == of or time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            print(f"{done} of {of}  {what}", file=self._out, flush=True)


def _columns() -> int:
    try:
        return os.get_terminal_size(2).columns
    except OSError:
        return 80


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
