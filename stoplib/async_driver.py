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
        self._tasks: dict[Request, asyncio.Task[Any]] = {}
        self._deadline: float | None = None

    async def answer(self, request: Request) -> Any:
        """Carry out a request. Raises DeadlinePassed, ToolTimeout, and what the function raises."""
        now = asyncio.get_running_loop().time()
        if request.kind != "tool" or request.time_left is not None:
            self._deadline = None if request.time_left is None else now + request.time_left
        if request not in self._tasks:  # the first of its batch; the others start with it, each once
            for one in request.siblings or (request,):
                task = self._tasks[one] = asyncio.ensure_future(self._carry_out(one))
                task.add_done_callback(partial(_keep, one))
        task = self._tasks[request]
        try:
            left = None if self._deadline is None else max(0.0, self._deadline - now)
            done, _ = await asyncio.wait({task}, timeout=left)
            if not done:
                raise DeadlinePassed
            del self._tasks[request]
            return _outcome_of(task)
        except (DeadlinePassed, asyncio.CancelledError):
            await self.close()
            raise

    async def close(self) -> None:
        """Cancel everything that is still running, and wait until it has ended."""
        tasks, self._tasks = self._tasks, {}
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def _carry_out(self, request: Request) -> Any:
        request.begun = True
        try:
            if request.timeout is None:
                return await _called(request)
            async with _limit(request):
                return await _called(request)
        except (KeyboardInterrupt, SystemExit) as signal:  # either would end the event loop if it left the task
            return _Raised(signal)


async def _called(request: Request) -> Any:
    value = await asyncio.to_thread(_caught, request) if _blocks(request) else request.carry_out()
    return await value if isinstance(value, Awaitable) else value


def _blocks(request: Request) -> bool:
    """Whether it is a plain function, which has to run in a thread so that nobody else has to wait."""
    return request.kind == "tool" and not inspect.iscoroutinefunction(request.function)


def _caught(request: Request) -> Any:
    """Carry out a request in a thread. A StopIteration would never arrive at the other side."""
    try:
        return request.carry_out()
    except BaseException as error:
        return _Raised(error)


class _Raised:
    """An exception that cannot leave a task or a thread as one."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class WasCancelled(Exception):
    """A function was cancelled by somebody else than the run."""


def _outcome_of(task: asyncio.Task[Any]) -> Any:
    """What a task gave that has ended. Raises what it raised."""
    if task.cancelled():  # from inside: who waited for it was not cancelled
        raise WasCancelled("it was cancelled from inside")
    value = task.result()
    if isinstance(value, _Raised):
        raise value.error
    return value


def _keep(request: Request, task: asyncio.Task[Any]) -> None:
    """A tool that has ended before its turn to be asked for has a result all the same."""
    if not task.cancelled():
        task.exception()  # so that nobody complains that it was never looked at
        request.given = partial(_outcome_of, task)


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
            raise ToolTimeout(self._request.timeout, _blocks(self._request)) from None
