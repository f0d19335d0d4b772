"""`arun`: the same run for models, tools and approval that may be async; it cancels at the deadline."""

# ruff: noqa: SIM300

import asyncio
import threading
from contextvars import ContextVar

import pytest

from stoplib import (
    Fatal,
    ManualClock,
    Reply,
    TickClock,
    ToolCall,
    answer,
    arun,
    batch,
    call,
    goal_reached,
    max_steps,
    run,
    script,
    time_limit,
    tool,
)

from .helpers import LOOK, Later, always, contents, looking, requests, results

WHO = ContextVar("who", default="nobody")
FOR_EVER = 30  # seconds that nobody waits for: what sleeps so long is cancelled


def drive(model, task="go", patience=5, **options):
    """An async run to its end. One that hangs, or lets an interrupt out, fails; it does not end the tests.

    Its clock stands still, so that a deadline is always its whole limit away, however slow the computer is.
    """
    options.setdefault("clock", ManualClock())
    try:
        return asyncio.run(asyncio.wait_for(arun(model, task, **options), patience))
    except KeyboardInterrupt:
        pytest.fail("an interrupt came out of the run")


def statuses(outcome):
    """The statuses of all tool results."""
    return [result.status for step in outcome.trace for result in step.results]


def asked_once(*calls):
    """A model that asks for these in one reply, and then answers."""
    return script(batch(*calls), answer("done"))


async def sleeps():
    """A tool that takes for ever."""
    await asyncio.sleep(FOR_EVER)


async def looks():
    """A quick tool."""
    return "nothing"


class TestWhatMayBeAsync:
    """Each part may be async or not."""

    def test_everything_async(self):
        """Model, tool, approval and listener are awaited."""
        heard = []

        async def model(messages, tools):
            return answer("done") if len(messages) > 1 else call("look")

        async def look():
            return {"found": 1}

        async def approve(asked):
            return True

        async def listen(event):
            heard.append(event.kind)

        outcome = drive(model, tools=[look], approve=approve, on_event=listen)
        assert ("answered", ['{"found": 1}']) == (outcome.reason, contents(outcome.messages))
        assert ["reply", "call", "result", "reply", "end"] == heard

    def test_nothing_async(self):
        """Plain functions work as in `run`."""
        model = script(call("look"), answer("done"))
        outcome = drive(model, tools=LOOK, approve=lambda asked: True, on_event=lambda event: None)
        assert ("answered", ["nothing"]) == (outcome.reason, contents(outcome.messages))

    def test_a_plain_function_that_hands_on_an_async_one(self):
        """What is given back and can be awaited is awaited, whoever made it."""
        outcome = drive(
            lambda messages: Later(answer("x")) if len(messages) > 1 else Later(call("look")),
            tools={"look": lambda: looks()},
            approve=lambda asked: Later(True),
        )
        assert ("answered", ["nothing"]) == (outcome.reason, contents(outcome.messages))

    def test_an_object_with_an_async_call(self):
        """An object that is called asynchronously is a model and a tool."""

        class Thing:
            __name__ = "thing"

            def __init__(self, value):
                self.value = value

            async def __call__(self, *args):
                return self.value

        outcome = drive(Thing(answer("x")))
        assert "answered" == outcome.reason
        outcome = drive(script(call("thing"), answer("x")), tools={"thing": Thing("seen")})
        assert ["seen"] == contents(outcome.messages)

    @pytest.mark.parametrize("said", [False, None])
    def test_an_async_no(self, said):
        """A declined tool never runs."""

        async def approve(asked):
            return said

        outcome = drive(asked_once(call("sleeps")), tools=[sleeps], approve=approve)
        assert ("answered", ["declined"], 0) == (outcome.reason, statuses(outcome), outcome.tool_calls)

    def test_what_is_no_yes_or_no(self):
        """An async approval that answers something else is an error, as elsewhere."""

        async def approve(asked):
            return "yes"

        assert ("fatal", TypeError) == (
            drive(looking(), tools=LOOK, approve=approve).reason,
            type(drive(looking(), tools=LOOK, approve=approve).error),
        )

    def test_what_is_no_reply(self):
        """An async model that gives no Reply ends the run as fatal."""

        async def model(messages):
            return "Paris"

        assert "the model returned 'Paris'" in drive(model).detail

    @pytest.mark.parametrize("kind", ["a generator", "an async generator"])
    def test_a_generator_is_no_result(self, kind):
        """A tool that is a generator has not run: that is an error, and no address is shown to the model."""

        def rows():
            yield 1

        async def rows_one_by_one():
            yield 1

        tools = {"rows": rows if kind == "a generator" else rows_one_by_one}
        for outcome in (drive(asked_once(call("rows")), tools=tools), run(asked_once(call("rows")), "go", tools=tools)):
            assert (["error"], False) == (statuses(outcome), " at 0x" in contents(outcome.messages)[0])

    def test_checks_come_first(self):
        """What cannot work is refused when it is awaited, before the model is called."""
        model = looking()
        for wrong in ({"guards": []}, {"tools": [5]}, {"clock": None}, {"approve": "yes"}):
            with pytest.raises((TypeError, ValueError)):
                drive(model, **{"tools": LOOK, **wrong})
        assert 0 == model.calls


