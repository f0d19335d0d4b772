"""Reading files and folders: nothing is lost but what is broken, and the report says what was."""

# ruff: noqa: SIM300

import gzip
import json
from pathlib import Path

import pytest

from stoplib import TickClock, answer, batch, call, load, max_steps, replay, run, script, tool
from stoplib.traces import Report, Trace, TraceStep, labels_of, read

SAMPLES = Path(__file__).with_name("samples")
TALK = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "Done.", "tool_calls": None}]


@pytest.fixture
def folder(tmp_path):
    """A folder with the samples, one of them packed, and what is none of them."""
    for path in SAMPLES.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    inner = tmp_path / "inner"
    inner.mkdir()
    packed = gzip.compress((SAMPLES / "tau_bench.json").read_bytes())
    (inner / "packed.json.gz").write_bytes(packed)
    (inner / "cut.json.gz").write_bytes(packed[: len(packed) // 2])
    (inner / "notes.txt").write_text("Not a run.", encoding="utf-8")
    (inner / "empty.json").write_text("", encoding="utf-8")
    (inner / "other.json").write_text('{"a": [1, 2], "b": {"c": 3}}', encoding="utf-8")
    (inner / ".hidden.json").write_bytes((SAMPLES / "tau_bench.json").read_bytes())
    return tmp_path


class TestFiles:
    """Which files are read."""

    def test_a_folder(self, folder):
        """All its files, also in folders inside, hidden ones apart; what is none of them is told."""
        reading = read(folder)
        traces = list(reading)
        assert (19 + 3, 22) == (len(traces), reading.report.total)
        assert 4 == reading.report.dropped["no known format"]
        assert {"tau-bench": 2, "Inspect": 1, "OpenAI messages": 3} == {
            name: reading.report.files[name] for name in ("tau-bench", "Inspect", "OpenAI messages")
        }

    def test_a_file_that_is_named_twice_is_read_once(self):
        """Also as part of its folder."""
        assert 19 == len(list(read([SAMPLES, SAMPLES / "tau_bench.json"])))

    @pytest.mark.parametrize("path", ["nowhere", "nowhere/at/all.json"])
    def test_nothing_there(self, tmp_path, path):
        """A path with nothing behind it is an error that names it."""
        with pytest.raises(FileNotFoundError, match="nowhere"):
            read(tmp_path / path)

    def test_again(self, folder):
        """A reading can be gone through again: the same runs, and the same report."""
        reading = read(folder)
        first, report = list(reading), reading.report
        assert (first, report) == (list(reading), reading.report)

    def test_position(self, folder):
        """How far it has come rises from 0 to the size of all files."""
        reading = read(folder)
        places = [reading.position, *(reading.position for _ in reading), reading.position]
        assert sorted(places) == places
        assert (0, reading.size) == (places[0], places[-1])


class TestBrokenRecords:
    """One bad record never loses the rest."""

    @pytest.mark.parametrize("wrong", [None, 17, "text", [], {}, {"traj": None}, {"traj": [{}]}, {"traj": [1]}])
    def test_among_others(self, tmp_path, wrong):
        """A record that is not as it should be, between two that are."""
        good = json.loads((SAMPLES / "tau_bench.json").read_text("utf-8"))
        path = tmp_path / "runs.json"
        path.write_text(json.dumps([good[0], wrong, good[1]]), encoding="utf-8")
        reading = read(path)
        assert ["0/0", "0/1"] == [trace.id for trace in reading]
        assert {"not as it should be": 1} == reading.report.dropped
        assert f"{path}, record 2: not as it should be: " in reading.report.examples[0]

    def test_a_run_without_a_step(self, tmp_path):
        """Is dropped and counted: it says nothing about limits."""
        path = tmp_path / "runs.jsonl"
        path.write_text("\n".join(json.dumps({"messages": talk}) for talk in (TALK, TALK[:1], TALK)), encoding="utf-8")
        reading = read(path)
        assert (2, {"not one model call": 1}) == (len(list(reading)), reading.report.dropped)

    def test_a_file_that_cannot_be_opened_any_more(self, folder):
        """A file that has gone since the reading began is told, and the others are read."""
        reading = read(folder)
        (folder / "tau_bench.json").unlink()
        assert 19 == len(list(reading))
        assert 1 == reading.report.dropped["cannot be read on"]

    def test_bytes_that_are_no_text(self, tmp_path):
        """Are replaced; a file of nothing else is of no known format."""
        path = tmp_path / "a"
        path.write_bytes(bytes(range(256)))
        reading = read(path)
        assert ([], {"no known format": 1}) == (list(reading), reading.report.dropped)
        talk = json.dumps(TALK).encode().replace(b"Done.", b"\xff\xfe")
        path.write_bytes(talk)
        assert ["\ufffd\ufffd"] == [trace.steps[0].text for trace in read(path)]

    def test_examples_have_a_bound(self, tmp_path):
        """Of many broken records the first ten are named, and all are counted."""
        path = tmp_path / "runs.jsonl"
        path.write_text(json.dumps({"messages": TALK}) + "\n{\n" * 1000, encoding="utf-8")
        reading = read(path)
        assert (1, 1000, 10) == (len(list(reading)), reading.report.dropped["no JSON"], len(reading.report.examples))


class TestLabels:
    """Success and failure from beside the runs."""

    @pytest.mark.parametrize("key", ["0/1", "0", "tau_bench", "tau_bench.json"])
    def test_by_id_task_or_file(self, key):
        """A label goes by the run's id, its task, or the file's name; it goes before the recording's own."""
        assert "failure" == list(read(SAMPLES / "tau_bench.json"))[1].label
        assert "success" == list(read(SAMPLES / "tau_bench.json", labels={key: True}))[1].label

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('{"a": true, "b": 0}', {"a": True, "b": 0}),
            ("run,label\na, success\nb,failure\n", {"a": " success", "b": "failure"}),
            ("a,1\nb,0\n\nnot a row\n", {"a": "1", "b": "0"}),
            (
                '{"resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"]}',
                {"a": True, "b": False, "c": False},
            ),
        ],
    )
    def test_files_of_labels(self, tmp_path, text, expected):
        """JSON, two columns of CSV, the report of an evaluation."""
        path = tmp_path / "labels"
        path.write_text(text, encoding="utf-8")
        assert expected == labels_of(path)

    @pytest.mark.parametrize(
        "text",
        [
            *("[1, 2]", "nothing", "a,b\nc,d", "17", "{}", '{"a": "maybe", "b": null}', "[" * 200_000),
            *('{"resolved_ids": 5}', '{"resolved_ids": ["a"], "error_ids": [{}]}', '{"resolved_ids": []}'),
            "a," + "x" * 200_000 + "\nb,success",  # more than one field of CSV may hold
        ],
        ids=lambda text: text[:30],
    )
    def test_no_labels(self, tmp_path, text):
        """A file without labels is refused."""
        path = tmp_path / "labels"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="has no labels"):
            labels_of(path)


