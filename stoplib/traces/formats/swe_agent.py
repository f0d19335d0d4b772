"""Trajectories of SWE-agent: one action per step. Their label is in the evaluation's report, by instance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stoplib.messages import ToolCall
from stoplib.traces.builder import Builder
from stoplib.traces.fields import money, text_of, usage_of
from stoplib.traces.formats.base import Format, Head, Options, has
from stoplib.traces.jsonstream import Item
from stoplib.traces.records import assembled
from stoplib.traces.trace import Trace

HEAVY = ("query", "messages", "state")
"""What a step repeats and nobody needs: the whole prompt, the files that are open."""


class SweAgent(Format):
    """`trajectory` of a `.traj` file. The first word of a command is the name of its tool.

    Tokens and cost are those of the whole run; those received leave out the tool calls, so they say little.
    """

    name = "SWE-agent"

    def recognises(self, head: Head) -> bool:
        return has(head.first("trajectory"), "action", "observation")

    def records(self, pieces: Iterator[Item]) -> Iterator[Item]:
        """The whole file, without what is heavy in it."""
        return assembled(_lighter(item) for item in pieces if item.key not in ("history", "replay_config"))

    def trace(self, record: Any, options: Options) -> Trace:
        run = Builder()
        for step in record["trajectory"]:
            action = text_of(step.get("action")).strip()
            words = text_of(step.get("response") or step.get("thought"))
            if not action:
                run.reply(words)
                continue
            run.reply(words, [ToolCall(action.split(maxsplit=1)[0], {"command": action})])
            if step.get("observation") is not None:
                result = text_of(step["observation"]).replace("\r\n", "\n")
                run.result(result, status=options.status(result))
        info = record.get("info") or {}
        stats = info.get("model_stats") or {}
        return run.trace(
            options.name,
            options.name,
            model=str(info.get("model_name") or ""),
            ended=str(info.get("exit_status") or ""),
            usage=usage_of(stats.get("tokens_sent"), stats.get("tokens_received"), inside=False),
            cost=money(stats.get("instance_cost")),
            errors=options.guesses,
        )


def _lighter(item: Item) -> Item:
    if item.key != "trajectory" or item.number is None or not isinstance(item.value, dict):
        return item
    return item._replace(value={name: value for name, value in item.value.items() if name not in HEAVY})
