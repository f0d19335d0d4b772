"""The labs as widgets, without a browser: what is shown is what the state says, and each control does its work."""

import asyncio
import base64
import json
import re
import sys
import threading
from datetime import UTC, datetime
from html import unescape

import pytest

from stoplib.course.lab import (
    Lab,
    lab,
    lab_guards,
    lab_limits,
    lab_person,
    lab_recorded,
    lab_replies,
    lab_sequences,
    lab_spend,
    lab_steps,
)
from stoplib.course.lab.choices import CONTROLS, GUARDS, REPLIES
from stoplib.course.lab.player import Player
from stoplib.course.lab.state import PRESETS
from stoplib.course.lab.view import AS_IT_BEGAN, OWN
from stoplib.course.population import recorded_runs


@pytest.fixture
def limits():
    return lab_limits()


@pytest.fixture
def whole():
    return lab()


def shown(lab):
    """All that a lab shows, as one text."""
    parts = (lab.behaviour, lab.status, *lab.pictures.values(), lab.code, lab.table)
    return unescape("\n".join(part.value for part in parts))


def press(lab, *names):
    for name in names:
        lab.buttons[name].click()


def news(lab):
    """The sentence among the news."""
    return unescape(re.search(">([^<]+)</p>", lab.status.value)[1])


def asks(lab):
    return lab.asking.layout.display != "none"


RUNS = recorded_runs(seed=1, tasks=3)
ALL = [
    lab_steps,
    lab_limits,
    lab_guards,
    lab_sequences,
    lab_spend,
    lab_person,
    lab_replies,
    lambda: lab_recorded(RUNS),
    lab,
]


class TestEachLab:
    """What holds for all of them."""

    @pytest.mark.parametrize("make", ALL)
    def test_a_notebook_stores_the_text(self, make):
        """What a notebook gets is the widget, and a text in place of the widget's own, the same each time."""
        made = make()
        bundle = made._repr_mimebundle_()
        assert bundle["text/plain"] == repr(made) == repr(make())
        assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == made.view.model_id

    @pytest.mark.parametrize("make", ALL)
    def test_without_ipywidgets_a_lab_is_its_text(self, make, monkeypatch):
        """Where ipywidgets is missing, the lab is the same text that it has beside its widgets."""
        text = repr(make())
        monkeypatch.setitem(sys.modules, "ipywidgets", None)
        assert make()._repr_mimebundle_() == {"text/plain": text}
        assert len(text.splitlines()) >= 4

    @pytest.mark.parametrize("make", ALL)
    def test_controls_have_names(self, make):
        """Every control but the sliders, each of which has a field beside it, is labelled."""
        made = make()
        named = [*made.fields.values(), *made.switches.values(), *made.choices.values(), *made.buttons.values()]
        assert all(widget.description for widget in named)
        assert made.sliders.keys() <= made.fields.keys()

    @pytest.mark.parametrize("make", ALL)
    def test_every_number_can_be_moved_from_end_to_end(self, make):
        """Field and slider move together, and no value of theirs is an error."""
        made = make()
        for name, field in made.fields.items():
            for end in (field.min, field.max):
                made.sliders.get(name, field).value = end
                assert field.value == end
                assert "<b>" not in made.status.value, made.status.value


