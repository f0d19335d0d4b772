"""Guards: stop rules that the model cannot influence.

A guard looks at the run and returns a text, which ends the run, or None. Its name is the reason.
"""

from stoplib.guards.budgets import max_steps, time_limit
from stoplib.guards.core import GATES, Guard, GuardSet

__all__ = ["GATES", "Guard", "GuardSet", "max_steps", "time_limit"]
