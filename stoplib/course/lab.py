"""Labs: change a model, a limit or the clock, and see at once where the run stops, and why.

A lab is a `LabState`, which knows nothing of widgets, and a `Lab`, a thin view of it. The labs of
the chapters are `lab_steps` and `lab_limits`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from stoplib.clocks import TickClock
from stoplib.course.charts import LimitsChart, StepsChart, describe_limits, describe_steps
from stoplib.course.show import bundle, picture, safely, status_line, widget_library
from stoplib.drivers import run
from stoplib.events import describe
from stoplib.fakes import answers_after, never_answers
from stoplib.guards import Guard, max_steps, time_limit
from stoplib.messages import Model
from stoplib.outcome import Outcome
from stoplib.transcript import Step

# One width for all labels, so that the fields stand in a column.
WIDE = {"style": {"description_width": "14em"}, "layout": {"width": "25em"}}
TABLE_STYLE = """<style>
.stop-table {line-height: 1.5; margin-top: 1em}
.stop-table caption {text-align: left}
.stop-table th, .stop-table td {text-align: left; padding: 0 1.5em 0 0}
</style>"""

TASK = "Find out why the build is slow."


def search(query: str) -> str:
    """Search the notes; there is nothing in them."""
    return "no match"


@dataclass(frozen=True)
class Example:
    """A model to choose, and a sentence that says how it behaves."""

    model: Model
    behaviour: str


MODELS = {
    "never answers": Example(never_answers, "This model asks for one more search in every step."),
    "answers in step 5": Example(answers_after(4), "This model searches in four steps and answers in the fifth."),
    "answers in step 1": Example(answers_after(0), "This model answers in its first step."),
}


@dataclass(frozen=True)
class Control:
    """A number to set: its name, its label, its range, and the guard it makes, if it makes one."""

    name: str
    label: str
    low: float
    high: float
    by: float = 1
    guard: Callable[[Any], Guard] | None = None

    def checked(self, value: float) -> float:
        """`value`, as an int if it is whole. Raises ValueError if it is out of range."""
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.name} goes from {self.low:g} to {self.high:g}, so it cannot be {value!r}")
        return int(value) if value == int(value) else value


CONTROLS = {
    control.name: control
    for control in (
        Control("tick", "Seconds per clock reading", low=0, high=5, by=0.5),
        Control("time_limit", "Seconds at most", low=0, high=30, by=0.5, guard=time_limit),
        Control("max_steps", "Steps at most", low=0, high=20, guard=max_steps),
    )
}


@dataclass(frozen=True)
class LabState:
    """What is chosen in a lab and what comes of it: `settings` holds the value of each control, in order.

    >>> state = LabState("Lab", "never answers", {"time_limit": 6, "max_steps": 10})
    >>> state.sentence
    'time_limit stopped the run after 5 steps: 6 of 6 s used.'
    >>> state.change("max_steps", 4).sentence
    'max_steps stopped the run after 4 steps: 4 of 4 steps used.'
    """

    title: str
    model: str
    settings: Mapping[str, float]

    def change(self, name: str, value: Any) -> LabState:
        """The state with one thing changed, `model` or a setting.

        Raises ValueError if there is no such setting, no such model, or if the value is out of range.
        """
        if name == "model":
            return replace(self, model=_one_of(MODELS, "model", value))
        _one_of(self.settings, "setting", name)
        return replace(self, settings={**self.settings, name: CONTROLS[name].checked(value)})

    @cached_property
    def outcome(self) -> Outcome:
        """The run with these settings."""
        clock = TickClock(self.settings.get("tick", 1))
        return run(MODELS[self.model].model, TASK, tools=[search], guards=self.guards, clock=clock)

    @property
    def guards(self) -> list[Guard]:
        """The guards that the settings make, in their order."""
        return [make(value) for name, value in self.settings.items() if (make := CONTROLS[name].guard)]

    @property
    def code(self) -> str:
        """The arguments of `run` that are set here, as Python to copy."""
        clock = f", clock=TickClock({self.settings['tick']})" if "tick" in self.settings else ""
        return f"guards={self.guards!r}{clock}"

    @property
    def sentence(self) -> str:
        """Why the run ended, in words and numbers."""
        outcome = self.outcome
        steps = "1 step" if outcome.steps == 1 else f"{outcome.steps} steps"
        if outcome.complete:
            return f"The model answered in step {outcome.steps}; no guard fired."
        if not outcome.fired:
            return f"The run stopped after {steps}: {outcome.reason}, {outcome.detail}."
        first, *others = outcome.fired
        tie = f" {', '.join(others)} fired as well: the first in the list gives the reason." if others else ""
        return f"{first} stopped the run after {steps}: {outcome.detail}.{tie}"

    @property
    def text(self) -> str:
        """The whole lab in words."""
        return "\n".join((self.title, MODELS[self.model].behaviour, self.sentence, *self.words, self.code))

    @property
    def words(self) -> tuple[str, str]:
        """The two charts in words: the steps, and the limits."""
        return describe_steps(self.outcome), describe_limits(self.outcome, self.guards)

    @property
    def table(self) -> str:
        """The steps as an HTML table."""
        heads = "".join(f'<th scope="col">{name}</th>' for name in ("step", "seconds", "the model", "result"))
        rows = "".join(map(_row, self.outcome.trace))
        return (
            f'{TABLE_STYLE}<table class="stop-table"><caption>The steps of this run</caption>'
            f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        )


class Lab:
    """A lab to show in a notebook, as the last thing in a cell. Without widgets it is its text.

    `state` is what is chosen now. `model` is the Dropdown; `fields` and `sliders` hold the widgets
    of each setting by its name, linked with each other.
    """

    def __init__(self, state: LabState) -> None:
        self.state = state
        self._steps_chart, self._limits_chart = StepsChart(), LimitsChart()
        widgets = widget_library()
        self.view = self._build(widgets) if widgets else None

    def __repr__(self) -> str:
        return self.state.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return bundle(self.view, self.state.text)

    def _build(self, widgets: Any) -> Any:
        self.behaviour, self.status, self.code = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.steps, self.limits, self.table = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.model = widgets.Dropdown(options=list(MODELS), value=self.state.model, description="Model", **WIDE)
        self._watch(self.model, "model")
        self.fields: dict[str, Any] = {}
        self.sliders: dict[str, Any] = {}
        rows = [self._row(widgets, name, value) for name, value in self.state.settings.items()]
        shown = [self.behaviour, self.status, self.steps, self.limits, self.code, self.table]
        view = widgets.VBox([self.model, *rows, *shown])
        view.add_class("stop-lab")
        self._draw()
        return view

    def _row(self, widgets: Any, name: str, value: float) -> Any:
        """A number to type, and a slider for the same."""
        control = CONTROLS[name]
        whole = isinstance(control.by, int)
        Field = widgets.BoundedIntText if whole else widgets.BoundedFloatText
        Slider = widgets.IntSlider if whole else widgets.FloatSlider
        range_ = {"value": value, "min": control.low, "max": control.high, "step": control.by}
        field = self.fields[name] = Field(description=control.label, **range_, **WIDE)
        slider = self.sliders[name] = Slider(**range_, readout=False)
        widgets.link((field, "value"), (slider, "value"))
        self._watch(field, name)
        return widgets.HBox([field, slider])

    def _watch(self, widget: Any, name: str) -> None:
        widget.observe(safely(self.status, lambda change: self._set(name, change["new"])), "value")

    def _set(self, name: str, value: Any) -> None:
        self.state = self.state.change(name, value)
        self._draw()

    def _draw(self) -> None:
        state = self.state
        about_steps, about_limits = state.words
        self.steps.value = picture(self._steps_chart.draw(state.outcome), about_steps)
        self.limits.value = picture(self._limits_chart.draw(state.outcome, state.guards), about_limits)
        self.behaviour.value = f'<p style="margin: 0.5em 0 0">{html.escape(MODELS[state.model].behaviour)}</p>'
        self.code.value = f'<pre class="stop-code">{html.escape(state.code)}</pre>'
        self.table.value = state.table
        self.status.value = status_line(state.sentence)


def lab_steps() -> Lab:
    """The lab of chapter 01: a model, and a limit on its steps."""
    return Lab(LabState("Lab: a model and a limit", "never answers", {"max_steps": 4}))


def lab_limits() -> Lab:
    """The lab of chapter 02: a model, a clock, and limits on time and on steps."""
    settings = {"tick": 1, "time_limit": 12, "max_steps": 10}
    return Lab(LabState("Lab: which limit fires?", "never answers", settings))


def _one_of(known: Mapping[str, Any], kind: str, name: Any) -> str:
    if name not in known:
        raise ValueError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
    return str(name)


def _row(step: Step) -> str:
    """A step as a row of the table."""
    says = step.reply.text or ", ".join(str(result.call) for result in step.results)
    results = ", ".join(f"{result.status}: {describe(result.text)}" for result in step.results) or "none"
    cells = "".join(f"<td>{html.escape(str(cell))}</td>" for cell in (f"{step.seconds:g}", says, results))
    return f'<tr><th scope="row">{step.number}</th>{cells}</tr>'
