"""How a class is graded: who is marked, what is known from before, and on which executor."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from stoplib.course.grading.assembling import Exercise
from stoplib.course.grading.collecting.submissions import Collected, Submission
from stoplib.course.grading.marking import POOL, Job, mark
from stoplib.course.grading.results import Class, Marks, Result
from stoplib.course.grading.running.limits import Limits

Tell = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Kept:
    """Marks that are kept on disk, one file each, so that a run that was stopped goes on where it was."""

    folder: Path
    version: str
    limits: Limits

    def path(self, submission: Submission) -> Path:
        """The file of a submission: another answer, another version of the course or other limits are another file."""
        told = [self.version, submission.exercise, sorted(submission.sources.items()), self.limits.as_dict()]
        digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()
        return self.folder / f"{submission.exercise}-{digest[:24]}.json"

    def read(self, submission: Submission) -> Marks | None:
        """The marks from before, or None."""
        try:
            return Marks.from_dict(json.loads(self.path(submission).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, submission: Submission, marks: Marks) -> None:
        """Keep marks; they are there as a whole or not at all."""
        if marks.trouble:
            return
        path = self.path(submission)
        self.folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(marks.as_dict(), indent=1), encoding="utf-8")
        part.replace(path)


@dataclass
class Batch:
    """What is graded together. All of it gets the same secret, which nobody knows and which is not kept."""

    exercises: Mapping[str, Exercise]
    kept: Kept | None = None
    limits: Limits = field(default_factory=Limits)
    hidden: tuple[str, ...] = ()
    jobs: int = 1
    executor: Executor | None = None
    again: bool = False
    namespaces: bool = True
    secret: str = field(default_factory=lambda: secrets.token_hex(16))
    troubles: dict[str, str] = field(default_factory=dict)  # of the exercises whose solution has been tried, if any

    def grade(self, collected: Collected, tell: Tell = lambda done, of, what: None) -> Class:
        """Grade what was collected. `tell(done, of, what)` is called whenever something is finished."""
        results = {}
        left: list[Submission] = []
        for one in collected.submissions:
            if one.exercise not in self.exercises:
                continue
            known = None if one.problem or self.again or self.kept is None else self.kept.read(one)
            results[one.learner, one.exercise] = Result(one.learner, self.exercises[one.exercise], one, known)
            if known is None and not one.problem:
                left.append(one)
        total, done = len(results), len(results) - len(left)
        tell(done, total, "known from before" if done else "")
        for submission, marks in self._marked(left):
            done += 1
            if self.kept is not None:
                self.kept.write(submission, marks)
            learner, exercise = submission.learner, submission.exercise
            results[learner, exercise] = Result(learner, self.exercises[exercise], submission, marks)
            tell(done, total, f"{learner}, {exercise}")
        return Class(self.exercises, results, tuple(collected.left_out))

    def _marked(self, submissions: list[Submission]) -> Iterator[tuple[Submission, Marks]]:
        """The submissions with their marks, as they are finished."""
        if self.executor is not None:
            yield from self._on(self.executor, submissions)
            return
        pool = ThreadPoolExecutor(self.jobs)  # each thread waits for a process of its own
        try:
            yield from self._on(pool, submissions)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            POOL.close()
            raise
        finally:
            pool.shutdown()

    def _on(self, executor: Executor, submissions: list[Submission]) -> Iterator[tuple[Submission, Marks]]:
        """First the reference solutions: an exercise that they do not pass here cannot be graded here."""
        needed = {one.exercise for one in submissions} - self.troubles.keys()
        tried = {
            name: executor.submit(mark, self._job(name, self.exercises[name].reference)) for name in sorted(needed)
        }
        self.troubles |= {name: reference_trouble(name, future.result()) for name, future in tried.items()}
        waiting: dict[Future[Marks], Submission] = {}
        for one in submissions:
            if trouble := self.troubles[one.exercise]:
                yield one, Marks(trouble=trouble)
            else:
                waiting[executor.submit(mark, self._job(one.exercise, one.sources))] = one
        for future in as_completed(waiting):
            try:
                marks = future.result()
            except Exception as error:
                marks = Marks(trouble=f"The grader failed: {type(error).__name__}: {error}")
            yield waiting.pop(future), marks

    def _job(self, exercise: str, sources: Mapping[str, str]) -> Job:
        return Job(self.exercises[exercise], sources, self.secret, self.limits, self.hidden, self.namespaces)


def reference_trouble(name: str, marks: Marks) -> str:
    """Why an exercise cannot be graded here, if its own solution does not pass; else an empty text."""
    failed = [check.check for check in marks.checks if not check.passed]
    if not failed and not marks.trouble:
        return ""
    why = " ".join([marks.trouble, *marks.sentences]).strip() or f"it fails {', '.join(failed)}"
    return f"The course's own solution of {name} does not pass here, so nothing can be said of others: {why}"
