"""Runs within runs: what an inner run uses counts for the outer one, and the outer limit wins."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stoplib
from stoplib import (
    ManualClock,
    Usage,
    answer,
    arun,
    batch,
    call,
    cancelled,
    cost_budget,
    current_run,
    daily_cap,
    going_in_circles,
    load,
    max_steps,
    max_tool_calls,
    replay,
    run,
    script,
    steps,
    time_limit,
    token_budget,
)

from .helpers import LOOK, always, counting, looking

PRICES = {"input": 3, "output": 15}
EACH = Usage(900, 100)


class Expert:
    """A tool that runs another agent, which looks `looks` times and then answers; it keeps the inner outcomes."""

    def __init__(self, looks=2, usage=EACH, **options):
        self.looks, self.usage, self.options = looks, usage, {"tools": LOOK} | options
        self.outcomes = []

    def __call__(self, question="?"):
        replies = [call("look", n=n, usage=self.usage) for n in range(self.looks)]
        model = script(*replies, answer("here", usage=self.usage))
        options = {"guards": [max_steps(50)], **self.options}
        self.outcomes.append(run(model, question, within=current_run(), **options))
        return self.outcomes[-1].answer or f"stopped: {self.outcomes[-1].reason}"


LITTLE = Usage(90, 10)


def asking(times=1, usage=LITTLE):
    """A model that asks the expert `times` times and then answers."""
    return script(*[call("expert", n=n, usage=usage) for n in range(times)], answer("done", usage=usage))


def with_expert(expert, model=None, guards=None, **options):
    """A run whose only tool is the expert."""
    guards = guards or [max_steps(99)]
    return run(model or asking(), "go", tools={"expert": lambda n=0: expert(f"question {n}")}, guards=guards, **options)


LOOK_N = {"look": lambda n: f"page {n}"}


class TestWhatCounts:
    """What an inner run uses is part of what the outer one has used."""

    def test_steps_tool_calls_tokens(self):
        """Two outer model calls of 100 tokens and three inner ones of 1000 are 3200 tokens in five steps."""
        outcome = with_expert(Expert(tools=LOOK_N))
        assert (outcome.steps, outcome.tool_calls, outcome.usage.total) == (5, 3, 3200)
        assert Usage(2 * 90 + 3 * 900, 2 * 10 + 3 * 100) == outcome.usage

    def test_money_at_the_inner_price(self):
        """An inner model of another price costs its own price."""
        outcome = with_expert(Expert(tools=LOOK_N, prices={"input": 30, "output": 150}), prices=PRICES)
        assert pytest.approx((2 * (90 * 3 + 10 * 15) + 3 * (900 * 30 + 100 * 150)) / 1e6) == outcome.cost

    def test_the_trace_is_the_outer_one(self):
        """The trace and the transcript hold the outer run's own steps; the inner run stands in `inner`."""
        outcome = with_expert(Expert(tools=LOOK_N))
        assert [step.number for step in outcome.trace] == [1, 2]
        [inner] = outcome.inner
        assert inner[:5] == (1, "question 0", "answered", 3, {"look": 2})
        assert (Usage(2700, 300), None) == inner[5:]

    def test_without_within_nothing_is_shared(self):
        """A tool that runs an agent without `within` keeps it to itself, as before."""
        outcome = run(
            asking(),
            "go",
            tools={"expert": lambda n: run(script(answer("x", usage=EACH)), "?").answer},
            guards=[max_steps(9)],
        )
        assert (outcome.steps, outcome.usage.total, outcome.inner) == (2, 200, ())

    def test_three_levels(self):
        """The innermost run counts for both around it."""

        def middle(n):
            inner = Expert(looks=1, tools=LOOK_N)
            return run(asking(), "?", tools={"expert": lambda n: inner()}, guards=[max_steps(9)], within=current_run())

        outcome = run(
            script(call("middle", n=1), answer("done")), "go", tools={"middle": middle}, guards=[max_steps(9)]
        )
        assert outcome.steps == 2 + 2 + 2
        [middle_run] = outcome.inner
        assert (middle_run.steps, middle_run.usage.total) == (4, 2200)

    def test_waiting_is_shared(self):
        """Who waits for a person in the inner run does not work in the outer one."""
        clock = ManualClock()

        def approve(asked):
            clock.advance(100)
            return True

        expert = Expert(tools=LOOK_N, approve=approve, clock=clock)
        outcome = with_expert(expert, guards=[time_limit(50, working=True), max_steps(9)], clock=clock)
        assert (outcome.reason, outcome.seconds, outcome.waited) == ("answered", 200.0, 200.0)

    def test_two_tools_at_once(self):
        """Two experts of one batch in `arun`, in threads, are both counted."""
        expert = Expert(tools=LOOK_N)
        model = script(batch(call("expert", n=1), call("expert", n=2)), answer("done"))
        outcome = asyncio.run(arun(model, "go", tools={"expert": lambda n: expert()}, guards=[max_steps(99)]))
        assert (outcome.steps, outcome.usage.total, len(outcome.inner)) == (8, 6000, 2)


