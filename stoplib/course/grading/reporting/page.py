"""One HTML page, with nothing loaded from anywhere: the class at a glance, then each learner."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from stoplib.course.grading.reporting.terminal import cell, legend
from stoplib.course.grading.results import (
    MISSING,
    NOT_BEGUN,
    NOT_GRADED,
    SOLVED,
    UNREADABLE,
    CheckResult,
    Class,
    Result,
)

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; padding: .3rem 0; }
th, td { border: 1px solid #8888; padding: .25rem .6rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.solved { background: #2a92; } .partly { background: #c902; } .none { background: #c432; }
pre { white-space: pre-wrap; background: #8881; padding: .6rem; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .2rem 0; } details { margin-left: 1rem; }
.bar { display: inline-block; height: .7rem; background: #47c; vertical-align: middle; margin-left: .4rem; }
"""
PASSED, NOT_YET = "✓ passed", "✗ not yet"


def as_page(graded: Class) -> str:
    """The page."""
    body = "\n".join([*_overview(graded), *_hardest(graded), *_stuck(graded), *_learners(graded), *_left_out(graded)])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Grades</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Grades</h1>\n{body}\n</body>\n</html>\n"
    )


def _overview(graded: Class) -> Iterator[str]:
    handed_in = sum(result.state != MISSING for result in graded.everything())
    count = len(graded.learners)
    who = f"{count} learner" if count == 1 else f"{count} learners"
    yield f"<p>{who}, {handed_in} exercises handed in, {graded.total} points to be had.</p>"
    yield "<table>\n<caption>Points of each exercise. A name leads to what was seen.</caption>"
    heads = "".join(f'<th scope="col" title="{escape(name)}">{name[:2]}</th>' for name in graded.exercises)
    yield f'<tr><th scope="col">learner</th>{heads}<th scope="col">all</th></tr>'
    for number, learner in enumerate(graded.learners):
        cells = "".join(_point(result) for result in graded.of(learner))
        link = f'<a href="#learner-{number}">{escape(learner)}</a>'
        yield f'<tr><th scope="row">{link}</th>{cells}<td>{graded.points(learner)}</td></tr>'
    most = "".join(f"<td>{one.points}</td>" for one in graded.exercises.values())
    yield f'<tr><th scope="row">of</th>{most}<td>{graded.total}</td></tr>\n</table>'
    if signs := legend(graded):
        yield f"<p>{escape(signs)}</p>"


def _point(result: Result) -> str:
    kind = "solved" if result.state == SOLVED else "partly" if result.points else "none"
    kind = "" if result.state in (MISSING, NOT_BEGUN) else f' class="{kind}"'
    return f'<td{kind} title="{escape(result.state)}">{escape(cell(result))}</td>'


def _head(*names: str) -> str:
    return "<tr>" + "".join(f'<th scope="col">{escape(name)}</th>' for name in names) + "</tr>"


def _hardest(graded: Class) -> Iterator[str]:
    """The checks that most of those who began an exercise do not pass."""
    rows = []
    for name, exercise in graded.exercises.items():
        begun = [one for one in graded.of_exercise(name) if one.checks and one.state != NOT_BEGUN]
        for check in exercise.checks:
            failed = sum(not one.checks[check].passed for one in begun if check in one.checks)
            if failed:
                rows.append((failed / len(begun), failed, len(begun), name, exercise.title_of(check)))
    if not rows:
        return
    yield f"<h2>Which check fails most</h2>\n<table>\n{_head('check', 'not passed by')}"
    for share, failed, of, name, check in sorted(rows, key=lambda row: (-row[0], -row[1], row[3:]))[:15]:
        bar = f'<span class="bar" style="width: {100 * share:.0f}px"></span>'
        yield f"<tr><td>{escape(f'{name}, {check}')}</td><td>{failed} of {of}{bar}</td></tr>"
    yield "</table>"


def _stuck(graded: Class) -> Iterator[str]:
    """Who has begun an exercise and not solved it: the place where help is wanted."""
    rows = []
    for learner in graded.learners:
        places = [one for one in graded.of(learner) if one.checks and one.state not in (SOLVED, NOT_BEGUN, NOT_GRADED)]
        if places:
            first = places[0]
            open_checks = [first.exercise.title_of(name) for name, one in first.checks.items() if not one.passed]
            rows.append((learner, first.exercise.name, ", ".join(open_checks)))
    if rows:
        yield f"<h2>Who is stuck where</h2>\n<table>\n{_head('learner', 'first exercise that is not solved', 'checks')}"
        for row in rows:
            yield "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>"
        yield "</table>"


def _learners(graded: Class) -> Iterator[str]:
    for number, learner in enumerate(graded.learners):
        yield f'<h2 id="learner-{number}">{escape(learner)}</h2>'
        yield f"<p>{graded.points(learner)} of {graded.total} points.</p>"
        missing = [one.exercise.name for one in graded.of(learner) if one.state == MISSING]
        if missing:
            yield f"<p>Missing: {escape(', '.join(missing))}.</p>"
        for result in graded.of(learner):
            if result.state != MISSING:
                yield from _exercise(result)


def _exercise(result: Result) -> Iterator[str]:
    handed_in = "" if result.time is None else f", handed in {result.time:%Y-%m-%d %H:%M}"
    late = ", late" if result.late else ""
    head = f"{result.exercise.name}: {result.points} of {result.of}, {result.state}{handed_in}{late}"
    wanted = " open" if result.state in (UNREADABLE, NOT_GRADED) else ""
    yield f"<details{wanted}><summary>{escape(head)}</summary>"
    if result.sentences:
        yield "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in result.sentences) + "</ul>"
    if result.state != NOT_BEGUN:
        for name, one in result.checks.items():
            yield from _check(result.exercise.title_of(name), one)
    yield "</details>"


def _check(title: str, one: CheckResult) -> Iterator[str]:
    state = PASSED if one.passed else NOT_YET
    yield f"<details><summary>{escape(title)}: {state}</summary>"
    if one.sentence and not one.passed:
        yield f"<p>{escape(one.sentence)}</p>"
    if one.said.strip():
        yield f"<pre>{escape(one.said.rstrip())}</pre>"
    yield "</details>"


def _left_out(graded: Class) -> Iterator[str]:
    if graded.left_out:
        yield "<h2>Files that were left out</h2>\n<ul>"
        for where, why in graded.left_out:
            yield f"<li><code>{escape(where)}</code>: {escape(why)}</li>"
        yield "</ul>"
