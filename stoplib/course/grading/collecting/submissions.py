"""One submission per learner and exercise: of two tries the last one; who is late, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from stoplib.course.grading.assembling import Exercise
from stoplib.course.grading.collecting.archives import Unreadable
from stoplib.course.grading.collecting.people import Person, owner
from stoplib.course.grading.collecting.places import File, files_in
from stoplib.course.grading.collecting.reading import Answers, NoNotebook, NotAsked, answers_in, exercise_named

NOTEBOOK = ".ipynb"
KEPT_BY_FRESH = ".mine-"


@dataclass(frozen=True)
class Submission:
    """What one learner has handed in for one exercise. `problem` says why it cannot be graded, if it cannot."""

    learner: str
    exercise: str
    sources: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    time: datetime | None = None
    late: bool = False
    problem: str = ""
    remarks: tuple[str, ...] = ()


@dataclass
class Collected:
    """All that was found. `left_out` names the files that nobody has to grade, each with the reason."""

    submissions: list[Submission] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    @property
    def learners(self) -> list[str]:
        """Everybody of whom there is something, in the order of the alphabet."""
        return sorted({one.learner for one in self.submissions}, key=str.casefold)


def collect(
    paths: Iterable[Path],
    exercises: Mapping[str, Exercise],
    due: datetime | None = None,
    without: Path | None = None,
) -> Collected:
    """Find the submissions below the paths, but not in the folder `without`.

    Raises FileNotFoundError for a path that is not there.
    """
    found = Collected()
    tries: dict[tuple[str, str], list[Submission]] = {}
    for path in map(Path, paths):
        path = path.resolve()
        if not path.exists():
            raise FileNotFoundError(2, "There is no such file or folder", str(path))
        for one in _in_path(path, exercises, due, without, found):
            tries.setdefault((one.learner, one.exercise), []).append(one)
    found.submissions = [_last(same) for _, same in sorted(tries.items())]
    return found


def _in_path(
    path: Path, exercises: Mapping[str, Exercise], due: datetime | None, without: Path | None, found: Collected
) -> Iterator[Submission]:
    outer = tuple(part for part in path.parent.parts[-3:] if part != path.anchor)
    files = list(_notebooks(files_in(path, without), found))
    common = len(outer) + _common([file.parts for file in files])
    by_name = [file for file in files if exercise_named(file.name, exercises) is None]
    own_files = len(by_name) > 1 or path.is_file()
    for file in files:
        person = owner((*outer, *file.parts), common, own_files and file in by_name)
        try:
            yield _submission(file, person, exercises, due)
        except NotAsked as error:
            found.left_out.append((file.where, str(error)))
        except NoNotebook as error:
            if error.exercise is None:
                found.left_out.append((file.where, str(error)))
            else:
                time = person.time or file.time
                yield Submission(
                    person.name,
                    error.exercise,
                    where=file.where,
                    time=time,
                    late=_late(time, person, due),
                    problem=str(error),
                )


def _notebooks(files: Iterable[File], found: Collected) -> Iterator[File]:
    """The files that may be submissions."""
    for file in files:
        if file.refused and not file.name.lower().endswith(NOTEBOOK):
            found.left_out.append((file.where, file.refused))
        elif not file.name.lower().endswith(NOTEBOOK):
            found.left_out.append((file.where, "It is no notebook."))
        elif KEPT_BY_FRESH in file.name:
            found.left_out.append((file.where, "It is an older version, which course.py fresh has kept."))
        else:
            yield file


def _common(paths: list[tuple[str, ...]]) -> int:
    """How many of their first folders all files have in common."""
    folders = [path[:-1] for path in paths]
    shared = 0
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        shared += 1
    return shared


def _submission(file: File, person: Person, exercises: Mapping[str, Exercise], due: datetime | None) -> Submission:
    if file.refused:
        raise NoNotebook(file.refused, exercise_named(file.name, exercises))
    try:
        content = file.read()
    except (OSError, Unreadable) as error:
        raise NoNotebook(str(error), exercise_named(file.name, exercises)) from None
    answers: Answers = answers_in(content, file.name, exercises)
    time = person.time or file.time
    return Submission(
        person.name,
        answers.exercise,
        answers.sources,
        file.where,
        time,
        _late(time, person, due),
        remarks=answers.remarks,
    )


def _late(time: datetime | None, person: Person, due: datetime | None) -> bool:
    return person.late or (due is not None and time is not None and time > due)


def _last(tries: list[Submission]) -> Submission:
    """The last of several tries, with a remark on the others."""
    ordered = sorted(tries, key=lambda one: (one.time or datetime.min, one.where))
    last = ordered[-1]
    if len(ordered) == 1:
        return last
    others = ", ".join(one.where for one in ordered[:-1])
    remark = f"{len(ordered)} tries were handed in. The last one counts, {last.where}; not graded: {others}."
    return Submission(**{**vars(last), "remarks": (remark, *last.remarks)})
