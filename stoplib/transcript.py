"""What happened in a run, step by step, as values; and the same as the messages that a model reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stoplib.messages import Message, Reply, ToolCall, Usage

SUMMARY_REQUEST: Message = {
    "role": "user",
    "content": "Stop here; no tools are available any more. Summarise what you have found, what you could not"
    " determine, and what to try next. Do not present a partial result as a complete one.",
}

OK, ERROR, DECLINED, NOT_RUN = "ok", "error", "declined", "not_run"
CARRIED_OUT = (OK, ERROR)


class Result(NamedTuple):
    """What became of one tool call.

    `status` is `ok`, `error` (the tool could not do its job), `declined` (a person said no) or
    `not_run` (the run stopped first). `text` is what the model gets to read.
    """

    call: ToolCall
    text: str
    status: str = OK


class Step(NamedTuple):
    """One step of a run: one model call and what came of it.

    `seconds` is the run's time when the model was called, `waited` how much of it had been waiting. Each call
    of the `reply` has an id; `results` are in their order. `closing` marks the call for the closing summary.
    """

    number: int
    seconds: float
    waited: float
    reply: Reply
    results: list[Result]
    closing: bool = False

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls that the reply asks for."""
        return self.reply.calls


class Inner(NamedTuple):
    """What a run used that a tool of another run has started `within` it.

    `step` is the outer run's step; `calls_of` are the tool calls carried out, by the tool's name.
    """

    step: int
    task: str
    reason: str
    steps: int
    calls_of: dict[str, int]
    usage: Usage
    cost: float | None


def transcript(task: str, trace: Sequence[Step]) -> list[Message]:
    """The messages of a run, from its trace."""
    messages: list[Message] = [{"role": "user", "content": task}]
    for step in trace:
        messages += written(step)
    return messages


def written(step: Step) -> Iterator[Message]:
    """The messages of one step, as far as it has come."""
    if step.closing:
        yield dict(SUMMARY_REQUEST)
    yield said(step.reply.text, step.calls)
    yield from map(answered, step.results)


def said(text: str, calls: Sequence[ToolCall]) -> Message:
    """The message of the model: its text, and what it asks for."""
    if not calls:
        return {"role": "assistant", "content": text}
    requests = []
    for name, args, id in calls:
        requests.append({"id": id, "name": name, "args": args})
    return {"role": "assistant", "content": text, "tool_calls": requests}


def answered(result: Result) -> Message:
    """The message of a tool."""
    call, text, status = result
    return {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": text, "is_error": status != OK}
