"""Each format with its traps. The samples are made for this; each is as small as it can be."""

# ruff: noqa: SIM300

import json
import zipfile
from pathlib import Path

import pytest

from stoplib import Usage
from stoplib.traces import read
from stoplib.traces.trace import DECLINED, ERROR, OK

try:
    from backports.zstd import zipfile as ZIP
except ImportError:
    ZIP = zipfile

SAMPLES = Path(__file__).with_name("samples")


def sample(name):
    """The runs of a sample."""
    return list(read(SAMPLES / name))


def record(name):
    """A JSON sample as a value, to be changed."""
    return json.loads((SAMPLES / name).read_text(encoding="utf-8"))


@pytest.fixture
def runs_of(tmp_path):
    """Writes a value to a file and reads its runs."""

    def runs(value, name="run.json", **options):
        path = tmp_path / name
        lines = isinstance(value, str)
        path.write_text(value if lines else json.dumps(value), encoding="utf-8")
        return list(read(path, **options))

    return runs


def calls(trace):
    """The calls of each step as (name, arguments)."""
    return [[(call.name, call.args) for call in step.calls] for step in trace.steps]


def results(trace):
    """The results of each step as (text, status), or None."""
    return [[result and (result.text, result.status) for result in step.results] for step in trace.steps]


def usages(trace):
    """The usage of each step."""
    return [step.usage for step in trace.steps]


@pytest.mark.parametrize(
    ("name", "format", "runs", "steps", "calls", "labels"),
    [
        ("openai_chat.json", "OpenAI messages", 1, 2, 2, "U"),
        ("openai_responses.json", "OpenAI messages", 1, 2, 2, "U"),
        ("openai_lines.jsonl", "OpenAI messages", 3, 4, 1, "SFU"),
        ("anthropic.json", "Anthropic messages", 1, 2, 1, "U"),
        ("tau_bench.json", "tau-bench", 3, 5, 3, "SFF"),
        ("tau2_bench.json", "tau2-bench", 2, 4, 2, "SU"),
        ("swe_agent.traj", "SWE-agent", 1, 3, 2, "U"),
        ("mini_swe_agent.traj.json", "mini-swe-agent", 1, 3, 2, "U"),
        ("inspect.json", "Inspect", 2, 3, 2, "SU"),
        ("opentelemetry.json", "OpenTelemetry", 1, 2, 1, "S"),
        ("claude_code.jsonl", "Claude Code", 3, 4, 1, "UUU"),
    ],
)
def test_samples(name, format, runs, steps, calls, labels):
    """Each sample is recognised by its content, and has its runs, steps, calls carried out and labels."""
    found = sample(name)
    assert ([format] * runs, steps, calls, labels) == (
        [trace.format for trace in found],
        sum(len(trace.steps) for trace in found),
        sum(trace.tool_calls for trace in found),
        "".join(trace.label[0].upper() for trace in found),
    )


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_the_name_of_a_file_does_not_matter(path, tmp_path):
    """Under another name a file is read as the same format."""
    other = tmp_path / "x"
    other.write_bytes(path.read_bytes())
    assert [trace.format for trace in read(path)] == [trace.format for trace in read(other)]


