"""The narrow pipe: what goes over it, what does not, and that both sides see the same lists and runs."""

import json
import pickle
import socket
import struct
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stoplib
from stoplib import TickClock, Usage, call, cancelled, max_steps, repeated_call, token_budget, tool
from stoplib.course.checks import Endless, bounded
from stoplib.course.grading.judging import inside
from stoplib.course.grading.judging.channel import Broken, Pipe
from stoplib.course.grading.judging.judge import Judge
from stoplib.course.grading.judging.link import Link
from stoplib.course.grading.judging.plain import DEEPEST, Proxies, Tables, Thing, pack, unpack

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers() | st.none(), inner)
        | st.tuples(inner, inner)
        | st.frozensets(st.integers() | st.text())
    ),
    max_leaves=20,
)


def over(value):
    """A value as it arrives on the judge's side."""
    return unpack(json.loads(json.dumps(pack(value, Tables()))), Proxies())


def shape(value):
    """A value with the type of each of its parts."""
    if isinstance(value, dict):
        return dict, [(shape(key), shape(part)) for key, part in value.items()]
    if isinstance(value, frozenset):
        return frozenset, {shape(part) for part in value}
    if isinstance(value, list | tuple):
        return type(value), [shape(part) for part in value]
    return type(value), value


@pytest.fixture
def pair():
    """Two sockets that are connected."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


class TestPlainData:
    """What may come out of the learner's process."""

    @given(PLAIN)
    def test_plain_data_arrives_as_it_was(self, value):
        """Equal, and of the same types all the way down."""
        assert shape(over(value)) == shape(value)

    @pytest.mark.parametrize(
        "value",
        [
            max_steps(3),
            token_budget(10, hard=True, gate="after_round"),
            repeated_call(2) & max_steps(3),
            max_steps(1) | repeated_call(9),
            Usage(1, 2),
            call("search", query="x"),
        ],
    )
    def test_values_of_the_library_arrive_as_they_were(self, value):
        """Guards, also joined ones, and replies."""
        assert over(value) == value

    def test_what_is_no_plain_data_is_equal_to_nothing(self):
        """An object that says it is equal to everything arrives as a thing that has its name and its text alone."""

        class Yes:
            def __eq__(self, other):
                return True

            def __repr__(self):
                return "yes, yes"

            def __bool__(self):
                return False

        arrived = over(Yes())
        assert isinstance(arrived, Thing)
        assert (type(arrived).__name__, repr(arrived), bool(arrived)) == ("Yes", "yes, yes", False)
        assert arrived != Yes and not any(arrived == other for other in (1, "x", None, [arrived.__class__]))

    def test_a_subclass_of_text_is_text_and_no_plain_text(self):
        """It can be used as a text, and is not of the type `str`; its own methods stay where they are."""

        class Loud(str):
            def __eq__(self, other):
                return True

            __hash__ = str.__hash__

        arrived = over(Loud("x"))
        assert isinstance(arrived, str) and type(arrived) is not str
        assert arrived == "x" and arrived != "y"

    def test_what_has_no_bottom_arrives_cut_off(self):
        """A list that holds itself, and one that is too deep."""
        bottomless = []
        bottomless.append(bottomless)
        arrived = over(bottomless)
        for _ in range(DEEPEST):
            arrived = arrived[0]
        assert isinstance(arrived[0], Thing)

    def test_an_object_that_fails_at_everything(self):
        """Neither its text nor its truth can be had."""

        class Bad:
            def __repr__(self):
                raise ValueError

            def __bool__(self):
                raise ValueError

        assert repr(over(Bad())) == "an object whose repr raises ValueError"

    @pytest.mark.parametrize(
        "packed",
        [
            [1],
            {"list": 1},
            {"library": "run", "fields": []},
            {"library": "max_steps", "fields": [["n", "many"]]},
            {"library": "max_steps", "fields": [["n", 1], ["gate", "nowhere"]]},
            {"kind": "Run"},
            {"like": "bytes", "type": "x", "plain": "x"},
            {"yours": 0},
            {"function": "x", "name": "f", "doc": "", "parameters": None},
            {"guard": 1},
            {},
        ],
    )
    def test_what_nothing_was_packed_to_is_refused(self, packed):
        """It raises; nothing of the judge's is reached by a name or a number that was not given out."""
        with pytest.raises((ValueError, TypeError, KeyError, StopIteration)):
            unpack(packed, Proxies())


