"""The course on one page of A4, to print: gates, guards, reasons, what the caller may do next, and traps."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from stoplib.course.building.facts import GuardFacts, Reason, all_gates, all_guards, all_reasons
from stoplib.course.building.glossary import sentences
from stoplib.course.building.lesson import Lesson
from stoplib.course.building.prose import first_sentence, to_html

PITFALL = re.compile(r"^> \*\*Pitfall: (?P<title>.+?)\*\* (?P<text>(?:.+\n> )*.+)", flags=re.MULTILINE)

STYLE = """\
@page { size: A4 landscape; margin: 8mm; }
* { box-sizing: border-box; }
html { color: #000; background: #fff; font: 6.8pt/1.17 "Helvetica Neue", Arial, "Liberation Sans", sans-serif; }
body { margin: 0 auto; max-width: 281mm; }
.guards th:nth-child(1) { width: 18%; }
.guards th:nth-child(2) { width: 26%; }
.guards th:nth-child(3) { width: 7%; }
.guards th:nth-child(4) { width: 25%; }
h1 { font-size: 1.7em; margin: 0 0 0.5mm; }
h2, caption { font-size: 1.13em; font-weight: bold; text-align: left; margin: 0; padding: 0.9mm 0 0.3mm; }
caption span { font-weight: normal; font-size: 0.89em; }
p, ul { margin: 0; padding: 0; list-style: none; }
code { font-family: "Liberation Mono", Menlo, Consolas, monospace; font-size: 90%; }
table { border-collapse: collapse; width: 100%; font: inherit; }
th, td { text-align: left; vertical-align: top; padding: 0.15mm 1.5mm 0.15mm 0; border-top: 0.2mm solid #999; }
.columns { display: grid; grid-template-columns: 45% 1fr; column-gap: 5mm; }
li { padding: 0.15mm 0; }
@media screen { html { font-size: 10pt; } body { max-width: 110em; padding: 8mm; } }
@media print { .on-screen { display: none; } }
"""

TO_PRINT = (
    "It is made for one sheet of A4, printed across. In JupyterLab, right-click the file in the list on the left, "
    "choose <i>Open in New Browser Tab</i>, and print from there."
)


def one_page(docs: Path, lessons: Sequence[Lesson]) -> str:
    """Return the page as HTML. Raises BuildError if a page of `docs` does not know a guard or a reason."""
    guards = all_guards(docs)
    others = [reason for reason in all_reasons(docs) if reason.name not in {guard.name for guard in guards}]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>How an agent run stops, on one page</title>
<style>
{STYLE}</style>
</head>
<body>
<h1>How an agent run stops, on one page</h1>
<p class="on-screen">{TO_PRINT}</p>
<p>{_step()}</p>
<div class="guards">
{_guards(guards)}
</div>
<div class="columns">
<div>
{_reasons(others)}
</div>
<div>
<h2>Traps, each with its chapter</h2>
{_list(_traps(lessons))}
<h2>To keep in mind</h2>
<p>{" ".join(_sentence(text) for text in sentences(lessons))}</p>
</div>
</div>
</body>
</html>
"""


def _step() -> str:
    """One step of a run, with its gates."""
    gates = [f"<b><code>{gate}</code></b> ({escape(when)})" for gate, when in all_gates().items()]
    stations = [gates[0], "the model", "what the reply says", gates[1], "the tools", gates[2], "the next step"]
    return f"<b>A step:</b> {' → '.join(stations)}. The first gate at which a guard fires ends the run."


def _guards(guards: Sequence[GuardFacts]) -> str:
    rows = [
        (
            f"<code>{escape(guard.signature)}</code>{' †' if guard.bounds else ''}",
            to_html(guard.fires),
            "<br>".join([*(f"<code>{gate}</code>" for gate in guard.gates), *["an answer"] * guard.may_object]),
            to_html(guard.blind),
            to_html(guard.then),
        )
        for guard in guards
    ]
    heads = ("guard and reason", "what it allows, or when it fires", "looks at", "does not see", "then the caller may")
    return _table("Guards <span>(† ends every run, whatever the model does)</span>", heads, rows)


def _reasons(reasons: Sequence[Reason]) -> str:
    rows = [
        (f"<code>{reason.name}</code>{' ✓' if reason.complete else ''}", to_html(reason.means), to_html(reason.then))
        for reason in reasons
    ]
    return _table(
        "Other reasons <span>(✓ the run is complete)</span>", ("reason", "it means", "then the caller may"), rows
    )


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in rows
    )
    return f"<table>\n<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _list(items: Iterator[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>"


def _sentence(text: str) -> str:
    return f"{escape(text[0].upper() + text[1:])}."


def _traps(lessons: Sequence[Lesson]) -> Iterator[str]:
    for lesson in lessons:
        for cell in lesson.cells:
            for found in PITFALL.finditer(cell.source if cell.type == "markdown" else ""):
                text = first_sentence(found["text"].replace("\n> ", " "))
                title = found["title"][0].upper() + found["title"][1:]
                yield f"<b>{lesson.number} {to_html(title)}</b> {to_html(text)}"
