"""Exercise 06: `understand`. What a reply means is worked out here from tables of the exercise's own."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from stoplib.course.checks import Endless, Muted, Verdict, bounded, fresh, judge, shown
from stoplib.messages import Reply, ToolCall

EXERCISE = "06"

ENDED = ("end_turn", "stop_sequence", "stop", "STOP")
TOOLS = ("tool_use", "tool_calls")
CUT_OFF = ("max_tokens", "length", "MAX_TOKENS")
FULL = ("model_context_window_exceeded",)
REFUSED = ("refusal", "content_filter", "guardrail_intervened", "SAFETY")
PAUSED = ("pause_turn",)

# Words that real services use, or might, and that the exercise does not list; and near misses.
UNKNOWN = ("malformed_tool_use", "OTHER", "ratelimited", "cancelled", "success", "done", "error", "", "None")
NEAR_MISSES = ("END_TURN", "Stop", "stopped", "end_turn ", "turn_end", "Max_Tokens", "length_exceeded")

LOOK = (ToolCall("read", {"path": "log.txt"}),)
TWO = (ToolCall("read", {"path": "log.txt"}), ToolCall("search", {"query": "disk"}))
HALF = (ToolCall("delete", {"path": "drafts"}),)

Meaning = tuple[str | None, bool, str]


@dataclass(frozen=True)
class Case:
    """Replies that are one line of the check, and the hint if one of them is taken for something else."""

    name: str
    replies: tuple[Reply, ...]
    hint: str


def check_ended(understand: Callable[..., Any]) -> None:
    """A turn that ended: with text it is an answer, without it is not."""
    _judge(
        understand,
        [
            *(
                Case(f"text, and the word {word!r}", (Reply("The disk was full.", stop=word),), _ENDED)
                for word in ENDED
            ),
            Case(
                "no text, and a word for an ended turn",
                tuple(Reply("", stop=word) for word in ENDED),
                "a turn can end without anything having been said. Look at the text as well as at the word.",
            ),
            Case(
                "text of spaces and line breaks only",
                tuple(Reply(text, stop=word) for word in ENDED for text in (" ", "\n\n", " \t\n ")),
                "text that is only spaces or line breaks is no text. Which method of a text takes them off?",
            ),
            Case(
                "a short text",
                tuple(Reply(text, stop="stop") for text in ("0", "-", "No.")),
                "any text that is not only spaces is an answer, however short.",
            ),
        ],
    )


def check_requests(understand: Callable[..., Any]) -> None:
    """A reply with a request: whether its tools run is a matter of the word."""
    goes_on = "a request with a word for tools, or for an ended turn, means that the run goes on."
    _judge(
        understand,
        [
            *(
                Case(
                    f"a request, and the word {word!r}",
                    (Reply("", LOOK, stop=word), Reply("", TWO, stop=word)),
                    goes_on,
                )
                for word in TOOLS
            ),
            Case(
                "a request with text beside it",
                tuple(Reply("Let me look.", calls, stop=word) for word in TOOLS for calls in (LOOK, TWO)),
                goes_on,
            ),
            Case(
                "a request, and a word for an ended turn",
                tuple(Reply(text, LOOK, stop=word) for word in ENDED for text in ("", "Let me look.")),
                goes_on + " Some APIs send their word for an ended turn beside a request.",
            ),
            Case(
                "half a request, in a reply that was cut off",
                tuple(Reply("I will delete it.", HALF, stop=word) for word in CUT_OFF),
                "a reply that was cut off may hold half a request. Its tools must not run: look at the word first.",
            ),
            Case(
                "a request in a reply that a filter stopped",
                tuple(Reply("", LOOK, stop=word) for word in REFUSED),
                "these words decide alone, whatever else the reply has. What does your function look at first?",
            ),
            Case(
                "a word that announces a tool, and no request",
                tuple(Reply(text, stop=word) for word in TOOLS for text in ("", "Let me look.")),
                "the word announces a tool and no request is there. The two do not fit, so it is 'anything else'.",
            ),
        ],
    )


def check_cut_short(understand: Callable[..., Any]) -> None:
    """Cut off, full, refused, paused: the word decides."""
    _judge(
        understand,
        [
            Case(name, tuple(Reply(text, stop=word) for word in words for text in ("There were three", "")), hint)
            for name, words, hint in (
                ("cut off at the output limit", CUT_OFF, _ROW),
                ("the context window is full", FULL, _ROW),
                ("refused, or filtered", REFUSED, _REFUSED),
                ("paused", PAUSED, "a paused turn is no end: the reason is None, and the reply is sent back."),
            )
        ],
    )


def check_unknown(understand: Callable[..., Any]) -> None:
    """A word that is in no table is never a success and runs no tool."""
    never = "a word that you do not know is never a success. Where does it come out of your function?"
    spelling = "a word counts as it is written in the table, capitals included. Do you compare whole words?"
    _judge(
        understand,
        [
            Case("words in no table, with text", tuple(Reply("The disk was full.", stop=w) for w in UNKNOWN), never),
            Case("words that look like one of the table", tuple(Reply("Done.", stop=w) for w in NEAR_MISSES), spelling),
            Case("words in no table, without text", tuple(Reply("", stop=w) for w in UNKNOWN + NEAR_MISSES), never),
            Case(
                "words in no table, with a request",
                tuple(Reply("", LOOK, stop=w) for w in UNKNOWN + NEAR_MISSES),
                "with a word that you do not know nothing runs, since nobody can say whether the request is whole.",
            ),
        ],
    )


def check_text(understand: Callable[..., Any]) -> None:
    """What the text says does not matter."""
    word = "the word decides, not what the text says. Do you search the text?"
    _judge(
        understand,
        [
            Case(
                "an answer that sounds like a refusal or an error",
                tuple(
                    Reply(text, stop="end_turn")
                    for text in ("Sorry, I cannot find it: it was an error in the log.", "The word was max_tokens.")
                ),
                word,
            ),
            Case("a cut-off reply that sounds finished", (Reply("Done! All tests pass.", stop="length"),), word),
            Case("a refusal that sounds like an answer", (Reply("The answer is end_turn.", stop="refusal"),), word),
        ],
    )


def check_many(understand: Callable[..., Any]) -> None:
    """Some hundred replies, put together at random."""
    _judge(
        understand,
        [
            Case(
                f"100 replies put together at random, set {seed}",
                tuple(_random_replies(seed, 100)),
                "take this reply through both tables by hand, then through your function.",
            )
            for seed in (1, 2, 3, *fresh(lambda dice: dice.randint(4, 10**9)))
        ],
    )


_ENDED = "the word says that the turn ended, and there is text. What else does your function ask for?"
_ROW = "compare all three values with the row of the second table."
_REFUSED = f"refused is not done, and neither is filtered: {_ROW}"
_TURNED_AWAY = "your function knows this word in other replies. Which of its conditions turns this one away?"
_NOT_KNOWN = "your function does not know this word. Is it in your list, as it is written in the table?"


def meaning(reply: Reply) -> Meaning:
    """What `understand` should return.

    >>> meaning(Reply("The disk was full.", stop="STOP"))
    ('answered', True, 'use the answer')
    >>> meaning(Reply("The disk was full.", stop="Stop"))
    ('unfinished', False, 'find out')
    """
    alone: list[tuple[tuple[str, ...], Meaning]] = [
        (CUT_OFF, ("truncated", False, "raise the limit")),
        (FULL, ("context_full", False, "send less")),
        (REFUSED, ("refused", False, "ask a person")),
        (PAUSED, (None, False, "send it back")),
    ]
    for words, means in alone:
        if reply.stop in words:
            return means
    if reply.stop not in ENDED + TOOLS or (reply.stop in TOOLS and not reply.calls):
        return "unfinished", False, "find out"
    if reply.calls:
        return None, False, "run the tools"
    return ("answered", True, "use the answer") if reply.text.strip() else ("empty_reply", False, "ask again")


def _random_replies(seed: int, count: int) -> Iterator[Reply]:
    """Replies of every kind; the same ones on every machine."""
    chance = random.Random(seed)
    letters = "abcdefghij_"
    words = ENDED + TOOLS + CUT_OFF + FULL + REFUSED + PAUSED
    for _ in range(count):
        made_up = "".join(chance.choice(letters) for _ in range(8))
        word = chance.choice((*words, made_up))
        text = chance.choice(("", " ", "The disk was full.", "I cannot help.", "stop"))
        calls = () if word in PAUSED else chance.choice(((), (), LOOK, TWO))
        yield Reply(text, calls, stop=word)


def _judge(understand: Callable[..., Any], cases: Iterable[Case]) -> None:
    judge(EXERCISE, (_verdict(understand, case) for case in cases))


def _verdict(understand: Callable[..., Any], case: Case) -> Verdict:
    """The first reply of the case that is not understood, if there is one."""
    for reply in case.replies:
        got, raised = _try(understand, reply)
        if raised is not None:
            seen = f"your function raised {type(raised).__name__}: {raised}"
            if isinstance(raised, Endless):
                seen = f"your function {raised}"
            return Verdict(case.name, False, f"{seen}, for {_in_words(reply)}", _hint_for_error(raised, case))
        if not _same(got, meaning(reply)):
            seen = f"for {_in_words(reply)} your function returned {shown(got)}"
            if _says_unfinished(got) and not _says_unfinished(meaning(reply)):
                return Verdict(case.name, False, seen, _TURNED_AWAY if _knows(understand, reply.stop) else _NOT_KNOWN)
            return Verdict(case.name, False, seen, _hint(got, meaning(reply), case))
    return Verdict(case.name, True)


def _try(understand: Callable[..., Any], reply: Reply) -> tuple[Any, BaseException | None]:
    try:
        with bounded(), redirect_stdout(Muted(sys.stdout)):
            return understand(reply), None
    except NotImplementedError:
        raise
    except (Exception, Endless) as error:
        return None, error


def _same(got: Any, wanted: Meaning) -> bool:
    """Equal by plain values: an object that calls itself equal to everything is not."""
    if type(got) not in (tuple, list) or len(got) != 3:
        return False
    return all(type(one) is type(want) and one == want for one, want in zip(got, wanted, strict=True))


def _says_unfinished(got: Any) -> bool:
    return type(got) in (tuple, list) and len(got) == 3 and type(got[0]) is str and got[0] == "unfinished"


def _knows(understand: Callable[..., Any], word: str | None) -> bool:
    """Whether the word means something to the learner's function, in a reply that it fits or in another."""
    found = [_try(understand, reply) for reply in (Reply("The disk was full.", stop=word), Reply("", LOOK, stop=word))]
    return any(raised is None and not _says_unfinished(got) for got, raised in found)


def _hint(got: Any, wanted: Meaning, case: Case) -> str:
    if type(got) not in (tuple, list) or len(got) != 3:
        return "return three things, (reason, complete, then), for every reply."
    if got[0] == "None":
        return "the run goes on: that is None, not a text."
    if got[0] == wanted[0] and type(got[1]) is not bool:
        return "complete is True or False."
    if got[0] == wanted[0] and got[1] == wanted[1]:
        return "the reason is right. Compare the third value, letter by letter, with the second table."
    return case.hint


def _hint_for_error(raised: BaseException, case: Case) -> str:
    if isinstance(raised, Endless):
        return "nothing has to be repeated here: each reply is looked at once."
    if isinstance(raised, KeyError):
        return "a table in square brackets fails for a word that is not in it. What should such a word become?"
    return case.hint


def _in_words(reply: Reply) -> str:
    asks = {0: "no request", 1: "1 request"}.get(len(reply.calls), f"{len(reply.calls)} requests")
    return f"text {shown(reply.text, 30)}, {asks}, word {reply.stop!r}"
