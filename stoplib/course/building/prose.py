"""What stands in Markdown: headings, bold words, code spans, links and tables."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from stoplib.course.building import BuildError
from stoplib.course.building.lesson import Lesson

MARKDOWN = MarkdownIt().enable("table")
CODE_IN_HTML = re.compile(r"<code>(.*?)</code>")
SENTENCE = re.compile(r".+?[.?!](?=\s|$)", re.DOTALL)
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
CODE = re.compile(r"(`+)(.+?)\1")


@dataclass(frozen=True)
class Span:
    """A piece of a text: its kind, `bold`, `code` or `link`, its text or target, and the heading it stands under."""

    kind: str
    text: str
    heading: str


def spans(text: str, heading: str = "") -> Iterator[Span]:
    """Yield the bold, code and link spans of a Markdown text; `heading` is what stands above it."""
    in_heading = False
    for token in MARKDOWN.parse(text):
        if token.type == "html_block":
            yield from (Span("code", code, heading) for code in CODE_IN_HTML.findall(token.content))
        if token.type == "inline" and in_heading:
            heading = _plain(token.children or ())
        in_heading = token.type == "heading_open"
        yield from _inline(token.children or (), heading)


def lesson_spans(lesson: Lesson) -> Iterator[tuple[str, Span]]:
    """Yield each span of a lesson's texts with the name of its cell; headings reach on into the next cells."""
    heading = ""
    for cell in lesson.cells:
        if cell.type == "markdown":
            yield from ((cell.name, span) for span in spans(cell.source, heading))
            heading = last_heading(cell.source) or heading


def last_heading(text: str) -> str:
    """The text of the last heading, or nothing."""
    found = [after for token, after in pairwise(MARKDOWN.parse(text)) if token.type == "heading_open"]
    return _plain(found[-1].children or ()) if found else ""


def _inline(children: Iterable[Token], heading: str) -> Iterator[Span]:
    bold: list[Token] | None = None
    for token in children:
        if token.type == "strong_open":
            bold = []
        elif token.type == "strong_close":
            yield Span("bold", _plain(bold or ()), heading)
            bold = None
        elif bold is not None:
            bold.append(token)
        if token.type == "code_inline":
            yield Span("code", token.content, heading)
        if token.type == "link_open":
            yield Span("link", str(token.attrs["href"]), heading)


def _plain(children: Iterable[Token]) -> str:
    return "".join(" " if token.type == "softbreak" else token.content for token in children)


def table(text: str, *heads: str) -> list[list[str]]:
    """Return the rows of the one table with these column heads, a row as its cells in Markdown.

    Raises BuildError if there is no such table.
    """
    rows: list[list[str]] = []
    tokens = MARKDOWN.parse(text)
    for number, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(tokens[number + 1].content)
        elif token.type == "table_close":
            if tuple(rows[0]) == heads:
                return rows[1:]
            rows = []
    raise BuildError(f"There is no table with the columns {', '.join(heads)}.")


def without_links(text: str) -> str:
    """A Markdown text with the words of its links alone."""
    return LINK.sub(r"\1", text)


def first_sentence(text: str) -> str:
    """The first sentence of a Markdown text; a full stop inside a code span ends none."""
    masked = CODE.sub(lambda span: "`" * len(span[0]), " ".join(text.split()))
    found = SENTENCE.match(masked)
    return " ".join(text.split())[: found.end() if found else None]


def to_html(text: str) -> str:
    """One line of Markdown as HTML, without its links."""
    return str(MARKDOWN.renderInline(without_links(text)))
