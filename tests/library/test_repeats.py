"""What has happened before in a run: when two calls, and when two rounds, are the same."""

# ruff: noqa: SIM300

import json
import math
from collections import OrderedDict
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoplib import ToolCall
from stoplib.repeats import Repeats, canonical, without
from stoplib.tools import ORDINARY, Traits

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def shuffled(value, order):
    """The same JSON value with the keys of each object in another order."""
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: shuffled(value[name], order) for name in names}
    return [shuffled(part, order) for part in value] if isinstance(value, list) else value


def strict(value):
    """A JSON value with the kind of each number and truth value written beside it: equal only where we say equal."""
    if isinstance(value, dict):
        return {name: strict(part) for name, part in value.items()}
    if isinstance(value, list):
        return [strict(part) for part in value]
    return type(value).__name__, math.copysign(1, value) if isinstance(value, float) else None, value


class TestCanonical:
    """`canonical`: one text for all ways to write the same value."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"x": 1, "y": {"a": 1, "b": 2}}, {"y": {"b": 2, "a": 1}, "x": 1}),
            ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}]),
            ({"x": (1, 2)}, {"x": [1, 2]}),
            ({"x": 1}, OrderedDict(x=1)),
            ({"x": {"y": 1}}, MappingProxyType({"x": MappingProxyType({"y": 1})})),
            ({1: "a", "b": 2}, {"b": 2, 1: "a"}),
            ({None: 1, "b": 2, (1, 2): 3}, {(1, 2): 3, "b": 2, None: 1}),
            ({"x": float("nan")}, {"x": float("nan")}),
        ],
    )
    def test_the_same(self, one, other):
        """Key order does not matter at any depth, nor which kind of mapping or sequence holds the parts."""
        assert canonical(one) == canonical(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ([1, 2], [2, 1]),
            ({"x": 1}, {"x": 1.0}),
            ({"x": 1}, {"x": True}),
            ({"x": 0}, {"x": False}),
            ({"x": 1}, {"x": "1"}),
            ({"x": None}, {"x": "None"}),
            ({"x": None}, {}),
            ({"x": "a"}, {"y": "a"}),
            ({"x": [1, [2]]}, {"x": [[1], 2]}),
            ({"x": []}, {"x": {}}),
            ({"a": 1, "b": 2}, {"a:1,'b'": 2}),
            ({"a": "1,'b':2"}, {"a": 1, "b": 2}),
            ({"x": "é"}, {"x": "e\u0301"}),
            ({1: "a"}, {"1": "a"}),
            ("{}", {}),
        ],
    )
    def test_not_the_same(self, one, other):
        """List order matters, `1`, `1.0`, `True` and `"1"` are four values, and no text looks like a structure."""
        assert canonical(one) != canonical(other)

    @given(JSON, st.randoms(use_true_random=False))
    def test_any_order_of_keys(self, value, order):
        """For any JSON value the order of keys does not matter."""
        assert canonical(value) == canonical(shuffled(value, order))

    @given(JSON, JSON)
    def test_equal_just_where_the_values_are(self, one, other):
        """Two JSON values have one text if and only if they are equal, their kinds included."""
        assert (strict(one) == strict(other)) == (canonical(one) == canonical(other))

    @pytest.mark.parametrize("value", [{1, 2}, b"bytes", object, 3j, range(3), float("inf")])
    def test_what_is_no_json(self, value):
        """A value that is no JSON has a text too."""
        assert canonical({"x": value}) == canonical({"x": value})

    def test_large_arguments(self):
        """A million characters are no matter."""
        assert canonical({"x": "a" * 1_000_000}) != canonical({"x": "a" * 999_999 + "b"})


class TestWithout:
    """`without`: a JSON result without its volatile fields."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('{"id": 7, "state": "sent"}', {"state": "sent"}),
            ('{"more": [{"id": 1, "x": 2}, {"deep": {"id": [3]}}]}', {"more": [{"x": 2}, {"deep": {}}]}),
            ('[{"id": 1}, {"id": 2}]', [{}, {}]),
            ('{"ids": 7}', {"ids": 7}),
            ('{"x": "id"}', {"x": "id"}),
            ('  {\n"id": 7, "x": 1}\n', {"x": 1}),
            ("[]", []),
            ("7", 7),
        ],
    )
    def test_json(self, text, expected):
        """Fields of that name are left out at any depth, and only fields."""
        assert canonical(expected) == without(text, ("id",))

    @pytest.mark.parametrize(
        "text", ["", "id: 7", '{"id": 7', "{'id': 7}", 'note: {"id": 7}', "[" * 100_000, "1" * 5000]
    )
    def test_other_text(self, text):
        """Text that is no JSON, or cannot be read, stays as it is."""
        assert text == without(text, ("id",))

    def test_several_fields(self):
        """All the names given are left out."""
        assert canonical({"x": 1}) == without('{"id": 7, "at": 8, "x": 1}', ("id", "at"))

    @given(JSON, st.randoms(use_true_random=False))
    def test_the_order_of_keys(self, value, order):
        """The same result written with its keys in another order is the same."""
        assert without(json.dumps(value), ("id",)) == without(json.dumps(shuffled(value, order), indent=2), ("id",))


