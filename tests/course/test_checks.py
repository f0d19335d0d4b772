"""Checking a learner's code survives what it does by accident."""

import calendar
import copy
import io
import itertools

import pytest

from stoplib.course.checks import ChecksFailed, Endless, Muted, NotSolvedYet, Verdict, bounded, judge, shown


def endless():
    while True:
        pass


def swallowing():
    for _ in itertools.count():
        try:
            _ = 1 / 0
        except Exception:
            continue


@pytest.mark.parametrize("code", [endless, swallowing])
def test_an_endless_loop_ends(code):
    """Code that never ends is stopped after a number of lines, also if it catches every Exception."""
    with pytest.raises(Endless, match="did not stop within 1,000 lines"), bounded(1000):
        code()


def test_the_bound_is_exact():
    """N lines are allowed, one more is not."""

    def three_lines():
        a = 1
        b = 2
        return a + b

    with bounded(3):
        assert three_lines() == 3
    with pytest.raises(Endless), bounded(2):
        three_lines()


def test_lines_of_other_code_do_not_count():
    """What the learner's code calls may run many lines: a deep copy is one line of the learner's."""
    messages = [{"n": n} for n in range(10)]

    def one_line():
        return copy.deepcopy(messages)

    with bounded(10):
        assert one_line() == messages


def test_calls_of_other_code_are_bounded():
    """20 calls of other code for each allowed line, one more is not: a loop without a line of one's own ends."""

    def leap_years(years):
        return sum(map(calendar.isleap, years))

    with bounded(1):
        assert leap_years(range(1996, 2016)) == 5
    with pytest.raises(Endless, match="did not stop within 20 calls of other functions"), bounded(1):
        leap_years(range(1996, 2017))
    with pytest.raises(Endless), bounded(100):
        leap_years(itertools.count())


def test_the_bound_is_gone_afterwards():
    """After the check the learner's code runs without a bound, also when it was stopped."""
    with pytest.raises(Endless), bounded(10):
        endless()
    assert sum(1 for _ in range(1000)) == 1000


def test_prints_are_cut():
    """Only the first lines of what the learner's code prints are passed on, with a note that there was more."""
    out = io.StringIO()
    muted = Muted(out, lines=3)
    for number in range(1, 100):
        print(number, file=muted)
    assert out.getvalue().splitlines() == ["1", "2", "3", "(what your code prints further is not shown)"]


def test_all_right(capsys):
    """When every case is right, a line each says so, and one line more says that all are."""
    judge("07", [Verdict("one", True), Verdict("two", True)])
    assert capsys.readouterr().out == "right: one\nright: two\nAll right.\n"


def test_a_wrong_case_says_what_was_seen(capsys):
    """A wrong case shows what was seen and its hint, and the check fails with the number of wrong lines."""
    with pytest.raises(ChecksFailed, match="Exercise 07: 1 of 2 lines above are not right yet."):
        judge("07", [Verdict("one", True), Verdict("two", False, "it returned 3", "count again")])
    told = ["not yet: two", "    seen: it returned 3", "    hint: count again"]
    assert capsys.readouterr().out.splitlines()[1:] == told


def test_a_hint_is_told_once(capsys):
    """Two cases with the same mistake show its hint once."""
    with pytest.raises(ChecksFailed):
        judge("07", [Verdict("one", False, "3", "count again"), Verdict("two", False, "4", "count again")])
    assert capsys.readouterr().out.count("hint:") == 1


def test_what_was_seen_again_is_not_told_again(capsys):
    """Cases in a row in which the same was seen have a line each, and only the first of them says what it was."""
    broken = "it raised TypeError"
    with pytest.raises(ChecksFailed):
        judge("07", [*(Verdict(name, False, broken) for name in ("one", "two")), Verdict("three", False, "4")])
    assert capsys.readouterr().out.splitlines() == [
        "not yet: one",
        "    seen: it raised TypeError",
        "not yet: two (seen: the same)",
        "not yet: three",
        "    seen: 4",
    ]


def test_after_a_right_case_what_was_seen_is_told_again(capsys):
    """A right case in between separates two wrong ones, and a hint that is new is always told."""
    with pytest.raises(ChecksFailed):
        judge("07", [Verdict("one", False, "3"), Verdict("two", True), Verdict("three", False, "3", "count again")])
    told = ["not yet: one", "    seen: 3", "right: two", "not yet: three", "    seen: 3", "    hint: count again"]
    assert capsys.readouterr().out.splitlines() == told


def test_a_stub_is_not_solved():
    """Code that still raises NotImplementedError is not wrong, it is not solved yet."""

    def verdicts():
        raise NotImplementedError
        yield

    with pytest.raises(NotSolvedYet, match="Exercise 07 is not solved yet"):
        judge("07", verdicts())


def test_a_failed_check_shows_no_traceback():
    """In a notebook the message stands alone."""
    assert ChecksFailed("two are wrong")._render_traceback_() == ["two are wrong"]


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")


def test_anything_can_be_shown():
    """A value is shown in one short line, also if its repr raises."""
    assert shown("x" * 200, 10) == "'xxxxxx..."
    assert shown(Hostile()) == "an object whose repr raises RuntimeError"
