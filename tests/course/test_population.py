"""The recorded runs of chapter 10: the same for the same seed, and of the shape that the chapter speaks of."""

import pytest

from stoplib import max_steps, replay
from stoplib.course.population import HARNESS_STEPS, recorded_runs


def test_the_same_seed_gives_the_same_runs():
    """Two populations of one seed are equal, those of two seeds are not."""
    assert recorded_runs(5, tasks=6) == recorded_runs(5, tasks=6)
    assert recorded_runs(5, tasks=6) != recorded_runs(6, tasks=6)


@pytest.mark.parametrize(("scale", "tokens"), [(1, 1), (4, 0.2), (0.6, 6)])
def test_shape(scale, tokens):
    """Every task has its trials; only a runaway meets the harness, and none succeeds; replay changes nothing."""
    runs = recorded_runs(23, tasks=30, scale=scale, tokens=tokens, runaways=0.1)
    assert len({one.task for one in runs}) == 30 and len(runs) == 120
    ends = {one.outcome.reason for one in runs}
    assert ends == {"answered", "max_steps"}
    runaways = [one for one in runs if one.outcome.reason == "max_steps"]
    assert not any(one.success for one in runaways)
    assert {one.outcome.steps for one in runaways} == {HARNESS_STEPS * scale}
    assert all(replay(one.outcome, [max_steps(1000)]).steps == one.outcome.steps for one in runs)


def test_longer_tasks_and_dearer_calls():
    """`scale` shows in the steps, `tokens` in the usage."""
    small, long, dear = (sum(x.outcome.steps for x in recorded_runs(3, 20, scale=s)) for s in (1, 4, 1))
    assert long > 2.5 * small == 2.5 * dear
    usage = [sum(x.outcome.usage.total for x in recorded_runs(3, 20, tokens=t)) for t in (1, 6)]
    assert usage[1] == pytest.approx(6 * usage[0], rel=0.01)
