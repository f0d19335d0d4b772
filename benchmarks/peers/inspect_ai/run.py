"""inspect_ai: a plain tool loop under all of its limits, outside an evaluation, and a ModelAPI of our own.

Its own mock model copies the whole input on every call and is slower.
"""

from inspect_ai.agent import agent, run
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, execute_tools, get_model, modelapi
from inspect_ai.tool import tool
from inspect_ai.util import message_limit, time_limit, token_limit, turn_limit, working_limit
from workload import LONG, MANY, TOKENS_IN, TOKENS_OUT, main


@modelapi(name="scripted")
class Scripted(ModelAPI):
    """The scripted model."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, work=None):
        super().__init__(model_name, base_url, api_key, [], config)
        self.work = work

    async def generate(self, input, tools, tool_choice, config):
        key = self.work.ask()
        output = ModelOutput.for_tool_call("scripted", "lookup", {"key": key}, tool_call_id=key)
        total = TOKENS_IN + TOKENS_OUT
        output.usage = ModelUsage(input_tokens=TOKENS_IN, output_tokens=TOKENS_OUT, total_tokens=total)
        return output


@tool
def lookup(work):
    """The tool."""

    async def execute(key: str) -> str:
        """Look one key up.

        Args:
            key: what to look up
        """
        return work.lookup(key)

    return execute


@agent
def tool_loop(model, tools):
    """Ask the model, run its tools, again."""

    async def execute(state):
        while True:
            state.output = await model.generate(state.messages, tools)
            state.messages.append(state.output.message)
            if not state.output.message.tool_calls:
                return state
            messages, _ = await execute_tools(state.messages, tools)
            state.messages.extend(messages)

    return execute


def prepare(n, work):
    """A run of n steps."""
    loop = tool_loop(get_model("scripted/model", work=work, memoize=False), [lookup(work)])
    limits = [turn_limit(n), message_limit(MANY), token_limit(MANY), time_limit(LONG), working_limit(LONG)]

    async def go():
        _, error = await run(loop, "go", limits)
        return error.type if error else "answered"

    return go


if __name__ == "__main__":
    main("inspect_ai", "inspect_ai", "steps, messages, tokens, time", prepare)