class TestBatch:
    """The tools of a batch run side by side."""

    @pytest.mark.parametrize("size", [1, 2, 3, 5])
    def test_each_call_runs_once(self, size):
        """However many calls are in a batch, each runs once."""
        ran = []

        async def look(n):
            ran.append(n)
            return n

        outcome = drive(asked_once(*[call("look", n=n) for n in range(size)]), tools=[look])
        assert [str(n) for n in range(size)] == contents(outcome.messages)
        assert list(range(size)) == ran

    def test_side_by_side(self):
        """Two tools that wait for each other both end."""
        first, second = asyncio.Event(), asyncio.Event()

        async def one():
            first.set()
            await second.wait()
            return "one"

        async def other():
            second.set()
            await first.wait()
            return "other"

        outcome = drive(asked_once(call("one"), call("other")), tools=[one, other])
        assert ["one", "other"] == contents(outcome.messages)

    def test_plain_functions_side_by_side(self):
        """Plain functions run in threads, so they can wait for each other too."""
        first, second = threading.Event(), threading.Event()

        def one():
            first.set()
            return f"other: {second.wait(5)}"

        def other():
            second.set()
            return f"one: {first.wait(5)}"

        outcome = drive(asked_once(call("one"), call("other")), tools=[one, other])
        assert ["other: True", "one: True"] == contents(outcome.messages)

    def test_the_order_is_that_of_the_calls(self):
        """Results are in the order of the calls, whichever tool ends first."""
        go_on = asyncio.Event()

        async def late():
            await go_on.wait()
            return "late"

        async def early():
            go_on.set()
            return "early"

        outcome = drive(asked_once(call("late"), call("early"), call("late")), tools=[late, early])
        assert ["late", "early", "late"] == contents(outcome.messages)

    def test_errors_side_by_side(self):
        """Each tool that fails has its own error, and the others their results."""

        async def bad(n):
            raise ValueError(f"cannot {n}")

        model = asked_once(call("bad", n=1), call("looks"), call("unknown"), call("bad", n=2))
        outcome = drive(model, tools=[bad, looks])
        assert ["error", "ok", "error", "error"] == statuses(outcome)
        assert ["ValueError: cannot 1", "ValueError: cannot 2"] == contents(outcome.messages)[::3]

    def test_what_was_declined_does_not_start(self):
        """All of a batch are asked about before any of it runs, and the declined ones do not start."""
        ran, log = [], []

        async def look(n):
            ran.append(n)
            log.append("ran")

        async def approve(asked):
            log.append("asked")
            return asked.args["n"] == 1

        outcome = drive(asked_once(*[call("look", n=n) for n in range(3)]), tools=[look], approve=approve)
        assert (["declined", "ok", "declined"], [1]) == (statuses(outcome), ran)
        assert ["asked"] * 3 + ["ran"] == log

    def test_a_fatal_one_cancels_the_others(self):
        """A tool that ends the run cancels those that are still running beside it."""
        ended = []

        async def slow():
            try:
                await asyncio.sleep(FOR_EVER)
            finally:
                ended.append("tidied up")

        async def bad():
            raise Fatal("disk full")

        outcome = drive(asked_once(call("bad"), call("slow")), tools=[bad, slow])
        assert ("fatal", ["error", "error"], ["tidied up"]) == (outcome.reason, statuses(outcome), ended)
        assert requests(outcome.messages) == results(outcome.messages)

    def test_what_has_run_is_not_said_not_to_have_run(self):
        """A tool of the batch that was done when another one ended the run keeps its result: it has acted."""
        sent = []

        async def send():
            sent.append("mail")
            return "sent"

        async def bad():
            await asyncio.sleep(0.01)
            raise Fatal("disk full")

        outcome = drive(asked_once(call("bad"), call("send")), tools=[bad, send])
        assert (["mail"], ["error", "ok"], "sent") == (sent, statuses(outcome), contents(outcome.messages)[1])

    def test_what_has_failed_beside_it_keeps_its_error(self):
        """A tool of the batch that had failed when another one ended the run keeps its own error."""

        async def fails():
            raise ValueError("cannot")

        async def bad():
            await asyncio.sleep(0.01)
            raise Fatal("disk full")

        outcome = drive(asked_once(call("bad"), call("fails")), tools=[bad, fails])
        assert ("fatal", "ValueError: cannot") == (outcome.reason, contents(outcome.messages)[1])

    def test_what_has_run_before_the_deadline_keeps_its_result(self):
        """The same where the deadline cancels another tool of the batch."""
        outcome = drive(asked_once(call("sleeps"), call("looks")), tools=[sleeps, looks], guards=[time_limit(0.02)])
        assert ("time_limit", ["error", "ok"]) == (outcome.reason, statuses(outcome))

    def test_what_was_cancelled_is_said_to_have_begun(self):
        """A tool that was cancelled at the deadline did begin: the transcript must not say that it never ran."""
        outcome = drive(asked_once(call("sleeps")), tools=[sleeps], guards=[time_limit(0.02)])
        assert not contents(outcome.messages)[0].startswith("not run:")


