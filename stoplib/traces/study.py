"""From sums over runs to findings: a row for each guard and number, trials, and a proposal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoplib.guards import max_steps
from stoplib.traces.choosing import Trial, chosen, halves, trial
from stoplib.traces.estimates import Bootstrap, Share
from stoplib.traces.findings import Findings, Proposed, Row
from stoplib.traces.ladders import Ladder
from stoplib.traces.tally import SPENT, Group, Tally, together
from stoplib.traces.trace import ENOUGH, FAILURE, LABELS, SUCCESS
from stoplib.traces.wording import notes, outcome_of_trial, reason, refusal, sentence, why_not

HEADROOMS = (1.0, 1.5, 2.0, 3.0)


class Study:
    """What is to be said of a tally."""

    def __init__(self, tally: Tally, headroom: float, seed: int) -> None:
        self.tally = tally
        self.headroom = headroom
        self.seed = seed
        self.unjudged = {ladder.name: why for ladder in tally.ladders if (why := why_not(ladder, tally.report))}
        self.judged = [(n, ladder) for n, ladder in enumerate(tally.ladders) if ladder.name not in self.unjudged]
        report = tally.report
        self.known = {"calls"}
        if report.share_known("usage") >= ENOUGH:
            self.known.add("tokens")
        if report.share_known("cost") >= ENOUGH or (tally.price is not None and "tokens" in self.known):
            self.known.add("money")

    def findings(self) -> Findings:
        """All of it, but for the trial of the whole set."""
        report = self.tally.report
        refused = refusal(report, len(self.tally.groups))
        trials = {} if refused else self._trials()
        return Findings(
            report=report,
            tasks=len(self.tally.groups),
            successes=report.labels[SUCCESS],
            failures=report.labels[FAILURE],
            headroom=self.headroom,
            known=self.known,
            rows=self._rows(),
            unjudged=self.unjudged,
            trials=trials,
            proposal=[] if refused else self.proposal(list(self.tally.groups), trials),
            refused=refused,
            notes=notes(report),
        )

    def proposal(self, names: Sequence[str], trials: Mapping[str, list[Trial]]) -> list[Proposed]:
        """The guards that the runs of these groups speak for: those that stop a failure, and a bound in any case."""
        runs = together(self.tally.groups[name] for name in names)
        found = []
        for place, ladder in self.judged:
            rung = chosen(ladder, place, runs, self.headroom)
            if rung is None:
                continue
            guard = ladder.guards[rung]
            stops = (place, rung, FAILURE) in runs.cut
            if stops or isinstance(guard, max_steps):
                successes, size = runs.ran[place, SUCCESS].runs, runs.sizes.get(ladder.size, 0)
                why = reason(ladder, ladder.numbers[rung], self.headroom, successes, size, stops)
                tests = trials.get(ladder.name, ())
                tested = [outcome_of_trial(one) for one in tests if one.headroom == self.headroom]
                found.append(Proposed(guard, sentence(why, *tested)))
        return found

    def _trials(self) -> dict[str, list[Trial]]:
        trials = {}
        splits = halves(self.tally, self.seed)
        for place, ladder in self.judged:
            tried = (trial(ladder, place, factor, splits) for factor in sorted({*HEADROOMS, self.headroom}))
            trials[ladder.name] = [one for one in tried if one is not None]
        return {name: tried for name, tried in trials.items() if tried}

    def _rows(self) -> list[Row]:
        groups = [self.tally.groups[name] for name in sorted(self.tally.groups)]
        whole = together(groups)
        bootstrap = Bootstrap(len(groups), self.seed)
        rows = []
        for place, ladder in self.judged:
            of_ladder = Shares(groups, place, bootstrap, self.known)
            for rung in range(len(ladder.numbers)):
                rows.append(_row(ladder, place, rung, whole, of_ladder))
                if not rows[-1].cut:
                    break
        return rows


class Shares:
    """What one ladder saves and forgoes, as shares of what all runs used, with intervals by task."""

    def __init__(self, groups: Sequence[Group], place: int, bootstrap: Bootstrap, known: set[str]) -> None:
        self._groups = groups
        self._place = place
        self._bootstrap = bootstrap
        self._wholes = {what: [group.used(place, what) for group in groups] for what in SPENT if what in known}

    def of(self, rung: int, label: str) -> dict[str, Share | None]:
        """The shares that a number cuts off the runs with this label; None for what is unknown."""
        cells = {n: group.cut.get((self._place, rung, label)) for n, group in enumerate(self._groups)}
        found: dict[str, Share | None] = dict.fromkeys(SPENT)
        for what, wholes in self._wholes.items():
            parts = {n: float(getattr(cell, what)) for n, cell in cells.items() if cell is not None}
            found[what] = self._bootstrap.ratio(parts, wholes)
        return found


def _row(ladder: Ladder, place: int, rung: int, whole: Group, shares: Shares) -> Row:
    ran = {label: spent.runs if (spent := whole.ran.get((place, label))) else 0 for label in LABELS}
    cut = {label: spent.runs if (spent := whole.cut.get((place, rung, label))) else 0 for label in LABELS}
    return Row(
        guard=ladder.make(ladder.numbers[rung]),
        name=ladder.name,
        number=ladder.numbers[rung],
        cut=sum(cut.values()),
        runs=sum(ran.values()),
        stopped=cut[FAILURE],
        failures=ran[FAILURE],
        lost=cut[SUCCESS],
        successes=ran[SUCCESS],
        saved=shares.of(rung, FAILURE),
        forgone=shares.of(rung, SUCCESS),
    )
