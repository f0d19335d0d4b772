"""The guard `daily_cap`: what it reserves before a call, settles after it, and gives back."""

# ruff: noqa: SIM300

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest

from stoplib import Fatal, ManualClock, Reply, Usage, answer, arun, call, load, max_steps, replay, run, script, steps
from stoplib.guards.daily import daily_cap
from stoplib.ledger import Ledger

from .helpers import LOOK, looking

PRICE = {"input": 0, "output": 1_000_000}  # a token of an answer costs 1
TEN = max_steps(10)


@pytest.fixture
def ledger():
    """A ledger in memory."""
    return Ledger("sqlite://", clock=ManualClock(1_780_000_000.0))


def up_to_one(says):
    """The same model, whose answers have at most one token."""
    says.max_output_tokens = 1
    return says


def paris(messages):
    """A model that answers with one token."""
    return answer("Paris", usage=Usage(output=1))


def looks_thrice(messages):
    """A model that looks three times and then answers; each reply costs 1."""
    asked = sum(message["role"] == "assistant" for message in messages)
    return call("look", usage=Usage(output=1)) if asked < 3 else answer("Paris", usage=Usage(output=1))


def spend(model, ledger, guards=(), amount=10, **options):
    """A run under a cap of 10 a day."""
    guards = [daily_cap(ledger, "team", amount), *guards, TEN]
    return run(up_to_one(model), "go", tools=LOOK, guards=guards, prices=PRICE, **options)


def states(ledger):
    """The states of all reservations of today, in order."""
    return [entry.state for entry in ledger.entries("team")]


def taken(ledger):
    """(spent, reserved) of today."""
    return ledger.spent("team"), ledger.reserved("team")


class Gate:
    """A model that answers when it is let."""

    max_output_tokens = 1

    def __init__(self):
        self.open, self.calls = threading.Event(), 0

    def __call__(self, messages):
        self.calls += 1
        assert self.open.wait(60)
        return paris(messages)


class TestASharedCap:
    """A cap of 10, 9 spent, five runs at once that each need up to 1."""

    def test_one_is_admitted_and_four_are_refused(self, ledger):
        """While the one is calling its model, the others end without a call."""
        ledger.record("team", 9)
        model = Gate()
        with ThreadPoolExecutor(5) as pool:
            running = as_completed([pool.submit(spend, model, ledger) for _ in range(5)])
            refused = [next(running).result() for _ in range(4)]
            assert (9, 1) == taken(ledger)
            model.open.set()
            admitted = next(running).result()
        assert ["daily_cap"] * 4 == [outcome.reason for outcome in refused]
        assert ("answered", 1) == (admitted.reason, model.calls)
        assert (10, 0) == taken(ledger)

    def test_runs_in_one_event_loop(self, ledger):
        """The same with `arun`, which has one thread for all of them."""
        ledger.record("team", 9)

        async def model(messages):
            while len(ends) < 4:
                await asyncio.sleep(0)
            return paris(messages)

        async def one():
            guards = [daily_cap(ledger, "team", 10), TEN]
            outcome = await arun(up_to_one(model), "go", guards=guards, prices=PRICE)
            ends.append(outcome.reason)

        async def five():
            await asyncio.gather(*(one() for _ in range(5)))

        ends = []
        asyncio.run(five())
        assert ["daily_cap"] * 4 + ["answered"] == ends
        assert (10, 0) == taken(ledger)

    def test_an_aborted_call_gives_its_reserve_back(self, ledger):
        """A model that raises has cost nothing, and the next run is admitted."""
        ledger.record("team", 9)

        def broken(messages):
            raise ConnectionError("no answer")

        assert "fatal" == spend(broken, ledger).reason
        assert (9, 0) == taken(ledger)
        assert "answered" == spend(paris, ledger).reason

    def test_settling_above_the_reserve_is_recorded(self, ledger):
        """What the call did cost counts, also if it passes the cap."""
        ledger.record("team", 9)
        assert "answered" == spend(script(answer("Paris", usage=Usage(output=3))), ledger).reason
        assert (12, 0) == taken(ledger)

    @pytest.mark.parametrize(("spent", "reason"), [(8, "answered"), (9, "answered"), (9.000001, "daily_cap")])
    def test_boundary(self, ledger, spent, reason):
        """The cap may be reached, and not be passed."""
        ledger.record("team", spent)
        assert reason == spend(paris, ledger).reason