class TestDeadline:
    """At the deadline of a `time_limit` what is running is cancelled."""

    def check(self, outcome, steps, ended=None):
        """The run ended by its time limit, and its transcript is whole."""
        assert ("time_limit", steps, ("time_limit",)) == (outcome.reason, outcome.steps, outcome.fired)
        assert "what was running was cancelled at the limit of 0.02 s" == outcome.detail
        assert requests(outcome.messages) == results(outcome.messages)
        assert ended in (None, ["tidied up"])

    def test_a_tool(self):
        """A tool is cancelled and gets to tidy up."""
        ended = []

        async def slow():
            try:
                await asyncio.sleep(FOR_EVER)
            finally:
                ended.append("tidied up")

        self.check(drive(asked_once(call("slow")), tools=[slow], guards=[time_limit(0.02)]), 1, ended)

    def test_a_model(self):
        """A model that does not answer in time is cancelled; its call is no step, since there is no reply."""
        ended = []

        async def model(messages):
            try:
                await asyncio.sleep(FOR_EVER)
            finally:
                ended.append("tidied up")

        self.check(drive(model, guards=[time_limit(0.02)]), 0, ended)

    def test_a_person(self):
        """A person who does not answer in time is not waited for."""
        ended = []

        async def approve(asked):
            try:
                await asyncio.sleep(FOR_EVER)
            finally:
                ended.append("tidied up")

        outcome = drive(looking(), tools=LOOK, approve=approve, guards=[time_limit(0.02)])
        self.check(outcome, 1, ended)
        assert ["not_run"] == statuses(outcome)

    def test_a_plain_function_is_left_behind(self):
        """A plain function cannot be cancelled: the run ends without it."""
        gate = threading.Event()

        async def main():
            guards, clock = [time_limit(0.02)], ManualClock()
            outcome = await arun(asked_once(call("wait")), "go", tools={"wait": wait}, guards=guards, clock=clock)
            gate.set()
            return outcome

        def wait():
            gate.wait(5)

        self.check(asyncio.run(main()), 1)

    def test_the_second_round(self):
        """What was done before the deadline is kept."""

        async def look(slow):
            await asyncio.sleep(FOR_EVER if slow else 0)
            return "nothing"

        model = script(call("look", slow=False), call("look", slow=True), answer("x"))
        outcome = drive(model, tools=[look], guards=[time_limit(0.02)])
        self.check(outcome, 2)
        assert ["ok", "error"] == statuses(outcome)

    def test_only_what_is_left(self):
        """The deadline is measured by the run's own clock: what has passed by then is not there any more."""
        clock = ManualClock()

        async def look():
            clock.advance(1000)
            return "nothing"

        model = script(call("look"), call("sleeps"), answer("x"))
        guards = [time_limit(1000.02), max_steps(9)]
        outcome = drive(model, tools=[look, sleeps], guards=guards, clock=clock)
        assert ("time_limit", 2) == (outcome.reason, outcome.steps)

    def test_the_nearest_of_two(self):
        """Of two limits the nearer one cancels, and is named in the detail."""
        outcome = drive(asked_once(call("sleeps")), tools=[sleeps], guards=[time_limit(100), time_limit(0.02)])
        self.check(outcome, 1)

    def test_working_time_does_not_cancel_a_person(self):
        """A limit on the working time lets a person think, and begins to count again afterwards."""

        async def approve(asked):
            await asyncio.sleep(0.04)
            return True

        guards = [time_limit(0.02, working=True)]
        outcome = drive(asked_once(call("looks")), tools=[looks], approve=approve, guards=guards)
        assert ("answered", ["ok"]) == (outcome.reason, statuses(outcome))
        outcome = drive(asked_once(call("sleeps")), tools=[sleeps], approve=approve, guards=guards)
        assert ("time_limit", ["error"]) == (outcome.reason, statuses(outcome))

    def test_who_cancelled_a_person(self):
        """Where a person is waited for, the detail names the limit that waiting counts against."""

        async def approve(asked):
            await asyncio.sleep(FOR_EVER)

        guards = [time_limit(0.01, working=True), time_limit(0.02)]
        self.check(drive(looking(), tools=LOOK, approve=approve, guards=guards), 1)

    def test_without_a_limit_nothing_is_cancelled(self):
        """Without a time limit a tool has all the time that it needs."""

        async def look():
            await asyncio.sleep(0.03)
            return "nothing"

        assert "answered" == drive(asked_once(call("look")), tools=[look]).reason

    @pytest.mark.parametrize("limit", [time_limit(0.01) & max_steps(9), time_limit(0.01) & time_limit(99)])
    def test_a_limit_that_needs_another_one_cancels_nothing(self, limit):
        """Joined by &, a time limit alone is no reason to cancel."""

        async def look():
            await asyncio.sleep(0.02)
            return "nothing"

        outcome = drive(asked_once(call("look")), tools=[look], guards=[limit, max_steps(20)])
        assert "answered" == outcome.reason

    def test_inside_any_of(self):
        """Joined by |, a time limit cancels as if it stood alone."""
        outcome = drive(asked_once(call("sleeps")), tools=[sleeps], guards=[time_limit(0.02) | max_steps(9)])
        self.check(outcome, 1)

    def test_the_time_that_was_spent(self):
        """The outcome of a run that was cancelled at its limit has used the time up."""
        clock = ManualClock()

        async def slow():
            clock.advance(0.02)
            await asyncio.sleep(FOR_EVER)

        outcome = drive(asked_once(call("slow")), tools=[slow], guards=[time_limit(0.02)], clock=clock)
        assert ("time_limit", 0.02) == (outcome.reason, outcome.seconds)

    def test_an_answer_just_in_time(self):
        """What is done before the deadline is not cancelled."""

        async def model(messages):
            await asyncio.sleep(0)
            return answer("x")

        assert "answered" == drive(model, guards=[time_limit(5)]).reason


