"""From runs to a guard set: what is proposed, what is not, and why; and every form of it."""

# ruff: noqa: SIM300

import csv
import json
import re
import sys
from html.parser import HTMLParser
from io import StringIO

import pytest

import stoplib
from stoplib import (
    Guard,
    fakes,
    going_in_circles,
    max_steps,
    max_tool_calls,
    repeated_call,
    replay,
    token_budget,
    too_many_errors,
)
from stoplib.traces import FAILURE, SUCCESS, UNKNOWN, Ladder, limits
from stoplib.traces.choosing import chosen, halves, split, trial
from stoplib.traces.estimates import Bootstrap, Share, wilson
from stoplib.traces.ladders import ladders
from stoplib.traces.sweep import tallied
from stoplib.traces.table import silent, worth_showing
from stoplib.traces.tally import Group, Spent, together
from tests.traces.making import population


@pytest.fixture(scope="module")
def runs():
    """120 runs of 30 tasks."""
    return population()


@pytest.fixture(scope="module")
def found(runs):
    """What they say."""
    return limits(runs, price={"input": 3, "output": 15})


def row(found, guard):
    """The row of a guard."""
    return next(row for row in found.rows if row.guard == guard)


class TestRows:
    """Each guard with each number."""

    @pytest.mark.parametrize(
        "guard",
        [
            max_steps(8),
            max_tool_calls(8),
            repeated_call(3),
            going_in_circles(5),
            too_many_errors(3),
            token_budget(8000),
        ],
    )
    def test_a_row_is_what_replays_say(self, runs, found, guard):
        """Failures stopped, successes lost, calls and tokens saved: as a replay of that guard over each run."""
        counts = {SUCCESS: 0, FAILURE: 0}
        calls, tokens = 0, 0
        for trace in runs:
            outcome = trace.outcome()
            ended = replay(outcome, [guard])
            if ended.steps < outcome.steps or ended.tool_calls < outcome.tool_calls:
                counts[trace.label] += 1
                calls += (outcome.tool_calls - ended.tool_calls) * (trace.label == FAILURE)
                tokens += (outcome.usage.total - ended.usage.total) * (trace.label == FAILURE)
        one = row(found, guard)
        assert (counts[FAILURE], counts[SUCCESS]) == (one.stopped, one.lost)
        assert pytest.approx(counts[FAILURE] / sum(counts.values())) == one.precision.value
        assert (one.saved["calls"].value, one.saved["tokens"].value) == pytest.approx(
            (
                calls / sum(trace.tool_calls for trace in runs),
                tokens / sum(trace.outcome().usage.total for trace in runs),
            )
        )

    def test_numbers_go_as_far_as_they_matter(self, found):
        """The last number of each guard cuts no run, or is the last that there is."""
        for ladder in ladders(priced=True):
            rows = [row for row in found.rows if row.name == ladder.name]
            assert all(row.cut for row in rows[:-1])
            assert not rows[-1].cut or rows[-1].number == ladder.numbers[-1]

    def test_a_higher_number_cuts_no_more(self, found):
        """Stopped, lost and saved fall along the numbers."""
        for ladder in ladders(priced=True):
            rows = [row for row in found.rows if row.name == ladder.name]
            for values in ([r.stopped for r in rows], [r.lost for r in rows], [r.saved["calls"].value for r in rows]):
                assert sorted(values, reverse=True) == values

    def test_money(self, runs, found):
        """By the price that is given; without one as the recordings have it; else unknown."""
        assert 0 < row(found, max_steps(8)).saved["money"].value < 1
        recorded = limits(runs)
        assert "cost_budget" not in {row.name for row in recorded.rows}
        assert 0 < row(recorded, max_steps(8)).saved["money"].value < 1
        unknown = limits(population(usage=False))
        assert {"calls"} == unknown.known
        assert row(unknown, max_steps(8)).saved["money"] is None

    def test_a_guard_of_ones_own(self, runs):
        """May be swept too."""

        class calls_of_look(Guard):
            n: int

            def fires(self, run):
                return run.calls_of.get("look", 0) >= self.n

        mine = limits(runs, also=[Ladder(calls_of_look, (3, 1000))])
        assert [True, False] == [row.cut > 0 for row in mine.rows if row.name == "calls_of_look"]

    @pytest.mark.parametrize(
        ("also", "error", "said"),
        [
            ([Ladder(max_steps, (10, 5))], ValueError, "numbers must rise.* not (10, 5)"),
            ([Ladder(max_steps, (5, 5))], ValueError, "numbers must rise.* not (5, 5)"),
            ([Ladder(max_steps, ())], ValueError, "numbers must rise.* not ()"),
            ([Ladder(max_steps, (float("nan"),))], ValueError, "each of its numbers must be a finite number"),
            ([Ladder(max_steps, ("5",))], TypeError, "each of its numbers must be a finite number .* not '5'"),
            ([Ladder(lambda n: print, (5,))], TypeError, "make must give a Guard for each number"),
            ([max_steps(5)], TypeError, "also must hold ladders .* not max_steps(5)"),
            (Ladder(max_steps, (5,)), TypeError, "also must be a list such as"),
        ],
    )
    def test_a_ladder_that_cannot_be_climbed(self, runs, also, error, said):
        """Numbers that do not rise would be counted wrongly without a word: refused, as is what is no ladder."""
        with pytest.raises(error, match=said.replace("(", r"\(").replace(")", r"\)")):
            limits(runs, also=also)

    def test_a_proposal_of_ones_own(self, runs):
        """Where it is proposed, its name is used, and imported from nowhere."""

        class same_page(Guard):
            n: int

            def fires(self, run):
                return run.repeats.call >= self.n

        mine = limits(runs, also=[Ladder(same_page, (20, 1000))])
        assert same_page(20) in mine.guards
        head, _, rest = mine.python.partition("GUARDS")
        assert "same_page" not in head and "same_page(20)" in rest


