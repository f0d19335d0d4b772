"""The loop: counting, gates, approval, time, and what is thrown into it."""

# ruff: noqa: SIM300

import asyncio
from contextlib import suppress
from datetime import datetime
from fractions import Fraction

import pytest

from stoplib import (
    Fatal,
    ManualClock,
    Reply,
    TickClock,
    ToolCall,
    Usage,
    answer,
    batch,
    call,
    max_steps,
    replay,
    run,
    script,
    time_limit,
)

from .helpers import LOOK, Later, Wordless, always, contents, counting, looking, requests, results, twice

SIGNALS = [KeyboardInterrupt(), Fatal("disk full")]
REASONS = {KeyboardInterrupt: "interrupted", Fatal: "fatal"}


def raising(error):
    """A function that raises this, whatever it is given."""

    def fail(*args, **kwargs):
        raise error

    return fail


class TestCounting:
    """The run counts, once per event."""

    @pytest.mark.parametrize(("steps", "reason"), [(2, "max_steps"), (3, "answered"), (4, "answered")])
    def test_an_answer_on_the_last_step(self, steps, reason):
        """An answer on the last allowed step is a success; with one step less there is none."""
        model = counting(script(call("look"), call("look"), answer("x")))
        outcome = run(model, "go", tools=LOOK, guards=[max_steps(steps)])
        assert (reason, min(steps, 3), min(steps, 3)) == (outcome.reason, outcome.steps, model.calls)

    def test_tool_calls(self):
        """Calls that ran, failed to or were cut off are counted; declined ones and those not run are not."""
        reply = batch(call("look"), call("bad"), call("unknown"), call("declined"), call("stop"), call("look"))
        tools = {**LOOK, "bad": raising(ValueError()), "declined": LOOK["look"], "stop": raising(KeyboardInterrupt())}
        outcome = run(always(reply), "go", tools=tools, approve=lambda asked: asked.name != "declined")
        assert (4, ["ok", "error", "error", "declined", "error", "not_run"]) == (
            outcome.tool_calls,
            [r.status for r in outcome.trace[0].results],
        )

    def test_usage_adds_up(self):
        """Tokens of all kinds are added over all replies."""
        model = script(call("look", usage=Usage(1, 2, 3, 4)), answer("x", usage=Usage(10, 20, 30, 40)))
        assert Usage(11, 22, 33, 44) == run(model, "go", tools=LOOK).usage

    @pytest.mark.parametrize(
        "usage",
        [Usage(-1), Usage(0, -1), Usage(0, 0, -1), Usage(0, 0, 0, -1), Usage(float("nan")), Usage(float("inf")),
         Usage(1.5), Usage(True), Usage("5"), Usage(None)],
        ids=repr,
    )  # fmt: skip
    def test_usage_that_cannot_be_true(self, usage):
        """Usage that is negative or no number ends the run and is named; its tools do not run."""
        ran = []
        model = always(call("look", usage=usage))
        outcome = run(model, "go", tools={"look": lambda: ran.append(1)})
        assert ("fatal", ValueError, [], 1) == (outcome.reason, type(outcome.error), ran, model.calls)
        assert repr(usage) in outcome.detail
        assert requests(outcome.messages) == results(outcome.messages)

    def test_usage_that_cannot_be_true_spoils_no_answer(self):
        """An answer with impossible usage is not complete."""
        outcome = run(always(answer("x", usage=Usage(-1))), "go")
        assert ("fatal", None, Usage()) == (outcome.reason, outcome.answer, outcome.usage)

    def test_ids(self):
        """A call without an id gets one from the run; a call with one keeps it."""
        reply = Reply(calls=(ToolCall("look"), ToolCall("look", {}, "mine"), ToolCall("look")))
        outcome = run(always(reply), "go", tools=LOOK, guards=[max_steps(2)])
        assert ["call_1_1", "mine", "call_1_3", "call_2_1", "mine", "call_2_3"] == [
            i for _, i, _ in requests(outcome.messages)
        ]

    def test_the_same_id_twice(self):
        """Two calls that the model gave one id are two requests and get two results, in order."""
        reply = Reply(calls=(ToolCall("t", {"n": 1}, "x"), ToolCall("t", {"n": 2}, "x")))
        outcome = run(always(reply), "go", tools={"t": lambda n: n}, guards=[max_steps(1)])
        assert (["1", "2"], ["x", "x"]) == (contents(outcome.messages), [i for _, i, _ in results(outcome.messages)])

    def test_made_ids_are_new(self):
        """An id that the run makes up is never one that the model has used."""
        reply = Reply(calls=(ToolCall("look", {}, "call_1_2"), ToolCall("look")))
        outcome = run(always(reply), "go", tools=LOOK, guards=[max_steps(1)])
        assert 2 == len({i for _, i, _ in requests(outcome.messages)})


