"""The scripted server says what the real APIs say: it is held against the types of the real client packages."""

import json
from typing import get_args

import pytest
from anthropic.types import Message, RawMessageStreamEvent, StopReason
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.chat_completion import Choice
from openai.types.responses import Response, ResponseStatus, ResponseStreamEvent
from openai.types.responses.response import IncompleteDetails
from pydantic import BaseModel, TypeAdapter

from stoplib import Reply, ToolCall, Usage

from .dialects import DIALECTS

REPLIES = [
    Reply("Some text."),
    Reply("Let me look.", [ToolCall("look"), ToolCall("search", {"query": "stop", "limit": 3})], Usage(7, 3, 5, 2)),
    Reply(calls=[ToolCall("look")]),
]
TYPES = {
    "messages": (Message, RawMessageStreamEvent),
    "chat": (ChatCompletion, ChatCompletionChunk),
    "responses": (Response, ResponseStreamEvent),
}


def check(kind, data):
    """Hold data against a type. The packages' types take what they do not know, so unknown fields are looked for."""
    made = TypeAdapter(kind).validate_python(data)
    unknown = []

    def visit(value):
        if isinstance(value, BaseModel):
            unknown.extend(value.model_extra or ())
            for name in type(value).model_fields:
                visit(getattr(value, name))
        elif isinstance(value, list):
            for one in value:
                visit(one)

    visit(made)
    return unknown


@pytest.mark.parametrize("reply", REPLIES, ids=["text", "tools", "no text"])
@pytest.mark.parametrize("name", DIALECTS)
class TestTypes:
    """Replies and events are of the packages' types."""

    def test_whole(self, name, reply):
        """A whole reply is one of the client's, and has no field that the client does not know."""
        assert check(TYPES[name][0], DIALECTS[name].whole(reply)) == []

    def test_events(self, name, reply):
        """So is each event."""
        lines = [line for one in DIALECTS[name].events(reply) for line in one.splitlines()]
        data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
        events = [json.loads(one) for one in data if one != "[DONE]"]
        assert len(events) > 1
        assert [field for one in events if one.get("type") != "ping" for field in check(TYPES[name][1], one)] == []


def words_of(kind):
    """The words that a type of a client package lists."""
    return {word for part in [kind, *get_args(kind)] for word in get_args(part) if isinstance(word, str)}


class TestWords:
    """Every word that the packages document is tried; a new version with a new word fails here."""

    def test_messages(self):
        """Anthropic's stop reasons; the pause has its own tests."""
        assert words_of(StopReason) == DIALECTS["messages"].words.keys() | {"pause_turn"}

    def test_chat(self):
        """OpenAI's finish reasons."""
        assert words_of(Choice.model_fields["finish_reason"].annotation) == DIALECTS["chat"].words.keys()

    def test_responses(self):
        """OpenAI's states of a response, and why it is incomplete; a failed one has its own test."""
        reasons = words_of(IncompleteDetails.model_fields["reason"].annotation)
        states = words_of(ResponseStatus) - {"incomplete", "failed"}
        assert reasons | states == DIALECTS["responses"].words.keys()
