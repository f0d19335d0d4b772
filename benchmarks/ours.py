"""What a step costs in stoplib: every way to drive it, beside a bare loop.

As a script it does what a peer's script does, for stoplib with the full guard set.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from statistics import median
from typing import Any

from workload import LONG, MANY, TOKENS_IN, TOKENS_OUT, Prepare, Run, Work, main, timed

import stoplib
from stoplib import Guard, Reply, ToolCall, Usage

ROOT = Path(__file__).parents[1]
PRICES = {"input": 3, "output": 15}
BARE, SAME_REPLIES, CAP_ALONE, FULL = "bare loop", "bare loop, same replies", "run, max_steps alone", "run, all guards"
NO_GC, STEPS, ARUN = "run, all guards, collector off", "steps, all guards", "arun, all guards"
REPLAY = "replay, all guards"


def full_set(n: int) -> list[Guard]:
    """Every kind of stop rule at once. Only the step cap is ever reached."""
    return [
        stoplib.time_limit(LONG),
        stoplib.max_steps(n),
        stoplib.token_budget(MANY),
        stoplib.cost_budget(MANY),
        stoplib.max_tool_calls(MANY),
        stoplib.repeated_call(3),
        stoplib.going_in_circles(),
        stoplib.no_new_results(5),
        stoplib.too_many_errors(3),
        stoplib.too_many_refusals(3),
        stoplib.cancelled(threading.Event()),
    ]


def reply(work: Work) -> Reply:
    """The scripted model's reply."""
    return Reply("", (ToolCall("lookup", {"key": work.ask()}),), Usage(TOKENS_IN, TOKENS_OUT))


def bare(n: int, work: Work) -> Run:
    """The floor: a for loop over plain dicts, with its step cap and nothing else."""

    def model(messages: list[dict[str, Any]]) -> dict[str, Any]:
        return {"role": "assistant", "name": "lookup", "args": {"key": work.ask()}}

    tools = {"lookup": work.lookup}

    def go() -> str:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        for _ in range(n):
            asked = model(messages)
            messages.append(asked)
            text = tools[asked["name"]](**asked["args"])
            messages.append({"role": "tool", "name": asked["name"], "content": text})
        return "max_steps"

    return go


def same_replies(n: int, work: Work) -> Run:
    """A bare loop around the very model that stoplib is given, which builds a Reply each turn."""

    def model(messages: list[dict[str, Any]]) -> Reply:
        return reply(work)

    tools = {"lookup": work.lookup}

    def go() -> str:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        for _ in range(n):
            said = model(messages)
            asked = said.calls[0]
            messages.append({"role": "assistant", "name": asked.name, "args": asked.args})
            text = tools[asked.name](**asked.args)
            messages.append({"role": "tool", "name": asked.name, "content": text})
        return "max_steps"

    return go


def cap_alone(n: int, work: Work) -> Run:
    """The library with a single guard."""
    guards = [stoplib.max_steps(n)]
    return lambda: stoplib.run(lambda messages: reply(work), "go", tools=[work.lookup], guards=guards).reason


def full(n: int, work: Work) -> Run:
    """The library with every guard: the row that counts."""
    guards = full_set(n)

    def model(messages: list[dict[str, Any]]) -> Reply:
        return reply(work)

    return lambda: stoplib.run(model, "go", tools=[work.lookup], guards=guards, prices=PRICES).reason


def without_collector(n: int, work: Work) -> Run:
    """The same while Python's garbage collector rests: what is left of the growth is the library's own."""
    run = full(n, work)

    def go() -> str:
        gc.disable()
        try:
            return run()
        finally:
            gc.enable()

    return go


def stepwise(n: int, work: Work) -> Run:
    """The driver that hands out one event at a time."""
    guards = full_set(n)

    def model(messages: list[dict[str, Any]]) -> Reply:
        return reply(work)

    def go() -> str:
        for event in stoplib.steps(model, "go", tools=[work.lookup], guards=guards, prices=PRICES):
            last = event
        return last.outcome.reason if last.outcome else "no end"

    return go


