"""The chart of what a run spends: bars that follow each other, the budget, what is over it, and the same in words."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from stoplib.course.charts import BLUE, FREE, ORANGE
from stoplib.course.show import picture
from stoplib.course.spend import describe_spend, plot_spend


def colour_of(patch):
    red, green, blue, _ = patch.get_facecolor()
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def pieces(figure, colour):
    """The bars of one colour, as (start, end), to a pixel."""
    found = [patch for patch in figure.axes[0].patches if colour_of(patch) == colour and patch.get_width()]
    return [(round(p.get_x()), round(p.get_x() + p.get_width())) for p in found]


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_a_step_begins_where_the_one_before_it_ended():
    """The bars lie end to end, and before each stands in pale what had been spent."""
    figure = plot_spend([100, 200, 300])
    (first, second, third), before = pieces(figure, BLUE), pieces(figure, FREE)
    assert (first[1], second[1]) == (second[0], third[0])
    assert before == [(first[0], second[0]), (first[0], third[0])]


def test_the_bars_are_as_long_as_the_costs():
    """Twice the cost is twice the length."""
    (first, second) = pieces(plot_spend([100, 200]), BLUE)
    assert second[1] - second[0] == pytest.approx(2 * (first[1] - first[0]), abs=2)


def test_what_is_over_the_budget_is_hatched():
    """The overshoot begins at the line of the budget; it differs by its hatching, not by its colour alone."""
    figure = plot_spend([30_500, 20_400], 50_000)
    (line,) = figure.axes[0].lines
    ((start, end),) = pieces(figure, ORANGE)
    assert start == round(line.get_xdata()[0]) < end
    assert [patch.get_hatch() for patch in figure.axes[0].patches if colour_of(patch) == ORANGE] == ["///"]


def test_a_step_wholly_over_the_budget_is_hatched_whole():
    """After the budget has been passed nothing more is drawn as within it."""
    figure = plot_spend([60, 60, 60], 100)
    assert len(pieces(figure, BLUE)) == 2
    assert len(pieces(figure, ORANGE)) == 2


@pytest.mark.parametrize(("costs", "budget"), [([], None), ([], 10), ([0], 0), ([5], None), ([5], 5), ([1] * 200, 50)])
def test_odd_cases_are_pictures_too(costs, budget):
    """No steps, a cost of nothing, a budget of nothing, very many steps: each can be drawn and said."""
    figure = plot_spend(costs, budget)
    FigureCanvasAgg(figure).draw()
    assert picture(figure, describe_spend(costs, budget)).startswith("<img")


def test_the_picture_says_the_numbers():
    """Each step's cost, the spend after it, the budget and the overshoot stand in the picture as text."""
    text = written(plot_spend([30_500, 20_400], 50_000))
    for said in ("step 1", "step 2", "30,500", "20,400", "50,900", "budget 50,000", "tokens, this step"):
        assert said in text
    assert "The budget of 50,000 is passed by step 2: 900 over." in text


@pytest.mark.parametrize(
    ("costs", "budget", "words"),
    [
        ([], None, "0 steps, in tokens: 0 in all."),
        ([5], None, "1 step, in tokens: 5 in all."),
        ([5, 5], 10, "2 steps, in tokens: 5 + 5 = 10 in all. The budget of 10 is not passed: 0 left."),
        ([5, 5, 5], 9, "3 steps, in tokens: 5 + 5 + 5 = 15 in all. The budget of 9 is passed by step 2: 6 over."),
    ],
)
def test_the_words(costs, budget, words):
    """The words give every step, the sum, and how it stands to the budget."""
    assert describe_spend(costs, budget) == words


def test_the_unit_can_be_another():
    """Characters or money are said as such."""
    assert describe_spend([0.5, 0.25], 0.6, "dollars").startswith("2 steps, in dollars: 0.5 + 0.25 = 0.75 in all.")
    assert "dollars, this step" in written(plot_spend([0.5], unit="dollars"))
