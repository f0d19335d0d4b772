"""Fields as logs write them: texts, arguments, tokens, money, moments, labels. What makes no sense is unknown."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha1
from typing import Any

from stoplib.messages import Usage
from stoplib.traces.trace import FAILURE, SUCCESS, UNKNOWN

YES = frozenset({"success", "succeeded", "c", "pass", "passed", "correct", "resolved", "true", "yes"})
NO = frozenset({"failure", "failed", "i", "p", "n", "fail", "incorrect", "unresolved", "false", "no"})

TEXTS = ("text", "input_text", "output_text", "refusal", "summary_text")


def text_of(content: Any) -> str:
    """The text of a message's content: null, text, or parts. Of what is no text (an image) its digest stands for it.

    >>> text_of([{"type": "text", "text": "no such "}, {"type": "text", "text": "order"}]), text_of(None)
    ('no such order', '')
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_part(part) for part in content)
    if isinstance(content, Mapping) and content.get("type") in TEXTS:
        return _part(content)
    return json.dumps(content, ensure_ascii=False, sort_keys=True)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        kind = part.get("type", "text")
        if kind in TEXTS:
            return text_of(part.get("refusal" if kind == "refusal" else "text"))
        return f"[{kind} {digest(json.dumps(part, sort_keys=True, default=str))}]"
    return str(part)


def digest(text: str) -> str:
    """A short name for a long text: equal texts have the same one."""
    return sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:12]


def arguments_of(raw: Any) -> Mapping[str, Any] | str:
    """The arguments of a call: an object, or the very text of what is not one, since broken calls need not be the same.

    >>> arguments_of('{"id": 7}'), arguments_of('{"id": 7'), arguments_of("")
    ({'id': 7}, '{"id": 7', '')
    """
    if isinstance(raw, Mapping):
        return raw
    if raw is None:
        return {}
    if not isinstance(raw, str):
        return json.dumps(raw, ensure_ascii=False, sort_keys=True, default=str)
    try:
        parsed = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    return parsed if isinstance(parsed, dict) else raw


def tokens(value: Any) -> int | None:
    """A number of tokens, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        return None
    return int(value)


def usage_of(sent: Any, answered: Any, read: Any = 0, written: Any = 0, *, inside: bool) -> Usage | None:
    """Tokens of one call, or None. `inside` says that what was sent includes the cached parts.

    A call has at least one token, so a sum of 0 is unknown as well.

    >>> usage_of(310, 9, 256, inside=True)
    Usage(input=54, output=9, cache_read=256, cache_write=0)
    >>> usage_of(12, 31, 2048, inside=False).total, usage_of(0, 0, inside=True)
    (2091, None)
    """
    sent, answered = tokens(sent), tokens(answered)
    if sent is None or answered is None:
        return None
    read, written = tokens(read) or 0, tokens(written) or 0
    if inside and read + written <= sent:
        sent -= read + written
    usage = Usage(sent, answered, read, written)
    return usage if usage.total else None


def openai_usage(usage: Any) -> Usage | None:
    """Tokens as OpenAI's APIs report them: the cached part is inside."""
    if not isinstance(usage, Mapping):
        return None
    for sent, answered in (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens")):
        if usage.get(sent) is not None:
            details = usage.get(f"{sent}_details")
            cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
            return usage_of(usage[sent], usage.get(answered), cached, inside=True)
    return None


def anthropic_usage(usage: Any) -> Usage | None:
    """Tokens as Anthropic's API reports them: the cached parts are beside."""
    if not isinstance(usage, Mapping):
        return None
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    return usage_of(usage.get("input_tokens"), usage.get("output_tokens"), read, written, inside=False)


def money(value: Any) -> float | None:
    """What a call cost, or None: a cost of 0 is that of a model whose price nobody knew."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) and value > 0 else None


def moment(value: Any) -> float | None:
    """A time as seconds since 1970, or None. Without a zone it is taken for UTC; only differences are used.

    >>> moment("2026-01-01T10:00:05.000Z") - moment("2026-01-01T10:00:00")
    5.0
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def since(start: float | None, now: float | None) -> float | None:
    """Seconds from one moment to another, at least 0; None if one of them is unknown."""
    return None if start is None or now is None else max(0.0, now - start)


def label_of(value: Any, success_at: float = 1.0) -> str:
    """The label that a field stands for: a bool, a number held against `success_at`, or a usual word.

    >>> label_of(True), label_of(0.85), label_of(0.85, success_at=0.8), label_of("C"), label_of(None)
    ('success', 'failure', 'success', 'success', 'unknown')
    """
    if isinstance(value, bool):
        return SUCCESS if value else FAILURE
    if isinstance(value, (int, float)):
        return UNKNOWN if math.isnan(value) else SUCCESS if value >= success_at else FAILURE
    if isinstance(value, str):
        word = value.strip().lower()
        if word in YES or word in NO:
            return SUCCESS if word in YES else FAILURE
        try:
            return label_of(float(word), success_at)
        except ValueError:
            return UNKNOWN
    return UNKNOWN


def own_label(record: Any, success_at: float) -> str:
    """The label that somebody wrote beside a conversation: `label`, `success` or `reward`."""
    if not isinstance(record, Mapping):
        return UNKNOWN
    labels = (label_of(record.get(name), success_at) for name in ("label", "success", "reward"))
    return next((label for label in labels if label != UNKNOWN), UNKNOWN)
