"""A limit is checked when it is built, so that no run starts with one that cannot work."""

import math
import operator
from typing import Any


def whole(owner: str, name: str, value: Any, at_least: int = 0) -> int:
    """Return `value` as an int if it is a whole number of at least `at_least`.

    Raises TypeError or ValueError, with the owner, the name and the value in the message.

    >>> whole("max_steps", "n", 2.5)
    Traceback (most recent call last):
    TypeError: max_steps: n must be a whole number of at least 0, not 2.5
    """
    wanted = f"{owner}: {name} must be a whole number of at least {at_least}, not {value!r}"
    if isinstance(value, bool):
        raise TypeError(wanted)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(wanted) from None
    if number < at_least:
        raise ValueError(wanted)
    return number


def amount(owner: str, name: str, value: Any, above_zero: bool = False) -> float:
    """Return `value` as given if it is a finite number of at least zero (or above it).

    Raises TypeError or ValueError, with the owner, the name and the value in the message.

    >>> amount("time_limit", "seconds", float("nan"))
    Traceback (most recent call last):
    ValueError: time_limit: seconds must be a finite number of at least 0, not nan
    """
    bound = "above 0" if above_zero else "of at least 0"
    wanted = f"{owner}: {name} must be a finite number {bound}, not {value!r}"
    if isinstance(value, (bool, str, bytes, complex)):
        raise TypeError(wanted)
    try:
        finite = math.isfinite(value)
    except TypeError:
        raise TypeError(wanted) from None
    except OverflowError:
        finite = False
    if not finite or value < 0 or (above_zero and value == 0):
        raise ValueError(wanted)
    return value if isinstance(value, (int, float)) else float(value)


def flag(owner: str, name: str, value: Any) -> bool:
    """Return `value` if it is True or False. Raises TypeError.

    >>> flag("time_limit", "working", 3)
    Traceback (most recent call last):
    TypeError: time_limit: working must be True or False, not 3
    """
    if not isinstance(value, bool):
        raise TypeError(f"{owner}: {name} must be True or False, not {value!r}")
    return value


def a_time(reading: float) -> float:
    """Return what a clock shows. Raises TypeError for what is no number, and ValueError for a nan or an infinity.

    >>> a_time(float("nan"))
    Traceback (most recent call last):
    ValueError: the clock shows nan, which is no time
    """
    if not isinstance(reading, (int, float)):
        raise TypeError(f"the clock shows {reading!r}; it must be seconds as a number, such as time.monotonic gives")
    if not math.isfinite(reading):
        raise ValueError(f"the clock shows {reading!r}, which is no time")
    return reading


def in_full(number: float) -> str:
    """A number for people: whole ones in full, others to six digits.

    >>> in_full(1_234_567.0), in_full(0.1 + 0.2)
    ('1234567', '0.3')
    """
    return f"{number:.0f}" if number == number // 1 else f"{number:g}"


def in_seconds(seconds: float) -> str:
    """A time that was measured, for people: to the millisecond.

    >>> in_seconds(0.000204651), in_seconds(12.3456), in_seconds(90.0)
    ('0 s', '12.346 s', '90 s')
    """
    return f"{in_full(round(seconds, 3))} s"
