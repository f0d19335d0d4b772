"""Exercise 02: a guard that looks at the results, and who stops a model first."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from random import Random
from typing import Any

import stoplib
from stoplib import answer, call, fakes
from stoplib.course.checks import Endless, Muted, Verdict, bounded, fresh, judge, shown

EXERCISE = "02"
NAME = "no_new_results"
MOST_CALLS = 200

Maker = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One run: the results that its tool gives, and then the model answers. An Exception is raised by the tool.

    `asks` says what the n-th query is.
    """

    name: str
    n: int
    results: tuple[str | Exception, ...]
    hint: str = ""
    asks: Callable[[int], str] = str
    says: str = ""
    task: str = "Find it."


@dataclass
class Seen:
    """What a run with the learner's guard did."""

    outcome: stoplib.Outcome | None = None
    raised: BaseException | None = None

    @property
    def calls(self) -> int:
        return self.outcome.tool_calls if self.outcome else 0

    @property
    def reason(self) -> str:
        return self.outcome.reason if self.outcome else ""

    @property
    def error(self) -> BaseException | None:
        return self.raised or (self.outcome.error if self.outcome else None)

    def __str__(self) -> str:
        if isinstance(self.error, Endless):
            return f"your guard {self.error}"
        if self.error is not None:
            return f"your guard broke the run, {type(self.error).__name__}: {shown(str(self.error))}"
        calls = f"{self.calls} tool call{'' if self.calls == 1 else 's'}"
        return f"the run ended after {calls}, {'with an answer' if self.reason == 'answered' else 'by your guard'}"


FEWER = "fewer than n results are not enough. What does your guard say when there are fewer?"
IN_A_ROW = "it is the last n results that count, one after the other."
COMPARE = "compare the last n results with one another, whatever was asked for."
RESULTS_ONLY = "only the results of tools count, not what else is said in the run."
TEXT = "a guard returns a text when the run has to stop, and None otherwise."
EMPTY = "before the first call there is nothing to look at yet. What does your guard read then?"
ENDLESS = "a guard looks once and returns. Which loop in it does not end?"
ONE_RUN_EACH = "one run for each guard is enough. Which loop in your function does not end?"
REMEMBERS = "what does your guard still know from another run? Everything that changes belongs to the run."
FIRST_ALREADY = "the first of these runs goes wrong already, and there is no other run before it: see the checks above."
SHAPE = f"{NAME}(n) must return a function of the run, the guard."
SAME = "no match"


def check_results(no_new_results: Maker) -> None:
    """When the guard stops a run, and when it does not."""
    again = (SAME,) * 9
    down = tuple(ConnectionError("the index is down") for _ in range(5))
    _judge(
        no_new_results,
        [
            Case("two queries in turn, always the same result, n=3", 3, again, COMPARE, lambda i: "ab"[i % 2]),
            Case("a new query each time, always the same result, n=5", 5, again, COMPARE),
            Case("the same result from the start, n=1", 1, again, COMPARE),
            Case("the same query, and each time a new result, n=2", 2, ("1", "2", "3", "4"), COMPARE, lambda i: "a"),
            Case("two equal results, then an answer, n=3", 3, (SAME, SAME), FEWER),
            Case("new results first, then the same ones, n=3", 3, ("a", "b", "c", "d", "d", "d", "d"), COMPARE),
            Case("two results in turn, n=2", 2, ("a", "b", "a", "b", "a", "b"), IN_A_ROW),
            Case("three equal results, but not in a row, n=3", 3, ("a", "a", "b", "a", "c", "a"), IN_A_ROW),
            Case("a tool that fails in the same way each time, n=3", 3, down, "a failed call has a result too."),
            Case("the task reads like a result, n=3", 3, (SAME, SAME), RESULTS_ONLY, task=SAME),
            Case("the model always says the same, n=2", 2, ("a", "b", "c"), RESULTS_ONLY, says="Let me look."),
            *fresh(_any_results, 6),
        ],
    )


