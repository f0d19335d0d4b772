"""Each guard alone: its limit, its boundary, its value, what it refuses."""

# ruff: noqa: SIM300

import threading
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest

import stoplib
from stoplib import Guard, ManualClock, answer, call, max_steps, run, script, time_limit
from stoplib.guards import GATES, GuardSet
from stoplib.guards.core import Function, Limit, as_guard

from .helpers import LOOK, Later, always, looking, requests, results, state

NAN, INF = float("nan"), float("inf")


class Three:
    """A whole number of another kind, as numpy has them."""

    def __index__(self):
        return 3

    def __repr__(self):
        return "other.int(3)"


class TestMaxSteps:
    """`max_steps(n)`: at most n model calls."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "max_steps" in stoplib.__all__

    @pytest.mark.parametrize(("steps", "fires"), [(2, False), (3, True), (4, True)])
    def test_boundary(self, steps, fires):
        """It lets step n-1 go on and fires from step n."""
        assert fires == (max_steps(3)(state(steps=steps)) is not None)

    @pytest.mark.parametrize("n", [0, 1, 2, 3, 17])
    def test_exactly_n_model_calls(self, n):
        """A model that never answers is called exactly n times."""
        model = looking()
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(n)])
        assert ("max_steps", n, n) == (outcome.reason, outcome.steps, model.calls)

    def test_the_detail_says_how_many(self):
        """The detail gives what was used and the limit."""
        assert "3 of 3 steps used" == max_steps(3)(state(steps=3))

    def test_the_detail_is_exact_for_large_numbers(self):
        """A count in the detail is the count, however large."""
        assert "1234567 of 1234567 steps used" == max_steps(1_234_567)(state(steps=1_234_567))

    @pytest.mark.parametrize("n", [True, False, 2.5, 3.0, "3", None, NAN, INF, [3], Decimal(3), 3j])
    def test_refuses_what_is_no_whole_number(self, n):
        """What is no whole number is a TypeError that names the guard, the limit and the value."""
        with pytest.raises(TypeError) as caught:
            max_steps(n)
        assert f"max_steps: n must be a whole number of at least 0, not {n!r}" == str(caught.value)

    @pytest.mark.parametrize("n", [-1, -100])
    def test_refuses_negative_numbers(self, n):
        """A negative number is a ValueError that names the guard, the limit and the value."""
        with pytest.raises(ValueError) as caught:
            max_steps(n)
        assert f"max_steps: n must be a whole number of at least 0, not {n!r}" == str(caught.value)

    def test_whole_numbers_of_another_kind_work(self):
        """What Python takes for an index is a whole number, as numpy's are."""
        outcome = run(looking(), "go", tools=LOOK, guards=[max_steps(Three())])
        assert ("max_steps", 3) == (outcome.reason, outcome.steps)

    def test_whole_numbers_of_another_kind_become_plain_ones(self):
        """The repr is source that needs no other package than this one."""
        assert "max_steps(3)" == repr(max_steps(Three()))

    def test_is_a_value(self):
        """Equal limits compare equal and hash equal; other limits and other guards differ."""
        assert max_steps(3) == max_steps(n=3)
        assert 1 == len({max_steps(3), max_steps(3)})
        assert max_steps(3) != max_steps(4)
        assert max_steps(3) != time_limit(3)
        assert max_steps(3) != max_steps(3, gate="after_round")

    def test_is_frozen(self):
        """A guard cannot be changed after it was checked."""
        with pytest.raises(AttributeError):
            max_steps(3).n = 4

    @pytest.mark.parametrize("guard", [max_steps(0), max_steps(7), max_steps(7, gate="after_round")])
    def test_repr_is_source(self, guard):
        """Evaluating the repr gives an equal guard."""
        assert guard == eval(repr(guard))


