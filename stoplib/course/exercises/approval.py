"""Exercise 05: `answer_calls`. What the tools and the person really did decides what the transcript may say."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import stoplib
from stoplib.course.checks import Endless, Muted, Verdict, bounded, fresh, judge, shown

EXERCISE = "05"
MOST_QUESTIONS = 200
SEEDS = 30

Learner = Callable[..., Any]
Call = Mapping[str, Any]

CTRL_C = "Ctrl-C"
VERBS = {"ask": "asked about", "start": "started", "end": "finished"}
RESULT, ERROR, DECLINED, NOT_RUN, NOT_TO_ITS_END = "its result", "error", "declined", "not run", "not run to its end"


def calls_of(*names: str) -> list[dict[str, Any]]:
    """Requests as a reply holds them: `delete`, `read` and so on, each with an id and a path."""
    return [{"id": f"c{n}", "name": name, "args": {"path": f"{n}.txt"}} for n, name in enumerate(names, 1)]


@dataclass
class World:
    """The tools and the person, and in `log` what they did: ("ask" | "start" | "end", id).

    `says` are the person's answers in order, the last one again and again; CTRL_C among them is pressed
    instead of answered. `pressed_in` are the places of the calls in whose tool Ctrl-C is pressed.
    """

    says: Sequence[Any] = (True,)
    pressed_in: Sequence[int] = ()
    log: list[tuple[str, str]] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    pressed: bool = False

    def approve(self, call: Call) -> Any:
        asked = sum(what == "ask" for what, _ in self.log)
        if asked == MOST_QUESTIONS:
            raise Endless(f"did not stop: it asked the person {MOST_QUESTIONS} times")
        self.log.append(("ask", call["id"]))
        answer = self.says[min(asked, len(self.says) - 1)]
        if answer == CTRL_C:
            self.press()
        self.said[call["id"]] = answer
        return answer

    def press(self) -> None:
        self.pressed = True
        raise KeyboardInterrupt

    def tools(self) -> dict[str, Callable[..., Any]]:
        def acts(path: str) -> str:
            place = path.partition(".")[0]
            self.log.append(("start", f"c{place}"))
            if int(place) in self.pressed_in:
                self.press()
            self.log.append(("end", f"c{place}"))
            return "" if place == "3" else f"{path} is gone"

        def broken(path: str) -> str:
            acts(path)
            raise OSError("the disk is full")

        return {"delete": acts, "broken": broken}

    def ids(self, what: str) -> list[str]:
        return [id for kind, id in self.log if kind == what]


@dataclass
class Seen:
    """What a learner's function did with one reply."""

    world: World
    calls: list[dict[str, Any]]
    messages: list[Any]
    returned: Any = None
    raised: BaseException | None = None

    @property
    def results(self) -> list[Any]:
        """The messages that were added."""
        return self.messages[1:]

    @property
    def texts(self) -> list[Any]:
        return [message.get("content") if isinstance(message, Mapping) else message for message in self.results]

    def __str__(self) -> str:
        if self.raised is not None and not self.interrupted:
            return f"your function raised {type(self.raised).__name__}: {shown(str(self.raised))}"
        done = ", ".join(f"{VERBS[what]} {id}" for what, id in self.world.log)
        return f"{done or 'nothing was asked, nothing ran'}; the results are {shown(self.texts, 200)}"

    @property
    def interrupted(self) -> bool:
        return self.world.pressed and isinstance(self.raised, KeyboardInterrupt)

    def wanted(self, call: Call) -> tuple[str, ...]:
        """What the result of `call` may begin with, by what really happened to it."""
        id = call["id"]
        if not call["args"]:
            return (ERROR,)
        if call["name"] not in self.world.tools():
            return (ERROR, NOT_RUN) if self.world.pressed else (ERROR,)
        if id in self.world.ids("end"):
            return (ERROR,) if call["name"] == "broken" else (RESULT,)
        if id in self.world.ids("start"):
            return (NOT_TO_ITS_END,)
        if self.world.said.get(id, True) is not True:
            return (DECLINED, NOT_RUN) if self.world.pressed else (DECLINED,)
        return (NOT_RUN,) if self.world.pressed else (RESULT,)

    def true(self, call: Call, text: Any) -> bool:
        """Whether `text` says what happened to `call`."""
        if not isinstance(text, str):
            return False
        for wanted in self.wanted(call):
            if wanted == RESULT:
                fits = text == ("" if call["id"] == "c3" else f"{call['args']['path']} is gone")
            elif wanted == NOT_RUN:
                fits = text.startswith(NOT_RUN) and not text.startswith(NOT_TO_ITS_END)
            else:
                fits = text.startswith(wanted)
            if fits:
                return True
        return False


