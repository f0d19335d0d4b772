"""Charts of a run: what they show is what the run did, and the words say the same."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from stoplib import Reply, ToolCall, answer, batch, call, max_steps, run, script, time_limit
from stoplib.course import charts
from stoplib.course.charts import (
    MARKS,
    LimitsChart,
    StepsChart,
    describe_limits,
    describe_steps,
    plot_limits,
    plot_steps,
)
from stoplib.course.show import picture
from stoplib.fakes import never_answers
from stoplib.guards.core import Function
from stoplib.state import NOT_RUN

TOOLS = {"look": lambda: "nothing", "fail": lambda: 1 / 0, "delete": lambda: "gone", "search": lambda query: "nothing"}


AT_MOST_TEN = (max_steps(10),)


def outcome_of(*replies, guards=AT_MOST_TEN):
    def model(messages):
        return script(*replies)(messages) if replies else never_answers(messages)

    return run(model, "go", tools=TOOLS, guards=guards, approve=lambda c: c.name != "delete", clock=lambda: 0)


def stopped_after(steps):
    return outcome_of(guards=[max_steps(steps)])


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def marks(figure):
    """The places of each kind of mark, by its shape, first those of the run and then the one of the legend."""
    dots = [line for line in figure.axes[0].lines if line.get_marker() != "None"]
    shapes = {line.get_marker() for line in dots}
    return {
        shape: [place for line in dots if line.get_marker() == shape for place in line.get_xydata().tolist()]
        for shape in shapes
    }


def bars(figure):
    return [patch.get_width() for patch in figure.axes[0].patches]


def test_a_step_has_a_number_and_a_mark():
    """Each step stands under its number, and the line of the end comes after the last."""
    figure = plot_steps(outcome_of(call("look"), call("fail"), answer("done")))
    assert [text for text in written(figure) if text.isdigit()] == ["1", "2", "3"]
    columns = [marks(figure)[shape][0][0] for shape in ("o", "X", "*")]
    assert columns == sorted(columns)
    (end,) = (line.get_xdata() for line in figure.axes[0].lines if line.get_marker() == "None")
    assert end[0] == end[1] > columns[-1]


def test_the_calls_of_a_batch_stand_under_each_other():
    """Three calls of one reply are three marks in one column, in their order."""
    figure = plot_steps(outcome_of(batch(call("look"), call("fail"), call("delete")), answer("done")))
    ok, error, declined = (marks(figure)[shape][0] for shape in ("o", "X", "s"))
    assert ok[0] == error[0] == declined[0]
    assert ok[1] < error[1] < declined[1]


def test_the_legend_names_and_counts_what_there_is():
    """The legend says in words what each mark means and how often it occurs; nothing else is in it."""
    figure = plot_steps(outcome_of(batch(call("look"), call("look"), call("fail")), answer("done")))
    assert written(figure)[-3:] == ["ok: 2", "error: 1", "answer: 1"]


def test_the_reason_is_in_the_picture():
    """The picture says in words why the run ended."""
    assert "max_steps" in written(plot_steps(stopped_after(3)))


def test_a_run_without_a_step_is_a_picture_too():
    """A budget of nothing: no mark, and the reason."""
    figure = plot_steps(stopped_after(0))
    assert written(figure) == ["step", "max_steps"]


def test_no_two_kinds_look_alike():
    """Kinds differ in shape or filling, not in colour alone."""
    assert len({(mark.shape, mark.filled) for mark in MARKS.values()}) == len(MARKS)


@pytest.mark.parametrize("colour", sorted({mark.colour for mark in MARKS.values()} | {charts.INK, charts.FAINT}))
def test_colours_can_be_read_on_white(colour):
    """Each colour has a contrast of at least 4.5 to 1, which is enough for small text."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    assert 1.05 / (luminance + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (stopped_after(3), "3 steps: ok × 3. The run stopped: max_steps, 3 of 3 steps used."),
        (stopped_after(0), "0 steps. The run stopped: max_steps, 0 of 0 steps used."),
        (outcome_of(answer("done")), "1 step: answer. The run ended: answered."),
        (
            outcome_of(batch(call("look"), call("look"), call("fail")), call("delete"), answer("done")),
            "3 steps: 2 ok + error, declined, answer. The run ended: answered.",
        ),
        (
            outcome_of(call("look"), Reply("", (ToolCall("look"),), stop="max_tokens")),
            "2 steps: ok, not run. The run stopped: truncated, the API's stop reason is 'max_tokens'.",
        ),
        (
            outcome_of(Reply("so", stop="pause_turn"), Reply("no", stop="refusal")),
            "2 steps: reply without a tool call × 2. The run stopped: refused, the API's stop reason is 'refusal'.",
        ),
    ],
)
def test_the_words_say_what_the_strip_shows(outcome, words):
    """Steps in order, equal ones counted, then the end with its detail."""
    assert describe_steps(outcome) == words


def test_a_bar_is_as_long_as_its_share():
    """Each limit has a full bar behind and the used part of it in front."""
    guards = [max_steps(4), max_steps(8)]
    full, all_of_it, again, half = bars(plot_limits(outcome_of(guards=guards), guards))
    assert (all_of_it, half) == (full, again / 2)


