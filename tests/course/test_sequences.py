"""The twelve sequences: what they are, and that one guard set is right on all of them."""

import pytest

from stoplib import going_in_circles, max_steps, no_new_results, repeated_call, repeated_round
from stoplib.course.sequences import FUSE, GO_ON, STOP, WORDS, Call, twelve

SEEDS = range(len(WORDS))
BOTH = going_in_circles() | no_new_results(3)


def right(guards, seed=0, declared=True):
    """The numbers of the sequences on which these guards are right."""
    return [sequence.number for sequence in twelve(seed) if sequence.verdict(guards, declared) == "right"]


class TestTwelve:
    """The sequences themselves."""

    @pytest.mark.parametrize("seed", SEEDS)
    def test_there_are_twelve(self, seed):
        """They are numbered from 1 to 12, eight to stop and four to leave alone, each in a family."""
        sequences = twelve(seed)
        assert list(range(1, 13)) == [sequence.number for sequence in sequences]
        assert [sequence.number for sequence in sequences if sequence.must == GO_ON] == [5, 6, 10, 11]
        assert sum(sequence.must == STOP for sequence in sequences) == 8
        assert len({sequence.family for sequence in sequences}) == 4

    def test_every_family_has_both_kinds(self):
        """So no constant answer is right on a whole family."""
        kinds = {}
        for sequence in twelve():
            kinds.setdefault(sequence.family, set()).update(
                GO_ON if play.stop_by is None else STOP for play in sequence.plays
            )
        assert [{STOP, GO_ON}] * 4 == list(kinds.values())

    @pytest.mark.parametrize("seed", SEEDS)
    def test_the_library_plays_what_is_written(self, seed):
        """The run in the library has the calls and results of the script, and ends where it says."""
        for sequence in twelve(seed):
            outcome = sequence.run([])
            played = [(r.call.name, dict(r.call.args), r.text) for step in outcome.trace for r in step.results]
            assert [(one.tool, one.args, one.result) for one in sequence.rounds(FUSE)] == played
            assert ("answered" if sequence.must == GO_ON else "max_steps") == outcome.reason

    def test_other_seeds_begin_with_honest_work(self):
        """The same sequence comes later, and may run as many calls more."""
        first, later = twelve(0)[0], twelve(1)[0]
        assert WORDS[1].honest == 2
        assert later.plays[0].stop_by == first.plays[0].stop_by + 2
        assert later.plays[0].earliest == first.plays[0].earliest + 2
        assert later.rounds(1)[0].tool == "read_file"

    def test_a_round_knows_its_call(self):
        """`call` is the round without its result."""
        sent = twelve()[11].rounds(1)[0]
        assert Call(sent.tool, sent.args, sent.poll, sent.effect) == sent.call

    def test_the_same_every_time(self):
        """Two calls give the same rounds."""
        assert [one.rounds(20) for one in twelve(2)] == [one.rounds(20) for one in twelve(2)]


class TestVerdicts:
    """What guards get for what they do."""

    @pytest.mark.parametrize("seed", SEEDS)
    def test_one_guard_set_is_right_on_all(self, seed):
        """Cycles or nothing new: right on all twelve, in all versions."""
        assert list(range(1, 13)) == right([BOTH], seed)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_undeclared(self, seed):
        """The same set is wrong on the two that only the tool can tell apart."""
        assert {6, 12} == set(range(1, 13)) - set(right([BOTH], seed, declared=False))

    @pytest.mark.parametrize(
        ("guard", "wrong"),
        [
            (repeated_call(2), {5, 8, 9, 10}),
            (repeated_round(), {2, 3, 4, 8, 9}),
            (repeated_round(ever=True), {8, 9, 10}),
            (going_in_circles(), {8, 9}),
            (no_new_results(3), {2, 3, 4, 12}),
        ],
    )
    def test_each_rule_alone_is_wrong_somewhere(self, guard, wrong):
        """No single rule is right on all."""
        assert wrong == set(range(1, 13)) - set(right([guard]))

    def test_the_words(self):
        """Too early, too late and never are told apart."""
        same, _, _, _, progress, *_ = twelve()
        assert same.verdict([max_steps(0)]) == "too early"
        assert same.verdict([max_steps(4)]) == "right"
        assert same.verdict([max_steps(5)]) == "too late"
        assert same.verdict([]) == "never"
        assert progress.verdict([max_steps(3)]) == "too early"
        assert progress.verdict([]) == "right"

    def test_a_poll_that_never_ends(self):
        """The sixth is right only if the poll that goes on for ever is stopped too."""
        assert twelve()[5].verdict([]) == "never"
