"""What an API wants back comes back as it came, and whoever sends it keeps nothing."""

import copy
import gc
import pickle
import threading
import weakref

import pytest

from stoplib import Reply, ToolCall, Usage, answer, batch, call, load, max_steps, replay, run, script
from stoplib.providers.parts import Turn

from .dialects import DIALECTS, event
from .helpers import Api, contents, only
from .server import Server, Stream, Whole

LOOK = {"look": lambda: "nothing"}
THOUGHTS = [
    {"type": "thinking", "thinking": "Look it up.", "signature": "c2lnbmVk"},
    {"type": "thinking", "thinking": "", "signature": "ZW1wdHk="},
    {"type": "redacted_thinking", "data": "c2VjcmV0"},
]
SEARCHED = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "stop"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
]
REASONING = [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}]


def said(api, request=1):
    """What the model said, as a request sends it back."""
    body = api.server.bodies[request]
    if api.name == "responses":
        return [item for item in body["input"] if item.get("role") != "user" and "output" not in item]
    return [message for message in body["messages"] if message["role"] == "assistant"]


class TestAsItCame:
    """A turn goes back with what the transcript does not hold."""

    @only(names=["messages"])
    def test_thinking(self, api):
        """Thinking goes back in its place, signed as it was, also where its text is empty or hidden."""
        asked = Reply("Let me look.", [ToolCall("look", id="toolu_1")])
        api.says(asked, extra=THOUGHTS)
        api.says(answer("x"))
        outcome = api.run(tools=LOOK)
        sent = DIALECTS["messages"].whole(asked, extra=THOUGHTS)["content"]
        assert said(api) == [{"role": "assistant", "content": sent}]
        assert (outcome.reason, outcome.trace[0].reply.text) == ("answered", "Let me look.")

    @only(names=["messages"])
    def test_citations(self, api):
        """A text that was streamed with its sources goes back with them."""
        source = {"type": "char_location", "cited_text": "x", "document_index": 0, "start_char_index": 0}
        cited = {"type": "text", "text": "So it is.", "citations": [source | {"end_char_index": 1}] * 2}
        api.says(call("look"), extra=[cited])
        api.says(answer("x"))
        assert api.run(tools=LOOK).reason == "answered"
        assert said(api)[0]["content"][0] == cited

    @only(names=["responses"])
    def test_reasoning(self, api):
        """Reasoning items go back before the calls that they led to, with every field."""
        asked = batch(call("look"), call("look"))
        api.says(asked, extra=REASONING)
        api.says(answer("x"))
        assert api.run(tools=LOOK).reason == "answered"
        assert said(api) == DIALECTS["responses"].whole(asked, extra=REASONING)["output"]

    @only(names=["chat"], ways=["whole"])
    def test_what_other_servers_add(self, api):
        """What servers add to a message and to a call goes back; fields that are filled in for nothing do not."""
        whole = api.dialect.whole(call("look"))
        message = whole["choices"][0]["message"]
        message["reasoning_content"] = "Look it up."
        message["tool_calls"][0]["extra_content"] = {"signature": "c2lnbmVk"}
        api.says(Whole(whole), answer("x"))
        assert api.run(tools=LOOK).reason == "answered"
        kept = {name: value for name, value in message.items() if name not in ("refusal", "annotations")}
        assert said(api) == [kept]

    @only(names=["chat"], ways=["stream"])
    @pytest.mark.parametrize("whole", [False, True])
    def test_what_other_servers_stream(self, api, whole):
        """So does what they stream. Some repeat name and id with each piece; some name no role, and send calls whole
        and without their place."""

        def part(id, written, **place):
            more = {"extra_content": {"signature": id}}
            return {"id": id, "type": "function", "function": {"name": "look", "arguments": written}, **more, **place}

        pieces = [("a", "{", 0), ("b", "{", 1), ("b", "}", 1), ("a", "}", 0)]
        calls = [part(id, "{}") for id in "ab"] if whole else [part(i, w, index=place) for i, w, place in pieces]
        deltas = [{"reasoning_content": "Look"}, {"reasoning_content": " it up.", "content": None}]
        deltas += [{"tool_calls": [one]} for one in calls]
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        chunks.append({"choices": [], "usage": api.dialect.tokens(Usage(1, 1))})
        api.says(Stream([*map(event, chunks), event("[DONE]")]), answer("x"))
        assert api.run(tools=LOOK).reason == "answered"
        asked = [part("a", "{}"), part("b", "{}")]
        assert said(api) == [
            {"role": "assistant", "content": None, "reasoning_content": "Look it up.", "tool_calls": asked}
        ]

    @only(names=["messages"])
    def test_text_that_the_api_sends_and_does_not_take(self, api):
        """Blank text beside a tool is left out: the API sends it, and refuses it when it comes back."""
        api.says(call("look"), extra=[{"type": "text", "text": "\n\n"}])
        api.says(answer("x"))
        assert api.run(tools=LOOK).reason == "answered"
        assert [block["type"] for block in said(api)[0]["content"]] == ["tool_use"]

    @only(names=["messages"], ways=["stream"])
    def test_arguments_that_are_no_object(self, api):
        """The API takes objects alone, so what the model wrote instead goes back inside one."""
        api.says(Reply(calls=[ToolCall("look", '{"wh')]), answer("x"))
        assert api.run(tools=LOOK).reason == "answered"
        assert said(api)[0]["content"][0]["input"] == {"INVALID_JSON": '{"wh'}


