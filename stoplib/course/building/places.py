"""Places in the lessons, and how the two kinds of page speak of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from stoplib.course.building.lesson import Lesson


@dataclass(frozen=True)
class Place:
    """A cell of a lesson, and the heading that it stands under."""

    lesson: Lesson
    cell: str
    heading: str


@dataclass(frozen=True)
class Voice:
    """How a page names what is elsewhere: with links to notebooks, where it lies beside them, or in words alone."""

    folder: str
    links: bool

    def file(self, name: str) -> str:
        """A page's file, by the custom of its folder: `on_one_page.html` beside the notebooks."""
        return name.replace(" ", "_" if self.links else "-")

    def place(self, place: Place) -> str:
        """A lesson and the heading. The link leads to the cell: JupyterLab finds that also while a notebook opens."""
        if not self.links:
            return f"{'exercise' if place.lesson.is_exercise else 'chapter'} {place.lesson.number}, *{place.heading}*"
        return f"[{place.lesson.number} {place.heading}]({_path(place.lesson)}#cell-id={place.cell})"

    def lessons(self, lessons: Iterable[Lesson]) -> str:
        """Lessons by their numbers, each once: chapters, then exercises."""
        found = {lesson.source: lesson for lesson in lessons}.values()
        chapters = [self._number(lesson) for lesson in found if not lesson.is_exercise]
        exercises = [self._number(lesson) for lesson in found if lesson.is_exercise]
        return "; ".join(_counted(*one) for one in (("chapter", chapters), ("exercise", exercises)) if one[1])

    def _number(self, lesson: Lesson) -> str:
        return f"[{lesson.number}]({_path(lesson)})" if self.links else lesson.number


def _counted(noun: str, names: list[str]) -> str:
    return f"{noun}{'s' * (len(names) > 1)} {', '.join(names)}"


def _path(lesson: Lesson) -> str:
    return f"{'../exercises/' if lesson.is_exercise else ''}{lesson.path.stem}.ipynb"