def check_order(answer_calls: Learner) -> None:
    """Look up, ask, run."""

    def verdicts() -> Iterator[Verdict]:
        first = "look the tool up first: nobody should be asked about a tool that does not exist."
        before = "ask before the tool runs. After it, a no comes too late."
        no = "after a no the tool must not run."
        seen = _try(answer_calls, calls_of("delte"), World())
        yield Verdict(
            "a tool that does not exist: nobody is asked", _calm(seen) and not seen.world.log, str(seen), first
        )
        seen = _try(answer_calls, calls_of("delete"), World())
        asked_first = seen.world.log == [("ask", "c1"), ("start", "c1"), ("end", "c1")]
        yield Verdict(
            "a yes: first the question, then the tool", _calm(seen) and asked_first, str(seen), _endless(seen, before)
        )
        seen = _try(answer_calls, calls_of("delete"), World((False,)))
        ok = _calm(seen) and seen.world.log == [("ask", "c1")]
        yield Verdict("a no: one question, and the tool does not run", ok, str(seen), _endless(seen, no))
        seen = _try(answer_calls, calls_of("delete", "delte", "delete"), World((False, True)))
        ok = _calm(seen) and seen.world.ids("ask") == ["c1", "c3"] and seen.world.ids("end") == ["c3"]
        yield Verdict(
            "no, an unknown tool, yes: two questions, and the third call runs", ok, str(seen), _endless(seen, first)
        )

    judge(EXERCISE, verdicts())


def check_yes(answer_calls: Learner) -> None:
    """Only True is a yes."""

    def verdicts() -> Iterator[Verdict]:
        hint = "only True is a yes. What does your if make of a text, of None, of 1?"
        for said in (True, False, "no", "yes", "", None, 1, 0, [False]):
            seen = _try(answer_calls, calls_of("delete"), World((said,)))
            ran = bool(seen.world.ids("start"))
            yield Verdict(
                f"approve returns {said!r}", _calm(seen) and ran is (said is True), str(seen), _endless(seen, hint)
            )

    judge(EXERCISE, verdicts())


def check_results(answer_calls: Learner) -> None:
    """One message for each call, in order, and it says what happened."""
    _judge_texts(
        answer_calls,
        [
            ("one call, and a yes", calls_of("delete"), World()),
            ("one call, and a no", calls_of("delete"), World((False,))),
            ("three calls, and yes to all; the third result is an empty text", calls_of(*["delete"] * 3), World()),
            ("three calls: yes, no, yes", calls_of(*["delete"] * 3), World((True, False, True))),
            ("a tool that does not exist, then one that does", calls_of("delte", "delete"), World()),
            ("a tool that raises, then one that works", calls_of("broken", "delete"), World()),
            ("a request without its argument", [{"id": "c1", "name": "delete", "args": {}}], World()),
            *fresh(_any_reply),
        ],
    )


def check_refusals(answer_calls: Learner) -> None:
    """What is returned: the refusals in a row."""

    def verdicts() -> Iterator[Verdict]:
        add = "each refusal adds one to the number that was passed in."
        reset = "a call that was let through ends the row, wherever in the reply it stands: return 0."
        nobody = "nobody was asked, so nothing has changed."
        yield from (
            _count(answer_calls, *case)
            for case in (
                ("one no, none before", ("delete",), (False,), 0, add),
                ("one no, two before", ("delete",), (False,), 2, add),
                ("three times no in one reply, one before", ("delete",) * 3, (False,), 1, add),
                ("one yes, two before", ("delete",), (True,), 2, reset),
                ("yes, no, two before", ("delete",) * 2, (True, False), 2, reset),
                ("no, yes, two before", ("delete",) * 2, (False, True), 2, reset),
                ("a yes, and the tool raises, two before", ("broken",), (True,), 2, reset),
                ("an unknown tool alone, two before", ("delte",), (True,), 2, nobody),
                ("an unknown tool and a no, one before", ("delte", "delete"), (False,), 1, nobody),
                *fresh(lambda dice: _any_count(dice, reset)),
            )
        )

    judge(EXERCISE, verdicts())


