"""The real APIs, for a fraction of a cent: only when it is asked for, and with a key. Docs: docs/your-own-client.md."""

import os

import pytest

from stoplib import max_steps, run, time_limit, token_budget, tool
from stoplib.providers import anthropic_messages, openai_chat, openai_responses

MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-5-nano"}
CHECKS = {
    "anthropic_messages": (anthropic_messages, "anthropic", "Anthropic"),
    "openai_chat": (openai_chat, "openai", "OpenAI"),
    "openai_responses": (openai_responses, "openai", "OpenAI"),
}


@tool
def population(city: str) -> str:
    """Look up how many people live in a city."""
    return f"{city}: 123,456 people"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", CHECKS)
def test_a_run(name, stream, capsys):
    """A run with a tool ends as answered, with the tool's result in the answer and tokens counted."""
    adapter, package, client = CHECKS[name]
    if os.environ.get("STOPLIB_LIVE_CHECK") != "1":
        pytest.skip("it costs a little: set STOPLIB_LIVE_CHECK to 1")
    if not os.environ.get(f"{package.upper()}_API_KEY"):
        pytest.skip(f"there is no key in {package.upper()}_API_KEY")
    with getattr(pytest.importorskip(package), client)() as real:
        model = adapter(real, MODELS[package], max_output_tokens=1000, stream=stream, timeout=60)
        outcome = run(
            model,
            "How many people live in Springfield? Look it up, and answer with the number alone.",
            tools=[population],
            guards=[token_budget(10_000), max_steps(4), time_limit(120)],
        )
    with capsys.disabled():
        print(f"\n{name}, {'stream' if stream else 'whole'}: {outcome.reason}, {outcome.steps} steps, {outcome.usage}")
    assert (outcome.reason, outcome.tool_calls >= 1) == ("answered", True), outcome.detail
    assert "123" in outcome.answer
    assert outcome.usage.input > 0 and outcome.usage.output > 0
