"""Why did this agent run stop? Guards for LLM agent loops, and exactly one reason per run."""

from stoplib.clocks import ManualClock, TickClock
from stoplib.drivers import arun, run, steps
from stoplib.events import Event, print_trace
from stoplib.fakes import script
from stoplib.guards import (
    Guard,
    Limit,
    cancelled,
    cost_budget,
    daily_cap,
    goal_reached,
    going_in_circles,
    max_steps,
    max_tool_calls,
    no_new_results,
    repeated_call,
    repeated_round,
    rough_token_budget,
    time_limit,
    token_budget,
    too_many_errors,
    too_many_refusals,
)
from stoplib.messages import Fatal, Reply, ToolCall, Usage, answer, batch, call
from stoplib.nesting import current_run
from stoplib.outcome import Outcome
from stoplib.recording import IncompleteRecording, load
from stoplib.replaying import replay
from stoplib.state import Run
from stoplib.tools import Tool, tool
from stoplib.transcript import Result, Step

__version__ = "0.1.0"

__all__ = [
    "Event",
    "Fatal",
    "Guard",
    "IncompleteRecording",
    "Limit",
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
    "arun",
    "batch",
    "call",
    "cancelled",
    "cost_budget",
    "current_run",
    "daily_cap",
    "goal_reached",
    "going_in_circles",
    "load",
    "max_steps",
    "max_tool_calls",
    "no_new_results",
    "print_trace",
    "repeated_call",
    "repeated_round",
    "replay",
    "rough_token_budget",
    "run",
    "script",
    "steps",
    "time_limit",
    "token_budget",
    "too_many_errors",
    "too_many_refusals",
    "tool",
]
