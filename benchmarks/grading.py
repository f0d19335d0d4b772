"""How long it takes to grade a class, beside running the same notebooks in kernels and nothing else.

    python benchmarks/grading.py                 30 learners, 10 exercises each, on two processors: ten minutes
    python benchmarks/grading.py --learners 3    the same, in a minute

Two of three answers are the reference solution, each third is a wrong one that people give. "Kernels alone" is the
least that a notebook costs: a fresh kernel, its cells, no comparison, no isolation, no judge. Prints seconds and
ratios; the grader and the kernels take turns, learner by learner, so that a busy moment of the machine hits both.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import psutil

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
    args = parser.parse_args()
    known = exercises(ROOT)
    answers = {name: cycle(mixed(exercise)) for name, exercise in known.items()}
    batch = Batch(known, jobs=args.jobs)
    spent = {"kernels alone": [0.0, 0.0], "the grader": [0.0, 0.0]}
    points = 0
    for number in range(args.learners):
        learner = f"learner {number:02}"
        handed_in = [Submission(learner, name, next(answers[name])) for name in known]
        with measured(spent["kernels alone"]):
            alone(handed_in, known, args.jobs)
        with measured(spent["the grader"]):
            points += batch.grade(Collected(handed_in)).points(learner)
        print(f"{learner}  " + "  ".join(f"{what} {wall:6.1f} s" for what, (wall, _) in spent.items()), flush=True)
    POOL.close()
    print(f"\n{args.learners} learners, {len(known)} exercises each, {args.jobs} at a time; {points} points given\n")
    print(f"{'':16}{'wall':>10}{'processor':>12}")
    for what, (wall, processor) in spent.items():
        print(f"{what:16}{wall:>8.1f} s{processor:>10.1f} s")
    (wall, processor), (graded_wall, graded_processor) = spent.values()
    print(f"{'ratio':16}{graded_wall / wall:>10.2f}{graded_processor / processor:>12.2f}")


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


class measured:
    """Adds wall and processor time, that of processes which were started included, to a pair of numbers."""

    def __init__(self, spent: list[float]) -> None:
        self.spent = spent

    def __enter__(self) -> None:
        self.before = time.monotonic(), processor_time()

    def __exit__(self, *args: object) -> None:
        self.spent[0] += time.monotonic() - self.before[0]
        self.spent[1] += processor_time() - self.before[1]


def processor_time() -> float:
    """Of this process, of those that it has waited for, and of those that are still there."""
    mine = os.times()
    below = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            spent = process.cpu_times()
        except psutil.Error:
            continue
        below += spent.user + spent.system + getattr(spent, "children_user", 0) + getattr(spent, "children_system", 0)
    return mine.user + mine.system + mine.children_user + mine.children_system + below


if __name__ == "__main__":
    main()
