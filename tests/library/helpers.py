"""What several test files need: models that count, and a transcript read as requests and results."""

from stoplib import Run, ToolCall, call


def counting(model):
    """The same model with the number of its calls on `.calls`. A run that does not stop fails; it does not hang."""

    def counted(messages):
        counted.calls += 1
        assert counted.calls <= 1000, "nothing stops this run"
        return model(messages)

    counted.calls = 0
    return counted


def always(reply):
    """A model that says the same thing at every step."""
    return counting(lambda messages: reply)


def looking():
    """A model that asks for `look` at every step and never answers."""
    return always(call("look"))


LOOK = {"look": lambda: "nothing"}


def requests(messages):
    """Every tool call that the transcript asks for, as (round, id, name), in order."""
    return [
        (number, asked["id"], asked["name"])
        for number, message in _rounds(messages)
        if message["role"] == "assistant"
        for asked in message.get("tool_calls", [])
    ]


def results(messages):
    """Every tool result of the transcript, as (round, id, name), in order."""
    return [
        (number, message["tool_call_id"], message["name"])
        for number, message in _rounds(messages)
        if message["role"] == "tool"
    ]


def contents(messages):
    """The texts of the tool results, in order."""
    return [message["content"] for message in messages if message["role"] == "tool"]


def _rounds(messages):
    number = 0
    for message in messages:
        number += message["role"] == "assistant"
        yield number, message


def state(steps=0, seconds=0.0, waited=0.0, trace=()):
    """A run that has got this far, for looking at a guard alone."""
    run = Run("a task", lambda: 0.0)
    run.steps, run.seconds, run.waited = steps, seconds, waited
    run.trace.extend(trace)
    return run


class Later:
    """What an async function gives back: a value only for those who await it."""

    def __init__(self, value):
        self.value = value

    def __await__(self):
        return self.value
        yield  # what makes this a generator


class Wordless(Exception):
    """An exception that cannot be shown as text."""

    def __str__(self):
        raise RuntimeError("no words")


def twice(name, **args):
    """Two equal calls, for one batch."""
    return ToolCall(name, args), ToolCall(name, args)
