"""Showing things: every widget and every picture has a text of its own."""

import base64
import re
import struct
import sys

import ipywidgets
import pytest
from matplotlib.figure import Figure

from stoplib.course import show as showing
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
    """The image holds the PNG itself, is sharp on fine screens, and its text is escaped."""
    html = picture(Figure(figsize=(9, 1), dpi=200), 'used < "limit"')
    png = base64.b64decode(re.search('base64,([^"]+)', html)[1])
    assert struct.unpack(">II", png[16:24]) == (1800, 200)
    assert 'alt="used &lt; &quot;limit&quot;"' in html
    assert "width: 900px; max-width: 100%" in html


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
