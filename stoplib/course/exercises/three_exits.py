"""Exercise 01: `run_with_limits`. The library's own loop says what each run should give."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from random import Random
from typing import Any

import stoplib
from stoplib.course.checks import Endless, Muted, Verdict, bounded, fresh, judge, shown

EXERCISE = "01"
MOST_CALLS = 200

SURVIVE = "the run must go on: turn what went wrong into a result that starts with 'error'."
NO_ARGS = "args may be missing. Then the tool is called all the same, without arguments."
NEEDS_NO_TOOL = "an answer needs no tool. Does your loop know what is asked for when it looks at the tool calls?"

ONE_LOOK = "the clock is read twice before the first call: once for the start, once for the look. Which one is missing?"

LOOK = {"type": "tool", "name": "search", "args": {"query": "one more look"}}
DONE = {"type": "final", "content": "done"}

# The reasons of the exercise and the library's names for them.
REASONS = {
    "answered": "final",
    "max_steps": "max_steps",
    "time_limit": "budget",
    "max_tool_calls": "max_tool_calls",
}


@dataclass(frozen=True)
class Case:
    """One run to try: what the model says (its last reply again and again), and the limits.

    A limit of None is not passed to the loop. `hint_late` is the hint for a loop that made too many calls, if
    that is another one.
    """

    name: str
    replies: tuple[Mapping[str, Any], ...] = (LOOK,)
    max_steps: int | None = 10
    time_budget: float | None = None
    max_tool_calls: int | None = None
    start: float = 0.0
    tools: Mapping[str, Callable[..., Any]] = field(default_factory=lambda: {"search": lambda query: "nothing"})
    hint: str = ""
    hint_late: str = ""


@dataclass
class Seen:
    """What a run did: its result, and in `log` an r for each reading of the clock and a c for each call.

    `ran` counts the tools that were started; `counts_tools` says that they matter here.
    """

    result: Any = None
    raised: BaseException | None = None
    log: str = ""
    ran: int = 0
    counts_tools: bool = False
    messages: list[Any] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return self.log.count("c")

    def __str__(self) -> str:
        calls = f"{self.calls} model call{'' if self.calls == 1 else 's'}"
        if self.counts_tools:
            calls += f" and {self.ran} tool call{'' if self.ran == 1 else 's'}"
        if isinstance(self.raised, Endless):
            return f"your loop {self.raised}, after {calls}" if self.calls < MOST_CALLS else f"your loop {self.raised}"
        if self.raised is not None:
            return f"your loop raised {type(self.raised).__name__}: {self.raised}, after {calls}"
        return f"your loop returned {shown(self.result)} after {calls}"


def check_answer(run_with_limits: Callable[..., Any]) -> None:
    """The model's answer ends the run."""
    _judge(
        run_with_limits,
        [
            Case("the model answers at once", (DONE,)),
            Case("the model answers at its third call", (LOOK, LOOK, DONE)),
            Case("the model answers at its third call, within the time budget", (LOOK, LOOK, DONE), time_budget=60),
            *fresh(_answers),
        ],
    )


def check_steps(run_with_limits: Callable[..., Any]) -> None:
    """The step limit: N steps are N model calls."""
    _judge(
        run_with_limits,
        [
            Case(
                f"the model never answers, max_steps={n}",
                max_steps=n,
                hint="max_steps counts calls of the model. How many does your loop make at most?",
            )
            for n in (10, 3, 1)
        ]
        + [
            Case(
                "the model never answers, max_steps=0",
                max_steps=0,
                hint="no steps allowed means that no call is made. Where does your loop first look at the limit?",
            ),
            Case(
                "max_steps is not given, and the model never answers",
                max_steps=None,
                hint="the default for max_steps is in the first line of the task.",
            ),
            *fresh(_never_answers),
        ],
    )


def check_time(run_with_limits: Callable[..., Any]) -> None:
    """The time budget, on clocks that never wait."""
    late = "compare with >=, before the call: a budget that has been reached pays for no further call."
    _judge(
        run_with_limits,
        [
            Case("the clock ticks 0, 1, 2, … and time_budget=3", time_budget=3, hint=late),
            Case(
                "the clock ticks 500, 501, 502, … and time_budget=3",
                time_budget=3,
                start=500,
                hint="a clock may start anywhere. What is the first reading for?",
                hint_late=late,
            ),
            Case(
                "time_budget=0",
                time_budget=0,
                hint="0 is a budget too, the strictest. Is it taken for 'no budget'? Is a call made before the look?",
            ),
            Case("time_budget=100 and max_steps=5: the steps run out first", max_steps=5, time_budget=100),
            *fresh(_runs_out),
        ],
        readings=True,
    )


