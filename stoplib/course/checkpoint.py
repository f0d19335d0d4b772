"""Checkpoints: you predict what a run will do, you run it, and you are told.

What each order of events gives (a restart of the kernel forgets all of it):

    predict, reveal                      the prediction is judged
    predict, predict, reveal             the last prediction is judged
    reveal                               the result alone, and that no prediction was made
    reveal, predict, reveal              judged, and marked as made after the result was seen
    predict, reveal, reveal              the same judgement again
    predict, reveal, the same predict    not a new prediction: judged as before
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from stoplib.course.checkpoint_kinds import KINDS, Checkpoint
from stoplib.course.show import show
from stoplib.course.text import wrapped


def predict(checkpoint: str, choice: Any = None) -> None:
    """Choose what you think will happen, before you run it: by button, or `predict("2.1", "b")`.

    You may change it until you see the result. Raises ValueError for a checkpoint or a choice that
    does not exist.
    """
    _of_the_course().predict(checkpoint, choice)


def reveal(checkpoint: str, truth: Any) -> None:
    """Print what the run says, and what that means for your prediction.

    `truth` is what the run gave. Raises ValueError for a checkpoint that does not exist, and
    LookupError if none of its options says what the run says.
    """
    _of_the_course().reveal(checkpoint, truth)


class Checkpoints:
    """The checkpoints of a course, and what has been predicted so far.

    >>> options = [
    ...     {"key": "a", "value": "2", "text": "`2`", "why": "The third look at the clock ends the run."},
    ...     {"key": "b", "value": "3", "text": "`3`", "why": "The limit is 3 seconds."},
    ... ]
    >>> checkpoints = Checkpoints({"2.1": {"kind": "choice", "question": "How many steps?", "options": options}})
    >>> checkpoints.predict("2.1", "b")
    Checkpoint 2.1: you predicted b.
    >>> checkpoints.reveal("2.1", 2)
    The run says: 2
    You predicted b (3): not this time.
    Why one might think so: The limit is 3 seconds.
    """

    def __init__(self, definitions: Mapping[str, Mapping[str, Any]]) -> None:
        self._checkpoints = {name: KINDS[made["kind"]](name, made) for name, made in definitions.items()}

    def predict(self, checkpoint: str, choice: Any = None) -> None:
        """See the function `predict`."""
        found = self._find(checkpoint)
        if choice is None:
            show(found.view(), found.prompt())
            return
        found.choose(choice)
        print(found.chosen())

    def reveal(self, checkpoint: str, truth: Any) -> None:
        """See the function `reveal`."""
        for line in self._find(checkpoint).verdict(truth):
            print(wrapped(line))

    def view(self, checkpoint: str) -> Any:
        """The widget that `predict` shows: a field and under it a status line."""
        return self._find(checkpoint).view()

    def _find(self, checkpoint: str) -> Checkpoint:
        if checkpoint not in self._checkpoints:
            raise ValueError(f"there is no checkpoint {checkpoint!r}; there are {', '.join(self._checkpoints)}")
        return self._checkpoints[checkpoint]


@cache
def _of_the_course() -> Checkpoints:
    file = resources.files("stoplib.course") / "checkpoints.json"
    return Checkpoints(json.loads(file.read_text(encoding="utf-8")))
