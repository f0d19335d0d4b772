"""The three formats as the APIs speak them, written from their types and not from the adapters.

A dialect turns a `Reply` into what its API would send, whole or as events, and objects to what the API refuses.
"""

import json
from itertools import pairwise

import anthropic
import openai

from stoplib import ToolCall
from stoplib.providers import anthropic_messages, openai_chat, openai_responses

MODEL = "a-model"


def plain_client(package, kind, url, is_async, **options):
    """A real client that loads no certificates, which takes longer than all else here and is for https."""
    http = package.DefaultAsyncHttpxClient if is_async else package.DefaultHttpxClient
    return kind(api_key="none", base_url=url, http_client=http(verify=False), **options)


def event(data, name=None):
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n"


def as_text(args):
    """A call's arguments as a model writes them."""
    return args if isinstance(args, str) else json.dumps(args)


def pieces(text, size=4):
    """A text in pieces."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def numbered(reply, number):
    """The reply with an id for each call."""
    calls = [ToolCall(c.name, c.args, c.id or f"id_{number}_{place}") for place, c in enumerate(reply.calls, 1)]
    return reply._replace(calls=tuple(calls))


def changed(now, before, *names):
    """Which of these fields of a request differ from the request before it."""
    return [name for name in names if now.get(name) != before.get(name)]


class Messages:
    """Anthropic's Messages API."""

    path = "/v1/messages"
    adapter = staticmethod(anthropic_messages)
    required = {"max_output_tokens": 1000}
    streams_by_default = True
    words = {
        "end_turn": "answered",
        "stop_sequence": "answered",
        "max_tokens": "truncated",
        "refusal": "refused",
        "model_context_window_exceeded": "context_full",
        "tool_use": "unfinished",  # without a tool
    }

    @staticmethod
    def client(url, is_async, **options):
        """The real client."""
        kind = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
        return plain_client(anthropic, kind, url, is_async, **options)

    def whole(self, reply, number=1, extra=()):
        """The message; `extra` are blocks that stand before the text."""
        reply = numbered(reply, number)
        said = [{"type": "text", "text": reply.text, "citations": None}] if reply.text else []
        asked = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.args} for c in reply.calls]
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [*extra, *said, *asked],
            "stop_reason": reply.stop or ("tool_use" if reply.calls else "end_turn"),
            "stop_sequence": None,
            "usage": self.tokens(reply.usage),
        }

    @staticmethod
    def tokens(usage):
        """The cached parts stand beside the input; older models leave them out or null."""
        return usage and {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cache_read_input_tokens": usage.cache_read or None,
            "cache_creation_input_tokens": usage.cache_write or None,
        }

    def events(self, reply, number=1, extra=()):
        """The same as events: the input is known at the start, the output at the end."""
        whole = self.whole(reply, number, extra)
        start = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
        events = [{"type": "message_start", "message": start}, {"type": "ping"}]
        for index, block in enumerate(whole["content"]):
            empty, deltas = self._in_pieces(block)
            events.append({"type": "content_block_start", "index": index, "content_block": empty})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        usage = whole["usage"] and {"input_tokens": None, "output_tokens": whole["usage"]["output_tokens"]}
        events += [{"type": "message_delta", "delta": ending, "usage": usage}, {"type": "message_stop"}]
        return [event(one, one["type"]) for one in events]

    @staticmethod
    def _in_pieces(block):
        if block["type"] == "text":
            said = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
            cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations") or ()]
            return {**block, "text": "", "citations": [] if cited else None}, [*said, *cited]
        if block["type"] == "tool_use":
            written = "" if block["input"] == {} else as_text(block["input"])  # nothing is written for no arguments
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(written)]
            ]
        if block["type"] == "thinking":
            thought = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*thought, signed]
        return block, []

    def objection(self, path, body, earlier):
        """What the API refuses, or None. Newer models also refuse a request in which what was sent has changed."""
        messages, offered = body["messages"], {tool["name"] for tool in body.get("tools", ())}
        blocks = [block for m in messages if isinstance(m["content"], list) for block in m["content"]]
        if path != self.path or not isinstance(body["max_tokens"], int) or messages[0]["role"] != "user":
            return "this is no request for a message"
        if any(not m["content"] for m in messages) or any(not b.get("text", "x").strip() for b in blocks):
            return "text content blocks must contain non-whitespace text"
        if any(b["type"] == "tool_use" and not isinstance(b["input"], dict) for b in blocks):
            return "tool_use.input must be an object"
        if not {b["name"] for b in blocks if b["type"] == "tool_use"} <= offered and "nope" not in str(blocks):
            return "requests which include tool_use must define tools"
        for said, answered in pairwise([*messages, {"role": "user", "content": []}]):
            asked = [b["id"] for b in said["content"] if b["type"] == "tool_use"] if said["role"] == "assistant" else []
            given = [b["tool_use_id"] for b in answered["content"][: len(asked)] if b["type"] == "tool_result"]
            if asked != given:
                return f"tool_use ids {asked} were answered by {given}"
            if said["role"] == answered["role"] == "user" and answered["content"]:
                return "what the user says in a row should be one message"
        if earlier and (other := changed(body, earlier[-1], "system", "tools")):
            return f"the thinking is bound to another conversation: {other} changed"
        if earlier and messages[: len(earlier[-1]["messages"])] != earlier[-1]["messages"]:
            return "the thinking is bound to another conversation: earlier messages changed"
        return None


