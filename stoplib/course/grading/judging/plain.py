"""What may come out of the learner's process: plain data, a few values of the library, and handles.

A handle is a number that stands for an object of one of the two processes. `pack` runs in the learner's
process, `unpack` in the judge's; between the two there is JSON. What is neither plain nor known arrives as a
`Thing`: it has the name of its type and its text, and is equal to nothing but itself.

    >>> from functools import partial
    >>> tables = Tables()
    >>> pack({"a": (1, None)}, tables)
    {'dict': [['a', {'tuple': [1, None]}]]}
    >>> unpack(pack({"a": (1, None)}, tables), Proxies())
    {'a': (1, None)}
    >>> unpack(pack(slice(1), tables), Proxies()) == slice(1)
    False
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stoplib import guards
from stoplib.course.checks import OURS, shown
from stoplib.guards.core import AllOf, AnyOf, Function, Guard, has_parts
from stoplib.messages import Reply, ToolCall, Usage
from stoplib.tools import Tool, Traits
from stoplib.values import Value

OURS.add(__file__)

SCALARS = (type(None), bool, int, float, str)
CONTAINERS: dict[str, type] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
LIKE: dict[str, type] = {"str": str, "int": int, "float": float, "list": list, "tuple": tuple, "dict": dict}
GUARDS = [kind for name in guards.__all__ if isinstance(kind := getattr(guards, name), type) and kind.__module__]
LIBRARY: dict[str, type] = {
    kind.__name__: kind
    for kind in (Reply, ToolCall, Usage, Tool, Traits, AllOf, AnyOf, Function, *GUARDS)
    if kind not in (Guard, guards.Limit, guards.GuardSet)
}
ANNOTATIONS: dict[str, type] = {kind.__name__: kind for kind in (str, int, float, bool, list, tuple, dict, set)}
HOOKS = ("__call__", "fires", "says", "begin", "objection", "settle", "end")
DEEPEST = 60
LONGEST_NAME = 80

Packed = Any


class Tables:
    """The objects of the learner's process that the judge knows by a handle, and the judge's by theirs."""

    def __init__(self) -> None:
        self.mine: list[Any] = []
        self._handles: dict[int, int] = {}
        self.yours: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no id is used twice

    def handle(self, value: Any) -> int:
        """The handle of an object of this process."""
        if id(value) not in self._handles:
            self._handles[id(value)] = len(self.mine)
            self.mine.append(value)
        return self._handles[id(value)]

    def came(self, value: Any, handle: int) -> Any:
        """Note that `value` stands for an object of the judge, and return it."""
        self.yours[id(value)] = handle
        self._kept.append(value)
        return value


def pack(value: Any, tables: Tables, depth: int = 0) -> Packed:
    """`value` as what JSON can hold."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if id(value) in tables.yours:
        return {"yours": tables.yours[id(value)]}
    if depth > DEEPEST:
        return _thing(value, tables)
    for name, container in CONTAINERS.items():
        if kind is container:
            return {name: [pack(part, tables, depth + 1) for part in value]}
    if kind is dict:
        return {"dict": [[pack(k, tables, depth + 1), pack(v, tables, depth + 1)] for k, v in value.items()]}
    if LIBRARY.get(kind.__name__) is kind:
        return {
            "library": kind.__name__,
            "fields": [[name, pack(part, tables, depth + 1)] for name, part in fields_of(value)],
        }
    if isinstance(value, type) and LIBRARY.get(value.__name__) is value:
        return {"kind": value.__name__}
    if isinstance(value, Guard):
        return _guard(value, tables)
    for name, base in LIKE.items():
        if isinstance(value, base):
            return {"like": name, "type": kind.__name__, "plain": pack(base(value), tables, depth + 1)}
    if callable(getattr(value, "is_set", None)) and not isinstance(value, type):
        return {"event": tables.handle(value), "is_set": pack(value.is_set, tables)}
    return _function(value, tables) if callable(value) else _thing(value, tables)


def fields_of(value: Any) -> Iterable[tuple[str, Any]]:
    """The fields of a value of the library, with their names."""
    if isinstance(value, Value):
        return value._fields()
    return value._asdict().items()  # type: ignore[no-any-return]


def _guard(value: Guard, tables: Tables) -> Packed:
    """A guard of the learner's own kind: what it says about itself, and the methods that it has of its own."""
    return {
        "guard": tables.handle(value),
        "type": type(value).__name__,
        "name": str(value.name),
        "gates": [str(gate) for gate in value.gates],
        "bounds": bool(value.bounds),
        "caps_calls": bool(value.caps_calls),
        "summary_after": bool(value.summary_after),
        "shown": shown(value),
        "hooks": {
            hook: pack(getattr(value, hook), tables)
            for hook in HOOKS
            if getattr(type(value), hook) is not getattr(Guard, hook)
        },
    }


def _function(value: Any, tables: Tables) -> Packed:
    return {
        "function": tables.handle(value),
        "name": str(getattr(value, "__name__", type(value).__name__)),
        "doc": str(getattr(value, "__doc__", None) or ""),
        "parameters": parameters_of(value),
        "gates": has_parts(value),
    }


