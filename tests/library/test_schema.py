"""A tool's schema, read from its signature and its docstring."""

# ruff: noqa: SIM300

import datetime
import functools
import json
from typing import Annotated, Any, Literal, Optional

import pytest

from stoplib import answer, run, tool
from stoplib.schema import argument_error, how_to_ask, schema_of


def properties(function):
    """The schema's properties alone."""
    return schema_of(function, "f")["parameters"]["properties"]


class TestSchemaOf:
    """Name, description and parameters."""

    def test_whole(self):
        """A typical tool gives name, description, types, notes, defaults and what is required."""

        def search(query: str, limit: int = 3):
            """Search the notes.

            Args:
                query: what to look for
                limit (int): how many results
            """

        assert {
            "name": "search",
            "description": "Search the notes.",
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "what to look for"},
                    "limit": {"type": "integer", "description": "how many results", "default": 3},
                },
                "required": ["query"],
                "additionalProperties": False,
            },
        } == schema_of(search, "search")

    def test_nothing_to_read(self):
        """A bare lambda has an empty description and parameters without types."""
        assert {"x": {}} == properties(lambda x: x)
        assert "" == schema_of(lambda: 0, "f")["description"]

    @pytest.mark.parametrize(
        ("annotation", "schema"),
        [
            (str, {"type": "string"}),
            (int, {"type": "integer"}),
            (float, {"type": "number"}),
            (bool, {"type": "boolean"}),
            (list, {"type": "array"}),
            (dict, {"type": "object"}),
            (dict[str, int], {"type": "object"}),
            (list[int], {"type": "array", "items": {"type": "integer"}}),
            (list[list[str]], {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
            (Literal["a", "b"], {"enum": ["a", "b"]}),
            (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045
            (int | datetime.date, {}),
            (datetime.date, {}),
            (Any, {}),
        ],
        ids=str,
    )
    def test_types(self, annotation, schema):
        """Types with a JSON counterpart are given; of others nothing is claimed."""

        def f(x):
            pass

        f.__annotations__["x"] = annotation
        assert {"x": schema} == properties(f)

    def test_annotated(self):
        """`Annotated` has the type inside it."""

        def f(x: Annotated[int, "how many"]):
            pass

        assert "integer" == properties(f)["x"].get("type")

    def test_annotated_with_what_cannot_be_hashed(self):
        """Notes inside `Annotated` may be of any kind."""

        def f(x: Annotated[int, {"ge": 0}]):
            pass

        assert ["x"] == list(properties(f))

    def test_annotations_as_text(self):
        """Annotations that are text are read, as with `from __future__ import annotations`."""

        def f(x: "int", y: "list[str]"):
            pass

        assert ["integer", "array"] == [entry["type"] for entry in properties(f).values()]

    def test_annotations_out_of_reach(self):
        """An annotation that names nothing known is no error."""

        def f(x: "Unknown"):  # noqa: F821
            pass

        assert {"x": {}} == properties(f)

    def test_annotations_that_are_prose(self):
        """An annotation that is a remark in words is no error."""

        def f(x):
            pass

        f.__annotations__["x"] = "the text to search for"
        assert ["x"] == list(properties(f))

    def test_open_ended(self):
        """`**kwargs` allows further properties, `*args` does not; neither is a property."""
        assert schema_of(lambda **kw: 0, "f")["parameters"]["additionalProperties"] is True
        assert schema_of(lambda *args: 0, "f")["parameters"]["additionalProperties"] is False
        assert {} == properties(lambda *args, **kw: 0)

    def test_builtins(self):
        """A built-in function has a schema, with or without a signature of its own."""
        assert ["obj"] == list(properties(len))
        assert {} == properties(max)

    def test_methods(self):
        """A bound method does not ask for `self`."""

        class Notes:
            def read(self, path: str):
                """Read a note."""

        schema = schema_of(Notes().read, "read")
        assert (["path"], "Read a note.") == (schema["parameters"]["required"], schema["description"])

    def test_schemas_are_json(self):
        """A schema can always be sent, also if a default is no JSON value."""

        def f(when=datetime.date(2024, 1, 1), unset=object()):  # noqa: B008
            pass

        assert json.dumps(schema_of(f, "f"))


class TestArgumentError:
    """`argument_error`: why a function cannot be called like that."""

    def test_fits(self):
        """Arguments that fit give None, defaults included."""
        assert argument_error(lambda query, limit=3: 0, {"query": "x"}) is None

    @pytest.mark.parametrize(
        ("args", "word"), [({}, "query"), ({"qery": "x"}, "query"), ({"query": "x", "more": 1}, "more"), ({1: 2}, "")]
    )
    def test_does_not_fit(self, args, word):
        """What is missing or unexpected is named."""
        assert word in argument_error(lambda query: 0, args)

    def test_without_signature(self):
        """Of a built-in without a signature nothing is claimed."""
        assert argument_error(max, {"anything": 1}) is None


class TestTakesTools:
    """Whether a model takes `(messages, tools)` or the messages alone."""

    @pytest.mark.parametrize(
        ("model", "takes"),
        [
            (lambda messages: 0, "not at all"),
            (lambda messages, tools: 0, "second"),
            (lambda messages, tools=None: 0, "second"),
            (lambda *args: 0, "second"),
            (lambda messages, **options: 0, "not at all"),
            (max, "second"),  # a built-in without a signature
            (functools.partial(lambda key, messages: 0, "key"), "not at all"),
            (functools.partial(lambda key, messages, tools: 0, "key"), "second"),
        ],
    )
    def test_by_the_signature(self, model, takes):
        """The signature decides, also of a partial function."""
        assert takes == how_to_ask(model)

    def test_objects(self):
        """An object that can be called is read like a function."""

        class Model:
            def __call__(self, messages):
                return answer("x")

        assert "not at all" == how_to_ask(Model())
        assert "x" == run(Model(), "go").answer

    @pytest.mark.parametrize("model", [lambda messages, temperature=0.2: 0, lambda messages, replies=(): 0])
    def test_another_second_parameter_keeps_its_default(self, model):
        """A second parameter with a default and another name is not given the tools."""
        assert "not at all" == how_to_ask(model)

    def test_tools_by_keyword_only(self):
        """A model that takes `tools` by keyword only gets them."""

        def model(messages, *, tools):
            return answer(", ".join(t["name"] for t in tools))

        assert "look" == run(model, "go", tools={"look": lambda: 0}).answer

    def test_what_the_model_gets(self):
        """A model that takes tools gets their schemas, in the order given."""
        seen = []

        def model(messages, tools):
            seen.extend(tools)
            return answer("x")

        run(model, "go", tools={"b": lambda: 0, "a": lambda: 0})
        assert ["b", "a"] == [schema["name"] for schema in seen]


def test_a_tool_has_the_schema_of_its_function():
    """`Tool.schema` is the schema of its function under the tool's name."""

    @tool
    def read(path: str) -> str:
        """Read a file."""
        return path

    assert schema_of(read.function, "read") == read.schema
