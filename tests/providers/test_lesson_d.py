"""Loop D of the worked examples, with each client: the same reasons, calls and figures as with a scripted model.

See tests/library/test_worked_examples.py, which tries the same on scripted models.
"""

import pytest

from stoplib import (
    ManualClock,
    Reply,
    Usage,
    answer,
    batch,
    call,
    max_steps,
    repeated_call,
    time_limit,
    token_budget,
)

from .helpers import contents


def limits(steps=10, tokens=10**6, seconds=10**6, repeats=2):
    """Loop D's limits, in its order. Its `max_repeats` does not count the first ask."""
    return [max_steps(steps), token_budget(tokens), time_limit(seconds), repeated_call(repeats + 1)]


def asked(api):
    """How many calls the API was asked to answer."""
    return len(api.server.requests)


def test_tokens(api):
    """30,500 and 20,400 tokens of 50,000: two calls, 50,900 tokens, and the third scripted reply is not used."""
    first, second = Usage(30_000, 500), Usage(20_000, 400)
    api.says(call("look", n=1, usage=first), call("look", n=2, usage=second), answer("never said"))
    outcome = api.run(tools={"look": lambda n: "x"}, guards=limits(tokens=50_000))
    assert (outcome.text, outcome.reason, outcome.steps, outcome.usage.total) == ("", "token_budget", 2, 50_900)
    assert (asked(api), len(api.server.answers), outcome.answer) == (2, 1, None)


def test_cached_tokens_count(api):
    """With prompt caching the cached fields are added too, and 50,900 tokens are 50,900 tokens."""
    first, second = Usage(1_000, 500, cache_read=9_000, cache_write=20_000), Usage(400, 400, cache_read=19_600)
    api.says(call("look", n=1, usage=first), call("look", n=2, usage=second), answer("never said"))
    outcome = api.run(tools={"look": lambda n: "x"}, guards=limits(tokens=50_000))
    assert (outcome.reason, outcome.usage) == ("token_budget", Usage(1_400, 900, 28_600, 20_000))
    assert (outcome.steps, outcome.usage.total) == (2, 50_900)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_as_many_replies_as_steps(api, steps):
    """Exactly as many scripted replies as steps allowed: the client is never asked for one more."""
    api.says(*[call("look", n=n) for n in range(steps)])
    outcome = api.run(tools={"look": lambda n: "x"}, guards=limits(steps))
    assert (outcome.reason, asked(api), outcome.error) == ("max_steps", steps, None)


def test_time(api):
    """A tool that moves the fake clock on by more than half the limit: two steps."""
    clock = ManualClock()
    api.says(*[call("look", n=n) for n in range(9)])
    outcome = api.run(tools={"look": lambda n: clock.advance(31)}, guards=limits(seconds=60), clock=clock)
    assert (outcome.reason, outcome.steps, asked(api)) == ("time_limit", 2, 2)


@pytest.mark.parametrize(("repeats", "steps", "ran"), [(2, 3, 2), (1, 2, 1)])
def test_repeats(api, repeats, steps, ran):
    """Three identical requests and two repeats: three model calls, two runs; with one, the first repeat stops."""
    handled = []
    api.says(*[call("look") for _ in range(9)])
    outcome = api.run(tools={"look": lambda: handled.append("ran")}, guards=limits(repeats=repeats))
    assert (outcome.reason, outcome.steps, asked(api), len(handled)) == ("repeated_call", steps, steps, ran)


def test_a_refusal(api):
    """A refusal ends the run as refused, with its text, and not as done."""
    word = next(word for word, reason in api.dialect.words.items() if reason == "refused")
    api.says(Reply("I cannot help with that.", stop=word))
    outcome = api.run(guards=limits())
    assert (outcome.reason, outcome.text, outcome.complete) == ("refused", "I cannot help with that.", False)


def test_no_steps(api):
    """No steps allowed: no call is made."""
    api.says(answer("never said"))
    assert (api.run(guards=limits(0)).reason, asked(api)) == ("max_steps", 0)


def test_several_tools(api):
    """One reply asks for several tools: all are answered, in order, in one message where the API has it so."""
    api.says(batch(*[call("look", n=n) for n in range(3)]), answer("x"))
    outcome = api.run(tools={"look": lambda n: n}, guards=limits())
    assert (outcome.reason, contents(outcome)) == ("answered", ["0", "1", "2"])
    if api.name == "messages":
        [task, said, answered] = api.server.bodies[1]["messages"]
        assert [block["content"] for block in answered["content"]] == ["0", "1", "2"]


def test_approval(api):
    """Lookup, then the person, then the tool: an unknown tool asks nobody, and a declined one never runs."""
    people, ran = [], []

    def approve(one):
        people.append(one.name)
        return one.name == "read"

    tools = {"read": lambda: ran.append("read"), "drop": lambda: ran.append("drop")}
    api.says(batch(call("nope"), call("drop"), call("read")), answer("x"))
    outcome = api.run(tools=tools, guards=limits(), approve=approve)
    assert (outcome.reason, people, ran) == ("answered", ["drop", "read"], ["read"])
    assert "do not ask for it again" in str(api.server.bodies[1])


def test_a_full_run(api):
    """Two rounds and the answer: the figures that the run reports are the sums of what the API reported."""
    spent = [Usage(1200, 40), Usage(300, 35, cache_read=1000), Usage(250, 80, cache_read=1300)]
    api.says(call("look", n=1, usage=spent[0]), call("look", n=2, usage=spent[1]), answer("Done.", usage=spent[2]))
    outcome = api.run(tools={"look": lambda n: f"part {n}"}, guards=limits())
    assert (outcome.answer, outcome.reason, outcome.steps, outcome.usage.total) == ("Done.", "answered", 3, 4205)
    assert outcome.usage == Usage(1750, 155, 2300, 0)
