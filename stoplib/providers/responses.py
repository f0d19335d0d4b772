"""OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoplib.messages import Message, Reply, ToolCall, Usage
from stoplib.providers.model import ClientModel, model_of
from stoplib.providers.parts import BrokenReply, Json, arguments, as_json, cached_inside, sendable
from stoplib.providers.wire import Gathering, Wire

# Items that wait for something which only a caller who knows them can do: the reply is no answer yet.
NOT_OURS = frozenset(
    {
        "apply_patch_call",
        "computer_call",
        "custom_tool_call",
        "local_shell_call",
        "mcp_approval_request",
        "shell_call",
    }
)


def openai_responses(
    client: Any,
    name: str,
    *,
    max_output_tokens: int | None = None,
    system: str | None = None,
    stream: bool = True,
    retries: int = 2,
    **options: Any,
) -> ClientModel:
    """OpenAI's Responses API as a model.

    client             an `OpenAI` for `run`, or an `AsyncOpenAI` for `arun`
    name               the model's name
    max_output_tokens  the most tokens that one reply may have
    system             what the model is told before the task
    stream             take the reply piece by piece; its tokens come last, so a broken stream has reported none
    retries            how often the client itself may try a failed call again; a try is no step
    options            all else that `client.responses.create` takes, such as `timeout=30`; `tools` are the API's own

    Raises TypeError or ValueError for what cannot work, before any call.

    >>> from openai import OpenAI
    >>> openai_responses(OpenAI(api_key="none"), "a-model").name
    'a-model'
    """
    return model_of(Responses(name, max_output_tokens, system, stream, options), client, retries)


class Responses(Wire):
    """How the Responses API is written and read."""

    api = "OpenAI responses"
    sets = frozenset({"model", "input", "instructions", "max_output_tokens", "stream", "previous_response_id"})

    def method(self, client: Any) -> Any:
        return client.responses.create

    def asked(self, written: list[Json]) -> Json:
        asked = {"input": written, "instructions": self.system, "max_output_tokens": self.max_output_tokens}
        return {name: value for name, value in asked.items() if value is not None}

    def tool(self, schema: Mapping[str, Any]) -> Json:
        """Not strict, which this API would be: a strict tool has no parameter that may be left out."""
        return {"type": "function", **schema, "strict": False}

    def written(self, messages: Sequence[Message]) -> list[Json]:
        return [item for message in messages for item in self._items(message)]

    def _items(self, message: Message) -> list[Json]:
        text = sendable(message["content"])
        if message["role"] == "user":
            return [{"role": "user", "content": text}]
        if message["role"] == "tool":
            return [{"type": "function_call_output", "call_id": str(message["tool_call_id"]), "output": text}]
        turn = self.turn_of(message)
        if turn is not None:
            return list(turn.raw)
        said: list[Json] = [{"role": "assistant", "content": text}] if text else []
        return said + [
            {
                "type": "function_call",
                "call_id": str(one["id"]),
                "name": one["name"],
                "arguments": as_json(one["args"]),
            }
            for one in message.get("tool_calls", ())
        ]

    def gathering(self) -> Gathering:
        return Events()

    def reply(self, response: Json, offered: list[Json]) -> Reply:
        if response.get("status") == "failed":
            error = response.get("error") or {}
            why = f"the API says that it failed: {error.get('code')}: {error.get('message')}"
            raise BrokenReply(why, self.so_far(response))
        return super().reply(response, offered)

    def raw(self, response: Json) -> Any:
        return response["output"]

    def text(self, response: Json) -> str:
        return "".join(part.get("text") or part.get("refusal") or "" for part in _parts(response))

    def calls(self, response: Json) -> list[ToolCall]:
        return [
            ToolCall(item["name"], arguments(item["arguments"]), item["call_id"])
            for item in response["output"]
            if item["type"] == "function_call"
        ]

    def word(self, response: Json) -> str:
        if any(part["type"] == "refusal" for part in _parts(response)):
            return "refusal"
        if response["status"] == "incomplete":
            return str((response.get("incomplete_details") or {}).get("reason"))
        waiting = (item["type"] for item in response["output"] if item["type"] in NOT_OURS)
        return next(waiting, str(response["status"]))

    def usage(self, response: Json) -> Usage:
        return cached_inside(response.get("usage"), "input_tokens", "output_tokens")


class Events(Gathering):
    """A streamed response. The last event holds all of it; before that, only the text is of interest."""

    def add(self, event: Json) -> None:
        kind = event["type"]
        if kind == "error":
            raise RuntimeError(f"{event.get('code')}: {event.get('message')}")
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            self.response = event["response"]
            self.complete = True
        elif kind in ("response.output_text.delta", "response.refusal.delta"):
            [message] = self.response.setdefault("output", [{"type": "message", "content": []}])
            message["content"].append({"type": "output_text", "text": event["delta"]})


def _parts(response: Json) -> list[Json]:
    messages = (item for item in response.get("output", ()) if item["type"] == "message")
    return [part for message in messages for part in message["content"]]