class TestTheOuterLimitWins:
    """Where a limit of the outer run is reached, the inner run ends with its name, and then the outer one."""

    @pytest.mark.parametrize(
        ("guard", "inner_steps"),
        [
            (token_budget(100 + 1000 * 3), 3),
            (token_budget(100 + 1000 * 3 + 1), 4),
            (max_steps(4), 3),
            (max_steps(5), 4),
            (max_tool_calls(3), 3),
            (max_tool_calls(2, tool="look"), 3),
            (cost_budget(0.013), 3),
        ],
        ids=repr,
    )
    def test_each_budget(self, guard, inner_steps):
        """The inner run stops exactly where the sum of both reaches the outer limit."""
        expert = Expert(looks=50, tools=LOOK_N, prices=PRICES)
        with_expert(expert, guards=[guard, max_steps(40)], prices=PRICES)
        [inner] = expert.outcomes
        assert (guard.name, inner_steps) == (inner.reason, inner.steps)
        assert inner.detail.endswith(", in the run around this one")

    @pytest.mark.parametrize("guard", [token_budget(3100), max_steps(4), cost_budget(0.013)], ids=repr)
    def test_then_the_outer_run_ends(self, guard):
        """The limit that ended the inner run ends the outer one at its next call, under the same name."""
        expert = Expert(looks=50, tools=LOOK_N, prices=PRICES)
        outcome = with_expert(expert, guards=[guard, max_steps(40)], prices=PRICES)
        assert (guard.name, 1) == (outcome.reason, len(outcome.trace))
        assert f"stopped: {guard.name}" == outcome.trace[0].results[0].text

    def test_a_hard_budget_looks_ahead_for_the_inner_call(self):
        """A hard outer budget refuses the inner call that would pass it: not a token over."""
        expert = Expert(looks=50, usage=Usage(400, 100), tools=LOOK_N)
        outcome = with_expert(expert, guards=[token_budget(1700, hard=True), max_steps(40)])
        assert expert.outcomes[0].reason == "token_budget"
        assert outcome.usage.total <= 1700

    def test_the_clock(self):
        """The outer time limit is looked at before each inner call."""
        clock = ManualClock()

        def look(n):
            clock.advance(10)
            return f"page {n}"

        expert = Expert(looks=50, tools={"look": look}, clock=clock)
        outcome = with_expert(expert, guards=[time_limit(30), max_steps(40)], clock=clock)
        assert (expert.outcomes[0].reason, expert.outcomes[0].steps) == ("time_limit", 3)
        assert (outcome.reason, outcome.seconds) == ("time_limit", 30.0)

    def test_a_flag(self):
        """Who cancels the outer run cancels the inner one."""
        flag = threading.Event()

        def look(n):
            flag.set()
            return f"page {n}"

        expert = Expert(looks=50, tools={"look": look})
        outcome = with_expert(expert, guards=[cancelled(flag), max_steps(40)])
        assert (expert.outcomes[0].reason, outcome.reason) == ("cancelled", "cancelled")

    def test_both_at_once(self):
        """Where the inner and the outer limit are reached at the same call, the outer one names the reason."""
        expert = Expert(looks=50, tools=LOOK_N, guards=[max_steps(3)])
        with_expert(expert, guards=[token_budget(3100), max_steps(40)])
        assert expert.outcomes[0].reason == "token_budget"

    def test_no_summary_without_room(self):
        """An inner run that the outer limit ended makes no further call for its summary."""
        model = counting(script(*[call("look", n=n, usage=EACH) for n in range(50)]))
        seen = []

        def expert(n):
            inner = run(model, "?", tools=LOOK_N, guards=[max_steps(50)], summarize=True, within=current_run())
            seen.append(inner)
            return inner.summary

        run(asking(), "go", tools={"expert": expert}, guards=[token_budget(3100), max_steps(40)])
        assert (seen[0].reason, seen[0].steps, model.calls) == ("token_budget", 3, 3)

    @given(st.integers(1, 6), st.integers(0, 5), st.integers(1, 30))
    def test_the_cap_on_steps_holds_over_both(self, asks, looks, n):
        """However the calls are spread over inner and outer runs, `max_steps(n)` allows at most n in all."""
        outcome = with_expert(Expert(looks=looks, tools=LOOK_N), asking(asks), [max_steps(n)])
        assert outcome.steps <= n
        assert outcome.steps == len(outcome.trace) + sum(inner.steps for inner in outcome.inner)


