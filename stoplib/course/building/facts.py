"""What the library says about its own gates, guards and reasons, and what its pages say about them."""

import inspect
import re
from dataclasses import dataclass
from pathlib import Path

from stoplib import guards, reasons
from stoplib.course.building import BuildError
from stoplib.course.building.prose import first_sentence, table
from stoplib.guards import GATES, Guard, core

BRANCH = re.compile(r"[│ ]*[├└]── (?P<name>\w+) {2,}(?P<means>.*)")
MORE = re.compile(r"[│ ]{8,}(?P<means>[^│├└ ].*)")


@dataclass(frozen=True)
class Reason:
    """A name that a run can end with, what it means, and what the caller may do next, both in Markdown."""

    name: str
    means: str
    then: str
    complete: bool


@dataclass(frozen=True)
class GuardFacts:
    """A guard: how it is called, when it fires, where it looks, what it does not see. Texts are Markdown.

    One that may object is asked before the model's answer is taken for the end.
    """

    name: str
    signature: str
    fires: str
    gates: tuple[str, ...]
    bounds: bool
    may_object: bool
    blind: str
    then: str


def all_gates() -> dict[str, str]:
    """Return when each gate is, as the library says it."""
    found = dict(re.findall(r"^ {4}(\w+) {2,}(.+)$", core.__doc__ or "", flags=re.MULTILINE))
    return {gate: found[gate] for gate in GATES}


def all_reasons(docs: Path) -> list[Reason]:
    """Return the reasons that are no guard's name, in the order of their tree; `docs` is the folder of the pages.

    Raises BuildError if a page does not know one of them.
    """
    then = _column(docs / "reasons.md", ("reason", "what it means", "next"), 2)
    tree = _tree()
    if missing := (reasons.RESERVED | reasons.COMPLETE) - tree.keys():
        raise BuildError(f"The tree at the top of stoplib/reasons.py does not name {', '.join(sorted(missing))}.")
    return [
        Reason(name, means, _of(name, then, "reasons.md"), name in reasons.COMPLETE) for name, means in tree.items()
    ]


def all_guards(docs: Path) -> list[GuardFacts]:
    """Return the library's guards in the order of `docs/which-guard.md`. Raises BuildError if a page lacks one."""
    then = _column(docs / "reasons.md", ("reason", "what it means", "next"), 2)
    columns = ("what goes wrong", "guard", "what it does not see", "where to start")
    blind = {_first_name(row[1]): row[2] for row in table(_read(docs / "which-guard.md"), *columns)}
    kinds = _kinds()
    if missing := kinds.keys() - blind.keys():
        raise BuildError(f"docs/which-guard.md has no row for {', '.join(sorted(missing))}.")
    return [
        GuardFacts(
            name,
            _signature(kinds[name]),
            first_sentence(inspect.getdoc(kinds[name]) or ""),
            kinds[name].usual_gates,
            kinds[name].bounds,
            kinds[name].objection is not Guard.objection,
            blind[name],
            _of(name, then, "reasons.md"),
        )
        for name in blind
    ]


def _kinds() -> dict[str, type[Guard]]:
    public = {name: getattr(guards, name) for name in guards.__all__ if name.islower()}
    return {name: kind for name, kind in public.items() if isinstance(kind, type) and issubclass(kind, Guard)}


def _signature(kind: type[Guard]) -> str:
    """How it is called: `token_budget(n, hard=False, reserve=0)`. Every guard takes `gate=` as well."""
    parameters = [p for p in inspect.signature(kind).parameters.values() if p.name != "gate"]
    shown = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters]
    return f"{kind.__name__}({', '.join(shown)})"


def _tree() -> dict[str, str]:
    """The names in the tree of reasons, each with what stands beside it."""
    found: dict[str, str] = {}
    for line in (reasons.__doc__ or "").splitlines():
        if branch := BRANCH.fullmatch(line):
            found[branch["name"]] = branch["means"]
        elif (more := MORE.fullmatch(line)) and found:
            found[next(reversed(found))] += " " + more["means"]
    return {name: found[name] for name in found if name in reasons.RESERVED | reasons.COMPLETE}


def _column(page: Path, heads: tuple[str, ...], number: int) -> dict[str, str]:
    return {_first_name(row[0]): row[number] for row in table(_read(page), *heads)}


def _first_name(cell: str) -> str:
    return str(re.findall(r"\w+", cell)[0])


def _of(name: str, column: dict[str, str], page: str) -> str:
    if name not in column:
        raise BuildError(f"docs/{page} has no row for {name}.")
    return column[name]


def _read(page: Path) -> str:
    return page.read_text(encoding="utf-8")
