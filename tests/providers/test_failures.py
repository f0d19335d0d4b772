"""When the API fails the run ends as `fatal`, with everything that had been spent by then, and never as an answer."""

import asyncio
import socket

import anthropic
import httpx2
import openai
import pytest

from stoplib import Fatal, Reply, ToolCall, Usage, answer, call, max_steps, print_trace, run
from stoplib.providers import BrokenReply
from stoplib.reasons import ending

from .dialects import DIALECTS, MODEL, event
from .helpers import HALF, only
from .server import NO_RETRY, Drop, Hang, Stream, Whole

FIRST = call("look", usage=Usage(100, 10))
TOOLS = {"look": lambda: "nothing"}


def client_error(name, api):
    """A class of exceptions of the API's client."""
    return getattr(anthropic if api.name == "messages" else openai, name)


class TestErrors:
    """The client raises, before anything of the reply has come."""

    @only(of=HALF)
    @pytest.mark.parametrize(
        ("status", "name"),
        [
            (400, "BadRequestError"),
            (401, "AuthenticationError"),
            (429, "RateLimitError"),
            (500, "InternalServerError"),
            (529, "InternalServerError"),
        ],
    )
    def test_a_status(self, api, status, name):
        """An error status ends the run as fatal with the client's own exception, and what was spent before stands."""
        api.says(FIRST, Whole({"error": {"type": "x", "message": "not today"}}, status, NO_RETRY))
        outcome = api.run(tools=TOOLS)
        assert (outcome.reason, outcome.steps, outcome.usage) == ("fatal", 1, Usage(100, 10))
        assert isinstance(outcome.error, client_error(name, api))
        assert "not today" in outcome.detail

    def test_a_dropped_connection(self, api):
        """A connection that is closed without an answer ends the run as fatal."""
        api.says(FIRST, Drop())
        outcome = api.run(tools=TOOLS)
        assert (outcome.reason, outcome.usage.total) == ("fatal", 110)
        assert isinstance(outcome.error, client_error("APIConnectionError", api))

    def test_a_timeout(self, api):
        """The client's timeout, given like any other option of its method, ends the run as fatal."""
        api.says(Hang())
        outcome = api.run(adapter={"timeout": 0.1})
        assert (outcome.reason, outcome.steps) == ("fatal", 0)
        assert isinstance(outcome.error, client_error("APITimeoutError", api))

    def test_nobody_listens(self, api):
        """A server that is not there ends the run as fatal, with nothing spent."""
        api.server.url = "http://127.0.0.1:9"
        outcome = api.run()
        assert (outcome.reason, outcome.steps) == ("fatal", 0)
        assert isinstance(outcome.error, client_error("APIConnectionError", api))

    @only(ways=["whole"])
    @pytest.mark.parametrize("body", ["<html>Log in to the network</html>", {}, {"choices": []}, {"output": None}])
    def test_no_reply_at_all(self, api, body):
        """What a proxy or another kind of server says is no reply: the run ends as fatal and says what came."""
        api.says(Whole(body))
        outcome = api.run()
        assert (outcome.reason, outcome.steps) == ("fatal", 0)
        assert "is no reply" in outcome.detail

    @only(ways=["stream"])
    @pytest.mark.parametrize("body", ["<html>Log in to the network</html>", {}])
    def test_no_stream_at_all(self, api, body):
        """The same where a stream was asked for."""
        api.says(Whole(body))
        outcome = api.run()
        assert (outcome.reason, type(outcome.error)) == ("fatal", BrokenReply)

    @only(but=("messages", "stream"))  # whose first event holds them
    def test_no_tokens_reported(self, api):
        """Unknown is not zero: a reply without its tokens ends the run, so that no budget is gone round."""
        api.says(Reply("x")._replace(usage=None))
        outcome = api.run()
        assert (outcome.reason, outcome.complete) == ("fatal", False)
        assert "the API reported no tokens for this call" in outcome.detail


