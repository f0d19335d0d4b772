"""Clocks that never wait: a run that "takes" an hour is tested in no time.

A clock is any callable that takes nothing and returns seconds as a number, such as `time.monotonic`.
"""

from stoplib.limits import amount


class ManualClock:
    """A clock that moves only when it is told to.

    >>> clock = ManualClock()
    >>> clock.advance(30)
    >>> clock()
    30.0
    """

    def __init__(self, start: float = 0.0) -> None:
        self._now = float(start)

    def __call__(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`; a negative number plays a wall clock that was set back."""
        self._now += seconds


class TickClock:
    """A clock that moves on by `step` seconds at each reading, so the n-th reading is exact.

    >>> clock = TickClock()
    >>> clock(), clock(), clock()
    (0.0, 1.0, 2.0)
    """

    def __init__(self, step: float = 1.0) -> None:
        self.step = amount("TickClock", "step", step)
        self.readings = 0

    def __call__(self) -> float:
        now = self.readings * self.step
        self.readings += 1
        return now
