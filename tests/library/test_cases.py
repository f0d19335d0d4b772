"""Faults from other people's bug trackers, as runs: the rows that this much of the library can express.

The numbers are those of the project's list of cases.
"""

# ruff: noqa: SIM300

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
    batch,
    call,
    max_steps,
    run,
    script,
    time_limit,
)

from .helpers import LOOK, always, contents, looking, requests, results

NAN, INF = float("nan"), float("inf")


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
        [(max_steps, "n", v) for v in (NAN, INF, -1, 2.5, True, "3", None)]
        + [(time_limit, "seconds", v) for v in (NAN, INF, -1, True, "3", None)],
    )
    def test_03_refused_when_built(self, limit, name, value):
        """Case 3: a limit that is none is refused when it is built, with its name and its value in the message."""
        with pytest.raises((TypeError, ValueError)) as caught:
            limit(value)
        assert f"{limit.__name__}: {name} must be" in str(caught.value)
        assert str(caught.value).endswith(f"not {value!r}")

    @pytest.mark.parametrize("limit", [max_steps(0), time_limit(0)])
    def test_03_zero_means_none(self, limit):
        """Case 3: zero is not meaningless for these two: no call is made."""
        model = looking()
        assert (repr(limit)[:-3], 0) == (run(model, "go", guards=[limit]).reason, model.calls)

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
    """Cases 7, 9 and 10."""

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
    """Case 12: after a stop in the middle of a batch of three, there are as many results as requests."""

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
    """What a guard or a loop must survive."""

    @pytest.mark.parametrize("args", ['{"x": ', "not json", "", [1]])
    def test_arguments_that_are_no_json_object(self, args):
        """Arguments that are no JSON object are an error result for the model, and the run goes on."""
        model = script(Reply(calls=(ToolCall("look", args),)), answer("done"))
        outcome = run(model, "go", tools=LOOK)
        assert ("answered", ["error"]) == (outcome.reason, [r.status for r in outcome.trace[0].results])


class TestTimeAndPeople:
    """Cases 28 to 30."""

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


class TestHowItEnds:
    """Case 33."""

    def test_33_three_reasons(self):
        """Case 33: cut off, empty and filtered are three different reasons, and none is complete."""
        replies = [Reply("The cap", stop="length"), answer(""), Reply("", stop="content_filter")]
        outcomes = [run(always(reply), "go") for reply in replies]
        assert ["truncated", "empty_reply", "refused"] == [o.reason for o in outcomes]
        assert [(False, None)] * 3 == [(o.complete, o.answer) for o in outcomes]
