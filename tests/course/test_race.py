"""The race: each guard alone against a recorded run."""

import pytest

from stoplib import (
    TickClock,
    answer,
    going_in_circles,
    max_steps,
    max_tool_calls,
    no_new_results,
    repeated_call,
    run,
    script,
    token_budget,
    too_many_errors,
)
from stoplib.course.charts import describe_race, plot_race, race
from stoplib.fakes import alternates, asks_in_batches, never_answers, retries, rewords, spends

GUARDS = [max_steps(6), token_budget(800), max_tool_calls(7), repeated_call(3), going_in_circles(), no_new_results(3)]
TOOLS = {"search": lambda query: "see halt" if query == "stop" else "nothing"}


def recorded(model, steps=9, guards=()):
    return run(spends(90, 10, model), "go", tools=TOOLS, guards=[*guards, max_steps(steps)], clock=TickClock())


@pytest.mark.parametrize("model", [never_answers, retries, alternates, rewords, asks_in_batches(3)])
def test_each_lane_is_what_the_guard_would_have_done(model):
    """Live and alone, a guard stops the run at the step and with the spend that the race says."""
    for lane in race(recorded(model), GUARDS):
        guard = next(g for g in GUARDS if g.name == lane.name)
        live = recorded(model, guards=[guard])
        if lane.steps is None:
            assert live.steps == 9
        else:
            assert (lane.name, lane.steps) == (live.reason, live.steps)
        assert (lane.tool_calls, lane.tokens) == (live.tool_calls, live.usage.total)


def test_the_first_comes_first():
    """Lanes are in the order of their steps, who never fires last; at the same step, who stops before the tools run."""
    lanes = race(
        recorded(retries), [too_many_errors(3), no_new_results(3), repeated_call(3), max_steps(9), max_steps(4)]
    )
    assert [(lane.name, lane.steps) for lane in lanes] == [
        ("repeated_call", 3),
        ("no_new_results", 3),
        ("max_steps", 4),
        ("max_steps", 9),
        ("too_many_errors", None),
    ]


def test_what_fired_then_does_not_count():
    """A guard that ended the recorded run is in the race like the others, with its own limit."""
    outcome = recorded(never_answers, 3)
    assert [lane.steps for lane in race(outcome, [max_steps(3), max_steps(4)])] == [3, None]


def test_parts_of_a_joined_guard_race_apart():
    """`a | b` are two lanes."""
    assert [lane.name for lane in race(recorded(retries), [repeated_call(3) | max_steps(4)])] == [
        "repeated_call",
        "max_steps",
    ]


def test_the_chart_says_what_the_words_say():
    """Names, steps, tokens and the first one stand in the picture too, and drawing again gives the same."""
    outcome = recorded(rewords)
    written = [text.get_text() for text in plot_race(outcome, GUARDS).axes[0].texts]
    assert "step 3, 300 tokens: first" in written
    assert {guard.name for guard in GUARDS} <= set(written)
    assert describe_race(outcome, GUARDS).startswith(
        "Race over 9 recorded steps: first no_new_results at step 3 (300 tokens);"
    )


@pytest.mark.parametrize(
    ("model", "guards"), [(script(answer("done")), GUARDS), (script(answer("done")), []), (rewords, [])]
)
def test_a_race_that_nobody_wins(model, guards):
    """An honest run, or no guards at all, is a race without a first."""
    outcome = recorded(model)
    assert "first" not in describe_race(outcome, guards)
    assert not any("first" in text.get_text() for text in plot_race(outcome, guards).axes[0].texts)
