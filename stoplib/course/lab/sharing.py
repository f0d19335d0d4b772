"""The part of a lab that hands out its settings and its run, and takes on those of others."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable
from typing import Any

from stoplib.course.lab.panel import Panel

FILE = "stoplib-lab.json"


class Sharing:
    """A text to copy, a file to save, and a place to paste the one or to upload the other."""

    def __init__(self, panel: Panel, restore: Callable[[str], None]) -> None:
        widgets = panel.widgets
        self.shown = widgets.HTML()
        self.pasted = widgets.Textarea(
            description="A text to load", rows=2, style={"description_width": "9em"}, layout={"width": "44em"}
        )
        self.upload = widgets.FileUpload(accept=".json", description="Load a file", layout={"width": "auto"})
        panel.watch(self.upload, self._uploaded)
        self._panel, self._restore = panel, restore
        load = panel.button("Load", lambda: restore(self.pasted.value))
        self.parts = (self.shown, panel.row([self.pasted, load, self.upload]))

    def show(self, text: str) -> None:
        """Show the text that stands for the lab as it is now."""
        data = base64.b64encode(text.encode()).decode("ascii")
        code = html.escape(f"lab('{text}')")
        self.shown.value = (
            '<p style="margin: 0.5em 0 0"><b>Share it</b>: paste this into a cell, or '
            f'<a download="{FILE}" href="data:application/json;base64,{data}">save it as a file</a>.</p>'
            f'<pre class="stop-code stop-shared">{code}</pre>'
        )

    def _uploaded(self, files: Any) -> None:
        self._panel.load([(self.upload, ())])  # so that the same file can be loaded again
        self._restore(bytes(files[0]["content"]).decode("utf-8", errors="replace"))
