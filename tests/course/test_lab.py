"""Labs: what is set, what comes of it, and that the widgets show just that."""

import sys
from html import unescape

import pytest

import stoplib
from stoplib.course import lab as labs
from stoplib.course.lab import CONTROLS, MODELS, Lab, LabState, lab_limits, lab_steps


@pytest.fixture
def state():
    return LabState("Lab", "never answers", {"tick": 1, "time_limit": 12, "max_steps": 10})


@pytest.fixture
def lab():
    return lab_limits()


def shown(lab):
    """All that the lab shows, as one text."""
    parts = (lab.behaviour, lab.status, lab.steps, lab.limits, lab.code, lab.table)
    return unescape("\n".join(part.value for part in parts))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("max_steps", 4, "max_steps stopped the run after 4 steps: 4 of 4 steps used."),
        ("max_steps", 1, "max_steps stopped the run after 1 step: 1 of 1 steps used."),
        ("time_limit", 3, "time_limit stopped the run after 2 steps: 3 of 3 s used."),
        ("tick", 5, "time_limit stopped the run after 2 steps: 15 of 12 s used, 3 s over."),
        ("tick", 0, "max_steps stopped the run after 10 steps: 10 of 10 steps used."),
        ("model", "answers in step 5", "The model answered in step 5; no guard fired."),
    ],
)
def test_a_change_runs_again(state, name, value, sentence):
    """Each setting has its effect, and the sentence says which and with what numbers."""
    assert state.change(name, value).sentence == sentence


def test_a_tie_is_told(state):
    """Where two limits fire at one look, the sentence names both and says which gives the reason."""
    assert state.change("time_limit", 11).sentence == (
        "time_limit stopped the run after 10 steps: 11 of 11 s used."
        " max_steps fired as well: the first in the list gives the reason."
    )


def test_an_end_without_a_guard_is_told(state, monkeypatch):
    """A model that fails ends the run, too, and the sentence says how."""
    monkeypatch.setitem(MODELS, "fails", labs.Example(stoplib.script(), "This model fails."))
    sentence = state.change("model", "fails").sentence
    assert sentence.startswith("The run stopped after 0 steps: fatal, IndexError: ")


def test_a_state_does_not_change(state):
    """A change makes another state; the first one stays as it was."""
    state.change("max_steps", 4)
    assert state.settings["max_steps"] == 10


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_steps", 21, "max_steps goes from 0 to 20, so it cannot be 21"),
        ("time_limit", -0.5, "time_limit goes from 0 to 30, so it cannot be -0.5"),
        ("tick", float("nan"), "tick goes from 0 to 5, so it cannot be nan"),
        ("model", "knows all", "there is no model 'knows all'; there are never answers, "),
        ("tokens", 5, "there is no setting 'tokens'; there are tick, time_limit, max_steps"),
    ],
)
def test_what_cannot_be_is_an_error(state, name, value, message):
    """A wrong value or name is reported with what would be right."""
    with pytest.raises(ValueError, match=message):
        state.change(name, value)


@pytest.mark.parametrize("model", MODELS)
def test_the_code_does_what_the_lab_does(state, model):
    """The Python that is shown can be copied, and gives the same outcome."""
    state = state.change("model", model).change("time_limit", 7.5)
    arguments = eval(f"dict({state.code})", vars(stoplib))
    outcome = stoplib.run(MODELS[model].model, labs.TASK, tools=[labs.search], **arguments)
    assert repr(outcome) == repr(state.outcome)


def test_whole_numbers_are_written_whole(state):
    """A value from a slider with halves is written like a person would: 3, and not 3.0."""
    assert state.change("time_limit", 3.0).code == "guards=[time_limit(3), max_steps(10)], clock=TickClock(1)"


