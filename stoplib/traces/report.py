"""What was read, what was dropped, and what is unknown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from stoplib.traces.trace import LABELS, Trace

EXAMPLES = 10


@dataclass
class Report:
    """Counts of a reading; two of them add up.

    files      files with runs, by format
    runs       runs that were read, by format
    models     runs by model
    labels     runs by label
    known      runs whose recording says enough about usage, cost, seconds, errors, arguments, results
    errors     runs by how failed calls are known: flagged, guessed, unknown
    steps, tool_calls, with_usage, without_result, stray     model calls; tool calls; model calls with usage; calls
                                                             without a result; results that belong to no call
    totals_only     runs that have their tokens or their cost only as one sum
    dropped    what could not be read: how many, by reason
    examples   the first of what was dropped, with its place

    >>> one = Report(); one.drop("runs.json", "record 3", "not one step")
    >>> (one + one).dropped
    Counter({'not one step': 2})
    """

    files: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    steps: int = 0
    tool_calls: int = 0
    with_usage: int = 0
    without_result: int = 0
    stray: int = 0
    totals_only: int = 0

    def count(self, trace: Trace) -> None:
        """One more run was read."""
        self.runs[trace.format] += 1
        self.models[trace.model] += 1
        self.labels[trace.label] += 1
        self.errors[trace.errors] += 1
        known = trace.known
        self.known.update(known)
        self.steps += len(trace.steps)
        self.stray += trace.stray
        self.totals_only += (trace.usage or trace.cost) is not None and "usage" not in known
        for step in trace.steps:
            self.tool_calls += step.carried_out
            self.with_usage += step.usage is not None
            self.without_result += step.results.count(None)

    def drop(self, file: str, place: str, why: str, detail: str = "") -> None:
        """Something could not be read."""
        self.dropped[why] += 1
        if len(self.examples) < EXAMPLES:
            where = ", ".join(part for part in (file, place) if part)
            self.examples.append(": ".join(part for part in (where, why, detail) if part))

    @property
    def total(self) -> int:
        """All runs that were read."""
        return self.runs.total()

    def share_known(self, what: str) -> float:
        """The share of the runs whose recording says enough about this."""
        return self.known[what] / self.total if self.total else 0.0

    def __add__(self, other: Report) -> Report:
        total = Report(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})
        del total.examples[EXAMPLES:]
        return total

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data, in an order that depends on nothing else."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            name: dict(sorted(value.items(), key=str)) if isinstance(value, Counter) else value
            for name, value in found.items()
        }

    def __str__(self) -> str:
        """The report in words, a line for each thing.

        >>> print(Report())
        nothing was read
        """
        return "\n".join(self._lines()) or "nothing was read"

    def _lines(self) -> list[str]:
        if not self.total and not self.dropped:
            return []
        formats = ", ".join(f"{n:,} {name} ({_number(self.files[name], 'file')})" for name, n in self.runs.items())
        lines = [
            f"read     {_number(self.total, 'run')}{f': {formats}' if formats else ''}",
            f"         {_number(self.steps, 'model call')}, {_number(self.tool_calls, 'tool call')}",
            "labels   " + ", ".join(f"{self.labels[label]:,} {label}" for label in LABELS),
        ]
        if named := {model: n for model, n in self.models.items() if model}:
            lines.append("models   " + ", ".join(f"{model} ({n:,})" for model, n in sorted(named.items())))
        lines += [f"known    {line}" for line in self._coverage()]
        lines += [f"dropped  {n:,}: {why}" for why, n in self.dropped.most_common()]
        lines += [f"         {example}" for example in self.examples]
        return lines

    def _coverage(self) -> list[str]:
        used = f"{self.with_usage:,} of {_number(self.steps, 'model call')}"
        lines = [
            f"tokens of {used}" + (f"; only one sum for {_number(self.totals_only, 'run')}" if self.totals_only else "")
        ]
        lines.append(
            f"cost in {self.known['cost']:,} of {_number(self.total, 'run')}, times in {self.known['seconds']:,}"
        )
        errors = ", ".join(f"{how} in {n:,}" for how, n in self.errors.most_common())
        lines.append(f"failed calls: {errors or 'no run'}")
        missing = [(self.total - self.known[what], what) for what in ("arguments", "results")]
        lines += [f"no {what} in {_number(n, 'run')}" for n, what in missing if n]
        if self.without_result or self.stray:
            calls, results = _number(self.without_result, "call"), _number(self.stray, "result")
            lines.append(f"{calls} without a result, {results} without a call")
        return lines


def _number(n: int, thing: str) -> str:
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"
