"""What all charts share: colours for light and dark pages, and a figure that is drawn again and again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text

#: an outcome of a run that is not over yet
RUNNING = "running"

# Each colour as it is drawn, and what stands for it on a dark page. The four strong ones are told apart by people
# who do not see red or green, and each stands out from its paper enough for small text.
INK, FAINT, FREE, PAPER = "#222222", "#595959", "#e6e6e6", "#ffffff"
BLUE, ORANGE, PURPLE, GREEN, BROWN = "#0072b2", "#c44e00", "#a6447f", "#00795a", "#7d5a00"
ON_DARK = {
    INK: "#eeeeee",
    FAINT: "#b0b0b0",
    FREE: "#3d3d3d",
    PAPER: "#1c1c1c",
    BLUE: "#56b4e9",
    ORANGE: "#ff9e4a",
    PURPLE: "#e58fc2",
    GREEN: "#3fcf9f",
    BROWN: "#d9b44a",
}

Box = tuple[float, float, float, float]

LABEL = 8.0  # pixels that a figure or letter of a small label is wide, with some room


class Label(Text):
    """A text of one line. Into SVG it goes without the layout of lines, which takes half of the time of a picture."""

    MIDDLE = 0.36  # of the size of a letter, from its foot to the middle of a figure or a capital

    def draw(self, renderer: Any) -> None:
        if not hasattr(renderer, "writer"):  # of SVG, where the reader aligns the text, and not the writer
            super().draw(renderer)
            return
        x, y = self.get_transform().transform(self.get_position())
        foot = (
            renderer.height
            - y
            + renderer.points_to_pixels(self.MIDDLE * self.get_fontproperties().get_size_in_points())
        )
        gc = renderer.new_gc()
        gc.set_foreground(self.get_color())
        renderer.draw_text(gc, x, foot, self.get_text(), self.get_fontproperties(), 0, mtext=self)
        gc.restore()


class Chart:
    """A picture that is drawn again and again, so figure and texts are kept, and all bars of a colour are one shape.

    One axes fills it, and its coordinates are pixels from the upper left corner. A chart begins with `clear` and
    returns what `done` gives.
    """

    WIDTH = 760
    #: where the columns of the steps begin, what is kept free for text after them, and how wide one may be
    LEFT, RIGHT, WIDEST = 90.0, 180.0, 64.0

    def __init__(self) -> None:
        self.figure = Figure(dpi=200, facecolor=PAPER)
        self.figure.set_gid("stop-chart")
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()
        self._texts: list[Label] = []
        self._written = 0

    def clear(self, height: float) -> None:
        """Begin anew, with a picture that is `height` pixels high."""
        for artist in (*self.axes.lines, *self.axes.patches):
            artist.remove()
        self._written = 0
        self.figure.set_size_inches(self.WIDTH / 100, height / 100)
        self.axes.set(xlim=(0, self.WIDTH), ylim=(height, 0))

    def done(self) -> Figure:
        """The picture, without what is left of the last one."""
        for text in self._texts[self._written :]:
            text.remove()
        del self._texts[self._written :]
        return self.figure

    def write(
        self, x: float, y: float, words: str, size: float = 11, colour: str = INK, ha: str = "left", bold: bool = False
    ) -> None:
        """Write `words` at the height of `y`, starting at `x` unless `ha` says otherwise."""
        if self._written == len(self._texts):
            label = Label(va="center", family="sans-serif", parse_math=False)
            self.axes.add_artist(label)
            self._texts.append(label)
        text = self._texts[self._written]
        self._written += 1
        text.set(position=(x, y), text=words, fontsize=size, color=colour, ha=ha, weight="bold" if bold else "normal")

    def line(self, xs: Iterable[float], ys: Iterable[float], dashed: bool = False) -> None:
        """A line in ink."""
        line = Line2D(list(xs), list(ys), color=INK, linewidth=1.2 if dashed else 2)
        line.set_linestyle("--" if dashed else "-")
        self.axes.add_artist(line)

    def bars(self, colour: str, boxes: Iterable[Box], hatched: bool = False) -> None:
        """Boxes in one colour, each from its left and upper end, as (x, y, width, height)."""
        corners = [((x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)) for x, y, w, h in boxes if w and h]
        if not corners:
            return
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(corners)
        path = Path([corner for box in corners for corner in box], codes)
        shape = PathPatch(path, facecolor=colour, linewidth=0)
        if hatched:
            shape.set(hatch="///", edgecolor=PAPER)
        self.axes.add_artist(shape)

    def column(self, steps: int, least: int = 0) -> float:
        """How wide the column of a step is, in a picture of so many steps, or of `least` if that is more."""
        return min(self.WIDEST, (self.WIDTH - self.LEFT - self.RIGHT) / max(steps, least, 1))

    def numbers(self, y: float, steps: int, column: float) -> None:
        """The numbers of the steps, as many as there is room for."""
        self.name(y, "step")
        for step in every(steps, 24, column):
            self.write(self.x(step, column), y, str(step), size=9, colour=FAINT, ha="center")

    def name(self, y: float, name: str) -> None:
        """What a row of labels says, in front of the first column."""
        self.write(self.LEFT - 24, y, name, size=9, colour=FAINT, ha="right")

    def x(self, step: int, column: float) -> float:
        """The middle of a step's column."""
        return self.LEFT + column * (step - 0.5)


def every(steps: int, width: float, column: float) -> Iterator[int]:
    """The steps that get a label `width` pixels wide: the first, and then each so many-th.

    >>> list(every(12, 24, 60)), list(every(12, 24, 10))
    ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [1, 5, 10])
    """
    by = next((n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500) if n * column >= width), 1000)
    if steps and (by - 1) * column >= width:
        yield 1
    yield from range(by, steps + 1, by)


def number(amount: float) -> str:
    """A number for people.

    >>> number(50900), number(0.25)
    ('50,900', '0.25')
    """
    return f"{amount:,.10g}"
