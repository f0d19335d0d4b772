"""Scripted models, which cost nothing and always do the same."""

# ruff: noqa: SIM300

import inspect
import re

import pytest

from stoplib import (
    ManualClock,
    Reply,
    Usage,
    answer,
    batch,
    call,
    cost_budget,
    fakes,
    going_in_circles,
    max_steps,
    max_tool_calls,
    no_new_results,
    repeated_call,
    run,
    script,
    token_budget,
    too_many_errors,
    tool,
)
from stoplib.fakes import (
    alternates,
    answers_after,
    asks_in_batches,
    cycles,
    edits_and_tests,
    fills_the_window,
    is_cut_off,
    misspells,
    never_answers,
    pauses,
    polls,
    refuses,
    retries,
    rewords,
    said,
    says_nothing,
    spends,
)

SEARCH = {"search": lambda query: f"results for {query}"}


class TestScript:
    """`script(...)`: a model that says these replies, one per step."""

    def test_says_its_replies_in_order(self):
        """Each step gets the next reply."""
        outcome = run(script(call("search", query="a"), call("search", query="b"), answer("c")), "go", tools=SEARCH)
        assert ["search(query='a')", "search(query='b')"] == [str(s.reply.calls[0]) for s in outcome.trace[:2]]
        assert "c" == outcome.answer

    def test_works_twice(self):
        """It has no state: the same script gives the same run again."""
        model = script(call("search", query="a"), answer("b"))
        first, second = run(model, "go", tools=SEARCH), run(model, "go", tools=SEARCH)
        assert (first.reason, first.messages) == (second.reason, second.messages)

    def test_asked_for_more(self):
        """A script that has run out is an error, which says how many replies there were."""
        outcome = run(script(call("search", query="a")), "go", tools=SEARCH)
        assert ("fatal", IndexError) == (outcome.reason, type(outcome.error))
        assert "the script has 1 reply and was asked for one more" in outcome.detail

    def test_an_unused_reply_is_no_error(self):
        """A run that is stopped earlier leaves the rest unsaid."""
        model = script(call("search", query="a"), answer("never said"))
        assert "max_steps" == run(model, "go", tools=SEARCH, guards=[max_steps(1)]).reason


class TestNeverAnswers:
    """`never_answers`: a model that only a guard can stop."""

    def test_asks_for_something_new_each_time(self):
        """It never repeats itself and never answers."""
        outcome = run(never_answers, "go", tools=SEARCH, guards=[max_steps(3)])
        asked = [s.reply.calls[0].args["query"] for s in outcome.trace]
        assert ("max_steps", ["more 1", "more 2", "more 3"]) == (outcome.reason, asked)


class TestAnswersAfter:
    """`answers_after(n)`: a model that looks n times and then answers."""

    def test_rounds(self):
        """It needs n rounds and one step more for the answer."""
        for rounds in (0, 1, 4):
            outcome = run(answers_after(rounds), "go", tools=SEARCH)
            assert ("answered", "done", rounds + 1, rounds) == (
                outcome.reason,
                outcome.answer,
                outcome.steps,
                outcome.tool_calls,
            )

    def test_one_step_short(self):
        """With as many steps as rounds it is stopped before its answer."""
        assert "max_steps" == run(answers_after(4), "go", tools=SEARCH, guards=[max_steps(4)]).reason


def asked(outcome):
    """What a run asked for, one text per call."""
    return [str(one) for step in outcome.trace for one in step.calls]


@tool(poll=20)
def status():
    """A job that never ends."""
    return "running"


TOOLS = {**SEARCH, "status": status, "edit": lambda change: "edited", "test": lambda: "1 failed"}
STUCK = [going_in_circles(), no_new_results(5), too_many_errors(3)]
PRICES = {"input": 1_000_000, "output": 1_000_000}


class TestEachFindsItsGuard:
    """The table of the module: for each fake the guard that is meant for it."""

    @pytest.mark.parametrize(
        ("model", "guard", "steps"),
        [
            (never_answers, max_steps(7), 7),
            (retries, repeated_call(2), 2),
            (retries, going_in_circles(), 2),
            (alternates, going_in_circles(), 4),
            (cycles(*[call("search", query=q) for q in "abc"]), going_in_circles(), 6),
            (rewords, no_new_results(4), 4),
            (polls(), going_in_circles(), 21),
            (asks_in_batches(3), max_tool_calls(7), 3),
            (spends(30, 5), token_budget(100), 3),
            (spends(30, 5), cost_budget(100), 3),
            (misspells, too_many_errors(3), 3),
        ],
    )
    def test_guard(self, model, guard, steps):
        """The guard ends its run, at the step that its limit says."""
        tools = {**TOOLS, "search": lambda query: "no match"}
        outcome = run(model, "go", tools=tools, guards=[guard, max_steps(40)], prices=PRICES)
        assert (guard.name, steps) == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize("model", [answers_after(30), never_answers, edits_and_tests, asks_in_batches(3)])
    def test_nothing_should_fire(self, model):
        """A model that gets somewhere is let alone by the guards against being stuck."""
        outcome = run(model, "go", tools=TOOLS, guards=[*STUCK, max_steps(40)])
        assert outcome.reason in ("answered", "max_steps")

    @pytest.mark.parametrize(
        ("model", "reason"),
        [
            (refuses, "refused"),
            (is_cut_off, "truncated"),
            (says_nothing, "empty_reply"),
            (fills_the_window, "context_full"),
            (pauses, "answered"),
        ],
    )
    def test_the_replys_own_reasons(self, model, reason):
        """Each ends with the reason that it is there for; only a pause goes on."""
        assert reason == run(model, "go", tools=TOOLS).reason

    def test_all_of_them_are_in_the_table(self):
        """Every fake is described in the module, and all that is described exists."""
        table = re.findall(r"^    ([a-z_]+(?:\([^)]*\))?(?:, [a-z_]+)*)  ", fakes.__doc__, re.MULTILINE)
        named = {name.split("(")[0] for row in table for name in row.split(", ")}
        made_here = {name for name, value in vars(fakes).items() if inspect.isfunction(value)}
        mine = {name for name in made_here if vars(fakes)[name].__module__ == "stoplib.fakes"}
        assert mine - {"script", "said"} == named


