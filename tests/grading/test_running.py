"""Isolation: what a kernel sees and may use, with namespaces and without, and that nothing of it is left."""

import os
import re
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from stoplib.course.grading.batch import Batch
from stoplib.course.grading.collecting.submissions import Collected
from stoplib.course.grading.marking import POOL, Job, mark
from stoplib.course.grading.results import Marks
from stoplib.course.grading.running import linux, starting
from stoplib.course.grading.running.examiner import Examiner, GivenUp, Lost
from stoplib.course.grading.running.limits import MB, Limits, not_held
from stoplib.course.grading.running.watching import Watch, at_work_in, ended
from tests.grading.helpers import EXERCISES, FIRST, ROOT, submission
from tests.grading.test_adversaries import ADVERSARIES, LIMITS

RIGHT = FIRST.reference["run-with-limits"]
BY_NAME = {one.name: one for one in ADVERSARIES}
needs_namespaces = pytest.mark.skipif(
    not linux.available(), reason="needs namespaces, which this system does not offer"
)


@pytest.fixture(scope="module", autouse=True)
def end_of_examiners():
    """Afterwards the examiners are ended."""
    yield
    POOL.close()


def told(source, **options):
    """What the first cell raises, as a kernel of the grader's tells it."""
    marks = mark(Job(FIRST, {"run-with-limits": source}, "secret", LIMITS, **options))
    assert marks.trouble == ""
    return " ".join(marks.sentences)


class TestFiles:
    """What is left of a grading in the folder for temporary files: nothing."""

    @pytest.fixture(autouse=True)
    def graded(self, monkeypatch, tmp_path):
        """One exercise has been graded, with its files in `tmp_path`."""
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        POOL.close()
        assert "NameError" in told("no_such_name")
        assert [*tmp_path.iterdir()]
        yield
        POOL.close()

    def test_closed(self, tmp_path):
        """Whoever ends the examiners removes their files."""
        POOL.close()
        assert [*tmp_path.iterdir()] == []

    def test_forgotten(self, tmp_path):
        """An examiner that gets no more orders, since whoever gave them has ended, removes its files itself."""
        for examiner in POOL._idle:
            if (process := examiner._process) is not None:
                process.stdin.close()
                process.wait(30)
        assert [*tmp_path.iterdir()] == []


class TestEnvironment:
    """What a kernel is given."""

    @pytest.mark.parametrize("namespaces", [True, False])
    def test_no_secrets(self, monkeypatch, namespaces):
        """Of the environment only what a program needs gets in: no key, no password, no mark of pytest."""
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        monkeypatch.setenv("PGPASSWORD", "a-password")
        POOL.close()  # so that an examiner is started with this environment
        code = "import os\nbad = ('KEY', 'PASS', 'PYTEST', 'SECRET')\n"
        code += "raise LookupError('PATH' in os.environ, [n for n in os.environ if any(word in n for word in bad)])"
        assert "LookupError: (True, [])" in told(code, namespaces=namespaces)

    @pytest.mark.parametrize("namespaces", [True, False])
    def test_a_home_of_its_own(self, namespaces):
        """Home and the folder for temporary files belong to this run alone, and are empty."""
        code = (
            "import os, pathlib, tempfile\nplaces = [pathlib.Path.home(), tempfile.gettempdir(), pathlib.Path.cwd()]\n"
        )
        code += "raise LookupError(*map(str, places), str(os.listdir('.')))"
        said = told(code, namespaces=namespaces)
        home, temporary, here = map(Path, re.findall(r"'([^']+)'", said)[:3])
        assert (home.name, temporary.name, here.name) == ("home", "tmp", "work")
        assert home.parent == temporary.parent == here.parent
        assert "'[]'" in said

    def test_the_notebook_is_gone(self):
        """The file with what the check cells should show is deleted before the first cell runs."""
        assert "[]" in told("import pathlib\nraise LookupError(list(pathlib.Path('..').resolve().rglob('*.ipynb')))")


