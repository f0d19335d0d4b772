"""strands-agents: an Agent and a Model of our own, under the three limits of a run.

Its loop calls itself once per turn, so as shipped a long run dies of Python's recursion limit.
"""

import json

from strands import Agent, tool
from strands.models import Model
from strands.types.exceptions import EventLoopException
from workload import MANY, TOKENS_IN, TOKENS_OUT, main

USAGE = {"inputTokens": TOKENS_IN, "outputTokens": TOKENS_OUT, "totalTokens": TOKENS_IN + TOKENS_OUT}


class Scripted(Model):
    """The scripted model, with all that the base class asks for."""

    def __init__(self, work):
        self.work = work

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        key = self.work.ask()
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {"toolUse": {"name": "lookup", "toolUseId": key}}}}
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps({"key": key})}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}
        yield {"metadata": {"usage": USAGE, "metrics": {"latencyMs": 0}}}


def prepare(n, work):
    """A run of n steps."""

    @tool
    async def lookup(key: str) -> str:
        """Look one key up.

        Args:
            key: what to look up
        """
        return work.lookup(key)

    agent = Agent(model=Scripted(work), tools=[lookup], callback_handler=None)
    limits = {"turns": n, "total_tokens": MANY, "output_tokens": MANY}

    async def go():
        try:
            return (await agent.invoke_async("go", limits=limits)).stop_reason
        except EventLoopException as error:
            return f"{type(error.original_exception).__name__} in turn {work.model_calls}"

    return go


if __name__ == "__main__":
    main("strands-agents", "strands-agents", "steps, tokens", prepare)
