"""How quickly the lab answers, in a real JupyterLab: from a key on a slider to the pictures, and while it plays.

    python benchmarks/lab.py

Needs Chromium or Chrome. Prints the median and the slowest of 30 changes, to the first picture and to all four, and
what became of the clicks while the lab played five steps a second.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from stoplib.course.jupyterlab_browser import Notebook, chromium, find_browser, jupyterlab

ROOT = Path(__file__).resolve().parents[1]
CHANGES, CLICKS = 30, 12

# Notes for each key on a slider how many milliseconds went by until the first and the last picture was another one.
WATCH = """lab => {
    window.took = [];
    const pictures = () => [...lab.querySelectorAll('.stop-chart')];
    lab.addEventListener('keydown', () => {
        const start = performance.now(), before = pictures();
        let first;
        const look = () => {
            const changed = pictures().filter((picture, place) => picture !== before[place]).length;
            if (changed) first ??= performance.now() - start;
            if (changed === before.length) window.took.push([first, performance.now() - start]);
            else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    }, true);
}"""


def changes(notebook: Notebook, lab: Any) -> list[tuple[float, float]]:
    """Milliseconds from a key on the slider of `max_steps` to the first picture and to the last."""
    lab.get_by_label("Guards", exact=True).select_option("only a step cap")
    slider = lab.get_by_role("slider", name="steps", exact=True)
    lab.evaluate(WATCH)
    for number in range(CHANGES + 2):
        slider.press("ArrowLeft" if number % 20 < 10 else "ArrowRight")
        notebook.page.wait_for_function("count => window.took.length === count", arg=number + 1)
    took: list[tuple[float, float]] = notebook.page.evaluate("window.took")
    return took[2:]


def clicks(lab: Any) -> tuple[int, float]:
    """How many of the clicks on Pause and Play were heard while the lab played, and seconds a step took meanwhile."""
    lab.get_by_label("steps", exact=True).first.fill("40")
    heard = 0
    for number in range(CLICKS):
        lab.get_by_role("button", name="Reset", exact=True).click()
        lab.get_by_role("button", name="Play", exact=True).click()
        lab.page.wait_for_timeout(300 + 100 * (number % 5))
        lab.get_by_role("button", name="Stop", exact=True).click()
        lab.page.wait_for_timeout(300)
        heard += "You stopped the run" in lab.get_by_role("status").inner_text()
    lab.get_by_role("button", name="Reset", exact=True).click()
    lab.page.wait_for_timeout(300)
    lab.get_by_role("button", name="Play", exact=True).click()
    lab.page.wait_for_timeout(3000)
    lab.get_by_role("button", name="Pause", exact=True).click()
    lab.page.wait_for_timeout(300)
    return heard, 3 / int(lab.get_by_role("status").inner_text().split()[0])


def main() -> str | None:
    """Measure and print. Returns what is missing, or None."""
    executable = find_browser()
    if not executable:
        return "This is measured in a browser: install Chromium or Chrome, so that it is on the PATH."
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder, "root"), Path(folder, "home")
        root.mkdir()
        home.mkdir()
        shutil.copy(ROOT / "notebooks" / "lab.ipynb", root)
        with jupyterlab(root, home) as address, chromium(executable) as browser:
            notebook = Notebook(browser.new_page(viewport={"width": 1280, "height": 1800}), address, "lab.ipynb")
            notebook.run_all()
            lab = notebook.panel.locator(".stop-lab")
            lab.locator(".stop-chart").last.wait_for()
            took = changes(notebook, lab)
            heard, pace = clicks(lab)
    for what, place in (("the first picture", 0), ("all four pictures", 1)):
        times = [pair[place] for pair in took]
        print(f"slider to {what}: median {median(times):.0f} ms, slowest {max(times):.0f} ms")
    print(f"while it played: {heard} of {CLICKS} clicks on Stop were heard, and a step took {pace:.2f} s")
    return None


if __name__ == "__main__":
    sys.exit(main())
