"""What holds for every run, whatever the model says and wherever it is stopped."""

# ruff: noqa: SIM300

import asyncio
import functools
from collections import Counter
from copy import deepcopy
from operator import attrgetter

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from stoplib import (
    Fatal,
    Guard,
    ManualClock,
    Outcome,
    Reply,
    ToolCall,
    Usage,
    arun,
    cost_budget,
    going_in_circles,
    load,
    max_steps,
    max_tool_calls,
    no_new_results,
    repeated_call,
    repeated_round,
    replay,
    rough_token_budget,
    run,
    steps,
    time_limit,
    token_budget,
    too_many_errors,
    too_many_refusals,
)
from stoplib.guards import GATES
from stoplib.guards.core import AllOf, AnyOf, Function, Joined

from .helpers import contents, requests, results, state

NAMES = ["look", "bad", "exhausted", "odd", "unknown", "declined"]
ARGS = [{}, {"x": 1}, {"more": 1, "x": [1, {"y": None}]}, "{", None, [1]]
IDS = [None, None, "a", "call_1_2"]

CALLS = st.builds(ToolCall, st.sampled_from(NAMES), st.sampled_from(ARGS), st.sampled_from(IDS))
STOPS = st.sampled_from([None, None, None, None, "tool_use", "end_turn", "pause_turn", "length", "refusal", "what"])
USAGES = st.builds(Usage, *[st.integers(0, 1000)] * 4)
REPLIES = st.builds(
    Reply, st.sampled_from(["", "text"]), st.lists(CALLS, max_size=4).map(tuple), usage=USAGES, stop=STOPS
)
# Mostly sound replies with at least one request, so that runs get far; now and then any reply, or none at all.
SOUND = st.builds(Reply, st.just(""), st.lists(CALLS, min_size=1, max_size=4).map(tuple), usage=USAGES)
SCRIPTS = st.lists(st.one_of(SOUND, SOUND, SOUND, REPLIES, st.sampled_from([None, Reply(usage=Usage(-1))])), max_size=6)

PLACES = st.sampled_from(["model", "tool", "approve", "guard", "on_event", "nowhere"])
ERRORS = st.sampled_from([KeyboardInterrupt, Fatal, ValueError, StopIteration])
BLOWS = st.tuples(PLACES, st.integers(1, 8), ERRORS)
CLOCK_STEPS = st.lists(st.sampled_from([0, 1, 2.5, -3600, 3600, -1]), max_size=12)
NOWHERE = ("nowhere", 1, ValueError)


class World:
    """A scripted model with its tools, its person and its listener, one of which raises at some moment."""

    def __init__(self, script, blow=NOWHERE, clock_steps=()):
        self.script = script
        self.place, self.moment, self.error = blow
        self.counts = Counter()
        self.events = []
        self.clock = ManualClock(50.0)
        self.clock_steps = list(clock_steps)
        self.tools = {name: getattr(self, name) for name in NAMES if name != "unknown"}

    def at(self, place):
        """Count that this place was come to; raise if this is the moment. Time passes, or goes back."""
        self.counts[place] += 1
        if self.clock_steps:
            self.clock.advance(self.clock_steps.pop(0))
        if (place, self.counts[place]) == (self.place, self.moment):
            raise self.error("the blow")

    def model(self, messages):
        self.at("model")
        step = self.counts["model"] - 1
        return self.script[step] if step < len(self.script) else Reply("done")

    def look(self, x=0):
        self.at("tool")
        return "nothing"

    def bad(self, **args):
        self.at("tool")
        raise ValueError("cannot")

    def exhausted(self, **args):
        self.at("tool")
        return next(iter(()))

    def odd(self, **args):
        self.at("tool")
        return {("no", "json"): {1}}

    def declined(self, **args):
        raise AssertionError("a declined tool must never run")

    def approve(self, asked):
        self.at("approve")
        return asked.name != "declined"

    def guard(self, run):
        self.at("guard")

    def listen(self, event):
        self.events.append(event)
        if event.kind != "end":
            self.at("on_event")

    def options(self, guards, approve=True, summarize=False):
        return {
            "summarize": summarize,
            "prices": {"input": 3, "output": 15},
            "tools": self.tools,
            "guards": [self.guard, *guards],
            "clock": self.clock,
            "approve": self.approve if approve else None,
        }


