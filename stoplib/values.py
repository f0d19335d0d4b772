"""Frozen values: what is made once, compared by content, printed as source, and never changed.

Like frozen dataclasses, which would double the time that `import stoplib` takes. A subclass lists its
fields as annotations:

    >>> class point(Value):
    ...     x: int
    ...     y: int = 0
    ...     unit = "mm"                # no annotation, no field
    >>> point(1), point(1) == point(x=1, y=0), eval(repr(point(1, y=5)))
    (point(1), True, point(1, y=5))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, dataclass_transform


class _Missing:
    """What stands for a field without a default."""


class _Keyword:
    def __init__(self, default: Any) -> None:
        self.default = default


def field(*, default: Any, kw_only: Literal[True]) -> Any:
    """A field that is given by keyword only, and so has no place among the others."""
    return _Keyword(default)


class _Signature:
    """The signature of a class, for help() and editors, made when somebody asks."""

    def __get__(self, value: Any, cls: type[Value]) -> Any:
        from inspect import Parameter, Signature

        def parameter(name: str, kind: Any) -> Parameter:
            usual = getattr(cls, name, Parameter.empty)
            return Parameter(name, kind, default=usual, annotation=cls._annotation(name))

        places = [parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in cls._places]
        return Signature(places + [parameter(name, Parameter.KEYWORD_ONLY) for name in cls._keywords])


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value:
    """A frozen value. See the module."""

    _places: tuple[str, ...] = ()
    _keywords: tuple[str, ...] = ()
    __signature__ = _Signature()

    def __init_subclass__(cls) -> None:
        """Read the fields of the class from its annotations."""
        for name, annotation in cls.__annotations__.items():
            if "ClassVar" in str(annotation):
                continue
            given = cls.__dict__.get(name)
            if isinstance(given, _Keyword):
                setattr(cls, name, given.default)
                cls._keywords = (*cls._keywords, name)
            elif name not in cls._places:
                cls._places = (*cls._places, name)

    @classmethod
    def _annotation(cls, name: str) -> Any:
        return next(
            made.__annotations__[name] for made in cls.__mro__ if name in made.__dict__.get("__annotations__", {})
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        if len(args) > len(self._places):
            raise TypeError(f"{name} takes {len(self._places)} arguments ({', '.join(self._places)}), not {len(args)}")
        fields = self.__dict__
        for place, value in zip(self._places, args, strict=False):
            if place in kwargs:
                raise TypeError(f"{name}: {place} is given twice")
            fields[place] = value
        for key, value in kwargs.items():
            if key not in self._places and key not in self._keywords:
                known = ", ".join((*self._places, *self._keywords))
                raise TypeError(f"{name} takes no argument {key!r}; it takes {known}")
            fields[key] = value
        for place in self._places:
            if place not in fields and getattr(type(self), place, _Missing) is _Missing:
                raise TypeError(f"{name} needs {place}: {name}({', '.join(self._places)})")
        self.validate()

    def validate(self) -> None:
        """Refuse, when the value is made, what cannot work."""

    def replaced(self, **changes: Any) -> Any:
        """The same value with some fields changed."""
        return type(self)(**{**dict(self._fields()), **changes})

    def _fields(self) -> Iterator[tuple[str, Any]]:
        for name in (*self._places, *self._keywords):
            yield name, getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is a frozen value: {name} cannot be set; make another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is a frozen value: {name} cannot be deleted")

    def __eq__(self, other: Any) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return tuple(self._fields()) == tuple(other._fields())

    def __hash__(self) -> int:
        return hash((type(self), tuple(self._fields())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._arguments())})"

    def _arguments(self) -> Iterator[str]:
        """What it was made with, as source; what is as usual is left out."""
        for name, value in self._fields():
            usual = getattr(type(self), name, _Missing)
            if usual is _Missing:
                yield repr(value)
            elif value != usual:
                yield f"{name}={value!r}"