def _any_results(dice: Random) -> Case:
    """A run whose results repeat more or less."""
    n, words = dice.randint(1, 6), [f"{dice.randint(100, 999)} rows" for _ in range(2)]
    results = tuple(word for _ in range(4) for word in (dice.choice(words),) * dice.randint(1, n + 1))
    return Case(f"the results {', '.join(results[:6])}, …, n={n}", n, results, IN_A_ROW, asks=lambda i: f"page {i % 3}")


def check_guard(no_new_results: Maker) -> None:
    """What kind of thing it is: a function of its own, a text, a name."""

    def verdicts() -> Iterator[Verdict]:
        guard, problem = _make(no_new_results, 2)
        if guard is None:
            yield Verdict(f"{NAME}(2)", False, problem, SHAPE)
            return
        own = not type(guard).__module__.startswith("stoplib.")
        library = "the library has this guard. Here, write it yourself as a function."
        yield Verdict(f"{NAME}(2) is a guard of yours", own, f"it is {_kind(guard)}", library)
        said, error = _bounded(guard, stoplib.Run("Find it.", lambda: 0.0))
        seen = f"it raised {type(error).__name__}" if error else f"it returned {shown(said)}"
        yield Verdict("before the first call it says nothing", not (said or error), seen, EMPTY if error else FEWER)
        seen_run = _run(guard, Case("", 2, (SAME,) * 4))
        detail = seen_run.outcome.detail if seen_run.outcome and not seen_run.error else None
        ok = isinstance(detail, str) and seen_run.reason != "answered"
        yield Verdict("it stops a run with a text", ok, str(seen_run), _hint(seen_run, TEXT))
        if seen_run.error is not None:  # then the reason is `fatal`, and the name has nothing to do with it
            return
        name = "the name of the function that you return is the reason; which one do you return?"
        yield Verdict(f"the reason is {NAME}", seen_run.reason == NAME, f"the reason is {seen_run.reason!r}", name)

    judge(EXERCISE, verdicts())


def check_again(no_new_results: Maker) -> None:
    """One guard, many runs."""

    def verdicts() -> Iterator[Verdict]:
        short, long = Case("", 3, (SAME, SAME)), Case("", 3, (SAME,) * 5)
        (guard, problem), (strict, _), (other, _) = (_make(no_new_results, n) for n in (3, 2, 4))
        if guard is None or strict is None or other is None:
            yield Verdict(f"{NAME}(3)", False, problem, SHAPE)
            return
        alone = _verdict("run 1 of four with the same guard", short, _run(guard, short), COMPARE)
        yield alone
        hint = REMEMBERS if alone.ok else FIRST_ALREADY
        for number, case in enumerate((short, long, long), 2):
            yield _verdict(f"run {number} of four with the same guard", case, _run(guard, case), hint)
        first, second = _interleaved(guard, Case("", 3, (SAME,) * 5), Case("", 3, ("a", "b", "b", "c", "d")))
        yield _verdict("two runs at once, one of them stuck: the stuck one", Case("", 3, (SAME,) * 5), first, hint)
        yield _verdict(
            "two runs at once, one of them stuck: the other", Case("", 3, ("a", "b", "b", "c", "d")), second, hint
        )
        for made, n in ((strict, 2), (other, 4)):
            case = Case("", n, (SAME,) * 6)
            yield _verdict(
                f"three guards made with n=3, 2 and 4: the one with {n}", case, _run(made, case), "n is what was given."
            )

    judge(EXERCISE, verdicts())


