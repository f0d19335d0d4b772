"""What an API says becomes a Reply, and a run with it ends as it does with a scripted model."""

import pytest

from stoplib import Reply, ToolCall, Usage, answer, batch, call, cost_budget, max_steps, token_budget, tool

from .dialects import DIALECTS
from .helpers import HALF, contents, only
from .server import Whole


@tool
def search(query: str, limit: int = 3) -> str:
    """Search the notes.

    Args:
        query: what to look for
    """
    return f"nothing about {query}"


class TestAnswers:
    """Text, tools, and what they cost."""

    def test_an_answer(self, api):
        """A reply that ends the turn is the answer, and its tokens are counted."""
        api.says(answer("Paris", usage=Usage(12, 3)))
        outcome = api.run("What is the capital of France?")
        assert ("answered", "Paris", 1, Usage(12, 3)) == (
            outcome.reason,
            outcome.answer,
            outcome.steps,
            outcome.usage,
        )

    def test_a_tool(self, api):
        """A tool runs with the arguments that the model wrote, and the model reads its result."""
        api.says(call("search", query="stop", usage=Usage(20, 5)), answer("Nothing.", usage=Usage(40, 2)))
        outcome = api.run("Find stop.", tools=[search])
        assert (
            outcome.reason,
            outcome.answer,
            contents(outcome),
        ) == ("answered", "Nothing.", ["nothing about stop"])
        assert (outcome.steps, outcome.tool_calls, outcome.usage.total) == (2, 1, 67)

    def test_text_beside_a_tool(self, api):
        """What the model says while it asks for a tool is kept."""
        asked = ToolCall("search", {"query": "stop"})
        api.says(Reply("Let me look.", [asked]), answer("Nothing."))
        outcome = api.run(tools=[search])
        assert [step.reply.text for step in outcome.trace] == ["Let me look.", "Nothing."]

    @only(names=["chat"], ways=["whole"])
    def test_text_in_parts(self, api):
        """Some servers send the text as a list of parts."""
        whole = api.dialect.whole(answer("x"))
        whole["choices"][0]["message"]["content"] = [{"type": "text", "text": "Par"}, {"type": "text", "text": "is"}]
        api.says(Whole(whole))
        assert api.run().answer == "Paris"

    def test_several_tools(self, api):
        """All tools of one reply run, and are answered in order."""
        api.says(batch(*[call("search", query=word) for word in ("one", "two", "three")]), answer("x"))
        outcome = api.run(tools=[search])
        assert [f"nothing about {word}" for word in ("one", "two", "three")] == contents(outcome)
        assert [c.id for c in outcome.trace[0].calls] == ["id_1_1", "id_1_2", "id_1_3"]

    def test_a_tool_without_arguments(self, api):
        """A call without arguments is one with none, however the API writes that."""
        api.says(call("look"), answer("x"))
        assert contents(api.run(tools={"look": lambda: "nothing"})) == ["nothing"]

    def test_what_the_model_is_told_of_a_tool(self, api):
        """Name, description and parameters arrive, and a parameter with a default may be left out."""
        api.says(answer("x"))
        api.run(tools=[search])
        [offered] = api.server.bodies[0]["tools"]
        told = offered.get("function", offered)
        schema = told.get("parameters") or told["input_schema"]
        assert ("search", search.schema["description"]) == (told["name"], told["description"])
        assert search.schema["parameters"] == schema
        assert schema["required"] == ["query"]


# A whole message of Anthropic's holds an object; only a stream can bring text that is none.
CAN_BE_BROKEN = only(but=("messages", "whole"), of=HALF)


class TestErrorsOfTools:
    """What went wrong with a tool is something that the model reads."""

    def sent_back(self, api):
        """What the second request holds, as text."""
        return str(api.server.bodies[1])

    def test_a_tool_that_raises(self, api):
        """Its exception is sent to the model, marked as an error where the API has a mark."""

        def broken():
            raise OSError("no such file")

        api.says(call("broken"), answer("x"))
        assert api.run(tools=[broken]).reason == "answered"
        assert "OSError: no such file" in self.sent_back(api)
        assert (api.name == "messages") == ("'is_error': True" in self.sent_back(api))

    @CAN_BE_BROKEN
    @pytest.mark.parametrize("written", ['{"query": "st', "[1, 2]", "stop", '{"query": NaN}', "[" * 10_000])
    def test_arguments_that_are_no_json_object(self, api, written):
        """The model reads what was wrong with its arguments, the tool does not run, and the run goes on."""
        ran = []
        api.says(Reply(calls=[ToolCall("search", written)]), answer("Sorry."))
        outcome = api.run(tools={"search": lambda **args: ran.append(args)})
        assert (outcome.reason, ran) == ("answered", [])
        assert written == outcome.trace[0].calls[0].args
        assert contents(outcome)[0].startswith("the arguments are not a JSON object")

    @CAN_BE_BROKEN
    def test_different_broken_arguments_are_different_calls(self, api):
        """Broken arguments are kept as they came, so two of them are not the same call."""
        api.says(*[Reply(calls=[ToolCall("search", written)]) for written in ('{"a', '{"b')], answer("x"))
        outcome = api.run(tools=[search])
        assert [step.calls[0].args for step in outcome.trace if step.calls] == ['{"a', '{"b']

    def test_a_result_that_no_api_takes(self, api):
        """Half a character in a result, as a file name can hold one, does not end the run."""
        api.says(call("look"), answer("x"))
        assert api.run(tools={"look": lambda: "caf\udce9"}).reason == "answered"
        assert "caf?" in self.sent_back(api)

    def test_an_empty_result(self, api):
        """A tool that returns an empty text is answered all the same."""
        api.says(call("look"), answer("x"))
        assert api.run(tools={"look": lambda: ""}).reason == "answered"