class TestTimeLimit:
    """`time_limit(seconds)`: no model call once that time has passed."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "time_limit" in stoplib.__all__

    @pytest.mark.parametrize(("seconds", "fires"), [(9.99, False), (10, True), (10.01, True)])
    def test_boundary(self, seconds, fires):
        """It lets a run go on just below the limit and fires at the limit."""
        assert fires == (time_limit(10)(state(seconds=seconds)) is not None)

    @pytest.mark.parametrize(("seconds", "calls"), [(0, 0), (9, 1), (10, 1), (11, 2), (20, 2), (21, 3)])
    def test_model_calls_until_the_limit(self, seconds, calls):
        """With rounds of ten seconds, a call is made for each round that starts before the limit."""
        clock = ManualClock(500.0)
        model = looking()
        tools = {"look": lambda: clock.advance(10)}
        outcome = run(model, "go", tools=tools, guards=[time_limit(seconds)], clock=clock)
        assert ("time_limit", calls) == (outcome.reason, model.calls)

    def test_the_detail_says_by_how_much(self):
        """What is over the limit is part of the detail."""
        assert "30 of 10 s used, 20 s over" == time_limit(10)(state(seconds=30.0))

    def test_nothing_is_over_at_the_limit_itself(self):
        """At the limit itself nothing is said to be over."""
        assert "10 of 10 s used" == time_limit(10)(state(seconds=10.0))

    @pytest.mark.parametrize(("seconds", "fires"), [(14.9, False), (15, True), (15.1, True)])
    def test_working_leaves_out_the_waiting(self, seconds, fires):
        """With working=True, five seconds of waiting give five seconds more."""
        assert fires == (time_limit(10, working=True)(state(seconds=seconds, waited=5.0)) is not None)

    def test_waiting_counts_otherwise(self):
        """Without working=True, waiting for a person counts like all other time."""
        assert time_limit(10)(state(seconds=10.0, waited=5.0)) is not None

    @pytest.mark.parametrize("seconds", [True, False, "3", b"3", None, [3], 3j])
    def test_refuses_what_is_no_number(self, seconds):
        """What is no number is a TypeError that names the guard, the limit and the value."""
        with pytest.raises(TypeError) as caught:
            time_limit(seconds)
        assert f"time_limit: seconds must be a finite number of at least 0, not {seconds!r}" == str(caught.value)

    @pytest.mark.parametrize("seconds", [NAN, INF, -INF, -1, -0.001, 10**400, Decimal("NaN"), Fraction(-1, 2)])
    def test_refuses_numbers_that_are_no_limit(self, seconds):
        """NaN, infinite and negative numbers are a ValueError that names the guard, the limit and the value."""
        with pytest.raises(ValueError) as caught:
            time_limit(seconds)
        assert f"time_limit: seconds must be a finite number of at least 0, not {seconds!r}" == str(caught.value)

    def test_exact_numbers_work(self):
        """A limit that is accepted ends the run as itself, also if it is a Decimal or a Fraction."""
        outcomes = []
        for seconds in (Decimal("2.5"), Fraction(5, 2)):
            clock = ManualClock()
            tools = {"look": lambda clock=clock: clock.advance(1.0)}
            outcome = run(looking(), "go", tools=tools, guards=[time_limit(seconds)], clock=clock)
            outcomes.append((outcome.reason, outcome.steps))
        assert [("time_limit", 3)] * 2 == outcomes

    @pytest.mark.parametrize("working", [3, "no", None])
    def test_working_is_yes_or_no(self, working):
        """`working` is a bool; a second number passed by mistake is refused."""
        with pytest.raises(TypeError):
            time_limit(10, working)

    def test_is_a_value(self):
        """Equal limits compare equal; `working` and the gate are part of the value."""
        assert time_limit(3) == time_limit(3.0)
        assert time_limit(3) != time_limit(3, working=True)
        assert time_limit(3) != time_limit(3, gate="after_round")

    @pytest.mark.parametrize(
        "guard", [time_limit(0), time_limit(0.1), time_limit(5, working=True), time_limit(5, gate="before_action")]
    )
    def test_repr_is_source(self, guard):
        """Evaluating the repr gives an equal guard."""
        assert guard == eval(repr(guard))

    def test_repr_leaves_out_what_is_usual(self):
        """Only what differs from the default is shown by name."""
        assert "time_limit(5)" == repr(time_limit(5, working=False))
        assert "time_limit(5, working=True)" == repr(time_limit(5, working=True))


class TestGate:
    """`gate=` moves a guard to another place of the step."""

    @pytest.mark.parametrize("gate", ["before call", "BEFORE_CALL", "middle", 3])
    def test_unknown_gates_are_refused(self, gate):
        """A gate that does not exist is refused, with the ones that do."""
        with pytest.raises(ValueError, match="before_call, before_action, after_round"):
            max_steps(3, gate=gate)

    def test_the_gate_is_passed_by_name(self):
        """A gate cannot be mistaken for a limit."""
        with pytest.raises(TypeError):
            max_steps(3, "after_round")

    @pytest.mark.parametrize(("gate", "ran"), [("before_call", 2), ("before_action", 1), ("after_round", 2)])
    def test_where_a_step_limit_stops(self, gate, ran):
        """Two steps are two model calls at every gate; before the action the last batch does not run."""
        model = looking()
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(2, gate=gate)])
        assert ("max_steps", 2, ran) == (outcome.reason, model.calls, outcome.tool_calls)
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize("gate", ["before_action", "after_round"])
    def test_no_steps_are_no_calls_at_any_gate(self, gate):
        """`max_steps(0)` makes no call, or is refused, wherever it looks."""
        model = looking()
        with suppress(ValueError):
            run(model, "go", tools=LOOK, guards=[max_steps(0, gate=gate)])
        assert 0 == model.calls

    @pytest.mark.parametrize("gate", GATES)
    def test_a_moved_limit_still_bounds(self, gate):
        """A limit ends the run of a model that pauses for ever, at whichever gate it looks."""
        model = always(stoplib.Reply("still busy", stop="pause_turn"))
        outcome = run(model, "go", guards=[max_steps(4, gate=gate)])
        assert ("max_steps", 4) == (outcome.reason, model.calls)

    @pytest.mark.parametrize("gate", GATES)
    def test_an_answer_comes_first(self, gate):
        """An answer on the last allowed step is a success, at whichever gate the limit looks."""
        model = script(call("look"), answer("done"))
        assert "answered" == run(model, "go", tools=LOOK, guards=[max_steps(2, gate=gate)]).reason


def unlucky(run):
    """A guard of one's own."""
    return "unlucky" if run.steps == 2 else None


