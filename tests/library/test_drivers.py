"""`run`, `arun` and `steps`: three ways to drive one loop."""

# ruff: noqa: SIM300

import asyncio
import inspect
import linecache
import sys
import threading
from pathlib import Path

import pytest

import stoplib
from stoplib import (
    Event,
    Fatal,
    ManualClock,
    Outcome,
    answer,
    arun,
    batch,
    call,
    max_steps,
    run,
    script,
    steps,
    time_limit,
    tool,
)
from stoplib.drivers import moments

from .helpers import LOOK, always, contents, counting, looking, requests, results


def awaited(*args, **kwargs):
    """`arun`, to its end."""
    return asyncio.run(arun(*args, **kwargs))


DRIVERS = [run, lambda *args, **kwargs: list(steps(*args, **kwargs))[-1].outcome]
PACKAGE = str(Path(stoplib.__file__).parent)


class TestChecks:
    """What cannot work is refused before the model is called, by both drivers."""

    @pytest.mark.parametrize("drive", [run, steps, awaited])
    @pytest.mark.parametrize(
        ("wrong", "word"),
        [
            ({"model": None}, "model must be callable"),
            ({"model": "gpt"}, "model must be callable"),
            ({"task": None}, "task must be a text"),
            ({"task": ["go"]}, "task must be a text"),
            ({"task": b"go"}, "task must be a text"),
            ({"guards": []}, "do not bound"),
            ({"guards": [max_steps]}, "give it its limit"),
            ({"guards": max_steps(3)}, "must be a list"),
            ({"tools": [5]}, "not a tool"),
            ({"tools": tool(always)}, "tools must be a list"),
            ({"clock": 5}, ""),
            ({"clock": None}, ""),
        ],
    )
    def test_refused(self, drive, wrong, word):
        """A wrong model, task, guard, tool or clock is a TypeError or ValueError, and no call is made."""
        model = looking()
        options = {"model": model, "task": "go", **wrong}
        with pytest.raises((TypeError, ValueError)) as caught:
            drive(options.pop("model"), options.pop("task"), **options)
        assert (0, True) == (model.calls, word in str(caught.value))

    @pytest.mark.parametrize("wrong", [{"approve": True}, {"approve": "yes"}, {"on_event": True}])
    def test_what_should_be_called_can_be(self, wrong):
        """`approve=True` is refused before the model is called."""
        model = looking()
        with pytest.raises(TypeError):
            run(model, "go", tools=LOOK, guards=[max_steps(1)], **wrong)
        assert 0 == model.calls

    @pytest.mark.parametrize("drive", [run, steps])
    def test_a_listener_that_is_async(self, drive):
        """Nobody would await what it gives, so it would hear nothing: refused before the first call."""

        async def listen(event):
            raise AssertionError("nobody awaits this")

        model = looking()
        with pytest.raises(TypeError, match="on_event is async; use arun, or pass a plain function"):
            drive(model, "go", tools=LOOK, guards=[max_steps(1)], on_event=listen)
        assert 0 == model.calls

    def test_steps_refuses_at_once(self):
        """`steps` refuses when it is called, not when its first event is asked for."""
        with pytest.raises(ValueError, match="do not bound"):
            steps(looking(), "go", guards=[])

    @pytest.mark.parametrize("drive", [run, steps, arun])
    def test_the_same_options(self, drive):
        """All drivers take the same options with the same defaults."""
        expected = [(p.name, p.kind, p.default) for p in inspect.signature(run).parameters.values()]
        assert expected == [(p.name, p.kind, p.default) for p in inspect.signature(drive).parameters.values()]

    @pytest.mark.parametrize("drive", [run, steps])
    def test_options_are_named(self, drive):
        """Beyond the model and the task everything is passed by name."""
        with pytest.raises(TypeError):
            drive(looking(), "go", LOOK)
        kinds = [p.kind for p in inspect.signature(drive).parameters.values()]
        assert [inspect.Parameter.KEYWORD_ONLY] * (len(kinds) - 2) == kinds[2:]

    def test_the_default_clock_is_monotonic(self):
        """Without a clock of its own a run is not hurt by a wall clock that is set back."""
        assert "monotonic" == inspect.signature(run).parameters["clock"].default.__name__

    def test_an_empty_task_is_a_task(self):
        """An empty text is allowed; it is the model's to complain."""
        assert "answered" == run(script(answer("what?")), "").reason


class TestAgreement:
    """Both drivers give the same outcome."""

    @pytest.mark.parametrize(
        "model",
        [
            script(answer("x")),
            script(call("look"), batch(call("look"), call("unknown"), call("bad")), answer("x")),
            script(call("look")),
            script(call("stop")),
            script(batch(call("look"), call("fatal"))),
            lambda messages: None,
            always(call("look")),
        ],
    )
    def test_same_outcome(self, model):
        """Reason, detail, counts and transcript are the same."""

        def stop():
            raise KeyboardInterrupt

        def fatal():
            raise Fatal("disk full")

        tools = {**LOOK, "bad": lambda: 1 / 0, "stop": stop, "fatal": fatal}
        one, *others = (drive(model, "go", tools=tools, clock=ManualClock()) for drive in DRIVERS)
        for other in others:
            assert (one.reason, one.detail, one.messages, repr(one)) == (
                other.reason,
                other.detail,
                other.messages,
                repr(other),
            )

    def test_run_gives_an_outcome(self):
        """`run` returns the outcome itself, which is that of the end event."""
        ends = []
        outcome = run(script(answer("x")), "go", on_event=lambda e: ends.append(e.outcome) if e.kind == "end" else None)
        assert isinstance(outcome, Outcome)
        assert ends == [outcome]