@needs_namespaces
class TestNamespaces:
    """What a kernel sees of the machine."""

    def test_no_other_process(self):
        """It sees its own few processes, and neither the grader nor anybody else's."""
        said = told("import os\nraise LookupError([int(name) for name in os.listdir('/proc') if name.isdecimal()])")
        assert set(said.partition("[")[2].partition("]")[0].split(", ")) <= {"1", "2", "3"}

    def test_no_network(self):
        """There is no way out, not even to this machine."""
        code = "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=1)"
        assert "OSError" in told(code) or "ConnectionRefused" not in told(code)

    def test_no_way_to_write(self):
        """Only its own three folders can be written to."""
        code = f"""
import os, pathlib, sys
written = []
for place in ({str(ROOT)!r}, sys.prefix, "/", "/etc", "/usr/lib", "..", "../..", ".", "../home", "../tmp"):
    try:
        path = pathlib.Path(place, "written")
        path.write_text("x")
        written.append(place)
    except OSError:
        pass
raise LookupError(written)
"""
        assert "LookupError: ['.', '../home', '../tmp']" in told(code)

    def test_no_way_back(self):
        """What was set up cannot be undone: no right to mount, none to make new rights."""
        code = "import ctypes\nlibrary = ctypes.CDLL(None, use_errno=True)\n"
        code += "mount = library.mount(None, b'/', None, 32, None)\n"
        code += "raise LookupError(library.umount2(b'/tmp', 2), mount, library.setuid(12345))"
        assert "LookupError: (-1, -1, -1)" in told(code)

    def test_what_is_hidden(self, tmp_path):
        """The folders and files that the grader names are empty: other submissions, results."""
        (tmp_path / "others").mkdir()
        (tmp_path / "others" / "ann.ipynb").write_text("her answer", encoding="utf-8")
        code = f"import pathlib\nplace = pathlib.Path({str(tmp_path)!r})\n"
        code += "raise LookupError([str(path) for path in place.rglob('*')], place.exists())"
        assert "LookupError: ([], False)" in told(code, hidden=(str(tmp_path / "others"),))

    def test_the_rights_of_this_process_are_as_before(self):
        """Making namespaces for a kernel changes nothing here."""
        places = [Path("/proc/self/ns") / name for name in ("pid", "mnt", "net")]
        before = [place.stat().st_ino for place in places]
        assert linux.available()
        assert [place.stat().st_ino for place in places] == before


TRIED = ("ends_its_process", "kills_its_parent", "leaves_a_process", "loops_before_any_check", "prints_for_ever")


@pytest.fixture(scope="module")
def graded():
    """Some adversaries and an honest learner, graded without namespaces."""
    everybody = [submission(name, BY_NAME[name].source) for name in TRIED if BY_NAME[name].possible]
    honest = submission("honest", RIGHT)
    results = Batch(EXERCISES, limits=LIMITS, jobs=2, namespaces=False).grade(Collected([*everybody, honest])).results
    return {learner: result for (learner, _), result in results.items()}


class TestWithoutNamespaces:
    """The same where the system offers none: limits, and an end for everything that was started."""

    @pytest.mark.parametrize("name", TRIED)
    def test_no_points(self, graded, name):
        """No point that was not earned, and a sentence."""
        if name not in graded:
            pytest.skip("needs fork, which this system does not have")
        assert graded[name].points == 0
        assert graded[name].state == "not solved"
        assert [*graded[name].sentences, *(one.said for one in graded[name].checks.values())]

    def test_the_honest_one(self, graded):
        """All points, beside them."""
        assert graded["honest"].state == "solved"

    def test_the_process_that_grades_was_killed(self, graded):
        """It is started anew, and the check that did it is named."""
        assert "It ended the process that graded it." in " ".join(graded["kills_its_parent"].sentences)

    def test_nothing_is_left(self, graded, monkeypatch):
        """A child that has left its group and its session is ended, and a kernel that has killed its parent."""
        with tempfile.TemporaryDirectory() as folder:
            monkeypatch.setattr(tempfile, "tempdir", folder)
            POOL.close()
            for name in ("leaves_a_process", "kills_its_parent"):
                mark(Job(FIRST, {"run-with-limits": BY_NAME[name].source}, "secret", LIMITS, namespaces=False))
            POOL.close()
            assert at_work_in(folder) == []

    def test_it_is_said(self):
        """The teacher reads what is not held."""
        assert any("read what you can read" in sentence for sentence in not_held(False))
        assert not_held(True) == [] or sys.platform != "linux"


