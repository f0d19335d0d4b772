"""Two ways to start a kernel: as a new Python, or as a copy of one that has everything loaded.

The copy takes half the time, and is made where namespaces keep the kernels apart. Its original, the template, has
loaded what every kernel needs, holds nothing secret, and runs no learner's code.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import psutil

import stoplib
from stoplib.course.grading.running import kernel
from stoplib.course.grading.running.watching import end_all_below

PACKAGE = Path(stoplib.__file__).parent
POSIX = os.name == "posix"


class Started(Protocol):
    """A kernel's process."""

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""

    def kill(self) -> None:
        """End it, with its process group."""


class Starter(Protocol):
    """A way to start kernels."""

    @property
    def root(self) -> psutil.Process:
        """The process below which they are."""

    @property
    def kept(self) -> tuple[Path, ...]:
        """Folders that they have to read."""

    def start(self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Started:
        """Start a kernel in the folder of one run."""

    def end_all(self) -> None:
        """End everything that the last kernel has left."""

    @property
    def usable(self) -> bool:
        """Whether it can start another one."""

    def close(self) -> None:
        """It is not needed any more."""


class NewPython:
    """Starts each kernel as a new process, with a copy of the library that it may spoil."""

    def __init__(self) -> None:
        self.root = psutil.Process()
        self.kept: tuple[Path, ...] = ()

    def start(self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Started:
        """Start a kernel."""
        copy_of_the_library(folder / "course")
        return _Process(
            subprocess.Popen(
                [sys.executable, "-m", kernel.__name__, *arguments],
                cwd=folder / "work",
                env={**environment, "PYTHONPATH": str(folder / "course")},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )

    def end_all(self) -> None:
        """End every process below this one, also those that have left their parent."""
        end_all_below(self.root)

    usable = True

    def close(self) -> None:
        """Nothing is kept."""


class _Process:
    """A process of our own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """End it, with its process group."""
        if POSIX:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()


class Template:
    """Starts each kernel as a copy of a process that is ready. Linux, with namespaces."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="stoplib-", ignore_cleanup_errors=True)
        library = Path(self._folder.name).resolve() / "course"
        copy_of_the_library(library)
        self.kept = (library,)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "stoplib.course.grading.running.template"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(library), **ALWAYS},
            encoding="utf-8",
        )
        self.root = psutil.Process(self._process.pid)

    def start(self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Started:
        """Start a kernel."""
        told = {"arguments": list(arguments), "environment": {**environment, "PYTHONPATH": str(self.kept[0])}}
        return _Copy(self, int(self.ask({"start": {**told, "folder": str(folder / "work")}})))

    def ask(self, question: dict[str, Any]) -> Any:
        """Have the template do something, and return what it says. Raises RuntimeError if it is gone."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            raise RuntimeError("The process that kernels are copied from has ended.") from None

    def end_all(self) -> None:
        """End every process below the template."""
        end_all_below(self.root)

    @property
    def usable(self) -> bool:
        """Whether the template is there."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the template."""
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()


class _Copy:
    """A copy of the template."""

    def __init__(self, template: Template, process: int) -> None:
        self._template, self._process = template, process
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        if self._code is None:
            self._code = self._template.ask({"poll": self._process})
        return self._code

    def kill(self) -> None:
        """End it: all that is in its namespace ends with it."""
        if self._code is None:
            with contextlib.suppress(OSError):
                os.killpg(self._process, signal.SIGKILL)
            self._code = self._template.ask({"wait": self._process})


#: what every Python of a kernel is started with
ALWAYS = {
    "PYTHONSAFEPATH": "1",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def copy_of_the_library(folder: Path) -> None:
    """Copy `stoplib` into a folder, as it is loaded here."""
    half_written = shutil.ignore_patterns("*.pyc.*")  # by another Python that compiles them just now
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=half_written)