class TestChoosing:
    """A number from some runs."""

    def group(self, **cut):
        """Runs of one ladder with these successes lost, by the place of the number."""
        lost = {(0, int(place[1:]), SUCCESS): Spent(n) for place, n in cut.items() if n}
        return Group({(0, SUCCESS): Spent(30)}, lost, {"steps": 20})

    @pytest.mark.parametrize(
        ("size", "headroom", "number"),
        [(20, 1, 20), (20, 1.25, 25), (20, 1.26, 30), (21, 1, 25), (20, 1.5, 30), (20, 50, 1000), (20, 51, None)],
    )
    def test_a_budget(self, size, headroom, number):
        """The largest success times the headroom, rounded up; above all numbers there is none."""
        ladder = Ladder(max_steps, (5, 10, 20, 25, 30, 1000), size="steps")
        group = Group({(0, SUCCESS): Spent(30)}, {}, {"steps": size})
        place = chosen(ladder, 0, group, headroom)
        assert number == (None if place is None else ladder.numbers[place])

    @pytest.mark.parametrize(
        ("lost", "headroom", "least", "number"),
        [
            ({}, 1, 0, 2),
            ({}, 1, 3, 3),
            ({"n0": 5}, 1, 0, 3),
            ({"n0": 5, "n1": 1}, 1, 0, 4),
            ({"n0": 5, "n1": 1}, 1.5, 0, 5),  # a success reached 3
            ({"n0": 5, "n1": 1}, 1.7, 0, 8),
            ({"n0": 9, "n1": 8, "n2": 7, "n3": 6, "n4": 5}, 1, 0, None),
        ],
    )
    def test_a_rule(self, lost, headroom, least, number):
        """The smallest number that loses none, and at least the headroom times what a success has reached."""
        ladder = Ladder(repeated_call, (2, 3, 4, 5, 8), least=least)
        place = chosen(ladder, 0, self.group(**lost), headroom)
        assert number == (None if place is None else ladder.numbers[place])

    def test_no_success(self):
        """From failures alone nothing can be learned."""
        assert chosen(Ladder(max_steps, (5,), size="steps"), 0, Group({(0, FAILURE): Spent(30)}), 1.5) is None

    def test_splits(self):
        """By the seed alone: each name on one side, half of them on each."""
        names = [f"task {n}" for n in range(11)]
        sides = split(names, 3)
        assert (sorted(names), [6, 5]) == (sorted(sides[0] + sides[1]), [len(side) for side in sides])
        assert sides == split(names[::-1], 3) != split(names, 4)

    def test_no_task_is_on_both_sides(self, runs):
        """The runs of a task are chosen on, or tried on."""
        tally = tallied(runs, ladders())
        whole = together(tally.groups.values())
        for known, others in halves(tally, 0):
            assert whole.ran[0, SUCCESS].runs == known.ran[0, SUCCESS].runs + others.ran[0, SUCCESS].runs
            assert max(known.sizes["steps"], others.sizes["steps"]) == whole.sizes["steps"]

    def test_headroom_loses_less(self, found):
        """On other tasks a number with more headroom loses no more, and saves no more."""
        for trials in found.trials.values():
            assert [1.0, 1.5, 2.0, 3.0] == [one.headroom for one in trials]
            for values in ([one.lost for one in trials], [one.saved for one in trials]):
                assert sorted(values, reverse=True) == values

    def test_on_its_own_runs_it_loses_nothing(self, runs):
        """With headroom 1 a number that is tried on the runs that it was chosen on loses none."""
        tally = tallied(runs, ladders())
        whole = together(tally.groups.values())
        for place, ladder in enumerate(tally.ladders):
            if one := trial(ladder, place, 1.0, [(whole, whole)]):
                assert 0 == one.lost

    def test_too_few_groups_for_a_trial(self):
        """Where one side has no success or no failure there is no trial."""
        empty = Group()
        assert trial(Ladder(max_steps, (5,), size="steps"), 0, 1.0, [(self.group(), empty)]) is None


