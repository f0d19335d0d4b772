"""Events: what happens in a run, one thing at a time."""

# ruff: noqa: SIM300

import pytest

from stoplib import Event, Reply, Run, ToolCall, answer, batch, call, max_steps, print_trace, run, script, steps, tool
from stoplib.outcome import describe

from .helpers import LOOK, looking


def events(model, **options):
    """All events of a run."""
    return list(steps(model, "go", **options))


class TestOrder:
    """Which events there are, and in which order."""

    def test_an_answer(self):
        """A run that answers at once is a reply and an end."""
        assert ["reply", "end"] == [e.kind for e in events(script(answer("x")))]

    def test_no_call_at_all(self):
        """A run that makes no model call is an end alone."""
        assert ["end"] == [e.kind for e in events(looking(), guards=[max_steps(0)])]

    def test_a_batch(self):
        """Each call of a batch is followed by its own result."""
        model = script(batch(call("look"), call("unknown")), answer("x"))
        got = [(e.kind, e.step) for e in events(model, tools=LOOK)]
        calls = [("call", 1), ("result", 1)] * 2
        assert [("reply", 1), *calls, ("reply", 2), ("end", 2)] == got

    def test_what_each_holds(self):
        """Each event holds the thing that its kind is about, and nothing else."""
        model = script(call("look"), answer("x"))
        for event in events(model, tools=LOOK):
            held = {n for n in ("reply", "call", "result", "outcome") if getattr(event, n) is not None}
            assert {"outcome" if event.kind == "end" else event.kind} == held

    def test_call_and_result_belong_together(self):
        """A result's call is the call of the event before it, with the id that the run gave it."""
        got = events(script(call("look"), answer("x")), tools=LOOK)
        assert got[1].call == got[2].result.call == ToolCall("look", {}, "call_1_1")

    def test_one_run(self):
        """All events of a run share its run."""
        got = events(script(call("look"), answer("x")), tools=LOOK)
        assert 1 == len({id(e.run) for e in got})

    def test_a_call_event_comes_before_the_tool(self):
        """When the call is seen, the tool has not run; when the result is seen, it has."""
        ran, seen = [], []
        tools = {"look": lambda: ran.append(1)}
        for event in steps(script(call("look"), answer("x")), "go", tools=tools):
            seen.append((event.kind, len(ran)))
        assert [("reply", 0), ("call", 0), ("result", 1), ("reply", 1), ("end", 1)] == seen

    def test_unwatched_and_watched_runs_agree(self):
        """Watching changes nothing."""
        model = script(batch(call("look"), call("bad")), call("look"), answer("x"))
        tools = {**LOOK, "bad": lambda: 1 / 0}
        plain = run(model, "go", tools=tools)
        watched = run(model, "go", tools=tools, on_event=lambda event: "ignored")
        assert (plain.reason, plain.steps, plain.messages) == (watched.reason, watched.steps, watched.messages)


class TestText:
    """An event as one line."""

    def test_lines(self, capsys):
        """`print_trace` prints calls, results and the end, and what the model says."""

        @tool
        def look(where: str) -> str:
            """Look."""
            return "two\nlines"

        model = script(
            Reply("first", (ToolCall("look", {"where": "here"}),)), batch(call("look"), call("nope")), call("look")
        )
        run(model, "go", tools=[look], guards=[max_steps(2)], on_event=print_trace)
        assert [
            "step 1  model   first",
            "step 1  call    look(where='here')",
            "step 1  ok      two lines",
            "step 2  call    look()",
            "step 2  error   wrong arguments for look: missing a required argument: 'where'",
            "step 2  call    nope()",
            "step 2  error   there is no tool called 'nope'; the tools are: look",
            "stopped: max_steps (2 of 2 steps used)",
        ] == capsys.readouterr().out.splitlines()

    @pytest.mark.parametrize(
        ("reply", "line"),
        [
            (answer("hello"), "step 1  model   hello"),
            (call("a"), "step 1  model   asks for 1 tool"),
            (batch(call("a"), call("b")), "step 1  model   asks for 2 tools"),
            (Reply(), "step 1  model   says nothing"),
        ],
    )
    def test_replies(self, reply, line):
        """A reply is shown by its text, or by what it asks for."""
        assert line == str(Event("reply", Run("go", lambda: 0.0), 1, reply=reply))

    def test_another_kind(self):
        """An event with nothing in it shows its kind."""
        assert "step 3  odd" == str(Event("odd", Run("go", lambda: 0.0), 3))

    @pytest.mark.parametrize(("length", "shown"), [(79, 79), (80, 80), (81, 80), (500, 80)])
    def test_long_values_are_cut(self, length, shown):
        """A line is at most 80 characters of value, and a cut is marked."""
        text = describe("x" * length)
        assert (shown, length > 80) == (len(text), text.endswith("..."))

    def test_one_line(self):
        """Line ends and runs of spaces become one space."""
        assert "a b c" == describe("a\n  b\t c\n")

    @pytest.mark.parametrize("args", [None, [1]])
    def test_tracing_does_not_change_how_a_run_ends(self, args):
        """A run that is printed ends as the same run that is not."""
        model = script(Reply(calls=(ToolCall("look", args),)), answer("done"))
        plain = run(model, "go", tools=LOOK).reason
        assert plain == run(model, "go", tools=LOOK, on_event=print_trace).reason
