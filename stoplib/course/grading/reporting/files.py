"""The results as files for other programs: CSV for a gradebook, JSON, and JUnit XML for build servers."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any
from xml.etree import ElementTree

from stoplib.course.grading.results import MISSING, NOT_GRADED, UNREADABLE, Class, Result

NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(graded: Class) -> str:
    """A line per learner: the points of each exercise and of all, and which of them are missing or late.

    Points of what could not be graded are left empty, so that nobody takes them for 0.
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["learner", *graded.exercises, "points", "of", "missing", "late", "not graded"])
    for learner in graded.learners:
        results = graded.of(learner)
        trouble = [one for one in results if one.state in (NOT_GRADED, UNREADABLE)]
        rows.writerow(
            [
                text_of(learner),
                *("" if one in trouble or one.state == MISSING else one.points for one in results),
                graded.points(learner),
                graded.total,
                " ".join(one.exercise.name for one in results if one.state == MISSING),
                " ".join(one.exercise.name for one in results if one.late),
                " ".join(one.exercise.name for one in trouble),
            ]
        )
    return out.getvalue()


def text_of(name: str) -> str:
    """A name that no spreadsheet takes for a formula.

    >>> text_of("=1+1"), text_of("Ann")
    ("'=1+1", 'Ann')
    """
    return f"'{name}" if name.startswith(FORMULA) else name


def as_json(graded: Class) -> str:
    """Everything, for programs."""
    told = {
        "of": graded.total,
        "exercises": {name: one.checks for name, one in graded.exercises.items()},
        "learners": {
            learner: {
                "points": graded.points(learner),
                "exercises": {one.exercise.name: _told(one) for one in graded.of(learner)},
            }
            for learner in graded.learners
        },
        "left out": [{"file": where, "why": why} for where, why in graded.left_out],
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _told(result: Result) -> dict[str, Any]:
    return {
        "state": result.state,
        "points": result.points,
        "of": result.of,
        "late": result.late,
        "handed in": None if result.time is None else result.time.isoformat(" ", "seconds"),
        "file": "" if result.submission is None else result.submission.where,
        "checks": {
            name: {"passed": one.passed, "points": result.exercise.checks[name] if one.passed else 0, "said": one.said}
            | ({"sentence": one.sentence} if one.sentence else {})
            for name, one in result.checks.items()
        },
        "sentences": result.sentences,
    }


def as_junit(graded: Class) -> str:
    """A test suite per learner, a test case per check. What was not handed in is skipped."""
    root = ElementTree.Element("testsuites", name="stoplib")
    for learner in graded.learners:
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(learner))
        counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
        for result in graded.of(learner):
            for check in result.exercise.checks:
                counts["tests"] += 1
                case = ElementTree.SubElement(suite, "testcase", classname=result.exercise.name, name=check)
                if (kind := _problem(result, check)) is not None:
                    name, message, text = kind
                    counts[{"failure": "failures", "error": "errors"}.get(name, name)] += 1
                    ElementTree.SubElement(case, name, message=_xml(message)).text = _xml(text)
        suite.attrib.update({name: str(number) for name, number in counts.items()})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _problem(result: Result, check: str) -> tuple[str, str, str] | None:
    """(kind of element, message, text) for a check that is not passed."""
    if result.state == MISSING:
        return "skipped", "not handed in", ""
    one = result.checks.get(check)
    if one is None:
        return "error", "; ".join(result.sentences) or result.state, ""
    return None if one.passed else ("failure", one.sentence or "not passed", one.said)


def _xml(text: str) -> str:
    return NOT_IN_XML.sub("\ufffd", text)
