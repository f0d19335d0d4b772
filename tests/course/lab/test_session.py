"""One run driven by hand: where it waits, what a person says, and how it ends."""

import pytest

from stoplib import run
from stoplib.course.lab.choices import ALL, MODELS, NOBODY, TASK, YOUR_REPLIES
from stoplib.course.lab.session import FUSE, Session
from stoplib.course.lab.settings import choose


def statuses(session):
    return [result.status for step in session.outcome.trace for result in step.results]


def insisting(**limits):
    return Session(choose({"max_steps": 6, **limits}, model="insists", ask=ALL))


class TestStepping:
    """A run that waits before each model call."""

    def test_it_has_begun_and_made_no_call(self):
        """A new session waits before its first model call."""
        session = Session(choose({"max_steps": 3}))
        assert (session.outcome.reason, session.outcome.steps, session.over) == ("running", 0, False)
        assert session.sentence == "The run has not begun."

    def test_a_step_is_one_call_and_its_tools(self):
        """After each step the model has been called once more, and each request has its result."""
        session = Session(choose({"max_steps": 9}, model="asks in batches"))
        for steps in (1, 2, 3):
            session.step()
            assert (session.outcome.steps, session.outcome.tool_calls) == (steps, 5 * steps)
            assert not session.over

    @pytest.mark.parametrize("limit", [0, 1, 3])
    def test_the_end_comes_with_the_step_that_reaches_the_limit(self, limit):
        """No press is left over: the step that uses the last of a limit is the one that ends the run."""
        session = Session(choose({"max_steps": limit}))
        for _ in range(limit):
            assert not session.over
            session.step()
        assert (session.over, session.outcome.reason, session.outcome.steps) == (True, "max_steps", limit)

    @pytest.mark.parametrize("name", MODELS)
    def test_stepping_is_running(self, name):
        """Step by step, all at once, or with `run`: the outcome is the same."""
        chosen = choose({"going_in_circles": 3, "token_budget": 20_000, "max_steps": 12}, model=name)
        stepped, at_once = Session(chosen), Session(chosen)
        while not stepped.over:
            stepped.step()
        at_once.run()
        live = run(task=TASK, guards=chosen.guards, **chosen.run)
        assert stepped.outcome == at_once.outcome == live

    def test_after_the_end_nothing_happens(self):
        """Step, run, stop and answer do nothing to a run that is over."""
        session = Session(choose({"max_steps": 2}))
        session.run()
        before = session.outcome
        session.step(), session.run(), session.stop(), session.answer(True)
        assert session.outcome is before


class TestStopping:
    """A person who presses Stop."""

    @pytest.mark.parametrize("steps", [0, 1, 4])
    def test_at_any_step(self, steps):
        """The run ends as interrupted after the steps that were made, with nothing lost."""
        session = Session(choose({"max_steps": 9}))
        for _ in range(steps):
            session.step()
        session.stop()
        assert (session.outcome.reason, session.outcome.steps) == ("interrupted", steps)
        assert statuses(session) == ["ok"] * steps
        words = "1 step" if steps == 1 else f"{steps} steps"
        assert session.sentence == f"You stopped the run after {words}: interrupted."

    def test_while_a_person_is_asked(self):
        """The call that was asked about has not run, and its request has a result that says so."""
        session = insisting()
        session.step()
        session.stop()
        assert (session.outcome.reason, statuses(session)) == ("interrupted", ["not_run"])
        assert session.question is None

    def test_a_clock_that_stands_still_is_a_case_for_the_fuse(self):
        """Where none of the guards ends the run, the lab does, and says whose fault it is."""
        session = Session(choose({"time_limit": 3}, tick=0))
        session.run()
        assert session.outcome.steps == FUSE
        assert session.sentence == f"The lab ended the run after {FUSE} steps: none of these guards does."


