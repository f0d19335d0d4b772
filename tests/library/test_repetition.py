"""Is it stuck? Guards that look at what has happened before, and what tools declare for them."""

# ruff: noqa: SIM300

import json

import pytest

import stoplib
from stoplib import (
    Reply,
    ToolCall,
    answer,
    batch,
    call,
    going_in_circles,
    max_steps,
    no_new_results,
    repeated_call,
    repeated_round,
    run,
    script,
    too_many_refusals,
    tool,
)
from stoplib.fakes import alternates, cycles, never_answers, polls, retries, rewords
from stoplib.guards import GATES

from .helpers import LOOK, always, contents, requests, results

SEARCH = {"search": lambda query: "no match"}
NO_WHOLE_NUMBERS = [True, 2.5, "3", None, float("nan"), [3]]


def stopped(model, *guards, tools=SEARCH, **options):
    """(reason, steps, tool calls) of a run that is cut off after thirty steps at the latest."""
    outcome = run(model, "go", tools=tools, guards=[*guards, max_steps(30)], **options)
    assert requests(outcome.messages) == results(outcome.messages)
    return outcome.reason, outcome.steps, outcome.tool_calls


def seen(*texts):
    """A tool that gives these results in turn, and then "the end"."""
    rest = iter(texts)
    return lambda **_: next(rest, "the end")


def edited_and_tested(edit, rounds=20):
    """A model that makes a new edit, tests it, and so on; the test always fails in the same way. `edit` is the tool."""
    replies = [one for n in range(rounds) for one in (call("edit", change=f"attempt {n}"), call("test"))]
    return script(*replies, answer("I give up")), {"edit": edit, "test": lambda: "1 failed"}


