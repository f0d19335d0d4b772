"""The chart of what a run spends: bars that follow each other, the budget, what is over it, and the same in words."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from stoplib import Usage, answer, call, run, script
from stoplib.course.charts import describe_spend, plot_spend
from stoplib.course.charts.drawing import BLUE, FREE, ORANGE, every
from stoplib.course.charts.spend import SpendChart
from stoplib.course.show import picture


@pytest.fixture
def pieces(boxes):
    """A function: the columns of one colour, as (lower end, upper end) above the ground, to a pixel."""

    def found(figure, colour, hatched=False):
        ground = SpendChart.BOTTOM
        return [(ground - low, ground - high) for _, high, _, low in boxes(figure, colour, hatched)]

    return found


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_a_step_begins_where_the_one_before_it_ended(pieces):
    """Each column begins at the height where the last one ended, above what had been spent, in pale."""
    figure = plot_spend([100, 200, 300])
    (first, second, third), before = pieces(figure, BLUE), pieces(figure, FREE)
    assert (first[1], second[1]) == (second[0], third[0])
    assert before == [(0, second[0]), (0, third[0])]
    assert first[0] == 0


def test_the_columns_are_as_high_as_the_costs(pieces):
    """Twice the cost is twice the height."""
    (first, second) = pieces(plot_spend([100, 200]), BLUE)
    assert second[1] - second[0] == pytest.approx(2 * (first[1] - first[0]), abs=2)


def test_what_is_over_the_budget_is_hatched(pieces):
    """The overshoot begins at the line of the budget; it differs by its hatching, not by its colour alone."""
    figure = plot_spend([30_500, 20_400], 50_000)
    (line,) = figure.axes[0].lines
    ((start, end),) = pieces(figure, ORANGE, hatched=True)
    assert start == round(SpendChart.BOTTOM - line.get_ydata()[0]) < end


def test_a_step_wholly_over_the_budget_is_hatched_whole(pieces):
    """After the budget has been passed nothing more is drawn as within it."""
    figure = plot_spend([60, 60, 60], 100)
    assert len(pieces(figure, BLUE)) == 2
    assert len(pieces(figure, ORANGE, hatched=True)) == 2


@pytest.mark.parametrize(("costs", "budget"), [([], None), ([], 10), ([0], 0), ([5], None), ([5], 5), ([1] * 200, 50)])
def test_odd_cases_are_pictures_too(costs, budget):
    """No steps, a cost of nothing, a budget of nothing, very many steps: each can be drawn and said."""
    figure = plot_spend(costs, budget)
    FigureCanvasAgg(figure).draw()
    assert picture(figure, describe_spend(costs, budget)).startswith("<svg")


def test_the_picture_says_the_numbers():
    """Each step's cost, the spend after it, the budget and the overshoot stand in the picture as text."""
    text = written(plot_spend([30_500, 20_400], 50_000))
    for said in ("1", "2", "30,500", "20,400", "50,900", "budget 50,000"):
        assert said in text
    assert "In tokens. The budget of 50,000 is passed by step 2: 900 over." in text


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
    assert "In dollars." in written(plot_spend([0.5], unit="dollars"))


def test_an_outcome_is_its_tokens():
    """Of a run, what each step cost is the tokens that its reply reports."""
    model = script(call("look", usage=Usage(90, 10)), answer("done", usage=Usage(200, 20)))
    outcome = run(model, "go", tools={"look": lambda: "nothing"})
    assert describe_spend(outcome, 400) == describe_spend([100, 220], 400)
    assert written(plot_spend(outcome, 400)) == written(plot_spend([100, 220], 400))


@pytest.mark.parametrize(
    ("steps", "column", "labels"),
    [(3, 40, [1, 2, 3]), (5, 39, [2, 4]), (12, 10, [1, 5, 10]), (4, 20, [2, 4]), (0, 40, []), (1, 5, [1])],
)
def test_labels_are_as_many_as_there_is_room_for(steps, column, labels):
    """Labels 40 pixels wide do not run into each other, however narrow the columns are."""
    assert list(every(steps, 40, column)) == labels