def facts(outcome):
    """An outcome as something that can be compared: all but the exception itself."""
    return (
        *(outcome.reason, outcome.detail, outcome.answer, outcome.text, outcome.steps, outcome.tool_calls),
        *(outcome.usage, outcome.seconds, outcome.waited, outcome.messages, outcome.trace, outcome.fired),
        *(outcome.cost, outcome.summary, type(outcome.error)),
    )


@given(SCRIPTS, BLOWS, st.integers(0, 7), CLOCK_STEPS)
@example([Reply(calls=(ToolCall("look"),) * 3)], ("tool", 2, KeyboardInterrupt), 3, [])
@example([Reply(calls=(ToolCall("look"),) * 3)], ("approve", 2, Fatal), 3, [])
@example([Reply(calls=(ToolCall("look"),) * 3)], ("on_event", 3, KeyboardInterrupt), 3, [])
@example([Reply(calls=(ToolCall("look"),) * 3)], ("model", 2, StopIteration), 3, [])
def test_every_run(script, blow, n, clock_steps):
    """Whatever happens, a run is one outcome with a whole transcript, within its limit."""
    world = World(script, blow, clock_steps)
    outcome = run(world.model, "go", on_event=world.listen, **world.options([max_steps(n)]))
    assert isinstance(outcome, Outcome)

    # N steps are at most N model calls
    assert world.counts["model"] <= n
    assert outcome.steps == len(outcome.trace) <= world.counts["model"]

    # exactly one end, which is the last event and holds the outcome
    assert [outcome] == [e.outcome for e in world.events if e.kind == "end"]
    assert "end" == world.events[-1].kind

    # every request has exactly one result, in its own round and in order
    assert requests(outcome.messages) == results(outcome.messages)
    assert [len(step.reply.calls) for step in outcome.trace] == [len(step.results) for step in outcome.trace]

    # the counts are those of the transcript
    statuses = [result.status for step in outcome.trace for result in step.results]
    assert sum(status in ("ok", "error") for status in statuses) == outcome.tool_calls
    assert [status != "ok" for status in statuses] == [m["is_error"] for m in outcome.messages if m["role"] == "tool"]

    # what was not run is the end of the last batch, and nothing of it is there after an answer
    cut = statuses.index("not_run") if "not_run" in statuses else len(statuses)
    assert {"not_run"} >= set(statuses[cut:])
    assert len(statuses) - cut <= (len(outcome.trace[-1].results) if outcome.trace else 0)
    assert outcome.reason != "answered" or cut == len(statuses)

    # one reason, and what follows from it
    assert (outcome.reason == "answered") == outcome.complete == (outcome.answer is not None)
    assert (outcome.reason == "fatal") == (outcome.error is not None)
    assert (("max_steps",) if outcome.reason == "max_steps" else ()) == outcome.fired
    assert 0 <= outcome.waited <= outcome.seconds


@given(SCRIPTS, BLOWS, st.integers(0, 7))
def test_a_blow_ends_a_run_with_its_own_reason(script, blow, n):
    """A signal ends the run wherever it strikes; an error does so unless a tool raised it."""
    world = World(script, blow)
    outcome = run(world.model, "go", on_event=world.listen, **world.options([max_steps(n)]))
    place, moment, error = blow
    if world.counts[place] < moment or (place == "tool" and issubclass(error, Exception)):
        assert "the blow" not in outcome.detail
        assert "interrupted" != outcome.reason
    else:
        assert ("interrupted" if error is KeyboardInterrupt else "fatal") == outcome.reason
        assert moment == world.counts[place]


