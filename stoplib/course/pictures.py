"""The pictures of the lab in README and docs: `python -m stoplib.course.pictures` makes them.

    docs/lab.png          the whole lab, with a run that went in circles and the race of the guards
    docs/lab-person.png   the lab of chapter 06 on a dark page, at a question to the person

They are taken in a real JupyterLab, so this needs Chromium or Chrome.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from stoplib.course.jupyterlab_browser import Notebook, chromium, find_browser, jupyterlab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

ROOT = Path(__file__).parents[2]
WIDTH, HEIGHT = 1400, 1900
# A picture needs a margin, and is about what can be seen at one look.
STYLE = ".stop-lab {padding: 16px; background: var(--jp-layout-color0)} .stop-code, .stop-table {display: none}"
STYLE += " .widget-upload, .stop-lab p:has(a), .stop-lab div:has(> .widget-textarea) {display: none}"


def circles(lab: Locator) -> None:
    """A run that goes in circles, found out by the guard for it."""
    lab.get_by_label("Model", exact=True).select_option("alternates")
    lab.get_by_label("Searches", exact=True).select_option("find a page each")
    lab.get_by_role("img", name="first going_in_circles at step 4").wait_for()


def question(lab: Locator) -> None:
    """A person who has declined once is asked for the second time."""
    lab.page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    for button in ("Step", "Step", "Decline", "Step", "Step"):
        lab.get_by_role("button", name=button, exact=True).click()
    lab.get_by_role("alert").filter(has_text="Step 4 asks").wait_for()


PICTURES: dict[str, tuple[str, Callable[[Locator], None]]] = {
    "lab.png": ("lab.ipynb", circles),
    "lab-person.png": ("06_a_person_in_the_loop.ipynb", question),
}


def main() -> str | None:
    """Make the pictures. Returns what is missing, or None."""
    executable = find_browser()
    if not executable:
        return "The pictures are taken in a browser: install Chromium or Chrome, so that it is on the PATH."
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder, "root"), Path(folder, "home")
        root.mkdir()
        home.mkdir()
        with jupyterlab(root, home) as address, chromium(executable) as browser:
            for name, (notebook, prepare) in PICTURES.items():
                shutil.copy(ROOT / "notebooks" / notebook, root)
                _take(browser, address, notebook, prepare, ROOT / "docs" / name)
                print(f"made docs/{name}")
    return None


def _take(browser: Browser, address: str, name: str, prepare: Callable[[Locator], None], target: Path) -> None:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.5)
    notebook = Notebook(page, address, name)
    notebook.run_all()
    lab = notebook.panel.locator(".stop-lab")
    lab.get_by_role("img").last.wait_for()
    prepare(lab)
    page.add_style_tag(content=STYLE)
    page.mouse.move(0, 0)
    lab.evaluate("lab => lab.scrollIntoView({block: 'start'})")
    lab.screenshot(path=target)
    page.close()


if __name__ == "__main__":
    sys.exit(main())
