"""`summarize=True`: one more model call after a guard ended the run. It changes nothing but the summary."""

# ruff: noqa: SIM300

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoplib import (
    Fatal,
    ManualClock,
    Reply,
    TickClock,
    Usage,
    answer,
    arun,
    batch,
    call,
    cancelled,
    cost_budget,
    goal_reached,
    going_in_circles,
    max_steps,
    max_tool_calls,
    replay,
    rough_token_budget,
    run,
    steps,
    time_limit,
    token_budget,
)

from .helpers import LOOK, counting, requests, results


def is_asked_to_sum_up(messages):
    """Whether this is the call for the closing summary."""
    return messages[-1]["role"] == "user" and len(messages) > 1


def summing_up(reply, asks=None):
    """A model that always asks for a tool, and gives this closing summary; a function is called for it."""

    def model(messages):
        if is_asked_to_sum_up(messages):
            return reply(messages) if callable(reply) else reply
        return asks or call("look")

    return counting(model)


def stands_in(outcome):
    """Whether the fixed text stands in for the summary, with reason and steps in it."""
    return outcome.summary is not None and outcome.summary.startswith(
        f"There is no summary by the model. The run stopped ({outcome.reason}) after "
    )


class TestWhen:
    """After which ends a summary is asked for."""

    @pytest.mark.parametrize(
        "guard",
        [
            max_steps(4),
            max_tool_calls(3),
            token_budget(50, reserve=20),
            cost_budget(50e-6, reserve=20e-6),
            going_in_circles(times=3),
            lambda run: "enough" if run.steps == 3 else None,
        ],
        ids=["max_steps", "max_tool_calls", "token_budget", "cost_budget", "going_in_circles", "a function"],
    )
    def test_after_a_guard(self, guard):
        """Whichever guard ends the run, the model is asked once more, and its text is the summary."""
        model = summing_up(answer("found nothing", usage=Usage(10)), call("look", usage=Usage(10)))
        outcome = run(
            model,
            "go",
            tools=LOOK,
            guards=[guard, max_steps(30)],
            summarize=True,
            prices={"input": 1, "output": 1},
        )
        assert ("found nothing", 4, 4, 40) == (outcome.summary, model.calls, outcome.steps, outcome.usage.total)
        assert (None, False) == (outcome.answer, outcome.complete)

    @pytest.mark.parametrize(
        ("last", "reason"),
        [
            (answer("done"), "answered"),
            (Reply("no", stop="refusal"), "refused"),
            (Reply("x", stop="length"), "truncated"),
            (Reply("x", stop="model_context_window_exceeded"), "context_full"),
            (answer(""), "empty_reply"),
            (Reply("x", stop="what"), "unfinished"),
            (None, "fatal"),
        ],
    )
    def test_not_after_another_end(self, last, reason):
        """What the reply itself ended, or an exception, is not summarised: no further call is made."""
        model = counting(lambda messages: last if len(messages) > 1 else call("look"))
        outcome = run(model, "go", tools=LOOK, summarize=True)
        assert (reason, None, 2) == (outcome.reason, outcome.summary, model.calls)

    def test_not_after_ctrl_c(self):
        """Who presses Ctrl-C does not want another model call."""

        def look():
            raise KeyboardInterrupt

        model = summing_up(answer("sum"))
        outcome = run(model, "go", tools={"look": look}, summarize=True)
        assert ("interrupted", None, 1) == (outcome.reason, outcome.summary, model.calls)

    def test_not_if_nobody_asked_for_it(self):
        """Without `summarize` there is no further call and no summary."""
        model = summing_up(answer("sum"))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(3)])
        assert (None, 3) == (outcome.summary, model.calls)

    @pytest.mark.parametrize("guard", ["goal_reached", "cancelled"])
    def test_not_after_guards_that_need_none(self, guard):
        """A goal that is reached, or a flag that somebody set, needs no summary."""
        event = threading.Event()
        guards = {"goal_reached": goal_reached(event.is_set), "cancelled": cancelled(event)}
        model = summing_up(answer("sum"))
        guard_set = [guards[guard], max_steps(9)]
        outcome = run(model, "go", tools={"look": event.set}, guards=guard_set, summarize=True)
        assert (guard, None, 1) == (outcome.reason, outcome.summary, model.calls)


