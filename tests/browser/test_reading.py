"""The pages made from all lessons, as a learner opens and prints them."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from stoplib.course.jupyterlab_browser import PATIENCE_MS

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
A4_ACROSS = [842, 595]  # in points

pytestmark = pytest.mark.browser


@pytest.fixture
def chapter(visit):
    """Chapter 03, with the pages and chapter 05 beside it."""
    visit.bring("glossary.md", "guards_and_reasons.md", "on_one_page.html", "05_what_a_run_costs.ipynb")
    return visit.open("03_guards_are_functions.ipynb")


def test_a_word_can_be_looked_up(chapter):
    """A click in a chapter opens the glossary to read; one on a link there, the chapter at the cell with the word."""
    chapter.panel.get_by_role("link", name="glossary").click()
    glossary = chapter.page.locator(".jp-MarkdownViewer")
    expect(glossary.get_by_role("heading", name="gate", exact=True)).to_be_visible(timeout=PATIENCE_MS)
    glossary.get_by_role("link", name="05 Count in tokens").first.click()
    word = chapter.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) strong", has_text=re.compile("^tokens$"))
    expect(word).to_be_in_viewport(timeout=PATIENCE_MS)


def test_guards_can_be_looked_up(chapter):
    """A click in a chapter opens the page of guards and reasons, which has a way back to the glossary."""
    chapter.panel.get_by_role("link", name="guards and reasons").click()
    guide = chapter.page.locator(".jp-MarkdownViewer:not(.lm-mod-hidden)")
    expect(guide.get_by_role("heading", name="max_tool_calls")).to_be_attached(timeout=PATIENCE_MS)
    expect(guide.get_by_role("link", name="glossary")).to_be_visible()


def test_the_page_to_print_can_be_opened(chapter):
    """A click in a chapter shows the page to print, with its tables in the size of the other text."""
    chapter.panel.get_by_role("link", name="one page").click()
    page = chapter.page.frame_locator(".jp-HTMLViewer iframe, iframe.jp-HTMLViewer, .jp-IFrame iframe")
    expect(page.get_by_role("heading", name="How an agent run stops")).to_be_visible(timeout=PATIENCE_MS)
    sizes = [page.locator(one).first.evaluate("e => getComputedStyle(e).fontSize") for one in ("li", "td")]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("font", ["Liberation Sans", "DejaVu Sans"])
def test_it_is_one_sheet(browser, font):
    """Printed, it fills one sheet of A4 and no more, in a font like Arial and in one that runs wider."""
    text = (NOTEBOOKS / "on_one_page.html").read_text(encoding="utf-8")
    assert text.count('"Helvetica Neue", Arial') == 1
    page = browser.new_page()
    page.set_content(text.replace('"Helvetica Neue", Arial', f'"{font}", Arial'))
    sheet = page.pdf(prefer_css_page_size=True)
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", sheet)
    assert [[round(float(side)) for side in size] for size in sizes] == [A4_ACROSS]
    page.close()
