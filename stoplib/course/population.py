"""Recorded runs to choose limits from: made by scripted agents, the same for the same seed.

The agents are simple: a worker reads, edits and tests; a searcher words its question anew each time; a poller
waits for a job; a runaway makes one call, or ever new ones, until the harness ends it. How long they work, how
often they fail and how rare the runaways are is shaped after published runs of real agents; see chapter 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from stoplib import ManualClock, Outcome, Reply, Usage, answer, call, max_steps, run
from stoplib.fakes import said

HARNESS_STEPS = 100
DRIFTING = 0.4
ERRORS_AT_THE_END = 0.07


class Recorded(NamedTuple):
    """One run, and whether the task was really done, as a check of the result found out afterwards."""

    outcome: Outcome
    success: bool

    @property
    def task(self) -> str:
        """What the run was asked to do; several runs try the same task."""
        return self.outcome.task


class Event(NamedTuple):
    """One round of a plan: what the agent asks for and what comes of it."""

    reply: Reply
    result: str
    seconds: float = 2.0


def recorded_runs(
    seed: int, tasks: int = 60, trials: int = 4, *, scale: float = 1.0, tokens: float = 1.0, runaways: float = 0.025
) -> list[Recorded]:
    """`trials` runs of each task. `scale` makes the tasks longer, `tokens` each call dearer; `runaways` is a share.

    >>> len(recorded_runs(1, tasks=2))
    8
    """
    return [one for n in range(tasks) for one in _runs_of(seed, n, trials, scale, tokens, runaways)]


def split(runs: Sequence[Recorded], seed: int, share: float = 0.5) -> tuple[list[Recorded], list[Recorded]]:
    """The runs of a `share` of the tasks, drawn by `seed`, and the runs of the other tasks.

    >>> known, held_out = split(recorded_runs(1, tasks=10), seed=0, share=0.2)
    >>> len(known), len(held_out), {one.task for one in known} & {one.task for one in held_out}
    (8, 32, set())
    """
    tasks = list(dict.fromkeys(one.task for one in runs))
    Random(seed).shuffle(tasks)
    chosen = set(tasks[: round(share * len(tasks))])
    return [one for one in runs if one.task in chosen], [one for one in runs if one.task not in chosen]


def _runs_of(seed: int, number: int, trials: int, scale: float, tokens: float, runaways: float) -> Iterator[Recorded]:
    """The runs of one task: they are alike, since the task is the same."""
    rng = Random(f"{seed} {number}")
    agent = worker if (draw := rng.random()) < 0.65 else searcher if draw < 0.88 else poller
    length = scale * rng.lognormvariate(math.log(6), 0.5)
    fails = rng.uniform(0.05, 0.7)
    for trial in range(trials):
        rng = Random(f"{seed} {number} {trial}")
        success = rng.random() >= fails
        longer = 1.0 if success else 1.35
        plan = list(agent(rng, max(1, round(longer * length * rng.lognormvariate(0, 0.3))), success))
        if rng.random() < runaways:
            success = False
            plan = [*plan[:4], *runaway(round(HARNESS_STEPS * scale), drifts=rng.random() < DRIFTING)]
        elif not success and rng.random() < ERRORS_AT_THE_END:
            plan += [Event(call("deploy", attempt=n), "error") for n in range(3)]
        outcome = _play(f"task {number}", plan, rng, round(HARNESS_STEPS * scale), tokens)
        yield Recorded(outcome, success)


def worker(rng: Random, length: int, success: bool) -> Iterator[Event]:
    """Reads and edits, and runs the same tests again after some of the edits."""
    tests_often = rng.random() < 0.5
    failing = length
    for n in range(length):
        if tests_often and n % 3 == 2:
            failing -= rng.randrange(1, 3)
            yield Event(call("run_tests"), f"{max(failing, 0)} failed", 8.0)
        elif n % 2:
            yield Event(call("edit", file=f"part{n}.py"), f"part{n}.py was changed")
        else:
            yield Event(call("read", file=f"part{n}.py"), f"the text of part{n}.py")


def searcher(rng: Random, length: int, success: bool) -> Iterator[Event]:
    """Words its question anew each time. Some of the pages that it finds are the same."""
    for n in range(length):
        page = rng.randrange(3 * length)
        yield Event(call("search", query=f"question, wording {n + 1}"), f"page {page}", 3.0)


def poller(rng: Random, length: int, success: bool) -> Iterator[Event]:
    """Prepares a job and asks for its state until it is done."""
    for n in range(max(1, length - 3)):
        yield Event(call("prepare", part=n + 1), f"part {n + 1} is ready")
    for _ in range(rng.choice((1, 2, 2, 3, 3, 4, 5))):
        yield Event(call("job_state"), "running", 30.0)
    yield Event(call("job_state"), "done" if success else "failed", 30.0)


def runaway(length: int, drifts: bool) -> Iterator[Event]:
    """Makes the same call again and again, or drifts from page to page."""
    for n in range(length):
        if drifts:
            yield Event(call("search", query=f"more about page {n}"), f"page {n + 1}", 3.0)
        else:
            yield Event(call("search", query="the order of Ann"), "no results")


def _play(task: str, plan: list[Event], rng: Random, most: int, dearer: float) -> Outcome:
    """Run the plan as a scripted model. What has been said is sent again with each call."""
    clock = ManualClock()
    sent = 3000.0
    replies: list[Reply] = []
    for event in [*plan, Event(answer("I have done the task."), "")]:
        written = rng.uniform(20, 60)
        replies.append(event.reply._replace(usage=Usage(round(dearer * sent), round(dearer * written))))
        sent += written + rng.uniform(20, 80)

    def model(messages: list[Any]) -> Reply:
        clock.advance(plan[step].seconds if (step := said(messages)) < len(plan) else 2.0)
        at[0] = step
        return replies[step]

    def play(**args: Any) -> str:
        if plan[at[0]].result == "error":
            raise RuntimeError("the server does not respond")
        return plan[at[0]].result

    at = [0]
    names = {request.name for event in plan for request in event.reply.calls}
    tools: dict[str, Callable[..., Any]] = {name: play for name in sorted(names)}
    return run(model, task, tools=tools, guards=[max_steps(most)], clock=clock)
