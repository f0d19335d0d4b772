"""The twelve sequences: runs of which one must say whether they are stuck or at work.

Each is scripted, one tool call per round, and stands for a fault that real loops had: they went on for
ever, or they stopped a run that was at work.

    >>> first = twelve()[0]
    >>> first.number, first.name, first.must
    (1, 'A A A A: same call, same result', 'stop')
    >>> from stoplib import repeated_round
    >>> first.verdict([repeated_round()])
    'right'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from stoplib import Outcome, Reply, Tool, answer, call, max_steps, run
from stoplib.fakes import said
from stoplib.reasons import ANSWERED
from stoplib.tools import ORDINARY, Traits

FUSE = 60

RIGHT, TOO_EARLY, TOO_LATE, NEVER = "right", "too early", "too late", "never"
STOP, GO_ON = "stop", "go on"

AGAIN, CYCLES, NOTHING_NEW, DECLARED = "the same call", "cycles", "nothing new", "what tools declare"


class Call(NamedTuple):
    """A tool call that has been asked for, and what the tool says about itself.

    poll    how many equal results in a row are fine, if the tool is there to be asked again
    effect  whether running it twice would do harm, as with sending a message
    """

    tool: str
    args: dict[str, Any]
    poll: int | None = None
    effect: bool = False


class Round(NamedTuple):
    """A tool call that has run: the same as a `Call`, and its result."""

    tool: str
    args: dict[str, Any]
    result: str
    poll: int | None = None
    effect: bool = False

    @property
    def call(self) -> Call:
        return Call(self.tool, dict(self.args), self.poll, self.effect)


@dataclass(frozen=True)
class Play:
    """One scripted run.

    nth       its n-th round, counted from 0
    ends      after so many rounds the model answers; None: never
    earliest  a stop is too early while fewer calls than this have run
    stop_by   a stop is in time while at most this many calls have run; None: it must not be stopped
    """

    nth: Callable[[int], Round]
    ends: int | None = None
    earliest: int = 0
    stop_by: int | None = None

    def rounds(self) -> Iterator[Round]:
        """Its rounds, as far as anybody goes."""
        return (self.nth(n) for n in range(FUSE if self.ends is None else self.ends))

    def judged(self, ran: int, stopped: bool) -> str:
        """What it means that `ran` calls had run when the run was over, and whether somebody stopped it."""
        if self.stop_by is None:
            return TOO_EARLY if stopped else RIGHT
        if not stopped:
            return NEVER
        return TOO_EARLY if ran < self.earliest else TOO_LATE if ran > self.stop_by else RIGHT

    def run(self, guards: Iterable[Any], declared: bool = True) -> Outcome:
        """The same run in the library's loop, with a step limit far away."""

        def model(messages: list[dict[str, Any]]) -> Reply:
            step = said(messages)
            if self.ends is not None and step >= self.ends:
                return answer("done")
            asked = self.nth(step)
            return call(asked.tool, **asked.args)

        return run(model, "go", tools=self._tools(declared), guards=[*guards, max_steps(FUSE)], clock=lambda: 0.0)

    def verdict(self, guards: Iterable[Any], declared: bool = True) -> str:
        """How these guards do on it."""
        outcome = self.run(guards, declared)
        return self.judged(outcome.tool_calls, outcome.reason != ANSWERED and outcome.steps < FUSE)

    def later(self, honest: int) -> Play:
        """The same after so many rounds of honest work."""
        if not honest:
            return self
        files = [Round("read_file", {"path": f"notes/{n + 1}.md"}, f"note {n + 1}") for n in range(honest)]
        return replace(
            self,
            nth=lambda n: files[n] if n < honest else self.nth(n - honest),
            ends=None if self.ends is None else self.ends + honest,
            earliest=self.earliest + honest,
            stop_by=None if self.stop_by is None else self.stop_by + honest,
        )

    def _tools(self, declared: bool) -> dict[str, Tool]:
        results = (one.result for one in self.rounds())

        def carry_out(**args: Any) -> str:
            return next(results)

        traits = {one.tool: Traits(one.effect, one.poll) if declared else ORDINARY for one in self.rounds()}
        return {name: Tool(carry_out, name, traits=of_it) for name, of_it in traits.items()}


@dataclass(frozen=True)
class Sequence:
    """One of the twelve. It is right when all of its plays are; all but one have a single play."""

    number: int
    name: str
    family: str
    plays: tuple[Play, ...]

    @property
    def must(self) -> str:
        """What has to be done with it: stop it, or let it go on."""
        return GO_ON if self.plays[0].stop_by is None else STOP

    def rounds(self, n: int) -> list[Round]:
        """Its first `n` rounds."""
        return [one for one, _ in zip(self.plays[0].rounds(), range(n), strict=False)]

    def run(self, guards: Iterable[Any], declared: bool = True) -> Outcome:
        """Run it with these guards. With `declared=False` its tools say nothing about themselves."""
        return self.plays[0].run(guards, declared)

    def verdict(self, guards: Iterable[Any], declared: bool = True) -> str:
        """How these guards do: right, too early, too late, or never (it was not stopped at all)."""
        guards = list(guards)
        verdicts = (play.verdict(guards, declared) for play in self.plays)
        return next((word for word in verdicts if word != RIGHT), RIGHT)


