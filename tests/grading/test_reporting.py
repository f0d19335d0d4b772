"""What is reported: the same results as a table, as files for programs, as one page, as notebooks to hand back."""

import csv
import io
import json
import re
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser
from xml.etree import ElementTree

import nbformat
import pytest

from stoplib.course.grading.collecting.submissions import Submission
from stoplib.course.grading.reporting import feedback, files, page, terminal
from stoplib.course.grading.results import CheckResult, Class, Marks, Result
from tests.grading.helpers import EXERCISES, FIRST, WRONG

SECOND = EXERCISES["02_no_new_results"]
EVIL = '<script>alert("x")</script> & <b>'
SAID = f"right: one\nnot yet: {EVIL}\n    hint: what ends the loop?\n\x1b[31m\x00```"


def passed_all(exercise):
    """Marks with all points."""
    return Marks(tuple(CheckResult(check, True, "All right.\n") for check in exercise.checks))


def some():
    """Marks of exercise 01 with all but two points."""
    wrong = {"check-time": CheckResult("check-time", False, SAID, "2 of 4 lines are not right."), "check-ties": None}
    wrong["check-ties"] = CheckResult("check-ties", False, "", "Its process came to an end.")
    checks = tuple(wrong.get(check) or CheckResult(check, True, "All right.\n") for check in FIRST.checks)
    return Marks(checks, ("ties: Its process came to an end.",))


def handed_in(who, exercise=FIRST, **more):
    """A submission with a wrong answer."""
    return Submission(
        who, exercise.name, dict.fromkeys(exercise.answers, WRONG), f"{who}/{exercise.name}.ipynb", **more
    )


@pytest.fixture
def graded():
    """A class: one with all points, one with some, one with an evil name, one who is late, one in trouble."""
    ann = handed_in("Ann", time=datetime(2026, 11, 30, 12, 0))
    results = [
        Result("Ann", FIRST, ann, passed_all(FIRST)),
        Result("Ann", SECOND, handed_in("Ann", SECOND), passed_all(SECOND)),
        Result("bob", FIRST, handed_in("bob", late=True), some()),
        Result("bob", SECOND, handed_in("bob", SECOND), Marks(passed_all(SECOND).checks, begun=False)),
        Result(EVIL, FIRST, handed_in(EVIL, problem="The file is empty.")),
        Result("=1+1", FIRST, handed_in("=1+1"), Marks(trouble="no kernel")),
    ]
    exercises = {one.name: one for one in (FIRST, SECOND)}
    by_key = {(one.learner, one.exercise.name): one for one in results}
    return Class(exercises, by_key, (("class/notes.txt", "It is no notebook."),))


class TestResults:
    """Points and states."""

    def test_points(self, graded):
        """Each check gives its own points; what is missing or cannot be read gives none."""
        assert {learner: graded.points(learner) for learner in graded.learners} == {
            "Ann": 11,
            "bob": 9,
            EVIL: 0,
            "=1+1": 0,
        }
        assert graded.total == 11

    def test_states(self, graded):
        """One word for each exercise of each learner, missing ones included."""
        states = {learner: [result.state for result in graded.of(learner)] for learner in graded.learners}
        assert states == {
            "Ann": ["solved", "solved"],
            "bob": ["partly solved", "not begun"],
            EVIL: ["cannot be read", "missing"],
            "=1+1": ["could not be graded", "missing"],
        }

    def test_the_order_of_names(self, graded):
        """By the alphabet, whether they begin with a capital or not."""
        assert graded.learners == [EVIL, "=1+1", "Ann", "bob"]

    def test_complete_and_in_trouble(self, graded):
        """A class is complete if everybody has all points."""
        only_ann = replace(graded, results={key: one for key, one in graded.results.items() if key[0] == "Ann"})
        assert (only_ann.complete, only_ann.in_trouble) == (True, False)
        assert (graded.complete, graded.in_trouble) == (False, True)


class TestTerminal:
    """The table."""

    def test_table(self, graded):
        """A line each, a column for each exercise, signs where there are no points."""
        lines = [line.split() for line in terminal.table(graded).splitlines()]
        assert lines[0] == ["learner", "01", "02", "all"]
        assert lines[-2:] == [["bob", "5*", "0", "9"], ["of", "7", "4", "11"]]
        assert lines[2] == ["=1+1", "!", "-", "0"]

    def test_legend(self, graded):
        """The signs that are there are explained, no others."""
        assert terminal.legend(graded) == "- missing, ? cannot be read, ! could not be graded, * late"
        assert terminal.legend(replace(graded, results={})) == ""

    def test_sentences(self, graded):
        """What happened to whom, and what was left out."""
        said = "\n".join(terminal.sentences(graded))
        assert "bob, 01_three_exits: ties: Its process came to an end." in said
        assert "=1+1, 01_three_exits: no kernel" in said
        assert "Left out: class/notes.txt. It is no notebook." in said


