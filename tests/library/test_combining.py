"""`|` and `&`: any of several guards, all of several guards."""

# ruff: noqa: SIM300

import pytest

from stoplib import call, max_steps, run, script, time_limit
from stoplib.guards import GATES, Guard, GuardSet
from stoplib.guards.core import AllOf, AnyOf, as_guard

from .helpers import LOOK, looking, state


def even(run):
    """Fires at every even step after the first."""
    return f"{run.steps} is even" if run.steps and run.steps % 2 == 0 else None


@as_guard
def late(run):
    """Fires from the third step. As a guard, so that it can stand next to a plain function."""
    return "it is late" if run.steps >= 3 else None


class TestAny:
    """`a | b` is both, each at its own gate."""

    def test_the_first_to_fire_ends_the_run(self):
        """Whichever side fires first names the reason, not the combination."""
        outcome = run(looking(), "go", tools=LOOK, guards=[max_steps(5) | even])
        assert ("even", ("even",), 2) == (outcome.reason, outcome.fired, outcome.steps)

    def test_both_are_recorded_in_order(self):
        """Two sides that fire together are both recorded, in the order written."""
        assert ("even", "max_steps") == run(looking(), "go", tools=LOOK, guards=[even | max_steps(2)]).fired
        assert ("max_steps", "even") == run(looking(), "go", tools=LOOK, guards=[max_steps(2) | even]).fired

    def test_it_is_the_same_as_a_list(self):
        """`[a | b]` and `[a, b]` end a run in the same way."""
        joined = run(looking(), "go", tools=LOOK, guards=[even | max_steps(2) | time_limit(9)])
        listed = run(looking(), "go", tools=LOOK, guards=[even, max_steps(2), time_limit(9)])
        assert (listed.reason, listed.fired, listed.messages) == (joined.reason, joined.fired, joined.messages)

    def test_each_side_keeps_its_gate(self):
        """A side that was moved looks at its own gate."""
        guards = [max_steps(2, gate="before_action") | max_steps(9)]
        outcome = run(looking(), "go", tools=LOOK, guards=guards)
        assert (2, 1) == (outcome.steps, outcome.tool_calls)

    @pytest.mark.parametrize(
        ("steps", "detail"), [(1, None), (2, "2 is even"), (3, "3 of 3 steps used"), (4, "4 is even")]
    )
    def test_called_directly(self, steps, detail):
        """Called with a run, it says what the first side that fires says."""
        assert detail == (even | max_steps(3))(state(steps=steps))


class TestAll:
    """`a & b` fires where both fire."""

    @pytest.mark.parametrize(("steps", "fires"), [(2, False), (3, False), (4, True)])
    def test_both_must_fire(self, steps, fires):
        """One side alone lets the run go on."""
        assert fires == ((late & even)(state(steps=steps)) is not None)

    def test_reason_and_detail_show_both(self):
        """The reason names both sides, and the detail has the words of both."""
        outcome = run(looking(), "go", tools=LOOK, guards=[late & even, max_steps(9)])
        assert ("late & even", "it is late; 4 is even", 4) == (outcome.reason, outcome.detail, outcome.steps)
        assert ("late & even",) == outcome.fired

    @pytest.mark.parametrize("first", GATES)
    @pytest.mark.parametrize("second", GATES)
    def test_it_looks_at_the_later_gate(self, first, second):
        """Of two gates, the later one of the step counts."""
        both = max_steps(1, gate=first) & time_limit(1, gate=second)
        assert (max(first, second, key=GATES.index),) == both.gates

    def test_it_is_looked_at_there(self):
        """At the later gate both counts are read at the same moment."""
        guards = [max_steps(2) & max_steps(1, gate="after_round")]
        outcome = run(looking(), "go", tools=LOOK, guards=guards)
        assert ("max_steps & max_steps", 2, 2) == (outcome.reason, outcome.steps, outcome.tool_calls)

    def test_an_empty_text_is_not_firing(self):
        """A side that says nothing, as an empty text, has not fired."""

        class silent(Guard):
            def __call__(self, run):
                return ""

        assert (silent() & late)(state(steps=3)) is None

    def test_an_any_inside(self):
        """A combination can be a side: late and (even or ten)."""
        guards = [late & (even | max_steps(10)), max_steps(20)]
        assert 4 == run(looking(), "go", tools=LOOK, guards=guards).steps

    def test_names_are_not_ambiguous(self):
        """Two different combinations never end a run with the same reason."""
        a, b, c = max_steps(1), time_limit(1), late
        assert ((a | b) & c).name != (a | (b & c)).name


