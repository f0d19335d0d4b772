"""`replay`: what would these guards have done in a run that is over?"""

# ruff: noqa: SIM300

import threading

import pytest

from stoplib import (
    Fatal,
    ManualClock,
    Reply,
    TickClock,
    Usage,
    answer,
    batch,
    call,
    cancelled,
    cost_budget,
    goal_reached,
    going_in_circles,
    max_steps,
    max_tool_calls,
    no_new_results,
    repeated_call,
    replay,
    rough_token_budget,
    run,
    script,
    time_limit,
    token_budget,
    too_many_errors,
    too_many_refusals,
    tool,
)
from stoplib.fakes import alternates, answers_after, never_answers, retries
from stoplib.replaying import recounted

from .helpers import LOOK, always, contents, counting, looking, requests, results

SEARCH = {"search": lambda query: "no match"}


def recorded(model=never_answers, steps=8, tools=SEARCH, **options):
    """A run of so many steps."""
    return run(model, "go", tools=tools, guards=[max_steps(steps)], clock=TickClock(), **options)


def facts(outcome):
    """An outcome as something that can be compared: all but the exception itself."""
    return (
        *(outcome.reason, outcome.detail, outcome.fired, outcome.answer, outcome.text, outcome.summary),
        *(outcome.steps, outcome.tool_calls, outcome.usage, outcome.cost, outcome.seconds, outcome.waited),
        *(outcome.messages, type(outcome.error)),
    )


