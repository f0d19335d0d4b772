"""What the tests of charts share."""

import pytest
from matplotlib.colors import to_hex


@pytest.fixture
def boxes():
    """A function: the bars of a figure in one colour as (left, upper, right, lower) ends, to a pixel."""

    def found(figure, colour, hatched=False):
        shapes = [patch for patch in figure.axes[0].patches if to_hex(patch.get_facecolor()) == colour]
        assert all(bool(patch.get_hatch()) == hatched for patch in shapes)
        polygons = [polygon for patch in shapes for polygon in patch.get_path().to_polygons()]
        return [tuple(round(end) for end in (*box.min(axis=0), *box.max(axis=0))) for box in polygons]

    return found
