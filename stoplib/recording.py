"""Runs on disk: one JSON object a line, readable by eye.

    {"stoplib": 1, "task": "…", "model": "…", …}                     what a replay has to know
    {"step": 1, "seconds": 0.0, "text": "", "calls": […], "results": […], …}     one line per step
    {"reason": "max_steps", "detail": "…", …}                        how it ended

What can be counted is not written down: a reader counts it again. So a file cannot contradict itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from typing import Any

from stoplib.limits import amount
from stoplib.messages import Reply, ToolCall, Usage
from stoplib.outcome import Ending, Outcome, in_words, outcome_of
from stoplib.prices import Price
from stoplib.reasons import UNFINISHED
from stoplib.state import Run
from stoplib.tools import Traits
from stoplib.transcript import DECLINED, ERROR, NOT_RUN, OK, Inner, Result, Step

FORMAT = 1


class IncompleteRecording(ValueError):
    """A recording breaks off. `outcome` is what could be read, with the reason `unfinished`, or None."""

    def __init__(self, message: str, outcome: Outcome | None) -> None:
        super().__init__(message)
        self.outcome = outcome


class RecordedError(Exception):
    """The exception of a recorded run, as far as a file can hold it: its kind and its text."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedError) and self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)


def save(outcome: Outcome, path: str | PathLike[str]) -> None:
    """Write a run to a file. An existing file is replaced only when the new one is whole.

    Raises TypeError if an argument of a tool call is no JSON value, IsADirectoryError or FileNotFoundError
    where no file can be; nothing is written then.
    """
    lines = "".join(_as_json(line) + "\n" for line in _lines(outcome))
    from pathlib import Path  # takes longer to import than the rest of the package

    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder '{target.parent}' to write {target.name} into")
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        draft.write_text(lines, encoding="utf-8", newline="\n")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)  # it is there only if something failed


def load(path: str | PathLike[str]) -> Outcome:
    """Read a run from a file; what `save` wrote comes back equal.

    Raises ValueError for what is no recording, and IncompleteRecording, which says what is missing and holds
    the rest, if the file breaks off.
    """
    lines, broken = _read(path)
    return outcome_from(lines, broken, path)


def outcome_from(lines: list[Any], broken: bool, path: str | PathLike[str]) -> Outcome:
    """The run that these lines hold; `broken` says that they end in the middle of one. Raises what `load` raises."""
    if not lines or not isinstance(lines[0], dict) or "stoplib" not in lines[0]:
        raise ValueError(f"{path} is no recorded run: its first line must be an object with 'stoplib': {FORMAT}")
    if lines[0]["stoplib"] != FORMAT:
        raise ValueError(f"{path} has the format {lines[0]['stoplib']!r}; this version of stoplib reads {FORMAT}")
    steps = [line for line in lines[1:] if "step" in line or "inner" in line]
    ends = [line for line in lines[1:] if "reason" in line]
    try:
        run = _counted(lines[0], steps)
        if ends and not broken:
            return _ended(run, ends[0])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no recorded run: {type(error).__name__}: {error}") from error
    what = "a line that is cut off" if broken else "no line that says how the run ended"
    raise IncompleteRecording(
        f"{path} breaks off: {len(steps)} steps and then {what}. The exception's `outcome` holds what is there.",
        outcome_of(run, Ending(UNFINISHED, "the recording breaks off"), None),
    )


def _lines(outcome: Outcome) -> Iterator[dict[str, Any]]:
    yield {
        "stoplib": FORMAT,
        "task": outcome.task,
        "model": outcome.model,
        "price": None if outcome.price is None else outcome.price.as_dict(),
        "tools": {name: traits._asdict() for name, traits in outcome.traits.items()},
    }
    for step in outcome.trace:
        yield _step_line(step)
        for inner in outcome.inner:
            if inner.step == step.number:
                yield {"inner": inner._asdict() | {"usage": inner.usage._asdict()}}
    error = outcome.error
    yield {
        "reason": outcome.reason,
        "detail": outcome.detail,
        "fired": list(outcome.fired),
        "summary": outcome.summary,
        "seconds": outcome.seconds,
        "waited": outcome.waited,
        "error": None if error is None else _describe_error(error),
        "at": outcome.at,
    }


