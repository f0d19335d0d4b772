"""Showing things: every widget and every picture has a text of its own."""

import re
import sys
from xml.etree import ElementTree

import ipywidgets
import pytest
from matplotlib.figure import Figure

from stoplib.course import show as showing
from stoplib.course.charts.drawing import INK, ON_DARK, PAPER, Chart
from stoplib.course.show import picture, safely, show, show_picture

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def displayed(monkeypatch):
    """What a notebook is given to display, as if there were one."""
    bundles = []
    monkeypatch.setattr(showing.InteractiveShell, "initialized", lambda: True)
    monkeypatch.setattr(showing, "display", lambda bundle, raw: bundles.append(bundle))
    return bundles


def test_a_widget_is_shown_with_our_text(displayed):
    """A notebook gets the widget and, as its plain form, the text that was given."""
    widget = ipywidgets.HTML("3 steps")
    show(widget, "three steps")
    assert displayed[0]["text/plain"] == "three steps"
    assert displayed[0][VIEW]["model_id"] == widget.model_id


def test_without_a_widget_a_notebook_gets_the_text(displayed):
    """Where there is no widget the text is displayed like the widget's own, so that outputs compare equal."""
    show(None, "three steps")
    assert displayed == [{"text/plain": "three steps"}]


def test_without_a_notebook_the_text_is_printed(capsys):
    """In plain Python a widget is its text."""
    show(ipywidgets.HTML("3 steps"), "three steps")
    assert capsys.readouterr().out == "three steps\n"


def test_a_picture_is_shown_with_its_words(displayed):
    """A chart's words are its alternative text and its plain form."""
    show_picture(Figure(), "a bar at 3 of 4")
    assert displayed[0]["text/plain"] == "a bar at 3 of 4"
    assert VIEW in displayed[0]


def test_without_ipywidgets_a_picture_is_its_words(displayed, monkeypatch):
    """Where ipywidgets is missing the words stand in for the chart."""
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    show_picture(Figure(), "a bar at 3 of 4")
    assert displayed == [{"text/plain": "a bar at 3 of 4"}]


def test_a_picture_is_an_image_with_alternative_text():
    """The image is drawn in place, never wider than the page, and its text is escaped."""
    html = picture(Figure(figsize=(9, 1), dpi=200), 'used < "limit"')
    assert html.startswith('<svg class="stop-chart" role="img" aria-label="used &lt; &quot;limit&quot;"')
    assert "width: 900px; max-width: 100%" in html
    ElementTree.fromstring(html)


def test_words_in_a_picture_are_text():
    """What is written in a figure stays text, whatever it is, and notes of the drawing program are gone."""
    figure = Figure()
    figure.text(0.5, 0.5, "a --> <b> & c", parse_math=False)
    html = picture(figure, "some words")
    assert [text.text for text in ElementTree.fromstring(html).iter("text")] == ["a --> <b> & c"]
    assert "<!--" not in html


def test_our_charts_follow_a_dark_page():
    """Each colour of our charts is a variable with the light one as its usual value; other figures stay as they are."""
    ours, other = Chart(), Figure(facecolor=PAPER)
    ours.clear(50)
    ours.write(1, 1, "ink")
    html = picture(ours.figure, "ink")
    assert f"fill: var(--stop-{INK[1:]}, {INK})" in html
    assert f"--stop-{INK[1:]}: {ON_DARK[INK]}" in html
    assert "var(--" not in picture(other, "no chart of ours")


def test_two_pictures_share_no_ids():
    """What one picture refers to is its own, so that it stays when another one goes."""
    ids = []
    for words in ("one", "two"):
        figure = Figure()
        figure.add_axes((0, 0, 1, 1)).bar([1], [1], hatch="//")
        ids.append(set(re.findall(' id="([^"]+)"', picture(figure, words))))
    assert ids[0] and ids[1] and not ids[0] & ids[1]


def test_a_picture_is_the_same_every_time():
    """Equal figures give equal bytes."""
    assert picture(Figure(), "nothing") == picture(Figure(), "nothing")


def test_an_error_in_a_callback_is_shown():
    """An error that a front end would swallow stands in the status line, escaped and spoken at once."""
    status = ipywidgets.HTML("as before")

    def broken(change):
        raise ValueError(f"no <{change}>")

    safely(status, broken)("x")
    assert status.value == '<p class="stop-status" role="alert"><b>ValueError:</b> no &lt;x&gt;</p>'


def test_a_callback_without_an_error_leaves_the_status_alone():
    """The status line belongs to the callback as long as nothing goes wrong."""
    status, seen = ipywidgets.HTML("as before"), []
    safely(status, seen.append)("x")
    assert (status.value, seen) == ("as before", ["x"])