class TestPlainFunction:
    """A function of the run is a guard; its name is the reason and its text the detail."""

    def test_name_and_text(self):
        """The run ends with the function's name as the reason and its text as the detail."""
        outcome = run(looking(), "go", tools=LOOK, guards=[unlucky, max_steps(5)])
        assert ("unlucky", "unlucky", 2) == (outcome.reason, outcome.detail, outcome.steps)

    def test_it_looks_before_every_call(self):
        """It is asked once before each call, with the steps made so far."""
        seen = []

        def watch(run):
            seen.append(run.steps)

        run(looking(), "go", tools=LOOK, guards=[watch, max_steps(3)])
        assert [0, 1, 2, 3] == seen

    def test_it_sees_the_counts(self):
        """It can read all that the run has counted."""
        seen = {}

        def watch(run):
            seen.update(steps=run.steps, tool_calls=run.tool_calls, tokens=run.tokens, messages=len(run.messages))

        usage = stoplib.Usage(5, 2)
        run(always(call("look", usage=usage)), "go", tools=LOOK, guards=[watch, max_steps(2)])
        assert {"steps": 2, "tool_calls": 2, "tokens": 14, "messages": 5} == seen

    @pytest.mark.parametrize("nothing", [None, "", False])
    def test_nothing_lets_the_run_go_on(self, nothing):
        """None, an empty text and False do not end a run."""
        outcome = run(looking(), "go", tools=LOOK, guards=[lambda run: nothing, max_steps(2)])
        assert ("max_steps", ("max_steps",)) == (outcome.reason, outcome.fired)

    @pytest.mark.parametrize("something", [True, 1, ["why"], Later("why")])
    def test_what_is_no_text_is_an_error(self, something):
        """True, a number, a list or something to await is no reason: the run ends as fatal and names the guard."""

        def odd(run):
            return something

        model = looking()
        outcome = run(model, "go", tools=LOOK, guards=[odd, max_steps(2)])
        assert ("fatal", TypeError, 0) == (outcome.reason, type(outcome.error), model.calls)
        assert f"guard odd returned {something!r}" in outcome.detail

    def test_a_guard_that_raises_ends_the_run(self):
        """A guard that fails is never a guard that lets everything through."""

        def broken(run):
            return 1 / run.steps

        model = looking()
        outcome = run(model, "go", tools=LOOK, guards=[broken, max_steps(2)])
        assert ("fatal", ZeroDivisionError, 0) == (outcome.reason, type(outcome.error), model.calls)

    def test_a_guard_that_raises_is_named(self):
        """The detail says which guard failed."""

        def broken(run):
            return 1 / run.steps

        assert "broken" in run(looking(), "go", guards=[broken, max_steps(2)]).detail

    def test_the_exception_of_a_guard_is_kept(self):
        """The exception on `error` is the one that the guard raised, also if it is StopIteration."""

        def exhausted(run):
            next(iter(()))

        assert StopIteration is type(run(looking(), "go", guards=[exhausted, max_steps(2)]).error)

    @pytest.mark.parametrize(
        "reason",
        ["answered", "refused", "truncated", "context_full", "empty_reply", "unfinished", "interrupted", "fatal"],
    )
    def test_the_loops_own_reasons_are_taken(self, reason):
        """A function cannot be called like a reason of the loop's own."""

        def guard(run):
            return None

        guard.__name__ = reason
        model = looking()
        with pytest.raises(ValueError, match=reason):
            run(model, "go", guards=[guard, max_steps(2)])
        assert 0 == model.calls

    def test_an_object_that_can_be_called(self):
        """An object with `__call__` is named after its class."""

        class Mood:
            def __call__(self, run):
                return "bad"

        assert "Mood" == run(looking(), "go", guards=[Mood(), max_steps(2)]).reason

    @pytest.mark.parametrize("own", ["fires", "gates", "usual_gates"])
    def test_what_looks_like_a_guard_and_is_none(self, own):
        """An object that says where it looks or when it fires is no plain function: that would be ignored."""
        mood = type("mood", (), {own: ("before_action",), "__call__": lambda self, run: None})
        model = looking()
        for guard in (mood(), mood):
            with pytest.raises(TypeError, match="mood has parts of a guard: derive its class from stoplib.Guard"):
                run(model, "go", guards=[guard, max_steps(2)])
            with pytest.raises(TypeError, match="mood has parts of a guard"):
                max_steps(2) | guard
        assert 0 == model.calls

    def test_an_async_function(self):
        """What it gives is closed, so that nothing warns of it later; the run is fatal and says why."""

        async def later(run):
            return "stop"

        outcome = run(looking(), "go", guards=[later, max_steps(2)])
        assert "fatal" == outcome.reason
        assert "it must return a text or None, and not be async (in the guard later)" in outcome.detail

    def test_equal_functions_are_equal_guards(self):
        """The same function twice is the same value."""
        assert as_guard(unlucky) == as_guard(unlucky)
        assert Function(unlucky) != max_steps(2)


