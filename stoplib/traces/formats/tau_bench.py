"""Result files of tau-bench, version 1: many runs in one array, in OpenAI's messages."""

from __future__ import annotations

import re
from typing import Any

from stoplib.traces.builder import Builder
from stoplib.traces.fields import label_of, text_of
from stoplib.traces.formats.base import Format, Head, Options, has
from stoplib.traces.formats.openai_messages import calls_of
from stoplib.traces.trace import Trace

ERRORS = re.compile(r"\AError")


class TauBench(Format):
    """No tokens, no times. A failed call is one whose result begins with `Error`, unless the options say otherwise."""

    name = "tau-bench"

    def recognises(self, head: Head) -> bool:
        return has(head.object, "traj")

    def trace(self, record: Any, options: Options) -> Trace:
        options = options if options.errors else options._replace(errors=ERRORS)
        run = Builder()
        for message in record["traj"]:
            role, text = message["role"], text_of(message.get("content"))
            if role == "user":
                run.asked(text)
            elif role == "assistant":
                run.reply(text, calls_of(message))
            elif role == "tool":
                run.result(text, message.get("tool_call_id"), options.status(text))
        task = str(record["task_id"])
        label = label_of(record.get("reward"), options.success_at)
        return run.trace(f"{task}/{record.get('trial', 0)}", task, label=label, errors="guessed")
