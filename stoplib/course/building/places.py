"""Places in the lessons, and how two kinds of page speak of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from stoplib.course.building.lesson import Lesson
from stoplib.course.building.prose import anchor


@dataclass(frozen=True)
class Place:
    """A heading in a lesson."""

    lesson: Lesson
    heading: str


@dataclass(frozen=True)
class Voice:
    """How a page names lessons: with links, as beside the notebooks, or in words alone, as in the site."""

    links: bool

    def place(self, place: Place) -> str:
        """A lesson and one of its headings."""
        if not self.links:
            return f"{_name(place.lesson).capitalize()}, *{place.heading}*"
        return f"[{place.lesson.number} {place.heading}]({_path(place.lesson)}#{anchor(place.heading)})"

    def lessons(self, lessons: Iterable[Lesson]) -> str:
        """Lessons, each once: chapters by their numbers, then exercises."""
        found = {lesson.source: lesson for lesson in lessons}.values()
        chapters = [self._lesson(lesson) for lesson in found if not lesson.is_exercise]
        exercises = [self._lesson(lesson) for lesson in found if lesson.is_exercise]
        parts = [_counted("chapter", chapters)] * bool(chapters) + [_counted("exercise", exercises)] * bool(exercises)
        return "; ".join(parts)

    def _lesson(self, lesson: Lesson) -> str:
        return f"[{lesson.number}]({_path(lesson)})" if self.links else lesson.number


def _counted(noun: str, names: list[str]) -> str:
    return f"{noun}{'s' * (len(names) > 1)} {', '.join(names)}"


def _name(lesson: Lesson) -> str:
    return f"{'exercise' if lesson.is_exercise else 'chapter'} {lesson.number}"


def _path(lesson: Lesson) -> str:
    return f"{'../exercises/' if lesson.is_exercise else ''}{lesson.path.stem}.ipynb"
