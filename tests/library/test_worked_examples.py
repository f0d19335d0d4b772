"""The four loops of the worked examples: the library gives the same reason, the same calls and the same figures.

For loop A and loop C there is a plain hand-written loop as an oracle. It is written from the published lesson's
description and shares no code with the library. The names differ: loop A's `final` is our `answered`, and its
`budget` our `time_limit`; loop C's `end_turn` is our `answered`, its `repeated_state` our `repeated_round`, its
`done` our `goal_reached`; loop D's `repeating` is our `repeated_call`.
"""

# ruff: noqa: SIM300

import asyncio
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoplib import (
    ManualClock,
    Reply,
    TickClock,
    ToolCall,
    Usage,
    answer,
    arun,
    batch,
    call,
    cost_budget,
    goal_reached,
    going_in_circles,
    max_steps,
    max_tool_calls,
    no_new_results,
    print_trace,
    repeated_call,
    repeated_round,
    rough_token_budget,
    run,
    script,
    time_limit,
    token_budget,
    too_many_errors,
    tool,
)
from stoplib.fakes import alternates, retries

from .helpers import always, contents, counting, looking

OUR_NAME = {"final": "answered", "budget": "time_limit", "max_steps": "max_steps"}


def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    """Three exits and an injected clock, by hand. Also gives the transcript, for comparison."""
    start = clock()
    messages = [{"role": "user", "content": user_msg}]
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget", messages
        reply = model(messages)
        messages.append(reply)
        if reply["type"] == "final":
            return reply["content"], "final", messages
        name, args = reply["name"], reply.get("args", {})
        if name not in tools:
            content = f"error: unknown tool {name}"
        else:
            try:
                content = str(tools[name](**args))
            except Exception as error:
                content = f"error: {error}"
        messages.append({"role": "tool", "name": name, "content": content})
    return None, "max_steps", messages


def both(says, tools, clock, max_steps_=10, time_budget=None):
    """The same run by hand and by the library, each as (answer, reason, model calls, tool names asked for).

    `says(n)` is the model's n-th reply in the oracle's form; `clock()` makes a fresh clock.
    """
    theirs = counting(lambda messages: says(sum("type" in m for m in messages)))
    text, reason, messages = run_with_limits(theirs, tools, "go", clock(), max_steps_, time_budget)
    asked = [m["name"] for m in messages if m.get("role") == "tool"]

    def translated(messages):
        said = says(sum(m["role"] == "assistant" for m in messages))
        if said["type"] == "final":
            return answer(said["content"])
        return Reply(calls=(ToolCall(said["name"], said.get("args", {})),))

    ours = counting(translated)
    guards = [max_steps(max_steps_)] if time_budget is None else [max_steps(max_steps_), time_limit(time_budget)]
    outcome = run(ours, "go", tools=tools, guards=guards, clock=clock())
    return (
        (text, OUR_NAME[reason], theirs.calls, asked),
        (outcome.answer, outcome.reason, ours.calls, [m["name"] for m in outcome.messages if m["role"] == "tool"]),
    )


def never(n):
    """A model that never finishes."""
    return {"type": "tool", "name": "look"}


def at_once(n):
    """A model that answers at once."""
    return {"type": "final", "content": "done"}


LOOK = {"look": lambda: "nothing"}


class TestTable:
    """The four rows of the lesson's table."""

    @pytest.mark.parametrize(
        ("says", "steps", "budget", "expected"),
        [
            (never, 10, 3, (None, "time_limit", 2)),
            (at_once, 10, 3, ("done", "answered", 1)),
            (never, 10, None, (None, "max_steps", 10)),
            (never, 10, 0, (None, "time_limit", 0)),
            (never, 0, None, (None, "max_steps", 0)),
        ],
        ids=["the clock runs out", "an answer", "the step cap", "no time at all", "no steps at all"],
    )
    def test_row(self, says, steps, budget, expected):
        """Answer, reason and number of model calls are as published, by hand and by the library."""
        oracle, library = both(says, LOOK, TickClock, steps, budget)
        assert expected == oracle[:3]
        assert oracle == library


