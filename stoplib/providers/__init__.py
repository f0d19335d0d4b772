"""Real clients as models: `run(anthropic_messages(client, …), task)`.

The clients are optional: `pip install stoplib[anthropic]`, `pip install stoplib[openai]`. You make them, with your
key, your address and your timeouts; this package never imports them. See docs/your-own-client.md.
"""

from stoplib.providers.chat_completions import openai_chat
from stoplib.providers.messages import anthropic_messages
from stoplib.providers.model import AsyncClientModel, ClientModel
from stoplib.providers.parts import BrokenReply
from stoplib.providers.responses import openai_responses

__all__ = ["AsyncClientModel", "BrokenReply", "ClientModel", "anthropic_messages", "openai_chat", "openai_responses"]