def check_tool_calls(run_with_limits: Callable[..., Any]) -> None:
    """The limit on tool calls: looked at when a tool is asked for, and before it runs."""

    def broken(query: str) -> str:
        raise ValueError("the index is down")

    late = "the request that is one too many is not carried out. Has its tool run by the time your loop looks?"
    failed = "a request counts when the loop has tried to carry it out, whatever came of it."
    unknown = {**LOOK, "name": "serach"}
    _judge(
        run_with_limits,
        [
            Case("max_tool_calls=2, and the model asks for ever", max_tool_calls=2, hint=late),
            Case(
                "max_tool_calls=2, two looks, then the answer", (LOOK, LOOK, DONE), max_tool_calls=2, hint=NEEDS_NO_TOOL
            ),
            Case("max_tool_calls=2, three looks, an answer", (LOOK,) * 3 + (DONE,), max_tool_calls=2, hint=late),
            Case("max_tool_calls=0, and the model answers at once", (DONE,), max_tool_calls=0, hint=NEEDS_NO_TOOL),
            Case(
                "max_tool_calls=0, and the model asks for a tool",
                max_tool_calls=0,
                hint="0 is a limit too, the strictest: no tool runs. Is it taken for 'no limit'?",
            ),
            Case(
                "max_tool_calls=3, and the tool raises each time",
                max_tool_calls=3,
                tools={"search": broken},
                hint=failed,
            ),
            Case("max_tool_calls=3, and the tool does not exist", (unknown,), max_tool_calls=3, hint=failed),
            Case("max_tool_calls is not given, and the model asks for ever", max_steps=30),
        ],
    )


def check_ties(run_with_limits: Callable[..., Any]) -> None:
    """Which exit wins where several are due."""
    _judge(
        run_with_limits,
        [
            Case(
                "the model answers at its last allowed step",
                (LOOK, LOOK, DONE),
                max_steps=3,
                hint="an answer at the last allowed step is an answer. What do you look at first in a reply?",
            ),
            Case(
                "time is up just before the call that would bring the answer",
                (LOOK, LOOK, DONE),
                time_budget=3,
                hint="time comes before the answer: the call is not made.",
            ),
            Case(
                "time, answer and steps are all due at the third step",
                (LOOK, LOOK, DONE),
                max_steps=3,
                time_budget=3,
                hint="the order is time, answer, steps.",
            ),
            Case(
                "time and steps are due together, no answer",
                max_steps=2,
                time_budget=2,
                hint="the second call is not made, because time is up before it.",
            ),
            Case(
                "time is up just before the call that would ask for one tool too many",
                time_budget=3,
                max_tool_calls=2,
                hint="time is looked at before the call, so nobody gets to ask for that tool.",
            ),
            Case(
                "the last allowed step asks for one tool too many",
                max_steps=3,
                max_tool_calls=2,
                hint="tool calls are looked at before a tool runs, and the steps run out only after the round.",
            ),
            Case(
                "the last allowed step makes the last allowed tool call",
                max_steps=3,
                max_tool_calls=3,
                hint="that tool call is allowed. Which limit is met next?",
            ),
            *fresh(_ties),
        ],
    )


def check_tools(run_with_limits: Callable[..., Any]) -> None:
    """A tool that fails is a result for the model, and the run goes on."""

    def broken(query: str) -> str:
        raise ValueError("the index is down")

    _judge(
        run_with_limits,
        [
            Case("the model asks for a tool that does not exist", ({**LOOK, "name": "serach"}, DONE), hint=SURVIVE),
            Case("the tool raises an error", (LOOK, DONE), tools={"search": broken}, hint=SURVIVE),
            Case("the tool does not take these arguments", ({**LOOK, "args": {"qery": "x"}}, DONE), hint=SURVIVE),
            Case(
                "a request without args",
                ({"type": "tool", "name": "now"}, DONE),
                tools={"now": lambda: "noon"},
                hint=NO_ARGS,
            ),
            Case("the tool raises at every step", max_steps=4, tools={"search": broken}, hint=SURVIVE),
            *fresh(lambda dice: _fails(dice, SURVIVE)),
        ],
        results=True,
    )


def check_messages(run_with_limits: Callable[..., Any]) -> None:
    """What the model gets to read."""

    def verdicts() -> Iterator[Verdict]:
        now = {"type": "tool", "name": "now", "args": {}}
        tools: dict[str, Callable[..., Any]] = {"search": lambda query: "nothing", "now": lambda: "noon"}
        case = Case("the messages before the third call, after two different tools", (LOOK, now, DONE), tools=tools)
        yield _messages_verdict(run_with_limits, case)
        for case in fresh(_three_tools):
            yield _messages_verdict(run_with_limits, case)

    judge(EXERCISE, verdicts())


# Cases that nobody has seen: another form of those above, with other numbers and words.


