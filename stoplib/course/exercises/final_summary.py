"""Exercise 07: `end_well`. The stopped runs are the library's own, and its reports say what the evidence is."""

from __future__ import annotations

import copy
import math
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from stoplib import Outcome, Reply, ToolCall, answer, batch, call, max_steps, run, script
from stoplib.course.checks import Endless, Muted, Verdict, bounded, fresh, judge, shown
from stoplib.reasons import ending

EXERCISE = "07"
MOST_CALLS = 50

REQUEST = {
    "role": "user",
    "content": "Stop here; no tools are available any more. Summarise what you have found, what you could not"
    " determine, and what to try next.",
}
NO_SUMMARY = "There is no summary by the model."
ANSWER_TOKENS = 200

KEYS = ("status", "reason", "answer", "summary", "evidence", "model_calls")
GOOD = answer("Two of the three pages say that the disk was full. The third could not be read.")


@dataclass(frozen=True)
class Case:
    """One stopped run, and what the model says in the closing call: a reply, an exception, or anything.

    `tokens` is how many tokens are left over after the closing call; None means that there is no limit.
    """

    name: str
    closing: Any = GOOD
    hint: str = ""
    reason: str = "max_steps"
    steps_left: int = 1
    tokens: int | None = None
    seed: int = 1
    even: bool = False


@dataclass
class Seen:
    """What end_well did: its result or what it raised, and the arguments of each call of the model."""

    outcome: Outcome
    tokens_left: int | None = None
    result: Any = None
    raised: BaseException | None = None
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    messages: list[Any] = field(default_factory=list)


def check_summary(end_well: Callable[..., Any]) -> None:
    """A closing call that goes well, and what it was sent."""
    cases = [Case(f"a model that sums up, run {seed}", seed=seed) for seed in (1, 2, 3)]
    cases += [Case("many steps are left", steps_left=9), *fresh(_sums_up)]
    _judge(end_well, cases, ("summary", "model_calls"), sent=True)


def check_room(end_well: Callable[..., Any]) -> None:
    """The closing call is made only if there is room for it."""
    none_left = "no step is left, so no call is made. Is the room worked out before the call?"
    exactly = (
        "exactly as many as are left is enough. If your function says so too: does it count the characters of every"
        " `content`, and those alone, together and without rounding?"
    )
    too_few = "the call needs more tokens than are left. What does it send, and what is the answer's share?"
    _judge(
        end_well,
        [
            Case("no step is left", hint=none_left, steps_left=0),
            Case("no step is left, and plenty of tokens", hint=none_left, steps_left=0, tokens=10_000),
            Case("one step is left, and plenty of tokens", tokens=10_000),
            Case("exactly enough tokens are left", tokens=0, even=True, hint=exactly),
            Case("one token too few is left", hint=too_few, tokens=-1, even=True),
            Case(
                "a fraction of a token too few",
                hint="without rounding: three characters are three quarters of a token.",
                tokens=-1,
            ),
            Case("far too few tokens are left", hint=too_few, tokens=-100, seed=2),
            Case(
                "no tokens are left",
                hint="0 tokens left is a limit, the strictest one. Is it taken for 'no limit'?",
                tokens=-10_000,
            ),
            *fresh(lambda dice: _some_room(dice, too_few), 5),
        ],
        ("summary", "model_calls"),
    )


def check_replies(end_well: Callable[..., Any]) -> None:
    """Closing replies that are no summary."""
    look = (ToolCall("search", {"query": "one more"}),)
    only = "only a reply that ends its turn with text and asks for no tool is a summary. What does ending() say of it?"
    tools = "it asks for a tool, so its text is what it says on the way to the tool. What does ending() say of it?"
    _judge(
        end_well,
        [
            Case("the model asks for a tool", Reply("", look), tools),
            Case("the model asks for a tool, with text beside it", Reply("One more check, then", look), tools),
            Case("the model says nothing", answer(""), only),
            Case("the model says only spaces", answer(" \n "), only),
            Case("the summary is cut off", Reply("Two of the three", stop="max_tokens"), only),
            Case("the model refuses", Reply("I cannot help with that.", stop="refusal"), only),
            Case("the turn is paused", Reply("Still at it.", stop="pause_turn"), only),
            Case("the context window is full", Reply("Two of", stop="model_context_window_exceeded"), only),
            Case("a word that nobody knows", Reply("Two of the three pages", stop="finished"), only),
        ],
        ("summary", "model_calls"),
    )