class TestForm:
    """What combining builds, whatever the sign."""

    @pytest.mark.parametrize("kind", [AnyOf, AllOf])
    def test_flattened(self, kind):
        """However it is bracketed, a combination of one kind has no levels."""
        a, b, c = max_steps(1), time_limit(2), max_steps(3)
        left, right = ((a | b) | c, a | (b | c)) if kind is AnyOf else ((a & b) & c, a & (b & c))
        assert (a, b, c) == left.guards == right.guards
        assert left == right

    def test_the_two_kinds_differ(self):
        """`a | b` is not `a & b`, and the order of the sides is part of the value."""
        a, b = max_steps(1), time_limit(2)
        assert (a | b) != (a & b)
        assert (a | b) != (b | a)
        assert 1 == len({a | b, a | b})

    @pytest.mark.parametrize(
        "joined",
        [
            max_steps(1) | time_limit(2),
            max_steps(1) & time_limit(2),
            max_steps(1) | time_limit(2) & max_steps(3),
            (max_steps(1) | time_limit(2)) & max_steps(3),
            max_steps(1) & (time_limit(2) | max_steps(3) & even),
            even | max_steps(1),
            max_steps(1) & even & late,
            max_steps(1, gate="after_round") | time_limit(0.5, working=True),
        ],
        ids=repr,
    )
    def test_repr_is_source(self, joined):
        """Evaluating the repr gives an equal combination."""
        assert joined == eval(repr(joined))

    def test_functions_on_either_side(self):
        """A plain function is welcome on the left and on the right of both signs."""
        assert ("even", "max_steps") == tuple(g.name for g in (even | max_steps(1)).guards)
        assert ("max_steps", "even") == tuple(g.name for g in (max_steps(1) | even).guards)
        assert ("even", "max_steps") == tuple(g.name for g in (even & max_steps(1)).guards)
        assert ("max_steps", "even") == tuple(g.name for g in (max_steps(1) & even).guards)

    @pytest.mark.parametrize("other", [None, 5, "even", [max_steps(1)]])
    def test_what_is_no_guard_is_refused(self, other):
        """What can neither be called nor is a guard is a TypeError on either side of both signs."""
        for combine in (lambda a, b: a | b, lambda a, b: b | a, lambda a, b: a & b, lambda a, b: b & a):
            with pytest.raises(TypeError):
                combine(max_steps(1), other)

    def test_a_kind_of_guard_is_refused(self):
        """A guard without its limit is refused on either side."""
        with pytest.raises(TypeError, match="give it its limit"):
            max_steps(1) | time_limit
        with pytest.raises(TypeError, match="give it its limit"):
            time_limit | max_steps(1)

    def test_a_function_called_like_a_reason_is_refused(self):
        """A name that is taken is refused before the first call, inside a combination too."""

        def answered(run):
            return None

        with pytest.raises(ValueError, match="answered"):
            run(looking(), "go", guards=[max_steps(1) | answered])

    def test_parts_of_any_are_found_at_every_depth(self):
        """A set of guards takes `|` apart, and leaves `&` together."""
        a, b, c = max_steps(1), time_limit(2), max_steps(3)
        assert (a, b & c, c) == GuardSet([a | (b & c) | c]).guards

    def test_combining_leaves_the_sides_as_they_were(self):
        """A guard can be a part of many combinations and still be used alone."""
        three = max_steps(3)
        unused = three | time_limit(1), three & even
        assert (three, 3) == (max_steps(3), run(looking(), "go", tools=LOOK, guards=[three]).steps)
        assert 2 == len(unused)

    def test_a_function_is_asked_once_per_step(self):
        """A function inside a combination is not asked more often than alone."""
        seen = []

        def watch(run):
            seen.append(run.steps)

        run(script(call("look"), call("look")), "go", tools=LOOK, guards=[watch | max_steps(2)])
        assert [0, 1, 2] == seen
