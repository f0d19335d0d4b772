"""A lesson: the text file (jupytext py:percent) from which notebooks are derived.

A header opens each cell, gives it a name that is unique in the file, and says what the cell is for:

    # %% clock-setup
    # %% clock-question [markdown] checkpoint="2.1"
    # %% clock-run role="reveal" tags=["nbval-check-output"]

    role        given (the default), answer, check, predict or reveal
    tags        a list of notebook tags
    checkpoint  the number of the checkpoint whose question this markdown cell asks; chapters only
    kind        the kind of checkpoint, choice (the default) or number
    only        exercise or solution: the one notebook that gets this markdown cell; exercises only
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode
from nbformat.validator import NotebookValidationError

from stoplib.course.building import BuildError
from stoplib.course.building.checkpoints import FORMS, Checkpoint, read_checkpoint

KINDS = {"chapters": ("chapter",), "exercises": ("exercise", "solution"), "pages": ("page",)}

FILE_STEM = re.compile(r"\d\d_[a-z0-9_]+")
PAGE_STEM = re.compile(r"[a-z][a-z0-9_]*")
HEADER = re.compile(r"# %%+(\s|$)")
CELL_NAME = re.compile(r"[a-z0-9-]{1,60}")
CHECKPOINT_ID = re.compile(r"\d+\.\d+")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"  # around what the learner has to write
VALUES = {
    "role": ("given", "answer", "check", "predict", "reveal"),
    "kind": tuple(FORMS),
    "only": KINDS["exercises"],
}
KEYS = {*VALUES, "tags", "checkpoint"}
JUPYTEXT_KEYS = {"lines_to_next_cell", "cell_marker"}  # its notes on the layout of the text


@dataclass(frozen=True)
class Cell:
    """One cell of a lesson that is in order. `place` names its file and line in messages."""

    name: str
    type: str
    source: str
    place: str
    role: str = "given"
    tags: tuple[str, ...] = ()
    only: str | None = None
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True)
class Lesson:
    """A source file, read and checked."""

    path: Path
    cells: tuple[Cell, ...]

    @property
    def source(self) -> str:
        """The path of the file from the project's folder, with forward slashes on every system."""
        return _source(self.path)

    @property
    def number(self) -> str:
        """The two digits that the file name begins with; of a page, its name."""
        return self.path.stem[:2] if FILE_STEM.fullmatch(self.path.stem) else self.path.stem

    @property
    def is_exercise(self) -> bool:
        """Whether it is an exercise, and not a chapter."""
        return self.path.parent.name == "exercises"

    def cell(self, name: str) -> Cell:
        """Return the cell of that name. Raises KeyError if there is none."""
        return {cell.name: cell for cell in self.cells}[name]


def read_lesson(path: Path) -> Lesson:
    """Read a lesson in `lessons/chapters`, `lessons/exercises` or `lessons/pages` and check it.

    Raises BuildError, naming file, line and cell, if the text does not keep to the format.
    """
    source, folder = _source(path), path.parent.name
    if folder not in KINDS or not (PAGE_STEM if folder == "pages" else FILE_STEM).fullmatch(path.stem):
        raise BuildError(
            f"{source}: a lesson is called lessons/chapters/NN_name.py or lessons/exercises/NN_name.py, in lower "
            "case, NN being two digits, and a page lessons/pages/name.py. Rename the file."
        )
    text = path.read_text(encoding="utf-8")
    cells = tuple(_cell(raw, folder, f"{source}, line {line}") for line, raw in _raw_cells(text, source))
    _check_names(cells)
    if folder == "exercises":
        _check_exercise(cells, source)
    return Lesson(path, cells)


def _source(path: Path) -> str:
    return "/".join(path.parts[-3:])


def _raw_cells(text: str, source: str) -> list[tuple[int, NotebookNode]]:
    """Return each cell as jupytext reads it, with the line number of its header."""
    lines = text.split("\n")
    headers = [number for number, line in enumerate(lines, start=1) if HEADER.match(line)]
    first = next((number for number, line in enumerate(lines, start=1) if line.strip()), 1)
    if headers[:1] != [first]:
        raise BuildError(f"{source}, line {first}: text before the first cell. Begin with '# %% name'.")
    try:
        cells = jupytext.reads(text, fmt="py:percent").cells
    except NotebookValidationError as error:
        raise BuildError(f'{source}: {error.message}, in a header. Write tags as in tags=["one", "two"].') from error
    if len(cells) != len(headers):
        raise BuildError(
            f"{source}: {len(headers)} lines begin with '# %%', but there are {len(cells)} "
            "cells. Does one of these lines stand inside a string?"
        )
    return list(zip(headers, cells, strict=True))


