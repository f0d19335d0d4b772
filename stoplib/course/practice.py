"""Small checks inside the chapters. They print, and never raise: a chapter runs from top to bottom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stoplib.course.checks import shown

FINAL = {"type": "final", "content": "Paris"}
REQUEST = {"type": "tool", "name": "search", "args": {"query": "capital of France"}}
WITH_CONTENT = {"type": "tool", "name": "note", "content": "Paris"}


def check_is_final(is_final: Callable[[Any], Any]) -> None:
    """Chapter 00: tell a final reply from a request to run a tool.

    >>> check_is_final(lambda reply: reply["type"] == "final")
    right: the replies are told apart
    >>> check_is_final(lambda reply: True)
    not yet: for {'type': 'tool', 'name': 'search', 'args': {'query': 'capital of France'}} it returned True
        hint: which of the two types is this reply?
    """
    for reply, wanted in ((FINAL, True), (REQUEST, False), (WITH_CONTENT, False)):
        try:
            got = is_final(dict(reply))
        except Exception as error:
            print(f"not yet: for {reply} it raised {type(error).__name__}: {error}")
            return
        if got is None and wanted:
            print("not solved yet: is_final returns nothing. Replace the three dots, run that cell, then this one.")
            return
        if got is not wanted:
            print(f"not yet: for {reply} it returned {shown(got)}")
            print(f"    hint: {_hint(got)}")
            return
    print("right: the replies are told apart")


def _hint(got: Any) -> str:
    if got is None:
        return "return False here; a function that reaches its end returns None."
    if isinstance(got, bool):
        return "which of the two types is this reply?"
    return "the answer is True or False; what does a comparison return?"
