"""langchain on langgraph: create_agent with both call limits as middleware, and the graph's own recursion limit."""

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from workload import MANY, TOKENS_IN, TOKENS_OUT, main

TASK = {"messages": [{"role": "user", "content": "go"}]}
USAGE = {"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT}


class Scripted(BaseChatModel):
    """The scripted model."""

    work: object

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        key = self.work.ask()
        call = {"name": "lookup", "args": {"key": key}, "id": key, "type": "tool_call"}
        message = AIMessage(content="", tool_calls=[call], usage_metadata=USAGE)
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent(work, **options):
    """An agent with the tool and the scripted model."""

    def lookup(key: str) -> str:
        """Look one key up."""
        return work.lookup(key)

    return create_agent(Scripted(work=work), tools=[lookup], **options)


def prepare(n, work):
    """A run of n steps."""
    model_calls = ModelCallLimitMiddleware(run_limit=n, exit_behavior="end")
    limited = agent(work, middleware=[model_calls, ToolCallLimitMiddleware(run_limit=MANY)])
    return lambda: limited.invoke(TASK, {"recursion_limit": 10**7})["messages"][-1].content


if __name__ == "__main__":
    main("langchain, with middleware", "langchain", "steps, tool calls", prepare)
