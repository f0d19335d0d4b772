"""The command line: `stoplib limits PATH…`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from stoplib.limits import whole
from stoplib.traces.findings import Findings
from stoplib.traces.limits import limits
from stoplib.traces.progress import Bar

ABOUT = """Hold every guard with every number against recorded runs, and propose a guard set.

PATH is a file or a folder of recorded runs: OpenAI or Anthropic messages, tau-bench, tau2-bench, SWE-agent,
mini-swe-agent, Inspect, OpenTelemetry, Claude Code, or stoplib's own. The format is told by what is in a file."""

WRONG = 2
PICTURES = (".png", ".svg", ".pdf")
MOST_WORKERS = min(os.cpu_count() or 1, 61)  # one for each processor, and no more than Windows can wait for


def main(arguments: Sequence[str]) -> int:
    """Run `stoplib limits` and return its exit code: 0, or 2 if there is nothing to learn from."""
    options = _parser().parse_args(arguments)
    try:
        _check_targets(options)
        price = None if options.price is None else _price(options.price)
        workers = min(whole("--workers", "N", options.workers, at_least=1), MOST_WORKERS)
        pool = ProcessPoolExecutor(workers) if workers > 1 else nullcontext()
        with pool as executor, Bar(sys.stderr, shown=not options.quiet) as bar:
            found = limits(
                options.path,
                labels=options.labels,
                success_at=options.success_at,
                errors=options.errors,
                price=price,
                headroom=options.headroom,
                seed=options.seed,
                executor=executor,
                progress=bar.show,
            )
        _write(found, options)
    except (OSError, ValueError, TypeError, ImportError) as error:
        told = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.strerror else error
        print(f"stoplib limits: {told}", file=sys.stderr)
        return WRONG
    return 0


def _check_targets(options: argparse.Namespace) -> None:
    """Refuse what cannot be written before the runs are read, which may take long."""
    for target in (options.csv, options.json, options.html, options.python, options.chart):
        if target and target.is_dir():
            raise ValueError(f"{target} is a folder; name a file in it")
        if target and not target.parent.is_dir():
            raise ValueError(f"there is no folder '{target.parent}' to write {target.name} into")
    if options.chart and options.chart.suffix.lower() not in PICTURES:
        raise ValueError(f"--chart takes a file that ends in {', '.join(PICTURES)}, not '{options.chart}'")


def _write(found: Findings, options: argparse.Namespace) -> None:
    if options.csv:
        _put(options.csv, found.as_csv())
    if options.json:
        _put(options.json, json.dumps(found.as_dict(), ensure_ascii=False, indent=1) + "\n")
    if options.html:
        _put(options.html, found.as_html())
    if options.python:
        _put(options.python, found.python)
    if options.chart:
        found.chart(options.chart)
    if not (options.csv or options.json or options.html or options.python or options.chart):
        print(found)


def _put(target: Path, text: str) -> None:
    if str(target) == "-":
        print(text, end="")
    else:
        target.write_text(text, encoding="utf-8", newline="\n")


def _price(text: str) -> dict[str, float]:
    """`3,15` or `input=3,output=15,cache_read=0.3`: money per million tokens."""
    parts = text.split(",")
    try:
        if not any("=" in part for part in parts):
            return dict(zip(("input", "output"), map(float, parts), strict=True))
        return {name.strip(): float(value) for name, value in (part.split("=") for part in parts)}
    except ValueError:
        said = "money per million tokens, such as 3,15 or input=3,output=15,cache_read=0.3"
        raise ValueError(f"--price takes {said}, not {text!r}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stoplib limits", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", nargs="+", help="files and folders of recorded runs")
    parser.add_argument("--labels", metavar="FILE", help="which runs succeeded: JSON, CSV, or a SWE-bench report")
    parser.add_argument(
        "--success-at", type=float, default=1.0, metavar="REWARD", help="success from this reward on (1)"
    )
    parser.add_argument("--errors", metavar="REGEX", help="a result in which it is found is a failed call")
    parser.add_argument("--price", metavar="IN,OUT", help="money per million tokens, for budgets of money")
    parser.add_argument("--headroom", type=float, default=1.5, metavar="X", help="times the largest success (1.5)")
    parser.add_argument("--seed", type=int, default=0, help="for the splits by task (0)")
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="processes, each with a file at a time; at most one for each processor (1)",
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write every row; - prints instead of the table")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page that needs no other file")
    parser.add_argument("--python", type=Path, metavar="FILE", help="write the proposed guard set")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw a picture, .png or .svg; needs matplotlib")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser
