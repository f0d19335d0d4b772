"""Notebooks that were changed outside of the learner's cells: none of it counts, and the teacher is told."""

import copy
import json

import pytest

from stoplib.course.grading.batch import Batch
from stoplib.course.grading.collecting.submissions import collect
from stoplib.course.grading.results import SOLVED, UNREADABLE
from tests.grading.helpers import EXERCISES, FIRST, WRONG, notebook, save

CHECKS = list(FIRST.checks)
STREAM = {"output_type": "stream", "name": "stdout", "text": "All right.\n"}


def checks_of(content):
    """The check cells of a notebook."""
    return [cell for cell in content["cells"] if cell["id"] in CHECKS]


def saved_outputs(content):
    """It was run with wrong work and saved, with outputs that look right."""
    for cell in checks_of(content):
        cell.update(outputs=[STREAM], execution_count=3)


def deleted_checks(content):
    """Its check cells were deleted."""
    content["cells"] = [cell for cell in content["cells"] if cell["id"] not in CHECKS]


def edited_checks(content):
    """Its check cells print that all is right."""
    for cell in checks_of(content):
        cell["source"] = "print('All right.')"


def checks_as_text(content):
    """Its check cells were made text cells."""
    for cell in checks_of(content):
        cell["cell_type"] = "markdown"
        cell.pop("outputs"), cell.pop("execution_count")


def skip_tags(content):
    """Every cell is to be skipped, by tag and by comment."""
    for cell in content["cells"]:
        cell["metadata"]["tags"] = ["nbval-skip", "skip-execution"]
        if cell["cell_type"] == "code":
            cell["source"] = "# NBVAL_SKIP\n" + cell["source"]


def skip_behind_a_form_feed(content):
    """The comment that skips a cell stands where only nbval sees it."""
    for cell in content["cells"]:
        if cell["id"] in FIRST.answers:
            cell["source"] += "\ntext = '''\n# NBVAL_SKIP\n\x0c# NBVAL_IGNORE_OUTPUT\n'''\n"


def may_raise_tags(content):
    """Every cell may raise, and its output is not looked at."""
    for cell in content["cells"]:
        cell["metadata"]["tags"] = ["raises-exception", "nbval-raises-exception", "nbval-ignore-output"]


def other_roles(content):
    """Its metadata say that checks are answers, and that each is worth 100 points."""
    for cell in checks_of(content):
        cell["metadata"] = {"stoplib": {"role": "given"}, "nbgrader": {"points": 100, "grade": False}}


def wrong_kernel(content):
    """It asks for a kernel that is not there."""
    content["metadata"]["kernelspec"] = {"name": "ghost", "display_name": "Ghost", "language": "cobol"}


def no_metadata(content):
    """All its metadata are gone."""
    content["metadata"] = {}
    for cell in content["cells"]:
        cell["metadata"] = {}


def sources_in_lines(content):
    """Its sources are lists of lines, as in the files that JupyterLab writes."""
    for cell in content["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)


TAMPERINGS = [
    saved_outputs,
    deleted_checks,
    edited_checks,
    checks_as_text,
    skip_tags,
    skip_behind_a_form_feed,
    may_raise_tags,
    other_roles,
    wrong_kernel,
    no_metadata,
    sources_in_lines,
]


def doubled(content):
    """A wrong answer, and the right one under the same id."""
    answer = next(cell for cell in content["cells"] if cell["id"] in FIRST.answers)
    content["cells"].append({**copy.deepcopy(answer), "source": FIRST.reference[answer["id"]]})
    return content


REFUSED = {
    "the answer twice": (doubled, "is there 2 times"),
    "no answer cell": (
        lambda content: {**content, "cells": checks_of(content)},
        "'run-with-limits', which holds the answer, is missing",
    ),
    "the answer as text": (
        lambda content: {
            **content,
            "cells": [{**c, "cell_type": "markdown"} if c["id"] in FIRST.answers else c for c in content["cells"]],
        },
        "is no code cell any more",
    ),
    "no ids": (
        lambda content: {**content, "cells": [{k: v for k, v in c.items() if k != "id"} for c in content["cells"]]},
        "that drops the ids",
    ),
    "an old format": (
        lambda content: {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": []}]},
        "is saved in the format 3 of notebooks",
    ),
    "broken JSON": (lambda content: json.dumps(content)[:-20], "It is not JSON"),
    "a merge conflict": (lambda content: "<<<<<<< HEAD\n" + json.dumps(content), "merge conflict"),
    "an empty file": (lambda content: "", "The file is empty"),
    "another encoding": (lambda content: "Zoë".encode("latin-1"), "not written in UTF-8"),
    "JSON that is no notebook": (lambda content: "[1, 2]", "no notebook"),
    "damaged cells": (lambda content: {**content, "cells": ["x"]}, "list of cells is damaged"),
    "endless brackets": (lambda content: "[" * 100_000, "It is not JSON"),
    "100 MB of saved output": (lambda content: {**content, "x": "x" * 20_100_000}, "at most 20 MB are read"),
    "an endless answer": (
        lambda content: {
            **content,
            "cells": [{**c, "source": "#" * 200_001} if c["id"] in FIRST.answers else c for c in content["cells"]],
        },
        "characters; 200,000 are read",
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Everybody with wrong work, and once more with right work: results by name."""
    folder = tmp_path_factory.mktemp("class")
    for tamper in TAMPERINGS:
        for who, answers in (("wrong", {"run-with-limits": WRONG}), ("right", None)):
            content = notebook(answers=answers)
            tamper(content)
            save(folder / f"{tamper.__name__} {who}" / "01_three_exits.ipynb", content)
    for name, (tamper, _) in REFUSED.items():
        save(folder / name / "01_three_exits.ipynb", tamper(notebook(answers={"run-with-limits": WRONG})))
    results = Batch(EXERCISES, jobs=2).grade(collect([folder], EXERCISES)).results
    return {learner: result for (learner, _), result in results.items()}


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda tamper: tamper.__name__)
def test_only_the_answer_counts(graded, tamper):
    """Wrong work has no points and right work has all, whatever was done to the rest of the notebook."""
    assert graded[f"{tamper.__name__} wrong"].points == 0
    assert graded[f"{tamper.__name__} right"].state == SOLVED


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_graded_is_explained(graded, name):
    """It has no points, is not taken for a wrong answer, and the teacher reads what is wrong with the file."""
    result = graded[name]
    assert (result.state, result.points) == (UNREADABLE, 0)
    assert REFUSED[name][1] in " ".join(result.sentences)


def test_changed_checks_are_told(graded):
    """The teacher reads that check cells were changed or removed, and that the course's own were used."""
    for tamper in (deleted_checks, edited_checks, checks_as_text):
        assert "the course's own was used" in " ".join(graded[f"{tamper.__name__} right"].sentences)
    assert graded["saved_outputs right"].sentences == []
