"""The pages that are made from all lessons together, and what makes each."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from stoplib.course.building import glossary, guide, one_page, overview
from stoplib.course.building.derive import notebook_path
from stoplib.course.building.lesson import Lesson, read_lesson
from stoplib.course.building.places import Voice
from stoplib.course.building.shown import Shown, shown_in

BESIDE_NOTEBOOKS, IN_THE_SITE = Voice(links=True), Voice(links=False)


def pages(root: Path, sources: list[Path]) -> dict[Path, Callable[[], bytes]]:
    """Return each page with the function that makes its content or raises BuildError; they read the built notebooks.

    There are none in a project without `lessons/glossary.toml`.
    """
    if not (root / glossary.SOURCE).exists():
        return {}

    @cache
    def lessons() -> list[Lesson]:
        return [read_lesson(source) for source in sources]

    def shown() -> list[Shown]:
        kinds = {False: "chapter", True: "exercise"}
        return [
            one
            for lesson in lessons()
            for one in shown_in(lesson, notebook_path(lesson.path, kinds[lesson.is_exercise]))
        ]

    def words(voice: Voice) -> bytes:
        return glossary.glossary(glossary.read_terms(root / glossary.SOURCE), lessons(), voice).encode()

    def index(voice: Voice) -> bytes:
        return guide.guide(root / "docs", shown(), voice).encode()

    def sheet() -> bytes:
        return one_page.one_page(root / "docs", lessons()).encode()

    def readme() -> bytes:
        return overview.with_chapters((root / "README.md").read_text(encoding="utf-8"), lessons()).encode()

    return {
        root / "notebooks" / "glossary.md": partial(words, BESIDE_NOTEBOOKS),
        root / "docs" / "glossary.md": partial(words, IN_THE_SITE),
        root / "notebooks" / "guards_and_reasons.md": partial(index, BESIDE_NOTEBOOKS),
        root / "docs" / "guards-and-reasons.md": partial(index, IN_THE_SITE),
        root / "notebooks" / "on_one_page.html": sheet,
        root / "docs" / "on-one-page.html": sheet,
        root / "README.md": readme,
    }