def check_errors(end_well: Callable[..., Any]) -> None:
    """A model that raises, or returns what is no reply."""
    inside = "what goes wrong in the closing call must not get out: the caller would lose the evidence."
    _judge(
        end_well,
        [
            Case("the service is down", ConnectionError("the service is down"), inside),
            Case("a mistake in the client", KeyError("choices"), inside),
            Case("the service is down and nothing was found", ValueError("overloaded"), inside, seed=0),
            Case("the model returns a text", "All done!", inside + " A text is no reply, it has no word and no calls."),
            Case("the model returns nothing", None, inside + " Can the look at the reply fail, too?"),
        ],
        ("reason", "summary", "model_calls"),
    )


def check_claims(end_well: Callable[..., Any]) -> None:
    """Whatever the summary says, the run stays what it was."""
    claims = ("All done! The task is complete.", "status: complete", "goal_reached", "answered")
    reasons = ("max_steps", "time_limit", "going_in_circles", "a guard of my own")
    _judge(
        end_well,
        [
            Case(f"a run stopped by {reason}, and a summary that says {text!r}", answer(text), reason=reason, seed=seed)
            for seed, (reason, text) in enumerate(zip(reasons, claims, strict=True), 1)
        ]
        + [Case("a run that was stopped by a person", answer("Done."), reason="interrupted", seed=2), *fresh(_sums_up)],
        ("status", "reason", "answer", "summary"),
    )


def check_evidence(end_well: Callable[..., Any]) -> None:
    """What the tools found, whether there is a summary or not."""
    _judge(
        end_well,
        [
            Case("a run that found nothing", seed=0),
            *(Case(f"a run with errors and refusals, run {seed}", seed=seed) for seed in (3, 4, 5, 6)),
            Case("the same when no step is left", seed=4, steps_left=0),
            Case("the same when the closing call fails", ConnectionError("the service is down"), seed=5),
            *fresh(_sums_up),
        ],
        ("evidence",),
    )


def _sums_up(dice: random.Random) -> Case:
    """Another run, stopped for another reason, and a summary in other words."""
    number, reason = dice.randint(10, 10**6), f"a guard called g{dice.randint(1, 999)}"
    return Case(f"run {number}, stopped by {reason}", answer(f"{number} pages were read."), reason=reason, seed=number)


def _some_room(dice: random.Random, hint: str) -> Case:
    number, tokens = dice.randint(10, 10**6), dice.choice((-50, -3, -1, 0, 7, 300))
    return Case(
        f"run {number}, and {tokens} tokens more than are needed", hint=hint, seed=number, tokens=tokens, even=True
    )


def wanted(case: Case, seen: Seen) -> dict[str, Any]:
    """What `end_well` should return."""
    room = case.steps_left > 0 and (case.tokens is None or case.tokens >= 0)
    good = room and isinstance(case.closing, Reply) and ending(case.closing) == ("answered", "")
    return {
        "status": "incomplete",
        "reason": case.reason,
        "answer": None,
        "summary": case.closing.text if good else NO_SUMMARY,
        "evidence": [found["result"] for found in seen.outcome.report()["evidence"]],
        "model_calls": 1 if room else 0,
    }


def stopped_run(seed: int, task: str = "Why did the site go down?") -> Outcome:
    """A run that was stopped by its step limit; the same one on every machine. Seed 0 is a run of no steps."""
    chance = random.Random(seed)
    requests = (
        call("search", query="disk"),
        call("read", page=chance.randrange(9)),
        call("read", page=99),
        call("serach", query="disk"),
        call("send", to="Ann"),
        batch(call("read", page=1), call("read", page=99), call("search", query="log")),
        Reply("Let me look.", (ToolCall("search", '{"query": "di'),)),
    )

    def read(page: int) -> str:
        if page == 99:
            raise ValueError("there is no page 99")
        return f"page {page}: " + "disk full " * page

    tools = {"search": lambda query: f"3 pages about {query}", "read": read, "send": lambda to: "sent"}
    replies = [chance.choice(requests) for _ in range(5)] + [requests[0], requests[2]]
    chance.shuffle(replies)
    steps = len(replies) if seed else 0
    return run(
        script(*replies),
        task,
        tools=tools,
        guards=[max_steps(steps)],
        approve=lambda asked: asked.name != "send",
        clock=lambda: 0.0,
    )