class TestOurs:
    """This library's own recordings."""

    def recorded(self, path):
        """A run with a batch, an error and a tool that polls, saved."""
        tools = [tool(poll=3)(state), bad]
        model = script(batch(call("state"), call("bad")), call("state"), answer("done"))
        outcome = run(model, "the task", tools=tools, clock=TickClock(), prices={"input": 1, "output": 1})
        outcome.save(path)
        return outcome

    def test_the_outcome_itself(self, tmp_path):
        """A trace holds the very outcome, with what its tools declared, for a replay."""
        outcome = self.recorded(tmp_path / "a.jsonl")
        [trace] = read(tmp_path)
        assert (outcome, outcome) == (trace.recorded, trace.outcome())
        assert (3, 3, "the task", "answered") == (len(trace.steps), trace.tool_calls, trace.task, trace.ended)
        assert [1.0, 2.0, 3.0] == [step.seconds for step in trace.steps]

    def test_no_usage_is_unknown(self, tmp_path):
        """A model that reports no tokens has used some: they are unknown, not 0."""
        self.recorded(tmp_path / "a.jsonl")
        [trace] = read(tmp_path)
        assert ([None] * 3, False, "flagged") == ([s.usage for s in trace.steps], "usage" in trace.known, trace.errors)

    def test_one_that_breaks_off(self, tmp_path):
        """Is read as far as it goes, and what is broken is told."""
        path = tmp_path / "a.jsonl"
        self.recorded(path)
        path.write_text(path.read_text("utf-8")[:-20], encoding="utf-8")
        reading = read(path)
        assert [("unfinished", 3)] == [(trace.ended, len(trace.steps)) for trace in reading]
        assert {"no JSON": 1} == reading.report.dropped

    def test_several_in_a_file(self, tmp_path):
        """One after the other, as `cat` puts them."""
        path = tmp_path / "a.jsonl"
        self.recorded(path)
        path.write_text(path.read_text("utf-8") * 3, encoding="utf-8")
        assert 3 == len(list(read(path)))

    def test_another_version(self, tmp_path):
        """A recording of a later version is dropped, and the reason says why."""
        path = tmp_path / "a.jsonl"
        path.write_text('{"stoplib": 99}\n{"step": 1}\n', encoding="utf-8")
        reading = read(path)
        assert [] == list(reading)
        assert "has the format 99" in reading.report.examples[0]

    def test_a_closing_summary_is_no_step(self, tmp_path):
        """The call for the summary is made after the end, so it is none of the run's steps."""
        model = lambda messages: call("state") if messages[-1]["role"] == "tool" or len(messages) == 1 else answer("s")  # noqa: E731
        outcome = run(model, "go", tools=[state], guards=[max_steps(3)], summarize=True, clock=TickClock())
        outcome.save(tmp_path / "a.jsonl")
        [trace] = read(tmp_path)
        assert (3, 2) == (outcome.steps, len(trace.steps))
        assert load(tmp_path / "a.jsonl") == trace.recorded


