"""The providers stand above the library and beside the traces, and know no client package."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import stoplib
from stoplib import providers

FILES = sorted(Path(providers.__file__).parent.glob("*.py"))
ROOT = Path(stoplib.__file__).parents[1]


def imports(path):
    """Every module that a file imports, at whatever depth."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "." * node.level


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
class TestEachFile:
    """What holds for each file."""

    def test_knows_the_library_alone(self, path):
        """It imports the standard library and the library, neither a client nor another room above the library."""
        known = {"stoplib", *sys.stdlib_module_names}
        assert {name for name in imports(path) if name.split(".")[0] not in known} == set()
        rooms = ("stoplib.course", "stoplib.traces")
        assert [name for name in imports(path) if name.startswith(rooms)] == []

    def test_is_thin(self, path):
        """No file has 200 lines."""
        assert len(path.read_text(encoding="utf-8").splitlines()) < 200

    def test_public_things_have_docstrings(self, path):
        """Every module, and every public class and function in it, has a docstring."""
        tree = ast.parse(path.read_text(encoding="utf-8"))
        defined = [n for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef) and n.name[0] != "_"]
        assert [getattr(n, "name", path.name) for n in [tree, *defined] if not ast.get_docstring(n)] == []


def test_no_client_is_loaded():
    """`import stoplib` loads no provider, and `import stoplib.providers` no client package."""
    program = (
        "import sys, stoplib; print('stoplib.providers' in sys.modules);"
        "import stoplib.providers; print(sorted({'anthropic', 'openai', 'httpx2', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["False", "[]"]


def test_public_names():
    """The list is sorted, and everything in it has a docstring."""
    assert sorted(providers.__all__) == providers.__all__
    assert [name for name in providers.__all__ if not getattr(providers, name).__doc__] == []