class TestRepeatedCall:
    """`repeated_call(limit)`: the same call asked for `limit` times, anywhere in the run."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "repeated_call" in stoplib.__all__

    @pytest.mark.parametrize("limit", [2, 3, 5])
    def test_boundary(self, limit):
        """It stops at the ask number `limit`, and so lets limit-1 calls run."""
        assert ("repeated_call", limit, limit - 1) == stopped(retries, repeated_call(limit))

    @pytest.mark.parametrize(("asks", "reason"), [(2, "answered"), (3, "repeated_call")])
    def test_one_ask_fewer_goes_on(self, asks, reason):
        """One ask below the limit is no reason to stop."""
        model = script(*[call("search", query="a")] * asks, answer("x"))
        assert reason == stopped(model, repeated_call(3))[0]

    @pytest.mark.parametrize(
        ("gate", "steps", "ran"), [("before_action", 2, 1), ("after_round", 2, 2), ("before_call", 2, 2)]
    )
    def test_where_it_looks(self, gate, steps, ran):
        """At the ask the call does not run again; at the later gates it has."""
        assert ("repeated_call", steps, ran) == stopped(retries, repeated_call(2, gate=gate))

    def test_alternation_is_seen(self):
        """Two calls in turn: the third ask is the first repeat."""
        assert ("repeated_call", 3, 2) == stopped(alternates, repeated_call(2))

    def test_anywhere_in_the_run(self):
        """However many other calls lie in between, a repeat is one."""
        model = script(*[call("search", query=q) for q in "abcdefghija"], answer("x"))
        assert ("repeated_call", 11, 10) == stopped(model, repeated_call(2))

    def test_another_result_does_not_matter(self):
        """It judges the request alone."""
        assert ("repeated_call", 2, 1) == stopped(retries, repeated_call(2), tools={"search": seen("a", "b", "c")})

    def test_the_name_is_part_of_the_call(self):
        """Two tools with the same arguments are two calls."""
        model = script(call("search", query="a"), call("find", query="a"), answer("x"))
        assert "answered" == stopped(model, repeated_call(2), tools={**SEARCH, "find": lambda query: "x"})[0]

    def test_a_call_counts_once_in_a_batch(self):
        """Equal calls in one reply are one ask, the same reply again is the second."""
        model = always(batch(*[call("search", query="a")] * 5))
        assert ("repeated_call", 2, 5) == stopped(model, repeated_call(2))

    def test_five_different_calls_are_no_repeat(self):
        """A batch of five different queries repeats nothing."""
        model = script(batch(*[call("search", query=q) for q in "abcde"]), answer("x"))
        assert "answered" == stopped(model, repeated_call(2))[0]

    def test_one_repeat_in_a_batch_is_enough(self):
        """A batch of new calls with one old one is stopped whole."""
        model = script(call("search", query="a"), batch(call("search", query="b"), call("search", query="a")))
        assert ("repeated_call", 2, 1) == stopped(model, repeated_call(2))

    def test_calls_that_failed_or_were_declined_count(self):
        """It counts what is asked for, whatever became of it."""
        assert ("repeated_call", 2, 1) == stopped(always(call("unknown")), repeated_call(2))
        declined = stopped(retries, repeated_call(3), approve=lambda asked: False)
        assert ("repeated_call", 3, 0) == declined

    @pytest.mark.parametrize("args", ['{"query": "st', "", [1], None])
    def test_arguments_that_are_no_json(self, args):
        """Arguments that are no JSON object are compared as they are, and crash nothing."""
        reply = Reply(calls=(ToolCall("search", args),))
        assert ("repeated_call", 2, 1) == stopped(always(reply), repeated_call(2))

    @pytest.mark.parametrize("depth", [100, 950, 5000])
    def test_arguments_that_are_nested(self, depth):
        """However deep the arguments are nested, the model gets a result and no guard crashes."""
        args = {}
        for _ in range(depth // 2):
            args = {"x": [args, 1]}
        model = script(Reply(calls=(ToolCall("look", args),)), answer("done"))
        assert ("answered", 2, 1) == stopped(model, repeated_call(2), tools=LOOK)

    def test_the_detail(self):
        """The detail says how often."""
        outcome = run(retries, "go", tools=SEARCH, guards=[repeated_call(3), max_steps(9)])
        assert "the same call was asked for 3 times" == outcome.detail

    @pytest.mark.parametrize("limit", [*NO_WHOLE_NUMBERS, 0, -1])
    def test_refuses_what_is_no_limit(self, limit):
        """What is no whole number of at least one is refused with its value."""
        with pytest.raises((TypeError, ValueError)) as caught:
            repeated_call(limit)
        assert f"repeated_call: limit must be a whole number of at least 1, not {limit!r}" == str(caught.value)


class TestRepeatedRound:
    """`repeated_round()`: the last round equals the one before it; `ever=True`: or any earlier one."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "repeated_round" in stoplib.__all__

    def test_the_second_equal_round_stops(self):
        """The same request with the same result twice in a row stops after the second."""
        assert ("repeated_round", 2, 2) == stopped(retries, repeated_round())

    def test_another_result_is_another_round(self):
        """The same request with another result is progress; with the old one again it is a repeat."""
        tools = {"search": seen("a", "b", "c", "c")}
        assert ("repeated_round", 4, 4) == stopped(retries, repeated_round(), tools=tools)

    def test_another_request_is_another_round(self):
        """Another request with the same result is another round."""
        assert "max_steps" == stopped(rewords, repeated_round())[0]

    @pytest.mark.parametrize(("ever", "expected"), [(False, ("max_steps", 30, 30)), (True, ("repeated_round", 3, 3))])
    def test_alternation(self, ever, expected):
        """Two rounds in turn are seen only when every earlier round is compared."""
        assert expected == stopped(alternates, repeated_round(ever=ever))

    def test_a_batch_is_one_round(self):
        """The same two calls with the same results; one changed result makes it another round."""
        model = always(batch(call("search", query="a"), call("search", query="b")))
        assert ("repeated_round", 2, 4) == stopped(model, repeated_round())
        tools = {"search": seen("a", "b", "a", "c", "a", "c")}
        assert ("repeated_round", 3, 6) == stopped(model, repeated_round(), tools=tools)

    def test_the_order_in_a_batch_matters(self):
        """The same two calls the other way round are another round."""
        one, other = call("search", query="a"), call("search", query="b")
        model = script(batch(one, other), batch(other, one), answer("x"))
        assert "answered" == stopped(model, repeated_round(ever=True))[0]

    @pytest.mark.parametrize(
        ("guard", "expected"),
        [
            (repeated_round(), "the same calls, with the same results, as in the round before"),
            (repeated_round(ever=True), "the same calls, with the same results, as in an earlier round"),
        ],
        ids=repr,
    )
    def test_the_detail(self, guard, expected):
        """The detail says which round it equals."""
        assert expected == run(retries, "go", tools=SEARCH, guards=[guard, max_steps(9)]).detail

    @pytest.mark.parametrize("ever", [1, "yes", None])
    def test_ever_is_yes_or_no(self, ever):
        """`ever` is a bool; a number passed by mistake is refused."""
        with pytest.raises(TypeError, match="ever must be True or False"):
            repeated_round(ever)

    def test_a_pause_is_no_round(self):
        """A paused turn without calls is no round that could be repeated."""
        model = always(Reply("still busy", stop="pause_turn"))
        assert ("max_steps", 30, 0) == stopped(model, repeated_round(ever=True), going_in_circles(), no_new_results(2))


