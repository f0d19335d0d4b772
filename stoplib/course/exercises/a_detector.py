"""Exercise 03: a detector, scored on the twelve sequences, on variants of two of them, and on a thirteenth."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from random import Random
from typing import Any

from stoplib.course.checks import Endless, Muted, Verdict, bounded, fresh, judge, shown
from stoplib.course.sequences import (
    AGAIN,
    CYCLES,
    DECLARED,
    FUSE,
    NEVER,
    NOTHING_NEW,
    RIGHT,
    TOO_EARLY,
    TOO_LATE,
    WORDS,
    Play,
    Round,
    Sequence,
    Words,
    twelve,
)

EXERCISE = "03"
SEEDS = range(len(WORDS))

Detector = Callable[..., Any]

EMPTY = "at the first call `rounds` is empty. What does your detector read then?"
ENDLESS = "a detector looks once and returns. Which loop in it does not end?"
REMEMBERS = "the same run was judged differently the second time. What does your detector still know from another run?"
TOO_SOON = "nothing has come a second time yet. What does your detector go by? (Two empty slices are equal.)"
SAME_TWICE = "what do the last two rounds have in common when nothing has changed?"
FURTHER_BACK = "is it enough to compare the last round with the one before it? How long may a cycle be?"
REWORDED = "the requests differ each time. What is it that does not?"

# The hint for each sequence and what went wrong with it.
HINTS = {
    (1, NEVER): SAME_TWICE,
    (1, TOO_LATE): SAME_TWICE,
    (2, NEVER): FURTHER_BACK,
    (2, TOO_LATE): FURTHER_BACK,
    (3, NEVER): FURTHER_BACK,
    (3, TOO_LATE): FURTHER_BACK,
    (4, NEVER): "this cycle has seven rounds. How long a cycle does your detector look for?",
    (4, TOO_LATE): "how many passes of a cycle does your detector wait for?",
    (5, TOO_EARLY): "the request is the same, and the result is new each time. What does your detector compare?",
    (6, TOO_EARLY): "how many equal results are fine for this tool? See `poll`.",
    (6, NEVER): "a poll has patience, and it ends: the same result more often than `poll` says is stuck.",
    (6, TOO_LATE): "a poll has patience, and it ends: the same result more often than `poll` says is stuck.",
    (7, NEVER): "compare arguments as dictionaries: the order of their keys does not matter.",
    (7, TOO_LATE): "compare arguments as dictionaries: the order of their keys does not matter.",
    (8, NEVER): REWORDED,
    (8, TOO_LATE): REWORDED,
    (9, NEVER): REWORDED,
    (9, TOO_LATE): REWORDED,
    (10, TOO_EARLY): "every second round is the same, and those between are new. Is that a cycle?",
    (11, TOO_EARLY): "the files differ, and so does what is in them. What seems to repeat?",
    (13, TOO_EARLY): "an empty drawer is an honest result, also the fourth. How many equal results do you put up with?",
    (12, NEVER): "this tool acts on the world, see `effect`: judge it by the call alone, before it runs again.",
    (12, TOO_LATE): "this tool acts on the world, see `effect`: judge it by the call alone, before it runs again.",
}


@dataclass(frozen=True)
class Variant:
    """Another play of one of the sequences, in what it differs, and the hint for it."""

    play: Play
    words: str
    hint: str


def sequences(seed: int = 0, words: Words = WORDS[0]) -> tuple[Sequence, ...]:
    """The twelve, and the search in five drawers."""

    def drawer(n: int) -> Round:
        return Round("open", {"drawer": n + 1}, "the key" if n == 4 else "empty")

    search = Play(drawer, ends=5).later(words.honest)
    return *twelve(seed, words), Sequence(13, "five drawers, the key in the last", NOTHING_NEW, (search,))


def variants(number: int, words: Words) -> Iterator[Variant]:
    """The further plays of a sequence."""
    message = {"to": "Ada", "text": f"news on {words.value}"}

    def fetches_the_report(n: int) -> Round:
        if n < 9:
            return Round("status", {}, "running", poll=words.patience)
        return Round("fetch_report", {}, f"the report on {words.value}")

    def is_done_just_in_time(n: int) -> Round:
        return Round("status", {}, "done" if n == words.patience else "running", poll=words.patience)

    def sends_a_draft(n: int) -> Round:
        tool = ("draft", "send", "archive")[n]
        return Round(tool, dict(message), f"{tool}: done", effect=tool != "draft")

    if number == 6:
        yield Variant(
            Play(fetches_the_report, ends=10).later(words.honest),
            "after nine times 'running' another tool is asked for",
            "a poll within its patience is fine, also when the next call is another tool's. Which rounds do your other"
            " rules look at then?",
        )
        yield Variant(
            Play(is_done_just_in_time, ends=words.patience + 1).later(words.honest),
            f"{words.patience} times 'running' and then 'done', with poll={words.patience}",
            "as many equal results as `poll` says are still fine. With which one is the patience used up?",
        )
    if number == 12:
        yield Variant(
            Play(sends_a_draft, ends=3).later(words.honest),
            "the same message is drafted, sent and archived",
            "another tool with the same arguments is another call.",
        )


@dataclass
class Seen:
    """What the detector did with one run: how many calls had run when it was over, and whether it was stopped."""

    ran: int = 0
    stopped: bool = False
    raised: BaseException | None = None


def check_same_call(is_stuck: Detector) -> None:
    """The same call again: with the same result, with a new one."""
    _judge(is_stuck, AGAIN)


def check_cycles(is_stuck: Detector) -> None:
    """Cycles, and work that only looks like one."""
    _judge(is_stuck, CYCLES)


def check_nothing_new(is_stuck: Detector) -> None:
    """New requests that bring nothing new, and new requests that do."""
    _judge(is_stuck, NOTHING_NEW)


def check_declared(is_stuck: Detector) -> None:
    """What only the tool can say."""
    _judge(is_stuck, DECLARED)


def check_all(is_stuck: Detector) -> None:
    """All of them, as a score."""

    def verdicts() -> Iterator[Verdict]:
        found = [(sequence, _verdict(is_stuck, sequence)) for sequence in sequences()]
        wrong = [f"{sequence.number} ({sequence.name})" for sequence, verdict in found if not verdict.ok]
        score = f"right on {len(found) - len(wrong)} of {len(found)}; not yet right: {', '.join(wrong)}"
        yield Verdict("all thirteen, in three versions each", not wrong, score)
        if not wrong:
            print(f"    right on {len(found)} of {len(found)}")

    judge(EXERCISE, verdicts())


def _judge(is_stuck: Detector, family: str) -> None:
    judge(EXERCISE, (_verdict(is_stuck, one) for one in sequences() if one.family == family))


def _verdict(is_stuck: Detector, sequence: Sequence) -> Verdict:
    """The first version of a sequence that the detector gets wrong, or that it is right."""
    number = sequence.number
    name = f"{number:>2} {sequence.name}"
    for seed, words in (
        *((seed, WORDS[seed]) for seed in SEEDS),
        *((len(WORDS), words) for words in fresh(_any_words, 2)),
    ):
        honest = f" ({words.honest} honest rounds came first)" if words.honest else ""
        for play in sequences(seed, words)[number - 1].plays:
            seen = _play(is_stuck, play)
            found = _wrong(number, play, seen)
            if found is None and seed == 0 and _wrong(number, play, again := _play(is_stuck, play)):
                found = f"the second time, {_in_words(play, again)}", REMEMBERS
            if found is not None:
                return Verdict(name, False, found[0] + honest, found[1])
        for variant in variants(number, words):
            found = _wrong(number, variant.play, _play(is_stuck, variant.play), variant.hint)
            if found is not None:
                return Verdict(name, False, f"{variant.words}: {found[0]}{honest}", found[1])
    return Verdict(name, True)


def _any_words(dice: Random) -> Words:
    """Words and numbers that no version has."""
    tool, key, value, nothing = (f"{letter}{dice.randint(1_000, 9_999)}" for letter in "tkvn")
    return Words(tool, key, value, nothing, dice.randint(1, 6), dice.randint(10, 30))


def _wrong(number: int, play: Play, seen: Seen, hint: str = "") -> tuple[str, str] | None:
    """(what was seen, the hint for it), or None if the detector was right. `hint` replaces the sequence's own."""
    words = _in_words(play, seen)
    if isinstance(seen.raised, Endless):
        return words, ENDLESS
    if seen.raised is not None:
        return words, EMPTY if seen.ran == 0 else ""
    verdict = play.judged(seen.ran, seen.stopped)
    if verdict == RIGHT:
        return None
    if verdict == TOO_EARLY and seen.ran == 0:
        return words, TOO_SOON
    if verdict == TOO_EARLY and play.stop_by is not None and play.earliest:
        return words, HINTS[6, TOO_EARLY] if number == 6 else TOO_SOON
    return words, hint or HINTS.get((number, verdict), TOO_SOON)


