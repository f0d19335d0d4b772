"""All that a lab knows, without any widget: changes, presets, the race, and what can be shared."""

import json

import pytest

from stoplib.course.lab import LabState
from stoplib.course.lab.choices import ALL, GUARDS, YOUR_REPLIES
from stoplib.course.lab.racing import STEPS
from stoplib.course.lab.settings import choose
from stoplib.course.lab.state import LONGEST, PRESETS


@pytest.fixture
def state():
    return LabState("Lab", choose({"time_limit": 12, "max_steps": 10}))


def asked(*answers):
    """A run of the insisting model after these answers."""
    state = LabState("Lab", choose({"max_steps": 9}, model="insists", ask=ALL))
    for yes in answers:
        state.run()
        state.answer(yes)
    state.run()
    return state


class TestChanging:
    """A change makes a new run that goes as far as the last one had gone."""

    def test_at_the_end(self, state):
        """What was over is run to its end again."""
        state.run()
        state.change("max_steps", 4)
        assert state.sentence == "max_steps stopped the run after 4 steps: 4 of 4 steps used."

    @pytest.mark.parametrize("steps", [0, 1, 5])
    def test_in_the_middle(self, state, steps):
        """What was at a step is at the same step of the new run."""
        for _ in range(steps):
            state.step()
        state.change("model", "alternates")
        assert (state.outcome.steps, state.session.over) == (steps, False)
        assert [str(step.calls[0]) for step in state.outcome.trace[:1]] == ["search(query='stop')"] * (steps > 0)

    @pytest.mark.parametrize("steps", [0, 3])
    def test_after_a_stop(self, state, steps):
        """What the person had stopped is stopped again, at the same step of the new run."""
        for _ in range(steps):
            state.step()
        state.stop()
        state.change("model", "alternates")
        assert (state.outcome.reason, state.outcome.steps) == ("interrupted", steps)
        state.run()
        assert state.outcome.steps == 10

    def test_after_the_fuse(self):
        """A run that only the lab has ended is run again, to an end of its own if it has one now."""
        state = LabState("Lab", choose({"time_limit": 3}, tick=0))
        state.run()
        state.change("tick", 1)
        assert (state.outcome.reason, state.outcome.steps) == ("time_limit", 2)

    def test_a_limit_below_the_step(self, state):
        """A limit that the run had passed ends the new one."""
        for _ in range(5):
            state.step()
        state.change("max_steps", 3)
        assert (state.outcome.reason, state.outcome.steps) == ("max_steps", 3)

    def test_answers_are_kept(self):
        """A person who has answered is not asked the same again because a limit was changed."""
        state = asked(True, False)
        state.change("max_steps", 8)
        assert (state.session.answers, str(state.session.question)) == ([True, False], "delete(path='3.txt')")

    def test_what_cannot_be_changes_nothing(self, state):
        """A wrong value leaves settings and run as they were."""
        state.run()
        session = state.session
        with pytest.raises(ValueError, match="max_steps goes from 0 to 40"):
            state.change("max_steps", 41)
        assert state.session is session

    def test_a_guard_off_and_on(self, state):
        """A guard that is switched off keeps its limit for when it is on again."""
        state.run()
        state.switch("max_steps", False)
        assert state.outcome.reason == "time_limit"
        state.switch("max_steps", True)
        assert state.outcome.reason == "max_steps"

    def test_out_of_a_guard_set_that_cannot_run(self):
        """From settings that make no run, a change that bounds it leads back to one."""
        state = LabState("Lab", choose({"repeated_call": 3}, model="retries"))
        state.run()
        state.switch("max_steps", True)
        assert state.outcome.reason == "repeated_call"


