"""Prices: what tokens cost. They are passed in."""

# ruff: noqa: SIM300

from decimal import Decimal
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoplib import Usage, answer, call, cost_budget, max_steps, replay, run, script
from stoplib.prices import KINDS, Price, name_of, price_of

from .helpers import LOOK, always, looking

MILLION = 1_000_000


class TestPrice:
    """`Price`: money per million tokens, by kind."""

    @pytest.mark.parametrize(("kind", "cost"), [("input", 3), ("output", 15), ("cache_read", 0.3), ("cache_write", 4)])
    def test_each_kind_has_its_price(self, kind, cost):
        """A million tokens of a kind cost what is given for it."""
        price = Price(input=3, output=15, cache_read=0.3, cache_write=4)
        assert cost == price.of(Usage(**{kind: MILLION}))

    @pytest.mark.parametrize("kind", ["cache_read", "cache_write"])
    def test_cached_tokens_cost_what_input_costs(self, kind):
        """Without a price of their own, cached tokens are not taken to be free."""
        assert 3 == Price(input=3, output=15).of(Usage(**{kind: MILLION}))

    def test_nought_is_a_price(self):
        """A price of nought for cached tokens is kept, and is not replaced by that of input."""
        assert 0 == Price(input=3, output=15, cache_read=0).of(Usage(cache_read=MILLION))

    def test_nothing_costs_nothing(self):
        """No tokens cost nothing."""
        assert 0 == Price(input=3, output=15).of(Usage())

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "3", True, [3]])
    def test_refuses_what_is_no_price(self, kind, value):
        """A price is a finite number of at least nought; the message names the kind and the value."""
        with pytest.raises((TypeError, ValueError)) as caught:
            Price(**{"input": 1, "output": 1, kind: value})
        assert f"prices: {kind} must be a finite number of at least 0, not {value!r}" == str(caught.value)

    @pytest.mark.parametrize("kind", ["input", "output"])
    def test_input_and_output_are_needed(self, kind):
        """None is no price for what every call has."""
        with pytest.raises((TypeError, ValueError)):
            Price(**{"input": 1, "output": 1, kind: None})

    def test_as_dict(self):
        """As plain data it can be made again."""
        price = Price(input=3, output=15, cache_read=0.3)
        assert {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3} == price.as_dict()
        assert price == Price(**price.as_dict())

    def test_is_a_value(self):
        """Equal prices are equal, and cannot be changed."""
        assert Price(1, 2) == Price(1, 2, 1, 1)
        assert Price(1, 2) != Price(2, 1)
        with pytest.raises(AttributeError):
            Price(1, 2).input = 0

    @given(st.lists(st.builds(Usage, *[st.integers(0, 10**6)] * 4), max_size=8))
    def test_the_sum_costs_the_sum(self, usages):
        """What a run costs is the sum of what its calls cost, and never goes down."""
        price = Price(input=3, output=15, cache_read=0.3, cache_write=3.75)
        costs = []

        def watch(run):
            costs.append(run.cost)

        replies = [call("look", usage=usage) for usage in usages]
        prices = price.as_dict()
        outcome = run(
            script(*replies, answer("x")), "go", tools=LOOK, guards=[watch, max_steps(9)], prices={"scripted": prices}
        )
        assert pytest.approx(price.of(outcome.usage), abs=1e-12) == outcome.cost
        assert sorted(costs) == costs
        assert 0.0 == costs[0]


class Named:
    """A model with a name of its own."""

    def __init__(self, name):
        self.name = name

    def __call__(self, messages):
        return answer("x", usage=Usage(MILLION))


def plain(messages):
    """A model that is a plain function."""
    return answer("x", usage=Usage(MILLION))


class TestNameOf:
    """`name_of`: what a model is called."""

    @pytest.mark.parametrize(
        ("model", "name"),
        [
            (Named("small-1"), "small-1"),
            (Named(None), "Named"),
            (Named(""), "Named"),
            (plain, "plain"),
            (partial(plain), "partial"),
            (Named("small-1").__call__, "__call__"),
        ],
    )
    def test_name(self, model, name):
        """Its `name`, else the function's own, else its class."""
        assert name == name_of(model)


