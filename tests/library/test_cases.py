"""Faults from other people's bug trackers, as runs. The numbers are those of the project's list of cases.

Case 8, a cap that several runs share, is in the tests of the ledger.
"""

# ruff: noqa: SIM300

import asyncio
import inspect
import threading

import pytest

from stoplib import (
    Fatal,
    ManualClock,
    Reply,
    TickClock,
    ToolCall,
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
    no_new_results,
    repeated_call,
    repeated_round,
    rough_token_budget,
    run,
    script,
    steps,
    time_limit,
    token_budget,
    too_many_errors,
    too_many_refusals,
)

from .helpers import LOOK, always, contents, looking, requests, results
from .test_sequences import STUCK, sequences

NAN, INF = float("nan"), float("inf")


WHOLE = [
    *[(limit, "n") for limit in (max_steps, max_tool_calls, token_budget, rough_token_budget)],
    *[(limit, "n") for limit in (no_new_results, too_many_errors, too_many_refusals)],
    *[(token_budget, "reserve"), (repeated_call, "limit"), (going_in_circles, "times"), (going_in_circles, "longest")],
]
AMOUNTS = [(time_limit, "seconds"), (cost_budget, "amount"), (cost_budget, "reserve")]
FROM_ONE = [
    *[(no_new_results, "n"), (too_many_errors, "n"), (too_many_refusals, "n"), (repeated_call, "limit")],
    *[(going_in_circles, "times"), (going_in_circles, "longest")],
]


