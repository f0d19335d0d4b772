"""The run that counts: all counting is done here, once per event, at a constant cost.

Guards read a `Run`; only the loop writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stoplib.messages import Message, Reply, ToolCall, Usage

Clock = Callable[[], float]

OK, ERROR, DECLINED, NOT_RUN = "ok", "error", "declined", "not_run"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one tool call.

    `status` is `ok`, `error` (the tool could not do its job), `declined` (a person said no) or
    `not_run` (the run stopped first). `text` is what the model gets to read.
    """

    call: ToolCall
    text: str
    status: str = OK


@dataclass(slots=True)
class Step:
    """One step of a run: one model call and what came of it.

    `seconds` is the run's time when the model was called; `results` are in the order of the calls.
    """

    number: int
    seconds: float
    reply: Reply
    results: list[Result] = field(default_factory=list)


class Run:
    """What one run has done so far.

    messages    the transcript, a list of plain dicts
    trace       the same as a list of `Step`
    steps       model calls made
    tool_calls  tool calls carried out: each ran, or failed to; declined and skipped ones do not count
    tokens      all tokens that the replies reported
    seconds     time since the start, as of the last reading of the clock; never goes back
    waited      how much of `seconds` was spent waiting for a person
    batch       the tool calls of the current reply, before any of them has run
    """

    def __init__(self, task: str, clock: Clock) -> None:
        self.messages: list[Message] = [{"role": "user", "content": task}]
        self.trace: list[Step] = []
        self.steps = 0
        self.tool_calls = 0
        self.tokens = 0
        self.seconds = 0.0
        self.waited = 0.0
        self.batch: tuple[ToolCall, ...] = ()
        self.cost: float | None = None
        self._usage = [0, 0, 0, 0]
        self._clock = clock
        self._last_reading = clock()

    @property
    def usage(self) -> Usage:
        """The tokens of all replies so far, by kind."""
        return Usage(*self._usage)

    def read_clock(self) -> None:
        """Take one reading. A clock that was set back adds nothing, so time never runs backward."""
        now = self._clock()
        if now > self._last_reading:
            self.seconds += now - self._last_reading
        self._last_reading = now

    def record_wait(self, since: float) -> None:
        """A person has answered: what passed since then was waiting."""
        self.read_clock()
        self.waited += self.seconds - since

    def record_reply(self, reply: Reply) -> None:
        """Count one model call. Raises ValueError for usage that cannot be true."""
        self.steps += 1
        calls = tuple(self._named(call, place) for place, call in enumerate(reply.calls, 1))
        self.batch = calls
        self.trace.append(Step(self.steps, self.seconds, reply))
        message: Message = {"role": "assistant", "content": reply.text}
        if calls:
            message["tool_calls"] = [{"id": c.id, "name": c.name, "args": c.args} for c in calls]
        self.messages.append(message)
        self._count(reply.usage)

    def record_result(self, result: Result) -> None:
        """Count one tool call that has been answered."""
        if result.status in (OK, ERROR):
            self.tool_calls += 1
        self.trace[-1].results.append(result)
        self.messages.append(
            {
                "role": "tool",
                "tool_call_id": result.call.id,
                "name": result.call.name,
                "content": result.text,
                "is_error": result.status != OK,
            }
        )

    def close(self, reason: str) -> None:
        """Answer what is still open, so that every request has exactly one result."""
        answered = len(self.trace[-1].results) if self.trace else 0
        for call in self.batch[answered:]:
            self.record_result(Result(call, f"not run: the run stopped ({reason})", NOT_RUN))

    def _named(self, call: ToolCall, place: int) -> ToolCall:
        if call.id is not None:
            return call
        return ToolCall(call.name, call.args, f"call_{self.steps}_{place}")

    def _count(self, usage: Usage) -> None:
        parts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
        for part in parts:
            if type(part) is not int or part < 0:
                raise ValueError(f"the model reported {usage!r}; tokens are whole numbers of at least 0")
        for kind, part in enumerate(parts):
            self._usage[kind] += part
            self.tokens += part