class Chat:
    """OpenAI's Chat Completions API."""

    path = "/v1/chat/completions"
    adapter = staticmethod(openai_chat)
    required = {}
    streams_by_default = False
    words = {
        "stop": "answered",
        "length": "truncated",
        "content_filter": "refused",
        "tool_calls": "unfinished",  # without a tool
        "function_call": "unfinished",
    }

    @staticmethod
    def client(url, is_async, **options):
        """The real client."""
        kind = openai.AsyncOpenAI if is_async else openai.OpenAI
        return plain_client(openai, kind, f"{url}/v1", is_async, **options)

    def whole(self, reply, number=1, refusal=None):
        """The completion."""
        reply = numbered(reply, number)
        asked = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": as_text(c.args)}}
            for c in reply.calls
        ]
        message = {"role": "assistant", "content": reply.text or None, "refusal": refusal, "annotations": []}
        choice = {
            "index": 0,
            "message": {**message, "tool_calls": asked} if asked else message,
            "finish_reason": reply.stop or ("tool_calls" if asked else "stop"),
            "logprobs": None,
        }
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1,
            "model": MODEL,
            "choices": [choice],
            "usage": self.tokens(reply.usage),
        }

    @staticmethod
    def tokens(usage):
        """The cached parts are part of the input."""
        return usage and {
            "prompt_tokens": usage.input + usage.cache_read + usage.cache_write,
            "completion_tokens": usage.output,
            "total_tokens": usage.total,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        }

    def events(self, reply, number=1, refusal=None):
        """The same in chunks. The tokens come last, and only if they were asked for."""
        whole = self.whole(reply, number, refusal)
        [choice] = whole["choices"]
        message = choice["message"]
        deltas = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in pieces(message["content"] or "")]
        deltas += [{"refusal": piece} for piece in pieces(refusal or "")]
        for index, call in enumerate(message.get("tool_calls", ())):
            function = {"name": call["function"]["name"], "arguments": ""}
            deltas.append({"tool_calls": [{**call, "index": index, "function": function}]})
            for piece in pieces(call["function"]["arguments"]):
                deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        chunk = {name: whole[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
        chunks = [{**chunk, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
        chunks.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
        chunks.append({**chunk, "choices": [], "usage": whole["usage"]})
        return [*map(event, chunks), event("[DONE]")]

    def objection(self, path, body, earlier):
        """What the API refuses, or None."""
        messages = body["messages"]
        if path != self.path or (body.get("stream") and body.get("stream_options") != {"include_usage": True}):
            return "this is no request for a completion with its tokens"
        open_ids = []
        for message in messages:
            if message["role"] == "tool":
                if not open_ids or message["tool_call_id"] != open_ids.pop(0):
                    return f"{message['tool_call_id']} answers nothing"
            elif open_ids:
                return f"tool calls without an answer: {open_ids}"
            open_ids += [call["id"] for call in message.get("tool_calls") or ()]
            if not all(isinstance(c["function"]["arguments"], str) for c in message.get("tool_calls") or ()):
                return "arguments must be a text"
        if open_ids:
            return f"tool calls without an answer: {open_ids}"
        if earlier and (other := changed(body, earlier[-1], "tools")):
            return f"what is cached is lost: {other} changed"
        return None


class Responses:
    """OpenAI's Responses API."""

    path = "/v1/responses"
    adapter = staticmethod(openai_responses)
    client = staticmethod(Chat.client)
    required = {}
    streams_by_default = True
    words = {
        "completed": "answered",
        "max_output_tokens": "truncated",
        "content_filter": "refused",
        "max_messages": "unfinished",
        "steered": "unfinished",
        "cancelled": "unfinished",
        "queued": "unfinished",
        "in_progress": "unfinished",
    }
    STATUS = ("completed", "cancelled", "queued", "in_progress", "failed")

    def whole(self, reply, number=1, extra=(), refusal=None, error=None):
        """The response; `extra` are items that stand before the message."""
        reply = numbered(reply, number)
        word = reply.stop or "completed"
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        if refusal:
            part = {"type": "refusal", "refusal": refusal}
        said = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [part]}
        asked = [
            {
                "type": "function_call",
                "id": f"fc_{c.id}",
                "call_id": c.id,
                "name": c.name,
                "arguments": as_text(c.args),
                "status": "completed",
            }
            for c in reply.calls
        ]
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1,
            "model": MODEL,
            "status": word if word in self.STATUS else "incomplete",
            "incomplete_details": None if word in self.STATUS else {"reason": word},
            "error": error,
            "output": [*extra, *([said] if reply.text or refusal else []), *asked],
            "usage": self.tokens(reply.usage),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "instructions": None,
            "metadata": {},
            "temperature": 1.0,
            "top_p": 1.0,
        }

    @staticmethod
    def tokens(usage):
        """The cached parts are part of the input."""
        return usage and {
            "input_tokens": usage.input + usage.cache_read + usage.cache_write,
            "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.total,
        }

    def events(self, reply, number=1, extra=(), refusal=None, error=None):
        """The same as events. The last one holds it all; before it, the tokens are not known."""
        whole = self.whole(reply, number, extra, refusal, error)
        start = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
        place = {"item_id": f"msg_{number}", "output_index": 0, "content_index": 0}
        events = [{"type": "response.created", "response": {**start, "error": None}}]
        for piece in pieces(reply.text):
            events.append({"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []})
        for piece in pieces(refusal or ""):
            events.append({"type": "response.refusal.delta", **place, "delta": piece})
        last = whole["status"] if whole["status"] in ("incomplete", "failed") else "completed"
        events.append({"type": f"response.{last}", "response": whole})
        return [event({**one, "sequence_number": number}, one["type"]) for number, one in enumerate(events)]

    def objection(self, path, body, earlier):
        """What the API refuses, or None."""
        items = body["input"]
        asked = [item["call_id"] for item in items if item.get("type") == "function_call"]
        given = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
        if path != self.path or not all(isinstance(i["arguments"], str) for i in items if "arguments" in i):
            return "this is no request for a response"
        if asked != given:
            return f"function calls {asked} were answered by {given}"
        if any(item.get("type") == "reasoning" and after.get("role") == "user" for item, after in pairwise(items)):
            return "a reasoning item was provided without what has to follow it"
        if any(tool.get("strict") is not False for tool in body.get("tools", ()) if tool["type"] == "function"):
            return "a strict tool cannot have a parameter that may be left out"
        if earlier and (other := changed(body, earlier[-1], "tools", "instructions")):
            return f"what is cached is lost: {other} changed"
        return None


DIALECTS = {"messages": Messages(), "chat": Chat(), "responses": Responses()}