class every_other(Guard):
    """A guard class of one's own, with a limit and a gate."""

    n: int
    usual_gates = ("after_round",)

    def __call__(self, run):
        return f"{run.steps} is a multiple of {self.n}" if run.steps % self.n == 0 else None


class TestGuardOfOnesOwn:
    """A subclass of `Guard` is a guard like those of the package."""

    def test_it_works_like_the_others(self):
        """It has a name, a gate and a repr that is source, and it compares as a value."""
        outcome = run(looking(), "go", tools=LOOK, guards=[every_other(3), max_steps(9)])
        assert ("every_other", "3 is a multiple of 3", 3) == (outcome.reason, outcome.detail, outcome.tool_calls)
        assert every_other(3, gate="before_call") == eval(repr(every_other(3, gate="before_call")))
        assert "every_other(3)" == repr(every_other(3))

    def test_it_does_not_bound_unless_it_says_so(self):
        """A guard class bounds a run only if it claims to."""
        with pytest.raises(ValueError, match="do not bound"):
            run(looking(), "go", guards=[every_other(3)])

    def test_the_bare_base_class_is_no_rule(self):
        """`Guard()` itself does not say when it fires, so looking at it is an error."""
        outcome = run(looking(), "go", guards=[Guard(), max_steps(2)])
        assert ("fatal", NotImplementedError) == (outcome.reason, type(outcome.error))

    def test_a_limit_of_ones_own(self):
        """A subclass of `Limit` says what it measures; boundary and detail come with it."""

        class max_messages(Limit):
            unit = "messages"

            def measure(self, run):
                return len(run.messages), 5

        outcome = run(looking(), "go", tools=LOOK, guards=[max_messages(), max_steps(9)])
        assert ("max_messages", "5 of 5 messages used", 2) == (outcome.reason, outcome.detail, outcome.steps)

    def test_the_bare_limit_is_no_rule(self):
        """A limit that does not say what it measures is an error when it is looked at."""
        outcome = run(looking(), "go", guards=[Limit(), max_steps(2)])
        assert ("fatal", NotImplementedError) == (outcome.reason, type(outcome.error))

    def test_the_loops_own_reasons_are_taken_here_too(self):
        """A class cannot be called like a reason of the loop's own: its run would count as complete."""

        class answered(Guard):
            def __call__(self, run):
                return "says who?"

        with pytest.raises(ValueError, match="answered"):
            run(looking(), "go", guards=[answered(), max_steps(2)])

    def test_a_guard_without_a_gate_is_not_ignored(self):
        """A class that forgets to call the base's `validate` is looked at all the same, or refused."""

        class forgetful(Guard):
            bounds = True

            def validate(self):
                pass

            def __call__(self, run):
                return "stop" if run.steps else None

        model = script(call("look"), call("look"), answer("nobody stopped me"))
        try:
            reason = run(model, "go", tools=LOOK, guards=[forgetful()]).reason
        except ValueError:
            reason = "refused when built"
        assert reason in ("forgetful", "refused when built")

    def test_fires_and_says(self):
        """A guard class may say apart when it fires and what it says then; without words it is named."""

        class third(Guard):
            def fires(self, run):
                return run.steps == 3

        class wordy(third):
            def says(self, run):
                return "three is enough"

        for guard, detail in ((third(), "third() fired"), (wordy(), "three is enough")):
            outcome = run(looking(), "go", tools=LOOK, guards=[guard, max_steps(9)])
            assert (guard.name, detail, 3) == (outcome.reason, outcome.detail, outcome.steps)

    def test_it_says_a_text(self):
        """What it says is the detail of the outcome, so anything but a text ends the run as fatal."""
        silent = type("silent", (Guard,), {"fires": lambda self, run: True, "says": lambda self, run: None})
        outcome = run(looking(), "go", tools=LOOK, guards=[silent(), max_steps(9)])
        assert ("fatal", TypeError) == (outcome.reason, type(outcome.error))
        assert "guard silent says None; it must be a text" in outcome.detail

    @pytest.mark.parametrize("name", [None, "", 5])
    def test_its_name_is_a_text(self, name):
        """The name is the reason of a run, so a guard without one is refused."""
        nameless = type("nameless", (every_other,), {"name": name})
        with pytest.raises(TypeError, match=rf"its name is {name!r}; it must be a text"):
            run(looking(), "go", guards=[nameless(2), max_steps(9)])


