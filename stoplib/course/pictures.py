"""The picture of the README: `python -m stoplib.course.pictures` makes docs/lab.png.

It is the lab of chapter 02 in a real JupyterLab, so it needs Chromium or Chrome.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from stoplib.course.jupyterlab_browser import Notebook, chromium, find_browser, jupyterlab

ROOT = Path(__file__).parents[2]
CHAPTER = "02_three_exits.ipynb"
# The table of steps says nothing new, and the picture needs a margin.
STYLE = ".stop-lab {padding: 16px; background: white} .stop-table {display: none}"


def main() -> str | None:
    """Make the picture. Returns what is missing, or None."""
    executable = find_browser()
    if not executable:
        return "The picture is taken in a browser: install Chromium or Chrome, so that it is on the PATH."
    target = ROOT / "docs" / "lab.png"
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder, "root"), Path(folder, "home")
        root.mkdir()
        home.mkdir()
        shutil.copy(ROOT / "notebooks" / CHAPTER, root)
        with jupyterlab(root, home) as address, chromium(executable) as browser:
            page = browser.new_page(viewport={"width": 1360, "height": 1000}, device_scale_factor=2)
            _take(Notebook(page, address, CHAPTER), target)
    print(f"made {target.relative_to(ROOT)}")
    return None


def _take(notebook: Notebook, target: Path) -> None:
    notebook.run_all()
    notebook.page.add_style_tag(content=STYLE)
    lab = notebook.panel.locator(".stop-lab")
    lab.locator("img.stop-chart").last.wait_for()
    lab.evaluate("lab => lab.scrollIntoView({block: 'center'})")
    lab.screenshot(path=target)


if __name__ == "__main__":
    sys.exit(main())
