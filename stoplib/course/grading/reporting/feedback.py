"""Notebooks to hand back: the course's copy with the learner's answers, and under each check what it said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stoplib.course.grading.assembling import Cell, role
from stoplib.course.grading.results import Class, Result

MARK = {True: "passed", False: "not yet"}
NOT_IN_NAMES = re.compile(r"[^\w .-]+")


def write_feedback(graded: Class, folder: Path) -> int:
    """Write a notebook for each result that there are marks for; return how many."""
    number = 0
    for result in graded.everything():
        if result.checks:
            path = folder / file_name(result.learner) / f"{result.exercise.name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(notebook(result), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            number += 1
    return number


def file_name(learner: str) -> str:
    """A name as a folder's name, on every system.

    >>> file_name("Ann/../Smith: 7."), file_name("CON")
    ('Ann_.._Smith_ 7', 'CON_')
    """
    name = NOT_IN_NAMES.sub("_", learner).strip(" .") or "unnamed"
    return f"{name}_" if re.fullmatch(r"(?i)con|prn|aux|nul|com\d|lpt\d", name) else name


def notebook(result: Result) -> dict[str, Any]:
    """The notebook that a learner gets back."""
    assert result.submission is not None
    cells = [_heading(result)]
    for cell in result.exercise.cells:
        cells.append(_with_answer(cell, result))
        if role(cell) == "check":
            cells += _said(cell["id"], result)
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}


def _heading(result: Result) -> Cell:
    lines = [f"**{result.points} of {result.of} points**, {result.state}{', late' if result.late else ''}"]
    lines += [f"- {_plain(sentence)}" for sentence in result.sentences]
    return _markdown("feedback", "\n\n".join([lines[0], "\n".join(lines[1:])]).strip())


def _with_answer(cell: Cell, result: Result) -> Cell:
    assert result.submission is not None
    copy = {**cell, "metadata": {}}
    if cell["cell_type"] == "code":
        copy |= {"outputs": [], "execution_count": None}
    if role(cell) == "answer":
        copy["source"] = result.submission.sources[cell["id"]]
    return copy


def _said(check: str, result: Result) -> Iterator[Cell]:
    one = result.checks[check]
    worth = result.exercise.checks[check]
    heading = f"**{MARK[one.passed]}**, {worth if one.passed else 0} of {worth} {'point' if worth == 1 else 'points'}"
    if one.sentence and not one.passed:
        heading += f". {_plain(one.sentence)}"
    text = f"\n\n```text\n{one.said.replace('```', chr(39) * 3).rstrip()}\n```" if one.said.strip() else ""
    yield _markdown(f"feedback-{check}", heading + text)


def _plain(text: str) -> str:
    """Text in which Markdown sees nothing but text."""
    return re.sub(r"([\\`*_{}\[\]<>#$|])", r"\\\1", " ".join(text.split()))


def _markdown(name: str, text: str) -> Cell:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}
