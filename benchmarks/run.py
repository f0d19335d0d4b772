"""What a step costs, in one command.

    python benchmarks/run.py                                      stoplib and a bare loop, some minutes
    python benchmarks/run.py --sizes 10,100 --repeats 3           the same, quickly
    python benchmarks/run.py --peers all                          also the peers: downloads about 1 GB
    python benchmarks/run.py --peers smolagents,autogen --json report.json

Prints ratios, then microseconds. Nothing here fails because something is slow.
"""

from __future__ import annotations

import argparse
import json
import platform
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import environments
import ours
import table

import stoplib


def main() -> None:
    """Measure what the command line asks for, and print it."""
    args = _arguments()
    report = {"about": about(), "sizes": args.sizes, "peer_sizes": [n for n in args.sizes if n <= args.peer_steps]}
    report |= measure_ours(args.sizes, args.repeats)
    report["peers"] = [row for name in args.peers for row in measure_peer(name, report["peer_sizes"], args)]
    print(table.text(report))
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def about() -> dict[str, str]:
    """What a reader has to know about the numbers."""
    system = f"{platform.system()} {platform.machine()}"
    python = platform.python_version()
    return {"stoplib": stoplib.__version__, "python": python, "system": system, "date": date.today().isoformat()}


def measure_ours(steps: list[int], repeats: int) -> dict[str, Any]:
    """The library and the bare loop, in this process."""
    seconds = {}
    for n in steps:
        environments.say(f"stoplib, {n} steps")
        seconds[n] = ours.take_turns(n, repeats)
    return {
        "cost": {way: {n: _summary(seconds[n][way]) for n in steps} for way in ours.WAYS},
        "ratios": {f"{a} / {b}": {n: ours.ratio(seconds[n], a, b) for n in steps} for a, b in table.PAIRS},
        "import": ours.import_cost(repeats),
        "memory": {way: ours.memory(ours.WAYS[way], steps[-1]) for way in (ours.FULL, ours.BARE)},
    }


def measure_peer(name: str, steps: list[int], args: argparse.Namespace) -> list[dict[str, Any]]:
    """One peer, in an environment of its own."""
    return environments.measured(name, steps, args.envs, args.patience)


def _summary(seconds: list[float]) -> dict[str, float]:
    micro = [s * 1e6 for s in seconds]
    return {"median": median(micro), "min": min(micro), "max": max(micro)}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=sizes, default="10,100,1000,10000,100000", help="steps in a run")
    parser.add_argument("--repeats", type=int, default=15, help="how often each way is timed at each size")
    parser.add_argument("--peers", type=peers, default="none", help="all, none, or names of folders in peers/")
    parser.add_argument("--peer-steps", type=int, default=1000, help="the longest run that a peer is asked for")
    parser.add_argument("--patience", type=float, default=120, help="seconds until a peer's process is given up")
    parser.add_argument("--envs", type=Path, default=environments.HERE / ".envs", help="folder for their environments")
    parser.add_argument("--json", type=Path, help="a file for everything that was measured")
    return parser.parse_args()


def sizes(text: str) -> list[int]:
    """`"10,100"` as numbers of steps."""
    found = sorted({int(n) for n in text.split(",")})
    if found[0] < 1:
        raise argparse.ArgumentTypeError(f"a run has at least one step, not {found[0]}")
    return found


def peers(text: str) -> list[str]:
    """`"all"`, `"none"` or names, as names."""
    names = {"all": environments.NAMES, "none": []}.get(text, text.split(","))
    unknown = set(names) - set(environments.NAMES)
    if unknown:
        known = ", ".join(environments.NAMES)
        raise argparse.ArgumentTypeError(f"there is no peer called {', '.join(sorted(unknown))}; there are: {known}")
    return names


if __name__ == "__main__":
    main()
