"""Checkpoints: a question in a markdown cell whose last list holds the options.

The author writes the feedback for each option behind ` :: `, and it may go on over indented lines:

    ### Checkpoint 2.1
    How many times is the model called?

    - a) `2` :: The third call would start after the limit.
    - b) `3` :: Each call is made while the clock still
      reads less than the limit.
    - c) `10` :: That is the cap, and the clock is faster.

The notebook shows the options without the feedback. A `number` checkpoint shows no options at all. In an
`order` checkpoint the options are to be put in order. In a `match` checkpoint they are numbered, `- 1) …`, and
each is to be given a letter from the list that stands before it, `- a) …`, which has no feedback.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import ascii_lowercase, digits

from stoplib.course.building import BuildError

FEEDBACK = " :: "
CODE_SPAN = re.compile(r"(`+)(?P<content>.+?)\1")


@dataclass(frozen=True)
class Form:
    """How the options of one kind of checkpoint are written, and whether the learner sees them."""

    option: re.Pattern[str]
    example: str
    least: int
    shown: bool


FORMS = {
    "choice": Form(re.compile(r"- (?P<key>[a-z])\) (?P<text>.+)"), "- a) `2` :: why", least=3, shown=True),
    "order": Form(
        re.compile(r"- (?P<key>[a-z])\) (?P<text>.+)"), "- a) `send` :: why it comes where it comes", 3, True
    ),
    "match": Form(re.compile(r"- (?P<key>[1-9])\) (?P<text>.+)"), "- 1) `a run` :: why it ends so", 2, True),
    "number": Form(re.compile(r"- (?P<text>`-?\d+(\.\d+)?`)"), "- `10` :: why", least=1, shown=False),
}


@dataclass(frozen=True)
class Checkpoint:
    """One question; each option has a `value`, a `text`, a `why` and, if the learner picks it, a `key`."""

    id: str
    kind: str
    question: str
    options: tuple[dict[str, str], ...]
    answers: tuple[dict[str, str], ...] = ()


def read_checkpoint(number: str, kind: str, source: str, place: str) -> tuple[Checkpoint, str]:
    """Return the checkpoint that a markdown cell holds, and the text of the cell for the notebook.

    `place` names the cell in messages. Raises BuildError if the options are not in order.
    """
    form = FORMS[kind]
    before, items, after = _split_at_last_list(source, place)
    options = tuple(_option(item, form, place) for item in items)
    _check_options(options, form, place)
    shown = "\n".join(item.partition(FEEDBACK)[0] for item in items) if form.shown else ""
    answers = tuple(_answers(before, place)) if kind == "match" else ()
    return Checkpoint(number, kind, _paragraphs(before, after), options, answers), _paragraphs(before, shown, after)


def checkpoints_file(found: Iterable[tuple[str, Checkpoint]]) -> bytes:
    """Return the content of checkpoints.json for pairs of a place and the checkpoint written there.

    Raises BuildError if two of them have the same id.
    """
    places: dict[str, str] = {}
    content: dict[str, dict[str, object]] = {}
    for place, checkpoint in found:
        if first := places.get(checkpoint.id):
            raise BuildError(
                f"{place}: checkpoint {checkpoint.id} already stands in {first}. Give one of the two another number."
            )
        places[checkpoint.id] = place
        content[checkpoint.id] = {
            "kind": checkpoint.kind,
            "question": checkpoint.question,
            "options": checkpoint.options,
        }
        if checkpoint.answers:
            content[checkpoint.id]["answers"] = checkpoint.answers
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _split_at_last_list(source: str, place: str) -> tuple[str, list[str], str]:
    """Return the text before the last list, the items of the list on one line each, and the text after."""
    lines = source.split("\n")
    start = max((number for number, line in enumerate(lines) if _begins_item(line)), default=None)
    if start is None:
        raise BuildError(f"{place}: a checkpoint needs its options as a list, its lines beginning with '- '.")
    end = start + 1
    while start > 0 and _in_list(lines[start - 1]):
        start -= 1
    while end < len(lines) and _in_list(lines[end]):
        end += 1
    return "\n".join(lines[:start]), _items(lines[start:end]), "\n".join(lines[end:])


def _begins_item(line: str) -> bool:
    return line.startswith("- ")


def _in_list(line: str) -> bool:
    return line.startswith(("- ", "  "))


def _items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if _begins_item(line) or not items:
            items.append(line.rstrip())
        else:
            items[-1] += " " + line.strip()
    return items


def _option(item: str, form: Form, place: str) -> dict[str, str]:
    head, _, why = item.partition(FEEDBACK)
    if not why.strip():
        raise BuildError(
            f"{place}: the option {head!r} has no feedback. Write it behind '{FEEDBACK}', as in {form.example!r}."
        )
    match = form.option.fullmatch(head)
    if match is None:
        raise BuildError(f"{place}: the option {head!r} is not written as in {form.example!r}.")
    text = match["text"].strip()
    value = _value(text)
    key = {"key": match["key"]} if "key" in form.option.groupindex else {}
    return {**key, "value": value, "text": text, "why": why.strip()}


def _answers(before: str, place: str) -> Iterator[dict[str, str]]:
    """The lettered answers of a match checkpoint, from the text before its numbered list."""
    found = [match for line in before.split("\n") if (match := FORMS["choice"].option.fullmatch(line.rstrip()))]
    keys = "".join(match["key"] for match in found)
    if len(keys) < 2 or keys != ascii_lowercase[: len(keys)]:
        raise BuildError(f"{place}: a match checkpoint needs its answers first, as lines '- a) …', '- b) …'.")
    for match in found:
        yield {"key": match["key"], "value": _value(match["text"])}


def _value(text: str) -> str:
    """The first code span of a text, or else the whole of it."""
    span = CODE_SPAN.search(text)
    return span["content"].strip() if span else text.strip()


def _check_options(options: tuple[dict[str, str], ...], form: Form, place: str) -> None:
    if len(options) < form.least:
        raise BuildError(f"{place}: {len(options)} options, where at least {form.least} are needed.")
    values = [option["value"] for option in options]
    if twice := sorted({value for value in values if values.count(value) > 1}):
        raise BuildError(
            f"{place}: two options have the value {twice[0]!r}. The value is the first "
            "`code span` of an option, or else its whole text; make them differ."
        )
    keys = "".join(option.get("key", "") for option in options)
    wanted = (digits[1:] if keys[:1].isdigit() else ascii_lowercase)[: len(keys)]
    if keys != wanted:
        raise BuildError(f"{place}: the options have the keys {', '.join(keys)}. Name them {', '.join(wanted)}.")


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())