class TestGoingInCircles:
    """`going_in_circles(times, longest)`: the last rounds are so many passes of one cycle."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "going_in_circles" in stoplib.__all__

    @pytest.mark.parametrize("length", [1, 2, 3, 7, 8])
    @pytest.mark.parametrize("times", [2, 3])
    def test_boundary(self, length, times):
        """A cycle is stopped exactly at the end of its pass number `times`."""
        model = cycles(*[call("search", query=str(n)) for n in range(length)])
        expected = ("going_in_circles", length * times, length * times)
        assert expected == stopped(model, going_in_circles(times=times))

    def test_one_round_short_of_a_cycle(self):
        """Two passes but for the last round are no two passes."""
        model = script(*[call("search", query=q) for q in "abcab"], call("search", query="d"), answer("x"))
        assert "answered" == stopped(model, going_in_circles())[0]

    @pytest.mark.parametrize(
        ("longest", "reason"), [(2, "max_steps"), (3, "going_in_circles"), (4, "going_in_circles")]
    )
    def test_no_cycle_longer_than_the_longest(self, longest, reason):
        """A cycle of three is seen from longest=3 on."""
        model = cycles(*[call("search", query=q) for q in "abc"])
        assert reason == stopped(model, going_in_circles(longest=longest))[0]

    @pytest.mark.parametrize("length", [9, 12])
    def test_cycles_longer_than_usual(self, length):
        """The longest cycle can be longer than eight rounds, also where the guard is part of a combination."""
        model = cycles(*[call("search", query=str(n)) for n in range(length)])
        assert "max_steps" == stopped(model, going_in_circles())[0]
        assert ("going_in_circles", 2 * length, 2 * length) == stopped(model, going_in_circles(longest=length))
        joined = going_in_circles(longest=length) & max_steps(1)
        assert ("going_in_circles & max_steps", 2 * length, 2 * length) == stopped(model, joined)

    def test_after_a_good_start(self):
        """What happened before the cycle does not matter."""
        model = script(*[call("search", query=q) for q in "abcdexyxy"])
        assert ("going_in_circles", 9, 9) == stopped(model, going_in_circles())

    def test_a_changing_answer_is_progress(self):
        """The same question with another answer each time is no circle."""
        tools = {"search": seen(*map(str, range(40)))}
        assert ("max_steps", 30, 30) == stopped(retries, going_in_circles(), tools=tools)

    def test_a_changing_question_is_progress(self):
        """Another question each time is no circle, whatever the answer."""
        assert ("max_steps", 30, 30) == stopped(never_answers, going_in_circles())

    @pytest.mark.parametrize(
        ("length", "expected"),
        [(1, "the same round, 2 times in a row"), (3, "a cycle of 3 rounds, 2 times in a row")],
    )
    def test_the_detail(self, length, expected):
        """The detail says how long the cycle is and how often it was gone through."""
        model = cycles(*[call("search", query=str(n)) for n in range(length)])
        assert expected == run(model, "go", tools=SEARCH, guards=[going_in_circles(), max_steps(9)]).detail

    @pytest.mark.parametrize("times", [*NO_WHOLE_NUMBERS, 0, 1, -1])
    def test_refuses_what_is_no_number_of_times(self, times):
        """Once is no circle: at least two passes."""
        with pytest.raises((TypeError, ValueError)) as caught:
            going_in_circles(times=times)
        assert f"going_in_circles: times must be a whole number of at least 2, not {times!r}" == str(caught.value)

    @pytest.mark.parametrize("longest", [*NO_WHOLE_NUMBERS, 0, -1])
    def test_refuses_what_is_no_length(self, longest):
        """A cycle has at least one round."""
        with pytest.raises((TypeError, ValueError)) as caught:
            going_in_circles(longest=longest)
        assert f"going_in_circles: longest must be a whole number of at least 1, not {longest!r}" == str(caught.value)

    def test_two_guards_with_different_lengths(self):
        """Each of two guards keeps to its own longest cycle."""
        model = cycles(*[call("search", query=str(n)) for n in range(10)])
        guards = going_in_circles(longest=2), going_in_circles(times=3, longest=10)
        outcome = run(model, "go", tools=SEARCH, guards=[*guards, max_steps(99)])
        assert ("a cycle of 10 rounds, 3 times in a row", 30) == (outcome.detail, outcome.steps)


class TestNoNewResults:
    """`no_new_results(n)`: the last n rounds all brought the same result."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "no_new_results" in stoplib.__all__

    @pytest.mark.parametrize("n", [2, 3, 5])
    def test_boundary(self, n):
        """It stops after the n-th equal result, whatever was asked for."""
        assert ("no_new_results", n, n) == stopped(rewords, no_new_results(n))

    @pytest.mark.parametrize(("texts", "reason"), [("aab", "answered"), ("aaa", "no_new_results")])
    def test_one_result_fewer_goes_on(self, texts, reason):
        """Two equal results and another one are not three equal ones."""
        model = script(*[call("search", query=str(n)) for n in range(3)], answer("x"))
        assert reason == stopped(model, no_new_results(3), tools={"search": seen(*texts)})[0]

    def test_alternating_model(self):
        """A model that alternates between two queries with the same result is stopped as well."""
        assert ("no_new_results", 3, 3) == stopped(alternates, no_new_results(3))

    def test_alternating_results(self):
        """Two results in turn are never the same."""
        assert "max_steps" == stopped(rewords, no_new_results(2), tools={"search": seen(*"ab" * 20)})[0]

    def test_a_batch_is_one_round(self):
        """A batch whose results are all the same is one round with that result."""
        model = always(batch(call("search", query="a"), call("search", query="b")))
        assert ("no_new_results", 3, 6) == stopped(model, no_new_results(3))

    def test_a_batch_with_different_results(self):
        """A batch that brings two different results has brought something new."""
        model = always(batch(call("search", query="a"), call("look")))
        assert "max_steps" == stopped(model, no_new_results(3), tools={**SEARCH, **LOOK})[0]

    def test_errors_are_results_too(self):
        """The same error again brings nothing new."""
        assert ("no_new_results", 3, 3) == stopped(rewords, no_new_results(3), tools={})

    def test_the_detail(self):
        """The detail says how many."""
        outcome = run(rewords, "go", tools=SEARCH, guards=[no_new_results(3), max_steps(9)])
        assert "the last 3 results are the same" == outcome.detail

    @pytest.mark.parametrize("n", [*NO_WHOLE_NUMBERS, 0, -1])
    def test_refuses_what_is_no_number(self, n):
        """What is no whole number of at least one is refused with its value."""
        with pytest.raises((TypeError, ValueError)) as caught:
            no_new_results(n)
        assert f"no_new_results: n must be a whole number of at least 1, not {n!r}" == str(caught.value)

    def test_a_new_edit_is_something_new(self):
        """Edit, test, edit, test with a new edit each time goes on, although the test fails in the same way."""
        model, tools = edited_and_tested(lambda change: "edited", rounds=10)
        assert ("answered", 21, 20) == stopped(model, no_new_results(5), going_in_circles(), tools=tools)

    def test_also_if_the_edit_is_said_to_act_on_the_world(self):
        """Declaring what is true of the edit, that it acts on the world, does not stop a run that gets somewhere."""
        model, tools = edited_and_tested(tool(effect=True)(lambda_edit), rounds=10)
        assert ("answered", 21, 20) == stopped(model, no_new_results(5), going_in_circles(), tools=tools)

    def test_the_same_edit_is_nothing_new(self):
        """The same edit and the same failing test, again and again, are stopped, whatever the edit is said to be."""
        for edit in (lambda change: "edited", tool(effect=True)(lambda_edit)):
            model = cycles(call("edit", change="same"), call("test"))
            tools = {"edit": edit, "test": lambda: "1 failed"}
            assert stopped(model, no_new_results(5), going_in_circles(), tools=tools)[1] <= 10