class TestApproval:
    """Lookup first, then the person, then the tool."""

    def test_yes(self):
        """An approved call runs; the person is asked about each call, with its id."""
        asked = []
        outcome = run(
            script(batch(call("look"), call("look")), answer("x")),
            "go",
            tools=LOOK,
            approve=lambda c: asked.append(c) or True,
        )
        assert [ToolCall("look", {}, "call_1_1"), ToolCall("look", {}, "call_1_2")] == asked
        assert ["nothing", "nothing"] == contents(outcome.messages)

    @pytest.mark.parametrize("no", [False, None])
    def test_no(self, no):
        """A declined call never runs, and the model is told not to ask again; the run goes on."""
        ran = []
        tools = {"look": lambda: ran.append("look")}
        outcome = run(script(call("look"), answer("x")), "go", tools=tools, approve=lambda asked: no)
        assert ("answered", 0, []) == (outcome.reason, outcome.tool_calls, ran)
        assert "do not ask for it again; say what you would have done" in contents(outcome.messages)[0]

    def test_nobody_is_asked_about_nonsense(self):
        """Unknown tools and arguments that are no object are reported without asking anybody."""
        asked = []
        reply = Reply(calls=(ToolCall("unknown"), ToolCall("look", "{")))
        outcome = run(always(reply), "go", tools=LOOK, approve=asked.append, guards=[max_steps(1)])
        assert ([], ["error", "error"]) == (asked, [r.status for r in outcome.trace[0].results])

    def test_all_are_asked_before_any_runs(self):
        """A batch is one unit: the person has answered about all of it before any of it runs."""
        order = []
        tools = {"look": lambda: order.append("ran")}
        model = script(batch(call("look"), call("look")), answer("x"))
        run(model, "go", tools=tools, approve=lambda asked: order.append("asked") or True)
        assert ["asked", "asked", "ran", "ran"] == order

    def test_results_keep_the_order_of_the_requests(self):
        """Declined, unknown and carried out calls are answered in the order of the requests."""
        reply = Reply(calls=(*twice("t", n=1), ToolCall("unknown"), ToolCall("t", {"n": 3})))
        said = iter([True, False, True])
        outcome = run(
            always(reply), "go", tools={"t": lambda n: n}, approve=lambda asked: next(said), guards=[max_steps(1)]
        )
        assert ["ok", "declined", "error", "ok"] == [r.status for r in outcome.trace[0].results]
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize("error", [*SIGNALS, ValueError("no terminal"), EOFError()], ids=lambda e: type(e).__name__)
    def test_asking_fails(self, error):
        """If the person cannot be asked, or stops the run, nothing of the batch has run."""
        ran = []
        tools = {"look": lambda: ran.append("look")}
        said = iter([True])

        def approve(asked):
            for yes in said:
                return yes
            raise error

        outcome = run(always(batch(call("look"), call("look"))), "go", tools=tools, approve=approve)
        assert (REASONS.get(type(error), "fatal"), []) == (outcome.reason, ran)
        assert ["not_run", "not_run"] == [r.status for r in outcome.trace[0].results]

    def test_an_async_person_in_run(self):
        """An answer that would have to be awaited is not a yes."""
        ran = []
        tools = {"look": lambda: ran.append(1)}
        with suppress(TypeError):
            run(looking(), "go", tools=tools, approve=lambda asked: Later(False), guards=[max_steps(1)])
        assert [] == ran

    @pytest.mark.parametrize("said", ["n", "no", "False"])
    def test_a_text_is_no_yes(self, said):
        """`approve=lambda call: input("ok? ")` must not take "n" for a yes."""
        ran = []
        tools = {"look": lambda: ran.append(1)}
        with suppress(TypeError):
            run(looking(), "go", tools=tools, approve=lambda asked: said, guards=[max_steps(1)])
        assert [] == ran


