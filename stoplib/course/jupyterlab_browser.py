"""JupyterLab, Notebook 7 and Voila in a real browser without a screen, for tests and for pictures of the course."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # who does not look into a browser needs no Playwright
    from playwright.sync_api import Browser, Locator, Page

SETTINGS = Path(__file__).with_name("jupyterlab")  # the course's own, as `course.py lab` has them
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
START_SECONDS, STOP_SECONDS, PATIENCE_MS = 60, 20, 90_000

# The page says "idle" too early, when there is no kernel yet, and then forgets what it is asked for.
READY = """() => {
    const notebook = window.jupyterapp?.shell.currentWidget;
    const kernel = notebook?.context?.isReady && notebook.sessionContext?.session?.kernel;
    return !!kernel && kernel.connectionStatus === "connected" && kernel.status === "idle";
}"""
OUTPUTS = """() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells
    .flatMap(cell => cell.outputs ?? [])"""

QUIET = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
QUIET += ["--disable-background-networking", "--disable-component-update"]


def find_browser() -> str | None:
    """The path of the system's Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def jupyterlab(root: Path, home: Path) -> Iterator[str]:
    """A JupyterLab that shows the folder `root`, at the address that this gives.

    All that it writes about itself goes to `home`, an empty folder; the user's own settings are not
    touched. Raises RuntimeError with the server's log if it does not start.
    """
    own = [f"--LabApp.workspaces_dir={home / 'workspaces'}", f"--LabApp.user_settings_dir={home / 'settings'}"]
    own += [f"--LabApp.app_settings_dir={SETTINGS}", "--LabApp.expose_app_in_browser=True"]
    with _served("jupyterlab", home, *_server(root), *own) as address:
        yield address


@contextmanager
def notebook_7(root: Path, home: Path) -> Iterator[str]:
    """The same for Notebook 7, which has to be installed."""
    with _served("notebook", home, *_server(root), "--JupyterNotebookApp.expose_app_in_browser=True") as address:
        yield address


@contextmanager
def voila(notebook: Path, home: Path) -> Iterator[str]:
    """A notebook as a plain page, at the address that this gives."""
    with _served("voila", home, str(notebook), "--Voila.ip=127.0.0.1") as address:
        yield address


@contextmanager
def chromium(executable: str) -> Iterator[Browser]:
    """A browser with a fresh profile."""
    from playwright.sync_api import sync_playwright

    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=[*QUIET, "--no-sandbox"] if as_root else QUIET
        )
        yield browser
        browser.close()


class Notebook:
    """A notebook that is open in JupyterLab, with a kernel that is ready."""

    def __init__(self, page: Page, address: str, name: str, classic: bool = False) -> None:
        self.page = page
        where = f"notebooks/{name}" if classic else f"lab/workspaces/{Path(name).stem}/tree/{name}?reset"
        page.goto(f"{address}/{where}")
        page.wait_for_function(READY, timeout=PATIENCE_MS)
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")

    def run_all(self) -> None:
        """Do what the menu's Run All Cells does, and wait until all has run."""
        self._command("notebook:run-all-cells")

    def run_above(self, place: int) -> None:
        """Run all cells above the one at `place`, counted from 0, and wait until they have run."""
        self.cell(place).locator(".cm-content").click()
        self._command("notebook:run-all-above")

    def run_cell(self, place: int) -> None:
        """Run the cell at `place`, counted from 0, and wait until it has run."""
        self.cell(place).locator(".cm-content").click()
        self._command("notebook:run-cell")

    def cell(self, place: int) -> Locator:
        """The cell at `place`, counted from 0 over all cells."""
        return self.panel.locator(".jp-Cell").nth(place)

    def outputs(self, text: str | re.Pattern[str]) -> Locator:
        """The outputs with `text` that can be seen. (What is hidden is in the page all the same.)"""
        return self.panel.locator(".jp-OutputArea-output").filter(has_text=text, visible=True)

    def troubles(self) -> list[str]:
        """What the cells have written as errors or to stderr."""
        outputs: list[dict[str, Any]] = self.page.evaluate(OUTPUTS)
        errors = [f"{out['ename']}: {out['evalue']}" for out in outputs if out["output_type"] == "error"]
        return errors + ["".join(out["text"]) for out in outputs if out.get("name") == "stderr"]

    def _command(self, name: str) -> None:
        """The prompts do not tell when a command is done: a stored notebook has its numbers from the start."""
        self.page.evaluate("name => window.jupyterapp.commands.execute(name)", name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _server(root: Path) -> list[str]:
    """The options of a Jupyter server for one person on this machine."""
    own = ["--allow-root", "--ip=127.0.0.1", "--ServerApp.port_retries=0", "--IdentityProvider.token="]
    return [*own, f"--ServerApp.root_dir={root}"]


@contextmanager
def _served(module: str, home: Path, *options: str) -> Iterator[str]:
    """A server that runs as a module of its own, until this is left."""
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    log = home / f"{module}.log"
    command = [sys.executable, "-m", module, "--no-browser", f"--port={port}", *options]
    with log.open("w", encoding="utf-8") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, env=_environment(home))
    try:
        _wait_for(server, address, log)
        yield address
    finally:
        server.terminate()  # it ends its kernels, too
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _environment(home: Path) -> dict[str, str]:
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR")
    return {**os.environ, **{name: str(home / name.lower()) for name in names}}


def _wait_for(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=1).close()
        except urllib.error.HTTPError:  # it answers, if only to say that there is no such page
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{log.stem} did not start. Its log:\n{log.read_text(encoding='utf-8')}")
