"""How fast recorded runs are read and swept, and in how much memory.

    python benchmarks/limits.py                   100,000 runs of about ten steps, some minutes
    python benchmarks/limits.py --runs 5000       the same in seconds
    python benchmarks/limits.py --workers 2       on two processes, with eight files

It writes runs to a temporary folder as OpenAI messages, and then goes through them: once to read them, once for every
guard with every number. Nothing here fails because something is slow.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, nullcontext
from pathlib import Path
from random import Random
from time import perf_counter

from stoplib.traces import read
from stoplib.traces.ladders import ladders
from stoplib.traces.progress import Bar
from stoplib.traces.sweep import tallied

FILES = 8


def runs(number: int) -> Iterator[str]:
    """Runs of one to twenty steps, as lines of JSON; each result has 500 characters."""
    random = Random(1)
    for run in range(number):
        messages = [{"role": "user", "content": f"task {run % 1000}"}]
        for step in range(random.randint(1, 19)):
            call = {
                "id": f"c{step}",
                "function": {"name": "look", "arguments": json.dumps({"page": random.randint(0, 9)})},
            }
            usage = {"prompt_tokens": 1000 + 100 * step, "completion_tokens": 30}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call], "usage": usage})
            messages.append({"role": "tool", "tool_call_id": f"c{step}", "content": f"{step % 7} " * 250})
        messages.append(
            {"role": "assistant", "content": "Done.", "usage": {"prompt_tokens": 900, "completion_tokens": 5}}
        )
        yield json.dumps({"task_id": run % 1000, "success": random.random() < 0.6, "messages": messages})


def main() -> None:
    """Write, read, sweep, and say how long each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with ExitStack() as opened:
            paths = (Path(folder, f"{number}.jsonl") for number in range(FILES))
            files = [opened.enter_context(path.open("w", encoding="utf-8")) for path in paths]
            for number, line in enumerate(runs(options.runs)):
                files[number % FILES].write(line + "\n")
        measure(folder, options.workers)


def measure(folder: str, workers: int) -> None:
    """Read and sweep the runs of a folder."""
    reading = read(folder)
    start = perf_counter()
    for _ in reading:
        pass
    tell("read", reading.report.steps, perf_counter() - start)
    pool = ProcessPoolExecutor(workers) if workers > 1 else nullcontext()
    start = perf_counter()
    with pool as executor, Bar(sys.stderr) as bar:
        tally = tallied(read(folder), ladders(), None, executor, bar.show)
    numbers = sum(len(ladder.numbers) for ladder in tally.ladders)
    tell(f"read and held against {numbers} guards", tally.report.steps, perf_counter() - start)
    size = reading.size / 1e6
    print(f"{tally.report.total:,} runs, {tally.report.steps:,} steps, {size:,.0f} MB of files")
    print(f"the most memory that this process has had: {peak():,.0f} MB")


def tell(what: str, steps: int, seconds: float) -> None:
    """One line of the result."""
    print(f"{what:40} {seconds:8.1f} s  {steps / seconds:10,.0f} steps/s")


def peak() -> float:
    """The most memory that this process has had, in MB; on Windows it is not told, and 0 here."""
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    main()
