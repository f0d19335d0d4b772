"""What can be chosen in a lab: models, tools, replies, guards, numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stoplib import fakes, guards
from stoplib.guards import Guard
from stoplib.messages import Message, Model, Reply, ToolCall, Usage, answer, call
from stoplib.tools import Tool, Traits

TASK = "Find out why the build is slow."

# What a call sends before anything has happened, and what comes back, in tokens.
PROMPT, ANSWER = 1_000, 100

YOUR_REPLIES = "your replies"


@dataclass(frozen=True)
class Example:
    """A model to choose, and a sentence that says how it behaves."""

    model: Model
    behaviour: str


def insists(messages: list[Message]) -> Reply:
    """Wants to delete one file after the other, whatever it is told."""
    return call("delete", path=f"{fakes.said(messages) + 1}.txt")


def cleans_up(messages: list[Message]) -> Reply:
    """Looks at a file and then asks to delete it, three times, and answers."""
    step = fakes.said(messages)
    if step >= 6:
        return answer("I looked at three files.")
    return call("delete" if step % 2 else "look", path=f"{step // 2 + 1}.txt")


MODELS = {
    "never answers": Example(fakes.never_answers, "This model asks for one more search in every step."),
    "answers in step 5": Example(fakes.answers_after(4), "This model searches in four steps and answers in the fifth."),
    "answers in step 1": Example(fakes.answers_after(0), "This model answers in its first step."),
    "retries": Example(fakes.retries, "This model asks for the same search again and again."),
    "alternates": Example(fakes.alternates, "This model asks for two searches in turn."),
    "rewords": Example(fakes.rewords, "This model asks the same in other words in every step."),
    "asks in batches": Example(fakes.asks_in_batches(5), "This model asks for five searches in every step."),
    "polls": Example(fakes.polls(), "This model asks for the state of a job until it is done."),
    "edits and tests": Example(fakes.edits_and_tests, "This model makes an edit, runs the test, and makes the next."),
    "cleans up": Example(cleans_up, "This model looks at a file and asks to delete it, three times, then answers."),
    "insists": Example(insists, "This model asks to delete one file after the other, whatever it is told."),
    "misspells": Example(fakes.misspells, "This model asks for a tool that does not exist."),
    "refuses": Example(fakes.refuses, "This model declines the task."),
    "is cut off": Example(fakes.is_cut_off, "This model's first reply is cut off in the middle of a request."),
    "pauses": Example(fakes.pauses, "This model pauses its turn once and then answers."),
    "says nothing": Example(fakes.says_nothing, "This model ends its turn without a word."),
    "fills the window": Example(fakes.fills_the_window, "This model has no room left for its reply."),
}

REPLIES = {
    "an answer": answer("The disk was full."),
    "a search": call("search", query="stop"),
    "another search": call("search", query="halt"),
    "a tool that does not exist": call("serach", query="stop"),
    "arguments that are not JSON": Reply(calls=(ToolCall("search", '{"query": "st'),)),
    "a text and a search": Reply("Let me look.", (ToolCall("search", {"query": "stop"}),)),
    "half a request, cut off": Reply("Let me look", (ToolCall("search", {"query": "st"}),), stop="max_tokens"),
    "half an answer, cut off": Reply("There were three causes. The", stop="max_tokens"),
    "a pause": Reply("Searching the web.", stop="pause_turn"),
    "a refusal": Reply("I cannot help with that.", stop="refusal"),
    "nothing at all": Reply("", stop="end_turn"),
    "a full window": Reply("The first cause was", stop="model_context_window_exceeded"),
    "an unknown word": Reply("The disk was full.", stop="finished"),
}

# The tools that act on the world; the others only look.
ACTS = ("edit", "delete")
INDEX = {"stop": "see halt", "halt": "see stop"}


def _finds_nothing(query: str) -> str:
    return "no match"


def _finds_pages(query: str) -> str:
    return INDEX.get(query, f"a page on {query}")


def _is_down(query: str) -> str:
    raise OSError("the index is down")


SEARCHES = {"find nothing": _finds_nothing, "find a page each": _finds_pages, "fail": _is_down}


def tools_of(searches: str, declared: bool = True) -> list[Tool]:
    """The tools of one run, made anew. With `declared` they say of themselves that they act, or that they poll."""
    states = iter(["running"] * 9)

    def traits(**what: Any) -> Traits:
        return Traits(**what) if declared else Traits()

    return [
        Tool(SEARCHES[searches], "search"),
        Tool(lambda: next(states, "done"), "status", traits=traits(poll=12)),
        Tool(lambda path: "one line", "look"),
        Tool(lambda path: f"{path} is gone", "delete", traits=traits(effect=True)),
        Tool(lambda change: "saved", "edit", traits=traits(effect=True)),
        Tool(lambda: "1 failed: test_total", "test"),
    ]


def metered(model: Model, growth: int) -> Model:
    """`model` with the usage of a real one: each call sends everything again, and a round adds `growth` tokens."""

    def counting(messages: list[Message]) -> Reply:
        sent = PROMPT + growth * fakes.said(messages)
        return model(messages)._replace(usage=Usage(sent, ANSWER))

    return counting


def replying(names: tuple[str, ...]) -> Model:
    """A model that gives these of the `REPLIES`, one per step."""
    return lambda messages: REPLIES[names[fakes.said(messages)]]


@dataclass(frozen=True)
class Number:
    """A number to set: its label and its range. With `makes` it is the limit of a guard, counted in `unit`."""

    label: str
    usual: float
    low: float
    high: float
    by: float = 1
    makes: Callable[..., Guard] | None = None
    unit: str = ""

    def checked(self, name: str, value: Any) -> float:
        """`value`, as an int if it is whole. Raises ValueError if it is no number in the range."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.low <= value <= self.high:
            raise ValueError(f"{name} goes from {self.low:g} to {self.high:g}, so it cannot be {value!r}")
        if value == int(value):
            return int(value)
        if isinstance(self.by, int):
            raise ValueError(f"{name} is a whole number, so it cannot be {value!r}")
        return value