@given(SCRIPTS, BLOWS.filter(lambda blow: blow[0] != "on_event"), st.integers(0, 7), CLOCK_STEPS, st.booleans())
def test_run_and_steps_agree(script, blow, n, clock_steps, approve):
    """`run`, watched or not, and `steps` give the same outcome, and the same events."""
    plain, watched, stepped = (World(script, blow, clock_steps) for _ in range(3))
    guards = [max_steps(n), time_limit(100)]
    one = run(plain.model, "go", **plain.options(guards, approve))
    two = run(watched.model, "go", on_event=watched.events.append, **watched.options(guards, approve))
    events = list(steps(stepped.model, "go", **stepped.options(guards, approve)))
    assert facts(one) == facts(two) == facts(events[-1].outcome)
    assert [(e.kind, e.step, str(e.result)) for e in watched.events] == [
        (e.kind, e.step, str(e.result)) for e in events
    ]


@given(SCRIPTS, st.integers(0, 7), CLOCK_STEPS)
def test_same_guards_same_run(script, n, clock_steps):
    """The same guards and tools give the same run a second time."""
    guards = [max_steps(n) | time_limit(5), time_limit(3) & max_steps(2)]
    first, second = World(script, clock_steps=clock_steps), World(script, clock_steps=clock_steps)
    outcomes = [run(world.model, "go", **world.options(guards)) for world in (first, second)]
    assert facts(outcomes[0]) == facts(outcomes[1])


@given(CLOCK_STEPS, st.integers(0, 6))
def test_time_never_goes_back(clock_steps, n):
    """However the clock jumps, the seconds never go down, are never negative, and waiting is part of them."""
    seen = []

    def watch(run):
        seen.append((run.seconds, run.waited))

    world = World([Reply(calls=(ToolCall("look"), ToolCall("declined")))] * n, clock_steps=clock_steps)
    outcome = run(world.model, "go", **world.options([watch, max_steps(n)]))
    seen.append((outcome.seconds, outcome.waited))
    for these in zip(*seen, strict=True):
        assert sorted(these) == list(these)
        assert these[0] == 0.0
    assert [] == [pair for pair in seen if pair[1] > pair[0]]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.integers(1, 100))
def test_time_limit_is_exact(rounds, limit):
    """With a clock that only goes forward, the calls made are those that start before the limit."""
    clock = ManualClock(7.0)
    model = World([Reply(calls=(ToolCall("work", {"seconds": s}),)) for s in rounds]).model
    outcome = run(model, "go", tools={"work": clock.advance}, guards=[time_limit(limit)], clock=clock)
    starts = [sum(rounds[:i]) for i in range(len(rounds) + 1)]
    in_time = [start for start in starts if start < limit]
    reason = "answered" if len(in_time) == len(starts) else "time_limit"
    assert (reason, in_time) == (outcome.reason, [step.seconds for step in outcome.trace])


def fires_from_two(run):
    """A plain function as a part of combinations."""
    return "two" if run.steps >= 2 else None


def readable(guard):
    """Whether Python can read the source back: it cannot join two plain functions that stand side by side."""
    parts = guard.guards if isinstance(guard, Joined) else ()
    return all(map(readable, parts)) and not (len(parts) > 1 and all(isinstance(g, Function) for g in parts[:2]))