def _as_json(line: dict[str, Any]) -> str:
    text = json.dumps(line, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a character, as a cut-off reply can hold one
        text = json.dumps(line)
    return text


def _step_line(step: Step) -> dict[str, Any]:
    reply = step.reply
    line: dict[str, Any] = {"step": step.number, "seconds": step.seconds, "text": reply.text}
    line["calls"] = [call._asdict() for call in reply.calls]
    line["results"] = [{"text": r.text, "status": r.status} for r in step.results]
    optional = {"waited": step.waited, "usage": reply.usage._asdict(), "stop": reply.stop, "closing": step.closing}
    if not any(reply.usage):
        del optional["usage"]
    return line | {name: value for name, value in optional.items() if value or value == ""}


def _describe_error(error: BaseException) -> str:
    return str(error) if isinstance(error, RecordedError) else in_words(error)


def _read(path: str | PathLike[str]) -> tuple[list[dict[str, Any]], bool]:
    """The objects of a file of JSON lines, and whether it ends in the middle of one."""
    lines: list[dict[str, Any]] = []
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        for text in file:
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):  # no JSON, or nested deeper than Python can follow
                return lines, True
            if not isinstance(line, dict):
                raise ValueError(f"{path} is no recorded run: line {len(lines) + 1} is not an object")
            lines.append(line)
    return lines, False


def _counted(head: dict[str, Any], steps: list[dict[str, Any]]) -> Run:
    tools = {name: Traits(t["effect"], t["poll"], tuple(t["volatile"])) for name, t in head["tools"].items()}
    price = None if head["price"] is None else Price(**head["price"])
    run = Run(head["task"], lambda: 0.0, tools=tools, model=head["model"], price=price)
    for line in steps:
        if "inner" in line:
            run.take_in(_inner(line["inner"]))
        else:
            _count(run, line)
    return run


def _inner(line: dict[str, Any]) -> Inner:
    return Inner(**line | {"usage": Usage(**line["usage"])})


def _count(run: Run, line: dict[str, Any]) -> None:
    """Let the run count one recorded step, as it counted the live one."""
    if line["step"] != len(run.trace) + 1:
        raise ValueError(f"no recorded run: step {line['step']!r} follows step {len(run.trace)}")
    _times(line["seconds"], line.get("waited", 0.0))
    for result in line["results"]:
        if result["status"] not in (OK, ERROR, DECLINED, NOT_RUN):
            raise ValueError(f"no recorded run: there is no status {result['status']!r}")
    run.seconds, run.waited = line["seconds"], line.get("waited", 0.0)
    closing = line.get("closing", False)
    calls = tuple(ToolCall(call["name"], call["args"], call["id"]) for call in line["calls"])
    if closing:
        run.ask_for_summary()
    with suppress(ValueError):  # usage that cannot be true ended the live run, and is part of it
        run.record_reply(Reply(line["text"], calls, Usage(**line.get("usage", {})), line.get("stop")), closing)
    for call, result in zip(run.trace[-1].calls, line["results"], strict=False):
        run.record_result(Result(call, result["text"], result["status"]))


def _times(*seconds: Any) -> None:
    for value in seconds:
        amount("no recorded run", "a time", value)


def _ended(run: Run, line: dict[str, Any]) -> Outcome:
    _times(line["seconds"], line["waited"])
    if not isinstance(line["reason"], str):
        raise ValueError(f"no recorded run: the reason is {line['reason']!r}")
    run.seconds, run.waited = line["seconds"], line["waited"]
    error = None if line["error"] is None else RecordedError(line["error"])
    ending = Ending(line["reason"], line["detail"], tuple(line["fired"]), error)
    run.at = line.get("at", "called")
    return outcome_of(run, ending, line["summary"])
