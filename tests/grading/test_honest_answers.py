"""Honest answers get full points, also those in another style than ours; wrong ones lose the points of their check.

The judge is held against answers in a process that was forked from this one, without a kernel around it: what is
tested is the pipe, and the checks over the pipe. `test_a_class` runs some of them with everything around.
"""

import json
import os
import re
import socket
import sys
import warnings
from pathlib import Path

import jupytext
import pytest

from stoplib.course.grading.assembling import role, source
from stoplib.course.grading.batch import Batch
from stoplib.course.grading.collecting.submissions import Collected
from stoplib.course.grading.judging import inside
from stoplib.course.grading.judging.channel import Pipe
from stoplib.course.grading.judging.judge import Judge
from stoplib.course.grading.judging.link import Link
from tests.grading.helpers import EXERCISES, ROOT, submission

STYLES = sorted(Path(__file__).with_name("other_styles").glob("*.ipy"))
# The tests' process has threads, of which the child uses none.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system does not have")


def style(path):
    """(exercise, answer) of a file in `other_styles/`."""
    text = re.fullmatch(r'""".*?"""\n(.*)', path.read_text(encoding="utf-8"), flags=re.DOTALL)[1]
    return next(name for name in EXERCISES if name.startswith(path.stem[:2])), text


def wrong_answers():
    """Each wrong answer as (exercise, the check that catches it, hint, source)."""
    for path in sorted((ROOT / "lessons" / "wrong_answers").glob("*.py")):
        for cell in jupytext.read(path, fmt="py:percent").cells:
            if title := cell.metadata.get("title"):
                told = cell.metadata
                yield pytest.param(path.stem, told["check"], told["hint"], cell.source, id=f"{path.stem}-{title}")


def judged(name, answer, checks=None, secret="a secret"):
    """Verdicts by check: the answer in a process of its own, the judge in this one."""
    exercise = EXERCISES[name]
    answers = answer if isinstance(answer, dict) else {**exercise.reference, exercise.answers[0]: answer}
    checks = list(exercise.checks) if checks is None else checks
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        serve(exercise, answers, checks, theirs)
    theirs.close()
    try:
        link, judge = Link(Pipe(ours, lambda: None)), Judge(exercise.code, secret)
        verdicts = {}
        for check in checks:
            assert json.loads(link.pipe.receive(1_000))["check"] == check
            verdicts[check] = judge.serve(check, link)
        return verdicts
    finally:
        ours.close()
        os.waitpid(child, 0)


def serve(exercise, answers, checks, connected):
    """In the child: run the cells up to the last answer, then ask for each check."""
    try:
        warnings.simplefilter("ignore")  # in a kernel a warning is no error
        sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        world = vars(sys.modules["__main__"])
        for cell in exercise.cells:
            if cell["id"] in answers:
                exec(answers[cell["id"]], world)
            elif cell["cell_type"] == "code" and role(cell) == "given" and cell["id"] != "score":
                exec(source(cell), world)
        inside._end = inside.Inside(Pipe(connected))
        for check in checks:
            try:
                inside.judged(check)
            except inside.NotYet:
                continue
    finally:
        os._exit(0)


@needs_fork
@pytest.mark.parametrize("secret", ["one secret", "another", "a third"])
@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_has_full_points(name, secret):
    """The reference solution passes every check, whatever the cases are that nobody knows."""
    verdicts = judged(name, EXERCISES[name].reference[EXERCISES[name].answers[0]], secret=secret)
    assert {check: verdict.error for check, verdict in verdicts.items() if not verdict.passed} == {}


@needs_fork
@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.stem)
def test_another_style_has_full_points(path):
    """An answer that is right in another way passes every check."""
    name, answer = style(path)
    verdicts = judged(name, answer)
    assert {check: verdict.said for check, verdict in verdicts.items() if not verdict.passed} == {}


def test_there_is_another_style_for_each_exercise():
    """No exercise is without one."""
    assert {style(path)[0] for path in STYLES} == set(EXERCISES)


@needs_fork
@pytest.mark.parametrize(("name", "check", "hint", "answer"), list(wrong_answers()))
def test_a_wrong_answer_loses_the_points_of_its_check(name, check, hint, answer):
    """The check that is meant for this mistake is not passed, and what it says holds the hint."""
    everywhere = dict.fromkeys(EXERCISES[name].answers, answer)
    verdict = judged(name, everywhere, [check])[check]
    assert not verdict.passed
    assert hint in re.sub(r"\s+", " ", verdict.said)


def test_a_class():
    """With a kernel, nbval and all limits: the solutions and some other styles have full points in every exercise."""
    everybody = [submission("reference", one.reference, name) for name, one in EXERCISES.items()]
    everybody += [submission(path.stem, answer, name) for path in STYLES[::3] for name, answer in [style(path)]]
    graded = Batch(EXERCISES, jobs=2).grade(Collected(everybody))
    assert {result.learner: result.sentences for result in graded.results.values() if result.points < result.of} == {}
    assert len(graded.results) == len(everybody)
