"""An outcome in a notebook: a table, and the same facts as text."""

# ruff: noqa: SIM300

import re
from html.parser import HTMLParser

import pytest

from stoplib import (
    ManualClock,
    Reply,
    TickClock,
    ToolCall,
    Usage,
    answer,
    batch,
    call,
    max_steps,
    max_tool_calls,
    run,
    script,
    time_limit,
)
from stoplib.display import SHOWN, as_html, as_text, sentence, spend

from .helpers import LOOK, always, looking


class Table(HTMLParser):
    """A table as it is read: its caption, its rows of cells, and every tag that was opened."""

    def __init__(self, text):
        super().__init__()
        self.caption, self.rows, self.tags, self._into = "", [], [], None
        self.feed(text)
        self.close()
        assert [] == [tag for tag, _ in self.tags if self.opened(tag) != self.closed.count(tag)]

    closed: list

    def opened(self, tag):
        return sum(name == tag for name, _ in self.tags)

    def reset(self):
        super().reset()
        self.closed = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._into = tag
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.closed.append(tag)
        self._into = None

    def handle_data(self, data):
        if self._into == "caption":
            self.caption += data
        if self._into in ("td", "th"):
            self.rows[-1][-1] += data


def a_run(**options):
    """A run with an answer, an error and a batch."""
    model = script(
        batch(call("look"), call("unknown"), usage=Usage(10, 5)),
        Reply("let me think", stop="pause_turn"),
        answer("Paris"),
    )
    return run(model, "go", tools=LOOK, clock=TickClock(), **options)


NO_SUCH_TOOL = "there is no tool called 'unknown'; the tools are: look"
UNSAFE = "<script>alert('x')</script> & \"more\""


class TestHtml:
    """`as_html`: the outcome as a table."""

    def test_one_row_a_step(self):
        """A heading, and one row for each step: its number, its time, what the model said and what came of it."""
        table = Table(as_html(a_run()))
        assert [
            ["step", "seconds", "the model", "what came of it"],
            [
                "1",
                "1",
                "look(), unknown()",
                "ok: nothing; error: there is no tool called 'unknown'; the tools are: look",
            ],
            ["2", "2", "let me think", "no tool ran"],
            ["3", "3", "Paris", "no tool ran"],
        ] == table.rows

    def test_the_caption(self):
        """The reason and the spend are the caption, where a screen reader finds them first."""
        table = Table(as_html(a_run()))
        assert "Complete: answered. Answer: Paris Spent: 3 steps, 2 tool calls, 15 tokens, 3 s." == table.caption

    def test_heads_have_a_scope(self):
        """Each head says whether it is one of a row or of a column."""
        heads = [attrs.get("scope") for tag, attrs in Table(as_html(a_run())).tags if tag == "th"]
        assert ["col"] * 4 + ["row"] * 3 == heads

    @pytest.mark.parametrize("place", ["reply", "result", "args", "name", "answer", "detail", "error"])
    def test_nothing_is_taken_for_html(self, place):
        """Whatever a model or a tool says is shown as text."""

        def guard(run):
            return UNSAFE if place == "detail" and run.steps else None

        def model(messages):
            if place == "error":
                raise ValueError(UNSAFE)
            if place == "answer" or len(messages) > 1:
                return answer(UNSAFE)
            name, args = (UNSAFE if place == "name" else "look"), {"x": UNSAFE} if place == "args" else {}
            return Reply(UNSAFE if place == "reply" else "", (ToolCall(name, args),))

        outcome = run(model, "go", tools={"look": lambda: UNSAFE}, guards=[guard, max_steps(5)])
        table = Table(as_html(outcome))
        assert {"table", "caption", "thead", "tbody", "tr", "th", "td"} == {tag for tag, _ in table.tags} | {"td"}
        shown = table.caption + str(table.rows)
        assert "<script>alert(" in shown

    @pytest.mark.parametrize("steps", [SHOWN - 1, SHOWN, SHOWN + 1, SHOWN + 30])
    def test_a_long_run_is_shortened(self, steps):
        """Of a long run the last steps are shown, and how many are left out."""
        outcome = run(looking(), "go", tools=LOOK, guards=[max_steps(steps)])
        rows = Table(as_html(outcome)).rows[1:]
        left_out = max(0, steps - SHOWN)
        numbers = [row[0] for row in rows if len(row) == 4]
        assert [str(n) for n in range(left_out + 1, steps + 1)] == numbers
        assert ([[f"… and {left_out} earlier steps"]] if left_out else []) == [row for row in rows if len(row) == 1]

    def test_what_is_long_is_one_short_line(self):
        """A long text with many lines is shown as a short line."""
        outcome = run(script(call("look"), answer("x")), "go", tools={"look": lambda: "line\n" * 1000})
        came = Table(as_html(outcome)).rows[1][3]
        assert (True, True, False) == (len(came) < 100, came.endswith("..."), "\n" in came)

    def test_a_run_without_a_step(self):
        """A run without a model call is a table without rows."""
        outcome = run(looking(), "go", guards=[max_steps(0)], clock=ManualClock())
        table = Table(as_html(outcome))
        assert (1, "Incomplete: max_steps (0 of 0 steps used). Spent: 0 steps, 0 tool calls, 0 tokens, 0 s.") == (
            len(table.rows),
            table.caption,
        )

    def test_no_style_of_its_own(self):
        """Colours and sizes are the notebook's: no colour is set that could not be read on a dark ground."""
        assert [] == re.findall(r"color|background|font|px", as_html(a_run()))