class TestWhatItIs:
    """What the model is asked, and what becomes of its words."""

    def test_it_is_asked_without_tools(self):
        """The call for the summary offers no tools, and the request says what is wanted."""
        seen = []

        def model(messages, tools):
            seen.append((len(tools), messages[-1]["role"]))
            return call("look")

        run(model, "go", tools=LOOK, guards=[max_steps(2)], summarize=True)
        assert [(1, "user"), (0, "user")] == seen

    def test_a_model_that_takes_its_tools_by_keyword(self):
        """A model with a keyword for its tools is given an empty list there."""
        seen = []

        def model(messages, *, tools):
            seen.append(list(tools))
            return answer("sum") if is_asked_to_sum_up(messages) else call("look")

        assert "sum" == run(model, "go", tools=LOOK, guards=[max_steps(2)], summarize=True).summary
        assert [] == seen[-1]

    def test_the_transcript_is_whole_when_it_is_asked(self):
        """The model sees a result for each of its requests, also for those that did not run."""
        seen = []

        def closing(messages):
            seen.extend((requests(messages), results(messages)))
            return answer("sum")

        model = summing_up(closing, batch(call("look"), call("look")))
        outcome = run(model, "go", tools=LOOK, guards=[max_tool_calls(1), max_steps(9)], summarize=True)
        assert (2, True) == (len(seen[0]), seen[0] == seen[1])
        assert ["user", "assistant", "tool", "tool", "user", "assistant"] == [m["role"] for m in outcome.messages]

    def test_it_is_a_step_of_the_trace(self):
        """The summary is the last step, marked as closing, and not what the run said."""
        model = summing_up(answer("sum"), Reply("let me look", call("look").calls))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(3)], summarize=True)
        assert [(1, False), (2, False), (3, True)] == [(s.number, s.closing) for s in outcome.trace]
        assert ("let me look", "sum") == (outcome.text, outcome.summary)

    def test_all_done_is_not_done(self):
        """A cap fires and the summary says that all is done: not complete, the reason is still the cap."""
        outcome = run(summing_up(answer("All done!")), "go", tools=LOOK, guards=[max_steps(3)], summarize=True)
        assert ("max_steps", False, None, "All done!") == (
            outcome.reason,
            outcome.complete,
            outcome.answer,
            outcome.summary,
        )
        report = outcome.report()
        assert ("incomplete", None, "All done!") == (report["status"], report["answer"], report["summary"])

    def test_white_space_around_it_is_removed(self):
        """The summary is the text without the space around it."""
        model = summing_up(answer("\n  sum \n"))
        assert "sum" == run(model, "go", tools=LOOK, guards=[max_steps(3)], summarize=True).summary

    def test_guards_see_that_it_is_still_to_come(self):
        """A guard can tell whether a summary may follow; by then it does not any more."""
        seen = []

        def watch(run):
            seen.append(run.summary_to_come)

        run(summing_up(answer("sum")), "go", tools=LOOK, guards=[watch, max_steps(3)], summarize=True)
        assert [True, True, True] == seen


