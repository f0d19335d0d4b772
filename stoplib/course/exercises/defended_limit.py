"""Exercise 09: a guard set chosen from recorded runs, and a claim about it, tried on other tasks of the same agent."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from numbers import Real
from random import Random
from typing import Any

import stoplib
from stoplib.course.checks import Endless, Muted, Verdict, bounded, fresh, judge, shown
from stoplib.course.population import Recorded, recorded_runs
from stoplib.guards.core import Guard, Limit, as_guard
from stoplib.guards.guardset import GuardSet

EXERCISE = "09"
MOST_LINES = 1_000_000
MOST_LOST = 0.01
LEAST_SAVED = 0.75
DOUBT = 0.05

Choose = Callable[..., Any]

NO_BOUND = "a repetition rule bounds nothing if the model does something new each time. Which guard bounds every run?"
NO_LIST = "the guards are a list, such as [max_steps(10)], also if it is only one."
TWO_THINGS = "return two things, as in: return guards, claim. The guards are a list, the claim is a share."
ENDLESS = "choose has to come to an end. Which loop in it does not? What you call, such as replay, counts by its calls."
SAME = "your choice is the same for all three agents. What does it take from the runs that it gets?"
UNITS = "compare the units: which of your numbers counts steps, and which counts tokens?"
TOO_LOW = "your guards cut more successes than that even among the runs that they were chosen from: {alone}. {question}"
ABOVE = "What share of them is above your number?"
REPEATS = "What does it take for a sign of trouble that is a part of sound work?"
HEADROOM = (
    "on the runs that it was chosen from, your choice keeps within 1 %."
    " The longest success is still to come: what do you leave for it?"
)
NEW_TROUBLE = (
    "on the runs that it was chosen from, your choice keeps within 1 %. On the other tasks: {alone}."
    " A rule about repetition or errors has no headroom to multiply. {question}"
)
NO_SHARE = "the claim is a share: a number from 0 to 1."
NONE_HAS_A_SIZE = (
    "none lost of a few is no promise of none. How large a share could be lost, and still none of these be hit?"
)
ALIKE = "runs of one task are alike. How many of the successes are independent of each other?"
TOO_WIDE = "that is more doubt than needed. By which rule of the chapter does the number of tasks set it?"
NOT_NONE = "the rule of the chapter is for a limit that has lost none of the successes that were seen."
WRONG_RUNS = "which runs did you learn from? The longest run of all is a runaway, and so are the longest failures."
SECONDS = (
    "a runaway may make its calls quickly. Which guard counts what is to be saved, or at least how often it calls?"
)
TOO_HIGH = "the runaways go on for long after the longest success. How much headroom is enough?"


@dataclass(frozen=True)
class Agent:
    """One agent to choose for: how long its tasks are, and how dear its calls."""

    name: str
    seed: int
    scale: float
    tokens: float
    most_lost: float = MOST_LOST
    least_saved: float = LEAST_SAVED


AGENTS = (
    Agent("agent A", 20, 1, 1),
    Agent("agent B, long tasks", 29, 4, 0.2),
    Agent("agent C, dear calls", 25, 0.6, 6),
)


def _any_agent(dice: Random) -> Agent:
    """An agent that nobody knows. Its tasks are not chosen by hand, so a good choice may do somewhat worse on it."""
    seed, scale, tokens = dice.randint(1_000, 10**6), dice.choice((2.2, 2.6)), dice.choice((18, 25, 40))
    return Agent("an agent that is made for this check", seed, scale, tokens, most_lost=0.1, least_saved=0.4)


@dataclass(frozen=True)
class Measured:
    """What guards do to recorded runs. `kept` are the tokens that the runaways use with them."""

    successes: int
    lost: int
    runaways: int
    used: int
    kept: int

    @property
    def share_lost(self) -> float:
        return self.lost / max(self.successes, 1)

    @property
    def share_saved(self) -> float:
        return 1 - self.kept / max(self.used, 1)

    def __str__(self) -> str:
        return f"{self.said_lost}; {self.said_saved}"

    @property
    def said_lost(self) -> str:
        return f"{self.lost} of {self.successes} successes lost ({100 * self.share_lost:.1f} %)"

    @property
    def said_saved(self) -> str:
        whole = math.floor(100 * self.share_saved)  # rounded down: 74.6 % is not "75 %" where 75 % are asked for
        return f"{whole} % of the tokens of {self.runaways} runaways saved"


@dataclass
class Seen:
    """What `choose` returned for one agent, or how it went wrong."""

    agent: Agent
    guards: list[Any]
    claim: Any = None
    problem: str = ""
    hint: str = ""


def measured(runs: Iterable[Recorded], guards: Iterable[Any]) -> Measured:
    """Replay `guards` over `runs` and count.

    >>> runs = recorded_runs(1, tasks=10)
    >>> print(measured(runs, [stoplib.max_steps(1000)]))
    0 of 23 successes lost (0.0 %); 0 % of the tokens of 1 runaways saved
    """
    successes = lost = runaways = used = kept = 0
    guards = list(guards)
    for one in runs:
        runaway = one.outcome.reason == "max_steps"
        if not (one.success or runaway):
            continue
        ended = stoplib.replay(one.outcome, guards)
        if one.success:
            successes += 1
            lost += ended.steps < one.outcome.steps
        else:
            runaways += 1
            used += one.outcome.usage.total
            kept += ended.usage.total
    return Measured(successes, lost, runaways, used, kept)


def check_guards(choose: Choose) -> None:
    """Is it a guard set, and does it bound a run?"""

    def verdicts() -> Iterator[Verdict]:
        for seen in _choices(choose):
            yield Verdict(
                f"{seen.agent.name}: a guard set that bounds a run", not seen.problem, seen.problem, seen.hint
            )

    judge(EXERCISE, verdicts())


def check_lost(choose: Choose) -> None:
    """How many successes are lost on other tasks."""
    judge(EXERCISE, _tried(choose, "at most 1 % of the successes lost", _lost))


def check_saved(choose: Choose) -> None:
    """How much of what the runaways used is saved on other tasks."""
    judge(EXERCISE, _tried(choose, "at least 75 % of the runaways' tokens saved", _saved))


def check_claim(choose: Choose) -> None:
    """What may be claimed of the next successes, from as many tasks."""

    def verdicts() -> Iterator[Verdict]:
        for seen in _choices(choose):
            case = f"{seen.agent.name}: a claim that these runs allow"
            if seen.problem:
                yield Verdict(case, False, seen.problem, seen.hint)
                continue
            said, hint = _objection_to_claim(seen)
            yield Verdict(case if said else f"{case}. Yours: {float(seen.claim):.3g}", not said, said, hint)

    judge(EXERCISE, verdicts())


def _objection_to_claim(seen: Seen) -> tuple[str, str]:
    """What speaks against the claim, and the hint that fits; two empty texts if nothing does."""
    found = measured(_known(seen.agent), seen.guards)
    tasks = len({one.task for one in _known(seen.agent) if one.success})
    said = f"you claim {shown(seen.claim)}"
    is_number = isinstance(seen.claim, Real) and not isinstance(seen.claim, bool)
    if not is_number or not 0 <= (claim := float(seen.claim)) <= 1:
        return said, NO_SHARE
    if found.lost:
        return f"{said}, and your guards lose {found.lost} of the successes that they were chosen from", NOT_NONE
    if claim == 0:
        return said, NONE_HAS_A_SIZE
    if claim < allowed(tasks)[0]:
        return f"{said}, and such a claim needs more than what {found.successes} successes on {tasks} tasks show", ALIKE
    if claim > allowed(tasks)[1]:
        return f"{said}, from {found.successes} successes on {tasks} tasks", TOO_WIDE
    return "", ""


def allowed(n: int) -> tuple[float, float]:
    """The least and the most that may be claimed when none of `n` was lost: the exact share, and 3 / n with some room.

    >>> [round(share, 3) for share in allowed(60)]
    [0.049, 0.055]
    """
    return 1 - DOUBT ** (1 / n) - 1e-9, 3.3 / n


def _tried(
    choose: Choose, asked: str, look: Callable[[Seen, Measured, bool], tuple[bool, str, str]]
) -> Iterator[Verdict]:
    choices = _choices(choose)
    same = len({repr(seen.guards) for seen in choices}) == 1
    for seen in choices:
        case = f"{seen.agent.name}: {asked}"
        if seen.problem:
            yield Verdict(case, False, seen.problem, seen.hint)
            continue
        ok, said, hint = look(seen, measured(_held_out(seen.agent), seen.guards), same)
        yield Verdict(f"{case}. Yours: {said}" if ok else case, ok, f"{said}, with {shown(seen.guards, 160)}", hint)


def _lost(seen: Seen, found: Measured, same: bool) -> tuple[bool, str, str]:
    hint = SAME if same else UNITS if _confused(seen) else _why_lost(seen)
    return found.share_lost <= seen.agent.most_lost, found.said_lost, hint


def _why_lost(seen: Seen) -> str:
    """Whether a number is too low for the known runs, has too little headroom, or a rule of another kind cuts work."""
    fits = measured(_known(seen.agent), seen.guards).share_lost <= MOST_LOST
    runs = _held_out(seen.agent) if fits else _known(seen.agent)
    parts = [part for guard in seen.guards for part in as_guard(guard).parts]
    cuts = {part: measured(runs, [part]).lost for part in parts}
    worst = max(parts, key=lambda part: cuts[part])
    alone = ", ".join(f"{part!r} cuts {cuts[part]}" for part in parts)
    if fits and isinstance(worst, Limit):
        return HEADROOM
    return (NEW_TROUBLE if fits else TOO_LOW).format(
        alone=alone, question=ABOVE if isinstance(worst, Limit) else REPEATS
    )


def _saved(seen: Seen, found: Measured, same: bool) -> tuple[bool, str, str]:
    longest = max(one.outcome.steps for one in _known(seen.agent) if one.success)
    most = max(one.outcome.usage.total for one in _known(seen.agent) if one.success)
    high = [
        limit
        for limit in _limits(seen)
        if (isinstance(limit, stoplib.max_steps) and limit.n >= 2.5 * longest)
        or (isinstance(limit, stoplib.token_budget) and limit.n >= 4 * most)
    ]
    learned = _lengths_of_failures(seen.agent)
    wrong = any(getattr(limit, "n", None) in learned for limit in high)
    by_seconds = bool(_limits(seen)) and all(isinstance(limit, stoplib.time_limit) for limit in _limits(seen))
    hint = SAME if same else UNITS if _confused(seen) else WRONG_RUNS if wrong else SECONDS if by_seconds else TOO_HIGH
    return found.share_saved >= seen.agent.least_saved, found.said_saved, hint


def _confused(seen: Seen) -> bool:
    """Whether a token budget is as small as a number of steps, or a step limit as large as one of tokens."""
    good = [one.outcome for one in _known(seen.agent) if one.success]
    least = min(outcome.usage.total for outcome in good)
    return any(
        (isinstance(limit, stoplib.token_budget) and limit.n < least)
        or (isinstance(limit, stoplib.max_steps) and limit.n > 20 * max(outcome.steps for outcome in good))
        for limit in _limits(seen)
    )


def _limits(seen: Seen) -> list[Limit]:
    return [guard for guard in seen.guards if isinstance(guard, Limit)]


def _lengths_of_failures(agent: Agent) -> set[int]:
    failures = [one.outcome for one in _known(agent) if not one.success]
    return {outcome.steps for outcome in failures} | {outcome.usage.total for outcome in failures}


def _choices(choose: Choose) -> list[Seen]:
    """What `choose` returns for each agent. After one that does not end, the others are not tried."""
    choices: list[Seen] = []
    for agent in (*AGENTS, *fresh(_any_agent, 1)):
        seen = Seen(agent, [])
        choices.append(seen)
        runs = list(_known(agent))
        try:
            with bounded(MOST_LINES), redirect_stdout(Muted(sys.stdout)):
                returned = choose(runs)
        except NotImplementedError:
            raise
        except Endless as error:
            seen.problem, seen.hint = f"choose {error}", ENDLESS
            break
        except Exception as error:
            seen.problem = f"choose raised {type(error).__name__}: {error}"
            continue
        if not isinstance(returned, (list, tuple)) or len(returned) != 2 or isinstance(returned[1], Guard):
            seen.problem, seen.hint = f"choose returned {shown(returned)}", TWO_THINGS
            continue
        guards, seen.claim = returned
        if not isinstance(guards, (list, tuple)):
            seen.problem, seen.hint = f"the guards that choose returned are {shown(guards)}", NO_LIST
            continue
        seen.guards = list(guards)
        try:
            GuardSet(seen.guards)
        except (TypeError, ValueError) as error:
            unbound = "do not bound" in str(error)
            seen.problem, seen.hint = str(error), NO_BOUND if unbound else NO_LIST
    return choices


@cache
def _known(agent: Agent) -> tuple[Recorded, ...]:
    return tuple(recorded_runs(agent.seed, 16, scale=agent.scale, tokens=agent.tokens, runaways=0.06))


@cache
def _held_out(agent: Agent) -> tuple[Recorded, ...]:
    return tuple(recorded_runs(agent.seed + 100, 60, scale=agent.scale, tokens=agent.tokens, runaways=0.06))
