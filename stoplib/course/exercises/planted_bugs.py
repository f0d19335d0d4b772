"""Exercise 08: the learner's tests, held against right loops and against loops with a planted bug.

Every loop is made anew for each test, so that what one test does to it does not reach the next.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from typing import Any

import stoplib
from stoplib.course.checks import ChecksFailed, Endless, Muted, Verdict, bounded, judge, lines_of, shown, shuffled
from stoplib.outcome import describe

EXERCISE = "08"
MOST_LINES = 60_000
MOST_ENDLESS = 3

Loop = Callable[..., tuple[Any, str]]
Test = Callable[[Loop], Any]
Message = dict[str, Any]

TYPE_ERROR = "tests() must return a list of functions; each of them takes one argument, a loop."
NO_FUSE = (
    "a test that does not come back has caught nothing. Put a fuse into the model that your test passes in."
    " If it has one, let it blow sooner."
)
NONE_LEFT = "a test that fails on right loops catches nothing either. Begin with the cell that tries the right loops."
NO_ASSERT = "a test fails by raising an error, as assert does. What it returns is not looked at."
TOO_MUCH = (
    "this loop keeps every promise of the task, in its own way. Your test asks for more than the task promises:"
    " which line of the task says what it asserts?"
)


def right_loop() -> Loop:
    """A loop that keeps all promises, to try tests on.

    >>> right_loop()(lambda messages: {"type": "final", "content": "done"}, {}, "go", lambda: 0)
    ('done', 'final')
    """
    return _made(Parts)


def check_right(tests: Callable[[], Any]) -> None:
    """No test fails on a loop that is right, however it is written."""
    never_fail: list[str] = []

    def verdicts() -> Iterator[Verdict]:
        with _muted():
            made, problem = _tests_of(tests)
            tries = _tries(made, STYLES | _planted(BUGS))
        yield from problem
        right = [tries[style] for style in STYLES]
        found = {tried.test for bug in BUGS for tried in tries[bug.name] if tried.failed}
        never_fail.extend(dict.fromkeys(name for name in map(_name, made) if name not in found))
        for style in STYLES if made else ():
            yield _right_verdict(style, tries[style], right)

    judge(EXERCISE, verdicts())
    for name in never_fail:
        print(f"note: {name} fails on none of the planted bugs. Can it fail at all?")


def check_steps(tests: Callable[[], Any]) -> None:
    """Bugs in the answer and in the step limit."""
    _check_bugs(tests, "steps")


def check_time(tests: Callable[[], Any]) -> None:
    """Bugs in the time budget."""
    _check_bugs(tests, "time")


def check_tools(tests: Callable[[], Any]) -> None:
    """Bugs in what becomes of a tool call, and in the messages."""
    _check_bugs(tests, "tools")


def _check_bugs(tests: Callable[[], Any], group: str) -> None:
    """A bug is caught by a test that fails on it, and on no right loop."""
    bugs = {bug.name: bug for bug in BUGS if bug.group == group}
    through: list[str] = []

    def verdicts() -> Iterator[Verdict]:
        with _muted():
            made, problem = _tests_of(tests)
            tries = _tries(made, STYLES | _planted(bugs.values()))
        yield from problem
        unfit = {tried.place for style in STYLES for tried in tries[style] if tried.failed or tried.endless}
        for name in dict.fromkeys(_name(made[place]) for place in sorted(unfit)):
            print(f"note: {name} is left out here, since it does not pass on all right loops.")
        for name, bug in bugs.items():
            verdict = _bug_verdict(bug, [tried for tried in tries[name] if tried.place not in unfit])
            if not verdict.ok:
                through.append(name)
            if made:
                yield verdict

    try:
        judge(EXERCISE, verdicts())
    except ChecksFailed:
        if not through:
            raise
        score = f"caught {len(bugs) - len(through)} of {len(bugs)} planted bugs. These got through"
        raise ChecksFailed(f"Exercise {EXERCISE}: {score}: {'; '.join(through)}.") from None


def _planted(bugs: Iterable[Bug]) -> dict[str, Callable[[], Loop]]:
    """For each bug what makes a loop that has it."""
    return {bug.name: partial(_made, bug.parts) for bug in bugs}


def _tries(tests: Sequence[Test], loops: Mapping[str, Callable[[], Loop]]) -> dict[str, list[Tried]]:
    """What every test did on each loop. A test that has run for ever a few times is not tried again.

    The loops come in a mixed order, so that a test cannot go by it.
    """
    endless = Counter[int]()
    found = {}
    for name, make in shuffled(loops.items()):
        seen = []
        for place, test in enumerate(tests):
            gave_up = endless[place] >= MOST_ENDLESS
            again = Tried(place, _name(test), endless=True, said="has not come back three times")
            seen.append(again if gave_up else _try(place, test, make()))
            endless[place] += seen[-1].endless
        found[name] = seen
    return found


@dataclass(frozen=True)
class Tried:
    """What a test did with a loop; `place` is its place in the list."""

    place: int
    test: str
    failed: bool = False
    endless: bool = False
    said: str = ""
    returned: Any = None


def _try(place: int, test: Test, loop: Loop) -> Tried:
    """Run one test on one loop, whatever it does. Any error is a failure, but running for ever is not."""
    name = _name(test)
    try:
        with bounded(MOST_LINES):
            returned = test(loop)
    except Endless as error:
        return Tried(place, name, endless=True, said=str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Tried(place, name, failed=True, said=_described(test, error))
    return Tried(place, name, returned=returned)


def _described(test: Test, error: BaseException) -> str:
    """The error, and the line of the test that it came from where Python knows its text."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    lines = [line for function, line in lines_of(error) if function == _name(test)]
    return describe(said) + (f", at: {lines[-1]}" if lines and lines[-1] else "")