def _in_words(play: Play, seen: Seen) -> str:
    calls = f"{seen.ran} call{'' if seen.ran == 1 else 's'}"
    if isinstance(seen.raised, Endless):
        return f"your detector {seen.raised}"
    if seen.raised is not None:
        error = f"{type(seen.raised).__name__}: {shown(str(seen.raised))}"
        return f"your detector raised {error}, when {calls} had run"
    if not seen.stopped:
        return f"not stopped within {FUSE} calls" if play.ends is None else "not stopped"
    if play.stop_by is None:
        return f"stopped after {calls}; it would have ended by itself after {play.ends}"
    if seen.ran < play.earliest:
        return f"stopped after {calls}, before there was anything to see"
    return f"stopped after {calls}, where at most {play.stop_by} may run"


def _play(is_stuck: Detector, play: Play) -> Seen:
    """Let the detector look before each call of one run, whatever it does."""
    seen, rounds = Seen(), list[Round]()
    try:
        with bounded(), redirect_stdout(Muted(sys.stdout)):
            for one in play.rounds():
                if is_stuck(list(rounds), one.call):
                    seen.stopped = True
                    break
                rounds.append(one)
                seen.ran += 1
    except NotImplementedError:
        raise
    except (Exception, Endless) as error:
        seen.raised = error
    return seen