def asynchronous(n: int, work: Work) -> Run:
    """The driver for async models and tools: each request is a task of its own."""
    guards = full_set(n)

    async def model(messages: list[dict[str, Any]]) -> Reply:
        return reply(work)

    async def lookup(key: str) -> str:
        return work.lookup(key)

    async def go() -> str:
        return (await stoplib.arun(model, "go", tools=[lookup], guards=guards, prices=PRICES)).reason

    return go


def again(n: int, work: Work) -> Run:
    """The same guards, held against a run that is over."""
    tools = [work.lookup]
    recorded = stoplib.run(lambda _: reply(work), "go", tools=tools, guards=[stoplib.max_steps(n)], prices=PRICES)
    guards = full_set(n)
    return lambda: stoplib.replay(recorded, guards).reason


WAYS: dict[str, Prepare] = {
    BARE: bare,
    SAME_REPLIES: same_replies,
    CAP_ALONE: cap_alone,
    FULL: full,
    NO_GC: without_collector,
    STEPS: stepwise,
    ARUN: asynchronous,
    REPLAY: again,
}

Seconds = dict[str, list[float]]


def take_turns(n: int, repeats: int) -> Seconds:
    """CPU seconds per step of each way, several times. The ways take turns, so a busy moment hits them alike."""
    repeats = min(repeats, max(3, 50_000 // n))
    seconds: Seconds = {name: [] for name in WAYS}
    with asyncio.Runner() as runner:
        for prepare in WAYS.values():
            per_step(prepare, min(n, 1000), runner)  # to warm up
        for _ in range(repeats):
            for name, prepare in WAYS.items():
                seconds[name].append(per_step(prepare, n, runner))
    return seconds


def per_step(prepare: Prepare, n: int, runner: asyncio.Runner) -> float:
    """CPU seconds per step; short runs are timed many at once, so that the clock and the collector count right."""
    works = [Work() for _ in range(max(1, 1000 // n))]
    sample, stopped = timed([prepare(n, work) for work in works], runner)
    if stopped != "max_steps" or any((work.model_calls, work.tool_calls) != (n, n) for work in works):
        raise RuntimeError(f"this was another run than W({n}): it ended with {stopped}")
    return sample.cpu / n / len(works)


def ratio(seconds: Seconds, over: str, under: str) -> float:
    """How many times as much `over` costs as `under`: the median over neighbours in time."""
    return median(a / b for a, b in zip(seconds[over], seconds[under], strict=True))


def import_cost(repeats: int) -> dict[str, float]:
    """What `import stoplib` adds to bare Python: CPU milliseconds and modules, the medians of fresh processes."""
    pairs = [(fresh("pass"), fresh("import stoplib")) for _ in range(repeats + 1)][1:]  # the first fills the caches
    (bare_ms, bare_modules), (ms, modules) = (
        [median(v) for v in zip(*one, strict=True)] for one in zip(*pairs, strict=True)
    )
    return {"bare_ms": bare_ms, "import_ms": ms - bare_ms, "modules": modules - bare_modules}


def fresh(code: str, python: str | Path = sys.executable, **options: Any) -> tuple[float, int]:
    """CPU milliseconds of a fresh process from its start to the end of `code`, and the modules it has then."""
    code += "; import sys, time; print(time.process_time() * 1000, len(sys.modules))"
    command = [python, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, **options)
    ms, modules = done.stdout.split()[-2:]
    return float(ms), int(modules)


def memory(prepare: Prepare, n: int) -> float:
    """The most bytes per step that a run of n steps has allocated at one time."""
    run = prepare(n, Work())
    gc.collect()
    tracemalloc.start()
    run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / n


if __name__ == "__main__":
    main("stoplib", None, "steps, tokens, money, time, tool calls, repeats, errors, refusals, cancel", full)