class TestRules:
    """The lesson's rules in words."""

    def test_an_unknown_tool_goes_on(self):
        """An unknown name becomes an error result, and the run goes on."""
        says = [{"type": "tool", "name": "nope", "args": {"x": 1}}, *[at_once(0)]]
        oracle, library = both(says.__getitem__, LOOK, TickClock)
        assert ("done", "answered", 2, ["nope"]) == oracle == library

    def test_a_tool_that_raises_goes_on(self):
        """A tool that raises becomes an error result, and the run goes on."""
        says = [{"type": "tool", "name": "bad"}, at_once(0)]
        oracle, library = both(says.__getitem__, {"bad": lambda: 1 / 0}, TickClock)
        assert ("done", "answered", 2, ["bad"]) == oracle == library

    def test_an_answer_on_the_last_step(self):
        """The answer comes before the step cap."""
        says = [never(0), never(1), at_once(2)]
        oracle, library = both(says.__getitem__, LOOK, TickClock, 3)
        assert ("done", "answered", 3, ["look", "look"]) == oracle == library

    @pytest.mark.parametrize(("budget", "expected"), [(1, "time_limit"), (2, "answered")])
    def test_the_time_comes_before_the_answer(self, budget, expected):
        """A budget that is used up before the call forestalls the answer."""
        oracle, library = both(at_once, LOOK, TickClock, 10, budget)
        assert expected == oracle[1] == library[1]

    def test_the_time_can_be_listed_first(self):
        """Where both limits are reached at once, the guard given first names the reason; both are recorded."""
        guards = [time_limit(3), max_steps(2)]
        outcome = run(lambda messages: call("look"), "go", tools=LOOK, guards=guards, clock=TickClock())
        assert ("time_limit", ("time_limit", "max_steps"), 2) == (outcome.reason, outcome.fired, outcome.steps)


ITEMS = st.sampled_from(
    [
        {"type": "tool", "name": "look"},
        {"type": "tool", "name": "look", "args": {"where": "here"}},
        {"type": "tool", "name": "bad", "args": {}},
        {"type": "tool", "name": "nope"},
        {"type": "final", "content": "done"},
    ]
)


@given(st.lists(ITEMS, max_size=6), st.integers(0, 8), st.none() | st.integers(0, 8), st.sampled_from([0, 1, 2, 0.5]))
def test_any_script(script, steps, budget, tick):
    """For any script, step cap, time budget and ticking clock, both give the same."""
    oracle, library = both(
        lambda n: script[n] if n < len(script) else never(n),
        {"look": lambda where="": "nothing", "bad": lambda: 1 / 0},
        lambda: TickClock(tick),
        steps,
        budget,
    )
    assert oracle == library


@pytest.mark.parametrize("start", [0.1, 1 / 3])
def test_clocks_with_fractions(start):
    """With rounds of a fraction of a second, from wherever the clock stands, both make the same number of calls."""
    differ = []
    for step in (0.1, 0.3, 1 / 3, 1.1):
        for rounds in range(1, 30):

            def play(library, step=step, limit=rounds * step):
                clock = ManualClock(start)
                tools = {"look": lambda: clock.advance(step)}
                if library:
                    guards = [max_steps(99), time_limit(limit)]
                    return run(lambda messages: call("look"), "go", tools=tools, guards=guards, clock=clock).steps
                messages = run_with_limits(lambda messages: never(0), tools, "go", clock, 99, limit)[2]
                return sum("type" in m for m in messages)

            if play(library=True) != play(library=False):
                differ.append((step, rounds))
    assert [] == differ


NO_MATCH = {"search": lambda query: "no match"}


