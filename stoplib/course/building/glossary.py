"""The glossary: a sentence for each term that the lessons set in bold, and the places where they do.

What is bold is a term, unless it stands in a title cell, has more than three words (then it is a sentence to keep), or
ends like a sentence (then it is a label, such as "Pitfall: …").
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stoplib.course.building import BuildError
from stoplib.course.building.lesson import Lesson
from stoplib.course.building.places import Place, Voice
from stoplib.course.building.prose import lesson_spans

SOURCE = Path("lessons", "glossary.toml")
LONGEST_TERM = 3
LABEL = re.compile(r".*[.:?!]")

HEAD = """\
# Glossary

One sentence for each word of the course, and the place where a lesson explains it. What can end a run has
[a page of its own]({guide}).
"""


@dataclass(frozen=True)
class Term:
    """A term, its sentence, and the forms in which lessons set it in bold."""

    name: str
    means: str
    forms: frozenset[str]


def read_terms(path: Path) -> list[Term]:
    """Return the terms in the order of the alphabet. Raises BuildError if one is not written as it should be."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BuildError(f"{path.name}: {error}.") from error
    terms = [_term(name, entry, path.name) for name, entry in entries.items()]
    _check_forms(terms, path.name)
    return sorted(terms, key=lambda term: term.name.removeprefix("to ").lower())


def _term(name: str, entry: Any, file: str) -> Term:
    match entry:
        case {"means": str(means), "bold": [*forms]} if len(entry) == 2:
            pass
        case {"means": str(means)} if len(entry) == 1:
            forms = [name]
        case _:
            means, forms = "", []
    if not LABEL.fullmatch(means) or not all(isinstance(form, str) for form in forms):
        raise BuildError(f'{file}: {name!r} needs means = "One sentence." and may have bold = ["form", "form"].')
    return Term(name, means, frozenset(form.lower() for form in forms))


def _check_forms(terms: list[Term], file: str) -> None:
    owners: dict[str, str] = {}
    for term in terms:
        for form in term.forms:
            if first := owners.get(form):
                raise BuildError(f"{file}: {form!r} belongs to {first!r} and to {term.name!r}. Take it out of one.")
            owners[form] = term.name


def bold(lesson: Lesson) -> Iterator[tuple[str, Place]]:
    """Yield what the lesson sets in bold outside its title cell, with the place."""
    for cell, span in lesson_spans(lesson):
        if span.kind == "bold" and cell != lesson.cells[0].name:
            yield span.text, Place(lesson, cell, span.heading)


def is_term(text: str) -> bool:
    """Whether something bold is a term, and no label and no sentence."""
    return len(text.split()) <= LONGEST_TERM and not LABEL.fullmatch(text)


def sentences(lessons: Sequence[Lesson]) -> list[str]:
    """Return the whole sentences that lessons set in bold."""
    found = [text for lesson in lessons for text, _ in bold(lesson)]
    return [text for text in found if len(text.split()) > LONGEST_TERM and not LABEL.fullmatch(text)]


def glossary(terms: list[Term], lessons: Sequence[Lesson], voice: Voice) -> str:
    """Return the page. Raises BuildError for a bold term without an entry, and for an entry that no lesson needs."""
    places = _places(terms, lessons)
    if unused := [term.name for term in terms if not places[term.name]]:
        raise BuildError(
            f"{SOURCE.as_posix()}: no lesson sets {unused[0]!r} in bold. Mark the place that explains it, or remove it."
        )
    head = HEAD.format(guide=voice.file("guards and reasons.md"))
    return "\n".join([head, *(_entry(term, places[term.name], voice) for term in terms)])


def _places(terms: list[Term], lessons: Sequence[Lesson]) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = {term.name: [] for term in terms}
    for lesson in lessons:
        for text, place in bold(lesson):
            if not is_term(text):
                continue
            owner = next((term.name for term in terms if text.lower() in term.forms), None)
            if owner is None:
                raise BuildError(
                    f"{lesson.source}: {text!r} is bold under {place.heading!r}, but {SOURCE.as_posix()} does not "
                    "explain it. Add a sentence there, or write *italics* for what is no term."
                )
            places[owner].append(place)
    return places


def _entry(term: Term, places: list[Place], voice: Voice) -> str:
    first, *more = places
    again = voice.lessons(place.lesson for place in more if place.lesson != first.lesson)
    where = f"See {voice.place(first)}" + (f", and again {again}" if again else "")
    return f"## {term.name}\n\n{term.means} {where}.\n"