class TestPipe:
    """Messages as a whole, whatever the other side sends."""

    def test_a_message_in_parts(self, pair):
        """It is put together, and what comes after it is kept for the next."""
        ours, theirs = pair
        whole = struct.pack(">I", 5) + b"hello" + struct.pack(">I", 2) + b"ok"
        for place in range(0, len(whole), 3):
            theirs.send(whole[place : place + 3])
        pipe = Pipe(ours)
        assert [pipe.receive(5), pipe.receive(5)] == [b"hello", b"ok"]

    def test_a_message_that_does_not_go_on(self, pair):
        """While one waits for the rest of it, `watch` is asked, and can end the waiting."""

        def watch():
            raise Broken("enough")

        ours, theirs = pair
        theirs.send(struct.pack(">I", 5) + b"he")
        with pytest.raises(Broken, match="enough"):
            Pipe(ours, watch).receive(5)

    def test_a_message_that_nobody_reads(self, pair):
        """Sending does not hang either."""

        def watch():
            raise Broken("enough")

        ours, theirs = pair
        with pytest.raises(Broken, match="enough"):
            Pipe(ours, watch).send(b"x" * 10_000_000)

    def test_a_message_that_is_too_long(self, pair):
        """N bytes are read, for one more nothing is."""
        ours, theirs = pair
        theirs.send(struct.pack(">I", 3) + b"abc")
        assert Pipe(ours).receive(3) == b"abc"
        theirs.send(struct.pack(">I", 4))
        with pytest.raises(Broken, match="more than"):
            Pipe(ours).receive(3)

    def test_the_end(self, pair):
        """When the other side has closed, EOFError."""
        ours, theirs = pair
        theirs.close()
        with pytest.raises(EOFError):
            Pipe(ours).receive(3)


@pytest.fixture
def play(monkeypatch):
    """`play(learners, check)`: `learners` are the names of the learner's side, `check` runs on the judge's.

    The learner's side is a thread here; the messages are the same as between processes.
    """

    def play(learners, check):
        ours, theirs = socket.socketpair()
        monkeypatch.setattr(inside, "_end", inside.Inside(Pipe(theirs)))
        monkeypatch.setattr(inside, "looked_up", lambda name: learners[name])

        def serve():
            try:
                inside.judged("check-it")
            except (inside.NotYet, EOFError, OSError):
                return

        thread = threading.Thread(target=serve)
        thread.start()
        link = Link(Pipe(ours, lambda: None))
        try:
            assert link.request() == "check-it"
            return check(link)
        finally:
            ours.close()
            thread.join()
            theirs.close()

    return play