class TestLoopB:
    """Loop B: guards as functions, looked at before each call."""

    @pytest.mark.parametrize(
        ("model", "guards", "reason", "ran"),
        [
            (retries, [max_steps(4)], "max_steps", 4),
            (retries, [max_steps(20), repeated_call(2), max_tool_calls(10), too_many_errors(3)], "repeated_call", 2),
            (alternates, [max_steps(20), repeated_call(2), max_tool_calls(10), too_many_errors(3)], "repeated_call", 3),
            (alternates, [max_steps(20), no_new_results(3)], "no_new_results", 3),
        ],
    )
    def test_row(self, model, guards, reason, ran):
        """Reason and number of tool calls are as published, with the guards looked at where it looks at them."""
        moved = [g.replaced(gate="before_call") for g in guards]
        outcome = run(model, "go", tools=NO_MATCH, guards=moved)
        assert (reason, ran) == (outcome.reason, outcome.tool_calls)

    @pytest.mark.parametrize(("model", "asked"), [(retries, 2), (alternates, 3)])
    def test_our_own_gate_is_earlier(self, model, asked):
        """Looked at where it looks by itself, `repeated_call` stops at the same ask, before it runs once more."""
        outcome = run(model, "go", tools=NO_MATCH, guards=[max_steps(20), repeated_call(2)])
        assert ("repeated_call", asked, asked - 1) == (outcome.reason, outcome.steps, outcome.tool_calls)

    @pytest.mark.parametrize(("seconds", "reason"), [(2, "deadline"), (3, "max_steps")])
    def test_more_than_the_seconds(self, seconds, reason):
        """Its deadline fires when *more* than the seconds have passed, as a function of one's own can say."""

        def deadline(run):
            return f"{run.seconds:g} s" if run.seconds > seconds else None

        outcome = run(retries, "go", tools=NO_MATCH, guards=[deadline, max_steps(2)], clock=TickClock())
        assert (reason, 2) == (outcome.reason, outcome.steps)

    def test_a_deadline_starts_with_the_run(self):
        """The trap: a deadline must not start when the guard is created."""
        clock = ManualClock()
        guards = [time_limit(10), max_steps(3)]
        clock.advance(3600)
        assert "max_steps" == run(retries, "go", tools=NO_MATCH, guards=guards, clock=clock).reason

    def test_characters(self):
        """Its token budget is the transcript's characters / 4, and fires when that exceeds the limit."""
        steps = [run(retries, "x" * n, tools=NO_MATCH, guards=[rough_token_budget(10)]).steps for n in (40, 41)]
        assert [1, 0] == steps

    def test_the_key_order_is_ignored(self):
        """The same arguments in another order are the same call."""
        asked = [{"query": "stop", "limit": 3}, {"limit": 3, "query": "stop"}]
        model = script(*[Reply(calls=(ToolCall("search", args),)) for args in asked])
        outcome = run(model, "go", tools={"search": lambda **args: "no match"}, guards=[max_steps(9), repeated_call(2)])
        assert ("repeated_call", 2) == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize("args", ['{"query": "st', "stop", None])
    def test_arguments_that_are_not_valid_json(self, args):
        """The trap: no guard crashes on arguments that are not valid JSON."""
        model = always(Reply(calls=(ToolCall("search", args),)))
        guards = [max_steps(20), repeated_call(2), max_tool_calls(10), too_many_errors(3)]
        assert "repeated_call" == run(model, "go", tools=NO_MATCH, guards=guards).reason

    def test_the_word_error_in_a_good_result(self):
        """The trap: an error is flagged, not found by searching for a word."""
        model = script(*[call("search", query=str(n)) for n in range(4)], answer("x"))
        tools = {"search": lambda query: f"{query}: how to read an error message"}
        assert "answered" == run(model, "go", tools=tools, guards=[max_steps(9), too_many_errors(2)]).reason

    def test_the_trace(self, capsys):
        """The trace prints each step's call and its result, then the reason."""
        run(retries, "go", tools=NO_MATCH, guards=[max_steps(2)], on_event=print_trace)
        assert [
            "step 1  call    search(query='stop')",
            "step 1  ok      no match",
            "step 2  call    search(query='stop')",
            "step 2  ok      no match",
            "stopped: max_steps (2 of 2 steps used)",
        ] == capsys.readouterr().out.splitlines()

    def test_ending_gracefully(self):
        """One more call with no tools and an instruction; a structured failure; never presented as complete."""
        seen = []

        def model(messages, tools):
            seen.append((len(tools), messages[-1]["content"]))
            return answer("found nothing") if not tools else call("search", query="stop")

        outcome = run(model, "go", tools=NO_MATCH, guards=[max_steps(3)], summarize=True)
        asked = seen[-1][1]
        assert [True] * 3 == [word in asked for word in ("what you have found", "could not determine", "to try next")]
        report = outcome.report()
        assert ("incomplete", "max_steps", "found nothing", None) == (
            report["status"],
            report["reason"],
            report["summary"],
            report["answer"],
        )
        assert ["no match"] * 2 == [found["result"] for found in report["evidence"]]


