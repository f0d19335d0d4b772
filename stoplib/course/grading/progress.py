"""What is done: `python -m stoplib.course.grading.progress`, which `course.py progress` runs.

It runs the checks on the learner's copy in `work/`, as the grader would, and tells how far each chapter was run.
What has not changed since the last time is known and not run again. It writes nothing but what it has found out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from stoplib.course.grading.assembling import Exercise, exercises, read_cells, version_of
from stoplib.course.grading.batch import Batch, Kept
from stoplib.course.grading.collecting.submissions import Collected, collect
from stoplib.course.grading.progress_bar import Bar, processors
from stoplib.course.grading.results import NOT_BEGUN, SOLVED, Class, Result
from stoplib.course.grading.running.limits import Limits

ROOT = Path(__file__).resolve().parents[3]
KEPT = ".progress"
WIDTH = 24


def main(root: Path = ROOT) -> int:
    """Say what is done. Returns 0, or 130 if it was interrupted."""
    work = root / "work"
    known = exercises(root)
    limits = Limits()
    folder = work / "exercises"
    collected = collect([folder], known) if folder.is_dir() else Collected()
    batch = Batch(known, Kept(work / KEPT, version_of(root), limits), limits, (str(root / "solutions"),), processors())
    try:
        with Bar(sys.stderr) as bar:
            graded = batch.grade(collected, bar if sys.stderr.isatty() else lambda done, of, what: None)
    except KeyboardInterrupt:
        return 130
    print("Chapters: cells that were run")
    print(*chapters(work / "notebooks"), sep="\n")
    print("\nExercises: checks that are passed")
    print(*lines(graded, known), sep="\n")
    return 0


def chapters(folder: Path) -> Iterator[str]:
    """A line for each chapter in a folder: how many of its code cells have been run."""
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        try:
            code = [cell for cell in read_cells(path) if cell["cell_type"] == "code"]
        except (OSError, ValueError, KeyError, TypeError):
            yield f"  {path.stem:<{WIDTH}} cannot be read"
            continue
        ran = sum(cell.get("execution_count") is not None for cell in code)
        yield f"  {path.stem:<{WIDTH}} {ran:>2} of {len(code):>2}"


def lines(graded: Class, known: dict[str, Exercise]) -> Iterator[str]:
    """A line for each exercise."""
    results = {result.exercise.name: result for result in graded.results.values()}
    for name, exercise in known.items():
        result = results.get(name) or Result("", exercise)
        yield f"  {name:<{WIDTH}} {told(result)}"


def told(result: Result) -> str:
    """How far one exercise is."""
    if result.state in (SOLVED, NOT_BEGUN):
        return f"{result.points:>2} of {result.of:>2}  {result.state}"
    if not result.checks:
        return ": ".join([result.state, *result.sentences[:1]])
    missing = ", ".join(name for name, one in result.checks.items() if not one.passed)
    return f"{result.points:>2} of {result.of:>2}  not yet: {missing}"


if __name__ == "__main__":
    sys.exit(main())