class TestBothSides:
    """Calls in both directions."""

    def test_a_call_and_a_call_back(self, play):
        """The learner's function calls the check's, which sees plain values."""
        seen = []

        def model(messages):
            seen.append(messages)
            return {"type": "final", "content": len(seen)}

        def loop(model, n):
            return [model([{"role": "user", "n": k}])["content"] for k in range(n)]

        assert play({"loop": loop}, lambda link: link.name("loop")(model, 3)) == [1, 2, 3]
        assert seen == [[{"role": "user", "n": k}] for k in range(3)]

    def test_what_is_raised_here_comes_back_as_itself(self, play):
        """An exception of the check's that goes through the learner's code is the same object when it returns."""
        mine = KeyError("choices")

        def model():
            raise mine

        def loop(model):
            model()

        with pytest.raises(KeyError) as caught:
            play({"loop": loop}, lambda link: link.name("loop")(model))
        assert caught.value is mine

    @pytest.mark.parametrize("kind", [ValueError, NotImplementedError, SystemExit, KeyboardInterrupt, AssertionError])
    def test_what_is_raised_there(self, play, kind):
        """A built-in exception keeps its kind, its arguments and the line that it came from."""

        def loop():
            raise kind("gone", 7)

        with pytest.raises(kind) as caught:
            play({"loop": loop}, lambda link: link.name("loop")())
        assert type(caught.value) is kind and caught.value.args == ("gone", 7)
        assert caught.value.__lines__[-1] == ("loop", 'raise kind("gone", 7)')

    def test_an_exception_of_the_learners_own_kind(self, play):
        """It has the name of its kind, and is an Exception."""

        class Oops(Exception):
            pass

        def loop():
            raise Oops("x")

        with pytest.raises(Exception, match="x") as caught:
            play({"loop": loop}, lambda link: link.name("loop")())
        assert type(caught.value).__name__ == "Oops"

    def test_a_list_is_the_same_for_both(self, play):
        """What the learner's function adds is there afterwards; what the check adds meanwhile is seen over there."""
        given_to_it, seen = ["task"], []

        def add():
            given_to_it.append("from the check")

        def loop(messages, add):
            messages.append({"from": "learner"})
            add()
            seen.extend(messages)
            messages[0] = "changed"
            messages.pop(1)

        play({"loop": loop}, lambda link: link.name("loop")(given_to_it, add))
        assert seen == ["task", {"from": "learner"}, "from the check"]
        assert given_to_it == ["changed", "from the check"]

    def test_a_list_that_a_loop_goes_on_filling(self, play):
        """A learner's model that keeps the list itself sees what the loop adds to it later, as in a notebook."""
        kept = []

        def model(messages):
            kept.append(messages)
            return "reply"

        def loop(model):
            messages = ["task"]
            for _ in range(2):
                messages.append(model(messages))

        def test(loop):
            loop(model)
            return [list(messages) for messages in kept], kept[0] is kept[1]

        assert play({"test": test}, lambda link: link.name("test")(loop)) == ([["task", "reply", "reply"]] * 2, True)

    def test_a_run_that_goes_on(self, play):
        """A guard sees one run as one object, and what has happened in it, each time it looks."""
        seen = []

        def guard(run):
            run.notes["looked"] = run.notes.get("looked", 0) + 1
            seen.append((id(run), run.steps, len(run.trace), len(run.messages), run.repeats.same, run.notes["looked"]))
            return "enough" if run.steps == 2 else None

        def check(link):
            tools = {"look": lambda: "nothing"}
            guards = [link.name("guard"), max_steps(9)]
            return stoplib.run(lambda messages: call("look"), "go", tools=tools, guards=guards, clock=lambda: 0.0)

        outcome = play({"guard": guard}, check)
        assert (outcome.reason, outcome.detail, outcome.steps) == ("guard", "enough", 2)
        assert [row[1:] for row in seen] == [(0, 0, 1, 0, 1), (1, 1, 3, 1, 2), (2, 2, 5, 2, 3)]
        assert len({row[0] for row in seen}) == 1

    def test_a_guard_that_reads_the_clock(self, play):
        """The run's clock is the check's, also over there."""

        def guard(run):
            run.read_clock()
            return f"{run.seconds:g} s" if run.seconds >= 4 else None

        def check(link):
            guards = [link.name("guard"), max_steps(9)]
            tools = {"look": lambda: "nothing"}
            return stoplib.run(lambda messages: call("look"), "go", tools=tools, guards=guards, clock=TickClock())

        outcome = play({"guard": guard}, check)
        assert (outcome.reason, outcome.detail, outcome.steps) == ("guard", "4 s", 1)

    def test_a_guard_of_the_learners_own_kind(self, play):
        """It arrives as a guard with its own name and gates, and looks over there."""

        class third_time(stoplib.Guard):
            usual_gates = ("after_round",)

            def fires(self, run):
                return run.steps == 3

            def says(self, run):
                return f"step {run.steps}"

        def check(link):
            guard = link.name("make")()
            assert isinstance(guard, stoplib.Guard) and guard.gates == ("after_round",)
            tools = {"look": lambda: "nothing"}
            return stoplib.run(lambda messages: call("look"), "go", tools=tools, guards=[guard, max_steps(9)])

        outcome = play({"make": third_time}, check)
        assert (outcome.reason, outcome.detail) == ("third_time", "step 3")

    def test_events_and_tools_come_back_as_themselves(self, play):
        """What the check has given and the learner's code only wraps is the same object again."""
        stop = threading.Event()

        def look(path: str) -> str:
            """Look."""
            return path

        def make(tools, stop):
            return [cancelled(stop), tool(poll=3)(tools["look"]), stop.is_set()]

        guard, made, was_set = play({"make": make}, lambda link: link.name("make")({"look": look}, stop))
        assert guard.event is stop and made.function is look and made.traits.poll == 3 and was_set is False

    def test_an_event_of_the_learners(self, play):
        """A guard that looks at another flag than the one it was given looks at that one, over there."""
        flag = threading.Event()

        def check(link):
            guard = link.name("make")()
            before = guard.event.is_set()
            flag.set()
            return before, guard.event.is_set()

        assert play({"make": lambda: cancelled(flag)}, check) == (False, True)

    def test_signatures_are_kept(self, play):
        """A learner's tool has the schema that its signature says."""

        def search(query: str, limit: int = 3) -> str:
            """Search the notes."""
            return query

        schema = play({"search": search}, lambda link: tool(link.name("search")).schema)
        assert schema["description"] == "Search the notes."
        assert {name: one["type"] for name, one in schema["parameters"]["properties"].items()} == {
            "query": "string",
            "limit": "integer",
        }
        assert schema["parameters"]["required"] == ["query"]

    def test_the_bound_holds_over_there(self, play):
        """Code without an end is stopped after as many lines as the check allows."""

        def loop():
            while True:
                pass

        def check(link):
            function = link.name("loop")
            with bounded(5_000):
                function()

        with pytest.raises(Endless, match="did not stop within 5,000 lines"):
            play({"loop": loop}, check)

    def test_the_messages_do_not_count(self, play):
        """The lines of the pipe itself are not the learner's: two hundred calls fit into a bound of 4,000 lines."""

        def loop(model):
            for _ in range(200):
                model([{"role": "user"}] * 10)

        def check(link):
            function = link.name("loop")
            with bounded(4_000):
                function(lambda messages: None)
            return "came back"

        assert play({"loop": loop}, check) == "came back"

    @pytest.mark.parametrize(("calls", "ends"), [(4, True), (5, True), (6, False)])
    def test_calls_over_the_pipe_are_bounded(self, play, calls, ends):
        """A bound of 100 lines is one of 5 calls too, in both directions together."""

        def loop(model, calls):
            for _ in range(calls):
                model([])
            return "came back"

        def check(link):
            function = link.name("loop")
            with bounded(100):
                return function(lambda messages: None, calls)

        if ends:
            assert play({"loop": loop}, check) == "came back"
            return
        with pytest.raises(Endless, match="did not stop within 5 calls"):
            play({"loop": loop}, check)

    def test_what_is_printed_comes_along(self, play, capsys):
        """The first lines of it."""

        def loop():
            for n in range(100):
                print("line", n)

        def check(link):
            link.name("loop")()
            return capsys.readouterr().out

        lines = play({"loop": loop}, check).splitlines()
        assert lines[:2] == ["line 0", "line 1"] and len(lines) == inside.PRINTED_LINES + 1


