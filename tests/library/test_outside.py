"""Guards that ask the world outside the run: a goal that is reached, a flag that somebody sets."""

# ruff: noqa: SIM300

import threading

import pytest

import stoplib
from stoplib import (
    Reply,
    answer,
    batch,
    call,
    cancelled,
    goal_reached,
    max_steps,
    max_tool_calls,
    run,
    script,
    steps,
)
from stoplib.guards import GATES

from .helpers import LOOK, Later, always, counting, looking, requests, results


def passes():
    """A check that passes."""
    return True


def fails():
    """A check that does not."""
    return False


class TestGoalReached:
    """`goal_reached(check)`: the task is done when the world says so."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "goal_reached" in stoplib.__all__

    @pytest.mark.parametrize("rounds", [1, 2, 5])
    def test_the_run_is_complete(self, rounds):
        """The run ends after the round that reaches the goal, and it is complete."""
        done = []
        tools = {"look": lambda: done.append("x")}
        outcome = run(looking(), "go", tools=tools, guards=[goal_reached(lambda: len(done) == rounds), max_steps(9)])
        assert ("goal_reached", True, rounds, ("goal_reached",)) == (
            outcome.reason,
            outcome.complete,
            outcome.steps,
            outcome.fired,
        )
        assert "the goal check passes" == outcome.detail

    def test_the_whole_round_has_run(self):
        """A goal that is reached in the middle of a batch lets the batch finish."""
        done = []
        tools = {"look": lambda: done.append("x")}
        model = always(batch(*[call("look")] * 3))
        outcome = run(model, "go", tools=tools, guards=[goal_reached(lambda: bool(done)), max_steps(9)])
        assert ("goal_reached", 3) == (outcome.reason, outcome.tool_calls)

    def test_the_answer_is_what_was_said_last(self):
        """What the model said beside its last request is the answer; the outcome is reported as complete."""
        model = always(Reply("saving it now", call("look").calls))
        outcome = run(model, "go", tools=LOOK, guards=[goal_reached(passes), max_steps(9)])
        assert ("saving it now", "complete") == (outcome.answer, outcome.report()["status"])

    def test_an_answer_that_is_not_true(self):
        """A model that says "saved" although the check says no is not complete, and says why."""
        outcome = run(always(answer("saved")), "go", guards=[goal_reached(fails), max_steps(9)])
        assert ("unfinished", False, None, "saved") == (outcome.reason, outcome.complete, outcome.answer, outcome.text)
        assert "the model answered, but the goal check does not pass" == outcome.detail

    def test_an_answer_that_is_true(self):
        """A model that answers when the goal is reached has answered."""
        outcome = run(always(answer("saved")), "go", guards=[goal_reached(passes), max_steps(9)])
        assert ("answered", "saved") == (outcome.reason, outcome.answer)

    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            (Reply("no", stop="refusal"), "refused"),
            (Reply("sav", stop="length"), "truncated"),
            (answer(""), "empty_reply"),
            (Reply("x", stop="what"), "unfinished"),
        ],
    )
    def test_other_ends_are_not_asked_about(self, reply, reason):
        """A reply that ends the run without an answer has its own reason, whatever the check says."""
        check = counting(lambda messages: True)
        outcome = run(always(reply), "go", guards=[goal_reached(lambda: check([])), max_steps(9)])
        assert (reason, 0) == (outcome.reason, check.calls)

    def test_how_often_it_is_asked(self):
        """The check is asked once after each round and once for the answer."""
        check = counting(lambda messages: False)
        model = script(call("look"), batch(call("look"), call("look")), answer("done"))
        run(model, "go", tools=LOOK, guards=[goal_reached(lambda: check([])), max_steps(9)])
        assert 3 == check.calls

    def test_every_goal_must_be_reached_for_an_answer(self):
        """With two goals, an answer needs both."""
        guards = [goal_reached(passes), goal_reached(fails), max_steps(9)]
        assert "unfinished" == run(always(answer("saved")), "go", guards=guards).reason

    def test_inside_any_of(self):
        """Joined by `|`, it ends the run and objects as if it stood alone."""
        done = []
        tools = {"look": lambda: done.append("x")}
        guards = [goal_reached(lambda: len(done) == 2) | max_steps(5)]
        assert "goal_reached" == run(looking(), "go", tools=tools, guards=guards).reason
        assert "unfinished" == run(always(answer("x")), "go", guards=[goal_reached(fails) | max_steps(5)]).reason

    def test_at_another_gate(self):
        """Before the call it is asked first of all: what is done already costs nothing."""
        model = looking()
        outcome = run(model, "go", tools=LOOK, guards=[goal_reached(passes, gate="before_call"), max_steps(9)])
        assert ("goal_reached", True, 0) == (outcome.reason, outcome.complete, model.calls)

    @pytest.mark.parametrize("where", ["after a round", "for an answer"])
    def test_a_check_that_raises(self, where):
        """A check that fails is never a check that passes: the run ends as fatal, with the exception."""
        model = looking() if where == "after a round" else always(answer("x"))
        outcome = run(model, "go", tools=LOOK, guards=[goal_reached(lambda: 1 / 0), max_steps(9)])
        assert ("fatal", ZeroDivisionError, False) == (outcome.reason, type(outcome.error), outcome.complete)

    def test_a_check_that_raises_after_a_round_is_named(self):
        """The detail says that it was this guard."""
        outcome = run(looking(), "go", tools=LOOK, guards=[goal_reached(lambda: 1 / 0), max_steps(9)])
        assert "goal_reached" in outcome.detail

    def test_a_check_that_raises_for_an_answer_is_named(self):
        """The detail says that it was this guard, also where the model has answered."""
        outcome = run(always(answer("x")), "go", guards=[goal_reached(lambda: 1 / 0), max_steps(9)])
        assert "goal_reached" in outcome.detail

    @pytest.mark.parametrize("reply", [call("look"), answer("saved")], ids=["after a round", "for an answer"])
    def test_an_async_check_never_passes_unasked(self, reply):
        """A check that has to be awaited has said nothing yet, so the run is not complete."""
        guards = [goal_reached(lambda: Later(False)), max_steps(3)]
        assert not run(always(reply), "go", tools=LOOK, guards=guards).complete

    @pytest.mark.parametrize("check", [None, True, "done", 5])
    def test_refuses_what_cannot_be_asked(self, check):
        """A value instead of a function is refused."""
        with pytest.raises(TypeError, match="goal_reached: check must be a function"):
            goal_reached(check)

    def test_no_summary_of_what_is_done(self):
        """A goal that is reached needs no closing summary."""
        model = looking()
        guards = [goal_reached(passes), max_steps(9)]
        outcome = run(model, "go", tools=LOOK, guards=guards, summarize=True)
        assert (None, 1) == (outcome.summary, model.calls)

    def test_it_does_not_bound(self):
        """A goal may never be reached, so alone it is refused."""
        with pytest.raises(ValueError, match="do not bound"):
            run(looking(), "go", guards=[goal_reached(fails)])

    def test_nothing_else_may_be_called_like_it(self):
        """A function of that name would make a run complete that is not."""

        def goal_reached(run):
            return "says who?"

        with pytest.raises(ValueError, match="goal_reached"):
            run(looking(), "go", guards=[goal_reached, max_steps(3)])

    def test_is_a_value(self):
        """The same check gives equal guards."""
        assert goal_reached(passes) == goal_reached(passes)
        assert goal_reached(passes) != goal_reached(fails)
        assert goal_reached(passes) != goal_reached(passes, gate="before_call")

    @pytest.mark.parametrize("guard", [goal_reached(passes), goal_reached(fails, gate="before_call")])
    def test_repr_is_source(self, guard):
        """Evaluating the repr gives an equal guard, and it holds no address."""
        assert " at 0x" not in repr(guard)
        assert guard == eval(repr(guard))


class Flag:
    """A flag of one's own."""

    def __init__(self):
        self.up = False

    def is_set(self):
        return self.up