def _tests_of(tests: Callable[[], Any]) -> tuple[list[Test], list[Verdict]]:
    """The learner's tests, and what is wrong with them."""
    try:
        with bounded(MOST_LINES):
            made = tests()
    except NotImplementedError:
        raise
    except (Exception, Endless) as error:
        return [], [Verdict("tests() gives tests", False, f"it raised {type(error).__name__}: {error}", TYPE_ERROR)]
    if not isinstance(made, (list, tuple)) or not made or not all(callable(test) for test in made):
        return [], [Verdict("tests() gives tests", False, f"it returned {_kind(made)}", TYPE_ERROR)]
    return list(made), []


def _kind(value: Any) -> str:
    """What somebody returned, without the address that a function's repr holds."""
    if callable(value):
        return f"one function, {_name(value)}"
    if isinstance(value, (list, tuple)) and value:
        return f"a list with {', '.join(type(part).__name__ for part in value if not callable(part))} in it"
    return shown(value)


def _name(test: Test) -> str:
    return getattr(test, "__name__", type(test).__name__)


def _muted() -> redirect_stdout[Any]:
    """What the learner's tests print, cut short."""
    return redirect_stdout(Muted(sys.stdout))


def _right_verdict(style: str, seen: Sequence[Tried], all_of_it: Collection[Sequence[Tried]]) -> Verdict:
    bad = [tried for tried in seen if tried.failed or tried.endless]
    if not bad:
        return Verdict(f"no test fails on {style}", True)
    first = bad[0]
    said = first.said if first.endless else f"failed ({first.said})"
    everywhere = all(any(t.test == first.test and t.failed for t in tries) for tries in all_of_it)
    hint = NO_FUSE if first.endless else TOO_MUCH
    if everywhere:
        hint = "it fails on every right loop, so it tells nothing apart. Read the promise that it is about once more."
    return Verdict(f"no test fails on {style}", False, f"{first.test} {said}", hint)


def _bug_verdict(bug: Bug, seen: Sequence[Tried]) -> Verdict:
    """Whether the bug is caught by one of the tests that pass on the right loops; `seen` is what these did."""
    if any(tried.failed for tried in seen):
        return Verdict(f"the bug is caught: {bug.name}", True)
    hint = bug.hint
    what = "every test passes on it"
    if not seen:
        what, hint = "no test is left to catch it", NONE_LEFT
    elif endless := [tried for tried in seen if tried.endless]:
        what, hint = f"{endless[0].test} {endless[0].said}, and no other test fails", NO_FUSE
    elif unheard := [tried.test for tried in seen if tried.returned is False]:
        what, hint = f"every test passes on it, but {unheard[0]} returned False", NO_ASSERT
    return Verdict(f"the bug is caught: {bug.name}", False, what, hint)