class TestAnInnerStop:
    """What ends the inner run by a limit of its own ends only the inner run."""

    def test_the_outer_run_goes_on(self):
        """The tool gets the inner outcome, and the outer run answers."""
        expert = Expert(looks=50, tools=LOOK_N, guards=[max_steps(3)])
        outcome = with_expert(expert)
        assert (expert.outcomes[0].reason, outcome.reason) == ("max_steps", "answered")

    def test_its_circles_are_its_own(self):
        """An inner run that goes in circles is stopped by its own guard; the outer one sees no repetition."""
        expert = Expert(tools=LOOK, guards=[going_in_circles(), max_steps(20)])
        expert.looks = 0
        stuck = run(
            asking(),
            "go",
            tools={
                "expert": lambda n: (
                    run(
                        looking(), "?", tools=LOOK, guards=[going_in_circles(), max_steps(20)], within=current_run()
                    ).reason
                )
            },
            guards=[going_in_circles(), max_steps(20)],
        )
        assert (stuck.reason, stuck.inner[0].reason) == ("answered", "going_in_circles")

    def test_a_model_that_fails(self):
        """An inner model that raises ends the inner run as fatal; what it had spent counts."""

        def breaks(messages):
            if len(messages) > 1:
                raise ConnectionError("gone")
            return call("look", usage=EACH)

        outcome = run(
            asking(),
            "go",
            tools={"expert": lambda n: run(breaks, "?", tools=LOOK, within=current_run()).reason},
            guards=[max_steps(9)],
        )
        assert (outcome.reason, outcome.inner[0].reason, outcome.usage.total) == ("answered", "fatal", 1200)

    def test_ctrl_c_means_both(self):
        """Ctrl-C in the inner run ends both as interrupted, and what the inner one used is kept."""

        def look(n):
            raise KeyboardInterrupt

        expert = Expert(tools={"look": look})
        outcome = with_expert(expert)
        assert (outcome.reason, outcome.inner[0].reason) == ("interrupted", "interrupted")
        assert outcome.usage.total == 1100


