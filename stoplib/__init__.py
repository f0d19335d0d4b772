"""Why did this agent run stop? Guards for LLM agent loops, and exactly one reason per run."""

from stoplib.clocks import ManualClock, TickClock
from stoplib.drivers import run, steps
from stoplib.events import Event, print_trace
from stoplib.fakes import script
from stoplib.guards import Guard, max_steps, time_limit
from stoplib.messages import Fatal, Reply, ToolCall, Usage, answer, batch, call
from stoplib.outcome import Outcome
from stoplib.state import Result, Run, Step
from stoplib.tools import Tool, tool

__version__ = "0.1.0"

__all__ = [
    "Event",
    "Fatal",
    "Guard",
    "ManualClock",
    "Outcome",
    "Reply",
    "Result",
    "Run",
    "Step",
    "TickClock",
    "Tool",
    "ToolCall",
    "Usage",
    "answer",
    "batch",
    "call",
    "max_steps",
    "print_trace",
    "run",
    "script",
    "steps",
    "time_limit",
    "tool",
]
