"""Tools: plain functions that the model may ask for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, overload

from stoplib.limits import amount, whole
from stoplib.messages import ToolCall


class Traits(NamedTuple):
    """What loop detection should know about a tool; see `tool`."""

    effect: bool = False
    poll: int | None = None
    volatile: tuple[str, ...] = ()


ORDINARY = Traits()


class Tool(NamedTuple):
    """A function with what the loop should know about it. See `tool`."""

    function: Callable[..., Any]
    name: str
    timeout: float | None = None
    traits: Traits = ORDINARY

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def schema(self) -> dict[str, Any]:
        """Name, description and parameters (JSON Schema), from the signature and the docstring."""
        from stoplib.schema import schema_of

        return schema_of(self.function, self.name)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *, timeout: float | None = None, effect: bool = False, poll: int | None = None, volatile: Iterable[str] = ()
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    timeout: float | None = None,
    effect: bool = False,
    poll: int | None = None,
    volatile: Iterable[str] = (),
) -> Any:
    """Make a function a tool: `@tool`, or `@tool(timeout=5, effect=True)`.

    timeout   seconds that one call of it may take
    effect    it acts on the world, so a repeat is judged by the request alone, before it runs again
    poll      it is asked again on purpose: how many equal results in a row are fine
    volatile  fields of its result that change although nothing has changed

    >>> @tool
    ... def search(query: str, limit: int = 3) -> str:
    ...     '''Search the notes.'''
    ...     return "no match"
    >>> search.name, search.schema["parameters"]["required"]
    ('search', ['query'])
    """
    if timeout is not None:
        timeout = amount("tool", "timeout", timeout, above_zero=True)
    if poll is not None:
        poll = whole("tool", "poll", poll, at_least=1)
    if isinstance(volatile, str):
        raise TypeError(f"tool: volatile must be a tuple of field names, not the text {volatile!r}")

    def make(fn: Callable[..., Any]) -> Tool:
        if not callable(fn):
            raise TypeError(f"tool: {fn!r} is not a function")
        return Tool(fn, _name_of(fn), timeout, Traits(effect, poll, tuple(volatile)))

    return make if function is None else make(function)


class Toolbox:
    """The tools of one run, by name."""

    def __init__(self, tools: Iterable[Any] | Mapping[str, Any] = ()) -> None:
        if isinstance(tools, Tool):
            raise TypeError(f"tools must be a list such as [{tools.name}], not one tool")
        if not isinstance(tools, Iterable):
            raise TypeError(f"tools must be a list of functions, or a mapping of names to functions, not {tools!r}")
        named = tools.items() if isinstance(tools, Mapping) else ((None, fn) for fn in tools)
        self._tools: dict[str, Tool] = {}
        for name, fn in named:
            made = _as_tool(fn, name)
            if made.name in self._tools:
                raise ValueError(f"two tools are called {made.name!r}; give one of them another name")
            self._tools[made.name] = made

    def schemas(self) -> list[dict[str, Any]]:
        """What a model gets to know about the tools."""
        return [t.schema for t in self._tools.values()]

    def traits(self) -> dict[str, Traits]:
        """What is declared of each tool that is not ordinary."""
        return {t.name: t.traits for t in self._tools.values() if t.traits != ORDINARY}

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The plain functions behind the tools, by name."""
        return {f"the tool {t.name!r}": t.function for t in self._tools.values()}

    def find(self, call: ToolCall) -> tuple[Tool, Mapping[str, Any]] | str:
        """The tool that `call` asks for and its arguments, or what is wrong with the request, for the model to read."""
        found = self._tools.get(call.name)
        if found is None:
            known = ", ".join(self._tools) or "none"
            return f"there is no tool called {call.name!r}; the tools are: {known}"
        args = call.args
        if type(args) is dict or isinstance(args, Mapping):
            return found, args
        return f"the arguments are not a JSON object: {args!r}"


PLAIN = frozenset({str, int, float, bool, type(None)})


def own_copy(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments that a tool may change without changing what the model said."""
    for value in args.values():
        if type(value) not in PLAIN:
            from copy import deepcopy

            return deepcopy(dict(args))
    return args


def as_text(value: Any) -> str:
    """A tool's result as the text that the model reads: text as it is, all else as JSON.

    >>> as_text({"ok": True, "rows": [1, 2]})
    '{"ok": true, "rows": [1, 2]}'
    """
    if isinstance(value, str):
        return value
    if hasattr(value, "__await__"):
        raise TypeError(f"it returned {type(value).__name__}, which nobody has awaited; use arun")
    if hasattr(value, "__next__") or hasattr(value, "__anext__"):
        raise TypeError(f"it returned {type(value).__name__}, of which nothing has run; return a list or a text")
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return str(value)


def _as_tool(fn: Any, name: str | None) -> Tool:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"a tool's name must be a text, not {name!r}")
    if isinstance(fn, Tool):
        return fn if name in (None, fn.name) else fn._replace(name=name)
    if not callable(fn):
        raise TypeError(f"not a tool: {fn!r}; tools are functions, or a mapping of names to functions")
    return Tool(fn, name or _name_of(fn))


def _name_of(fn: Any) -> str:
    while isinstance(fn, partial):
        fn = fn.func
    name = getattr(fn, "__name__", None) or type(fn).__name__
    if name == "<lambda>":
        raise ValueError("a lambda has no name to ask for: pass tools as {'name': lambda: …}")
    return str(name)