class TestAsking:
    """A person who is asked before a tool runs."""

    def test_nothing_goes_on_without_an_answer(self):
        """While a person is asked, neither Step nor Run gets anywhere."""
        session = insisting()
        session.run()
        assert str(session.question) == "delete(path='1.txt')"
        session.step(), session.run()
        assert (session.outcome.steps, statuses(session)) == (1, [])
        assert session.sentence == "Step 1 asks for delete(path='1.txt'). May it run? Approve or Decline."

    def test_yes_and_no(self):
        """A yes lets the tool run, a no tells the model that it was declined; the guards look after each."""
        session = insisting(too_many_refusals=2)
        for yes in (True, False, False):
            session.run()
            session.answer(yes)
        assert statuses(session) == ["ok", "declined", "declined"]
        assert session.outcome.reason == "too_many_refusals"
        assert session.answers == [True, False, False]

    def test_only_calls_that_act(self):
        """Looking is not asked about, deleting is."""
        session = Session(choose({"max_steps": 9}, model="cleans up", ask="calls that act"))
        session.run()
        assert (session.outcome.steps, str(session.question)) == (2, "delete(path='1.txt')")

    def test_nobody_is_asked_in_vain(self):
        """A guard that looks before the action ends the run before the person is asked."""
        session = Session(choose({"repeated_call": 1, "max_steps": 9}, ask=ALL))
        session.run()
        assert (session.outcome.reason, session.answers) == ("repeated_call", [])

    def test_each_call_of_a_batch_is_asked_about(self):
        """Five calls in one reply are five questions."""
        session = Session(choose({"max_steps": 1}, model="asks in batches", ask=ALL))
        session.run()
        for yes in (True, False, True, True, True):
            session.answer(yes)
        assert statuses(session) == ["ok", "declined", "ok", "ok", "ok"]

    def test_answers_of_before_are_used_first(self):
        """A session that is given answers asks only when they have run out."""
        chosen = choose({"max_steps": 6}, model="insists", ask=ALL)
        session = Session(chosen, answers=[True, False])
        session.run()
        assert (statuses(session), session.answers) == (["ok", "declined"], [True, False])
        assert session.question is not None

    def test_without_a_person(self):
        """If nobody is to be asked, answers that were given before count for nothing."""
        session = Session(choose({"max_steps": 2}, model="insists", ask=NOBODY), answers=[False, False])
        session.run()
        assert statuses(session) == ["ok", "ok"]


class TestReplying:
    """A person who plays the model."""

    def test_it_waits_for_the_next_reply(self):
        """When the replies are used up, the run waits before the next model call."""
        session = Session(choose({"max_steps": 5}, model=YOUR_REPLIES).reply("a search"))
        session.run()
        assert (session.wants_reply, session.over, session.outcome.steps) == (True, False, 1)
        assert session.sentence == "The loop calls the model for step 2: what does it reply?"

    def test_a_reply_can_end_it(self):
        """A cut-off reply ends the run, and nobody is asked for another one."""
        session = Session(choose({"max_steps": 5}, model=YOUR_REPLIES).reply("half a request, cut off"))
        session.run()
        assert (session.wants_reply, session.outcome.reason, statuses(session)) == (False, "truncated", ["not_run"])


class TestSentences:
    """How a run ended, in a sentence."""

    @pytest.mark.parametrize(
        ("guards", "values", "sentence"),
        [
            ({"max_steps": 4}, {}, "max_steps stopped the run after 4 steps: 4 of 4 steps used."),
            ({"max_steps": 1}, {}, "max_steps stopped the run after 1 step: 1 of 1 steps used."),
            ({"time_limit": 3, "max_steps": 9}, {}, "time_limit stopped the run after 2 steps: 3 of 3 s used."),
            (
                {"time_limit": 12, "max_steps": 9},
                {"tick": 5},
                "time_limit stopped the run after 2 steps: 15 of 12 s used, 3 s over.",
            ),
            (
                {"time_limit": 11, "max_steps": 10},
                {},
                "time_limit stopped the run after 10 steps: 11 of 11 s used."
                " max_steps fired as well: the first in the list gives the reason.",
            ),
            ({"max_steps": 9}, {"model": "answers in step 5"}, "The model answered in step 5; no guard fired."),
            (
                {"max_steps": 9},
                {"model": "refuses"},
                "The run stopped after 1 step: refused, the API's stop reason is 'refusal'.",
            ),
        ],
    )
    def test_the_end(self, guards, values, sentence):
        """Who ended it, when, and with what numbers; in a tie, who else."""
        session = Session(choose(guards, **values))
        session.run()
        assert session.sentence == sentence

    @pytest.mark.parametrize("guards", [{}, {"repeated_call": 3}, {"going_in_circles": 2, "cost_budget": 0.5}])
    def test_guards_that_bound_nothing(self, guards):
        """A guard set that lets a run go on for ever makes no run, and the sentence says what to add."""
        session = Session(choose(guards))
        session.step(), session.run(), session.stop()
        assert (session.over, session.outcome.steps) == (True, 0)
        assert session.sentence.startswith("This cannot run. guards=[")
        assert "do not bound the run" in session.sentence and "Add max_steps(n)" in session.sentence
