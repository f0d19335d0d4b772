"""Hostile and broken answers: none gets a point that it did not earn, none stops the rest, each is explained.

Each file in `adversaries/` is one answer: a docstring, then the source of the learner's cell. The docstring says
what the teacher reads (`teacher:`), what it has earned (`points:`, none if it does not say), which exercise it is
for, and what the platform must have for it to make sense (`needs:`). The files end in `.ipy`, so that nothing
imports them: some of them end every process that they can reach.
"""

import contextlib
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from stoplib.course.grading.batch import Batch
from stoplib.course.grading.collecting.submissions import Collected
from stoplib.course.grading.marking import POOL
from stoplib.course.grading.running import linux
from stoplib.course.grading.running.limits import MB, Limits
from stoplib.course.grading.running.watching import descendants
from tests.grading.helpers import EXERCISES, FIRST, ROOT, submission

FOLDER = Path(__file__).with_name("adversaries")
# Switching a trace function on and off, as is done around each message to the judge, costs more from Python 3.12 on.
CELL = 0.8 if sys.version_info < (3, 12) else 2.0
LIMITS = Limits(cell=CELL, wait=15, exercise=30, memory=1_000 * MB, output=MB // 2, processes=20)
HAVE = {"namespaces": linux.available(), "fork": hasattr(os, "fork")}


class Adversary(NamedTuple):
    """One answer, and what is to come of it."""

    name: str
    source: str
    exercise: str
    points: int
    teacher: str
    needs: str

    @property
    def possible(self):
        """Whether it can be tried here without harm."""
        return HAVE.get(self.needs, True)


def read(path):
    """The adversary in a file."""
    doc, source = re.fullmatch(r'"""(.*?)"""\n(.*)', path.read_text(encoding="utf-8"), flags=re.DOTALL).groups()
    told = dict(re.findall(r"^(\w+): *(.*)$", doc, flags=re.MULTILINE))
    return Adversary(
        path.stem,
        source.replace("PLACES", repr([str(ROOT)])),
        told.get("exercise", FIRST.name),
        int(told.get("points", 0)),
        told.get("teacher", ""),
        told.get("needs", ""),
    )


ADVERSARIES = [read(path) for path in sorted(FOLDER.glob("*.ipy"))]


@pytest.fixture(scope="module")
def graded():
    """Everybody's results, graded as one class, with an honest learner at the beginning and at the end."""
    tried = [one for one in ADVERSARIES if one.possible]
    everybody = [submission(one.name, one.source, one.exercise) for one in tried]
    honest = [submission(name, FIRST.reference) for name in ("AA honest", "zz honest")]
    batch = Batch(EXERCISES, limits=LIMITS, jobs=2)
    results = batch.grade(Collected([honest[0], *everybody, honest[1]])).results
    yield {learner: result for (learner, _), result in results.items()}
    POOL.close()


def test_there_are_enough():
    """At least 25 of them, each with a sentence that says what it does."""
    assert len(ADVERSARIES) >= 25


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda one: one.name)
def test_no_point_that_was_not_earned(graded, adversary):
    """It gets what it has earned, and the teacher reads what happened."""
    if not adversary.possible:
        pytest.skip(f"needs {adversary.needs}, which this system does not offer")
    result = graded[adversary.name]
    read = " ".join([*result.sentences, *(f"{one.said} {one.sentence}" for one in result.checks.values())])
    assert result.points == adversary.points
    assert result.state in ("not solved", "partly solved")
    assert len(result.checks) == len(result.exercise.checks)
    assert adversary.teacher in read
    assert read.strip()


def test_the_rest_goes_on(graded):
    """The honest answers before and after them have all points."""
    assert [graded[name].state for name in ("AA honest", "zz honest")] == ["solved", "solved"]


def test_nothing_is_left_running(graded):
    """When all is over, no process is there any more that was started for them."""
    POOL.close()
    commands = []
    for process in descendants(psutil.Process()):
        with contextlib.suppress(psutil.Error):
            commands.append(" ".join(process.cmdline()))
    assert [command for command in commands if "stoplib.course.grading" in command] == []
