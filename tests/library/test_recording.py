"""`Outcome.save` and `load`: runs on disk."""

# ruff: noqa: SIM300

import json
from pathlib import Path

import pytest

import stoplib
from stoplib import (
    Fatal,
    Reply,
    TickClock,
    ToolCall,
    Usage,
    answer,
    batch,
    call,
    load,
    max_steps,
    max_tool_calls,
    replay,
    run,
    script,
    tool,
)
from stoplib.recording import FORMAT, IncompleteRecording, RecordedError

from .helpers import LOOK, Wordless, always, looking, requests, results


@tool(effect=True, poll=3, volatile=("id", "at"))
def send(to):
    """A tool that has declared something of itself."""
    return {"id": 1, "to": to}


def a_run(**options):
    """A run with all there is: a batch, an error, a refusal, a pause, usage, prices, waiting, unusual characters."""
    model = script(
        Reply("Ich schaue nach … 🔍", batch(call("send", to="Änne"), call("nope")).calls, Usage(1, 2, 3, 4)),
        Reply('a "quoted"\nline\u2028and\r\nmore', stop="pause_turn"),
        batch(call("send", to="bob"), call("send", to="no"), usage=Usage(5, 6)),
        Reply(calls=(ToolCall("send", '{"to": '), ToolCall("send", [1], "id_1"))),
        answer("fertig"),
    )
    return run(
        model,
        "schick's ab",
        tools=[send],
        approve=lambda asked: asked.args["to"] != "no",
        guards=[max_steps(9)],
        clock=TickClock(0.5),
        prices={"input": 3, "output": 15, "cache_read": 0.3},
        **options,
    )


def saved(outcome, tmp_path):
    """The file of a run."""
    path = tmp_path / "run.jsonl"
    outcome.save(path)
    return path


def lines_of(path):
    """The lines of a recording, as objects."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def write(path, lines):
    """Write these objects as a recording."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


