"""OpenAI's messages: chat completions and the items of the Responses API, as people save them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stoplib.messages import ToolCall
from stoplib.traces.builder import Builder
from stoplib.traces.fields import arguments_of, openai_usage, own_label, text_of
from stoplib.traces.formats.base import Format, Head, Options
from stoplib.traces.records import RESPONSE_ITEMS
from stoplib.traces.trace import Trace

TELLING_ROLES = ("tool", "function", "developer")
ENDS_OF_CALLS = ("function_call_output", "custom_tool_call_output")


class OpenAIMessages(Format):
    """A list of messages or items, alone or as `messages` (`input` and `output`) of a record.

    A saved list has no usage. That of a whole response beside it (`usage`) is that of the last call.
    """

    name = "OpenAI messages"

    def recognises(self, head: Head) -> bool:
        messages = [*head.messages, *_items(head.object)]
        if any(_telling(message) for message in messages):
            return True
        return head.whole and any(isinstance(message.get("role"), str) for message in messages)

    def trace(self, record: Any, options: Options) -> Trace:
        about = record if isinstance(record, dict) else {}
        messages = record if isinstance(record, list) else record.get("messages")
        run = Builder()
        if messages is None:
            messages = [*_as_list(record.get("input")), *_as_list(record["output"])]
        if any(isinstance(message, dict) and message.get("type") in RESPONSE_ITEMS for message in messages):
            _read_items(run, messages, options)
        else:
            _read_messages(run, messages, options)
        if run.last is not None and (usage := openai_usage(about.get("usage"))):
            run.last.usage = usage
        return run.trace(
            str(about.get("id") or options.id),
            str(about["task_id"]) if about.get("task_id") is not None else None,
            label=own_label(about, options.success_at),
            model=str(about.get("model") or ""),
            errors=options.guesses,
        )


def _items(record: dict[str, Any]) -> list[dict[str, Any]]:
    found = [*_as_list(record.get("input")), *_as_list(record.get("output"))]
    return [item for item in found if isinstance(item, dict)]


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return value if isinstance(value, list) else []


def _telling(message: dict[str, Any]) -> bool:
    role, kind = message.get("role"), message.get("type")
    return role in TELLING_ROLES or "tool_calls" in message or "function_call" in message or kind in RESPONSE_ITEMS


def _read_messages(run: Builder, messages: Iterable[Any], options: Options) -> None:
    for message in messages:
        role = message["role"]
        if role == "user":
            run.asked(text_of(message.get("content")))
        elif role == "assistant":
            said = text_of(message.get("content") or message.get("refusal"))
            run.reply(
                said, calls_of(message), usage=openai_usage(message.get("usage")), stop=message.get("finish_reason")
            )
        elif role in ("tool", "function"):
            text = text_of(message.get("content"))
            run.result(text, message.get("tool_call_id"), options.status(text))


def calls_of(message: dict[str, Any]) -> list[ToolCall]:
    """The tool calls of an assistant's message: absent, null, [], or a list."""
    calls = list(message.get("tool_calls") or [])
    if message.get("function_call"):
        calls.append({"function": message["function_call"]})
    return [call_of(call) for call in calls]


def call_of(call: dict[str, Any]) -> ToolCall:
    """One tool call, with its name and arguments in `function`, in `custom`, or beside its id."""
    asked = call.get("function") or call.get("custom") or call
    if isinstance(asked, str):
        asked = {"name": asked, "arguments": call.get("arguments")}
    arguments = asked["input"] if "input" in asked else asked.get("arguments")
    return ToolCall(str(asked["name"]), arguments_of(arguments), call.get("id"))


def _read_items(run: Builder, items: Iterable[Any], options: Options) -> None:
    """Everything that the model says between two things that it is told is one reply."""
    speaking = False
    for item in items:
        kind, role = item.get("type"), item.get("role")
        if kind in ENDS_OF_CALLS:
            text = text_of(item.get("output"))
            run.result(text, item.get("call_id"), options.status(text))
            speaking = False
        elif kind in RESPONSE_ITEMS or role == "assistant":
            draft = run.last if speaking and run.last is not None else run.reply()
            speaking = True
            draft.text += text_of(item.get("content")) if role == "assistant" else ""
            if kind in ("function_call", "custom_tool_call"):
                arguments = item["input"] if kind == "custom_tool_call" else item.get("arguments")
                run.call(ToolCall(str(item["name"]), arguments_of(arguments), item.get("call_id")))
        else:
            speaking = False
            if role == "user":
                run.asked(text_of(item.get("content")))
