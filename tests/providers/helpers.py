"""One API through one kind of client, for the tests."""

import asyncio
from itertools import product

import pytest

from stoplib import arun, run

from .dialects import DIALECTS, MODEL
from .server import Stream, Whole


class Api:
    """One API through one kind of client: `says` scripts the server, `run` runs a task against it."""

    def __init__(self, name, is_async, streams, server):
        self.name, self.is_async, self.streams, self.server = name, is_async, streams, server
        self.dialect = DIALECTS[name]

    def wire(self, reply, **more):
        """A reply as the API sends it."""
        number = len(self.server.answers) + len(self.server.requests) + 1
        if self.streams:
            return Stream(self.dialect.events(reply, number, **more))
        return Whole(self.dialect.whole(reply, number, **more))

    def says(self, *replies, **more):
        """Script the server: one reply, or one answer as it is, for each request."""
        for reply in replies:
            self.server.answers.append(reply if hasattr(reply, "send") else self.wire(reply, **more))

    def model(self, client, **options):
        """The client as a model."""
        options = {"retries": 0, "stream": self.streams, **self.dialect.required, **options}
        return self.dialect.adapter(client, options.pop("name", MODEL), **options)

    def run(self, task="go", *, client=(), adapter=(), **options):
        """Run a task, with `run` or `arun` as the client is. `client` and `adapter` are options for those."""
        if self.is_async:
            return asyncio.run(self._arun(task, dict(client), dict(adapter), options))
        with self.dialect.client(self.server.url, False, **dict(client)) as real:
            return run(self.model(real, **dict(adapter)), task, **options)

    async def _arun(self, task, client, adapter, options):
        async with self.dialect.client(self.server.url, True, **client) as real:
            return await arun(self.model(real, **adapter), task, **options)


EACH = list(product(DIALECTS, ("sync", "async"), ("whole", "stream")))
#: each kind of client and each way once, for long lists of cases
HALF = [each for each in EACH if each[1:] in (("sync", "whole"), ("async", "stream"))]


def only(*, names=tuple(DIALECTS), kinds=("sync", "async"), ways=("whole", "stream"), but=None, of=tuple(EACH)):
    """A test for some of the APIs, kinds of client and ways to get a reply; `but` is one (API, way) to leave out."""
    some = [e for e in of if e[0] in names and e[1] in kinds and e[2] in ways and (e[0], e[2]) != but]
    return pytest.mark.parametrize("api", some, indirect=True, ids="-".join)


def contents(outcome):
    """The texts of all tool results, in order."""
    return [message["content"] for message in outcome.messages if message["role"] == "tool"]
