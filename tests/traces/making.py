"""Runs for tests: made up, and the same each time."""

from random import Random

from stoplib import Usage, call
from stoplib.traces import FAILURE, SUCCESS, Trace, TraceStep
from stoplib.traces.trace import ERROR, OK, Result


def step(name="look", result="nothing", status=OK, usage=None, seconds=None, **args):
    """A step with one call and its result."""
    calls = call(name, **args).calls
    return TraceStep("", calls, (Result(calls[0], result, status),), usage=usage, seconds=seconds)


def population(runs=120, tasks=30, seed=1, usage=True):
    """Runs of several tasks: most work for a few steps; some of the failed ones make one call again and again."""
    random = Random(seed)
    found = []
    for number in range(runs):
        task = number % tasks
        success = random.random() < 0.7
        length = random.randint(2, 6) + task % 5
        steps = [step(result=f"page {n}", page=n) for n in range(length)]
        if not success and random.random() < 0.2:
            steps += [step("search", query="again")] * 60
        elif not success and random.random() < 0.3:
            steps += [step("deploy", "no server", ERROR, attempt=n) for n in range(4)]
        if usage:
            steps = [
                TraceStep(s.text, s.calls, s.results, Usage(1000 + 20 * n, 30), 0.01, 2.0 * n)
                for n, s in enumerate(steps)
            ]
        label = SUCCESS if success else FAILURE
        known = {"usage": Usage(1000, 30), "cost": 0.01, "seconds": 2.0 * len(steps)} if usage else {}
        steps.append(TraceStep("Done.", **known))
        found.append(
            Trace(
                f"{number}", f"task {task}", tuple(steps), label, "made up", errors="flagged", seconds=2.0 * len(steps)
            )
        )
    return found
