"""How long it takes to grade a class, beside running the same notebooks in kernels and nothing else.

    python benchmarks/grading.py                 30 learners, 10 exercises each, on two processors: ten minutes
    python benchmarks/grading.py --learners 3    the same, in a minute

Two of three answers are the reference solution, each third is a wrong one that people give. "Kernels alone" is the
least that a notebook costs: a fresh kernel, its cells, no comparison, no isolation, no judge. Prints seconds and
ratios; the grader and the kernels take turns, learner by learner, so that a busy moment of the machine hits both.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from stoplib.course.building.execute import execute
from stoplib.course.grading.assembling import Exercise, exercises, role, source
from stoplib.course.grading.batch import Batch
from stoplib.course.grading.collecting.submissions import Collected, Submission
from stoplib.course.grading.marking import POOL

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--exercise", default="", help="only the exercises whose names begin like this")
    args = parser.parse_args()
    known = {name: one for name, one in exercises(ROOT).items() if name.startswith(args.exercise)}
    answers = {name: cycle(mixed(exercise)) for name, exercise in known.items()}
    batch = Batch(known, jobs=args.jobs)
    kernels = grader = 0.0
    points = 0
    for number in range(args.learners):
        learner = f"learner {number:02}"
        handed_in = [Submission(learner, name, next(answers[name])) for name in known]
        start = time.monotonic()
        alone(handed_in, known, args.jobs)
        between = time.monotonic()
        points += batch.grade(Collected(handed_in)).points(learner)
        kernels, grader = kernels + between - start, grader + time.monotonic() - between
        print(f"{learner}  kernels alone {kernels:6.1f} s  the grader {grader:6.1f} s", flush=True)
    POOL.close()
    print(f"{args.learners} learners, {len(known)} exercises each, {args.jobs} at a time; {points} points given")
    print(f"ratio {grader / kernels:.2f}")


def mixed(exercise: Exercise) -> Iterable[dict[str, str]]:
    """Answers in the order in which learners get them: two right ones, then a wrong one."""
    path = ROOT / "lessons" / "wrong_answers" / f"{exercise.name}.py"
    cells = [cell for cell in jupytext.read(path, fmt="py:percent").cells if cell.metadata.get("title")]
    for wrong in islice(cells, 10):
        yield from (dict(exercise.reference), dict(exercise.reference))
        yield dict.fromkeys(exercise.answers, wrong.source)


def alone(handed_in: Iterable[Submission], known: dict[str, Exercise], jobs: int) -> None:
    """Run the notebooks as a learner would, each in a fresh kernel."""
    with ThreadPoolExecutor(jobs) as pool, tempfile.TemporaryDirectory() as folder:
        list(pool.map(lambda one: run(one, known[one.exercise], Path(folder)), handed_in))


def run(one: Submission, exercise: Exercise, folder: Path) -> None:
    """One notebook, with all its cells; the checks may raise what they like."""
    cells = []
    for cell in exercise.cells:
        if cell["cell_type"] == "code":
            text = one.sources[cell["id"]] if role(cell) == "answer" else source(cell)
            tags: dict[str, Any] = {"stoplib": {"role": role(cell)}}
            cells.append(nbformat.v4.new_code_cell(text, id=cell["id"], metadata=tags))
    notebook = nbformat.v4.new_notebook(cells=cells)
    try:
        execute(notebook, folder)
    except Exception:  # a check that is not passed
        return


if __name__ == "__main__":
    main()