class TestWhatItSays:
    """The detail of the outcome."""

    def test_what_is_spent_and_needed(self, ledger):
        """It says who has spent how much, and what the next call needs."""
        ledger.record("team", 9.5)
        outcome = spend(paris, ledger)
        assert "9.5 of 10 spent today by team, and the next call needs about 1" == outcome.detail
        assert ("daily_cap", 0, False) == (outcome.reason, outcome.steps, outcome.complete)

    def test_what_others_have_reserved(self, ledger):
        """If it is others' running calls that are in the way, it says so."""
        ledger.reserve("team", 8, cap=10)
        ledger.reserve("team", 1.5, cap=10)
        expected = (
            "0 of 10 spent today by team, 9.5 reserved for calls that are running, and the next call needs about 1"
        )
        assert expected == spend(paris, ledger).detail


class TestDuringARun:
    """Each call is reserved for and settled."""

    def test_every_call_is_settled(self, ledger):
        """As many entries as calls, and what the run has cost is what was spent."""
        outcome = spend(looks_thrice, ledger)
        assert ("answered", 4) == (outcome.reason, outcome.cost)
        assert ["settled"] * 4 == states(ledger)
        assert (4, 0) == taken(ledger)

    def test_the_estimate_grows_with_the_transcript(self, ledger):
        """The next call sends again what the last one sent and received."""
        model = up_to_one(script(call("look", usage=Usage(input=100, output=1)), answer("x", usage=Usage(input=101))))
        prices = {"input": 1_000_000, "output": 1_000_000}
        run(model, "four", tools=LOOK, guards=[daily_cap(ledger, "team", 1000), TEN], prices=prices)
        assert [2, 104] == sorted(entry.up_to for entry in ledger.entries("team"))

    def test_it_stops_in_the_middle(self, ledger):
        """A run stops before the call that does not fit; what it did before is paid."""
        outcome = spend(looks_thrice, ledger, amount=2)
        assert ("daily_cap", 2) == (outcome.reason, outcome.steps)
        assert (2, 0) == taken(ledger)

    def test_looking_twice_reserves_once(self, ledger):
        """Who asks the guard again before the call gets the same answer, and nothing more is reserved."""
        guard, seen = daily_cap(ledger, "team", 10), []

        def asks_again(run):
            seen.append((guard(run), guard(run), ledger.reserved("team")))

        run(up_to_one(looks_thrice), "go", tools=LOOK, guards=[guard, asks_again, TEN], prices=PRICE)
        assert [(None, None, 1)] * 4 == seen
        assert ["settled"] * 4 == states(ledger)

    def test_two_runs_share_a_guard(self, ledger):
        """Two runs at once, step by step in turn, with the same guard object: each settles its own."""
        guard = daily_cap(ledger, "team", 10)
        both = [steps(up_to_one(looks_thrice), "go", tools=LOOK, guards=[guard, TEN], prices=PRICE) for _ in range(2)]
        ends = []
        while both:
            for events in list(both):
                event = next(events, None)
                if event is None:
                    both.remove(events)
                elif event.kind == "end":
                    ends.append(event.outcome.reason)
        assert ["answered"] * 2 == ends
        assert ["settled"] * 8 == states(ledger)

    def test_the_same_guard_given_twice(self, ledger):
        """It is one guard: nothing is paid twice."""
        guard = daily_cap(ledger, "team", 10)
        run(up_to_one(looks_thrice), "go", tools=LOOK, guards=[guard, guard, TEN], prices=PRICE)
        assert (4, 0) == taken(ledger)

    def test_a_person_and_their_team(self, ledger):
        """Two caps are both kept: each call is reserved and paid twice, in each one's name."""
        assert "answered" == spend(looks_thrice, ledger, guards=[daily_cap(ledger, "ada", 5)]).reason
        assert (4, 0) == taken(ledger)
        assert ["settled"] * 4 == [entry.state for entry in ledger.entries("ada")]

    def test_the_second_of_two_caps_refuses(self, ledger):
        """What the first has reserved is given back."""
        outcome = spend(looks_thrice, ledger, guards=[daily_cap(ledger, "ada", 3)])
        assert ("daily_cap", 3) == (outcome.reason, outcome.steps)
        assert "3 of 3 spent today by ada, and the next call needs about 1" == outcome.detail
        assert (3, 0) == taken(ledger)
        assert ["released", *["settled"] * 3] == sorted(states(ledger))


