"""JSON of any size, piece by piece: lines, the elements of an array, the members of an object.

A member that is an array comes element by element as well, so that no more than one element is held at a time. What
is broken comes as a `Broken` in its place, and the rest goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any, NamedTuple, TextIO

CHUNK = 1 << 20
LARGEST = 1 << 28
"""The characters that one piece may have; what has more is not looked for to its end."""

BLANK = re.compile(r"\s*")
STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+("?)|[\[\]{},]', re.DOTALL)
NEXT_DOCUMENT = re.compile(r"\n(?=[{\[])")


class Broken(NamedTuple):
    """Stands where something cannot be read: why, the same words for all of a kind, and more about this one."""

    why: str
    detail: str = ""


NO_JSON = "no JSON"
BREAKS_OFF = "breaks off"
NOT_AS = "not as it should be"

NOT_AS_IT_SHOULD = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError)
"""What comes of a record that has something else in it than its format says."""


def broken_by(error: Exception) -> Broken:
    """What stands for a record that led to this error."""
    return Broken(NOT_AS, f"no {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}")


class End:
    """Stands where a document ends."""


END = End()


class Item(NamedTuple):
    """One piece of a file.

    value    what it is, a `Broken`, or `END`
    key      the member of the document's object that it is or belongs to, or None
    number   its line, or its place in an array, from 1
    """

    value: Any
    key: str | None = None
    number: int | None = None

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        if self.key is None:
            return "" if self.number is None else f"record {self.number}"
        return self.key if self.number is None else f"{self.key}[{self.number}]"


def items(file: TextIO) -> Iterator[Item]:
    """The pieces of a file.

    >>> from io import StringIO
    >>> [item.value for item in items(StringIO('{"a": 1}\\n{"a": 2}\\n')) if item.value is not END]
    [{'a': 1}, {'a': 2}]
    >>> [(item.key, item.value) for item in items(StringIO('{"a": 1, "b": [2, 3]}')) if item.value is not END]
    [('a', 1), ('b', []), ('b', 2), ('b', 3)]
    """
    buffer = Buffer(file)
    buffer.more()
    yield from lines(buffer) if _is_lines(buffer.text) else documents(buffer)


def _is_lines(head: str) -> bool:
    """Whether each line is a piece of its own. One line alone is a document."""
    first, newline, rest = head.lstrip("\ufeff \t\r\n").partition("\n")
    if not newline or first.strip() in ("", "{", "["):
        return False
    if _parses(first):
        return bool(rest.strip())
    second = rest.partition("\n")[0]
    return second.lstrip().startswith("{") and _parses(second)


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def lines(buffer: Buffer) -> Iterator[Item]:
    """Each line as a piece."""
    for number, line in enumerate(buffer.lines(), 1):
        if line := line.strip("\ufeff \t\r\n"):
            try:
                yield Item(json.loads(line), number=number)
            except (ValueError, RecursionError) as error:
                yield Item(Broken(NO_JSON, str(error)), number=number)
    yield Item(END)


def documents(buffer: Buffer) -> Iterator[Item]:
    """One document after the other; usually there is one."""
    while opening := buffer.peek():
        try:
            if opening == "[":
                yield from elements(buffer, None)
            elif opening == "{":
                yield from members(buffer)
            else:
                yield Item(buffer.value())
        except Malformed as error:
            yield Item(error.broken)
            if not buffer.skip_to(NEXT_DOCUMENT):
                yield Item(END)
                return
        yield Item(END)


def members(buffer: Buffer) -> Iterator[Item]:
    """The members of an object."""
    buffer.expect("{")
    while buffer.peek() != "}":
        key = str(buffer.value())
        buffer.expect(":")
        if buffer.peek() == "[":
            yield Item([], key)
            yield from elements(buffer, key)
        else:
            yield Item(buffer.value_or_broken(), key)
        if buffer.peek() == ",":
            buffer.expect(",")
    buffer.expect("}")


def elements(buffer: Buffer, key: str | None) -> Iterator[Item]:
    """The elements of an array."""
    buffer.expect("[")
    number = 0
    while buffer.peek() != "]":
        number += 1
        yield Item(buffer.value_or_broken(), key, number)
        if buffer.peek() == ",":
            buffer.expect(",")
    buffer.expect("]")


class Malformed(ValueError):
    """The text is no JSON here."""

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(f"{why}: {detail}")
        self.broken = Broken(why, detail)


class Buffer:
    """The text of a file from some place on; more of it is read when it is needed."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.text = ""
        self.at = 0
        self.ended = False
        self._decoder = json.JSONDecoder()

    def more(self) -> bool:
        """Read on, as much again as there is. Whether there was anything."""
        self.text = self.text[self.at :]
        self.at = 0
        chunk = self.file.read(max(CHUNK, len(self.text)))
        self.text += chunk
        self.ended = not chunk
        return bool(chunk)

    def lines(self) -> Iterator[str]:
        """The lines from here on."""
        for line in StringIO(self.text[self.at :]):
            yield line if line.endswith("\n") else line + self.file.readline()
        yield from self.file

    def peek(self) -> str:
        """The next character that is not blank, or "" at the end."""
        while True:
            self.at = BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.text.startswith("\ufeff", self.at):
                self.at += 1
            elif self.at < len(self.text):
                return self.text[self.at]
            elif not self.more():
                return ""

    def expect(self, character: str) -> None:
        """Pass this character. Raises Malformed if another one stands here."""
        found = self.peek()
        if found != character:
            raise Malformed(NO_JSON, f"{found!r} where {character!r} should be") if found else Malformed(BREAKS_OFF)
        self.at += 1

    def value(self) -> Any:
        """The value that begins here. Raises Malformed."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                if not self.ended and self._end_of_structure() is None and len(self.text) - self.at < LARGEST:
                    self.more()
                    continue
                whole = self._end_of_structure() is not None
                raise Malformed(NO_JSON if whole else BREAKS_OFF, str(error)) from error
            if end == len(self.text) and self.text[-1] not in '"]}' and self.more():
                continue  # a number may go on
            self.at = end
            return value

    def value_or_broken(self) -> Any:
        """The value that begins here, or a `Broken` in its place. Raises Malformed if its end cannot be found."""
        if not self.peek():
            raise Malformed(BREAKS_OFF)
        try:
            return self.value()
        except Malformed as error:
            end = self._end_of_structure()
            if end is None or end == self.at:  # there would be no progress
                raise
            self.at = end
            return error.broken

    def skip_to(self, place: re.Pattern[str]) -> bool:
        """Go to the next such place. Whether there is one."""
        while True:
            if found := place.search(self.text, self.at):
                self.at = found.end()
                return True
            self.at = max(self.at, len(self.text) - 1)
            if not self.more():
                self.at = len(self.text)
                return False

    def _end_of_structure(self) -> int | None:
        """Where the value that begins here ends, by brackets and commas alone; None if that is not in the text."""
        depth = 0
        for found in STRUCTURE.finditer(self.text, self.at):
            token = found[0]
            if token in ("[", "{"):
                depth += 1
            elif token in ("]", "}"):
                if depth <= 1:
                    return found.end() if depth else found.start()
                depth -= 1
            elif token == ",":
                if not depth:
                    return found.start()
            elif not found[1]:
                return None  # a string that goes on
        return None