class TestThereAndBack:
    """What `save` wrote, `load` gives back."""

    def test_it_is_public(self):
        """`load` can be imported from the package itself; `save` is a method of the outcome."""
        assert "load" in stoplib.__all__

    def test_equal(self, tmp_path):
        """It comes back equal, with everything in it."""
        outcome = a_run()
        again = load(saved(outcome, tmp_path))
        assert outcome == again
        assert (outcome.messages, outcome.report(), repr(outcome)) == (again.messages, again.report(), repr(again))

    @pytest.mark.parametrize(
        "model",
        [
            script(answer("x")),
            script(Reply("no", stop="refusal")),
            script(Reply("x", stop="what")),
            script(answer("")),
            looking(),
            script(batch(call("look"), call("look"))),
        ],
    )
    @pytest.mark.parametrize("summarize", [False, True])
    def test_other_ends(self, model, summarize, tmp_path):
        """However it ended without an exception, it comes back equal."""
        guards = [max_tool_calls(1), max_steps(3)]
        outcome = run(model, "go", tools=LOOK, guards=guards, clock=TickClock(), summarize=summarize)
        assert outcome == load(saved(outcome, tmp_path))

    def test_a_run_without_a_call(self, tmp_path):
        """A run that made no model call comes back equal."""
        outcome = run(looking(), "", guards=[max_steps(0)])
        assert outcome == load(saved(outcome, tmp_path))

    def test_with_a_summary(self, tmp_path):
        """The closing summary and its step come back."""

        def model(messages):
            return answer("sum", usage=Usage(3)) if len(messages) > 3 else call("look")

        outcome = run(model, "go", tools=LOOK, guards=[max_steps(2)], summarize=True)
        again = load(saved(outcome, tmp_path))
        assert ("sum", True, outcome) == (again.summary, again.trace[-1].closing, again)

    @pytest.mark.parametrize("error", [ValueError("cannot"), Fatal("disk full"), StopIteration(), Wordless()])
    def test_an_exception(self, error, tmp_path):
        """An exception comes back as far as a file can hold it: its kind and its text; all else is equal."""

        def model(messages):
            raise error

        outcome = run(model, "go")
        again = load(saved(outcome, tmp_path))
        assert (RecordedError, True) == (type(again.error), str(again.error).startswith(type(error).__name__))
        assert outcome.replaced(error=None) == again.replaced(error=None)

    def test_an_exception_twice(self, tmp_path):
        """Saved again, the exception is described as it was."""
        outcome = load(saved(run(lambda messages: 1 / 0, "go"), tmp_path))
        assert str(outcome.error) == str(load(saved(outcome, tmp_path)).error) == "ZeroDivisionError: division by zero"

    def test_two_readings_are_equal(self, tmp_path):
        """A file that is read twice gives equal outcomes, also if the run ended with an exception."""
        path = saved(run(lambda messages: 1 / 0, "go"), tmp_path)
        assert load(path) == load(path)

    @pytest.mark.parametrize("usage", [Usage(-1), Usage(float("nan")), Usage("5"), Usage(None, 0.5)])
    def test_usage_that_cannot_be(self, usage, tmp_path):
        """Usage that ended the run as fatal is part of it, and does not count again."""
        outcome = run(always(call("look", usage=usage)), "go", tools=LOOK)
        again = load(saved(outcome, tmp_path))
        assert ("fatal", 1, Usage(), outcome.detail) == (again.reason, again.steps, again.usage, again.detail)
        assert repr(usage) == repr(again.trace[0].reply.usage)

    def test_interrupted(self, tmp_path):
        """A run that was interrupted in a batch comes back equal."""

        def stop():
            raise KeyboardInterrupt

        model = always(batch(call("look"), call("stop"), call("look")))
        outcome = run(model, "go", tools={**LOOK, "stop": stop}, clock=TickClock())
        assert outcome == load(saved(outcome, tmp_path))

    def test_an_empty_stop_reason(self, tmp_path):
        """The API's own word comes back as it was, also if it was empty; so does what a replay makes of it."""
        outcome = run(always(Reply("hello", stop="")), "go")
        again = load(saved(outcome, tmp_path))
        assert ("unfinished", "unfinished") == (outcome.reason, replay(again, [max_steps(3)]).reason)
        assert outcome == again

    def test_half_a_character(self, tmp_path):
        """A text with half a character in it, as cut-off replies have them, can be saved."""
        outcome = run(always(answer("hello \ud83d")), "go")
        try:
            assert outcome == load(saved(outcome, tmp_path))
        except UnicodeEncodeError:
            pytest.fail("it cannot be saved")

    def test_a_replay_of_a_recording(self, tmp_path):
        """A recording replays like the run itself."""
        outcome = run(looking(), "go", tools=LOOK, guards=[max_steps(6)], clock=TickClock())
        again = load(saved(outcome, tmp_path))
        assert replay(outcome, [max_steps(3)]) == replay(again, [max_steps(3)])

    def test_as_text_or_path(self, tmp_path):
        """A path may be a text."""
        a_run().save(str(tmp_path / "run.jsonl"))
        assert a_run() == load(str(tmp_path / "run.jsonl"))


class TestTheFile:
    """What the file looks like."""

    def test_one_object_a_line(self, tmp_path):
        """A first line for the run, one for each step, and one for how it ended, readable by eye."""
        path = saved(a_run(), tmp_path)
        lines = lines_of(path)
        assert (FORMAT, "schick's ab", "scripted") == (lines[0]["stoplib"], lines[0]["task"], lines[0]["model"])
        assert [1, 2, 3, 4, 5] == [line["step"] for line in lines[1:-1]]
        assert "answered" == lines[-1]["reason"]
        assert "Änne" in path.read_text(encoding="utf-8")

    def test_what_can_be_counted_is_not_written(self, tmp_path):
        """No count is written down that could contradict the steps."""
        text = saved(a_run(), tmp_path).read_text(encoding="utf-8")
        assert [] == [name for name in ("tool_calls", "cost", "tokens", "messages", "answer") if f'"{name}":' in text]

    def test_the_same_run_gives_the_same_bytes(self, tmp_path):
        """Saving is deterministic."""
        first = saved(a_run(), tmp_path).read_bytes()
        assert first == saved(a_run(), tmp_path).read_bytes()
        assert b"\r\n" not in first

    def test_nothing_else_is_left(self, tmp_path):
        """After saving there is one file, also if one was there before."""
        path = saved(looking_at("once"), tmp_path)
        looking_at("twice").save(path)
        assert (["run.jsonl"], "twice") == ([p.name for p in tmp_path.iterdir()], load(path).task)

    @pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", 3j])
    def test_arguments_that_are_no_json(self, value, tmp_path):
        """An argument that is no JSON value is a TypeError; nothing is written, and an older file stays."""
        path = saved(looking_at("once"), tmp_path)
        outcome = run(script(Reply(calls=(ToolCall("look", {"x": value}),)), answer("x")), "go", tools=LOOK)
        with pytest.raises(TypeError):
            outcome.save(path)
        assert (["run.jsonl"], "once") == ([p.name for p in tmp_path.iterdir()], load(path).task)

    def test_no_draft_is_left_when_saving_fails(self, tmp_path, monkeypatch):
        """If the file cannot be put in its place, no draft is left beside it, and an older file stays."""
        path = saved(looking_at("once"), tmp_path)

        def fails(draft, target):
            raise PermissionError(f"{target} is held by another program")

        monkeypatch.setattr(Path, "replace", fails)
        with pytest.raises(PermissionError):
            looking_at("twice").save(path)
        assert (["run.jsonl"], "once") == ([p.name for p in tmp_path.iterdir()], load(path).task)

    def test_where_no_file_can_be(self, tmp_path):
        """A folder, and a file in a folder that is not there, are named as they were given."""
        with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
            a_run().save(tmp_path)
        with pytest.raises(FileNotFoundError, match=r"there is no folder '.*nowhere' to write run.jsonl into"):
            a_run().save(tmp_path / "nowhere" / "run.jsonl")
        assert [] == list(tmp_path.iterdir())