def loop_c(question, model, tools, max_steps=4, max_errors=2, budget=5000, everywhere=False):
    """Checks after each round, by hand: (reason, rounds, spend after each round)."""
    messages = [{"role": "user", "content": question}]
    rounds, errors, spent = [], 0, []
    while len(rounds) < max_steps:
        reply = model(len(rounds))
        if "answer" in reply:
            return "end_turn", len(rounds), spent
        result = tools[reply["tool"]](**reply["args"])
        messages.append({"role": "assistant", "content": reply})
        messages.append({"role": "tool", "content": result, "is_error": not result["ok"]})
        spent.append((spent[-1] if spent else 0) + len(str(messages)))
        errors = 0 if result["ok"] else errors + 1
        earlier = rounds if everywhere else rounds[-1:]
        repeated = (reply, result) in earlier
        rounds.append((reply, result))
        if errors >= max_errors:
            return "too_many_errors", len(rounds), spent
        if repeated:
            return "repeated_state", len(rounds), spent
        if spent[-1] > budget:
            return "budget_spent", len(rounds), spent
    return "max_steps", len(rounds), spent


def as_loop_c(run):
    """The transcript of a run as loop C would have written it, round by round."""
    rounds = []
    for step in run.trace:
        for one in step.results:
            asked = {"tool": one.call.name, "args": dict(one.call.args)}
            found = json.loads(one.text) if one.status == "ok" else {"ok": False}
            said = {"role": "assistant", "content": asked}
            rounds.append([said, {"role": "tool", "content": found, "is_error": one.status != "ok"}])
    return rounds


def spent_by(run):
    """What loop C has spent after each round: every call sends the whole transcript again, as text."""
    messages, spent = [{"role": "user", "content": run.task}], []
    for both in as_loop_c(run):
        messages += both
        spent.append((spent[-1] if spent else 0) + len(str(messages)))
    return spent


def spending_at_most(budget):
    """Loop C's budget as a plain function of the run."""

    def budget_spent(run):
        spent = spent_by(run)
        return f"{spent[-1]} of {budget} characters" if spent and spent[-1] > budget else None

    return budget_spent


NOTES = "Summarize the notes."
FIX = "Make the failing test pass."


def next_note(n):
    """Reads one note after the other."""
    return {"tool": "read_file", "args": {"path": f"notes/{n + 1}.md"}}


def same_fix(n):
    """Makes the same change again and again."""
    return {"tool": "apply_fix", "args": {"change": "round the total"}}


def two_fixes(n):
    """Two changes in turn."""
    return {"tool": "apply_fix", "args": {"change": ("round the total", "truncate the total")[n % 2]}}


C_TOOLS = {
    "read_file": lambda path: {"ok": True, "text": f"contents of {path}"},
    "apply_fix": lambda change: {"ok": True, "tests": "1 failed: test_total"},
}
C_NAMES = {"end_turn": "answered", "repeated_state": "repeated_round"}


