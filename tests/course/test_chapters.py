"""Every chapter runs from top to bottom, however a learner gets there."""

import copy
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from stoplib.course.building.execute import STABLE, RunningPython, normal_form

CHAPTERS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
WITHOUT_WIDGETS = "import sys; sys.modules['ipywidgets'] = None"


def run(path, first, seed):
    """Run a chapter with each code cell twice in a row, after `first`; the outputs of its cells by name."""
    notebook = nbformat.read(path, 4)
    cells = [nbformat.v4.new_code_cell(first, id="first")]
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code":
            again = copy.deepcopy(cell)
            again.id = f"{cell.id}-again"
            cells.append(again)
    notebook.cells = cells
    client = NotebookClient(
        notebook,
        kernel_manager_class=RunningPython,
        resources={"metadata": {"path": str(path.parent)}},
        timeout=60,
        coalesce_streams=True,
    )
    client.execute(env={**os.environ, **STABLE, "PYTHONHASHSEED": seed})
    return outputs(normal_form(notebook))


def outputs(notebook):
    """The outputs of each code cell by the cell's name, without their numbers."""
    return {
        cell.id: [{**output, "execution_count": None} for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


@pytest.mark.parametrize(
    ("first", "seed"),
    [("pass", "0"), ("pass", "1"), (WITHOUT_WIDGETS, "2")],
    ids=["seed 0", "seed 1", "seed 2, without widgets"],
)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_cell_can_be_run_twice(path, first, seed):
    """No cell raises or warns when each is run twice, with three hash seeds, with widgets or without them.

    The first run of a cell gives what the notebook stores; without widgets, so does each cell that shows none.
    """
    found, stored = run(path, first, seed), outputs(nbformat.read(path, 4))
    assert [output for shown in found.values() for output in shown if output.get("name") == "stderr"] == []
    different = [name for name, shown in stored.items() if found[name] != shown]
    assert different == []
