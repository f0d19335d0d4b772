"""What is asked of an API, and what is refused before anything is asked."""

import asyncio

import pytest

from stoplib import answer, arun, run, tool
from stoplib.providers import AsyncClientModel, ClientModel

from .dialects import DIALECTS, MODEL
from .helpers import Api, only
from .server import Server


@tool
def look(where: str = "here") -> str:
    """Look around."""
    return "nothing"


class TestOptions:
    """Everything is said in one place."""

    def test_the_models_name(self, api):
        """The name that was given once is what the API is asked for, and what the run and its prices know."""
        api.says(answer("x"))
        outcome = api.run(adapter={"name": "another-model"})
        assert (api.server.bodies[0]["model"], outcome.model) == ("another-model", "another-model")

    def test_the_output_limit(self, api):
        """One argument, whatever the API calls it."""
        api.says(answer("x"))
        api.run(adapter={"max_output_tokens": 77})
        called = {"messages": "max_tokens", "chat": "max_completion_tokens", "responses": "max_output_tokens"}
        assert api.server.bodies[0][called[api.name]] == 77

    def test_what_comes_before_the_task(self, api):
        """One argument, wherever the API wants it; without it nothing is sent."""
        api.says(answer("x"), answer("x"))
        api.server.check = None
        api.run()
        api.run("What now?", adapter={"system": "Use the tools."})
        without, with_it = map(str, api.server.bodies)
        assert ("Use the tools." in without, "Use the tools." in with_it) == (False, True)
        first = {
            "messages": lambda body: body["system"],
            "chat": lambda body: body["messages"][0],
            "responses": lambda body: body["instructions"],
        }[api.name](api.server.bodies[1])
        told = {"role": "system", "content": "Use the tools."} if api.name == "chat" else "Use the tools."
        assert first == told

    def test_all_else_is_the_clients(self, api):
        """Any other option of the client's method is handed on as it is."""
        api.says(answer("x"))
        api.run(adapter={"metadata": {"user_id": "u1"}, "extra_headers": {"x-team": "ours"}})
        [(_, headers, body)] = api.server.requests
        assert (body["metadata"], headers["x-team"]) == ({"user_id": "u1"}, "ours")

    def test_the_apis_own_tools(self, api):
        """They stand beside the functions, in every request."""
        own = (
            {"type": "web_search_20250305", "name": "web_search"} if api.name == "messages" else {"type": "web_search"}
        )
        api.says(answer("x"), answer("x"))
        api.server.check = None
        api.run(adapter={"tools": [own]})
        api.run(adapter={"tools": [own]}, tools=[look])
        alone, beside = (body["tools"] for body in api.server.bodies)
        assert (alone, beside[0], len(beside)) == ([own], own, 2)

    @only(ways=["whole"])
    def test_how_it_is_asked_if_nothing_is_said(self, api):
        """Where the tokens of a broken stream are told, or the client wants it, a stream is the default."""
        api.says(answer("x"))
        with Server() as server:
            other = Api(api.name, api.is_async, api.dialect.streams_by_default, server)
            other.says(answer("x"))
            other.model = lambda client: other.dialect.adapter(client, MODEL, **other.dialect.required)
            assert other.run().reason == "answered"
            assert server.bodies[0].get("stream", False) == api.dialect.streams_by_default


WRONG = [
    ({"name": ""}, "name must be the model's name, not ''"),
    ({"name": None}, "name must be the model's name, not None"),
    ({"max_output_tokens": 0}, "max_output_tokens must be a whole number of at least 1, not 0"),
    ({"max_output_tokens": 1.5}, "max_output_tokens must be a whole number of at least 1, not 1.5"),
    ({"retries": -1}, "retries must be a whole number of at least 0, not -1"),
    ({"retries": True}, "retries must be a whole number of at least 0, not True"),
    ({"stream": "yes"}, "stream must be True or False, not 'yes'"),
    ({"model": "x"}, "leave out model, which the adapter sets"),
]


class TestRefused:
    """What cannot work is refused when the model is made."""

    @pytest.mark.parametrize(("wrong", "told"), WRONG)
    def test_arguments(self, dialect, wrong, told):
        """With the value and the name in the message."""
        options = {"name": MODEL, **dialect.required, **wrong}
        with pytest.raises((TypeError, ValueError), match=told):
            dialect.adapter(dialect.client("http://127.0.0.1:9", False), options.pop("name"), **options)

    @pytest.mark.parametrize(
        ("name", "keyword"),
        [("messages", "max_tokens"), ("chat", "max_completion_tokens"), ("chat", "n"), ("responses", "instructions")],
    )
    def test_keywords_that_have_another_name_here(self, name, keyword):
        """A keyword of the client's method that the adapter gives is refused, and not silently overwritten."""
        dialect = DIALECTS[name]
        client = dialect.client("http://127.0.0.1:9", False)
        with pytest.raises(TypeError, match=f"leave out {keyword}"):
            dialect.adapter(client, MODEL, **dialect.required, **{keyword: 3})

    def test_anthropic_asks_for_a_limit(self):
        """Its API wants the most tokens of a reply to be said, so None is refused."""
        dialect = DIALECTS["messages"]
        with pytest.raises(TypeError, match="max_output_tokens must be a whole number of at least 1, not None"):
            dialect.adapter(dialect.client("http://127.0.0.1:9", False), MODEL, max_output_tokens=None)

    def test_the_client_of_another_api(self, dialect):
        """An OpenAI client is none for Anthropic's API, nor the other way round; nor is something else."""
        other = DIALECTS["chat" if dialect.path == "/v1/messages" else "messages"]
        for wrong in (other.client("http://127.0.0.1:9", False), "a client", None):
            with pytest.raises(TypeError, match="client must be one of that API"):
                dialect.adapter(wrong, MODEL, **dialect.required)

    def test_an_async_client_in_run(self, dialect):
        """`run` refuses it before the first call and names `arun`."""
        model = dialect.adapter(dialect.client("http://127.0.0.1:9", True), MODEL, **dialect.required)
        assert type(model) is AsyncClientModel
        with pytest.raises(TypeError, match="the model is async; use arun"):
            run(model, "go")

    def test_a_sync_client_in_arun(self, dialect):
        """`arun` takes it, as it takes any plain function."""
        with Server(dialect.objection) as server, dialect.client(server.url, False) as client:
            api = Api(next(name for name, one in DIALECTS.items() if one is dialect), False, False, server)
            api.says(answer("x"))
            model = api.model(client)
            assert type(model) is ClientModel
            assert asyncio.run(arun(model, "go")).reason == "answered"

    def test_the_client_stays_as_it_is(self, dialect):
        """The retries of the client that was handed over are not changed."""
        client = dialect.client("http://127.0.0.1:9", False, max_retries=7)
        dialect.adapter(client, MODEL, retries=1, **dialect.required)
        assert client.max_retries == 7