class TestCurrentRun:
    """`current_run()` is the run that called the tool."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "current_run" in stoplib.__all__

    def test_nowhere(self):
        """Outside a run it says what it is for."""
        with pytest.raises(RuntimeError, match=r"no run is going on here: current_run\(\) is for a tool"):
            current_run()

    def test_it_is_over_with_the_run(self):
        """After a run, however it was driven, none is going on."""
        with_expert(Expert(tools=LOOK_N))
        list(steps(asking(), "go", tools={"expert": lambda n: "x"}))
        asyncio.run(arun(asking(), "go", tools={"expert": lambda n: "x"}))
        with pytest.raises(RuntimeError):
            current_run()

    def test_between_two_events(self):
        """The code that asks for the next event of `steps` is in no run."""
        for _ in steps(asking(), "go", tools={"expert": lambda n: current_run().task}):
            with pytest.raises(RuntimeError):
                current_run()

    @pytest.mark.parametrize("drive", ["run", "steps", "arun", "arun with an async tool", "a tool with a timeout"])
    def test_in_each_driver(self, drive):
        """A tool knows its run, whatever drives it."""

        def expert(n):
            return current_run().task

        async def later(n):
            return current_run().task

        if drive == "run":
            outcome = run(asking(), "the task", tools={"expert": expert})
        elif drive == "steps":
            outcome = [*steps(asking(), "the task", tools={"expert": expert})][-1].outcome
        elif drive == "arun":
            outcome = asyncio.run(arun(asking(), "the task", tools={"expert": expert}))
        elif drive == "arun with an async tool":
            outcome = asyncio.run(arun(asking(), "the task", tools={"expert": later}))
        else:
            limited = stoplib.tool(timeout=5)(expert)
            outcome = run(asking(), "the task", tools={"expert": limited})
        assert outcome.trace[0].results[0].text == "the task"

    def test_a_thread_of_ones_own(self):
        """A thread that the tool starts does not know the run; it can be passed on."""

        def expert(n):
            around = current_run()
            with ThreadPoolExecutor(1) as pool:
                with pytest.raises(RuntimeError):
                    pool.submit(current_run).result()
                model = script(answer("x", usage=EACH))
                return pool.submit(lambda: run(model, "?", within=around).answer).result()

        outcome = run(asking(), "go", tools={"expert": expert}, guards=[max_steps(9)])
        assert outcome.usage.total == 1200

    def test_after_the_outer_run_is_over(self):
        """An inner run that is left behind makes no further call once the outer one has ended."""
        outside_run = []
        run(asking(), "go", tools={"expert": lambda n: outside_run.append(current_run()) or "x"})
        model = always(call("look"))
        late = run(model, "?", tools=LOOK, within=outside_run[0])
        assert (late.reason, model.calls) == ("outer_run_over", 0)
        assert late.detail == "the run whose tool started this one has ended"

    @pytest.mark.parametrize("wrong", [True, "outer", 3, object()])
    def test_what_is_no_run(self, wrong):
        """`within` takes a run and nothing else."""
        with pytest.raises(TypeError, match=r"within must be the run around this one, current_run\(\), not"):
            run(script(answer("x")), "go", within=wrong)

    def test_money_that_is_not_known(self):
        """Where the outer run counts money, an inner model without a price is refused before its first call."""
        expert = Expert(tools=LOOK_N)
        outcome = with_expert(expert, prices=PRICES)
        said = outcome.trace[0].results[0].text
        assert said.startswith("ValueError: within: the run around this one counts money, there is no price for")


class TestLedger:
    """The outer run's daily cap counts inner calls too."""

    def test_daily_cap(self, tmp_path):
        """Five calls of 0.0042 each, inner and outer: the ledger has them all, and no reserve is left."""
        pytest.importorskip("sqlalchemy")
        from stoplib.ledger import Ledger

        ledger = Ledger(tmp_path / "spend.db")
        expert = Expert(tools=LOOK_N, prices=PRICES)
        outcome = with_expert(expert, asking(usage=EACH), [daily_cap(ledger, "ann", 1.0), max_steps(40)], prices=PRICES)
        assert outcome.reason == "answered"
        assert (pytest.approx(0.0042 * 5), 0) == (ledger.spent("ann"), ledger.reserved("ann"))
        assert pytest.approx(outcome.cost) == ledger.spent("ann")

    def test_the_cap_ends_both(self, tmp_path):
        """A cap that is used up within the inner run ends it, and then the outer one."""
        pytest.importorskip("sqlalchemy")
        from stoplib.ledger import Ledger

        expert = Expert(looks=50, tools=LOOK_N, prices=PRICES)
        guards = [daily_cap(Ledger(tmp_path / "spend.db"), "ann", 0.02), max_steps(40)]
        outcome = with_expert(expert, asking(usage=EACH), guards, prices=PRICES)
        assert (expert.outcomes[0].reason, outcome.reason) == ("daily_cap", "daily_cap")
        assert outcome.cost <= 0.02


class TestRecordings:
    """A recording keeps what inner runs used."""

    def outcome(self, n=99):
        return with_expert(Expert(tools=LOOK_N, prices=PRICES), asking(3), [max_steps(n)], prices=PRICES)

    @pytest.mark.parametrize("n", [1, 4, 5, 8, 9, 99])
    def test_saved_and_loaded(self, tmp_path, n):
        """What was saved comes back equal, however far the run got."""
        outcome = self.outcome(n)
        outcome.save(tmp_path / "run.jsonl")
        assert outcome == load(tmp_path / "run.jsonl")

    @pytest.mark.parametrize("n", [1, 4, 5, 8, 9, 99])
    def test_replayed(self, n):
        """A replay without a guard that fires ends as the live run did, with the same spend."""
        outcome = self.outcome(n)
        assert outcome == replay(outcome, [])

    def test_a_limit_in_replay(self):
        """In a replay the inner runs count where their step ended: 12 steps in all, the limit of 6 ends it after 2."""
        outcome = self.outcome()
        assert outcome.steps == 4 + 9
        again = replay(outcome, [max_steps(6)])
        assert (again.reason, len(again.trace), again.steps) == ("max_steps", 2, 8)


def test_display():
    """The sentence on what was spent says that there were runs within."""
    assert "with 1 run within it" in with_expert(Expert(tools=LOOK_N))._repr_mimebundle_()["text/plain"]