def _cell(raw: NotebookNode, folder: str, place: str) -> Cell:
    header = {key: value for key, value in raw.metadata.items() if key not in JUPYTEXT_KEYS}
    name = header.pop("title", "")
    if not CELL_NAME.fullmatch(name):
        raise BuildError(
            f"{place}: {name!r} cannot name a cell. Write '# %% name' or '# %% name "
            "[markdown]', the name in 1 to 60 lower-case letters, digits and hyphens."
        )
    place = f"{place}, cell {name!r}"
    _check_header(header, place)
    _check_use(header, raw, folder, place)
    source = "\n".join(line.rstrip() for line in raw.source.split("\n"))
    checkpoint = None
    if "checkpoint" in header:
        kind = header.get("kind", "choice")
        checkpoint, source = read_checkpoint(header["checkpoint"], kind, source, place)
    return Cell(
        name,
        raw.cell_type,
        source,
        place,
        header.get("role", "given"),
        tuple(header.get("tags", ())),
        header.get("only"),
        checkpoint,
    )


def _check_header(header: dict[str, Any], place: str) -> None:
    if "incorrectly_encoded_metadata" in header:
        raise BuildError(
            f"{place}: the header ends in {header['incorrectly_encoded_metadata']!r}, "
            'which is not of the form key="value".'
        )
    if unknown := sorted(header.keys() - KEYS):
        raise BuildError(
            f"{place}: the header has the unknown key {unknown[0]!r}. Known are {', '.join(sorted(KEYS))}."
        )
    if "kind" in header and "checkpoint" not in header:
        raise BuildError(f"{place}: kind= says what sort of checkpoint this is, but there is no checkpoint=.")
    for key, known in VALUES.items():
        if key in header and header[key] not in known:
            raise BuildError(f"{place}: {key}={header[key]!r} is unknown. Use one of {', '.join(known)}.")
    number = header.get("checkpoint", "0.0")
    if not isinstance(number, str) or not CHECKPOINT_ID.fullmatch(number):
        raise BuildError(f'{place}: checkpoint={number!r} is not a number in quotes, as in checkpoint="2.1".')


def _check_names(cells: tuple[Cell, ...]) -> None:
    seen: dict[str, Cell] = {}
    for cell in cells:
        if first := seen.get(cell.name):
            raise BuildError(f"{cell.place}: the name is already taken by {first.place}. Change one of them.")
        seen[cell.name] = cell


def _check_use(header: dict[str, Any], raw: NotebookNode, folder: str, place: str) -> None:
    role, is_exercise, is_code = header.get("role", "given"), folder == "exercises", raw.cell_type == "code"
    if raw.cell_type not in ("code", "markdown"):
        raise BuildError(f"{place}: a {raw.cell_type} cell. A lesson has code and markdown cells only.")
    if not raw.source.strip():
        raise BuildError(f"{place}: the cell is empty. Fill it or remove it.")
    if role != "given" and not is_code:
        raise BuildError(f"{place}: a markdown cell with role={role!r}. Roles are for code cells.")
    if role == "answer" and not is_exercise:
        raise BuildError(f"{place}: an answer cell outside of an exercise. Answers belong to lessons/exercises.")
    if "only" in header and (is_code or not is_exercise):
        raise BuildError(f"{place}: only={header['only']!r} is for markdown cells of exercises.")
    if "checkpoint" in header and (is_code or folder != "chapters"):
        raise BuildError(f"{place}: checkpoint= is for markdown cells of chapters.")


def _check_exercise(cells: tuple[Cell, ...], source: str) -> None:
    roles = [cell.role for cell in cells]
    if "answer" not in roles:
        raise BuildError(f'{source}: no cell has role="answer". Mark the cell that the learner completes.')
    last_answer = max(number for number, role in enumerate(roles) if role == "answer")
    if "check" not in roles[last_answer:]:
        raise BuildError(
            f'{cells[last_answer].place}: no check cell follows this answer. Add a cell with role="check" behind it.'
        )
