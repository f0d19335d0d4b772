"""What the drivers do: carry out what the loop asks for, and throw into it what goes wrong. No stop logic."""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import CoroutineType
from typing import Any

from stoplib.events import Event
from stoplib.loop import Body, Loop
from stoplib.nesting import inside
from stoplib.outcome import Outcome
from stoplib.requests import Request

Listener = Callable[[Event], Any]


def drive(body: Body, on_event: Listener | None) -> Outcome:
    """Give the body what it asks for until it ends. What goes wrong is thrown into it: it knows what that means."""
    answer: Any = None
    error: BaseException | None = None
    while True:
        try:
            while True:
                wanted = body.send(answer) if error is None else body.throw(error)
                answer = error = None
                try:
                    if isinstance(wanted, Request):
                        answer = _carry_out(wanted)
                    elif on_event:
                        on_event(wanted)
                except BaseException as raised:
                    error = raised
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        except KeyboardInterrupt as raised:  # it struck between two requests
            if _is_over(body):
                raise
            error = raised


def moments_of(loop: Loop, on_event: Listener | None, requests: bool = False) -> Generator[Any, None, None]:
    """The events of the loop, and with `requests` each of those as well, before it is carried out."""
    body = loop.body()
    answer: Any = None
    error: BaseException | None = None
    while True:
        try:
            while True:
                wanted = body.send(answer) if error is None else body.throw(error)
                answer = error = None
                try:
                    if isinstance(wanted, Event):
                        if on_event:
                            on_event(wanted)
                        yield wanted
                    else:
                        if requests:
                            yield wanted
                        answer = inside(loop.run).run(_carry_out, wanted)
                except GeneratorExit:
                    body.close()
                    raise
                except BaseException as raised:
                    error = raised
        except StopIteration:
            return
        except KeyboardInterrupt as raised:  # it struck between two requests
            if _is_over(body):
                raise
            error = raised


def _is_over(body: Body) -> bool:
    return getattr(body, "gi_frame", None) is None


def _carry_out(request: Request) -> Any:
    """What the body is sent for a request."""
    at_once = request.timeout is None
    value = request.function(*request.args, **request.kwargs) if at_once else _in_time(request)
    if type(value) is CoroutineType:  # of a plain function that hands on what an async one gives
        value.close()
        raise TypeError("it is async, so it did not run; use arun")
    return value


def _in_time(request: Request) -> Any:
    from stoplib.timeouts import carry_out  # threads are loaded when they are used

    return carry_out(request)
