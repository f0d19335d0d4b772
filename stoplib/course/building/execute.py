"""Run a notebook in a fresh kernel, and bring it into a form that is the same on every run."""

import asyncio
import base64
import json
import os
import re
import struct
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError
from nbformat import NotebookNode

CELL_SECONDS = 60
KERNEL_SECONDS = 120
STABLE = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}

NOT_SOLVED = "not solved yet"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"  # holds an id that is new in every run
PICTURES = {"image/png", "image/jpeg"}
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_NOTES = {b"tEXt", b"iTXt", b"zTXt", b"tIME"}
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
TERMINAL_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class CellError(Exception):
    """A cell that must not go into the course. `cell` is its id, `problem` goes on from "cell x"."""

    def __init__(self, cell: str, problem: str) -> None:
        super().__init__(f"cell {cell!r} {problem}")
        self.cell = cell
        self.problem = problem


class RunningPython(AsyncKernelManager):
    """Starts the Python that runs this, whatever kernels the machine has under the name python3."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(**get_kernel_dict())


def execute(notebook: NotebookNode, cwd: Path, may_raise: Collection[str] = ()) -> NotebookNode:
    """Run the notebook in place, in the folder `cwd`, and return it in normal form.

    A cell tagged `raises-exception` has to raise. The cells whose ids are in `may_raise` may raise,
    but only to say that the exercise is not solved yet. Raises CellError for any other exception, for
    a cell that takes too long and for one that ends its kernel.
    """
    _run(notebook, cwd)
    for cell in _code_cells(notebook):
        _check_exception(cell, may_raise)
    return normal_form(notebook)


def _run(notebook: NotebookNode, cwd: Path) -> None:
    started = [notebook.cells[0].id]
    client = NotebookClient(
        notebook,
        kernel_manager_class=RunningPython,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(cwd)}},
        timeout=CELL_SECONDS,
        iopub_timeout=CELL_SECONDS,
        raise_on_iopub_timeout=True,  # else an output that comes late is silently lost
        startup_timeout=KERNEL_SECONDS,
        allow_errors=True,
        record_timing=False,
        coalesce_streams=True,
        on_cell_start=lambda cell, cell_index: started.append(cell.id),
    )
    # The default loop of Windows lacks what zmq needs; this one has it on every system.
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        try:
            runner.run(client.async_execute(env=os.environ | STABLE))
        except CellTimeoutError:
            raise CellError(started[-1], f"did not end within {CELL_SECONDS} seconds") from None
        except RuntimeError as error:
            raise CellError(started[-1], f"lost its kernel: {error}") from error


def _code_cells(notebook: NotebookNode) -> Iterator[NotebookNode]:
    return (cell for cell in notebook.cells if cell.cell_type == "code")


def _check_exception(cell: NotebookNode, may_raise: Collection[str]) -> None:
    error = next((output for output in cell.outputs if output.output_type == "error"), None)
    if "raises-exception" in cell.metadata.get("tags", []):
        if error is None:
            raise CellError(cell.id, "is tagged raises-exception, but nothing was raised. Remove the tag")
        return
    if error is None:
        return
    raised = f"raised {error.ename}: {error.evalue}{_line_at_fault(cell, error)}"
    if cell.id not in may_raise:
        raise CellError(cell.id, raised)
    if NOT_SOLVED not in error.evalue:
        raise CellError(cell.id, f"{raised}, where an unsolved exercise should say {NOT_SOLVED!r}")


def _line_at_fault(cell: NotebookNode, error: NotebookNode) -> str:
    """Return the line of this cell that the traceback goes through, ready to be added to a message."""
    traceback = TERMINAL_COLOUR.sub("", "\n".join(error.traceback))
    match = re.search(rf"Cell In\[{cell.execution_count}\], line (\d+)", traceback)
    if match is None:
        return ""
    line = int(match[1])
    return f", at `{''.join(cell.source.splitlines()[line - 1 : line]).strip()}`"


def normal_form(notebook: NotebookNode) -> NotebookNode:
    """Take out of a freshly run notebook, in place, what differs between runs and machines; return it."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = {"name": "python"}
    for count, cell in enumerate(_code_cells(notebook), start=1):
        cell.execution_count = count
        cell.outputs = list(_normal_outputs(cell))
    return notebook


def _normal_outputs(cell: NotebookNode) -> Iterator[NotebookNode]:
    for output in cell.outputs:
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]  # the real one has paths and colours
        if output.output_type == "execute_result":
            output.execution_count = cell.execution_count
        if "data" in output:
            output.data.pop(WIDGET_VIEW, None)
            if "image/png" in output.data:
                output.data["image/png"] = _without_notes(output.data["image/png"])
        if output.get("data") != {}:
            yield output


def _without_notes(encoded: str) -> str:
    """Take the notes out of a PNG in base64: they name the version of the program that drew it."""
    png = base64.b64decode(encoded)
    kept, start = PNG_SIGNATURE, len(PNG_SIGNATURE)
    while start < len(png):
        length, name = struct.unpack_from(">I4s", png, start)
        end = start + 12 + length  # length, name and checksum take four bytes each
        if name not in PNG_NOTES:
            kept += png[start:end]
        start = end
    return base64.b64encode(kept).decode("ascii")


def check_outputs(notebook: NotebookNode, private: Iterable[Path]) -> None:
    """Raise CellError if an output would differ elsewhere: stderr, a memory address, a private folder."""
    spellings = [spelling for folder in private for spelling in _spellings(folder)]
    for cell in _code_cells(notebook):
        for output in cell.outputs:
            if output.get("name") == "stderr":
                raise CellError(
                    cell.id, f"wrote to stderr: {output.text.strip()!r}. Cure what it warns of, or print to stdout"
                )
            for text in _texts(output):
                _check_text(cell.id, text, spellings)


def _check_text(cell: str, text: str, private: list[str]) -> None:
    if match := ADDRESS.search(text):
        raise CellError(
            cell, f"shows a memory address, {match[0].strip()!r}, which is another in every run. Show the value itself"
        )
    if found := next((folder for folder in private if folder in text), None):
        raise CellError(cell, f"shows {found!r}, a folder of this machine. Show the name of the file only")


def _spellings(folder: Path) -> set[str]:
    """Return the ways an output may spell the folder, among them those of Windows and of repr()."""
    if folder == Path(folder.anchor):
        return set()  # every path begins with it
    return {str(folder), folder.as_posix(), repr(str(folder))[1:-1]}


def _texts(output: NotebookNode) -> Iterator[str]:
    yield output.get("text", "")
    yield output.get("evalue", "")
    for form, content in output.get("data", {}).items():
        if form not in PICTURES:
            yield content if isinstance(content, str) else json.dumps(content)