@only(names=["messages"])
class TestAPausedTurn:
    """The API pauses a long turn of its own tools, and goes on when it is sent back."""

    @pytest.mark.parametrize(
        ("text", "shown"), [("Searching.", "Searching."), ("", "(server_tool_use, web_search_tool_result)")]
    )
    def test_it_is_sent_back(self, api, text, shown):
        """The paused turn goes back as it came, the run goes on, and the pause was a step."""
        paused = Reply(text, stop="pause_turn")
        api.says(paused, extra=SEARCHED)
        api.says(answer("Found."))
        outcome = api.run(adapter={"tools": [{"type": "web_search_20250305", "name": "web_search"}]})
        assert (outcome.reason, outcome.answer, outcome.steps) == ("answered", "Found.", 2)
        assert outcome.trace[0].reply.text == shown
        assert said(api)[0]["content"] == DIALECTS["messages"].whole(paused, extra=SEARCHED)["content"]

    def test_two_pauses_with_the_same_text(self, api):
        """Each is the turn that it was."""
        for number in (1, 2):
            found = [{**SEARCHED[0], "id": f"srvtoolu_{number}"}, {**SEARCHED[1], "tool_use_id": f"srvtoolu_{number}"}]
            api.says(Reply("Searching.", stop="pause_turn"), extra=found)
        api.says(answer("Found."))
        assert api.run().steps == 3
        assert [message["content"][0]["id"] for message in said(api, 2)] == ["srvtoolu_1", "srvtoolu_2"]


class TestTheClosingSummary:
    """The last word has no tools, and the transcript still speaks of them."""

    def test_the_tools_are_named_and_may_not_be_used(self, api):
        """The tools stay as they were, since what an API has signed or cached starts with them; none may be used."""
        extra = {"messages": {"extra": THOUGHTS}, "responses": {"extra": REASONING}}.get(api.name, {})
        api.says(call("look"), **extra)
        api.says(answer("Nothing was found."))
        outcome = api.run(tools=LOOK, guards=[max_steps(2)], summarize=True)
        assert (outcome.reason, outcome.summary, outcome.complete) == ("max_steps", "Nothing was found.", False)
        first, last = api.server.bodies
        assert last["tools"] == first["tools"] != []
        assert last["tool_choice"] == ({"type": "none"} if api.name == "messages" else "none")
        assert "tool_choice" not in first

    def test_a_run_without_tools(self, api):
        """Where there were none, none are named."""
        api.says(answer("x"))
        api.run()
        assert {"tools", "tool_choice"} & api.server.bodies[0].keys() == set()