def test_the_text_says_everything(state):
    """Without widgets the lab is its text: title, model, reason, both charts in words, code."""
    assert state.change("max_steps", 2).text.splitlines() == [
        "Lab",
        "This model asks for one more search in every step.",
        "max_steps stopped the run after 2 steps: 2 of 2 steps used.",
        "2 steps: ok × 2. The run stopped: max_steps, 2 of 2 steps used.",
        "Limits: time_limit 3 of 12 s; max_steps 2 of 2 steps, ended the run.",
        "guards=[time_limit(12), max_steps(2)], clock=TickClock(1)",
    ]


def test_the_table_has_a_row_for_each_step(state):
    """The table holds each step with its time, what the model said, and the result."""
    table = state.change("model", "answers in step 5").table
    assert table.count('<th scope="row">') == 5
    assert "<td>4</td><td>search(query=&#x27;part 4&#x27;)</td><td>ok: no match</td>" in table
    assert "<td>5</td><td>done</td><td>none</td>" in table


@pytest.mark.parametrize("make", [lab_steps, lab_limits])
def test_a_lab_begins_with_its_own_settings(make):
    """At first the widgets hold the state's settings, within their ranges."""
    lab = make()
    assert {name: field.value for name, field in lab.fields.items()} == lab.state.settings
    for name, field in lab.fields.items():
        assert (field.min, field.max, field.description) == (
            CONTROLS[name].low,
            CONTROLS[name].high,
            CONTROLS[name].label,
        )


@pytest.mark.parametrize("widgets", ["fields", "sliders"])
def test_field_and_slider_move_together_and_run_again(lab, widgets):
    """Either of the two sets the value, the other follows, and everything shown is of the new run."""
    getattr(lab, widgets)["max_steps"].value = 4
    assert lab.fields["max_steps"].value == lab.sliders["max_steps"].value == 4
    assert lab.state.outcome.steps == 4
    for part in (lab.state.sentence, lab.state.code, lab.state.table, *lab.state.words):
        assert unescape(part) in shown(lab)


def test_the_model_can_be_changed(lab):
    """Another model has another behaviour, line and run."""
    lab.model.value = "answers in step 1"
    assert MODELS["answers in step 1"].behaviour in lab.behaviour.value
    assert "The model answered in step 1" in lab.status.value


def test_a_change_draws_other_pictures(lab):
    """Both pictures are drawn again, with their words as alternative text."""
    before = lab.steps.value, lab.limits.value
    lab.sliders["max_steps"].value = 4
    assert before[0] != lab.steps.value
    assert before[1] != lab.limits.value
    assert f'alt="{lab.state.words[0]}"' in unescape(lab.steps.value)


def test_an_error_is_shown_and_the_lab_goes_on(lab, monkeypatch):
    """An error in a callback stands in the status line; the next change works again."""
    with monkeypatch.context() as broken:
        broken.setattr(LabState, "table", property(lambda self: 1 / 0))
        lab.fields["max_steps"].value = 4
        assert 'role="alert"' in lab.status.value
        assert "ZeroDivisionError" in lab.status.value
    lab.fields["max_steps"].value = 5
    assert lab.state.sentence in lab.status.value


def test_a_value_out_of_range_by_code_is_shown_as_an_error(lab):
    """A range that was widened by code does not widen what the lab takes."""
    lab.fields["max_steps"].max = lab.sliders["max_steps"].max = 100
    lab.fields["max_steps"].value = 50
    assert "max_steps goes from 0 to 20, so it cannot be 50" in lab.status.value
    assert lab.state.settings["max_steps"] == 10


def test_a_notebook_stores_the_text(lab):
    """What a notebook gets is the widget, and the text in place of the widget's own."""
    bundle = lab._repr_mimebundle_()
    assert bundle["text/plain"] == lab.state.text == repr(lab)
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == lab.view.model_id


def test_without_ipywidgets_a_lab_is_its_text(monkeypatch):
    """Where ipywidgets is missing, the lab is the same text."""
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    lab = Lab(LabState("Lab", "never answers", {"max_steps": 2}))
    assert lab._repr_mimebundle_() == {"text/plain": lab.state.text}