class TestTime:
    """Time comes from the clock that was passed in."""

    @pytest.mark.parametrize("steps", [0, 1, 2, 5])
    def test_readings(self, steps):
        """One reading at the start, and exactly one before each call, made or not; none anywhere else."""
        clock = TickClock()
        outcome = run(
            always(batch(call("look"), call("look"))), "go", tools=LOOK, guards=[max_steps(steps)], clock=clock
        )
        assert (steps + 2, steps + 1.0) == (clock.readings, outcome.seconds)

    def test_readings_around_a_person(self):
        """Two readings more for each time a person is asked."""
        clock = TickClock()
        model = script(batch(call("look"), call("look"), call("unknown")), answer("x"))
        outcome = run(model, "go", tools=LOOK, approve=lambda asked: True, clock=clock)
        assert (3 + 2 * 2, 2.0) == (clock.readings, outcome.waited)

    def test_waiting_is_counted_apart(self):
        """What a person takes is part of the seconds and given as waiting."""
        clock = ManualClock()
        tools = {"look": lambda: clock.advance(5)}

        def approve(asked):
            clock.advance(60)
            return True

        model = script(call("look"), call("look"), answer("x"))
        outcome = run(model, "go", tools=tools, approve=approve, clock=clock)
        assert (130.0, 120.0) == (outcome.seconds, outcome.waited)

    @pytest.mark.parametrize(("working", "reason"), [(False, "time_limit"), (True, "answered")])
    def test_a_slow_person(self, working, reason):
        """A limit on working time is not used up by a person who takes long."""
        clock = ManualClock()

        def approve(asked):
            clock.advance(3600)
            return True

        model = script(call("look"), answer("x"))
        guards = [time_limit(60, working=working)]
        assert reason == run(model, "go", tools=LOOK, approve=approve, clock=clock, guards=guards).reason

    def test_seconds_of_each_step(self):
        """Each step says when its model call was made."""
        outcome = run(looking(), "go", tools=LOOK, guards=[max_steps(3)], clock=TickClock(10))
        assert [10.0, 20.0, 30.0] == [step.seconds for step in outcome.trace]

    def test_the_start_does_not_matter(self):
        """Seconds count from the start of the run, wherever the clock stands."""
        clock = ManualClock(-1e6)
        model = script(answer("x"))
        assert 0.0 == run(model, "go", clock=clock).seconds

    def test_seconds_are_now_minus_start(self):
        """With a clock that never goes back, the seconds are the last reading minus the first, exactly."""
        clock = ManualClock(0.1)
        readings = []

        def read():
            readings.append(clock())
            return readings[-1]

        run(looking(), "go", tools={"look": lambda: clock.advance(0.1)}, guards=[time_limit(1.1)], clock=read)
        assert 1.1 <= readings[-1] - readings[0]

    def test_a_clock_that_shows_no_number(self):
        """A clock that gives NaN is an error, not a way round a time limit."""
        model = looking()
        guards = [time_limit(5), max_steps(50)]
        try:
            reason = run(model, "go", tools=LOOK, clock=lambda: float("nan"), guards=guards).reason
        except ValueError:
            reason = "refused"
        assert reason in ("fatal", "refused")

    @pytest.mark.parametrize("shown", ["12:00", None, datetime(2026, 1, 1), Fraction(1, 3), float("inf")])
    def test_a_clock_that_shows_no_seconds(self, shown):
        """The run ends before the first call and names what the clock shows."""
        outcome = run(looking(), "go", tools=LOOK, clock=lambda: shown)
        assert ("fatal", 0) == (outcome.reason, outcome.steps)
        assert f"the clock shows {shown!r}" in outcome.detail

    def test_a_clock_that_fails(self):
        """A clock that fails in mid-run ends the run with its transcript, and its error is kept."""
        readings = iter([0.0, 1.0])
        outcome = run(looking(), "go", tools=LOOK, clock=lambda: next(readings, None), guards=[max_steps(9)])
        assert ("fatal", TypeError, 1) == (outcome.reason, type(outcome.error), outcome.tool_calls)


