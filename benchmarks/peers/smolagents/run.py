"""smolagents: a ToolCallingAgent and a Model of our own. `max_steps` is the only limit of its loop."""

from smolagents import LogLevel, Model, TokenUsage, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from workload import TOKENS_IN, TOKENS_OUT, main


class Scripted(Model):
    """The scripted model. At the cap it is asked once more, without tools, for a closing answer."""

    def __init__(self, work):
        super().__init__(model_id="scripted")
        self.work = work

    def generate(self, messages, stop_sequences=None, response_format=None, tools_to_call_from=None, **kwargs):
        key = self.work.ask()
        usage = TokenUsage(input_tokens=TOKENS_IN, output_tokens=TOKENS_OUT)
        if not tools_to_call_from:
            return ChatMessage(role=MessageRole.ASSISTANT, content="at the cap", token_usage=usage)
        function = ChatMessageToolCallFunction(name="lookup", arguments={"key": key})
        call = ChatMessageToolCall(id=key, type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call], token_usage=usage)


class Lookup(Tool):
    """The tool."""

    name = "lookup"
    description = "Look one key up."
    inputs = {"key": {"type": "string", "description": "what to look up"}}
    output_type = "string"

    def __init__(self, work):
        super().__init__()
        self.work = work

    def forward(self, key):
        return self.work.lookup(key)


def prepare(n, work):
    """A run of n steps."""
    agent = ToolCallingAgent(tools=[Lookup(work)], model=Scripted(work), max_steps=n, verbosity_level=LogLevel.OFF)

    def go():
        answer = agent.run("go")
        errors = [type(step.error).__name__ for step in agent.memory.steps[-2:] if getattr(step, "error", None)]
        return errors[-1] if errors else answer

    return go


if __name__ == "__main__":
    main("smolagents", "smolagents", "steps", prepare)