class TestCounting:
    """Cases 1 to 5."""

    @pytest.mark.parametrize("n", [0, 1, 2, 3])
    def test_01_exactly_n_calls(self, n):
        """Case 1: max_steps(n) with a model that always calls is exactly n model calls."""
        model = looking()
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(n)])
        assert ("max_steps", n, n) == (outcome.reason, model.calls, outcome.steps)

    def test_02_answer_on_the_last_step(self):
        """Case 2: call, call, text with three steps is answered."""
        outcome = run(script(call("look"), call("look"), answer("done")), "go", tools=LOOK, guards=[max_steps(3)])
        assert ("answered", "done", 3) == (outcome.reason, outcome.answer, outcome.steps)

    @pytest.mark.parametrize(
        ("limit", "name", "value"),
        [(limit, name, v) for limit, name in WHOLE for v in (NAN, INF, -1, 2.5, True, "3", None)]
        + [(limit, name, v) for limit, name in AMOUNTS for v in (NAN, INF, -1, True, "3", None)]
        + [(limit, name, 0) for limit, name in FROM_ONE],
    )
    def test_03_refused_when_built(self, limit, name, value):
        """Case 3: a limit that is none is refused when it is built, with its name and its value in the message."""
        others = {"token_budget": {"n": 9}, "cost_budget": {"amount": 9}}.get(limit.__name__, {})
        with pytest.raises((TypeError, ValueError)) as caught:
            limit(**{**others, name: value})
        assert f"{limit.__name__}: {name} must be" in str(caught.value)
        assert str(caught.value).endswith(f"not {value!r}")

    @pytest.mark.parametrize(
        "limit",
        [max_steps(0), time_limit(0), token_budget(0), max_tool_calls(0), cost_budget(0), rough_token_budget(0)],
        ids=repr,
    )
    def test_03_zero_means_none(self, limit):
        """Case 3: zero is not meaningless for a budget: no call is made."""
        model = looking()
        outcome = run(model, "go", guards=[limit, max_steps(9)], prices={"input": 1, "output": 1})
        assert (limit.name, 0) == (outcome.reason, model.calls)

    def test_04_the_same_guards_twice(self):
        """Case 4: the same guards and tools, two runs one after the other, behave the same."""
        guards = [max_steps(3), time_limit(5)]
        first, second = (run(looking(), "go", tools=LOOK, guards=guards, clock=TickClock()) for _ in range(2))
        assert (first.reason, first.steps, first.seconds) == (second.reason, second.steps, second.seconds)

    def test_04_the_same_guards_at_once(self):
        """Case 4: two runs at once in threads, in step with each other, each get all their steps."""
        guards, both, outcomes = [max_steps(4)], threading.Barrier(2, timeout=10), []
        tools = {"look": lambda: both.wait() and None}
        threads = [
            threading.Thread(target=lambda: outcomes.append(run(looking(), "go", tools=tools, guards=guards)))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [("max_steps", 4), ("max_steps", 4)] == [(o.reason, o.steps) for o in outcomes]

    def test_05_a_pause_before_the_run(self):
        """Case 5: the time between building a guard and running with it is not the run's."""
        clock = ManualClock()
        guards = [time_limit(10)]
        clock.advance(3600)
        tools = {"look": lambda: clock.advance(4)}
        outcome = run(looking(), "go", tools=tools, guards=guards, clock=clock)
        assert ("time_limit", 3, 12.0) == (outcome.reason, outcome.steps, outcome.seconds)

    def test_05_a_pause_between_two_runs(self):
        """Case 5: nor is the time between two runs."""
        clock, guards = ManualClock(), [time_limit(10), max_steps(2)]
        reasons = []
        for _ in range(2):
            reasons.append(run(looking(), "go", tools=LOOK, guards=guards, clock=clock).reason)
            clock.advance(3600)
        assert ["max_steps", "max_steps"] == reasons


class TestTokens:
    """Cases 6, 7, 9 and 10."""

    def test_06_an_unknown_price(self):
        """Case 6: a cost limit and a model without a known price: refused before the first call, the model is named."""
        model = looking()
        model.name = "brand-new-9"
        with pytest.raises(ValueError, match="brand-new-9"):
            run(model, "go", guards=[cost_budget(0.10), max_steps(9)], prices={"old-1": {"input": 1, "output": 1}})
        assert 0 == model.calls

    @pytest.mark.parametrize("usage", [Usage(20, 10, cache_read=80), Usage(20, 10, cache_write=80)])
    def test_07_the_cache_counts(self, usage):
        """Case 7: 100 in, of which 80 go through the cache, and 10 out, are 110 tokens."""
        assert 110 == run(always(answer("x", usage=usage)), "go").report()["spend"]["tokens"]

    @pytest.mark.parametrize("value", [-1, NAN, INF, "5", None, 0.5, True])
    @pytest.mark.parametrize("field", ["input", "output", "cache_read", "cache_write"])
    def test_09_impossible_usage(self, field, value):
        """Case 9: usage that is negative or no whole number ends the run and is named."""
        usage = Usage(**{field: value})
        model = always(call("look", usage=usage))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(9)])
        assert ("fatal", 1, 0, True) == (
            outcome.reason,
            model.calls,
            outcome.usage.total,
            repr(usage) in outcome.detail,
        )

    @pytest.mark.parametrize("signal", [Fatal("over"), KeyboardInterrupt()], ids=lambda e: type(e).__name__)
    def test_10_a_tool_that_swallows(self, signal):
        """Case 10: a tool that swallows every error around code that ends the run does not keep it going."""

        def swallow():
            try:
                raise signal
            except Exception:
                return "all fine"

        model = always(call("swallow"))
        outcome = run(model, "go", tools={"swallow": swallow})
        assert ("fatal" if isinstance(signal, Fatal) else "interrupted", 1) == (outcome.reason, model.calls)


