"""Setting the course up: course.py, the environment it makes, its commands, and the check of everything."""

import errno
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from stoplib.course import commands, environment, health
from stoplib.course.environment import VERSION, Environment, SetupError, why_pip_failed

PROJECT = Path(__file__).parents[1]
COURSE = PROJECT / "course.py"
AWKWARD = "mein kürs ordner (1)"
posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals and links")


@pytest.fixture
def course() -> ModuleType:
    """course.py, imported."""
    spec = importlib.util.spec_from_file_location("course", COURSE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a course, with an awkward name and the files that decide what is installed."""
    root = tmp_path / AWKWARD
    root.mkdir()
    for name in environment.DECIDES_WHAT_IS_INSTALLED:
        (root / name).write_text(name, encoding="utf-8")
    return root


class FakePython:
    """Stands for the commands that make and fill an environment; notes which were run."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.version: str | None = VERSION
        self.venv = (0, "")
        self.pip = (0, "Successfully installed")
        self.interrupt = False

    def __call__(self, command: Sequence[str | Path]) -> CompletedProcess[str]:
        if "venv" in command:
            self.did.append("venv")
            folder = Path(command[-1])
            folder.mkdir()
            (folder / "pyvenv.cfg").write_text("home = somewhere", encoding="utf-8")
            self.version = VERSION
            return CompletedProcess(command, *self.venv)
        if "pip" in command:
            self.did.append("pip")
            if self.interrupt:
                raise KeyboardInterrupt
            return CompletedProcess(command, *self.pip)
        if self.version is None:
            raise FileNotFoundError(command[0])
        return CompletedProcess(command, 0, f"{self.version}\n")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakePython:
    """No environment is really made: a fake stands for Python, venv and pip."""
    fake = FakePython()
    monkeypatch.setattr(Environment, "run", lambda self, command: fake(command))
    return fake


@pytest.fixture
def ready(root: Path, fake: FakePython) -> Environment:
    """An environment that is complete; what is run from now on is noted."""
    ready = Environment(root)
    ready.ensure()
    fake.did.clear()
    return ready


# course.py itself


def old_pythons() -> Iterator[Path]:
    """Find Pythons on this computer that are too old for the course."""
    names = ("python2.7", *(f"python3.{minor}" for minor in range(6, 11)))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for name in names:
        found = shutil.which(name)
        if found and Path(found).parent.name != "shims":
            yield Path(found)
        else:
            yield from sorted(pyenv.glob(f"versions/*/bin/{name}"))[:1]


NO_OLD_PYTHON = pytest.param(None, marks=pytest.mark.skip("this computer has no Python that is too old"))


@pytest.mark.parametrize("python", list(old_pythons()) or [NO_OLD_PYTHON], ids=lambda python: python and python.name)
def test_too_old_python_is_told_so(python: Path) -> None:
    """A Python that is too old says its version and the one that is needed, with no traceback."""
    answer = subprocess.run([python, COURSE, "lab"], capture_output=True, encoding="utf-8")
    version = python.name.removeprefix("python")
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert answer.stderr.startswith(f"This is Python {version}, and the course needs 3.11 or newer.\n")
    assert len(answer.stderr.splitlines()) == 2


def test_course_py_is_plain_ascii() -> None:
    """Python 2 refuses to read a file with any other letter in it, and would not say why the course needs more."""
    assert COURSE.read_bytes().isascii()


def test_oldest_python_is_stated_once(course: ModuleType) -> None:
    """course.py takes the oldest Python from the project's metadata."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">={}.{}".format(*course.oldest_python(PROJECT))


def test_nothing_is_in_the_way_here(course: ModuleType) -> None:
    """With this Python, from this folder, the course can start."""
    assert course.obstacle(PROJECT) is None


def test_course_py_alone_says_what_is_missing(tmp_path: Path) -> None:
    """Whoever downloaded course.py alone is told to get the rest."""
    folder = tmp_path / AWKWARD
    folder.mkdir()
    shutil.copy(COURSE, folder)
    command: list[str | Path] = [sys.executable, "-X", "utf8", folder / "course.py", "lab"]
    answer = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert answer.returncode == 1
    assert "Download or clone all of the course" in answer.stderr
    assert f"in {folder} there is no pyproject.toml and no requirements.txt" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_course_py_runs_its_commands() -> None:
    """course.py hands its arguments on: an unknown command comes back as exit code 2."""
    answer = subprocess.run([sys.executable, COURSE, "dance"], capture_output=True, encoding="utf-8")
    assert (answer.returncode, answer.stdout) == (2, "")
    known = "lab, check, fresh, progress, grade, test, build"
    assert answer.stderr == f"course.py has no command 'dance'. It has: {known}.\n"


# the environment


def test_first_time_makes_and_fills(root: Path, fake: FakePython, capsys: pytest.CaptureFixture[str]) -> None:
    """Without .venv it is made, filled and stamped, and each step is a line."""
    Environment(root).ensure()
    assert fake.did == ["venv", "pip"]
    assert Environment(root).installed() == Environment(root).wanted()
    assert re.fullmatch(
        r"Making \.venv \.\.\. done in \d+ s\nInstalling the packages \(about a minute\) \.\.\. done in \d+ s\n",
        capsys.readouterr().out,
    )


def test_second_time_does_nothing(ready: Environment, fake: FakePython, capsys: pytest.CaptureFixture[str]) -> None:
    """A complete environment is taken as it is, without a word."""
    capsys.readouterr()
    ready.ensure()
    assert fake.did == []
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["requirements.txt", "constraints.txt", "pyproject.toml"])
def test_new_pins_are_installed(ready: Environment, fake: FakePython, name: str) -> None:
    """When a file that decides what is installed has changed, pip runs again in the same environment."""
    (ready.root / name).write_text("other", encoding="utf-8")
    ready.ensure()
    assert fake.did == ["pip"]
    assert ready.installed() == ready.wanted()


def test_interrupted_installation_goes_on(root: Path, fake: FakePython) -> None:
    """Ctrl-C during the installation leaves no stamp, so the next start takes it up."""
    fake.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        Environment(root).ensure()
    assert Environment(root).installed() == {}
    fake.interrupt = False
    Environment(root).ensure()
    assert fake.did == ["venv", "pip", "pip"]


def test_interrupted_update_goes_on(ready: Environment, fake: FakePython) -> None:
    """Ctrl-C during an update leaves no stamp either, not even the one from before."""
    requirements = ready.root / "requirements.txt"
    before = requirements.read_text(encoding="utf-8")
    requirements.write_text("other", encoding="utf-8")
    fake.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        ready.ensure()
    fake.interrupt = False
    requirements.write_text(before, encoding="utf-8")
    ready.ensure()
    assert fake.did == ["pip", "pip"]


@pytest.mark.parametrize(
    ("version", "why"),
    [(None, "its Python or its pip does not run"), ("3.5", f"it was made for Python 3.5, and this is {VERSION}")],
)
def test_broken_environment_is_made_anew(
    ready: Environment, fake: FakePython, capsys: pytest.CaptureFixture[str], version: str | None, why: str
) -> None:
    """An environment whose Python is gone, or is another one, is made anew, and the reason is said."""
    (ready.folder / "left behind").mkdir()
    fake.version = version
    ready.ensure()
    assert fake.did == ["venv", "pip"]
    assert f"Removing .venv, to make it anew: {why} ... done" in capsys.readouterr().out
    assert not (ready.folder / "left behind").exists()


def test_moved_folder_makes_the_environment_anew(
    ready: Environment, fake: FakePython, capsys: pytest.CaptureFixture[str]
) -> None:
    """An environment that was made in another place is made anew, and that place is named."""
    moved = Environment(ready.root.rename(ready.root.with_name("moved")))
    moved.ensure()
    assert fake.did == ["venv", "pip"]
    assert f"it was made in {ready.root}, and environments cannot be moved" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_no_environment_is_left_alone(root: Path, fake: FakePython, kind: str) -> None:
    """Something else that is called .venv is never deleted; the learner is asked to move it."""
    precious = root / ".venv" / "thesis.txt" if kind == "folder" else root / ".venv"
    precious.parent.mkdir(exist_ok=True)
    precious.write_text("three years of work", encoding="utf-8")
    with pytest.raises(SetupError, match="is not a virtual environment, so it is left as it is"):
        Environment(root).ensure()
    assert precious.read_text(encoding="utf-8") == "three years of work"
    assert fake.did == []


@posix_only
def test_removal_does_not_follow_links(ready: Environment, fake: FakePython, tmp_path: Path) -> None:
    """What a link in the environment points to survives when the environment is made anew."""
    (tmp_path / "elsewhere").mkdir()
    (ready.folder / "link").symlink_to(tmp_path / "elsewhere")
    fake.version = None
    ready.ensure()
    assert (tmp_path / "elsewhere").is_dir()
    assert not (ready.folder / "link").is_symlink()


def test_interrupted_removal_is_taken_up_again(
    ready: Environment, fake: FakePython, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left after Ctrl-C during the removal is still known as an environment, and the next start removes it."""
    (ready.folder / "zzz").mkdir()
    fake.version = None
    real = environment.remove

    def interrupted(path: Path) -> None:
        if path.name == "pyvenv.cfg":
            raise KeyboardInterrupt
        real(path)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(environment, "remove", interrupted)
        ready.ensure()
    assert [path.name for path in ready.folder.iterdir()] == ["pyvenv.cfg"]
    ready.ensure()
    assert fake.did == ["venv", "pip"]


def test_missing_ensurepip_names_the_package(root: Path, fake: FakePython, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python comes without ensurepip, as on Debian, the package to install is named."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match=f"sudo apt install python{VERSION}-venv"):
        Environment(root).ensure()
    assert fake.did == []


def test_folder_without_write_permission(root: Path, fake: FakePython, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written, that is said, with the folder and the system's reason."""

    def refuse(**options: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(options["dir"]))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(SetupError) as caught:
        Environment(root).ensure()
    assert str(caught.value).startswith(f"Nothing can be written to {root} (Permission denied).\n")


def test_environment_is_not_taken_apart_where_none_can_be_made(
    ready: Environment, fake: FakePython, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A useless environment in a folder that cannot be written to stays as it is, and the folder is named."""

    def refuse(**options: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(options["dir"]))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    fake.version = None
    before = sorted(ready.folder.rglob("*"))
    with pytest.raises(SetupError, match="Nothing can be written to"):
        ready.ensure()
    assert sorted(ready.folder.rglob("*")) == before


def test_failing_venv_shows_its_last_line(root: Path, fake: FakePython) -> None:
    """When Python cannot make the environment, its own reason is shown."""
    fake.venv = (1, "Error: some detail\nError: no symbolic links here\n\n")
    with pytest.raises(SetupError, match="no symbolic links here"):
        Environment(root).ensure()


def test_failing_pip_is_explained_and_logged(root: Path, fake: FakePython, capsys: pytest.CaptureFixture[str]) -> None:
    """When pip fails, one line says why, the log has all of it, and nothing claims to be done."""
    fake.pip = (1, "Collecting\nERROR: No matching distribution found for jupyterlab==99\nnote: more\n")
    with pytest.raises(SetupError) as caught:
        Environment(root).ensure()
    assert str(caught.value) == (
        "The packages could not be installed: No matching distribution found for jupyterlab==99\n"
        "Check the network connection, then run the same command again. "
        f"All that pip said is in {root / '.venv' / 'install.log'}"
    )
    assert Environment(root).log.read_text(encoding="utf-8") == fake.pip[1]
    assert capsys.readouterr().out.endswith("Installing the packages (about a minute) ... \n")
    assert Environment(root).installed() == {}


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("ERROR: first\nERROR: No matching distribution found for x\n", "No matching distribution found for x"),
        ("      ERROR: no flit_core\nerror: subprocess-exited-with-error\n", "no flit_core"),
        ("ERROR: Exception:\nTraceback\nValueError: bad toml\n", "ValueError: bad toml"),
        ("", "it did not say why"),
        (
            "WARNING: Retrying after connection broken by 'NameResolutionError'\nERROR: No match for x\n",
            "pip could not get through the network (No match for x).",
        ),
    ],
)
def test_reason_why_pip_failed(output: str, reason: str) -> None:
    """The line that says most is picked from pip's output, also when it comes from a build inside."""
    assert why_pip_failed(output) == reason


def test_children_see_no_other_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that lead to another Python are kept away from the course's; others are passed on."""
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("PIP_INDEX_URL", "the learner's")
    clean = environment.clean_environment()
    assert "elsewhere" not in clean.values()
    assert (clean["PYTHONUTF8"], clean["PIP_INDEX_URL"]) == ("1", "the learner's")


def test_real_environment_is_recognised_until_it_breaks(root: Path) -> None:
    """A real environment tells its version; without pip, or without its Python, it counts as broken."""
    real = Environment(root)
    venv.create(real.folder, symlinks=os.name != "nt")
    assert real.version() is None
    (library,) = real.folder.glob("[Ll]ib/**/site-packages")
    (library / "pip.py").touch()
    assert real.version() == VERSION
    real.python.unlink()
    assert real.version() is None


# the pins


def pinned() -> dict[str, str]:
    """The version of each package in constraints.txt."""
    lines = (PROJECT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pins}


def requirements() -> list[Requirement]:
    """The packages in requirements.txt."""
    return [Requirement(line) for line in health.requirements(PROJECT)]


def test_pins_agree() -> None:
    """What requirements.txt asks for is what constraints.txt holds."""
    pins = pinned()
    assert [asked for asked in requirements() if pins[canonicalize_name(asked.name)] not in asked.specifier] == []


def test_everything_is_pinned() -> None:
    """Each package that comes along with another one is pinned as well."""
    waiting, seen = requirements(), set()
    while waiting:
        asked = waiting.pop()
        key = (canonicalize_name(asked.name), frozenset(asked.extras))
        if key in seen:
            continue
        seen.add(key)
        extras = ["", *asked.extras]
        brought = [Requirement(line) for line in importlib.metadata.requires(asked.name) or ()]
        waiting += [new for new in brought if not new.marker or any(new.marker.evaluate({"extra": e}) for e in extras)]
    assert {name for name, _ in seen} - pinned().keys() == set()


def test_the_courses_extra_is_pinned() -> None:
    """What the metadata names as needed for the course is in requirements.txt."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = {Requirement(line).name for line in project["optional-dependencies"]["course"]}
    assert extra - {asked.name for asked in requirements()} == set()


# the commands


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_usage_names_every_command(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    """Without a command, or asked for help, course.py says what it can do."""
    assert commands.main(arguments, "") == 0
    usage = capsys.readouterr().out
    assert [name for name in commands.COMMANDS if f"course.py {name}" not in usage] == []


SET_RIGHT = "Set that right, then run the same command again.\n"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SetupError("A sentence."), 1, "A sentence.\n"),
        (PermissionError(errno.EACCES, "Permission denied", "work/a"), 1, f"Permission denied: work/a\n{SET_RIGHT}"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, f"No space left on device\n{SET_RIGHT}"),
        (KeyboardInterrupt(), 130, "Interrupted. Nothing is lost: the same command takes up where this one stopped.\n"),
    ],
)
def test_troubles_are_sentences(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str
) -> None:
    """Whatever stops a command is said in a sentence on stderr, and is its exit code."""

    def fail(root: Path, options: Sequence[str]) -> int:
        raise error

    monkeypatch.setitem(commands.COMMANDS, "lab", fail)
    assert commands.main(["lab"], "") == code
    assert capsys.readouterr().err == said


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, root: Path, fake: FakePython) -> list[str]:
    """Nothing is really started: what would be is noted here, and ends with exit code 5."""
    started: list[str] = []

    def run(environment: Environment, *command: str) -> int:
        started.extend(command)
        return 5

    monkeypatch.setattr(commands, "run", run)
    return started


@pytest.mark.parametrize(
    ("name", "module"),
    [("test", "pytest"), ("build", "stoplib.course.build"), ("lab", "jupyterlab")],
)
def test_commands_pass_options_and_exit_codes_on(root: Path, started: list[str], name: str, module: str) -> None:
    """A command runs its module with the options given, last, and ends with its exit code."""
    assert commands.main([name, "--one", "two"], str(root)) == 5
    assert started[0] == module
    assert started[-2:] == ["--one", "two"]


def test_lab_opens_the_working_copy(root: Path, started: list[str]) -> None:
    """JupyterLab is started in the learner's working copy, at the first chapter."""
    notebook = root / commands.START
    notebook.parent.mkdir()
    notebook.write_text("{}", encoding="utf-8")
    commands.main(["lab"], str(root))
    assert f"--ServerApp.root_dir={root / 'work'}" in started
    assert f"--LabApp.default_url=/lab/tree/{commands.START}" in started
    assert (root / "work" / commands.START).is_file()


@pytest.mark.parametrize(("uid", "allowed"), [(0, True), (1000, False)])
def test_root_may_run_jupyterlab(
    root: Path, started: list[str], monkeypatch: pytest.MonkeyPatch, uid: int, allowed: bool
) -> None:
    """JupyterLab refuses to run as root unless told otherwise; only then is it told."""
    monkeypatch.setattr(os, "geteuid", lambda: uid, raising=False)
    commands.main(["lab"], str(root))
    assert ("--allow-root" in started) is allowed


def test_lab_settings_are_ones_that_jupyterlab_knows() -> None:
    """The settings that keep JupyterLab from asking about news exist in the JupyterLab that is installed."""
    overrides = json.loads((commands.SETTINGS / "overrides.json").read_text(encoding="utf-8"))
    for plugin, ours in overrides.items():
        package, _, name = plugin.partition(":")
        schema = Path(sys.prefix, "share", "jupyter", "lab", "schemas", package, f"{name}.json")
        known = json.loads(schema.read_text(encoding="utf-8"))["properties"]
        assert ours.keys() - known.keys() == set()


def test_what_is_for_teachers_is_hidden_by_its_right_name() -> None:
    """What JupyterLab is told to leave out exists in it: nothing comes back because it got another name."""
    page = json.loads((commands.SETTINGS / "page_config.json").read_text(encoding="utf-8"))
    extensions = Path(sys.prefix, "share", "jupyter", "labextensions")
    assert [name for name in page["disabledExtensions"] if not (extensions / name / "package.json").is_file()] == []
    config = Path(sys.prefix, "etc", "jupyter", "jupyter_server_config.d", "nbgrader.json")
    servers = json.loads(config.read_text(encoding="utf-8"))["ServerApp"]["jpserver_extensions"]
    assert {f"nbgrader.server_extensions.{name}" for name in commands.NOT_FOR_LEARNERS} == servers.keys()


def test_what_is_for_teachers_is_switched_off(root: Path, started: list[str]) -> None:
    """JupyterLab is started without the parts of nbgrader."""
    commands.main(["lab"], str(root))
    off = {f"--ServerApp.jpserver_extensions=nbgrader.server_extensions.{n}=False" for n in commands.NOT_FOR_LEARNERS}
    assert off <= set(started)


def test_jupyterlab_starts_with_nothing_but_its_address(root: Path, tmp_path: Path) -> None:
    """A learner's terminal shows where the course is, and no warning that says nothing to a learner."""
    (root / "work").mkdir()
    options = [*commands.lab_options(Environment(root)), "--no-browser", "--port=0", "--ServerApp.ip=127.0.0.1"]
    own = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    said = tmp_path / "said.txt"
    with said.open("w", encoding="utf-8") as out:
        command = [sys.executable, "-m", "jupyterlab", *options]
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env={**os.environ, **own})
    try:
        while "copy and paste" not in said.read_text(encoding="utf-8") and server.poll() is None:
            time.sleep(0.1)
    finally:
        server.kill()
        server.wait()
    lines = [line.strip() for line in said.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if line and not line.startswith(ADDRESS)] == []


# What a Jupyter server says of where it is.
ADDRESS = ("[C ", "To access the server", "file:", "Or copy and paste", "http://")


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which something listens."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


@pytest.mark.parametrize("spelling", ["--port {}", "--port={}", "--ServerApp.port={}", "--no-browser --port {}"])
def test_taken_port_is_refused_and_a_free_one_named(
    root: Path, started: list[str], capsys: pytest.CaptureFixture[str], taken: int, spelling: str
) -> None:
    """When something listens on the port asked for, nothing starts, and a free port is offered."""
    assert commands.main(["lab", *spelling.format(taken).split()], str(root)) == 1
    assert started == []
    said = re.fullmatch(rf"Port {taken} is not free\. Port (\d+) is: .*--port (\d+)\n", capsys.readouterr().err)
    assert said and said[1] == said[2]
    with socket.socket() as server:
        server.bind(("127.0.0.1", int(said[1])))


@pytest.mark.parametrize(
    ("options", "port"),
    [
        ([], None),
        (["--no-browser"], None),
        (["--port"], None),
        (["--port", "many"], None),
        (["--port", "0"], None),
        (["--port=65536"], 65536),
        (["--port", "9000"], 9000),
        (["--ServerApp.port", "9000", "--no-browser"], 9000),
    ],
)
def test_port_is_read_from_the_options(options: list[str], port: int | None) -> None:
    """Only a port that is really asked for is looked at; what makes no sense is left to JupyterLab."""
    assert commands.requested_port(options) == port


def test_port_that_cannot_be_is_refused(root: Path, started: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Ports end at 65535: beyond it nothing starts, where JupyterLab would print an address that cannot be opened."""
    assert commands.main(["lab", "--port", "65536"], str(root)) == 1
    assert started == []
    assert capsys.readouterr().err.startswith("There is no port 65536: ports go up to 65535.")


def test_last_port_there_is(root: Path, started: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """65535 is a port like others."""
    monkeypatch.setattr(commands, "is_free", lambda port: True)
    commands.main(["lab", "--port", "65535"], str(root))
    assert started[-2:] == ["--port", "65535"]


def test_free_port_is_accepted(root: Path, started: list[str], taken: int) -> None:
    """JupyterLab is started with the port asked for when that is free."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    commands.main(["lab", "--port", str(port)], str(root))
    assert started[-2:] == ["--port", str(port)]


@pytest.fixture
def here(root: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """An environment whose Python is the one that runs the tests."""
    monkeypatch.setattr(Environment, "python", Path(sys.executable))
    return Environment(root)


def test_exit_code_of_a_module_is_handed_on(here: Environment) -> None:
    """A module runs in the course's folder, and its exit code is the result."""
    (here.root / "ends.py").write_text("import sys; sys.exit(int(sys.argv[1]))", encoding="utf-8")
    assert commands.run(here, "ends", "3") == 3


@posix_only
def test_killed_module_has_a_shells_exit_code(here: Environment) -> None:
    """A module that a signal ended counts as 128 plus the signal, as in a shell."""
    (here.root / "dies.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", encoding="utf-8")
    assert commands.run(here, "dies") == 128 + signal.SIGTERM


@posix_only
def test_ctrl_c_is_left_to_the_module(root: Path) -> None:
    """On Ctrl-C the running module ends as it likes: course.py waits for it and hands its exit code on."""
    (root / "module.py").write_text(
        "import sys, time\n"
        "try:\n    print('ready', flush=True); time.sleep(60)\n"
        "except KeyboardInterrupt:\n    sys.exit(7)",
        encoding="utf-8",
    )
    (root / "outer.py").write_text(
        "import sys; from pathlib import Path\n"
        "from stoplib.course.commands import run; from stoplib.course.environment import Environment\n"
        "Environment.python = Path(sys.executable)\n"
        "sys.exit(run(Environment(Path.cwd()), 'module'))",
        encoding="utf-8",
    )
    command: list[str | Path] = [sys.executable, root / "outer.py"]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, start_new_session=True) as outer:
        assert outer.stdout and outer.stdout.readline() == b"ready\n"
        os.killpg(outer.pid, signal.SIGINT)
        assert outer.wait() == 7


def test_fresh_gives_each_notebook_and_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`fresh` takes several names and answers each with a line."""
    for name in ("a", "b"):
        notebook = root / "notebooks" / f"{name}.ipynb"
        notebook.parent.mkdir(exist_ok=True)
        notebook.write_text(name, encoding="utf-8")
    assert commands.main(["fresh", "a", "b"], str(root)) == 0
    assert capsys.readouterr().out == "work/notebooks/a.ipynb is fresh.\nwork/notebooks/b.ipynb is fresh.\n"


@pytest.mark.parametrize("name", ["check", "progress"])
def test_what_a_command_does_not_take_is_refused(
    root: Path, started: list[str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """`check` and `progress` take nothing more, and say so where they would ignore it."""
    assert commands.main([name, "--all", "01"], str(root)) == 1
    assert started == []
    assert capsys.readouterr().err.endswith(f"course.py {name} takes nothing more, and was given: --all 01\n")


def test_fresh_without_a_name_asks_for_one(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`fresh` needs to be told which notebook."""
    assert commands.main(["fresh"], str(root)) == 1
    assert capsys.readouterr().err.startswith("Which notebook do you want anew?")


# the check of everything


def test_check_that_works_is_a_line() -> None:
    """What a check returns is shown behind its title."""
    assert str(health.examine("drawing", lambda: "a picture")) == "  ok     drawing         a picture"


@pytest.mark.parametrize(
    ("error", "text", "remedy"),
    [
        (health.Wrong("2 is too old", "Get 3."), "2 is too old", "Get 3."),
        (ModuleNotFoundError("No module 'x'\nat all"), "ModuleNotFoundError: No module 'x'", health.MAKE_ANEW),
    ],
)
def test_check_that_fails_is_a_line_too(error: Exception, text: str, remedy: str) -> None:
    """However a check fails, there is one line that says so, and something to do."""

    def fail() -> str:
        raise error

    finding = health.examine("widgets", fail)
    assert str(finding) == f"  WRONG  widgets         {text}"
    assert finding.remedy == remedy


def wrong(remedy: str) -> str:
    """A check that fails."""
    raise health.Wrong("broken", remedy)


def test_all_well_ends_with_how_to_start(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """When every check works, the last line says how to start, and the exit code is 0."""
    monkeypatch.setattr(health, "checks", lambda root: [("a", lambda: "fine")])
    assert health.main(PROJECT) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(f"Start with: {environment.COMMAND} lab")


def test_troubles_end_with_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """When checks fail, what to do comes last, each thing once, and the exit code is 1."""
    found = [("a", lambda: wrong("Do this.")), ("b", lambda: wrong("Do this.")), ("c", lambda: wrong("Do that."))]
    monkeypatch.setattr(health, "checks", lambda root: found)
    assert health.main(PROJECT) == 1
    assert capsys.readouterr().out.endswith("\nTo do:\n  - Do this.\n  - Do that.\n")


@pytest.mark.parametrize(
    "title", ["Python", "ipykernel", "jsonschema", "stoplib", "kernel", "widgets", "drawing", "browser tests"]
)
def test_check_works_here(title: str) -> None:
    """Each check finds that the environment which runs these tests works."""
    finding = health.examine(title, dict(health.checks(PROJECT))[title])
    assert (finding.remedy, finding.text) == ("", finding.text)


def test_wrong_version_is_found() -> None:
    """A package of another version than the course needs is wrong, with both versions."""
    installed = importlib.metadata.version("pytest")
    with pytest.raises(health.Wrong, match=f"{re.escape(installed)} is installed, and the course needs ==0.1"):
        health.package("pytest==0.1")


def test_other_stoplib_is_found(tmp_path: Path) -> None:
    """A stoplib that comes from another folder than the course's is wrong, with its place."""
    with pytest.raises(health.Wrong, match="import stoplib finds .*not the one in"):
        health.library(tmp_path)


def test_missing_lab_extension_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Widgets whose other half in JupyterLab is missing are wrong."""
    monkeypatch.setattr(health, "WIDGETS_IN_LAB", "share/nowhere")
    with pytest.raises(health.Wrong, match="extension for them is missing"):
        health.widgets()


def test_working_copy_is_counted(tmp_path: Path) -> None:
    """The notebooks to work in are counted; none at all is wrong."""
    with pytest.raises(health.Wrong, match="holds no notebooks"):
        health.working_copy(tmp_path)
    (tmp_path / "work" / "notebooks").mkdir(parents=True)
    (tmp_path / "work" / "notebooks" / "00.ipynb").touch()
    assert health.working_copy(tmp_path) == "work/ with 1 in notebooks, 0 in exercises, 0 in solutions"


@pytest.mark.parametrize(("there", "text"), [({"google-chrome"}, "with /bin/google-chrome"), (set(), "no Chromium")])
def test_browser_is_looked_for(monkeypatch: pytest.MonkeyPatch, there: set[str], text: str) -> None:
    """Chromium under any of its names will do, and none is no failure."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in there else None)
    assert health.browser_tests().startswith(text)