class TestInsideTheCap:
    """The last word stays inside the cap."""

    @pytest.mark.parametrize(("n", "asked"), [(2, 1), (3, 2), (10, 9)])
    def test_one_step_is_kept_back(self, n, asked):
        """N steps are N model calls, the last of which is the summary."""
        model = summing_up(answer("sum"))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(n)], summarize=True)
        assert ("max_steps", n, n, asked) == (outcome.reason, model.calls, outcome.steps, outcome.tool_calls)
        assert f"{asked} of {n} steps used, the last one is kept back for the summary" == outcome.detail

    @pytest.mark.parametrize("n", [0, 1])
    def test_too_few_steps_for_one(self, n):
        """With one step or none there is nothing to keep back: the fixed text stands in."""
        model = summing_up(answer("sum"))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(n)], summarize=True)
        assert (n, n, True) == (model.calls, outcome.steps, stands_in(outcome))

    def test_an_answer_on_the_last_step_but_one(self):
        """The model still answers on the last step that is its own."""
        model = counting(lambda messages: answer("x") if len(messages) > 3 else call("look"))
        reasons = [run(model, "go", tools=LOOK, guards=[max_steps(n)], summarize=True).reason for n in (3, 4)]
        assert ["max_steps", "answered"] == reasons

    def test_no_time_is_left(self):
        """When the time is over there is no further call: the fixed text stands in."""
        clock = ManualClock()
        model = summing_up(answer("sum"))
        tools = {"look": lambda: clock.advance(30)}
        outcome = run(model, "go", tools=tools, guards=[time_limit(10)], clock=clock, summarize=True)
        assert ("time_limit", 1, True) == (outcome.reason, model.calls, stands_in(outcome))

    @pytest.mark.parametrize(("limit", "calls", "seconds"), [(4, 2, 3.0), (5, 3, 4.0)])
    def test_the_time_runs_out_just_before_it(self, limit, calls, seconds):
        """The clock is read once more before the summary, and a limit that is reached by then forbids it.

        The readings are 0 at the start, 1 and 2 before the two calls, 3 when the cap is reached, 4 before the summary.
        The last one counts only if there is a summary: no guard of the run has seen it.
        """
        model = summing_up(answer("sum"))
        guards = [max_steps(3), time_limit(limit)]
        outcome = run(model, "go", tools=LOOK, guards=guards, clock=TickClock(), summarize=True)
        assert ("max_steps", calls, calls == 2) == (outcome.reason, model.calls, stands_in(outcome))
        assert seconds == outcome.seconds

    @pytest.mark.parametrize("limit", range(1, 8))
    def test_a_replay_is_not_later_than_the_run(self, limit):
        """Whether or not there was time for a summary, a replay with the same guards ends as the run did."""
        guards = [time_limit(limit), max_steps(3)]
        model = summing_up(answer("sum"))
        outcome = run(model, "go", tools=LOOK, guards=guards, clock=TickClock(), summarize=True)
        assert outcome == replay(outcome, guards)

    @pytest.mark.parametrize(("reserve", "ran", "calls"), [(0, 4, 4), (1, 4, 4), (10, 3, 4), (11, 3, 4), (20, 2, 3)])
    def test_tokens(self, reserve, ran, calls):
        """A budget of 40 at 10 a call: what is kept back is there for the summary, and without it there is none."""
        model = summing_up(answer("sum", usage=Usage(10)), call("look", usage=Usage(10)))
        outcome = run(model, "go", tools=LOOK, guards=[token_budget(40, reserve=reserve)], summarize=True)
        assert ("token_budget", ran, calls) == (outcome.reason, outcome.tool_calls, model.calls)
        assert (ran == calls) == stands_in(outcome)

    def test_a_hard_budget_has_no_room(self):
        """A hard budget that cannot pay for the summary forbids it."""
        model = summing_up(answer("sum", usage=Usage(10)), call("look", usage=Usage(10)))
        guards = [max_steps(3), token_budget(25, hard=True)]
        outcome = run(model, "go", tools={"look": lambda: ""}, guards=guards, summarize=True)
        assert (True, 20) == (stands_in(outcome), outcome.usage.total)

    def test_characters(self):
        """An estimated budget that is used up forbids the summary."""
        model = summing_up(answer("sum"))
        outcome = run(model, "go", tools={"look": lambda: "x" * 99}, guards=[rough_token_budget(20)], summarize=True)
        assert ("rough_token_budget", 1, True) == (outcome.reason, model.calls, stands_in(outcome))

    def test_another_cap_has_no_room(self):
        """Whichever guard ended the run, a cap that is reached forbids the call."""
        model = summing_up(answer("sum"))
        guards = [max_tool_calls(1), max_steps(1)]
        outcome = run(model, "go", tools=LOOK, guards=guards, summarize=True)
        assert ("max_tool_calls", 1, True) == (outcome.reason, model.calls, stands_in(outcome))

    def test_two_caps_joined(self):
        """Two caps that must both be reached are a cap too."""
        model = summing_up(answer("sum"))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(1) & token_budget(1)], summarize=True)
        assert ("max_steps & token_budget", 1, True) == (outcome.reason, model.calls, stands_in(outcome))

    @given(
        st.integers(0, 6),
        st.integers(0, 80),
        st.integers(0, 80),
        st.booleans(),
        st.lists(st.integers(0, 20), min_size=8, max_size=8),
    )
    def test_n_steps_are_at_most_n_calls(self, n, tokens, reserve, hard, each):
        """With whatever budget beside it, a step limit holds, the summary included."""
        model = counting(lambda messages: call("look", usage=Usage(each[model.calls - 1])))
        guards = [max_steps(n), token_budget(tokens, hard=hard, reserve=min(tokens, reserve))]
        outcome = run(model, "go", tools=LOOK, guards=guards, summarize=True)
        assert model.calls <= n
        assert model.calls == outcome.steps
        assert outcome.summary
        assert requests(outcome.messages) == results(outcome.messages)


def fails(error):
    """A summary that raises."""

    def closing(messages):
        raise error

    return closing