GATE = st.none() | st.sampled_from(GATES)
LEAVES = st.one_of(
    st.builds(max_steps, st.integers(0, 5)),
    st.builds(max_steps, st.integers(1, 5), gate=GATE),
    st.builds(time_limit, st.integers(0, 5) | st.floats(0, 5, allow_nan=False), working=st.booleans(), gate=GATE),
    st.builds(max_tool_calls, st.integers(0, 6), gate=GATE),
    st.builds(max_tool_calls, st.integers(0, 3), tool=st.sampled_from(NAMES)),
    st.builds(token_budget, st.integers(9, 5000), hard=st.booleans(), reserve=st.integers(0, 9), gate=GATE),
    st.builds(cost_budget, st.floats(0.001, 0.01), hard=st.booleans(), reserve=st.just(0.001), gate=GATE),
    st.builds(rough_token_budget, st.integers(0, 300), gate=GATE),
    st.builds(repeated_call, st.integers(1, 4), gate=GATE),
    st.builds(repeated_round, st.booleans(), gate=GATE),
    st.builds(going_in_circles, st.integers(2, 3), st.integers(1, 4), gate=GATE),
    st.builds(no_new_results, st.integers(1, 4), gate=GATE),
    st.builds(too_many_errors, st.integers(1, 4), gate=GATE),
    st.builds(too_many_refusals, st.integers(1, 4), gate=GATE),
)
GUARDS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a: fires_from_two | a, inner),
        st.builds(lambda a: a & fires_from_two, inner),
    ),
    max_leaves=6,
)
STATES = st.builds(state, st.integers(0, 6), st.floats(0, 6), st.just(0.0))


@given(GUARDS.filter(readable))
def test_repr_is_source(guard):
    """Evaluating the repr of any guard or combination gives an equal one, with an equal hash and repr."""
    again = eval(repr(guard))
    assert guard == again
    assert (hash(guard), repr(guard), guard.gate) == (hash(again), repr(again), again.gate)


@given(GUARDS)
def test_combinations_are_flat(guard):
    """No `|` stands directly inside a `|`, and no `&` inside a `&`."""
    for kind in (AnyOf, AllOf):
        if isinstance(guard, kind):
            assert not any(isinstance(part, kind) for part in guard.guards)


@given(GUARDS, GUARDS, STATES)
def test_any_and_all_mean_what_they_say(a, b, run_so_far):
    """Looked at directly, `a | b` fires if one does and `a & b` if both do."""
    one, other = a(run_so_far) is not None, b(run_so_far) is not None
    assert (one or other, one and other) == ((a | b)(run_so_far) is not None, (a & b)(run_so_far) is not None)


@given(GUARDS, STATES)
def test_a_guard_only_looks(guard, run_so_far):
    """Looking changes neither the run nor the guard: a second look sees the same."""
    before = repr(guard), dict(vars(run_so_far))
    assert guard(run_so_far) == guard(run_so_far)
    assert before == (repr(guard), dict(vars(run_so_far)))


class Suspicious(Guard):
    """Looks each time whether a guard that would fire now has an alarm that is still silent."""

    guard: Guard

    usual_gates = GATES

    def fires(self, run):
        asked = not self.guard.alarms or any(
            attrgetter(counter)(run) >= number for counter, number in self.guard.alarms.items()
        )
        return None if asked or not self.guard(run) else f"{self.guard!r} fires, and its alarms are silent"


@given(SCRIPTS, st.lists(LEAVES, min_size=1, max_size=4), CLOCK_STEPS, st.booleans())
def test_no_alarm_comes_too_late(script, guards, clock_steps, summarize):
    """At each gate of any run, a guard that fires has an alarm that has been reached, if it has alarms at all."""
    world = World(script, clock_steps=clock_steps)
    watching = [Suspicious(guard) for guard in guards]
    outcome = run(world.model, "go", **world.options([*watching, max_steps(9)], summarize=summarize))
    assert outcome.reason != "Suspicious", outcome.detail


@given(SCRIPTS, st.lists(LEAVES, min_size=1, max_size=4), CLOCK_STEPS, st.booleans())
def test_alarms_change_nothing(script, guards, clock_steps, summarize):
    """A run ends the same way if each guard is asked each time, as plain functions are."""

    def asked_each_time(guard):
        kind = type("asked", (type(guard),), {"alarms": {}, "__annotations__": {}})
        return kind(**dict(guard._fields()))

    ends = []
    for some in (guards, [asked_each_time(guard) for guard in guards]):
        world = World(script, clock_steps=clock_steps)
        outcome = run(world.model, "go", **world.options([*some, max_steps(9)], summarize=summarize))
        ends.append((outcome.steps, outcome.tool_calls, outcome.detail, len(outcome.fired)))
    assert ends[0] == ends[1]