class Words(NamedTuple):
    """What the runs of one seed are about, and how much honest work comes before them."""

    tool: str
    key: str
    value: str
    nothing: str
    honest: int
    patience: int


WORDS = (
    Words("search", "query", "stop rules", "no match", 0, 20),
    Words("lookup", "term", "agent loop", "0 rows", 2, 15),
    Words("find", "text", "guard", "nothing found", 3, 12),
)
JITTER = ("nonce", "request", "trace")


def twelve(seed: int = 0, words: Words | None = None) -> tuple[Sequence, ...]:
    """The twelve. Other seeds give the same sequences in other words, after a few honest rounds; so do `words`."""
    words = words or WORDS[seed % len(WORDS)]
    tool, key, value, nothing, honest, patience = words
    jitter = JITTER[seed % len(JITTER)]
    plays: dict[str, dict[int, tuple[Any, ...]]] = {
        AGAIN: {
            1: ("A A A A: same call, same result", _stuck(_same(words), 1, 4)),
            5: ("same call, a new result each time", _works(_progress(words), 10)),
            7: ("as 1, the argument keys reordered", _stuck(_shuffled(words), 1, 4)),
        },
        CYCLES: {
            2: ("A B A B: two calls in turn", _stuck(_cycle(words, 2), 2, 6)),
            3: ("A B C A B C: three in turn", _stuck(_cycle(words, 3), 3, 9)),
            4: ("seven calls in turn", _stuck(_cycle(words, 7), 7, 21)),
            10: ("edit, test: new edits, same failure", _works(_edit_test, 12)),
        },
        NOTHING_NEW: {
            8: (
                "same query and a random argument",
                _stuck(lambda n: Round(tool, {key: value, jitter: (n * 7919 + 13) % 1000}, nothing), 2, 6),
            ),
            9: ("a reworded query each time", _stuck(_reworded(words), 2, 6)),
            11: (
                "twelve different files",
                _works(lambda n: Round("read_file", {"path": f"src/part_{n + 1}.py"}, f"source of part {n + 1}"), 12),
            ),
        },
        DECLARED: {
            6: (
                "poll: nine times running, then done",
                _works(lambda n: Round("status", {}, "done" if n == 9 else "running", poll=patience), 10),
                _stuck(lambda n: Round("status", {}, "running", poll=patience), patience, patience + 4),
            ),
            12: ("the same message sent again", _stuck(_sends(words), 1, 1)),
        },
    }
    found = [
        Sequence(number, name, family, tuple(play.later(honest) for play in parts))
        for family, members in plays.items()
        for number, (name, *parts) in members.items()
    ]
    return tuple(sorted(found, key=lambda sequence: sequence.number))


Nth = Callable[[int], Round]


def _stuck(nth: Nth, earliest: int, stop_by: int) -> Play:
    return Play(nth, earliest=earliest, stop_by=stop_by)


def _works(nth: Nth, ends: int) -> Play:
    return Play(nth, ends=ends)


def _same(words: Words) -> Nth:
    return lambda n: Round(words.tool, {words.key: words.value}, words.nothing)


def _progress(words: Words) -> Nth:
    return lambda n: Round("progress", {"job": words.value}, f"{10 * (n + 1)} %")


def _shuffled(words: Words) -> Nth:
    args: Mapping[str, Any] = {words.key: words.value, "limit": 5, "exact": False}

    def nth(n: int) -> Round:
        keys = list(args)
        turned = keys[n % 3 :] + keys[: n % 3]
        return Round(words.tool, {key: args[key] for key in turned}, words.nothing)

    return nth


def _cycle(words: Words, length: int) -> Nth:
    def nth(n: int) -> Round:
        place = n % length + 1
        return Round(words.tool, {words.key: f"{words.value} {place}"}, f"see entry {place % length + 1}")

    return nth


def _edit_test(n: int) -> Round:
    if n % 2 == 0:
        return Round("edit", {"change": f"attempt {n // 2 + 1}"}, "saved")
    return Round("test", {}, "all passed" if n == 11 else "1 failed: test_total")


def _reworded(words: Words) -> Nth:
    ways = ("about {}", "what is {}", "{} explained", "{} examples", "how does {} work", "the meaning of {}")

    def nth(n: int) -> Round:
        way = ways[n % len(ways)].format(words.value)
        again = " again" * (n // len(ways))
        return Round(words.tool, {words.key: way + again}, words.nothing)

    return nth


def _sends(words: Words) -> Nth:
    args = {"to": "Ada", "text": f"news on {words.value}"}
    return lambda n: Round("send", dict(args), f'{{"sent": true, "id": {8101 + 7 * n}}}', effect=True)
