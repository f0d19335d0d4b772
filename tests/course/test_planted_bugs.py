"""Exercise 08: its right loops are right, its planted bugs are bugs, and its checks survive any test."""

import contextlib
import copy
import io
import re
from random import Random

import pytest

from stoplib import TickClock
from stoplib.course.checks import ChecksFailed
from stoplib.course.exercises import planted_bugs as exercise

SEARCH = {"type": "tool", "name": "search", "args": {"query": "x"}}
REPLIES = [
    SEARCH,
    {"type": "tool", "name": "now"},
    {"type": "tool", "name": "serach", "args": {}},
    {"type": "tool", "name": "broken", "args": {}},
    {"type": "final", "content": "done"},
]


def broken():
    raise ValueError("the index is down")


def play(loop, seed):
    """Two runs one after the other on one clock: all that a test could see of them."""
    chance, clock, seen = Random(seed), TickClock(), []
    replies = [chance.choice(REPLIES) for _ in range(8)]
    limits = {"max_steps": chance.randint(0, 8), "time_budget": chance.choice([None, 0, 1, 2, 3, 4, 5])}
    tools = {"search": lambda query: seen.append(query) or "nothing", "now": lambda: "noon", "broken": broken}
    clock.readings = 0 if seed % 2 else 500
    for _ in range(2):
        calls = []

        def model(messages, calls=calls):
            assert len(calls) < 20
            calls.append([plain(message) for message in messages])
            return dict(replies[min(len(calls), len(replies)) - 1])

        try:
            seen += [loop(model, tools, "go", clock, **limits), calls]
        except Exception as error:
            seen += [type(error).__name__, calls]
    return seen


def plain(message):
    """A message without what the task leaves open: how an error text goes on."""
    if str(message.get("content", "")).startswith("error"):
        return {**message, "content": "error"}
    return dict(message)


@pytest.mark.parametrize("style", exercise.STYLES)
@pytest.mark.parametrize("content", ["", "  ", None, 42, ["a"]])
def test_a_right_loop_returns_whatever_content_a_final_answer_has(style, content):
    """The task promises the `content` of a final answer, and not that it is a text with something in it."""
    loop = exercise.STYLES[style]()
    assert loop(lambda messages: {"type": "final", "content": content}, {}, "go", TickClock()) == (content, "final")


@pytest.mark.parametrize("style", exercise.STYLES)
@pytest.mark.parametrize(("budget", "ends"), [(-1, (None, "budget")), (float("inf"), ("done", "final"))])
def test_a_right_loop_takes_any_number_for_a_time_budget(style, budget, ends):
    """A budget below zero is used up at the start, and one without end never is."""
    loop = exercise.STYLES[style]()
    final = {"type": "final", "content": "done"}
    assert loop(lambda messages: final, {}, "go", TickClock(), time_budget=budget) == ends


@pytest.mark.parametrize("style", exercise.STYLES)
def test_the_right_loops_agree(style):
    """However it is written, a right loop gives the same answers, reasons, calls and messages."""
    differ = [n for n in range(300) if play(exercise.STYLES[style](), n) != play(exercise.right_loop(), n)]
    assert differ == []


@pytest.mark.parametrize("bug", exercise.BUGS, ids=lambda bug: bug.parts.__name__)
def test_a_planted_bug_is_one(bug):
    """Each bug shows in some run, and not in every one."""
    differ = [play(exercise._made(bug.parts), n) != play(exercise.right_loop(), n) for n in range(300)]
    assert any(differ) and not all(differ)


def test_the_task_names_the_number_of_bugs():
    """The exercise says how many bugs are planted."""
    from pathlib import Path

    source = Path(__file__).parents[2] / "lessons" / "exercises" / "08_planted_bugs.py"
    assert f"against {len(exercise.BUGS)} loops" in source.read_text(encoding="utf-8")


def check(made):
    """What `check_right` prints for these tests, and whether it lets them pass."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exercise.check_right(lambda: made)
        except ChecksFailed:
            return False, printed.getvalue()
    return True, printed.getvalue()


def test_a_test_that_cannot_fail_is_named():
    """A test that fails on nothing passes on the right loops, and is pointed out."""

    def test_nothing(loop):
        pass

    passes, said = check([test_nothing])
    assert passes
    assert "test_nothing fails on none of the planted bugs" in said


def test_a_fuse_may_copy_deeply():
    """A test with a fuse of 50 calls and a deep copy of the messages of each catches the loop without a limit."""

    def test_steps(loop):
        seen = []

        def looks(messages):
            assert len(seen) < 50
            seen.append(copy.deepcopy(messages))
            return dict(SEARCH)

        loop(looks, {"search": lambda query: "nothing"}, "go", TickClock(), max_steps=3)
        assert len(seen) == 3

    assert caught([test_steps], "steps") == ["it makes one call more than max_steps", "it never looks at max_steps"]


def caught(made, group):
    """The bugs of a group that these tests catch."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(ChecksFailed):
        getattr(exercise, f"check_{group}")(lambda: made)
    return re.findall(r"right: the bug is caught: (.*)", printed.getvalue())


def test_a_test_that_fails_on_right_loops_catches_nothing():
    """It is left out when the bugs are counted, and its name is said; the tests beside it count."""

    def test_always(loop):
        raise AssertionError

    def test_answer(loop):
        assert loop(lambda messages: {"type": "final", "content": "done"}, {}, "go", TickClock()) == ("done", "final")

    for group in ("steps", "time", "tools"):
        assert caught([test_always], group) == []
        assert caught([test_always, test_answer], group) == caught([test_answer], group)
    assert caught([test_always, test_answer], "steps") == ["it returns the whole reply, not its content"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(ChecksFailed):
        exercise.check_time(lambda: [test_always])
    assert "note: test_always is left out here" in printed.getvalue()


def floods(loop):
    while True:
        print("again")


def exits(loop):
    raise SystemExit("done")


@pytest.mark.parametrize("test", [floods, exits], ids=lambda test: test.__name__)
def test_the_checks_survive(test):
    """A test that never ends, prints without end or leaves the program is reported, and the check goes on."""
    passes, said = check([test])
    assert not passes
    assert said.count("\n") < 40
    assert f"{test.__name__} " in said


@pytest.mark.parametrize("made", [[], None, ["test"], floods], ids=["empty", "nothing", "a text", "a function"])
def test_what_is_no_list_of_tests(made):
    """Anything but a list of functions is refused with a reason."""
    passes, said = check(made)
    assert not passes
    assert "must return a list of functions" in said


def test_only_a_test_that_returned_false_is_told_to_assert():
    """`return True` at the end of a test hides no hint; a test that meant to fail by returning False is named."""

    def always(messages):
        return {"type": "tool", "name": "search"}

    def ends_with_true(loop):
        assert loop(always, {}, "go", TickClock(), max_steps=2) == (None, "max_steps")
        return True

    def says_so(loop):
        return loop(always, {}, "go", TickClock(), time_budget=0) == (None, "budget")

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(ChecksFailed):
        exercise.check_time(lambda: [ends_with_true, says_so])
    said = " ".join(printed.getvalue().split())
    assert "but says_so returned False" in said
    assert said.count("a test fails by raising an error") == 1
    assert "where may a clock start?" in said
