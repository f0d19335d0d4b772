"""The course's own Python in `.venv`: made, mended and filled when that is needed, and only then."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COMMAND = "py course.py" if os.name == "nt" else "python3 course.py"
VERSION = "{}.{}".format(*sys.version_info)
DECIDES_WHAT_IS_INSTALLED = ("requirements.txt", "constraints.txt", "pyproject.toml")
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


class SetupError(Exception):
    """What is wrong and what to do about it, in words for the learner."""


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print what is being done, and how long it took."""
    print(f"{what} ...", end=" ", flush=True)
    start = time.monotonic()
    try:
        yield
    except BaseException:
        print(flush=True)  # what is said next starts on a line of its own
        raise
    print(f"done in {time.monotonic() - start:.0f} s", flush=True)


def clean_environment() -> dict[str, str]:
    """Return the environment variables for the course's Python: nothing in them leads to another one."""
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    # UTF-8 mode, because the path of the course may hold any letter.
    return {**kept, "PYTHONUTF8": "1", "PIP_USER": "0", "JUPYTER_PREFER_ENV_PATH": "1"}


@dataclass(frozen=True)
class Environment:
    """The virtual environment `.venv` in the folder of the course."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where the environment is."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The Python inside it."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def log(self) -> Path:
        """All that pip said the last time."""
        return self.folder / "install.log"

    @property
    def stamp(self) -> Path:
        """Says what was installed; it is there only when the installation was finished."""
        return self.folder / "installed.json"

    def ensure(self) -> None:
        """Leave a complete environment behind, whatever was there before; do nothing if it is complete."""
        self.remove_if_useless()
        if not self.folder.exists():
            self.make()
        if self.installed() != self.wanted():
            self.install()

    def remove_if_useless(self) -> None:
        """Remove an environment that cannot work, and never anything that is no environment."""
        if not os.path.lexists(self.folder):
            return
        if not (self.folder / "pyvenv.cfg").is_file():
            raise SetupError(
                f"{self.folder} is in the way: it is not a virtual environment, so it is left as it is.\n"
                "Move it somewhere else, then run the same command again."
            )
        fault = self.fault()
        if fault is None:
            return
        self.refuse_read_only()  # what cannot be made anew is not taken apart
        with step(f"Removing .venv, to make it anew: {fault}"):
            # What tells that this is an environment goes last: an interrupted removal can then be taken up again.
            for entry in sorted(self.folder.iterdir(), key=lambda entry: entry.name == "pyvenv.cfg"):
                remove(entry)
            self.folder.rmdir()

    def fault(self) -> str | None:
        """Say why the environment cannot work, or return None."""
        version = self.version()
        if version is None:
            return "its Python or its pip does not run"
        if version != VERSION:
            return f"it was made for Python {version}, and this is {VERSION}"
        home = self.installed().get("folder", str(self.root))
        if home != str(self.root):
            return f"it was made in {home}, and environments cannot be moved"
        return None

    def version(self) -> str | None:
        """Return the environment's Python version, like `3.13`, or None if its Python or its pip does not run."""
        question = "import pip, sys; print('{}.{}'.format(*sys.version_info))"
        try:
            answer = self.run([self.python, "-I", "-X", "utf8", "-c", question])
        except OSError:
            return None
        return last_line(answer.stdout) if answer.returncode == 0 else None

    def refuse_read_only(self) -> None:
        """Say so where nothing can be written."""
        try:
            tempfile.TemporaryFile(dir=self.root).close()
        except OSError as error:
            raise SetupError(
                f"Nothing can be written to {self.root} ({error.strerror}).\n"
                "Move the course to a folder of your own, then run the same command again."
            ) from error

    def make(self) -> None:
        """Make the environment, with pip and nothing else in it."""
        if not all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
            raise SetupError(
                f"{sys.executable} cannot make virtual environments: its module ensurepip or venv is missing.\n"
                f"On Debian and Ubuntu: sudo apt install python{VERSION}-venv. Then run the same command again."
            )
        self.refuse_read_only()
        # A virtual environment may itself have started course.py; its Python may be the one that was just removed.
        python = getattr(sys, "_base_executable", sys.executable)
        with step("Making .venv"):
            answer = self.run([python, "-m", "venv", self.folder])
            if answer.returncode:
                raise SetupError(f"Python could not make a virtual environment: {last_line(answer.stdout)}")

    def install(self) -> None:
        """Install what requirements.txt asks for, and stamp the environment when that is done."""
        self.stamp.unlink(missing_ok=True)
        pip: list[str | Path] = [self.python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
        with step("Installing the packages (about a minute)"):
            answer = self.run([*pip, "-r", "requirements.txt"])
            self.log.write_text(answer.stdout, encoding="utf-8")
            if answer.returncode:
                raise SetupError(
                    f"The packages could not be installed: {why_pip_failed(answer.stdout)}\n"
                    "Check the network connection, then run the same command again. "
                    f"All that pip said is in {self.log}"
                )
        self.stamp.write_text(json.dumps(self.wanted()), encoding="utf-8")

    def installed(self) -> dict[str, str]:
        """Return what the stamp says; nothing when there is none, or none that can be read."""
        try:
            stamp: dict[str, str] = json.loads(self.stamp.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return stamp

    def wanted(self) -> dict[str, str]:
        """Return what the stamp has to say for the environment to be complete."""
        files = b"\0".join((self.root / name).read_bytes() for name in DECIDES_WHAT_IS_INSTALLED)
        return {"folder": str(self.root), "python": VERSION, "packages": hashlib.sha256(files).hexdigest()}

    def run(self, command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
        """Run a command from the course's folder, and return its exit code and all that it said."""
        return subprocess.run(
            command,
            cwd=self.root,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )


def why_pip_failed(output: str) -> str:
    """Return the one line of pip's output that says most about why it failed."""
    errors = re.findall(r"^ *ERROR: (.+[^:\n])$", output, re.MULTILINE)
    reason = errors[-1] if errors else last_line(output)
    if "after connection broken by" in output:
        return f"pip could not get through the network ({reason})."
    return reason


def last_line(output: str) -> str:
    """Return the last line that says something."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it did not say why"


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