class TestProposal:
    """The guard set."""

    def test_the_python_makes_the_guards(self, found):
        """It runs, and gives the very guards; above each stands its sentence."""
        space = {}
        exec(found.python, space)
        assert found.guards == space["GUARDS"]
        sentences = found.python.count("# The largest of") + found.python.count("# It cuts none of")
        assert len(found.guards) == sentences
        assert max(map(len, found.python.splitlines())) <= 100

    def test_it_bounds_a_run(self, found):
        """A run can be started with it."""
        tools, prices = {"search": lambda query: "x"}, {"input": 3, "output": 15}
        outcome = stoplib.run(fakes.never_answers, "go", tools=tools, guards=found.guards, prices=prices)
        assert outcome.reason in {guard.name for guard in found.guards}

    def test_each_guard_stops_something_and_loses_nothing(self, found):
        """On all runs; but for the one that is there as a bound."""
        for guard in found.guards:
            assert 0 == row(found, guard).lost
            assert row(found, guard).stopped or isinstance(guard, max_steps)

    def test_a_sentence_for_each(self, found):
        """With what it was learned from, and what became of the rule on other tasks."""
        for _, reason in found.proposal:
            assert re.search(rf"{found.successes} successes", reason)
            assert "of the successes of the others" in reason
            assert reason.endswith(".") and reason[0].isupper()

    def test_together(self, runs, found):
        """Chosen on one half and replayed on the other: less than all of the runs."""
        assert 0 < found.together.successes < found.successes
        assert 0 < found.together.saved["calls"] < 1
        assert found.together.guards[0].name == "max_steps"
        again = limits(runs, price={"input": 3, "output": 15})
        assert (found.together, found.guards) == (again.together, again.guards)

    def test_another_seed(self, runs):
        """Splits other tasks."""
        assert limits(runs, seed=5).together != limits(runs, seed=6).together

    def test_more_headroom(self, runs):
        """Gives larger budgets."""
        numbers = [limits(runs, headroom=factor).guards[0].n for factor in (1, 1.5, 3)]
        assert sorted(set(numbers)) == numbers

    @pytest.mark.parametrize("headroom", [0, -1, float("nan"), "2", True])
    def test_a_headroom_that_makes_no_sense(self, runs, headroom):
        """Is refused with its value."""
        with pytest.raises(
            (TypeError, ValueError), match=re.escape(f"headroom must be a finite number above 0, not {headroom!r}")
        ):
            limits(runs, headroom=headroom)


