"""The notebooks that a lesson stands for, before they are run.

A chapter becomes one notebook, and so does a page. An exercise is written as its solution, in which

    ### BEGIN SOLUTION
    ...
    ### END SOLUTION

enclose what the learner has to write; it becomes an exercise and a solution notebook.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

import stoplib
from stoplib.course.building import BuildError
from stoplib.course.building.lesson import BEGIN, END, Cell, Lesson
from stoplib.course.building.minutes import with_minutes

FOLDERS = {"chapter": "notebooks", "page": "notebooks", "exercise": "exercises", "solution": "solutions"}

LIKE_A_MARKER = re.compile(r"#+\s*(begin|end)\s+solution\b.*", re.IGNORECASE)
STUB = '{indent}# YOUR CODE HERE\n{indent}raise NotImplementedError("exercise {number} is not solved yet")'

# What JupyterLab lets the learner do with the cells of an exercise.
LOCKS = {
    "given": {"editable": False, "deletable": False},
    "check": {"editable": False, "deletable": False},
    "answer": {"deletable": False},
}
POINTS_OF_A_CHECK = 1


def notebook_path(source: Path, kind: str) -> Path:
    """Return where the notebook of that kind belongs: `chapter`, `exercise` or `solution`."""
    root = source.parents[2]
    return root / FOLDERS[kind] / f"{source.stem}.ipynb"


def notebook_for(lesson: Lesson, kind: str) -> NotebookNode:
    """Return the notebook of that kind, not yet run; each cell has its name as its id.

    Raises BuildError if the marks of a solution are not in order.
    """
    cells = [_notebook_cell(cell, lesson, kind) for cell in lesson.cells if cell.only in (None, kind)]
    _name_kind(cells, kind)
    notebook: NotebookNode = nbformat.from_dict(
        {  # type: ignore[no-untyped-call]
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {
                "kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
                "language_info": {"name": "python"},
                "stoplib": {"version": stoplib.__version__, "source": lesson.source},
            },
            "cells": cells,
        }
    )
    return notebook


def _notebook_cell(cell: Cell, lesson: Lesson, kind: str) -> dict[str, Any]:
    text = _text(cell, lesson.number, kind)
    common = {"cell_type": cell.type, "id": cell.name, "metadata": _metadata(cell, kind)}
    if cell.type == "markdown":
        return common | {"source": with_minutes(text, lesson, cell.place)}
    return common | {"source": text, "execution_count": None, "outputs": []}


def _name_kind(cells: list[dict[str, Any]], kind: str) -> None:
    """Let the first heading say which of its two notebooks this is."""
    for cell in cells:
        if cell["cell_type"] == "markdown" and cell["source"].startswith("#"):
            heading, *rest = cell["source"].split("\n")
            cell["source"] = "\n".join([heading.replace("{kind}", kind.capitalize()), *rest])
            return


def _metadata(cell: Cell, kind: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"stoplib": {"role": cell.role}}
    if cell.tags:
        metadata["tags"] = list(cell.tags)
    if cell.role == "reveal":
        metadata["jupyter"] = {"outputs_hidden": True}  # until the learner runs the cell
    if kind == "exercise":
        metadata |= LOCKS.get(cell.role, {})
        if cell.type == "code":
            metadata["nbgrader"] = _for_nbgrader(cell)
    return metadata


def _for_nbgrader(cell: Cell) -> dict[str, Any]:
    """What nbgrader has to know of a cell. Our grader reads the points of a check here as well."""
    metadata: dict[str, Any] = {
        "schema_version": 3,
        "grade_id": cell.name,
        "cell_type": cell.type,
        "grade": cell.role == "check",
        "solution": cell.role == "answer",
        "locked": cell.role != "answer",
        "task": False,
    }
    if cell.role == "check":
        metadata["points"] = POINTS_OF_A_CHECK
    return metadata


def _text(cell: Cell, number: str, kind: str) -> str:
    lines = list(_marked_lines(cell))
    if cell.role == "answer" and all(part == "around" for part, _ in lines):
        raise BuildError(f"{cell.place}: no solution in an answer cell. Enclose it in '{BEGIN}' and '{END}'.")
    if kind != "exercise":
        return "\n".join(line for part, line in lines if part != "marker")
    return "\n".join(
        _stub(cell, line, number) if part == "marker" else line
        for part, line in lines
        if part == "around" or line.strip() == BEGIN
    )


def _marked_lines(cell: Cell) -> Iterator[tuple[str, str]]:
    """Yield each line with the part of the cell it belongs to: `around`, `marker` or `solution`."""
    part = "around"
    for line in cell.source.split("\n"):
        if not LIKE_A_MARKER.fullmatch(line.strip()):
            yield part, line
            continue
        _check_marker(cell, line.strip(), part)
        yield "marker", line
        part = "solution" if part == "around" else "around"
    if part == "solution":
        raise BuildError(f"{cell.place}: '{BEGIN}' without '{END}'. Close the solution.")


def _check_marker(cell: Cell, marker: str, part: str) -> None:
    if cell.role != "answer":
        raise BuildError(
            f'{cell.place}: {marker!r} outside of an answer cell. Remove it, or give the cell role="answer".'
        )
    if marker not in (BEGIN, END):
        raise BuildError(f"{cell.place}: {marker!r} does not mark a solution. Write '{BEGIN}' or '{END}'.")
    if marker != (BEGIN if part == "around" else END):
        raise BuildError(
            f"{cell.place}: a second '{marker}' in a row, or one too early. "
            f"Solutions do not nest; each is one '{BEGIN}' and one '{END}'."
        )


def _stub(cell: Cell, begin: str, number: str) -> str:
    indent = begin[: len(begin) - len(begin.lstrip())]
    if not indent:
        raise BuildError(
            f"{cell.place}: the solution stands at the left margin, so the learner's cell would "
            "raise where it should define. Put the solution inside a function."
        )
    return STUB.format(indent=indent, number=number)
