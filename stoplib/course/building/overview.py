"""The table of chapters in README.md, which the build keeps up to date between two marks."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from stoplib.course.building import BuildError
from stoplib.course.building.lesson import Lesson
from stoplib.course.building.minutes import minutes
from stoplib.course.building.prose import lesson_spans

BEGIN, END = "<!-- chapters: python3 course.py build writes this table -->", "<!-- end of chapters -->"
TITLE = re.compile(r"# (.+)")


def with_chapters(readme: str, lessons: Sequence[Lesson]) -> str:
    """Return the text of README.md with the table of today. Raises BuildError if the marks are not there once each."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1 or readme.index(BEGIN) > readme.index(END):
        raise BuildError(f"README.md: the table of chapters belongs between the lines '{BEGIN}' and '{END}'.")
    before, _, rest = readme.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{_table(lessons)}\n{END}{after}"


def _table(lessons: Sequence[Lesson]) -> str:
    exercises = {lesson.path.stem: lesson for lesson in lessons if lesson.is_exercise}
    rows = [_row(lesson, exercises) for lesson in lessons if not lesson.is_exercise]
    return "\n".join(["", "| | chapter | minutes | exercise |", "| --- | --- | --- | --- |", *rows, ""])


def _row(lesson: Lesson, exercises: dict[str, Lesson]) -> str:
    targets = (span.text for _, span in lesson_spans(lesson) if span.kind == "link")
    linked = {PurePosixPath(target).stem for target in targets}
    own = ", ".join(
        f"[{exercise.number}](exercises/{name}.ipynb), {minutes(exercise)} minutes"
        for name, exercise in exercises.items()
        if name in linked
    )
    name = f"[{title(lesson)}](notebooks/{lesson.path.stem}.ipynb)"
    return f"| {lesson.number} | {name} | {minutes(lesson)} | {own} |"


def title(lesson: Lesson) -> str:
    """The first heading of a lesson. Raises BuildError if it does not begin with one."""
    found = TITLE.match(lesson.cells[0].source)
    if found is None:
        raise BuildError(f"{lesson.cells[0].place}: a lesson begins with its title, '# Title'.")
    return found[1]
