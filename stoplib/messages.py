"""What a model says and what it costs: replies, tool calls, usage.

A model is any callable `model(messages, tools) -> Reply`, or one that takes the messages alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, NamedTuple

new = tuple.__new__  # makes a named tuple without the detour by its own __new__, three times a step

Message = dict[str, Any]
Model = Callable[..., "Reply"]


class Fatal(BaseException):
    """Raised by a tool or a model: an environment problem that the model cannot work around.

    The run ends as `fatal`. Like KeyboardInterrupt this is a stop signal and no ordinary error,
    so an `except Exception` inside a tool does not swallow it.
    """


class Usage(NamedTuple):
    """Tokens of one call, or of many. `input` excludes the cached parts.

    >>> Usage(20, 10, cache_read=80).total
    110
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """All tokens, cached ones included."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:  # type: ignore[override]  # tokens add up, tuples would join
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


class _ToolCall(NamedTuple):
    name: str
    args: Mapping[str, Any] | str
    id: str | None


class ToolCall(_ToolCall):
    """One request by the model to run one tool. A call without an `id` gets one from the run.

    `args` is a mapping of arguments, or the text that the API sent if that text is not valid JSON.

    >>> print(ToolCall("search", {"query": "stop"}))
    search(query='stop')
    """

    __slots__ = ()

    def __new__(cls, name: str, args: Mapping[str, Any] | str | None = None, id: str | None = None) -> ToolCall:
        return new(cls, (name, {} if args is None else args, id))

    def __str__(self) -> str:
        if not isinstance(self.args, Mapping):
            return f"{self.name}({self.args})"
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.args.items())})"


NO_USAGE = Usage()


class _Reply(NamedTuple):
    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    stop: str | None


class Reply(_Reply):
    """What one model call gave back.

    `stop` is the API's own word for why the model stopped talking; None means `tool_use` if there
    are calls and `end_turn` if there are none. Raises TypeError for a text or a usage that is none,
    and for one call that is not in a list.
    """

    __slots__ = ()

    def __new__(
        cls,
        text: str | None = "",
        calls: Iterable[ToolCall] = (),
        usage: Usage = NO_USAGE,
        stop: str | None = None,
    ) -> Reply:
        if not isinstance(text, str) and text is not None:
            raise TypeError(f"a reply's text must be a str, not {text!r}")
        if not isinstance(usage, Usage):
            raise TypeError(f"a reply's usage must be a Usage, such as Usage(100, 20), not {usage!r}")
        # Some APIs send no text at all beside a tool call.
        return new(cls, (text or "", calls if type(calls) is tuple else _several(calls), usage, stop))


def _several(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    if isinstance(calls, ToolCall):  # a tuple itself, of its name, its arguments and its id
        raise TypeError(f"a reply's calls must be a list of ToolCalls: write [{calls!r}]")
    return tuple(calls)


def answer(text: str, *, usage: Usage = NO_USAGE) -> Reply:
    """A reply that ends the turn with text.

    >>> answer("done").text
    'done'
    """
    return Reply(text, usage=usage)


def call(name: str, /, *, usage: Usage = NO_USAGE, **args: Any) -> Reply:
    """A reply that asks for one tool.

    >>> print(call("search", query="stop").calls[0])
    search(query='stop')
    """
    return Reply(calls=(ToolCall(name, args),), usage=usage)


def batch(*replies: Reply, usage: Usage | None = None) -> Reply:
    """One reply that asks for several tools at once: the calls of `replies`, in order.

    Its usage is the sum of theirs unless `usage` is given.

    >>> len(batch(call("read", path="a"), call("read", path="b")).calls)
    2
    """
    calls = tuple(c for reply in replies for c in reply.calls)
    return Reply(calls=calls, usage=_sum(r.usage for r in replies) if usage is None else usage)


def _sum(usages: Iterable[Usage]) -> Usage:
    total = NO_USAGE
    for usage in usages:
        total = total + usage
    return total


def identified(reply: Reply, step: int) -> Reply:
    """The reply with an id for each call: the API's own where there is one, else made from step and place."""
    text, calls, usage, stop = reply
    if not calls:
        return reply
    if len(calls) == 1 and type(calls[0]) is ToolCall:  # the usual case
        name, args, id = calls[0]
        return reply if id else new(Reply, (text, (new(ToolCall, (name, args, f"call_{step}_1")),), usage, stop))
    for call in calls:
        if type(call) is not ToolCall:
            raise TypeError(f"a reply's calls must be ToolCalls, not {call!r}")
    taken = {call.id for call in calls}
    if all(taken):
        return reply
    named = [
        call if call.id else ToolCall(call.name, call.args, _new_id(taken, step, place))
        for place, call in enumerate(calls, 1)
    ]
    return Reply(text, tuple(named), usage, stop)


def _new_id(taken: Set[str | None], step: int, place: int) -> str:
    made = f"call_{step}_{place}"
    while made in taken:
        made += "_"
    return made
