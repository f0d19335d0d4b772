"""Exercise 10: its scenarios are what they say, and each guard of a right set is needed."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from stoplib import (
    cancelled,
    going_in_circles,
    max_steps,
    max_tool_calls,
    no_new_results,
    repeated_call,
    time_limit,
    token_budget,
    too_many_errors,
    too_many_refusals,
    tool,
)
from stoplib.course.checks import ChecksFailed
from stoplib.course.exercises import the_guard_set as exercise

SOURCE = Path(__file__).parents[2] / "lessons" / "exercises" / "10_the_guard_set.py"


def sending(run):
    return "a message" if any(call.name == "send" for call in run.batch) else None


def a_right_set(tools, stop):
    declared = tools | {
        "status": tool(poll=16)(tools["status"]),
        "feed": tool(volatile=("at",))(tools["feed"]),
    }
    guards = [
        cancelled(stop),
        too_many_errors(3),
        too_many_refusals(3),
        repeated_call(2) & sending,
        going_in_circles(times=3),
        no_new_results(4),
        max_tool_calls(60),
        token_budget(100_000, hard=True),
        time_limit(300, working=True),
        max_steps(40),
    ]
    return declared, guards


def without(place):
    """A right set with one guard taken out, and a bound that is out of reach."""

    def guard_set(tools, stop):
        declared, guards = a_right_set(tools, stop)
        return declared, [*guards[:place], *guards[place + 1 :], max_steps(140)]

    return guard_set


def wrong(guard_set):
    """The scenarios on which the set is not right."""
    return [s.name for s in exercise.SCENARIOS if not exercise._verdict(guard_set, s).ok]


def test_a_right_set_is_right_on_all():
    """Sixteen scenarios, and a set that is right on each."""
    assert len(exercise.SCENARIOS) == 16
    assert wrong(a_right_set) == []


@pytest.mark.parametrize("place", range(10))
def test_every_guard_is_needed(place):
    """Without any one of its guards the set is wrong on one or two scenarios, and right on the rest."""
    assert 1 <= len(wrong(without(place))) <= 2


@pytest.mark.parametrize(
    ("guard", "stops"),
    [
        (max_steps(28), True),
        (max_steps(29), False),
        (max_tool_calls(40), True),  # a quota that is used up allows no further call, not even the one that answers
        (max_tool_calls(41), False),
        (token_budget(49_900, hard=True), True),
        (token_budget(50_100, hard=True), False),
        (time_limit(200, working=True), True),  # nor does a time that is up
        (time_limit(200.5, working=True), False),
    ],
    ids=repr,
)
def test_honest_runs_go_as_far_as_the_text_says(guard, stops):
    """A limit below what the text promises to honest runs stops one of them; one that keeps the promise does not."""

    def guard_set(tools, stop):
        declared, _ = a_right_set(tools, stop)
        return declared, [guard, max_steps(140)]

    honest = {scenario.name for scenario in exercise.SCENARIOS if not scenario.reasons}
    assert bool(honest & set(wrong(guard_set))) is stops


@pytest.mark.parametrize("name", ["status", "feed"])
def test_every_declaration_is_needed(name):
    """Without what a tool declares the set is wrong somewhere."""

    def guard_set(tools, stop):
        declared, guards = a_right_set(tools, stop)
        return declared | {name: tools[name]}, guards

    assert len(wrong(guard_set)) == 1


def test_without_guards_only_honest_runs_end():
    """Nothing but a bound out of reach: the honest runs end by themselves, and no runaway does."""
    honest = [scenario.name for scenario in exercise.SCENARIOS if not scenario.reasons]
    loose = wrong(lambda tools, stop: (tools, [max_steps(10_000)]))
    assert [s.name for s in exercise.SCENARIOS if s.name not in loose] == honest


def test_the_score():
    """The score names what is wrong and what happened there, and never raises."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exercise.score(a_right_set)
        exercise.score(without(0))
        exercise.score(lambda tools, stop: None)
    said = printed.getvalue()
    assert said.startswith("right on 16 of 16\nright on 15 of 16: these are not, and this is what happened\n")
    assert "- a person says stop\n" in said
    assert "right on 0 of 16" in said


def test_the_score_says_the_same_thing_once():
    """A set that fails in the same way everywhere is told so once, not sixteen times."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exercise.score(lambda tools, stop: None)
    assert printed.getvalue().count("not two things") == 1
    assert printed.getvalue().count("    (the same)\n") == 15


@pytest.mark.parametrize(
    ("scenario", "guard", "hint"),
    [
        ("the search is broken", None, "Which guard counts failures in a row?"),
        ("the search is broken", no_new_results(3), "which one should be read?"),
        ("the search is broken", too_many_errors(9), "the right guard stopped it, but late"),
        ("a person declines everything", None, "Which guard counts that?"),
        ("a person declines everything", no_new_results(3), "which should the caller read?"),
        ("a person declines everything", too_many_refusals(9), "the right guard stopped it, but late"),
        ("each call sends everything again, and the results are long", None, "Which guard counts its tokens?"),
        ("each call sends everything again, and the results are long", token_budget(99_999), "Which kind looks ahead?"),
        (
            "each call sends everything again, and the results are long",
            token_budget(200_000, hard=True),
            "the right guard stopped it, but late",
        ),
        ("new words each time, and never a match", None, "no request comes back here"),
        ("new words each time, and never a match", no_new_results(9), "the right guard stopped it, but late"),
        ("it asks for many things in each reply", max_tool_calls(90), "the right guard stopped it, but late"),
        ("it looks for ever, and finds something new each time", lambda run: "new", "What did your guard take"),
    ],
)
def test_the_hint_fits_what_stopped_the_run(scenario, guard, hint):
    """Nothing but a limit, another guard, or the right one too late: three different things to ask."""

    def guard_set(tools, stop):
        return tools, [*([guard] if guard else []), max_steps(140)]

    (asked,) = [s for s in exercise.SCENARIOS if s.name == scenario]
    assert hint in exercise._verdict(guard_set, asked).hint


def test_a_set_that_prints_without_end():
    """A guard that prints at every look does not flood the notebook."""

    def chatty(run):
        for n in range(100):
            print("looking", n)

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(ChecksFailed):
        exercise.check_stuck(lambda tools, stop: (tools, [chatty, max_steps(40)]))
    assert printed.getvalue().count("\n") < 120


def test_the_text_says_what_is_checked():
    """The numbers of the task are those of the checks, and its table has a row for each runaway."""
    text = SOURCE.read_text(encoding="utf-8")
    assert f"at most {exercise.MOST_STEPS} model calls" in text
    assert f"at most {exercise.MOST_TOKENS:,} tokens" in text
    assert f"after {exercise.MOST_SECONDS} seconds or later" in text
    assert f"at most {exercise.MOST_TOOL_CALLS} tool calls" in text
    assert f"at most {exercise.MOST_QUESTIONS} questions" in text
    assert "A million tokens cost {input} as input and {output} as output".format_map(exercise.PRICES) in text
    rows = re.findall(r"^# \| (it |each |every |new |the |a ).*\| .* \| .* \|$", text, flags=re.MULTILINE)
    assert len(rows) == sum(bool(scenario.reasons) for scenario in exercise.SCENARIOS)
