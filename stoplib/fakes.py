"""Scripted models: models that cost nothing and always do the same.

A fake has no state of its own. It reads the transcript to know where it is, so the same one works
twice, and in two runs at once. Each stands for a behaviour that a loop has to cope with:

    never_answers        one more look, for ever                        a step cap
    answers_after(n)     n looks, then the answer                       nothing should fire
    retries              the same call again and again                  repeated_call, going_in_circles
    alternates           two calls in turn                              going_in_circles
    cycles(…)            any number of calls in turn                    going_in_circles
    rewords              a new wording each time, for the same thing    no_new_results
    polls(until)         asks for a state until it is the one           a tool that says that it polls
    edits_and_tests      a new edit, then the test                      nothing should fire
    asks_in_batches(n)   n calls in one reply                           max_tool_calls
    spends(…)            reports so many tokens with each call          token_budget, cost_budget
    misspells            asks for a tool that does not exist            too_many_errors
    refuses, is_cut_off, pauses, says_nothing, fills_the_window         the reply's own reasons
"""

from __future__ import annotations

from itertools import cycle, islice, permutations

from stoplib.messages import Message, Model, Reply, ToolCall, Usage, answer, batch, call


def script(*replies: Reply) -> Model:
    """A model that says these replies, one per step. Asked for more, it raises IndexError.

    >>> from stoplib import run
    >>> run(script(call("look")), "go", tools={"look": lambda: "nothing"}).reason
    'fatal'
    """
    for reply in replies:
        if not isinstance(reply, Reply):
            raise TypeError(f"script: {reply!r} is not a Reply; write answer('…'), call('tool', …) or batch(…)")

    def scripted(messages: list[Message]) -> Reply:
        step = said(messages)
        if step >= len(replies):
            has = "1 reply" if len(replies) == 1 else f"{len(replies)} replies"
            raise IndexError(f"the script has {has} and was asked for one more")
        return replies[step]

    return scripted


def said(messages: list[Message]) -> int:
    """How often the model has spoken so far."""
    return sum(m["role"] == "assistant" for m in messages)


def never_answers(messages: list[Message]) -> Reply:
    """Always wants one more look, so only a guard ends its run."""
    return call("search", query=f"more {said(messages) + 1}")


def answers_after(rounds: int, text: str = "done") -> Model:
    """A model that looks `rounds` times and then answers."""

    def model(messages: list[Message]) -> Reply:
        done = said(messages)
        return answer(text) if done >= rounds else call("search", query=f"part {done + 1}")

    return model


def retries(messages: list[Message]) -> Reply:
    """Asks for the same thing again, as if the last result had not been there."""
    return call("search", query="stop")


def alternates(messages: list[Message]) -> Reply:
    """Two queries in turn: not one call equals the one before it."""
    return call("search", query=("stop", "halt")[said(messages) % 2])


def cycles(*replies: Reply) -> Model:
    """These replies in turn, for ever."""
    if not replies:
        raise ValueError("cycles: give at least one reply")

    def model(messages: list[Message]) -> Reply:
        return replies[said(messages) % len(replies)]

    return model


def rewords(messages: list[Message]) -> Reply:
    """Says the same thing in ever new words."""
    words = ("stop", "halt", "end", "finish", "terminate", "quit", "cease")
    wordings = permutations(words, 4)  # 840 of them
    return call("search", query=" ".join(next(islice(cycle(wordings), said(messages), None))))


def polls(until: str = "done") -> Model:
    """Asks `status` until the last result is `until`, and then answers."""

    def model(messages: list[Message]) -> Reply:
        last = messages[-1]
        if last["role"] == "tool" and last["content"] == until:
            return answer(f"the job is {until}")
        return call("status")

    return model


def edits_and_tests(messages: list[Message]) -> Reply:
    """A new edit, then the test, then a new edit: the same test result does not mean that nothing happens."""
    step = said(messages)
    return call("edit", change=f"attempt {step // 2 + 1}") if step % 2 == 0 else call("test")


def asks_in_batches(size: int) -> Model:
    """`size` different calls in each reply."""

    def model(messages: list[Message]) -> Reply:
        step = said(messages)
        return batch(*(call("search", query=f"part {step + 1}.{n + 1}") for n in range(size)))

    return model


def spends(input: int, output: int, model: Model = never_answers) -> Model:
    """`model`, and each of its replies reports this usage."""

    def spending(messages: list[Message]) -> Reply:
        return model(messages)._replace(usage=Usage(input, output))

    return spending


def misspells(messages: list[Message]) -> Reply:
    """Asks for a tool that does not exist, and does not read what it is told about it."""
    return call("serach", query="stop")


def refuses(messages: list[Message]) -> Reply:
    """Declines the task."""
    return Reply("I cannot help with that.", stop="refusal")


def is_cut_off(messages: list[Message]) -> Reply:
    """Reaches its output limit in the middle of a tool request."""
    return Reply("Let me look at", (ToolCall("search", '{"query": "st'),), stop="max_tokens")


def pauses(messages: list[Message]) -> Reply:
    """Pauses its turn once, to be sent the reply back, and then answers."""
    return Reply("Still working.", stop="pause_turn") if said(messages) == 0 else answer("done")


def says_nothing(messages: list[Message]) -> Reply:
    """Ends its turn without a word."""
    return Reply("")


def fills_the_window(messages: list[Message]) -> Reply:
    """Has no room left for its reply."""
    return Reply("So far I have", stop="model_context_window_exceeded")