class TestOpenAI:
    """Chat completions and Responses."""

    def test_results_in_any_order(self):
        """A result belongs to the call of its id, whatever the order."""
        [trace] = sample("openai_chat.json")
        assert [[("get_order", {"id": 7}), ("get_time", {})], []] == calls(trace)
        assert [[('{"due": "09:00"}', OK), ("10:00", OK)], []] == results(trace)

    @pytest.mark.parametrize("name", ["openai_chat.json", "openai_responses.json"])
    def test_usage_beside_a_list_is_that_of_the_last_call(self, name):
        """The other calls' usage is unknown, and the cached part is taken out of the input."""
        assert [None, Usage(54, 9, 256)] == usages(sample(name)[0])

    def test_arguments_that_are_no_object_keep_their_text(self):
        """Broken arguments, old `function_call`, arguments as an object, and a call without a result."""
        trace = sample("openai_lines.jsonl")[2]
        assert [[("look", '{"q": 1')], [("look", {"q": 1})]] == calls(trace)
        assert [[("nothing", OK)], [None]] == results(trace)

    @pytest.mark.parametrize("text", ["", "[1]", '"a"', "{", "null"])
    def test_different_broken_arguments_are_different(self, runs_of, text):
        """What is not an object is kept as it is, and never taken for no arguments."""
        message = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": text}}]}
        assert [[("f", text)]] == calls(runs_of([{"role": "user", "content": "go"}, message])[0])

    def test_an_id_twice_in_a_run(self, runs_of):
        """A result belongs to the latest unanswered call of its id."""
        ask = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
        }
        told = [{"role": "tool", "tool_call_id": "a", "content": text} for text in ("one", "two")]
        [trace] = runs_of([ask, told[0], ask, told[1]])
        assert [[("one", OK)], [("two", OK)]] == results(trace)

    def test_results_without_ids_and_without_calls(self, runs_of):
        """Without an id a result belongs to the first unanswered call; one with an unknown id belongs to none."""
        ask = {"role": "assistant", "tool_calls": [{"function": {"name": n, "arguments": "{}"}} for n in "fg"]}
        told = [{"role": "tool", "content": "one"}, {"role": "tool", "content": "two"}]
        [trace] = runs_of([ask, *told, {"role": "tool", "tool_call_id": "zz", "content": "stray"}])
        assert [[("one", OK), ("two", OK)]] == results(trace)
        assert 1 == trace.stray

    def test_parts_of_content(self, runs_of):
        """Texts of parts are joined; a picture is told apart by its digest."""
        pictures = [[{"type": "image_url", "image_url": {"url": url}}] for url in ("data:a", "data:b", "data:a")]
        asks = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
        [trace] = runs_of([m for picture in pictures for m in (asks, {"role": "tool", "content": picture})])
        first, second, third = (step.results[0].text for step in trace.steps)
        assert first == third != second

    def test_one_message_is_one_model_call(self):
        """However many calls it holds."""
        assert 2 == len(sample("openai_chat.json")[0].steps)

    def test_no_flag_of_errors(self):
        """Nothing says whether a call failed, unless the reader is told by what text to guess."""
        assert "unknown" == sample("openai_chat.json")[0].errors
        [trace] = read(SAMPLES / "openai_chat.json", errors="^10:")
        assert ("guessed", [ERROR]) == (trace.errors, [r.status for r in trace.steps[0].results if r.text == "10:00"])


class TestAnthropic:
    """Messages with blocks."""

    def test_cached_tokens_are_beside_the_input(self):
        """The prompt is the sum of three; a field may be null or missing."""
        [trace] = sample("anthropic.json")
        assert [Usage(12, 31, 2048), Usage(90, 8)] == usages(trace)

    def test_a_failed_call(self):
        """`is_error` flags it; results are in user messages, beside a person's words."""
        [trace] = sample("anthropic.json")
        assert [[("no such order", ERROR)], []] == results(trace)
        assert ("flagged", "Is order 7 late?") == (trace.errors, trace.prompt)

    def test_no_word_on_errors(self, runs_of):
        """A result without `is_error` does not say that the call succeeded."""
        messages = record("anthropic.json")
        del messages[2]["content"][0]["is_error"]
        del messages[2]["content"][0]["content"]
        [trace] = runs_of({"messages": messages, "task_id": 7, "reward": 1})
        assert ("unknown", [[("", OK)], []], "7", "success") == (
            trace.errors,
            results(trace),
            trace.task,
            trace.label,
        )

    def test_tools_of_the_server(self, runs_of):
        """What the server calls inside a reply is no call of the loop."""
        messages = record("anthropic.json")
        server = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
        messages[3]["content"] = [
            server,
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        ]
        assert [[("get_order", {"id": 7})], []] == calls(runs_of(messages)[0])


class TestTauBench:
    """Many runs in one array."""

    def test_an_id_twice_in_a_run_and_an_empty_result(self):
        """Both calls have their own result, and an empty one is empty."""
        assert [[("Error: not found", ERROR)], [("", OK)], []] == results(sample("tau_bench.json")[0])

    @pytest.mark.parametrize(("success_at", "labels"), [(1.0, "sff"), (0.85, "ssf"), (0.86, "sff"), (0.0, "sss")])
    def test_rewards_between_0_and_1(self, success_at, labels):
        """A reward is held against the number that the user names."""
        runs = read(SAMPLES / "tau_bench.json", success_at=success_at)
        assert labels == "".join(trace.label[0] for trace in runs)

    def test_a_run_that_ends_in_a_result_and_one_without_a_call(self):
        """Both are runs; trials of a task share it."""
        traces = sample("tau_bench.json")
        assert [("0/0", "0"), ("0/1", "0"), ("1/0", "1")] == [(t.id, t.task) for t in traces]
        assert ["answered", "unfinished", "answered"] == [t.outcome().reason for t in traces]

    def test_other_words_for_errors(self):
        """What the user says is an error is one, and not what usually is."""
        [trace, *_] = read(SAMPLES / "tau_bench.json", errors="found")
        [other, *_] = read(SAMPLES / "tau_bench.json", errors="lost")
        assert [ERROR, OK] == [t.steps[0].results[0].status for t in (trace, other)]


