"""The ledger: what it admits and records, what stops counting, and where a day ends."""

# ruff: noqa: SIM300

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stoplib import ManualClock
from stoplib.ledger import Ledger

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def path(tmp_path):
    """A file for a ledger, where a person might have it."""
    folder = tmp_path / "Ausgaben für Köln"
    folder.mkdir()
    return folder / "spend #1 100%.db"


@pytest.fixture
def clock():
    """A clock that moves when it is told to."""
    return ManualClock(1_780_000_000.0)


@pytest.fixture
def ledger(clock):
    """A ledger in memory, for what does not depend on where it is."""
    return Ledger("sqlite://", clock=clock)


def states(ledger, who="ada"):
    """How many entries there are of each state."""
    return dict(Counter(entry.state for entry in ledger.entries(who)))


def taken(ledger, who="ada"):
    """(spent, reserved) of today."""
    return ledger.spent(who), ledger.reserved(who)


def fits(ledger, amount, cap):
    """Whether there is room under the cap for exactly this much, and for no billionth more."""
    return ledger.reserve("ada", amount, cap) is not None and ledger.reserve("ada", 1e-9, cap) is None


class TestASharedCap:
    """A cap of 10, 9 spent, five at once that each need up to 1."""

    @pytest.fixture
    def ledger(self, path, clock):
        """A ledger in a file."""
        return Ledger(path, clock=clock)

    @pytest.fixture
    def five(self, ledger):
        """What five who ask in five threads at the same moment are given."""
        ledger.record("team", 9)
        gate = threading.Barrier(5)

        def ask(_):
            gate.wait()
            return ledger.reserve("team", up_to=1, cap=10)

        with ThreadPoolExecutor(5) as pool:
            return list(pool.map(ask, range(5)))

    def test_one_is_admitted_and_four_are_refused(self, ledger, five):
        """Reserves count as if they were spent."""
        assert 1 == len([one for one in five if one])
        assert (9, 1) == taken(ledger, "team")

    def test_an_aborted_call_gives_its_reserve_back(self, ledger, five):
        """After a release the next one is admitted, and only one."""
        (admitted,) = filter(None, five)
        assert ledger.release(admitted)
        assert ledger.reserve("team", up_to=1, cap=10)
        assert ledger.reserve("team", up_to=1, cap=10) is None

    def test_settling_above_the_reserve_is_recorded(self, ledger, five):
        """What a call cost is recorded in full, also if that passes the cap; then nobody is admitted."""
        (admitted,) = filter(None, five)
        assert ledger.settle(admitted, 1.5)
        assert (10.5, 0) == taken(ledger, "team")
        assert ledger.reserve("team", up_to=0, cap=10) is None

    def test_settling_below_the_reserve_gives_the_rest_back(self, ledger, five):
        """What was not needed can be reserved by others."""
        (admitted,) = filter(None, five)
        ledger.settle(admitted, 0.25)
        assert ledger.reserve("team", up_to=0.75, cap=10)

    @pytest.mark.parametrize(("up_to", "admitted"), [(0.999999999, True), (1, True), (1.000000001, False)])
    def test_boundary(self, ledger, up_to, admitted):
        """The cap itself may be reached, and not be passed by a billionth."""
        ledger.record("team", 9)
        assert admitted == (ledger.reserve("team", up_to, cap=10) is not None)

    def test_others_have_their_own(self, ledger):
        """What one has spent is nothing to another."""
        ledger.record("ada", 10)
        assert ledger.reserve("bob", up_to=10, cap=10)


class TestMoney:
    """Amounts are exact."""

    def test_floats_do_not_add_up_errors(self, ledger):
        """A hundred times 0.1 is 10, in what is spent and in what still fits."""
        for _ in range(100):
            ledger.settle(ledger.reserve("ada", 0.1, cap=10), 0.1)
        assert 10 == ledger.spent("ada")
        assert ledger.reserve("ada", 1e-9, cap=10) is None

    @pytest.mark.parametrize("amount", [0.3, Decimal("0.3"), Fraction(3, 10)])
    def test_numbers_of_other_kinds(self, ledger, amount):
        """Decimals and fractions are taken as they are."""
        ledger.record("ada", amount)
        assert 0.3 == ledger.spent("ada")

    def test_a_billionth_is_kept(self, ledger):
        """The price of one cheap token does not vanish."""
        ledger.record("ada", 2.5e-8)
        ledger.record("ada", 1e-9)
        assert 2.6e-8 == ledger.spent("ada")

    def test_large_amounts_are_exact_too(self, ledger):
        """A billionth is not lost next to a million."""
        ledger.record("ada", 1_000_000)
        assert ledger.reserve("ada", 1e-9, cap=1_000_000) is None

    @pytest.mark.parametrize("amount", [-1, NAN, INF, -INF, 10**400])
    @pytest.mark.parametrize("verb", ["up_to", "cap"])
    def test_refuses_what_is_no_amount(self, ledger, verb, amount):
        """A negative or endless amount is a ValueError with the value in it."""
        with pytest.raises(ValueError) as caught:
            ledger.reserve("ada", **{"up_to": 1, "cap": 1, verb: amount})
        assert f"reserve: {verb} must be a finite number of at least 0, not {amount!r}" == str(caught.value)

    @pytest.mark.parametrize("amount", ["1", None, True, [1]])
    def test_refuses_other_things(self, ledger, amount):
        """What is no number is a TypeError, and the reservation stays."""
        one = ledger.reserve("ada", 1, cap=1)
        with pytest.raises(TypeError) as caught:
            ledger.settle(one, amount)
        assert f"settle: amount must be a finite number of at least 0, not {amount!r}" == str(caught.value)
        assert 1 == ledger.reserved("ada")

    def test_refuses_more_than_a_database_can_count(self, ledger):
        """An amount above a billion is a mistake, and says so."""
        with pytest.raises(ValueError, match="record: amount must be at most a billion, not 10000000000"):
            ledger.record("ada", 10**10)


