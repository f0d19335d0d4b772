"""What the core may import, how large its files may be, and what it promises by name."""

# ruff: noqa: SIM300

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import stoplib

PACKAGE = Path(stoplib.__file__).parent
CORE = sorted([*PACKAGE.glob("*.py"), *(PACKAGE / "guards").glob("*.py")])
CORE.remove(PACKAGE / "__main__.py")  # the command line stands above all rooms
GUARDS = [path for path in CORE if path.parent.name == "guards"]
ROOMS_ABOVE = ("course", "traces", "providers")

# What is promised from the first version on; what comes later is added here when it does.
PROMISED = [
    *("run", "arun", "steps", "replay", "load", "Outcome", "Fatal"),
    *("Reply", "ToolCall", "Usage", "answer", "call", "batch", "tool"),
    *("max_steps", "time_limit", "token_budget", "cost_budget", "rough_token_budget", "max_tool_calls"),
    *("repeated_call", "repeated_round", "going_in_circles", "no_new_results"),
    *("too_many_errors", "too_many_refusals", "goal_reached", "cancelled", "daily_cap"),
    *("ManualClock", "TickClock"),
]


EXTRAS = {name: {"sqlalchemy", "tzdata"} for name in ("ledger.py", "ledger_database.py")}


def name_of(path):
    """A file as it is called in the package: `guards/core.py`."""
    return path.relative_to(PACKAGE).as_posix()


def imports(source):
    """Every module that a source imports, at whatever depth, by its full name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from (f"{base}.{alias.name}" for alias in node.names)


def source_of(path):
    """The text of a file."""
    return path.read_text(encoding="utf-8")


def is_above(module):
    """Whether a module is in a room that the core may not know."""
    return any(module == f"stoplib.{room}" or module.startswith(f"stoplib.{room}.") for room in ROOMS_ABOVE)


def test_the_reader_of_imports_sees_them_all():
    """The check below finds imports of every form, also inside functions."""
    source = (
        "import a.b, c\nfrom . import d\nfrom stoplib import course\ndef f():\n    from stoplib.course.lab import Lab\n"
    )
    found = list(imports(source))
    assert ["a.b", "c", "..d", "stoplib.course", "stoplib.course.lab.Lab"] == found
    assert [False, False, False, True, True] == [is_above(module) for module in found]


def test_the_core_is_found():
    """The checks below look at the files that matter."""
    names = {name_of(path) for path in CORE}
    assert {"__init__.py", "loop.py", "drivers.py", "state.py", "guards/__init__.py", "guards/core.py"} <= names


@pytest.mark.parametrize("path", CORE, ids=name_of)
class TestEachFile:
    """What holds for each file of the core."""

    def test_imports_the_standard_library_and_itself_alone(self, path):
        """The core needs nothing that has to be installed, the ledger apart, which is loaded when it is used."""
        tops = {module.split(".")[0] for module in imports(source_of(path))}
        assert tops - {"stoplib", *sys.stdlib_module_names} <= EXTRAS.get(name_of(path), set())

    def test_imports_nothing_from_above(self, path):
        """The core does not know the course, the traces or the providers."""
        assert [] == [module for module in imports(source_of(path)) if is_above(module)]

    def test_can_be_read_at_one_sitting(self, path):
        """No file has more than 300 lines."""
        assert len(source_of(path).splitlines()) <= 300

    def test_says_what_it_is_for(self, path):
        """Every module has a docstring."""
        assert ast.get_docstring(ast.parse(source_of(path)))

    def test_public_things_have_docstrings(self, path):
        """Every public class and function at the top of a module has a docstring; overloads share one."""
        defined = [n for n in ast.parse(source_of(path)).body if isinstance(n, ast.ClassDef | ast.FunctionDef)]
        documented = {n.name for n in defined if ast.get_docstring(n)}
        assert set() == {n.name for n in defined if not n.name.startswith("_")} - documented


@pytest.mark.parametrize("path", GUARDS, ids=name_of)
def test_guards_do_not_know_the_loop(path):
    """Guards know the run's state, and not the loop or what drives it."""
    above = ("stoplib.loop", "stoplib.drivers", "stoplib.driving", "stoplib.outcome", "stoplib.events", "stoplib.tools")
    assert [] == [module for module in imports(source_of(path)) if module.startswith(above)]


def test_the_state_does_not_know_the_guards():
    """What counts does not know what looks."""
    for name in ("state.py", "messages.py", "outcome.py", "reasons.py"):
        upward = ("stoplib.guards", "stoplib.loop", "stoplib.drivers", "stoplib.driving")
        assert [] == [m for m in imports(source_of(PACKAGE / name)) if m.startswith(upward)]


def test_importing_loads_the_standard_library_alone():
    """`import stoplib` in a fresh interpreter loads no third-party module and none of the rooms above."""
    program = (
        "import sys; before = set(sys.modules); import stoplib;"
        "print(*sorted({m for m in set(sys.modules) - before}), sep='\\n')"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "stoplib.loop" in loaded
    assert [] == [m for m in loaded if m.split(".")[0] not in {"stoplib", *sys.stdlib_module_names} or is_above(m)]


class TestPublicNames:
    """`stoplib.__all__` is what the package promises."""

    @pytest.mark.parametrize("name", PROMISED)
    def test_promised_names_are_there(self, name):
        """What the design promises can be imported from the package itself."""
        assert name in stoplib.__all__

    @pytest.mark.parametrize("name", stoplib.__all__)
    def test_public_names_exist_and_are_documented(self, name):
        """Every public name exists and has a docstring of its own, not one that Python made."""
        doc = getattr(stoplib, name).__doc__
        assert doc and not doc.startswith(f"{name}(")

    def test_in_order(self):
        """The list is sorted and has no name twice."""
        assert sorted(set(stoplib.__all__)) == stoplib.__all__

    def test_nothing_public_is_forgotten(self):
        """What the package's own file imports is public."""
        tree = ast.parse(source_of(PACKAGE / "__init__.py"))
        imported = {a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
        assert imported == set(stoplib.__all__)

    def test_a_version(self):
        """The package has a version of three numbers."""
        assert [True] * 3 == [part.isdigit() for part in stoplib.__version__.split(".")]
