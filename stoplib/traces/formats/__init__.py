"""The formats of recorded runs that can be read, each in a file of its own."""

from stoplib.traces.formats.anthropic_messages import AnthropicMessages
from stoplib.traces.formats.base import Format, Head, Options
from stoplib.traces.formats.claude_code import ClaudeCode
from stoplib.traces.formats.inspect_logs import InspectLogs
from stoplib.traces.formats.mini_swe_agent import MiniSweAgent
from stoplib.traces.formats.openai_messages import OpenAIMessages
from stoplib.traces.formats.opentelemetry import OpenTelemetry
from stoplib.traces.formats.ours import Ours
from stoplib.traces.formats.swe_agent import SweAgent
from stoplib.traces.formats.tau2_bench import Tau2Bench
from stoplib.traces.formats.tau_bench import TauBench

FORMATS: tuple[Format, ...] = (
    Ours(),
    ClaudeCode(),
    Tau2Bench(),
    TauBench(),
    InspectLogs(),
    MiniSweAgent(),
    SweAgent(),
    OpenTelemetry(),
    AnthropicMessages(),
    OpenAIMessages(),
)
"""In the order in which they are asked: the last ones recognise what any of the others may contain."""

__all__ = ["FORMATS", "Format", "Head", "Options"]
