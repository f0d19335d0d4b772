"""One pass over a run finds for each guard and each number what a replay of that guard alone finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoplib import Usage, replay
from stoplib.messages import ToolCall
from stoplib.prices import Price
from stoplib.traces.climbing import Climber
from stoplib.traces.formats.ours import trace_of
from stoplib.traces.ladders import Ladder, ladders, rungs
from stoplib.traces.tally import goes_on
from stoplib.traces.trace import DECLINED, ERROR, OK, Result, Trace, TraceStep

PRICE = Price(3, 15)
LADDERS = ladders(priced=True)
MANY = 12  # numbers of a ladder that are tried here, as far apart as it takes to reach over all of it

calls = st.builds(ToolCall, st.sampled_from(["look", "send"]), st.sampled_from([{}, {"q": 1}, "{broken"]))
results = st.tuples(st.sampled_from(["", "nothing", "here"]), st.sampled_from([OK, OK, OK, ERROR, DECLINED]))
usages = st.none() | st.builds(Usage, st.integers(0, 3000), st.integers(0, 300), st.integers(0, 2000), st.just(0))
stops = st.sampled_from([None, None, "end_turn", "tool_use", "length", "pause_turn", "strange"])


@st.composite
def steps(draw):
    """One step, in which a result may lack."""
    asked = tuple(draw(st.lists(calls, max_size=3)))
    came = tuple(None if draw(st.integers(0, 9)) == 0 else Result(call, *draw(results)) for call in asked)
    text = draw(st.sampled_from(["", "a text"]))
    return TraceStep(text, asked, came, draw(usages), None, draw(st.integers(0, 400)) / 4, draw(stops))


@st.composite
def repeating(draw):
    """A run, of which a part may come many times."""
    some = draw(st.lists(steps(), max_size=4))
    part = draw(st.lists(steps(), min_size=1, max_size=3))
    return tuple(some + part * draw(st.integers(1, 8)))


def cut_by(trace, guard):
    """Where this guard cuts a replay: (model calls, tool calls, tokens); None if it does not, or at the end alone."""
    outcome = trace.outcome(PRICE)
    ended = replay(outcome, [guard])
    if guard.name in ended.fired and (ended.steps < outcome.steps or ended.tool_calls < outcome.tool_calls):
        return len(ended.trace), ended.tool_calls, ended.usage.total
    return None


@given(repeating())
def test_one_pass_finds_what_a_replay_of_each_guard_finds(steps):
    """For every guard of the library and every number that is tried for it."""
    trace = Trace("a run", "a task", steps)
    some = [ladder._replace(numbers=ladder.numbers[:: -(-len(ladder.numbers) // MANY)]) for ladder in LADDERS]
    climbed = Climber(some).climb(trace, PRICE)
    for ladder, fired in zip(some, climbed.fired, strict=True):
        places = [tuple(place[:3]) for place in fired if goes_on(place, climbed.end)]
        silent = [None] * (len(ladder.numbers) - len(places))
        assert [cut_by(trace, guard) for guard in ladder.guards] == [*places, *silent]


@given(repeating())
def test_recordings_of_this_library_are_replayed(steps):
    """A run that was recorded by this library gives the same places as the trace that it is."""
    trace = Trace("a run", "a task", steps)
    own = trace_of(trace.outcome(PRICE), "a run")
    found, expected = (Climber(LADDERS).climb(one, PRICE) for one in (own, trace))
    assert expected.end == found.end
    for one, other in zip(expected.fired, found.fired, strict=True):
        assert [p for p in one if goes_on(p, expected.end)] == [p for p in other if goes_on(p, found.end)]


@given(repeating())
def test_a_trace_replays_as_it_was(steps):
    """A replay without guards has the steps, calls and tokens of the trace, and ends for the same reason."""
    trace = Trace("a run", "a task", steps)
    outcome = trace.outcome()
    again = replay(outcome, [])
    assert (outcome.reason, len(steps), outcome.tool_calls, outcome.usage) == (
        again.reason,
        len(again.trace),
        again.tool_calls,
        again.usage,
    )
    assert outcome.tool_calls == trace.tool_calls


class TestLadders:
    """The numbers that are tried."""

    @pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: ladder.name)
    def test_numbers_rise(self, ladder):
        """From the strictest on, each once, and each makes a guard."""
        assert list(ladder.numbers) == sorted(set(ladder.numbers))
        assert len(ladder.guards) == len(ladder.numbers)

    @pytest.mark.parametrize(
        ("least", "most", "expected"),
        [
            (7, 8, [8]),
            (10, 10, [10]),
            (11, 11, []),
            (9, 25, [10, 12, 15, 20, 25]),
            (0.5, 1, [0.5, 0.6, 0.8, 1]),
        ],
    )
    def test_rungs(self, least, most, expected):
        """Round numbers between two bounds, both included."""
        assert expected == list(rungs(least, most))

    @pytest.mark.parametrize(("least", "place"), [(0, 0), (5, 0), (5.1, 1), (10, 1), (20, 2), (21, None)])
    def test_the_first_number_that_is_enough(self, least, place):
        """A number itself is enough for itself; above the last there is none."""
        assert place == Ladder(len, (5, 10, 20)).rung(least)

    def test_without_a_price_there_is_no_budget_of_money(self):
        """A budget of money needs a price, and is left out without one."""
        assert {"cost_budget"} == {ladder.name for ladder in LADDERS} - {ladder.name for ladder in ladders()}