class TestRefusals:
    """What the data cannot carry is said, and nothing is proposed."""

    @pytest.mark.parametrize(
        ("label", "said"),
        [
            (lambda n: UNKNOWN, "no run has a label"),
            (lambda n: SUCCESS if n < 19 else FAILURE, "there are 19 successes to learn from"),
            (lambda n: SUCCESS, "no run failed"),
            (lambda n: FAILURE, "there are 0 successes"),
        ],
    )
    def test_labels(self, runs, label, said):
        """No labels, too few successes, no failures."""
        found = limits([trace.labelled(label(n)) for n, trace in enumerate(runs)])
        assert ([], None) == (found.proposal, found.together)
        assert said in found.refused
        assert said in found.python and found.python in str(found)
        assert found.refused == found.as_dict()["refused"]

    def test_labels_that_meet_no_run(self, runs):
        """Who gave labels and has none reads what a label goes by."""
        found = limits([trace.labelled(UNKNOWN) for trace in runs])
        assert "by the id of a run, its task, or its file's name" in found.refused

    @pytest.mark.parametrize(("successes", "refused"), [(19, True), (20, False), (21, False)])
    def test_how_many_successes(self, runs, successes, refused):
        """Twenty are enough."""
        labels = [SUCCESS] * successes + [FAILURE] * (len(runs) - successes)
        found = limits([trace.labelled(label) for trace, label in zip(runs, labels, strict=True)])
        assert refused == bool(found.refused)

    @pytest.mark.parametrize(("tasks", "refused"), [(4, True), (5, False), (6, False)])
    def test_how_many_tasks(self, tasks, refused):
        """Five are enough."""
        assert refused == bool(limits(population(120, tasks)).refused)

    def test_without_labels_there_are_still_rows(self, runs):
        """How many runs each number would cut."""
        found = limits([trace.labelled(UNKNOWN) for trace in runs])
        assert 120 == row(found, max_steps(1)).cut
        assert "of runs" in str(found)

    def test_no_usage(self):
        """A budget of tokens is not judged, nor one of money, and what is saved of them is unknown."""
        found = limits(population(usage=False), price={"input": 1, "output": 1})
        assert {"token_budget", "cost_budget"} == set(found.unjudged) - {"time_limit"}
        assert "usage in 0 % of the runs" in found.unjudged["token_budget"]
        assert {"calls"} == found.known

    @pytest.mark.parametrize(("known", "judged"), [(94, False), (95, True), (96, True)])
    def test_how_much_usage(self, known, judged):
        """Usage has to be known in 95 % of the runs."""
        runs = population(100)[:known] + population(100, usage=False)[known:]
        assert judged == ("token_budget" not in limits(runs).unjudged)

    def test_notes(self, runs):
        """Several models, unlabelled runs, three over n."""
        from dataclasses import replace

        mixed = [replace(trace, model=f"m{n % 2}") for n, trace in enumerate(runs)]
        mixed[0] = mixed[0].labelled(UNKNOWN)
        notes = " ".join(limits(mixed).notes)
        for said in ("The runs are of 2 models", "1 of 120 runs have no label", "up to 3 / ", "A replay cannot know"):
            assert said in notes

    def test_nothing_to_read(self, tmp_path):
        """Not one run is an error, which says what was there instead."""
        (tmp_path / "a.txt").write_text("nothing", encoding="utf-8")
        with pytest.raises(ValueError, match="(?s)not one run to learn from.*no known format"):
            limits(tmp_path)


