"""The ways to drive the loop. A driver carries out requests; it holds no stop logic of its own."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from stoplib.events import Event
from stoplib.guards import GuardSet, max_steps
from stoplib.loop import Body, Loop, Request
from stoplib.messages import Model, ToolCall
from stoplib.outcome import Outcome
from stoplib.schema import takes_tools
from stoplib.state import Clock, Run
from stoplib.tools import Toolbox

Tools = Iterable[Any] | Mapping[str, Callable[..., Any]]
Approve = Callable[[ToolCall], Any]

DEFAULT_GUARDS = (max_steps(10),)


def run(
    model: Model,
    task: str,
    *,
    tools: Tools = (),
    guards: Iterable[Any] = DEFAULT_GUARDS,
    approve: Approve | None = None,
    clock: Clock = time.monotonic,
    on_event: Callable[[Event], Any] | None = None,
) -> Outcome:
    """Run an agent loop to its end and say why it ended.

    model     `model(messages, tools) -> Reply`, or `model(messages) -> Reply`
    task      what the person asks for
    tools     functions, tools, or a mapping of names to functions
    guards    what may stop the run; at least one must bound it whatever the model does
    approve   asked before each tool call: `approve(call)` says whether it may run
    clock     seconds as a number; pass `TickClock()` or `ManualClock()` for an exact run
    on_event  called with each `Event` as it happens, for instance `print_trace`

    Raises TypeError or ValueError before the first model call for what cannot work. After that,
    everything that happens is an outcome.

    >>> from stoplib import answer, call, script
    >>> model = script(call("search", query="capital of France"), answer("Paris"))
    >>> run(model, "What is the capital of France?", tools={"search": lambda query: "Paris"}).reason
    'answered'
    """
    loop = _loop(model, task, tools, guards, approve, clock, watched=on_event is not None)

    def carry_out(wanted: Request | Event) -> Any:
        if isinstance(wanted, Request):
            return wanted.carry_out()
        return on_event(wanted) if on_event else None

    return _drive(loop.body(), carry_out)


def steps(
    model: Model,
    task: str,
    *,
    tools: Tools = (),
    guards: Iterable[Any] = DEFAULT_GUARDS,
    approve: Approve | None = None,
    clock: Clock = time.monotonic,
) -> Iterator[Event]:
    """The same run, one event at a time; the last event is `end` and holds the outcome.

    Nothing happens between two events until the next one is asked for.

    >>> from stoplib import answer
    >>> [event.kind for event in steps(lambda messages: answer("done"), "go")]
    ['reply', 'end']
    """
    loop = _loop(model, task, tools, guards, approve, clock, watched=True)
    return _events(loop.body())


def _drive(body: Body, carry_out: Callable[[Any], Any]) -> Outcome:
    """Give the body what it asks for until it ends. What goes wrong is thrown into it: it knows what that means."""
    resume: Callable[[], Any] = partial(next, body)
    while True:
        try:
            while True:
                wanted = resume()
                try:
                    resume = partial(body.send, carry_out(wanted))
                except BaseException as error:
                    resume = partial(body.throw, error)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        except KeyboardInterrupt as error:  # it struck between two requests
            if inspect.getgeneratorstate(body) == inspect.GEN_CLOSED:
                raise
            resume = partial(body.throw, error)


def _events(body: Body) -> Iterator[Event]:
    """The events of the body; its requests are carried out on the way."""
    resume: Callable[[], Any] = partial(next, body)
    while True:
        try:
            wanted = resume()
        except StopIteration:
            return
        try:
            if isinstance(wanted, Event):
                yield wanted
                resume = partial(next, body)
            else:
                resume = partial(body.send, wanted.carry_out())
        except GeneratorExit:
            body.close()
            raise
        except BaseException as error:
            resume = partial(body.throw, error)


def _loop(
    model: Model, task: str, tools: Tools, guards: Iterable[Any], approve: Approve | None, clock: Clock, watched: bool
) -> Loop:
    """Check everything that can be checked before the first call."""
    if not callable(model):
        raise TypeError(f"model must be callable, model(messages, tools) -> Reply, not {model!r}")
    if not isinstance(task, str):
        raise TypeError(f"task must be a text, not {task!r}")
    guard_set, toolbox = GuardSet(guards), Toolbox(tools)
    state = Run(task, clock)
    args = (state.messages, toolbox.schemas()) if takes_tools(model) else (state.messages,)
    return Loop(state, Request(model, args), guard_set, toolbox, approve, watched)