class TestTau2Bench:
    """Simulations."""

    def test_calls_of_the_user_are_not_the_agent_s(self):
        """Only the agent's calls are read, and the canned greeting is no model call."""
        assert [[("get_line", {"id": "L1"})], []] == calls(sample("tau2_bench.json")[0])

    def test_usage_cost_and_time(self):
        """A cost of 0 beside tokens is unknown; the time is that of the message before."""
        trace = sample("tau2_bench.json")[0]
        assert [Usage(3437, 22), Usage(3500, 5)] == usages(trace)
        assert [(0.007, 2.0), (None, 7.0)] == [(step.cost, step.seconds) for step in trace.steps]
        assert (12.0, "user_stop", "m", "telecom/13") == (trace.seconds, trace.ended, trace.model, trace.task)

    def test_no_usage_no_time_no_reward(self):
        """What a file lacks is unknown; a call at the end may have no result."""
        trace = sample("tau2_bench.json")[1]
        assert ([None, None], None, "unknown") == (usages(trace), trace.seconds, trace.label)
        assert [[("no line", ERROR)], [None]] == results(trace)
        assert ("unfinished", "max_steps", 1) == (trace.outcome().reason, trace.outcome().detail, trace.tool_calls)

    def test_a_bare_list_of_simulations(self, runs_of):
        """One file of others has no object around it."""
        found = runs_of(record("tau2_bench.json")["simulations"])
        assert ["tau2-bench"] * 2 == [trace.format for trace in found]
        assert ["13", "14"] == [trace.task for trace in found]


class TestSweAgent:
    """One action per step."""

    def test_actions(self):
        """The first word names the tool; line ends are those of Unix; a step without an action has no call."""
        [trace] = sample("swe_agent.traj")
        assert [[("ls", {"command": "ls -F"})], [], [("submit", {"command": "submit"})]] == calls(trace)
        assert ("a.py\nb.py\n", OK) == results(trace)[0][0]

    def test_what_is_known_of_the_whole_run_only(self):
        """Tokens and cost are sums; the end is the recording's word; nothing says whether it succeeded."""
        [trace] = sample("swe_agent.traj")
        assert (Usage(77474, 1831), 0.42, [None] * 3) == (trace.usage, trace.cost, usages(trace))
        assert ("submitted (exit_cost)", "unknown", "unknown") == (trace.ended, trace.label, trace.errors)

    def test_replayed_runs_have_no_usage(self, runs_of):
        """A sum of 0 is unknown."""
        run = record("swe_agent.traj")
        run["info"] = {"exit_status": None, "model_stats": {"instance_cost": 0, "tokens_sent": 0, "tokens_received": 0}}
        [trace] = runs_of(run)
        assert (None, None, "") == (trace.usage, trace.cost, trace.ended)

    def test_the_label_is_in_the_report_of_the_evaluation(self, runs_of, tmp_path):
        """By the instance, which is the file's name."""
        report = tmp_path / "report.json"
        report.write_text(json.dumps({"resolved_ids": ["a__a-1"], "unresolved_ids": ["a__a-2"], "total": 2}))
        run = record("swe_agent.traj")
        labels = [runs_of(run, f"a__a-{n}.traj", labels=report)[0].label for n in (1, 2, 3)]
        assert ["success", "failure", "unknown"] == labels


