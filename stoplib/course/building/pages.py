"""The pages that are made from all lessons together, and what makes each."""

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path

from stoplib.course.building.derive import notebook_path
from stoplib.course.building.glossary import SOURCE, glossary, read_terms
from stoplib.course.building.guide import guide
from stoplib.course.building.lesson import Lesson, read_lesson
from stoplib.course.building.one_page import one_page
from stoplib.course.building.overview import with_chapters
from stoplib.course.building.places import Voice
from stoplib.course.building.shown import Shown, shown_in

BESIDE_NOTEBOOKS, IN_THE_SITE = Voice("notebooks", links=True), Voice("docs", links=False)


def pages(root: Path, sources: list[Path]) -> dict[Path, Callable[[], bytes]]:
    """Return each page with the function that makes its content or raises BuildError; they read the built notebooks.

    There are none in a project without `lessons/glossary.toml`.
    """
    if not (root / SOURCE).exists():
        return {}
    course = Course(root, sources)
    found: dict[Path, Callable[[], bytes]] = {root / "README.md": course.readme}
    for voice in (BESIDE_NOTEBOOKS, IN_THE_SITE):
        folder = root / voice.folder
        found[folder / voice.file("glossary.md")] = partial(course.glossary, voice)
        found[folder / voice.file("guards and reasons.md")] = partial(course.guide, voice)
        found[folder / voice.file("on one page.html")] = course.sheet
    return found


class Course:
    """All lessons, and the pages that are made from them."""

    def __init__(self, root: Path, sources: list[Path]) -> None:
        self._root, self._sources = root, sources

    @cached_property
    def lessons(self) -> list[Lesson]:
        """The chapters, then the exercises."""
        return [read_lesson(source) for source in self._sources]

    @cached_property
    def shown(self) -> list[Shown]:
        """Every name that the built notebooks show."""
        kinds = {False: "chapter", True: "exercise"}
        paths = [(lesson, notebook_path(lesson.path, kinds[lesson.is_exercise])) for lesson in self.lessons]
        return [one for lesson, notebook in paths for one in shown_in(lesson, notebook)]

    def readme(self) -> bytes:
        """README.md, with the table of chapters as it should be."""
        return with_chapters((self._root / "README.md").read_text(encoding="utf-8"), self.lessons).encode()

    def glossary(self, voice: Voice) -> bytes:
        """Every term with its sentence."""
        return glossary(read_terms(self._root / SOURCE), self.lessons, voice).encode()

    def guide(self, voice: Voice) -> bytes:
        """Every guard and every reason."""
        return guide(self._root / "docs", self.shown, voice).encode()

    def sheet(self) -> bytes:
        """The page to print."""
        return one_page(self._root / "docs", self.lessons).encode()
