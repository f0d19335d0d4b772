"""The workload W(n), and how one run of it is timed. The same for us and for every peer.

W(n): the scripted model asks for one tool call every turn, each time with a new argument; the tool
answers with a short string; the run ends at its step cap n. Each reply reports 100 tokens in and 20
out, where the API takes that. All other limits are on, and so high that they never fire.

Something to measure is a function `prepare(n, work)`. It builds what a run needs and returns the run
itself, a function without arguments, plain or async, that returns the name of what stopped it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import inspect
import json
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

TOKENS_IN, TOKENS_OUT = 100, 20
MANY = 10**12  # a limit that is never reached
LONG = 3600.0  # seconds, likewise

FINE = time.get_clock_info("process_time").resolution < 1e-4
cpu_time = time.process_time if FINE else time.perf_counter  # Windows counts CPU time in ticks of 16 ms


class Work:
    """What the model of one run asks for, and what the tool answers."""

    __slots__ = ("model_calls", "tool_calls")

    def __init__(self) -> None:
        self.model_calls = self.tool_calls = 0

    def ask(self) -> str:
        """The model's turn: an argument that is new in this run."""
        self.model_calls += 1
        return f"item {self.model_calls}"

    def lookup(self, key: str) -> str:
        """The tool."""
        self.tool_calls += 1
        return f"value of {key}"


Run = Callable[[], Any]
Prepare = Callable[[int, Work], Run]


class Sample(NamedTuple):
    """Seconds that something took."""

    cpu: float
    wall: float


def timed(runs: list[Run], runner: asyncio.Runner) -> tuple[Sample, str]:
    """Carry out the runs one after the other, and say how long they took and what stopped the last one."""
    gc.collect()
    if inspect.iscoroutinefunction(runs[0]):
        return runner.run(_timed_async(runs))
    cpu, wall = cpu_time(), time.perf_counter()
    for run in runs:
        stopped = run()
    return Sample(cpu_time() - cpu, time.perf_counter() - wall), str(stopped)


async def _timed_async(runs: list[Run]) -> tuple[Sample, str]:
    cpu, wall = cpu_time(), time.perf_counter()
    for run in runs:
        stopped = await run()
    return Sample(cpu_time() - cpu, time.perf_counter() - wall), str(stopped)


def measure(prepare: Prepare, n: int) -> dict[str, Any]:
    """The cost per step of runs of n steps: the median of many, after three short ones to warm up."""
    samples: list[Sample] = []
    with asyncio.Runner() as runner:
        for _ in range(3):
            timed([prepare(10, Work())], runner)
        while not _enough(samples):
            work = Work()
            sample, stopped = timed([prepare(n, work)], runner)
            samples.append(sample)
    return {
        "steps": n,
        "cpu_us_per_step": median(s.cpu for s in samples) / n * 1e6,
        "wall_us_per_step": median(s.wall for s in samples) / n * 1e6,
        "runs": len(samples),
        "model_calls": work.model_calls,
        "tool_calls": work.tool_calls,
        "stopped": stopped,
        "complete": n <= work.model_calls <= n + 1 and work.tool_calls == n,  # some ask once more at the cap
        "peak_mb": peak_mb(),
    }


def _enough(samples: list[Sample]) -> bool:
    """Half a second of runs, and at least three unless that takes long."""
    seconds = sum(sample.wall for sample in samples)
    return len(samples) >= 200 or seconds > 10 or (len(samples) >= 3 and seconds > 0.5)


def peak_mb() -> float | None:
    """The most memory that this process has had so far, in MB, where Linux counts it; elsewhere None.

    What `resource` tells would do, but a process starts there with what its parent has used.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:")), None)


def main(name: str, package: str | None, limits: str, prepare: Prepare) -> None:
    """What every peer's script does: measure W(n) for the n on its command line, and print one line of JSON."""
    parser = argparse.ArgumentParser(description=f"Measure {name}: prints one line of JSON.")
    parser.add_argument("n", type=int, help="steps of a run")
    n = parser.parse_args().n
    facts = {"name": name, "version": version(package) if package else None, "limits": limits}
    print(json.dumps(facts | measure(prepare, n)))
