"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoplib.limits import whole
from stoplib.messages import Message, ToolCall, Usage
from stoplib.providers.model import ClientModel, model_of
from stoplib.providers.parts import NO_TOKENS, Json, arguments, sendable
from stoplib.providers.wire import Gathering, Wire


def anthropic_messages(
    client: Any,
    name: str,
    *,
    max_output_tokens: int,
    system: Any = None,
    stream: bool = True,
    retries: int = 2,
    **options: Any,
) -> ClientModel:
    """Anthropic's Messages API as a model.

    client             an `Anthropic` for `run`, or an `AsyncAnthropic` for `arun`
    name               the model's name
    max_output_tokens  the most tokens that one reply may have; the API asks for it
    system             what the model is told before the task
    stream             take the reply piece by piece, so that what a broken connection has cost is known
    retries            how often the client itself may try a failed call again; a try is no step
    options            all else that `client.messages.create` takes, such as `timeout=30`; `tools` are the API's own

    Raises TypeError or ValueError for what cannot work, before any call.

    >>> from anthropic import Anthropic
    >>> model = anthropic_messages(Anthropic(api_key="none"), "a-model", max_output_tokens=1000)
    >>> model.name, model.max_output_tokens
    ('a-model', 1000)
    """
    limit = whole(Messages.api, "max_output_tokens", max_output_tokens, at_least=1)
    return model_of(Messages(name, limit, system, stream, options), client, retries)


class Messages(Wire):
    """How the Messages API is written and read."""

    api = "Anthropic messages"
    sets = frozenset({"model", "messages", "max_tokens", "stream"})
    no_tool = {"type": "none"}

    def method(self, client: Any) -> Any:
        return client.messages.create

    def asked(self, written: list[Json]) -> Json:
        asked = {"messages": written, "max_tokens": self.max_output_tokens}
        return asked if self.system is None else {**asked, "system": self.system}

    def tool(self, schema: Mapping[str, Any]) -> Json:
        return {
            "name": schema["name"],
            "description": schema["description"],
            "input_schema": schema["parameters"],
        }

    def written(self, messages: Sequence[Message]) -> list[Json]:
        """Results and texts that follow one another are one message of the user, as the API wants it."""
        turns: list[Json] = []
        for message in messages:
            if message["role"] == "assistant":
                if content := self._content(message):
                    turns.append({"role": "assistant", "content": content})
            elif turns and turns[-1]["role"] == "user":
                turns[-1]["content"].append(_block(message))
            else:
                turns.append({"role": "user", "content": [_block(message)]})
        return turns

    def _content(self, message: Message) -> list[Json]:
        turn = self.turn_of(message)
        if turn is not None:
            return [_taken_back(block) for block in turn.raw if block.get("text", "x").strip()]
        said = [_text(message["content"])] if message["content"].strip() else []
        return said + [
            _taken_back({"type": "tool_use", "id": str(one["id"]), "name": one["name"], "input": one["args"]})
            for one in message.get("tool_calls", ())
        ]

    def gathering(self) -> Gathering:
        return Events()

    def raw(self, response: Json) -> Any:
        return response["content"]

    def text(self, response: Json) -> str:
        blocks = response.get("content", ())
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        if not text and response.get("stop_reason") == "pause_turn":  # it has to have some text that carries it
            return f"({', '.join(block['type'] for block in blocks)})"
        return text

    def calls(self, response: Json) -> list[ToolCall]:
        return [
            ToolCall(block["name"], block["input"], block["id"])
            for block in response["content"]
            if block["type"] == "tool_use"
        ]

    def word(self, response: Json) -> str:
        return str(response["stop_reason"])

    def usage(self, response: Json) -> Usage:
        """The cached parts stand beside the input."""
        usage = response.get("usage")
        if usage is None:
            raise ValueError(NO_TOKENS)
        read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
        return Usage(usage["input_tokens"], usage["output_tokens"], read or 0, written or 0)


class Events(Gathering):
    """A streamed message. Of each block the pieces are added to what it started with."""

    def __init__(self) -> None:
        super().__init__()
        self._written: dict[int, str] = {}

    def add(self, event: Json) -> None:
        kind = event["type"]
        if kind == "message_start":
            self.response = event["message"]
        elif kind == "content_block_start":
            self.response["content"].append(event["content_block"])
        elif kind == "content_block_delta":
            self._grow(event["index"], event["delta"])
        elif kind == "content_block_stop":
            if written := self._written.get(event["index"]):
                self.response["content"][event["index"]]["input"] = arguments(written)
        elif kind == "message_delta":
            self.response |= event["delta"]
            self.response["usage"] |= {name: value for name, value in event["usage"].items() if value is not None}
        elif kind == "message_stop":
            self.complete = True

    def _grow(self, index: int, delta: Json) -> None:
        block = self.response["content"][index]
        for name, piece in delta.items():
            if name == "partial_json":
                self._written[index] = self._written.get(index, "") + piece
            elif name == "citation":
                block["citations"] = [*(block.get("citations") or ()), piece]
            elif name != "type":
                block[name] = (block.get(name) or "") + piece


def _block(message: Message) -> Json:
    if message["role"] != "tool":
        return _text(message["content"])
    result = {"type": "tool_result", "tool_use_id": str(message["tool_call_id"])}
    if message["content"].strip():
        result["content"] = sendable(message["content"])
    return {**result, "is_error": True} if message["is_error"] else result


def _text(text: str) -> Json:
    return {"type": "text", "text": sendable(text)}


def _taken_back(block: Json) -> Json:
    """The block as the API takes it back: a tool's input must be an object, also where the model wrote none."""
    if block["type"] == "tool_use" and not isinstance(block["input"], Mapping):
        return {**block, "input": {"INVALID_JSON": block["input"]}}
    return block
