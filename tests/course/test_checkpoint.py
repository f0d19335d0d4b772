"""Checkpoints: what each order of events gives, by code and by widget."""

import sys

import pytest

from stoplib.course.checkpoint import Checkpoints
from stoplib.course.checkpoint_kinds import NO_PREDICTION, NOT_A_KNOWN_MISTAKE

TWO = {"key": "a", "value": "2", "text": "`2`", "why": "The reading 3 is not below the limit."}
THREE = {"key": "b", "value": "3", "text": "`3`", "why": "Three seconds, one call each."}
TEN = {"key": "c", "value": "10", "text": "`10`", "why": "That is the step limit."}
DEFINITIONS = {
    "2.1": {"kind": "choice", "question": "How many calls?", "options": [TWO, THREE, TEN]},
    "5.1": {
        "kind": "number",
        "question": "How many tokens?",
        "options": [
            {"value": "50900", "text": "`50900`", "why": "The last call is not taken back."},
            {"value": "50000", "text": "`50000`", "why": "That is the limit."},
        ],
    },
    "3.1": {
        "kind": "order",
        "question": "In which order?",
        "options": [
            {"key": "a", "value": "tool", "text": "`tool`", "why": "The reply asks for it."},
            {"key": "b", "value": "check", "text": "`check`", "why": "The checks look at the result."},
            {"key": "c", "value": "send", "text": "`send`", "why": "Each round begins with a call."},
        ],
    },
    "7.1": {
        "kind": "match",
        "question": "Which run ends how?",
        "options": [
            {"key": "1", "value": "never answers", "text": "`never answers`", "why": "Only the cap ends it."},
            {"key": "2", "value": "answers", "text": "`answers`", "why": "It has what it needs."},
        ],
        "answers": [{"key": "a", "value": "max_steps"}, {"key": "b", "value": "answered"}],
    },
}


@pytest.fixture
def checkpoints():
    return Checkpoints(DEFINITIONS)


@pytest.fixture
def said(capsys):
    """What has been printed since the last question, as lines."""
    return lambda: capsys.readouterr().out.splitlines()


def status(checkpoints, name):
    return checkpoints.view(name).children[1].value


def field(checkpoints, name):
    return checkpoints.view(name).children[0]


def test_a_right_prediction_is_told_why(checkpoints, said):
    """Predict, reveal: what is right is called right, with the reason."""
    checkpoints.predict("2.1", "a")
    checkpoints.reveal("2.1", 2)
    assert said() == [
        "Checkpoint 2.1: you predicted a.",
        "The run says: 2",
        "You predicted a: right.",
        "The reading 3 is not below the limit.",
    ]


def test_a_wrong_prediction_hears_its_own_reason_and_not_the_right_one(checkpoints, said):
    """Predict, reveal: what is wrong is told why one might think so; the answer's reason stays to be found."""
    checkpoints.predict("2.1", "b")
    said()
    checkpoints.reveal("2.1", 2)
    assert said() == [
        "The run says: 2",
        "You predicted b (3): not this time.",
        "Why one might think so: Three seconds, one call each.",
    ]


def test_without_a_prediction_only_the_result_is_shown(checkpoints, said):
    """Reveal alone: the result, and that no prediction was made; no option's reason."""
    checkpoints.reveal("2.1", 2)
    assert said() == ["The run says: 2", NO_PREDICTION]


def test_the_last_prediction_before_the_result_counts(checkpoints, said):
    """Predict, predict, reveal: the second prediction is judged, and is not late."""
    checkpoints.predict("2.1", "b")
    checkpoints.predict("2.1", "a")
    said()
    checkpoints.reveal("2.1", 2)
    assert said()[1] == "You predicted a: right."


def test_a_prediction_after_the_result_is_marked(checkpoints, said):
    """Reveal, predict, reveal: judged, and marked as late."""
    checkpoints.reveal("2.1", 2)
    checkpoints.predict("2.1", "a")
    said()
    checkpoints.reveal("2.1", 2)
    assert said()[1] == "You predicted a: right (made after the result was seen)."