class TestForms:
    """Text, CSV, JSON, HTML, a picture."""

    def test_text(self, found):
        """The rows that matter, the trials and the proposal."""
        text = str(found)
        for guard in found.guards:
            assert f"\n{guard!r} " in text
        assert found.python in text
        assert "too_many_refusals cuts none of these runs" in text
        assert max(map(len, text.splitlines())) <= 150

    def test_the_rows_that_matter(self, found):
        """Not those that lose many successes, nor any after the proposed number."""
        shown = worth_showing(found)
        assert all(row.share_lost.value <= 0.2 for row in shown)
        for guard in found.guards:
            assert guard == [row.guard for row in shown if row.name == guard.name][-1]
        assert silent(found) and not set(silent(found)) & {row.name for row in shown}

    def test_csv(self, found):
        """Every row, with its intervals."""
        rows = list(csv.DictReader(StringIO(found.as_csv())))
        assert len(found.rows) == len(rows)
        first = rows[0]
        assert ("max_steps(1)", "1", "120") == (first["guard"], first["number"], first["runs"])
        assert float(first["share_lost_low"]) <= float(first["share_lost"]) <= float(first["share_lost_high"])

    def test_json(self, found):
        """Everything, as strict JSON."""
        data = json.loads(json.dumps(found.as_dict(), allow_nan=False))
        assert (len(found.rows), len(found.proposal)) == (len(data["rows"]), len(data["proposal"]))
        assert [repr(guard) for guard in found.guards] == [one["guard"] for one in data["proposal"]]

    def test_a_page(self, found):
        """One page, well formed, that needs no other file; names from logs cannot break it."""
        page = Page()
        page.feed(found.as_html())
        assert ([], []) == (page.open, page.loads)
        assert found.python.splitlines()[0] in page.text
        assert "What these numbers cannot say" in page.text

    def test_a_page_with_hostile_names(self, runs):
        """What logs say is text."""
        from dataclasses import replace

        page = limits([replace(trace, model="<script>alert(1)</script>") for trace in runs]).as_html()
        assert "<script" not in page

    def test_a_page_without_labels(self, runs):
        """Says that nothing is proposed."""
        page = Page()
        page.feed(limits([trace.labelled(UNKNOWN) for trace in runs]).as_html())
        assert "No guard set is proposed: no run has a label" in page.text

    def test_the_same_bytes(self, runs, found):
        """The same runs give the same page, table and data."""
        again = limits(runs, price={"input": 3, "output": 15})
        assert (found.as_html(), found.as_csv(), found.as_dict()) == (again.as_html(), again.as_csv(), again.as_dict())

    @pytest.mark.parametrize("name", ["limits.png", "limits.svg"])
    def test_a_picture(self, found, tmp_path, name):
        """Written to the file, in the format that its name says."""
        found.chart(tmp_path / name)
        start = (tmp_path / name).read_bytes()[:5]
        assert start in (b"\x89PNG\r", b"<?xml")

    def test_without_matplotlib(self, found, tmp_path, monkeypatch):
        """The page is there without its picture; a picture alone cannot be drawn."""
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        assert "matplotlib is not installed" in found.as_html()
        with pytest.raises(ImportError):
            found.chart(tmp_path / "a.png")

    def test_a_picture_in_words(self, found):
        """The picture of the page has a text of what it shows."""
        [words] = re.findall(r'aria-label="([^"]+)"', found.as_html())
        assert f"{found.guards[0]!r} stops" in words


class Page(HTMLParser):
    """What a page shows, which elements are left open, and what it would load."""

    VOID = ("meta", "br", "img", "path", "use")

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        """An element begins."""
        self.loads += [value for name, value in attributes if name in ("src", "href") and not value.startswith("#")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """An element ends."""
        if tag not in self.VOID:
            assert tag == self.open.pop()

    def handle_data(self, data):
        """A text."""
        self.text += data


class TestEstimates:
    """Intervals."""

    @pytest.mark.parametrize(
        ("part", "whole", "expected"),
        [
            (0, 10, (0.0, 0.0, 0.2775)),
            (10, 10, (1.0, 0.7225, 1.0)),
            (1, 10, (0.1, 0.0179, 0.4042)),
            (5, 10, (0.5, 0.2366, 0.7634)),
            (0, 673, (0.0, 0.0, 0.0057)),
            (0, 0, (0.0, 0.0, 1.0)),
        ],
    )
    def test_wilson(self, part, whole, expected):
        """Published values of Wilson's score interval."""
        assert expected == pytest.approx(wilson(part, whole), abs=5e-5)

    def test_bootstrap_by_hand(self):
        """Two groups, one of which has all: each resample has it 0, 1 or 2 times."""
        share = Bootstrap(2, resamples=400).ratio({0: 10.0}, [20.0, 20.0])
        assert Share(0.25, 0.0, 0.5) == share

    def test_equal_groups(self):
        """Where all groups are the same nothing varies."""
        assert Share(0.5, 0.5, 0.5) == Bootstrap(10).ratio(dict.fromkeys(range(10), 1.0), [2.0] * 10)

    @pytest.mark.parametrize(("groups", "parts"), [(1, {0: 1.0}), (5, {})])
    def test_no_interval(self, groups, parts):
        """From one group, or where nothing is saved, no interval can be told."""
        share = Bootstrap(groups).ratio(parts, [2.0] * groups)
        assert (None, None) == share[1:]

    def test_nothing_used(self):
        """A share of nothing is 0."""
        assert Share(0.0) == Bootstrap(3).ratio({0: 0.0}, [0.0] * 3)
