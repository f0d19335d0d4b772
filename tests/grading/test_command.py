"""The commands `course.py grade` and `course.py progress`: options, exit codes, what is written and said."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime

import pytest

from stoplib.course import commands
from stoplib.course.grading import __main__ as command
from stoplib.course.grading import progress
from stoplib.course.grading.marking import POOL
from stoplib.course.grading.progress_bar import Bar, processors
from stoplib.course.grading.results import Marks
from tests.grading.helpers import FIRST, ROOT, WRONG, notebook, save
from tests.grading.test_batch import passes

ONE = "01_three_exits"


@pytest.fixture
def handed_in(tmp_path):
    """A class of two: one right, one wrong."""
    save(tmp_path / "class" / "ann" / f"{ONE}.ipynb", notebook())
    save(tmp_path / "class" / "bob" / f"{ONE}.ipynb", notebook(answers={"run-with-limits": WRONG}))
    yield tmp_path
    POOL.close()


def grade(folder, *options):
    """The exit code of the command, given in a folder."""
    return command.main([f"--base={folder}", *map(str, options)])


class TestGrade:
    """`course.py grade`."""

    def test_a_class(self, handed_in, capsys):
        """The table is printed, every report is written, and the exit code says that not all is solved."""
        assert grade(handed_in, "class", "--exercise", "01", "--jobs", "2") == 1
        out = capsys.readouterr().out
        assert [line.split() for line in out.splitlines()[:4]] == [
            ["learner", "01", "all"],
            ["ann", "7", "7"],
            ["bob", "0", "0"],
            ["of", "7", "7"],
        ]
        written = {path.name for path in (handed_in / "grades").iterdir()}
        assert written == {"grades.csv", "grades.json", "junit.xml", "report.html", "feedback", "finished"}
        assert (handed_in / "grades" / "feedback" / "bob" / f"{ONE}.ipynb").is_file()

    def test_all_points(self, handed_in, monkeypatch):
        """Exit code 0, and the results where they were asked for."""
        monkeypatch.setattr("stoplib.course.grading.batch.mark", passes)
        assert grade(handed_in, "class/ann", "--exercise", ONE, "--results", "there") == 0
        assert (handed_in / "there" / "grades.csv").is_file()

    def test_trouble(self, handed_in, monkeypatch, capsys):
        """Exit code 3 if the grader could not do its work."""
        monkeypatch.setattr("stoplib.course.grading.batch.mark", lambda job: Marks(trouble="no kernel"))
        assert grade(handed_in, "class", "--exercise", "01") == 3
        assert "no kernel" in capsys.readouterr().out

    def test_a_report_that_cannot_be_written(self, handed_in, monkeypatch, capsys):
        """Exit code 3 and the file's name; what was graded is kept, so the same command only writes."""
        graded = []
        monkeypatch.setattr("stoplib.course.grading.batch.mark", lambda job: graded.append(job) or passes(job))
        (handed_in / "grades" / "grades.csv").mkdir(parents=True)
        assert grade(handed_in, "class/ann", "--exercise", "01") == 3
        assert "grades.csv cannot be written" in capsys.readouterr().err
        (handed_in / "grades" / "grades.csv").rmdir()
        before = len(graded)
        assert grade(handed_in, "class/ann", "--exercise", "01") == 0
        assert before == len(graded) > 0

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["nowhere"], "There is no such file or folder"),
            (["empty"], "There is no exercise of the course in what was given"),
            (["class", "--exercise", "99"], "The course has no exercise '99'"),
            (["class", "--exercise", "01_typo", "--exercise", "02"], "The course has no exercise '01_typo'"),
            (["class", "--exercise", ""], "The course has no exercise ''"),
            (["class", "--results", "empty/notes.txt"], "The reports cannot be written into"),
        ],
    )
    def test_nothing_to_grade(self, handed_in, capsys, options, said):
        """Exit code 2, a sentence, and nothing is written."""
        save(handed_in / "empty" / "notes.txt", "x")
        assert grade(handed_in, *options) == 2
        assert said in capsys.readouterr().err
        assert not (handed_in / "grades").exists()

    @pytest.mark.parametrize(
        "options", [[], ["class", "--due", "tomorrow"], ["class", "--jobs", "0"], ["class", "--seconds", "x"]]
    )
    def test_wrong_options(self, handed_in, options):
        """Exit code 2, as for every command."""
        with pytest.raises(SystemExit) as end:
            grade(handed_in, *options)
        assert end.value.code == 2

    def test_late(self, handed_in, monkeypatch):
        """What was handed in after the time that was set is late."""
        monkeypatch.setattr("stoplib.course.grading.batch.mark", passes)
        os.utime(handed_in / "class" / "ann" / f"{ONE}.ipynb", (datetime(2026, 1, 1).timestamp(),) * 2)
        grade(handed_in, "class", "--due", "2026-01-02 12:00")
        told = json.loads((handed_in / "grades" / "grades.json").read_text(encoding="utf-8"))["learners"]
        assert {who: told[who]["exercises"][ONE]["late"] for who in told} == {"ann": False, "bob": True}

    def test_the_second_time(self, handed_in, monkeypatch):
        """What is known from before is not marked again, unless that is asked for."""
        marked = []
        monkeypatch.setattr("stoplib.course.grading.batch.mark", lambda job: marked.append(job) or passes(job))
        for options in ([], [], ["--again"]):
            grade(handed_in, "class", "--exercise", "01", *options)
            marked.append("|")
        assert [len(part.split()) for part in " ".join("|" if one == "|" else "x" for one in marked).split("|")] == [
            3,
            0,
            3,
            0,
        ]

    def test_the_results_are_no_submissions(self, handed_in, monkeypatch):
        """A second run over the same folder does not take the feedback for what was handed in."""
        monkeypatch.setattr("stoplib.course.grading.batch.mark", passes)
        grade(handed_in, ".", "--exercise", "01")
        grade(handed_in, ".", "--exercise", "01")
        told = json.loads((handed_in / "grades" / "grades.json").read_text(encoding="utf-8"))
        assert sorted(told["learners"]) == ["ann", "bob"]

    def test_help_states_the_exit_codes(self, capsys):
        """They are part of the help."""
        with pytest.raises(SystemExit):
            command.main(["--help"])
        out = capsys.readouterr().out
        assert all(f"\n{code}  " in out for code in (0, 1, 2, 3, 130))

    @pytest.mark.skipif(os.name == "nt", reason="sends a signal that Windows does not have")
    def test_ctrl_c(self, handed_in):
        """Ctrl-C ends it soon, with exit code 130, and nothing is left running."""
        save(
            handed_in / "class" / "cy" / f"{ONE}.ipynb",
            notebook(answers={"run-with-limits": "import time\ntime.sleep(999)"}),
        )
        process = subprocess.Popen(
            [sys.executable, "-m", command.__package__, f"--base={handed_in}", "class/cy"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        while not list(handed_in.glob("grades/finished/*")) and process.poll() is None:
            time.sleep(0.2)
            if "grading.running" in " ".join(map(str, subprocess_commands(process.pid))):
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "the same command goes on from there" in said
        assert subprocess_commands(process.pid) == []


def subprocess_commands(process):
    """The commands of the processes below one."""
    import psutil

    try:
        return [" ".join(one.cmdline()) for one in psutil.Process(process).children(recursive=True)]
    except psutil.Error:
        return []


class TestProgress:
    """`course.py progress`."""

    @pytest.fixture
    def course(self, tmp_path):
        """A course with a learner's work: a chapter half run, one exercise done, one begun, one broken."""
        for folder in ("exercises", "solutions"):
            shutil.copytree(ROOT / folder, tmp_path / folder)
        save(tmp_path / "work" / "exercises" / f"{ONE}.ipynb", notebook())
        partly = {"no-new-results": "def no_new_results(n):\n    return lambda run: None"}
        save(tmp_path / "work" / "exercises" / "02_no_new_results.ipynb", notebook("02_no_new_results", partly))
        save(tmp_path / "work" / "exercises" / "03_a_detector.ipynb", notebook("03_a_detector", {}))
        save(tmp_path / "work" / "exercises" / "04_a_hard_budget.ipynb", "{")
        cells = [{"cell_type": "code", "source": "", "execution_count": count} for count in (1, 2, None)]
        save(tmp_path / "work" / "notebooks" / "01_one_exit.ipynb", {"cells": cells})
        save(tmp_path / "work" / "notebooks" / "02_three_exits.ipynb", "{")
        yield tmp_path
        POOL.close()

    def test_what_is_done(self, course, capsys):
        """How many cells of a chapter were run, and which checks are still open; the second time it knows."""
        before = {path: path.read_bytes() for path in course.rglob("*.ipynb")}
        assert progress.main(course) == 0
        first = capsys.readouterr().out
        lines = {line.split()[0]: " ".join(line.split()[1:]) for line in first.splitlines() if line.startswith("  ")}
        assert lines["01_one_exit"] == "2 of 3"
        assert lines["02_three_exits"] == "cannot be read"
        assert lines[ONE] == "7 of 7 solved"
        assert lines["02_no_new_results"].startswith("0 of 4 not yet: check-results, check-guard")
        assert lines["03_a_detector"] == "0 of 5 not begun"
        assert lines["04_a_hard_budget"].startswith("cannot be read: It is not JSON")
        assert lines["05_approval"] == "missing"
        POOL.close()
        assert progress.main(course) == 0
        assert capsys.readouterr().out == first
        assert {path: path.read_bytes() for path in course.rglob("*.ipynb")} == before

    def test_nothing_there(self, tmp_path, capsys):
        """Before anything was done it says so."""
        for folder in ("exercises", "solutions"):
            shutil.copytree(ROOT / folder, tmp_path / folder)
        assert progress.main(tmp_path) == 0
        assert capsys.readouterr().out.count("missing") == 10


class TestCommands:
    """In `course.py`."""

    def test_grade_takes_paths_of_the_callers_folder(self, monkeypatch, tmp_path):
        """The command knows the folder where it was given, and hands on its options."""
        called = []
        monkeypatch.setattr(commands, "run", lambda environment, *args: called.append(args) or 1)
        monkeypatch.setattr(commands.Environment, "ensure", lambda self: None)
        monkeypatch.chdir(tmp_path)
        assert commands.main(["grade", "class.zip", "--jobs", "3"], str(ROOT)) == 1
        assert called == [("stoplib.course.grading", f"--base={tmp_path}", "class.zip", "--jobs", "3")]

    def test_progress(self, monkeypatch):
        """It has the learner's copy made first."""
        called = []
        monkeypatch.setattr(commands, "set_up", lambda root: called.append("set up"))
        monkeypatch.setattr(commands, "run", lambda environment, *args: called.append(args) or 0)
        assert commands.main(["progress"], str(ROOT)) == 0
        assert called == ["set up", ("stoplib.course.grading.progress",)]


class Out:
    """A stream that is a terminal, or is not."""

    def __init__(self, terminal):
        self.terminal, self.text = terminal, ""

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.text += text

    def flush(self):
        return None


class TestBar:
    """How far it is."""

    def test_on_a_terminal(self):
        """One line that is written anew, with learner and exercise, and is gone at the end."""
        out = Out(True)
        with Bar(out) as bar:
            bar(1, 4, "ann, 01_three_exits")
        assert "[######..................] 1 of 4  ann, 01_three_exits" in out.text
        assert out.text.endswith("\r\033[K")

    def test_in_a_file(self):
        """A line at the beginning and at the end, and not for each."""
        out = Out(False)
        with Bar(out) as bar:
            for done in range(1, 101):
                bar(done, 100, f"learner {done}")
        assert out.text.splitlines() == ["1 of 100  learner 1", "100 of 100  learner 100"]

    def test_nothing_to_do(self):
        """None of none is no error."""
        with Bar(Out(True)) as bar:
            bar(0, 0, "")

    def test_processors(self):
        """At least one."""
        assert processors() >= 1 and FIRST.points == 7