class TestSignals:
    """Ctrl-C and `Fatal` end a run wherever they come from, and the transcript is kept."""

    @pytest.mark.parametrize("signal", SIGNALS, ids=lambda e: type(e).__name__)
    def test_in_the_model(self, signal):
        """In the model: what was said and done before is kept."""
        outcome = run(lambda messages: call("look") if len(messages) == 1 else raising(signal)(), "go", tools=LOOK)
        assert (REASONS[type(signal)], 1, 1) == (outcome.reason, len(outcome.trace), outcome.tool_calls)
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize("signal", SIGNALS, ids=lambda e: type(e).__name__)
    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_in_a_tool(self, signal, place):
        """In a tool: what ran before has its result, and nothing after it runs."""
        calls = [call("look"), call("look"), call("look")]
        calls[place] = call("stop")
        tools = {**LOOK, "stop": raising(signal)}
        outcome = run(always(batch(*calls)), "go", tools=tools)
        assert (REASONS[type(signal)], 1) == (outcome.reason, outcome.steps)
        assert ["nothing"] * place == contents(outcome.messages)[:place]
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize("signal", SIGNALS, ids=lambda e: type(e).__name__)
    def test_in_a_guard(self, signal):
        """In a guard of one's own: the run ends like anywhere else."""
        outcome = run(looking(), "go", tools=LOOK, guards=[max_steps(3), raising(signal)])
        assert (REASONS[type(signal)], 0) == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize("signal", SIGNALS, ids=lambda e: type(e).__name__)
    @pytest.mark.parametrize(("kind", "ran"), [("reply", 0), ("call", 0), ("result", 1)])
    def test_in_a_listener(self, signal, kind, ran):
        """In `on_event`: at a call the tool has not run, at its result it has."""

        def listen(event):
            if event.kind == kind:
                raise signal

        outcome = run(always(batch(call("look"), call("look"))), "go", tools=LOOK, on_event=listen)
        assert (REASONS[type(signal)], ran) == (outcome.reason, outcome.tool_calls)
        assert requests(outcome.messages) == results(outcome.messages)

    def test_details(self):
        """A fatal end says why and keeps the exception; an interrupted one has no error."""
        fatal = run(raising(Fatal("disk full")), "go")
        assert ("disk full", Fatal, False) == (fatal.detail, type(fatal.error), fatal.complete)
        interrupted = run(raising(KeyboardInterrupt()), "go")
        assert ("stopped by a person", None, False) == (interrupted.detail, interrupted.error, interrupted.complete)

    def test_swallowing_every_error(self):
        """A tool that catches every `Exception` does not catch the end of the run."""

        def careless():
            try:
                raise Fatal("disk full")
            except Exception:
                return "all fine"

        outcome = run(always(call("careless")), "go", tools={"careless": careless})
        assert ("fatal", "disk full") == (outcome.reason, outcome.detail)

    def test_what_was_not_run_says_so(self):
        """The results of calls that never started say that they were not run, and why."""
        reply = batch(call("stop"), call("look"), call("look"))
        outcome = run(always(reply), "go", tools={**LOOK, "stop": raising(KeyboardInterrupt())})
        assert ["not run: the run stopped (interrupted)"] * 2 == contents(outcome.messages)[1:]

    def test_the_tool_that_raised_fatal_did_run(self):
        """A tool that raised `Fatal` ran and could not do its job: its result is an error with the reason."""
        outcome = run(always(call("stop")), "go", tools={"stop": raising(Fatal("disk full"))})
        (result,) = outcome.trace[0].results
        assert ("error", True, 1) == (result.status, "disk full" in result.text, outcome.tool_calls)

    def test_the_tool_that_was_interrupted_had_started(self):
        """A tool that was interrupted had started: its result must not read as if it had never been touched."""
        reply = batch(call("stop"), call("look"))
        outcome = run(always(reply), "go", tools={**LOOK, "stop": raising(KeyboardInterrupt())})
        started, never_started = contents(outcome.messages)
        assert started != never_started

    def test_in_a_run_inside_a_tool(self):
        """Ctrl-C while a tool has a run of its own stops both, or the person has to press it for each."""
        inner = raising(KeyboardInterrupt())
        tools = {"ask": lambda: run(inner, "a part of it").reason}
        assert "interrupted" == run(script(call("ask"), answer("x")), "go", tools=tools).reason