class TestAtOnce:
    """Labs without buttons: a change shows the whole run."""

    @pytest.mark.parametrize("make", [lab_steps, lab_limits, lab_guards, lab_spend])
    def test_a_lab_begins_with_its_own_settings(self, make):
        """At first the widgets hold the settings of the state, within the ranges of the controls."""
        made = make()
        for name, field in made.fields.items():
            control = CONTROLS[name]
            assert (field.value, field.min, field.max) == (made.state.settings[name], control.low, control.high)

    @pytest.mark.parametrize("widgets", ["fields", "sliders"])
    def test_a_change_is_shown_everywhere(self, limits, widgets):
        """Either widget sets the value, the other follows, and everything shown is of the new run."""
        getattr(limits, widgets)["max_steps"].value = 4
        assert limits.fields["max_steps"].value == limits.sliders["max_steps"].value == 4
        state = limits.state
        for part in (state.sentence, state.settings.code, state.describe("steps"), state.describe("shares")):
            assert part in shown(limits)
        assert limits.table.value.count('<th scope="row">') == 4

    def test_the_model_can_be_changed(self, limits):
        """Another model has another behaviour, line and run."""
        limits.choices["model"].value = "answers in step 1"
        assert "This model answers in its first step." in limits.behaviour.value
        assert news(limits) == "The model answered in step 1; no guard fired."

    def test_guards_can_be_switched(self):
        """A guard that is off does not fire, and is not in the code."""
        made = lab_guards()
        made.switches["repeated_call"].value = False
        assert news(made).startswith("max_tool_calls stopped the run after 10 steps")
        assert "repeated_call" not in made.code.value

    def test_an_error_is_shown_and_the_lab_goes_on(self, limits, monkeypatch):
        """An error in a callback stands among the news; the next change works again."""
        with monkeypatch.context() as broken:
            broken.setattr("stoplib.course.lab.view.transcript", lambda outcome: 1 / 0)
            limits.fields["max_steps"].value = 4
            assert 'role="alert"' in limits.status.value
            assert "ZeroDivisionError" in limits.status.value
        limits.fields["max_steps"].value = 5
        assert news(limits) == limits.state.sentence

    def test_a_value_out_of_range_by_code_is_shown_as_an_error(self, limits):
        """A range that was widened by code does not widen what the lab takes."""
        limits.fields["max_steps"].max = limits.sliders["max_steps"].max = 100
        limits.fields["max_steps"].value = 50
        assert "max_steps goes from 0 to 40, so it cannot be 50" in limits.status.value
        assert limits.state.settings["max_steps"] == 10

    def test_what_has_not_changed_is_not_drawn_again(self, limits, monkeypatch):
        """A picture whose words are the same stays as it is."""
        drawn = []
        monkeypatch.setattr("stoplib.course.lab.view.picture", lambda figure, words: drawn.append(words) or words)
        limits.fields["time_limit"].value = 20
        assert drawn == [limits.state.describe("shares")]

    def test_guards_that_bound_nothing_are_told(self):
        """All guards off: the lab says what to add, and the next guard brings the run back."""
        made = lab_guards()
        for switch in made.switches.values():
            switch.value = False
        assert news(made).startswith("This cannot run.")
        made.switches["max_steps"].value = True
        assert news(made) == "max_steps stopped the run after 20 steps: 20 of 20 steps used."


class TestButtons:
    """Labs with a run to drive."""

    def test_step_run_reset(self, whole):
        """Step goes one step on, Run to the end, Reset back."""
        press(whole, "Reset")
        assert news(whole) == "The run has not begun."
        press(whole, "Step")
        assert news(whole) == "1 step so far. The model is called next."
        press(whole, "Run")
        assert news(whole).startswith("no_new_results stopped the run")

    def test_stop_in_the_middle(self, whole):
        """Stop ends the run as interrupted."""
        press(whole, "Reset", "Step", "Step", "Stop")
        assert news(whole) == "You stopped the run after 2 steps: interrupted."
        assert "The run stopped: interrupted" in whole.pictures["steps"].value

    def test_approve_and_decline_appear_when_a_tool_asks(self):
        """They are there as long as a question is open; what the person said is in the table."""
        made = lab_person()
        assert not asks(made)
        press(made, "Step", "Step")
        assert asks(made)
        assert 'role="alert"' in made.status.value
        assert "Step 2 asks for delete(path='1.txt')" in news(made)
        press(made, "Decline")
        assert not asks(made)
        press(made, "Run", "Approve", "Run", "Stop")
        assert not asks(made)
        assert re.findall("<td>(declined|ok|not run): ", unescape(made.table.value)) == [
            *("ok", "declined", "ok", "ok", "ok", "not run")
        ]

    def test_replies(self):
        """The reply that is chosen goes to the loop, until one of them ends the run."""
        made = lab_replies()
        assert list(made.choices["reply"].options) == list(REPLIES)
        for reply in ("a search", "a pause", "nothing at all"):
            made.choices["reply"].value = reply
            press(made, "Reply")
        assert news(made).startswith("The run stopped after 3 steps: empty_reply")
        press(made, "Reset")
        assert news(made) == "The loop calls the model for step 1: what does it reply?"


async def until(condition):
    while not condition():
        await asyncio.sleep(0.001)


