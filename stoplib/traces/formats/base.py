"""What a format is: how it is recognised, where one run of it ends and the next begins, and how a run is read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

from stoplib.traces.jsonstream import END, Broken, Item
from stoplib.traces.records import assembled, is_message
from stoplib.traces.trace import ERROR, OK, Trace


class Options(NamedTuple):
    """What a reader of runs is told.

    success_at   the reward from which on a run succeeded
    errors       a result in which this is found is a failed call, in formats that do not flag them
    name         the name of the file, without its endings
    number       the run's line or place in the file, if it has one
    """

    success_at: float = 1.0
    errors: re.Pattern[str] | None = None
    name: str = ""
    number: int | None = None

    @property
    def id(self) -> str:
        """What to call a run that has no name of its own."""
        return self.name if self.number is None else f"{self.name}#{self.number}"

    def status(self, text: str) -> str:
        """Whether this result is one of a failed call."""
        return ERROR if self.errors is not None and self.errors.search(text) else OK

    @property
    def guesses(self) -> str:
        """How failed calls are known in a format that does not flag them."""
        return "unknown" if self.errors is None else "guessed"


class Head:
    """The beginning of a file, as far as it has been looked at.

    members   the members of its object so far
    record    the latest line or element, or None
    talk      the messages so far, if the lines or elements are messages
    whole     whether a document has ended
    """

    def __init__(self) -> None:
        self.members: dict[str, Any] = {}
        self.record: Any = None
        self.talk: list[Any] = []
        self.whole = False

    def add(self, item: Item) -> None:
        """Look at one more piece."""
        if item.value is END:
            self.whole = True
        elif isinstance(item.value, Broken):
            return
        elif item.key is None:
            self.record = item.value
            if is_message(item.value):
                self.talk.append(item.value)
        elif item.number is None:
            self.members[item.key] = item.value
        else:
            self.members[item.key].append(item.value)

    @property
    def object(self) -> dict[str, Any]:
        """What is known of the first record that is an object: the latest line or element, or the members."""
        return self.record if isinstance(self.record, dict) else self.members

    @property
    def messages(self) -> list[Any]:
        """The messages that have been seen of the first conversation."""
        found = self.talk or (self.record if isinstance(self.record, list) else self.object.get("messages"))
        return [message for message in found if isinstance(message, dict)] if isinstance(found, list) else []

    def first(self, key: str) -> Any:
        """The first element of a member that is an array, or None."""
        value = self.object.get(key)
        return value[0] if isinstance(value, list) and value else None


class Format(ABC):
    """One format of recorded runs."""

    name: str

    @abstractmethod
    def recognises(self, head: Head) -> bool:
        """Whether a file that begins like this is of this format."""

    def records(self, pieces: Iterator[Item]) -> Iterator[Item]:
        """One item for each run, with all that `trace` needs."""
        return assembled(pieces)

    @abstractmethod
    def trace(self, record: Any, options: Options) -> Trace:
        """One run. May raise whatever a record that is not as it should be leads to."""


def has(value: Any, *names: str) -> bool:
    """Whether this is an object with all of these members."""
    return isinstance(value, dict) and all(name in value for name in names)
