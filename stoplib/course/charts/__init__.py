"""Charts of a run, and the same facts in words: pure functions from an outcome to a figure.

    chart         words             shows
    plot_steps    describe_steps    what came of each tool call, step by step
    plot_spend    describe_spend    what each step cost, and all of them, against a budget
    plot_shares   describe_shares   how far each guard was from firing
    plot_race     describe_race     where each guard alone would have stopped the run
    plot_effects  describe_effects  what guards would have done to many recorded runs

    >>> from stoplib import max_steps, run
    >>> from stoplib.fakes import never_answers
    >>> outcome = run(never_answers, "go", tools={"search": lambda query: "nothing"}, guards=[max_steps(4)])
    >>> figure = plot_steps(outcome)
    >>> describe_steps(outcome)
    '4 steps: ok × 4. The run stopped: max_steps, 4 of 4 steps used.'

The words are a chart's alternative text, and stand in for it where there are no pictures.
"""

from stoplib.course.charts.effects import Effect, describe_effects, effects, plot_effects
from stoplib.course.charts.race import Lane, describe_race, plot_race, race
from stoplib.course.charts.shares import Share, describe_shares, plot_shares, shares
from stoplib.course.charts.spend import describe_spend, plot_spend
from stoplib.course.charts.steps import describe_steps, plot_steps

__all__ = [
    "Effect",
    "Lane",
    "Share",
    "describe_effects",
    "describe_race",
    "describe_shares",
    "describe_spend",
    "describe_steps",
    "effects",
    "plot_effects",
    "plot_race",
    "plot_shares",
    "plot_spend",
    "plot_steps",
    "race",
    "shares",
]
