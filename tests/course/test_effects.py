"""What guards would have done to recorded runs: what is counted as stopped, lost and saved."""

import pytest

from stoplib import Usage, answer, call, max_steps, run, script
from stoplib.course.charts import describe_effects, effects, plot_effects
from stoplib.course.charts.drawing import BLUE, FREE, ORANGE
from stoplib.course.population import Recorded

SPENT = Usage(90, 10)


def recorded(rounds, success):
    """A run of so many rounds and an answer, at 100 tokens a step."""
    model = script(*[call("look", n=n, usage=SPENT) for n in range(rounds)], answer("done", usage=SPENT))
    outcome = run(model, "go", tools={"look": lambda n: f"page {n}"}, guards=[max_steps(50)])
    return Recorded(outcome, success)


RUNS = [recorded(2, True), recorded(4, True), recorded(9, False), recorded(1, False)]


@pytest.mark.parametrize(
    ("limit", "stopped", "lost", "steps"),
    [(1, 2, 2, 10), (2, 1, 2, 8), (3, 1, 1, 7), (4, 1, 1, 6), (5, 1, 0, 5), (9, 1, 0, 1), (10, 0, 0, 0)],
)
def test_what_is_counted(limit, stopped, lost, steps):
    """A failed run that is cut is stopped, a success that is cut is lost; what the failed ones spent later is saved."""
    parts = [effect.part for effect in effects(RUNS, [max_steps(limit)])]
    assert parts == [stopped, lost, steps, 100 * steps]


def test_the_wholes():
    """Each part is one of its own kind: failed runs, successes, all steps, all tokens."""
    assert [effect.whole for effect in effects(RUNS, [max_steps(3)])] == [2, 2, 20, 2000]


def test_without_guards_nothing_is_cut():
    """No guard, no effect; and no runs are no reason to divide by nothing."""
    assert [effect.percent for effect in effects(RUNS, [])] == [0, 0, 0, 0]
    assert [effect.percent for effect in effects([], [max_steps(3)])] == [0, 0, 0, 0]


def test_the_picture_and_the_words_say_the_numbers(boxes):
    """Names and numbers stand in both, and harm is hatched as well as coloured."""
    found = effects(RUNS, [max_steps(3)])
    figure = plot_effects(found)
    written = [text.get_text() for text in figure.axes[0].texts]
    assert {"failures stopped", "1 of 2 (50.0 %)", "steps saved", "7 of 20 (35.0 %)"} <= set(written)
    (left, _, right, _), *_ = boxes(figure, FREE)
    half = (left + right) // 2
    assert [end for _, _, end, _ in boxes(figure, ORANGE, hatched=True)] == [half]
    assert [end for _, _, end, _ in boxes(figure, BLUE)][0] == half
    assert describe_effects(found) == (
        "failures stopped: 1 of 2 failed runs (50.0 %); successes lost: 1 of 2 successful runs (50.0 %);"
        " steps saved: 7 of 20 steps (35.0 %); tokens saved: 700 of 2,000 tokens (35.0 %)."
    )