class TestCallsThatWereNotMade:
    """A reserve is given back when no call came of it."""

    @pytest.mark.parametrize("error", [ValueError("x"), Fatal("x"), KeyboardInterrupt()])
    def test_the_model_raises(self, ledger, error):
        """Whatever it raises."""

        def model(messages):
            raise error

        spend(model, ledger)
        assert ["released"] == states(ledger)

    def test_the_model_returns_no_reply(self, ledger):
        """What is no reply has no cost that could be recorded."""
        assert "fatal" == spend(lambda messages: "Paris", ledger).reason
        assert ["released"] == states(ledger)

    def test_another_guard_fires(self, ledger):
        """A guard that is looked at after it ends the run."""
        outcome = spend(paris, ledger, guards=[lambda run: "no"])
        assert ("<lambda>", 0) == (outcome.reason, outcome.steps)
        assert ["released"] == states(ledger)

    def test_the_program_ends(self, ledger):
        """Also when what ends it passes through the run."""

        def model(messages):
            raise SystemExit

        with pytest.raises(SystemExit):
            spend(model, ledger)
        assert ["released"] == states(ledger)

    def test_the_task_is_cancelled(self, ledger):
        """`arun` in a task that is cancelled while the model thinks."""

        async def model(messages):
            asyncio.current_task().get_loop().call_soon(task[0].cancel)
            await asyncio.sleep(60)

        async def main():
            guards = [daily_cap(ledger, "team", 10), TEN]
            task.append(asyncio.ensure_future(arun(up_to_one(model), "go", guards=guards, prices=PRICE)))
            await asyncio.wait(task)

        task = []
        asyncio.run(main())
        assert task[0].cancelled()
        assert ["released"] == states(ledger)

    def test_steps_are_left_in_the_middle(self, ledger):
        """Who does not want to see the rest closes the generator; what was made before is paid."""
        events = steps(
            up_to_one(looks_thrice), "go", tools=LOOK, guards=[daily_cap(ledger, "team", 10), TEN], prices=PRICE
        )
        assert "reply" == next(events).kind
        events.close()
        assert ["settled"] == states(ledger)


class TestUnknownCosts:
    """Unknown is not zero."""

    def test_a_model_without_a_price_is_refused(self, ledger):
        """Before the first call, with what is missing."""
        with pytest.raises(ValueError) as caught:
            run(paris, "go", guards=[daily_cap(ledger, "team", 10), TEN])
        assert str(caught.value).startswith("daily_cap: there is no price for the model 'paris', and unknown is not")
        assert [] == states(ledger)

    def test_a_reply_without_usage_costs_what_was_reserved(self, ledger):
        """A model that reports nothing does not get its calls for nothing."""
        outcome = spend(looking(), ledger, amount=3)
        assert ("daily_cap", 3) == (outcome.reason, outcome.steps)
        assert (3, 0) == taken(ledger)

    def test_usage_that_cannot_be_true_costs_what_was_reserved(self, ledger):
        """The call was made, and somebody has to pay for it."""
        assert "fatal" == spend(lambda messages: answer("Paris", usage=Usage(output=-5)), ledger).reason
        assert (1, 0) == taken(ledger)

    def test_a_free_model_is_free(self, ledger):
        """A price of zero is known, and leaves the cap alone."""
        ledger.record("team", 10)
        guards = [daily_cap(ledger, "team", 10), TEN]
        assert "answered" == run(paris, "go", guards=guards, prices={"input": 0, "output": 0}).reason


