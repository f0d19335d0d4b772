"""Exercise 04: `hard_budget`. The library's own hard budget says which calls should be made."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import stoplib
from stoplib import Usage
from stoplib.course.checks import Endless, Muted, Verdict, bounded, fresh, judge, shown

EXERCISE = "04"
MOST_STEPS = 12
SEEDS = 40

Maker = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One run to try: the usage of each reply (the last one is the answer), and the limits.

    Each reply but the last asks for as many tools as it has texts in `results`. `late` is the hint for
    a run that goes on too long, `early` for one that is stopped too soon.
    """

    name: str
    usages: tuple[Usage, ...]
    max_tokens: int
    output_cap: int
    results: tuple[str, ...] = ("nothing",)
    task: str = "Find it."
    late: str = ""
    early: str = ""


@dataclass(frozen=True)
class Seen:
    """What a run did, or what was raised instead; `guard` says whether a guard had been made before that."""

    outcome: stoplib.Outcome | None = None
    raised: BaseException | None = None
    guard: bool = True

    def __str__(self) -> str:
        if self.outcome is None:
            return f"your code raised {type(self.raised).__name__}: {shown(str(self.raised))}"
        made = f"{self.outcome.steps} model call{'' if self.outcome.steps == 1 else 's'}"
        if self.outcome.reason == "fatal":
            return f"your guard failed after {made}: {shown(self.outcome.detail, 120)}"
        if self.outcome.reason == "answered":
            return f"the run was not stopped: {made}, {self.outcome.usage.total:,} tokens, and the answer"
        return f"the run was stopped after {made} and {self.outcome.usage.total:,} tokens"


BIG = (Usage(30_000, 500), Usage(20_000, 400), Usage(9_000, 300))
EARLY = "this call would have fitted. What do you count that is not sent again, or not known yet?"
TOTAL = (
    "run.tokens is what all calls together have used. What the next call sends again is what the last call alone"
    " sent and received."
)


def check_looks_ahead(hard_budget: Maker) -> None:
    """The call that could pass the budget is not made."""
    late = "before this call the budget was not used up, and yet the call cannot fit. What will it send at least?"
    _judge(
        hard_budget,
        [
            Case("30,500 of 50,000 tokens are used, and the second call would pass", BIG, 50_000, 1_000, late=late),
            Case("all three calls fit", BIG, 100_000, 1_000, early=EARLY),
            Case(
                "five small calls fit",
                tuple(Usage(1_000 + 300 * n, 100) for n in range(5)),
                11_000,
                500,
                early=TOTAL,
                late=late,
            ),
            Case(
                "the fifth call would pass", tuple(Usage(1_000 + 300 * n, 100) for n in range(5)), 9_000, 500, late=late
            ),
        ],
    )


def check_sends_again(hard_budget: Maker) -> None:
    """All that the next call sends is counted: old answers, cached tokens, new results."""
    cached = "the cache makes tokens cheaper; they are still sent. Which fields does a Usage have?"
    answer = "the last answer is part of the transcript now, so it is sent as well."
    results = "the results that came in since the last call are sent for the first time. How long are their texts?"
    rounding = "take the characters of all new results together, divide by 4, and round up once."
    _judge(
        hard_budget,
        [
            Case("most of the input came from the cache", (Usage(100, 50, 9_000, 0),) * 3, 15_000, 100, late=cached),
            Case("most of the input went into the cache", (Usage(100, 50, 0, 9_000),) * 3, 15_000, 100, late=cached),
            Case("a long answer with a tool request", (Usage(200, 4_000),) * 3, 8_000, 100, late=answer),
            Case("a long result", (Usage(1_000, 100),) * 3, 4_000, 100, ("x" * 8_000,), late=results),
            Case("three results in one reply", (Usage(1_000, 100),) * 3, 4_000, 100, ("x" * 3_000,) * 3, late=results),
            Case("a result of 5 characters", (Usage(1_000, 100),) * 2, 2_301, 100, ("x" * 5,), late=rounding),
            Case("3 results of 1 character", (Usage(1_000, 100),) * 2, 2_302, 100, ("x",) * 3, early=rounding),
        ],
    )


def check_output_cap(hard_budget: Maker) -> None:
    """The answer is counted as long as it may get."""
    late = "how long the answer may get is known: output_cap. How long the last one was says nothing about the next."
    early = "the answer cannot be longer than output_cap, however long the last one was."
    _judge(
        hard_budget,
        [
            Case("short answers so far, and a high output_cap", (Usage(1_000, 10),) * 3, 5_000, 4_000, late=late),
            Case("a long answer so far, and a low output_cap", (Usage(100, 2_000),) * 2, 4_500, 200, early=early),
        ],
    )


def check_exact_fit(hard_budget: Maker) -> None:
    """A call that fits exactly is made; one token less, and it is not."""
    sizes = ((Usage(1_000, 200),) * 2, ("x" * 400,), 300)
    early = "a call that uses the budget up exactly does not pass it."
    late = "one token is missing, and 'almost' is not 'at most'."
    cases = []
    for spare, words in ((0, "the second call fits exactly"), (-1, "the second call misses by one token")):
        usages, results, cap = sizes
        used = usages[0].total
        budget = used + used + len(results[0]) // 4 + cap + spare
        cases.append(Case(words, usages, budget, cap, results, early=early, late=late))
    _judge(hard_budget, cases)