class TestAlarms:
    """While none of its counters has reached its number, a guard is not asked."""

    class noting(max_steps):
        """A step cap that notes when it is asked."""

        asked = []
        alarms = {"steps": 3}

        def fires(self, run):
            self.asked.append(run.steps)
            return super().fires(run)

    def test_it_is_asked_from_its_number_on(self):
        """With an alarm at 3 steps and a limit of 5 it is asked at 3, 4 and 5."""
        self.noting.asked.clear()
        assert 5 == run(looking(), "go", tools=LOOK, guards=[self.noting(5)]).steps
        assert [3, 4, 5] == self.noting.asked

    @pytest.mark.parametrize("counter", ["", "steps or True", "repeats.", "print()"])
    def test_an_alarm_is_a_counter(self, counter):
        """What can be no counter of a run is refused, and not run as code."""
        kind = type("kind", (every_other,), {"alarms": {counter: 3}, "fires": every_other.fires})
        with pytest.raises(ValueError, match="is no counter of a run, such as 'steps' or 'repeats.call'"):
            run(looking(), "go", guards=[kind(2), max_steps(9)])

    def test_without_alarms_it_is_asked_each_time(self):
        """A guard that says nothing about alarms is asked at every step."""
        seen = []

        class nosy(Guard):
            def fires(self, run):
                seen.append(run.steps)

        run(looking(), "go", tools=LOOK, guards=[nosy(), max_steps(3)])
        assert [0, 1, 2, 3] == seen

    @pytest.mark.parametrize("method", ["fires", "measure", "__call__"])
    def test_a_guard_that_looks_in_its_own_way(self, method):
        """A guard made from another one, which looks in its own way, does not inherit its alarms."""
        looks = {
            "fires": lambda self, run: run.steps >= 2,
            "measure": lambda self, run: (run.steps, 2),
            "__call__": lambda self, run: "two" if run.steps >= 2 else None,
        }
        stricter = type("stricter", (stoplib.too_many_errors,), {method: looks[method], "__annotations__": {}})
        outcome = run(looking(), "go", tools=LOOK, guards=[stricter(9), max_steps(5)])
        assert ("stricter", 2) == (outcome.reason, outcome.steps)

    def test_the_order_stays(self):
        """Of two guards that fire at once the first one gives the reason, whichever is asked each time."""
        for guards, first in (([at_two, max_steps(2)], "at_two"), ([max_steps(2), at_two], "max_steps")):
            outcome = run(looking(), "go", tools=LOOK, guards=guards)
            assert (first, 2, 2) == (outcome.reason, outcome.steps, len(outcome.fired))