class TestSignals:
    """Stop signals, and errors that look like them."""

    @pytest.mark.parametrize("place", ["model", "tool", "approve", "on_event"])
    @pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
    def test_ctrl_c(self, place, plain):
        """A KeyboardInterrupt that is raised in a part of the run ends it as interrupted, with the transcript kept."""
        self.check(place, plain, KeyboardInterrupt(), "interrupted")

    @pytest.mark.parametrize("place", ["model", "tool", "approve", "on_event"])
    @pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
    def test_fatal(self, place, plain):
        """A Fatal ends the run from everywhere."""
        self.check(place, plain, Fatal("disk full"), "fatal")

    def check(self, place, plain, error, reason):
        """Raise `error` at the second visit to `place`, from a plain or an async function."""
        visits = []

        def at(here):
            visits.append(here)
            if here == place and visits.count(here) == 2:
                raise error

        def made(here, value):
            def function(*args, **kwargs):
                at(here)
                return value

            async def asynchronous(*args, **kwargs):
                at(here)
                return value

            return function if plain else asynchronous

        outcome = drive(
            made("model", call("look")),
            tools={"look": made("tool", "nothing")},
            approve=made("approve", True),
            on_event=made("on_event", None),
        )
        assert (reason, error if reason == "fatal" else None) == (outcome.reason, outcome.error)
        assert requests(outcome.messages) == results(outcome.messages)

    def test_the_program_is_ended(self):
        """SystemExit passes through."""

        async def leave():
            raise SystemExit(3)

        with pytest.raises(SystemExit):
            drive(asked_once(call("leave")), tools=[leave])

    @pytest.mark.parametrize("place", ["tool", "model"])
    def test_a_cancellation_from_inside(self, place):
        """What is cancelled inside a tool is its error, inside a model it is fatal: nobody cancelled the run."""

        async def bad(*messages):
            task = asyncio.ensure_future(asyncio.sleep(FOR_EVER))
            asyncio.get_running_loop().call_soon(task.cancel)
            await task

        try:
            outcome = drive(bad) if place == "model" else drive(asked_once(call("bad")), tools=[bad])
        except asyncio.CancelledError:
            pytest.fail("the run was cancelled, though nobody did that")
        assert ("fatal" if place == "model" else "answered") == outcome.reason

    @pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
    def test_stop_iteration(self, plain):
        """A tool that asks an empty iterator for more has an error, which reaches the model."""

        def nothing_left():
            return next(iter(()))

        async def nothing_left_either():
            return next(iter(()))

        function = nothing_left if plain else nothing_left_either
        try:
            outcome = drive(asked_once(call("look")), patience=0.3, tools={"look": function})
        except TimeoutError:
            pytest.fail("the run hangs")
        assert ("answered", ["error"]) == (outcome.reason, statuses(outcome))

    def test_a_group_of_exceptions(self):
        """What a task group of a tool raises is the tool's error."""

        async def bad():
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())

        async def fails():
            raise ValueError("cannot")

        assert ["error"] == statuses(drive(asked_once(call("bad")), tools=[bad]))

    def test_a_group_with_a_fatal(self):
        """A Fatal inside a group ends the run."""

        async def bad():
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())

        async def fails():
            raise Fatal("disk full")

        outcome = drive(asked_once(call("bad")), tools=[bad])
        assert ("fatal", True) == (outcome.reason, requests(outcome.messages) == results(outcome.messages))

    def test_a_model_that_times_out(self):
        """A TimeoutError of the model's own is fatal, not the run's limit."""

        async def model(messages):
            raise TimeoutError("no answer")

        assert ("fatal", TimeoutError) == (drive(model).reason, type(drive(model).error))


