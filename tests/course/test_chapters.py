"""Every chapter runs from top to bottom, however a learner gets there."""

import copy
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from stoplib.course.building.execute import RunningPython

CHAPTERS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
WITHOUT_WIDGETS = "import sys; sys.modules['ipywidgets'] = None"


def run(path, first, seed):
    """Run a chapter with each code cell twice in a row, after `first`; the outputs of its cells by name."""
    notebook = nbformat.read(path, 4)
    cells = [nbformat.v4.new_code_cell(first)]
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code":
            again = copy.deepcopy(cell)
            again.id = f"{cell.id}-again"
            cells.append(again)
    notebook.cells = cells
    client = NotebookClient(
        notebook, kernel_manager_class=RunningPython, resources={"metadata": {"path": str(path.parent)}}, timeout=60
    )
    client.execute(env={**os.environ, "PYTHONHASHSEED": seed})
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


@pytest.mark.parametrize(
    ("first", "seed"), [("pass", "1"), (WITHOUT_WIDGETS, "2")], ids=["with widgets", "without widgets"]
)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_cell_can_be_run_twice(path, first, seed):
    """No cell raises or warns when each is run twice, with another hash seed, with widgets or without them."""
    outputs = [output for outputs in run(path, first, seed).values() for output in outputs]
    assert outputs
    assert [output for output in outputs if output.get("name") == "stderr"] == []