class TestDoing:
    """Run, step, stop, reset."""

    def test_step_and_run_begin_anew_after_the_end(self, state):
        """After the end the next step is the first one of a new run, and Run runs all of it."""
        state.run()
        state.step()
        assert (state.outcome.steps, state.session.over) == (1, False)
        state.run()
        state.run()
        assert state.outcome.steps == 10

    def test_run_goes_on_from_where_it_is(self, state):
        """In the middle of a run, Run goes on to its end."""
        state.step()
        session = state.session
        state.run()
        assert state.session is session
        assert session.over

    def test_stop_and_reset(self, state):
        """Stop ends the run, Reset goes back to before its first step."""
        state.step()
        state.stop()
        assert state.outcome.reason == "interrupted"
        state.reset()
        assert (state.outcome.reason, state.outcome.steps) == ("running", 0)

    def test_replies(self):
        """Each reply goes on with the run; after the end the next one begins another run; Reset forgets them."""
        state = LabState("Lab", choose({"max_steps": 5}, model=YOUR_REPLIES))
        state.reply("a search")
        state.reply("a pause")
        assert state.outcome.steps == 2
        state.reply("a refusal")
        assert (state.outcome.reason, state.outcome.steps) == ("refused", 3)
        state.reply("a search")
        assert (state.outcome.reason, state.outcome.steps) == ("running", 1)
        state.reset()
        assert (state.outcome.steps, state.settings.replies) == (0, ())
        assert state.behaviour == "You are the model."

    @pytest.mark.parametrize("name", PRESETS)
    def test_a_preset_sets_the_guards_alone(self, state, name):
        """The guards are those of the preset; the model and the clock stay."""
        state.change("model", "alternates")
        state.change("tick", 2)
        state.preset(name)
        assert state.settings.guards == PRESETS[name].guards
        assert (state.settings["model"], state.settings["tick"]) == ("alternates", 2)


class TestRace:
    """Each guard alone, against this model left alone."""

    def test_every_guard_is_in_it(self, state):
        """Guards that are off race as well, with their limits, and are marked as off."""
        outcome, lanes = state.race
        assert outcome.steps == STEPS
        assert {lane.name.removesuffix(" (off)") for lane in lanes} == set(GUARDS)
        assert {lane.name for lane in lanes if "off" not in lane.name} == {"time_limit", "max_steps"}

    def test_a_lane_is_a_run(self, state):
        """Where a lane ends, the guard alone ends the live run, at the same cost."""
        for lane in state.race[1]:
            name = lane.name.removesuffix(" (off)")
            alone = LabState("Lab", choose({name: state.settings[name]}, model=state.settings["model"]))
            alone.switch("max_steps", True)
            alone.change("max_steps", STEPS if name != "max_steps" else state.settings["max_steps"])
            alone.run()
            found = (alone.outcome.steps, alone.outcome.usage.total) if name in alone.outcome.fired else (None,)
            assert found[0] == lane.steps
            assert found[-1] in (None, lane.tokens)

    def test_it_follows_the_settings(self, state):
        """A change of a limit is in the race at once; a step of the run is none."""
        before = state.race
        state.step()
        assert state.race == before
        state.change("max_steps", 3)
        assert [lane.steps for lane in state.race[1] if lane.name == "max_steps"] == [3]
        state.change("model", "retries")
        assert state.race[1][0].name == "going_in_circles (off)"
        state.switch("going_in_circles", True)
        assert state.race[1][0].name == "going_in_circles"

    def test_what_is_remembered_is_what_is_true(self, state):
        """After any changes the race is the one that a new lab with these settings would show."""
        for name, value in (("growth", 0), ("max_steps", 3), ("hard", True), ("model", "polls"), ("declared", False)):
            state.change(name, value)
            assert state.race == LabState("New", state.settings).race


class TestWords:
    """The lab as text."""

    def test_the_text_says_everything(self, state):
        """Title, model, reason, the charts in words, code."""
        state.change("max_steps", 2)
        state.run()
        assert state.text(["steps", "shares", "spend"]).splitlines() == [
            "Lab",
            "This model asks for one more search in every step.",
            "max_steps stopped the run after 2 steps: 2 of 2 steps used.",
            "2 steps: ok × 2. The run stopped: max_steps, 2 of 2 steps used.",
            "Guards: time_limit 3 of 12 s; max_steps 2 of 2 steps, ended the run.",
            "2 steps, in tokens: 1,100 + 1,500 = 2,600 in all.",
            "from stoplib import TickClock, max_steps, time_limit",
            "guards = [time_limit(12), max_steps(2)]",
            "clock = TickClock(1)",
        ]

    def test_the_budget_is_the_guard_s(self, state):
        """The spend is held against the token budget if there is one."""
        state.change("token_budget", 2000)
        assert state.budget is None
        state.switch("token_budget", True)
        state.run()
        assert state.describe("spend").endswith("The budget of 2,000 is passed by step 2: 600 over.")


