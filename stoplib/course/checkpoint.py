"""Checkpoints: you predict what a run will do, you run it, and you are told.

What each order of events gives (a restart of the kernel forgets all of it):

    predict, reveal                      the prediction is judged
    predict, predict, reveal             the last prediction is judged
    reveal                               the result alone, and that no prediction was made
    reveal, predict, reveal              judged, and marked as made after the result was seen
    predict, reveal, reveal              the same judgement again
    predict, reveal, the same predict    not a new prediction: judged as before
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from stoplib.course.show import safely, show, status_line, widget_library
from stoplib.course.text import wrapped

Option = Mapping[str, str]

NO_PREDICTION = "You have not predicted this one. Choose in the cell above, then run this cell again."
NOT_A_KNOWN_MISTAKE = "Look at the run above: where does it part from what you had in mind?"


def predict(checkpoint: str, choice: Any = None) -> None:
    """Choose what you think will happen, before you run it: by button, or `predict("2.1", "b")`.

    You may change it until you see the result. Raises ValueError for a checkpoint or a choice that
    does not exist.
    """
    _of_the_course().predict(checkpoint, choice)


def reveal(checkpoint: str, truth: Any) -> None:
    """Print what the run says, and what that means for your prediction.

    `truth` is what the run gave. Raises ValueError for a checkpoint that does not exist, and
    LookupError if none of its options says what the run says.
    """
    _of_the_course().reveal(checkpoint, truth)


class Checkpoints:
    """The checkpoints of a course, and what has been predicted so far.

    >>> options = [
    ...     {"key": "a", "value": "2", "text": "`2`", "why": "The third look at the clock ends the run."},
    ...     {"key": "b", "value": "3", "text": "`3`", "why": "The limit is 3 seconds."},
    ... ]
    >>> checkpoints = Checkpoints({"2.1": {"kind": "choice", "question": "How many steps?", "options": options}})
    >>> checkpoints.predict("2.1", "b")
    Checkpoint 2.1: you predicted b.
    >>> checkpoints.reveal("2.1", 2)
    The run says: 2
    You predicted b (3): not this time.
    Why one might think so: The limit is 3 seconds.
    """

    def __init__(self, definitions: Mapping[str, Mapping[str, Any]]) -> None:
        self._checkpoints = {name: _checkpoint(name, made) for name, made in definitions.items()}

    def predict(self, checkpoint: str, choice: Any = None) -> None:
        """See the function `predict`."""
        found = self._find(checkpoint)
        if choice is None:
            show(found.view(), found.prompt())
            return
        found.choose(choice)
        print(found.chosen())

    def reveal(self, checkpoint: str, truth: Any) -> None:
        """See the function `reveal`."""
        for line in self._find(checkpoint).verdict(truth):
            print(wrapped(line))

    def view(self, checkpoint: str) -> Any:
        """The widget that `predict` shows: a field and under it a status line."""
        return self._find(checkpoint).view()

    def _find(self, checkpoint: str) -> _Checkpoint:
        if checkpoint not in self._checkpoints:
            raise ValueError(f"there is no checkpoint {checkpoint!r}; there are {', '.join(self._checkpoints)}")
        return self._checkpoints[checkpoint]


@cache
def _of_the_course() -> Checkpoints:
    file = resources.files("stoplib.course") / "checkpoints.json"
    return Checkpoints(json.loads(file.read_text(encoding="utf-8")))


def _checkpoint(name: str, definition: Mapping[str, Any]) -> _Checkpoint:
    kind = _Number if definition["kind"] == "number" else _Choice
    return kind(name, definition["options"])


class _Checkpoint(ABC):
    """One checkpoint, and what is predicted."""

    def __init__(self, name: str, options: Sequence[Option]) -> None:
        self.name = name
        self.options = options
        self.prediction: str | None = None
        self._seen = False
        self._prediction_when_seen: str | None = None
        self._view: Any = None
        self._field: Any = None
        self._status: Any = None

    def choose(self, choice: Any) -> None:
        """Take `choice` as the prediction. Raises ValueError if it cannot be one."""
        self.prediction = self.valid(choice)
        if self._view is not None:
            self._update_view()

    def verdict(self, truth: Any) -> list[str]:
        """The lines to print now that the run says `truth`."""
        right = self._right(truth)
        if not self._seen:
            self._seen, self._prediction_when_seen = True, self.prediction
        says = f"The run says: {truth}"
        if self.prediction is None:
            return [says, NO_PREDICTION]
        late = "" if self.prediction == self._prediction_when_seen else " (made after the result was seen)"
        chosen = self.option(self.prediction)
        if chosen is right:
            return [says, f"You predicted {self.prediction}: right{late}.", right["why"]]
        why = f"Why one might think so: {chosen['why']}" if chosen else NOT_A_KNOWN_MISTAKE
        return [says, f"You predicted {self.in_full()}: not this time{late}.", why]

    def chosen(self) -> str:
        """What is predicted."""
        return f"Checkpoint {self.name}: you predicted {self.prediction}."

    def standing(self) -> str:
        """What is predicted, and what you can do now."""
        then = "Run the next cell again." if self._seen else "You may change it until you see the result."
        return f"{self.chosen()} {then}"

    def prompt(self) -> str:
        """The checkpoint as text, for a reader without widgets."""
        if self.prediction is not None:
            return self.standing()
        by_code = f'predict("{self.name}", {self.example()})'
        return f"Checkpoint {self.name}: {self.how()}, then run the next cell. Without buttons: {by_code}"

    def view(self) -> Any:
        """The widget, one however often it is shown, so that all its outputs agree. None without ipywidgets."""
        widgets = widget_library()
        if widgets and not self._view:
            self._make_view(widgets)
        return self._view

    def _make_view(self, widgets: Any) -> None:
        self._field = self.field(widgets)
        self._status = widgets.HTML(status_line(f"Checkpoint {self.name}: {self.how()}."))
        self._view = widgets.VBox([self._field, self._status])
        self._view.add_class("stop-checkpoint")
        self._update_view()
        self._field.observe(safely(self._status, lambda change: self.choose(change["new"])), "value")

    def _update_view(self) -> None:
        if self.prediction is None:
            return
        self._field.value = self.prediction
        self._status.value = status_line(self.standing())

    def _right(self, truth: Any) -> Option:
        for option in self.options:
            if self.agrees(option["value"], truth):
                return option
        raise LookupError(
            f"checkpoint {self.name}: the run says {truth}, and the options are"
            f" {', '.join(option['value'] for option in self.options)}. If you changed the run, put it back as it was."
        )

    @abstractmethod
    def valid(self, choice: Any) -> str: ...
    @abstractmethod
    def option(self, prediction: str) -> Option | None: ...
    @abstractmethod
    def agrees(self, value: str, truth: Any) -> bool: ...
    @abstractmethod
    def in_full(self) -> str: ...
    @abstractmethod
    def how(self) -> str: ...
    @abstractmethod
    def example(self) -> str: ...
    @abstractmethod
    def field(self, widgets: Any) -> Any: ...


class _Choice(_Checkpoint):
    """One of a few options, by its key."""

    def valid(self, choice: Any) -> str:
        for option in self.options:
            if choice == option["key"]:
                return option["key"]
        raise ValueError(f"checkpoint {self.name}: {self.how()}, not {choice!r}")

    def option(self, prediction: str) -> Option:
        return next(option for option in self.options if option["key"] == prediction)

    def agrees(self, value: str, truth: Any) -> bool:
        return value == str(truth)

    def in_full(self) -> str:
        assert self.prediction is not None
        return f"{self.prediction} ({self.option(self.prediction)['value']})"

    def how(self) -> str:
        *others, last = (option["key"] for option in self.options)
        return f"choose {', '.join(others)} or {last}"

    def example(self) -> str:
        return f'"{self.options[1]["key"]}"'

    def field(self, widgets: Any) -> Any:
        buttons = [(f"{option['key']}: {_plain(option['text'])}", option["key"]) for option in self.options]
        return widgets.ToggleButtons(options=buttons, value=None, style={"button_width": "auto"})


class _Number(_Checkpoint):
    """A number, typed in. Its options are the right one and the wrong ones that have a known cause."""

    def valid(self, choice: Any) -> str:
        try:
            return str(_number(choice))
        except (TypeError, ValueError):
            raise ValueError(f"checkpoint {self.name}: {self.how()} such as 3, not {choice!r}") from None

    def option(self, prediction: str) -> Option | None:
        return next((option for option in self.options if self.agrees(option["value"], prediction)), None)

    def agrees(self, value: str, truth: Any) -> bool:
        try:
            return _number(value) == _number(truth)
        except (TypeError, ValueError):
            return False

    def in_full(self) -> str:
        return str(self.prediction)

    def how(self) -> str:
        return "type a number"

    def example(self) -> str:
        return "3"

    def field(self, widgets: Any) -> Any:
        return widgets.Text(description="Your number", placeholder="then press Enter", continuous_update=False)


def _number(value: Any) -> int | float:
    """`value` as a number, whole if it is. Raises TypeError or ValueError."""
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"not a finite number: {value!r}")
    return int(number) if number.is_integer() else number


def _plain(markdown: str) -> str:
    """An option's text on a button, where Markdown does not work."""
    return markdown.replace("`", "")
