"""How long a lesson takes, from what there is in it.

100 words of text take a minute, and so do 6 lines of code, with the look at what comes of them. A checkpoint takes
3 minutes. An exercise takes 10 minutes to find an idea, half a minute for each line of the solution and
a minute for each check. The sum is rounded to 5 minutes.

A lesson writes `{minutes}` where its own figure belongs, and `{minutes of exercise 03}` for that of an exercise.
"""

import re
from pathlib import Path

from stoplib.course.building import BuildError
from stoplib.course.building.lesson import BEGIN, END, Cell, Lesson, read_lesson

WORDS_A_MINUTE, LINES_A_MINUTE = 100, 6
CHECKPOINT, IDEA, SOLUTION_LINE, CHECK = 3, 10, 0.5, 1
ROUNDED_TO = 5

WORD = re.compile(r"\w+(?:['’-]\w+)*")
TARGET = re.compile(r"\]\([^)\s]+\)")
SOLUTION = re.compile(rf"{BEGIN}\n(.*?){END}", re.DOTALL)
PLACE = re.compile(r"\{minutes(?: of exercise (\d\d))?\}")


def minutes(lesson: Lesson) -> int:
    """Return the minutes that the lesson takes."""
    taken = sum(_minutes(cell) for cell in lesson.cells if cell.only != "solution")
    if lesson.is_exercise:
        taken += IDEA
    return max(1, round(taken / ROUNDED_TO)) * ROUNDED_TO


def _minutes(cell: Cell) -> float:
    if cell.type == "markdown":
        words = len(WORD.findall(TARGET.sub("]", cell.source)))
        return words / WORDS_A_MINUTE + (CHECKPOINT if cell.checkpoint else 0)
    solution = "".join(SOLUTION.findall(cell.source))
    given = _lines(SOLUTION.sub("", cell.source))
    return given / LINES_A_MINUTE + SOLUTION_LINE * _lines(solution) + (CHECK if cell.role == "check" else 0)


def _lines(code: str) -> int:
    return sum(bool(line.strip()) for line in code.split("\n"))


def with_minutes(text: str, lesson: Lesson, place: str) -> str:
    """Return a text of the lesson with its figures. Raises BuildError for an exercise that is not there."""
    return PLACE.sub(lambda asked: str(minutes(_meant(asked[1], lesson, place))), text)


def _meant(number: str | None, lesson: Lesson, place: str) -> Lesson:
    if number is None:
        return lesson
    found = sorted(Path(lesson.path.parents[1], "exercises").glob(f"{number}_*.py"))
    if not found:
        raise BuildError(f"{place}: there is no exercise {number}.")
    return read_lesson(found[0])