class TestFailures:
    """What fails outside of the tools ends the run, and nothing leaves it."""

    @pytest.mark.parametrize(
        "error",
        [ValueError("bad"), OSError("net down"), TimeoutError(), RecursionError("deep"), MemoryError(),
         AssertionError("no"), ExceptionGroup("two", [ValueError(), KeyError()])],
        ids=lambda e: type(e).__name__,
    )  # fmt: skip
    def test_the_model_raises(self, error):
        """A model that raises ends the run as fatal; the exception is kept and named."""
        outcome = run(raising(error), "go")
        assert ("fatal", f"{type(error).__name__}: {error}") == (outcome.reason, outcome.detail)
        assert error is outcome.error

    def test_the_model_raises_stop_iteration(self):
        """`lambda messages: next(replies)` that has run out is fatal with its own exception."""
        replies = iter([])
        outcome = run(lambda messages: next(replies), "go")
        assert ("fatal", StopIteration) == (outcome.reason, type(outcome.error))

    def test_the_model_raises_an_exception_without_words(self):
        """An exception that cannot be shown as text is fatal like any other."""
        try:
            reason = run(raising(Wordless()), "go").reason
        except RuntimeError:
            reason = "left run"
        assert "fatal" == reason

    @pytest.mark.parametrize("said", [None, "Paris", {"answer": "Paris"}, ["x"], Later(answer("x")), Reply])
    def test_the_model_gives_back_no_reply(self, said):
        """What is no `Reply` is fatal, with what came and what was wanted."""
        outcome = run(lambda messages: said, "go")
        assert ("fatal", TypeError) == (outcome.reason, type(outcome.error))
        assert "it must return a Reply" in outcome.detail

    def test_a_reply_with_nonsense_in_it(self):
        """A reply whose calls are no calls is fatal; the transcript before it is whole."""
        model = script(call("look"), Reply(calls=({"name": "look"},)))
        outcome = run(model, "go", tools=LOOK)
        assert ("fatal", TypeError, 1) == (outcome.reason, type(outcome.error), outcome.tool_calls)
        assert requests(outcome.messages) == results(outcome.messages)

    def test_a_listener_raises(self):
        """A listener that fails ends the run as fatal, and the batch is answered."""

        def listen(event):
            if event.kind == "result":
                raise ValueError("no screen")

        outcome = run(always(batch(call("look"), call("look"))), "go", tools=LOOK, on_event=listen)
        assert ("fatal", "ValueError: no screen", 1) == (outcome.reason, outcome.detail, outcome.tool_calls)
        assert requests(outcome.messages) == results(outcome.messages)

    @pytest.mark.parametrize("error", [*SIGNALS, ValueError("no screen")], ids=lambda e: type(e).__name__)
    def test_a_listener_raises_at_the_end(self, error):
        """When the end has been told, the reason stands; what a listener raises then does not take it away."""
        told = []

        def listen(event):
            if event.kind == "end":
                told.append(event.outcome.reason)
                raise error

        try:
            got = run(script(answer("x")), "go", on_event=listen).reason
        except BaseException as raised:
            got = type(raised).__name__
        assert told == [got]

    @pytest.mark.parametrize("error", [SystemExit(2), asyncio.CancelledError()], ids=lambda e: type(e).__name__)
    @pytest.mark.parametrize("place", ["model", "tool", "approve", "on_event"])
    def test_other_stop_signals_pass_through(self, error, place):
        """What ends the whole program, or the task that the run is in, passes through unchanged."""
        fail = raising(error)
        with pytest.raises(type(error)) as caught:
            run(
                fail if place == "model" else always(call("t")),
                "go",
                tools={"t": fail if place == "tool" else lambda: 0},
                approve=fail if place == "approve" else None,
                on_event=fail if place == "on_event" else None,
                guards=[max_steps(1)],
            )
        assert error is caught.value

    def test_the_transcript_is_whole_when_the_program_ends(self):
        """A listener that holds the run finds every request answered, also when the program is being ended."""
        seen = []
        reply = batch(call("look"), call("quit"), call("look"))
        with pytest.raises(SystemExit):
            run(always(reply), "go", tools={**LOOK, "quit": raising(SystemExit())}, on_event=seen.append)
        messages = seen[-1].run.messages
        assert requests(messages) == results(messages)

    def test_fatal_inside_a_group(self):
        """`Fatal` from a task of a TaskGroup comes in a group, and ends the run as fatal all the same."""
        group = BaseExceptionGroup("tasks", [Fatal("disk full")])
        try:
            reason = run(always(call("t")), "go", tools={"t": raising(group)}).reason
        except BaseExceptionGroup:
            reason = "left run"
        assert "fatal" == reason


