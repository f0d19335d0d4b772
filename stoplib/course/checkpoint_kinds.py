"""The kinds of checkpoints: choose one, type a number, put in order, match."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from stoplib.course.show import safely, status_line, widget_library

Option = Mapping[str, str]

NO_PREDICTION = "You have not predicted this one. Choose in the cell above, then run this cell again."
NOT_A_KNOWN_MISTAKE = "Look at the run above: where does it part from what you had in mind?"


class Checkpoint(ABC):
    """One checkpoint, and what is predicted."""

    def __init__(self, name: str, definition: Mapping[str, Any]) -> None:
        self.name = name
        self.options: Sequence[Option] = definition["options"]
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
        says = f"The run says: {self.says(truth)}"
        if not self._seen:
            self._seen, self._prediction_when_seen = True, self.prediction
        if self.prediction is None:
            return [says, NO_PREDICTION]
        late = "" if self.prediction == self._prediction_when_seen else " (made after the result was seen)"
        right, whys = self.judged(truth)
        if right:
            return [says, f"You predicted {self.prediction}: right{late}.", *whys]
        return [says, f"You predicted {self.in_full()}: not this time{late}.", *whys]

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

    def in_full(self) -> str:
        """The prediction as it is repeated to the learner."""
        return str(self.prediction)

    @abstractmethod
    def valid(self, choice: Any) -> str:
        """`choice` as a prediction. Raises ValueError if it cannot be one."""

    @abstractmethod
    def says(self, truth: Any) -> str:
        """The truth in words. Raises LookupError if the checkpoint does not know it."""

    @abstractmethod
    def judged(self, truth: Any) -> tuple[bool, list[str]]:
        """Whether the prediction is right, and what there is to say about it."""

    @abstractmethod
    def how(self) -> str:
        """What to do, as in "choose a, b or c"."""

    @abstractmethod
    def example(self) -> str:
        """A prediction as source."""

    @abstractmethod
    def field(self, widgets: Any) -> Any:
        """The widget to predict with."""


class ByOption(Checkpoint):
    """A checkpoint at which one of the options is right."""

    def says(self, truth: Any) -> str:
        self._right(truth)
        return str(truth)

    def judged(self, truth: Any) -> tuple[bool, list[str]]:
        right, chosen = self._right(truth), self.option(str(self.prediction))
        if chosen is right:
            return True, [right["why"]]
        return False, [f"Why one might think so: {chosen['why']}" if chosen else NOT_A_KNOWN_MISTAKE]

    def _right(self, truth: Any) -> Option:
        for option in self.options:
            if self.agrees(option["value"], truth):
                return option
        raise LookupError(
            f"checkpoint {self.name}: the run says {truth}, and the options are"
            f" {', '.join(option['value'] for option in self.options)}. If you changed the run, put it back as it was."
        )

    @abstractmethod
    def option(self, prediction: str) -> Option | None:
        """The option that is predicted, or None if it is not one of them."""

    @abstractmethod
    def agrees(self, value: str, truth: Any) -> bool:
        """Whether an option's value is the truth."""


class Choice(ByOption):
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


class Number(ByOption):
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

    def how(self) -> str:
        return "type a number"

    def example(self) -> str:
        return next(str(n) for n in count(10) if self.option(str(n)) is None)  # no hint: it is none of the options

    def field(self, widgets: Any) -> Any:
        return widgets.Text(description="Your number", placeholder="then press Enter", continuous_update=False)


class Letters(Checkpoint):
    """Several options at once, typed in as their keys."""

    def field(self, widgets: Any) -> Any:
        return widgets.Text(description="Your letters", placeholder="then press Enter", continuous_update=False)


class Order(Letters):
    """The options, to be put in order. The truth is a list of values."""

    def valid(self, choice: Any) -> str:
        letters = "".join(letter for letter in str(choice).lower() if letter.isalnum())
        if sorted(letters) != [option["key"] for option in self.options]:
            raise ValueError(f"checkpoint {self.name}: {self.how()}, each once, not {choice!r}")
        return letters

    def says(self, truth: Any) -> str:
        order = self._in_order(truth)
        return f"{''.join(option['key'] for option in order)} ({', '.join(option['value'] for option in order)})"

    def judged(self, truth: Any) -> tuple[bool, list[str]]:
        order = self._in_order(truth)
        for place, (letter, option) in enumerate(zip(str(self.prediction), order, strict=True), 1):
            if letter != option["key"]:
                return False, [f"In place {place} comes {option['key']} ({option['value']}). {option['why']}"]
        return True, [order[0]["why"]]

    def how(self) -> str:
        *others, last = (option["key"] for option in self.options)
        return f"type the letters {', '.join(others)} and {last} in the order in which it happens"

    def example(self) -> str:
        return '"' + "".join(option["key"] for option in reversed(self.options)) + '"'

    def _in_order(self, truth: Any) -> list[Option]:
        known = {option["value"]: option for option in self.options}
        if sorted(map(str, truth)) != sorted(known):
            raise LookupError(f"checkpoint {self.name}: the run says {truth}, and the options are {', '.join(known)}.")
        return [known[str(value)] for value in truth]


class Match(Letters):
    """Numbered options, each to be given the letter of an answer. The truth maps the options' values to answers'."""

    def __init__(self, name: str, definition: Mapping[str, Any]) -> None:
        super().__init__(name, definition)
        self.answers: Sequence[Option] = definition["answers"]

    def valid(self, choice: Any) -> str:
        marks = "".join(mark for mark in str(choice).lower() if mark.isalnum())
        pairs = dict(zip(marks[::2], marks[1::2], strict=False))
        keys = [option["key"] for option in self.options]
        letters = {answer["key"] for answer in self.answers}
        if len(marks) != 2 * len(keys) or sorted(pairs) != keys or not set(pairs.values()) <= letters:
            raise ValueError(f"checkpoint {self.name}: {self.how()}, such as {self.example()}, not {choice!r}")
        return " ".join(f"{key}{pairs[key]}" for key in keys)

    def says(self, truth: Any) -> str:
        return " ".join(f"{option['key']}{self._letter(truth, option)}" for option in self.options)

    def judged(self, truth: Any) -> tuple[bool, list[str]]:
        given = {pair[0]: pair[1] for pair in str(self.prediction).split()}
        wrong = [option for option in self.options if given[option["key"]] != self._letter(truth, option)]
        told = wrong or self.options
        return not wrong, [f"{option['key']} ({option['value']}): {option['why']}" for option in told]

    def how(self) -> str:
        return "type a letter behind each number"

    def example(self) -> str:
        return '"' + " ".join(f"{option['key']}{self.answers[0]['key']}" for option in self.options) + '"'

    def _letter(self, truth: Mapping[str, Any], option: Option) -> str:
        says = str(truth.get(option["value"]))
        for answer in self.answers:
            if answer["value"] == says:
                return answer["key"]
        known = ", ".join(answer["value"] for answer in self.answers)
        raise LookupError(f"checkpoint {self.name}: the run says {says} for {option['value']}; answers are {known}.")


KINDS: Mapping[str, type[Checkpoint]] = {"choice": Choice, "number": Number, "order": Order, "match": Match}


def _number(value: Any) -> int | float:
    """`value` as a number, whole if it is. Raises TypeError or ValueError."""
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"not a finite number: {value!r}")
    return int(number) if number.is_integer() else number


def _plain(markdown: str) -> str:
    """An option's text on a button, where Markdown does not work."""
    return markdown.replace("`", "")
