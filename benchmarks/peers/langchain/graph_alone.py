"""langgraph without middleware: its recursion limit is then the only limit."""

from langgraph.errors import GraphRecursionError
from run import TASK, agent
from workload import main


def prepare(n, work):
    """A run of n steps."""
    unlimited = agent(work)

    def go():
        try:
            unlimited.invoke(TASK, {"recursion_limit": 2 * n})  # it counts model calls and rounds of tools
        except GraphRecursionError:
            return "recursion_limit"
        return "answered"

    return go


if __name__ == "__main__":
    main("langgraph alone", "langgraph", "steps", prepare)
