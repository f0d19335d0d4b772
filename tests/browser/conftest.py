"""One JupyterLab and one browser for all tests in this folder."""

import os
import shutil
from importlib.resources import files
from itertools import count
from pathlib import Path

import pytest

from stoplib.course.jupyterlab_browser import Notebook, chromium, find_browser, jupyterlab

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SIZE = {"width": 1280, "height": 1000}


@pytest.fixture(scope="module")  # while it is open an event loop runs, which no other test file may meet
def browser():
    """The browser. Without one the tests are skipped, or fail where they are required."""
    executable = find_browser()
    if not executable:
        give_up = pytest.fail if os.environ.get("STOPLIB_BROWSER_TESTS") == "required" else pytest.skip
        give_up("there is no Chromium or Chrome on the PATH")
    with chromium(executable) as opened:
        yield opened


class Visit:
    """Browser windows that may talk to one JupyterLab only, and remember what else was asked for."""

    def __init__(self, browser, address, root):
        self.elsewhere = []
        self.context = browser.new_context(viewport=SIZE)
        self.context.route(lambda url: not url.startswith(address), self._refuse)
        self._address, self._root, self._numbers = address, root, count(1)

    def open(self, name):
        """Open a copy of a chapter that nobody has run, in a window and with a kernel of its own."""
        copy = f"{Path(name).stem}-{next(self._numbers)}.ipynb"
        shutil.copyfile(NOTEBOOKS / name, self._root / copy)
        return Notebook(self.context.new_page(), self._address, copy)

    def bring(self, *names):
        """Put files of `notebooks/` beside the copies, under their own names, so that links lead to them."""
        for name in names:
            shutil.copyfile(NOTEBOOKS / name, self._root / name)

    def _refuse(self, route):
        self.elsewhere.append(route.request.url)
        route.abort()


@pytest.fixture(scope="module")
def visit(browser, tmp_path_factory):
    root, home = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("home")
    with jupyterlab(root, home) as address:
        visit = Visit(browser, address, root)
        yield visit
        visit.context.close()


@pytest.fixture(scope="session")
def faults():
    """A function: what axe-core finds wrong in a part of a page, as (rule, how bad, the place)."""
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")

    def found(page, part):
        page.evaluate(axe)
        results = page.evaluate("part => axe.run(part)", part)
        assert results["passes"], "axe-core has looked at nothing"
        return [
            (one["id"], one["impact"], node["html"][:200]) for one in results["violations"] for node in one["nodes"]
        ]

    return found


@pytest.fixture(autouse=True)
def _pictures_of_a_failure(request, visit, tmp_path):
    """After a failed test each window is kept as a picture; the report says where."""
    before = request.session.testsfailed
    yield
    if request.session.testsfailed == before:
        return
    for number, page in enumerate(visit.context.pages):
        page.screenshot(path=tmp_path / f"window-{number}.png")
    print(f"The windows as they were: {tmp_path}")
