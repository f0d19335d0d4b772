"""Loop A of the worked examples: a plain hand-written loop and the library give the same figures.

The plain loop is the oracle. It is written from the published lesson's description and shares no
code with the library. Its names differ: `final` is our `answered`, `budget` our `time_limit`.
"""

# ruff: noqa: SIM300

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoplib import ManualClock, Reply, TickClock, ToolCall, answer, call, max_steps, run, time_limit

from .helpers import counting

OUR_NAME = {"final": "answered", "budget": "time_limit", "max_steps": "max_steps"}


def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    """Three exits and an injected clock, by hand. Also gives the transcript, for comparison."""
    start = clock()
    messages = [{"role": "user", "content": user_msg}]
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget", messages
        reply = model(messages)
        messages.append(reply)
        if reply["type"] == "final":
            return reply["content"], "final", messages
        name, args = reply["name"], reply.get("args", {})
        if name not in tools:
            content = f"error: unknown tool {name}"
        else:
            try:
                content = str(tools[name](**args))
            except Exception as error:
                content = f"error: {error}"
        messages.append({"role": "tool", "name": name, "content": content})
    return None, "max_steps", messages


def both(says, tools, clock, max_steps_=10, time_budget=None):
    """The same run by hand and by the library, each as (answer, reason, model calls, tool names asked for).

    `says(n)` is the model's n-th reply in the oracle's form; `clock()` makes a fresh clock.
    """
    theirs = counting(lambda messages: says(sum("type" in m for m in messages)))
    text, reason, messages = run_with_limits(theirs, tools, "go", clock(), max_steps_, time_budget)
    asked = [m["name"] for m in messages if m.get("role") == "tool"]

    def translated(messages):
        said = says(sum(m["role"] == "assistant" for m in messages))
        if said["type"] == "final":
            return answer(said["content"])
        return Reply(calls=(ToolCall(said["name"], said.get("args", {})),))

    ours = counting(translated)
    guards = [max_steps(max_steps_)] if time_budget is None else [max_steps(max_steps_), time_limit(time_budget)]
    outcome = run(ours, "go", tools=tools, guards=guards, clock=clock())
    return (
        (text, OUR_NAME[reason], theirs.calls, asked),
        (outcome.answer, outcome.reason, ours.calls, [m["name"] for m in outcome.messages if m["role"] == "tool"]),
    )


def never(n):
    """A model that never finishes."""
    return {"type": "tool", "name": "look"}


def at_once(n):
    """A model that answers at once."""
    return {"type": "final", "content": "done"}


LOOK = {"look": lambda: "nothing"}


class TestTable:
    """The four rows of the lesson's table."""

    @pytest.mark.parametrize(
        ("says", "steps", "budget", "expected"),
        [
            (never, 10, 3, (None, "time_limit", 2)),
            (at_once, 10, 3, ("done", "answered", 1)),
            (never, 10, None, (None, "max_steps", 10)),
            (never, 10, 0, (None, "time_limit", 0)),
            (never, 0, None, (None, "max_steps", 0)),
        ],
        ids=["the clock runs out", "an answer", "the step cap", "no time at all", "no steps at all"],
    )
    def test_row(self, says, steps, budget, expected):
        """Answer, reason and number of model calls are as published, by hand and by the library."""
        oracle, library = both(says, LOOK, TickClock, steps, budget)
        assert expected == oracle[:3]
        assert oracle == library


class TestRules:
    """The lesson's rules in words."""

    def test_an_unknown_tool_goes_on(self):
        """An unknown name becomes an error result, and the run goes on."""
        says = [{"type": "tool", "name": "nope", "args": {"x": 1}}, *[at_once(0)]]
        oracle, library = both(says.__getitem__, LOOK, TickClock)
        assert ("done", "answered", 2, ["nope"]) == oracle == library

    def test_a_tool_that_raises_goes_on(self):
        """A tool that raises becomes an error result, and the run goes on."""
        says = [{"type": "tool", "name": "bad"}, at_once(0)]
        oracle, library = both(says.__getitem__, {"bad": lambda: 1 / 0}, TickClock)
        assert ("done", "answered", 2, ["bad"]) == oracle == library

    def test_an_answer_on_the_last_step(self):
        """The answer comes before the step cap."""
        says = [never(0), never(1), at_once(2)]
        oracle, library = both(says.__getitem__, LOOK, TickClock, 3)
        assert ("done", "answered", 3, ["look", "look"]) == oracle == library

    @pytest.mark.parametrize(("budget", "expected"), [(1, "time_limit"), (2, "answered")])
    def test_the_time_comes_before_the_answer(self, budget, expected):
        """A budget that is used up before the call forestalls the answer."""
        oracle, library = both(at_once, LOOK, TickClock, 10, budget)
        assert expected == oracle[1] == library[1]

    def test_the_time_can_be_listed_first(self):
        """Where both limits are reached at once, the guard given first names the reason; both are recorded."""
        guards = [time_limit(3), max_steps(2)]
        outcome = run(lambda messages: call("look"), "go", tools=LOOK, guards=guards, clock=TickClock())
        assert ("time_limit", ("time_limit", "max_steps"), 2) == (outcome.reason, outcome.fired, outcome.steps)


ITEMS = st.sampled_from(
    [
        {"type": "tool", "name": "look"},
        {"type": "tool", "name": "look", "args": {"where": "here"}},
        {"type": "tool", "name": "bad", "args": {}},
        {"type": "tool", "name": "nope"},
        {"type": "final", "content": "done"},
    ]
)


@given(st.lists(ITEMS, max_size=6), st.integers(0, 8), st.none() | st.integers(0, 8), st.sampled_from([0, 1, 2, 0.5]))
def test_any_script(script, steps, budget, tick):
    """For any script, step cap, time budget and ticking clock, both give the same."""
    oracle, library = both(
        lambda n: script[n] if n < len(script) else never(n),
        {"look": lambda where="": "nothing", "bad": lambda: 1 / 0},
        lambda: TickClock(tick),
        steps,
        budget,
    )
    assert oracle == library


@pytest.mark.parametrize("start", [0.1, 1 / 3])
def test_clocks_with_fractions(start):
    """With rounds of a fraction of a second, from wherever the clock stands, both make the same number of calls."""
    differ = []
    for step in (0.1, 0.3, 1 / 3, 1.1):
        for rounds in range(1, 30):

            def play(library, step=step, limit=rounds * step):
                clock = ManualClock(start)
                tools = {"look": lambda: clock.advance(step)}
                if library:
                    guards = [max_steps(99), time_limit(limit)]
                    return run(lambda messages: call("look"), "go", tools=tools, guards=guards, clock=clock).steps
                messages = run_with_limits(lambda messages: never(0), tools, "go", clock, 99, limit)[2]
                return sum("type" in m for m in messages)

            if play(library=True) != play(library=False):
                differ.append((step, rounds))
    assert [] == differ