def at_two(run):
    """Fires from step 2, and is asked each time."""
    return "two" if run.steps >= 2 else None


class TestGuardSet:
    """What `guards=` takes."""

    @pytest.mark.parametrize("guards", [[], (), [unlucky], [unlucky, every_other(2)], [unlucky & max_steps(2)]])
    def test_guards_must_bound_the_run(self, guards):
        """Guards of which none ends every run are refused with advice, before the model is called."""
        model = looking()
        with pytest.raises(ValueError, match=r"max_steps\(n\)"):
            run(model, "go", guards=guards)
        assert 0 == model.calls

    @pytest.mark.parametrize(
        "guards",
        [
            [unlucky | max_steps(2)],
            [time_limit(5)],
            [time_limit(5) & max_steps(2)],
            [(unlucky | max_steps(2)) & time_limit(5)],
            iter([max_steps(2)]),
        ],
    )
    def test_what_bounds(self, guards):
        """A limit bounds, alone, as one side of `|`, or with something that bounds on both sides of `&`."""
        assert GuardSet(guards)

    @pytest.mark.parametrize("guards", [max_steps(2), None, 5, max_steps, max_steps(2) | unlucky])
    def test_one_guard_alone_is_no_list(self, guards):
        """A guard without its brackets is refused with advice."""
        with pytest.raises(TypeError, match=r"guards must be a list such as \[max_steps\(10\)\]"):
            run(looking(), "go", guards=guards)

    @pytest.mark.parametrize("guard", [max_steps, time_limit])
    def test_a_kind_of_guard_is_no_guard(self, guard):
        """`guards=[max_steps]` is refused, and asks for the limit."""
        with pytest.raises(TypeError, match=rf"{guard.__name__} is a kind of guard: give it its limit"):
            run(looking(), "go", guards=[guard])

    @pytest.mark.parametrize("guard", [None, 5, "max_steps", (max_steps(2),)])
    def test_what_is_no_guard_is_refused(self, guard):
        """What can neither be called nor is a guard is refused with its value."""
        with pytest.raises(TypeError) as caught:
            run(looking(), "go", guards=[max_steps(2), guard])
        assert f"not a guard: {guard!r}" in str(caught.value)

    @pytest.mark.parametrize("gates", [(), ("somewhere",), ("before_call", "later")])
    def test_gates_that_are_none(self, gates):
        """A guard that would look nowhere, or at a gate that there is not, is refused."""
        with pytest.raises(ValueError, match="nowhere: its gates are .*; there are before_call, before_action"):
            run(looking(), "go", guards=[type("nowhere", (every_other,), {"usual_gates": gates})(2), max_steps(2)])

    def test_all_that_fire_are_recorded_in_order(self):
        """Every guard of the gate that fires is on `fired`; the first one given names the reason."""
        outcome = run(looking(), "go", tools=LOOK, guards=[unlucky, time_limit(999), max_steps(2)])
        assert ("unlucky", ("unlucky", "max_steps")) == (outcome.reason, outcome.fired)
        outcome = run(looking(), "go", tools=LOOK, guards=[max_steps(2), unlucky])
        assert ("max_steps", ("max_steps", "unlucky")) == (outcome.reason, outcome.fired)

    def test_the_earlier_gate_comes_first(self):
        """Across gates the step's order decides, not the order given."""
        guards = [max_steps(1), max_steps(1, gate="after_round"), every_other(1, gate="before_action")]
        assert "every_other" == run(looking(), "go", tools=LOOK, guards=guards).reason

    def test_the_list_can_change_meanwhile(self):
        """The guards are those that were given: emptying the list during the run changes nothing."""
        guards = [max_steps(3)]
        outcome = run(looking(), "go", tools={"look": guards.clear}, guards=guards)
        assert ("max_steps", 3, []) == (outcome.reason, outcome.steps, guards)

    def test_ten_steps_by_default(self):
        """Without `guards=` a run ends after ten steps."""
        model = looking()
        assert ("max_steps", 10) == (run(model, "go", tools=LOOK).reason, model.calls)


