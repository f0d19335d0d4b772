"""openai-agents: a Runner and a Model of our own. `max_turns` is the only limit of its loop; tracing is off."""

import json

from agents import Agent, MaxTurnsExceeded, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall
from workload import TOKENS_IN, TOKENS_OUT, main


class Scripted(Model):
    """The scripted model."""

    def __init__(self, work):
        self.work = work

    async def get_response(self, *args, **kwargs):
        key = self.work.ask()
        arguments = json.dumps({"key": key})
        call = ResponseFunctionToolCall(type="function_call", name="lookup", call_id=key, arguments=arguments)
        tokens = {"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT}
        return ModelResponse(output=[call], usage=Usage(requests=1, **tokens), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def prepare(n, work):
    """A run of n steps."""

    async def lookup(key: str) -> str:
        """Look one key up."""
        return work.lookup(key)

    agent = Agent(name="benchmark", tools=[function_tool(lookup)], model=Scripted(work))
    config = RunConfig(tracing_disabled=True)

    async def go():
        try:
            await Runner.run(agent, "go", max_turns=n, run_config=config)
        except MaxTurnsExceeded:
            return "max_turns"
        return "answered"

    return go


if __name__ == "__main__":
    main("openai-agents", "openai-agents", "steps", prepare)
