"""The examination of one exercise: nbval runs the course's copy, and the judge serves its check cells.

A check is passed when the judge says so *and* nbval has a passed record of its cell, which means that the kernel
was still there, nothing was raised, and the receipt that was shown is the one that the reference solution got.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stoplib.course.grading.judging.judge import Judge
from stoplib.course.grading.running import kernel as started
from stoplib.course.grading.running.session import OUTPUT_SECONDS, Kernel, Order
from stoplib.course.grading.running.starting import Starter

SHOWN_OUTPUT = 2_000

Report = Callable[[dict[str, Any]], None]

OPTIONS = [
    "-q",
    "--noconftest",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:logging",
    "-p",
    "no:unraisableexception",
    "-p",
    "no:threadexception",
    "--runxfail",
    "--tb=no",
    "--color=no",
]
OPTIONS += ["-p", "nbval.plugin", "-p", "stoplib.course.nbguard", "--nbval-lax", "--nbval-current-env"]
NO_SETTINGS = "[pytest]\naddopts =\nfilterwarnings = ignore\n"


def examine(order: Order, starter: Starter, report: Report) -> None:
    """Run the notebook once, and report each cell as it begins and as it ends.

    The run ends with the first cell that breaks its kernel; the caller decides whether to go on after it.
    """
    with tempfile.TemporaryDirectory(prefix="stoplib-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        notebook, settings = prepare(folder, order.notebook)
        run = _Run(order, folder, starter, report)
        options = [*OPTIONS, "-c", str(settings), "--rootdir", str(folder), str(notebook)]
        try:
            pytest.main([*options, f"--nbval-cell-timeout={order.limits.wait + 30}"], plugins=[run])
        finally:
            run.close()
            starter.end_all()


def prepare(folder: Path, notebook: dict[str, Any]) -> tuple[Path, Path]:
    """Fill the folder of one run: the notebook, and pytest's settings."""
    for name in (*started.WRITABLE, "run"):
        (folder / name).mkdir()
    settings, path = folder / "pytest.ini", folder / "work" / "exercise.ipynb"
    settings.write_text(NO_SETTINGS, encoding="utf-8")
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path, settings


class _Run:
    """A plugin for one run of pytest: nbval's cells with our kernel, and what comes of each."""

    def __init__(self, order: Order, folder: Path, starter: Starter, report: Report) -> None:
        self.order, self.folder, self.starter, self.report = order, folder, starter, report
        self.judge = Judge(order.cells, order.secret)
        self.kernel: Kernel | None = None

    def close(self) -> None:
        """End the kernel, if it is still there."""
        if self.kernel is not None:
            self.kernel.end()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Take each cell's options from its role; what a tag or a comment in a learner's source says counts nothing."""
        for item in items:
            item.options.clear()
            item.options["check"] = role_of(item.cell) == "check"
            item.output_timeout = OUTPUT_SECONDS
        if items:
            items[0].parent.setup = self._start
            items[0].parent.teardown = self.close
            items[0].parent.skip_compare += ("stdout", "stderr")
            self.file = items[0].parent

    def pytest_collection_finish(self, session: Any) -> None:
        """Nbval has the notebook in memory. The file holds what a check should show, so it goes before a cell runs."""
        for path in {item.path for item in session.items}:
            path.unlink()

    def _start(self) -> None:
        self.file.kernel = self.kernel = Kernel(self.folder, self.order, self.starter)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool | None:
        """Report the cell when it begins; after a kernel was lost, no further one is tried."""
        if self.kernel is not None and self.kernel.lost:
            return True
        self.report({"event": "cell", "cell": item.cell.id})
        return None

    def pytest_runtest_call(self, item: Any) -> None:
        """Let the kernel know which cell it runs."""
        assert self.kernel is not None
        check = item.cell.id if role_of(item.cell) == "check" else None
        self.kernel.begin(check, self.judge)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[Any]:
        """Report how the cell has ended."""
        made = yield
        if call.when == "call" or (call.when == "setup" and call.excinfo is not None):
            self.report(self._record(item, call))
        return made

    def _record(self, item: Any, call: Any) -> dict[str, Any]:
        kernel = self.kernel
        outputs = item.test_outputs or []
        error = next((out for out in outputs if out.output_type == "error"), None)
        verdict = kernel.verdict if kernel is not None else None
        record = {
            "event": "record",
            "cell": item.cell.id,
            "role": role_of(item.cell),
            "passed": call.excinfo is None and call.when == "call",
            "printed": "".join(out.text for out in outputs if out.output_type == "stream")[:SHOWN_OUTPUT],
            "raised": f"{error.ename}: {error.evalue}"[:500] if error is not None else "",
            "lost": kernel.lost if kernel is not None else "",
            "trouble": "" if kernel is not None else f"The kernel did not start: {call.excinfo.value}"[:500],
        }
        if verdict is not None:
            record["verdict"] = {
                "passed": verdict.passed,
                "said": verdict.said,
                "error": verdict.error,
                "unsolved": verdict.unsolved,
            }
        return record


def role_of(cell: Any) -> str:
    """What a cell of an assembled notebook is for."""
    return str(cell.metadata.get("stoplib", {}).get("role", "given"))