class TestFiles:
    """Files for programs."""

    def test_csv(self, graded):
        """A row each. Empty where nothing could be graded. No spreadsheet runs a name as a formula."""
        rows = {row["learner"]: row for row in csv.DictReader(io.StringIO(files.as_csv(graded)))}
        assert (rows["Ann"]["01_three_exits"], rows["Ann"]["points"], rows["Ann"]["of"]) == ("7", "11", "11")
        assert (rows["bob"]["late"], rows["bob"]["missing"]) == ("01_three_exits", "")
        assert (rows["'=1+1"]["01_three_exits"], rows["'=1+1"]["not graded"]) == ("", "01_three_exits")
        assert rows[EVIL]["missing"] == "02_no_new_results"

    def test_json(self, graded):
        """Everything, with the points of each check."""
        told = json.loads(files.as_json(graded))
        bob = told["learners"]["bob"]["exercises"]["01_three_exits"]
        assert (bob["state"], bob["points"], bob["of"], bob["late"]) == ("partly solved", 5, 7, True)
        assert bob["checks"]["check-time"] == {
            "passed": False,
            "points": 0,
            "said": SAID,
            "sentence": "2 of 4 lines are not right.",
        }
        assert told["learners"]["Ann"]["exercises"]["01_three_exits"]["handed in"] == "2026-11-30 12:00:00"
        assert told["left out"] == [{"file": "class/notes.txt", "why": "It is no notebook."}]

    def test_junit(self, graded):
        """A suite each, a case for each check: failures, errors where nothing could be graded, skipped if missing."""
        root = ElementTree.fromstring(files.as_junit(graded))
        suites = {suite.get("name"): suite for suite in root}
        counts = {
            name: [suite.get(key) for key in ("tests", "failures", "errors", "skipped")]
            for name, suite in suites.items()
        }
        assert counts == {
            "Ann": ["11", "0", "0", "0"],
            "bob": ["11", "2", "0", "0"],
            EVIL: ["11", "0", "7", "4"],
            "=1+1": ["11", "0", "7", "4"],
        }
        failure = suites["bob"].find("testcase[@name='check-time']/failure")
        assert failure.get("message") == "2 of 4 lines are not right." and EVIL in failure.text


class Seen(HTMLParser):
    """The tags of a page, and what they load."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.loads = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [value for name, value in attributes if name in ("src", "href") and not value.startswith("#")]


class TestPage:
    """The page."""

    def test_it_stands_alone(self, graded):
        """Nothing is loaded from anywhere, and no script runs in it."""
        text = page.as_page(graded)
        seen = Seen(text)
        assert seen.loads == []
        assert {"script", "img", "link", "iframe", "b"} & set(seen.tags) == set()
        assert "default-src 'none'" in text and "http" not in text.replace("http-equiv", "")

    def test_what_learners_write_is_text(self, graded):
        """A name or an output that looks like HTML is shown as it was written."""
        assert EVIL not in page.as_page(graded)
        assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;" in page.as_page(graded)

    def test_links_inside_lead_somewhere(self, graded):
        """Each name leads to its learner."""
        text = page.as_page(graded)
        assert set(re.findall(r'href="#([^"]+)"', text)) == set(re.findall(r'id="([^"]+)"', text))

    def test_what_the_class_needs(self, graded):
        """Which check fails most, and who is stuck where."""
        text = page.as_page(graded)
        assert "<td>01_three_exits, ties</td><td>1 of 2<" in text
        assert "<td>bob</td><td>01_three_exits</td><td>time, ties</td>" in text

    def test_what_a_learner_needs(self, graded):
        """What was seen and the hint; states differ by words and marks, not by colour alone."""
        text = page.as_page(graded)
        assert "hint: what ends the loop?" in text and "✓ passed" in text and "✗ not yet" in text

    def test_an_empty_class(self):
        """It can be written as well."""
        assert "0 learners" in page.as_page(Class({}, {}))


class TestFeedback:
    """Notebooks to hand back."""

    def test_they_are_notebooks(self, graded, tmp_path):
        """One for each result that has marks, valid, with the learner's own answer."""
        assert feedback.write_feedback(graded, tmp_path) == 4
        made = nbformat.read(tmp_path / "bob" / "01_three_exits.ipynb", 4)
        nbformat.validate(made)
        assert next(cell for cell in made.cells if cell.id == "run-with-limits").source == WRONG
        assert made.cells[0].source.startswith("**5 of 7 points**, partly solved, late")

    def test_under_each_check_what_it_said(self, graded, tmp_path):
        """The points, the sentence and the text, which cannot end its own frame."""
        feedback.write_feedback(graded, tmp_path)
        cells = nbformat.read(tmp_path / "bob" / "01_three_exits.ipynb", 4).cells
        after = {cell.id: follows.source for cell, follows in zip(cells, cells[1:], strict=False)}
        assert after["check-answer"].startswith("**passed**, 1 of 1 point")
        assert after["check-time"].startswith("**not yet**, 0 of 1 point. 2 of 4 lines are not right.")
        assert after["check-time"].count("```") == 2 and "hint: what ends the loop?" in after["check-time"]

    def test_no_solution_in_any_report(self, graded, tmp_path):
        """No line of the solution that is not in the exercise as well is in any report."""
        feedback.write_feedback(graded, tmp_path)
        reports = [files.as_csv(graded), files.as_json(graded), files.as_junit(graded), page.as_page(graded)]
        reports += [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.ipynb")]
        given = "\n".join(str(cell["source"]) for cell in FIRST.cells)
        lines = [line.strip() for line in FIRST.reference["run-with-limits"].splitlines() if len(line.strip()) > 20]
        ours = [line for line in lines if line not in given and line not in WRONG]
        assert len(ours) >= 5
        assert [line for line in ours if any(line in report for report in reports)] == []

    @pytest.mark.parametrize("name", ["..", ".", "a/b", "a\\b", "CON", "nul", "x:y?", " ", "Zoë", EVIL])
    def test_names_of_folders(self, name):
        """A learner's name as a folder's name never leads out, and is possible on every system."""
        made = feedback.file_name(name)
        assert made and not re.search(r'[<>:"/\\|?*]', made)
        assert made not in (".", "..") and made.upper() not in ("CON", "NUL") and made == made.strip(" .")
