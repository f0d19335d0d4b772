"""Does everything work? `python3 course.py check` shows the answer on one screen."""

from __future__ import annotations

import importlib.metadata
import io
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .environment import COMMAND
from .workspace import FOLDERS

MAKE_ANEW = f"Delete the folder .venv and run {COMMAND} check again: it makes .venv anew."
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDGETS_IN_LAB = "share/jupyter/labextensions/@jupyter-widgets/jupyterlab-manager/package.json"


class Wrong(Exception):
    """What a check found to be wrong, and what to do about it."""

    def __init__(self, what: str, remedy: str = MAKE_ANEW) -> None:
        super().__init__(what)
        self.remedy = remedy


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    title: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        mark = "WRONG" if self.remedy else "ok"
        return f"  {mark:<6} {self.title:<15} {self.text}"


def main(root: Path) -> int:
    """Show what each check finds, then what to do; return 0 when everything works."""
    remedies = []
    for title, check in checks(root):
        finding = examine(title, check)
        print(finding, flush=True)
        remedies += [finding.remedy] * (finding.remedy != "")
    if not remedies:
        print(f"\nEverything works. Start with: {COMMAND} lab")
        return 0
    print("\nTo do:")
    for remedy in dict.fromkeys(remedies):
        print(f"  - {remedy}")
    return 1


def examine(title: str, check: Callable[[], str]) -> Finding:
    """Run one check; one that fails in whatever way is a finding as well."""
    try:
        return Finding(title, check())
    except Wrong as wrong:
        return Finding(title, str(wrong), wrong.remedy)
    except Exception as error:
        first_line = str(error).strip().partition("\n")[0]
        return Finding(title, f"{type(error).__name__}: {first_line}", MAKE_ANEW)


def checks(root: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the title and the function of every check, those first on which others rest."""
    yield "Python", python
    for requirement in requirements(root):
        yield re.split("[<>=~!]", requirement)[0], partial(package, requirement)
    yield "stoplib", partial(library, root)
    yield "kernel", partial(kernel, root)
    yield "widgets", widgets
    yield "drawing", drawing
    yield "working copy", partial(working_copy, root)
    yield "browser tests", browser_tests


def python() -> str:
    """Tell which Python runs the course."""
    return f"{platform.python_version()} in {sys.prefix}"


def requirements(root: Path) -> list[str]:
    """Return the packages that requirements.txt asks for, without its options and comments."""
    lines = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and line[0] not in "#-"]


def package(requirement: str) -> str:
    """Tell a package's version, if it is one that will do."""
    from packaging.requirements import Requirement

    asked = Requirement(requirement)
    version = importlib.metadata.version(asked.name)
    if version not in asked.specifier:
        raise Wrong(f"{version} is installed, and the course needs {asked.specifier}")
    return version


def library(root: Path) -> str:
    """Tell stoplib's version, if it is the course's own that is imported from elsewhere."""
    question = "import stoplib; print(stoplib.__version__); print(stoplib.__file__)"
    answer = subprocess.run([sys.executable, "-P", "-c", question], capture_output=True, encoding="utf-8", timeout=60)
    if answer.returncode:
        raise Wrong(answer.stderr.strip().rpartition("\n")[2])
    version, file = answer.stdout.splitlines()
    if Path(file).resolve() != (root / "stoplib" / "__init__.py").resolve():
        raise Wrong(f"import stoplib finds {file}, not the one in {root}")
    return version


def kernel(root: Path) -> str:
    """Start a kernel where the notebooks are, and let it add."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(startup_timeout=60, cwd=str(root), stderr=subprocess.DEVNULL)
    try:
        questions = {"sum": "1 + 1", "home": "__import__('sys').prefix"}
        reply = client.execute_interactive("", user_expressions=questions, timeout=60)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    answers = reply["content"]["user_expressions"]
    total, home = (answers[name]["data"]["text/plain"] for name in questions)
    if home != repr(sys.prefix):
        raise Wrong(f"notebooks would run in another Python, the one in {home}")
    if total != "2":
        raise Wrong(f"it says that 1 + 1 is {total}")
    return "1 + 1 = 2"


def widgets() -> str:
    """Make a widget, and look for its other half, the extension of JupyterLab."""
    import ipywidgets
    from packaging.requirements import Requirement

    slider = ipywidgets.IntSlider(value=3)
    extension = Path(sys.prefix) / WIDGETS_IN_LAB
    if not extension.is_file():
        raise Wrong(f"JupyterLab's extension for them is missing: {extension}")
    asked = map(Requirement, importlib.metadata.requires("ipywidgets") or ())
    other_half = next(requirement for requirement in asked if requirement.name == "jupyterlab_widgets")
    version = importlib.metadata.version(other_half.name)
    if version not in other_half.specifier:
        raise Wrong(f"JupyterLab's extension is {version}, and ipywidgets needs {other_half.specifier}")
    return f"a slider stands at {slider.value}, its extension is {version}"


def drawing() -> str:
    """Draw a line into a PNG picture."""
    from matplotlib.figure import Figure

    figure, picture = Figure(), io.BytesIO()
    figure.subplots().plot([1, 2, 3])
    figure.savefig(picture, format="png")
    if not picture.getvalue().startswith(b"\x89PNG"):
        raise Wrong("matplotlib draws no PNG pictures")
    return f"a PNG picture of {len(picture.getvalue()) // 1000} kB"


def working_copy(root: Path) -> str:
    """Count the notebooks that the learner works in."""
    counts = {folder: len(list((root / "work" / folder).glob("*.ipynb"))) for folder in FOLDERS}
    if not counts["notebooks"]:
        raise Wrong("work/notebooks holds no notebooks", f"Get the whole course anew: {root / 'notebooks'} is empty.")
    return "work/ with " + ", ".join(f"{number} in {folder}" for folder, number in counts.items())


def browser_tests() -> str:
    """Tell whether the tests in a real browser can run; learners do not need them."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return f"with {found}" if found else f"no Chromium here; only {COMMAND} test would use it"


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