def test_a_prediction_changed_after_the_result_is_marked(checkpoints, said):
    """Predict, reveal, predict something else, reveal: the new prediction is late, right or wrong."""
    checkpoints.predict("2.1", "a")
    checkpoints.reveal("2.1", 2)
    checkpoints.predict("2.1", "c")
    said()
    checkpoints.reveal("2.1", 2)
    assert said()[1] == "You predicted c (10): not this time (made after the result was seen)."


def test_the_same_prediction_again_is_not_late(checkpoints, said):
    """Predict, reveal, the same predict, reveal: running all cells once more changes nothing."""
    checkpoints.predict("2.1", "a")
    checkpoints.reveal("2.1", 2)
    first = said()
    checkpoints.predict("2.1", "a")
    checkpoints.reveal("2.1", 2)
    assert said() == first


def test_revealing_twice_says_the_same(checkpoints, said):
    """Predict, reveal, reveal: the judgement stands."""
    checkpoints.predict("2.1", "b")
    said()
    checkpoints.reveal("2.1", 2)
    first = said()
    checkpoints.reveal("2.1", 2)
    assert said() == first


def test_a_restart_forgets(said):
    """A new kernel knows no prediction and has seen no result."""
    before, after = Checkpoints(DEFINITIONS), Checkpoints(DEFINITIONS)
    before.predict("2.1", "a")
    before.reveal("2.1", 2)
    said()
    after.reveal("2.1", 2)
    assert said() == ["The run says: 2", NO_PREDICTION]


def test_the_truth_is_what_the_run_says(checkpoints, said):
    """A run that was changed and says something else makes another option right."""
    checkpoints.predict("2.1", "b")
    said()
    checkpoints.reveal("2.1", 3)
    assert said()[1] == "You predicted b: right."


def test_a_truth_without_an_option_is_an_error(checkpoints, said):
    """A result that no option has is reported with the checkpoint and its options, before anything is said."""
    with pytest.raises(LookupError, match=r"2\.1: the run says 7, and the options are 2, 3, 10\. If you changed"):
        checkpoints.reveal("2.1", 7)
    assert said() == []


@pytest.mark.parametrize("act", [lambda c: c.predict("7.7"), lambda c: c.reveal("7.7", 2)])
def test_an_unknown_checkpoint_is_an_error(checkpoints, act):
    """A wrong id is reported with the ids that there are."""
    with pytest.raises(ValueError, match=r"there is no checkpoint '7\.7'; there are 2\.1, 5\.1"):
        act(checkpoints)


@pytest.mark.parametrize("choice", ["d", "A", 2, ""])
def test_an_unknown_choice_is_an_error_and_keeps_the_prediction(checkpoints, said, choice):
    """A wrong key is reported with the keys that there are; what was predicted before still stands."""
    checkpoints.predict("2.1", "a")
    with pytest.raises(ValueError, match=f"choose a, b or c, not {choice!r}"):
        checkpoints.predict("2.1", choice)
    said()
    checkpoints.reveal("2.1", 2)
    assert said()[1] == "You predicted a: right."


@pytest.mark.parametrize("number", [50900, 50900.0, "50900", " 50900.0 "])
def test_numbers_are_compared_as_numbers(checkpoints, said, number):
    """A number is right however it is written."""
    checkpoints.predict("5.1", number)
    checkpoints.reveal("5.1", 50900)
    assert said()[2:] == ["You predicted 50900: right.", "The last call is not taken back."]


@pytest.mark.parametrize(
    ("number", "why"), [(50000, "Why one might think so: That is the limit."), (3.5, NOT_A_KNOWN_MISTAKE)]
)
def test_a_wrong_number_hears_its_reason_if_there_is_one(checkpoints, said, number, why):
    """A known mistake is explained; for any other number there is a hint where to look."""
    checkpoints.predict("5.1", number)
    checkpoints.reveal("5.1", 50900)
    assert said()[2:] == [f"You predicted {number}: not this time.", why]