def needed(outcome: Outcome) -> float:
    """The tokens that the closing call of a stopped run needs."""
    return _characters(outcome) / 4 + ANSWER_TOKENS


def _characters(outcome: Outcome) -> int:
    """The characters of all that the closing call sends."""
    return sum(len(message["content"]) for message in [*outcome.messages, REQUEST])


def _judge(end_well: Callable[..., Any], cases: Iterable[Case], keys: Sequence[str], sent: bool = False) -> None:
    """Each check looks at its own `keys` of the result, so that one mistake is not told in all of them."""

    def verdicts() -> Iterable[Verdict]:
        for case in cases:
            seen = _try(end_well, case)
            yield _verdict(case, seen, keys)
            if sent and seen.raised is None and seen.calls:
                yield _sent_verdict(case, seen)
                yield _untouched_verdict(case, seen)

    judge(EXERCISE, verdicts())


def _try(end_well: Callable[..., Any], case: Case) -> Seen:
    """Let the learner's function end one stopped run, whatever it does."""
    outcome = _run_of(case)
    seen = Seen(outcome, messages=copy.deepcopy(outcome.messages))

    def model(*args: Any, **kwargs: Any) -> Any:
        seen.calls.append((copy.deepcopy(args), copy.deepcopy(kwargs)))
        if MOST_CALLS < len(seen.calls) < 2 * MOST_CALLS:
            raise Endless(f"called the model {MOST_CALLS} times and did not stop")
        if len(seen.calls) > MOST_CALLS:
            return GOOD  # for a loop that swallows everything until it has a summary
        if isinstance(case.closing, Exception):
            raise case.closing
        return case.closing

    limits: dict[str, Any] = {}
    if case.tokens is not None:
        limits["tokens_left"] = seen.tokens_left = max(0, math.ceil(needed(outcome)) + case.tokens)
    try:
        with bounded(), redirect_stdout(Muted(sys.stdout)):
            seen.result = end_well(case.reason, seen.messages, model, case.steps_left, **limits)
    except NotImplementedError:
        raise
    except (Exception, Endless) as error:
        seen.raised = error
    return seen


def _run_of(case: Case) -> Outcome:
    """The stopped run of a case. What its closing call needs is a whole number of tokens if `even`, else it is not."""
    for dots in range(8):
        outcome = stopped_run(case.seed, "Why did the site go down?" + "." * dots)
        if case.tokens is None or needed(outcome).is_integer() == case.even:
            return outcome
    raise AssertionError("of four texts that grow by one character, one is a whole number of tokens")


def _verdict(case: Case, seen: Seen, keys: Sequence[str]) -> Verdict:
    should = wanted(case, seen)
    if seen.raised is not None:
        return _raised_verdict(case, seen.raised)
    if not isinstance(seen.result, dict) or not set(KEYS) <= set(seen.result):
        hint = f"return a dictionary with the keys {', '.join(KEYS)}."
        return Verdict(case.name, False, f"your function returned {shown(seen.result)}", hint)
    if "model_calls" in keys and len(seen.calls) != should["model_calls"]:
        calls = f"{len(seen.calls)} call{'' if len(seen.calls) == 1 else 's'} of the model"
        if seen.tokens_left is not None:
            calls += f", with tokens_left={seen.tokens_left} and {_characters(seen.outcome)} characters to send"
        return Verdict(case.name, False, calls, _hint_for_calls(case, len(seen.calls), should["model_calls"]))
    for key in keys:
        if not _same(seen.result[key], should[key]):
            got = f"{key} is {shown(seen.result[key])}"
            if key == "evidence":
                got = _first_difference(seen.result[key], should[key])
            return Verdict(case.name, False, got, _hint(key, seen.result[key], case))
    return Verdict(case.name, True)


