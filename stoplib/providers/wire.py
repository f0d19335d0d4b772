"""What an API's format has to say: how the transcript is written, and how a reply is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from stoplib.limits import flag, whole
from stoplib.messages import NO_USAGE, Message, Reply, ToolCall, Usage
from stoplib.outcome import describe
from stoplib.providers.parts import Json, Turn


class Wire(ABC):
    """One API's format: from the transcript to a request, and from a response to a `Reply`.

    name               the model's name, as the API knows it
    max_output_tokens  the most tokens that one reply may have, or None
    system             what the model is told before the task
    stream             whether the reply is asked for piece by piece
    options            further keywords of the client's method
    """

    #: how the API is called in messages
    api: ClassVar[str]
    #: keywords of the client's method that this class gives
    sets: ClassVar[frozenset[str]]
    #: the `tool_choice` with which tools may not be used
    no_tool: ClassVar[Any] = "none"

    def __init__(
        self, name: str, max_output_tokens: int | None, system: Any, stream: bool, options: Mapping[str, Any]
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"{self.api}: name must be the model's name, not {name!r}")
        if given := sorted(self.sets & options.keys()):
            raise TypeError(f"{self.api}: leave out {', '.join(given)}, which the adapter sets; see its arguments")
        self.name = name
        self.max_output_tokens = (
            None if max_output_tokens is None else whole(self.api, "max_output_tokens", max_output_tokens, at_least=1)
        )
        self.system = system
        self.stream = flag(self.api, "stream", stream)
        self.options = {key: value for key, value in options.items() if key != "tools"}
        self.own_tools = list(options.get("tools", ()))

    def offered(self, messages: Sequence[Message], tools: Iterable[Mapping[str, Any]]) -> list[Json]:
        """The tools of this call, as they are sent. Without any, those of the model's last turn: they have to be
        there as long as the transcript speaks of them, and what an API has cached or signed starts with them."""
        return [self.tool(schema) for schema in tools] or next(
            (turn.tools for turn in map(self.turn_of, reversed(messages)) if turn is not None), []
        )

    def request(self, messages: Sequence[Message], offered: list[Json], may_use: bool) -> Json:
        """The keywords for the client's method."""
        request = {**self.options, **self.asked(self.written(messages)), "model": self.name}
        if tools := [*self.own_tools, *offered]:
            request["tools"] = tools
        if offered and not may_use:
            request["tool_choice"] = self.no_tool
        if self.stream:
            request["stream"] = True
        return request

    def reply(self, response: Json, offered: list[Json]) -> Reply:
        """What the API said, in the library's terms."""
        try:
            text, calls, stop = self.text(response), self.calls(response), self.word(response)
            raw, usage = self.raw(response), self.usage(response)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise TypeError(f"what the {self.api} API sent is no reply: {describe(response)}") from error
        if calls:
            first = calls[0]
            calls[0] = ToolCall(first.name, first.args, Turn(first.id or "", self.api, raw, offered))
        else:
            text = Turn(text, self.api, raw, offered)
        return Reply(text, calls, usage, stop)

    def so_far(self, response: Json) -> Reply:
        """What had arrived of a reply that broke off. Its word is one that nobody takes for a success."""
        try:
            usage = self.usage(response)
        except (KeyError, TypeError, ValueError):
            usage = NO_USAGE
        return Reply(self.text(response), usage=usage, stop="broken off")

    def turn_of(self, message: Message) -> Turn | None:
        """The model's turn that a message stands for, if it came from this API."""
        asked = message.get("tool_calls")
        carrier = asked[0]["id"] if asked else message["content"]
        return carrier if isinstance(carrier, Turn) and carrier.api == self.api else None

    # What each format says in its own way.

    @abstractmethod
    def method(self, client: Any) -> Any:
        """The client's method that makes a call."""

    @abstractmethod
    def asked(self, written: list[Json]) -> Json:
        """The keywords for the transcript, for what stands before it, and for the output limit."""

    @abstractmethod
    def tool(self, schema: Mapping[str, Any]) -> Json:
        """A tool's schema."""

    @abstractmethod
    def written(self, messages: Sequence[Message]) -> list[Json]:
        """The transcript."""

    @abstractmethod
    def gathering(self) -> Gathering:
        """What puts the events of a stream together."""

    @abstractmethod
    def raw(self, response: Json) -> Any:
        """The turn as it has to be sent back."""

    @abstractmethod
    def text(self, response: Json) -> str:
        """What the model said."""

    @abstractmethod
    def calls(self, response: Json) -> list[ToolCall]:
        """The tools that it asks for."""

    @abstractmethod
    def word(self, response: Json) -> str:
        """The API's word for why it stopped."""

    @abstractmethod
    def usage(self, response: Json) -> Usage:
        """The tokens of this call. Raises ValueError if there are none: unknown is not zero."""


class Gathering(ABC):
    """The events of one stream, put together to the response that would have come without it."""

    def __init__(self) -> None:
        self.response: Json = {}
        self.complete = False

    @abstractmethod
    def add(self, event: Json) -> None:
        """Put in the next event."""