def check_first(first_to_stop: Callable[..., Any]) -> None:
    """Which guard stops a model first."""
    repeated, quota, same = stoplib.repeated_call(2), stoplib.max_tool_calls(4), stoplib.no_new_results(3)
    errors, late = stoplib.too_many_errors(3), stoplib.max_tool_calls(9)
    nothing = {"search": lambda query: SAME}
    about = {"search": lambda query: f"about {query}"}
    replace = "keep the one with the fewest tool calls so far. When does a new one replace it?"
    none = "a run that ends with 'answered' or 'max_steps' was not stopped by its guard. What do you return then?"
    alone = "each guard runs alone, beside max_steps(20)."
    alternator = "the alternating model of chapter 03"
    cases: list[tuple[str, Callable[[Any], stoplib.Reply], dict[str, Any], list[Any], str]] = [
        ("a model that asks for the same again", fakes.retries, nothing, [late, same, repeated], replace),
        ("the quota stands first and is late", fakes.alternates, about, [late, quota, repeated], replace),
        ("the fastest stands first", fakes.retries, nothing, [repeated, same, quota], replace),
        (
            "two that stop at the same call: the first in the list",
            fakes.never_answers,
            nothing,
            [quota, stoplib.no_new_results(4), late],
            "where two are equal, the first in the list wins. Which comparison keeps it?",
        ),
        ("the same two the other way round", fakes.never_answers, nothing, [stoplib.no_new_results(4), quota], replace),
        ("a model that answers after two looks", fakes.answers_after(2), nothing, [same, repeated, errors], none),
        ("a model that no guard here sees", fakes.never_answers, about, [errors, repeated], none),
        ("one guard stops it, the other does not", fakes.never_answers, nothing, [errors, quota], alone),
        ("no guards at all", fakes.retries, nothing, [], none),
        (alternator, fakes.alternates, nothing, [quota, errors, same, repeated], replace),
        *(
            (f"guards in another order: {guards}", model, nothing, guards, replace)
            for model, guards in fresh(_any_guards)
        ),
    ]

    def verdicts() -> Iterator[Verdict]:
        for name, model, tools, guards, hint in cases:
            wanted = _first(model, tools, guards)
            got, error = _bounded(first_to_stop, _counted(model), dict(tools), list(guards))
            seen = f"your function returned {shown(got)}"
            if error is not None:
                seen = f"your function raised {type(error).__name__}: {shown(str(error))}"
                hint = ONE_RUN_EACH if isinstance(error, Endless) else hint
            if isinstance(got, stoplib.Outcome | stoplib.Guard):
                hint = "return the reason, a text."
            yield Verdict(name, error is None and type(got) is type(wanted) and got == wanted, seen, hint)
            if name == alternator and got == wanted:
                names = ", ".join(map(repr, guards))
                print(f"    of {names}, the one that stops it first is {wanted}")

    judge(EXERCISE, verdicts())


def _any_guards(dice: Random) -> tuple[Callable[[Any], stoplib.Reply], list[Any]]:
    """A model, and guards of which another one is first each time."""
    guards: list[stoplib.Guard] = [stoplib.max_tool_calls(n) for n in dice.sample(range(2, 15), 3)]
    guards += [stoplib.no_new_results(dice.randint(2, 9)), stoplib.repeated_call(dice.randint(2, 9))]
    return dice.choice((fakes.retries, fakes.alternates, fakes.never_answers)), dice.sample(guards, 4)


def _judge(no_new_results: Maker, cases: Sequence[Case]) -> None:
    def verdicts() -> Iterator[Verdict]:
        for case in cases:
            guard, problem = _make(no_new_results, case.n)
            if guard is None:
                yield Verdict(case.name, False, problem, SHAPE)
                return
            yield _verdict(case.name, case, _run(guard, case), case.hint)

    judge(EXERCISE, verdicts())


def _verdict(name: str, case: Case, seen: Seen, hint: str) -> Verdict:
    wanted = _stops_after(case)
    stopped = seen.reason != "answered"
    calls = len(case.results) if wanted is None else wanted
    ok = seen.error is None and stopped == (wanted is not None) and seen.calls == calls
    if stopped and seen.calls < case.n and hint not in (RESULTS_ONLY, REMEMBERS, FIRST_ALREADY):
        hint = FEWER
    return Verdict(name, ok, str(seen), _hint(seen, hint))