class TestPriceOf:
    """`price_of`: which price holds for a model."""

    def test_one_price(self):
        """`{"input": …, "output": …}` is the price of whichever model runs."""
        assert Price(3, 15) == price_of(plain, {"input": 3, "output": 15})

    @pytest.mark.parametrize("entry", [{"input": 3, "output": 15}, Price(3, 15)], ids=["as data", "as Price"])
    def test_by_name(self, entry):
        """`{"its name": {…}}` is looked up by the model's name."""
        assert Price(3, 15) == price_of(Named("small-1"), {"big-2": {"input": 9, "output": 9}, "small-1": entry})

    @pytest.mark.parametrize("prices", [None, {}, {"big-2": {"input": 9, "output": 9}}, {"small-1": None}])
    def test_unknown(self, prices):
        """A model that is not there has no price; that is not nought."""
        assert price_of(Named("small-1"), prices) is None

    @pytest.mark.parametrize("prices", [[3, 15], "cheap", 3, Price(3, 15)])
    def test_refuses_what_is_no_mapping(self, prices):
        """Something else than a mapping is a TypeError with an example."""
        with pytest.raises(TypeError, match="prices must be a mapping such as"):
            price_of(plain, prices)

    @pytest.mark.parametrize(
        "entry",
        [
            {"input": 3},
            {"output": 15},
            {},
            {"input": 3, "output": 15, "cached": 1},
            {"in": 3, "out": 15},
            3,
            "cheap",
        ],
    )
    def test_refuses_what_is_incomplete(self, entry):
        """A missing or a misspelt kind is a ValueError that lists the kinds."""
        with pytest.raises(ValueError, match="input, output, cache_read, cache_write"):
            price_of(plain, {"plain": entry})

    def test_a_run_refuses_it_before_its_first_call(self):
        """Prices that cannot be are refused by `run`, before the model is called."""
        model = looking()
        for prices in ({"input": 3}, {"input": -3, "output": 1}, [3]):
            with pytest.raises((TypeError, ValueError)):
                run(model, "go", prices=prices)
        assert 0 == model.calls


class TestCost:
    """The cost of a run."""

    def test_without_prices_it_is_not_known(self):
        """Unknown is None, not nought."""
        outcome = run(always(answer("x", usage=Usage(MILLION))), "go")
        assert (None, None) == (outcome.cost, outcome.report()["spend"]["cost"])

    def test_with_prices(self):
        """It is on the outcome and in its report."""
        outcome = run(Named("small-1"), "go", prices={"small-1": {"input": 3, "output": 15}})
        assert (3.0, 3.0) == (outcome.cost, outcome.report()["spend"]["cost"])
        assert ("small-1", Price(3, 15)) == (outcome.model, outcome.price)

    def test_usage_that_cannot_be_costs_nothing(self):
        """Usage that ended the run is not part of the cost, which stays a number."""
        outcome = run(always(answer("x", usage=Usage(-5))), "go", prices={"input": 3, "output": 15})
        assert ("fatal", 0.0) == (outcome.reason, outcome.cost)

    def test_a_replay_knows_the_price(self):
        """A recorded run has its price with it, so a cost budget can be tried on it."""
        model = always(call("look", usage=Usage(MILLION)))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(5)], prices={"input": 3, "output": 15})
        assert ("cost_budget", 6.0) == (
            replay(outcome, [cost_budget(6), max_steps(9)]).reason,
            replay(outcome, [cost_budget(6), max_steps(9)]).cost,
        )

    def test_a_decimal_price(self):
        """A price as a Decimal is a price."""
        outcome = run(Named("small-1"), "go", prices={"input": Decimal("2.5"), "output": 1})
        assert 2.5 == outcome.cost
