"""The lab of chapter 04: the twelve sequences against rules to pick, as a table that fills in."""

from __future__ import annotations

import html
from collections.abc import Iterator
from functools import partial
from typing import Any

from stoplib.course.charts.steps import StepsChart, describe_steps
from stoplib.course.lab.choices import GUARDS
from stoplib.course.lab.panel import Panel
from stoplib.course.lab.player import Player
from stoplib.course.lab.settings import Settings, choose
from stoplib.course.sequences import RIGHT, Sequence, twelve
from stoplib.course.show import picture
from stoplib.outcome import Outcome

RULES = ("repeated_call", "going_in_circles", "no_new_results")
TOGETHER, OPEN = "all together", "?"
MARKS = {RIGHT: "✓ ", OPEN: ""}
START = choose({"repeated_call": 3, "going_in_circles": 2, "no_new_results": 3})


class SequencesState:
    """Rules, and how far the table of the twelve sequences is filled in.

    >>> state = SequencesState()
    >>> state.step()
    >>> state.rows[0][1:]
    ['stop', 'right', 'right', 'right', 'right']
    """

    def __init__(self) -> None:
        self.settings = START
        self.filled = 0
        self.sequences = twelve()

    @property
    def over(self) -> bool:
        return self.filled == len(self.sequences)

    def choose(self, settings: Settings) -> None:
        """Other rules; the rows that are there are judged again."""
        self.settings = settings

    def step(self) -> None:
        """Fill in the next row, the first one if all are there."""
        self.filled = self.filled % len(self.sequences) + 1

    def run(self) -> None:
        """Fill in all rows."""
        self.filled = len(self.sequences)

    def reset(self) -> None:
        """Empty the table."""
        self.filled = 0

    @property
    def heads(self) -> list[str]:
        return ["run", "must", *map(repr, self.settings.guards), TOGETHER]

    @property
    def rows(self) -> list[list[str]]:
        """What is filled in: the sequence, what has to be done with it, and a verdict on each rule and on all."""
        return [self._row(sequence) for sequence in self.sequences[: self.filled]]

    @property
    def waiting(self) -> list[list[str]]:
        """What is still to be filled in: the sequence, and what has to be done with it."""
        return [_named(sequence) for sequence in self.sequences[self.filled :]]

    @property
    def outcome(self) -> Outcome | None:
        """The last run that was filled in, with all rules together."""
        last = self.sequences[self.filled - 1] if self.filled else None
        return last.run(self.settings.guards, self.settings["declared"]) if last else None

    @property
    def sentence(self) -> str:
        """How the rules do together, as far as the table is filled in."""
        right = sum(row[-1] == RIGHT for row in self.rows)
        return (
            f"{self.filled} of {len(self.sequences)} rows are filled in; all together, the rules are right on {right}."
        )

    @property
    def text(self) -> str:
        """The whole table in words."""
        whole = SequencesState()
        whole.choose(self.settings)
        whole.run()
        told = (map(": ".join, zip(self.heads[2:], row[2:], strict=True)) for row in whole.rows)
        rows = [", ".join([*row[:2], *verdicts]) for row, verdicts in zip(whole.rows, told, strict=True)]
        return "\n".join(["Lab: twelve runs and your rules", whole.sentence, *rows, self.settings.code])

    def _row(self, sequence: Sequence) -> list[str]:
        guards, declared = self.settings.guards, self.settings["declared"]
        verdicts = [sequence.verdict(rules, declared) for rules in (*([guard] for guard in guards), guards)]
        return [*_named(sequence), *verdicts]


def _named(sequence: Sequence) -> list[str]:
    return [f"{sequence.number} {sequence.name}", sequence.must]


class SequencesLab(Panel):
    """The table, its rules to pick, and the strip of the run that was filled in last."""

    def __init__(self) -> None:
        self.state = SequencesState()
        self.player = Player(self._tick)
        self._chart = StepsChart()
        super().__init__()

    def __repr__(self) -> str:
        return self.state.text

    def parts(self) -> Iterator[Any]:
        settings = self.state.settings
        self.code, self.table, self.picture = (self.widgets.HTML() for _ in range(3))
        for name in RULES:
            change, switch = partial(self._change, name), partial(self._switch, name)
            yield self.guard(name, GUARDS[name], settings[name], True, change, switch)
        yield self.switch("declared", "Tools declare what they are", True, partial(self._change, "declared"))
        yield self.row(
            self.button(name, partial(self._press, name)) for name in ("Run", "Step", "Play", "Pause", "Reset")
        )
        yield from (self.status, self.picture, self.table, self.code)

    def draw(self) -> None:
        state = self.state
        self.say(state.sentence)
        outcome = state.outcome
        self.picture.value = picture(self._chart.draw(outcome), describe_steps(outcome)) if outcome else ""
        self.table.value = _table(state)
        self.code.value = f'<pre class="stop-code">{html.escape(state.settings.code)}</pre>'

    def _change(self, name: str, value: Any) -> None:
        self.state.choose(self.state.settings.change(name, value))

    def _switch(self, name: str, on: bool) -> None:
        self.state.choose(self.state.settings.switch(name, on))

    def _press(self, button: str) -> None:
        self.player.pause()
        match button:
            case "Run":
                self.state.run()
            case "Step":
                self.state.step()
            case "Play":
                self.player.play()
            case "Reset":
                self.state.reset()

    def _tick(self) -> bool:
        return self.safely(self._step)() and not self.state.over

    def _step(self) -> None:
        self.state.step()
        self.draw()


def _table(state: SequencesState) -> str:
    """The table in HTML. What is not right is marked, and said, and what is not filled in yet is a question."""
    heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in state.heads)
    open_ = [[*row, *(OPEN for _ in state.heads[2:])] for row in state.waiting]
    rows = "".join(map(_row, [*state.rows, *open_]))
    return (
        '<table class="stop-table"><caption>The runs and the verdicts on the rules</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(row: list[str]) -> str:
    name, must, *verdicts = row
    cells = "".join(f"<td>{MARKS.get(verdict, '✗ ')}{verdict}</td>" for verdict in verdicts)
    return f'<tr><th scope="row">{html.escape(name)}</th><td>{must}</td>{cells}</tr>'
