"""A client as a model: one call, sync or async, whole or as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from stoplib.limits import whole
from stoplib.messages import Message, Reply
from stoplib.outcome import describe, in_words
from stoplib.providers.parts import BrokenReply, Json
from stoplib.providers.wire import Gathering, Wire

Schemas = Iterable[Mapping[str, Any]]


class ClientModel:
    """An API as a model: `model(messages, tools) -> Reply`. It keeps nothing between two calls.

    name               the model's name, under which its price is looked up
    max_output_tokens  the most tokens that one reply may have, or None; a hard budget looks ahead with it
    """

    def __init__(self, wire: Wire, client: Any, retries: int) -> None:
        retries = whole(wire.api, "retries", retries)
        try:
            self._create = wire.method(client.with_options(max_retries=retries))
        except AttributeError as error:
            raise TypeError(f"{wire.api}: client must be one of that API, not {client!r}") from error
        self._wire = wire
        self.name = wire.name
        self.max_output_tokens = wire.max_output_tokens

    def __call__(self, messages: Sequence[Message], tools: Schemas = ()) -> Reply:
        wire, offered = self._wire, self._wire.offered(messages, tools)
        answer = self._create(**wire.request(messages, offered, may_use=bool(tools)))
        if not wire.stream:
            return wire.reply(_as_dict(answer), offered)
        with _gathering(wire) as gathered, answer:
            for event in answer:
                gathered.add(_as_dict(event))
        return wire.reply(gathered.response, offered)


class AsyncClientModel(ClientModel):
    """The same for an async client: `await model(messages, tools)`. For `arun`, which cancels it at the deadline."""

    async def __call__(self, messages: Sequence[Message], tools: Schemas = ()) -> Reply:  # type: ignore[override]
        wire, offered = self._wire, self._wire.offered(messages, tools)
        answer = await self._create(**wire.request(messages, offered, may_use=bool(tools)))
        if not wire.stream:
            return wire.reply(_as_dict(answer), offered)
        with _gathering(wire) as gathered:
            async with answer:
                async for event in answer:
                    gathered.add(_as_dict(event))
        return wire.reply(gathered.response, offered)


def model_of(wire: Wire, client: Any, retries: int) -> ClientModel:
    """The model for a client, sync or async as the client is."""
    is_async = hasattr(type(client), "__aenter__")
    return (AsyncClientModel if is_async else ClientModel)(wire, client, retries)


@contextmanager
def _gathering(wire: Wire) -> Iterator[Gathering]:
    """Gather a stream. Whatever ends it early becomes a BrokenReply that holds what had arrived."""
    gathered = wire.gathering()
    try:
        yield gathered
    except Exception as error:
        raise BrokenReply(in_words(error), wire.so_far(gathered.response)) from error
    if not gathered.complete:
        raise BrokenReply("the stream ended before the reply did", wire.so_far(gathered.response))


def _as_dict(answer: Any) -> Json:
    """What a client gives, as the API sent it."""
    if not hasattr(answer, "to_dict"):
        raise TypeError(f"what the API sent is no reply: {describe(answer)}")
    sent: Json = answer.to_dict(mode="json", warnings=False)
    return sent