class TestMiniSweAgent:
    """Commands in messages."""

    def test_results_are_taken_out_of_their_wrapping(self):
        """An empty output is empty; a return code other than 0 counts as a failed call."""
        [trace] = sample("mini_swe_agent.traj.json")
        assert [[("", OK)], [], [("no such file", ERROR)]] == results(trace)
        assert "guessed" == trace.errors

    def test_usage_cost_and_time(self):
        """Each as far as it is there."""
        [trace] = sample("mini_swe_agent.traj.json")
        assert [Usage(900, 20), None, None] == usages(trace)
        assert [(0.01, 0.0), (None, 4.0), (0.01, 6.0)] == [(step.cost, step.seconds) for step in trace.steps]
        assert (0.02, "Submitted", "m", "Solve this.") == (trace.cost, trace.ended, trace.model, trace.prompt)

    def test_an_old_file_is_a_bare_list(self, runs_of):
        """With commands in fences, a command that was killed, and a last one whose output ends the run."""
        says = "THOUGHT.\n\n```bash\n{}\n```".format
        texts = ["the task", says("sleep 9"), "The last command timed out and has been killed.", says("ls"),
                 "<returncode>0</returncode>\n<output>\na.py\n</output>", says("submit"), "diff"]  # fmt: skip
        messages = [{"role": "system", "content": "You can use a computer."}]
        messages += [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]
        [trace] = runs_of(messages)
        assert "mini-swe-agent" == trace.format
        assert [[("bash", {"command": c})] for c in ("sleep 9", "ls", "submit")] == calls(trace)
        assert [ERROR, OK, OK] == [step.results[0].status for step in trace.steps]
        assert ["a.py", "diff"] == [step.results[0].text for step in trace.steps[1:]]

    def test_tool_calls(self, runs_of):
        """Newer ones have an id for each action."""
        run = record("mini_swe_agent.traj.json")
        run["messages"] = [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": "",
                "extra": {"actions": [{"command": c, "tool_call_id": c} for c in "ab"]},
            },
            {"role": "tool", "tool_call_id": "b", "content": "x", "extra": {"raw_output": "B", "returncode": 0}},
            {"role": "tool", "tool_call_id": "a", "content": "x", "extra": {"raw_output": "A", "returncode": 2}},
        ]
        assert [[("A", ERROR), ("B", OK)]] == results(runs_of(run)[0])


class TestInspect:
    """Logs as JSON and as archives."""

    def test_a_failed_call_without_a_text(self):
        """Has the text of the error."""
        assert [[("timed out", ERROR)]] == results(sample("inspect.json")[0])

    def test_limits_labels_and_sums(self):
        """The first score is the label; the sum is that of the run's own model; the limit is told."""
        first, second = sample("inspect.json")
        assert (Usage(6147, 281, 9088), "limit: message", "t/1") == (first.usage, first.ended, first.task)
        assert "unknown" == second.label  # NaN

    def test_events_are_complete(self):
        """Events are read where there are some, up to the scoring; texts that are kept elsewhere are found."""
        trace = sample("inspect.json")[1]
        assert [[("a long list of files", OK)], []] == results(trace)
        assert [0.5, 3.0] == [step.seconds for step in trace.steps]

    def test_cached_tokens_inside_and_beside(self):
        """Input and output are the total where the cached part is inside."""
        assert [Usage(100, 10, 800), Usage(50, 5, 900)] == usages(sample("inspect.json")[1])

    @pytest.mark.parametrize(
        ("value", "label"),
        [("C", "success"), ("I", "failure"), ("P", "failure"), ("N", "failure"), (1, "success"), (0.5, "failure")]
        + [(True, "success"), (False, "failure"), ([1], "unknown"), ({"a": 1}, "unknown"), (None, "unknown")],
    )
    def test_kinds_of_scores(self, runs_of, value, label):
        """Letters, numbers, bools; what holds several values says nothing."""
        log = record("inspect.json")
        log["samples"][0]["scores"] = {"s": {"value": value}}
        assert label == runs_of(log)[0].label

    @pytest.mark.parametrize("head", ["header.json", "_journal/start.json"])
    def test_an_archive(self, tmp_path, head):
        """The same runs as from JSON, also while the evaluation still runs; a broken member loses no other."""
        log = record("inspect.json")
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(head, json.dumps({"version": 2, "eval": log["eval"]}))
            for one in log["samples"]:
                archive.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
            archive.writestr("samples/3_epoch_1.json", "{")
            archive.writestr("samples/4_epoch_1.json", "{}")
            archive.writestr("summaries.json", "[]")
        packed = path.read_bytes()
        at = packed.index(b"samples/4_epoch_1.json") + len("samples/4_epoch_1.json")
        path.write_bytes(packed[:at] + b"\xff\xff" + packed[at + 2 :])
        reading = read(path)
        assert [(t.id, t.steps, t.model) for t in sample("inspect.json")] == [(t.id, t.steps, t.model) for t in reading]
        assert {"no JSON": 2} == reading.report.dropped

    @pytest.mark.skipif(not hasattr(ZIP, "ZIP_ZSTANDARD"), reason="needs Python 3.14 or the package backports.zstd")
    def test_an_archive_packed_with_zstd(self, tmp_path):
        """Is read where Python or a package can."""
        log = record("inspect.json")
        path = tmp_path / "log.eval"
        with ZIP.ZipFile(path, "w", ZIP.ZIP_ZSTANDARD) as archive:
            archive.writestr("header.json", json.dumps({"eval": log["eval"]}))
            archive.writestr("samples/1_epoch_1.json", json.dumps(log["samples"][0]))
        assert ["1/1"] == [trace.id for trace in read(path)]