def says_as_loop_c(says):
    """Loop C's model for the library."""

    def model(messages):
        reply = says(sum(m["role"] == "assistant" for m in messages))
        return answer(reply["answer"]) if "answer" in reply else call(reply["tool"], **reply["args"])

    return model


def c_guards(max_steps_=4, max_errors=2, budget=5000, everywhere=False):
    """Loop C's rules, in its order."""
    return [too_many_errors(max_errors), repeated_round(everywhere), spending_at_most(budget), max_steps(max_steps_)]


class TestLoopC:
    """Loop C: checks after each round."""

    @pytest.mark.parametrize(
        ("question", "says", "rules", "reason", "rounds", "spent"),
        [
            (NOTES, next_note, [], "max_steps", 4, [238, 661, 1269, 2062]),
            (FIX, same_fix, [], "repeated_state", 2, None),
            (FIX, two_fixes, [], "max_steps", 4, [251, 696, 1332, 2162]),
            (FIX, two_fixes, [40], "budget_spent", 7, [251, 696, 1332, 2162, 3183, 4398, 5804]),
            (FIX, two_fixes, [4, 2, 5000, True], "repeated_state", 3, [251, 696, 1332]),
            (NOTES, lambda n: {"answer": "done"} if n == 2 else next_note(n), [], "end_turn", 2, [238, 661]),
        ],
    )
    def test_row(self, question, says, rules, reason, rounds, spent):
        """Reason, rounds and characters are as published, by hand and by the library."""
        by_hand = loop_c(question, says, C_TOOLS, *rules)
        outcome = run(says_as_loop_c(says), question, tools=C_TOOLS, guards=c_guards(*rules))
        assert (reason, rounds) == by_hand[:2]
        assert spent in (None, by_hand[2])
        ours = outcome.reason, outcome.tool_calls, spent_by(outcome)
        assert (C_NAMES.get(reason, reason), rounds, by_hand[2]) == ours

    def test_an_interrupt_after_round_2(self):
        """A person interrupts after the second round: `interrupted`, with the transcript of both."""
        rounds = []

        def progress(event):
            if event.kind == "result":
                rounds.append((event.step, event.result.call.args["path"]))
                if len(rounds) == 2:
                    raise KeyboardInterrupt

        outcome = run(says_as_loop_c(next_note), NOTES, tools=C_TOOLS, guards=c_guards(), on_event=progress)
        assert ("interrupted", 2, 2) == (outcome.reason, outcome.steps, outcome.tool_calls)
        assert ["user", "assistant", "tool", "assistant", "tool"] == [m["role"] for m in outcome.messages]
        assert [(1, "notes/1.md"), (2, "notes/2.md")] == rounds

    @pytest.mark.parametrize(("place", "steps"), [("model", 1), ("tool", 2)])
    def test_an_interrupt_anywhere(self, place, steps):
        """Ctrl-C in the model or in a tool gives the same reason, and the caller still gets the transcript."""

        def visit(here, n):
            if (here, n) == (place, 1):
                raise KeyboardInterrupt

        def model(messages):
            n = sum(m["role"] == "assistant" for m in messages)
            visit("model", n)
            return call("read_file", path=str(n))

        outcome = run(model, NOTES, tools={"read_file": lambda path: visit("tool", int(path))}, guards=c_guards())
        assert ("interrupted", steps, NOTES) == (outcome.reason, outcome.steps, outcome.messages[0]["content"])

    def test_done(self):
        """A model whose second fix makes the tests pass, with a passing check: `done` after two rounds."""
        fixed = []

        def apply_fix(change):
            fixed.append(change)
            return {"ok": True, "tests": "passed" if len(fixed) == 2 else "1 failed: test_total"}

        guards = [goal_reached(lambda: len(fixed) >= 2), *c_guards()]
        outcome = run(says_as_loop_c(two_fixes), FIX, tools={"apply_fix": apply_fix}, guards=guards)
        assert ("goal_reached", True, 2) == (outcome.reason, outcome.complete, outcome.tool_calls)

    def test_what_gets_past_the_wider_check(self):
        """A model that changes something each time gets past every repeat check, and the budget catches it."""

        def says(n):
            return {"tool": "apply_fix", "args": {"change": f"attempt {n}"}}

        outcome = run(says_as_loop_c(says), FIX, tools=C_TOOLS, guards=c_guards(40, everywhere=True))
        assert "budget_spent" == outcome.reason

    def test_a_failed_test_is_no_error(self):
        """A failed test is a result; a tool that cannot do its job is an error, and two of them are too many."""

        def broken(change):
            raise OSError("no such file")

        model = says_as_loop_c(two_fixes)
        functions = C_TOOLS["apply_fix"], broken
        reasons = [run(model, FIX, tools={"apply_fix": fn}, guards=c_guards()).reason for fn in functions]
        assert ["max_steps", "too_many_errors"] == reasons

    @given(
        st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.booleans()), min_size=1, max_size=6),
        st.tuples(st.integers(1, 8), st.integers(1, 3), st.integers(0, 2000), st.booleans()),
    )
    def test_any_script(self, turns, rules):
        """For any script and any limits, both give the same reason, rounds and spend."""

        def says(n):
            return {"tool": turns[n % len(turns)][0], "args": {"x": turns[n % len(turns)][1]}}

        def played(fail):
            succeeds = iter([ok for _, _, ok in turns] * 9)
            return dict.fromkeys("ab", lambda x: {"ok": True, "text": x} if next(succeeds) else fail())

        reason, rounds, spent = loop_c("go", says, played(lambda: {"ok": False}), *rules)
        outcome = run(says_as_loop_c(says), "go", tools=played(lambda: 1 / 0), guards=c_guards(*rules))
        ours = outcome.reason, outcome.tool_calls, spent_by(outcome)
        assert (C_NAMES.get(reason, reason), rounds, spent) == ours


