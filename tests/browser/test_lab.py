"""The lab in a real browser: what a learner sees and does, with the mouse and with the keyboard alone."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import expect

from stoplib.course.jupyterlab_browser import PATIENCE_MS, Notebook, notebook_7, voila

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
GOES_ON = re.compile("^[0-9]+ steps so far")  # no number: whoever looks from time to time may miss it

pytestmark = pytest.mark.browser

# While the lab plays: in how many frames was a picture missing, and in how many did the first one stand elsewhere?
WATCH = """lab => {
    const pictures = () => lab.querySelectorAll('.stop-chart');
    const count = pictures().length, top = pictures()[0].getBoundingClientRect().top;
    window.seen = {frames: 0, missing: 0, moved: 0};
    const look = () => {
        const now = pictures();
        window.seen.frames += 1;
        window.seen.missing += now.length < count;
        window.seen.moved += now.length && Math.abs(now[0].getBoundingClientRect().top - top) > 1;
        if (window.seen) requestAnimationFrame(look);
    };
    look();
}"""


class Lab:
    """A lab on a page, and its parts."""

    def __init__(self, part):
        self.part, self.page = part, part.page
        expect(part.get_by_role("button", name="Run", exact=True)).to_be_visible(timeout=PATIENCE_MS)

    def control(self, name):
        """The field, list or switch with this label."""
        return self.part.locator("input, select, textarea").and_(self.part.get_by_label(name, exact=True))

    def button(self, name):
        return self.part.get_by_role("button", name=name, exact=True)

    def press(self, *names):
        for name in names:
            self.button(name).click()

    def choose(self, name, value):
        """Choose from a list, and wait until the kernel has heard of it: a click could overtake what is chosen."""
        self.control(name).select_option(value)
        expect(self.part.locator(".stop-shared")).to_contain_text(f'"{value}"', timeout=PATIENCE_MS)

    def preset(self, name, guards):
        """Choose a guard set, and wait until it is there."""
        self.control("Guards").select_option(name)
        expect(self.part.locator(".stop-code").first).to_have_text(re.compile(guards), timeout=PATIENCE_MS)

    def set(self, name, number):
        """Type a number, and wait until it is in the code."""
        self.control(name).fill(str(number))
        self.control(name).press("Enter")
        expect(self.part.locator(".stop-code").first).to_contain_text(f"({number})", timeout=PATIENCE_MS)

    def says(self, words):
        """Wait until the news are these words, or words of this pattern."""
        expect(self.part.locator(".stop-status")).to_have_text(words, timeout=PATIENCE_MS)

    def picture(self, words):
        """The picture that begins with these words."""
        return self.part.get_by_role("img", name=re.compile(f"^{words}"))

    @property
    def steps(self):
        return self.part.locator(".stop-table tbody tr")

    def again(self):
        """The settings that the lab begins with, before the first step."""
        self.preset("only a step cap", r"guards = \[max_steps\(20\)\]$")
        self.preset("as it began", "token_budget")
        expect(self.control("Model")).to_have_value("never answers")
        self.press("Step", "Reset")
        self.says("The run has not begun.")


@pytest.fixture(scope="module")
def opened(visit):
    """The page of the lab after Run All."""
    notebook = visit.open("lab.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture
def lab(opened):
    lab = Lab(opened.panel.locator(".stop-lab"))
    lab.again()
    return lab


def test_choose_and_run(lab):
    """Another model and other limits are another run, in the words, in all pictures, in the table and in the code."""
    lab.choose("Model", "alternates")
    lab.choose("Searches", "find a page each")
    lab.control("no_new_results").uncheck()
    lab.press("Run")
    lab.says("going_in_circles stopped the run after 4 steps: a cycle of 2 rounds, 2 times in a row.")
    expect(lab.picture("4 steps: ok × 2, repeat × 2")).to_be_visible()
    expect(lab.picture("4 steps, in tokens: ")).to_be_visible()
    expect(lab.picture("Guards: .*going_in_circles 2 of 2 passes of a cycle, ended the run")).to_be_visible()
    expect(lab.steps).to_have_count(4)
    expect(lab.part.locator(".stop-code").first).not_to_contain_text("no_new_results")


def test_step(lab):
    """Each press of Step is one step."""
    for number in (1, 2, 3):
        expect(lab.steps).to_have_count(number - 1)
        lab.press("Step")
        expect(lab.steps).to_have_count(number)
    lab.says(re.compile("^no_new_results stopped the run after 3 steps"))


def test_stop_in_the_middle(lab):
    """Stop ends a run that is being played, as interrupted, and no step comes after it."""
    lab.preset("only a step cap", r"guards = \[max_steps\(20\)\]$")
    lab.set("steps", 40)
    lab.press("Play")
    lab.says(GOES_ON)
    lab.press("Stop")
    lab.says(re.compile("^You stopped the run after [0-9]+ steps: interrupted.$"))
    steps = int(re.search("[0-9]+", lab.part.locator(".stop-status").inner_text())[0])
    expect(lab.steps).to_have_count(steps)
    expect(lab.picture(f"{steps} steps: ok × {steps}. The run stopped: interrupted")).to_be_visible()
    lab.page.wait_for_timeout(600)
    expect(lab.steps).to_have_count(steps)


def test_pause_and_go_on(lab):
    """Pause holds the run where it is, Play goes on with it."""
    lab.preset("only a step cap", r"guards = \[max_steps\(20\)\]$")
    lab.press("Play")
    lab.says(GOES_ON)
    lab.press("Pause")
    lab.page.wait_for_timeout(600)
    steps = lab.steps.count()
    assert 0 < steps < 20
    lab.page.wait_for_timeout(600)
    expect(lab.steps).to_have_count(steps)
    lab.press("Play")
    lab.says("max_steps stopped the run after 20 steps: 20 of 20 steps used.")


def test_controls_work_while_it_plays(lab):
    """A limit that is changed in mid-run ends the run that is going on."""
    lab.preset("only a step cap", r"guards = \[max_steps\(20\)\]$")
    lab.set("steps", 40)
    lab.press("Play")
    lab.says(GOES_ON)
    lab.set("steps", 35)
    lab.says("max_steps stopped the run after 35 steps: 35 of 35 steps used.")


def test_approve_and_decline(lab):
    """The two buttons appear when a tool asks, and what the person said is in the table."""
    lab.choose("Model", "insists")
    lab.choose("Ask me before", "every call")
    expect(lab.button("Approve")).to_be_hidden()
    lab.press("Play")
    for number, answer in enumerate(("Approve", "Decline", "Decline", "Decline"), 1):
        lab.says(f"Step {number} asks for delete(path='{number}.txt'). May it run? Approve or Decline.")
        expect(lab.part.get_by_role("alert")).to_be_visible()
        lab.press(answer)
    lab.says(re.compile("^too_many_refusals stopped the run after 4 steps"))
    expect(lab.button("Approve")).to_be_hidden()
    expect(lab.steps.locator("td:last-child")).to_have_text([re.compile("^ok: "), *[re.compile("^declined: ")] * 3])


def test_the_race(lab):
    """The race shows every guard, on or off, and another model has another winner."""
    lab.choose("Model", "retries")
    expect(lab.picture("Race over 40 recorded steps: first going_in_circles at step 2")).to_be_visible()
    lab.choose("Model", "asks in batches")
    lab.choose("Searches", "find a page each")
    expect(lab.picture("Race over 40 recorded steps: first max_tool_calls at step 5")).to_be_visible()
    lab.control("max_tool_calls").uncheck()
    expect(lab.picture(r"Race over 40 recorded steps: first max_tool_calls \(off\) at step 5")).to_be_visible()


def test_a_text_brings_it_back(lab):
    """The text that is shown restores settings and run; another text is told, and changes nothing."""
    lab.choose("Model", "rewords")
    lab.press("Step", "Step", "Stop")
    lab.says("You stopped the run after 2 steps: interrupted.")
    shared = lab.part.locator(".stop-shared")
    expect(shared).to_contain_text('"stopped": true')
    text = shared.inner_text()
    lab.again()
    lab.control("A text to load").fill("hello")
    lab.press("Load")
    lab.says(re.compile("^ValueError: this is not the text of a lab"))
    expect(lab.control("Model")).to_have_value("never answers")
    lab.control("A text to load").fill(text)
    lab.press("Load")
    lab.says("You stopped the run after 2 steps: interrupted.")
    expect(lab.steps).to_have_count(2)


def test_a_file_brings_it_back(lab, tmp_path):
    """The link saves a small file, and the button beside it loads it."""
    lab.set("steps", 7)
    expect(lab.part.locator(".stop-shared")).to_contain_text('"max_steps": 7')
    with lab.page.expect_download() as download:
        lab.part.get_by_role("link", name="save it as a file").click()
    download.value.save_as(tmp_path / "mine.json")
    assert json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))["max_steps"] == 7
    lab.again()
    with lab.page.expect_file_chooser() as chooser:
        lab.part.locator("button", has_text="Load a file").click()
    chooser.value.set_files(tmp_path / "mine.json")
    expect(lab.control("steps")).to_have_value("7")


def test_it_plays_without_flicker(lab):
    """While it plays no frame misses a picture, and none of them moves."""
    lab.preset("only a step cap", r"guards = \[max_steps\(20\)\]$")
    lab.press("Reset")
    lab.says("The run has not begun.")
    lab.part.evaluate(WATCH)
    lab.press("Play")
    lab.says("max_steps stopped the run after 20 steps: 20 of 20 steps used.")
    seen = lab.page.evaluate("() => { const seen = window.seen; window.seen = null; return seen; }")
    assert seen["frames"] > 20
    assert (seen["missing"], seen["moved"]) == (0, 0)


class TestKeyboard:
    """No mouse at all."""

    def to(self, lab, target):
        """Press Tab until the target has the focus."""
        for _ in range(80):
            lab.page.keyboard.press("Tab")
            if target.evaluate("part => part === document.activeElement || part.contains(document.activeElement)"):
                return
        raise AssertionError("Tab does not lead there")

    def test_a_whole_run(self, lab):
        """Choose a model, switch guards, change limits, step, play, stop: with Tab, Space, arrows and digits."""
        keyboard = lab.page.keyboard
        lab.preset("only a step cap", r"guards = \[max_steps\(20\)\]$")
        lab.control("Model").focus()
        keyboard.press("Space")
        for key in ("a", "l", "t", "Enter"):
            keyboard.press(key)
        expect(lab.control("Model")).to_have_value("alternates")
        self.to(lab, lab.control("no_new_results"))
        for checked in (True, False):
            keyboard.press("Space")
            expect(lab.control("no_new_results")).to_be_checked(checked=checked)
        self.to(lab, lab.control("passes"))
        for _ in range(3):
            keyboard.press("ArrowUp")
        expect(lab.control("passes")).to_have_value("5")
        self.to(lab, lab.part.get_by_role("slider", name="times", exact=True))
        keyboard.press("End")
        expect(lab.control("times")).to_have_value("10")
        self.to(lab, lab.control("steps"))
        keyboard.press("ControlOrMeta+a")
        keyboard.type("40")
        keyboard.press("Enter")
        self.to(lab, lab.button("Step"))
        keyboard.press("Enter")
        lab.says("1 step so far. The model is called next.")
        self.to(lab, lab.button("Play"))
        keyboard.press("Space")
        lab.says(GOES_ON)
        self.to(lab, lab.button("Stop"))
        keyboard.press("Space")
        lab.says(re.compile("^You stopped the run after [0-9]+ steps: interrupted.$"))

    def test_an_answer(self, lab):
        """Decline can be reached, and after it the focus is at Step, not nowhere."""
        lab.choose("Model", "insists")
        lab.choose("Ask me before", "every call")
        lab.button("Step").focus()
        lab.page.keyboard.press("Space")
        lab.says(re.compile("^Step 1 asks for delete"))
        self.to(lab, lab.button("Decline"))
        lab.page.keyboard.press("Space")
        lab.says("1 step so far. The model is called next.")
        expect(lab.button("Step")).to_be_focused()

    def test_the_notebook_takes_no_keys(self, lab, opened):
        """Working in the lab neither moves to another cell nor adds one."""
        cells = opened.panel.locator(".jp-Cell").count()
        for name in ("steps", "Model"):
            lab.control(name).focus()
            lab.page.keyboard.press("ArrowDown")
        expect(opened.panel.locator(".jp-Cell")).to_have_count(cells)


class TestReading:
    """What a screen reader is given."""

    def test_names_and_news(self, lab):
        """Each slider has the name of the field beside it, and the news are announced when they change."""
        for row in lab.part.locator(".stop-number").all():
            label = row.locator("label").first.inner_text()
            expect(row.get_by_role("slider")).to_have_attribute("aria-label", label)
        expect(lab.part.locator(".stop-news .widget-html-content")).to_have_attribute("aria-live", "polite")

    @pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
    def test_no_faults(self, lab, faults, theme):
        """axe-core finds nothing wrong in the lab, on a light page and on a dark one, a question included."""
        lab.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        lab.choose("Model", "insists")
        lab.choose("Ask me before", "every call")
        lab.press("Step")
        expect(lab.button("Approve")).to_be_visible()
        dark = theme.endswith("Dark")
        paper = lab.picture("1 step").locator("path").first.evaluate("path => getComputedStyle(path).fill")
        assert paper == ("rgb(28, 28, 28)" if dark else "rgb(255, 255, 255)")
        assert faults(lab.page, ".stop-lab") == []


class TestElsewhere:
    """The same lab without JupyterLab."""

    @pytest.fixture
    def page(self, browser):
        """A page that may talk to this machine only; Voila asks for a style sheet elsewhere, and does without it."""
        context = browser.new_context(viewport={"width": 1000, "height": 1400})
        context.route(lambda url: not url.startswith("http://127.0.0.1"), lambda route: route.abort())
        yield context.new_page()
        context.close()

    def use(self, lab):
        lab.choose("Model", "alternates")
        lab.preset("only a step cap", r"guards = \[max_steps\(20\)\]$")
        lab.set("steps", 30)
        lab.press("Reset", "Step")
        lab.says("1 step so far. The model is called next.")
        lab.press("Play")
        lab.says(GOES_ON)
        lab.press("Stop")
        lab.says(re.compile("^You stopped the run after [0-9]+ steps: interrupted.$"))

    def test_a_plain_page(self, page, faults, tmp_path):
        """Voila shows it as a page without code, where it works and has no faults."""
        with voila(NOTEBOOKS / "lab.ipynb", tmp_path) as address:
            page.goto(address, timeout=PATIENCE_MS)
            self.use(Lab(page.locator(".stop-lab")))
            assert page.locator(".jp-Editor, .CodeMirror").count() == 0
            assert faults(page, ".stop-lab") == []
            page.close()

    @pytest.mark.skipif(find_spec("notebook") is None, reason="Notebook 7 is not installed")
    def test_notebook_7(self, page, faults, tmp_path):
        """It works in Notebook 7 as well, and the number beside a slider does what the slider's arrow keys do not."""
        home, root = tmp_path / "home", tmp_path / "root"
        home.mkdir(), root.mkdir()
        (root / "lab.ipynb").write_bytes((NOTEBOOKS / "lab.ipynb").read_bytes())
        with notebook_7(root, home) as address:
            notebook = Notebook(page, address, "lab.ipynb", classic=True)
            notebook.run_all()
            lab = Lab(notebook.panel.locator(".stop-lab"))
            self.use(lab)
            lab.control("steps").press("ArrowDown")
            expect(lab.control("steps")).to_have_value("29")
            assert faults(page, ".stop-lab") == []
            page.close()