class TestOpenTelemetry:
    """Spans."""

    def test_order_and_the_innermost_spans(self):
        """By start time, not by place; the sums of the agent's span and of the outer model span are not counted."""
        [trace] = sample("opentelemetry.json")
        assert [Usage(20, 24, 100), Usage(120, 24)] == usages(trace)
        assert [1.0, 4.5, 9.0] == [*(step.seconds for step in trace.steps), trace.seconds]

    def test_a_failed_tool(self):
        """By the error's type or the span's status; its call is the one in the messages."""
        [trace] = sample("opentelemetry.json")
        assert [[("get_order", {"id": 7})], []] == calls(trace)
        assert [[("KeyError", ERROR)], []] == results(trace)

    def test_no_content(self, runs_of):
        """Without messages and arguments the calls are known by their spans, and not what they were asked for."""
        log = record("opentelemetry.json")
        for span in log["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            keep = [
                a
                for a in span["attributes"]
                if a["key"] not in ("gen_ai.output.messages", "gen_ai.tool.call.arguments")
            ]
            span["attributes"] = keep
        [trace] = runs_of(log)
        assert [[("get_order", {})], []] == calls(trace)
        assert (False, True) == ("arguments" in trace.known, "errors" in trace.known)

    def test_numbers_as_numbers_and_older_names(self, runs_of):
        """Exports that keep 64-bit numbers as numbers, and attributes from before the names changed."""
        text = (SAMPLES / "opentelemetry.json").read_text(encoding="utf-8")
        for old, new in (
            ("usage.input_tokens", "usage.prompt_tokens"),
            ("usage.output_tokens", "usage.completion_tokens"),
        ):
            text = text.replace(f"gen_ai.{old}", f"gen_ai.{new}")
        text = text.replace('{"intValue": "120"}', '{"intValue": 120}').replace(
            '"1760000001000000000"', "1760000001000000000"
        )
        [trace] = runs_of(text)
        assert [Usage(20, 24, 100), Usage(120, 24)] == usages(trace)

    @pytest.mark.parametrize("batches", [True, False])
    def test_tempo(self, runs_of, batches):
        """Tempo's names for the same."""
        text = (SAMPLES / "opentelemetry.json").read_text(encoding="utf-8")
        text = text.replace("scopeSpans", "instrumentationLibrarySpans")
        [trace] = runs_of(text.replace("resourceSpans", "batches") if batches else text)
        assert [[("KeyError", ERROR)], []] == results(trace)

    def test_jaeger(self, runs_of):
        """Jaeger's tags, in microseconds."""
        kinds = {"chat": "gen_ai.usage.output_tokens", "execute_tool": "gen_ai.tool.name"}
        spans = [
            {"traceID": "t", "spanID": f"s{n}", "operationName": kind, "startTime": 1_000_000 * n, "duration": 500_000,
             "references": [{"refType": "CHILD_OF", "traceID": "t", "spanID": "s0"}],
             "tags": [{"key": "gen_ai.operation.name", "value": kind}, {"key": kinds[kind], "value": 5},
                      {"key": "gen_ai.usage.input_tokens", "value": 7}, {"key": "error", "value": kind != "chat"}]}
            for n, kind in ((3, "chat"), (1, "chat"), (2, "execute_tool"))
        ]  # fmt: skip
        [trace] = runs_of({"data": [{"traceID": "t", "spans": spans}]})
        assert [[("5", {})], []] == calls(trace)
        assert [0.0, 2.0, 2.5] == [*(step.seconds for step in trace.steps), trace.seconds]
        assert [ERROR] == [r.status for r in trace.steps[0].results]

    def test_lines_of_exports(self, runs_of):
        """One export a line: the spans of a trace may be in any of them, and traces are runs of their own."""
        log = record("opentelemetry.json")
        exports = [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]} for span in _spans(log)]
        other = json.loads(json.dumps(exports[2]))
        _spans(other)[0]["traceId"] = "another"
        found = runs_of("\n".join(map(json.dumps, [exports[0], other, *exports[1:]])))
        assert ["4bf92f3577b34da6a3ce929d0e0e4736", "another"] == [trace.id for trace in found]
        assert [2, 1] == [len(trace.steps) for trace in found]

    def test_results_in_messages_alone(self, runs_of):
        """Without tool spans the results are those in the next call's messages."""
        log = record("opentelemetry.json")
        spans = [s for s in _spans(log) if s["spanId"] in ("00f067aa0ba902b8", "00f067aa0ba902bb")]
        told = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "late"}]}]
        spans[1]["attributes"].append({"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(told)}})
        log["resourceSpans"][0]["scopeSpans"][0]["spans"] = spans
        [trace] = runs_of(log)
        assert [[("late", OK)], []] == results(trace)
        assert "unknown" == trace.errors

    def test_parents_in_a_circle(self, runs_of):
        """Wrong ids end in no endless loop."""
        log = record("opentelemetry.json")
        for span in _spans(log):
            span["parentSpanId"] = span["spanId"]
        assert 1 == len(runs_of(log))


def _spans(log):
    return log["resourceSpans"][0]["scopeSpans"][0]["spans"]


class TestClaudeCode:
    """Sessions."""

    def test_one_reply_on_several_lines_counts_once(self):
        """With the largest output, since in some versions only the last line has the final number."""
        first = sample("claude_code.jsonl")[0]
        assert [Usage(4, 60, 15000, 900), Usage(5, 7)] == usages(first)
        assert [[("Bash", {"command": "ls"})], []] == calls(first)

    def test_a_run_for_each_request(self):
        """Commands, caveats and results are none; a side chain is a run; what it repeats is left out."""
        found = sample("claude_code.jsonl")
        assert ["Fix it", "Search for it", "And now the tests"] == [trace.prompt for trace in found]
        assert [["Looking.", "Done."], ["Found."], [""]] == [[step.text for step in t.steps] for t in found]
        assert ["s#1", "s#2", "s#3"] == [trace.id for trace in found]
        assert {"s"} == {trace.task for trace in found}

    def test_time_between_requests_is_nobody_s(self):
        """A run's time ends with its last reply or result."""
        first, _, third = sample("claude_code.jsonl")
        assert ([0.0, 7.0], 9.0, 8.0) == ([step.seconds for step in first.steps], first.seconds, third.seconds)

    def test_a_person_who_says_no(self):
        """Has declined the call: it is no error of the tool."""
        assert [[("The user doesn't want to proceed with this tool use.", DECLINED)]] == results(
            sample("claude_code.jsonl")[2]
        )

    def test_strange_lines(self):
        """Bare numbers, texts, other types and lines without a message are passed over; a broken one is told."""
        reading = read(SAMPLES / "claude_code.jsonl")
        assert (3, {"no JSON": 1}) == (len(list(reading)), reading.report.dropped)

    def test_a_branch_that_was_left(self, runs_of):
        """An edited request begins a run of its own beside the old one."""
        lines = [json.loads(line) for line in (SAMPLES / "claude_code.jsonl").read_text("utf-8").splitlines()[5:8]]
        edited = [line | {"uuid": f"{line['uuid']}x"} for line in lines[:2]]
        edited[0] |= {"message": {"role": "user", "content": "Fix it well"}}
        edited[1] |= {"parentUuid": "u1x", "message": lines[1]["message"] | {"id": "msg_9"}}
        found = runs_of("\n".join(map(json.dumps, [*lines[:2], *edited, lines[2]])))
        assert [("Fix it", 1), ("Fix it well", 0)] == [(t.prompt, sum(map(len, calls(t)))) for t in found]
