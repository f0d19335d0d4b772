# Answers to exercise 08 that people really give. Each is tried by the tests: the named check must
# catch it, and the text after `hint` must be part of what the learner then reads.

# %% reasons-alone check="check-steps" hint="at which max_steps does one call more show?"
def tests():
    def look(messages):
        assert len(messages) < 100
        return {"type": "tool", "name": "search", "args": {"query": "x"}}
    def test_steps(loop):
        assert loop(look, {"search": lambda query: "nothing"}, "go", TickClock(), max_steps=3) == (None, "max_steps")
    def test_time(loop):
        assert loop(look, {"search": lambda query: "nothing"}, "go", TickClock(), time_budget=3) == (None, "budget")
    return [test_steps, test_time]

# %% no-fuse check="check-steps" hint="a test that does not come back has caught nothing"
def tests():
    def test_steps(loop):
        calls = 0
        def look(messages):
            nonlocal calls
            calls += 1
            return {"type": "tool", "name": "search", "args": {"query": "x"}}
        assert loop(look, {"search": lambda query: "nothing"}, "go", TickClock(), max_steps=3) == (None, "max_steps")
        assert calls == 3
    return [test_steps]

# %% returns-instead-of-asserting check="check-steps" hint="a test fails by raising an error, as assert does"
def tests():
    def done(messages):
        return {"type": "final", "content": "done"}
    def test_answer(loop):
        return loop(done, {}, "go", TickClock()) == ("done", "final")
    return [test_answer]

# %% swallows-its-own-failure check="check-steps" hint="what exactly comes back for an answer?"
def tests():
    def done(messages):
        return {"type": "final", "content": "done"}
    def test_answer(loop):
        try:
            assert loop(done, {}, "go", TickClock()) == ("done", "final")
        except Exception as error:
            print("the loop is wrong:", error)
    return [test_answer]

# %% the-whole-error-text check="check-right" hint="Your test asks for more than the task promises"
def tests():
    def test_errors(loop):
        seen = []
        def model(messages):
            seen.append(list(messages))
            if len(seen) > 1:
                return {"type": "final", "content": "done"}
            return {"type": "tool", "name": "serach", "args": {}}
        loop(model, {}, "go", TickClock())
        assert seen[1][2]["content"] == "error: KeyError: 'serach'"
    return [test_errors]

# %% the-list-itself check="check-right" hint="Your test asks for more than the task promises"
def tests():
    def test_messages(loop):
        seen = []
        def model(messages):
            seen.append(messages)
            if len(seen) > 1:
                return {"type": "final", "content": "done"}
            return {"type": "tool", "name": "now"}
        loop(model, {"now": lambda: "noon"}, "go", TickClock())
        assert len(seen[0]) == 3
    return [test_messages]

# %% counts-free-readings check="check-right" hint="Your test asks for more than the task promises"
def tests():
    def test_clock(loop):
        clock = TickClock()
        loop(lambda messages: {"type": "final", "content": "done"}, {}, "go", clock)
        assert clock.readings == 0
    return [test_clock]

# %% off-by-one-itself check="check-right" hint="it fails on every right loop"
def tests():
    def test_time(loop):
        calls = []
        def look(messages):
            calls.append(1)
            assert len(calls) < 50
            return {"type": "tool", "name": "search", "args": {"query": "x"}}
        loop(look, {"search": lambda query: "nothing"}, "go", TickClock(), time_budget=3)
        assert len(calls) == 3
    return [test_time]

# %% a-test-that-never-ends check="check-right" hint="a test that does not come back has caught nothing"
def tests():
    def test_many(loop):
        n = 0
        while True:
            print("still fine", n)
            loop(lambda messages: {"type": "final", "content": n}, {}, "go", TickClock(), max_steps=n)
    return [test_many, test_many, test_many]

# %% one-run-on-one-clock check="check-time" hint="where may a clock start?"
def tests():
    def test_time(loop):
        for budget in (0, 1, 2, 3):
            calls = []
            def look(messages):
                calls.append(1)
                assert len(calls) < 50
                return {"type": "tool", "name": "search", "args": {"query": "x"}}
            loop(look, {"search": lambda query: "nothing"}, "go", TickClock(), time_budget=budget)
            assert len(calls) == max(0, budget - 1)
    return [test_time]

# %% a-new-clock-each-time check="check-time" hint="if it is used twice, on a clock that has gone on"
from stoplib import ManualClock

def tests():
    def ends(loop, start):
        calls = []
        clock = ManualClock(start)
        def look(messages):
            calls.append(1)
            assert len(calls) < 50
            clock.advance(1)
            return {"type": "tool", "name": "search", "args": {"query": "x"}}
        return loop(look, {"search": lambda query: "nothing"}, "go", clock, time_budget=3), len(calls)
    def test_time(loop):
        assert ends(loop, 500) == ends(loop, 500) == ((None, "budget"), 3)
    return [test_time]

# %% only-the-happy-path check="check-tools" hint="what may a model ask for that does not exist?"
def tests():
    def test_tool(loop):
        replies = iter([{"type": "tool", "name": "now", "args": {}}, {"type": "final", "content": "done"}])
        assert loop(lambda messages: next(replies), {"now": lambda: "noon"}, "go", TickClock()) == ("done", "final")
    return [test_tool]

# %% survives-but-does-not-read check="check-tools" hint="Look at what the model is sent"
def tests():
    def test_unknown(loop):
        replies = iter([{"type": "tool", "name": "serach", "args": {}}, {"type": "final", "content": "done"}])
        assert loop(lambda messages: next(replies), {}, "go", TickClock()) == ("done", "final")
    def test_broken(loop):
        replies = iter([{"type": "tool", "name": "broken", "args": {}}, {"type": "final", "content": "done"}])
        assert loop(lambda messages: next(replies), {"broken": lambda: 1 / 0}, "go", TickClock()) == ("done", "final")
    return [test_unknown, test_broken]

# %% one-function-not-a-list check="check-right" hint="tests() must return a list of functions"
def tests():
    def test_answer(loop):
        assert loop(lambda messages: {"type": "final", "content": "done"}, {}, "go", TickClock()) == ("done", "final")
    return test_answer

# %% fails-on-everything check="check-tools" hint="a test that fails on right loops catches nothing either"
def tests():
    def test_answer(loop):
        replies = iter([{"type": "tool", "name": "now"}, {"type": "final", "content": "done"}])
        out = loop(lambda messages: next(replies), {"now": lambda: "noon"}, "go", TickClock())
        assert out == ["done", "final"]
    return [test_answer]

# %% a-fuse-that-blows-too-late check="check-steps" hint="If it has one, let it blow sooner"
def tests():
    def test_steps(loop):
        seen = []
        def look(messages):
            seen.append([dict(message) for message in messages])
            assert len(seen) < 100_000
            return {"type": "tool", "name": "search", "args": {"query": "x"}}
        loop(look, {"search": lambda query: "nothing"}, "go", TickClock(), max_steps=3)
        assert len(seen) == 3
    return [test_steps]
