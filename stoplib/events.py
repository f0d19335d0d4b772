"""What happens in a run, one event at a time: for progress lines, live charts and the Step button."""

from __future__ import annotations

from typing import NamedTuple

from stoplib.messages import Reply, ToolCall
from stoplib.outcome import Outcome, describe
from stoplib.state import Run
from stoplib.transcript import Result


class Event(NamedTuple):
    """One thing that has just happened. `kind` says which field is set besides `run` and `step`:

    reply     the model has replied: `reply`
    call      the loop turns to a tool call, which then runs unless it was declined or cannot: `call`
    result    a tool call has been answered: `result`
    end       the run is over: `outcome`
    """

    kind: str
    run: Run
    step: int
    reply: Reply | None = None
    call: ToolCall | None = None
    result: Result | None = None
    outcome: Outcome | None = None

    def __str__(self) -> str:
        if self.reply is not None:
            return f"step {self.step}  model   {describe(self.reply.text) or _asks(self.reply)}"
        if self.call is not None:
            return f"step {self.step}  call    {describe(self.call)}"
        if self.result is not None:
            return f"step {self.step}  {self.result.status:<7} {describe(self.result.text)}"
        if self.outcome is not None:
            detail = f" ({self.outcome.detail})" if self.outcome.detail else ""
            return f"stopped: {self.outcome.reason}{detail}"
        return f"step {self.step}  {self.kind}"


def _asks(reply: Reply) -> str:
    tools = "tool" if len(reply.calls) == 1 else "tools"
    return f"asks for {len(reply.calls)} {tools}" if reply.calls else "says nothing"


def print_trace(event: Event) -> None:
    """Print calls, results and the end as they happen: `run(…, on_event=print_trace)`.

    >>> from stoplib import answer, call, run, script
    >>> model = script(call("search", query="stop"), answer("found"))
    >>> _ = run(model, "find it", tools={"search": lambda query: "no match"}, on_event=print_trace)
    step 1  call    search(query='stop')
    step 1  ok      no match
    step 2  model   found
    stopped: answered
    """
    if event.kind != "reply" or (event.reply and event.reply.text):
        print(event)
