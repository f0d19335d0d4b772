"""The settings of a lab: checked values, guards, Python to copy, and a short text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stoplib
from stoplib import run
from stoplib.course.lab.choices import CONTROLS, GUARDS, MODELS, REPLIES, SEARCHES, TASK, YOUR_REPLIES, Number
from stoplib.course.lab.settings import choose, from_data

NUMBERS = {name: control for name, control in CONTROLS.items() if isinstance(control, Number)}


@st.composite
def settings(draw):
    """Any settings that can be chosen by hand."""
    values = {}
    for name, control in CONTROLS.items():
        if isinstance(control, Number):
            steps = round((control.high - control.low) / control.by)
            values[name] = round(control.low + control.by * draw(st.integers(0, steps)), 6)
        else:
            values[name] = draw(st.sampled_from(control.options))
    made = choose({}, **values)
    for guard in draw(st.sets(st.sampled_from(sorted(GUARDS)))):
        made = made.switch(guard, True)
    for reply in draw(st.lists(st.sampled_from(sorted(REPLIES)), max_size=3)):
        made = made.reply(reply)
    return made


class TestValues:
    """What can be set, and what not."""

    @pytest.mark.parametrize("name", sorted(NUMBERS))
    def test_a_range_ends_where_it_says(self, name):
        """The ends of a range can be set; what lies beyond them is refused with the range and the value."""
        control, start = NUMBERS[name], choose({})
        assert [start.change(name, end)[name] for end in (control.low, control.high)] == [control.low, control.high]
        for beyond in (control.low - control.by, control.high + control.by):
            with pytest.raises(ValueError, match=f"{name} goes from {control.low:g} to {control.high:g}, so it cannot"):
                start.change(name, beyond)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), "4", None, True, [4], 2.5])
    def test_what_is_no_number_of_steps(self, value):
        """Only a whole number in the range is one."""
        with pytest.raises(ValueError, match="max_steps (goes from 0 to 40|is a whole number), so it cannot be"):
            choose({}).change("max_steps", value)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("model", "knows all", "there is no model 'knows all'; there are never answers, "),
            ("hard", 1, "there is no hard 1; there are False, True"),
            ("searches", ["find nothing"], "there is no searches "),
            ("tokens", 5, "there is no setting 'tokens'; there are model, "),
            (5, 5, "there is no setting 5; "),
        ],
    )
    def test_what_cannot_be_chosen(self, name, value, message):
        """A wrong name or a wrong choice is reported with what would be right."""
        with pytest.raises(ValueError, match=message):
            choose({}).change(name, value)

    def test_no_such_guard_or_reply(self):
        """The same for guards and for replies."""
        with pytest.raises(ValueError, match="there is no guard 'tick' in the lab; there are too_many_errors, "):
            choose({}).switch("tick", True)
        with pytest.raises(ValueError, match="there is no reply 'yes'; there are an answer, "):
            choose({}).reply("yes")

    def test_settings_do_not_change(self):
        """A change makes other settings; the first ones stay as they were."""
        start = choose({"max_steps": 4})
        start.change("max_steps", 9), start.switch("max_steps", False), start.reply("a search")
        assert start == choose({"max_steps": 4})

    def test_whole_numbers_are_written_whole(self):
        """A value from a slider with halves is written like a person would: 3, and not 3.0."""
        assert choose({"time_limit": 3.0, "max_steps": 9}).code.endswith(
            "guards = [time_limit(3), max_steps(9)]\nclock = TickClock(1)"
        )


class TestGuards:
    """The guards that settings make."""

    @pytest.mark.parametrize("name", sorted(GUARDS))
    def test_each_guard_is_called_like_its_control(self, name):
        """A guard that is on has the name of its control, and its limit; one that is off is not there."""
        (guard,) = choose({name: GUARDS[name].high}).guards
        assert guard.name == name
        assert GUARDS[name].high in vars(guard).values()
        assert choose({name: GUARDS[name].high}).switch(name, False).guards == []

    def test_budgets_look_ahead_together(self):
        """One switch makes both budgets hard, and no other guard."""
        made = choose({"token_budget": 500, "cost_budget": 0.5, "max_steps": 3}, hard=True).guards
        assert made == [
            stoplib.token_budget(500, hard=True),
            stoplib.cost_budget(0.5, hard=True),
            stoplib.max_steps(3),
        ]

    @given(settings())
    def test_the_code_makes_the_guards(self, chosen):
        """The Python that is shown can be pasted anywhere: it makes just these guards, this clock, these prices."""
        made = {}
        exec(chosen.code, made)
        assert made["guards"] == chosen.guards
        assert ("clock" in made, "prices" in made) == ("time_limit" in chosen.on, "cost_budget" in chosen.on)
        if "clock" in made:
            assert made["clock"].step == chosen["tick"]
        assert max(map(len, chosen.code.splitlines())) <= 88


class TestData:
    """The settings as JSON-ready data."""

    @given(settings())
    def test_there_and_back(self, chosen):
        """What has been through JSON is equal to what was written."""
        assert from_data(json.loads(json.dumps(chosen.as_data()))) == chosen

    def test_what_is_as_usual_is_left_out(self):
        """The text is short: what nobody has changed is not in it."""
        assert choose({"max_steps": 20}).as_data() == {"on": ["max_steps"]}

    @pytest.mark.parametrize("data", [None, 5, "x", [], {"on": "max_steps"}, {"on": [5]}, {"replies": {}}, {"x": 1}])
    def test_other_data(self, data):
        """Data that is not of settings is refused."""
        with pytest.raises(ValueError):
            from_data(data)


class TestModelsAndTools:
    """What can be chosen does what it says."""

    @pytest.mark.parametrize("searches", SEARCHES)
    @pytest.mark.parametrize("name", MODELS)
    def test_every_model_runs_with_every_kind_of_tools(self, name, searches):
        """Each model gets through a run; only the one that misspells asks for what does not exist."""
        chosen = choose({"max_steps": 12}, model=name, searches=searches)
        outcome = run(task=TASK, guards=chosen.guards, **chosen.run)
        assert outcome.reason != "fatal"
        results = [result for step in outcome.trace for result in step.results]
        unknown = [result for result in results if "there is no tool" in result.text]
        assert bool(unknown) == (name == "misspells")

    def test_each_behaviour_is_another(self):
        """Every model has a sentence of its own, and it is about a model."""
        told = [example.behaviour for example in MODELS.values()]
        assert len(set(told)) == len(told)
        assert all(sentence.startswith("This model") and sentence.endswith(".") for sentence in told)

    def test_usage_grows_with_the_transcript(self):
        """Each call sends everything again: 1,000 tokens, and what the rounds before it added."""
        chosen = choose({"max_steps": 3}, growth=500)
        outcome = run(task=TASK, guards=chosen.guards, **chosen.run)
        assert [step.reply.usage.input for step in outcome.trace] == [1000, 1500, 2000]

    def test_a_poll_is_one_only_if_it_is_declared(self):
        """The same run of the polling model is stuck or at work, depending on what its tool declares."""
        reasons = []
        for declared in (True, False):
            chosen = choose({"going_in_circles": 2, "max_steps": 20}, model="polls", declared=declared)
            reasons.append(run(task=TASK, guards=chosen.guards, **chosen.run).reason)
        assert reasons == ["answered", "going_in_circles"]

    def test_replies_are_given_in_their_order(self):
        """A person who plays the model is followed word for word."""
        chosen = choose({"max_steps": 5}, model=YOUR_REPLIES).reply("a search").reply("an answer")
        outcome = run(task=TASK, guards=chosen.guards, **chosen.run)
        assert [step.reply.text for step in outcome.trace] == ["", "The disk was full."]
