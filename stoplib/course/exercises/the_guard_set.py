"""Exercise 10: one guard set, held against sixteen scenarios: runaways that must be stopped, honest runs that must not.

Each scenario is played with three seeds, which change words, lengths and times. What happened is
read from the outcome and from the scenario's own world; nothing is taken from the learner's code.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from random import Random
from typing import Any

import stoplib
from stoplib import ManualClock, Outcome, Reply, Usage, answer, batch, call
from stoplib.course.checks import ChecksFailed, Endless, Muted, Verdict, bounded, fresh, judge
from stoplib.outcome import describe
from stoplib.tools import Toolbox

EXERCISE = "10"
SEEDS = (0, 1, 2)
CALLS_AT_MOST = 150
LINES_AT_MOST = 200_000
PRICES = {"input": 3, "output": 15}

MOST_STEPS, MOST_TOKENS, MOST_SECONDS, MOST_TOOL_CALLS, MOST_QUESTIONS = 40, 100_000, 300, 60, 4
WORDS = ("stop", "halt", "end", "finish", "terminate", "quit", "cease", "pause")

LIMITS = ("max_steps", "token_budget", "cost_budget", "time_limit", "max_tool_calls")
STUCK = ("going_in_circles", "no_new_results", "repeated_round", "repeated_call")
OWN = "a guard of your own"
LIBRARY = {name for name in dir(stoplib) if isinstance(getattr(stoplib, name), type)}

GuardSet = Callable[..., Any]


class World:
    """The tools, the clock and the people around a run, and what they have noticed."""

    def __init__(self) -> None:
        self.clock = ManualClock(7_000)
        self.stop = threading.Event()
        self.restart(0)

    def restart(self, seed: int) -> None:
        """Forget the last run. The clock goes on."""
        self.clock.advance(5_000)
        self.stop.clear()
        self.seed = seed
        self.chance = Random(seed)
        self.pace = 1.0  # seconds that a tool takes
        self.output = 60  # tokens of each reply
        self.sent: list[str] = []
        self.questions = 0
        self.says: dict[str, Callable[[str], str]] = {
            "search": lambda query: f"page about {query}",
            "read": lambda path: f"text of {path}",
            "edit": lambda change: "saved",
            "test": lambda _: "1 failed",
            "status": lambda _: "running",
            "feed": lambda _: '{"at": 0, "rows": []}',
        }

    def pick(self, *choices: Any) -> Any:
        """One of three, by the seed."""
        return choices[self.seed % len(choices)]

    def tools(self) -> dict[str, Callable[..., str]]:
        """The functions that the learner is given, by name."""

        def search(query: str) -> str:
            """Search the notes."""
            return self._do("search", query)

        def read(path: str) -> str:
            """Read a file."""
            return self._do("read", path)

        def edit(change: str) -> str:
            """Change a draft of the run's own."""
            return self._do("edit", change)

        def test() -> str:
            """Run the tests."""
            return self._do("test", "")

        def status() -> str:
            """Ask how far a job has got."""
            return self._do("status", "")

        def feed() -> str:
            """Get the newest rows, as JSON."""
            return self._do("feed", "")

        def send(text: str) -> str:
            """Send a message to a customer."""
            self.clock.advance(self.pace)
            self.sent.append(text)
            return f"sent, receipt {self.chance.randint(10_000, 99_999)}"

        return {f.__name__: f for f in (search, read, edit, test, status, feed, send)}

    def _do(self, name: str, value: str) -> str:
        self.clock.advance(self.pace)
        return self.says[name](value)


@dataclass
class Play:
    """One run of a scenario: `says(step)` is the model's reply, counted from 0, until there are `most_steps`."""

    says: Callable[[int], Reply]
    approve: Callable[[Any], bool] | None = None
    most_steps: int = MOST_STEPS


@dataclass
class Seen:
    """What came of one run."""

    world: World
    play: Play
    outcome: Outcome
    last_call: float  # seconds after the start of the last model call

    def __str__(self) -> str:
        out = self.outcome
        detail = f" ({describe(out.detail)})" if out.detail else ""
        spend = (
            f"{_plural(out.steps, 'model call')}, {_plural(out.tool_calls, 'tool call')}, {out.usage.total:,} tokens"
        )
        return f"{out.reason}{detail} after {spend}, {out.seconds:g} s"


