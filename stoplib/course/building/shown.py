"""Which notebook shows a name where: in its code, in its text, or in a result."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import nbformat
from nbformat import NotebookNode

from stoplib.course.building import BuildError
from stoplib.course.building.lesson import Lesson
from stoplib.course.building.places import Place
from stoplib.course.building.prose import last_heading, spans

WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Shown:
    """A name at its place, and whether it stands there in `code`, in an `import`, or in a `text`, string or result."""

    name: str
    place: Place
    kind: Literal["code", "import", "text"]


def shown_in(lesson: Lesson, notebook: Path) -> list[Shown]:
    """Return the names that a lesson's built notebook shows, in the order of its cells.

    What a checkpoint asks about is left out: its wrong options name things, too. Raises BuildError if
    the notebook has not been built.
    """
    if not notebook.exists():
        raise BuildError(f"{lesson.source} has no {notebook.parent.name}/{notebook.name} yet. Build it first.")
    return list(_shown(lesson, nbformat.read(notebook, as_version=4)))  # type: ignore[no-untyped-call]


def _shown(lesson: Lesson, notebook: NotebookNode) -> Iterator[Shown]:
    questions = {cell.name for cell in lesson.cells if cell.checkpoint}
    heading = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            if cell.id not in questions:
                for span in spans(cell.source, heading):
                    if span.kind == "code":
                        yield from _as_text(span.text, Place(lesson, cell.id, span.heading))
            heading = last_heading(cell.source) or heading
        else:
            place = Place(lesson, cell.id, heading)
            yield from _in_code(cell.source, place)
            for output in cell.outputs:
                yield from _as_text(_printed(output), place)


def _as_text(text: str, place: Place) -> Iterator[Shown]:
    return (Shown(name, place, "text") for name in WORD.findall(text))


def _in_code(code: str, place: Place) -> Iterator[Shown]:
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name):
                yield Shown(name, place, "code")
            case ast.alias(name=name):
                yield Shown(name, place, "import")
            case ast.Constant(value=str(name)) if WORD.fullmatch(name):
                yield Shown(name, place, "text")


def _printed(output: NotebookNode) -> str:
    return str(output.get("text", "")) + json.dumps(output.get("data", {}).get("text/plain", ""))


def introduced(name: str, shown: Sequence[Shown]) -> Place | None:
    """The first chapter whose code uses the name, or else the first that shows it; None if no chapter does."""
    found = [one for one in shown if one.name == name and one.kind != "import" and not one.place.lesson.is_exercise]
    return next((one.place for kind in ("code", "text") for one in found if one.kind == kind), None)
