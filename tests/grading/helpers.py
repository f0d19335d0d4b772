"""What the tests of the grader share: the exercises, submissions made of answers, notebooks as files."""

import copy
import json
from pathlib import Path

from stoplib.course.grading.assembling import exercises, read_cells, source
from stoplib.course.grading.collecting.submissions import Submission

ROOT = Path(__file__).parents[2]
EXERCISES = exercises(ROOT)
FIRST = EXERCISES["01_three_exits"]

#: earns no point in exercise 01
WRONG = """\
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    return "nothing", "max_steps"
"""


def submission(learner, answers, exercise="01_three_exits"):
    """A submission with these answers: one text for the first cell, or texts by cell."""
    wanted = EXERCISES[exercise]
    if isinstance(answers, str):
        answers = {**wanted.reference, wanted.answers[0]: answers}
    return Submission(learner, exercise, answers, f"{learner}/{exercise}.ipynb")


def notebook(exercise="01_three_exits", answers=None):
    """The course's exercise as a notebook, with answers in it: a dictionary, or the reference solution's by default."""
    wanted = EXERCISES[exercise]
    answers = wanted.reference if answers is None else answers
    cells = copy.deepcopy(read_cells(ROOT / "exercises" / f"{exercise}.ipynb"))
    for cell in cells:
        cell["source"] = answers.get(cell["id"], source(cell))
    whole = json.loads((ROOT / "exercises" / f"{exercise}.ipynb").read_text(encoding="utf-8"))
    return {**whole, "cells": cells}


def save(path, content):
    """Write a notebook (a dictionary), a text or bytes to a file; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