class TestWhatTheySay:
    """What each of them asks for."""

    @pytest.mark.parametrize(
        ("model", "expected"),
        [
            (never_answers, ["search(query='more 1')", "search(query='more 2')", "search(query='more 3')"]),
            (retries, ["search(query='stop')"] * 3),
            (alternates, ["search(query='stop')", "search(query='halt')", "search(query='stop')"]),
            (cycles(call("status"), call("test")), ["status()", "test()", "status()"]),
            (edits_and_tests, ["edit(change='attempt 1')", "test()", "edit(change='attempt 2')"]),
            (misspells, ["serach(query='stop')"] * 3),
            (polls(), ["status()"] * 3),
            (spends(1, 2, retries), ["search(query='stop')"] * 3),
        ],
    )
    def test_three_steps(self, model, expected):
        """The calls of the first three steps."""
        assert expected == asked(run(model, "go", tools=TOOLS, guards=[max_steps(3)]))

    def test_rewords(self):
        """A new wording each time, for a long time: it never says the same thing twice in a hundred steps."""
        said_so_far = asked(run(rewords, "go", tools=TOOLS, guards=[max_steps(100)]))
        assert 100 == len(set(said_so_far))

    @pytest.mark.parametrize("size", [1, 2, 5])
    def test_asks_in_batches(self, size):
        """So many different calls in each reply."""
        outcome = run(asks_in_batches(size), "go", tools=TOOLS, guards=[max_steps(3)])
        assert [size] * 3 == [len(step.calls) for step in outcome.trace]
        assert 3 * size == len(set(asked(outcome)))

    def test_asks_in_batches_of_none(self):
        """A batch of none asks for nothing and says nothing, so it ends the run."""
        assert "empty_reply" == run(asks_in_batches(0), "go").reason

    def test_polls(self):
        """It asks until the result is the one that it waits for, and then answers."""
        rest = iter(["running", "running", "ready"])
        outcome = run(polls("ready"), "go", tools={"status": lambda: next(rest)})
        assert ("answered", "the job is ready", 3) == (outcome.reason, outcome.answer, outcome.tool_calls)

    def test_spends(self):
        """Each reply reports the usage that was given, also the answer of the model inside."""
        outcome = run(spends(10, 3, answers_after(2)), "go", tools=TOOLS)
        assert ("answered", Usage(30, 9)) == (outcome.reason, outcome.usage)

    def test_answers_after_with_a_text(self):
        """The answer is the text that was given."""
        assert "Paris" == run(answers_after(1, "Paris"), "go", tools=TOOLS).answer

    def test_pauses(self):
        """It pauses once, and then answers."""
        outcome = run(pauses, "go")
        assert ("answered", 2) == (outcome.reason, outcome.steps)

    def test_is_cut_off(self):
        """It is cut off in the middle of a request, which must not run."""
        ran = []
        outcome = run(is_cut_off, "go", tools={"search": lambda query: ran.append(query)})
        assert ([], 1, 1) == (ran, len(outcome.trace[0].calls), len(outcome.trace[0].results))

    def test_cycles_of_nothing(self):
        """A cycle needs at least one reply."""
        with pytest.raises(ValueError, match="give at least one reply"):
            cycles()

    @pytest.mark.parametrize("wrong", ["done", None, call, {"text": "x"}])
    def test_a_script_of_something_else(self, wrong):
        """What is no reply is refused when the script is written, with advice."""
        with pytest.raises(TypeError, match=r"is not a Reply; write answer\('…'\)"):
            script(answer("x"), wrong)


ALL = [
    *[never_answers, retries, alternates, rewords, edits_and_tests, misspells, polls(), answers_after(3)],
    *[cycles(call("status"), batch(call("test"), call("status"))), asks_in_batches(2), spends(3, 4)],
    *[refuses, is_cut_off, pauses, says_nothing, fills_the_window, script(call("test"), Reply("x"))],
]


@pytest.mark.parametrize("model", ALL)
def test_no_state(model):
    """The same fake gives the same run a second time, also while another run with it is on."""

    def play():
        return run(model, "go", tools=TOOLS, guards=[max_steps(5)], clock=ManualClock())

    def meanwhile(event):
        others.append(play())

    others = []
    first = play()
    second = run(model, "go", tools=TOOLS, guards=[max_steps(5)], clock=ManualClock(), on_event=meanwhile)
    assert first == second
    assert others and all(first == other for other in others)


def test_said_counts_what_the_model_said():
    """`said` counts the model's messages and no others."""
    messages = [{"role": role, "content": ""} for role in ("user", "assistant", "tool", "tool", "assistant")]
    assert 2 == said(messages)
