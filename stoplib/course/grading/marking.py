"""How one exercise of one learner is marked: examined, and where a kernel was lost, examined again from there.

`mark` takes a job that can be pickled and returns one that can: it runs on any `concurrent.futures` executor.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stoplib.course.grading.assembling import Exercise, assemble
from stoplib.course.grading.judging.judge import Judge
from stoplib.course.grading.results import CheckResult, Marks
from stoplib.course.grading.running.examiner import Event, Examiner, Lost
from stoplib.course.grading.running.limits import Limits

NO_TIME = "There was no time left for it: an exercise has {0:g} seconds in all."
NOT_SHOWN = "The check is right, but its cell did not show it: code of the learner's changes what is shown or raised."
ENDED_US = "It ended the process that graded it."


@dataclass(frozen=True)
class Job:
    """One exercise to mark. `secret` decides the cases that nobody knows; `hidden` are paths it must not see."""

    exercise: Exercise
    sources: Mapping[str, str]
    secret: str
    limits: Limits = field(default_factory=Limits)
    hidden: tuple[str, ...] = ()
    namespaces: bool = True

    @property
    def begun(self) -> bool:
        """Whether anything has been written."""
        return any(self.sources[name].strip() != stub.strip() for name, stub in self.exercise.stubs.items())


class _Pool:
    """The examiners of this process. One that was ended starts its process anew when it is needed."""

    def __init__(self) -> None:
        self._begin()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)  # those of the parent are not ours to use

    def _begin(self) -> None:
        self._idle: list[Examiner] = []
        self._busy: list[Examiner] = []
        self._lock = threading.Lock()

    @contextmanager
    def examiner(self) -> Iterator[Examiner]:
        """An examiner that nobody else uses meanwhile."""
        with self._lock:
            one = self._idle.pop() if self._idle else Examiner()
            self._busy.append(one)
        try:
            yield one
        except BaseException:
            one.close()
            raise
        finally:
            with self._lock:
                self._busy.remove(one)
                self._idle.append(one)

    def close(self) -> None:
        """End all examiners, also those that are at work: their orders are lost."""
        with self._lock:
            found = [*self._idle, *self._busy]
        for one in found:
            one.close()


POOL = _Pool()


def mark(job: Job) -> Marks:
    """Mark one exercise. It raises nothing that a learner's code can cause."""
    if not job.begun:
        return Marks(tuple(CheckResult(check, False) for check in job.exercise.checks), begun=False)
    with POOL.examiner() as examiner:
        return _Marking(job, examiner).marks()


class _Marking:
    """The marking of one exercise."""

    def __init__(self, job: Job, examiner: Examiner) -> None:
        self.job, self.examiner = job, examiner
        self.judge = Judge({}, job.secret)
        self.results: dict[str, CheckResult] = {}
        self.sentences: dict[str, None] = {}
        self.printed: dict[str, str] = {}

    def marks(self) -> Marks:
        """Examine until every check has a result."""
        end = time.monotonic() + self.job.limits.exercise
        trouble = ""
        while left := [check for check in self.job.exercise.checks if check not in self.results]:
            if time.monotonic() > end:
                self._fail(left, NO_TIME.format(self.job.limits.exercise))
                break
            if trouble := self._examine(left):
                break
        checks = tuple(self.results[check] for check in self.job.exercise.checks if check in self.results)
        return Marks(checks, tuple(self.sentences), self.printed, trouble)

    def _examine(self, checks: Sequence[str]) -> str:
        """Run the exercise with the checks that are left, up to the first that breaks its kernel.

        Returns what kept the grader from doing so, if anything did.
        """
        running = lost = trouble = ""
        roles = {name: "answer" for name in self.job.exercise.answers} | {check: "check" for check in checks}
        try:
            for event in self.examiner.examine(self._order(checks), self.job.limits):
                if event["event"] == "cell":
                    running = str(event["cell"])
                if event["event"] == "record":
                    trouble, lost = event["trouble"], event["lost"]
                    self._record(event)
                    running = running if trouble or lost else ""
        except Lost as error:
            if not running:
                return f"The process that grades could not be used: {error}."
            trouble, lost = "", ENDED_US
        if trouble:
            return trouble
        if roles.get(running) == "check":
            self._fail([running], lost)
        elif running:
            self._fail(checks, f"Before any check, in the cell {running}: {lost}")
        elif not set(checks) <= self.results.keys():
            return "A cell has no record of how it ended."
        return ""

    def _order(self, checks: Sequence[str]) -> dict[str, Any]:
        job = self.job
        receipts = {check: self.judge.receipt(check) for check in checks}
        return {
            "notebook": assemble(job.exercise, job.sources, checks, receipts),
            "cells": job.exercise.code,
            "secret": job.secret,
            "limits": job.limits.as_dict(),
            "hidden": [*job.hidden, tempfile.gettempdir()],
            "namespaces": job.namespaces,
        }

    def _record(self, event: Event) -> None:
        cell = event["cell"]
        if event["printed"]:
            self.printed[cell] = event["printed"]
        if event["role"] != "check":
            if event["raised"]:
                self.sentences[f"The cell {cell} raised {event['raised']}"] = None
            return
        if event["lost"] or event["trouble"]:
            return  # what the loss means is said by the one who reads on
        verdict = event.get("verdict")
        if verdict is None:
            sentence = f"Its cell did not ask for the check. {event['raised']}".strip()
            self.results[cell] = CheckResult(cell, False, "", sentence)
            self.sentences[f"{self.job.exercise.title_of(cell)}: {sentence}"] = None
            return
        passed = bool(verdict["passed"] and event["passed"])
        sentence = verdict["error"]
        if verdict["passed"] and not event["passed"]:
            sentence = NOT_SHOWN
            self.sentences[NOT_SHOWN] = None
        self.results[cell] = CheckResult(cell, passed, verdict["said"], sentence)

    def _fail(self, checks: Sequence[str], sentence: str) -> None:
        for check in checks:
            self.results[check] = CheckResult(check, False, "", sentence)
        where = "" if len(checks) > 1 else f"{self.job.exercise.title_of(checks[0])}: "
        self.sentences[f"{where}{sentence}"] = None
