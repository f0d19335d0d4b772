"""A progress bar on one line of a terminal. Where there is no terminal nothing is shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from stoplib.traces.sweep import Progress

WIDTH = 30
EVERY = 0.1
"""Seconds between two drawings."""


class Bar:
    """Draws how far a sweep has come; leaves the line empty at the end.

    >>> from io import StringIO
    >>> class Terminal(StringIO):
    ...     def isatty(self):
    ...         return True
    >>> terminal = Terminal()
    >>> with Bar(terminal) as bar:
    ...     bar.show(Progress(50, 200, 7))
    >>> terminal.getvalue().split("\\r")[1].strip()
    '[=======                       ]  25 %  7 runs'
    """

    def __init__(self, stream: TextIO, shown: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._shown = shown and stream.isatty()
        self._clock = clock
        self._drawn = -EVERY
        self._width = 0

    def show(self, progress: Progress) -> None:
        """Draw, unless that has just been done."""
        now = self._clock()
        if not self._shown or now - self._drawn < EVERY:
            return
        self._drawn = now
        share = min(1.0, progress.done / progress.of) if progress.of else 1.0
        runs = f"  {progress.runs:,} runs" if progress.runs else ""
        self._write(f"[{'=' * int(share * WIDTH):{WIDTH}}] {100 * share:3.0f} %{runs}")

    def _write(self, line: str) -> None:
        self._stream.write(f"\r{line:{self._width}}")
        self._stream.flush()
        self._width = len(line)

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._width:
            self._stream.write(f"\r{'':{self._width}}\r")
            self._stream.flush()
