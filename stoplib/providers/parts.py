"""What the formats are made of: the turn that goes back as it came, arguments, text, tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from stoplib.messages import Reply, Usage

Json = dict[str, Any]

NO_TOKENS = "the API reported no tokens for this call, so no budget could count it"


class BrokenReply(Exception):
    """The API began a reply and did not finish it: a stream broke, or the API says that it failed.

    `reply` is what had arrived: the text, and the tokens as far as they had been reported. What the client
    raised, if it was the client, is the `__cause__`.
    """

    def __init__(self, why: str, reply: Reply) -> None:
        had = f"{reply.usage.total} tokens reported" if any(reply.usage) else "no tokens reported"
        super().__init__(f"{why}; by then: {len(reply.text)} characters of text, {had}")
        self.reply = reply


class Turn(str):
    """A text of the transcript that remembers the turn which it is part of.

    Some turns have to go back to their API with more than the transcript holds: thinking blocks, reasoning items,
    what the API's own tools found. So the id of a turn's first tool call, or its text if it asks for no tool,
    carries the turn as it came. It lives as long as the transcript does, and nobody else keeps it.

    api    whose format it is in
    raw    the turn as it came
    tools  the tools that were offered, as they were sent
    """

    api: str
    raw: Any
    tools: list[Json]

    def __new__(cls, text: str, api: str = "", raw: Any = None, tools: Iterable[Json] = ()) -> Turn:
        turn = super().__new__(cls, text)
        turn.api, turn.raw, turn.tools = api, raw, list(tools)
        return turn


def arguments(text: Any) -> Mapping[str, Any] | str:
    """A call's arguments from the text that the model wrote, or that text if it is no JSON object.

    >>> arguments('{"query": "stop"}'), arguments('{"query": "st'), arguments("")
    ({'query': 'stop'}, '{"query": "st', '')
    """
    if isinstance(text, Mapping):
        return text
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, TypeError, RecursionError):
        value = None
    return value if isinstance(value, dict) else str(text or "")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def as_json(args: Mapping[str, Any] | str) -> str:
    """A call's arguments as the API has them: text."""
    return args if isinstance(args, str) else json.dumps(args)


def sendable(text: str) -> str:
    """A text as an API can be sent it: half a character, as a file name can hold one, becomes a question mark.

    >>> sendable("caf\\udce9")
    'caf?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def cached_inside(usage: Mapping[str, Any] | None, sent: str, answered: str) -> Usage:
    """Tokens as OpenAI counts them: what went through the cache is part of the input.

    >>> reported = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 80}}
    >>> cached_inside(reported, "prompt_tokens", "completion_tokens")
    Usage(input=20, output=10, cache_read=80, cache_write=0)
    """
    if usage is None:
        raise ValueError(NO_TOKENS)
    details = usage.get(f"{sent}_details") or {}
    read, written = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
    return Usage(usage[sent] - read - written, usage[answered], read, written)