@given(GUARDS, st.integers(0, 4))
def test_combinations_end_runs(guard, n):
    """Any combination next to a step limit ends a run that would go on for ever, at most at that limit."""
    world = World([Reply(calls=(ToolCall("look"),))] * 10)
    outcome = run(world.model, "go", **world.options([guard, max_steps(n)]))
    assert world.counts["model"] <= n
    assert outcome.fired and outcome.reason == outcome.fired[0]
    assert requests(outcome.messages) == results(outcome.messages)
    assert len(contents(outcome.messages)) == outcome.steps


@given(SCRIPTS, BLOWS, st.integers(0, 7), st.lists(GUARDS, max_size=2), CLOCK_STEPS)
def test_n_steps_are_at_most_n_calls_with_a_summary(script, blow, n, guards, clock_steps):
    """Whatever guards stand beside it, a step limit holds for the closing summary too, and the transcript is whole."""
    world = World(script, blow, clock_steps)
    outcome = run(world.model, "go", **world.options([*guards, max_steps(n)], summarize=True))
    assert world.counts["model"] <= n
    assert requests(outcome.messages) == results(outcome.messages)
    assert [] == [step for step in outcome.trace[:-1] if step.closing]
    if outcome.summary is None:
        assert (False, ()) == (any(step.closing for step in outcome.trace), outcome.fired)
    else:
        assert outcome.fired and not outcome.complete


SPEND = ("steps", "tool_calls", "tokens", "characters", "cost", "seconds", "waited", "largest")


@given(SCRIPTS, st.integers(0, 7), CLOCK_STEPS, st.booleans(), st.booleans())
def test_spend_never_goes_down(script, n, clock_steps, approve, summarize):
    """At every event, what has been used is at least what had been used before."""
    seen = []

    def watch(event):
        seen.append([getattr(event.run, name) for name in SPEND])

    world = World(script, clock_steps=clock_steps)
    outcome = run(world.model, "go", on_event=watch, **world.options([max_steps(n)], approve, summarize))
    for values in zip(*seen, strict=True):
        assert sorted(values) == list(values)
        assert values[0] >= 0
    assert seen[-1][:3] == [outcome.steps, outcome.tool_calls, outcome.usage.total]


ANYWHERE = st.sampled_from(["model", "tool", "approve", "nowhere", "on_event"])
ANY_BLOW = st.tuples(ANYWHERE, st.integers(1, 8), ERRORS)


def live_and_replayed(script, blow, guards, clock_steps, approve, summarize):
    """The facts of a run, and of its replay with the same guards."""
    world = World(script, blow, clock_steps)
    guards = [*guards, max_steps(7)]
    options = {**world.options([], approve, summarize), "guards": guards}
    live = run(world.model, "go", on_event=world.listen, **options)
    return facts(live), facts(replay(live, guards))


# Ordinary errors of tools, and whatever the model does wrong: what the live run's guards saw is in the recording.
TAME_BLOWS = st.tuples(st.sampled_from(["model", "nowhere"]), st.integers(1, 8), ERRORS) | st.tuples(
    st.just("tool"), st.integers(1, 8), st.sampled_from([ValueError, StopIteration])
)


@given(SCRIPTS, TAME_BLOWS, st.lists(LEAVES, max_size=3), CLOCK_STEPS)
def test_a_replay_agrees_with_the_live_run(script, blow, guards, clock_steps):
    """With its own guards a recorded run ends as the live one did, in every figure."""
    live, again = live_and_replayed(script, blow, guards, clock_steps, False, False)
    assert live == again


@settings(max_examples=400, phases=[Phase.explicit, Phase.generate])
@given(SCRIPTS, ANY_BLOW, st.lists(LEAVES, max_size=3), CLOCK_STEPS, st.booleans(), st.booleans())
def test_a_replay_agrees_with_every_live_run(script, blow, guards, clock_steps, approve, summarize):
    """The same wherever the live run was interrupted, with a person, and with a closing summary."""
    live, again = live_and_replayed(script, blow, guards, clock_steps, approve, summarize)
    assert live == again


