"""`tool(timeout=…)`: a time limit for one tool call, in ordinary code and in async code."""

# ruff: noqa: SIM300

import asyncio
import inspect
import threading
from contextvars import ContextVar
from decimal import Decimal

import pytest

from stoplib import Fatal, ManualClock, answer, arun, batch, call, max_steps, run, script, time_limit, tool
from stoplib.timeouts import ToolTimeout

from .helpers import LOOK, always

WHERE = ContextVar("where", default="nowhere")


def results_of(outcome):
    """(status, text) of each result of the first round."""
    return [(result.status, result.text) for result in outcome.trace[0].results]


def slow(name="slow", timeout=0.02):
    """A tool that would take for ever, and the event that lets it go."""
    gate = threading.Event()

    def wait():
        gate.wait(5)
        return "too late"

    wait.__name__ = name
    return tool(timeout=timeout)(wait), gate


def once(tools, *calls, **options):
    """A run in which these tools are asked for in one reply, and then the answer."""
    return run(script(batch(*calls), answer("x")), "go", tools=tools, **options)


class TestInOrdinaryCode:
    """`run` waits no longer than the timeout; the function cannot be ended and is left behind."""

    def test_a_slow_tool_is_an_error(self):
        """The model reads that it timed out, that it could not be cancelled, and the run goes on."""
        wait, gate = slow()
        outcome = once([wait], call("slow"))
        gate.set()
        text = "ToolTimeout: timed out after 0.02 s; it could not be cancelled and may still be running"
        assert ("answered", [("error", text)]) == (outcome.reason, results_of(outcome))

    def test_a_quick_tool_is_not_touched(self):
        """A tool that is in time gives its result."""

        @tool(timeout=5)
        def look(where):
            return {"where": where}

        assert [("ok", '{"where": "here"}')] == results_of(once([look], call("look", where="here")))

    def test_in_a_batch(self):
        """Only the slow one fails; the others of the batch run, before it and after it."""
        wait, gate = slow()
        outcome = once(
            [wait, tool(LOOK["look"])] if False else {"slow": wait, **LOOK}, *map(call, ("look", "slow", "look"))
        )
        gate.set()
        assert ["ok", "error", "ok"] == [status for status, _ in results_of(outcome)]

    def test_an_error_is_the_tools_own(self):
        """What the tool raises is its error, with its own words."""

        @tool(timeout=5)
        def bad():
            raise ValueError("cannot")

        assert [("error", "ValueError: cannot")] == results_of(once([bad], call("bad")))

    def test_wrong_arguments(self):
        """Wrong arguments are reported as for any tool."""

        @tool(timeout=5)
        def look(where):
            return "nothing"

        [(status, text)] = results_of(once([look], call("look", were="here")))
        assert ("error", True) == (status, text.startswith("wrong arguments for look:"))

    @pytest.mark.parametrize(
        ("error", "reason"),
        [(Fatal("disk full"), "fatal"), (KeyboardInterrupt(), "interrupted")],
        ids=["Fatal", "Ctrl-C"],
    )
    def test_stop_signals_pass_through(self, error, reason):
        """A stop signal that is raised in there ends the run as elsewhere."""

        @tool(timeout=5)
        def bad():
            raise error

        assert reason == once([bad], call("bad")).reason

    def test_stop_iteration(self):
        """A StopIteration is an error like others."""

        @tool(timeout=5)
        def bad():
            return next(iter(()))

        assert "error" == results_of(once([bad], call("bad")))[0][0]

    def test_context_variables(self):
        """The tool sees the context variables of whoever started the run."""

        @tool(timeout=5)
        def where():
            return WHERE.get()

        token = WHERE.set("here")
        try:
            assert [("ok", "here")] == results_of(once([where], call("where")))
        finally:
            WHERE.reset(token)

    def test_an_async_result_is_refused(self):
        """A function that hands on something to await did not run: that is said, and nothing is left open."""
        made = []

        async def look():
            return "nothing"

        @tool(timeout=5)
        def plain():
            made.append(look())
            return made[0]

        [(status, text)] = results_of(once([plain], call("plain")))
        closed = inspect.getcoroutinestate(made[0])
        made[0].close()
        assert ("error", True, inspect.CORO_CLOSED) == (status, "use arun" in text, closed)

    def test_the_run_s_own_limit_stands(self):
        """A timeout of a tool is no limit of the run, which has its own clock."""
        clock = ManualClock()

        @tool(timeout=5)
        def look():
            clock.advance(3600)

        guards = [time_limit(10), max_steps(9)]
        outcome = run(always(call("look")), "go", tools=[look], guards=guards, clock=clock)
        assert ("time_limit", 1) == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize("driver", ["run", "arun"])
    def test_exact_numbers_work(self, driver):
        """A timeout that is accepted works, also if it is a Decimal."""

        @tool(timeout=Decimal("0.5"))
        def look():
            return "nothing"

        model = script(call("look"), answer("x"))
        outcome = run(model, "go", tools=[look]) if driver == "run" else asyncio.run(arun(model, "go", tools=[look]))
        assert [("ok", "nothing")] == results_of(outcome)