class TestTheSummary:
    """The closing summary is a call like others."""

    def test_it_is_settled_too(self, ledger):
        """Steps and the summary: one entry each."""

        def model(messages):
            asked = messages[-1]["role"] == "user" and len(messages) > 1
            return Reply("so far", () if asked else call("look").calls, Usage(output=1))

        outcome = spend(model, ledger, guards=[max_steps(3)], summarize=True)
        assert ("max_steps", 3, "so far") == (outcome.reason, outcome.steps, outcome.summary)
        assert ["settled"] * 3 == states(ledger)
        assert (3, 0) == taken(ledger)

    def test_no_summary_above_the_cap(self, ledger):
        """After `daily_cap` has fired there is money for a summary only if others have given some back."""
        outcome = spend(looks_thrice, ledger, amount=2, summarize=True)
        assert ("daily_cap", 2) == (outcome.reason, outcome.steps)
        assert outcome.summary.startswith("There is no summary by the model.")
        assert (2, 0) == taken(ledger)

    def test_a_summary_that_fails_gives_its_reserve_back(self, ledger):
        """It is a call that was not made."""

        def model(messages):
            if len(messages) > 2:
                raise ConnectionError
            return call("look", usage=Usage(output=1))

        assert "max_steps" == spend(model, ledger, guards=[max_steps(2)], summarize=True).reason
        assert (1, 0) == taken(ledger)
        assert ["released", "settled"] == sorted(states(ledger))


class TestJoined:
    """`|` and `&`."""

    def test_or(self, ledger):
        """Each looks for itself."""
        outcome = run(
            up_to_one(looks_thrice), "go", tools=LOOK, guards=[daily_cap(ledger, "team", 2) | TEN], prices=PRICE
        )
        assert ("daily_cap", 2) == (outcome.reason, outcome.steps)

    def test_and(self, ledger):
        """Calls that the other side has let through are recorded, although no reserve was given for them."""
        both = daily_cap(ledger, "team", 1) & max_steps(3)
        outcome = run(up_to_one(looks_thrice), "go", tools=LOOK, guards=[both, TEN], prices=PRICE)
        assert ("daily_cap & max_steps", 3) == (outcome.reason, outcome.steps)
        assert (3, 0) == taken(ledger)


class Unreachable:
    """A ledger whose database goes away."""

    def __init__(self, ledger, *verbs):
        self._ledger, self._verbs, self.tried = ledger, verbs, []

    def __getattr__(self, verb):
        def ask(*args):
            self.tried.append(verb)
            if verb in self._verbs:
                raise ConnectionError(f"no database to {verb} in")
            return getattr(self._ledger, verb)(*args)

        return ask


class TestALedgerThatCannotBeReached:
    """No call is made that could not be paid for."""

    def test_before_the_call(self, ledger):
        """The run ends, with the reason on it."""
        outcome = spend(paris, Unreachable(ledger, "reserve", "settle", "release"))
        assert ("fatal", 0) == (outcome.reason, outcome.steps)
        assert "ConnectionError: no database to reserve in (in the guard daily_cap)" == outcome.detail

    def test_after_the_call(self, ledger):
        """The run ends; it is tried once more; the reserve of a call that was made is never given back."""
        unreachable = Unreachable(ledger, "settle")
        outcome = spend(paris, unreachable)
        assert ("fatal", "ConnectionError: no database to settle in") == (outcome.reason, outcome.detail)
        assert ["reserve", "settle", "settle"] == unreachable.tried
        assert (0, 1) == taken(ledger)

    def test_in_the_end(self, ledger):
        """A reserve that cannot be given back changes no reason: it expires by itself."""
        outcome = spend(paris, Unreachable(ledger, "release"), guards=[lambda run: "no"])
        assert "<lambda>" == outcome.reason
        assert ["open"] == states(ledger)