def check_ctrl_c(answer_calls: Learner) -> None:
    """Ctrl-C in the middle of three calls."""

    def verdicts() -> Iterator[Verdict]:
        worlds = [
            (f"Ctrl-C while the person is asked about call {n}", World((True,) * (n - 1) + (CTRL_C,)))
            for n in (1, 2, 3)
        ]
        worlds += [(f"Ctrl-C while the tool of call {n} runs", World(pressed_in=(n,))) for n in (1, 2, 3)]
        worlds += [("a no, then Ctrl-C in the tool of call 2", World((False, True), pressed_in=(2,)))]
        for name, world in worlds:
            seen = _try(answer_calls, calls_of(*["delete"] * 3), world)
            if not world.pressed:
                yield Verdict(
                    name, False, str(seen), "nobody was asked, or no tool ran. Get the checks above right first."
                )
                continue
            swallowed = "Ctrl-C must reach the loop, which ends the run. Where is it caught and not raised again?"
            yield Verdict(f"{name}: it reaches the loop", seen.interrupted, str(seen), _endless(seen, swallowed))
            if seen.interrupted:
                yield _texts(f"{name}: a true result for each request", seen)

    judge(EXERCISE, verdicts())


def check_whole_run(answer_calls: Learner) -> None:
    """In its loop, next to the library's."""

    def verdicts() -> Iterator[Verdict]:
        runs = [_dice(random.Random(seed)) for seed in range(SEEDS)]
        for sizes, says in (*runs, *fresh(_dice, SEEDS)):
            case = f"a run: replies with {_listed(sizes)} calls, the person says {_yes_or_no(says)}"
            wanted = _by_library(sizes, World(says))
            try:
                with bounded(), redirect_stdout(Muted(sys.stdout, lines=5)):
                    got = _by_hand(answer_calls, sizes, World(says))
            except NotImplementedError:
                raise
            except (Exception, Endless) as error:
                yield Verdict(case, False, f"your function raised {type(error).__name__}: {shown(str(error))}", COUNTS)
                return
            if got != wanted:
                hint = EACH_ONE if got[:2] == wanted[:2] else COUNTS
                yield Verdict(case, False, f"your run: {_in_words(*got)}; the library's: {_in_words(*wanted)}", hint)
                return
        yield Verdict(f"{SEEDS} runs end like the library's: same reason, same number of steps and of messages", True)

    judge(EXERCISE, verdicts())


def _judge_texts(answer_calls: Learner, cases: Iterable[tuple[str, list[dict[str, Any]], World]]) -> None:
    def verdicts() -> Iterator[Verdict]:
        for name, calls, world in cases:
            seen = _try(answer_calls, calls, world)
            if _calm(seen):
                yield _texts(name, seen)
            else:
                raises = "a tool that raises is no reason to stop: its result is a text that starts with 'error'."
                yield Verdict(name, False, str(seen), _endless(seen, raises))

    judge(EXERCISE, verdicts())


def _texts(name: str, seen: Seen) -> Verdict:
    """One message for each call, in order, with its id, and each says what happened."""
    if len(seen.results) != len(seen.calls):
        number = f"{len(seen.calls)} requests, {len(seen.results)} results"
        hint = EACH_ONE if seen.results or seen.interrupted else SAME_LIST
        return Verdict(name, False, f"{number}: {shown(seen.texts, 200)}", hint)
    for call, message in zip(seen.calls, seen.results, strict=True):
        known = isinstance(message, Mapping)
        if not known or (message.get("role"), message.get("tool_call_id")) != ("tool", call["id"]):
            hint = "in the order of the calls, each message with role, tool_call_id and content."
            return Verdict(name, False, f"the result of call {call['id']} is {shown(message)}", hint)
        if not seen.true(call, message.get("content")):
            wanted = seen.wanted(call)[0]
            says = f"the result of call {call['id']} is {shown(message.get('content'))}"
            return Verdict(name, False, says, HINTS[wanted])
    return Verdict(name, True)


EACH_ONE = "each request gets exactly one result, whatever comes of it. Which of your branches adds none, or two?"
SAME_LIST = "the caller's list has not grown. Do you add to `messages` itself, or to a new list?"
COUNTS = "three refusals in a row end the run, and a call let through starts the count again."

HINTS = {
    RESULT: "this tool ran to its end, so its result is what it returned, and nothing else.",
    ERROR: "a tool that does not exist, or that raises, gives a text that starts with 'error'.",
    DECLINED: "after a no the text starts with 'declined'.",
    NOT_RUN: "this tool was never started, so the text starts with 'not run'.",
    NOT_TO_ITS_END: "this tool was running when Ctrl-C came, and nobody knows how far it got: 'not run to its end'.",
}