class Problem(Exception):
    """The guard set is not right on a scenario: what was seen, and the hint that fits."""

    def __init__(self, seen: str, hint: str) -> None:
        super().__init__(seen)
        self.seen, self.hint = seen, hint


@dataclass(frozen=True)
class Scenario:
    """A kind of run. `make` sets up a world; `objection` says what is wrong with how the run ended, if anything.

    `reasons` are the right ones; an honest run has none, since it must not be stopped. `unguarded` is the hint if the
    set seems to hold no guard for this kind of run: where it is empty, `hint` says that as well.
    """

    group: str
    name: str
    make: Callable[[World], Play]
    reasons: tuple[str, ...] = ()
    objection: Callable[[Seen], str | None] = lambda seen: None
    hint: str = ""
    unguarded: str = ""


# What runs out


def looks_for_ever(world: World) -> Play:
    word = world.chance.choice(WORDS)
    return Play(lambda step: call("search", query=f"{word} {step}"))


def spends(world: World) -> Play:
    world.output = world.chance.randint(300, 600)
    size = world.chance.randint(3_000, 6_000)
    world.says["read"] = lambda path: f"{path} " * (size // len(path))
    return Play(lambda step: call("read", path=f"notes/{step}.md"))


def slow(world: World) -> Play:
    world.pace = world.chance.randint(22, 45)
    return Play(lambda step: call("read", path=f"notes/{step}.md"))


def batches(world: World) -> Play:
    size = world.pick(7, 8, 9)
    return Play(lambda step: batch(*(call("search", query=f"part {step}.{n}") for n in range(size))))


# Stuck


def cycle(world: World) -> Play:
    length = world.pick(1, world.chance.randint(2, 4), 7)
    queries = world.chance.sample(WORDS, length)
    return Play(lambda step: call("search", query=queries[step % length]), most_steps=3 * length)


def rewords(world: World) -> Play:
    words = world.chance.sample(WORDS, len(WORDS))
    world.says["search"] = lambda query: "no match"
    return Play(lambda step: call("search", query=f"{words[step % 8]} {words[step // 8 % 8]} {step}"), most_steps=8)


def polls_for_ever(world: World) -> Play:
    return Play(lambda step: call("status"), most_steps=30)


def stale_feed(world: World) -> Play:
    at = iter(range(world.chance.randint(0, 999), 10**9))
    world.says["feed"] = lambda _: f'{{"at": {next(at)}, "rows": []}}'
    return Play(lambda step: call("feed"), most_steps=8)


# Trouble, and people


def broken(world: World) -> Play:
    works = world.pick(0, 1, 2)

    def search(query: str) -> str:
        if int(query) < works:
            return f"page {query}"
        raise OSError("the index is down")

    world.says["search"] = search
    return Play(lambda step: call("search", query=str(step)), most_steps=works + 5)


def declines(world: World) -> Play:
    def approve(asked: Any) -> bool:
        world.questions += 1
        return False

    word = world.chance.choice(WORDS)
    return Play(lambda step: call("edit", change=f"{word} {step}"), approve)


def says_stop(world: World) -> Play:
    last = world.chance.randint(2, 6)
    reads = iter(range(1, 10**9))

    def read(path: str) -> str:
        if next(reads) == last:
            world.stop.set()
        return f"text of {path}"

    world.says["read"] = read
    return Play(lambda step: call("read", path=f"notes/{step}.md"), most_steps=last)


def sends_again(world: World) -> Play:
    length = world.pick(1, 2, 4)
    text = f"Your parcel {world.chance.randint(100, 999)} is on its way."

    def says(step: int) -> Reply:
        return call("search", query=f"news {step}") if step % length else call("send", text=text)

    return Play(says)


# Honest


def long_work(world: World) -> Play:
    """As far as an honest run may go: 29 calls, 49,996 tokens and 200 seconds, or with another seed 40 tool calls."""
    rounds = world.pick(28, 8, world.chance.randint(9, 15))
    world.pace, world.output = (7, 76) if rounds == 28 else (world.chance.randint(1, 4), 60)

    def read(path: str) -> str:
        if rounds == 28 and path == "notes/0.md":
            world.clock.advance(4)
        return f"the text of {path}"

    world.says["read"] = read

    def says(step: int) -> Reply:
        if step == rounds:
            return answer("I have read it all.")
        if rounds == 8:
            return batch(*(call("read", path=f"notes/{step}/{n}.md") for n in range(5)))
        return call("read", path=f"notes/{step}.md")

    return Play(says)


def hard_bug(world: World) -> Play:
    tries = world.chance.randint(6, 9)

    def search(query: str) -> str:
        if query in "3467":  # two errors, a success, two errors
            raise TimeoutError("the search took too long")
        return f"page {query}"

    world.says["search"] = search

    def says(step: int) -> Reply:
        if step < 8:
            return call("search", query=str(step + 1))
        if step < 8 + 2 * tries:
            return call("test") if step % 2 else call("edit", change=f"attempt {step}")
        return answer("It is mended.")

    return Play(says)


def slow_world(world: World) -> Play:
    waits = world.pick(15, 12, 13)
    percents = world.pick(False, True, False)
    told = iter(range(10**9))

    def status(_: str) -> str:
        n = next(told)
        return "done" if n >= waits else f"{n * 5} %" if percents else "running"

    def approve(asked: Any) -> bool:
        if asked.name == "edit":
            world.clock.advance(1_200)  # the person was at lunch
        return True

    world.says["status"] = status

    def says(step: int) -> Reply:
        if step == 0:
            return call("edit", change="start the job")
        return call("status") if step <= waits + 1 else answer("The job is done.")

    return Play(says, approve)


def small_mistakes(world: World) -> Play:
    misses = world.chance.sample(WORDS, 3)
    world.says["search"] = lambda query: "no match" if query in misses else f"page about {query}"
    looks = [call("search", query=word) for word in (*misses, "the guide")]
    plan = call("read", path="notes/plan.md")
    one, two, three = (call("send", text=f"Message {n}, {world.chance.randint(100, 999)}") for n in range(3))
    refused = [call("edit", change=f"delete draft {n}") for n in range(2)]
    replies = [*looks, plan, plan, one, plan, *refused, two, plan, three, answer("All three are told.")]
    return Play(lambda step: replies[step], approve=lambda asked: asked.name != "edit")


# What must be so


def in_time(seen: Seen) -> str | None:
    most = seen.play.most_steps
    return f"at most {_plural(most, 'model call')} may be made here" if seen.outcome.steps > most else None


def in_budget(seen: Seen) -> str | None:
    over = seen.outcome.usage.total - MOST_TOKENS
    return f"that is {over:,} tokens more than {MOST_TOKENS:,}" if over > 0 else None


def no_late_call(seen: Seen) -> str | None:
    if seen.last_call < MOST_SECONDS:
        return None
    return f"a model call began after {seen.last_call:g} s, and from {MOST_SECONDS} s on none may"


def few_tool_calls(seen: Seen) -> str | None:
    return f"at most {MOST_TOOL_CALLS} tool calls may run" if seen.outcome.tool_calls > MOST_TOOL_CALLS else None


def few_questions(seen: Seen) -> str | None:
    asked = seen.world.questions
    return f"the person was asked {asked} times; {MOST_QUESTIONS} are enough" if asked > MOST_QUESTIONS else None


def nothing_twice(seen: Seen) -> str | None:
    sent = len(seen.world.sent)
    return None if sent == 1 else f"the message went out {sent} times; it may go out once"


SCENARIOS = (
    Scenario(
        "limits",
        "it looks for ever, and finds something new each time",
        looks_for_ever,
        ("max_steps",),
        in_time,
        "nothing repeats here, and nothing is dear or slow. Which limit sees it all the same, and how far may it go?",
    ),
    Scenario(
        "limits",
        "each call sends everything again, and the results are long",
        spends,
        ("token_budget", "cost_budget"),
        in_budget,
        "a soft budget is passed by one call, and here one call is large. Which kind looks ahead?",
        "what is dear here is the long transcript, which each call sends again. Which guard counts its tokens?",
    ),
    Scenario(
        "limits",
        "every tool call takes long",
        slow,
        ("time_limit",),
        no_late_call,
        "how many seconds of work are allowed, and which guard counts them?",
    ),
    Scenario(
        "limits",
        "it asks for many things in each reply",
        batches,
        ("max_tool_calls",),
        few_tool_calls,
        "a step limit counts replies. What counts the tool calls in them?",
    ),
    Scenario(
        "stuck",
        "it asks for the same few things over and over",
        cycle,
        (*STUCK, OWN),
        in_time,
        "the cycles are 1 to 7 rounds long, and three passes are the limit. Which guard takes both numbers?",
    ),
    Scenario(
        "stuck",
        "new words each time, and never a match",
        rewords,
        (*STUCK, OWN),
        in_time,
        "no request comes back here. What does?",
    ),
    Scenario(
        "stuck",
        "it asks for the status of a job that never gets on",
        polls_for_ever,
        (*STUCK, OWN),
        in_time,
        "a tool that is asked again on purpose has a patience of its own. How long must it be, and how long may it be?",
    ),
    Scenario(
        "stuck",
        "the feed brings nothing but a new time",
        stale_feed,
        (*STUCK, OWN),
        in_time,
        "one field of the result changes although nothing has changed. Who can tell the guards?",
    ),
    Scenario(
        "trouble",
        "the search is broken",
        broken,
        ("too_many_errors",),
        in_time,
        "equal errors are equal results as well. Which guard reaches its number first? And if two fire after the same"
        " round, which one should be read?",
        "every request fails, and the model goes on. Which guard counts failures in a row?",
    ),
    Scenario(
        "trouble",
        "a person declines everything",
        declines,
        ("too_many_refusals",),
        few_questions,
        "all refusals have the same text, so they are equal results as well. Which guard reaches its number first, and"
        " which should the caller read?",
        "the person says no each time. Which guard counts that?",
    ),
    Scenario(
        "trouble",
        "a person says stop",
        says_stop,
        ("cancelled",),
        in_time,
        "stop is set in the middle of the run. Which guard looks at it?",
    ),
    Scenario(
        "trouble",
        "it sends the same message again",
        sends_again,
        (*STUCK, "max_tool_calls", OWN),
        nothing_twice,
        "a guard on repeats looks at every tool, and only send must not repeat. Which sign joins a guard with a"
        " function of yours that looks at run.batch?",
    ),
    Scenario("honest", "long work: 28 files, or batches of five", long_work),
    Scenario("honest", "a hard bug: new edits, the same failing test, a search that fails twice", hard_bug),
    Scenario("honest", "a slow world: a job that takes its time, a person who was at lunch", slow_world),
    Scenario("honest", "small mistakes: no match, the same file again, two refusals, three messages", small_mistakes),
)

ONE_FILE_TWICE = "whoever reads a file twice in a row is not stuck yet. How many passes make a circle?"

# What to ask about the guard that stopped an honest run.
TOO_EARLY = {
    "repeated_call": "the same call may come back if something has happened in between. Which tool is it that must not"
    " repeat, and which sign joins this guard with a function of yours that looks at run.batch?",
    "repeated_round": ONE_FILE_TWICE,
    "going_in_circles": f"{ONE_FILE_TWICE} And which tool is asked again on purpose?",
    "no_new_results": "three times no match is bad luck, and a job may say the same 15 times. Which number leaves room"
    " for the first, and which declaration for the second?",
    "max_steps": "honest runs make up to 29 model calls.",
    "max_tool_calls": "honest runs make up to 40 tool calls and answer then, and send up to three different messages.",
    "token_budget": "honest runs use up to 50,000 tokens, and a hard budget wants room for what it expects to come.",
    "too_many_errors": "two errors in a row happen to honest runs.",
    "too_many_refusals": "a person may say no twice, and then yes.",
    "fatal": "a guard, or a tool, raised an error or returned what it must not. The message says which.",
}

LUNCH = "a person who thinks is not a run that works. Which option of the limit knows the difference?"
LONG_WORK = "honest runs work for up to 200 seconds, and answer then."
NEW_EACH_TIME = (
    "nothing repeats in this run: each request and each result is new. What did your guard take for a repeat?"
)
TOO_LATE = (
    "your rule saw it, but the message had gone by then. At which gate does a plain function look? A class that is"
    " derived from Guard can look before the action; chapter 11 has one."
)
LATE = "the right guard stopped it, but late. Compare the numbers in your guards and declarations with the table."
TWO_THINGS = "return two things: the tools, all seven of them under their names, and the list of guards."
NOT_TWICE = "the same guards were used once before, on the same run, and let it go to its end. What do they remember?"


def check_limits(guard_set: GuardSet) -> None:
    """Runs that something has to run out for."""
    _check(guard_set, "limits")


def check_stuck(guard_set: GuardSet) -> None:
    """Runs that get nowhere."""
    _check(guard_set, "stuck")


def check_trouble(guard_set: GuardSet) -> None:
    """Broken tools, and people."""
    _check(guard_set, "trouble")


def check_honest(guard_set: GuardSet) -> None:
    """Runs that get on and must not be stopped, nor when the same guards are used again."""
    _check(guard_set, "honest")


def score(guard_set: GuardSet) -> None:
    """Print on how many of all scenarios the set is right, and what happened on the others. Raises nothing."""
    try:
        with redirect_stdout(Muted(sys.stdout)):
            wrong = [verdict for scenario in SCENARIOS if not (verdict := _verdict(guard_set, scenario)).ok]
    except NotImplementedError:
        print(f"Exercise {EXERCISE} is not solved yet.")
        return
    these = ": these are not, and this is what happened" if wrong else ""
    print(f"right on {len(SCENARIOS) - len(wrong)} of {len(SCENARIOS)}{these}")
    before = ""
    for verdict in wrong:
        print(f"- {verdict.case}", "    (the same)" if verdict.seen == before else f"    {verdict.seen}", sep="\n")
        before = verdict.seen


def _check(guard_set: GuardSet, group: str) -> None:
    scenarios = [scenario for scenario in SCENARIOS if scenario.group == group]
    wrong: list[str] = []

    def verdicts() -> Iterator[Verdict]:
        for scenario in scenarios:
            with redirect_stdout(Muted(sys.stdout)):
                verdict = _verdict(guard_set, scenario)
            if not verdict.ok:
                wrong.append(scenario.name)
            yield verdict

    try:
        judge(EXERCISE, verdicts())
    except ChecksFailed:
        right = f"right on {len(scenarios) - len(wrong)} of {len(scenarios)}"
        raise ChecksFailed(f"Exercise {EXERCISE}: {right}. Not yet: {'; '.join(wrong)}.") from None


def _verdict(guard_set: GuardSet, scenario: Scenario) -> Verdict:
    """What the first seed shows on which the set is not right."""
    try:
        for seed in (*SEEDS, *fresh(lambda dice: dice.randint(3, 10**6), 1)):
            _try(guard_set, scenario, seed)
    except Problem as problem:
        return Verdict(scenario.name, False, problem.seen, problem.hint)
    return Verdict(scenario.name, True)


def _try(guard_set: GuardSet, scenario: Scenario, seed: int) -> None:
    """Play a scenario with one seed, an honest one twice with the same guards. Raises Problem."""
    world = World()
    tools, guards = _made(guard_set, world)
    times = 1 if scenario.reasons else 2
    for time in range(times):
        world.restart(seed)
        seen = _run(world, scenario, tools, guards)
        try:
            _judge(scenario, seen)
        except Problem as problem:
            if time == 0:
                raise
            raise Problem(f"used a second time, the same guards gave {problem.seen}", NOT_TWICE) from None


def _made(guard_set: GuardSet, world: World) -> tuple[Any, list[Any]]:
    """The learner's tools and guards."""
    given = world.tools()
    try:
        with bounded(LINES_AT_MOST):
            made = guard_set(dict(given), world.stop)
    except NotImplementedError:
        raise
    except (Exception, SystemExit, Endless) as error:
        raise Problem(f"guard_set raised {_said(error)}", "run your cell by hand: guard_set({…}, stop).") from None
    if not isinstance(made, (tuple, list)) or len(made) != 2:
        raise Problem(f"guard_set returned {type(made).__name__}, not two things", TWO_THINGS)
    tools, guards = made
    try:
        names = {schema["name"] for schema in Toolbox(tools).schemas()}
    except Exception as error:
        raise Problem(f"the tools cannot be used: {_said(error)}", TWO_THINGS) from None
    if names != set(given):
        different = sorted(set(given) ^ names)
        raise Problem(f"the tools are not the seven that were given; they differ in {', '.join(different)}", TWO_THINGS)
    return tools, guards


def _run(world: World, scenario: Scenario, tools: Any, guards: Any) -> Seen:
    """One run, whatever the learner's guards do. Raises Problem."""
    play = scenario.make(world)
    started = world.clock()
    last_call, used = 0.0, 0

    def model(messages: list[dict[str, Any]]) -> Reply:
        nonlocal last_call, used
        step = sum(m["role"] == "assistant" for m in messages)
        if step >= CALLS_AT_MOST:
            raise Endless(f"did not stop within {CALLS_AT_MOST} model calls")
        last_call = world.clock() - started
        sent = used + _tokens_of_new(messages) if step else 500
        used = sent + world.output
        return play.says(step)._replace(usage=Usage(sent, world.output))

    try:
        with bounded(LINES_AT_MOST):
            options: dict[str, Any] = {"tools": tools, "guards": guards, "approve": play.approve}
            outcome = stoplib.run(model, "go", clock=world.clock, prices=PRICES, **options)
    except Endless as error:
        raise Problem(f"the run {error}", scenario.hint or "does one of your guards not come back?") from None
    except (Exception, SystemExit) as error:
        raise Problem(f"the run did not start: {_said(error)}", "what does the message say about your list?") from None
    return Seen(world, play, outcome, last_call)


def _tokens_of_new(messages: list[dict[str, Any]]) -> int:
    """Tokens of the results that have come since the last reply: four characters each."""
    characters = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            break
        characters += len(message["content"])
    return -(-characters // 4)


def _judge(scenario: Scenario, seen: Seen) -> None:
    """Raises Problem if this is not how the run should have ended."""
    outcome, names = seen.outcome, re.findall(r"\w+", seen.outcome.reason)
    if outcome.error is not None:
        raise Problem(str(seen), TOO_EARLY["fatal"])
    if not scenario.reasons:
        if not outcome.complete:
            raise Problem(str(seen), _why_too_early(outcome, names))
        return
    own = not LIBRARY & set(names)
    right = bool(set(names) & set(scenario.reasons)) or (own and OWN in scenario.reasons)
    if objection := scenario.objection(seen):
        raise Problem(f"{seen}; {objection}", _why_wrong(scenario, seen, names, right))
    if not right:
        wanted = " or ".join(reason for reason in scenario.reasons)
        said = f"{seen}; stopped soon enough, but the reason should be {wanted}"
        raise Problem(said, _why_wrong(scenario, seen, names, right))


def _why_wrong(scenario: Scenario, seen: Seen, names: list[str], right: bool) -> str:
    """What to ask about a runaway that the right guard stopped too late, or another one, or none but a limit."""
    own = not LIBRARY & set(names)
    stuck = own or bool(set(names) & set(STUCK))
    if scenario.objection is nothing_twice:
        return TOO_LATE if own else scenario.hint
    if right:
        soft = scenario.objection is in_budget and "the next call would" not in seen.outcome.detail
        return scenario.hint if soft else LATE
    if scenario.group == "limits" and stuck:
        return NEW_EACH_TIME
    return scenario.hint if stuck else scenario.unguarded or scenario.hint


def _why_too_early(outcome: Outcome, names: list[str]) -> str:
    """What to ask about the guard that stopped an honest run."""
    if "time_limit" in names:
        return LUNCH if outcome.waited and f"{outcome.seconds:g} of" in outcome.detail else LONG_WORK
    generic = "which of your guards takes this run for a runaway, and why?"
    return next((TOO_EARLY[name] for name in names if name in TOO_EARLY), generic)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {describe(error)}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