def d_guards(steps=10, tokens=10**6, seconds=10**6, repeats=2):
    """Loop D's limits, in its order. Its `max_repeats` does not count the first ask."""
    return [max_steps(steps), token_budget(tokens), time_limit(seconds), repeated_call(repeats + 1)]


class TestLoopD:
    """Loop D: budgets, repeats before the action, approval."""

    def test_tokens(self):
        """30,500 and 20,400 tokens of 50,000: two calls, 50,900 tokens, and the third scripted reply is not used."""
        first = call("look", n=1, usage=Usage(30_000, 500))
        model = counting(script(first, call("look", n=2, usage=Usage(20_000, 400)), answer("never said")))
        outcome = run(model, "go", tools={"look": lambda n: "x"}, guards=d_guards(tokens=50_000))
        assert ("", "token_budget", 2, 50_900) == (outcome.text, outcome.reason, outcome.steps, outcome.usage.total)
        assert (2, None) == (model.calls, outcome.answer)

    @pytest.mark.parametrize("steps", [1, 2, 5])
    def test_as_many_replies_as_steps(self, steps):
        """Exactly as many scripted replies as steps allowed: the client is never asked for one more."""
        model = counting(script(*[call("look", n=n) for n in range(steps)]))
        outcome = run(model, "go", tools={"look": lambda n: "x"}, guards=d_guards(steps))
        assert ("max_steps", steps, None) == (outcome.reason, model.calls, outcome.error)

    def test_time(self):
        """A tool that moves the fake clock on by more than half the limit: two steps."""
        clock = ManualClock()
        model = script(*[call("look", n=n) for n in range(9)])
        tools = {"look": lambda n: clock.advance(31)}
        outcome = run(model, "go", tools=tools, guards=d_guards(seconds=60), clock=clock)
        assert ("time_limit", 2) == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize(("repeats", "steps", "ran"), [(2, 3, 2), (1, 2, 1)])
    def test_repeats(self, repeats, steps, ran):
        """Three identical requests and two repeats: three model calls, two runs; with one, the first repeat stops."""
        handled = []
        tools = {"look": lambda: handled.append("ran")}
        outcome = run(looking(), "go", tools=tools, guards=d_guards(repeats=repeats))
        assert ("repeated_call", steps, ran) == (outcome.reason, outcome.steps, len(handled))

    def test_a_refusal(self):
        """A scripted refusal ends the run as refused, with its text, and not as done."""
        outcome = run(script(Reply("I cannot help with that.", stop="refusal")), "go", guards=d_guards())
        assert ("refused", "I cannot help with that.", False) == (outcome.reason, outcome.text, outcome.complete)

    def test_no_steps(self):
        """No steps allowed: no call is made."""
        model = looking()
        assert ("max_steps", 0) == (run(model, "go", guards=d_guards(0)).reason, model.calls)

    def test_the_order_of_the_limits(self):
        """Steps come before tokens, and tokens before time, where all are reached at once."""
        clock = ManualClock()
        tools = {"look": lambda: clock.advance(10)}
        model = always(call("look", usage=Usage(10)))
        outcome = run(model, "go", tools=tools, guards=d_guards(1, 10, 10), clock=clock)
        assert ("max_steps", ("max_steps", "token_budget", "time_limit")) == (outcome.reason, outcome.fired)

    def test_a_reply_that_is_cut_off(self):
        """The tools of a reply that was cut off at its output limit never run."""
        ran = []
        model = script(Reply("Let me", call("look").calls, stop="max_tokens"))
        outcome = run(model, "go", tools={"look": lambda: ran.append("ran")}, guards=d_guards())
        assert ("truncated", [], False) == (outcome.reason, ran, outcome.complete)

    def test_several_tools(self):
        """All tools of a reply are answered, in order."""
        model = script(batch(*[call("look", n=n) for n in range(3)]), answer("x"))
        outcome = run(model, "go", tools={"look": lambda n: n}, guards=d_guards())
        assert ["0", "1", "2"] == contents(outcome.messages)

    def test_approval(self):
        """Lookup, then the person, then the tool: an unknown tool asks nobody, and a declined one never runs."""
        asked, ran = [], []

        def approve(one):
            asked.append(one.name)
            return one.name == "read"

        tools = {"read": lambda: ran.append("read"), "drop": lambda: ran.append("drop")}
        model = script(batch(call("nope"), call("drop"), call("read")), answer("x"))
        outcome = run(model, "go", tools=tools, guards=d_guards(), approve=approve)
        assert (["drop", "read"], ["read"]) == (asked, ran)
        told = contents(outcome.messages)[1]
        assert [True, True] == ["do not ask for it again" in told, "say what you would have done" in told]

    def test_a_tool_that_raises(self):
        """A tool that raises becomes an error result."""
        outcome = run(script(call("bad"), answer("x")), "go", tools={"bad": lambda: 1 / 0}, guards=d_guards())
        assert ("answered", ["error"]) == (outcome.reason, [r.status for r in outcome.trace[0].results])