def test_a_limit_that_was_passed_shows_that():
    """What is far over the limit ends a little behind the line; the text has the number."""
    clock = iter((0, 0, 50_900)).__next__
    guards = [time_limit(50)]
    outcome = run(never_answers, "go", tools=TOOLS, guards=guards, clock=clock)
    full, used = bars(plot_limits(outcome, guards))
    assert full < used < 1.2 * full
    assert "50,900 of 50 s" in written(plot_limits(outcome, guards))


def test_a_limit_of_nothing_is_used_up():
    """0 of 0 is a full bar."""
    full, used = bars(plot_limits(stopped_after(0), [max_steps(0)]))
    assert full == used


def test_the_limit_that_ended_the_run_is_marked_in_words():
    """Only the limit that fired is marked, and hatched as well as coloured."""
    guards = [time_limit(60), max_steps(4)]
    figure = plot_limits(outcome_of(guards=guards), guards)
    assert written(figure) == ["time_limit", "0 of 60 s", "max_steps", "4 of 4 steps", "ended the run", "limit"]
    assert [bool(patch.get_hatch()) for patch in figure.axes[0].patches] == [False, False, False, True]


def test_a_limit_that_was_reached_but_did_not_fire_is_not_marked():
    """The model answered in its last step: the bar is full, and it ended nothing."""
    guards = [max_steps(2)]
    outcome = outcome_of(call("look"), answer("done"), guards=guards)
    assert describe_limits(outcome, guards) == "Limits: max_steps 2 of 2 steps."


def test_in_a_tie_the_second_limit_is_marked_as_well():
    """Both fired at one look; the first gave the reason."""
    guards = [time_limit(0), max_steps(0)]
    words = describe_limits(outcome_of(guards=guards), guards)
    assert words == "Limits: time_limit 0 of 0 s, ended the run; max_steps 0 of 0 steps, fired as well."


def test_of_two_limits_of_a_kind_the_one_that_fired_is_marked():
    """Two guards share a name; what was reached tells them apart."""
    guards = [max_steps(8), max_steps(4)]
    words = describe_limits(outcome_of(guards=guards), guards)
    assert words == "Limits: max_steps 4 of 8 steps; max_steps 4 of 4 steps, ended the run."


def test_alternatives_are_limits_each():
    """`a | b` is two limits; a guard that measures nothing is none."""

    def never(run):
        return None

    guards = [max_steps(4) | time_limit(9), never]
    assert describe_limits(outcome_of(guards=guards), guards).count(";") == 1


def test_without_limits_the_picture_says_so():
    """A guard set of functions alone has no bar."""
    bounded = Function(lambda run: None)
    assert describe_limits(stopped_after(1), [bounded]) == "Limits: none."
    assert written(plot_limits(stopped_after(1), [bounded])) == ["There are no limits among the guards."]


LONG_NAME = max_steps(4) & time_limit(0)
CUT_OFF = Reply("", (ToolCall("look"),), stop="max_tokens")
FIVE_KINDS = (batch(call("look"), call("fail"), call("delete")), Reply("so", stop="pause_turn"), CUT_OFF)


@pytest.mark.parametrize(
    "figure",
    [
        plot_steps(stopped_after(1)),
        plot_steps(stopped_after(20)),
        plot_steps(stopped_after(300)),
        plot_steps(outcome_of(guards=[LONG_NAME, max_steps(50)])),
        plot_steps(outcome_of(*FIVE_KINDS)),
        plot_steps(outcome_of(batch(*[call("look")] * 6), answer("done"))),
        plot_limits(stopped_after(50), [max_steps(50), time_limit(86_400), max_steps(1_000_000)]),
    ],
)
def test_nothing_is_cut_off(figure):
    """Every text and every mark lies inside the picture."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    page = figure.bbox
    for artist in (*figure.axes[0].texts, *figure.axes[0].lines):
        box = artist.get_window_extent(renderer)
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, artist
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, artist


def test_a_kept_chart_draws_what_a_new_one_would():
    """Nothing of the last run is left over in the picture of the next, and the figure is the same one."""
    guards = [max_steps(4), time_limit(9)]
    many, one = outcome_of(guards=[max_steps(9)]), outcome_of(batch(call("look"), call("fail")), answer("done"))
    steps, limits = StepsChart(), LimitsChart()
    first = steps.draw(many)
    limits.draw(many, [max_steps(9)])
    assert steps.draw(one) is first
    assert picture(steps.figure, "") == picture(plot_steps(one), "")
    assert picture(limits.draw(one, guards), "") == picture(plot_limits(one, guards), "")


def test_calls_that_were_not_run_are_hollow():
    """A call that the end of the run forestalled is a ring, while one that ran is a dot."""
    assert not MARKS[NOT_RUN].filled
    figure = plot_steps(outcome_of(call("look"), Reply("", (ToolCall("look"),), stop="max_tokens")))
    assert written(figure)[-2:] == ["ok: 1", "not run: 1"]
