"""Exercise 09: what may be claimed, and a search by replay that is allowed."""

import contextlib
import io
import math

import pytest

from stoplib import going_in_circles, max_steps, replay, time_limit, token_budget
from stoplib.course.checks import ChecksFailed
from stoplib.course.exercises import defended_limit as exercise
from stoplib.course.population import split


def made(runs, factor):
    good = [one.outcome for one in runs if one.success]
    steps, tokens = (max(values) for values in zip(*((o.steps, o.usage.total) for o in good), strict=True))
    return [going_in_circles(8), max_steps(math.ceil(factor * steps)), token_budget(math.ceil(factor * tokens))]


def tasks_done(runs):
    return len({one.task for one in runs if one.success})


def passes(check, choose):
    """Whether the check lets `choose` pass, and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            check(choose)
        except ChecksFailed:
            return False, printed.getvalue()
    return True, printed.getvalue()


@pytest.mark.parametrize(
    ("share", "right"),
    [
        (lambda n: 1 - 0.05 ** (1 / n), True),
        (lambda n: 1 - 0.05 ** (1 / n) - 0.001, False),
        (lambda n: 3 / n, True),
        (lambda n: 3.3 / n, True),
        (lambda n: 3.3 / n + 0.001, False),
    ],
    ids=["exact", "too little", "3/n", "rounded up", "too much"],
)
def test_the_claim(share, right):
    """With none of n lost the exact share may be claimed, or 3 / n; not less than the one, nor much more."""
    assert passes(exercise.check_claim, lambda runs: (made(runs, 2), share(tasks_done(runs))))[0] is right


@pytest.mark.parametrize("claim", [-0.1, 1.1, math.nan, True, "0.2", None])
def test_what_is_no_claim(claim):
    """A claim is a number from 0 to 1."""
    right, said = passes(exercise.check_claim, lambda runs: (made(runs, 2), claim))
    assert not right
    assert "the claim is a share" in said


def test_choose_may_search_by_replay():
    """Three splits, three factors, each replayed: it comes back, and is right."""

    def choose(runs):
        for factor in (1, 1.5, 2):
            worst = 0
            for known, held_out in (split(runs, seed) for seed in range(3)):
                guards, good = made(known, factor), [one.outcome for one in held_out if one.success]
                worst = max(worst, sum(replay(o, guards).steps < o.steps for o in good) / len(good))
            if worst == 0:
                break
        return made(runs, max(factor, 1.5)), 3 / tasks_done(runs)

    for check in (exercise.check_guards, exercise.check_lost, exercise.check_saved, exercise.check_claim):
        assert passes(check, choose)[0]


def most(runs, of):
    return max(of(one.outcome) for one in runs if one.success)


@pytest.mark.parametrize(
    ("check", "choose", "hint"),
    [
        (exercise.check_lost, lambda runs: [max_steps(most(runs, lambda o: o.steps))], "what do you leave for it?"),
        (
            exercise.check_lost,
            lambda runs: [going_in_circles(4), max_steps(2 * most(runs, lambda o: o.steps))],
            "has no headroom to multiply",
        ),
        (
            exercise.check_saved,
            lambda runs: [time_limit(1.5 * most(runs, lambda o: o.seconds))],
            "a runaway may make its calls quickly",
        ),
    ],
    ids=["no headroom", "a rule that cuts work", "seconds alone"],
)
def test_the_hint_fits_the_guard_that_is_wrong(check, choose, hint):
    """A limit wants headroom, a rule about repetition a look at what work is, and seconds are not what is saved."""
    right, said = passes(check, lambda runs: (choose(runs), 0.2))
    assert not right
    assert hint in " ".join(said.split())


def test_what_is_just_short_is_not_rounded_up():
    """74.6 % saved does not read as the 75 % that are asked for."""
    assert exercise.Measured(1, 0, 1, used=1000, kept=254).said_saved.startswith("74 %")
    assert exercise.Measured(1, 0, 1, used=1000, kept=250).said_saved.startswith("75 %")
