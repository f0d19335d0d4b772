"""What holds for every run, whatever the model says and wherever it is stopped."""

# ruff: noqa: SIM300

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from stoplib import Fatal, ManualClock, Outcome, Reply, ToolCall, Usage, max_steps, run, steps, time_limit
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

    def options(self, guards, approve=True):
        return {
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
        type(outcome.error),
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


LEAVES = st.one_of(
    st.builds(max_steps, st.integers(0, 5)),
    st.builds(max_steps, st.integers(1, 5), gate=st.sampled_from(GATES)),
    st.builds(
        time_limit,
        st.integers(0, 5) | st.floats(0, 5, allow_nan=False),
        working=st.booleans(),
        gate=st.sampled_from(GATES),
    ),
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


@given(GUARDS, st.integers(0, 4))
def test_combinations_end_runs(guard, n):
    """Any combination next to a step limit ends a run that would go on for ever, at most at that limit."""
    world = World([Reply(calls=(ToolCall("look"),))] * 10)
    outcome = run(world.model, "go", **world.options([guard, max_steps(n)]))
    assert world.counts["model"] <= n
    assert outcome.fired and outcome.reason == outcome.fired[0]
    assert requests(outcome.messages) == results(outcome.messages)
    assert len(contents(outcome.messages)) == outcome.steps
