"""The two checks that every limit goes through when it is built."""

from decimal import Decimal
from fractions import Fraction

import pytest

from stoplib.limits import amount, whole

NAN, INF = float("nan"), float("inf")


class TestWhole:
    """`whole`: a whole number of at least some bound."""

    @pytest.mark.parametrize(
        ("value", "at_least", "fine"),
        [(-1, 0, False), (0, 0, True), (1, 0, True), (0, 1, False), (1, 1, True), (2, 1, True)],
    )
    def test_boundary(self, value, at_least, fine):
        """The bound itself is allowed, one less is not."""
        if fine:
            assert value == whole("g", "n", value, at_least)
        else:
            with pytest.raises(ValueError, match=f"g: n must be a whole number of at least {at_least}, not {value}"):
                whole("g", "n", value, at_least)

    @pytest.mark.parametrize(
        "value", [True, False, 1.0, 2.5, "3", b"3", None, NAN, INF, Decimal(1), Fraction(1), 1j, []]
    )
    def test_other_types(self, value):
        """What is not a whole number by its type is a TypeError with the value."""
        with pytest.raises(TypeError) as caught:
            whole("g", "n", value)
        assert f"g: n must be a whole number of at least 0, not {value!r}" == str(caught.value)


class TestAmount:
    """`amount`: a finite number that is not negative."""

    @pytest.mark.parametrize("value", [0, 0.0, 1, 0.001, 10**12, Fraction(1, 3), Decimal("0.10")])
    def test_numbers(self, value):
        """Numbers of any kind are taken for what they are worth."""
        assert float(value) == float(amount("g", "x", value))

    @pytest.mark.parametrize("value", [0, 0.0, -0.0, Decimal(0)])
    def test_zero_where_it_is_meaningless(self, value):
        """Zero is refused where the limit must be above it."""
        with pytest.raises(ValueError, match="g: x must be a finite number above 0, not"):
            amount("g", "x", value, above_zero=True)

    @pytest.mark.parametrize("value", [NAN, INF, -INF, -1, -1e-300, 10**400, Decimal("Infinity"), Fraction(-1, 9)])
    def test_refused_values(self, value):
        """NaN, infinite, negative and absurdly large numbers are a ValueError with the value."""
        with pytest.raises(ValueError) as caught:
            amount("g", "x", value)
        assert f"g: x must be a finite number of at least 0, not {value!r}" == str(caught.value)

    @pytest.mark.parametrize("value", [True, False, "3", b"3", None, 3j, [3], {}])
    def test_refused_types(self, value):
        """What is no number is a TypeError with the value."""
        with pytest.raises(TypeError) as caught:
            amount("g", "x", value)
        assert f"g: x must be a finite number of at least 0, not {value!r}" == str(caught.value)
