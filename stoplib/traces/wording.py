"""What the numbers mean, in sentences: why a guard is proposed, why none is, and what the runs cannot say."""

from __future__ import annotations

from stoplib.traces.choosing import Trial
from stoplib.traces.ladders import Ladder
from stoplib.traces.report import Report
from stoplib.traces.trace import ENOUGH, FAILURE, SUCCESS, UNKNOWN

FEWEST_SUCCESSES = 20
FEWEST_TASKS = 5

UNITS = {
    "steps": "steps",
    "calls": "tool calls, the answer after them counted as one",
    "tokens": "tokens",
    "rough": "tokens (characters / 4)",
    "money": "of money",
    "seconds": "seconds",
}

REPLAY = (
    "A replay cannot know how a run would have gone on after a nudge, and a success that is cut may have been done"
    " already: lost is an upper bound. A new model, prompt or tool makes new runs: choose again."
)
GUESSED = "Failed calls were guessed from the text of results, so too_many_errors may count what is none."


def why_not(ladder: Ladder, report: Report) -> str:
    """Why the runs say nothing about a guard, or "".

    >>> print(why_not(Ladder(len, (1,), frozenset({"usage"})), Report()))
    the recordings say enough about usage in 0 % of the runs, and it takes 95 %
    """
    for what in sorted(ladder.needs - {"price"}):
        if (share := report.share_known(what)) < ENOUGH:
            said = f"the recordings say enough about {what} in {100 * share:.0f} % of the runs"
            return f"{said}, and it takes {100 * ENOUGH:.0f} %"
    return ""


def refusal(report: Report, tasks: int) -> str:
    """Why no number can be proposed from these runs, or ""."""
    successes, failures = report.labels[SUCCESS], report.labels[FAILURE]
    if not successes and not failures:
        return (
            "no run has a label. Say which runs succeeded: `labels`, or --labels on the command line, by the id of a"
            " run, its task, or its file's name."
        )
    if successes < FEWEST_SUCCESSES:
        return (
            f"there are {successes} successes to learn from. Below {FEWEST_SUCCESSES}, the next one may well be larger"
            " than any of them."
        )
    if not failures:
        return "no run failed, so nothing is known of what a limit would save."
    if tasks < FEWEST_TASKS:
        return f"the runs are of {tasks} tasks. Below {FEWEST_TASKS}, none can be held back to try a number on."
    return ""


def reason(ladder: Ladder, number: float, headroom: float, successes: int, size: float, stops: bool) -> str:
    """Why this number, without what a trial says of it."""
    if ladder.size:
        said = (
            f"the largest of {successes} successes needs {size:,.6g} {UNITS[ladder.size]}; {headroom:g} times that,"
            f" rounded up to a number that was tried, is {number:,.6g}"
        )
    else:
        said = (
            f"it cuts none of {successes} successes, and its number is at least {headroom:g} times what one of them has"
            " reached"
        )
    return said if stops else f"{said}; it stops none of these runs, and is here because a run needs a bound"


def outcome_of_trial(trial: Trial) -> str:
    """What became of the rule on tasks that it was not chosen on."""
    return (
        f"chosen so on half of the tasks, it lost {100 * trial.lost:.1f} % of the successes of the others"
        f" ({100 * trial.most_lost:.1f} % in the worst of {trial.splits} splits) and saved {100 * trial.saved:.1f} % of"
        " the calls"
    )


def sentence(*parts: str) -> str:
    """The parts as one sentence.

    >>> sentence("it is so", "and so")
    'It is so; and so.'
    """
    text = "; ".join(part for part in parts if part)
    return f"{text[0].upper()}{text[1:]}."


def notes(report: Report) -> list[str]:
    """What has to be known about numbers from these runs."""
    found = []
    if successes := report.labels[SUCCESS]:
        found.append(
            f"Where a number loses none of these {successes} successes, up to 3 / {successes} ="
            f" {100 * min(1.0, 3 / successes):.1f} % of the next ones may still be lost; more if runs of one task are"
            " alike."
        )
    if unknown := report.labels[UNKNOWN]:
        found.append(f"{unknown} of {report.total} runs have no label: they count neither as stopped nor as lost.")
    if (models := sum(bool(model) for model in report.models)) > 1:
        found.append(f"The runs are of {models} models. Numbers of one do not hold for another: try each alone.")
    if report.errors["guessed"]:
        found.append(GUESSED)
    if report.totals_only:
        found.append(f"{report.totals_only} runs have their tokens as one sum, which does not say when they were used.")
    return [*found, REPLAY]