class Hangs:
    """An async function that says when it is waited for, and then takes for ever."""

    __name__ = "hangs"

    def __init__(self):
        self.reached = asyncio.Event()

    async def __call__(self, *args):
        self.reached.set()
        await asyncio.sleep(FOR_EVER)


class TestFromOutside:
    """Whoever cancels the task of a run cancels all that it had started."""

    def cancelled(self, hangs, model, **options):
        """Cancel a run as soon as it waits for `hangs`; gives what came of it, and its events."""
        events = []

        async def main():
            task = asyncio.create_task(arun(model, "go", on_event=events.append, **options))
            await asyncio.wait_for(hangs.reached.wait(), 5)
            task.cancel()
            [came] = await asyncio.gather(task, return_exceptions=True)
            others = asyncio.all_tasks() - {asyncio.current_task()}
            return came, len(others)

        return *asyncio.run(main()), events

    @pytest.mark.parametrize("place", ["tool", "approve"])
    def test_it_passes_through(self, place):
        """The cancellation comes out of the run, nothing is left running, and the transcript is whole."""
        hangs = Hangs()
        model = asked_once(call("hangs"), call("hangs"))
        approve = hangs if place == "approve" else None
        came, others, events = self.cancelled(hangs, model, tools=[hangs], approve=approve)
        assert (asyncio.CancelledError, 0) == (type(came), others)
        messages = events[0].run.messages
        assert (2, True) == (len(requests(messages)), requests(messages) == results(messages))

    def test_while_the_model_is_asked(self):
        """The same where the model is being waited for."""
        hangs = Hangs()
        came, others, _ = self.cancelled(hangs, hangs)
        assert (asyncio.CancelledError, 0) == (type(came), others)

    def test_a_limit_around_it(self):
        """`asyncio.timeout` around a run works as around anything else."""

        async def main():
            async with asyncio.timeout(0.02):
                await arun(asked_once(call("sleeps")), "go", tools=[sleeps])

        with pytest.raises(TimeoutError):
            asyncio.run(main())

    def test_no_further_call(self):
        """A run that was cancelled calls the model no more, also not for a summary."""
        hangs, model = Hangs(), always(call("hangs"))
        self.cancelled(hangs, model, tools=[hangs], summarize=True)
        assert 1 == model.calls