def lambda_edit(change):
    """A tool with a name."""
    return "edited"


class TestPolls:
    """`tool(poll=n)`: it is asked again on purpose; n equal results in a row are fine."""

    @staticmethod
    def status(poll, *texts):
        """A polling tool that gives these results in turn, the last one for ever."""
        rest = list(texts)

        @tool(poll=poll)
        def status():
            return rest.pop(0) if len(rest) > 1 else rest[0]

        return {"status": status, **SEARCH, **LOOK}

    @pytest.mark.parametrize("times", [2, 3])
    def test_boundary(self, times):
        """After the n results that are fine, a repeat is one: the call stops in its pass number `times` from there."""
        tools = self.status(5, "running")
        ends = stopped(polls(), going_in_circles(times=times), tools=tools)
        assert ("going_in_circles", 5 + times - 1, 5 + times - 1) == ends

    def test_nine_times_running_then_done(self):
        """A poll within its patience goes on to its end, under all guards together."""
        tools = self.status(10, *["running"] * 9, "done")
        guards = [going_in_circles(), no_new_results(2), repeated_round(ever=True), repeated_call(2)]
        assert ("answered", 11, 10) == stopped(polls(), *guards, tools=tools)

    def test_the_patience_starts_again_with_another_result(self):
        """Each new result has the whole patience."""
        tools = self.status(4, *["a"] * 4, *["b"] * 4, *["c"] * 4, "done")
        assert "answered" == stopped(polls(), going_in_circles(), no_new_results(2), tools=tools)[0]
        tools = self.status(4, *["a"] * 3, *["b"] * 3, *["c"] * 3, "done")
        assert "answered" == stopped(polls(), repeated_call(2), tools=tools)[0]

    @pytest.mark.parametrize(("n", "expected"), [(2, 6), (3, 7)])
    def test_no_new_results_after_the_patience(self, n, expected):
        """Results within the patience are not counted; the one that exhausts it is the first."""
        assert ("no_new_results", expected, expected) == stopped(polls(), no_new_results(n), tools=self.status(5, "x"))

    def test_repeated_call_after_the_patience(self):
        """The ask after n equal results is a repeat, and does not run."""
        assert ("repeated_call", 6, 5) == stopped(polls(), repeated_call(2), tools=self.status(5, "x"))

    def test_alternating_with_another_call(self):
        """Looking at something else in between neither hides a poll that is over its patience nor shortens it."""
        model = cycles(call("status"), call("look"))
        ends = stopped(model, going_in_circles(), tools=self.status(5, "running"))
        assert ("going_in_circles", 11, 11) == ends

    def test_alternating_with_new_calls(self):
        """Work that goes on between the polls is progress."""
        replies = [one for n in range(14) for one in (call("status"), call("search", query=str(n)))]
        model = script(*replies, answer("x"))
        assert "answered" == stopped(model, going_in_circles(), no_new_results(2), tools=self.status(3, "running"))[0]

    def test_two_polls_have_a_patience_each(self):
        """The same tool with other arguments is another poll."""

        @tool(poll=3)
        def status(job):
            return "running"

        model = cycles(call("status", job=1), call("status", job=2))
        ends = stopped(model, going_in_circles(), tools=[status])
        assert ("going_in_circles", 8, 8) == ends

    def test_in_a_batch(self):
        """A poll in its patience speaks for its batch; after it the batch is a repeat like others."""
        model = always(batch(call("status"), call("look")))
        assert ("going_in_circles", 6, 12) == stopped(model, going_in_circles(), tools=self.status(5, "running"))

    def test_other_calls_are_not_covered(self):
        """A poll excuses no other tool: the same search again is a repeat."""
        assert "repeated_call" == stopped(retries, repeated_call(2), tools=self.status(5, "running"))[0]


