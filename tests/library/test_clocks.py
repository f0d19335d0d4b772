"""Clocks that never wait."""

# ruff: noqa: SIM300

import pytest

from stoplib import ManualClock, TickClock


class TestManualClock:
    """A clock that moves only when it is told to."""

    def test_stands_still(self):
        """Reading it does not move it."""
        clock = ManualClock(5.0)
        assert (5.0, 5.0) == (clock(), clock())

    def test_starts_at_zero(self):
        """It starts at zero unless told otherwise."""
        assert 0.0 == ManualClock()()

    def test_advance(self):
        """It moves by what it is told, also backward, as a wall clock can."""
        clock = ManualClock(100)
        clock.advance(30)
        assert 130.0 == clock()
        clock.advance(-3600)
        assert -3470.0 == clock()

    def test_two_clocks_share_nothing(self):
        """Moving one clock leaves another where it is."""
        one, other = ManualClock(), ManualClock()
        one.advance(1)
        assert (1.0, 0.0) == (one(), other())


class TestTickClock:
    """A clock that moves by one step at each reading."""

    def test_each_reading_is_one_later(self):
        """The n-th reading is n-1 steps after zero."""
        clock = TickClock()
        assert [0.0, 1.0, 2.0, 3.0] == [clock() for _ in range(4)]

    def test_step(self):
        """The step can be chosen, and steps do not add up rounding errors."""
        clock = TickClock(0.1)
        assert [n * 0.1 for n in range(1000)] == [clock() for _ in range(1000)]

    def test_it_counts_its_readings(self):
        """It knows how often it was read, for tests of how often a loop looks at it."""
        clock = TickClock()
        clock(), clock()
        assert 2 == clock.readings

    @pytest.mark.parametrize("step", [float("nan"), float("inf"), -1, "1", None, True])
    def test_refuses_steps_that_are_no_time(self, step):
        """A step that is no finite number of at least zero is refused with its value."""
        with pytest.raises((TypeError, ValueError), match="TickClock: step must be a finite number"):
            TickClock(step)