@only(kinds=["sync"], ways=["whole"])
class TestOtherTranscripts:
    """A turn that did not come from this API is written from the transcript."""

    def test_another_api(self, api):
        """A model of your own may turn to another API in mid-run: each writes the other's turns anew."""
        for other in set(DIALECTS) - {api.name}:
            api.server.answers.clear()
            api.server.requests.clear()
            with Server(DIALECTS[other].objection) as server:
                second = Api(other, False, False, server)
                second.says(answer("x"))
                api.says(Reply("Let me look.", [ToolCall("look"), ToolCall("look")]))
                with (
                    api.dialect.client(api.server.url, False) as mine,
                    second.dialect.client(second.server.url, False) as theirs,
                ):
                    models = api.model(mine), second.model(theirs)

                    def model(messages, tools, models=models):
                        return models[len(messages) > 1](messages, tools)

                    outcome = run(model, "go", tools=LOOK)
                assert (outcome.reason, outcome.answer) == ("answered", "x")
                assert "Let me look." in str(second.server.bodies[0])

    def test_a_scripted_model(self, api):
        """So can one with a transcript that no API has seen, broken arguments and an empty text included."""
        api.says(answer("x"))
        scripted = script(Reply("", [ToolCall("look"), ToolCall("look", '{"wh')]))
        with api.dialect.client(api.server.url, False) as client:
            real = api.model(client)

            def model(messages, tools):
                return scripted(messages) if len(messages) == 1 else real(messages, tools)

            outcome = run(model, "go", tools=LOOK)
        assert (outcome.reason, contents(outcome)[0]) == ("answered", "nothing")
        assert '{"wh' in str(said(api, 0)).replace("\\", "")

    def test_a_recording(self, api, tmp_path):
        """A run is recorded and replayed like any other."""
        api.says(call("look"), answer("x"))
        outcome = api.run(tools=LOOK)
        outcome.save(tmp_path / "run.jsonl")
        recorded = load(tmp_path / "run.jsonl")
        assert recorded.messages == outcome.messages
        assert (replay(recorded, [max_steps(1)]).reason, replay(recorded, []).reason) == ("max_steps", "answered")


class TestNothingIsKept:
    """A model has no memory: the turns live in the transcript."""

    @only(kinds=["sync"])
    def test_a_turn_dies_with_its_transcript(self, api):
        """When the outcome is gone, so is what the API said, though the model is still there."""
        api.says(call("look"), answer("x"))
        with api.dialect.client(api.server.url, False) as client:
            model = api.model(client)
            outcome = run(model, "go", tools=LOOK)
            turn = weakref.ref(outcome.trace[0].calls[0].id)
            assert turn().raw
            del outcome
            gc.collect()
            assert turn() is None
            assert model.name == "a-model"

    @only(kinds=["sync"])
    def test_two_runs_at_once(self, api):
        """Two runs in threads with one model: each sends back its own turns."""
        both = threading.Barrier(2, timeout=30)
        api.server.check = None
        api.says(call("look"), call("look"), answer("x"), answer("x"))
        tools = {"look": lambda: both.wait() and "" or "nothing"}
        with api.dialect.client(api.server.url, False) as client:
            model = api.model(client)
            outcomes = [None, None]

            def one(place):
                outcomes[place] = run(model, f"task {place}", tools=tools)

            threads = [threading.Thread(target=one, args=(place,)) for place in (0, 1)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert [outcome.reason for outcome in outcomes] == ["answered"] * 2
        for outcome in outcomes:
            [sent] = [text for text in map(str, api.server.bodies[2:]) if outcome.task in text]
            assert outcome.trace[0].calls[0].id in sent

    def test_a_turn_is_a_text(self):
        """It is equal to its text, and can be copied and pickled."""
        turn = Turn("toolu_1", "an API", [{"type": "text"}], [{"name": "look"}])
        assert turn == "toolu_1" and hash(turn) == hash("toolu_1")
        for other in (copy.deepcopy(turn), pickle.loads(pickle.dumps(turn))):
            assert (other, other.api, other.raw, other.tools) == (turn, turn.api, turn.raw, turn.tools)