def _count(
    answer_calls: Learner, name: str, names: Sequence[str], says: Sequence[Any], before: int, hint: str
) -> Verdict:
    seen = _try(answer_calls, calls_of(*names), World(says), before)
    if not _calm(seen):
        return Verdict(name, False, str(seen), _endless(seen, hint))
    known = {call["id"] for call in seen.calls if call["name"] in seen.world.tools()}
    answers = [said for id, said in seen.world.said.items() if id in known]
    wanted = 0 if True in answers else before + len(answers)
    ok = type(seen.returned) is int and seen.returned == wanted
    asked = ", ".join(seen.world.ids("ask")) or "nothing"
    return Verdict(name, ok, f"it returned {shown(seen.returned)}; the person was asked about {asked}", hint)


def _calm(seen: Seen) -> bool:
    return seen.raised is None


def _endless(seen: Seen, hint: str) -> str:
    if isinstance(seen.raised, Endless):
        return "a no is an answer: do not ask again until it is a yes."
    return hint


def _try(answer_calls: Learner, calls: list[dict[str, Any]], world: World, refusals: int = 0) -> Seen:
    """Let the learner's function answer one reply, whatever it does."""
    messages: list[Any] = [{"role": "assistant", "calls": calls}]
    seen = Seen(world, calls, messages)
    given = [{**call, "args": dict(call["args"])} for call in calls]
    try:
        with bounded(), redirect_stdout(Muted(sys.stdout, lines=5)):
            seen.returned = answer_calls(given, world.tools(), world.approve, messages, refusals)
    except NotImplementedError:
        raise
    except KeyboardInterrupt as error:
        if not world.pressed:  # the learner's own
            raise
        seen.raised = error
    except (Exception, Endless) as error:
        seen.raised = error
    return seen


def _any_count(dice: random.Random, hint: str) -> tuple[str, list[str], list[bool], int, str]:
    names = [dice.choice(("delete", "delete", "broken", "delte")) for _ in range(dice.randint(1, 6))]
    says, before = [dice.random() < 0.25 for _ in names], dice.randint(0, 9)
    return f"{', '.join(names)}, the person says {says}, {before} before", names, says, before, hint


def _any_reply(dice: random.Random) -> tuple[str, list[dict[str, Any]], World]:
    """A reply with some calls, and a person who says this and that."""
    names = [dice.choice(("delete", "delete", "broken", "delte")) for _ in range(dice.randint(2, 7))]
    says = [dice.choice((True, True, False, "yes", None)) for _ in names]
    return f"{', '.join(names)}, and the person says {says}", calls_of(*names), World(says)


def _dice(dice: random.Random) -> tuple[list[int], list[bool]]:
    """How many calls each reply has, and what the person says."""
    sizes = [dice.choice((1, 1, 1, 2, 3)) for _ in range(4)]
    return sizes, [dice.random() < 0.3 for _ in range(sum(sizes))]


def _listed(sizes: Sequence[int]) -> str:
    *others, last = map(str, sizes)
    return f"{', '.join(others)} and {last}"


def _yes_or_no(says: Sequence[bool]) -> str:
    return ", ".join("yes" if one else "no" for one in says)


def _in_words(reason: str, steps: int, messages: int) -> str:
    return f"{reason} after {steps} step{'' if steps == 1 else 's'}, {messages} messages"


def _by_hand(answer_calls: Learner, sizes: Sequence[int], world: World) -> tuple[str, int, int]:
    """The loop of the exercise, with the learner's part in it."""
    messages: list[Any] = [{"role": "user", "content": "Tidy up."}]
    refusals = 0
    for step, size in enumerate(sizes, 1):
        calls = calls_of(*["delete"] * size)
        messages.append({"role": "assistant", "calls": calls})
        refusals = answer_calls(calls, world.tools(), world.approve, messages, refusals)
        if refusals >= 3:
            return "too_many_refusals", step, len(messages)
    return "max_steps", len(sizes), len(messages)


def _by_library(sizes: Sequence[int], world: World) -> tuple[str, int, int]:
    def model(messages: list[dict[str, Any]]) -> stoplib.Reply:
        step = sum(message["role"] == "assistant" for message in messages)
        return stoplib.batch(*(stoplib.call("delete", path=f"{n + 1}.txt") for n in range(sizes[step])))

    guards = [stoplib.too_many_refusals(3), stoplib.max_steps(len(sizes))]
    says = iter(world.says)
    tools = {"delete": lambda path: f"{path} is gone"}
    outcome = stoplib.run(
        model, "Tidy up.", tools=tools, guards=guards, approve=lambda call: next(says), clock=lambda: 0.0
    )
    return outcome.reason, outcome.steps, len(outcome.messages)