@pytest.mark.parametrize("text", ["many", "", "1,000", "nan", "inf", [3]])
def test_what_is_no_number_is_an_error(checkpoints, text):
    """Anything but a finite number is refused, with what was given."""
    with pytest.raises(ValueError, match="type a number such as 3, not "):
        checkpoints.predict("5.1", text)


def test_a_truth_that_is_no_number_is_an_error(checkpoints):
    """A run that gives no number at all is reported like any other result without an option."""
    with pytest.raises(LookupError, match="the run says None, and the options are 50900, 50000"):
        checkpoints.reveal("5.1", None)


def test_the_text_of_a_choice_says_all_that_is_needed(checkpoints, said):
    """Without buttons the prompt names the choices and the code for one."""
    checkpoints.predict("2.1")
    assert said() == ['Checkpoint 2.1: choose a, b or c, then run the next cell. Without buttons: predict("2.1", "b")']


def test_the_text_of_a_number_says_all_that_is_needed(checkpoints, said):
    """Without a field the prompt shows how to give a number by code."""
    checkpoints.predict("5.1")
    assert said() == ['Checkpoint 5.1: type a number, then run the next cell. Without buttons: predict("5.1", 10)']


@pytest.mark.parametrize(("values", "example"), [(["3"], 10), (["9"], 10), (["10"], 11), (["11", "10.0", "12"], 13)])
def test_the_example_of_a_number_is_no_hint(said, values, example):
    """The number that the prompt shows is neither the truth nor a mistake that is told of."""
    options = [{"value": value, "text": value, "why": "It is so."} for value in values]
    Checkpoints({"5.1": {"kind": "number", "question": "How many?", "options": options}}).predict("5.1")
    assert f'Without buttons: predict("5.1", {example})' in said()[0]


def test_the_prompt_keeps_a_prediction(checkpoints, said):
    """Running the cell of the buttons again does not take the prediction back."""
    checkpoints.predict("2.1", "a")
    checkpoints.predict("2.1")
    assert said()[1] == "Checkpoint 2.1: you predicted a. You may change it until you see the result."


def test_a_button_predicts(checkpoints, said):
    """A pressed button is a prediction, and the status line says so."""
    field(checkpoints, "2.1").value = "b"
    assert "you predicted b. You may change it" in status(checkpoints, "2.1")
    checkpoints.reveal("2.1", 2)
    assert said()[1] == "You predicted b (3): not this time."


def test_buttons_are_named_by_key_and_text(checkpoints):
    """Each button shows its key and its text without Markdown, and none is pressed at first."""
    buttons = field(checkpoints, "2.1")
    assert [label for label, _ in buttons.options] == ["a: 2", "b: 3", "c: 10"]
    assert buttons.value is None


def test_code_and_buttons_agree(checkpoints):
    """A prediction by code shows on the buttons; all outputs of a checkpoint show the same widget."""
    view = checkpoints.view("2.1")
    checkpoints.predict("2.1", "c")
    assert field(checkpoints, "2.1").value == "c"
    assert checkpoints.view("2.1") is view


def test_buttons_made_late_show_the_prediction(checkpoints):
    """A prediction by code before the buttons are first shown is pressed on them."""
    checkpoints.predict("2.1", "c")
    assert field(checkpoints, "2.1").value == "c"
    assert "you predicted c." in status(checkpoints, "2.1")


def test_after_the_result_the_status_says_what_to_do(checkpoints):
    """Who chooses after the result is told to run the next cell again."""
    checkpoints.reveal("2.1", 2)
    field(checkpoints, "2.1").value = "a"
    assert "you predicted a. Run the next cell again." in status(checkpoints, "2.1")


def test_a_field_reports_what_is_no_number(checkpoints):
    """What cannot be a prediction is said aloud in the status line, and nothing is predicted."""
    field(checkpoints, "5.1").value = "<many>"
    assert 'role="alert"' in status(checkpoints, "5.1")
    assert "not &#x27;&lt;many&gt;&#x27;" in status(checkpoints, "5.1")
    field(checkpoints, "5.1").value = "50900.0"
    assert "you predicted 50900." in status(checkpoints, "5.1")