def check_first_call(hard_budget: Maker) -> None:
    """Before the first call only the task is known."""
    task = "Find it. " * 400
    late = "the first call sends the task and brings an answer, too. Does that fit?"
    early = "before the first call nothing has been sent, so only the task and the answer count."
    exact = "a call that uses the budget up exactly does not pass it."
    _judge(
        hard_budget,
        [
            Case("a budget below output_cap: no call at all", (Usage(10, 10),) * 2, 400, 500, late=late),
            Case("the task alone is longer than the budget", (Usage(10, 10),) * 2, 800, 100, task=task, late=late),
            Case("task and answer fit exactly", (Usage(10, 10),), 1_000, 100, task=task, early=f"{exact} And {early}"),
            Case("task and answer miss by one token", (Usage(10, 10),), 999, 100, task=task, late=late),
            Case("a short task, and a budget that is large enough", (Usage(10, 10),), 5_000, 500, early=early),
        ],
    )


def check_again(hard_budget: Maker) -> None:
    """The same guard works for run after run, and for two at once."""

    def verdicts() -> Iterator[Verdict]:
        case = Case("", BIG, 70_000, 500)
        wanted = _library(case)
        first_time = "this run goes wrong the first time already; the checks above say more."
        hint = "the guard remembers something of the first run. All that it needs stands in the run it is given."
        guard, failed = _made(hard_budget, case)
        if failed is not None:
            yield Verdict("making the guard", False, str(failed), _hint(case, failed, wanted))
            return
        seen = _try(guard, case)
        alone = _like(seen, wanted)
        yield Verdict("the guard's first run", alone, str(seen), _hint(case, seen, wanted) or first_time)
        if not alone:
            return
        seen = _try(guard, case)
        yield Verdict("the same guard in a second run", _like(seen, wanted), str(seen), hint)
        for letter, seen in zip("AB", _two_at_once(guard, case), strict=True):
            yield Verdict(f"the same guard in two runs at once, run {letter}", _like(seen, wanted), str(seen), hint)

    judge(EXERCISE, verdicts())