class TestSharing:
    """A short text that stands for settings and run."""

    def restored(self, text):
        state = LabState("Another lab", choose({"max_steps": 1}))
        state.restore(text)
        return state

    @pytest.mark.parametrize("steps", [0, 3])
    @pytest.mark.parametrize("stopped", [False, True])
    def test_a_run_in_the_middle(self, state, steps, stopped):
        """The other lab is at the same step, stopped or not."""
        for _ in range(steps):
            state.step()
        if stopped:
            state.stop()
        other = self.restored(state.shared)
        assert (other.settings, other.outcome, other.shared) == (state.settings, state.outcome, state.shared)

    def test_a_run_to_its_end(self, state):
        """A run that was over is run to its end."""
        state.run()
        assert self.restored(state.shared).outcome == state.outcome

    @pytest.mark.parametrize("stopped", [False, True])
    def test_answers_and_the_question(self, stopped):
        """What the person said is part of the run, and the question that is open stays open."""
        state = asked(True, False)
        if stopped:
            state.stop()
        other = self.restored(state.shared)
        assert (other.outcome, other.session.answers) == (state.outcome, [True, False])
        assert other.session.question == state.session.question

    def test_replies(self):
        """So are the replies of a person who played the model."""
        state = LabState("Lab", choose({"max_steps": 5}, model=YOUR_REPLIES))
        state.reply("a search")
        other = LabState("Another lab", choose({"max_steps": 1}, model=YOUR_REPLIES))
        other.restore(state.shared)
        assert other.outcome == state.outcome
        with pytest.raises(ValueError, match="in this lab the model is scripted; in the text it is not"):
            self.restored(state.shared)

    def test_the_text_is_short_and_can_stand_in_code(self, state):
        """The text fits into a message, and between the quotes of `lab('…')`, whole or in the middle of more."""
        state.preset("full set")
        assert len(state.shared) < 400
        assert not {"'", "\\", "\n"} & set(state.shared)
        assert self.restored(f"lab('{state.shared}')\n").settings == state.settings

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "this is not the text of a lab"),
            ("hello", "this is not the text of a lab"),
            ("{", "this is not the text of a lab"),
            ("[1]", "this is not the text of a lab"),
            ('{"a": 1}', "this is not the text of a lab"),
            ("{" * 5000 + "}" * 5000, "this is not the text of a lab"),
            ("x" * (LONGEST + 1), "this text has 10,001 characters"),
            ('{"stoplib_lab": 2}', "in format 2; this version of stoplib reads 1"),
            ('{"stoplib_lab": "1"}', "in format '1'"),
            ('{"stoplib_lab": 1, "max_steps": 1e999}', "max_steps goes from 0 to 40, so it cannot be inf"),
            ('{"stoplib_lab": 1, "max_steps": NaN}', "so it cannot be nan"),
            ('{"stoplib_lab": 1, "max_steps": "4"}', "so it cannot be '4'"),
            ('{"stoplib_lab": 1, "steps": 4}', "there is no setting 'steps'"),
            ('{"stoplib_lab": 1, "on": 3}', "'on' must be a list of names, not 3"),
            ('{"stoplib_lab": 1, "on": ["x"]}', "there is no guard 'x' in the lab"),
            ('{"stoplib_lab": 1, "replies": ["x"]}', "there is no reply 'x'"),
            ('{"stoplib_lab": 1, "run": []}', "'run' holds answers, steps and stopped"),
            ('{"stoplib_lab": 1, "run": {"code": "x"}}', "'run' holds answers, steps and stopped"),
            ('{"stoplib_lab": 1, "run": {"answers": [1]}}', "'answers' must be a list of true and false"),
            ('{"stoplib_lab": 1, "run": {"steps": -1}}', "'steps' must be a whole number"),
            ('{"stoplib_lab": 1, "run": {"steps": 1, "stopped": 1}}', "'stopped' true or false"),
        ],
    )
    def test_bad_and_foreign_texts(self, state, text, message):
        """What is no text of a lab is refused with what is wrong, and nothing is lost."""
        state.step()
        session = state.session
        with pytest.raises(ValueError, match=message):
            state.restore(text)
        assert state.session is session

    def test_a_number_of_steps_that_the_run_does_not_have(self, state):
        """A text that asks for more steps than there are gets as far as the run goes."""
        text = json.dumps({"stoplib_lab": 1, "on": ["max_steps"], "run": {"steps": 10**9}})
        assert self.restored(text).outcome.steps == 20
