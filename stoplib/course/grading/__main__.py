"""The command: `python -m stoplib.course.grading PATH ...`, which `course.py grade` runs.

exit code  meaning
0          everybody has all points
1          graded, and somebody has not all points, or something is missing or cannot be read
2          nothing was graded: a path or an option is wrong, or there is no submission in what was given
3          graded, but the grader could not do its work everywhere; what it could not grade is named
130        interrupted; the same command goes on where this one stopped
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TextIO

from stoplib.course.grading.assembling import exercises, version_of
from stoplib.course.grading.batch import Batch, Kept
from stoplib.course.grading.collecting.submissions import Collected, collect
from stoplib.course.grading.progress_bar import Bar, processors
from stoplib.course.grading.reporting import feedback, files, page, terminal
from stoplib.course.grading.results import Class
from stoplib.course.grading.running import linux
from stoplib.course.grading.running.limits import Limits, not_held

ROOT = Path(__file__).resolve().parents[3]
FULL, NOT_FULL, NOTHING, TROUBLE, INTERRUPTED = 0, 1, 2, 3, 130
FINISHED = "finished"


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Grade what the paths hold, write the reports, and return the exit code."""
    options = _options(arguments)
    known = exercises(root)
    chosen = {
        name: known[name]
        for name in known
        if not options.exercise or name[:2] in options.exercise or name in options.exercise
    }
    unknown = [repr(name) for name in options.exercise if name not in {*known, *(one[:2] for one in known)}]
    if unknown:
        return _nothing(f"The course has no exercise {' or '.join(unknown)}. It has: {', '.join(known)}.")
    paths = [options.base / path for path in options.paths]
    results = (options.base / options.results).resolve()
    try:
        collected = collect(paths, known, options.due, without=results)
    except FileNotFoundError as error:
        return _nothing(f"{error.strerror}: {error.filename}")
    collected.submissions = [one for one in collected.submissions if one.exercise in chosen]
    if not collected.submissions:
        return _nothing(_why_nothing(collected))
    try:
        (results / FINISHED).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return _nothing(f"The reports cannot be written into {results}: {error.strerror}.")
    limits = Limits(cell=options.seconds, wait=4 * options.seconds, exercise=12 * options.seconds)
    hidden = tuple(str(path.resolve()) for path in [*paths, results])
    batch = Batch(
        chosen,
        Kept(results / FINISHED, version_of(root), limits),
        limits,
        hidden,
        options.jobs,
        again=options.again,
    )
    try:
        with Bar(sys.stderr) as bar:
            graded = batch.grade(collected, bar)
    except KeyboardInterrupt:
        print("\nInterrupted. What is finished is kept; the same command goes on from there.", file=sys.stderr)
        return INTERRUPTED
    try:
        write_reports(graded, results)
    except OSError as error:  # such as a table that a spreadsheet holds open
        print(f"{error.filename} cannot be written: {error.strerror}.", file=sys.stderr)
        print("What is graded is kept. Set that right; the same command writes the reports.", file=sys.stderr)
        return TROUBLE
    _say(graded, results, sys.stdout)
    return exit_code(graded)


def exit_code(graded: Class) -> int:
    """What the command returns for these results."""
    return TROUBLE if graded.in_trouble else FULL if graded.complete else NOT_FULL


def write_reports(graded: Class, folder: Path) -> None:
    """Write every report into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("grades.csv", files.as_csv(graded)),
        ("grades.json", files.as_json(graded)),
        ("junit.xml", files.as_junit(graded)),
        ("report.html", page.as_page(graded)),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    feedback.write_feedback(graded, folder / "feedback")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="course.py grade",
        description="Grade notebooks, folders and zip files of learners.",
        epilog=(__doc__ or "").partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a notebook, a folder, or a zip file")
    parser.add_argument("--results", type=Path, default=Path("grades"), help="the folder for the reports (grades)")
    parser.add_argument(
        "--exercise", action="append", default=[], metavar="NN", help="only this exercise; may be repeated"
    )
    parser.add_argument("--due", type=_time, help='what comes later is late: "2026-12-01 18:00"')
    parser.add_argument("--jobs", type=_number, default=processors(), help="how many at a time (one per processor)")
    parser.add_argument("--seconds", type=_number, default=10, help="processor time that one check may take (10)")
    parser.add_argument("--again", action="store_true", help="grade anew what is known from before")
    parser.add_argument("--base", type=Path, default=Path.cwd(), help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text!r} is no time; write it like "2026-12-01 18:00"') from None


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def _nothing(why: str) -> int:
    print(why, file=sys.stderr)
    return NOTHING


def _why_nothing(collected: Collected) -> str:
    said = ["There is no exercise of the course in what was given."]
    said += [f"  {where}: {why}" for where, why in collected.left_out[:10]]
    return "\n".join(said)


def _say(graded: Class, results: Path, out: TextIO) -> None:
    print(terminal.table(graded), file=out)
    if signs := terminal.legend(graded):
        print(signs, file=out)
    paragraphs = list(terminal.sentences(graded))
    if paragraphs:
        print("", *paragraphs, sep="\n", file=out)
    if limits := not_held(linux.available()):
        print("\nNot limited on this computer:", *limits, sep="\n- ", file=out)
    print(f"\nThe reports are in {results}: report.html for reading, grades.csv for a gradebook.", file=out)


if __name__ == "__main__":
    sys.exit(main())
