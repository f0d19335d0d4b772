"""A class: on any executor, with what is known from before, and with what the grader cannot do."""

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import pytest

from stoplib.course.grading.batch import Batch, Kept, reference_trouble
from stoplib.course.grading.collecting.submissions import Collected, Submission
from stoplib.course.grading.marking import POOL, Job, mark
from stoplib.course.grading.results import NOT_GRADED, SOLVED, CheckResult, Marks
from stoplib.course.grading.running.limits import Limits
from tests.grading.helpers import EXERCISES, FIRST, WRONG, submission

TWO = {name: EXERCISES[name] for name in ("01_three_exits", "06_reasons")}


class Noted(Executor):
    """Does at once what it is given, or a quick stand-in, and notes it."""

    def __init__(self, work=None):
        self.jobs, self.work = [], work

    def submit(self, function, job):
        self.jobs.append(job)
        future = Future()
        try:
            future.set_result((self.work or function)(job))
        except BaseException as error:
            future.set_exception(error)
        return future


def passes(job):
    """Marks with all points, without running anything."""
    return Marks(tuple(CheckResult(check, True) for check in job.exercise.checks))


def everybody():
    """Three learners, two exercises."""
    found = [submission("ann", FIRST.reference), submission("bob", WRONG)]
    return [*found, submission("cy", TWO["06_reasons"].reference, "06_reasons")]


@pytest.fixture(scope="module", autouse=True)
def end_of_examiners():
    """Afterwards the examiners are ended."""
    yield
    POOL.close()


def points(graded):
    """Everybody's points."""
    return {learner: graded.points(learner) for learner in graded.learners}


class TestExecutors:
    """The same marks wherever the jobs run."""

    RIGHT = {"ann": 7, "bob": 0, "cy": 6}

    def test_threads_of_our_own(self):
        """What is used if nothing else is given."""
        assert points(Batch(TWO, jobs=2).grade(Collected(everybody()))) == self.RIGHT

    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_processes(self):
        """The standard library's pool of processes."""
        with ProcessPoolExecutor(1) as executor:
            assert points(Batch(TWO, executor=executor).grade(Collected(everybody()))) == self.RIGHT

    @pytest.mark.filterwarnings("ignore")
    def test_dask(self):
        """dask.distributed, whose workers may be on other machines."""
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None)
        with cluster, Client(cluster) as client:
            assert points(Batch(TWO, executor=client.get_executor()).grade(Collected(everybody()))) == self.RIGHT


class TestKept:
    """A run that was stopped goes on where it was."""

    def batch(self, folder, executor, **options):
        return Batch(TWO, Kept(folder, "version", Limits()), executor=executor, **options)

    def test_what_is_finished_is_not_done_again(self, tmp_path):
        """The second run marks nothing, and has the same results."""
        first, second = Noted(passes), Noted(passes)
        before = self.batch(tmp_path, first).grade(Collected(everybody()))
        after = self.batch(tmp_path, second).grade(Collected(everybody()))
        assert points(before) == points(after)
        assert (len(first.jobs), len(second.jobs)) == (2 + 3, 0)

    def test_after_an_interrupt(self, tmp_path):
        """Ctrl-C in the middle: what was finished before it is kept, the rest is done the next time."""

        def interrupt(done, of, what):
            if done == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            self.batch(tmp_path, Noted(passes)).grade(Collected(everybody()), interrupt)
        rest = Noted(passes)
        graded = self.batch(tmp_path, rest).grade(Collected(everybody()))
        assert all(result.state == SOLVED for result in graded.results.values())
        assert len([job for job in rest.jobs if job.sources != job.exercise.reference]) <= 1
        assert len(list(tmp_path.glob("*.json"))) == 3

    @pytest.mark.parametrize("change", ["answer", "version", "limits", "again"])
    def test_what_has_changed_is_done_again(self, tmp_path, change):
        """Another answer, another version of the course, other limits, or the wish to."""
        self.batch(tmp_path, Noted(passes)).grade(Collected(everybody()))
        kept, answers, again = Kept(tmp_path, "version", Limits()), everybody(), False
        if change == "answer":
            answers[1] = submission("bob", WRONG + "\n")
        elif change == "version":
            kept = replace(kept, version="another")
        elif change == "limits":
            kept = replace(kept, limits=Limits(cell=99))
        else:
            again = True
        executor = Noted(passes)
        Batch(TWO, kept, executor=executor, again=again).grade(Collected(answers))
        assert any(job.sources["run-with-limits"].startswith(WRONG) for job in executor.jobs if job.exercise is FIRST)

    def test_the_same_answer_of_two_learners_is_marked_once_only_if_known(self, tmp_path):
        """Marks go by what was answered, not by whom."""
        self.batch(tmp_path, Noted(passes)).grade(Collected([submission("ann", WRONG)]))
        executor = Noted(passes)
        assert points(self.batch(tmp_path, executor).grade(Collected([submission("bob", WRONG)]))) == {"bob": 7}
        assert executor.jobs == []

    def test_a_damaged_file_is_not_believed(self, tmp_path):
        """It is marked again."""
        batch = self.batch(tmp_path, Noted(passes))
        batch.grade(Collected(everybody()))
        for path in tmp_path.glob("*.json"):
            path.write_text("{", encoding="utf-8")
        executor = Noted(passes)
        self.batch(tmp_path, executor).grade(Collected(everybody()))
        assert len(executor.jobs) == 5