def passes():
    """A check that passes."""
    return True


EVENT = threading.Event()

# Each guard of the package with what it needs, and where it looks by itself.
EACH = [
    (stoplib.max_steps, (3,), ("before_call",)),
    (stoplib.time_limit, (3,), ("before_call",)),
    (stoplib.max_tool_calls, (3,), ("before_call", "before_action")),
    (stoplib.token_budget, (3,), ("before_call",)),
    (stoplib.cost_budget, (3,), ("before_call",)),
    (stoplib.rough_token_budget, (3,), ("before_call",)),
    (stoplib.repeated_call, (3,), ("before_action",)),
    (stoplib.repeated_round, (), ("before_action", "after_round")),
    (stoplib.going_in_circles, (), ("before_action", "after_round")),
    (stoplib.no_new_results, (3,), ("after_round",)),
    (stoplib.too_many_errors, (), ("after_round",)),
    (stoplib.too_many_refusals, (), ("after_round",)),
    (stoplib.goal_reached, (passes,), ("after_round",)),
    (stoplib.cancelled, (EVENT,), GATES),
]
KINDS = [kind for kind, _, _ in EACH]


def test_each_is_here():
    """The table below holds every guard that the package shows."""
    shown = {value for name in stoplib.__all__ if isinstance(value := getattr(stoplib, name), type)}
    guards = {value for value in shown if issubclass(value, Guard)}
    assert set(KINDS) == guards - {Guard, Limit} - {getattr(stoplib, "daily_cap", Guard)}