class TestTwice:
    """What is said a second time has a defined result."""

    def test_settling_twice(self, ledger):
        """The second time changes nothing, so who is not sure may say it again."""
        one = ledger.reserve("ada", 1, cap=10)
        assert [True, False] == [ledger.settle(one, 0.5), ledger.settle(one, 0.5)]
        assert (0.5, 0) == taken(ledger)

    def test_settling_twice_with_different_amounts(self, ledger):
        """Two truths are an error that names both."""
        one = ledger.reserve("ada", 1, cap=10)
        ledger.settle(one, 0.5)
        with pytest.raises(ValueError, match=r"was settled with 0\.5, so not with 0\.7"):
            ledger.settle(one, 0.7)
        assert 0.5 == ledger.spent("ada")

    def test_releasing_twice(self, ledger):
        """It is given back once."""
        one = ledger.reserve("ada", 1, cap=10)
        ledger.reserve("ada", 2, cap=10)
        assert [True, False] == [ledger.release(one), ledger.release(one)]
        assert (0, 2) == taken(ledger)

    def test_releasing_what_is_settled(self, ledger):
        """Money that was spent stays spent."""
        one = ledger.reserve("ada", 1, cap=10)
        ledger.settle(one, 0.5)
        assert not ledger.release(one)
        assert (0.5, 0) == taken(ledger)

    def test_settling_what_is_released(self, ledger):
        """Nothing is lost: the call was made after all, and its cost is recorded."""
        one = ledger.reserve("ada", 1, cap=10)
        ledger.release(one)
        assert ledger.settle(one, 0.5)
        assert (0.5, 0) == taken(ledger)
        assert fits(ledger, 9.5, cap=10)

    def test_none_is_no_reservation(self, ledger):
        """Who was refused has nothing to settle."""
        with pytest.raises(TypeError, match=r"settle: reservation must be one that reserve\(…\) gave, not None"):
            ledger.settle(None, 1)

    def test_a_reservation_of_another_ledger(self, ledger):
        """It is an error, and not silently nothing."""
        other = Ledger("sqlite://").reserve("ada", 1, cap=1)
        with pytest.raises(ValueError, match=r"release: Ledger\(.*\) knows nothing of Reservation\("):
            ledger.release(other)


class TestStaleReserves:
    """A reserve that nobody came back for stops counting after `stale_after` seconds."""

    @pytest.mark.parametrize(("seconds", "admitted"), [(599, False), (600, True), (601, True)])
    def test_boundary(self, ledger, clock, seconds, admitted):
        """It counts until then, and not from then on."""
        ledger.reserve("ada", 1, cap=1)
        clock.advance(seconds)
        assert admitted == (ledger.reserved("ada") == 0)
        assert admitted == (ledger.reserve("ada", 1, cap=1) is not None)

    def test_it_says_so(self, ledger, clock):
        """The entry stays, as expired, before and after its room was given to another."""
        ledger.reserve("ada", 1, cap=1)
        clock.advance(600)
        assert {"expired": 1} == states(ledger)
        ledger.reserve("ada", 1, cap=1)
        assert {"expired": 1, "open": 1} == states(ledger)

    @pytest.mark.parametrize("taken_over", [False, True])
    def test_settling_it_still_records_the_money(self, ledger, clock, taken_over):
        """A call that took too long was paid for all the same, also if its room has been given away."""
        late = ledger.reserve("ada", 1, cap=1)
        clock.advance(600)
        other = ledger.reserve("ada", 1, cap=1) if taken_over else None
        assert ledger.settle(late, 0.75)
        assert (0.75, 1 if other else 0) == taken(ledger)
        assert fits(ledger, 8.25 if other else 9.25, cap=10)

    @pytest.mark.parametrize("taken_over", [False, True])
    def test_releasing_it_gives_nothing_back(self, ledger, clock, taken_over):
        """It has been given back already, so another's reserve stays whole."""
        late = ledger.reserve("ada", 1, cap=1)
        clock.advance(600)
        other = ledger.reserve("ada", 1, cap=1) if taken_over else None
        assert not ledger.release(late)
        assert (0, 1 if other else 0) == taken(ledger)
        assert fits(ledger, 9 if other else 10, cap=10)

    def test_who_reserves_says_how_long(self, path, clock):
        """Others with less patience do not take a reserve away."""
        patient, hasty = (Ledger(path, clock=clock, stale_after=s) for s in (3600, 1))
        patient.reserve("ada", 1, cap=1)
        clock.advance(60)
        assert hasty.reserve("ada", 1, cap=1) is None

    @pytest.mark.parametrize("seconds", [0, -1, NAN, INF])
    def test_refuses_what_is_no_time(self, seconds):
        """Zero would let every reserve expire at once."""
        with pytest.raises(ValueError, match="Ledger: stale_after must be a finite number above 0, not"):
            Ledger("sqlite://", stale_after=seconds)


