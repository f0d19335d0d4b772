"""Every exercise: its solution passes, and each wrong answer that people give is caught with its hint."""

import contextlib
import io
import re
from pathlib import Path

import jupytext
import pytest

from stoplib.course.checks import ChecksFailed, NotSolvedYet

LESSONS = Path(__file__).parents[2] / "lessons"
EXERCISES = sorted(path.stem for path in (LESSONS / "exercises").glob("*.py"))


def cells(path):
    """The code cells of a source, as (title, metadata, text)."""
    notebook = jupytext.read(path, fmt="py:percent")
    code = (cell for cell in notebook.cells if cell.cell_type == "code" and cell.metadata.get("title"))
    return [(cell.metadata["title"], cell.metadata, cell.source) for cell in code]


def run_exercise(name, answer):
    """Run an exercise's cells with `answer` in place of the solution: {check cell: (exception or None, output)}."""
    world, verdicts = {"__name__": "__main__"}, {}
    for title, metadata, source in cells(LESSONS / "exercises" / f"{name}.py"):
        if metadata.get("role") != "check":
            exec(source if metadata.get("role") != "answer" or answer is None else answer, world)
            continue
        verdicts[title] = check(source, world)
    return verdicts


def check(source, world):
    """Run one check cell: (the exception that it ends with or None, what it printed, on one line)."""
    printed, error = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        try:
            exec(source, world)
        except (ChecksFailed, NotSolvedYet) as raised:
            error = raised
    return error, re.sub(r"\s+", " ", printed.getvalue())


def wrong_answers():
    """Each wrong answer as (exercise, metadata, source)."""
    return [
        pytest.param(name, metadata, source, id=f"{name}-{title}")
        for name in EXERCISES
        for title, metadata, source in cells(LESSONS / "wrong_answers" / f"{name}.py")
    ]


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_passes_every_check(name):
    """The reference solution gets no objection."""
    assert {error for error, _ in run_exercise(name, None).values()} == {None}


@pytest.mark.parametrize("name", EXERCISES)
def test_there_are_enough_wrong_answers(name):
    """At least four wrong answers that people really give go with each exercise."""
    assert len(cells(LESSONS / "wrong_answers" / f"{name}.py")) >= 4


@pytest.mark.parametrize(("name", "metadata", "source"), wrong_answers())
def test_a_wrong_answer_is_caught_with_its_hint(name, metadata, source):
    """The check that is meant for this mistake fails, and its output holds the hint for it."""
    error, said = run_exercise(name, source)[metadata["check"]]
    assert isinstance(error, ChecksFailed)
    assert metadata["hint"] in said
