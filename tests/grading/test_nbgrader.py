"""nbgrader takes the exercises as they are, and gives the same points as our grader."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from stoplib.course.grading.batch import Batch
from stoplib.course.grading.collecting.submissions import Collected
from stoplib.course.grading.marking import POOL
from tests.grading.helpers import EXERCISES, FIRST, ROOT, notebook, save, submission

validator = pytest.importorskip("nbgrader.nbgraderformat", reason="nbgrader is not installed")

LATE = FIRST.reference["run-with-limits"].replace("- start >= time_budget", "- start > time_budget")
ANSWERS = {"ann": FIRST.reference["run-with-limits"], "bob": LATE, "cy": FIRST.stubs["run-with-limits"]}
SETTINGS = """\
c = get_config()
c.CourseDirectory.course_id = "stop"
c.ClearSolutions.enabled = False
c.IncludeHeaderFooter.enabled = False
"""


def nbgrader(folder, *arguments):
    """Run one of nbgrader's commands; what it starts in turn is next to our Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3_000:]


@pytest.mark.parametrize("name", EXERCISES)
def test_the_metadata_are_valid(name):
    """nbgrader's own check of its metadata has nothing to say, and the points are those that we give."""
    made = nbformat.read(ROOT / "exercises" / f"{name}.ipynb", 4)
    validator.MetadataValidator().validate_nb(made)
    graded = {c.id: c.metadata.nbgrader for c in made.cells if c.metadata.get("nbgrader", {}).get("grade")}
    assert {check: told["points"] for check, told in graded.items()} == EXERCISES[name].checks


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """What nbgrader gives for three answers: {learner: {check: points}}, and the released notebook."""
    folder = tmp_path_factory.mktemp("course")
    save(folder / "nbgrader_config.py", SETTINGS)
    save(folder / "source" / "stop" / f"{FIRST.name}.ipynb", notebook(answers={}))
    for learner, answer in ANSWERS.items():
        content = notebook(answers={"run-with-limits": answer})
        save(folder / "submitted" / learner / "stop" / f"{FIRST.name}.ipynb", content)
    nbgrader(folder, "generate_assignment", "stop")
    nbgrader(folder, "autograde", "stop")
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        found = {
            one.student.id: {grade.name: grade.score for grade in one.grades}
            for one in book.notebook_submissions(FIRST.name, "stop")
        }
    return found, nbformat.read(folder / "release" / "stop" / f"{FIRST.name}.ipynb", 4)


def test_the_release_is_the_exercise(points):
    """What nbgrader hands out has the cells of the exercise, with their ids and their texts."""
    released = {cell.id: cell.source for cell in points[1].cells}
    assert released == {cell.id: cell.source for cell in nbformat.from_dict(notebook(answers={})).cells}


def test_the_same_points(points):
    """Full points, partial points and none are the same in both, check by check."""
    everybody = [submission(learner, answer) for learner, answer in ANSWERS.items()]
    graded = Batch({FIRST.name: FIRST}, jobs=2).grade(Collected(everybody))
    POOL.close()
    ours = {
        learner: {check: float(one.passed) for check, one in result.checks.items()}
        for (learner, _), result in graded.results.items()
    }
    assert ours == points[0]
    assert {learner: sum(checks.values()) for learner, checks in ours.items()} == {"ann": 7, "bob": 5, "cy": 0}