def utc(*parts):
    """Seconds since 1970 of a time in UTC."""
    return datetime(*parts, tzinfo=UTC).timestamp()


class TestDays:
    """A day is one of the stated zone's."""

    @pytest.mark.parametrize(
        ("zone", "begins", "hours"),
        [
            ("UTC", utc(2026, 3, 29), 24),
            ("Europe/Zurich", utc(2026, 3, 28, 23), 23),
            ("Europe/Zurich", utc(2026, 10, 24, 22), 25),
            ("America/New_York", utc(2026, 3, 8, 5), 23),
            ("Asia/Kathmandu", utc(2026, 3, 28, 18, 15), 24),
        ],
    )
    def test_a_day_has_its_own_length(self, zone, begins, hours):
        """From its first second to its last one it is the same day, when the clocks change too."""
        clock = ManualClock(begins - 1)
        ledger = Ledger("sqlite://", zone=zone, clock=clock)
        spent = []
        for seconds in (0, 1, hours * 3600 - 1, 1):
            clock.advance(seconds)
            ledger.record("ada", 1)
            spent.append(ledger.spent("ada"))
        assert [1, 1, 2, 1] == spent

    def test_a_new_day_has_the_whole_cap(self, ledger, clock):
        """What was spent yesterday is no longer in the way, and can be asked for."""
        day = datetime.fromtimestamp(clock(), UTC).date()
        ledger.record("ada", 10)
        clock.advance(86_400)
        assert ledger.reserve("ada", 10, cap=10)
        assert (0, 10, 10) == (ledger.spent("ada"), ledger.spent("ada", day), ledger.spent("ada", day.isoformat()))

    def test_a_call_over_midnight(self, path):
        """It belongs to the day on which it was reserved, whose cap has admitted it."""
        clock = ManualClock(utc(2026, 3, 29, 21, 59, 59))
        ledger = Ledger(path, zone="Europe/Zurich", clock=clock)
        one = ledger.reserve("ada", 1, cap=1)
        clock.advance(2)
        assert (0, 1) == (ledger.reserved("ada"), ledger.reserved("ada", "2026-03-29"))
        ledger.settle(one, 0.5)
        assert (0, 0.5) == (ledger.spent("ada"), ledger.spent("ada", date(2026, 3, 29)))

    def test_nothing_on_a_day_without_entries(self, ledger):
        """A day on which nothing happened is zero, not an error."""
        assert (0, 0, []) == (ledger.spent("ada", "1999-01-01"), ledger.reserved("ada"), ledger.entries("ada"))

    @pytest.mark.parametrize(("day", "error"), [("today", ValueError), ("2026-02-30", ValueError), (20, TypeError)])
    def test_refuses_what_is_no_day(self, ledger, day, error):
        """The message shows what a day looks like."""
        with pytest.raises(error) as caught:
            ledger.spent("ada", day)
        assert f"spent: day must be a date such as '2026-03-29', not {day!r}" == str(caught.value)

    @pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "Europe", "CET/"])
    def test_refuses_an_unknown_zone(self, zone):
        """It says which, and what to do where there is no list of zones."""
        with pytest.raises(ValueError) as caught:
            Ledger("sqlite://", zone=zone)
        assert str(caught.value).startswith(f"Ledger: there is no time zone {zone!r}; give a name such as")
        assert "pip install tzdata" in str(caught.value)

    def test_refuses_a_zone_that_is_no_name(self):
        """A zone is stated by its name, so that it can be compared."""
        with pytest.raises(TypeError, match="Ledger: zone must be the name of a time zone, .* not datetime"):
            Ledger("sqlite://", zone=UTC)

    def test_all_must_say_the_same_zone(self, path):
        """Two zones in one ledger would be two caps for one person."""
        Ledger(path, zone="Europe/Zurich")
        with pytest.raises(ValueError, match="was made with the zone 'Europe/Zurich', not 'UTC'"):
            Ledger(path)


