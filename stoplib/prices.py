"""What tokens cost. Prices are passed in; the package ships none, since they change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoplib.limits import amount
from stoplib.messages import Usage
from stoplib.values import Value

KINDS = ("input", "output", "cache_read", "cache_write")
MILLION = 1_000_000


class Price(Value):
    """Money per million tokens. Cached tokens cost what input costs unless a price is given.

    >>> Price(input=3, output=15).of(Usage(input=1_000_000, output=100_000))
    4.5
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def validate(self) -> None:
        for kind in KINDS:
            value = getattr(self, kind)
            if value is None and kind.startswith("cache"):
                value = self.input
            self.__dict__[kind] = amount("prices", kind, value)

    def as_dict(self) -> dict[str, float | None]:
        """The price as plain data."""
        return {kind: getattr(self, kind) for kind in KINDS}

    def of(self, usage: Usage) -> float:
        """What these tokens cost."""
        sent, answered, read, written = usage
        spent = sent * self.input + answered * self.output
        if read or written:
            spent += read * (self.cache_read or 0) + written * (self.cache_write or 0)
        return spent / MILLION


def name_of(model: Any) -> str:
    """The name that a model's price is looked up by: its `name`, or the function's own."""
    return str(getattr(model, "name", None) or getattr(model, "__name__", None) or type(model).__name__)


def price_of(model: Any, prices: Mapping[str, Any] | None) -> Price | None:
    """The price of a model: from `{"input": 3, "output": 15}`, or from `{"its name": {…}}`. None if there is none.

    >>> price_of(lambda messages: ..., {"input": 3, "output": 15})
    Price(3, 15, cache_read=3, cache_write=3)
    """
    if prices is None:
        return None
    if not isinstance(prices, Mapping):
        raise TypeError(f"prices must be a mapping such as {{'input': 3, 'output': 15}}, not {prices!r}")
    entry = prices if "input" in prices else prices.get(name_of(model))
    if entry is None or isinstance(entry, Price):
        return entry
    if not isinstance(entry, Mapping) or not {"input", "output"} <= set(entry) <= set(KINDS):
        kinds = ", ".join(KINDS)
        raise ValueError(f"prices: give money per million tokens for {kinds}, input and output at least; not {entry!r}")
    return Price(**entry)