class TestBatches:
    """Cases 11 and 12: as many results as requests, whatever stops the run."""

    def test_11_more_calls_than_the_quota(self):
        """Case 11: a quota of 3 and a reply with 5 calls: at most 3 run, and of each it is said what became of it."""
        ran = []
        model = always(batch(*[call("t", n=n) for n in range(5)]))
        outcome = run(model, "go", tools={"t": ran.append}, guards=[max_tool_calls(3), max_steps(9)])
        assert (True, "max_tool_calls", 5) == (len(ran) <= 3, outcome.reason, len(contents(outcome.messages)))
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize("guard", [max_tool_calls(2), max_tool_calls(2, tool="t"), repeated_call(1)], ids=repr)
    def test_12_quota_and_repeat(self, guard):
        """Case 12: by quota or by repeat: three requests, three results, none of them run."""
        ran = []
        model = always(batch(*[call("t", n=n) for n in range(3)]))
        outcome = run(model, "go", tools={"t": ran.append}, guards=[guard, max_steps(9)])
        assert ([], [f"not run: the run stopped ({guard.name})"] * 3) == (ran, contents(outcome.messages))
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_12_cancelled_at_the_deadline(self, place):
        """Case 12: by time, in the async driver, with a tool that does not end: three requests, three results."""

        async def t(n):
            await asyncio.sleep(30 if n == place else 0)

        model = script(batch(*[call("t", n=n) for n in range(3)]), answer("never said"))
        outcome = asyncio.run(arun(model, "go", tools=[t], guards=[time_limit(0.02)], clock=ManualClock()))
        assert ("time_limit", 3) == (outcome.reason, len(contents(outcome.messages)))
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_12_ctrl_c(self, place):
        """By Ctrl-C in the first, second or third tool: those after it are "not run"."""
        ran = []

        def t(n):
            if n == place:
                raise KeyboardInterrupt
            ran.append(n)
            return n

        outcome = run(always(batch(*(call("t", n=n) for n in range(3)))), "go", tools={"t": t})
        assert ("interrupted", list(range(place))) == (outcome.reason, ran)
        assert requests(outcome.messages) == results(outcome.messages)
        assert [True] * (2 - place) == [text.startswith("not run") for text in contents(outcome.messages)[place + 1 :]]

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_12_time(self, place):
        """By time in the first, second or third tool: no further model call, and every request has its result."""
        clock = ManualClock()

        def t(n):
            clock.advance(60 if n == place else 0)
            return n

        model = always(batch(*(call("t", n=n) for n in range(3))))
        outcome = run(model, "go", tools={"t": t}, guards=[time_limit(10)], clock=clock)
        assert ("time_limit", 1) == (outcome.reason, model.calls)
        assert requests(outcome.messages) == results(outcome.messages)

    def test_12_before_the_action(self):
        """By a guard before the action: three requests, three results, none of them run."""
        ran = []
        tools = {"look": lambda: ran.append("look")}
        guards = [max_steps(1, gate="before_action")]
        outcome = run(always(batch(*[call("look")] * 3)), "go", tools=tools, guards=guards)
        assert ([], ["not run: the run stopped (max_steps)"] * 3) == (ran, contents(outcome.messages))
        assert requests(outcome.messages) == results(outcome.messages)


class TestArguments:
    """Cases 13 to 15: what is the same, what is an error, and what a guard must survive."""

    @pytest.mark.parametrize("guard", [repeated_call(2), repeated_round(), going_in_circles()], ids=repr)
    def test_13_a_batch_is_one_unit(self, guard):
        """Case 13: five different queries in one reply are no repeat; the same two-call reply five times is one."""
        tools = {"search": lambda query: f"on {query}"}
        different = script(batch(*[call("search", query=q) for q in "abcde"]), answer("x"))
        assert "answered" == run(different, "go", tools=tools, guards=[guard, max_steps(9)]).reason
        again = script(*[batch(call("search", query="a"), call("search", query="b"))] * 5, answer("x"))
        outcome = run(again, "go", tools=tools, guards=[guard, max_steps(9)])
        assert (guard.name, 2) == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize(
        ("one", "other", "reason"),
        [
            ({"x": 1, "y": {"a": 1, "b": 2}}, {"y": {"b": 2, "a": 1}, "x": 1}, "repeated_call"),
            ({"x": [1, 2]}, {"x": [2, 1]}, "answered"),
        ],
    )
    def test_14_the_same_arguments(self, one, other, reason):
        """Case 14: the same arguments in another key order are equal; a list in another order is not."""
        model = script(*[Reply(calls=(ToolCall("t", args),)) for args in (one, other)], answer("x"))
        outcome = run(model, "go", tools={"t": lambda **args: "r"}, guards=[repeated_call(2), max_steps(9)])
        assert reason == outcome.reason

    @pytest.mark.parametrize(
        ("replies", "expected"),
        [
            ([call("bad"), call("bad"), call("look"), call("bad"), call("bad")], ("answered", 6)),
            ([batch(*[call("bad")] * 3)] * 2, ("too_many_errors", 1)),
            ([batch(call("bad"), call("look"), call("bad"))] * 4, ("answered", 5)),
        ],
        ids=["a success in between", "all of a batch fail", "one of a batch does not"],
    )
    def test_15_errors_in_a_row(self, replies, expected):
        """Case 15: a success in between goes on; each error of a batch counts; one success in it ends the streak."""
        tools = {**LOOK, "bad": lambda: 1 / 0}
        outcome = run(script(*replies, answer("x")), "go", tools=tools, guards=[too_many_errors(3), max_steps(9)])
        assert expected == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize("args", ['{"x": ', "not json", "", [1]])
    def test_arguments_that_are_no_json_object(self, args):
        """Arguments that are no JSON object are an error result for the model, and the run goes on."""
        model = script(Reply(calls=(ToolCall("look", args),)), answer("done"))
        outcome = run(model, "go", tools=LOOK)
        assert ("answered", ["error"]) == (outcome.reason, [r.status for r in outcome.trace[0].results])