@given(st.lists(SOUND, min_size=2, max_size=6), TAME_BLOWS, st.integers(1, 5), st.booleans())
def test_guards_read_the_same_messages_in_a_replay(script, blow, every, summarize):
    """Whenever a guard reads the messages, in a replay it sees those of the live run, and one list all the time."""
    world = World(script, blow)
    seen, lists = [[], []], [set(), set()]
    pairs = list(zip(seen, lists, strict=True))

    def reader(texts, ids):
        gates = iter(range(1000))

        def read(run):
            place = next(gates)
            if place % every == 0:
                texts.append((place, deepcopy(run.messages)))
                ids.add(id(run.messages))

        return [Function(read, gate=gate) for gate in GATES]

    options = {**world.options([], summarize=summarize), "guards": [*reader(*pairs[0]), max_steps(7)]}
    live = run(world.model, "go", **options)
    again = replay(live, [*reader(*pairs[1]), max_steps(7)])
    assert seen[0] == seen[1]
    assert max(map(len, lists)) <= 1
    assert live.messages == again.messages


@given(SCRIPTS, BLOWS, st.lists(GUARDS, max_size=2), CLOCK_STEPS, st.booleans())
def test_what_was_saved_comes_back(tmp_path_factory, script, blow, guards, clock_steps, summarize):
    """Any run that was written to a file comes back equal, but for the exception, of which its text is left."""
    script = [reply for reply in script if getattr(reply, "stop", None) != ""]  # see the tests of recordings
    world = World(script, blow, clock_steps)
    outcome = run(world.model, "go", **world.options([*guards, max_steps(7)], summarize=summarize))
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    outcome.save(path)
    again = load(path)
    assert outcome.replaced(error=None) == again.replaced(error=None)
    assert (outcome.error is None) == (again.error is None)
    assert outcome.messages == again.messages


class AsyncWorld(World):
    """The same world with async functions."""

    def __init__(self, *args):
        super().__init__(*args)
        self.tools = {name: self.awaited(function) for name, function in self.tools.items()}
        self.model, self.approve, self.listen = map(self.awaited, (self.model, self.approve, self.listen))

    @staticmethod
    def awaited(function):
        """The same function, to be awaited. A StopIteration cannot come out of it; Python makes it a RuntimeError."""

        @functools.wraps(function)
        async def asynchronous(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except StopIteration as error:
                raise LookupError("no more") from error

        return asynchronous


# Signals are in the tests of `arun`; a StopIteration differs by Python's own rules.
ASYNC_BLOWS = st.tuples(PLACES, st.integers(1, 8), st.sampled_from([Fatal, ValueError]))


@settings(max_examples=60)
@given(SCRIPTS, ASYNC_BLOWS, st.lists(LEAVES, max_size=2), CLOCK_STEPS, st.booleans(), st.booleans())
def test_run_and_arun_agree(script, blow, guards, clock_steps, approve, summarize):
    """With async functions the reason, the counts and the whole transcript are as in ordinary code."""
    plain, awaited = World(script, blow, clock_steps), AsyncWorld(script, blow, clock_steps)
    guards = [g for g in guards if not isinstance(g, time_limit)]  # which would cancel by the true clock
    guards = [*guards, max_steps(7)]
    one = run(plain.model, "go", on_event=plain.listen, **plain.options(guards, approve, summarize))
    options = awaited.options(guards, approve, summarize)
    other = asyncio.run(arun(awaited.model, "go", on_event=awaited.listen, **options))
    assert requests(other.messages) == results(other.messages)
    assert (one.reason, one.fired, one.steps, one.usage) == (other.reason, other.fired, other.steps, other.usage)
    assert awaited.counts["model"] <= 7
    if one.reason != "fatal":  # side by side, other tools may have run by then
        assert [(r.call, r.status) for s in one.trace for r in s.results] == [
            (r.call, r.status) for s in other.trace for r in s.results
        ]