def parameters_of(function: Callable[..., Any]) -> list[list[Any]] | None:
    """The signature of a function: name, kind, whether there is a default, the default as text, the annotation."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[p.name, int(p.kind), p.default is not p.empty, shown(p.default), _annotation(p)] for p in found]


def _annotation(parameter: inspect.Parameter) -> str:
    given = parameter.annotation
    name = given if isinstance(given, str) else getattr(given, "__name__", "")
    return name if name in ANNOTATIONS and given is not parameter.empty else ""


def signature_from(parameters: list[list[Any]]) -> inspect.Signature:
    """The signature that `parameters_of` has described. Defaults are there as texts."""
    return inspect.Signature(
        [
            inspect.Parameter(
                str(name),
                inspect._ParameterKind(kind),
                default=str(default) if has_default else inspect.Parameter.empty,
                annotation=ANNOTATIONS.get(annotation, inspect.Parameter.empty),
            )
            for name, kind, has_default, default, annotation in parameters
        ]
    )


def _thing(value: Any, tables: Tables) -> Packed:
    try:
        true = bool(value)
    except Exception:
        true = True
    return {"thing": tables.handle(value), "type": type(value).__name__, "shown": shown(value), "true": true}


class Thing:
    """Something in the learner's process that is no plain data."""

    def __init__(self, handle: int, shown: str, true: bool) -> None:
        self.__theirs__, self._shown, self._true = handle, shown, true

    def __repr__(self) -> str:
        return self._shown

    def __bool__(self) -> bool:
        return self._true


class Event:
    """Something in the learner's process that can be asked whether it is set."""

    def __init__(self, handle: int, is_set: Callable[[], bool]) -> None:
        self.__theirs__, self.is_set = handle, is_set


class Proxies:
    """What stands in the judge's process for objects of the learner's. `link` is the one that can call them."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}

    def function(self, handle: int, name: str, doc: str, parameters: list[list[Any]] | None) -> Any:
        """What stands for a function."""
        raise TypeError(f"there is no link to call {name} by")

    def own(self, handle: int) -> Any:
        """The judge's own object that the learner's process has named."""
        raise ValueError(f"there is no object {handle}")

    def remember(self, handle: int, value: Any) -> Any:
        """Keep what stands for a handle, so that one object stays one object."""
        return self.known.setdefault(handle, value)


def unpack(packed: Packed, proxies: Proxies) -> Any:
    """The value that was packed. Raises ValueError, TypeError or KeyError for what no `pack` has made."""
    if type(packed) in SCALARS:
        return packed
    if type(packed) is not dict:
        raise ValueError(f"{shown(packed)} is no packed value")
    for name, container in CONTAINERS.items():
        if name in packed:
            return container(unpack(part, proxies) for part in packed[name])
    if "dict" in packed:
        return {unpack(key, proxies): unpack(value, proxies) for key, value in packed["dict"]}
    if "yours" in packed:
        return proxies.own(packed["yours"])
    if "library" in packed:
        fields = {name: unpack(part, proxies) for name, part in packed["fields"]}
        return LIBRARY[packed["library"]](**fields)
    if "kind" in packed:
        return LIBRARY[packed["kind"]]
    if "like" in packed:
        base = LIKE[packed["like"]]
        kind = type(_name(packed["type"]), (base,), {})
        return kind(unpack(packed["plain"], proxies))
    return _unpack_handle(packed, proxies)


def _unpack_handle(packed: Mapping[str, Any], proxies: Proxies) -> Any:
    handle = next(packed[key] for key in ("function", "guard", "event", "thing") if key in packed)
    if type(handle) is not int:
        raise ValueError(f"{shown(handle)} is no handle")
    if handle in proxies.known:
        return proxies.known[handle]
    if "function" in packed:
        made = proxies.function(handle, _name(packed["name"]), str(packed["doc"]), packed["parameters"])
        if packed["gates"] is True:  # the library refuses what looks like a guard
            made.gates = ()
    elif "guard" in packed:
        made = _their_guard(packed, proxies)
    elif "event" in packed:
        made = Event(handle, unpack(packed["is_set"], proxies))
    else:
        kind = type(_name(packed["type"]), (Thing,), {})
        made = kind(handle, shown_as(packed["shown"]), packed["true"] is True)
    return proxies.remember(handle, made)


def _their_guard(packed: Mapping[str, Any], proxies: Proxies) -> Guard:
    """A guard whose own methods are the learner's."""
    name, gates, text = _name(packed["name"]), tuple(map(str, packed["gates"])), shown_as(packed["shown"])

    def hook(function: Any) -> Any:
        return lambda self, run: function(run)

    body: dict[str, Any] = {
        "__annotations__": {},
        "__theirs__": packed["guard"],
        "__repr__": lambda self: text,
        "name": property(lambda self: name),
        "gates": property(lambda self: gates),
        "bounds": packed["bounds"] is True,
        "caps_calls": packed["caps_calls"] is True,
        "summary_after": packed["summary_after"] is True,
    }
    body |= {key: hook(unpack(packed["hooks"][key], proxies)) for key in HOOKS if key in packed["hooks"]}
    guard: Guard = type(_name(packed["type"]), (Guard,), body)()
    return guard


def _name(text: Any) -> str:
    return str(text)[:LONGEST_NAME] or "unnamed"


def shown_as(text: Any) -> str:
    """The text of an object, as it was sent, and not too long."""
    return str(text)[:200]