def looking_at(task):
    """A small run with this task."""
    return run(always(answer("x")), task, clock=TickClock())


class TestCutOff:
    """A recording that breaks off says so, and holds the rest."""

    def test_at_every_byte(self, tmp_path):
        """Wherever a file breaks off, it is never taken for whole; what is whole of it is held."""
        outcome = run(script(batch(call("look"), call("look")), answer("x")), "go", tools=LOOK, clock=TickClock())
        path = saved(outcome, tmp_path)
        data = path.read_bytes()
        ends = [place + 1 for place, byte in enumerate(data) if byte == ord("\n")]
        for size in range(len(data) - 1):
            path.write_bytes(data[:size])
            whole = sum(end - 1 <= size for end in ends)  # a line is whole without its line end
            with pytest.raises(ValueError) as caught:
                load(path)
            held = caught.value.outcome.trace if isinstance(caught.value, IncompleteRecording) else None
            assert (outcome.trace[: whole - 1] if whole else None) == held, size
        path.write_bytes(data[:-1])
        assert outcome == load(path)

    def test_in_the_middle_of_a_character(self, tmp_path):
        """A file that breaks off in the middle of a character is one that breaks off."""
        path = saved(run(script(call("look"), answer("grün")), "go", tools=LOOK), tmp_path)
        data = path.read_bytes()
        path.write_bytes(data[: data.index("ü".encode()) + 1])
        with pytest.raises(ValueError) as caught:
            load(path)
        assert isinstance(caught.value, IncompleteRecording)
        assert 1 == len(caught.value.outcome.trace)

    def test_what_is_held(self, tmp_path):
        """What is there is an outcome: unfinished, not complete, with its counts, and it can be replayed."""
        path = saved(run(looking(), "go", tools=LOOK, guards=[max_steps(5)], clock=TickClock()), tmp_path)
        write(path, lines_of(path)[:4])
        with pytest.raises(IncompleteRecording, match="breaks off: 3 steps and then no line that says how") as caught:
            load(path)
        held = caught.value.outcome
        assert ("unfinished", False, 3, 3, 3.0) == (
            held.reason,
            held.complete,
            held.steps,
            held.tool_calls,
            held.seconds,
        )
        assert "the recording breaks off" == held.detail
        assert requests(held.messages) == results(held.messages)
        assert ("max_steps", 2) == (replay(held, [max_steps(2)]).reason, replay(held, [max_steps(2)]).steps)
        assert "unfinished" == replay(held, [max_steps(9)]).reason

    def test_a_broken_line_in_the_middle(self, tmp_path):
        """What comes after a line that cannot be read is not trusted."""
        path = saved(run(looking(), "go", tools=LOOK, guards=[max_steps(4)]), tmp_path)
        lines = path.read_text(encoding="utf-8").splitlines()
        lines[2] = lines[2][:-5]
        path.write_text("\n".join(lines), encoding="utf-8")
        with pytest.raises(IncompleteRecording, match="1 steps and then a line that is cut off") as caught:
            load(path)
        assert 1 == len(caught.value.outcome.trace)