def test_without_ipywidgets_there_is_the_text(checkpoints, said, monkeypatch):
    """Where ipywidgets is missing, predict gives the same text and predicting by code works."""
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    checkpoints.predict("2.1")
    checkpoints.predict("2.1", "a")
    assert checkpoints.view("2.1") is None
    assert said()[0].startswith("Checkpoint 2.1: choose a, b or c")


ENDINGS = {"never answers": "max_steps", "answers": "answered"}


def test_the_right_order(checkpoints, said):
    """Letters in the order of the run are right, however they are separated."""
    checkpoints.predict("3.1", "C, a, b")
    checkpoints.reveal("3.1", ["send", "tool", "check"])
    assert said() == [
        "Checkpoint 3.1: you predicted cab.",
        "The run says: cab (send, tool, check)",
        "You predicted cab: right.",
        "Each round begins with a call.",
    ]


def test_a_wrong_order_names_the_first_place_that_is_wrong(checkpoints, said):
    """A wrong order is told what comes at its first wrong place, and why there."""
    checkpoints.predict("3.1", "cba")
    checkpoints.reveal("3.1", ["send", "tool", "check"])
    assert said()[2:] == ["You predicted cba: not this time.", "In place 2 comes a (tool). The reply asks for it."]


@pytest.mark.parametrize("choice", ["ab", "abb", "abcd", "", 3])
def test_an_order_has_each_letter_once(checkpoints, choice):
    """Letters that are missing, twice or unknown are refused with what was typed."""
    with pytest.raises(ValueError, match="type the letters a, b and c"):
        checkpoints.predict("3.1", choice)


def test_the_run_must_give_the_options_in_an_order(checkpoints):
    """A truth that is no order of the options is an error of the author, and is named."""
    with pytest.raises(LookupError, match=r"the run says \['send'\]"):
        checkpoints.reveal("3.1", ["send"])


def test_a_right_match(checkpoints, said):
    """A letter for each number, all right: each is told why."""
    checkpoints.predict("7.1", "2b 1a")
    checkpoints.reveal("7.1", ENDINGS)
    assert said() == [
        "Checkpoint 7.1: you predicted 1a 2b.",
        "The run says: 1a 2b",
        "You predicted 1a 2b: right.",
        "1 (never answers): Only the cap ends it.",
        "2 (answers): It has what it needs.",
    ]


def test_a_wrong_match_hears_about_its_wrong_pairs(checkpoints, said):
    """Only the pairs that are wrong are explained."""
    checkpoints.predict("7.1", "1a2a")
    checkpoints.reveal("7.1", ENDINGS)
    assert said()[2:] == ["You predicted 1a 2a: not this time.", "2 (answers): It has what it needs."]


@pytest.mark.parametrize("choice", ["1a", "1a 1b", "1a 2c", "ab", "1a 2b 3a"])
def test_a_match_has_a_known_letter_for_each_number(checkpoints, choice):
    """Numbers without a letter, twice or unknown are refused with an example."""
    with pytest.raises(ValueError, match="type a letter behind each number, such as"):
        checkpoints.predict("7.1", choice)


def test_a_match_must_know_what_the_run_says(checkpoints):
    """An ending that is none of the answers is an error of the author, and is named."""
    with pytest.raises(LookupError, match="the run says fatal for answers"):
        checkpoints.reveal("7.1", {**ENDINGS, "answers": "fatal"})


@pytest.mark.parametrize(("name", "letters"), [("3.1", "cab"), ("7.1", "1a 2b")])
def test_letters_can_be_typed(checkpoints, name, letters):
    """The text field takes the same letters, and shows a mistake in the status line."""
    field(checkpoints, name).value = letters
    assert f"you predicted {letters}" in status(checkpoints, name)
    field(checkpoints, name).value = "?"
    assert 'role="alert"' in status(checkpoints, name)
