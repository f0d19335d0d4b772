"""The commands of course.py: set up, open, check and test the course."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from . import workspace
from .environment import COMMAND, Environment, SetupError, clean_environment

USAGE = f"""\
A course on how an agent run stops.

  {COMMAND} lab             open the course in JupyterLab      (+ options of jupyter lab)
  {COMMAND} check           say whether everything works here
  {COMMAND} fresh NAME ...  get a notebook anew; yours is kept beside it
  {COMMAND} progress        say what you have done
  {COMMAND} grade PATH ...  grade what learners hand in        (--help says how)
  {COMMAND} test            run the tests                      (+ options of pytest)
  {COMMAND} build           make the notebooks from lessons/   (+ --check, names)

The first start takes about a minute: it makes .venv and installs the packages there."""

START = "notebooks/00_start_here.ipynb"
SETTINGS = Path(__file__).with_name("jupyterlab")
INTERRUPTED = 130
LAST_PORT = 65535
# nbgrader is here for its tests; its menu and its buttons are a teacher's.
NOT_FOR_LEARNERS = ("formgrader", "validate_assignment", "assignment_list", "course_list")


def main(arguments: Sequence[str], folder: str) -> int:
    """Run one command and return its exit code; what goes wrong is said in a sentence."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a folder's name may hold letters that the terminal lacks
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        return 0
    name, *options = arguments
    if name not in COMMANDS:
        print(f"course.py has no command {name!r}. It has: {', '.join(COMMANDS)}.", file=sys.stderr)
        return 2
    try:
        return COMMANDS[name](Path(folder).resolve(), options)
    except SetupError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        print(f"{error.strerror}{where}\nSet that right, then run the same command again.", file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted. Nothing is lost: the same command takes up where this one stopped.", file=sys.stderr)
        return INTERRUPTED
    return 1


def lab(root: Path, options: Sequence[str]) -> int:
    """Open the course in JupyterLab."""
    refuse_taken_port(options)
    environment = set_up(root)
    print("Opening JupyterLab. To stop it, press Ctrl-C here, twice.", flush=True)
    code = run(environment, "jupyterlab", *lab_options(environment), *options)
    if code == 0:
        print("JupyterLab has stopped. Your notebooks are in work/.")
    return code


def lab_options(environment: Environment) -> list[str]:
    """Return the options that make JupyterLab show the course, and leave the learner's own settings alone."""
    options = [
        f"--ServerApp.root_dir={environment.root / 'work'}",
        f"--LabApp.default_url=/lab/tree/{START}",
        f"--LabApp.app_settings_dir={SETTINGS}",
        f"--LabApp.workspaces_dir={environment.folder / 'lab-workspaces'}",
        "--Application.log_level=ERROR",
        *(f"--ServerApp.jpserver_extensions=nbgrader.server_extensions.{name}=False" for name in NOT_FOR_LEARNERS),
        "--ServerApp.jpserver_extensions=notebook_shim=False",  # it reads settings of old, and warns at each start
        "--KernelManager.transport_encryption=auto",  # without it every kernel starts with a warning
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    return options


def check(root: Path, options: Sequence[str]) -> int:
    """Say on one screen whether everything works."""
    refuse_more("check", options)
    return run(set_up(root), "stoplib.course.health")


def fresh(root: Path, names: Sequence[str]) -> int:
    """Give the learner notebooks anew."""
    if not names:
        raise SetupError(f"Which notebook do you want anew? For example: {COMMAND} fresh 01_one_exit")
    for name in names:
        print(workspace.fresh(root, name))
    return 0


def progress(root: Path, options: Sequence[str]) -> int:
    """Say what the learner has done."""
    refuse_more("progress", options)
    return run(set_up(root), "stoplib.course.grading.progress")


def grade(root: Path, options: Sequence[str]) -> int:
    """Grade what learners have handed in. Paths are those of the folder where the command was given."""
    environment = Environment(root)
    environment.ensure()
    return run(environment, "stoplib.course.grading", f"--base={Path.cwd()}", *options)


def run_tests(root: Path, options: Sequence[str]) -> int:
    """Run the tests."""
    environment = Environment(root)
    environment.ensure()
    return run(environment, "pytest", *options)


def build(root: Path, options: Sequence[str]) -> int:
    """Make the notebooks from their sources."""
    environment = Environment(root)
    environment.ensure()
    return run(environment, "stoplib.course.build", *options)


COMMANDS: dict[str, Callable[[Path, Sequence[str]], int]] = {
    "lab": lab,
    "check": check,
    "fresh": fresh,
    "progress": progress,
    "grade": grade,
    "test": run_tests,
    "build": build,
}


def set_up(root: Path) -> Environment:
    """Leave the environment and the learner's working copy ready."""
    environment = Environment(root)
    environment.ensure()
    for remark in workspace.prepare(root):
        print(remark, flush=True)
    return environment


def run(environment: Environment, module: str, *options: str) -> int:
    """Run a module with the course's Python in the foreground, and return its exit code."""
    command: list[str | Path] = [environment.python, "-m", module, *options]
    # Ctrl-C reaches the module as well, which decides itself when it ends; here it must not cut the waiting short.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        code = subprocess.call(command, cwd=environment.root, env=clean_environment())
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code


def refuse_more(name: str, options: Sequence[str]) -> None:
    """Say so when a command that takes nothing more is given something: it would be ignored."""
    if options:
        raise SetupError(f"{COMMAND} {name} takes nothing more, and was given: {' '.join(options)}")


def refuse_taken_port(options: Sequence[str]) -> None:
    """Say so, and name a free port, when the port asked for is not free; JupyterLab would silently use another one."""
    port = requested_port(options)
    if port is None:
        return
    if port > LAST_PORT:  # JupyterLab would print an address that nobody can open
        raise SetupError(f"There is no port {port}: ports go up to {LAST_PORT}. Try: {COMMAND} lab --port 8888")
    if is_free(port):
        return
    free = next(filter(is_free, range(port + 1, LAST_PORT + 1)), 8888)
    raise SetupError(f"Port {port} is not free. Port {free} is: {COMMAND} lab --port {free}")


def requested_port(options: Sequence[str]) -> int | None:
    """Return the port that is asked for, in whichever way it is written, or None."""
    for option, following in pairwise([*options, ""]):
        name, equals, value = option.partition("=")
        number = value if equals else following
        if name in ("--port", "--ServerApp.port") and number.isdecimal() and int(number) > 0:
            return int(number)
    return None


def is_free(port: int) -> bool:
    """Tell whether a server could listen on a port of this computer."""
    with socket.socket() as probe:
        if os.name != "nt":  # there the option means something else: sharing a port that is in use
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
