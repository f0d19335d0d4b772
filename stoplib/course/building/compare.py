"""Where two versions of a derived file first differ."""

import json
import os
from itertools import zip_longest
from typing import Any

_NOTHING = object()


def difference(stored: bytes, made: bytes) -> str:
    """Say in one line where two derived files first differ, for files that do differ."""
    try:
        new = json.loads(made)
    except ValueError:
        return _first_line(stored, made)
    try:
        old = json.loads(stored)
    except ValueError:
        return "the file is not JSON"
    return "only the layout, such as the ends of lines" if old == new else _first_difference(old, new, ())


def _first_line(stored: bytes, made: bytes) -> str:
    """Where two texts first differ, such as two pages."""
    lines = zip_longest(*(text.decode("utf-8", "replace").splitlines() for text in (stored, made)), fillvalue=_NOTHING)
    for number, (old, new) in enumerate(lines, start=1):
        if old != new:
            old, new = _excerpts(old, new)
            return f"line {number}: {old} in the file, {new} when built"
    return "only the layout, such as the ends of lines"


def _first_difference(stored: Any, made: Any, trail: tuple[str, ...]) -> str:
    if isinstance(stored, dict) and isinstance(made, dict):
        # The text of a cell comes before the outputs that follow from it.
        keys = sorted(stored | made, key=lambda key: (key not in ("id", "source"), key))
        pairs = [(key, stored.get(key, _NOTHING), made.get(key, _NOTHING)) for key in keys]
    elif isinstance(stored, list) and isinstance(made, list):
        pairs = [
            (_label(number, old, new), old, new)
            for number, (old, new) in enumerate(zip_longest(stored, made, fillvalue=_NOTHING), start=1)
        ]
    else:
        old, new = _excerpts(stored, made)
        return f"{' '.join(trail)}: {old} in the file, {new} when built"
    label, old, new = next(pair for pair in pairs if pair[1] != pair[2])
    return _first_difference(old, new, (*trail, label))


def _label(number: int, old: Any, new: Any) -> str:
    item = old if new is _NOTHING else new
    return repr(item["id"]) if isinstance(item, dict) and "id" in item else str(number)


def _excerpts(stored: Any, made: Any) -> tuple[str, str]:
    start = 0
    if isinstance(stored, str) and isinstance(made, str):
        start = max(0, len(os.path.commonprefix([stored, made])) - 20)
    return _excerpt(stored, start), _excerpt(made, start)


def _excerpt(value: Any, start: int) -> str:
    if value is _NOTHING:
        return "nothing"
    if isinstance(value, str):
        return repr(value[start : start + 60])
    return json.dumps(value)[:60]
