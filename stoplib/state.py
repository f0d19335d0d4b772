"""The run that counts: all counting is done here, once per event, at a constant cost.

Guards read a `Run`; only the loop writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stoplib.limits import a_time
from stoplib.messages import NO_USAGE, Message, Reply, ToolCall, Usage, identified, new
from stoplib.prices import Price
from stoplib.repeats import Repeats
from stoplib.tools import ORDINARY, Traits
from stoplib.transcript import (
    CARRIED_OUT,
    DECLINED,
    ERROR,
    NOT_RUN,
    OK,
    SUMMARY_REQUEST,
    Inner,
    Result,
    Step,
    answered,
    said,
    transcript,
)

Clock = Callable[[], float]

NOTHING_SPECIAL: list[Traits] = []
NO_CALLS: Mapping[str, int] = {}


class Run:
    """What one run has done so far. Runs that its tools have started `within` it are counted in.

    messages    the transcript, a list of plain dicts
    trace       the same as a list of `Step`
    steps       model calls made
    tool_calls  tool calls carried out: each ran, or failed to; declined and skipped ones do not count
    calls_of    the same by the tool's name
    tokens      all tokens that the replies reported
    characters  characters of everything in the transcript
    asked       tool calls that the replies asked for
    spent       money spent so far, by the price; 0 without one
    seconds     time since the start, as of the last reading of the clock; never goes back
    waited      how much of `seconds` was spent waiting for a person
    errors      tool errors since a tool last did its job
    refusals    calls that a person declined since a tool last did its job
    batch       the tool calls of the current reply, until all of them have been answered
    largest     the most tokens that one reply has had as its output
    repeats     what has happened before, see `stoplib.repeats`
    inner       the runs that have ended within this one, see `Inner`
    """

    # Python looks up more than 30 names of an object in a dict; these have a place. A guard may still add its own.
    # fmt: off
    __slots__ = (
        "task", "messages", "trace", "steps", "tool_calls", "calls_of", "tokens", "characters", "asked", "spent",
        "seconds", "waited", "errors", "refusals", "batch", "at", "requested", "largest", "repeats", "inner",
        "running", "outer", "guards", "over", "model", "price", "live", "summary_to_come", "output_cap", "notes",
        "known_tools", "_usage", "_settled", "_results", "_batch_traits", "_clock", "_start", "_last_reading",
        "__dict__", "__weakref__",
    )
    # fmt: on

    def __init__(
        self,
        task: str,
        clock: Clock,
        *,
        tools: Mapping[str, Traits] | None = None,
        model: str = "model",
        price: Price | None = None,
        output_cap: int | None = None,
        longest: int = 8,
        outer: Run | None = None,
    ) -> None:
        self.task = task
        self.messages: list[Message] = [{"role": "user", "content": task}]
        self.trace: list[Step] = []
        self.steps = 0
        self.tool_calls = 0
        self.calls_of: dict[str, int] = {}
        self.tokens = 0
        self.characters = len(task)
        self.asked = 0
        self.spent = 0.0
        self.seconds = self.waited = 0.0
        self.errors = self.refusals = 0
        self.batch: tuple[ToolCall, ...] = ()
        self.at = "called"  #: how far the current step has come: called, replied, asked
        self.requested = 0  #: characters of the request for a closing summary, once it has been made
        self.largest = 0
        self.repeats = Repeats(longest)
        self.inner: list[Inner] = []
        self.running: list[Run] = []  #: the runs that are going on within this one
        self.outer = outer  #: the run around this one, whose limits are shared
        self.guards: Any = None  #: its `GuardSet`, for the runs within it
        self.over = False
        self.model = model
        self.price = price
        self.live = True  #: whether it is happening: a replay costs nothing, and nobody needs its messages
        self.summary_to_come = False  #: whether room is kept back for a closing summary: one step, and the reserves
        self.output_cap = output_cap  #: the most tokens that the model can answer with, if it says so
        self.notes: dict[Any, Any] = {}  #: what guards keep during this run; they have no memory of their own
        self.known_tools = tools or {}
        self._usage = [0, 0, 0, 0]
        self._settled = 0.0
        self._results: list[Result] = []
        self._batch_traits: list[Traits] = []
        self._clock = clock
        self._start = self._last_reading = 0.0

    @property
    def usage(self) -> Usage:
        """The tokens of all replies so far, by kind."""
        return Usage(*self._usage)

    @property
    def cost(self) -> float | None:
        """Money spent so far, or None without a price: unknown is not zero."""
        return None if self.price is None else self.spent

    @property
    def text(self) -> str:
        """The last thing that the model said, its closing summary apart."""
        return next((step.reply.text for step in reversed(self.trace) if not step.closing), "")

    def start(self) -> None:
        """Take the first reading: the run's time starts here."""
        self._start = self._last_reading = a_time(self._clock())
        if self.outer is not None:
            self.outer.running.append(self)

    def read_clock(self) -> None:
        """Take one reading. A clock that was set back moves the start back too, so time never runs backward."""
        now = self._clock()
        if not now >= self._last_reading:
            self._start -= self._last_reading - a_time(now)
        self._last_reading = now
        seconds = now - self._start
        if seconds > self.seconds:
            self.seconds = seconds

    def record_wait(self, since: float) -> None:
        """A person has answered: what passed since then was waiting."""
        self.read_clock()
        self._wait(self.seconds - since)

    def _wait(self, seconds: float) -> None:
        self.waited += seconds
        if self.outer is not None:
            self.outer._wait(seconds)

    def record_reply(self, reply: Reply, closing: bool = False) -> None:
        """Count one model call. Raises ValueError for usage that cannot be true."""
        number = len(self.trace) + 1
        if self.live:  # a recorded reply has its ids
            reply = identified(reply, number)
        text, calls, usage, _ = reply
        results: list[Result] = []
        self._results = results
        self.trace.append(new(Step, (number, self.seconds, self.waited, reply, results, closing)))
        self.steps += 1
        self.batch = calls
        self.asked += len(calls)
        self.characters += len(text)
        if self.live:
            self.messages.append(said(text, calls))
        if not closing:
            self.at = "replied"
        if usage is not NO_USAGE:
            self._count(usage)
        if self.outer is not None:
            self.outer.absorb(steps=1, asked=len(calls), usage=usage)
            self.outer.spend(0.0)

    def absorb(
        self,
        calls_of: Mapping[str, int] = NO_CALLS,
        *,
        steps: int = 0,
        asked: int = 0,
        usage: Usage = NO_USAGE,
    ) -> None:
        """Count in what a run within this one has used, its money apart."""
        self.steps += steps
        self.asked += asked
        self.tokens += usage.total
        for kind, tokens in enumerate(usage):
            self._usage[kind] += tokens
        for name, calls in calls_of.items():
            self.tool_calls += calls
            self.calls_of.setdefault(name, 0)
            self.calls_of[name] += calls
        if self.outer is not None:
            self.outer.absorb(calls_of, steps=steps, asked=asked, usage=usage)

    def spend(self, money: float) -> None:
        """Count money. What running inner runs have spent is added up anew, so that a replay gets the same sum."""
        self._settled += money
        self.spent = self._settled
        if self.running:
            self.spent += sum([inner.spent for inner in self.running])
        if self.outer is not None:
            self.outer.spend(0.0)

    def ended_within(self, run: Run, inner: Inner) -> None:
        """A run within this one has ended. Everything but its money has been counted as it happened."""
        self.running.remove(run)
        self.inner.append(inner)
        self.spend(inner.cost or 0.0)

    def take_in(self, inner: Inner) -> None:
        """The same for a recorded one, of which nothing has been counted yet."""
        self.inner.append(inner)
        self.absorb(inner.calls_of, steps=inner.steps, asked=sum(inner.calls_of.values()), usage=inner.usage)
        self.spend(inner.cost or 0.0)

    def ask_for_summary(self) -> None:
        """Ask the model for a closing summary. The request is part of the transcript."""
        if self.live:
            self.messages.append(dict(SUMMARY_REQUEST))
        self.requested = len(SUMMARY_REQUEST["content"])
        self.characters += self.requested

    def record_request(self) -> None:
        """The batch is going to be acted on, unless a guard objects."""
        self.at = "asked"
        batch, known = self.batch, self.known_tools
        self._batch_traits = traits = [known.get(call.name, ORDINARY) for call in batch] if known else NOTHING_SPECIAL
        self.characters += self.repeats.asked(batch, traits)

    def record_result(self, result: Result) -> None:
        """Count one tool call that has been answered."""
        call, text, status = result
        name = call.name
        if self.live:
            self.messages.append(answered(result))
        self._results.append(result)
        self.characters += len(text)
        if status in CARRIED_OUT:
            self.tool_calls += 1
            self.calls_of[name] = self.calls_of.get(name, 0) + 1
            if self.outer is not None:
                self.outer.absorb({name: 1})

    def record_round(self) -> None:
        """All calls of the batch have been answered. A batch is one unit: one success in it ends a streak of errors."""
        results = self._results
        if len(results) == 1 and results[0].status == OK:  # the usual case
            self.errors = self.refusals = 0
        else:
            self._streaks([result.status for result in results])
        self.repeats.answered(results, self._batch_traits)
        self.batch = ()
        self.at = "called"

    def _streaks(self, statuses: Sequence[str]) -> None:
        if OK in statuses:
            self.errors = self.refusals = 0
        else:
            self.errors += statuses.count(ERROR)
            self.refusals += statuses.count(DECLINED)

    def close(self, reason: str) -> None:
        """Answer what is still open, so that every request has exactly one result."""
        if not self.trace:
            return
        step = self.trace[-1]
        for call in step.calls[len(step.results) :]:
            result = Result(call, f"not run: the run stopped ({reason})", NOT_RUN)
            step.results.append(result)
            if self.live:
                self.messages.append(answered(result))

    def rewrite(self) -> None:
        """Write the messages anew from the trace, wherever the run was interrupted."""
        self.messages = transcript(self.task, self.trace)

    def _count(self, usage: Usage) -> None:
        sent, answered, read, written = usage
        whole = type(sent) is type(answered) is type(read) is type(written) is int
        if not whole or sent < 0 or answered < 0 or read < 0 or written < 0:
            raise ValueError(f"the model reported {usage!r}; tokens are whole numbers of at least 0")
        self.tokens += sent + answered + read + written
        kinds = self._usage
        kinds[0] += sent
        kinds[1] += answered
        if read or written:
            kinds[2] += read
            kinds[3] += written
        if answered > self.largest:
            self.largest = answered
        if self.price is not None:
            self.spend(self.price.of(usage))
