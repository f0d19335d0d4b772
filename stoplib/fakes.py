"""Scripted models: models that cost nothing and always do the same.

A fake has no state. It reads the transcript to know where it is, so the same one works twice.
"""

from __future__ import annotations

from stoplib.messages import Message, Model, Reply, answer, call


def script(*replies: Reply) -> Model:
    """A model that says these replies, one per step. Asked for more, it raises IndexError.

    >>> from stoplib import run
    >>> run(script(call("look")), "go", tools={"look": lambda: "nothing"}).reason
    'fatal'
    """

    def scripted(messages: list[Message]) -> Reply:
        step = said(messages)
        if step >= len(replies):
            raise IndexError(f"the script has {len(replies)} replies and was asked for one more")
        return replies[step]

    return scripted


def never_answers(messages: list[Message]) -> Reply:
    """Always wants one more look, so only a guard ends its run."""
    return call("search", query=f"more {said(messages) + 1}")


def answers_after(rounds: int) -> Model:
    """A model that looks `rounds` times and then answers."""

    def model(messages: list[Message]) -> Reply:
        done = said(messages)
        return answer("done") if done >= rounds else call("search", query=f"part {done + 1}")

    return model


def said(messages: list[Message]) -> int:
    """How often the model has spoken so far."""
    return sum(m["role"] == "assistant" for m in messages)
