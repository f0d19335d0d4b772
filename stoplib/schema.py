"""A tool's JSON Schema, read from its signature and its docstring."""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Callable
from typing import Any

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def schema_of(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Name, description and parameters of a function, in the form that the APIs share.

    >>> def add(a: int, b: int = 1) -> int:
    ...     '''Add two numbers.
    ...
    ...     Args:
    ...         a: the first one
    ...     '''
    >>> schema_of(add, "add")["parameters"]["properties"]
    {'a': {'type': 'integer', 'description': 'the first one'}, 'b': {'type': 'integer', 'default': 1}}
    """
    description, notes = _docs(inspect.getdoc(function) or "")
    properties: dict[str, Any] = {}
    required: list[str] = []
    open_ended = False
    for p in _parameters(function):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            open_ended = open_ended or p.kind is p.VAR_KEYWORD
            continue
        entry = dict(_type_schema(p.annotation))
        if p.name in notes:
            entry["description"] = notes[p.name]
        if p.default is p.empty:
            required.append(p.name)
        elif _is_json(p.default):
            entry["default"] = p.default
        properties[p.name] = entry
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": open_ended,
    }
    return {"name": name, "description": description, "parameters": parameters}


def argument_error(function: Callable[..., Any], args: Any) -> str | None:
    """Why `function(**args)` cannot be called, or None if it can.

    >>> argument_error(lambda query: 0, {"qery": "stop"})
    "missing a required argument: 'query'"
    """
    try:
        inspect.signature(function).bind(**args)
    except TypeError as error:
        return str(error)
    except ValueError:  # a built-in without a signature
        return None
    return None


def how_to_ask(model: Callable[..., Any]) -> str:
    """How a model takes the tools: as its `second` argument, by `keyword`, or `not at all`.

    A second parameter with a default is the model's own, unless it is called `tools`.

    >>> how_to_ask(lambda messages, tools: ...), how_to_ask(lambda messages, page=1: ...)
    ('second', 'not at all')
    """
    try:
        parameters = list(inspect.signature(model).parameters.values())
    except (TypeError, ValueError):
        return "second"
    if any(p.kind is p.KEYWORD_ONLY and p.name == "tools" for p in parameters):
        return "keyword"
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return "second"
    second = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][1:2]
    return "second" if any(p.default is p.empty or p.name == "tools" for p in second) else "not at all"


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function, eval_str=True).parameters.values())
    except ValueError:  # a built-in without a signature
        return []
    except Exception:  # an annotation that names something out of reach, or is prose
        return list(inspect.signature(function).parameters.values())


def _type_schema(annotation: Any) -> dict[str, Any]:
    if typing.get_origin(annotation) is typing.Annotated:
        return _type_schema(annotation.__origin__)
    if isinstance(annotation, type) and annotation in _PLAIN:
        return {"type": _PLAIN[annotation]}
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (list, set, tuple) and args:
        return {"type": "array", "items": _type_schema(args[0])}
    if origin is dict:
        return {"type": "object"}
    if origin in (typing.Union, types.UnionType):
        return _union_schema(args)
    return {}


def _union_schema(args: tuple[Any, ...]) -> dict[str, Any]:
    options = [{"type": "null"} if a is type(None) else _type_schema(a) for a in args]
    return {"anyOf": options} if all(options) else {}


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _docs(doc: str) -> tuple[str, dict[str, str]]:
    """(text before the arguments, {argument: its note}) of a docstring with an `Args:` section."""
    text, _, section = doc.partition("Args:\n")
    notes = dict(re.findall(r"^ +(\w+)(?: *\([^)]*\))?: *(.+)$", section, flags=re.MULTILINE))
    return text.strip(), notes