class TestInAsyncCode:
    """`arun` cancels what is async, and says of the rest that it could not."""

    def test_an_async_tool_is_cancelled(self):
        """The tool is cancelled, gets to tidy up, and the run goes on."""
        ended = []

        @tool(timeout=0.02)
        async def slow():
            try:
                await asyncio.sleep(30)
            finally:
                ended.append("tidied up")

        outcome = asyncio.run(arun(script(call("slow"), answer("x")), "go", tools=[slow]))
        text = "ToolTimeout: timed out after 0.02 s and was cancelled"
        assert ("answered", [("error", text)], ["tidied up"]) == (outcome.reason, results_of(outcome), ended)

    def test_in_a_batch(self):
        """Side by side, only the slow one fails."""

        @tool(timeout=0.02)
        async def slow():
            await asyncio.sleep(30)

        async def look():
            return "nothing"

        model = script(batch(call("look"), call("slow"), call("look")), answer("x"))
        outcome = asyncio.run(arun(model, "go", tools=[slow, look]))
        assert ["ok", "error", "ok"] == [status for status, _ in results_of(outcome)]

    def test_a_timeout_error_of_its_own(self):
        """A TimeoutError that the tool raises itself is its own error."""

        @tool(timeout=5)
        async def bad():
            raise TimeoutError("the server did not answer")

        outcome = asyncio.run(arun(script(call("bad"), answer("x")), "go", tools=[bad]))
        assert [("error", "TimeoutError: the server did not answer")] == results_of(outcome)

    def test_a_plain_function_times_out_too(self):
        """A plain function runs in a thread; the run goes on without it."""
        wait, gate = slow()

        async def main():
            outcome = await arun(script(call("slow"), answer("x")), "go", tools=[wait])
            gate.set()
            return outcome

        outcome = asyncio.run(main())
        assert ("answered", "error") == (outcome.reason, results_of(outcome)[0][0])

    def test_what_cannot_be_cancelled_is_said_to_be_so(self):
        """The model reads of a plain function that it may still be running, in the same words as from `run`."""
        wait, gate = slow()

        async def main():
            outcome = await arun(script(call("slow"), answer("x")), "go", tools=[wait])
            gate.set()
            return outcome

        text = "ToolTimeout: timed out after 0.02 s; it could not be cancelled and may still be running"
        assert [("error", text)] == results_of(asyncio.run(main()))

    def test_the_deadline_of_the_run_comes_first(self):
        """A deadline of the run that is nearer than the timeout ends the run."""

        @tool(timeout=30)
        async def slow():
            await asyncio.sleep(30)

        guards, clock = [time_limit(0.02)], ManualClock()
        outcome = asyncio.run(arun(script(call("slow"), answer("x")), "go", tools=[slow], guards=guards, clock=clock))
        assert "time_limit" == outcome.reason


def test_it_is_an_ordinary_exception():
    """A timeout is an error of the tool, which ends no run by itself."""
    assert issubclass(ToolTimeout, Exception)
