"""The driver for async models, tools and approval: it cancels at the deadline, and runs a batch side by side."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from stoplib.events import Event
from stoplib.loop import Body
from stoplib.outcome import Outcome
from stoplib.requests import DeadlinePassed, Request
from stoplib.timeouts import ToolTimeout


async def drive(body: Body, on_event: Callable[[Event], Any] | None) -> Outcome:
    """Give the body what it asks for until it ends."""
    resume: Callable[[], Any] = partial(next, body)
    world = World()
    try:
        while True:
            wanted = resume()
            try:
                if isinstance(wanted, Event):
                    answer = on_event(wanted) if on_event else None
                    resume = partial(body.send, None)
                    if inspect.isawaitable(answer):
                        await answer
                else:
                    resume = partial(body.send, await world.answer(wanted))
            except asyncio.CancelledError:
                body.close()
                raise
            except BaseException as error:
                resume = partial(body.throw, error)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        await world.close()


class World:
    """What is running for one run."""

    def __init__(self) -> None:
        self._tasks: dict[int, asyncio.Task[Any]] = {}
        self._deadline: float | None = None

    async def answer(self, request: Request) -> Any:
        """Carry out a request. Raises DeadlinePassed, ToolTimeout, and what the function raises."""
        now = asyncio.get_running_loop().time()
        if request.kind != "tool" or request.time_left is not None:
            self._deadline = None if request.time_left is None else now + request.time_left
        for one in request.siblings or (request,):
            if id(one) not in self._tasks:
                task = self._tasks[id(one)] = asyncio.ensure_future(self._carry_out(one))
                task.add_done_callback(partial(_keep, one))
        task = self._tasks[id(request)]
        try:
            left = None if self._deadline is None else max(0.0, self._deadline - now)
            done, _ = await asyncio.wait({task}, timeout=left)
            if not done:
                raise DeadlinePassed
            return task.result()
        except (DeadlinePassed, asyncio.CancelledError):
            await self.close()
            raise
        finally:
            if task.done():
                self._tasks.pop(id(request), None)

    async def close(self) -> None:
        """Cancel everything that is still running, and wait until it has ended."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry_out(self, request: Request) -> Any:
        request.begun = True
        async with _limit(request):
            if request.kind == "tool" and not inspect.iscoroutinefunction(request.function):
                value = await asyncio.to_thread(request.carry_out)
            else:
                value = request.carry_out()
            return await value if isinstance(value, Awaitable) else value


def _keep(request: Request, task: asyncio.Task[Any]) -> None:
    """A tool that has ended before its turn to be asked for has a result all the same."""
    if not task.cancelled():
        task.exception()  # so that nobody complains that it was never looked at
        request.given = task.result


class _limit:
    """The time that a tool allows itself."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._timeout = asyncio.timeout(request.timeout)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            if not self._timeout.expired():
                raise
            raise ToolTimeout(f"timed out after {self._request.timeout:g} s and was cancelled") from None
