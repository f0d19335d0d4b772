"""What mkdocstrings is told about the code beyond what stands there. Used when the pages are built.

This is an extension of griffe, which reads the code for mkdocstrings; see mkdocs.yml. Docstrings are written to be read
in an editor and with `help()`, so their columns become tables here and their examples code. Classes that get their
arguments from annotations are given the signature that they have.
"""

import re
import textwrap
from typing import Any

import griffe

NAME = r"\w+(?:\([^)]*\))?"
ROW = re.compile(rf"{NAME}(?:, {NAME})* {{2,}}\S")
BY_KEYWORD = re.compile(r"field\(default=(.*), kw_only=True\)")


class Reshaped(griffe.Extension):
    """Reshapes the docstrings, and adds the signatures that are not written down."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for each module, class, function and attribute, when all of them have been read."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
        if isinstance(obj, griffe.Class) and "__init__" not in obj.members:
            _add_signature(obj)


def as_markdown(docstring: str) -> str:
    """The docstring with its columns, trees and examples marked up."""
    return "\n\n".join(map(_paragraph, re.split(r"\n(?:[ ]*\n)+", docstring)))


def _paragraph(text: str) -> str:
    lines = textwrap.dedent(text).splitlines()
    if lines and lines[0].startswith(">>>"):
        return "\n".join(["```pycon", *lines, "```"])
    if "├──" in text:
        return "\n".join(["```text", *lines, "```"])
    in_columns = sum(bool(ROW.match(line)) for line in lines)
    if in_columns > 1 and ROW.match(lines[0]) and all(ROW.match(line) or line.startswith("  ") for line in lines):
        return _table(lines)
    return text


def _table(lines: list[str]) -> str:
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith(" "):
            rows[-1][-1] += " " + line.strip()
        else:
            names, *cells = re.split(r" {2,}", line.strip())
            rows.append([", ".join(f"`{name}`" for name in names.split(", ")), *cells])
    width = max(map(len, rows))
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [[""] * width, ["---"] * width, *rows])


def _add_signature(cls: griffe.Class) -> None:
    """Write down what `Value`, NamedTuple or `__new__` make of the class."""
    lineage = [cls, *cls.mro()]
    new = cls.members.get("__new__")
    if isinstance(new, griffe.Function):
        parameters = list(new.parameters)[1:]
    elif any(c.name == "Value" for c in lineage) or any(str(base) == "NamedTuple" for base in cls.bases):
        parameters = [p for c in reversed(lineage) for p in map(_parameter, c.members.values()) if p]
        parameters.sort(key=lambda p: p.kind is griffe.ParameterKind.keyword_only)
    else:
        return
    cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*parameters)))


def _parameter(member: griffe.Object | griffe.Alias) -> griffe.Parameter | None:
    """The argument that a field of a class stands for."""
    if not isinstance(member, griffe.Attribute) or member.annotation is None or member.name.startswith("_"):
        return None
    if "instance-attribute" not in member.labels or "property" in member.labels:
        return None
    default = None if member.value is None else str(member.value)
    by_keyword = BY_KEYWORD.fullmatch(default or "")
    if by_keyword:
        kind, default = griffe.ParameterKind.keyword_only, by_keyword[1]
    else:
        kind = griffe.ParameterKind.positional_or_keyword
    return griffe.Parameter(member.name, annotation=member.annotation, kind=kind, default=default)
