"""What a learner sees and does in JupyterLab, in a real browser."""

import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from stoplib.course.jupyterlab_browser import PATIENCE_MS

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CHAPTER = "02_three_exits.ipynb"
EVERY = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))

pytestmark = pytest.mark.browser


def code_cells(name):
    """Pairs of a code cell and its place among all cells."""
    cells = nbformat.read(NOTEBOOKS / name, as_version=4).cells
    return [(place, cell) for place, cell in enumerate(cells) if cell.cell_type == "code"]


def results(name):
    """The stored results of the reveal cells, as patterns for the lines that `reveal` printed."""
    revealed = [cell for _, cell in code_cells(name) if cell.metadata.stoplib.role == "reveal"]
    text = "".join(output.text for cell in revealed for output in cell.outputs if output.output_type == "stream")
    return [re.compile(f"^{re.escape(line)}$", re.M) for line in re.findall("^The run says: .+$", text, re.M)]


def place_of(name, source):
    """The place of the code cell that holds `source`."""
    (place,) = (place for place, cell in code_cells(name) if source in cell.source)
    return place


def test_results_are_stored_and_hidden(visit):
    """A chapter that is opened shows no result of a checkpoint, although each is stored in it."""
    notebook = visit.open(CHAPTER)
    stored = results(CHAPTER)
    assert len(stored) == 3
    expect(notebook.outputs("Checkpoint 2.3: choose")).to_have_count(1)  # so the outputs are drawn
    for line in stored:
        expect(notebook.outputs(line)).to_have_count(0)


def test_a_checkpoint_in_its_order(visit):
    """A learner runs the cells, chooses by keyboard, runs the next cell, and is told."""
    notebook = visit.open(CHAPTER)
    place = place_of(CHAPTER, 'reveal("2.1"')
    notebook.run_above(place)
    checkpoint = notebook.panel.locator(".stop-checkpoint")
    checkpoint.get_by_role("button", name=re.compile("^b: ")).press("Space")
    expect(checkpoint.get_by_role("status")).to_contain_text("Checkpoint 2.1: you predicted b. You may change it")
    notebook.run_cell(place)
    expect(notebook.outputs(re.compile(r"^You predicted b \(3\): not this time\.$", re.M))).to_have_count(1)


@pytest.fixture(scope="module")
def chapter(visit):
    """Chapter 02 after Run All."""
    notebook = visit.open(CHAPTER)
    notebook.run_all()
    return notebook


def test_run_all_shows_the_results(chapter):
    """Run All runs each cell without an error or a warning, and each checkpoint shows its result."""
    assert chapter.troubles() == []
    prompts = chapter.panel.locator(".jp-CodeCell .jp-InputArea-prompt")
    numbers = [f"[{number}]:" for number in range(1, len(code_cells(CHAPTER)) + 1)]
    expect(prompts).to_have_text(numbers)
    for line in results(CHAPTER):
        expect(chapter.outputs(line)).to_have_count(1)


def test_a_choice_after_run_all_counts_as_late(chapter):
    """Who chooses when the result is there already gets the feedback, marked as late."""
    checkpoint = chapter.panel.locator(".stop-checkpoint").first
    checkpoint.get_by_role("button", name=re.compile("^a: ")).press("Enter")
    expect(checkpoint.get_by_role("status")).to_have_text("Checkpoint 2.1: you predicted a. Run the next cell again.")
    chapter.run_cell(place_of(CHAPTER, 'reveal("2.1"'))
    expect(chapter.outputs("You predicted a: right (made after the result was seen).")).to_have_count(1)


def test_the_lab_works_by_keyboard(chapter):
    """An arrow key on a slider moves the field, draws both pictures again, and changes all words."""
    lab = chapter.panel.locator(".stop-lab")
    pictures = lab.get_by_role("img").all()
    drawn = [picture.inner_html() for picture in pictures]
    expect(lab.get_by_role("status")).to_have_text("max_steps stopped the run after 10 steps: 10 of 10 steps used.")
    lab.get_by_role("slider").last.press("ArrowLeft")
    expect(lab.get_by_role("spinbutton", name="Steps at most")).to_have_value("9")
    expect(lab.get_by_role("status")).to_have_text("max_steps stopped the run after 9 steps: 9 of 9 steps used.")
    for picture, before, words in zip(pictures, drawn, ("^9 steps: ", "max_steps 9 of 9 steps"), strict=True):
        expect(picture).to_have_attribute("aria-label", re.compile(words))
        assert picture.inner_html() != before


@pytest.mark.parametrize("name", EVERY)
def test_a_chapter_runs_twice(visit, faults, name):
    """All cells run, and run once more in the same kernel, without an error or a warning; its lab has no faults."""
    notebook = visit.open(name)
    for _ in range(2):
        notebook.run_all()
        assert notebook.troubles() == []
    labs = [cell for _, cell in code_cells(name) if cell.id == "lab"]
    if labs:
        last = notebook.panel.locator(".stop-lab .stop-names").last
        expect(last).to_have_attribute("data-named", "yes", timeout=PATIENCE_MS)
        assert faults(notebook.page, ".stop-lab") == []


def test_nothing_left_the_machine(visit, chapter):
    """None of the windows opened so far asked for anything outside this JupyterLab."""
    assert visit.elsewhere == []