class TestOtherGuards:
    """Guards that the live run did not have."""

    @pytest.mark.parametrize(
        ("guard", "steps"),
        [
            (max_steps(3), 3),
            (max_tool_calls(3), 3),
            (time_limit(3), 2),
            (token_budget(30), 3),
            (token_budget(30, hard=True), 2),
            (cost_budget(30e-6), 3),
            (rough_token_budget(20), 4),
            (going_in_circles(), 4),
            (no_new_results(3), 3),
            (repeated_call(2), 3),
        ],
        ids=repr,
    )
    def test_it_stops_where_the_live_run_would_have(self, guard, steps):
        """Each guard ends the replay with its name at the step at which it ends a live run, with the same figures."""
        model = counting(lambda messages: alternates(messages)._replace(usage=Usage(10)))
        prices = {"input": 1, "output": 1}
        live = run(model, "go", tools=SEARCH, guards=[guard, max_steps(9)], clock=TickClock(), prices=prices)
        again = replay(recorded(model, prices=prices), [guard, max_steps(9)])
        assert (guard.name, steps) == (again.reason, again.steps)
        assert facts(live) == facts(again)

    def test_the_model_is_not_asked(self):
        """A replay calls neither the model nor a tool nor a person."""
        model, asked = looking(), []
        outcome = run(
            model,
            "go",
            tools={"look": lambda: asked.append("tool")},
            approve=lambda one: asked.append("person") or True,
            guards=[max_steps(4)],
        )
        before = model.calls, list(asked)
        replay(outcome, [max_steps(3)])
        assert before == (model.calls, asked)

    def test_the_recording_is_left_as_it_is(self):
        """A replay changes nothing of the run that it was given, and can be made again."""
        outcome = recorded(always(batch(call("search", query="a"), call("search", query="b"))))
        before = facts(outcome), [list(step.results) for step in outcome.trace]
        one, other = (
            replay(outcome, [max_tool_calls(5), max_steps(9)]),
            replay(outcome, [max_tool_calls(5), max_steps(9)]),
        )
        assert before == (facts(outcome), [list(step.results) for step in outcome.trace])
        assert facts(one) == facts(other)

    def test_the_steps_are_those_of_the_recording(self):
        """A long recording is kept once: the steps of a replay are the recorded ones, where they are whole."""
        outcome = recorded(steps=8)
        again = replay(outcome, [max_steps(5)])
        assert [True] * 5 == [one is other for one, other in zip(again.trace, outcome.trace, strict=False)]

    @pytest.mark.parametrize("steps", [1, 2, 3])
    def test_a_recording_that_lacks_a_result(self, steps):
        """A result that is missing in a recording is answered in the replay, and the recording stays as it is."""
        outcome = recorded(steps=3)
        outcome.trace[0].results.clear()
        outcome.trace[1].results.clear()
        again = replay(outcome, [max_steps(steps)])
        assert ([], []) == (outcome.trace[0].results, outcome.trace[1].results)
        assert requests(again.messages)[-1] == results(again.messages)[-1]

    def test_a_replay_of_a_replay(self):
        """A replay is an outcome, so it can be replayed with tighter guards."""
        outcome = recorded(steps=8)
        assert facts(replay(outcome, [max_steps(2)])) == facts(replay(replay(outcome, [max_steps(5)]), [max_steps(2)]))

    def test_no_guard_fires(self):
        """If no guard fires before the recording ends, the run ends as it did."""
        for outcome in (recorded(answers_after(3)), recorded(steps=5), recorded(lambda messages: 1 / 0)):
            assert facts(outcome) == facts(replay(outcome, [max_steps(99)]))

    def test_the_first_names_the_reason(self):
        """All that fire at a gate are recorded, and the first one given names the reason."""
        outcome = replay(recorded(steps=8), [time_limit(4), max_steps(3)])
        assert ("time_limit", ("time_limit", "max_steps")) == (outcome.reason, outcome.fired)

    def test_a_plain_function(self):
        """A function of the run is a guard here too, and sees the run as it was."""
        seen = []

        def watch(run):
            seen.append((run.steps, run.tool_calls, run.seconds, len(run.messages), len(run.trace)))

        live = run(never_answers, "go", tools=SEARCH, guards=[watch, max_steps(3)], clock=TickClock())
        first = list(seen)
        seen.clear()
        replay(live, [watch, max_steps(9)])
        assert first == seen

    def test_declared_traits(self):
        """What tools declared of themselves is part of the recording."""
        ids = iter(range(99))

        @tool(volatile=("id",))
        def look():
            return {"id": next(ids), "state": "same"}

        @tool(effect=True)
        def send():
            return next(ids)

        @tool(poll=5)
        def status():
            return "running"

        tools = [look, send, status]
        steps = {
            name: replay(recorded(always(call(name)), tools=tools), [going_in_circles(), max_steps(9)]).steps
            for name in ("look", "send", "status")
        }
        assert {"look": 2, "send": 2, "status": 6} == steps

    def test_a_batch_that_no_longer_runs(self):
        """A batch that the new guards would not have let run has no results in the replay, but "not run"."""
        outcome = recorded(always(batch(call("search", query="a"), call("search", query="b"))))
        again = replay(outcome, [max_tool_calls(3), max_steps(9)])
        assert ("max_tool_calls", 2, 2) == (again.reason, again.steps, again.tool_calls)
        assert ["no match"] * 2 + ["not run: the run stopped (max_tool_calls)"] * 2 == contents(again.messages)

    @pytest.mark.parametrize("length", [9, 15])
    def test_long_cycles(self, length):
        """Cycles of any length that a guard looks for are counted."""
        outcome = recorded(lambda messages: call("search", query=str((len(messages) // 2) % length)), steps=40)
        again = replay(outcome, [going_in_circles(longest=length), max_steps(99)])
        assert ("going_in_circles", 2 * length) == (again.reason, again.steps)


class TestEnds:
    """However the live run ended, a replay without a guard that fires ends in the same way."""

    @pytest.mark.parametrize(
        "model",
        [
            script(call("search", query="a"), answer("done")),
            script(Reply("no", stop="refusal")),
            script(Reply("x", stop="length")),
            script(Reply("x", stop="what")),
            script(answer("")),
            script(Reply("wait", stop="pause_turn"), answer("x")),
            script(call("search", query="a"), answer("x", usage=Usage(-1))),
            script(call("search", query="a", usage=Usage(5)), call("search", query="a", usage=Usage(float("nan")))),
            lambda messages: None,
            lambda messages: 1 / 0,
            script(call("unknown"), call("search", wrong=1), call("search", query="a")),
        ],
    )
    def test_same_end(self, model):
        """The reason and every figure are the same."""
        outcome = recorded(model)
        assert facts(outcome) == facts(replay(outcome, [max_steps(9)]))

    @pytest.mark.parametrize("place", [0, 1, 2])
    @pytest.mark.parametrize("error", [KeyboardInterrupt(), Fatal("disk full")], ids=["Ctrl-C", "Fatal"])
    def test_stopped_in_the_middle_of_a_batch(self, place, error):
        """Interrupted or fatal in one of the tools of a batch: the reason and the counts are the same."""
        outcome = self.broken(place, error)
        again = replay(outcome, [max_steps(9)])
        assert (outcome.reason, outcome.steps, outcome.tool_calls, outcome.fired) == (
            again.reason,
            again.steps,
            again.tool_calls,
            again.fired,
        )
        assert requests(again.messages) == results(again.messages)

    def broken(self, place, error):
        """A run whose second batch is hit by this in that tool."""

        def t(n):
            if n == place + 3:
                raise error
            return n

        model = script(batch(*[call("t", n=n) for n in range(3)]), batch(*[call("t", n=n) for n in range(3, 6)]))
        return recorded(model, tools={"t": t})

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_what_a_person_stopped(self, place):
        """The transcript of an interrupted batch is the same in the replay, text by text."""
        outcome = self.broken(place, KeyboardInterrupt())
        assert contents(outcome.messages) == contents(replay(outcome, [max_steps(9)]).messages)

    @pytest.mark.parametrize(
        ("guard", "place"),
        [(too_many_errors(3), 2), (max_steps(2), 2), (max_tool_calls(6), 2), (going_in_circles(), 2)],
        ids=lambda x: repr(x),
    )
    def test_the_same_guards_after_a_fatal(self, guard, place):
        """A run that a tool ended as fatal ends so in its replay too: no guard got to look after that round."""

        def t(n):
            if n == place + 3:
                raise Fatal("disk full")
            return n if n < 3 else 1 / 0

        model = script(batch(*[call("t", n=n) for n in range(3)]), batch(*[call("t", n=n) for n in range(3, 6)]))
        outcome = run(model, "go", tools={"t": t}, guards=[guard, max_steps(9)])
        assert "fatal" == outcome.reason
        assert "fatal" == replay(outcome, [guard, max_steps(9)]).reason

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("broken")], ids=["Ctrl-C", "ValueError"])
    def test_a_listener_that_breaks_the_run_off_at_the_answer(self, error):
        """A run that was broken off when the answer was told is not complete in its replay either."""

        def listen(event):
            if event.kind == "reply":
                raise error

        outcome = run(always(answer("done")), "go", on_event=listen)
        assert not outcome.complete
        assert outcome.reason == replay(outcome, [max_steps(9)]).reason

    def test_the_time_of_a_run_that_was_stopped_after_a_wait(self):
        """The time that a person took before the run was interrupted is part of the replay."""
        clock = ManualClock()

        def stop():
            raise KeyboardInterrupt

        def approve(asked):
            clock.advance(30)
            return True

        outcome = run(always(call("stop")), "go", tools={"stop": stop}, approve=approve, clock=clock)
        again = replay(outcome, [max_steps(9)])
        assert ("interrupted", 30.0, 30.0) == (again.reason, again.seconds, again.waited)

    @pytest.mark.parametrize("gate", ["before_call", "before_action", "after_round"])
    def test_stopped_by_a_guard(self, gate):
        """A run that a guard ended ends so in a replay without that guard: nobody knows how it would have gone on."""
        outcome = run(
            always(batch(call("look"), call("look"))),
            "go",
            tools=LOOK,
            guards=[max_steps(3, gate=gate)],
            clock=TickClock(),
        )
        assert facts(outcome) == facts(replay(outcome, [max_steps(99)]))

    def test_declined_calls(self):
        """What was declined is declined again, and counts as it did."""
        outcome = recorded(always(call("search", query="a")), approve=lambda asked: False)
        again = replay(outcome, [too_many_refusals(3), max_steps(9)])
        assert ("too_many_refusals", 3, 0) == (again.reason, again.steps, again.tool_calls)

    def test_waiting_time(self):
        """The time that a person took is part of the recording, apart from the rest."""
        clock = ManualClock()

        def approve(asked):
            clock.advance(10)
            return True

        tools = {"look": lambda: clock.advance(1)}
        outcome = run(looking(), "go", tools=tools, approve=approve, guards=[max_steps(5)], clock=clock)
        ends = [
            (again.reason, again.steps, again.seconds, again.waited)
            for guard in (time_limit(3, working=True), time_limit(30))
            for again in [replay(outcome, [guard, max_steps(9)])]
        ]
        assert [("time_limit", 3, 33.0, 30.0), ("time_limit", 3, 33.0, 30.0)] == ends

    def test_a_run_without_a_call(self):
        """A run that made no call can be replayed."""
        outcome = run(looking(), "go", guards=[max_steps(0)])
        assert facts(outcome) == facts(replay(outcome, [max_steps(3)]))

    def test_the_exception_is_kept(self):
        """The exception of the live run is on the replay."""
        outcome = recorded(lambda messages: 1 / 0)
        assert outcome.error is replay(outcome, [max_steps(9)]).error


def sums_up(reply):
    """A model that looks for ever and gives this closing summary."""
    return lambda messages: (
        reply if messages[-1]["role"] == "user" and len(messages) > 1 else batch(call("look"), call("look"))
    )


class TestSummaries:
    """Runs with a closing summary."""

    @pytest.mark.parametrize(
        "reply",
        [answer("sum", usage=Usage(7)), answer(""), batch(call("look"), call("look")), None],
        ids=["a text", "nothing", "tools", "no reply"],
    )
    def test_the_same_guards(self, reply):
        """With the guards of the live run the replay has its summary, its steps and its transcript."""
        outcome = run(sums_up(reply), "go", tools=LOOK, guards=[max_steps(4)], clock=TickClock(), summarize=True)
        assert facts(outcome) == facts(replay(outcome, [max_steps(4)]))

    def test_stopped_before_the_action(self):
        """The transcript is whole also where the summary followed a batch that did not run."""
        guards = [max_tool_calls(3), max_steps(9)]
        outcome = run(sums_up(answer("sum")), "go", tools=LOOK, guards=guards, clock=TickClock(), summarize=True)
        assert facts(outcome) == facts(replay(outcome, guards))

    def test_usage_that_cannot_be(self):
        """A summary whose usage could not be true gave the fixed text, and does so again."""
        model = sums_up(answer("sum", usage=Usage(-1)))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(4)], clock=TickClock(), summarize=True)
        try:
            again = replay(outcome, [max_steps(4)])
        except ValueError:
            pytest.fail("the replay raised")
        assert outcome.summary == again.summary

    def test_stopped_earlier(self):
        """A replay that stops earlier has no summary: nobody knows what it would have said."""
        outcome = run(sums_up(answer("sum")), "go", tools=LOOK, guards=[max_steps(6)], summarize=True)
        again = replay(outcome, [max_steps(4)])
        assert ("max_steps", 3, None) == (again.reason, again.steps, again.summary)

    def test_ended_by_another_guard_at_the_same_place(self):
        """Where another guard ends the replay at the same place, the summary was not about that."""
        outcome = run(sums_up(answer("sum")), "go", tools=LOOK, guards=[max_steps(4)], summarize=True)
        again = replay(outcome, [max_tool_calls(6), max_steps(9)])
        assert ("max_tool_calls", 3, None) == (again.reason, again.steps, again.summary)


