"""Sums over runs: the same whatever carries them out, by task, in memory that does not grow with the runs."""

# ruff: noqa: SIM300

import json
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from stoplib import Usage, max_steps, max_tool_calls, repeated_call, token_budget
from stoplib.traces import SUCCESS, Trace, TraceStep, limits, read
from stoplib.traces import tally as tallies
from stoplib.traces.climbing import Place
from stoplib.traces.ladders import Ladder, ladders
from stoplib.traces.sweep import Progress, tallied, tried
from stoplib.traces.tally import Group, Spent, goes_on, group_of, together
from tests.traces.making import population, step

FEW = [
    Ladder(max_steps, (2, 5, 10)),
    Ladder(repeated_call, (2, 10)),
    Ladder(token_budget, (3000,), frozenset({"usage"})),
]


def as_data(tally):
    """A tally as plain values."""
    return {name: (group.ran, group.cut, group.sizes) for name, group in sorted(tally.groups.items())}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Runs in seven files."""
    folder = tmp_path_factory.mktemp("runs")
    for number in range(7):
        runs = []
        for trace in population(20, 5, seed=number):
            messages = [{"role": "user", "content": trace.task}]
            for one in trace.steps:
                message = {"role": "assistant", "content": one.text, "tool_calls": []}
                message["usage"] = {"prompt_tokens": one.usage.input, "completion_tokens": one.usage.output}
                for call in one.calls:
                    asked = {"name": call.name, "arguments": json.dumps(call.args)}
                    message["tool_calls"].append({"id": "c", "function": asked})
                messages.append(message)
                messages += [{"role": "tool", "tool_call_id": "c", "content": r.text} for r in one.results]
            runs.append({"task_id": trace.task, "success": trace.label == SUCCESS, "messages": messages})
        text = "\n".join(map(json.dumps, runs))
        (folder / f"{number}.jsonl").write_text(text, encoding="utf-8")
    return folder


@contextmanager
def dask():
    """An executor of dask.distributed, with a scheduler and two workers in this process, on loopback."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor()


EXECUTORS = {"threads": ThreadPoolExecutor, "processes": ProcessPoolExecutor, "dask": dask}


@pytest.mark.parametrize("kind", EXECUTORS)
class TestExecutors:
    """Any executor of `concurrent.futures` gives what one process gives."""

    @pytest.mark.filterwarnings("ignore")  # dask's own, on ports and on what it will change
    def test_files(self, files, kind):
        """Files as parts: sums, report, and the progress to its end."""
        alone = tallied(read(files), ladders())
        seen = []
        with EXECUTORS[kind]() as executor:
            found = tallied(read(files), ladders(), None, executor, seen.append)
        assert (as_data(alone), alone.report) == (as_data(found), found.report)
        assert [7, read(files).size] == [len(seen), seen[-1].done]

    @pytest.mark.filterwarnings("ignore")
    def test_a_list(self, kind, monkeypatch):
        """Runs in memory, a few at a time."""
        monkeypatch.setattr("stoplib.traces.sweep.PART", 50)
        runs = population(120)
        with EXECUTORS[kind]() as executor:
            found = tallied(runs, ladders(), None, executor)
        alone = tallied(runs, ladders())
        assert (as_data(alone), alone.report) == (as_data(found), found.report)


def test_all_of_it_on_an_executor(files):
    """`limits` finds the same with an executor as without one."""
    with ThreadPoolExecutor(3) as executor:
        assert limits(files).as_dict() == limits(files, executor=executor).as_dict()


def test_what_a_part_raises_is_raised(files):
    """An error in a part is no silence."""
    reading = read(files)
    reading.files.append(files / "gone")
    with ThreadPoolExecutor() as executor, pytest.raises(FileNotFoundError):
        tallied(reading, ladders(), None, executor)


