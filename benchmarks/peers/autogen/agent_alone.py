"""autogen-agentchat: the agent without a team. It then has a step cap and no other limit."""

from run import agent
from workload import main


def prepare(n, work):
    """A run of n steps."""
    alone = agent(work, max_tool_iterations=n)

    async def go():
        await alone.run(task="go")
        return "max_tool_iterations"

    return go


if __name__ == "__main__":
    main("autogen, agent alone", "autogen-agentchat", "steps", prepare)