class TestJudge:
    """The verdict."""

    def test_a_lost_process_is_never_a_pass(self, play):
        """A check that takes every error for a success does not pass when the learner's process is gone."""

        def learners():
            raise EOFError  # the thread's end; the socket is closed below

        def check(link):
            cells = {"check-it": "try:\n    gone()\nexcept BaseException:\n    pass"}
            link.pipe.close()
            return Judge(cells, "secret").verdict("check-it", link)

        verdict = play({"gone": learners}, check)
        assert (verdict.passed, verdict.broken) == (False, True)

    @pytest.mark.parametrize("sent", [b"", b"{", b"[]", b"null", b'{"do": "x"}', b'{"do": "return"}', b'"x"', b"\xff"])
    def test_what_is_no_message(self, sent, pair):
        """It breaks the pipe, whatever it is, and does nothing else."""
        ours, theirs = pair
        Pipe(theirs).send(sent)
        verdict = Judge({"check-it": "anything()"}, "secret").verdict("check-it", Link(Pipe(ours, lambda: None)))
        assert (verdict.passed, verdict.broken) == (False, True)
        assert "It sent something that no check asks for" in verdict.error

    def test_deep_messages(self, pair):
        """Endless brackets break the pipe and not the judge."""
        ours, theirs = pair
        threading.Thread(target=Pipe(theirs).send, args=(b"[" * 200_000,)).start()
        verdict = Judge({"check-it": "anything()"}, "secret").verdict("check-it", Link(Pipe(ours, lambda: None)))
        assert (verdict.passed, verdict.broken) == (False, True)

    def test_receipts_differ(self):
        """By check and by secret."""
        receipts = {Judge({}, secret).receipt(check) for secret in "ab" for check in ("check-x", "check-y")}
        assert len(receipts) == 4

    def test_a_pickle_is_never_read(self, pair):
        """What comes from the learner's process is JSON; a pickle breaks the pipe before anything in it happens."""
        started = time.monotonic()

        class Sleep:
            def __reduce__(self):
                return time.sleep, (60,)

        ours, theirs = pair
        Pipe(theirs).send(pickle.dumps(Sleep()))
        with pytest.raises(Broken):
            Link(Pipe(ours, lambda: None)).receive()
        assert time.monotonic() - started < 60