class TestSums:
    """What is counted for one run."""

    def runs(self):
        """A run of five steps, with usage, that repeats a call, and one of two steps."""
        long = [step(q=n // 2, usage=Usage(1000, 10 * n)) for n in range(4)]
        yield Trace("a", "t", (*long, TraceStep("Done.", usage=Usage(500, 5))), "success", "f")
        yield Trace("b", "t", (step(), TraceStep("Done.")), "failure", "f")

    def test_a_run_that_is_cut(self):
        """By ladder, number and label: one run, and what it used after the guard had fired."""
        group = together(tallied(list(self.runs()), FEW).groups.values())
        assert {
            (0, 0, "success"): Spent(1, 2, 2555),  # after two of five steps
            (1, 0, "success"): Spent(1, 3, 2555),  # at the ask in the second
            (2, 0, "success"): Spent(1, 1, 1535),  # after the third
        } == group.cut

    @pytest.mark.parametrize(("n", "cut"), [(1, True), (4, True), (5, False), (6, False)])
    def test_at_the_last_step(self, n, cut):
        """A run of five steps is cut by a limit of four, and not by one of five."""
        group = together(tallied(list(self.runs()), [Ladder(max_steps, (n,))]).groups.values())
        assert cut == ((0, 0, "success") in group.cut)

    @pytest.mark.parametrize(("n", "cut"), [(3, True), (4, True), (5, False)])
    def test_at_the_last_call(self, n, cut):
        """A run of four calls and an answer is cut by a quota of three or four, which leaves no call for the answer."""
        group = together(tallied([next(self.runs())], [Ladder(max_tool_calls, (n,))]).groups.values())
        assert cut == ((0, 0, "success") in group.cut)

    def test_what_a_ladder_needs(self):
        """A run whose recording does not say enough is not held against it."""
        group = together(tallied(list(self.runs()), FEW).groups.values())
        assert {(0, "success"), (0, "failure"), (1, "success"), (1, "failure"), (2, "success")} == set(group.ran)

    def test_the_largest_success(self):
        """What it needs of each budget; of a quota of calls one more than it makes, for the answer after them."""
        group = together(tallied(list(self.runs()), FEW).groups.values())
        sizes = {name: group.sizes[name] for name in ("steps", "calls", "tokens", "money", "seconds")}
        assert {"steps": 5, "calls": 5, "tokens": 4565, "money": 0.0, "seconds": 0.0} == sizes

    @pytest.mark.parametrize(("place", "on"), [((4, 4), True), ((5, 3), True), ((5, 4), False), ((6, 4), False)])
    def test_goes_on(self, place, on):
        """A guard cuts a run if a model call or a tool call follows."""
        assert on == goes_on(Place(*place, 0, 0.0), Place(5, 4, 0, 0.0))

    def test_the_whole_set(self):
        """Several guards replayed together, over the runs of some tasks."""
        runs = population(60, 10)
        some = {group_of(trace, False) for trace in runs if trace.task in ("task 1", "task 2")}
        found = tried(runs, [max_steps(20), repeated_call(5)], some)
        assert 12 == sum(spent.runs for spent in found.ran.values())
        assert together([found]).cut == found.cut

    def test_alone_it_is_what_the_sweep_says(self):
        """A set of one guard does what its row says."""
        runs = population(100)
        tally = tallied(runs, [Ladder(max_steps, (8,))])
        alone = tried(runs, [max_steps(8)], set(tally.groups))
        assert together(tally.groups.values()).cut == alone.cut


class TestMemory:
    """What is held does not grow with the runs."""

    def test_many_tasks_are_put_together(self, monkeypatch):
        """From a number of tasks on they share groups; the sums stay the same, whatever the order."""
        runs = population(200, 200)
        apart = tallied(runs, FEW)
        monkeypatch.setattr(tallies, "MOST_GROUPS", 32)
        found = [tallied(some, FEW) for some in (runs, runs[::-1])]
        halves = [tallied(runs[:20], FEW), tallied(runs[20:], FEW)]
        for part in halves[1:]:
            halves[0].add(part)
        assert [True, True, True] == [tally.folded for tally in (*found, halves[0])]
        assert all(len(tally.groups) <= 32 for tally in (*found, halves[0]))
        whole = together(apart.groups.values())
        for tally in (*found, halves[0]):
            same = together(tally.groups.values())
            assert (whole.ran, whole.cut, whole.sizes) == (same.ran, same.cut, same.sizes)
        assert found[0].groups.keys() == found[1].groups.keys()

    def test_a_group_is_that_of_the_task(self):
        """The runs of one task are in one group, also where tasks share them."""
        runs = population(60, 10)
        names = {(trace.task, group_of(trace, True)) for trace in runs}
        assert 10 == len(names)

    def test_a_large_file(self, tmp_path):
        """Reading and sweeping five times as many runs takes no more memory."""
        line = json.dumps({"messages": [{"role": "user", "content": "go"}, *[
            {"role": "assistant", "content": "x" * 2000, "tool_calls": []}] * 5]}) + "\n"  # fmt: skip

        def peak(runs):
            path = tmp_path / f"{runs}.jsonl"
            path.write_text(line * runs, encoding="utf-8")
            tracemalloc.start()
            assert runs == tallied(read(path), FEW).report.total
            found = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return found

        assert peak(1000) < 1.5 * peak(200)


def test_progress_of_one_process(files):
    """Bytes rise to their sum, and runs are counted."""
    seen = []
    tallied(read(files), FEW, None, None, seen.append)
    assert sorted(seen) == seen
    assert Progress(read(files).size, read(files).size, 140)[1:] == seen[-1][1:]


def test_groups_add_up():
    """Adding a group leaves it as it was."""
    one, other = Group({(0, "a"): Spent(1, 2)}), Group({(0, "a"): Spent(3, 4)})
    one.add(other)
    assert ({(0, "a"): Spent(4, 6)}, {(0, "a"): Spent(3, 4)}) == (one.ran, other.ran)