class TestTheWorldOutside:
    """Guards that ask the world outside are asked again, now."""

    def test_a_flag(self):
        """A flag that stopped the live run is not set in the replay, which ends as it did."""
        event = threading.Event()
        guards = [cancelled(event), max_steps(9)]
        outcome = run(looking(), "go", tools={"look": event.set}, guards=guards)
        event.clear()
        assert facts(outcome) == facts(replay(outcome, guards))

    def test_a_goal(self):
        """A goal check that says yes ends the replay at the first round, and one that says no objects to the answer."""
        outcome = recorded(answers_after(3))
        ends = [replay(outcome, [goal_reached(lambda yes=yes: yes), max_steps(9)]) for yes in (True, False)]
        assert [("goal_reached", 1), ("unfinished", 4)] == [(o.reason, o.steps) for o in ends]

    def test_without_the_goal(self):
        """A run that was unfinished for its goal check alone is answered without it."""
        outcome = run(always(answer("saved")), "go", guards=[goal_reached(lambda: False), max_steps(3)])
        assert ("unfinished", "answered") == (outcome.reason, replay(outcome, [max_steps(3)]).reason)


class TestChecks:
    """What cannot be replayed is refused."""

    @pytest.mark.parametrize("trace", [None, "run.jsonl", [], {"reason": "answered"}])
    def test_only_outcomes(self, trace):
        """Something else than an outcome is a TypeError that says where outcomes come from."""
        with pytest.raises(TypeError, match="replay needs an outcome, from run"):
            replay(trace, [max_steps(3)])

    @pytest.mark.parametrize("guards", [[None], ["max_steps"], [max_steps], max_steps(3), None])
    def test_what_is_no_guard(self, guards):
        """What a run would not take for guards is refused."""
        with pytest.raises(TypeError):
            replay(recorded(), guards)

    def test_guards_need_not_bound(self):
        """A recording ends by itself, so guards that do not bound a run can be held against it alone."""
        outcome = recorded(alternates)
        assert "repeated_call" == replay(outcome, [repeated_call(2)]).reason
        assert facts(outcome) == facts(replay(outcome, []))

    def test_a_cost_budget_needs_a_price(self):
        """A recording without a price cannot be held against a cost budget."""
        with pytest.raises(ValueError, match="no price for the model"):
            replay(recorded(), [cost_budget(1), max_steps(9)])


