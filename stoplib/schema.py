"""A tool's JSON Schema, read from its signature and its docstring."""

from __future__ import annotations

import inspect
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
        else:
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


def takes_tools(model: Callable[..., Any]) -> bool:
    """Whether a model takes `(messages, tools)`, and not the messages alone."""
    try:
        signature = inspect.signature(model)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind([], [])
    except TypeError:
        return False
    return True


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function, eval_str=True).parameters.values())
    except NameError:  # an annotation that names something out of reach
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        return []


def _type_schema(annotation: Any) -> dict[str, Any]:
    if annotation in _PLAIN:
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


def _docs(doc: str) -> tuple[str, dict[str, str]]:
    """(text before the arguments, {argument: its note}) of a docstring with an `Args:` section."""
    text, _, section = doc.partition("Args:\n")
    notes = dict(re.findall(r"^ +(\w+)(?: *\([^)]*\))?: *(.+)$", section, flags=re.MULTILINE))
    return text.strip(), notes