class TestEffects:
    """`tool(effect=True)`: it acts on the world, so a repeat is judged by the request, before it runs again."""

    @staticmethod
    def mail(sent):
        """A tool that sends, and answers with a fresh id each time."""

        @tool(effect=True)
        def send(to):
            sent.append(to)
            return {"id": len(sent)}

        return {"send": send, **LOOK, **SEARCH}

    @pytest.mark.parametrize("guard", [going_in_circles(), repeated_round(), repeated_round(ever=True)], ids=repr)
    def test_the_second_does_not_go_out(self, guard):
        """The same request again is stopped before it runs, although its result would be another."""
        sent = []
        ends = stopped(always(call("send", to="ann")), guard, tools=self.mail(sent))
        assert (guard.name, 2, 1) == ends
        assert ["ann"] == sent

    @pytest.mark.parametrize("times", [2, 3, 4])
    def test_the_limit_set(self, times):
        """With `times`, one fewer goes out."""
        sent = []
        stopped(always(call("send", to="ann")), going_in_circles(times=times), tools=self.mail(sent))
        assert times - 1 == len(sent)

    def test_without_the_declaration(self):
        """A tool that does not say so is judged by its results, which differ."""
        sent = []
        tools = {"send": self.mail(sent)["send"].function}
        assert ("max_steps", 30, 30) == stopped(always(call("send", to="ann")), going_in_circles(), tools=tools)

    def test_other_requests_go_out(self):
        """Another message is no repeat."""
        sent = []
        model = script(*[call("send", to=str(n)) for n in range(20)], answer("x"))
        guards = [going_in_circles(), repeated_round(ever=True), no_new_results(2)]
        assert ("answered", 21, 20) == stopped(model, *guards, tools=self.mail(sent))

    def test_a_batch_of_effects(self):
        """A batch in which all act on the world is judged before any of them runs again."""
        sent = []
        model = always(batch(call("send", to="ann"), call("send", to="bob")))
        assert ("going_in_circles", 2, 2) == stopped(model, going_in_circles(), tools=self.mail(sent))
        assert ["ann", "bob"] == sent

    def test_a_cycle_with_an_effect(self):
        """Look, send, look, send: stopped when the second send is asked for."""
        sent = []
        model = cycles(call("look"), call("send", to="ann"))
        assert ("going_in_circles", 4, 3) == stopped(model, going_in_circles(), tools=self.mail(sent))
        assert ["ann"] == sent

    def test_a_mixed_batch_with_the_same_results(self):
        """A batch that also reads is stopped at its first repeat at the latest."""
        sent = []
        model = always(batch(call("send", to="ann"), call("look")))
        reason, steps, _ = stopped(model, going_in_circles(), tools=self.mail(sent))
        assert ("going_in_circles", 2) == (reason, steps)

    @pytest.mark.parametrize("reads", ["the same", "something new"])
    def test_a_mixed_batch(self, reads):
        """What acts on the world is judged before it runs again, also beside a call that only reads."""
        sent = []
        tools = {**self.mail(sent), "look": lambda: len(sent) if reads == "something new" else "nothing"}
        stopped(always(batch(call("send", to="ann"), call("look"))), going_in_circles(), tools=tools)
        assert ["ann"] == sent

    def test_results_of_effects_say_nothing(self):
        """The same receipt for different messages is no lack of news."""
        model = script(*[call("post", text=str(n)) for n in range(10)], answer("x"))

        @tool(effect=True)
        def post(text):
            return "posted"

        assert "answered" == stopped(model, no_new_results(2), going_in_circles(), tools=[post])[0]

    def test_a_declined_effect(self):
        """A request that a person declined is a request: asked for again it is a repeat, and nothing has run."""
        sent = []
        guards = [too_many_refusals(3), going_in_circles()]
        model = always(call("send", to="ann"))
        assert ("going_in_circles", 2, 0) == stopped(model, *guards, tools=self.mail(sent), approve=lambda asked: False)
        assert [] == sent

    def test_different_declined_effects(self):
        """Different requests are left to the guard that counts refusals."""
        model = script(*[call("send", to=str(n)) for n in range(9)])
        guards = [too_many_refusals(3), going_in_circles()]
        ends = stopped(model, *guards, tools=self.mail([]), approve=lambda asked: False)
        assert ("too_many_refusals", 3, 0) == ends

    @pytest.mark.parametrize("gate", GATES)
    def test_at_another_gate(self, gate):
        """Moved to a later gate the guard still sees the repeat; moved before the action it sees it in time."""
        sent = []
        stopped(always(call("send", to="ann")), going_in_circles(gate=gate), tools=self.mail(sent))
        assert (1 if gate == "before_action" else 2) == len(sent)


