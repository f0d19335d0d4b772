"""What the reply itself says about the end."""

# ruff: noqa: SIM300

import pytest

from stoplib import Reply, ToolCall, answer, batch, call, max_steps, reasons, run

from .helpers import LOOK, counting, requests, results

LOOKING = (ToolCall("look"),)


class TestEnding:
    """`ending(reply)`: a reason, or None if the run goes on."""

    @pytest.mark.parametrize("stop", [None, "end_turn", "stop", "stop_sequence", "completed"])
    def test_answered(self, stop):
        """Text without a request, from an API that says the turn has ended, is an answer."""
        assert ("answered", "") == reasons.ending(Reply("Paris", stop=stop))

    @pytest.mark.parametrize("stop", [None, "tool_use", "tool_calls", "function_call", "end_turn", "stop"])
    def test_a_request_goes_on(self, stop):
        """A reply with a request is never an end, also if it has text or says that the turn has ended."""
        assert reasons.ending(Reply("I will look", LOOKING, stop=stop)) is None

    def test_a_pause_goes_on(self):
        """A paused turn is sent back, whatever it says."""
        assert reasons.ending(Reply("busy", stop="pause_turn")) is None
        assert reasons.ending(Reply(stop="pause_turn")) is None

    @pytest.mark.parametrize(
        ("stop", "reason"),
        [
            ("max_tokens", "truncated"),
            ("length", "truncated"),
            ("max_output_tokens", "truncated"),
            ("refusal", "refused"),
            ("content_filter", "refused"),
            ("model_context_window_exceeded", "context_full"),
        ],
    )
    @pytest.mark.parametrize("calls", [(), LOOKING])
    def test_cut_off(self, stop, reason, calls):
        """A reply that was cut off or declined ends the run with its own reason, with or without requests."""
        got, detail = reasons.ending(Reply("The capital of", calls, stop=stop))
        assert reason == got
        assert stop in detail

    @pytest.mark.parametrize("stop", ["error", "END_TURN", "", "incomplete", "end_turn "])
    @pytest.mark.parametrize("calls", [(), LOOKING])
    def test_unknown_words(self, stop, calls):
        """A word that we do not know is never a success and runs no tool."""
        got, detail = reasons.ending(Reply("Paris", calls, stop=stop))
        assert "unfinished" == got
        assert repr(stop) in detail

    @pytest.mark.parametrize("stop", ["tool_use", "tool_calls", "function_call"])
    def test_a_promised_request_that_is_missing(self, stop):
        """An API that says a tool was asked for, in a reply without a request, is unfinished."""
        assert "unfinished" == reasons.ending(Reply("Paris", stop=stop))[0]

    @pytest.mark.parametrize("text", ["", " ", "\n\t "])
    @pytest.mark.parametrize("stop", [None, "end_turn", "stop"])
    def test_nothing_said(self, text, stop):
        """A turn that ends with no text, or only space, is an empty reply."""
        assert "empty_reply" == reasons.ending(Reply(text, stop=stop))[0]

    def test_an_empty_batch_is_an_empty_reply(self):
        """A batch of no calls asks for nothing and says nothing."""
        assert "empty_reply" == reasons.ending(batch())[0]


class TestInARun:
    """How these replies end a run."""

    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            (answer("Paris"), "answered"),
            (Reply("no", stop="refusal"), "refused"),
            (Reply("The cap", stop="max_tokens"), "truncated"),
            (Reply("The", stop="model_context_window_exceeded"), "context_full"),
            (answer(""), "empty_reply"),
            (Reply("?", stop="what"), "unfinished"),
        ],
    )
    def test_only_an_answer_is_complete(self, reply, reason):
        """Of all that a reply can say, only an answer is complete and is given as `answer`; the text is kept."""
        outcome = run(lambda messages: reply, "go")
        complete = reason == "answered"
        assert (reason, complete, reply.text if complete else None, reply.text) == (
            outcome.reason,
            outcome.complete,
            outcome.answer,
            outcome.text,
        )

    @pytest.mark.parametrize("stop", ["max_tokens", "refusal", "model_context_window_exceeded", "what"])
    def test_tools_of_a_cut_off_reply_never_run(self, stop):
        """The requests of a reply that was cut off are answered with "not run"."""
        ran = []
        tools = {"look": lambda: ran.append(1)}
        outcome = run(lambda messages: Reply("", LOOKING * 2, stop=stop), "go", tools=tools)
        assert ([], 0, 2) == (ran, outcome.tool_calls, len(results(outcome.messages)))
        assert requests(outcome.messages) == results(outcome.messages)

    def test_a_pause_counts_as_a_step(self):
        """A paused turn is one step, and the run goes on to its answer."""
        replies = [Reply("busy", stop="pause_turn"), Reply("still", stop="pause_turn"), answer("done")]
        outcome = run(lambda messages: replies[len(messages) - 1], "go")
        assert ("answered", 3, 0) == (outcome.reason, outcome.steps, outcome.tool_calls)

    def test_a_pause_for_ever_is_bounded(self):
        """A model that pauses for ever is stopped by the step limit."""
        model = counting(lambda messages: Reply("busy", stop="pause_turn"))
        assert ("max_steps", 4) == (run(model, "go", guards=[max_steps(4)]).reason, model.calls)

    @pytest.mark.parametrize(("calls", "reason"), [((), "empty_reply"), (LOOKING, "max_steps")])
    def test_no_text_at_all(self, calls, reason):
        """A text of None, as one API sends with tool calls, is no text; it never becomes the word "None"."""
        outcome = run(lambda messages: Reply(None, calls), "go", tools=LOOK, guards=[max_steps(1)])
        assert (reason, "") == (outcome.reason, outcome.text)


class TestNames:
    """The names of the reasons."""

    def test_complete(self):
        """Two reasons are complete, and no other."""
        assert {"answered", "goal_reached"} == set(reasons.COMPLETE)

    def test_reserved(self):
        """All reasons of the loop's own are reserved; a guard that checks the goal has its own name."""
        loops_own = {
            "answered", "refused", "truncated", "context_full", "empty_reply", "unfinished", "interrupted", "fatal",
        }  # fmt: skip
        assert loops_own == set(reasons.RESERVED)

    def test_the_tree_names_them_all(self):
        """The module's docstring shows every reason."""
        missing = [name for name in {*reasons.RESERVED, *reasons.COMPLETE} if name not in reasons.__doc__]
        assert [] == missing

    def test_known_words_mean_one_thing(self):
        """No word of an API stands in two lists."""
        words = [*reasons.TURN_ENDED, *reasons.TOOLS_ASKED, *reasons.PAUSED, *reasons.CUT_OFF]
        assert len(words) == len(set(words))

    def test_call_helper_goes_on(self):
        """The shorthand for a request is a request."""
        assert reasons.ending(call("look")) is None
