"""Showing things in a notebook: everything shown has a text of its own.

What a notebook stores, what nbval compares, and what a reader without widgets sees is that text. A
widget's usual text, `VBox(children=(HTML(…`, says nothing to anybody.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

OURS = "stop-chart"
NOTES = re.compile(r'\n *<!--.*?-->|(?<=<g) id="[^"]*"', re.DOTALL)  # what matplotlib notes for human readers

if TYPE_CHECKING:  # it takes a second to import, and not every chapter draws
    from matplotlib.figure import Figure


def widget_library() -> Any:
    """The module ipywidgets, or None where it is not installed: the course goes on without it, in text."""
    try:
        import ipywidgets
    except ImportError:
        return None
    return ipywidgets


def bundle(widget: Any, text: str) -> dict[str, Any]:
    """What a front end gets to choose from: the widget, if there is one, and `text`.

    >>> bundle(None, "three steps")
    {'text/plain': 'three steps'}
    """
    view = {} if widget is None else widget._repr_mimebundle_()
    return {**view, "text/plain": text}


def show(widget: Any, text: str) -> None:
    """Show `widget`; where there are no widgets (`widget` is None, or no front end), show `text`.

    >>> show(None, "three steps")
    three steps
    """
    if not InteractiveShell.initialized():
        print(text)
        return
    display(bundle(widget, text), raw=True)  # type: ignore[no-untyped-call]


def show_picture(figure: Figure, words: str) -> None:
    """Show a chart with `words` that say the same. Only the words are stored in the notebook."""
    widgets = widget_library()
    show(widgets.HTML(picture(figure, words)) if widgets else None, words)


def picture(figure: Figure, alt: str) -> str:
    """A figure as an image in HTML. `alt` says in words what it shows, for whoever cannot see it.

    The image is SVG, sharp at any size and quickly made. Our own charts take on the colours of a dark page.
    """
    from matplotlib import rc_context

    svg = io.StringIO()
    # The words go into the ids of what is referred to: two pictures on a page must not refer to each other.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": alt or "no words"}):
        figure.savefig(svg, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = svg.getvalue()
    drawn = NOTES.sub("", text[text.index("<defs>") :])
    if figure.get_gid() == OURS:
        drawn = _themed(drawn)
    width, height = (round(inches * 72, 2) for inches in figure.get_size_inches())
    style = f"width: {round(figure.get_figwidth() * 100)}px; max-width: 100%; height: auto"
    return (
        f'<svg class="{OURS}" role="img" aria-label="{html.escape(alt)}" style="{style}"'
        f' viewBox="0 0 {width:g} {height:g}" xmlns:xlink="http://www.w3.org/1999/xlink">{drawn}'
    )


def _themed(drawn: str) -> str:
    """The colours of our charts as variables, which a dark page sets to others."""
    from stoplib.course.charts.drawing import ON_DARK

    dark = "; ".join(f"--stop-{light[1:]}: {colour}" for light, colour in ON_DARK.items())
    for light in ON_DARK:
        drawn = drawn.replace(light, f"var(--stop-{light[1:]}, {light})")
    return f'<style>[data-jp-theme-light="false"] .{OURS} {{{dark}}}</style>{drawn}'


def status_line(text: str, urgent: bool = False) -> str:
    """A sentence that a screen reader says when it changes, at once if it is `urgent`.

    >>> status_line("2 < 3")
    '<p class="stop-status" role="status">2 &lt; 3</p>'
    """
    return f'<p class="stop-status" role="{"alert" if urgent else "status"}">{html.escape(text)}</p>'


def error_line(error: BaseException) -> str:
    """What went wrong, as a sentence that a screen reader says at once.

    >>> error_line(ValueError("no such model"))
    '<p class="stop-status" role="alert"><b>ValueError:</b> no such model</p>'
    """
    return f'<p class="stop-status" role="alert"><b>{type(error).__name__}:</b> {html.escape(str(error))}</p>'


def safely(status: Any, callback: Callable[..., Any]) -> Callable[..., bool]:
    """`callback`, but an error in it shows up in `status`, an HTML widget. Gives whether all went well.

    A front end shows nothing of an error in a widget's callback.
    """

    def guarded(*args: Any) -> bool:
        try:
            callback(*args)
        except Exception as error:
            status.value = error_line(error)
            return False
        return True

    return guarded