class TestWatch:
    """When a kernel is ended, at the edge."""

    def watch(self, limits, code=None):
        return Watch(limits, psutil.Process(), lambda: code)

    def test_output(self):
        """N bytes may be printed in a cell, one more not; a new cell begins at 0."""
        watch = self.watch(Limits(output=10))
        watch.count(10)
        watch.start_cell()
        watch.count(10)
        with pytest.raises(BaseException, match="printed more than"):
            watch.count(1)

    def test_time(self):
        """When its time is over, it is said; before that nothing happens."""
        watch = self.watch(Limits(wait=3600))
        watch()
        watch = self.watch(Limits(wait=0))
        time.sleep(0.01)
        with pytest.raises(BaseException, match="did not end within 0 seconds"):
            watch()

    def test_an_exit(self):
        """An exit is noticed at once."""
        with pytest.raises(BaseException, match="exit code 3"):
            self.watch(Limits(), 3)()

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
    @pytest.mark.parametrize(
        ("code", "said"),
        [
            (0, "exit code 0"),
            (7, "exit code 7"),
            (-9, "was killed"),
            (137, "was killed"),
            (-11, "crashed (SIGSEGV)"),
            (139, "crashed (SIGSEGV)"),
            (-24, "more than 60 seconds of processor time"),
        ],
    )
    def test_the_end_in_words(self, code, said):
        """What an exit code means, from the process itself or from the one that waited for it."""
        assert said in ended(code, Limits())


def test_files_that_another_python_writes_are_not_copied(monkeypatch, tmp_path):
    """What is there for a moment only, while a module is compiled, cannot break the copy that kernels use."""
    package, names = tmp_path / "stoplib", ("loop.cpython-311.pyc", "loop.cpython-311.pyc.140234")
    (package / "__pycache__").mkdir(parents=True)
    for name in names:
        (package / "__pycache__" / name).touch()
    monkeypatch.setattr(starting, "PACKAGE", package)
    starting.copy_of_the_library(tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").rglob("*.pyc*")] == [names[0]]


class TestExaminer:
    """The process that examines."""

    def order(self):
        return {
            "notebook": {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []},
            "cells": {},
            "secret": "s",
            "limits": Limits().as_dict(),
            "hidden": [],
            "namespaces": False,
        }

    def test_it_can_be_used_again(self):
        """One order after the other, also after one whose events nobody has read to the end."""
        examiner = Examiner()
        try:
            next(examiner.examine(self.order(), Limits()))
            assert [event["event"] for event in examiner.examine(self.order(), Limits())] == ["begin"]
        finally:
            examiner.close()

    def test_when_it_was_killed(self):
        """The order is lost, and the next one works."""
        examiner = Examiner()
        try:
            events = examiner.examine(self.order(), Limits())
            next(events)
            psutil.Process(examiner._process.pid).kill()
            with pytest.raises(Lost):
                list(events)
            assert [event["event"] for event in examiner.examine(self.order(), Limits())] == ["begin"]
        finally:
            examiner.close()

    def test_when_it_is_closed_in_the_middle(self):
        """That is nobody's fault: the order is given up."""
        examiner = Examiner()
        events = examiner.examine(self.order(), Limits())
        next(events)
        examiner.close()
        with pytest.raises(GivenUp):
            list(events)


def test_partial_credit_after_a_loss():
    """A check that breaks the kernel costs its own points; those after it are tried in a new one."""
    marks = mark(Job(FIRST, {"run-with-limits": BY_NAME["hangs_in_one_check_only"].source}, "secret", LIMITS))
    assert [one.check for one in marks.checks if one.passed] == ["check-steps", "check-tools", "check-messages"]


def test_there_is_an_end_to_an_exercise():
    """When the time for an exercise is over, the checks that are left have no points and say so."""
    limits = Limits(cell=1, wait=2, exercise=1)
    marks = mark(Job(FIRST, {"run-with-limits": BY_NAME["sleeps"].source}, "secret", limits))
    assert not any(one.passed for one in marks.checks)
    assert "There was no time left for it" in marks.checks[-1].sentence


def test_an_untouched_exercise_needs_no_kernel(monkeypatch):
    """What nobody has begun is known without running anything."""
    monkeypatch.setattr(Examiner, "examine", None)
    marks = mark(Job(FIRST, FIRST.stubs, "secret"))
    assert (marks.begun, [one.passed for one in marks.checks]) == (False, [False] * 7)
    assert isinstance(marks, Marks) and MB == 1_000_000