class TestTranscript:
    """The messages that the model gets, and what it may do with them."""

    def test_what_the_model_sees(self):
        """At each step the model gets the transcript so far."""
        seen = []

        def model(messages):
            seen.append([m["role"] for m in messages])
            return call("look") if len(seen) < 3 else answer("x")

        run(model, "go", tools=LOOK)
        assert [["user"], ["user", "assistant", "tool"], ["user", "assistant", "tool"] + ["assistant", "tool"]] == seen

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda messages: messages.clear(),
            lambda messages: messages.append({"role": "assistant", "content": "", "tool_calls": []}),
            lambda messages: messages[-1].clear(),
        ],
        ids=["clear", "append", "empty the last"],
    )
    def test_a_model_that_changes_the_messages(self, spoil):
        """A model that changes its messages, as `messages.append(reply)`, cannot change what the outcome says."""

        def model(messages):
            spoil(messages)
            return call("look")

        outcome = run(model, "go", tools=LOOK, guards=[max_steps(2)])
        assert ["user", *["assistant", "tool"] * 2] == [m.get("role") for m in outcome.messages]

    def test_runs_inside_runs(self):
        """A tool can have a run of its own; the two share nothing."""

        def ask(part):
            return run(looking(), part, tools=LOOK, guards=[max_steps(2)]).report()["spend"]["steps"]

        model = script(batch(call("ask", part="a"), call("ask", part="b")), answer("x"))
        outcome = run(model, "go", tools={"ask": ask})
        assert ("answered", 2, 2, ["2", "2"]) == (
            outcome.reason,
            outcome.steps,
            outcome.tool_calls,
            contents(outcome.messages),
        )


class Broke(Exception):
    """A client's way to say that a reply did not come to its end."""

    def __init__(self, reply):
        super().__init__("the stream broke")
        self.reply = reply


class TestAReplyThatBrokeOff:
    """An exception of the model may hold what had arrived by then, as `reply`: it has been paid for."""

    def outcome(self, part):
        def model(messages):
            if len(messages) > 1:
                raise Broke(part)
            return call("look", usage=Usage(100, 20))

        return run(model, "go", tools=LOOK, guards=[max_steps(9)])

    def test_it_counts(self):
        """Its tokens and its step count, its text is in the trace, and the run is fatal."""
        outcome = self.outcome(Reply("The capi", usage=Usage(120, 5)))
        assert ("fatal", 2, 245, "The capi") == (outcome.reason, outcome.steps, outcome.usage.total, outcome.text)
        assert outcome.answer is None

    def test_a_replay_agrees(self):
        """The recording of such a run ends as it did, with the same spend."""
        outcome = self.outcome(Reply("The capi", usage=Usage(120, 5)))
        assert outcome == replay(outcome, [])

    @pytest.mark.parametrize("part", [None, "text", Reply("x", usage=Usage(-1)), Reply("x", usage=Usage("many"))])
    def test_what_is_no_reply(self, part):
        """What holds no sound reply is the model's exception and nothing else."""
        outcome = self.outcome(part)
        assert ("fatal", "Broke: the stream broke", 120) == (outcome.reason, outcome.detail, outcome.usage.total)

    def test_requests_in_it_are_answered(self):
        """A request in it was never run, and the transcript says so."""
        outcome = self.outcome(call("look", usage=Usage(1, 1)))
        assert requests(outcome.messages) == results(outcome.messages)
        assert ["ok", "not_run"] == [step.results[0].status for step in outcome.trace]
