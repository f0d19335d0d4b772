"""What a notebook holds: which exercise it is, and the source text of the learner's cells.

The file is read as plain JSON. A library that reads notebooks would mend what is wrong with it, such as two cells
with one id, and so decide which of them counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stoplib.course.grading.assembling import Cell, Exercise, role, source

LONGEST_ANSWER = 200_000
FRESH = "A fresh copy (course.py fresh {name}) has the cells; the code can be pasted there."


class NoNotebook(Exception):
    """A file that holds no notebook that can be graded: why, and what helps. `exercise` if that can be told."""

    def __init__(self, why: str, exercise: str | None = None) -> None:
        super().__init__(why)
        self.exercise = exercise


class NotAsked(Exception):
    """A notebook that nobody has to grade: a chapter, the course's own solution, one of the learner's own."""


@dataclass(frozen=True)
class Answers:
    """The learner's part of one exercise. `remarks` say what was in the notebook and does not count."""

    exercise: str
    sources: Mapping[str, str]
    remarks: tuple[str, ...] = field(default=())


def answers_in(content: bytes, name: str, exercises: Mapping[str, Exercise]) -> Answers:
    """The learner's cells in a notebook's file. Raises NoNotebook or NotAsked."""
    guess = exercise_named(name, exercises)
    try:
        cells = _cells(content)
    except ValueError as error:
        raise NoNotebook(str(error), guess) from None
    exercise = _exercise_of(cells, exercises)
    if exercise is None:
        if guess is None or _is_chapter(content):
            raise NotAsked("It is no exercise of the course.")
        why = "None of its cells has the id of a cell of the exercise. A program has saved it that drops the ids."
        raise NoNotebook(f"{why} {FRESH.format(name=guess)}", guess)
    if any(cell.get("id") in exercise.only_in_solution for cell in cells):
        raise NotAsked("It is the course's solution, not the learner's exercise.")
    sources = {answer: _only(cells, answer, exercise) for answer in exercise.answers}
    return Answers(exercise.name, sources, tuple(_remarks(cells, exercise)))


def exercise_named(name: str, exercises: Mapping[str, Exercise]) -> str | None:
    """The exercise whose name, or else number, a file name has."""
    stem = name.lower()
    for exercise in exercises:
        if exercise in stem:
            return exercise
    number = re.search(r"(?<!\d)(\d\d)(?!\d)", stem)
    return next((one for one in exercises if number and one.startswith(number[1])), None)


def _cells(content: bytes) -> list[Cell]:
    """The cells of a notebook, in the order of the file. Raises ValueError in words for the teacher."""
    if not content.strip():
        raise ValueError("The file is empty.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("It is not written in UTF-8, so it is no notebook file.") from None
    if re.search(r"^(<{7}|>{7}) ", text, flags=re.MULTILINE):
        raise ValueError("It holds marks of a merge conflict (<<<<<<<). They have to be resolved first.")
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"It is not JSON, so no notebook: {str(error)[:100]}. It may not be saved to its end."
        ) from None
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise ValueError("It is JSON, but no notebook.")
    if notebook["nbformat"] != 4:
        raise ValueError(
            f"It is saved in the format {str(notebook['nbformat'])[:10]} of notebooks, whose cells have no ids."
            " Open it in the course's JupyterLab, or paste the code into a fresh copy."
        )
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not all(_is_cell(cell) for cell in cells):
        raise ValueError("Its list of cells is damaged.")
    return cells


def _is_cell(cell: Any) -> bool:
    return (
        isinstance(cell, dict)
        and isinstance(cell.get("cell_type"), str)
        and (isinstance(text := cell.get("source", ""), str) or (isinstance(text, list) and all(map(_is_text, text))))
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _exercise_of(cells: list[Cell], exercises: Mapping[str, Exercise]) -> Exercise | None:
    """The exercise with the most of these cells, if it has at least one of its answers or checks."""
    ids = {cell["id"] for cell in cells if isinstance(cell.get("id"), str)}
    shares = {name: len(ids & {*one.answers, *one.checks}) for name, one in exercises.items()}
    best = max(shares, key=lambda name: shares[name], default=None)
    return exercises[best] if best is not None and shares[best] else None


def _only(cells: list[Cell], answer: str, exercise: Exercise) -> str:
    """The source of an answer cell, which must be there once. Raises NoNotebook."""
    found = [cell for cell in cells if cell.get("id") == answer]
    if len(found) != 1:
        what = f"is there {len(found)} times" if found else "is missing"
        raise NoNotebook(
            f"The cell {answer!r}, which holds the answer, {what}. {FRESH.format(name=exercise.name)}", exercise.name
        )
    if found[0]["cell_type"] != "code":
        raise NoNotebook(
            f"The cell {answer!r}, which holds the answer, is no code cell any more. Make it one again (press Y).",
            exercise.name,
        )
    text = source(found[0])
    if len(text) > LONGEST_ANSWER:
        raise NoNotebook(
            f"The cell {answer!r} has {len(text):,} characters; {LONGEST_ANSWER:,} are read.", exercise.name
        )
    return text


def _remarks(cells: list[Cell], exercise: Exercise) -> list[str]:
    """What was added or changed outside of the marked cells, none of which counts."""
    known = {cell["id"]: cell for cell in exercise.cells}
    mine = {str(cell.get("id")): cell for cell in cells}
    remarks = []
    own = [
        cell
        for name, cell in mine.items()
        if name not in known and cell["cell_type"] == "code" and source(cell).strip()
    ]
    if own:
        many = f"{len(own)} cells" if len(own) > 1 else "A cell"
        remarks.append(f"{many} of the learner's own did not count: everything has to stand in the marked cells.")
    for what in ("check", "given"):
        changed = [
            name
            for name, cell in known.items()
            if role(cell) == what and cell["cell_type"] == "code" and not _same(mine.get(name), cell)
        ]
        if changed:
            remarks.append(f"The {what} cell {', '.join(changed)} was changed or removed; the course's own was used.")
    return remarks


def _same(mine: Cell | None, cell: Cell) -> bool:
    """Whether a cell is as the course made it."""
    return mine is not None and mine["cell_type"] == "code" and source(mine).strip() == source(cell).strip()


def _is_chapter(content: bytes) -> bool:
    try:
        made_from = str(json.loads(content.decode("utf-8-sig"))["metadata"]["stoplib"]["source"])
    except (ValueError, KeyError, TypeError):
        return False
    return "/chapters/" in made_from