def _hint(seen: Seen, otherwise: str) -> str:
    error = seen.error
    if isinstance(error, Endless):
        return ENDLESS
    if isinstance(error, IndexError):
        return EMPTY
    if isinstance(error, TypeError) and "must return a text" in str(error):
        return TEXT
    return otherwise


def _stops_after(case: Case) -> int | None:
    """After how many results a run must be stopped, or None. Counted here, without the library."""
    streak, before = 0, None
    for number, result in enumerate(map(str, case.results), 1):
        streak = streak + 1 if result == before else 1
        before = result
        if streak == case.n:
            return number
    return None


def _run(guard: Callable[[Any], Any], case: Case) -> Seen:
    """The library's run of one case with the learner's guard, whatever it does."""
    model, tools = _model(case), _tools(case)
    guards = [guard, stoplib.max_steps(MOST_CALLS)]
    outcome, error = _bounded(lambda: stoplib.run(model, case.task, tools=tools, guards=guards, clock=lambda: 0.0))
    return Seen(outcome, error)


def _interleaved(guard: Callable[[Any], Any], *cases: Case) -> list[Seen]:
    """Runs with the same guard at once, an event of each in turn."""
    seen = [Seen() for _ in cases]

    def play() -> None:
        guards = [guard, stoplib.max_steps(MOST_CALLS)]
        running = [
            (one, stoplib.steps(_model(case), case.task, tools=_tools(case), guards=guards, clock=lambda: 0.0))
            for one, case in zip(seen, cases, strict=True)
        ]
        while running:
            for one, events in list(running):
                event = next(events)
                if event.outcome is not None:
                    one.outcome = event.outcome
                    running.remove((one, events))

    _, error = _bounded(play)
    for one in seen:
        one.raised = error
    return seen


def _model(case: Case) -> Callable[[Any], stoplib.Reply]:
    def model(messages: Any) -> stoplib.Reply:
        done = fakes.said(messages)
        if done >= len(case.results):
            return answer("found")
        return call("search", query=case.asks(done))._replace(text=case.says)

    return model


def _tools(case: Case) -> dict[str, Callable[..., str]]:
    left = iter(case.results)

    def search(query: str) -> str:
        result = next(left)
        if isinstance(result, Exception):
            raise result
        return result

    return {"search": search}


def _counted(model: Callable[[Any], stoplib.Reply]) -> Callable[[Any], stoplib.Reply]:
    """The model with a limit on its calls, however many runs it is in."""
    calls = iter(range(MOST_CALLS))

    def counting(messages: Any) -> stoplib.Reply:
        if next(calls, None) is None:
            raise Endless(f"called the model more than {MOST_CALLS} times")
        return model(messages)

    return counting


def _first(model: Callable[[Any], stoplib.Reply], tools: Any, guards: Sequence[Any]) -> str | None:
    """What `first_to_stop` should return."""
    outcomes = [stoplib.run(model, "Find it.", tools=tools, guards=[g, stoplib.max_steps(20)]) for g in guards]
    stopped = [outcome for outcome in outcomes if outcome.reason not in ("answered", "max_steps")]
    return min(stopped, key=lambda outcome: outcome.tool_calls).reason if stopped else None


def _make(no_new_results: Maker, n: int) -> tuple[Callable[[Any], Any] | None, str]:
    """The learner's guard for `n`, or None and what is in its place."""
    guard, error = _bounded(no_new_results, n)
    if error is not None:
        return None, f"{NAME}({n}) raised {type(error).__name__}: {shown(str(error))}"
    return (guard, "") if callable(guard) else (None, f"{NAME}({n}) gave {_kind(guard)}")


def _bounded(function: Callable[..., Any], *args: Any) -> tuple[Any, BaseException | None]:
    """(what the learner's function returned, what it raised). NotImplementedError of a stub passes through."""
    try:
        with bounded(), redirect_stdout(Muted(sys.stdout)):
            return function(*args), None
    except NotImplementedError:
        raise
    except (Exception, Endless) as error:
        return None, error


def _kind(value: Any) -> str:
    return "None" if value is None else f"of the kind {type(value).__name__}"