class TestUsage:
    """Tokens, those from and to the cache apart."""

    def test_cached_tokens(self, api):
        """Whether the API counts them inside its input or beside it, the library's figures are the same."""
        api.says(answer("x", usage=Usage(200, 10, cache_read=2000, cache_write=400)))
        outcome = api.run()
        assert (Usage(200, 10, 2000, 400), 2610) == (outcome.usage, outcome.usage.total)

    def test_they_are_priced_apart(self, api):
        """A price is looked up by the model's name, and each kind of token costs what it costs."""
        api.says(answer("x", usage=Usage(200, 10, cache_read=2000, cache_write=400)))
        price = {"input": 10, "output": 100, "cache_read": 1, "cache_write": 20}
        outcome = api.run(prices={"a-model": price}, guards=[cost_budget(1), max_steps(9)])
        assert outcome.cost == (2000 + 1000 + 2000 + 8000) / 1_000_000

    def test_no_price_is_refused_before_the_first_call(self, api):
        """Unknown is not zero: a cost budget for a model without a price makes no call."""
        with pytest.raises(ValueError, match="a-model"):
            api.run(prices={"another": {"input": 1, "output": 1}}, guards=[cost_budget(1), max_steps(9)])
        assert api.server.requests == []

    @pytest.mark.parametrize(("limit", "reason"), [(1100, "token_budget"), (2000, "answered")])
    def test_a_hard_budget_knows_the_output_limit(self, api, limit, reason):
        """The next call may answer with `max_output_tokens`: a hard budget does not make one that could pass."""
        api.says(call("look", usage=Usage(100, 10)), answer("x", usage=Usage(100, 10)))
        guards = [token_budget(limit, hard=True), max_steps(9)]
        outcome = api.run(adapter={"max_output_tokens": 1000}, tools={"look": lambda: "x"}, guards=guards)
        assert outcome.reason == reason

    @only(of=HALF)
    @pytest.mark.parametrize("usage", [Usage(-1, 2), Usage(3, -1), Usage(10, 2, cache_read=-5)])
    def test_usage_that_cannot_be_true(self, api, usage):
        """Negative tokens end the run: the budget is not gone round."""
        api.says(answer("x", usage=usage))
        outcome = api.run()
        assert (outcome.reason, "tokens are whole numbers" in outcome.detail) == ("fatal", True)


WORDS = [
    pytest.param(each, word, reason, id="-".join((*each, word)))
    for each in HALF
    for word, reason in DIALECTS[each[0]].words.items()
]


class TestWords:
    """Every word for why a reply stopped."""

    @pytest.mark.parametrize(("api", "word", "reason"), WORDS, indirect=["api"])
    def test_documented_words(self, api, word, reason):
        """Each documented word leads to its reason, and only the end of a turn is a success."""
        api.says(Reply("Some text.", usage=Usage(5, 5), stop=word))
        outcome = api.run()
        assert (reason, reason == "answered", "Some text.", 10) == (
            outcome.reason,
            outcome.complete,
            outcome.text,
            outcome.usage.total,
        )

    @only(of=HALF)
    @pytest.mark.parametrize("word", ["something_new", "compaction"])
    def test_an_unknown_word(self, api, word):
        """A word that nobody knows is never a success."""
        api.says(Reply("done", stop=word))
        outcome = api.run()
        assert (outcome.reason, outcome.complete) == ("unfinished", False)
        assert word in outcome.detail

    @only(ways=["whole"])
    def test_no_word_at_all(self, api):
        """Nor is a reply that says nothing about why it stopped, though it has a text."""
        whole = api.dialect.whole(answer("done"))
        (whole["choices"][0] if api.name == "chat" else whole).update(stop_reason=None, finish_reason=None, status=None)
        api.says(Whole(whole))
        outcome = api.run()
        assert (outcome.reason, outcome.complete) == ("unfinished", False)

    @only(names=["responses"])
    def test_something_else_is_waited_for(self, api):
        """An item that waits for something that no function does is no answer, whatever text stands beside it."""
        waits = {"type": "computer_call", "id": "c1", "call_id": "c1", "status": "completed", "action": None}
        api.says(answer("Clicking."), extra=[waits | {"pending_safety_checks": []}])
        outcome = api.run()
        assert (outcome.reason, "computer_call" in outcome.detail) == ("unfinished", True)

    def test_an_unknown_word_beside_tools(self, api):
        """Nor do its tools run."""
        ran = []
        api.says(Reply("done", [ToolCall("look")], stop="something_new"))
        outcome = api.run(tools={"look": lambda: ran.append("ran")})
        assert (outcome.reason, ran) == ("unfinished", [])

    def test_the_tools_of_a_reply_that_was_cut_off(self, api):
        """They never run, and half-written arguments do no harm."""
        ran, word = [], next(w for w, reason in api.dialect.words.items() if reason == "truncated")
        args = {"query": "st"} if api.name == "messages" and not api.streams else '{"query": "st'
        api.says(Reply("Let me", [ToolCall("search", args)], stop=word))
        outcome = api.run(tools={"search": lambda query: ran.append(query)})
        assert (outcome.reason, ran) == ("truncated", [])

    def test_nothing_said(self, api):
        """A turn that ends without a word is an empty reply."""
        api.says(answer(""))
        assert api.run().reason == "empty_reply"

    @only(names=("chat", "responses"))
    def test_a_refusal_in_the_text(self, api):
        """OpenAI's models refuse in a field of their own, with a word that says that all is well."""
        api.says(api.wire(answer(""), refusal="I cannot help with that."))
        outcome = api.run()
        assert (outcome.reason, outcome.text, outcome.answer) == ("refused", "I cannot help with that.", None)
