"""From recorded runs to a guard set: what each limit would have stopped, lost and saved, and which numbers hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from os import PathLike
from typing import cast

from stoplib.limits import amount
from stoplib.prices import Price
from stoplib.traces.choosing import split
from stoplib.traces.files import Paths
from stoplib.traces.findings import Findings, tried_together
from stoplib.traces.ladders import Ladder, checked, ladders
from stoplib.traces.reading import Labels, Reading, read
from stoplib.traces.study import Study
from stoplib.traces.sweep import Listener, Source, tallied, tried
from stoplib.traces.trace import Trace


def limits(
    source: Paths | Source,
    *,
    labels: Labels | str | PathLike[str] | None = None,
    success_at: float = 1.0,
    errors: str | None = None,
    price: Mapping[str, float] | Price | None = None,
    headroom: float = 1.5,
    seed: int = 0,
    also: Iterable[Ladder] = (),
    executor: Executor | None = None,
    progress: Listener | None = None,
) -> Findings:
    """Hold every guard with every number against recorded runs, and propose a set.

    source      files or folders, a `Reading`, or a list of `Trace`
    labels, success_at, errors     see `read`
    price       money per million tokens, `{"input": 3, "output": 15}`; needed for a budget of money
    headroom    the factor between the largest success and a budget
    seed        for the splits by task and the resampling
    also        ladders of your own guards
    executor    any executor of `concurrent.futures`; the files have to be where it runs
    progress    called now and then with a `Progress`

    The runs are gone through twice: once for all guards and numbers, once for the proposed set together. Raises
    FileNotFoundError, and ValueError if there is not one run.

    >>> from random import Random
    >>> from stoplib.traces import Trace, TraceStep
    >>> runs = []
    >>> for task in range(40):
    ...     steps = tuple(TraceStep(f"part {n}") for n in range(Random(task).randint(2, 12)))
    ...     runs.append(Trace(f"{task}", f"task {task}", steps, "success" if task % 4 else "failure"))
    >>> found = limits(runs)
    >>> found.successes, found.guards
    (30, [max_steps(20)])
    """
    amount("limits", "headroom", headroom, above_zero=True)
    own = checked(also)
    runs = _runs(source, labels, success_at, errors)
    cost = price if price is None or isinstance(price, Price) else Price(**price)
    tally = tallied(runs, [*ladders(priced=cost is not None), *own], cost, executor, progress)
    if not tally.report.total:
        raise ValueError(f"there is not one run to learn from\n{tally.report}")
    study = Study(tally, headroom, seed)
    found = study.findings()
    known, others = split(list(tally.groups), seed)
    if found.proposal and (guards := tuple(guard for guard, _ in study.proposal(known, {}))):
        group = tried(runs, guards, others, tally.folded, cost, executor, progress)
        found.together = tried_together(guards, group, found.known)
    return found


def _runs(
    source: Paths | Source, labels: Labels | str | PathLike[str] | None, success_at: float, errors: str | None
) -> Source:
    if isinstance(source, Reading):
        return source
    if not isinstance(source, (str, PathLike)):
        found: list[object] = list(source)
        if found and all(isinstance(one, Trace) for one in found):
            return cast("list[Trace]", found)
        return read(cast("list[str]", found), labels=labels, success_at=success_at, errors=errors)
    return read(source, labels=labels, success_at=success_at, errors=errors)
