"""Guards: stop rules that the model cannot influence.

A guard looks at the run and returns a text, which ends the run, or None. Its name is the reason.
"""

from stoplib.guards.budgets import (
    cost_budget,
    max_steps,
    max_tool_calls,
    rough_token_budget,
    time_limit,
    token_budget,
)
from stoplib.guards.core import GATES, Guard, Limit
from stoplib.guards.daily import daily_cap
from stoplib.guards.guardset import Fired, GuardSet, Look
from stoplib.guards.outside import cancelled, goal_reached
from stoplib.guards.repetition import going_in_circles, no_new_results, repeated_call, repeated_round
from stoplib.guards.trouble import too_many_errors, too_many_refusals

__all__ = [
    "GATES",
    "Fired",
    "Guard",
    "GuardSet",
    "Limit",
    "Look",
    "cancelled",
    "cost_budget",
    "daily_cap",
    "goal_reached",
    "going_in_circles",
    "max_steps",
    "max_tool_calls",
    "no_new_results",
    "repeated_call",
    "repeated_round",
    "rough_token_budget",
    "time_limit",
    "token_budget",
    "too_many_errors",
    "too_many_refusals",
]