def happened(*rounds, longest=8, traits=ORDINARY):
    """What has happened after these rounds, each a list of (name, result); one call per pair."""
    seen = Repeats(longest)
    for pairs in rounds:
        calls = [ToolCall(name) for name, _ in pairs]
        special = () if traits is ORDINARY else [traits] * len(calls)
        seen.asked(calls, special)
        seen.answered([(one, text, "ok") for one, (_, text) in zip(calls, pairs, strict=True)], special)
    return seen


def one_by_one(calls, result="r", **options):
    """One call a round, all with the same result."""
    return happened(*[[(name, result)] for name in calls], **options)


def longest_repeat(history, length):
    """By hand: how many of the last rounds are like the one `length` rounds before them."""
    count = 0
    for place in range(len(history) - 1, length - 1, -1):
        if history[place] != history[place - length]:
            break
        count += 1
    return count


class TestRepeats:
    """`Repeats`: the counts that guards look at."""

    def test_nothing_yet(self):
        """Before anything has happened all counts are nought."""
        seen = Repeats(8)
        assert (0, 0, 0, 0, 0) == (seen.call, seen.round, seen.same, seen.in_a_row, seen.cycle(2, 8))

    @pytest.mark.parametrize(
        ("calls", "call", "round_", "in_a_row"),
        [("a", 1, 1, 1), ("aa", 2, 2, 2), ("ab", 1, 1, 1), ("aba", 2, 2, 1), ("aabaa", 4, 4, 2), ("aaab", 1, 1, 1)],
    )
    def test_counts(self, calls, call, round_, in_a_row):
        """How often the last call was asked for, the last round happened, and happened without another in between."""
        seen = one_by_one(calls)
        assert (call, round_, in_a_row) == (seen.call, seen.round, seen.in_a_row)

    @pytest.mark.parametrize(
        ("calls", "times", "length"),
        [
            ("aa", 2, 1),
            ("abab", 2, 2),
            ("aba", 2, 0),
            ("ababab", 3, 2),
            ("ababab", 4, 0),
            ("xabcabc", 2, 3),
            ("abcabca", 2, 3),
            ("aabaab", 2, 3),
            ("aaaa", 2, 1),
            ("abba", 2, 0),
        ],
    )
    def test_cycles(self, calls, times, length):
        """The length of the shortest cycle that the last rounds have gone through so often."""
        assert length == one_by_one(calls).cycle(times, 8)

    @given(st.text("abc", max_size=40), st.integers(2, 4), st.integers(1, 10))
    def test_cycles_by_hand(self, calls, times, longest):
        """For any history, the cycle is the one that is found by reading all of it again."""
        lengths = [n for n in range(1, longest + 1) if longest_repeat(calls, n) >= n * (times - 1)]
        assert (lengths[0] if calls and lengths else 0) == one_by_one(calls, longest=10).cycle(times, longest)

    @given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("rst")), max_size=30))
    def test_counts_by_hand(self, pairs):
        """For any calls and results, the counts are those that are found by counting again."""
        seen = happened(*[[pair] for pair in pairs])
        if not pairs:
            return
        same = 0
        for _, text in reversed(pairs):
            if text != pairs[-1][1]:
                break
            same += 1
        names = [name for name, _ in pairs]
        assert (names.count(names[-1]), pairs.count(pairs[-1]), same) == (seen.call, seen.round, seen.same)

    def test_a_batch(self):
        """A batch is one round; its call is the one that was asked for most often; a call counts once in it."""
        seen = happened([("a", "r")], [("a", "r"), ("b", "r"), ("b", "r")])
        assert (2, 1, 2) == (seen.call, seen.round, seen.same)

    def test_results_of_a_batch_that_differ(self):
        """Different results in one batch are nothing that could be the same again."""
        seen = happened([("a", "r")], [("a", "r"), ("b", "s")])
        assert 0 == seen.same

    def test_no_calls_are_no_round(self):
        """A turn without calls leaves the rounds as they are."""
        seen = happened([("a", "r")], [], [("a", "r")])
        assert (2, 2) == (seen.round, seen.in_a_row)

    def test_effects_are_pushed_when_they_are_asked_for(self):
        """What acts on the world is counted as a round before it has a result."""
        seen = happened([("a", "r")], traits=Traits(effect=True))
        seen.asked([ToolCall("a")], [Traits(effect=True)])
        assert (2, 2) == (seen.round, seen.in_a_row)

    def test_the_characters_of_arguments(self):
        """What was asked for is measured by its canonical text."""
        seen = Repeats(8)
        assert len(canonical({"x": 1}) + canonical({})) == seen.asked(
            [ToolCall("a", {"x": 1}), ToolCall("b")], [ORDINARY] * 2
        )

    def test_a_long_run_costs_no_more(self):
        """A further round is counted without reading those before it again."""
        seen = one_by_one("abc" * 20)

        class Untouchable(list):
            def __iter__(self):
                raise AssertionError("the history was read again")

        seen._history = Untouchable(seen._history)
        calls = [ToolCall("a")]
        seen.asked(calls, ())
        seen.answered([(calls[0], "r", "ok")], ())
        assert (21, 3) == (seen.round, seen.cycle(2, 8))
