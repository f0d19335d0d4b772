"""Looks after a kernel while something is waited for, and says in a sentence why it had to be ended."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterable

import psutil

from stoplib.course.grading.judging.channel import Broken
from stoplib.course.grading.running.limits import MB, Limits

LOOK_EVERY = 0.7
DYING_SECONDS = 2


class Watch:
    """The time of one cell, and the processes below `root`. Called while one waits; raises Broken."""

    def __init__(self, limits: Limits, root: psutil.Process, exit_code: Callable[[], int | None]) -> None:
        self._limits, self._root, self._exit_code = limits, root, exit_code
        self._printed = 0
        self._next_look = 0.0
        self.start_cell()

    def start_cell(self) -> None:
        """A cell begins: its time and its output are counted anew."""
        self._end = time.monotonic() + self._limits.wait
        self._printed = 0
        self._worked = sum(map(_processor, descendants(self._root)))

    def __call__(self) -> None:
        now = time.monotonic()
        if now > self._end:
            worked = sum(map(_processor, descendants(self._root))) - self._worked
            waits = " It waits for something." if worked < self._limits.wait / 10 else ""
            raise Broken(f"It did not end within {self._limits.wait:g} seconds.{waits}")
        if (code := self._exit_code()) is not None:
            raise Broken(ended(code, self._limits))
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY
            self._look()

    def died(self) -> None:
        """The kernel does not answer any more: wait for a moment until it is known how it ended."""
        end = time.monotonic() + DYING_SECONDS
        while time.monotonic() < end:
            self()
            time.sleep(0.02)

    def count(self, size: int) -> None:
        """So many bytes of output have come."""
        self._printed += size
        if self._printed > self._limits.output:
            raise Broken(f"It printed more than {self._limits.output / MB:g} MB.")

    def _look(self) -> None:
        found = descendants(self._root)
        if len(found) > self._limits.processes:
            raise Broken(f"It started more than {self._limits.processes} processes.")
        used = sum(map(_memory, found))
        if used > self._limits.memory:
            raise Broken(f"It took more than {self._limits.memory / MB:,.0f} MB of memory.")
        if sum(map(_processor, found)) - self._worked > self._limits.cell:
            raise Broken(f"It did not end within {self._limits.cell:g} seconds of processor time: an endless loop.")


def ended(code: int, limits: Limits) -> str:
    """Why a kernel has ended that nobody ended."""
    number = -code if code < 0 else code - 128
    names = {int(one): one.name for one in signal.Signals}
    name = names.get(number, "") if number > 0 else ""
    if name == "SIGXCPU":
        return f"It used more than {limits.processor} seconds of processor time."
    if name == "SIGKILL":
        return "Its process was killed: by itself, or because there was no memory left."
    if name:
        return f"Its process crashed ({name})."
    return f"Its process came to an end, with exit code {code}: its code calls os._exit, or something like it."


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """All processes below one, also those whose parent has ended where the system hands them to us."""
    with contextlib.suppress(psutil.Error):
        found: list[psutil.Process] = process.children(recursive=True)
        return found
    return []


def _processor(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.Error):
        spent = process.cpu_times()
        return float(spent.user + spent.system)
    return 0.0


def _memory(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0


def end_all(processes: Iterable[psutil.Process]) -> None:
    """Kill processes, and wait until none of them runs any more."""
    found = list(processes)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()
    end = time.monotonic() + DYING_SECONDS
    while any(map(_runs, found)) and time.monotonic() < end:
        time.sleep(0.005)


def end_all_below(process: psutil.Process) -> None:
    """Kill everything below a process, also what is started in the meantime."""
    while found := [one for one in descendants(process) if _runs(one)]:
        end_all(found)


def at_work_in(folder: str) -> list[psutil.Process]:
    """The processes whose command or environment names a folder, whoever their parent is by now."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if any(folder in text for text in (*process.cmdline(), *process.environ().values())):
                found.append(process)
    return found


def _runs(process: psutil.Process) -> bool:
    """Whether a process is more than an entry that its parent has not asked for yet."""
    with contextlib.suppress(psutil.Error):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def adopt_orphans() -> None:
    """Let processes whose parent has ended become children of this one, so that they can be found. Linux only."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
