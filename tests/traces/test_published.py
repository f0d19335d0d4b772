"""The two published sources come out as they were counted before, run by run and rule by rule."""

# ruff: noqa: SIM300

import math
from functools import cache
from statistics import median_low

import pytest

from stoplib import max_tool_calls
from stoplib.traces import FAILURE, SUCCESS, Ladder, read
from stoplib.traces.sweep import tallied
from stoplib.traces.tally import together
from tests.traces.published_rules import BY_MESSAGE, PUBLISHED, TIMES_THE_MEDIAN, ladder, one_call_a_step
from tests.traces.shared import TAU, TAU2, needs_shared_runs

pytestmark = needs_shared_runs
SOURCES = (TAU, TAU2)


@cache
def runs_of(source):
    """All runs of a source."""
    return list(read(sorted(source.glob("*.json.gz"))))


@cache
def flat(source):
    """The same with one call a step."""
    return [one_call_a_step(trace) for trace in runs_of(source)]


def cut(runs, ladders):
    """For each ladder and number (failures stopped, successes lost), and how many of each there are."""
    tally = tallied(runs, ladders)
    all_runs = together(tally.groups.values())
    found = {
        (place, number): tuple(
            spent.runs if (spent := all_runs.cut.get((place, rung, label))) else 0 for label in (FAILURE, SUCCESS)
        )
        for place, one in enumerate(ladders)
        for rung, number in enumerate(one.numbers)
    }
    return found, [tally.report.labels[label] for label in (FAILURE, SUCCESS)]


def percent(counts, wholes):
    """As the table writes it: failures stopped / successes lost."""
    return "/".join(f"{100 * count / whole:.1f}" for count, whole in zip(counts, wholes, strict=True))


@cache
def table(source, by_message):
    """What this library finds: {rule: {number: "stopped/lost"}}."""
    rules = BY_MESSAGE if by_message else PUBLISHED
    ladders = [ladder(counts, *numbers) for counts, numbers in rules.values()]
    found, wholes = cut(runs_of(source) if by_message else flat(source), ladders)
    return {
        name: {number: percent(found[place, number], wholes) for number in ladders[place].numbers}
        for place, name in enumerate(rules)
    }


class TestCounts:
    """Runs, labels, calls."""

    @pytest.mark.parametrize(
        ("source", "runs", "successes", "calls", "without_a_call"),
        [(TAU, 200, 84, 1164, 18), (TAU2, 330, 202, 3308, 3)],
    )
    def test_runs_successes_and_calls(self, source, runs, successes, calls, without_a_call):
        """Nothing is lost on the way, and nothing is counted twice."""
        found = runs_of(source)
        assert [runs, successes, runs - successes] == [
            len(found),
            sum(trace.label == SUCCESS for trace in found),
            sum(trace.label == FAILURE for trace in found),
        ]
        assert [calls, without_a_call] == [
            sum(trace.tool_calls for trace in found),
            sum(not trace.tool_calls for trace in found),
        ]

    @pytest.mark.parametrize(
        ("source", "label", "lengths"),
        [
            (TAU, SUCCESS, [3, 10, 11, 13]),
            (TAU, FAILURE, [7, 14, 18, 27]),
            (TAU2, SUCCESS, [7, 16, 19, 29]),
            (TAU2, FAILURE, [8, 25, 32, 99]),
        ],
    )
    def test_lengths(self, source, label, lengths):
        """Median, p90, p95 and the most tool calls of a run."""
        calls = sorted(trace.tool_calls for trace in runs_of(source) if trace.label == label)
        places = [(len(calls) - 1) // 2, *(math.ceil(share * len(calls)) - 1 for share in (0.9, 0.95, 1))]
        assert lengths == [calls[place] for place in places]

    def test_every_token_is_known(self):
        """tau2-bench reports usage with each call, the canned greeting apart, which is none."""
        reading = read(sorted(TAU2.glob("*.json.gz")))
        assert 330 == len(list(reading))
        assert (reading.report.steps, 0) == (reading.report.with_usage, reading.report.dropped.total())

    def test_costs_of_unknown_prices(self):
        """A cost of 0 is that of a model whose price nobody knew: 190 runs have no known cost."""
        assert 190 == sum("cost" not in trace.known for trace in runs_of(TAU2))


@pytest.mark.parametrize("place", [0, 1], ids=["tau-bench", "tau2-bench"])
class TestRules:
    """Failures stopped and successes lost, in percent to one digit."""

    @pytest.mark.parametrize("name", [*PUBLISHED, *BY_MESSAGE])
    def test_rule(self, name, place):
        """Each rule with each of its numbers."""
        _, expected = (PUBLISHED | BY_MESSAGE)[name]
        assert {n: both.split()[place] for n, both in expected.items()} == table(SOURCES[place], name in BY_MESSAGE)[
            name
        ]

    @pytest.mark.parametrize("times", TIMES_THE_MEDIAN)
    def test_times_the_median_of_the_file(self, times, place):
        """A limit for each file: so many times the calls of its median success, rounded up."""
        source = SOURCES[place]
        stopped, wholes = [0, 0], [0, 0]
        for file in {trace.source for trace in runs_of(source)}:
            runs = [trace for trace in flat(source) if trace.source == file]
            median = median_low(trace.tool_calls for trace in runs if trace.label == SUCCESS)
            limit = math.ceil(times * median)
            found, whole = cut(runs, [ladder(PUBLISHED["at most so many calls"][0], limit)])
            stopped = [a + b for a, b in zip(stopped, found[0, limit], strict=True)]
            wholes = [a + b for a, b in zip(wholes, whole, strict=True)]
        assert TIMES_THE_MEDIAN[times].split()[place] == percent(stopped, wholes)

    def test_the_library_s_own_quota(self, place):
        """`max_tool_calls`, which looks before a batch, stops and loses the same where each reply asks for one call."""
        numbers = PUBLISHED["at most so many calls"][1]
        found, wholes = cut(flat(SOURCES[place]), [Ladder(max_tool_calls, tuple(numbers))])
        assert {n: both.split()[place] for n, both in numbers.items()} == {
            n: percent(found[0, n], wholes) for n in numbers
        }


def test_five_runaways():
    """Five of 330 runs made 12.7 % of the calls and used 14.6 % of the tokens, with one and the same call."""
    runs = runs_of(TAU2)
    calls, tokens = (
        [sum(value(trace) for trace in which) for which in (sorted(runs, key=lambda t: t.tool_calls)[-5:], runs)]
        for value in (lambda t: t.tool_calls, lambda t: sum(step.usage.total for step in t.steps))
    )
    assert ["12.7", "14.6"] == [f"{100 * part / whole:.1f}" for part, whole in (calls, tokens)]
