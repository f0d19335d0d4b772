"""The library needs nothing but a Python, and any of those that the project's metadata names."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
EXAMPLES = """
import doctest, importlib, pkgutil, sys

sys.path.insert(0, sys.argv[1])
import stoplib

OTHERS = ("stoplib.course", "stoplib.providers", "stoplib.ledger", "stoplib.__main__")  # they need packages
found = ["stoplib", *(m.name for m in pkgutil.walk_packages(stoplib.__path__, "stoplib."))]
results = [doctest.testmod(importlib.import_module(name)) for name in found if not name.startswith(OTHERS)]
print(sys.version_info[:2], sum(r.attempted for r in results) > 100, sum(r.failed for r in results))
"""


def stated():
    """The Pythons that the project's metadata names: `["3.11", …]`."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def found(version):
    """A Python of this version on this computer, or None."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return Path(sys.executable)
    on_path = shutil.which(f"python{version}")
    if on_path and Path(on_path).parent.name != "shims":  # a shim may stand for a Python that is not switched on
        return Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return next(iter(sorted(pyenv.glob(f"versions/{version}.*/bin/python"))), None)


def test_the_oldest_is_the_one_that_is_asked_for():
    """The first Python of the list is the one that `requires-python` names."""
    assert f'requires-python = ">={stated()[0]}"' in (PROJECT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", stated())
def test_examples_hold(version):
    """All examples of the library's docstrings come out in a Python without any package."""
    python = found(version)
    if python is None:
        pytest.skip(f"this computer has no Python {version}")
    said = subprocess.run(
        [python, "-I", "-S", "-B", "-c", EXAMPLES, PROJECT], capture_output=True, encoding="utf-8", check=True
    )
    expected = tuple(map(int, version.split(".")))
    assert said.stdout == f"{expected} True 0\n"
