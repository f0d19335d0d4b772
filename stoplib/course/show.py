"""Showing things in a notebook: everything shown has a text of its own.

What a notebook stores, what nbval compares, and what a reader without widgets sees is that text. A
widget's usual text, `VBox(children=(HTML(…`, says nothing to anybody.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

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
    """A figure as an HTML image. `alt` says in words what it shows, for whoever cannot see it."""
    png = io.BytesIO()
    figure.savefig(png, format="png", metadata={"Software": None}, pil_kwargs={"compress_level": 1})
    data = base64.b64encode(png.getvalue()).decode("ascii")
    width = round(figure.get_figwidth() * 100)
    return (
        f'<img class="stop-chart" alt="{html.escape(alt)}" style="width: {width}px; max-width: 100%"'
        f' src="data:image/png;base64,{data}">'
    )


def status_line(text: str) -> str:
    """A sentence that a screen reader says when it changes.

    >>> status_line("2 < 3")
    '<p class="stop-status" role="status">2 &lt; 3</p>'
    """
    return f'<p class="stop-status" role="status">{html.escape(text)}</p>'


def error_line(error: BaseException) -> str:
    """What went wrong, as a sentence that a screen reader says at once.

    >>> error_line(ValueError("no such model"))
    '<p class="stop-status" role="alert"><b>ValueError:</b> no such model</p>'
    """
    return f'<p class="stop-status" role="alert"><b>{type(error).__name__}:</b> {html.escape(str(error))}</p>'


def safely(status: Any, callback: Callable[..., Any]) -> Callable[..., None]:
    """`callback`, but an error in it shows up in `status`, an HTML widget.

    A front end shows nothing of an error in a widget's callback.
    """

    def guarded(*args: Any) -> None:
        try:
            callback(*args)
        except Exception as error:
            status.value = error_line(error)

    return guarded