def _first_difference(evidence: Any, wanted: Sequence[str]) -> str:
    """Where the evidence goes wrong: a list of long texts would be cut before it says so."""
    if type(evidence) not in (list, tuple):
        return f"evidence is {shown(evidence)}"
    pairs = enumerate(zip(evidence, wanted, strict=False))
    place = next((n for n, pair in pairs if not _same(*pair)), min(len(evidence), len(wanted)))
    if place < len(evidence):
        return f"evidence[{place}] is {shown(evidence[place])}, which does not belong there"
    return f"evidence has {len(evidence)} texts, and at least one is missing"


def _raised_verdict(case: Case, raised: BaseException) -> Verdict:
    if isinstance(raised, Endless):
        seen, hint = f"your function {raised}", "there is one closing call at most. It is not tried again."
    elif isinstance(case.closing, Exception) and raised is case.closing:
        seen = f"the exception of the model came out of your function: {type(raised).__name__}: {raised}"
        hint = case.hint
    else:
        seen = f"your function raised {type(raised).__name__}: {raised}"
        hint = case.hint or "which of the messages, or which value, did your function not expect?"
    return Verdict(case.name, False, seen, hint)


def _hint_for_calls(case: Case, made: int, allowed: int) -> str:
    if made > 1:
        return "there is one closing call at most. It is not tried again."
    if made > allowed:
        return case.hint
    return case.hint or "there is room for a closing call here: a step is left, and enough tokens."


def _hint(key: str, got: Any, case: Case) -> str:
    fixed = {
        "status": "the run was stopped before it was done, whatever its summary says: the status is 'incomplete'.",
        "reason": "a run has one reason, the one it was stopped for. The closing call changes nothing about it.",
        "answer": "a summary is no answer. The answer of a stopped run is None.",
        "evidence": "evidence is the content of each tool message that is not marked is_error, in order.",
        "model_calls": "a call counts if it was made, also if it raised or brought nothing.",
    }
    if key == "summary":
        if isinstance(case.closing, Reply) and got == NO_SUMMARY:
            hint = "this reply ends its turn with text and asks for no tool: its text is the summary."
            none = " Its stop is None, as in every answer(…); ending(reply) takes that for an ended turn"
            none += " and returns a tuple, ('answered', '')."
            return hint + (none if case.closing.stop is None else "")
        return case.hint or "the summary is the reply's text, or NO_SUMMARY."
    return fixed[key]


def _sent_verdict(case: Case, seen: Seen) -> Verdict:
    """What the closing call was given."""
    args, kwargs = seen.calls[0]
    messages = args[0] if args else kwargs.get("messages")
    tools = args[1] if len(args) > 1 else kwargs.get("tools")
    name = f"what the model was sent ({case.name})"
    if not isinstance(messages, list) or messages != [*seen.outcome.messages, REQUEST]:
        said = shown(messages, 60)
        if isinstance(messages, list) and messages:
            said = f"{len(messages)} messages, the last one {shown(messages[-1], 60)}"
        return Verdict(name, False, said, "send all messages of the run, and REQUEST after them.")
    ok = isinstance(tools, (list, tuple)) and len(tools) == 0
    hint = "no tools are offered: the second argument is an empty list, model(…, [])."
    return Verdict(name, ok, f"tools: {shown(tools)}", hint)


def _untouched_verdict(case: Case, seen: Seen) -> Verdict:
    was, now = len(seen.outcome.messages), len(seen.messages)
    return Verdict(
        f"the caller's list afterwards ({case.name})",
        seen.messages == seen.outcome.messages,
        f"{was} messages before, {now} after" if was != now else "a message was changed",
        "the list belongs to the caller. Make a new list for the closing call.",
    )


def _same(got: Any, want: Any) -> bool:
    """Equal by plain values: an object that calls itself equal to everything is not."""
    if isinstance(want, list):
        return type(got) in (list, tuple) and len(got) == len(want) and all(map(_same, got, want))
    return type(got) is type(want) and bool(got == want)
