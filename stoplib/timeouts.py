"""A time limit for one tool call, for functions that cannot be cancelled."""

from __future__ import annotations

import threading
from contextvars import copy_context
from typing import Any

from stoplib.requests import Request


class ToolTimeout(Exception):
    """A tool took longer than it allows itself."""

    def __init__(self, seconds: float | None, goes_on: bool) -> None:
        end = "; it could not be cancelled and may still be running" if goes_on else " and was cancelled"
        super().__init__(f"timed out after {seconds:g} s{end}")


def carry_out(request: Request) -> Any:
    """Carry out a request in a thread and wait for it no longer than its timeout.

    Raises ToolTimeout. Python cannot end a thread from outside, so the function then goes on in the
    background, and its result is dropped.
    """
    done: list[Any] = []
    failed: list[BaseException] = []
    context = copy_context()

    def work() -> None:
        try:
            done.append(context.run(request.carry_out))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True, name="stoplib tool")
    thread.start()
    thread.join(request.timeout)
    if failed:
        raise failed[0]
    if not done:
        raise ToolTimeout(request.timeout, goes_on=True)
    return done[0]
