"""A process that examines one exercise after the other: `python -m stoplib.course.grading.running.examiner FOLDER`.

It loads pytest, nbval and the checks once. Orders come in as lines of JSON, events go out as lines of JSON; it ends
when nobody sends orders any more, and removes FOLDER, in which all its files are. `Examiner` is the other side: it
starts the process, and starts it anew when a learner's code has managed to end it.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psutil

import stoplib
from stoplib.course.grading.running.limits import Limits
from stoplib.course.grading.running.watching import at_work_in, end_all, end_all_below

SPARE_SECONDS = 60  # for starting a kernel and ending it
TEMPORARY = ["TMPDIR", "TEMP", "TMP"]
OURS = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", *TEMPORARY, "HOME", "USERPROFILE", "SYSTEMROOT"]
OURS += ["SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "VIRTUAL_ENV"]

Event = dict[str, Any]


class Lost(Exception):
    """The examiner's process has ended, or had to be ended, in the middle of an order."""


class GivenUp(Exception):
    """Nobody wants to know the result of an order any more."""


class Examiner:
    """The process, as seen by the one who gives the orders."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._events: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._numbers = count(1)
        self._closings = 0

    def examine(self, order: dict[str, Any], limits: Limits) -> Iterator[Event]:
        """Have an order carried out; yield its events up to the last. Raises Lost or GivenUp."""
        process, closings = self._running(), self._closings
        assert process.stdin is not None
        number = next(self._numbers)
        try:
            process.stdin.write(json.dumps({**order, "number": number}) + "\n")
            process.stdin.flush()
        except OSError:
            raise self._lost("it had ended", closings) from None
        while True:
            try:
                line = self._events.get(timeout=limits.exercise + SPARE_SECONDS)
            except queue.Empty:
                raise self._lost("nothing was heard of it any more", closings) from None
            if not line:
                raise self._lost("it was ended", closings)
            event: Event = json.loads(line)
            if event["number"] != number:  # whoever gave that order did not wait for its end
                continue
            if event["event"] == "end":
                return
            yield event

    def close(self) -> None:
        """End the process and all that it has started; an order that is being carried out is given up."""
        self._closings += 1
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:  # else its number may be another process's by now
            with contextlib.suppress(psutil.Error):
                found = psutil.Process(process.pid)
                end_all_below(found)
                end_all([found])
            process.wait()
        if self._folder is not None:  # the process was ended, by us or by a learner's code, and has not cleaned up
            end_all(at_work_in(self._folder.name))
            self._folder.cleanup()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _lost(self, why: str, closings: int) -> Exception:
        self._end()
        return Lost(why) if self._closings == closings else GivenUp(why)

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._folder = tempfile.TemporaryDirectory(prefix="stoplib-", ignore_cleanup_errors=True)
            self._process = subprocess.Popen(
                [sys.executable, "-m", __spec__.name, self._folder.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment() | dict.fromkeys(TEMPORARY, self._folder.name),  # all that it makes goes there
                encoding="utf-8",
                start_new_session=True,
            )
            self._events = queue.SimpleQueue()
            threading.Thread(target=_forward, args=(self._process, self._events), daemon=True).start()
        return self._process


def _forward(process: subprocess.Popen[str], events: queue.SimpleQueue[str]) -> None:
    """Put what the process says into the queue, and an empty text at its end."""
    assert process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        for line in process.stdout:
            events.put(line)
    events.put("")


def environment() -> dict[str, str]:
    """The examiner's environment: what a program needs, and no keys or passwords."""
    return {
        **{name: os.environ[name] for name in OURS if name in os.environ},
        "PYTHONPATH": str(Path(stoplib.__file__).parents[1]),
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def main() -> None:
    """Carry out orders until there are no more."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)  # what pytest prints is nobody's business

    from stoplib.course.grading.running import linux
    from stoplib.course.grading.running.examination import examine
    from stoplib.course.grading.running.session import Order
    from stoplib.course.grading.running.starting import NewPython, Starter, Template
    from stoplib.course.grading.running.watching import adopt_orphans

    namespaces = linux.available()
    starter: Starter | None = None
    adopt_orphans()

    number = 0

    def report(event: Event) -> None:
        events.write(json.dumps({**event, "number": number}) + "\n")
        events.flush()

    for line in sys.stdin:
        order = json.loads(line)
        number = order.pop("number")
        order["limits"] = Limits(**order["limits"])
        order["namespaces"] = namespaces and order["namespaces"]
        report({"event": "begin", "namespaces": order["namespaces"]})
        kind = Template if order["namespaces"] else NewPython
        if not isinstance(starter, kind) or not starter.usable:
            if starter is not None:
                starter.close()
            starter = kind()
        examine(Order(**order), starter, report)
        report({"event": "end"})
    if starter is not None:
        starter.close()
    shutil.rmtree(sys.argv[1], ignore_errors=True)


if __name__ == "__main__":
    main()
