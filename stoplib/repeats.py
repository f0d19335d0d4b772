"""What has happened before in a run, and how often. Everything is counted as it happens; nothing is read again.

Two calls are the same if name and arguments are: the order of keys does not matter, the order of a
list does, and `1`, `1.0` and `True` are three different values. Two rounds are the same if calls
*and* results are, so an unchanged question with a changing answer is progress.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoplib.messages import ToolCall
from stoplib.tools import Traits

Key = tuple[str, str]

FLAT = frozenset({str, int, float, bool, type(None)})


def canonical(value: Any) -> str:
    """One text for all ways to write the same value.

    >>> canonical({"x": 1, "y": {"a": 1, "b": 2}}) == canonical({"y": {"b": 2, "a": 1}, "x": 1})
    True
    >>> canonical([1, 2]) == canonical([2, 1])
    False
    """
    if type(value) is dict and len(value) == 1:  # the usual case
        [(name, part)] = value.items()
        return f"{{{name!r}:{part!r}}}" if type(part) in FLAT else f"{{{name!r}:{canonical(part)}}}"
    if isinstance(value, Mapping):
        items = value.items() if len(value) < 2 else _sorted(value)
        parts = [f"{k!r}:{v!r}" if type(v) in FLAT else f"{k!r}:{canonical(v)}" for k, v in items]
        return "{" + ",".join(parts) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([canonical(part) for part in value]) + "]"
    return repr(value)


def without(text: str, volatile: Iterable[str]) -> str:
    """A JSON result without its volatile fields, at any depth; other text as it is.

    >>> without('{"id": 7, "state": "sent"}', ("id",))
    "{'state':'sent'}"
    """
    try:
        return canonical(_stripped(json.loads(text), frozenset(volatile)))
    except (ValueError, RecursionError):
        return text


class Repeats:
    """The repetitions of one run, up to now.

    call       how often the most repeated call of the current batch has been asked for
    round      how often the last round has happened, itself included
    in_a_row   how often the last round has happened without another one between
    same       rounds in a row that brought the same single result
    """

    def __init__(self, longest: int) -> None:
        self.call = 0
        self.round = 0
        self.same = 0
        self.longest = longest
        self._calls: dict[Key, int] = {}
        self._keys: list[Key] = []
        self._rounds: dict[Any, int] = {}
        self._history: list[Any] = []
        #: for each length, how many rounds in a row have been like the one that many rounds before
        self._matches = [0] * (longest + 1)
        self._any_match = False
        self._last_result: str | None = None
        self._polls: dict[Key, tuple[str, int]] = {}
        self._pushed = False

    @property
    def in_a_row(self) -> int:
        return self._matches[1] + 1 if self._history else 0

    def cycle(self, times: int, longest: int) -> int:
        """The length of a cycle whose last `times` passes are the last rounds, or 0 if there is none."""
        if self.round < times:
            return 0
        for length in range(1, longest + 1):
            if self._matches[length] >= length * (times - 1):
                return length
        return 0

    def asked(self, batch: Sequence[ToolCall], traits: Sequence[Traits]) -> int:
        """A reply has asked for these calls; `traits` may be empty if none of the tools is special.

        A batch is one unit, so a call counts once in it. Returns the characters of the arguments.
        """
        if len(batch) == 1 and not traits:  # the usual case
            [(name, args, _)] = batch
            text = self._canonical(args)
            key = (name, text)
            self._keys = [key]
            self.call = self._calls[key] = self._calls.get(key, 0) + 1
            self._pushed = False
            return len(text)
        keys = [(name, self._canonical(args)) for name, args, _ in batch]
        self._keys = keys
        counts = self._calls
        most = characters = 0
        for key in dict.fromkeys(keys):
            count = counts[key] = counts.get(key, 0) + 1
            characters += len(key[1])
            if count > most and not (traits and self._patient(key, traits[keys.index(key)])):
                most = count
        self.call = most
        # What acts on the world is judged by the request alone, and before it runs again.
        self._pushed = bool(traits) and any(trait.effect for trait in traits)
        if self._pushed:
            self._push(tuple(keys))
        return characters

    def _canonical(self, args: Any) -> str:
        try:
            return canonical(args)
        except Exception:  # nested too deep, or without a repr: equal to nothing
            return f"<arguments {len(self._history)}>"

    def answered(self, results: Sequence[tuple[ToolCall, str, str]], traits: Sequence[Traits]) -> None:
        """The last batch has these results: (call, text, status) each."""
        keys = self._keys
        if not keys:
            return
        if traits:
            self._answered_specially(results, traits)
            return
        if len(keys) == 1:
            text = results[0][1]
            self._same_result(text)
            self._push((keys[0], text))
            return
        texts = [text for _, text, _ in results]
        self._same_results(texts)
        self._push((*keys, *texts))

    def _answered_specially(self, results: Sequence[tuple[ToolCall, str, str]], traits: Sequence[Traits]) -> None:
        """The same for a batch in which a tool has declared something of itself."""
        keys: list[Any] = []
        texts: list[str] = []
        patient = False
        for key, (_, text, _), trait in zip(self._keys, results, traits, strict=True):
            if trait.volatile:
                text = without(text, trait.volatile)
            if trait.poll:
                patient = self._polled(key, text, trait.poll) or patient
            if trait.effect:
                text = ""
                if self._calls[key] == 1:  # something new was done, so an unchanged answer elsewhere is worth a look
                    self.same, self._last_result = 0, None
            else:
                texts.append(text)
            keys.append((key, text))
        if patient:
            self._push(object())  # a poll that is still in its patience is no repetition of anything
            self.same, self._last_result = 0, None
            return
        if texts:
            self._same_results(texts)
        if not self._pushed:
            self._push(tuple(keys))

    def _same_results(self, texts: list[str]) -> None:
        first = texts[0]
        if any(text != first for text in texts):
            self.same, self._last_result = 0, None
        else:
            self._same_result(first)

    def _same_result(self, text: str) -> None:
        if text == self._last_result:
            self.same += 1
        else:
            self.same, self._last_result = 1, text

    def _polled(self, key: Key, text: str, patience: int) -> bool:
        """Note one result of a poll; whether its patience is still enough."""
        last, count = self._polls.get(key, ("", 0))
        count = count + 1 if text == last else 1
        self._polls[key] = (text, count)
        return count < patience

    def _patient(self, key: Key, trait: Traits) -> bool:
        return trait.poll is not None and self._polls.get(key, ("", 0))[1] < trait.poll

    def _push(self, key: Any) -> None:
        """One more round; equal keys are equal rounds."""
        count = self.round = self._rounds.get(key, 0) + 1
        self._rounds[key] = count
        history = self._history
        if count > 1:
            matches = self._matches
            for length in range(1, min(self.longest, len(history)) + 1):
                matches[length] = matches[length] + 1 if history[-length] == key else 0
            self._any_match = True
        elif self._any_match:
            self._matches = [0] * (self.longest + 1)
            self._any_match = False
        history.append(key)


def _sorted(mapping: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    try:
        return sorted(mapping.items())
    except TypeError:  # keys, or values behind equal keys, that do not compare
        return sorted(mapping.items(), key=lambda item: repr(item[0]))


def _stripped(value: Any, volatile: frozenset[str]) -> Any:
    if isinstance(value, Mapping):
        return {name: _stripped(part, volatile) for name, part in value.items() if name not in volatile}
    if isinstance(value, list):
        return [_stripped(part, volatile) for part in value]
    return value