class TestWhereLoopDIsBlunt:
    """Where loop D is blunt, the library does better."""

    def test_over_budget(self):
        """A hard budget refuses the call that would overshoot: 30,500 tokens instead of 50,900."""
        first = call("look", usage=Usage(30_000, 500))
        model = script(first, call("look", usage=Usage(20_000, 400)), answer("never said"))
        guards = [token_budget(50_000, hard=True), max_steps(9)]
        outcome = run(model, "go", tools={"look": lambda: "x"}, guards=guards)
        assert ("token_budget", 1, 30_500) == (outcome.reason, outcome.steps, outcome.usage.total)

    def test_a_paused_turn(self):
        """The paused reply is sent back, the run goes on, and the pause counts as a step."""
        seen = []

        def model(messages):
            seen.append([m["role"] for m in messages])
            return answer("done") if len(seen) == 2 else Reply("Still working.", stop="pause_turn")

        outcome = run(model, "go", guards=d_guards())
        assert ("answered", 2, ["user", "assistant"]) == (outcome.reason, outcome.steps, seen[1])

    def test_a_full_context_window(self):
        """It has its own reason, and is never a success."""
        outcome = run(always(Reply("So far", stop="model_context_window_exceeded")), "go", guards=d_guards())
        assert ("context_full", False, None) == (outcome.reason, outcome.complete, outcome.answer)

    @pytest.mark.parametrize("word", ["something_new", "", "END_TURN"])
    def test_an_unknown_word(self, word):
        """A word of the API that nobody knows is never a success."""
        outcome = run(always(Reply("done", stop=word)), "go", guards=d_guards())
        assert ("unfinished", False) == (outcome.reason, outcome.complete)

    def test_cached_input(self):
        """It is counted, and priced apart."""
        prices = {"input": 3, "output": 15, "cache_read": 0.3}
        model = always(call("look", usage=Usage(10, 10, cache_read=80)))
        outcome = run(model, "go", tools={"look": lambda: "x"}, guards=[token_budget(200)], prices=prices)
        assert ("token_budget", 2) == (outcome.reason, outcome.steps)
        assert pytest.approx(2 * (10 * 3 + 10 * 15 + 80 * 0.3) / 10**6) == outcome.cost

    @pytest.mark.parametrize(("guard", "steps"), [(repeated_call(2), 3), (going_in_circles(), 4)])
    def test_alternation(self, guard, steps):
        """Alternation between two calls is seen at the third call, or after two passes."""
        outcome = run(alternates, "go", tools=NO_MATCH, guards=[guard, max_steps(9)])
        assert (guard.name, steps) == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize("limit", [repeated_call, going_in_circles, no_new_results])
    def test_a_repeat_limit_of_nought(self, limit):
        """It is rejected with a clear error, before it can stop every run at its first call."""
        with pytest.raises(ValueError, match="must be a whole number of at least ., not 0"):
            limit(0)

    def test_the_clock_between_calls(self):
        """A tool can have a timeout of its own, and the async driver cancels at the deadline."""
        gate = threading.Event()

        @tool(timeout=0.02)
        def slow():
            gate.wait(5)

        outcome = run(script(call("slow"), answer("x")), "go", tools=[slow], guards=d_guards())
        gate.set()
        assert ("answered", ["error"]) == (outcome.reason, [r.status for r in outcome.trace[0].results])

        async def slower():
            await asyncio.sleep(30)

        model = script(call("slower"), answer("x"))
        outcome = asyncio.run(arun(model, "go", tools=[slower], guards=[time_limit(0.02)], clock=ManualClock()))
        assert ("time_limit", 1) == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize(("working", "reason"), [(False, "time_limit"), (True, "answered")])
    def test_the_time_a_person_takes(self, working, reason):
        """It is counted apart as waiting time, and a limit can be on either."""
        clock = ManualClock()

        def approve(asked):
            clock.advance(100)
            return True

        model = script(call("look"), answer("x"))
        guards = [time_limit(60, working=working)]
        outcome = run(model, "go", tools={"look": lambda: "x"}, guards=guards, approve=approve, clock=clock)
        assert (reason, 100.0) == (outcome.reason, outcome.waited)

    def test_money(self):
        """And money can be a budget as well as tokens."""
        model = always(call("look", usage=Usage(30_000, 500)))
        guards = [cost_budget(0.1, hard=True), max_steps(9)]
        prices = {"input": 3, "output": 15}
        outcome = run(model, "go", tools={"look": lambda: "x"}, guards=guards, prices=prices)
        assert ("cost_budget", 1) == (outcome.reason, outcome.steps)
