"""Replies, tool calls and usage: what a model says and what it costs."""

# ruff: noqa: SIM300

import pytest

from stoplib import Fatal, Reply, ToolCall, Usage, answer, batch, call


class TestUsage:
    """Tokens of one call, or of many."""

    def test_total_counts_the_cache(self):
        """Cached tokens are part of the total: 20 new, 80 cached and 10 said are 110."""
        assert 110 == Usage(20, 10, cache_read=80).total
        assert 1111 == Usage(1, 10, 100, 1000).total

    def test_adding(self):
        """Usage adds up kind by kind."""
        assert Usage(11, 22, 33, 44) == Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40)

    def test_is_frozen(self):
        """What was used cannot be changed afterwards."""
        with pytest.raises(AttributeError):
            Usage().input = 5


class TestToolCall:
    """One request by the model to run one tool."""

    def test_shown_as_source(self):
        """It is shown like a Python call."""
        assert "search(query='stop', limit=3)" == str(ToolCall("search", {"query": "stop", "limit": 3}))
        assert "look()" == str(ToolCall("look"))

    def test_arguments_that_are_text(self):
        """Arguments that could not be parsed are shown as they came."""
        assert 'search({"query": )' == str(ToolCall("search", '{"query": '))

    @pytest.mark.parametrize("args", [[1, 2], 5])
    def test_arguments_of_another_kind(self, args):
        """Valid JSON that is no object can be shown, too: a trace must not end the run."""
        assert f"search({args!r})" == str(ToolCall("search", args))

    def test_no_arguments(self):
        """Each call has its own empty arguments."""
        assert {} == ToolCall("look").args
        assert ToolCall("look").args is not ToolCall("look").args


class TestReply:
    """What one model call gave back."""

    def test_calls_become_a_tuple(self):
        """Calls can be given as any iterable and cannot be changed afterwards."""
        calls = [ToolCall("a"), ToolCall("b")]
        assert tuple(calls) == Reply(calls=calls).calls == Reply(calls=iter(calls)).calls

    def test_one_call_is_no_list(self):
        """A call that is not in a list is a tuple all the same, and would be taken for three calls."""
        with pytest.raises(TypeError, match=r"must be a list of ToolCalls: write \[ToolCall\(name='a'"):
            Reply(calls=ToolCall("a"))

    def test_is_frozen(self):
        """A reply cannot be changed afterwards."""
        with pytest.raises(AttributeError):
            Reply("a").text = "b"

    def test_as_usual(self):
        """A reply with nothing in it has no text, no calls, no usage and no stop word."""
        assert ("", (), Usage(), None) == (Reply().text, Reply().calls, Reply().usage, Reply().stop)

    @pytest.mark.parametrize("text", [5, ["a block"], {"text": "x"}, b"x"])
    def test_a_text_is_a_text(self, text):
        """What is no text, such as an API's list of blocks, is refused where the reply is made."""
        with pytest.raises(TypeError, match="a reply's text must be a str, not "):
            Reply(text)
        assert "" == Reply(None).text

    @pytest.mark.parametrize("usage", [None, 100, (100, 20), {"input": 100}])
    def test_a_usage_is_a_usage(self, usage):
        """What is no `Usage`, such as an API's own, is refused where the reply is made, not when it is counted."""
        with pytest.raises(TypeError, match=r"must be a Usage, such as Usage\(100, 20\), not "):
            Reply("x", usage=usage)


class TestShorthand:
    """`answer`, `call` and `batch`."""

    def test_answer(self):
        """An answer is text without calls."""
        assert Reply("done", usage=Usage(3, 4)) == answer("done", usage=Usage(3, 4))

    def test_call(self):
        """A call is a reply that asks for one tool."""
        assert Reply(calls=(ToolCall("search", {"query": "x"}),), usage=Usage(1)) == call(
            "search", query="x", usage=Usage(1)
        )

    def test_call_with_an_argument_called_name(self):
        """A tool can have an argument called `name`."""
        assert {"name": "x"} == call("open", name="x").calls[0].args

    def test_batch(self):
        """A batch is one reply with the calls of all, in order."""
        assert (ToolCall("a"), ToolCall("b"), ToolCall("c")) == batch(call("a"), batch(call("b"), call("c"))).calls

    def test_usage_of_a_batch(self):
        """A batch costs what its parts cost together, or what it is told."""
        parts = call("a", usage=Usage(1, 2)), call("b", usage=Usage(10, 20))
        assert Usage(11, 22) == batch(*parts).usage
        assert Usage(5) == batch(*parts, usage=Usage(5)).usage
        assert Usage() == batch(*parts, usage=Usage()).usage

    def test_empty_batch(self):
        """A batch of nothing asks for nothing."""
        assert Reply() == batch()


def test_fatal_is_no_ordinary_error():
    """`Fatal` is a stop signal: `except Exception` does not catch it."""
    with pytest.raises(Fatal, match="disk full"):
        try:
            raise Fatal("disk full")
        except Exception:
            pytest.fail("swallowed")
