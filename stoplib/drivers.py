"""The ways to run an agent: what each takes is checked here, before the first call."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

from stoplib.driving import Listener, drive, moments_of
from stoplib.events import Event
from stoplib.guards import GuardSet, max_steps
from stoplib.loop import Loop
from stoplib.messages import Model, ToolCall
from stoplib.nesting import current, inside
from stoplib.outcome import Outcome
from stoplib.prices import Price, name_of, price_of
from stoplib.reasons import INTERRUPTED
from stoplib.requests import Request
from stoplib.state import Clock, Run
from stoplib.tools import Toolbox

Tools = Iterable[Any] | Mapping[str, Callable[..., Any]]
Approve = Callable[[ToolCall], Any]
Prices = Mapping[str, Any]

DEFAULT_GUARDS = (max_steps(10),)


def run(
    model: Model,
    task: str,
    *,
    tools: Tools = (),
    guards: Iterable[Any] = DEFAULT_GUARDS,
    approve: Approve | None = None,
    clock: Clock = time.monotonic,
    on_event: Listener | None = None,
    summarize: bool = False,
    prices: Prices | None = None,
    within: Run | None = None,
) -> Outcome:
    """Run an agent loop to its end and say why it ended.

    model      `model(messages, tools) -> Reply`, or `model(messages) -> Reply`; it reads the messages, and does
               not change them
    task       what the person asks for
    tools      functions, tools, or a mapping of names to functions
    guards     what may stop the run; at least one must bound it whatever the model does
    approve    asked before each tool call: `approve(call)` says whether it may run
    clock      seconds as a number; pass `TickClock()` or `ManualClock()` for an exact run
    on_event   called with each `Event` as it happens, for instance `print_trace`
    summarize  when a guard ends the run, ask for a closing summary. One step is kept back for it, and the
               `reserve` of a budget; where a limit has no room left, as after a time limit, a fixed text stands in
    prices     money per million tokens, `{"input": 3, "output": 15}`, or that by the model's name
    within     `current_run()` in a tool that runs another agent: what the inner run uses counts for the outer
               one too, and where a limit of the outer one is reached the inner run ends with its name

    Raises TypeError or ValueError before the first model call for what cannot work. After that,
    everything that happens is an outcome.

    >>> from stoplib import answer, call, script
    >>> model = script(call("search", query="capital of France"), answer("Paris"))
    >>> run(model, "What is the capital of France?", tools={"search": lambda query: "Paris"}).reason
    'answered'
    """
    loop = _loop(model, task, tools, guards, approve, clock, on_event, summarize, prices, within)
    _refuse_async(loop, on_event)
    outcome = inside(loop.run).run(drive, loop.body(), on_event)
    if current.get() is not None and outcome.reason == INTERRUPTED:  # who presses Ctrl-C means the outer run too
        raise KeyboardInterrupt
    return outcome


async def arun(
    model: Model,
    task: str,
    *,
    tools: Tools = (),
    guards: Iterable[Any] = DEFAULT_GUARDS,
    approve: Approve | None = None,
    clock: Clock = time.monotonic,
    on_event: Listener | None = None,
    summarize: bool = False,
    prices: Prices | None = None,
    within: Run | None = None,
) -> Outcome:
    """The same run for a model, tools, approval and a listener that may be `async`.

    The tools of a batch run side by side; their results are in the order of the calls. At the deadline
    of a `time_limit` what is running is cancelled. A plain function among the tools runs in a thread,
    which cannot be cancelled: it is left behind, and `asyncio.run` still waits for it at its end. A model
    or an `approve` that is a plain function holds up the event loop while it runs.

    >>> import asyncio
    >>> from stoplib import answer
    >>> async def model(messages):
    ...     return answer("Paris")
    >>> asyncio.run(arun(model, "What is the capital of France?")).answer
    'Paris'
    """
    from stoplib.async_driver import drive as drive_async  # asyncio is loaded when it is used

    loop = _loop(model, task, tools, guards, approve, clock, on_event, summarize, prices, within)
    loop.cancels = True
    around = current.set(loop.run)
    try:
        return await drive_async(loop.body(), on_event)
    finally:
        current.reset(around)


def steps(
    model: Model,
    task: str,
    *,
    tools: Tools = (),
    guards: Iterable[Any] = DEFAULT_GUARDS,
    approve: Approve | None = None,
    clock: Clock = time.monotonic,
    on_event: Listener | None = None,
    summarize: bool = False,
    prices: Prices | None = None,
    within: Run | None = None,
) -> Iterator[Event]:
    """The same run, one event at a time; the last event is `end` and holds the outcome.

    Nothing happens between two events until the next one is asked for.

    >>> from stoplib import answer
    >>> [event.kind for event in steps(lambda messages: answer("done"), "go")]
    ['reply', 'end']
    """
    loop = _loop(model, task, tools, guards, approve, clock, on_event, summarize, prices, within, watched=True)
    _refuse_async(loop, on_event)
    return moments_of(loop, on_event)


def moments(
    model: Model,
    task: str,
    *,
    tools: Tools = (),
    guards: Iterable[Any] = DEFAULT_GUARDS,
    approve: Approve | None = None,
    clock: Clock = time.monotonic,
    prices: Prices | None = None,
) -> tuple[Run, Generator[Event | Request, None, None]]:
    """The same run for whoever wants to wait between any two things: the run that counts, and its moments.

    Besides the events there is a moment before each request to the model, a tool or a person: it is carried out when
    the next moment is asked for. A KeyboardInterrupt that is thrown in at a moment ends the run there.

    >>> from stoplib import answer
    >>> run, all_of_it = moments(lambda messages: answer("done"), "go")
    >>> [(moment.kind, run.steps) for moment in all_of_it]
    [('model', 0), ('reply', 1), ('end', 1)]
    """
    loop = _loop(model, task, tools, guards, approve, clock, None, False, prices, None, watched=True)
    _refuse_async(loop, None)
    return loop.run, moments_of(loop, None, requests=True)


def _loop(
    model: Model,
    task: str,
    tools: Tools,
    guards: Iterable[Any],
    approve: Approve | None,
    clock: Clock,
    on_event: Listener | None,
    summarize: bool,
    prices: Prices | None,
    within: Run | None,
    watched: bool = False,
) -> Loop:
    """Check everything that can be checked before the first call."""
    from stoplib.schema import how_to_ask  # it loads `inspect`, which the import of the package can do without

    if not callable(model):
        raise TypeError(f"model must be callable, model(messages, tools) -> Reply, not {model!r}")
    if not isinstance(task, str):
        raise TypeError(f"task must be a text, not {task!r}")
    for name, value in (("clock", clock), ("approve", approve), ("on_event", on_event)):
        if not callable(value) and (value is not None or name == "clock"):
            raise TypeError(f"{name} must be a function, not {value!r}")
    guard_set, toolbox, price = GuardSet(guards), Toolbox(tools), price_of(model, prices)
    if within is not None:
        _check_within(within, price, name_of(model))
    state = Run(
        task,
        clock,
        tools=toolbox.traits(),
        model=name_of(model),
        price=price,
        output_cap=getattr(model, "max_output_tokens", None),
        longest=guard_set.longest_cycle(),
        outer=within,
    )
    state.summary_to_come = summarize
    guard_set.begin(state)
    asks = how_to_ask(model)
    schemas = [] if asks == "not at all" else toolbox.schemas()
    return Loop(
        state,
        model,
        toolbox,
        guard_set,
        schemas=schemas,
        asks=asks,
        approve=approve,
        watched=watched or on_event is not None,
        summarize=summarize,
    )


def _check_within(outer: Any, price: Price | None, model: str) -> None:
    if not isinstance(outer, Run):
        raise TypeError(f"within must be the run around this one, current_run(), not {outer!r}")
    if outer.price is not None and price is None:
        raise ValueError(
            f"within: the run around this one counts money, there is no price for the model {model!r}, and unknown"
            f" is not zero. Pass prices={{{model!r}: {{'input': …, 'output': …}}}}, in money per million tokens."
        )


def _refuse_async(loop: Loop, on_event: Listener | None) -> None:
    import inspect

    functions = {"the model": loop.model, "approve": loop.approve, "on_event": on_event, **loop.tools.functions()}
    for name, function in functions.items():
        call = getattr(type(function), "__call__", None)  # noqa: B004  # the method itself, not whether there is one
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call):
            raise TypeError(f"{name} is async; use arun, or pass a plain function")
