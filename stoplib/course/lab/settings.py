"""The settings of a lab: one value for each control, as a frozen value, as Python and as a short text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from stoplib.clocks import TickClock
from stoplib.course.lab.choices import (
    CONTROLS,
    GUARDS,
    MODELS,
    REPLIES,
    YOUR_REPLIES,
    metered,
    replying,
    tools_of,
)
from stoplib.guards import Guard, cost_budget, token_budget
from stoplib.messages import Model
from stoplib.tools import Tool

WIDTH = 88  # of a line of code

USUAL = {name: control.usual for name, control in CONTROLS.items()}


@dataclass(frozen=True)
class Settings:
    """What is chosen: the value of each control, which guards are on, and, where a person plays the model, the replies.

    >>> settings = choose({"repeated_call": 3, "max_steps": 10}, model="retries")
    >>> settings["model"], settings.guards
    ('retries', [repeated_call(3), max_steps(10)])
    >>> settings.change("max_steps", 4).switch("repeated_call", False).guards
    [max_steps(4)]
    """

    values: Mapping[str, Any]
    on: frozenset[str]
    replies: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def change(self, name: str, value: Any) -> Settings:
        """With another value for one control. Raises ValueError for what cannot be."""
        if not isinstance(name, str) or name not in CONTROLS:
            raise ValueError(f"there is no setting {name!r}; there are {', '.join(CONTROLS)}")
        return replace(self, values={**self.values, name: CONTROLS[name].checked(name, value)})

    def switch(self, guard: str, on: bool) -> Settings:
        """With a guard on or off. Raises ValueError if there is no such guard."""
        if guard not in GUARDS:
            raise ValueError(f"there is no guard {guard!r} in the lab; there are {', '.join(GUARDS)}")
        return replace(self, on=self.on | {guard} if on else self.on - {guard})

    def reply(self, name: str) -> Settings:
        """With one more reply of the model that a person plays. Raises ValueError if there is no such reply."""
        if name not in REPLIES:
            raise ValueError(f"there is no reply {name!r}; there are {', '.join(REPLIES)}")
        return replace(self, replies=(*self.replies, name))

    @property
    def guards(self) -> list[Guard]:
        """The guards that are on, with their limits."""
        return [self.guard(name) for name in GUARDS if name in self.on]

    def guard(self, name: str) -> Guard:
        """One guard with its limit, on or off."""
        makes = GUARDS[name].makes
        assert makes is not None
        looks_ahead = {"hard": True} if self["hard"] and makes in (token_budget, cost_budget) else {}
        return makes(self[name], **looks_ahead)

    @property
    def played(self) -> bool:
        """Whether a person plays the model."""
        return bool(self["model"] == YOUR_REPLIES)

    @property
    def run(self) -> dict[str, Any]:
        """The arguments of `stoplib.run` but the guards; tools and clock are made anew each time."""
        return {"model": self._model, "tools": self._tools, "clock": TickClock(self["tick"]), "prices": self._prices}

    @property
    def code(self) -> str:
        """The guard set as Python to copy, with the clock and the prices that it needs."""
        made = [*self.guards, TickClock(self["tick"])] if "time_limit" in self.on else self.guards
        names = sorted({type(one).__name__ for one in made})
        lines = [_filled("from stoplib import ", names)] if made else []
        lines.append(_listed("guards = ", [repr(guard) for guard in self.guards]))
        if "time_limit" in self.on:
            lines.append(f"clock = TickClock({self['tick']})")
        if "cost_budget" in self.on:
            lines.append(f"prices = {self._prices!r}")
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        """The settings as JSON-ready data: what is on, and what is not as usual."""
        unusual = {name: value for name, value in self.values.items() if value != USUAL[name]}
        played = {"replies": list(self.replies)} if self.replies else {}
        return {**unusual, "on": [name for name in GUARDS if name in self.on], **played}

    @property
    def _model(self) -> Model:
        model = replying(self.replies) if self.played else MODELS[self["model"]].model
        return metered(model, self["growth"])

    @property
    def _tools(self) -> list[Tool]:
        return tools_of(self["searches"], self["declared"])

    @property
    def _prices(self) -> dict[str, float]:
        return {"input": self["price_in"], "output": self["price_out"]}


def choose(guards: Mapping[str, float], **values: Any) -> Settings:
    """Settings with these guards on, each with its limit, and these values; all else is as usual.

    Raises ValueError for what cannot be.
    """
    settings = Settings(USUAL, frozenset())
    for name, value in {**values, **guards}.items():
        settings = settings.change(name, value)
    for name in guards:
        settings = settings.switch(name, True)
    return settings


def from_data(data: Any) -> Settings:
    """The settings that `as_data` gave. Raises ValueError, with what is wrong, for anything else.

    >>> settings = choose({"max_steps": 7}, model="retries")
    >>> from_data(json.loads(json.dumps(settings.as_data()))) == settings
    True
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"settings are names and values, not {json.dumps(data)[:80]}")
    on, replies = (_names(data.get(key, []), key) for key in ("on", "replies"))
    settings = choose({}, **{str(name): value for name, value in data.items() if name not in ("on", "replies")})
    for name in on:
        settings = settings.switch(name, True)
    for name in replies:
        settings = settings.reply(name)
    return settings


def _names(value: Any, key: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{key!r} must be a list of names, not {json.dumps(value)[:80]}")
    return value


def _filled(begin: str, names: list[str]) -> str:
    """An import, in brackets if it needs more lines than one."""
    line = f"{begin}{', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    lines = wrap(f"{', '.join(names)},", WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([f"{begin}(", *lines, ")"])


def _listed(begin: str, items: list[str]) -> str:
    """A list, on one line if it fits."""
    line = f"{begin}[{', '.join(items)}]"
    return line if len(line) <= WIDTH else f"{begin}[\n" + "".join(f"    {item},\n" for item in items) + "]"
