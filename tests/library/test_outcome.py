"""Outcomes: how a run ended, as a value to branch on."""

# ruff: noqa: SIM300

import json

import pytest

from stoplib import ManualClock, Reply, Usage, answer, batch, call, max_steps, run, script, tool

from .helpers import LOOK, always, looking


def an_outcome():
    """A run with a good result, a bad one and an answer."""
    model = script(
        batch(call("look"), call("bad"), usage=Usage(10, 5)),
        call("look", usage=Usage(20, 5, cache_read=60)),
        answer("Paris", usage=Usage(1, 1)),
    )
    return run(model, "go", tools={**LOOK, "bad": lambda: 1 / 0}, clock=ManualClock())


class TestFields:
    """What an outcome says."""

    def test_complete(self):
        """A complete run has an answer and no detail, error or guard."""
        outcome = an_outcome()
        assert ("answered", True, "Paris", "Paris") == (outcome.reason, outcome.complete, outcome.answer, outcome.text)
        assert ("", None, (), None) == (outcome.detail, outcome.error, outcome.fired, outcome.summary)

    def test_spend(self):
        """It says what was used."""
        outcome = an_outcome()
        assert (3, 3, Usage(31, 11, 60), 0.0, 0.0) == (
            outcome.steps,
            outcome.tool_calls,
            outcome.usage,
            outcome.seconds,
            outcome.waited,
        )

    def test_incomplete(self):
        """An incomplete run has no answer; the last thing said is kept as text and not passed off as one."""
        outcome = run(always(Reply("I think it is Paris", call("look").calls)), "go", tools=LOOK, guards=[max_steps(2)])
        assert ("max_steps", False, None, "I think it is Paris") == (
            outcome.reason,
            outcome.complete,
            outcome.answer,
            outcome.text,
        )

    def test_nothing_said(self):
        """A run without a model call has said nothing."""
        outcome = run(looking(), "go", guards=[max_steps(0)])
        assert ("", None, 0, Usage(), []) == (
            outcome.text,
            outcome.answer,
            outcome.steps,
            outcome.usage,
            outcome.trace,
        )

    def test_messages(self):
        """The transcript is a list of plain dicts: the task, then what was said and what came back."""
        outcome = run(script(call("look"), answer("x")), "go", tools=LOOK)
        assert [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "call_1_1", "name": "look", "args": {}}],
            },
            {"role": "tool", "tool_call_id": "call_1_1", "name": "look", "content": "nothing", "is_error": False},
            {"role": "assistant", "content": "x"},
        ] == outcome.messages

    def test_trace(self):
        """The trace has one step per model call, with its reply and the results in order."""
        outcome = an_outcome()
        assert [(1, ["ok", "error"]), (2, ["ok"]), (3, [])] == [
            (step.number, [r.status for r in step.results]) for step in outcome.trace
        ]

    def test_is_frozen(self):
        """An outcome cannot be changed afterwards."""
        with pytest.raises(AttributeError):
            an_outcome().reason = "answered"

    @pytest.mark.parametrize(("reason", "complete"), [("answered", True), ("goal_reached", True), ("max_steps", False)])
    def test_complete_follows_from_the_reason(self, reason, complete):
        """Whether a run is complete follows from its reason and cannot contradict it."""
        assert complete == an_outcome().replaced(reason=reason).complete


class TestRepr:
    """An outcome in one line."""

    def test_complete(self):
        """A complete run shows its answer and what it used."""
        assert "<answered: 'Paris' | 3 steps, 3 tool calls, 102 tokens, 0 s>" == repr(an_outcome())

    def test_incomplete(self):
        """An incomplete run shows what was seen instead."""
        outcome = run(looking(), "go", tools=LOOK, guards=[max_steps(2)], clock=ManualClock())
        assert "<max_steps (2 of 2 steps used) | 2 steps, 2 tool calls, 0 tokens, 0 s>" == repr(outcome)

    def test_stays_one_line(self):
        """A long answer is cut off there; the outcome keeps it whole."""
        outcome = run(script(answer("word\n" * 100_000)), "go", clock=ManualClock())
        assert 140 > len(repr(outcome))
        assert 500_000 == len(outcome.answer)

    @pytest.mark.parametrize(("seconds", "shown"), [(0.000204651, "0 s"), (0.0015, "0.002 s"), (90.25, "90.25 s")])
    def test_times_to_the_millisecond(self, seconds, shown):
        """What a real clock measures below that says nothing; the outcome keeps it."""
        clock = iter([0.0, seconds]).__next__
        outcome = run(script(answer("Paris")), "go", clock=clock)
        assert f"<answered: 'Paris' | 1 step, 0 tool calls, 0 tokens, {shown}>" == repr(outcome)
        assert seconds == outcome.seconds


class TestReport:
    """`report()`: the outcome as JSON-ready facts."""

    def test_complete(self):
        """A complete run reports its answer, what the tools found out, and what was spent."""
        assert {
            "status": "complete",
            "reason": "answered",
            "detail": "",
            "answer": "Paris",
            "summary": None,
            "evidence": [
                {"step": 1, "call": "look()", "result": "nothing"},
                {"step": 2, "call": "look()", "result": "nothing"},
            ],
            "spend": {"steps": 3, "tool_calls": 3, "tokens": 102, "cost": None, "seconds": 0.0, "waited": 0.0},
        } == an_outcome().report()

    def test_incomplete(self):
        """An incomplete run reports no answer, and its evidence all the same."""
        report = run(looking(), "go", tools=LOOK, guards=[max_steps(1)]).report()
        assert ("incomplete", "max_steps", None) == (report["status"], report["reason"], report["answer"])
        assert [{"step": 1, "call": "look()", "result": "nothing"}] == report["evidence"]

    @pytest.mark.parametrize("reason", ["refused", "truncated", "fatal", "interrupted"])
    def test_every_other_reason_is_incomplete(self, reason):
        """No other end is reported as complete."""
        assert "incomplete" == an_outcome().replaced(reason=reason).report()["status"]

    def test_is_json(self):
        """A report survives being written and read as JSON, whatever the tools were asked and gave back."""

        @tool
        def odd(x: object) -> object:
            """Give back something that is no JSON."""
            return {1, 2}

        model = script(call("odd", x=object()), Reply("cut", stop="length"))
        report = run(model, "go", tools=[odd]).report()
        assert report == json.loads(json.dumps(report))

    def test_declined_and_failed_calls_are_no_evidence(self):
        """Only what a tool did find out is evidence."""
        model = script(batch(call("bad"), call("unknown"), call("look")), answer("x"))
        tools = {**LOOK, "bad": lambda: 1 / 0}
        report = run(model, "go", tools=tools, approve=lambda asked: asked.name != "look").report()
        assert [] == report["evidence"]
