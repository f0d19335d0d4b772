"""What a `time_limit` can cancel: a call of an async client, and not one of a sync client."""

import asyncio

import pytest

from stoplib import ManualClock, Usage, arun, call, max_steps, time_limit

from .helpers import only
from .server import Hang, Stream, Whole


def hangs(api):
    """An answer that begins, where it is a stream, and does not end."""
    return Stream(api.dialect.events(call("look"))[:2], "hang") if api.streams else Hang()


@only(kinds=["async"])
class TestAsync:
    """`arun` cancels what is running, and the connection is closed."""

    def test_at_the_deadline(self, api):
        """The run ends at its limit with what was spent before, and the server sees that nobody listens any more."""
        clock = ManualClock()
        api.says(call("look", usage=Usage(100, 10)), hangs(api))
        tools = {"look": lambda: clock.advance(9.8)}  # so that 0.2 s are left for the second call
        outcome = api.run(tools=tools, guards=[time_limit(10), max_steps(9)], clock=clock)
        assert (outcome.reason, outcome.steps, outcome.usage.total) == ("time_limit", 1, 110)
        assert "cancelled at the limit of 10 s" in outcome.detail
        assert api.server.hung_up.wait(10)

    def test_while_the_client_waits_before_a_retry(self, api):
        """The client's own waiting is part of the call: it is cancelled as well."""
        clock = ManualClock()
        api.says(call("look"), Whole({"error": {"message": "busy"}}, 503, {"retry-after": "50"}))
        tools = {"look": lambda: clock.advance(9.5)}
        outcome = api.run(
            tools=tools, guards=[time_limit(10), max_steps(9)], clock=clock, adapter={"retries": 2, "timeout": 50}
        )
        assert (outcome.reason, outcome.steps, len(api.server.requests)) == ("time_limit", 1, 2)

    def test_a_task_that_is_cancelled(self, api):
        """Who cancels the task gets no outcome, and the connection is closed."""
        api.says(hangs(api))

        async def main():
            async with api.dialect.client(api.server.url, True) as client:
                task = asyncio.create_task(arun(api.model(client), "go"))
                await asyncio.to_thread(api.server.hanging.wait, 10)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

        asyncio.run(main())
        assert api.server.hung_up.wait(10)


@only(kinds=["sync"])
class TestSync:
    """`run` looks at the clock between two calls, so the client's own timeout has to end a call that hangs."""

    def test_the_clients_timeout_ends_it(self, api):
        """The limit is half of the timeout, and it is the timeout that ends the call."""
        api.says(hangs(api))
        outcome = api.run(guards=[time_limit(0.2), max_steps(9)], adapter={"timeout": 0.4})
        assert (outcome.reason, outcome.steps) == ("fatal", int(api.streams))
        assert "imeout" in type(outcome.error.__cause__).__name__
        assert api.server.hung_up.wait(10)

    def test_the_limit_is_noticed_after_the_call(self, api):
        """A call that takes longer than the limit is made and counted; there is no other one."""
        clock = ManualClock()
        api.says(call("look", usage=Usage(100, 10)))
        tools = {"look": lambda: clock.advance(60)}
        outcome = api.run(tools=tools, guards=[time_limit(10), max_steps(9)], clock=clock)
        assert (outcome.reason, outcome.steps, len(api.server.requests)) == ("time_limit", 1, 1)
