"""Is it stuck? Twelve sequences, and all others: one set of guards must tell them apart."""

# ruff: noqa: SIM300

from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoplib import Reply, ToolCall, answer, call, going_in_circles, max_steps, no_new_results, run, tool

GUARDS = [max_steps(60), going_in_circles(), no_new_results(5)]
STUCK = ("going_in_circles", "no_new_results")


@dataclass
class Sequence:
    """A run with one call per round. `within` is the step by which it must be stopped; None if it must go on."""

    number: int
    name: str
    says: object
    tools: dict = field(default_factory=dict)
    within: int | None = None

    def model(self):
        """Says the n-th thing; a sequence that comes to its end is answered."""

        def model(messages):
            return self.says(sum(m["role"] == "assistant" for m in messages)) or answer("done")

        return model

    def __str__(self):
        return f"{self.number}: {self.name}"


def same(text):
    """A tool that always has the same result."""
    return lambda **args: text


def changing(text):
    """A tool whose result is another one each time; `text` has a place for a number."""
    numbers = count(1)
    return lambda **args: text.format(next(numbers))


def search(**args):
    """A search."""
    return call("search", **args)


def keys_in_changing_order(n):
    """The same call, its argument keys now in this order, now in that."""
    items = [("query", "stop"), ("limit", 3)]
    return Reply(calls=(ToolCall("search", dict(items[:: 1 if n % 2 else -1])),))


def polling(until):
    """A status that is "running" so often, and then "done"; the tool says that it polls."""
    results = iter(["running"] * until)

    @tool(poll=20)
    def status():
        return next(results, "done")

    return status


def mailing(sent):
    """A tool that sends, with a fresh id in its result; it says that it acts on the world."""

    @tool(effect=True)
    def send(to):
        sent.append(to)
        return {"id": len(sent)}

    return send


def until(end, says):
    """A sequence that is over after so many rounds."""
    return lambda n: says(n) if n < end else None


NO_RESULTS = {"search": same("no results")}


def sequences():
    """The twelve sequences, made anew, since some of their tools count."""
    edits = until(50, lambda n: call("test") if n % 2 else call("edit", change=f"attempt {n}"))
    return [
        Sequence(16, "A A A A", lambda n: search(query="A"), NO_RESULTS, 4),
        Sequence(17, "A B A B", lambda n: search(query="AB"[n % 2]), NO_RESULTS, 6),
        Sequence(18, "A B C A B C", lambda n: search(query="ABC"[n % 3]), NO_RESULTS, 9),
        Sequence(
            19, "a cycle of seven", lambda n: search(query=str(n % 7)), {"search": lambda query: f"on {query}"}, 21
        ),
        Sequence(20, "the result changes", until(50, lambda n: search(query="A")), {"search": changing("{} %")}),
        Sequence(21, "nine times running", until(10, lambda n: call("status")), {"status": polling(9)}),
        Sequence(21, "running for ever", lambda n: call("status"), {"status": polling(999)}, 25),
        Sequence(22, "keys in changing order", keys_in_changing_order, NO_RESULTS, 4),
        Sequence(23, "a jittered argument", lambda n: search(query="A", seed=n), NO_RESULTS, 5),
        Sequence(24, "reworded queries", lambda n: search(query=f"stop in {n} words"), NO_RESULTS, 5),
        Sequence(25, "edit, test", edits, {"edit": same("edited"), "test": same("1 failed")}),
        Sequence(26, "twelve files", until(12, lambda n: call("read", path=f"{n}.md")), {"read": lambda path: path}),
        Sequence(27, "the same message", lambda n: call("send", to="ann"), {"send": mailing([])}, 2),
    ]


@pytest.mark.parametrize("place", range(13), ids=[str(sequence) for sequence in sequences()])
def test_the_twelve(place):
    """What is stuck is stopped in time, and what gets somewhere goes on to its end."""
    sequence = sequences()[place]
    outcome = run(sequence.model(), "go", tools=sequence.tools, guards=GUARDS)
    if sequence.within is None:
        assert ("answered", ()) == (outcome.reason, outcome.fired)
    else:
        assert (True, True) == (outcome.reason in STUCK, outcome.steps <= sequence.within), outcome


def test_27_before_it_goes_out():
    """Sequence 27: the second message is asked for, and does not go out."""
    sent = []
    outcome = run(lambda messages: call("send", to="ann"), "go", tools=[mailing(sent)], guards=GUARDS)
    assert ("going_in_circles", 2, ["ann"]) == (outcome.reason, outcome.steps, sent)


def test_25_with_an_edit_that_acts_on_the_world():
    """Sequence 25 goes on as well if the edit is declared to be what it is, an effect."""

    @tool(effect=True)
    def edit(change):
        return "edited"

    sequence = next(s for s in sequences() if s.number == 25)
    tools = {"edit": edit, "test": same("1 failed")}
    assert "answered" == run(sequence.model(), "go", tools=tools, guards=GUARDS).reason


ROUNDS = st.tuples(st.sampled_from(["read", "search", "test"]), st.integers(0, 2), st.sampled_from(["a", "b", "c"]))


def played(rounds, guards):
    """A run with one call per round, each (tool, argument, result); afterwards it is answered."""

    def model(messages):
        step = sum(m["role"] == "assistant" for m in messages)
        return call(rounds[step][0], x=rounds[step][1]) if step < len(rounds) else answer("done")

    results = iter([text for _, _, text in rounds])
    tools = {name: lambda x: next(results) for name in ("read", "search", "test")}
    return run(model, "go", tools=tools, guards=[*guards, max_steps(len(rounds) + 1)])


@given(st.lists(ROUNDS, max_size=6), st.lists(ROUNDS, min_size=1, max_size=10), st.integers(2, 4), st.integers(0, 4))
def test_any_cycle_is_stopped(start, cycle, times, more):
    """After any start, any cycle that is no longer than `longest` is stopped by the end of its last pass."""
    guard = going_in_circles(times=times, longest=len(cycle) + more)
    outcome = played(start + cycle * (times + 2), [guard])
    assert "going_in_circles" == outcome.reason
    assert outcome.steps <= len(start) + times * len(cycle)


@given(st.lists(ROUNDS, min_size=1, max_size=8), st.integers(2, 4), st.integers(1, 8))
def test_no_circle_where_there_is_none(rounds, times, longest):
    """Where the guard fires, the last rounds are `times` passes of one cycle, by hand."""
    outcome = played(rounds * 3, [going_in_circles(times=times, longest=longest)])
    done = (rounds * 3)[: outcome.steps]
    passes = [n for n in range(1, longest + 1) if n * times <= len(done) and done[-n * times :] == done[-n:] * times]
    assert (outcome.reason == "going_in_circles") == bool(passes)


@given(st.lists(st.tuples(st.sampled_from(["read", "search"]), st.integers(0, 1)), max_size=50))
def test_always_new_results_go_on(asked):
    """Whatever is asked for, and however often: as long as every result is new, nothing is stuck."""
    rounds = [(name, x, f"result {n}") for n, (name, x) in enumerate(asked)]
    assert "answered" == played(rounds, GUARDS).reason


@given(st.lists(st.sampled_from("ab"), max_size=50))
def test_always_new_requests_go_on(results):
    """New requests whose results are now this, now that, but never five times the same, go on."""
    rounds, last = [], []
    for n, text in enumerate(results):
        last = [*last, text] if last[-1:] == [text] else [text]
        rounds.append(("read", n, text if len(last) < 5 else f"result {n}"))
    assert "answered" == played(rounds, GUARDS).reason