class TestReplay:
    """What is replayed costs nothing."""

    def test_it_leaves_the_ledger_alone(self, ledger):
        """Neither asked nor told anything, and it does not fire."""
        outcome = spend(looks_thrice, ledger)
        elsewhere = Unreachable(ledger, "reserve", "settle", "release", "record", "spent", "reserved")
        again = replay(outcome, [daily_cap(elsewhere, "team", 0), TEN])
        assert ("answered", 4) == (again.reason, again.steps)
        assert [] == elsewhere.tried

    def test_a_run_that_it_had_ended_ends_so_again(self, ledger, tmp_path):
        """The recording says how, also from a file, with the summary that there was."""
        outcome = spend(looks_thrice, ledger, amount=2, summarize=True)
        outcome.save(tmp_path / "run.jsonl")
        again = replay(load(tmp_path / "run.jsonl"), [daily_cap(ledger, "team", 2), TEN])
        assert (outcome.reason, outcome.detail, outcome.summary) == (again.reason, again.detail, again.summary)
        assert (2, 0) == taken(ledger)


class TestAsAValue:
    """A guard like the others."""

    def test_equal_and_printed_by_content(self, ledger):
        """Two with the same ledger, person and amount are the same."""
        assert daily_cap(ledger, "team", 10) == daily_cap(ledger, who="team", amount=10)
        assert f"daily_cap({ledger!r}, 'team', 10)" == repr(daily_cap(ledger, "team", 10))

    def test_it_does_not_bound_a_run(self, ledger):
        """A free model would go on for ever."""
        with pytest.raises(ValueError, match="do not bound the run"):
            run(paris, "go", guards=[daily_cap(ledger, "team", 10)], prices=PRICE)

    @pytest.mark.parametrize("wrong", ["spend.db", None, 10, Ledger])
    def test_refuses_what_is_no_ledger(self, wrong):
        """A path is not a ledger yet, and the class is none either."""
        with pytest.raises(TypeError) as caught:
            daily_cap(wrong, "team", 10)
        assert str(caught.value) == f"daily_cap: ledger must be a Ledger, such as Ledger('spend.db'), not {wrong!r}"

    @pytest.mark.parametrize("who", ["", None, 7])
    def test_refuses_nobody(self, ledger, who):
        """Money is somebody's."""
        with pytest.raises(TypeError, match="daily_cap: who must be a text that is not empty, not"):
            daily_cap(ledger, who, 10)

    @pytest.mark.parametrize("amount", [-1, float("nan"), float("inf")])
    def test_refuses_what_is_no_amount(self, ledger, amount):
        """As every limit does."""
        with pytest.raises(ValueError) as caught:
            daily_cap(ledger, "team", amount)
        assert f"daily_cap: amount must be a finite number of at least 0, not {amount!r}" == str(caught.value)

    @pytest.mark.parametrize("gate", ["before_action", "after_round"])
    def test_refuses_another_gate(self, ledger, gate):
        """At another one the first call would be made unasked."""
        with pytest.raises(ValueError, match=f"it reserves for the next call, so it cannot look at {gate}"):
            daily_cap(ledger, "team", 10, gate=gate)

    def test_it_loads_no_database(self):
        """The guard is part of the core, which needs the standard library alone."""
        program = (
            "import sys, stoplib.guards.daily; print('sqlalchemy' in sys.modules, 'stoplib.ledger' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert "False False" == done.stdout.strip()
