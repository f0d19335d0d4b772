"""Guards on what goes wrong again and again: tool errors, and calls that a person declines."""

# ruff: noqa: SIM300

import pytest

import stoplib
from stoplib import (
    Reply,
    ToolCall,
    answer,
    batch,
    call,
    max_steps,
    run,
    script,
    too_many_errors,
    too_many_refusals,
)
from stoplib.fakes import misspells
from stoplib.guards import GATES

from .helpers import LOOK, always, looking, state

FAIL, WORK = call("bad"), call("look")
TOOLS = {**LOOK, "bad": lambda: 1 / 0, "search": lambda query: "no match", "test": lambda: "1 failed: an error"}
NO_NUMBERS = [True, 2.5, "3", None, float("nan"), [3], 0, -1]


def stopped(*replies, guard, **options):
    """(reason, steps) of a run with these replies and then an answer."""
    outcome = run(script(*replies, answer("x")), "go", tools=TOOLS, guards=[guard, max_steps(30)], **options)
    return outcome.reason, outcome.steps


class TestTooManyErrors:
    """`too_many_errors(n)`: n tool errors and no success in between."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "too_many_errors" in stoplib.__all__

    @pytest.mark.parametrize(("errors", "fires"), [(2, False), (3, True), (4, True)])
    def test_boundary(self, errors, fires):
        """It lets a streak of n-1 errors go on and fires from n."""
        run_so_far = state()
        run_so_far.errors = errors
        assert fires == (too_many_errors(3)(run_so_far) is not None)

    def test_three_by_default(self):
        """Without a number three errors in a row are too many."""
        assert too_many_errors(3) == too_many_errors()
        assert ("too_many_errors", 3) == stopped(*[FAIL] * 9, guard=too_many_errors())

    @pytest.mark.parametrize("n", [1, 2, 4])
    def test_n_errors_in_a_row(self, n):
        """A tool that always fails runs n times."""
        assert ("too_many_errors", n) == stopped(*[FAIL] * 9, guard=too_many_errors(n))
        assert ("answered", n) == stopped(*[FAIL] * (n - 1), guard=too_many_errors(n))

    def test_a_success_ends_the_streak(self):
        """fail, fail, ok, fail, fail goes on; one more failure is the third in a row."""
        replies = [FAIL, FAIL, WORK, FAIL, FAIL]
        assert ("answered", 6) == stopped(*replies, guard=too_many_errors(3))
        assert ("too_many_errors", 6) == stopped(*replies, FAIL, guard=too_many_errors(3))

    @pytest.mark.parametrize(
        ("size", "n", "expected"), [(3, 3, ("too_many_errors", 1)), (2, 3, ("too_many_errors", 2)), (2, 5, "answered")]
    )
    def test_all_of_a_batch_fail(self, size, n, expected):
        """Each error of a batch counts, and all of the batch have run before the guard looks."""
        replies = [batch(*[FAIL] * size)] * 2
        ends = stopped(*replies, guard=too_many_errors(n))
        assert expected == (ends if isinstance(expected, tuple) else ends[0])

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_one_success_in_a_batch(self, place):
        """One success ends the streak wherever it stands in the batch: what fails after it in there does not count."""
        replies = [FAIL, FAIL]
        replies.insert(place, WORK)
        assert ("answered", 4) == stopped(FAIL, FAIL, batch(*replies), guard=too_many_errors(3))
        assert ("answered", 3) == stopped(batch(*replies), batch(*replies), guard=too_many_errors(2))

    def test_what_is_an_error(self):
        """A tool that raises, a tool that does not exist, wrong arguments and arguments that are no JSON."""
        wrong = [FAIL, call("unknown"), call("look", where="here"), Reply(calls=(ToolCall("look", "{"),))]
        assert ("too_many_errors", 4) == stopped(*wrong, guard=too_many_errors(4))

    def test_what_is_no_error(self):
        """No match, a failed test and a text with the word error in it are results."""
        fine = [call("search", query="x"), call("test"), call("search", query="error"), call("test")]
        assert ("answered", 5) == stopped(*fine, guard=too_many_errors(1))

    def test_a_declined_call_is_no_error(self):
        """What a person declined neither counts nor ends the streak."""
        replies = [FAIL, WORK, FAIL, WORK, FAIL]
        ends = stopped(*replies, guard=too_many_errors(3), approve=lambda asked: asked.name == "bad")
        assert ("too_many_errors", 5) == ends

    def test_a_pause_is_no_success(self):
        """A paused turn in between does not end the streak."""
        pause = Reply("still busy", stop="pause_turn")
        assert ("too_many_errors", 5) == stopped(FAIL, pause, FAIL, pause, FAIL, guard=too_many_errors(3))

    def test_the_detail(self):
        """The detail gives the streak and the limit."""
        outcome = run(misspells, "go", guards=[too_many_errors(2), max_steps(9)])
        assert "2 of 2 errors in a row" == outcome.detail

    @pytest.mark.parametrize("n", NO_NUMBERS)
    def test_refuses_what_is_no_number(self, n):
        """What is no whole number of at least one is refused with its value: nought errors are not too many."""
        with pytest.raises((TypeError, ValueError)) as caught:
            too_many_errors(n)
        assert f"too_many_errors: n must be a whole number of at least 1, not {n!r}" == str(caught.value)

    @pytest.mark.parametrize("gate", GATES)
    def test_where_it_looks(self, gate):
        """It can be moved: before the call it sees the streak just as well, before the action one request later."""
        ends = stopped(*[FAIL] * 9, guard=too_many_errors(2, gate=gate))
        assert ("too_many_errors", 3 if gate == "before_action" else 2) == ends


class TestTooManyRefusals:
    """`too_many_refusals(n)`: a person has declined n calls and let none through in between."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "too_many_refusals" in stoplib.__all__

    @pytest.mark.parametrize(("refusals", "fires"), [(2, False), (3, True), (4, True)])
    def test_boundary(self, refusals, fires):
        """It lets n-1 refusals go on and fires from n."""
        run_so_far = state()
        run_so_far.refusals = refusals
        assert fires == (too_many_refusals(3)(run_so_far) is not None)

    def test_three_by_default(self):
        """Without a number three refusals in a row are too many."""
        assert too_many_refusals(3) == too_many_refusals()
        assert ("too_many_refusals", 3) == stopped(*[WORK] * 9, guard=too_many_refusals(), approve=lambda asked: False)

    def test_nothing_has_run(self):
        """None of the declined calls ran."""
        ran = []
        tools = {"look": lambda: ran.append("look")}
        guards = [too_many_refusals(2), max_steps(9)]
        outcome = run(looking(), "go", tools=tools, approve=lambda asked: None, guards=guards)
        assert ("too_many_refusals", 2, 0, []) == (outcome.reason, outcome.steps, outcome.tool_calls, ran)

    def test_one_that_is_let_through_ends_the_streak(self):
        """no, no, yes, no, no goes on."""
        said = iter([False, False, True, False, False])
        assert ("answered", 6) == stopped(*[WORK] * 5, guard=too_many_refusals(3), approve=lambda asked: next(said))

    def test_each_of_a_batch_counts(self):
        """Three declined in one reply are three."""
        replies = [batch(*[WORK] * 3)]
        assert ("too_many_refusals", 1) == stopped(*replies, guard=too_many_refusals(3), approve=lambda asked: False)

    def test_one_let_through_in_a_batch(self):
        """One call of the batch that was let through ends the streak."""
        replies = [batch(WORK, call("test"), WORK)] * 5
        ends = stopped(*replies, guard=too_many_refusals(3), approve=lambda asked: asked.name == "test")
        assert ("answered", 6) == ends

    def test_without_a_person(self):
        """Where nobody is asked, nothing is declined."""
        assert "answered" == stopped(*[FAIL] * 5, guard=too_many_refusals(1))[0]

    def test_a_tool_that_does_not_exist_in_between(self):
        """A request that never came before the person does not mean that the person let one through."""
        replies = [WORK, call("unknown")] * 5
        ends = stopped(*replies, guard=too_many_refusals(3), approve=lambda asked: False)
        assert ("too_many_refusals", 5) == ends

    def test_a_tool_that_does_not_exist_in_the_batch(self):
        """A refusal counts also where another call of the batch could not be looked up."""
        replies = [batch(WORK, call("unknown"))] * 5
        ends = stopped(*replies, guard=too_many_refusals(3), approve=lambda asked: False)
        assert ("too_many_refusals", 3) == ends

    def test_the_detail(self):
        """The detail gives the streak and the limit."""
        guards = [too_many_refusals(2), max_steps(9)]
        outcome = run(looking(), "go", tools=LOOK, approve=lambda asked: False, guards=guards)
        assert "2 of 2 refusals in a row" == outcome.detail

    @pytest.mark.parametrize("n", NO_NUMBERS)
    def test_refuses_what_is_no_number(self, n):
        """What is no whole number of at least one is refused with its value."""
        with pytest.raises((TypeError, ValueError)) as caught:
            too_many_refusals(n)
        assert f"too_many_refusals: n must be a whole number of at least 1, not {n!r}" == str(caught.value)

    def test_refusals_of_the_model_are_something_else(self):
        """A model that declines the task is `refused`; this guard is about the person."""
        outcome = run(always(Reply("I cannot", stop="refusal")), "go", guards=[too_many_refusals(1), max_steps(3)])
        assert "refused" == outcome.reason


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("guard", [too_many_errors(), too_many_errors(5), too_many_refusals(), too_many_refusals(1)])
def test_repr_is_source(guard, gate):
    """Evaluating the repr of a guard, moved to another gate or not, gives an equal one."""
    moved = guard.replaced(gate=gate)
    assert (guard, moved) == (eval(repr(guard)), eval(repr(moved)))
    assert guard != moved