class TestSteps:
    """`steps`: one event at a time."""

    def test_nothing_happens_in_between(self):
        """Between two events nothing runs until the next one is asked for."""
        model = counting(script(call("look"), answer("x")))
        ran = []
        iterator = steps(model, "go", tools={"look": lambda: ran.append(1)})
        assert (0, 0) == (model.calls, len(ran))
        seen = []
        for event in iterator:
            seen.append((event.kind, model.calls, len(ran)))
        assert [("reply", 1, 0), ("call", 1, 0), ("result", 1, 1), ("reply", 2, 1), ("end", 2, 1)] == seen

    def test_is_over_after_the_end(self):
        """After the end event there is nothing more."""
        iterator = steps(script(answer("x")), "go")
        assert ["reply", "end"] == [e.kind for e in iterator]
        assert next(iterator, None) is None

    def test_leaving_early_stops_the_run(self):
        """A loop over the events that is left makes no further call."""
        model = looking()
        for event in steps(model, "go", tools=LOOK):
            if event.step == 2:
                break
        assert 2 == model.calls

    @pytest.mark.parametrize("kind", ["reply", "call", "result"])
    def test_leaving_early_leaves_the_transcript_whole(self, kind):
        """A run that is left in the middle of a batch has a result for every request."""
        iterator = steps(always(batch(call("look"), call("look"))), "go", tools=LOOK)
        event = next(e for e in iterator if e.kind == kind)
        iterator.close()
        assert requests(event.run.messages) == results(event.run.messages)

    def test_closing_is_quiet(self):
        """Closing the iterator, started or not, raises nothing and runs nothing."""
        model = looking()
        unstarted, started = steps(model, "go", tools=LOOK), steps(model, "go", tools=LOOK)
        next(started)
        unstarted.close()
        started.close()
        assert (1, None, None) == (model.calls, next(unstarted, None), next(started, None))

    @pytest.mark.parametrize(
        ("error", "reason"),
        [(KeyboardInterrupt(), "interrupted"), (Fatal("no"), "fatal"), (ValueError("no"), "fatal")],
        ids=lambda x: type(x).__name__ if isinstance(x, BaseException) else x,
    )
    def test_throwing_into_it(self, error, reason):
        """What is thrown into the iterator ends the run like what happens inside: the next event is the end."""
        iterator = steps(always(batch(call("look"), call("look"))), "go", tools=LOOK)
        seen = [next(iterator), next(iterator)]
        end = iterator.throw(error)
        assert (["reply", "call"], "end", reason) == ([e.kind for e in seen], end.kind, end.outcome.reason)
        assert requests(end.outcome.messages) == results(end.outcome.messages)
        assert next(iterator, None) is None

    def test_the_time_starts_with_the_first_event(self):
        """An iterator that lies around before it is used has used no time: the run starts when it starts."""
        clock = ManualClock()
        iterator = steps(script(answer("x")), "go", guards=[time_limit(10)], clock=clock)
        clock.advance(3600)
        assert "answered" == list(iterator)[-1].outcome.reason


class TestMoments:
    """`moments`: a stop before everything that is about to happen."""

    def watched(self, ran, **options):
        model = script(batch(call("look"), call("delete")), answer("x"))
        tools = {"look": lambda: ran.append("look"), "delete": lambda: ran.append("delete")}
        return moments(model, "go", tools=tools, **options)

    def test_before_each_request(self):
        """There is a moment before the model, the person and each tool, and only then is it carried out."""
        ran = []
        run, all_of_it = self.watched(ran, approve=lambda asked: asked.name == "look")
        seen = [(moment.kind, run.steps, len(ran)) for moment in all_of_it]
        assert [
            ("model", 0, 0),
            ("reply", 1, 0),
            ("person", 1, 0),
            ("person", 1, 0),
            ("call", 1, 0),
            ("tool", 1, 0),
            ("result", 1, 1),
            ("call", 1, 1),
            ("result", 1, 1),
            ("model", 1, 1),
            ("reply", 2, 1),
            ("end", 2, 1),
        ] == seen

    @pytest.mark.parametrize(("place", "calls"), [(0, 0), (2, 2), (3, 2), (5, 2), (8, 2)])
    def test_an_interrupt_at_a_moment(self, place, calls):
        """What is interrupted before it is carried out does not happen, and the transcript is whole."""
        ran = []
        _, all_of_it = self.watched(ran, approve=lambda asked: True)
        before = [next(all_of_it) for _ in range(place + 1)]
        so_far = len(ran)
        end = all_of_it.throw(KeyboardInterrupt())
        assert ("end", "interrupted") == (end.kind, end.outcome.reason)
        assert so_far == len(ran)
        assert calls == len(requests(end.outcome.messages)) == len(results(end.outcome.messages)), before[-1].kind

    def test_the_outcome_is_that_of_run(self):
        """Whoever asks for one moment after the other gets the run that `run` makes."""
        options = {"tools": LOOK, "guards": [max_steps(3)]}
        *_, end = moments(looking(), "go", **options, clock=ManualClock())[1]
        assert run(looking(), "go", **options, clock=ManualClock()) == end.outcome

    def test_what_cannot_work_is_refused_at_once(self):
        """The checks of `run` are made before the first moment is asked for."""
        with pytest.raises(ValueError, match="do not bound"):
            moments(looking(), "go", guards=[])


