"""Go through recorded runs once, here or on many processors: any executor of `concurrent.futures` will do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, NamedTuple, TypeVar

from stoplib.guards import Guard
from stoplib.prices import Price
from stoplib.replaying import replay
from stoplib.traces.climbing import Climber, Place
from stoplib.traces.ladders import Ladder
from stoplib.traces.reading import Reading
from stoplib.traces.report import Report
from stoplib.traces.tally import START, Group, Money, Spent, Tally, goes_on, group_of
from stoplib.traces.trace import Trace

AHEAD = 64
"""Parts that an executor has at a time: more would only wait in memory."""
PART = 256
"""Runs of a list that are given to an executor as one part; of files, each is a part."""

Source = Reading | Sequence[Trace]
Found = TypeVar("Found")


class Progress(NamedTuple):
    """How far it has come: bytes of files (or runs of a list) done, of how many; runs so far."""

    done: int
    of: int
    runs: int


Listener = Callable[[Progress], Any]


def tallied(
    source: Source,
    ladders: Iterable[Ladder],
    price: Price | None = None,
    executor: Executor | None = None,
    progress: Listener | None = None,
) -> Tally:
    """What each guard of these ladders would have done to the runs, in one pass over each of them."""
    total = Tally(ladders, price)
    work = partial(_tally, ladders=total.ladders, price=price)
    for part in _parts(source, work, executor, progress):
        total.add(part)
    return total


def tried(
    source: Source,
    guards: Iterable[Guard],
    groups: Collection[str],
    folded: bool = False,
    price: Price | None = None,
    executor: Executor | None = None,
    progress: Listener | None = None,
) -> Group:
    """What these guards together would have done to the runs of some groups, by a replay of each.

    In the group that is returned they are number 0 of ladder 0.
    """
    total = Group()
    work = partial(_try, guards=list(guards), groups=frozenset(groups), folded=folded, price=price)
    for part in _parts(source, work, executor, progress):
        total.add(part)
    return total


def _tally(part: Source, ladders: Sequence[Ladder], price: Price | None, progress: Listener | None = None) -> Tally:
    tally, climber, report = Tally(ladders, price), Climber(ladders), Report()
    for trace in _watched(part, progress):
        tally.count(trace, climber)
        report.count(trace)
    tally.report = part.report if isinstance(part, Reading) else report
    return tally


def _try(
    part: Source,
    guards: list[Guard],
    groups: frozenset[str],
    folded: bool,
    price: Price | None,
    progress: Listener | None = None,
) -> Group:
    found = Group()
    for trace in _watched(part, progress):
        if group_of(trace, folded) not in groups:
            continue
        money, outcome = Money(trace, price), trace.outcome(price)
        end = Place(len(trace.steps), outcome.tool_calls, outcome.usage.total, outcome.cost or 0.0)
        ended = replay(outcome, guards)
        place = Place(len(ended.trace), ended.tool_calls, ended.usage.total, ended.cost or 0.0)
        found.ran.setdefault((0, trace.label), Spent()).add(money.between(START, end))
        if goes_on(place, end):
            found.cut.setdefault((0, 0, trace.label), Spent()).add(money.between(place, end))
    return found


def _parts(
    source: Source, work: Callable[..., Found], executor: Executor | None, progress: Listener | None
) -> Iterator[Found]:
    """What `work` finds in each part of the runs, in their order."""
    if executor is None:
        yield work(source, progress=progress)
        return
    done = 0
    waiting: deque[tuple[int, Future[Found]]] = deque()
    parts = _divided(source)
    size = source.size if isinstance(source, Reading) else len(source)
    more = True
    while more or waiting:
        while more and len(waiting) < AHEAD:
            part = next(parts, None)
            if part is None:
                more = False
            else:
                waiting.append((part.size if isinstance(part, Reading) else len(part), executor.submit(work, part)))
        if waiting:
            of_part, future = waiting.popleft()
            yield future.result()
            done += of_part
            if progress:
                progress(Progress(done, size, 0))


def _divided(source: Source) -> Iterator[Source]:
    if isinstance(source, Reading):
        yield from (source.of(file) for file in source.files)
    else:
        yield from (source[start : start + PART] for start in range(0, len(source), PART))


def _watched(part: Source, progress: Listener | None) -> Iterator[Trace]:
    for runs, trace in enumerate(part, 1):
        yield trace
        if progress:
            done, size = (part.position, part.size) if isinstance(part, Reading) else (runs, len(part))
            progress(Progress(done, size, runs))
