"""Trajectories of mini-swe-agent: shell commands in messages, with the return code in the observation."""

from __future__ import annotations

import re
from typing import Any

from stoplib.messages import ToolCall
from stoplib.traces.builder import Builder
from stoplib.traces.fields import moment, money, openai_usage, since, text_of
from stoplib.traces.formats.base import Format, Head, Options, has
from stoplib.traces.trace import ERROR, OK, Trace

COMMAND = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)
OBSERVATION = re.compile(r"\A\s*(?:<exception>.*?</exception>\s*)?<returncode>(-?\d+)</returncode>", re.DOTALL)
TIMED_OUT = "timed out and has been killed"
OUTPUT = re.compile(r"<output>\n?(.*?)\n?(?:</output>|\Z)", re.DOTALL)


class MiniSweAgent(Format):
    """`messages` of a `.traj.json` file, or a bare list of them.

    A command's output is taken out of its wrapping, so that an empty one is empty. A return code other than 0 counts
    as a failed call, which is a guess: a search without a hit has one too.
    """

    name = "mini-swe-agent"

    def recognises(self, head: Head) -> bool:
        if str(head.members.get("trajectory_format", "")).startswith("mini-swe-agent"):
            return True
        if head.members.get("messages") and has(head.members.get("info"), "exit_status", "model_stats"):
            return True
        return any(_is_observation(message) for message in head.messages)

    def trace(self, record: Any, options: Options) -> Trace:
        about = record if isinstance(record, dict) else {}
        messages = record if isinstance(record, list) else record["messages"]
        times = [moment((message.get("extra") or {}).get("timestamp")) for message in messages]
        start = next((time for time in times if time is not None), None)
        before: float | None = start
        run = Builder()
        for message, time in zip(messages, times, strict=True):
            extra, role, text = message.get("extra") or {}, message["role"], text_of(message.get("content"))
            if role == "assistant":
                usage = openai_usage((extra.get("response") or {}).get("usage"))
                seconds = since(start, before) if time is not None else None
                run.reply(text, _calls(text, extra), usage=usage, cost=money(extra.get("cost")), seconds=seconds)
            elif role in ("tool", "user") and run.waiting:
                result, status = _observed(text, extra)
                run.result(result, message.get("tool_call_id"), status)
            elif role == "user":
                run.asked(text)
            before = time if time is not None else before
        info = about.get("info") or {}
        stats = info.get("model_stats") or {}
        config = (info.get("config") or {}).get("model") or {}
        return run.trace(
            options.name,
            options.name,
            model=str(config.get("model_name") or ""),
            ended=str(info.get("exit_status") or ""),
            cost=money(stats.get("instance_cost")),
            seconds=since(start, before) if start is not None else None,
            errors="guessed",
        )


def _is_observation(message: dict[str, Any]) -> bool:
    if message.get("role") != "user":
        return False
    return OBSERVATION.match(text_of(message.get("content"))) is not None or "returncode" in (
        message.get("extra") or {}
    )


def _calls(text: str, extra: dict[str, Any]) -> list[ToolCall]:
    actions = extra.get("actions")
    if actions is None:
        commands = COMMAND.findall(text)
        actions = [{"command": commands[0].strip()}] if len(commands) == 1 else []
    return [ToolCall("bash", {"command": action["command"]}, action.get("tool_call_id")) for action in actions]


def _observed(text: str, extra: dict[str, Any]) -> tuple[str, str]:
    """The output of a command, and whether its return code says that it failed."""
    code = extra.get("returncode")
    if code is None and (found := OBSERVATION.match(text)):
        code = int(found[1])
    output = extra.get("raw_output")
    if output is None:
        found = OUTPUT.search(text)
        output = found[1] if found else text
    return str(output).strip(), ERROR if code not in (0, None) or (code is None and TIMED_OUT in text) else OK
