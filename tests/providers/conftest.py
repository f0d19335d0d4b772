"""Every test here talks to a server on this machine, and to nobody else: a guard sees every connection."""

import sys

import pytest

from .dialects import DIALECTS
from .helpers import EACH, Api
from .server import Server

LOOPBACK = {"127.0.0.1", "::1", "localhost", "", None, b"127.0.0.1", b"localhost"}


class Guard:
    """An audit hook: Python itself reports every connection and every look-up of a name, whoever makes it."""

    watching = False

    def __init__(self):
        self.attempts = []

    def __call__(self, event, args):
        """Refuse what leaves this machine."""
        if not self.watching:
            return
        if event in ("socket.connect", "socket.sendto"):
            host = args[1][0] if isinstance(args[1], tuple) else None  # a path on this machine is a text
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            host = args[0]
        else:
            return
        if host not in LOOPBACK:
            self.attempts.append((event, host))
            raise PermissionError(f"{event} to {host!r}: the tests stay on this machine")


GUARD = Guard()
sys.addaudithook(GUARD)  # it cannot be taken away again, so it is switched on and off


@pytest.fixture(autouse=True)
def network(monkeypatch):
    """Nothing may leave this machine, and nothing from its settings may lead the clients elsewhere."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    GUARD.attempts = []
    GUARD.watching = True
    yield GUARD
    GUARD.watching = False
    assert GUARD.attempts == []


@pytest.fixture(params=EACH, ids="-".join)
def api(request):
    """Each API, through each kind of client, whole and as a stream, and a server that objects as that API does."""
    name, kind, way = request.param
    with Server(DIALECTS[name].objection) as server:
        yield Api(name, kind == "async", way == "stream", server)


@pytest.fixture(params=DIALECTS)
def dialect(request):
    """Each API's format, for what needs no server."""
    return DIALECTS[request.param]