class TestPlaying:
    """Play, pause and stop, on an event loop."""

    @pytest.fixture
    def played(self, whole):
        whole.choices["searches"].value = "find a page each"
        whole.player.seconds = 0
        return whole

    def test_to_the_end(self, played):
        """Play begins a new run and makes each step of it."""

        async def play():
            press(played, "Play")
            await played.player.task

        asyncio.run(play())
        assert news(played).startswith("token_budget stopped the run after 11 steps")

    @pytest.mark.parametrize(
        ("button", "reason"), [("Stop", "interrupted"), ("Pause", "running"), ("Reset", "running")]
    )
    def test_in_the_middle(self, played, button, reason):
        """Stop, Pause and Reset work while it plays, and no step comes after them."""

        async def play():
            press(played, "Play")
            await until(lambda: played.state.outcome.steps == 3)
            press(played, button)
            steps = played.state.outcome.steps
            await asyncio.sleep(0.1)
            assert played.state.outcome.steps == steps == (0 if button == "Reset" else 3)

        asyncio.run(play())
        assert played.state.outcome.reason == reason
        assert not played.player.playing

    def test_controls_work_while_it_plays(self, played):
        """A limit that is changed in mid-run holds from then on; the run goes on where it was."""

        async def play():
            press(played, "Play")
            await until(lambda: played.state.outcome.steps == 3)
            played.fields["max_steps"].value = 5
            assert played.state.outcome.steps == 3
            await played.player.task

        asyncio.run(play())
        assert news(played) == "max_steps stopped the run after 5 steps: 5 of 5 steps used."

    def test_it_waits_while_a_person_is_asked(self):
        """The run that is played stands still at a question and goes on after the answer."""
        made = lab_person()
        made.player.seconds = 0

        async def play():
            press(made, "Play")
            for _ in range(3):
                await until(lambda: asks(made))
                await asyncio.sleep(0.05)
                assert made.player.playing
                press(made, "Decline")
            await made.player.task

        asyncio.run(play())
        assert news(made) == "The model answered in step 7; no guard fired."

    def test_play_twice_is_play_once(self):
        """While it plays, Play changes nothing."""
        ticks = []

        async def play():
            player = Player(lambda: ticks.append(1) or len(ticks) < 5, seconds=0)
            player.play()
            first = player.task
            player.play()
            assert player.task is first
            await first

        asyncio.run(play())
        assert len(ticks) == 5

    def test_an_error_ends_it(self, played, monkeypatch):
        """An error in a step is shown, and nothing goes on behind it."""
        monkeypatch.setattr("stoplib.course.lab.view.transcript", lambda outcome: 1 / 0)

        async def play():
            press(played, "Play")
            await until(lambda: not played.player.playing)

        asyncio.run(play())
        assert "ZeroDivisionError" in played.status.value

    def test_where_there_is_no_event_loop(self, played):
        """Outside of a notebook Play says what is wrong."""
        press(played, "Play")
        assert "RuntimeError" in played.status.value


class TestThreads:
    """A kernel that hands clicks to more than one thread."""

    def test_all_is_done_where_the_lab_was_made(self):
        """Clicks and changes that come in on other threads are carried out on the first one, in their order."""

        async def click():
            made = lab()
            before = made.state.shared
            for act in (
                made.buttons["Reset"].click,
                lambda: setattr(made.choices["model"], "value", "retries"),
                made.buttons["Step"].click,
                made.buttons["Stop"].click,
            ):
                thread = threading.Thread(target=act)
                thread.start()
                thread.join()
                assert made.state.shared == before
            await asyncio.sleep(0)
            return made

        made = asyncio.run(click())
        assert news(made) == "You stopped the run after 1 step: interrupted."
        assert made.state.settings["model"] == "retries"


class TestPresets:
    """Ready-made guard sets."""

    @pytest.mark.parametrize("name", PRESETS)
    def test_all_controls_follow(self, whole, name):
        """A preset is in the switches, in the fields, in the code and in the run."""
        whole.switches["max_steps"].value = False
        whole.choices["preset"].value = name
        on = {guard for guard, switch in whole.switches.items() if guard in GUARDS and switch.value}
        assert on == PRESETS[name].on
        assert whole.state.settings.guards == PRESETS[name].guards
        assert {guard: whole.fields[guard].value for guard in on} == {guard: PRESETS[name][guard] for guard in on}
        assert whole.state.settings.code in shown(whole)

    def test_it_says_what_is_chosen(self, whole):
        """A change by hand is a choice of one's own; back to where it began, everything is as it was."""
        assert whole.choices["preset"].value == AS_IT_BEGAN
        whole.choices["model"].value = "retries"
        assert whole.choices["preset"].value == "full set"
        whole.fields["max_steps"].value = 7
        assert whole.choices["preset"].value == OWN
        whole.choices["preset"].value = AS_IT_BEGAN
        assert (whole.choices["model"].value, whole.fields["max_steps"].value) == ("never answers", 20)


