"""Rules by which published runs were once counted, as guards of one's own: each is looked at after each call."""

from dataclasses import replace

from stoplib import Guard
from stoplib.traces import Ladder
from stoplib.traces.trace import ERROR


def one_call_a_step(trace):
    """The same run as if each reply had asked for one call at most: so a guard looks after each of them."""
    steps = []
    for step in trace.steps:
        if len(step.calls) < 2:
            steps.append(step)
            continue
        for call, result in zip(step.calls, step.results, strict=True):
            steps.append(replace(step, calls=(call,), results=(result,)))
    return replace(trace, steps=tuple(steps))


class rule(Guard):
    """Fires when what `counts` counts has reached a number. `counts()` makes a counter for one run."""

    counts: object
    number: int

    usual_gates = ("after_round",)

    def fires(self, run):
        """Count the last round, once."""
        seen = run.notes.setdefault(self.counts, {"count": self.counts(), "steps": 0, "value": 0})
        if seen["steps"] < len(run.trace):
            seen["steps"] = len(run.trace)
            if results := run.trace[-1].results:
                seen["value"] = seen["count"](results)
        return seen["value"] >= self.number


def ladder(counts, *numbers):
    """The rule with these numbers."""
    return Ladder(lambda number: rule(counts, number), numbers)


def call_of(result):
    """What was called, by name and arguments."""
    return result.call.name, repr(sorted(result.call.args.items()))


def call_and_result(result):
    """What was called, and what came of it."""
    return (*call_of(result), result.text)


def in_a_row(key, counted=lambda result: True):
    """How often the same key has come in a row; what is not counted ends the row."""

    def counts():
        last, count = object(), 0

        def look(results):
            nonlocal last, count
            (result,) = results
            if not counted(result):
                last, count = object(), 0
                return 0
            found = key(result)
            count = count + 1 if found == last else 1
            last = found
            return count

        return look

    return counts


def anywhere(key, counted=lambda result: True):
    """How often the latest key has come in the run."""

    def counts():
        seen = {}

        def look(results):
            (result,) = results
            if not counted(result):
                return 0
            found = key(result)
            seen[found] = seen.get(found, 0) + 1
            return seen[found]

        return look

    return counts


def nothing_new():
    """Calls in a row of which each, with its result, has been there before."""
    seen, count = set(), 0

    def look(results):
        nonlocal count
        found = call_and_result(results[0])
        count = count + 1 if found in seen else 0
        seen.add(found)
        return count

    return look


def back_and_forth(rounds):
    """Whether the last calls are two different ones in turn, so many times: 1 or 0."""

    def counts():
        calls = []

        def look(results):
            calls.append(call_of(results[0]))
            last = calls[-2 * rounds :]
            return int(len(last) == 2 * rounds and last[0] != last[1] and last == last[:2] * rounds)

        return look

    return counts


def failed(result):
    """Whether the call failed."""
    return result.status == ERROR


def said_something(result):
    """Whether the result has a text."""
    return bool(result.text.strip())


def same_results():
    """Messages in a row that brought the same results; without any text they end the row."""
    last, count = None, 0

    def look(results):
        nonlocal last, count
        found = [result.text for result in results]
        if not any(map(said_something, results)):
            last, count = None, 0
            return 0
        count = count + 1 if found == last else 1
        last = found
        return count

    return look


def calls():
    """How many calls there have been."""
    count = 0

    def look(results):
        nonlocal count
        count += len(results)
        return count

    return look


def either(*rules):
    """Whether one of several counters has reached its number: 1 or 0."""

    def counts():
        looks = [(counter(), number) for counter, number in rules]

        def look(results):
            return int(any([count(results) >= number for count, number in looks]))

        return look

    return counts


def text_of(result):
    """The result's text."""
    return result.text


same_call_in_a_row = in_a_row(call_of)
same_call_and_result_in_a_row = in_a_row(call_and_result)
same_call_anywhere = anywhere(call_of)
same_call_and_result_anywhere = anywhere(call_and_result)
same_call_fails = anywhere(call_of, failed)
same_call_fails_in_a_row = in_a_row(call_of, failed)
errors_in_a_row = in_a_row(failed, failed)
same_result_in_a_row = in_a_row(text_of)
same_result_empty_ignored = in_a_row(text_of, said_something)
a_b_a_b = back_and_forth(2)
bundle = either((same_call_in_a_row, 5), (same_call_fails, 3), (a_b_a_b, 1), (errors_in_a_row, 5))
like_openhands = either((same_call_and_result_in_a_row, 4), (same_call_fails_in_a_row, 3), (back_and_forth(3), 1))

#: each with its numbers, and for tau-bench and tau2-bench failures stopped / successes lost, in percent
PUBLISHED = {
    "same call in a row": (same_call_in_a_row, {2: "3.4/1.2 12.5/5.0", 3: "0.0/0.0 7.8/2.0", 5: "0.0/0.0 4.7/0.5"}),
    "same call and result in a row": (same_call_and_result_in_a_row, {2: "3.4/1.2 11.7/4.5", 3: "0.0/0.0 7.8/2.0"}),
    "same call anywhere": (
        same_call_anywhere,
        {2: "12.1/2.4 30.5/27.7", 3: "3.4/0.0 21.9/10.4", 5: "0.0/0.0 9.4/2.0"},
    ),
    "same call and result anywhere": (
        same_call_and_result_anywhere,
        {2: "12.1/2.4 28.9/13.9", 3: "3.4/0.0 21.1/5.9", 5: "0.0/0.0 9.4/0.5"},
    ),
    "nothing new": (nothing_new, {3: "1.7/0.0 9.4/1.0", 5: "0.0/0.0 7.0/0.5"}),
    "A-B-A-B": (a_b_a_b, {1: "1.7/0.0 0.8/0.0"}),
    "same call fails": (same_call_fails, {2: "8.6/1.2 7.8/0.0", 3: "3.4/0.0 5.5/0.0"}),
    "errors in a row": (errors_in_a_row, {3: "4.3/0.0 6.2/0.0", 5: "0.0/0.0 3.1/0.0"}),
    "same result in a row": (same_result_in_a_row, {3: "4.3/1.2 9.4/3.5"}),
    "same result, empty ignored": (same_result_empty_ignored, {3: "4.3/1.2 9.4/3.5"}),
    "bundle": (bundle, {1: "4.3/0.0 10.2/0.5"}),
    "OpenHands-like": (like_openhands, {1: "0.9/0.0 8.6/1.0"}),
    "at most so many calls": (
        calls,
        {
            8: "41.4/15.5 54.7/45.5",
            10: "28.4/10.7 38.3/30.2",
            15: "6.0/0.0 19.5/13.4",
            20: "4.3/0.0 14.1/4.5",
            25: "0.9/0.0 10.2/2.5",
            30: "0.0/0.0 6.2/0.0",
            40: "0.0/0.0 3.9/0.0",
            50: "0.0/0.0 3.9/0.0",
        },
    ),
}
BY_MESSAGE = {"same results in messages in a row": (same_results, {3: "4.3/1.2 8.6/3.5"})}
TIMES_THE_MEDIAN = {
    1.5: "62.9/35.7 40.6/15.8",
    2: "56.9/28.6 31.2/4.0",
    3: "37.9/10.7 18.0/2.5",
    4: "17.2/3.6 10.9/1.5",
    5: "6.0/0.0 6.2/1.0",
}
