"""How a submission is put together: the learner's answers, in the course's own copy of the exercise.

Of what was handed in only the source text of the marked cells counts, found by their ids. Outputs, tags, check
cells, the kernel's name and all else come from the course.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import stoplib

FOLDERS = ("exercises", "solutions")
ASK = "from stoplib.course.grading.judging.inside import judged\njudged({check!r})"

Cell = dict[str, Any]


@dataclass(frozen=True)
class Exercise:
    """One exercise of the course: its cells as a learner gets them, and the answers of its solution."""

    name: str
    cells: tuple[Cell, ...]
    reference: Mapping[str, str]
    only_in_solution: frozenset[str] = frozenset()

    @cached_property
    def answers(self) -> tuple[str, ...]:
        """The ids of the cells that the learner completes."""
        return tuple(cell["id"] for cell in self.cells if role(cell) == "answer")

    @cached_property
    def checks(self) -> dict[str, int]:
        """The ids of the check cells, each with its points."""
        return {cell["id"]: points(cell) for cell in self.cells if role(cell) == "check"}

    @property
    def points(self) -> int:
        """The points that can be had."""
        return sum(self.checks.values())

    @cached_property
    def stubs(self) -> dict[str, str]:
        """What stands in the learner's cells before anything has been written."""
        return {cell["id"]: source(cell) for cell in self.cells if role(cell) == "answer"}

    @cached_property
    def code(self) -> dict[str, str]:
        """The sources of the course's own code cells."""
        return {
            cell["id"]: source(cell) for cell in self.cells if cell["cell_type"] == "code" and role(cell) != "answer"
        }

    def title_of(self, cell: str) -> str:
        """A cell's id, as it is said in reports: `check-steps` is `steps`."""
        return cell.removeprefix("check-")


def role(cell: Cell) -> str:
    """What a cell is for: given, answer, check."""
    return str(cell["metadata"].get("stoplib", {}).get("role", "given"))


def points(cell: Cell) -> int:
    """The points of a check cell."""
    return int(cell["metadata"].get("nbgrader", {}).get("points", 1))


def source(cell: Cell) -> str:
    """The text of a cell; a notebook's file may hold it in lines."""
    text = cell.get("source", "")
    return text if isinstance(text, str) else "".join(text)


def exercises(root: Path) -> dict[str, Exercise]:
    """The exercises of the course in `root`, by name, such as `01_three_exits`."""
    found = {}
    for path in sorted((root / "exercises").glob("*.ipynb")):
        cells = read_cells(path)
        answers = {cell["id"] for cell in cells if role(cell) == "answer"}
        if answers:
            solved = read_cells(root / "solutions" / path.name)
            reference = {cell["id"]: source(cell) for cell in solved if cell["id"] in answers}
            extra = {cell["id"] for cell in solved} - {cell["id"] for cell in cells}
            found[path.stem] = Exercise(path.stem, tuple(cells), reference, frozenset(extra))
    return found


def read_cells(path: Path) -> list[Cell]:
    """The cells of one of the course's notebooks."""
    cells: list[Cell] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def version_of(root: Path) -> str:
    """A fingerprint of all that decides a grade: the library, the checks, the exercises."""
    digest = hashlib.sha256(stoplib.__version__.encode())
    package = Path(stoplib.__file__).parent
    paths = [*package.rglob("*.py"), *(path for folder in FOLDERS for path in (root / folder).glob("*.ipynb"))]
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def assemble(
    exercise: Exercise, answers: Mapping[str, str], checks: Collection[str], receipts: Mapping[str, str]
) -> dict[str, Any]:
    """The notebook that is run: what the answers build on, the answers, and the checks.

    A check cell asks the judge. It should show the receipt that stands in `receipts`.
    """
    cells = []
    ids = [cell["id"] for cell in exercise.cells]
    last_answer = max(ids.index(answer) for answer in exercise.answers)
    for number, cell in enumerate(exercise.cells):
        name, what = cell["id"], role(cell)
        if what == "answer":
            cells.append(code_cell(name, what, answers[name]))
        elif what == "check" and name in checks:
            cells.append(code_cell(name, what, ASK.format(check=name), receipts.get(name)))
        elif what == "given" and cell["cell_type"] == "code" and number < last_answer:
            cells.append(code_cell(name, what, source(cell)))
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def code_cell(name: str, what: str, text: str, shows: str | None = None) -> Cell:
    """A code cell with a role, and with the value that it should show."""
    output = {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {},
        "data": {"text/plain": repr(shows)},
    }
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {"stoplib": {"role": what}},
        "source": text,
        "execution_count": 1,
        "outputs": [] if shows is None else [output],
    }
