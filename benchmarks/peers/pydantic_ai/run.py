"""pydantic-ai: an Agent with a FunctionModel, every UsageLimits that needs no price list, and a time-out."""

from pydantic_ai import Agent, UsageLimitExceeded, UsageLimits
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage
from workload import LONG, MANY, TOKENS_IN, TOKENS_OUT, main


def prepare(n, work):
    """A run of n steps."""

    async def lookup(key: str) -> str:
        """Look one key up."""
        return work.lookup(key)

    async def model(messages, info):
        usage = RequestUsage(input_tokens=TOKENS_IN, output_tokens=TOKENS_OUT)
        return ModelResponse(parts=[ToolCallPart("lookup", {"key": work.ask()})], usage=usage)

    agent = Agent(FunctionModel(model), tools=[lookup])
    limits = UsageLimits(
        request_limit=n,
        tool_calls_limit=MANY,
        input_tokens_limit=MANY,
        output_tokens_limit=MANY,
        total_tokens_limit=MANY,
        per_request_input_tokens_limit=MANY,
    )

    async def go():
        try:
            await agent.run("go", usage_limits=limits, timeout=LONG)
        except UsageLimitExceeded:
            return "request_limit"
        return "answered"

    return go


if __name__ == "__main__":
    main("pydantic-ai", "pydantic-ai-slim", "steps, tokens, time, tool calls", prepare)
