"""Charts of a run: what they show is what the run did, and the words say the same."""

import io
import re
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from stoplib import (
    Reply,
    ToolCall,
    answer,
    batch,
    call,
    going_in_circles,
    max_steps,
    max_tool_calls,
    no_new_results,
    repeated_call,
    repeated_round,
    run,
    script,
    time_limit,
    token_budget,
)
from stoplib.course.charts import (
    Effect,
    describe_shares,
    describe_steps,
    plot_effects,
    plot_race,
    plot_shares,
    plot_spend,
    plot_steps,
    shares,
)
from stoplib.course.charts.drawing import BLUE, FAINT, FREE, INK, ON_DARK, ORANGE, PAPER, RUNNING, Label
from stoplib.course.charts.shares import SharesChart
from stoplib.course.charts.steps import MARKS, StepsChart
from stoplib.course.show import picture
from stoplib.drivers import moments
from stoplib.fakes import alternates, never_answers, retries, spends
from stoplib.guards.core import Function
from stoplib.outcome import Ending, outcome_of
from stoplib.state import NOT_RUN

TOOLS = {"look": lambda: "nothing", "fail": lambda: 1 / 0, "delete": lambda: "gone", "search": lambda query: "nothing"}


AT_MOST_TEN = (max_steps(10),)


def made_by(*replies, guards=AT_MOST_TEN):
    def model(messages):
        return script(*replies)(messages) if replies else never_answers(messages)

    return run(model, "go", tools=TOOLS, guards=guards, approve=lambda c: c.name != "delete", clock=lambda: 0)


def stopped_after(steps):
    return made_by(guards=[max_steps(steps)])


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


def test_a_step_has_a_number_and_a_mark():
    """Each step stands under its number, and the line of the end comes after the last."""
    figure = plot_steps(made_by(call("look"), call("fail"), answer("done")))
    assert [text for text in written(figure) if text.isdigit()] == ["1", "2", "3"]
    columns = [marks(figure)[shape][0][0] for shape in ("o", "X", "*")]
    assert columns == sorted(columns)
    (end,) = (line.get_xdata() for line in figure.axes[0].lines if line.get_marker() == "None")
    assert end[0] == end[1] > columns[-1]


def test_the_calls_of_a_batch_stand_under_each_other():
    """Three calls of one reply are three marks in one column, in their order."""
    figure = plot_steps(made_by(batch(call("look"), call("fail"), call("delete")), answer("done")))
    ok, error, declined = (marks(figure)[shape][0] for shape in ("o", "X", "s"))
    assert ok[0] == error[0] == declined[0]
    assert ok[1] < error[1] < declined[1]


def test_the_legend_names_and_counts_what_there_is():
    """The legend says in words what each mark means and how often it occurs; nothing else is in it."""
    figure = plot_steps(made_by(batch(call("look"), call("look"), call("fail")), call("look"), answer("done")))
    assert written(figure)[-4:] == ["ok: 2", "repeat: 1", "error: 1", "answer: 1"]


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


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colour", sorted({mark.colour for mark in MARKS.values()} | {INK, FAINT}))
def test_colours_can_be_read(colour):
    """On a light page and on a dark one each colour has a contrast of at least 4.5 to 1, enough for small text."""
    assert (luminance(PAPER) + 0.05) / (luminance(colour) + 0.05) >= 4.5
    assert (luminance(ON_DARK[colour]) + 0.05) / (luminance(ON_DARK[PAPER]) + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (stopped_after(3), "3 steps: ok × 3. The run stopped: max_steps, 3 of 3 steps used."),
        (stopped_after(0), "0 steps. The run stopped: max_steps, 0 of 0 steps used."),
        (made_by(answer("done")), "1 step: answer. The run ended: answered."),
        (
            made_by(batch(call("look"), call("look"), call("fail")), call("delete"), answer("done")),
            "3 steps: 2 ok + error, declined, answer. The run ended: answered.",
        ),
        (
            made_by(call("look"), call("look"), call("fail"), call("fail"), answer("done")),
            "5 steps: ok, repeat, error × 2, answer. The run ended: answered.",
        ),
        (
            made_by(call("look"), Reply("", (ToolCall("look"),), stop="max_tokens")),
            "2 steps: ok, not run. The run stopped: truncated, the API's stop reason is 'max_tokens'.",
        ),
        (
            made_by(Reply("so", stop="pause_turn"), Reply("no", stop="refusal")),
            "2 steps: reply without a tool call × 2. The run stopped: refused, the API's stop reason is 'refusal'.",
        ),
    ],
)
def test_the_words_say_what_the_strip_shows(outcome, words):
    """Steps in order, equal ones counted, then the end with its detail."""
    assert describe_steps(outcome) == words