class TestFailures:
    """A summary that fails in whatever way changes no reason, and a fixed text stands in."""

    @pytest.mark.parametrize(
        "closing",
        [
            answer(""),
            answer(" \n"),
            lambda messages: None,
            lambda messages: "sum",
            fails(ValueError("broken")),
            fails(StopIteration()),
            fails(Fatal("no network")),
            fails(KeyboardInterrupt()),
            lambda messages: answer("sum", usage=Usage(-1)),
            lambda messages: answer("sum", usage=Usage(float("nan"))),
            lambda messages: Reply("sum", calls=("look",)),
        ],
    )
    def test_the_fixed_text_stands_in(self, closing):
        """Nothing, no reply, an exception, Ctrl-C or impossible usage: the reason is the guard's, no error is added."""
        outcome = run(summing_up(closing), "go", tools=LOOK, guards=[max_steps(3)], summarize=True)
        assert ("max_steps", None, ("max_steps",)) == (outcome.reason, outcome.error, outcome.fired)
        assert "There is no summary by the model. The run stopped (max_steps) after 2 steps; see the evidence." == (
            outcome.summary
        )
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize(("n", "steps"), [(0, "0 steps"), (1, "1 step"), (2, "1 step"), (3, "2 steps")])
    def test_the_fixed_text_counts_the_steps_before_it(self, n, steps):
        """It says after how many steps the run stopped; the call that should have summed up is not one of them."""
        model = summing_up(answer(""))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(n)], summarize=True)
        assert f"The run stopped (max_steps) after {steps}; see the evidence." in outcome.summary

    def test_the_program_is_ended(self):
        """SystemExit passes through here as everywhere."""
        with pytest.raises(SystemExit):
            run(summing_up(fails(SystemExit(3))), "go", tools=LOOK, guards=[max_steps(3)], summarize=True)

    @pytest.mark.parametrize("text", ["", "let me look once more"])
    def test_it_asks_for_tools(self, text):
        """Tools that it asks for do not run, which is noted; what it says beside them is no summary."""
        ran = []
        model = summing_up(Reply(text, batch(call("look"), call("look")).calls))
        tools = {"look": lambda: ran.append("look")}
        outcome = run(model, "go", tools=tools, guards=[max_steps(3)], summarize=True)
        assert (2, "max_steps", 2, True) == (len(ran), outcome.reason, outcome.tool_calls, stands_in(outcome))
        assert ["not_run"] * 2 == [result.status for result in outcome.trace[-1].results]
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize("stop", ["max_tokens", "refusal", "pause_turn", "what", "model_context_window_exceeded"])
    def test_it_is_cut_off(self, stop):
        """Half a summary, a refusal or a pause is none."""
        model = summing_up(Reply("What I found is", stop=stop))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(3)], summarize=True)
        assert ("max_steps", 3, True) == (outcome.reason, model.calls, stands_in(outcome))

    def test_what_it_cost_is_counted(self):
        """A summary that gives nothing has cost what it has cost."""
        model = summing_up(answer("", usage=Usage(7)), call("look", usage=Usage(10)))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(3)], summarize=True)
        assert (27, 3) == (outcome.usage.total, outcome.steps)

    def test_a_model_that_changes_its_messages(self):
        """A model that empties its messages before it raises leaves the transcript whole."""

        def closing(messages):
            messages.clear()
            raise ValueError("broken")

        outcome = run(summing_up(closing), "go", tools=LOOK, guards=[max_steps(3)], summarize=True)
        assert ["user", "assistant", "tool", "assistant", "tool"] == [m["role"] for m in outcome.messages]


class TestOtherDrivers:
    """The same with one event at a time, and with an async model."""

    def test_steps(self):
        """The end event holds the outcome with its summary."""
        model = summing_up(answer("sum"))
        events = list(steps(model, "go", tools=LOOK, guards=[max_steps(3)], summarize=True))
        assert ("end", "sum", 3) == (events[-1].kind, events[-1].outcome.summary, model.calls)

    def test_leaving_early_asks_for_none(self):
        """A loop over the events that is left asks for no summary."""
        model = summing_up(answer("sum"))
        iterator = steps(model, "go", tools=LOOK, guards=[max_steps(3)], summarize=True)
        next(iterator)
        iterator.close()
        assert 1 == model.calls

    def test_async(self):
        """An async model is asked for its summary too."""

        async def model(messages):
            return answer("sum") if is_asked_to_sum_up(messages) else call("look")

        outcome = asyncio.run(arun(model, "go", tools=LOOK, guards=[max_steps(3)], summarize=True))
        assert ("max_steps", "sum", 3) == (outcome.reason, outcome.summary, outcome.steps)

    def test_async_and_too_slow(self):
        """A summary that is still running at the deadline is cancelled, and the reason stays what it was."""
        ended = []

        async def model(messages):
            if not is_asked_to_sum_up(messages):
                return call("look")
            try:
                await asyncio.sleep(30)
            finally:
                ended.append("cancelled")

        guards = [max_steps(3), time_limit(0.05)]
        clock = ManualClock()  # so that the deadline is 0.05 s away at each call
        outcome = asyncio.run(arun(model, "go", tools=LOOK, guards=guards, clock=clock, summarize=True))
        assert ("max_steps", True, ["cancelled"]) == (outcome.reason, stands_in(outcome), ended)

    def test_async_after_the_deadline(self):
        """After a deadline that cancelled what was running there is no time for a summary."""
        clock = ManualClock()

        async def look():
            clock.advance(10)
            await asyncio.sleep(30)

        model = summing_up(answer("sum"))
        guards = [time_limit(0.02)]
        outcome = asyncio.run(arun(model, "go", tools=[look], guards=guards, clock=clock, summarize=True))
        assert ("time_limit", True, 1) == (outcome.reason, stands_in(outcome), model.calls)
