"""What the room of the traces may import, how large its files are, and that its public things say what they are."""

# ruff: noqa: SIM300

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import stoplib.traces
from stoplib.traces.formats import FORMATS
from tests.library.test_architecture import imports, source_of

ROOM = Path(stoplib.traces.__file__).parent
FILES = sorted(ROOM.rglob("*.py"))
WHEN_USED = {"chart.py": {"matplotlib"}}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOM).as_posix())
class TestEachFile:
    """What holds for each file."""

    def test_it_knows_the_library_alone(self, path):
        """The standard library, the library and its own room; what has to be installed is loaded where it is used."""
        modules = set(imports(source_of(path)))
        assert [] == [m for m in modules if m.startswith(("stoplib.course", "stoplib.providers"))]
        tops = {module.split(".")[0] for module in modules}
        assert tops - {"stoplib", *sys.stdlib_module_names} <= WHEN_USED.get(path.name, set())

    def test_it_can_be_read_at_one_sitting(self, path):
        """No file has more than 300 lines."""
        assert len(source_of(path).splitlines()) <= 300

    def test_it_says_what_it_is_for(self, path):
        """The file, and every public class, function and method in it."""
        tree = ast.parse(source_of(path))
        assert ast.get_docstring(tree)
        inside = [n for node in tree.body if isinstance(node, ast.ClassDef) for n in node.body]
        defined = [n for n in [*tree.body, *inside] if isinstance(n, ast.ClassDef | ast.FunctionDef)]
        known = {"records", "trace", "recognises", "fires"}  # said once, where they are declared
        silent = {n.name for n in defined if not n.name.startswith("_") and not ast.get_docstring(n)}
        assert set() == silent - known


def test_it_loads_the_standard_library_alone():
    """`import stoplib.traces` in a fresh interpreter loads nothing that has to be installed, and not the course."""
    program = "import sys; before = set(sys.modules); import stoplib.traces; print(*(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOM.parents[1], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "stoplib.traces.limits" in loaded
    assert [] == [m for m in loaded if m.split(".")[0] not in {"stoplib", *sys.stdlib_module_names}]
    assert [] == [m for m in loaded if m.startswith("stoplib.course")]


def test_each_format_has_a_file_of_its_own():
    """And a name of its own."""
    assert len(FORMATS) == len({form.name for form in FORMATS}) == len({type(form).__module__ for form in FORMATS})


@pytest.mark.parametrize("name", [name for name in stoplib.traces.__all__ if not name.isupper()])
def test_public_names(name):
    """What is promised is there and has a docstring of its own."""
    doc = getattr(stoplib.traces, name).__doc__
    assert doc and not doc.startswith(f"{name}(")