def full_guard_set():
    """All guards at once, none of them so tight that it would stop a run of sixty rounds by itself."""
    return [
        *[max_steps(60), time_limit(3600), token_budget(10**6), cost_budget(100.0), rough_token_budget(10**6)],
        *[max_tool_calls(200), going_in_circles(), no_new_results(5), too_many_errors(3), too_many_refusals(3)],
        *[cancelled(threading.Event()), repeated_call(61)],
    ]


class TestIsItStuck:
    """Cases 16 to 27: the twelve sequences, with the full guard set."""

    @pytest.mark.parametrize("place", range(13), ids=[str(sequence) for sequence in sequences()])
    def test_16_to_27(self, place):
        """Cases 16 to 27: what is stuck is stopped by the step that the case names, and the others go on."""
        case = sequences()[place]
        prices = {"input": 1, "output": 1}
        outcome = run(case.model(), "go", tools=case.tools, guards=full_guard_set(), prices=prices)
        if case.within is None:
            assert ("answered", ()) == (outcome.reason, outcome.fired)
        else:
            assert (True, True) == (outcome.reason in STUCK, outcome.steps <= case.within)


class TestTimeAndPeople:
    """Cases 28 to 31."""

    def test_28_in_the_async_driver(self):
        """Case 28: in the async driver the tool is cancelled at the limit, and there is no further model call."""
        ended = []

        async def look():
            try:
                await asyncio.sleep(30)
            finally:
                ended.append("cancelled")

        model = looking()
        guards = [time_limit(0.02), max_steps(9)]
        outcome = asyncio.run(arun(model, "go", tools=[look], guards=guards, clock=ManualClock()))
        assert ("time_limit", 1, ["cancelled"]) == (outcome.reason, model.calls, ended)

    @pytest.mark.parametrize("drive", [run, arun, steps])
    def test_29_the_default_clock(self, drive):
        """Case 29: the default clock of each driver is monotonic."""
        assert "monotonic" == inspect.signature(drive).parameters["clock"].default.__name__

    def test_31_cancelled_while_idle(self):
        """Case 31: a flag that was set while no run was on belongs to none: the next one runs normally."""
        event = threading.Event()
        event.set()
        model = script(call("look"), answer("done"))
        outcome = run(model, "go", tools=LOOK, guards=[cancelled(event), max_steps(9)])
        assert ("answered", ()) == (outcome.reason, outcome.fired)

    def test_28_a_slow_tool(self):
        """Case 28: a tool takes 30 s of 10: no further model call, and the 20 s over are in the detail."""
        clock = ManualClock()
        model = looking()
        tools = {"look": lambda: clock.advance(30)}
        outcome = run(model, "go", tools=tools, guards=[time_limit(10), max_steps(9)], clock=clock)
        assert ("time_limit", 1, 30.0) == (outcome.reason, model.calls, outcome.seconds)
        assert "20 s over" in outcome.detail

    @pytest.mark.parametrize("when", [0, 1, 2])
    def test_29_a_clock_that_jumps_back(self, when):
        """Case 29: a clock that jumps back an hour: time never goes back, and the limit still fires."""
        clock, seen = ManualClock(7200.0), []

        def look():
            clock.advance(-3600 if len(seen) == when else 4)

        def watch(run):
            seen.append(run.seconds)

        guards = [watch, time_limit(10), max_steps(20)]
        outcome = run(looking(), "go", tools={"look": look}, guards=guards, clock=clock)
        assert ("time_limit", sorted(seen), 0.0) == (outcome.reason, seen, seen[0])
        assert outcome.steps <= 5

    def test_30_ctrl_c_while_the_model_runs(self):
        """Case 30: Ctrl-C in the model: interrupted, with what was done before."""

        def model(messages):
            if len(messages) > 1:
                raise KeyboardInterrupt
            return call("look")

        outcome = run(model, "go", tools=LOOK)
        assert ("interrupted", ["user", "assistant", "tool"]) == (
            outcome.reason,
            [m["role"] for m in outcome.messages],
        )

    def test_30_ctrl_c_while_a_tool_runs(self):
        """Case 30: Ctrl-C in a tool: interrupted, with a result for its request."""

        def look():
            raise KeyboardInterrupt

        outcome = run(looking(), "go", tools={"look": look})
        assert "interrupted" == outcome.reason
        assert requests(outcome.messages) == results(outcome.messages)

    def test_30_ctrl_c_while_a_person_is_asked(self):
        """Case 30: Ctrl-C at the question: interrupted, the tool has not run, and its request has a result."""
        ran = []
        tools = {"look": lambda: ran.append("look")}

        def approve(asked):
            raise KeyboardInterrupt

        outcome = run(looking(), "go", tools=tools, approve=approve)
        assert ("interrupted", []) == (outcome.reason, ran)
        assert requests(outcome.messages) == results(outcome.messages)


