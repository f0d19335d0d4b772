"""The results on the terminal: a table, and what the teacher should know."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from stoplib.course.grading.results import MISSING, NOT_BEGUN, NOT_GRADED, UNREADABLE, Class, Result

NAME_WIDTH = 26
WORDS = {MISSING: "-", NOT_BEGUN: "0", UNREADABLE: "?", NOT_GRADED: "!"}


def cell(result: Result) -> str:
    """A result in a few characters: the points, or a sign where nothing could be graded."""
    return WORDS.get(result.state, str(result.points)) + ("*" if result.late else "")


def table(graded: Class) -> str:
    """Everybody's points, exercise by exercise.

    >>> print(table(Class({}, {})))
    learner                     all
    of                            0
    """
    numbers = [name[:2] for name in graded.exercises]
    lines = [["learner", *numbers, "all"]]
    lines += [[_short(who), *map(cell, graded.of(who)), str(graded.points(who))] for who in graded.learners]
    lines.append(["of", *(str(one.points) for one in graded.exercises.values()), str(graded.total)])
    return "\n".join(f"{name:<{NAME_WIDTH}}" + "".join(f"{text:>5}" for text in texts) for name, *texts in lines)


def _short(name: str) -> str:
    return name if len(name) < NAME_WIDTH else f"{name[: NAME_WIDTH - 2]}…"


def legend(graded: Class) -> str:
    """What the signs in the table mean, those that are in it."""
    meanings = {"-": "missing", "?": "cannot be read", "!": "could not be graded", "*": "late"}
    shown = "".join(cell(result) for result in graded.everything())
    return ", ".join(f"{sign} {meaning}" for sign, meaning in meanings.items() if sign in shown)


def sentences(graded: Class) -> Iterator[str]:
    """What the teacher should know, one paragraph each."""
    for result in graded.everything():
        for sentence in result.sentences:
            yield _wrapped(f"{result.learner}, {result.exercise.name}: {sentence}")
    for where, why in graded.left_out:
        yield _wrapped(f"Left out: {where}. {why}")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 110, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