def _word(dice: Random) -> str:
    return "".join(dice.choice("abcdefghij") for _ in range(6))


def _look(dice: Random) -> dict[str, Any]:
    return {"type": "tool", "name": "search", "args": {"query": _word(dice)}}


def _answers(dice: Random) -> Case:
    looks, text = dice.randint(0, 8), _word(dice)
    replies = (*(_look(dice) for _ in range(looks)), {"type": "final", "content": text})
    return Case(f"the model answers {text!r} at call {looks + 1}", replies)


def _never_answers(dice: Random) -> Case:
    n = dice.randint(2, 60)
    return Case(f"the model never answers, max_steps={n}", (_look(dice),), max_steps=n)


def _runs_out(dice: Random) -> Case:
    budget, start = dice.randint(1, 30), dice.randint(1, 10_000)
    steps = dice.choice([n for n in range(1, 31) if n + 1 != budget])  # the one case that the task leaves open
    name = f"the clock ticks {start}, {start + 1}, …, time_budget={budget} and max_steps={steps}"
    return Case(name, (_look(dice),), steps, budget, start)


def _ties(dice: Random) -> Case:
    looks = dice.randint(1, 12)
    steps, budget = dice.choice([(looks + m, looks + n) for m in range(3) for n in range(3) if m + 1 != n])
    replies = (*(_look(dice) for _ in range(looks)), {"type": "final", "content": _word(dice)})
    name = f"the answer would come at call {looks + 1}, max_steps={steps} and time_budget={budget}"
    return Case(name, replies, steps, budget, dice.randint(0, 1_000))


def _fails(dice: Random, hint: str) -> Case:
    name, text = _word(dice), _word(dice)

    def broken(**args: Any) -> str:
        raise LookupError(text)

    request = {"type": "tool", "name": name, "args": {_word(dice): 1}}
    return Case(f"the tool {name!r} raises {text!r}", (request, DONE), tools={name: broken}, hint=hint)


def _three_tools(dice: Random) -> Case:
    results = {_word(dice): _word(dice) for _ in range(3)}
    tools: dict[str, Callable[..., Any]] = {name: lambda text=text: text for name, text in results.items()}
    requests = tuple({"type": "tool", "name": name, "args": {}} for name in results)
    return Case(f"the messages after {', '.join(results)}", (*requests, DONE), tools=tools)


def _judge(loop: Callable[..., Any], cases: Iterable[Case], readings: bool = False, results: bool = False) -> None:
    def verdicts() -> Iterator[Verdict]:
        for case in cases:
            seen = _try(loop, case)
            yield _verdict(case, seen)
            if readings:
                yield _readings_verdict(case, seen)
            if results and seen.raised is None:
                yield _results_verdict(case, seen)

    judge(EXERCISE, verdicts())


def _verdict(case: Case, seen: Seen) -> Verdict:
    wanted = _library(case)
    did_as_much = (seen.calls, seen.ran) == (wanted.calls, wanted.ran)
    ok = seen.raised is None and _same(seen.result, wanted.result) and did_as_much
    return Verdict(case.name, ok, str(seen), _hint(case, seen, wanted))


def _hint(case: Case, seen: Seen, wanted: Seen) -> str:
    if isinstance(seen.raised, Endless):
        return "something must end the loop even if the model never answers. Which line does that?"
    if isinstance(seen.raised, TypeError) and "max_tool_calls" in str(seen.raised):
        return "keep the first line as it stands in the answer cell: it names max_tool_calls."
    if seen.raised is None and not (isinstance(seen.result, tuple) and len(seen.result) == 2):
        return "return two things, (answer, reason)."
    if seen.raised is None and seen.calls == wanted.calls and seen.result[1] not in REASONS.values():
        return f"the reason is one of the names in the table: {', '.join(REASONS.values())}."
    if case.time_budget is not None and "r" not in seen.log:
        return "the time comes from the clock that was passed in: call clock()."
    if isinstance(seen.raised, KeyError) and "args" in str(seen.raised):
        return NO_ARGS
    if case.time_budget and seen.calls > wanted.calls and not seen.log.startswith("rr"):
        return ONE_LOOK
    if seen.counts_tools and seen.raised is not None:
        return SURVIVE
    if seen.counts_tools and seen.calls < wanted.calls:
        return NEEDS_NO_TOOL
    if case.hint_late and seen.calls > wanted.calls:
        return case.hint_late
    return case.hint


def _readings_verdict(case: Case, seen: Seen) -> Verdict:
    """One reading at the start, one before each call, and the one that ended the run, if it did."""
    ok = re.fullmatch("r(rc)*r?", seen.log) is not None
    said = " ".join({"r": "clock", "c": "model"}[one] for one in seen.log)
    return Verdict(
        f"readings of the clock ({case.name})",
        ok,
        f"your loop asked, in this order: {shown(said, 60)}",
        "read the clock once at the start and once before each call of the model, nowhere else.",
    )