def summing_up(closing):
    """A model that looks for ever, and does this when it is asked to sum up."""

    def model(messages):
        return closing() if messages[-1]["role"] == "user" and len(messages) > 1 else call("look")

    return model


class TestHowItEnds:
    """Cases 32 to 35."""

    def test_32_a_summary_is_no_answer(self):
        """Case 32: a cap fires, the summary says "all done!": not complete, still the cap, text in `summary` only."""
        model = summing_up(lambda: answer("all done!"))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(3)], summarize=True)
        assert ("max_steps", False, None, "", "all done!") == (
            outcome.reason,
            outcome.complete,
            outcome.answer,
            outcome.text,
            outcome.summary,
        )

    @pytest.mark.parametrize("closing", [lambda: call("look"), lambda: 1 / 0], ids=["asks for a tool", "raises"])
    def test_34_a_summary_that_fails(self, closing):
        """Case 34: the summary asks for a tool, or raises: no tool runs, a fixed text stands in, still the cap."""
        ran = []
        tools = {"look": lambda: ran.append("look")}
        outcome = run(summing_up(closing), "go", tools=tools, guards=[max_steps(3)], summarize=True)
        assert ("max_steps", 2, None) == (outcome.reason, len(ran), outcome.error)
        assert outcome.summary.startswith("There is no summary by the model.")
        assert requests(outcome.messages) == results(outcome.messages)

    def test_35_a_goal_check_has_the_last_word(self):
        """Case 35: "saved" is not complete if the check says no; if it says yes while the model goes on, it is done."""
        saved = run(always(answer("saved")), "go", guards=[goal_reached(lambda: False), max_steps(3)])
        goes_on = run(looking(), "go", tools=LOOK, guards=[goal_reached(lambda: True), max_steps(3)])
        assert [("unfinished", False), ("goal_reached", True)] == [(o.reason, o.complete) for o in (saved, goes_on)]

    def test_33_three_reasons(self):
        """Case 33: cut off, empty and filtered are three different reasons, and none is complete."""
        replies = [Reply("The cap", stop="length"), answer(""), Reply("", stop="content_filter")]
        outcomes = [run(always(reply), "go") for reply in replies]
        assert ["truncated", "empty_reply", "refused"] == [o.reason for o in outcomes]
        assert [(False, None)] * 3 == [(o.complete, o.answer) for o in outcomes]