class TestRetries:
    """How often a failed call is tried again is said in one place, and a try is no step."""

    BUSY = Whole({"error": {"type": "overloaded", "message": "busy"}}, 503, {"retry-after-ms": "1"})

    @pytest.mark.parametrize(("retries", "reason", "asked"), [(0, "fatal", 1), (1, "fatal", 2), (2, "answered", 3)])
    def test_as_many_as_are_allowed(self, api, retries, reason, asked):
        """With two failures before the answer, two retries are enough; the run counts one step at most."""
        api.says(self.BUSY, self.BUSY, answer("x", usage=Usage(5, 5)))
        outcome = api.run(adapter={"retries": retries}, client={"max_retries": 9})
        assert (outcome.reason, len(api.server.requests)) == (reason, asked)
        assert (outcome.steps, outcome.usage.total) == ((1, 10) if reason == "answered" else (0, 0))

    @only(ways=["stream"])
    def test_a_stream_that_has_begun_is_not_tried_again(self, api):
        """What has come has been paid for, so nobody asks for it twice behind your back."""
        api.says(Stream(api.dialect.events(answer("a long answer"))[:4], "drop"), answer("x"))
        outcome = api.run(adapter={"retries": 5})
        assert (outcome.reason, len(api.server.requests)) == ("fatal", 1)


@only(ways=["stream"])
class TestBrokenStreams:
    """A stream ends before the reply does."""

    @pytest.mark.parametrize("then", ["drop", "end"])
    def test_at_any_event(self, api, then):
        """Wherever it breaks, and however politely, the run is fatal until the reply's last event has come."""
        reply = Reply("All is well.", [ToolCall("look", {"where": "here"})], Usage(100, 10))
        events = api.dialect.events(reply)
        needed = len(events) - (2 if api.name == "chat" else 1)  # a chat's tokens stand before its last word
        for came in range(needed + (api.name != "chat")):
            api.server.answers.clear()
            api.server.requests.clear()
            api.says(Stream(events[:came], then))
            outcome = api.run(tools=TOOLS)
            assert (outcome.reason, outcome.steps, outcome.complete) == ("fatal", 1, False), came

    def test_what_was_spent_so_far(self, api):
        """The broken reply is a step: its text is known, and its tokens count as far as they were told."""
        events = api.dialect.events(answer("a long answer", usage=Usage(500, 90)))
        start = next(n for n, one in enumerate(events) if "a lo" in one)
        api.says(FIRST, Stream(events[: start + 2], "drop"))
        outcome = api.run(tools=TOOLS)
        assert isinstance(outcome.error, BrokenReply)
        assert outcome.error.reply.text == "a long a"
        told = {"messages": Usage(500, 1)}.get(api.name, Usage())  # OpenAI tells the tokens at the end
        assert (outcome.error.reply.usage, outcome.error.reply.calls) == (told, ())
        assert (outcome.reason, outcome.steps, outcome.usage) == ("fatal", 2, Usage(100, 10) + told)
        assert ending(outcome.error.reply)[0] == "unfinished"
        tokens = f"{told.total} tokens" if told.total else "no tokens"
        assert f"8 characters of text, {tokens} reported" in outcome.detail

    def test_the_clients_own_exception(self, api):
        """What the client raised is the cause, so a caller can tell a broken connection from a failure of the API."""
        api.says(Stream(api.dialect.events(answer("a long answer"))[:4], "drop"))
        cause = api.run().error.__cause__
        assert "RemoteProtocolError" in (type(cause).__name__, type(cause.__cause__).__name__)

    def test_an_error_in_the_stream(self, api):
        """An error that the API sends instead of the rest ends the run as fatal, in its words."""
        error = {"type": "error", "code": "busy", "message": "overloaded", "param": None, "sequence_number": 3}
        if api.name != "responses":
            error = {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}
        api.says(Stream([*api.dialect.events(answer("a long answer"))[:4], event(error, "error")]))
        outcome = api.run()
        assert (outcome.reason, type(outcome.error)) == ("fatal", BrokenReply)
        assert "overloaded" in outcome.detail

    def test_an_event_that_is_no_json(self, api):
        """Nonsense in the stream ends the run as fatal."""
        api.says(Stream([*api.dialect.events(answer("x"))[:2], event("{nonsense", "message_delta")]))
        outcome = api.run()
        assert (outcome.reason, type(outcome.error)) == ("fatal", BrokenReply)

    def test_events_that_nobody_knows(self, api):
        """An API that says more than we know of does no harm."""
        events = api.dialect.events(answer("x", usage=Usage(3, 4)))
        news = {"type": "news.of.tomorrow", "choices": [], "sequence_number": 0}
        api.says(Stream([events[0], event(news, "news.of.tomorrow"), *events[1:]]))
        outcome = api.run()
        assert (outcome.reason, outcome.answer, outcome.usage) == ("answered", "x", Usage(3, 4))