class TestTrouble:
    """What the grader cannot do is never taken for a learner's mistake."""

    def test_a_solution_that_does_not_pass(self):
        """An exercise whose own solution fails here is not graded at all."""
        broken = replace(FIRST, reference={"run-with-limits": WRONG})
        graded = Batch({FIRST.name: broken}, jobs=1).grade(Collected([submission("ann", FIRST.reference)]))
        result = graded.results["ann", FIRST.name]
        assert (result.state, result.points, graded.in_trouble) == (NOT_GRADED, 0, True)
        assert "own solution of 01_three_exits does not pass here" in result.sentences[0]

    def test_a_job_that_fails(self):
        """An error of the grader itself is named, and is not kept."""

        def fails(job):
            if job.sources != FIRST.reference:
                raise ZeroDivisionError("in the grader")
            return passes(job)

        graded = Batch(TWO, executor=Noted(fails)).grade(Collected([submission("bob", WRONG)]))
        assert graded.results["bob", FIRST.name].state == NOT_GRADED
        assert "ZeroDivisionError: in the grader" in graded.results["bob", FIRST.name].sentences[0]

    def test_trouble_is_not_kept(self, tmp_path):
        """The next run tries again."""
        kept = Kept(tmp_path, "version", Limits())
        one = submission("ann", WRONG)
        kept.write(one, Marks(trouble="no kernel"))
        assert kept.read(one) is None

    def test_the_words(self):
        """A solution with all points is no trouble; otherwise it is said which check it fails."""
        good = Marks((CheckResult("check-x", True),))
        assert reference_trouble("01", good) == ""
        assert "check-x" in reference_trouble("01", Marks((CheckResult("check-x", False),)))
        assert "no kernel" in reference_trouble("01", Marks(trouble="no kernel"))


def test_what_cannot_be_read_is_not_run():
    """A submission with a problem has no points, and no job is made of it."""
    executor = Noted(passes)
    graded = Batch(TWO, executor=executor).grade(Collected([Submission("ann", FIRST.name, problem="It is empty.")]))
    assert executor.jobs == []
    assert graded.results["ann", FIRST.name].sentences == ["It is empty."]


def test_two_batches_have_two_secrets():
    """Nobody can know the cases of a grading from those of another."""
    assert Batch(TWO).secret != Batch(TWO).secret


def test_marks_go_by_the_secret():
    """A receipt of one grading is worth nothing in another: the same job under another secret is judged anew."""
    with ThreadPoolExecutor(1) as pool:
        marks = [pool.submit(mark, Job(FIRST, {"run-with-limits": WRONG}, secret)).result() for secret in "ab"]
    said = [one.checks[0].said for one in marks]
    assert said[0] != said[1]
