"""Whole records out of the pieces of a file: lines, elements, objects of members, lists of messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stoplib.traces.jsonstream import END, Broken, Item

RESPONSE_ITEMS = frozenset(
    {"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning"}
)
"""Pieces of a conversation that have no role, in OpenAI's Responses API."""


def assembled(pieces: Iterable[Item]) -> Iterator[Item]:
    """Whole records again: each line or element, each object of members, each list of messages."""
    whole: dict[str, Any] = {}
    messages: list[Any] = []
    for item in pieces:
        value = item.value
        if value is END:
            yield from (Item(found) for found in (whole, messages) if found)
            whole, messages = {}, []
        elif isinstance(value, Broken):
            yield item
        elif item.key is not None:
            if item.number is None:
                whole[item.key] = value
            else:
                whole[item.key].append(value)
        elif is_message(value):
            messages.append(value)
        else:
            yield item


def is_message(value: Any) -> bool:
    """Whether this is one message of a conversation, and not a record that holds one."""
    return isinstance(value, dict) and not {"messages", "traj", "sessionId"} & set(value) and _speaks(value)


def _speaks(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return isinstance(value.get("role"), str) or (isinstance(kind, str) and kind in RESPONSE_ITEMS)