class TestSharing:
    """Hand out a situation, and take one on."""

    def test_text_code_and_file_are_the_same(self, whole, tmp_path):
        """The code that is shown, the link and a saved file all make a lab with the same settings and the same run."""
        whole.choices["model"].value = "alternates"
        press(whole, "Reset", "Step", "Step", "Stop")
        link = re.search('base64,([^"]+)', whole.sharing.shown.value)[1]
        code = unescape(re.search("<pre[^>]*>(.+)</pre>", whole.sharing.shown.value)[1])
        whole.save(tmp_path / "mine.json")
        copies = [lab(base64.b64decode(link).decode()), eval(code), lab(tmp_path / "mine.json")]
        for copy in copies:
            assert isinstance(copy, Lab)
            assert (copy.state.settings, copy.state.outcome) == (whole.state.settings, whole.state.outcome)
            assert copy.choices["model"].value == "alternates"
            assert news(copy) == "You stopped the run after 2 steps: interrupted."

    def test_load_a_text(self, whole):
        """A pasted text sets all controls and the run."""
        text = '{"stoplib_lab": 1, "model": "retries", "max_steps": 9, "on": ["max_steps"], "run": {"steps": 2}}'
        whole.sharing.pasted.value = text
        press(whole, "Load")
        assert news(whole) == "2 steps so far. The model is called next."
        assert (whole.choices["model"].value, whole.fields["max_steps"].value) == ("retries", 9)
        assert [name for name, switch in whole.switches.items() if name in GUARDS and switch.value] == ["max_steps"]

    def test_a_bad_text_changes_nothing(self, whole):
        """What is no text of a lab is told, and settings and run stay."""
        before = whole.state.shared
        whole.sharing.pasted.value = "hello"
        press(whole, "Load")
        assert "this is not the text of a lab" in whole.status.value
        assert whole.state.shared == before

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (json.dumps({"stoplib_lab": 1, "on": ["max_steps"]}).encode(), "20 of 20 steps"),
            (b"\xff\x00", "not the text"),
        ],
    )
    def test_load_a_file(self, whole, content, said):
        """A file that is uploaded is loaded, or it is told that it is none of a lab."""
        file = {"name": "x", "type": "", "size": 1, "content": memoryview(content), "last_modified": datetime.now(UTC)}
        whole.sharing.upload.value = (file,)
        assert said in whole.status.value
        assert whole.sharing.upload.value == ()

    @pytest.mark.parametrize("saved", ["nowhere.json", "", "x" * 5000])
    def test_neither_text_nor_file(self, saved, tmp_path, monkeypatch):
        """`lab` says what it was given when it can make nothing of it."""
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ValueError, match="is neither the text of a lab nor a file that can be read"):
            lab(saved)


class TestSequences:
    """The table of chapter 04."""

    def test_it_fills_in_row_by_row(self):
        """Step fills in one row, Run all of them, Reset none; the strip is that of the last one."""
        made = lab_sequences()
        assert (made.table.value.count("<tr>"), made.table.value.count("<td>?</td>")) == (13, 48)
        press(made, "Step", "Step")
        assert (made.table.value.count("<tr>"), made.table.value.count("<td>?</td>")) == (13, 40)
        assert 'role="img"' in made.picture.value
        press(made, "Run")
        assert news(made) == "12 of 12 rows are filled in; all together, the rules are right on 10."
        assert "?" not in made.table.value
        press(made, "Reset")
        assert (made.table.value.count("<td>?</td>"), made.picture.value) == (48, "")

    def test_rules_and_declarations_are_judged(self):
        """What the tools declare and which rules are on change the verdicts."""
        made = lab_sequences()
        press(made, "Run")
        made.switches["repeated_call"].value = False
        assert news(made).endswith("the rules are right on 12.")
        made.switches["declared"].value = False
        assert news(made).endswith("the rules are right on 10.")
        made.switches["no_new_results"].value = False
        assert "no_new_results" not in made.table.value
        assert "✗ never" in made.table.value

    def test_it_plays(self):
        """Play fills in what is missing."""
        made = lab_sequences()
        made.player.seconds = 0

        async def play():
            press(made, "Play")
            await made.player.task

        asyncio.run(play())
        assert made.state.over

    def test_the_text_holds_the_whole_table(self):
        """The verdicts stand in the text, each with the rule, also those that are not filled in yet."""
        made = lab_sequences()
        verdicts = ("going_in_circles()", "repeated_call(3)", "no_new_results(3)", "all together")
        row = f"1 A A A A: same call, same result, stop, {', '.join(f'{rule}: right' for rule in verdicts)}"
        assert row in repr(made).splitlines()


class TestRecorded:
    """The sliders of chapter 10."""

    def test_a_limit_over_all_runs(self):
        """A lower limit stops more and loses more, and the news say how much."""
        made = lab_recorded(RUNS)
        found = []
        for limit in (100, 5, 1):
            made.sliders["max_steps"].value = limit
            found.append([effect.part for effect in made.state.effects[:2]])
            assert news(made) == made.state.sentence
        assert found[0] == [0, 0]
        assert found == sorted(found)
        assert found[-1] == [effect.whole for effect in made.state.effects[:2]]

    def test_guards_are_held_against_the_runs_together(self):
        """A second guard stops what the first lets through."""
        made = lab_recorded(RUNS)
        made.sliders["max_steps"].value = 100
        made.switches["repeated_call"].value = True
        made.fields["repeated_call"].value = 1
        assert made.state.effects[0].part == made.state.effects[0].whole
        assert "repeated_call(1), max_steps(100)" in made.code.value