def _results_verdict(case: Case, seen: Seen) -> Verdict:
    results = [m for m in seen.messages if isinstance(m, Mapping) and m.get("role") == "tool"]
    works = case.replies[0].get("name") == "now"
    texts = [m.get("content") for m in results]
    failed = any(str(text).lower().startswith("error") for text in texts)
    ok = bool(texts) and all(text == "noon" if works else str(text).startswith("error") for text in texts)
    kept = "a result stays as it is; what goes wrong becomes a text that starts with 'error', in small letters."
    return Verdict(
        f"the result that the model reads ({case.name})",
        ok,
        f"results in the messages: {shown(texts)}",
        NO_ARGS if works and failed else kept,
    )


def _messages_verdict(loop: Callable[..., Any], case: Case) -> Verdict:
    seen = _try(loop, case)
    wanted: list[Mapping[str, Any]] = [{"role": "user", "content": "Where is it?"}]
    for request in case.replies[:-1]:
        content = case.tools[request["name"]](**request["args"])
        wanted += [request, {"role": "tool", "name": request["name"], "content": content}]
    for place, (got, want) in enumerate(zip(seen.messages, wanted, strict=False)):
        if got != want:
            return Verdict(
                case.name,
                False,
                f"message {place} is {shown(got)}",
                "first the user's message; then, for each round, the reply itself and one message"
                " with role, name and content.",
            )
    return Verdict(
        case.name,
        len(seen.messages) == len(wanted),
        f"{len(seen.messages)} messages",
        "each round adds two messages: the reply, and the result.",
    )


def _try(loop: Callable[..., Any], case: Case) -> Seen:
    """Run the learner's loop on one case, whatever it does."""
    seen = Seen(counts_tools=case.max_tool_calls is not None)

    def model(messages: Any) -> Any:
        if seen.calls == MOST_CALLS:
            raise Endless(f"did not stop within {MOST_CALLS} steps")
        seen.messages = list(messages)
        seen.log += "c"
        return dict(case.replies[min(seen.calls, len(case.replies)) - 1])

    def clock() -> float:
        if seen.log.count("r") == 2 * MOST_CALLS:
            raise Endless(f"did not stop: it read the clock {2 * MOST_CALLS} times")
        seen.log += "r"
        return case.start + seen.log.count("r") - 1

    given = {
        "max_steps": case.max_steps,
        "time_budget": case.time_budget,
        "max_tool_calls": case.max_tool_calls,
    }
    limits = {name: limit for name, limit in given.items() if limit is not None}
    try:
        with bounded(), redirect_stdout(Muted(sys.stdout)):
            seen.result = loop(model, _counting(case.tools, seen), "Where is it?", clock, **limits)
    except NotImplementedError:
        raise
    except (Exception, Endless) as error:
        seen.raised = error
    return seen


def _counting(tools: Mapping[str, Callable[..., Any]], seen: Seen) -> dict[str, Callable[..., Any]]:
    """The tools, which note in `seen` each time one of them is started."""

    def noted(tool: Callable[..., Any]) -> Callable[..., Any]:
        def started(*args: Any, **kwargs: Any) -> Any:
            seen.ran += 1
            return tool(*args, **kwargs)

        return started

    return {name: noted(tool) for name, tool in tools.items()}


def _library(case: Case) -> Seen:
    """The same run by `stoplib.run`: what is right is computed, not written down."""
    wanted = Seen()

    def model(messages: Any) -> stoplib.Reply:
        wanted.log += "c"
        said = case.replies[min(wanted.calls, len(case.replies)) - 1]
        if said["type"] == "final":
            return stoplib.answer(said["content"])
        return stoplib.call(said["name"], **said.get("args", {}))

    def clock() -> float:
        wanted.log += "r"
        return case.start + wanted.log.count("r") - 1

    guards: list[stoplib.Guard] = [stoplib.max_steps(10 if case.max_steps is None else case.max_steps)]
    if case.time_budget is not None:
        guards.insert(0, stoplib.time_limit(case.time_budget))
    if case.max_tool_calls is not None:
        guards.append(stoplib.max_tool_calls(case.max_tool_calls, gate="before_action"))
    tools = _counting(case.tools, wanted)
    outcome = stoplib.run(model, "Where is it?", tools=tools, guards=guards, clock=clock)
    wanted.result = (outcome.answer, REASONS[outcome.reason])
    return wanted


def _same(result: Any, wanted: tuple[Any, str]) -> bool:
    """Equal by plain values: an object that calls itself equal to everything is not."""
    if type(result) not in (tuple, list) or len(result) != 2:
        return False
    return all(type(got) is type(want) and got == want for got, want in zip(result, wanted, strict=True))
