"""OpenAI's Chat Completions API, which many other servers speak too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoplib.messages import Message, ToolCall, Usage
from stoplib.providers.model import ClientModel, model_of
from stoplib.providers.parts import Json, arguments, as_json, cached_inside, sendable
from stoplib.providers.wire import Gathering, Wire


def openai_chat(
    client: Any,
    name: str,
    *,
    max_output_tokens: int | None = None,
    system: str | None = None,
    stream: bool = False,
    retries: int = 2,
    **options: Any,
) -> ClientModel:
    """OpenAI's Chat Completions API as a model.

    client             an `OpenAI` for `run`, or an `AsyncOpenAI` for `arun`
    name               the model's name
    max_output_tokens  the most tokens that one reply may have
    system             what the model is told before the task
    stream             take the reply piece by piece; its tokens come last, so a broken stream has reported none
    retries            how often the client itself may try a failed call again; a try is no step
    options            all else that `client.chat.completions.create` takes, such as `timeout=30`

    Raises TypeError or ValueError for what cannot work, before any call.

    >>> from openai import OpenAI
    >>> openai_chat(OpenAI(api_key="none"), "a-model", max_output_tokens=1000).max_output_tokens
    1000
    """
    return model_of(ChatCompletions(name, max_output_tokens, system, stream, options), client, retries)


class ChatCompletions(Wire):
    """How Chat Completions are written and read."""

    api = "OpenAI chat"
    sets = frozenset({"model", "messages", "max_completion_tokens", "max_tokens", "stream", "n"})

    def method(self, client: Any) -> Any:
        return client.chat.completions.create

    def asked(self, written: list[Json]) -> Json:
        asked: Json = {"messages": written}
        if self.system is not None:
            asked["messages"] = [{"role": "system", "content": self.system}, *written]
        if self.max_output_tokens is not None:
            asked["max_completion_tokens"] = self.max_output_tokens
        if self.stream:
            asked["stream_options"] = {"include_usage": True}
        return asked

    def tool(self, schema: Mapping[str, Any]) -> Json:
        return {"type": "function", "function": dict(schema)}

    def written(self, messages: Sequence[Message]) -> list[Json]:
        return [self._message(message) for message in messages]

    def _message(self, message: Message) -> Json:
        text = sendable(message["content"])
        if message["role"] == "user":
            return {"role": "user", "content": text}
        if message["role"] == "tool":
            return {"role": "tool", "tool_call_id": str(message["tool_call_id"]), "content": text}
        turn = self.turn_of(message)
        if turn is not None:
            raw: Json = turn.raw
            return raw
        said: Json = {"role": "assistant", "content": text}
        if asked := message.get("tool_calls"):
            said["tool_calls"] = [
                {
                    "id": str(one["id"]),
                    "type": "function",
                    "function": {"name": one["name"], "arguments": as_json(one["args"])},
                }
                for one in asked
            ]
        return said

    def gathering(self) -> Gathering:
        return Chunks()

    def raw(self, response: Json) -> Any:
        """The message without what is empty: the API fills in fields that it does not take back."""
        message = response["choices"][0]["message"]
        return {name: value for name, value in message.items() if value or name == "content"}

    def text(self, response: Json) -> str:
        message = response["choices"][0]["message"] if response.get("choices") else {}
        text = message.get("content") or message.get("refusal") or ""
        if isinstance(text, str):
            return text
        return "".join(part.get("text", "") for part in text)  # some servers send a list of parts

    def calls(self, response: Json) -> list[ToolCall]:
        return [
            ToolCall(one["function"]["name"], arguments(one["function"]["arguments"]), one["id"])
            for one in response["choices"][0]["message"].get("tool_calls") or ()
            if "function" in one
        ]

    def word(self, response: Json) -> str:
        choice = response["choices"][0]
        return "refusal" if choice["message"].get("refusal") else str(choice["finish_reason"])

    def usage(self, response: Json) -> Usage:
        return cached_inside(response.get("usage"), "prompt_tokens", "completion_tokens")


class Chunks(Gathering):
    """A streamed completion. The tokens come last, in a chunk without a choice."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[int, Json] = {}

    def add(self, event: Json) -> None:
        if event.get("usage"):
            self.response["usage"] = event["usage"]
        for choice in event["choices"]:
            message = {"role": "assistant", "content": None}
            [ours] = self.response.setdefault("choices", [{"message": message, "finish_reason": None}])
            self._grow(ours["message"], choice["delta"])
            if choice.get("finish_reason"):
                ours["finish_reason"] = choice["finish_reason"]
                self.complete = True

    def _grow(self, message: Json, delta: Json) -> None:
        for name, piece in delta.items():
            if name == "tool_calls":
                for one in piece or ():
                    self._grow_call(message.setdefault("tool_calls", []), one)
            elif isinstance(piece, str) and name != "role":
                message[name] = (message.get(name) or "") + piece
            elif piece is not None:
                message[name] = piece

    def _grow_call(self, calls: list[Json], piece: Json) -> None:
        """Name and id come whole, and from some servers again with each piece; the arguments come in pieces."""
        place = piece.pop("index", len(calls))
        if place not in self._calls:
            self._calls[place] = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            calls.append(self._calls[place])
        call, function = self._calls[place], piece.pop("function", None) or {}
        call |= {name: value for name, value in piece.items() if value}
        call["function"]["name"] = function.get("name") or call["function"]["name"]
        call["function"]["arguments"] += function.get("arguments") or ""