class TestNoRecordings:
    """What is no recording is a ValueError that names the file."""

    @pytest.mark.parametrize(
        "text", ["", "\n", "hello", "[]", "{}", "null", '{"step": 1}', '{"stoplib": 1', "7\n", '{"reason": "answered"}']
    )
    def test_other_files(self, text, tmp_path):
        """Other text, and other JSON, is refused."""
        path = tmp_path / "other.jsonl"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"other\.jsonl is no recorded run"):
            load(path)

    def test_nested_too_deep(self, tmp_path):
        """JSON that is nested deeper than Python can follow is no recording."""
        path = tmp_path / "deep.jsonl"
        path.write_text("[" * 200_000, encoding="utf-8")
        with pytest.raises(ValueError, match=r"deep\.jsonl is no recorded run"):
            load(path)

    def test_bytes(self, tmp_path):
        """A file that is no text is a ValueError too."""
        path = tmp_path / "picture.png"
        path.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
        with pytest.raises(ValueError):
            load(path)

    @pytest.mark.parametrize("version", [0, 2, "1", None, 1.5])
    def test_another_version(self, version, tmp_path):
        """A format of another version is refused, with both versions."""
        path = saved(a_run(), tmp_path)
        first, *rest = lines_of(path)
        write(path, [{**first, "stoplib": version}, *rest])
        with pytest.raises(ValueError) as caught:
            load(path)
        assert f"has the format {version!r}; this version of stoplib reads {FORMAT}" in str(caught.value)

    def test_a_file_that_is_not_there(self, tmp_path):
        """A file that does not exist is the usual error."""
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "nowhere.jsonl")

    @pytest.mark.parametrize(
        ("line", "name"),
        [
            *[(0, name) for name in ("task", "model", "price", "tools")],
            *[(1, name) for name in ("seconds", "text", "calls", "results")],
            *[(-1, name) for name in ("detail", "fired", "summary", "seconds", "waited", "error")],
        ],
    )
    def test_a_field_that_is_missing(self, line, name, tmp_path):
        """A line without one of its fields is refused, with the field's name."""
        path = saved(a_run(), tmp_path)
        lines = lines_of(path)
        del lines[line][name]
        write(path, lines)
        with pytest.raises(ValueError, match=name):
            load(path)

    @pytest.mark.parametrize(
        ("line", "name", "value"),
        [
            (0, "task", 5),
            (0, "price", {"input": -1, "output": 1}),
            (0, "price", {"in": 1}),
            (0, "tools", ["send"]),
            (0, "tools", {"send": {}}),
            (1, "calls", 5),
            (1, "calls", [{"name": "send"}]),
            (1, "results", [{"text": None, "status": "ok"}]),
            (1, "results", [{}]),
            (1, "usage", {"tokens": 5}),
            (1, "usage", [1, 2]),
            (-1, "fired", None),
        ],
    )
    def test_a_field_of_a_wrong_kind(self, line, name, value, tmp_path):
        """A field that is something else than it should be is refused when it is read, not when it is used."""
        path = saved(a_run(), tmp_path)
        lines = lines_of(path)
        lines[line][name] = value
        write(path, lines)
        with pytest.raises(ValueError):
            load(path)

    @pytest.mark.parametrize(
        ("line", "name", "value"),
        [
            (1, "seconds", "early"),
            (1, "seconds", None),
            (-1, "seconds", [5]),
            (-1, "waited", None),
            (-1, "reason", 5),
            (1, "results", [{"text": "x", "status": "fine"}] * 2),
        ],
    )
    def test_a_field_that_slips_through(self, line, name, value, tmp_path):
        """The same for times that are no numbers, a reason that is no text, and a status that does not exist."""
        path = saved(a_run(), tmp_path)
        lines = lines_of(path)
        lines[line][name] = value
        write(path, lines)
        with pytest.raises(ValueError):
            load(path)

    @pytest.mark.parametrize("place", [1, 2, 3])
    def test_a_step_that_is_missing(self, place, tmp_path):
        """A file from which a step was taken is no recording: its numbers do not fit."""
        path = saved(a_run(), tmp_path)
        lines = lines_of(path)
        del lines[place]
        write(path, lines)
        with pytest.raises(ValueError):
            load(path)
