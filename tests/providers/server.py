"""A scripted HTTP server on this machine: it says what it is told to, and breaks off where it is told to."""

import json
import sys
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NO_RETRY = {"x-should-retry": "false"}


class Whole:
    """One answer with a body: JSON, or a text such as a page of a proxy."""

    def __init__(self, body, status=200, headers=None):
        self.body, self.status, self.headers = body, status, headers or {}

    def send(self, handler):
        """Write it."""
        is_text = isinstance(self.body, str)
        content = (self.body if is_text else json.dumps(self.body)).encode("utf-8")
        handler.send_response(self.status)
        handler.send_header("content-type", "text/html" if is_text else "application/json")
        handler.send_header("content-length", str(len(content)))
        for name, value in self.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)


class Stream:
    """Server-sent events, one chunk each. `then`: "end", "drop" the connection, or "hang" until it is closed."""

    def __init__(self, events, then="end"):
        self.events, self.then = events, then

    def send(self, handler):
        """Write it, event by event."""
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for event in self.events:
            content = event.encode("utf-8")
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
            handler.wfile.flush()
        if self.then == "end":
            handler.wfile.write(b"0\r\n\r\n")
        elif self.then == "hang":
            hang(handler)
        else:
            handler.close_connection = True


class Hang:
    """No answer at all, until the other side hangs up."""

    def send(self, handler):
        """Wait."""
        hang(handler)


class Drop:
    """No answer: the connection is closed."""

    def send(self, handler):
        """Say nothing."""
        handler.close_connection = True


def hang(handler):
    """Wait until the other side hangs up, and say so."""
    handler.close_connection = True
    handler.server.scripted.hanging.set()
    handler.connection.settimeout(30)
    if handler.connection.recv(1) == b"":
        handler.server.scripted.hung_up.set()


class Server:
    """The server. `requests` is what it was asked: (path, headers, body) of each request.

    `check(path, body, requests)` may object to a request, as the real API would, with a text.
    """

    def __init__(self, check=None):
        self.requests = []
        self.answers = deque()
        self.check = check
        self.hanging, self.hung_up = threading.Event(), threading.Event()
        self.errors = []
        self._http = Threads(("127.0.0.1", 0), Handler)
        self._http.scripted = self
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        assert self.errors == []

    @property
    def bodies(self):
        """The bodies of all requests."""
        return [body for _, _, body in self.requests]

    def answer_to(self, path, headers, body):
        """The next answer of the script, or an error: for a request that is wrong, and when the script is over."""
        objection = self.check and self.check(path, body, self.bodies)
        self.requests.append((path, headers, body))
        if objection:
            return Whole({"error": {"type": "invalid_request_error", "message": objection}}, 400, NO_RETRY)
        if not self.answers:
            return Whole({"error": {"type": "api_error", "message": "the script is over"}}, 500, NO_RETRY)
        return self.answers.popleft()


class Threads(ThreadingHTTPServer):
    """One thread for each connection."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hangs up is none; all else is an error of the script."""
        error = sys.exception()
        if not isinstance(error, ConnectionError):
            self.scripted.errors.append(error)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.scripted.answer_to(self.path, headers, body).send(self)

    def log_message(self, *_):
        """Say nothing about it."""