class TestText:
    """`as_text`: the same facts in plain text."""

    def test_one_line_a_step(self):
        """The reason and the spend, and one line for each step."""
        assert [
            "Complete: answered. Answer: Paris Spent: 3 steps, 2 tool calls, 15 tokens, 3 s.",
            f"  step 1, 1 s: look(), unknown() -> ok: nothing; error: {NO_SUCH_TOOL}",
            "  step 2, 2 s: let me think -> no tool ran",
            "  step 3, 3 s: Paris -> no tool ran",
        ] == as_text(a_run()).splitlines()

    def test_a_long_run_is_shortened(self):
        """Of a long run the last steps are shown, and how many are left out."""
        outcome = run(looking(), "go", tools=LOOK, guards=[max_steps(SHOWN + 3)])
        lines = as_text(outcome).splitlines()
        assert (SHOWN + 2, "  (3 earlier steps are not shown)") == (len(lines), lines[1])

    def test_a_reply_with_a_text_and_calls(self):
        """What the model said beside its calls is shown as well."""
        outcome = run(script(Reply("I look", call("look").calls), answer("x")), "go", tools=LOOK, clock=ManualClock())
        assert "  step 1, 0 s: I look; look() -> ok: nothing" == as_text(outcome).splitlines()[1]

    def test_a_call_that_did_not_run(self):
        """A call that did not run any more is said to be so once."""
        model = always(batch(call("look"), call("look")))
        outcome = run(model, "go", tools=LOOK, guards=[max_tool_calls(1), max_steps(5)], clock=ManualClock())
        came = as_text(outcome).splitlines()[1].partition(" -> ")[2]
        assert "; ".join(["not run: the run stopped (max_tool_calls)"] * 2) == came

    def test_a_model_that_said_nothing(self):
        """A reply without a word is shown as nothing."""
        outcome = run(always(answer("")), "go", clock=ManualClock())
        assert "  step 1, 0 s: nothing -> no tool ran" == as_text(outcome).splitlines()[1]


class TestSentence:
    """`sentence` and `spend`: the same in words."""

    def test_complete(self):
        """A complete run has its answer in the sentence."""
        assert "Complete: answered. Answer: Paris" == sentence(a_run())

    def test_incomplete(self):
        """An incomplete run has its reason and the detail, and no answer."""
        outcome = run(always(Reply("I think", call("look").calls)), "go", tools=LOOK, guards=[max_steps(2)])
        assert "Incomplete: max_steps (2 of 2 steps used)." == sentence(outcome)

    def test_spend(self):
        """What was used, each with its unit; money and waiting only where there were any."""
        assert "3 steps, 2 tool calls, 15 tokens, 3 s" == spend(a_run())
        assert "3 steps, 2 tool calls, 15 tokens, 0.105 of money, 3 s" == spend(
            a_run(prices={"input": 3000, "output": 15000})
        )

    def test_spend_with_a_person(self):
        """The time that a person took is said apart."""
        clock = ManualClock()

        def approve(asked):
            clock.advance(20)
            return True

        outcome = run(
            script(call("look"), answer("x")), "go", tools=LOOK, approve=approve, guards=[time_limit(99)], clock=clock
        )
        assert "2 steps, 1 tool call, 0 tokens, 20 s, 20 s of them waiting for a person" == spend(outcome)


def test_in_a_notebook():
    """A notebook is given both; it shows the table where it can."""
    outcome = a_run()
    shown = outcome._repr_mimebundle_(include=None, exclude=None)
    assert {"text/html": as_html(outcome), "text/plain": as_text(outcome)} == shown


def test_the_same_run_looks_the_same():
    """The same run gives the same table: no address, no time of day."""
    assert as_html(a_run()) == as_html(a_run())
    assert as_text(a_run()) == as_text(a_run())
