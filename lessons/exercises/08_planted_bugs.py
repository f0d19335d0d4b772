# %% title [markdown]
# # {kind} 08: catch the planted bugs
#
# **What you will do.** Write the tests for `run_with_limits`, the loop of exercise 01. They are held against 22 loops, each with one planted bug, and against four loops that are right.
#
# **What you need.** [Chapter 09](../notebooks/09_test_every_exit.ipynb). You do not need your solution of exercise 01.
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% promises [markdown]
# ## What the loop promises
#
# `loop(model, tools, user_msg, clock, max_steps=10, time_budget=None)` returns `(answer, reason)`, a tuple. It has three exits; the fourth one of exercise 01 is left out.
#
# | reason | when | answer |
# | --- | --- | --- |
# | `"final"` | the model gave a final answer | its `content` |
# | `"max_steps"` | `max_steps` calls were made and none was final | `None` |
# | `"budget"` | the time since the start has reached `time_budget` | `None` |
#
# - `model(messages)` returns `{"type": "final", "content": …}` or `{"type": "tool", "name": …, "args": {…}}`. `args` may be missing. The tools get them as keyword arguments.
# - `messages` starts with `{"role": "user", "content": user_msg}`. Each round adds the reply itself, then
#   `{"role": "tool", "name": …, "content": result}`. What the tool returned, a text, stays as it is. Whether the model gets the same list each time or a new one is up to the loop.
# - An unknown tool and a tool that raises are not the end: their result is a text that starts with `error`, and the run goes on. A tool runs once for each request.
# - With a time budget, `clock()` is read once at the start and once before each call, and perhaps once more before the loop stops. Without a budget, how often it is read is up to the loop.
# - Time is looked at before a call, an answer as soon as it is there. So a time budget that is used up pays for no further call, and an answer at the last allowed step is an answer.
# - A loop remembers nothing: a second run is like the first.

# %% task [markdown]
# ## What you write
#
# `tests()` returns a list of functions. Each takes a loop, runs it as often as it likes, and raises an error, mostly by `assert`, if a promise is broken. What it returns is not looked at.
#
# - A bug is **caught** if at least one of your tests fails on it. If a test does not come back, it has caught nothing: some of the bugs never stop.
# - On a right loop no test may fail. One that does is left out when the bugs are counted: a test that fails on everything catches nothing.
# - Everything else is up to you: one test or twenty, with helpers of your own inside `tests`.

# %% try-it [markdown]
# Here is a loop that keeps all promises. Use it to try things out. `TickClock` moves on by one second at each reading; you may bring other clocks.

# %% right-loop
from stoplib import TickClock
from stoplib.course.exercises import planted_bugs

loop = planted_bugs.right_loop()
loop(lambda messages: {"type": "final", "content": "done"}, {}, "Where is it?", TickClock())

# %% hints [markdown]
# <details><summary>Hint: a helper</summary>
# What does nearly every test need to know about a run besides its result? Which function could write that down while the loop is running?
# </details>
# <details><summary>Hint: the messages</summary>
# A list that is added to later looks later than it was. What can your model do with the messages at the moment when it gets them?
# </details>
# <details><summary>Hint: what to try</summary>
# Go through the promises one by one. For each: which run shows it, at which value does it change its mind, and what is the smallest value that is allowed?
# </details>

# %% your-tests [markdown]
# ## Your tests

# %% tests role="answer"
def tests():
    """Return a list of tests: functions of a loop that raise if it breaks a promise."""
    ### BEGIN SOLUTION
    look = {"type": "tool", "name": "search", "args": {"query": "x"}}
    done = {"type": "final", "content": "done"}

    def play(loop, replies, clock=None, tools=None, **limits):
        """A run in which the model says these replies, the last one again and again: result, and messages of each call."""
        seen = []
        def model(messages):
            assert len(seen) < 50, "did not stop within 50 calls"
            seen.append(list(messages))
            return dict(replies[min(len(seen), len(replies)) - 1])
        tools = tools or {"search": lambda query: "nothing"}
        return loop(model, tools, "go", clock or TickClock(), **limits), seen

    def ends(*args, **limits):
        result, seen = play(*args, **limits)
        return (*result, len(seen))

    def test_answer(loop):
        assert ends(loop, [done]) == ("done", "final", 1)
        assert ends(loop, [look, look, done]) == ("done", "final", 3)

    def test_steps(loop):
        for n in range(4):
            assert ends(loop, [look], max_steps=n) == (None, "max_steps", n)
        assert ends(loop, [look]) == (None, "max_steps", 10)

    def test_step_edge(loop):
        assert ends(loop, [look, look, done], max_steps=2) == (None, "max_steps", 2)
        assert ends(loop, [look, look, done], max_steps=3) == ("done", "final", 3)

    def test_time(loop):
        for n in range(5):
            assert ends(loop, [look], time_budget=n) == (None, "budget", max(0, n - 1))

    def test_late_answer(loop):
        assert ends(loop, [look, done], time_budget=2) == (None, "budget", 1)
        assert ends(loop, [look, done], time_budget=3) == ("done", "final", 2)

    def test_twice(loop):
        clock = TickClock()
        first, second = (play(loop, [look], clock, max_steps=5, time_budget=3) for _ in range(2))
        assert first == second
        assert play(loop, [look], max_steps=2) == play(loop, [look], max_steps=2)

    def test_errors(loop):
        def broken(query):
            raise ValueError("the index is down")
        for request, tool in (({**look, "name": "serach"}, len), ({**look, "args": {"qery": "x"}}, len), (look, broken)):
            result, seen = play(loop, [request, done], tools={"search": tool})
            assert result == ("done", "final")
            assert seen[1][2]["content"].startswith("error")

    def test_messages(loop):
        ran = []
        tools = {"search": lambda query: ran.append(query) or "nothing", "now": lambda: "noon"}
        now = {"type": "tool", "name": "now"}
        result, seen = play(loop, [look, now, done], tools=tools)
        task = {"role": "user", "content": "go"}
        searched = {"role": "tool", "name": "search", "content": "nothing"}
        told = {"role": "tool", "name": "now", "content": "noon"}
        assert seen == [[task], [task, look, searched], [task, look, searched, now, told]]
        assert ran == ["x"]

    return [test_answer, test_steps, test_step_edge, test_time, test_late_answer, test_twice, test_errors, test_messages]
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# The first cell holds your tests against the right loops, the others against the planted bugs. A cell that names a bug that got through also asks you a question about it.

# %% check-right role="check"
planted_bugs.check_right(tests)

# %% check-steps role="check"
planted_bugs.check_steps(tests)

# %% check-time role="check"
planted_bugs.check_time(tests)

# %% check-tools role="check"
planted_bugs.check_tools(tests)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - One helper plays every run and keeps a *copy* of the messages of each call. With the list itself, a loop that goes on adding to it would change what the test has seen, and a loop that makes new lists would fail.
# - The fuse is an `assert` in the model, so a loop that never stops fails like any other.
# - The limits start at 0: `range(4)` is three edges and the smallest value in one line.
# - `test_twice` uses one clock for both runs. With a new clock each time, a loop that remembers its start would look right.
# - An error is recognised by how its text starts, because the task promises no more. Comparing the whole text would fail on loops that are right.

# %% stretch [markdown]
# ## Stretch goal
#
# Which of your tests could go without a bug getting through? In a copy of `tests` under another name, leave them out one at a time and find the smallest suite that still catches everything. Would you want to work with it?

# %% back [markdown]
# Back to [chapter 09](../notebooks/09_test_every_exit.ipynb). A solution with reasons is in [solutions](../solutions/08_planted_bugs.ipynb).