def test_a_bar_is_as_long_as_its_share(boxes):
    """Each guard has a full bar behind and the used part of it in front; the one that fired is hatched."""
    guards = [max_steps(4), max_steps(8)]
    figure = plot_shares(made_by(guards=guards), guards)
    (left, top, right, low), (_, *second) = boxes(figure, FREE)
    assert boxes(figure, ORANGE, hatched=True) == [(left, top, right, low)]
    assert boxes(figure, BLUE) == [(left, second[0], (left + right) // 2, second[2])]


def test_a_limit_that_was_passed_shows_that(boxes):
    """What is far over the limit ends a little behind the line; the text has the number."""
    clock = iter((0, 0, 50_900)).__next__
    guards = [time_limit(50)]
    outcome = run(never_answers, "go", tools=TOOLS, guards=guards, clock=clock)
    figure = plot_shares(outcome, guards)
    ((left, _, limit, _),), ((_, _, end, _),) = boxes(figure, FREE), boxes(figure, ORANGE, hatched=True)
    assert limit < end < limit + 0.2 * (limit - left)
    assert "50,900 of 50 s, ended the run" in written(figure)


def test_a_limit_of_nothing_is_used_up(boxes):
    """0 of 0 is a full bar."""
    figure = plot_shares(stopped_after(0), [max_steps(0)])
    assert boxes(figure, FREE) == boxes(figure, ORANGE, hatched=True)


def test_the_limit_that_ended_the_run_is_marked_in_words():
    """Only the limit that fired is marked, and the picture says so."""
    guards = [time_limit(60), max_steps(4)]
    figure = plot_shares(made_by(guards=guards), guards)
    assert written(figure) == ["time_limit", "0 of 60 s", "max_steps", "4 of 4 steps, ended the run", "limit"]


def test_a_limit_that_was_reached_but_did_not_fire_is_not_marked():
    """The model answered in its last step: the bar is full, and it ended nothing."""
    guards = [max_steps(2)]
    outcome = made_by(call("look"), answer("done"), guards=guards)
    assert describe_shares(outcome, guards) == "Guards: max_steps 2 of 2 steps."


def test_in_a_tie_the_second_limit_is_marked_as_well():
    """Both fired at one look; the first gave the reason."""
    guards = [time_limit(0), max_steps(0)]
    words = describe_shares(made_by(guards=guards), guards)
    assert words == "Guards: time_limit 0 of 0 s, ended the run; max_steps 0 of 0 steps, fired as well."


def test_of_two_limits_of_a_kind_the_one_that_fired_is_marked():
    """Two guards share a name; what was reached tells them apart."""
    guards = [max_steps(8), max_steps(4)]
    words = describe_shares(made_by(guards=guards), guards)
    assert words == "Guards: max_steps 4 of 8 steps; max_steps 4 of 4 steps, ended the run."


def test_alternatives_are_limits_each():
    """`a | b` is two limits; a guard that measures nothing is none."""

    def never(run):
        return None

    guards = [max_steps(4) | time_limit(9), never]
    assert describe_shares(made_by(guards=guards), guards).count(";") == 1


def test_what_cannot_be_measured_is_left_out():
    """A guard set of functions alone has no bar, and the picture says so."""
    bounded = Function(lambda run: None)
    assert describe_shares(stopped_after(1), [bounded]) == "Guards: none that can be measured."
    assert written(plot_shares(stopped_after(1), [bounded])) == ["None of the guards can be measured."]


SEES = {"search": lambda query: f"see {query}"}


@pytest.mark.parametrize(
    ("model", "guard", "amounts"),
    [
        (retries, repeated_call(3), ["1 of 3", "2 of 3", "3 of 3"]),
        (alternates, repeated_call(2), ["1 of 2", "1 of 2", "2 of 2"]),
        (retries, repeated_round(), ["1 of 2", "2 of 2"]),
        (alternates, repeated_round(ever=True), ["1 of 2", "1 of 2", "2 of 2"]),
        (retries, going_in_circles(3), ["1 of 3", "2 of 3", "3 of 3"]),
        (alternates, going_in_circles(), ["1 of 2", "1 of 2", "1 of 2", "2 of 2"]),
        (retries, no_new_results(3), ["1 of 3", "2 of 3", "3 of 3"]),
        (alternates, no_new_results(2), ["1 of 2"] * 5),
    ],
)
def test_repetition_has_a_distance_too(model, guard, amounts):
    """Guards on repetition show how near they are after each step, and reach their limit when they fire."""
    guards = [guard, max_steps(5)]
    found = []
    for steps in range(1, 6):
        outcome = run(model, "go", tools=SEES, guards=[guard, max_steps(steps)], clock=lambda: 0)
        found.append(shares(outcome, guards)[0])
        if outcome.reason == guard.name:
            break
    assert [share.amount.rsplit(" ", len(share.unit.split()))[0] for share in found] == amounts
    assert [share.effect for share in found if share.used >= share.limit] == ["ended the run"] * (
        found[-1].used >= found[-1].limit
    )


@pytest.mark.parametrize(
    ("guard", "amount"),
    [
        (token_budget(350, hard=True), "300 of 350 tokens"),
        (max_tool_calls(4, gate="before_action"), "4 of 4 tool calls"),
    ],
)
def test_a_guard_that_looks_ahead_is_marked_before_its_limit(guard, amount):
    """A budget that refused the next call, and a quota that refused the batch, ended the run below their limits."""
    outcome = run(spends(90, 10), "go", tools=SEES, guards=[guard, max_steps(9)], clock=lambda: 0)
    (share,) = shares(outcome, [guard])
    assert (share.amount, share.effect) == (amount, "ended the run")


def test_a_run_that_goes_on():
    """An outcome that is none yet: what is asked for is hollow, no line ends it, and the words say that it goes on."""
    state, all_of_it = moments(script(call("look"), call("delete")), "go", tools=TOOLS, approve=lambda c: True)
    for moment in all_of_it:
        if moment.kind == "person" and state.steps == 2:
            break
    so_far = outcome_of(state, Ending(RUNNING), None)
    assert describe_steps(so_far) == "2 steps: ok, asked for. The run goes on."
    figure = plot_steps(so_far)
    assert written(figure)[-2:] == ["ok: 1", "asked for: 1"]
    assert [line for line in figure.axes[0].lines if line.get_marker() == "None"] == []
    assert not MARKS["asked"].filled


def test_columns_stay_where_they_are_while_there_is_room():
    """With room for twelve steps, the marks of one, five and twelve steps stand under the same numbers."""
    first = [marks(StepsChart().draw(stopped_after(steps), 12))["o"][0] for steps in (1, 5, 12)]
    assert first[0] == first[1] == first[2]
    assert marks(plot_steps(stopped_after(40)))["o"][0] != first[0]


LONG_NAME = max_steps(4) & time_limit(0)
CUT_OFF = Reply("", (ToolCall("look"),), stop="max_tokens")
FIVE_KINDS = (batch(call("look"), call("fail"), call("delete")), Reply("so", stop="pause_turn"), CUT_OFF)


@pytest.mark.parametrize(
    "figure",
    [
        plot_steps(stopped_after(1)),
        plot_steps(stopped_after(20)),
        plot_steps(stopped_after(300)),
        plot_steps(made_by(guards=[LONG_NAME, max_steps(50)])),
        plot_steps(made_by(*FIVE_KINDS)),
        plot_steps(made_by(batch(*[call("look")] * 6), answer("done"))),
        plot_shares(stopped_after(50), [max_steps(50), time_limit(86_400), max_steps(1_000_000)]),
        plot_spend([0.25] * 3, 0.5, "money"),
        plot_spend([1_234_567] * 60, 1_000_000),
        plot_race(stopped_after(40), [max_steps(20), going_in_circles(), time_limit(86_400)]),
        plot_effects([Effect("failures stopped", 123_456_789, 987_654_321, "failed runs")]),
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
    many, one = made_by(guards=[max_steps(9)]), made_by(batch(call("look"), call("fail")), answer("done"))
    steps, bars = StepsChart(), SharesChart()
    first = steps.draw(many)
    bars.draw(shares(many, [max_steps(9)]))
    assert steps.draw(one) is first
    assert picture(steps.figure, "") == picture(plot_steps(one), "")
    assert picture(bars.draw(shares(one, guards)), "") == picture(plot_shares(one, guards), "")


def places(svg):
    """Each text of an SVG as (words, x, y, its alignment), to half a pixel."""
    texts = ElementTree.fromstring(svg).iter("text")
    moved = [(text, re.search(r"text-anchor: (\w+)", text.get("style"))) for text in texts]
    return [
        (text.text, round(2 * float(text.get("x"))) / 2, round(2 * float(text.get("y"))) / 2, align and align[1])
        for text, align in moved
    ]


@pytest.mark.parametrize("ha", ["left", "center", "right"])
def test_a_label_stands_where_a_text_would(ha):
    """The quick way into SVG puts a text where matplotlib's own puts it, to a pixel."""
    found = []
    for kind in (Label, Text):
        figure = Figure(figsize=(4, 1))
        figure.add_artist(kind(0.5, 0.5, "12,345", va="center", ha=ha, fontsize=10, color=INK, family="sans-serif"))
        found += places(picture(figure, "a number"))
    (words, x, y, align), (own_words, own_x, own_y, own_align) = found
    assert (words, x, align) == (own_words, own_x, own_align)
    assert abs(y - own_y) <= 1


def test_a_label_in_a_png_is_a_text():
    """Elsewhere a label is drawn like any text."""
    found = []
    for kind in (Label, Text):
        figure, png = Figure(figsize=(4, 1)), io.BytesIO()
        figure.add_artist(kind(0.5, 0.5, "12,345", va="center", ha="right", fontsize=10))
        figure.savefig(png, format="png")
        found.append(png.getvalue())
    assert found[0] == found[1]


def test_calls_that_were_not_run_are_hollow():
    """A call that the end of the run forestalled is a ring, while one that ran is a dot."""
    assert not MARKS[NOT_RUN].filled
    figure = plot_steps(made_by(call("look"), Reply("", (ToolCall("look"),), stop="max_tokens")))
    assert written(figure)[-2:] == ["ok: 1", "not run: 1"]