@dataclass(frozen=True)
class Choice:
    """One of several texts, or with the options False and True a switch."""

    label: str
    options: tuple[Any, ...]

    @property
    def usual(self) -> Any:
        return self.options[0]

    def checked(self, name: str, value: Any) -> Any:
        """`value`. Raises ValueError if it is none of the options."""
        for option in self.options:
            if type(option) is type(value) and option == value:
                return option
        raise ValueError(f"there is no {name} {value!r}; there are {', '.join(map(str, self.options))}")


NOBODY, ACTING, ALL = "no call", "calls that act", "every call"

CONTROLS: Mapping[str, Number | Choice] = {
    "model": Choice("Model", (*MODELS, YOUR_REPLIES)),
    "searches": Choice("Searches", tuple(SEARCHES)),
    "ask": Choice("Ask me before", (NOBODY, ACTING, ALL)),
    "declared": Choice("Tools declare what they are", (True, False)),
    "hard": Choice("Budgets look ahead", (False, True)),
    "tick": Number("Seconds per clock reading", 1, 0, 5, 0.5),
    "growth": Number("Tokens that a round adds", 400, 0, 2_000, 100),
    "price_in": Number("Price per million sent", 3, 0, 100, 0.5),
    "price_out": Number("Price per million received", 15, 0, 100, 0.5),
    "too_many_errors": Number("Errors in a row", 3, 1, 10, 1, guards.too_many_errors, "errors"),
    "too_many_refusals": Number("Refusals in a row", 3, 1, 10, 1, guards.too_many_refusals, "refusals"),
    "going_in_circles": Number("Passes of a cycle", 2, 2, 10, 1, guards.going_in_circles, "passes"),
    "repeated_call": Number("Times the same call", 3, 1, 10, 1, guards.repeated_call, "times"),
    "no_new_results": Number("Equal results in a row", 3, 1, 10, 1, guards.no_new_results, "results"),
    "max_tool_calls": Number("Tool calls at most", 24, 0, 60, 1, guards.max_tool_calls, "calls"),
    "token_budget": Number("Tokens at most", 30_000, 0, 60_000, 500, guards.token_budget, "tokens"),
    "cost_budget": Number("Money at most", 0.1, 0, 1, 0.01, guards.cost_budget, "money"),
    "time_limit": Number("Seconds at most", 30, 0, 60, 0.5, guards.time_limit, "seconds"),
    "max_steps": Number("Steps at most", 20, 0, 40, 1, guards.max_steps, "steps"),
}

GUARDS = {name: control for name, control in CONTROLS.items() if isinstance(control, Number) and control.makes}