def check_text(hard_budget: Maker) -> None:
    """What the guard says: how much is used, and how much the next call needs."""

    def verdicts() -> Iterator[Verdict]:
        for case in (Case("", BIG, 50_000, 1_000), Case("", (Usage(700, 77, 23),) * 4, 2_500, 210, ("x" * 90,))):
            guard, failed = _made(hard_budget, case)
            seen = failed or _try(guard, case)
            said = "" if seen.outcome is None else seen.outcome.detail
            last = _library(case).trace[-1]
            again = last.reply.usage.total + -(-sum(len(result.text) for result in last.results) // 4)
            numbers = {
                int(number) for number in re.findall(r"\d+", re.sub(r"(?<=\d)[,_.'\u202f ](?=\d{3}\b)", "", said))
            }
            used = sum(step.reply.usage.total for step in _library(case).trace)
            hint = "the text holds two numbers: the tokens used so far, and the tokens that the next call needs."
            missing = []
            if used not in numbers:
                missing.append("what is used")
            if again + case.output_cap not in numbers:
                missing.append("what the next call needs")
            if numbers and missing == ["what the next call needs"]:
                hint = "needed is what the next call alone needs. What do you add to it, or leave out?"
            yield Verdict(
                f"the text after {used:,} tokens",
                not missing,
                f"the detail of the run is {shown(said, 120)}; not in it: {' and '.join(missing)}",
                hint,
            )

    judge(EXERCISE, verdicts())


def check_many(hard_budget: Maker) -> None:
    """Many runs with random figures."""

    def verdicts() -> Iterator[Verdict]:
        for case in (
            *(_random(random.Random(seed), f"random run {seed}") for seed in range(SEEDS)),
            *fresh(_random, SEEDS),
        ):
            seen, wanted = _tried(hard_budget, case), _library(case)
            if not _like(seen, wanted):
                first = ", ".join(map(repr, case.usages[:3]))
                setting = f"max_tokens={case.max_tokens}, output_cap={case.output_cap}, usages {first}, …"
                yield Verdict(f"{case.name} ({setting})", False, str(seen), _hint(case, seen, wanted))
                return
        yield Verdict(f"{SEEDS} runs with random figures", True)

    judge(EXERCISE, verdicts())


def _random(dice: random.Random, name: str = "a run that is made for this check") -> Case:
    usages = tuple(
        Usage(dice.randrange(2_000), dice.randrange(800), dice.randrange(3_000), dice.randrange(500))
        for _ in range(dice.randint(1, 8))
    )
    results = tuple("x" * dice.randrange(4_000) for _ in range(dice.randint(1, 3)))
    budget = round(sum(usage.total for usage in usages) * dice.uniform(0.3, 2.5))
    return Case(
        name,
        usages,
        budget,
        dice.choice((50, 500, 2_000)),
        results,
        "Find it. " * dice.randint(1, 200),
        late="this call could have passed the budget: what was used, what is sent again, new results, output_cap.",
        early=EARLY,
    )


def _judge(hard_budget: Maker, cases: Iterable[Case]) -> None:
    def verdicts() -> Iterator[Verdict]:
        for case in (*cases, *fresh(_random)):
            seen, wanted = _tried(hard_budget, case), _library(case)
            yield Verdict(case.name, _like(seen, wanted), str(seen), _hint(case, seen, wanted))

    judge(EXERCISE, verdicts())


def _hint(case: Case, seen: Seen, wanted: stoplib.Outcome) -> str:
    if isinstance(seen.raised, Endless):
        return "a guard looks at the run and returns; it does not wait for anything."
    if seen.outcome is None:
        return (
            ""
            if seen.guard
            else "hard_budget(max_tokens, output_cap) returns the guard: a function that takes the run."
        )
    if seen.outcome.reason == "fatal":
        if isinstance(seen.outcome.error, TypeError) and "must return a text or None" in seen.outcome.detail:
            return "the guard returns a text if the next call is too much, and None if it may be made."
        if not seen.outcome.steps:
            return "before the first call run.trace is empty: there is no last call. What is sent then?"
        return "the guard must not fail. Which of its lines did?"
    return case.late if seen.outcome.steps > wanted.steps else case.early


def _like(seen: Seen, wanted: stoplib.Outcome) -> bool:
    if seen.outcome is None or seen.outcome.reason in ("fatal", "max_steps"):
        return False
    same_end = (seen.outcome.reason == "answered") is (wanted.reason == "answered")
    return same_end and seen.outcome.steps == wanted.steps


def _tried(hard_budget: Maker, case: Case) -> Seen:
    guard, failed = _made(hard_budget, case)
    return failed or _try(guard, case)


def _made(hard_budget: Maker, case: Case) -> tuple[Any, Seen | None]:
    """The learner's guard for a case, or what went wrong when it was made."""
    try:
        with bounded(), redirect_stdout(Muted(sys.stdout, lines=5)):
            guard = hard_budget(case.max_tokens, case.output_cap)
    except NotImplementedError:
        raise
    except (Exception, Endless) as error:
        return None, Seen(raised=error, guard=False)
    if not callable(guard):
        return None, Seen(raised=TypeError(f"hard_budget returned {shown(guard)}, which is no guard"), guard=False)
    return guard, None


def _try(guard: Any, case: Case) -> Seen:
    """Run the case with the learner's guard, whatever it does."""
    try:
        with bounded(), redirect_stdout(Muted(sys.stdout, lines=5)):
            outcome = stoplib.run(_Model(case), case.task, tools=_tools(case), guards=[guard, _fuse()], clock=_clock)
    except (Exception, Endless) as error:
        return Seen(raised=error)
    if isinstance(outcome.error, NotImplementedError):
        raise outcome.error
    return Seen(outcome)


def _two_at_once(guard: Any, case: Case) -> tuple[Seen, Seen]:
    """Two runs that take turns, one event each."""
    outcomes: list[stoplib.Outcome | None] = [None, None]
    try:
        with bounded(), redirect_stdout(Muted(sys.stdout, lines=5)):
            runs = [
                stoplib.steps(_Model(case), case.task, tools=_tools(case), guards=[guard, _fuse()], clock=_clock)
                for _ in outcomes
            ]
            while None in outcomes:
                for place, events in enumerate(runs):
                    for event in events:
                        outcomes[place] = event.outcome
                        break
    except (Exception, Endless) as error:
        return Seen(outcomes[0], error), Seen(outcomes[1], error)
    return Seen(outcomes[0]), Seen(outcomes[1])


def _library(case: Case) -> stoplib.Outcome:
    """The same run by the library's hard budget: what is right is computed, not written down."""
    guards = [stoplib.token_budget(case.max_tokens, hard=True), _fuse()]
    model = _Model(case)
    model.max_output_tokens = case.output_cap
    return stoplib.run(model, case.task, tools=_tools(case), guards=guards, clock=_clock)


def _fuse() -> stoplib.Guard:
    return stoplib.max_steps(MOST_STEPS)


def _clock() -> float:
    return 0.0


class _Model:
    """The replies of a case, by the number of replies in the transcript; it has no state."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.max_output_tokens: int | None = None  # what the library's budget takes for the answer

    def __call__(self, messages: list[dict[str, Any]]) -> stoplib.Reply:
        said = sum(message["role"] == "assistant" for message in messages)
        usages = self.case.usages
        if said >= len(usages) - 1:
            return stoplib.answer("found", usage=usages[-1])
        calls = (stoplib.call("look", place=place) for place in range(len(self.case.results)))
        return stoplib.batch(*calls, usage=usages[said])


def _tools(case: Case) -> dict[str, Callable[..., str]]:
    return {"look": lambda place: case.results[place]}
