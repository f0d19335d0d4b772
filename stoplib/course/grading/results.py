"""What came of a submission: the points of each check, and in sentences why it has no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from stoplib.course.grading.assembling import Exercise
from stoplib.course.grading.collecting.submissions import Submission

SOLVED, PARTLY, NOT_SOLVED, NOT_BEGUN = "solved", "partly solved", "not solved", "not begun"
MISSING, UNREADABLE, NOT_GRADED = "missing", "cannot be read", "could not be graded"


@dataclass(frozen=True)
class CheckResult:
    """One check: whether it is passed, what it said, and a sentence for the teacher if it could not be finished."""

    check: str
    passed: bool
    said: str = ""
    sentence: str = ""


@dataclass(frozen=True)
class Marks:
    """The checks of one exercise. `sentences` tell the teacher what happened to its process, if anything did.

    `trouble` is what kept the grader itself from doing its work; then the checks say nothing.
    """

    checks: tuple[CheckResult, ...] = ()
    sentences: tuple[str, ...] = ()
    printed: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    begun: bool = True

    def as_dict(self) -> dict[str, Any]:
        """The marks as JSON can hold them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Marks:
        """The marks that `as_dict` has told.

        >>> marks = Marks((CheckResult("check-steps", True, "All right."),), ("a sentence",))
        >>> Marks.from_dict(marks.as_dict()) == marks
        True
        """
        checks = tuple(CheckResult(**check) for check in told["checks"])
        return cls(checks, tuple(told["sentences"]), dict(told["printed"]), told["trouble"], told["begun"])


@dataclass(frozen=True)
class Result:
    """One exercise of one learner, graded."""

    learner: str
    exercise: Exercise
    submission: Submission | None = None
    marks: Marks | None = None

    @property
    def checks(self) -> dict[str, CheckResult]:
        """The checks by id; none if nothing was graded."""
        return {one.check: one for one in self.marks.checks} if self.marks is not None else {}

    @property
    def points(self) -> int:
        """The points of the checks that are passed."""
        return sum(worth for check, worth in self.exercise.checks.items() if self._passed(check))

    @property
    def of(self) -> int:
        """The points that can be had."""
        return self.exercise.points

    @property
    def state(self) -> str:
        """In a word how far it is."""
        if self.submission is None:
            return MISSING
        if self.submission.problem:
            return UNREADABLE
        if self.marks is None or self.marks.trouble:
            return NOT_GRADED
        if not self.marks.begun:
            return NOT_BEGUN
        return SOLVED if self.points == self.of else PARTLY if self.points else NOT_SOLVED

    @property
    def late(self) -> bool:
        """Whether it came after the day that was set."""
        return self.submission is not None and self.submission.late

    @property
    def time(self) -> datetime | None:
        """When it was handed in."""
        return None if self.submission is None else self.submission.time

    @property
    def sentences(self) -> list[str]:
        """All that the teacher should know about it."""
        said: list[str] = []
        if self.submission is not None:
            said += [self.submission.problem] if self.submission.problem else []
        if self.marks is not None:
            said += [self.marks.trouble] if self.marks.trouble else []
            said += self.marks.sentences
        if self.submission is not None:
            said += self.submission.remarks
        return said

    def _passed(self, check: str) -> bool:
        return check in self.checks and self.checks[check].passed


@dataclass(frozen=True)
class Class:
    """The results of everybody, by learner and exercise."""

    exercises: Mapping[str, Exercise]
    results: Mapping[tuple[str, str], Result]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def learners(self) -> list[str]:
        """Everybody, in the order of the alphabet."""
        return sorted({learner for learner, _ in self.results}, key=str.casefold)

    def of(self, learner: str) -> list[Result]:
        """The results of one learner, in the order of the exercises; what is missing is among them."""
        return [
            self.results.get((learner, name)) or Result(learner, exercise) for name, exercise in self.exercises.items()
        ]

    def of_exercise(self, name: str) -> list[Result]:
        """The results of one exercise, of those who have handed it in."""
        return [result for (_, exercise), result in self.results.items() if exercise == name]

    def points(self, learner: str) -> int:
        """All points of a learner."""
        return sum(result.points for result in self.of(learner))

    @property
    def total(self) -> int:
        """The points that can be had in all."""
        return sum(exercise.points for exercise in self.exercises.values())

    def everything(self) -> Iterable[Result]:
        """All results, learner by learner."""
        return (result for learner in self.learners for result in self.of(learner))

    @property
    def complete(self) -> bool:
        """Whether everybody has all points."""
        return all(result.points == result.of for result in self.everything())

    @property
    def in_trouble(self) -> bool:
        """Whether the grader could not do its work somewhere."""
        return any(result.state == NOT_GRADED for result in self.everything())
