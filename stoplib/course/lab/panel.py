"""What the labs have in common: a view that is its text where there are no widgets, and named controls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextvars import copy_context
from threading import get_ident
from typing import Any

from stoplib.course.lab.choices import Number
from stoplib.course.show import bundle, safely, status_line, widget_library

Change = Callable[[Any], None]

# ipywidgets give a slider's handle no name, and no place where a screen reader expects news. The browser runs this
# when it draws the lab: an image that cannot be loaded is the one script that an HTML widget has. Where it does not
# run, each slider still has the field beside it, and the news has the role that it is given in `status_line`.
NAMES = """<img class="stop-names" src="data:," alt="" style="display: none" onerror="
    const name = tries => {
        const lab = this.closest('.stop-lab');
        const rows = [...lab?.querySelectorAll('.stop-number') ?? []];
        const handles = rows.map(row => row.querySelector('[role=slider]'));
        const news = lab?.querySelector('.stop-news .widget-html-content');
        if (!news || handles.includes(null)) return tries && setTimeout(name, 100, tries - 1);
        rows.forEach((row, place) =>
            handles[place].setAttribute('aria-label', row.querySelector('.widget-label').textContent));
        news.setAttribute('aria-live', 'polite');
        this.dataset.named = 'yes';
    };
    name(300);
">"""
STYLE = """<style>
.stop-lab {line-height: 1.5}
.stop-lab .widget-html {overflow-x: auto}
.stop-lab .stop-chart {min-width: 480px}
.stop-lab .stop-table {margin: 0.5em 0 0}
.stop-lab .stop-table caption {text-align: left; font-weight: bold}
.stop-lab .stop-table th, .stop-lab .stop-table td {text-align: left; vertical-align: top; padding: 0 1.5em 0 0}
.stop-lab .stop-code {overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere}
.stop-lab .stop-status {margin: 0.5em 0; font-weight: bold}
</style>"""


class Panel:
    """A lab to show in a notebook, as the last thing in a cell. Without widgets it is its text.

    `fields`, `sliders`, `switches` and `choices` hold the widgets of the controls by their names, and `buttons`
    those that do something.
    """

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.sliders: dict[str, Any] = {}
        self.switches: dict[str, Any] = {}
        self.choices: dict[str, Any] = {}
        self.buttons: dict[str, Any] = {}
        self.widgets = widget_library()
        self.view: Any = None
        self._loading = False
        self._thread, self._loop, self._context = get_ident(), _running_loop(), copy_context()
        if self.widgets:
            self.status = self.widgets.HTML()
            self.status.add_class("stop-news")
            self.view = self.widgets.VBox([*self.parts(), self.widgets.HTML(STYLE + NAMES)])
            self.view.add_class("stop-lab")
            self.draw()

    def parts(self) -> Iterable[Any]:
        """The widgets, from top to bottom."""
        raise NotImplementedError

    def draw(self) -> None:
        """Show how things stand."""
        raise NotImplementedError

    def __repr__(self) -> str:
        raise NotImplementedError

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return bundle(self.view, repr(self))

    def say(self, sentence: str, urgent: bool = False) -> None:
        """News, also for whoever cannot see it; a screen reader says what is `urgent` at once."""
        self.status.value = status_line(sentence, urgent)

    def safely(self, act: Callable[..., Any]) -> Callable[..., bool]:
        """`act`, but an error in it is told as news. Gives whether all went well.

        A kernel may hand what comes from the front end to several threads, which overtake each other, and chooses the
        thread by the message that was answered last. So all of it is done on the thread that made the lab, in the
        order in which it comes, and as an answer to the cell that made it.
        """
        guarded = safely(self.status, act)

        def here(*args: Any) -> bool:
            run = self._context.copy().run
            if self._loop is None or get_ident() == self._thread:
                return run(guarded, *args)
            self._loop.call_soon_threadsafe(run, guarded, *args)
            return True

        return here

    def button(self, name: str, act: Callable[[], None]) -> Any:
        """A button that does `act` and draws."""

        def pressed(_: Any) -> None:
            act()
            self.draw()

        made = self.buttons[name] = self.widgets.Button(description=name, layout={"width": "auto"})
        made.on_click(self.safely(pressed))
        return made

    def number(
        self,
        name: str,
        control: Number,
        value: float,
        change: Change,
        *,
        slider: bool = True,
        short: bool = False,
    ) -> Any:
        """A number to type, with a slider for the same beside it; where it is `short`, the unit is its label."""
        whole = isinstance(control.by, int)
        Field = self.widgets.BoundedIntText if whole else self.widgets.BoundedFloatText
        label, words, width = (control.unit, 5, 11) if short else (control.label, 14, 21)
        range_ = {"value": value, "min": control.low, "max": control.high, "step": control.by}
        field = self.fields[name] = Field(description=label, **range_, **_wide(width, words))
        self.watch(field, change)
        if not slider:
            return field
        Slider = self.widgets.IntSlider if whole else self.widgets.FloatSlider
        slides = self.sliders[name] = Slider(**range_, readout=False, **_wide(8 if short else 18))
        self.widgets.link((field, "value"), (slides, "value"))
        row = self.widgets.HBox([field, slides])
        row.add_class("stop-number")
        return row

    def dropdown(self, name: str, label: str, options: Iterable[Any], value: Any, change: Change) -> Any:
        """One of several texts."""
        made = self.choices[name] = self.widgets.Dropdown(
            options=list(options), value=value, description=label, **_wide(28, 9)
        )
        self.watch(made, change)
        return made

    def switch(self, name: str, label: str, value: bool, change: Change, width: float = 18) -> Any:
        """Something that is on or off."""
        made = self.switches[name] = self.widgets.Checkbox(description=label, value=value, indent=False, **_wide(width))
        self.watch(made, change)
        return made

    def watch(self, widget: Any, change: Change) -> None:
        """When the value of `widget` changes, `change` it and draw."""

        def changed(what: Any) -> None:
            if not self._loading:
                change(what["new"])
                self.draw()

        widget.observe(self.safely(changed), "value")

    def guard(
        self,
        name: str,
        control: Number,
        limit: float,
        on: bool,
        change: Change,
        switch: Change,
    ) -> Any:
        """A guard that can be on or off, with its limit."""
        number = self.number(name, control, limit, change, short=True)
        return self.widgets.HBox([self.switch(name, name, on, switch, width=12), number])

    def row(self, parts: Iterable[Any]) -> Any:
        """Widgets side by side, on more lines than one where the page is narrow."""
        return self.widgets.HBox(list(parts), layout={"flex_flow": "row wrap", "align_items": "center"})

    def load(self, values: Iterable[tuple[Any, Any]]) -> None:
        """Bring widgets to these values, as (widget, value), without a change of anything else."""
        self._loading = True
        try:
            for widget, value in values:
                widget.value = value
        finally:
            self._loading = False


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:  # as in a plain script
        return None


def _wide(em: float, label: float = 0) -> dict[str, Any]:
    """How wide a widget is, and its label in it."""
    wide: dict[str, Any] = {"layout": {"width": f"{em}em"}}
    return {**wide, "style": {"description_width": f"{label}em"}} if label else wide