class TestManyRuns:
    """Runs at once share nothing."""

    def test_side_by_side(self):
        """Runs with the same guards and tools each get the whole of their limits."""
        guards = [max_steps(3), time_limit(100)]

        async def look():
            await asyncio.sleep(0)
            return "nothing"

        async def main():
            models = [always(call("look")) for _ in range(5)]
            return await asyncio.gather(*[arun(m, "go", tools=[look], guards=guards) for m in models])

        assert [("max_steps", 3)] * 5 == [(o.reason, o.steps) for o in asyncio.run(main())]

    def test_one_in_a_tool_of_another(self):
        """A tool may be a run of its own."""

        async def ask(question):
            return (await arun(always(answer(f"{question}: Paris")), question)).answer

        outcome = drive(asked_once(call("ask", question="capital?")), tools=[ask])
        assert ["capital?: Paris"] == contents(outcome.messages)

    def test_an_ordinary_run_in_a_tool(self):
        """A plain tool may be an ordinary run."""

        def ask():
            return run(always(answer("Paris")), "capital?").answer

        assert ["Paris"] == contents(drive(asked_once(call("ask")), tools=[ask]).messages)

    @pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
    def test_context_variables(self, plain):
        """A tool sees the context variables of whoever awaits the run, also in a thread; its changes stay its own."""

        def who():
            seen = WHO.get()
            WHO.set("somebody else")
            return seen

        async def async_who():
            return who()

        async def main():
            WHO.set("ann")
            model = script(call("who"), call("who"), answer("x"))
            outcome = await arun(model, "go", tools={"who": who if plain else async_who})
            return contents(outcome.messages), WHO.get()

        assert (["ann", "ann"], "ann") == asyncio.run(main())


class TestTheSameAsRun:
    """What `run` promises, `arun` keeps."""

    @pytest.mark.parametrize(
        "model",
        [
            script(answer("x")),
            script(call("look"), batch(call("unknown"), call("bad")), call("look", where="here"), answer("x")),
            script(Reply("wait", stop="pause_turn"), answer("x")),
            script(Reply(calls=(ToolCall("look", "{"),)), Reply("x", stop="length")),
            always(call("look")),
            lambda messages: None,
            lambda messages: 1 / 0,
        ],
    )
    def test_same_outcome(self, model):
        """Reason, detail, counts, times and transcript are the same."""
        tools = {**LOOK, "bad": lambda: 1 / 0}
        one = run(model, "go", tools=tools, clock=TickClock())
        other = drive(model, tools=tools, clock=TickClock())
        assert (repr(one), one.detail, one.messages, one.fired) == (
            repr(other),
            other.detail,
            other.messages,
            other.fired,
        )

    def test_a_slow_tool_that_moves_the_clock(self):
        """With a fake clock the limit is noticed before the next call, as in `run`."""
        clock = ManualClock()
        tools = {"look": lambda: clock.advance(30)}
        outcome = drive(looking(), tools=tools, guards=[time_limit(10), max_steps(9)], clock=clock)
        assert ("time_limit", 1, "30 of 10 s used, 20 s over") == (outcome.reason, outcome.steps, outcome.detail)

    def test_a_goal(self):
        """A plain goal check is asked as in `run`."""
        done = []

        async def look():
            done.append("x")

        outcome = drive(looking(), tools=[look], guards=[goal_reached(lambda: bool(done)), max_steps(9)])
        assert ("goal_reached", 1) == (outcome.reason, outcome.steps)

    def test_a_timeout_and_a_deadline(self):
        """A tool's own timeout and the run's limit stand side by side."""

        @tool(timeout=0.01)
        async def slow():
            await asyncio.sleep(FOR_EVER)

        outcome = drive(always(call("slow")), tools=[slow], guards=[time_limit(100), max_steps(2)])
        assert ("max_steps", ["error", "error"]) == (outcome.reason, statuses(outcome))