class TestVolatile:
    """`tool(volatile=(…))`: fields of its result that change although nothing has changed."""

    @pytest.mark.parametrize(
        "result",
        [
            lambda n: {"id": n, "state": "same"},
            lambda n: {"state": "same", "more": [{"id": n, "x": 1}, {"deep": {"id": [n]}}]},
            lambda n: [{"id": n}, 1],
            lambda n: json.dumps({"state": "same", "id": n}, indent=n),
            lambda n: {"id": n} if n % 2 else {"id": n, "at": "09:00"},
        ],
    )
    def test_what_is_volatile_does_not_count(self, result):
        """Results that differ in volatile fields alone, at any depth and however they are written, are the same."""
        count = iter(range(99))

        @tool(volatile=("id", "at"))
        def look():
            return result(next(count))

        assert ("going_in_circles", 2, 2) == stopped(always(call("look")), going_in_circles(), tools=[look])
        assert ("no_new_results", 3, 3) == stopped(always(call("look")), no_new_results(3), tools=[look])

    @pytest.mark.parametrize(
        "result",
        [
            lambda n: {"id": 1, "state": n},
            lambda n: {"ids": n},
            lambda n: [n],
            lambda n: f"id: {n}",
            lambda n: f'id {n}: {{"id": 1}}',
            lambda n: n,
        ],
    )
    def test_all_else_counts(self, result):
        """Other fields, text that is no JSON, and plain values count as they are."""
        count = iter(range(99))

        @tool(volatile=("id",))
        def look():
            return result(next(count))

        assert "max_steps" == stopped(always(call("look")), going_in_circles(), no_new_results(2), tools=[look])[0]

    def test_a_poll_with_a_volatile_field(self):
        """The patience of a poll is not renewed by a field that changes by itself."""
        count = iter(range(99))

        @tool(poll=4, volatile=("at",))
        def status():
            return {"at": next(count), "state": "running"}

        assert ("going_in_circles", 5, 5) == stopped(polls(), going_in_circles(), tools=[status])

    def test_the_model_reads_all_of_it(self):
        """What is volatile is left out of comparisons, not of what the model reads."""

        @tool(volatile=("id",))
        def look():
            return {"id": 7}

        outcome = run(script(call("look"), answer("x")), "go", tools=[look])
        assert ['{"id": 7}'] == contents(outcome.messages)


GUARDS = [
    repeated_call(3),
    repeated_round(),
    repeated_round(ever=True),
    going_in_circles(),
    going_in_circles(times=3, longest=12),
    no_new_results(4),
]


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("guard", GUARDS, ids=repr)
def test_repr_is_source(guard, gate):
    """Evaluating the repr of a guard, moved to another gate or not, gives an equal one."""
    moved = guard.replaced(gate=gate)
    assert (guard, moved) == (eval(repr(guard)), eval(repr(moved)))
    assert guard != moved


@pytest.mark.parametrize("guard", GUARDS, ids=repr)
def test_none_of_them_bounds(guard):
    """A model that always does something new is stopped by none of them, so alone they are refused."""
    with pytest.raises(ValueError, match="do not bound"):
        run(retries, "go", guards=[guard])