@pytest.mark.parametrize(("kind", "needed", "gates"), EACH, ids=[kind.__name__ for kind in KINDS])
class TestEachGuard:
    """What holds for every guard of the package."""

    def test_its_name_is_the_reason(self, kind, needed, gates):
        """A guard is called like its reason, and can be imported from the package itself."""
        assert kind.__name__ in stoplib.__all__
        assert kind.__name__ == kind(*needed).name

    def test_where_it_looks(self, kind, needed, gates):
        """It looks at its own gates; `gate=` moves it to one."""
        assert gates == kind(*needed).gates
        assert [(gate,) for gate in GATES] == [kind(*needed, gate=gate).gates for gate in GATES]

    def test_is_a_value(self, kind, needed, gates):
        """Made twice it is equal, with an equal hash; at another gate it is another one."""
        assert kind(*needed) == kind(*needed)
        assert 1 == len({kind(*needed), kind(*needed)})
        assert kind(*needed) != kind(*needed, gate="after_round")

    def test_is_frozen(self, kind, needed, gates):
        """Nothing of it can be set, added or deleted."""
        guard = kind(*needed)
        for change in (
            lambda: setattr(guard, "gate", None),
            lambda: setattr(guard, "n", 9),
            lambda: delattr(guard, "n"),
        ):
            with pytest.raises(AttributeError):
                change()
        assert kind(*needed) == guard

    def test_refuses_an_unknown_gate(self, kind, needed, gates):
        """A gate that does not exist is refused with the ones that do."""
        with pytest.raises(ValueError, match="before_call, before_action, after_round"):
            kind(*needed, gate="sometimes")

    def test_refuses_unknown_options(self, kind, needed, gates):
        """An option that does not exist, or one argument too many, is a TypeError."""
        with pytest.raises(TypeError):
            kind(*needed, limits=3)
        with pytest.raises(TypeError):
            kind(*needed, True, True, True, True)

    def test_needs_its_limit(self, kind, needed, gates):
        """Without what it needs it is a TypeError that names it."""
        if needed:
            with pytest.raises(TypeError, match=kind.__name__):
                kind()
        else:
            assert f"{kind.__name__}()" == repr(kind())

    def test_as_a_class(self, kind, needed, gates):
        """The bare class among the guards is refused with advice."""
        with pytest.raises(TypeError, match=rf"{kind.__name__} is a kind of guard: give it its limit"):
            GuardSet([kind])

    def test_looking_changes_nothing(self, kind, needed, gates):
        """Looked at at the start of a run it says nothing twice, or the same text twice, and counts nothing."""
        guard, run_so_far = kind(*needed), state()
        before = {name: value for name, value in vars(run_so_far).items() if name != "notes"}
        assert guard(run_so_far) == guard(run_so_far)
        assert before == {name: value for name, value in vars(run_so_far).items() if name != "notes"}

    def test_only_a_text_or_none(self, kind, needed, gates):
        """Looked at directly it gives a text or None, at the start and far over every limit."""
        far = state(steps=99, seconds=99.0)
        far.tokens, far.tool_calls, far.characters, far.spent, far.errors, far.refusals = 99, 99, 999, 99.0, 99, 99
        said = [kind(*needed)(run_so_far) for run_so_far in (state(), far)]
        assert {str, type(None)} >= {type(text) for text in said}


class TestCombinationsOfAllKinds:
    """Guards of all kinds can be joined."""

    @pytest.mark.parametrize(("kind", "needed", "gates"), EACH, ids=[kind.__name__ for kind in KINDS])
    def test_any_and_all(self, kind, needed, gates):
        """`|` keeps each guard at its own gates; `&` looks at the latest gate of both."""
        guard = kind(*needed)
        assert (guard, max_steps(9)) == (guard | max_steps(9)).parts
        latest = max((*gates, "before_call"), key=GATES.index)
        assert (latest,) == (guard & max_steps(9)).gates

    def test_both_must_fire(self):
        """A budget that is used up ends the run only once the rounds repeat as well, at the gate after the round."""
        both = stoplib.max_tool_calls(2) & stoplib.going_in_circles()
        model = script(*[call("look", n=n) for n in (1, 2, 3, 3, 3)])
        outcome = run(model, "go", tools={"look": lambda n: n}, guards=[both, max_steps(9)])
        assert ("max_tool_calls & going_in_circles", 4, 4) == (outcome.reason, outcome.steps, outcome.tool_calls)

    def test_what_looks_at_two_gates_stops_at_the_later_one(self):
        """Joined by `&`, a quota is looked at where the other guard looks, and so no longer before the call."""
        both = stoplib.max_tool_calls(2) & stoplib.repeated_call(2)
        assert ("before_action",) == both.gates
        outcome = run(looking(), "go", tools=LOOK, guards=[both, max_steps(9)])
        assert (3, 2) == (outcome.steps, outcome.tool_calls)
