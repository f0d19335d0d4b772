"""Result files of tau2-bench: simulations with an agent, a simulated user, and tools that both of them call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stoplib.traces.builder import Builder
from stoplib.traces.fields import label_of, moment, money, openai_usage, since, text_of
from stoplib.traces.formats.base import Format, Head, Options, has
from stoplib.traces.formats.openai_messages import call_of
from stoplib.traces.jsonstream import END, Item
from stoplib.traces.trace import ERROR, OK, Trace


class Tau2Bench(Format):
    """`simulations` of a result file, or a bare list of them.

    The agent's calls alone are read: the simulated user calls tools too. The canned greeting at the beginning is no
    model call. A cost of 0 beside tokens is an unknown price.
    """

    name = "tau2-bench"

    def recognises(self, head: Head) -> bool:
        if has(head.first("simulations"), "messages"):
            return True
        return has(head.record, "messages") and bool({"termination_reason", "reward_info"} & set(head.record))

    def records(self, pieces: Iterator[Item]) -> Iterator[Item]:
        """Each simulation, with what the file says of all of them."""
        info: Any = {}
        for item in pieces:
            if item.key == "info":
                info = item.value
            elif item.key == "simulations" and item.number is None or item.value is END:
                continue
            elif item.key in (None, "simulations"):
                yield item._replace(value=(info, item.value)) if isinstance(item.value, dict) else item

    def trace(self, record: Any, options: Options) -> Trace:
        info, simulation = record
        messages = simulation["messages"]
        times = [moment(message.get("timestamp")) for message in messages]
        start = times[0] if times else None
        run = Builder()
        for number, message in enumerate(messages):
            role, text = message["role"], text_of(message.get("content"))
            if role == "user":
                run.asked(text)
            elif role == "assistant":
                if number == 0 and not message.get("tool_calls") and not message.get("usage"):
                    continue
                calls = [call_of(c) for c in message.get("tool_calls") or [] if c.get("requestor") != "user"]
                asked_at = since(start, times[number - 1] if number else start)
                usage, cost = openai_usage(message.get("usage")), money(message.get("cost"))
                run.reply(text, calls, usage=usage, cost=cost, seconds=asked_at)
            elif role == "tool" and message.get("requestor") != "user":
                run.result(text, message.get("id"), ERROR if message.get("error") else OK)
        task = str(simulation["task_id"])
        domain = (info.get("environment_info") or {}).get("domain_name")
        reward = (simulation.get("reward_info") or {}).get("reward")
        return run.trace(
            str(simulation.get("id") or f"{task}/{simulation.get('trial', 0)}"),
            f"{domain}/{task}" if domain else task,
            label=label_of(reward, options.success_at),
            model=str((info.get("agent_info") or {}).get("llm") or ""),
            ended=str(simulation.get("termination_reason") or ""),
            seconds=since(start, times[-1] if times else None),
            errors="flagged",
        )