class Pressed(httpx2.SyncByteStream):
    """A stream during which somebody presses Ctrl-C."""

    closed = False

    def __init__(self, events):
        self.events = events

    def __iter__(self):
        yield from (one.encode("utf-8") for one in self.events)
        raise KeyboardInterrupt

    def close(self):
        """Note that it was closed."""
        self.closed = True


def test_ctrl_c_in_a_stream(dialect):
    """A person who stops a stream ends the run as interrupted, and the connection is closed."""
    stream = Pressed(dialect.events(answer("a long answer"))[:3])
    headers = {"content-type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, stream=stream))
    kind = anthropic.Anthropic if dialect.path == "/v1/messages" else openai.OpenAI
    with kind(api_key="none", http_client=httpx2.Client(transport=transport)) as client:
        outcome = run(dialect.adapter(client, MODEL, stream=True, **dialect.required), "go")
    assert (outcome.reason, outcome.steps, stream.closed) == ("interrupted", 0, True)


@only(names=["responses"])
class TestAFailedResponse:
    """The Responses API can say in a reply that it failed."""

    def test_it_is_fatal(self, api):
        """It ends the run as fatal with the API's reason, and the tokens that it reports are not lost."""
        error = {"code": "server_error", "message": "something went wrong"}
        api.says(FIRST)
        api.says(Reply("half an", usage=Usage(50, 5), stop="failed"), error=error)
        outcome = api.run(tools=TOOLS)
        assert (outcome.reason, outcome.usage, outcome.error.reply.usage) == ("fatal", Usage(150, 15), Usage(50, 5))
        assert "server_error: something went wrong" in outcome.detail


@only(ways=["whole"])
class TestInTheLoop:
    """What a failure means for the rest of the run."""

    def test_the_transcript_is_whole(self, api):
        """Every tool call has its result, also when the next call of the model fails."""
        api.says(FIRST, Whole({"error": {"message": "no"}}, 500, NO_RETRY))
        roles = [message["role"] for message in api.run(tools=TOOLS).messages]
        assert roles == ["user", "assistant", "tool"]

    def test_a_closing_summary_that_fails(self, api):
        """It changes no reason: a fixed text stands in."""
        api.says(FIRST, Whole({"error": {"message": "no"}}, 500, NO_RETRY))
        outcome = api.run(tools=TOOLS, guards=[max_steps(2)], summarize=True)
        assert (outcome.reason, "no summary by the model" in outcome.summary) == ("max_steps", True)

    def test_a_listener_sees_the_end(self, api, capsys):
        """The trace says why it stopped."""
        api.says(Whole({"error": {"message": "not today"}}, 401, NO_RETRY))
        api.run(on_event=print_trace)
        assert "stopped: fatal (AuthenticationError" in capsys.readouterr().out


def test_a_broken_reply_is_an_ordinary_exception():
    """It is no stop signal: a model of your own that tries a second API may catch it."""
    assert issubclass(BrokenReply, Exception) and not issubclass(BrokenReply, Fatal)


def test_the_guard_sees_the_network(network):
    """The proof that nothing here leaves this machine: a connection elsewhere is refused, and remembered."""
    with pytest.raises(PermissionError, match="stay on this machine"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)

    async def connect():
        await asyncio.open_connection("192.0.2.1", 80)

    with pytest.raises(PermissionError, match="stay on this machine"):
        asyncio.run(connect())
    with DIALECTS["messages"].client("http://192.0.2.1", False, max_retries=0) as client:
        with pytest.raises(anthropic.APIConnectionError) as caught:
            client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}])
        assert "stay on this machine" in str(caught.value.__cause__)
    assert {host for _, host in network.attempts} == {"192.0.2.1"}
    network.attempts.clear()