class TestManyRuns:
    """Runs share nothing."""

    def test_one_after_the_other(self):
        """The same guards, tools and model serve a second run like the first."""
        guards = [max_steps(3) | time_limit(100), max_steps(2) & time_limit(1)]
        model, clock = looking(), ManualClock()
        first, second = (run(model, "go", tools=LOOK, guards=guards, clock=clock) for _ in range(2))
        assert (first.reason, first.fired, first.messages) == (second.reason, second.fired, second.messages)

    def test_interleaved(self):
        """Two runs that are stepped in turn do not see each other."""
        guards = [max_steps(2)]
        one, other = (steps(looking(), task, tools=LOOK, guards=guards) for task in ("one", "other"))
        both = list(zip(one, other, strict=True))
        assert 7 == len(both)
        assert ("one", "other") == tuple(e.outcome.messages[0]["content"] for e in both[-1])

    def test_in_threads(self):
        """Two runs at once with the same guards each get the whole of their limits."""
        guards, barrier, outcomes = [max_steps(5)], threading.Barrier(2, timeout=10), []

        def meet():
            barrier.wait()
            return "met"

        def work():
            outcomes.append(run(always(call("meet")), "go", tools={"meet": meet}, guards=guards))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [("max_steps", 5, ["met"] * 5)] * 2 == [(o.reason, o.steps, contents(o.messages)) for o in outcomes]


def interrupted_at(drive, line, begin, end, **options):
    """Drive a run that is hit by Ctrl-C at the `line`-th line of the package that is run between two model calls.

    Gives (outcome, where), where `where` is None if there are not so many lines.
    """
    script_ = script(batch(call("look"), call("unknown")), batch(call("look"), call("look")), answer("x"))
    lines, now, where = 0, 0, None

    def model(messages):
        nonlocal now
        now += 1
        return script_(messages)

    def each_line(frame, kind, _):
        nonlocal lines, where
        if kind == "line" and where is None and begin <= now < end:
            source = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            lines += source != "try:"  # an interrupt never strikes there: the line does nothing
            if lines == line:
                where = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {source}"
                raise KeyboardInterrupt
        return each_line

    def each_frame(frame, kind, _):
        return each_line if frame.f_code.co_filename.startswith(PACKAGE) else None

    before = sys.gettrace()
    sys.settrace(each_frame)
    try:
        outcome = drive(model, "go", tools=LOOK, approve=lambda asked: True, **options)
    except BaseException as error:
        outcome = error
    finally:
        sys.settrace(before)
    return outcome, where


def sweep(drive, begin, end, **options):
    """Where Ctrl-C does not end a run as interrupted with its transcript whole, line by line of the package."""
    wrong, line = [], 1
    while True:
        outcome, where = interrupted_at(drive, line, begin, end, **options)
        if where is None:
            assert line > 20, "the sweep must have struck somewhere"
            return wrong
        if not isinstance(outcome, Outcome):
            wrong.append((where, repr(outcome)))
        elif requests(outcome.messages) != results(outcome.messages):
            wrong.append((where, "transcript not whole"))
        elif outcome.reason != "interrupted":
            wrong.append((where, outcome.reason))
        line += 1


class TestCtrlCAnywhere:
    """Ctrl-C can strike at any line of the loop itself, not only in the model or a tool."""

    def test_while_it_runs(self):
        """Between the first and the last model call every line can be interrupted."""
        assert [] == sweep(run, 1, 3)

    def test_while_it_is_stepped(self):
        """The same with one event at a time."""
        assert [] == sweep(DRIVERS[1], 1, 3)

    def test_while_the_outcome_is_made(self):
        """While the last reply is recorded and the outcome made, an interrupt leaves an outcome, whatever its reason.

        Only where the finished outcome is handed over, in the loop's and the driver's last lines, may it pass through.
        """
        wrong = [(where, what) for where, what in sweep(run, 3, 4) if what != "answered"]
        assert [] == [w for w in wrong if not w[0].startswith(("loop.py", "drivers.py", "driving.py"))]


def test_event_kinds_are_documented():
    """Every kind of event that a run sends is described in the docstring of `Event`."""
    kinds = {e.kind for e in steps(script(call("look"), answer("x")), "go", tools=LOOK)}
    assert [] == [kind for kind in kinds if f"\n{kind} " not in inspect.getdoc(Event)]