class TestRecounted:
    """`recounted`: the run of a recording, counted again to its end, to be measured."""

    @pytest.mark.parametrize(
        "model",
        [
            script(batch(call("look"), call("unknown")), call("look", usage=Usage(3, 4, 5, 6)), answer("x")),
            always(batch(call("look"), call("look"))),
            retries,
            script(answer("x", usage=Usage(-1))),
            lambda messages: None,
        ],
    )
    def test_the_counts(self, model):
        """Its counts are those of the outcome."""
        prices = {"input": 1, "output": 2}
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(4)], clock=TickClock(), prices=prices)
        again = recounted(outcome)
        assert (outcome.steps, outcome.tool_calls, outcome.usage, outcome.cost, outcome.seconds, outcome.waited) == (
            again.steps,
            again.tool_calls,
            again.usage,
            again.cost,
            again.seconds,
            again.waited,
        )
        assert outcome.messages == again.messages or outcome.reason == "fatal"

    @pytest.mark.parametrize(
        "limit", [max_steps(4), max_tool_calls(3), time_limit(9), token_budget(60), too_many_errors(2)]
    )
    def test_limits_measure_it(self, limit):
        """A limit can be measured on it."""
        model = script(*[call("bad", usage=Usage(20))] * 3, answer("x"))
        outcome = recorded(model, tools={"bad": lambda: 1 / 0})
        used = {"max_steps": 4, "max_tool_calls": 3, "time_limit": 4.0, "token_budget": 60, "too_many_errors": 3}
        assert used[limit.name] == limit.measure(recounted(outcome))[0]

    def test_a_batch_that_was_broken_off(self):
        """Of a batch that was broken off, what ran is counted."""

        def stop():
            raise KeyboardInterrupt

        model = always(batch(call("look"), call("stop"), call("look")))
        outcome = run(model, "go", tools={**LOOK, "stop": stop})
        again = recounted(outcome)
        assert (1, outcome.tool_calls, 0) == (again.steps, again.tool_calls, again.errors)

    def test_with_a_summary(self):
        """What the closing summary cost is part of what the run cost."""
        model = sums_up(answer("sum", usage=Usage(7)))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(4)], summarize=True)
        assert (outcome.steps, outcome.usage) == (recounted(outcome).steps, recounted(outcome).usage)
