"""autogen-agentchat: an AssistantAgent in a team of one, under three termination conditions."""

import json

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination, TimeoutTermination, TokenUsageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, ModelFamily, RequestUsage
from workload import LONG, MANY, TOKENS_IN, TOKENS_OUT, main


class Scripted(ChatCompletionClient):
    """The scripted model, with all that the base class asks for."""

    model_info = capabilities = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "structured_output": False,
        "family": ModelFamily.UNKNOWN,
    }

    def __init__(self, work):
        self.work = work

    async def create(self, messages, **kwargs):
        key = self.work.ask()
        call = FunctionCall(id=key, name="lookup", arguments=json.dumps({"key": key}))
        usage = RequestUsage(prompt_tokens=TOKENS_IN, completion_tokens=TOKENS_OUT)
        return CreateResult(finish_reason="function_calls", content=[call], usage=usage, cached=False)

    def create_stream(self, messages, **kwargs):
        raise NotImplementedError

    async def close(self):
        pass

    def actual_usage(self):
        return RequestUsage(prompt_tokens=0, completion_tokens=0)

    total_usage = actual_usage

    def count_tokens(self, messages, **kwargs):
        return 0

    def remaining_tokens(self, messages, **kwargs):
        return MANY


def agent(work, **options):
    """An agent with the tool and the scripted model."""

    async def lookup(key: str) -> str:
        """Look one key up."""
        return work.lookup(key)

    return AssistantAgent("benchmark", model_client=Scripted(work), tools=[lookup], **options)


def prepare(n, work):
    """A run of n steps."""
    cap = MaxMessageTermination(n + 1)  # it counts the task as well
    condition = cap | TokenUsageTermination(max_total_token=MANY) | TimeoutTermination(LONG)
    team = RoundRobinGroupChat([agent(work)], termination_condition=condition)

    async def go():
        return (await team.run(task="go")).stop_reason

    return go


if __name__ == "__main__":
    main("autogen, team of one", "autogen-agentchat", "steps, tokens, time", prepare)
