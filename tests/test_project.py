"""The project's own rules: style, types, links, and what must not stand in it."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(
    path for folder in ("notebooks", "exercises", "solutions") for path in (ROOT / folder).glob("*.ipynb")
)
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize(
    "command", [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)], ids=lambda command: command[0]
)
def test_style_and_types(command):
    """ruff finds nothing to say, the code is formatted, and mypy finds no wrong type."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr


def targets():
    """Each relative link as (file, target), from the pages and from the notebooks' texts."""
    for page in PAGES:
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            yield page, target
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, 4).cells:
            if cell.cell_type == "markdown":
                for target in LINK.findall(cell.source):
                    yield path, target


def test_links_resolve():
    """Every relative link leads to a file of the project."""
    relative = [(page, target) for page, target in targets() if not re.match(r"[a-z]+:|#", target)]
    missing = [
        f"{page.name}: {target}" for page, target in relative if not (page.parent / target.split("#")[0]).exists()
    ]
    assert relative
    assert missing == []


def test_images_have_alternative_text():
    """Each picture in the pages and the notebooks says in at least five words what it shows."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    texts += [cell.source for path in NOTEBOOKS for cell in nbformat.read(path, 4).cells]
    pictures = re.findall(r"!\[([^\]]*)\]\(", "\n".join(texts))
    assert pictures
    assert [words for words in pictures if len(words.split()) < 5] == []


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")), ids=lambda path: path.stem)
def test_the_shape_of_a_chapter(path):
    """A chapter has 15 to 35 cells, its lab apart: half have at most 4 lines, nine of ten at most 10, none over 25."""
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.id not in ("lab-intro", "lab")]
    lines = sorted(sum(bool(line.strip()) for line in c.source.splitlines()) for c in cells if c.cell_type == "code")
    assert 15 <= len(cells) <= 35
    assert lines[len(lines) // 2] <= 4
    assert lines[int(len(lines) * 0.9) - 1] <= 10
    assert lines[-1] <= 25


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_headings_are_in_order(path):
    """One title, and no level is skipped."""
    text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    levels = [len(marks) for marks in re.findall(r"^(#+) ", text, flags=re.MULTILINE)]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(deeper <= level + 1 for level, deeper in zip(levels, levels[1:], strict=False))