class TestWho:
    """Whose money it is."""

    @pytest.mark.parametrize("who", ["", "a" * 201, "a\0b", "a\nb", "\ud800"])
    def test_refuses_what_not_every_database_keeps(self, ledger, who):
        """A name that could be cut or changed would be somebody else's."""
        with pytest.raises(ValueError) as caught:
            ledger.reserve(who, 1, cap=1)
        assert f"reserve: who must have 1 to 200 printable characters, not {who!r}" == str(caught.value)

    @pytest.mark.parametrize("who", [None, 7, b"ada"])
    def test_refuses_what_is_no_text(self, ledger, who):
        """It says what it was given."""
        with pytest.raises(TypeError, match="spent: who must be a text, not"):
            ledger.spent(who)

    @pytest.mark.parametrize("who", ["ada", "Zoë & Jörg", "团队", "'; drop table x; --", "a" * 200])
    def test_any_name_will_do(self, ledger, who):
        """Names are kept as they are."""
        ledger.record(who, 1)
        assert [who] == [entry.who for entry in ledger.entries(who)]


CENTS = st.integers(0, 300)
EVENTS = st.one_of(
    st.tuples(st.just("reserve"), st.sampled_from(["ada", "bob"]), CENTS, CENTS),
    st.tuples(st.just("settle"), st.integers(0, 5), CENTS),
    st.tuples(st.just("release"), st.integers(0, 5)),
    st.tuples(st.just("record"), st.sampled_from(["ada", "bob"]), CENTS),
    st.tuples(st.just("wait"), st.sampled_from([1, 300, 600, 40_000])),
)


class Simple:
    """A ledger as one would write it for one process: a list, whole cents, and sums over all of it."""

    def __init__(self):
        self.now, self.all = 0, []

    def active(self, entry):
        return entry["state"] == "open" and self.now < entry["made"] + 600

    def sums(self, who):
        mine = [e for e in self.all if e["who"] == who and e["made"] // 86_400 == self.now // 86_400]
        return sum(e["amount"] for e in mine), sum(e["up_to"] for e in mine if self.active(e))

    def reserve(self, who, up_to, cap):
        if sum(self.sums(who)) + up_to > cap:
            return False
        self.all.append({"who": who, "up_to": up_to, "made": self.now, "state": "open", "amount": 0})
        return True

    def settle(self, entry, amount):
        if entry["state"] == "settled":
            return False if entry["amount"] == amount else "error"
        entry.update(state="settled", amount=amount)
        return True

    def release(self, entry):
        if not self.active(entry):
            return False
        entry["state"] = "released"
        return True

    def record(self, who, amount):
        self.all.append({"who": who, "up_to": 0, "made": self.now, "state": "settled", "amount": amount})


@settings(max_examples=60)
@given(st.lists(EVENTS, max_size=25))
def test_it_does_what_a_simple_ledger_does(events):
    """Whatever is asked in whatever order: each answer and all sums are those of a list of entries."""
    clock, simple = ManualClock(), Simple()
    ledger = Ledger("sqlite://", clock=clock)
    made, theirs = [], []
    for verb, *args in events:
        if verb == "wait":
            clock.advance(*args)
            simple.now += args[0]
        elif verb == "reserve":
            who, up_to, cap = args
            one = ledger.reserve(who, up_to / 100, cap / 100)
            assert simple.reserve(who, up_to, cap) == (one is not None)
            if one:
                made.append(one)
                theirs.append(simple.all[-1])
        elif verb == "record":
            who, amount = args
            ledger.record(who, amount / 100)
            simple.record(who, amount)
        elif made:
            at = args[0] % len(made)
            if verb == "release":
                assert simple.release(theirs[at]) == ledger.release(made[at])
            else:
                assert simple.settle(theirs[at], args[1]) == settled(ledger, made[at], args[1] / 100)
        for who in ("ada", "bob"):
            assert simple.sums(who) == tuple(round(100 * money) for money in taken(ledger, who))
    for who in ("ada", "bob"):
        full = sum(simple.sums(who))
        assert ledger.reserve(who, 0, cap=full / 100) is not None
        assert full == 0 or ledger.reserve(who, 0, cap=(full - 1) / 100) is None


def settled(ledger, one, amount):
    """What settling gives, or that it is an error."""
    try:
        return ledger.settle(one, amount)
    except ValueError:
        return "error"