def state():
    """What a poll asks."""
    return "running"


def bad():
    """A tool that fails."""
    raise ValueError("no")


class TestTrace:
    """One shape for all."""

    def test_what_is_known(self):
        """A run's usage is known from 95 % of its steps on."""
        known, unknown = TraceStep(usage=call("x").usage), TraceStep()
        shares = ["usage" in Trace("a", "a", (known,) * n + (unknown,)).known for n in (18, 19, 20)]
        assert [False, True, True] == shares

    def test_a_reply_that_only_talks_goes_on(self):
        """In a conversation with a person the run goes on after it; the last one ends it."""
        trace = Trace(
            "a", "a", (TraceStep("Which one?"), TraceStep("", stop="length"), TraceStep("Done.", stop="end_turn"))
        )
        outcome = replay(trace.outcome(), [])
        assert ("answered", "Done.", 3) == (outcome.reason, outcome.answer, outcome.steps)

    @pytest.mark.parametrize(
        ("last", "reason"),
        [
            (TraceStep("cut", stop="length"), "truncated"),
            (TraceStep(""), "empty_reply"),
            (TraceStep("x", stop="what"), "unfinished"),
            (TraceStep("", call("a").calls, (None,)), "unfinished"),
        ],
    )
    def test_how_it_ends(self, last, reason):
        """The last reply says how the run ended; a replay ends so too."""
        outcome = Trace("a", "a", (TraceStep("Well."), last)).outcome()
        assert (reason, reason) == (outcome.reason, replay(outcome, []).reason)

    def test_results_that_lack_are_no_equal_results(self):
        """Two lost results are not the same result, and were not carried out as far as anybody knows."""
        lost = TraceStep("", call("look").calls, (None,))
        trace = Trace("a", "a", (lost, lost, lost, TraceStep("Done.")))
        texts = [result.text for step in trace.outcome().trace for result in step.results]
        assert (3, 0) == (len(set(texts)), trace.tool_calls)

    def test_no_step(self):
        """A trace without a step has an outcome too."""
        assert ("unfinished", 0) == (Trace("a", "a", ()).outcome().reason, Trace("a", "a", ()).outcome().steps)


class TestReport:
    """Counts."""

    def test_sums(self, folder):
        """The reports of two parts add up to that of both."""
        parts = [read(path) for path in (folder / "inner", SAMPLES)]
        total = read([folder / "inner", SAMPLES])
        for reading in (*parts, total):
            list(reading)
        assert total.report == parts[0].report + parts[1].report

    def test_in_words(self, folder):
        """What was read, dropped and unknown, in lines for people."""
        reading = read(folder)
        list(reading)
        text = str(reading.report)
        for line in (
            "labels   6 success, 5 failure, 11 unknown",
            "known    failed calls: flagged in 9, guessed in 7, unknown in 6",
            "known    2 calls without a result, 0 results without a call",
            "dropped  4: no known format",
        ):
            assert line in text

    def test_as_data(self):
        """Plain values, ready for JSON."""
        report = Report()
        report.drop("a", "b", "c")
        assert {"c": 1} == json.loads(json.dumps(report.as_dict()))["dropped"]