def setting(event, step, reply=None):
    """A model that sets the flag at this step, and always asks for `look`."""

    def model(messages):
        if sum(m["role"] == "assistant" for m in messages) + 1 == step:
            event.set()
        return reply or call("look")

    return counting(model)

    def test_a_check_may_take_the_run(self):
        """A check with a parameter is given the run; one whose parameter has a default is not."""
        guards = [goal_reached(lambda run: run.steps >= 2), max_steps(9)]
        outcome = run(always(call("look")), "go", tools=LOOK, guards=guards)
        assert ("goal_reached", 2) == (outcome.reason, outcome.steps)
        asked = []
        guards = [goal_reached(lambda given=7: asked.append(given)), max_steps(9)]
        run(script(call("look"), answer("done")), "go", tools=LOOK, guards=guards)
        assert [7, 7] == asked


class TestCancelled:
    """`cancelled(event)`: somebody has set a flag."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "cancelled" in stoplib.__all__

    def test_set_while_the_model_runs(self):
        """Set while the model is called, it stops before any tool of that reply runs."""
        event = threading.Event()
        model = setting(event, 2)
        outcome = run(model, "go", tools=LOOK, guards=[cancelled(event), max_steps(9)])
        assert ("cancelled", 2, 1) == (outcome.reason, model.calls, outcome.tool_calls)
        assert requests(outcome.messages) == results(outcome.messages)
        assert "somebody cancelled the run" == outcome.detail

    def test_set_while_a_tool_runs(self):
        """Set while a tool runs, it stops after that batch, without another model call."""
        event, model = threading.Event(), always(batch(call("look"), call("look")))
        outcome = run(model, "go", tools={"look": event.set}, guards=[cancelled(event), max_steps(9)])
        assert ("cancelled", 1, 2) == (outcome.reason, model.calls, outcome.tool_calls)

    def test_set_while_a_person_is_asked(self):
        """Set at the question, what was let through still runs, and then it stops."""
        event = threading.Event()
        outcome = run(
            looking(),
            "go",
            tools=LOOK,
            approve=lambda asked: not event.set(),
            guards=[cancelled(event), max_steps(9)],
        )
        assert ("cancelled", 1) == (outcome.reason, outcome.steps)

    def test_an_answer_comes_first(self):
        """Set while the model answers, the answer stands."""
        event = threading.Event()
        outcome = run(setting(event, 1, answer("done")), "go", guards=[cancelled(event), max_steps(9)])
        assert ("answered", True) == (outcome.reason, event.is_set())

    def test_from_another_thread(self):
        """Another thread can stop a run that would go on."""
        event = threading.Event()
        started = threading.Event()

        def press():
            started.wait(5)
            event.set()

        thread = threading.Thread(target=press)
        thread.start()

        def look():
            started.set()
            event.wait(5)

        outcome = run(looking(), "go", tools={"look": look}, guards=[cancelled(event), max_steps(9)])
        thread.join()
        assert ("cancelled", 1) == (outcome.reason, outcome.steps)

    def test_a_flag_set_before_belongs_to_no_run(self):
        """A flag that is up when the run starts does not stop it."""
        event = threading.Event()
        event.set()
        outcome = run(looking(), "go", tools=LOOK, guards=[cancelled(event), max_steps(3)])
        assert ("max_steps", ("max_steps",)) == (outcome.reason, outcome.fired)

    def test_a_flag_that_stopped_one_run_does_not_stop_the_next(self):
        """Left up after it stopped a run, it does not stop the next; taken down and set again, it does."""
        event, guards = threading.Event(), []
        guards = [cancelled(event), max_steps(3)]
        model = setting(event, 1)
        reasons = [run(model, "go", tools=LOOK, guards=guards).reason for _ in range(2)]
        event.clear()
        reasons.append(run(model, "go", tools=LOOK, guards=guards).reason)
        assert ["cancelled", "max_steps", "cancelled"] == reasons

    def test_a_flag_that_is_taken_down_and_set_again_in_the_run(self):
        """Up at the start, taken down, and set again by somebody during the run: that is a cancellation of this run."""
        event = threading.Event()
        event.set()
        presses = iter([event.clear, lambda: None, event.set, lambda: None, lambda: None, lambda: None])
        outcome = run(looking(), "go", tools={"look": lambda: next(presses)()}, guards=[cancelled(event), max_steps(6)])
        assert ("cancelled", 3) == (outcome.reason, outcome.steps)

    def test_two_flags(self):
        """Each guard looks at its own flag."""
        old, new = threading.Event(), threading.Event()
        old.set()
        outcome = run(setting(new, 2), "go", tools=LOOK, guards=[cancelled(old), cancelled(new), max_steps(9)])
        assert ("cancelled", ("cancelled",), 2) == (outcome.reason, outcome.fired, outcome.steps)

    def test_two_runs_at_once(self):
        """A run that started with the flag up and one that started before do not disturb each other."""
        event = threading.Event()
        guards = [cancelled(event), max_steps(3)]
        early = steps(looking(), "go", tools=LOOK, guards=guards)
        next(early)
        event.set()
        late = run(looking(), "go", tools=LOOK, guards=guards)
        assert ("max_steps", "cancelled") == (late.reason, list(early)[-1].outcome.reason)

    @pytest.mark.parametrize("join", [lambda g: g | max_steps(9), lambda g: g & max_steps(1)], ids=["|", "&"])
    def test_inside_a_combination(self, join):
        """Inside a combination a flag that was up at the start still belongs to no run, and a new one counts."""
        ends = []
        for up in (True, False):
            event = threading.Event()
            if up:
                event.set()
            outcome = run(setting(event, 2), "go", tools=LOOK, guards=[join(cancelled(event)), max_steps(4)])
            ends.append((outcome.reason.startswith("cancelled"), outcome.steps))
        assert [(False, 4), (True, 2)] == ends

    def test_anything_with_is_set(self):
        """Any object with `is_set()` is a flag."""
        flag = Flag()

        def look():
            flag.up = True

        outcome = run(looking(), "go", tools={"look": look}, guards=[cancelled(flag), max_steps(4)])
        assert "cancelled" == outcome.reason

    @pytest.mark.parametrize("event", [None, True, lambda: True, "set"])
    def test_refuses_what_is_no_flag(self, event):
        """What has no `is_set()` is refused."""
        with pytest.raises(TypeError, match=r"cancelled: event must have is_set\(\)"):
            cancelled(event)

    def test_no_summary(self):
        """Who cancels does not want another model call."""
        event = threading.Event()
        model = setting(event, 2)
        outcome = run(model, "go", tools=LOOK, guards=[cancelled(event), max_steps(9)], summarize=True)
        assert ("cancelled", None, 2) == (outcome.reason, outcome.summary, model.calls)

    def test_no_summary_if_another_guard_fires_too(self):
        """Also where another guard fires at the same moment and names the reason."""
        event, model = threading.Event(), looking()
        guards = [max_tool_calls(1, gate="after_round"), cancelled(event), max_steps(9)]
        outcome = run(model, "go", tools={"look": event.set}, guards=guards, summarize=True)
        assert (("max_tool_calls", "cancelled"), None, 1) == (outcome.fired, outcome.summary, model.calls)

    def test_it_does_not_bound(self):
        """Nobody may ever press the button, so alone it is refused."""
        with pytest.raises(ValueError, match="do not bound"):
            run(looking(), "go", guards=[cancelled(threading.Event())])

    @pytest.mark.parametrize("gate", GATES)
    def test_at_one_gate(self, gate):
        """It looks at all gates unless it is moved to one."""
        event = threading.Event()
        assert (GATES, (gate,)) == (cancelled(event).gates, cancelled(event, gate=gate).gates)
        model = setting(event, 2)
        outcome = run(model, "go", tools=LOOK, guards=[cancelled(event, gate=gate), max_steps(9)])
        assert ("cancelled", 2, 1 if gate == "before_action" else 2) == (
            outcome.reason,
            model.calls,
            outcome.tool_calls,
        )

    def test_is_a_value(self):
        """The same flag gives equal guards, other flags others."""
        event = threading.Event()
        assert cancelled(event) == cancelled(event)
        assert 1 == len({cancelled(event), cancelled(event)})
        assert cancelled(event) != cancelled(threading.Event())