class Parts:
    """A right loop in small parts, each of which a planted bug can replace."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}  # what a loop with a memory remembers

    def run(
        self,
        model: Callable[[list[Message]], Message],
        tools: dict[str, Callable[..., Any]],
        user_msg: str,
        clock: Callable[[], float],
        max_steps: int = 10,
        time_budget: float | None = None,
    ) -> tuple[Any, str]:
        messages, start, steps = self.first(user_msg), self.start(clock), 0
        while self.allowed(steps, max_steps):
            if self.looks_first and self.late(clock, start, time_budget):
                return None, "budget"
            reply = model(messages)
            steps += 1
            if reply["type"] == "final" and not self.dropped(steps, max_steps):
                return self.answer(reply), "final"
            if not self.looks_first and self.late(clock, start, time_budget):
                return None, "budget"
            if reply["type"] != "final":
                content = self.result(tools, reply)
                if content is None:
                    return None, "error"
                self.write(messages, reply, content)
        return self.partial(messages), "max_steps"

    #: whether the clock is looked at before the call
    looks_first = True

    def first(self, user_msg: str) -> list[Message]:
        return [{"role": "user", "content": user_msg}]

    def start(self, clock: Callable[[], float]) -> float:
        return clock()

    def allowed(self, steps: int, max_steps: int) -> bool:
        return steps < max_steps

    def late(self, clock: Callable[[], float], start: float, time_budget: float | None) -> bool:
        return time_budget is not None and clock() - start >= time_budget

    def dropped(self, steps: int, max_steps: int) -> bool:
        return False

    def answer(self, reply: Message) -> Any:
        return reply["content"]

    def partial(self, messages: list[Message]) -> Any:
        return None

    def result(self, tools: dict[str, Callable[..., Any]], reply: Message) -> Any:
        try:
            return tools[reply["name"]](**reply.get("args", {}))
        except Exception as error:
            return f"error: {type(error).__name__}: {error}"

    def write(self, messages: list[Message], reply: Message, content: Any) -> None:
        messages += [reply, {"role": "tool", "name": reply["name"], "content": content}]


def _made(parts: type[Parts]) -> Loop:
    """A loop of these parts, as a plain function that looks like any other."""
    run = parts().run

    def run_with_limits(
        model: Any, tools: Any, user_msg: Any, clock: Any, max_steps: int = 10, time_budget: float | None = None
    ) -> tuple[Any, str]:
        return run(model, tools, user_msg, clock, max_steps, time_budget)

    return run_with_limits


@dataclass(frozen=True)
class Bug:
    """A planted bug: what the loop does wrong, and a question that leads to the test."""

    group: str
    name: str
    parts: type[Parts]
    hint: str


class OneMore(Parts):
    def allowed(self, steps: int, max_steps: int) -> bool:
        return steps <= max_steps


class NoLimit(Parts):
    def allowed(self, steps: int, max_steps: int) -> bool:
        return True


class AtLeastOne(Parts):
    def allowed(self, steps: int, max_steps: int) -> bool:
        return steps < max(1, max_steps)


class LastAnswerDropped(Parts):
    def dropped(self, steps: int, max_steps: int) -> bool:
        return steps == max_steps > 1


class PartialAsAnswer(Parts):
    def partial(self, messages: list[Message]) -> Any:
        return messages[-1]["content"]


class WholeReply(Parts):
    def answer(self, reply: Message) -> Any:
        return reply


class StepsKept(Parts):
    def allowed(self, steps: int, max_steps: int) -> bool:
        self.kept["steps"] = self.kept.get("steps", -1) + 1
        return bool(self.kept["steps"] < max_steps)


class ReachedIsFine(Parts):
    def late(self, clock: Callable[[], float], start: float, time_budget: float | None) -> bool:
        return time_budget is not None and clock() - start > time_budget


class ZeroIsNone(Parts):
    def late(self, clock: Callable[[], float], start: float, time_budget: float | None) -> bool:
        return bool(time_budget) and super().late(clock, start, time_budget)


class ClockFromZero(Parts):
    def late(self, clock: Callable[[], float], start: float, time_budget: float | None) -> bool:
        return super().late(clock, 0, time_budget)


class ComputersClock(Parts):
    def start(self, clock: Callable[[], float]) -> float:
        return time.monotonic()

    def late(self, clock: Callable[[], float], start: float, time_budget: float | None) -> bool:
        return super().late(time.monotonic, start, time_budget)


class ReadsTwice(Parts):
    def late(self, clock: Callable[[], float], start: float, time_budget: float | None) -> bool:
        return super().late(clock, start, time_budget) or super().late(clock, start, time_budget)


class LooksAfter(Parts):
    looks_first = False


class StartKept(Parts):
    def start(self, clock: Callable[[], float]) -> float:
        now = clock()
        return float(self.kept.setdefault("start", now))


class UnknownToolCrashes(Parts):
    def result(self, tools: dict[str, Callable[..., Any]], reply: Message) -> Any:
        tools[reply["name"]]
        return super().result(tools, reply)


class ToolErrorCrashes(Parts):
    def result(self, tools: dict[str, Callable[..., Any]], reply: Message) -> Any:
        if reply["name"] not in tools:
            return "error: unknown tool"
        return tools[reply["name"]](**reply.get("args", {}))


class ErrorEnds(Parts):
    def result(self, tools: dict[str, Callable[..., Any]], reply: Message) -> Any:
        content = super().result(tools, reply)
        return None if str(content).startswith("error: ") else content


class ErrorIsEmpty(Parts):
    def result(self, tools: dict[str, Callable[..., Any]], reply: Message) -> Any:
        content = super().result(tools, reply)
        return "" if str(content).startswith("error: ") else content


class ArgsNeeded(Parts):
    def result(self, tools: dict[str, Callable[..., Any]], reply: Message) -> Any:
        return super().result(tools, {**reply, "args": reply["args"]})


class RunsTwice(Parts):
    def result(self, tools: dict[str, Callable[..., Any]], reply: Message) -> Any:
        super().result(tools, reply)
        return super().result(tools, reply)


class RequestNotWritten(Parts):
    def write(self, messages: list[Message], reply: Message, content: Any) -> None:
        messages.append({"role": "tool", "name": reply["name"], "content": content})


class MessagesKept(Parts):
    def first(self, user_msg: str) -> list[Message]:
        messages: list[Message] = self.kept.setdefault("messages", [])
        messages += super().first(user_msg)
        return messages


BUGS = (
    Bug("steps", "it makes one call more than max_steps", OneMore, "at which max_steps does one call more show?"),
    Bug("steps", "it never looks at max_steps", NoLimit, "what does your test do with a model that never answers?"),
    Bug("steps", "with max_steps=0 it makes a call", AtLeastOne, "which is the smallest limit that can be set?"),
    Bug(
        "steps",
        "it throws away an answer at the last allowed step",
        LastAnswerDropped,
        "how many steps does a model need that looks twice and then answers? Allow exactly that many.",
    ),
    Bug(
        "steps",
        "at the step limit it returns the last result as if it were the answer",
        PartialAsAnswer,
        "what is the answer of a run that did not finish? Look at both things that come back.",
    ),
    Bug("steps", "it returns the whole reply, not its content", WholeReply, "what exactly comes back for an answer?"),
    Bug(
        "steps",
        "in a second run the steps of the first one still count",
        StepsKept,
        "what does the same loop give if it is used twice?",
    ),
    Bug(
        "time",
        "it goes on when the time budget is reached exactly",
        ReachedIsFine,
        "at which reading of a clock that ticks is the budget reached? How many calls are that?",
    ),
    Bug("time", "time_budget=0 counts as no budget", ZeroIsNone, "which is the strictest budget there is?"),
    Bug(
        "time",
        "it reads the clock twice before each call",
        ReadsTwice,
        "on a clock that ticks with each reading, how many calls fit into a budget of 5?",
    ),
    Bug("time", "it compares the clock itself with the budget", ClockFromZero, "where may a clock start?"),
    Bug(
        "time",
        "it asks the computer's clock, not the one that was passed in",
        ComputersClock,
        "who decides how fast time passes in your test?",
    ),
    Bug(
        "time",
        "it looks at the time after the call, so an answer that comes too late counts",
        LooksAfter,
        "what if the time is up just before the call that would bring the answer?",
    ),
    Bug(
        "time",
        "in a second run the time of the first one still counts",
        StartKept,
        "what does the same loop give if it is used twice, on a clock that has gone on?",
    ),
    Bug(
        "tools",
        "a request for an unknown tool crashes it",
        UnknownToolCrashes,
        "what may a model ask for that does not exist?",
    ),
    Bug("tools", "a tool that raises crashes it", ToolErrorCrashes, "what if the tool itself fails?"),
    Bug(
        "tools", "a tool that fails ends the run", ErrorEnds, "what may the model do once it has read about the error?"
    ),
    Bug(
        "tools",
        "the model reads nothing about an error",
        ErrorIsEmpty,
        "what must the message about a failed tool begin with? Look at what the model is sent.",
    ),
    Bug("tools", "a request without args crashes it", ArgsNeeded, "which part of a request may be missing?"),
    Bug("tools", "it runs each tool twice", RunsTwice, "how would a test notice how often a tool ran?"),
    Bug(
        "tools",
        "it does not write the request into the messages",
        RequestNotWritten,
        "which messages should the model find at its second call? Compare the whole list.",
    ),
    Bug(
        "tools",
        "in a second run the messages of the first one are still there",
        MessagesKept,
        "what does the model read at the first call of a second run?",
    ),
)


def _for_loop(
    model: Any, tools: Any, user_msg: str, clock: Any, max_steps: int = 10, time_budget: float | None = None
) -> tuple[Any, str]:
    """Reads the clock only if there is a budget."""
    messages: list[Message] = [{"role": "user", "content": user_msg}]
    start = None if time_budget is None else clock()
    for _ in range(max_steps):
        if start is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages.append(reply)
        try:
            content = tools[reply["name"]](**(reply.get("args") or {}))
        except Exception:
            content = "error"
        messages.append({"role": "tool", "name": reply["name"], "content": content})
    return None, "max_steps"


def _recursive(
    model: Any, tools: Any, user_msg: str, clock: Any, max_steps: int = 10, time_budget: float | None = None
) -> tuple[Any, str]:
    """Makes a new list of messages for every call, and reads the clock in any case."""
    start = clock()

    def go(messages: tuple[Message, ...], left: int) -> tuple[Any, str]:
        if left == 0:
            return None, "max_steps"
        if (passed := clock() - start) >= (passed + 1 if time_budget is None else time_budget):
            return None, "budget"
        reply = model(list(messages))
        if reply["type"] == "final":
            return reply["content"], "final"
        name = reply["name"]
        try:
            content = tools[name](**reply.get("args", {})) if name in tools else f"error: there is no {name}"
        except Exception as error:
            content = f"error in {name}: {error!r}"
        return go((*messages, reply, {"role": "tool", "name": name, "content": content}), left - 1)

    return go(({"role": "user", "content": user_msg},), max_steps)


def _by_the_library(
    model: Any, tools: Any, user_msg: str, clock: Any, max_steps: int = 10, time_budget: float | None = None
) -> tuple[Any, str]:
    """`stoplib.run`, with its words put into those of the task."""
    said: list[Message] = []

    def translated(messages: list[Message]) -> stoplib.Reply:
        results = [m for m in messages if m["role"] == "tool"]
        known: list[Message] = [{"role": "user", "content": user_msg}]
        for reply, result in zip(said, results, strict=True):
            content = f"error: {result['content']}" if result["is_error"] else result["content"]
            known += [reply, {"role": "tool", "name": reply["name"], "content": content}]
        reply = model(known)
        said.append(reply)
        if reply["type"] == "final":
            return stoplib.answer("final")  # the library takes no empty text for an answer, the task does
        return stoplib.call(reply["name"], **reply.get("args", {}))

    guards: list[stoplib.Guard] = [stoplib.max_steps(max_steps)]
    if time_budget is not None:
        guards.append(stoplib.time_limit(min(max(0, time_budget), sys.float_info.max)))
    outcome = stoplib.run(translated, "go", tools=tools, guards=guards, clock=clock)
    if outcome.error is not None:
        raise outcome.error
    if outcome.complete:
        return said[-1]["content"], "final"
    return None, {"time_limit": "budget"}.get(outcome.reason, outcome.reason)


STYLES: dict[str, Callable[[], Loop]] = {
    "a while loop in small parts": right_loop,
    "a for loop that reads the clock only if there is a budget": lambda: _for_loop,
    "a recursive function that passes on a new list each time": lambda: _recursive,
    "the library's loop in other words": lambda: _by_the_library,
}
