# %% title [markdown]
# # Test every exit: how do you know that each rule fires?
#
# **What you will do.** Write a small test suite for a loop with four exits, plant bugs in the loop, and find out which of them the suite does not notice.
#
# **What you will learn**
#
# - test each exit with a scripted model, scripted usage and a clock that never waits
# - put a test on each side of a limit
# - plant bugs to test the tests, and find a test that cannot fail
# - turn a promise in words into a loop over many scripts
#
# **What you need.** [Chapter 02](02_three_exits.ipynb) and [chapter 05](05_what_a_run_costs.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% the-exits [markdown]
# ## Write down the exits
#
# The loop below has four exits. Before the first test, list them: for each exit a run that takes it, and the place where the rule changes its mind. Every row wants a test, and so does the last one, which is no exit but a promise.
#
# | exit | test | a run that takes it | where the rule changes its mind |
# | --- | --- | --- | --- |
# | `answered` | `test_answer` | a model that answers at its fourth call | 4 steps allowed |
# | `max_steps` | `test_steps` | the same model | 3 steps allowed |
# | `time_limit` | `test_time` | a model that never answers, a clock that ticks | the reading that reaches the limit |
# | `token_budget` | `test_tokens` | a model that reports 100 tokens with each reply | the reply that reaches the budget |
# | none: a failing tool gives an error result | three, further down | a request for a tool that does not exist | – |

# %% the-loop
import inspect, os
from random import Random
import stoplib
from stoplib import TickClock, answer, batch, call, script
from stoplib.fakes import answers_after, never_answers, spends

TOOLS = {"search": lambda query: "nothing"}

def small_run(model, tools, task, clock, max_steps=10, seconds=None, tokens=None):
    messages, spent, start = [{"role": "user", "content": task}], 0, clock()
    for _ in range(max_steps):
        if seconds is not None and clock() - start >= seconds:
            return None, "time_limit", messages
        if tokens is not None and spent >= tokens:
            return None, "token_budget", messages
        reply = model(messages)
        spent += reply.usage.total
        messages.append({"role": "assistant", "content": reply.text})
        if not reply.calls:
            return reply.text, "answered", messages
        for asked in reply.calls:
            try:
                result, failed = tools[asked.name](**asked.args), False
            except Exception as error:
                result, failed = f"{type(error).__name__}: {error}", True
            messages.append({"role": "tool", "content": result, "is_error": failed})
    return None, "max_steps", messages

# %% tests-idea [markdown]
# ## Write one test for each exit
#
# The replies are the library's, so its scripted models work with this loop: those of `stoplib.fakes`, and `script`, which says the replies that you list. The tests count calls *from outside*, because a loop that counts wrongly
# also reports wrongly. And the counter is a fuse: a broken loop may never stop, and a test that hangs tells you nothing.
#
# `go` runs a loop once and gives the reason and the number of calls. A **test** is a function that takes a loop and raises an error, mostly by `assert`, if the loop breaks a promise. `table` tries every test on every loop.

# %% go
def counted(model):
    def counting(messages):
        assert len(counting.replies) < 50, "did not stop within 50 calls"
        counting.replies.append(model(messages))
        return counting.replies[-1]
    counting.replies = []
    return counting

def go(loop, model, clock=None, **limits):
    _, reason, _ = loop(model := counted(model), TOOLS, "go", clock or TickClock(), **limits)
    return reason, len(model.replies)

# %% table
def fails(test, loop):
    try:
        test(loop)
    except Exception:
        return True

def table(tests, loops):
    print(" " * 17, *(f"{test.__name__.removeprefix('test_'):>8}" for test in tests))
    for name, loop in loops.items():
        marks = ("fails" if fails(test, loop) else "." for test in tests)
        print(f"{name:17}", *(f"{mark:>8}" for mark in marks))

# %% reasons-only
def test_answer(loop):
    assert go(loop, answers_after(3))[0] == "answered"
def test_steps(loop):
    assert go(loop, never_answers, max_steps=3)[0] == "max_steps"
def test_time(loop):
    assert go(loop, never_answers, seconds=3)[0] == "time_limit"
def test_tokens(loop):
    assert go(loop, spends(90, 10), tokens=300)[0] == "token_budget"

reasons_only = [test_answer, test_steps, test_time, test_tokens]
table(reasons_only, {"the loop": small_run})

# %% planted-idea [markdown]
# ## Plant bugs to test the tests
#
# Every exit has a test, and nothing fails. Is the suite any good? This loop cannot tell you, because it is right. So break it on purpose. A copy with one small bug is a **mutant**. A test that fails on it **catches** it; a mutant that
# no test catches **survives**. `mutant` changes the loop's source in one place, and `exec` makes a function of what comes out.

# %% mutant
def mutant(old, new):
    assert inspect.getsource(small_run).count(old) == 1, f"{old!r} must be in the loop once"
    exec(inspect.getsource(small_run).replace(old, new), world := {})
    return world["small_run"]

# %% planted
from stoplib.course.checkpoint import predict, reveal

planted = {
    "one step more": mutant("range(max_steps)", "range(max_steps + 1)"),
    "no step limit": mutant("for _ in range(max_steps):", "while True:"),
    "> for seconds": mutant(">= seconds", "> seconds"),
    "truthy seconds": mutant("seconds is not None and", "seconds and"),
    "> for tokens": mutant(">= tokens", "> tokens"),
    "output only": mutant("reply.usage.total", "reply.usage.output"),
}

# %% survivors-question [markdown] checkpoint="9.1" kind="number"
# ### Checkpoint 9.1
#
# Six mutants, and four tests in `reasons_only`, one for each exit. Go through the mutants one by one: would one of the four tests fail on it? How many of the six survive?
#
# - `0` :: Each exit has its test, so one might expect each broken exit to be noticed. But these tests look at the reason alone, and most of the bugs give the right reason, one call too late.
# - `2` :: That is how many are caught: the loop without a step limit runs into the fuse, and the one that counts output alone never reaches its budget.
# - `3` :: The two with `>` and the extra step keep their reasons, and that makes three. There is one more: look for a limit that none of the four tests sets to the value at which the bug shows.
# - `4` :: A test that looks at the reason alone cannot see that a rule fires one call late, and no test here sets the one time limit that `truthy seconds` gets wrong. Only a bug that changes the reason itself is caught.
# - `6` :: The tests are weak, but not blind: without a step limit the run hits the fuse, and counting output alone changes which exit is taken.

# %% survivors-predict role="predict"
predict("9.1")

# %% survivors-reveal role="reveal"
table(reasons_only, planted)
survivors = [name for name, loop in planted.items() if not any(fails(test, loop) for test in reasons_only)]
reveal("9.1", len(survivors))

# %% edges-idea [markdown]
# ## Test on both sides of the limit
#
# A rule can be off by one and still give its reason. So compare the number of calls too, at three values: just below the place where the rule changes its mind, at that place, and just above. In short: N−1, N, N+1. On a clock that ticks
# once a reading, a limit of 3 seconds allows 2 calls, as in chapter 02.

# %% edges-steps
def test_steps(loop):  # the model answers at its fourth call
    assert [go(loop, answers_after(3), max_steps=n) for n in (3, 4, 5)] == [("max_steps", 3), ("answered", 4), ("answered", 4)]
def test_time(loop):
    assert [go(loop, never_answers, seconds=n) for n in (2, 3, 4)] == [("time_limit", n) for n in (1, 2, 3)]

# %% edges
def test_tokens(loop):  # 100 tokens a call
    assert [go(loop, spends(90, 10), tokens=n)[1] for n in (299, 300, 301)] == [3, 3, 4]
edges = [test_answer, test_steps, test_time, test_tokens]
table(edges, planted)

# %% cannot-fail-idea [markdown]
# One row is still empty. Keep it in mind; it comes back further down.
#
# ## Find the test that sees the bug
#
# Now the last row of the list: a tool that fails gives an error result. Here are three tests for it. The bug that they are there for is a loop that writes `False` where it should flag an error.

# %% three-tests
def misspelt_run(loop):
    return loop(script(call("serach", query="x"), answer("done")), TOOLS, "go", TickClock())[2]

def test_marked(loop):
    for message in misspelt_run(loop):
        if message["role"] == "tool" and message["is_error"]:
            assert "Error" in message["content"]
def test_told(loop):
    assert ["serach" in m["content"] for m in misspelt_run(loop) if m["role"] == "tool"] == [True]
def test_once(loop):
    assert sum(m.get("is_error", False) for m in misspelt_run(loop)) == 1

# %% three-question [markdown] checkpoint="9.2"
# ### Checkpoint 9.2
#
# All three pass on `small_run`, and on `small_run` each gets as far as its `assert`. One of them catches the mutant that flags no error. Which one?
#
# - a) `test_marked` :: It goes through all messages and looks at those with a flag. But the mutant sets no flag, so on just this loop there is nothing to look at, and the `assert` is not reached.
# - b) `test_told` :: The model has to be told which name was wrong, and it is: the mutant writes the same text as before. What is missing stands beside the text.
# - c) `test_once` :: One request cannot be carried out, so one message must have the flag. It counts the flags, and finds 0. No `if` keeps it from its `assert`.

# %% three-predict role="predict"
predict("9.2")

# %% three-reveal role="reveal"
unflagged = {"errors look fine": mutant('{error}", True', '{error}", False')}
three = [test_marked, test_told, test_once]
table(three, {"the loop": small_run, **unflagged})
reveal("9.2", ", ".join(test.__name__ for test in three if fails(test, unflagged["errors look fine"])))

# %% properties-idea [markdown]
# > **Pitfall: a test that you have only seen green.** It may be right, or its `assert` may be out of reach on just the loop that it is there for. Plant that bug and watch the test fail. In the table, a column without a single `fails` is either a
# > test that cannot fail or a bug that you have not planted yet.
#
# ## Promise it for every script
#
# `truthy seconds` is the row that was left: it treats only 0 differently, and no test had thought of 0. A **property** is a promise for every run, so it can be tried on runs that nobody thought of. In words: *N steps are at most N
# calls, and so are N ticks of the clock*; *there are as many results as requests, and those of unknown tools are errors*; *the same limits twice give the same result*. A seed makes the scripts, the same ones every time.

# %% a-script
def a_script(seed):
    chance = Random(seed)
    rounds = [[chance.choice(["search", "serach"]) for _ in range(chance.randint(1, 3))] for _ in range(chance.randint(0, 5))]
    return script(*(batch(*(call(name, query="x") for name in names)) for names in rounds), answer("done"))

# %% properties
def test_at_most(loop):
    for seed in range(40):
        assert go(loop, a_script(seed), max_steps=seed % 7)[1] <= seed % 7
        assert go(loop, a_script(seed), seconds=seed % 7)[1] <= seed % 7
def test_results(loop):
    for seed in range(40):
        model = counted(a_script(seed))
        flags = [m["is_error"] for m in loop(model, TOOLS, "go", TickClock())[2] if m["role"] == "tool"]
        assert flags == [asked.name not in TOOLS for reply in model.replies for asked in reply.calls]
def test_twice(loop):
    clock = TickClock()  # it ticks on from the first run to the second
    assert go(loop, never_answers, clock, seconds=3) == go(loop, never_answers, clock, seconds=3)
suite = [*edges, test_at_most, test_results, test_twice]

# %% more
more = planted | unflagged | {
    "first call only": mutant("in reply.calls:", "in reply.calls[:1]:"),  # a batch loses the rest
    "error ends batch": mutant('result, failed = f"{type(error).__name__}: {error}", True', "break"),  # so does this one
    "clock from 0": mutant("clock() - start", "clock()"),  # as if every clock began at 0
    "old start": mutant(", clock()\n", ', small_run.__dict__.setdefault("start", clock())\n'),  # that of its first run, for ever
    "tokens win ties": mutant("start >= seconds:", "start >= seconds and (tokens is None or spent < tokens):"),  # if both are used up
}
table(suite, more)

# %% survivor-idea [markdown]
# The properties catch what the examples missed: 0 seconds, requests that are dropped from a batch, a clock that does not start at 0, a start that is remembered from the run before. And one row is empty.
#
# A survivor is a question: **is a test missing, or a promise?** When time and tokens run out at the same look, does it matter which reason the caller gets? If so, promise it and test it. If not, let the mutant live, and write down why.

# %% tie
def test_tie(loop):  # after two calls the clock says 3, and 200 tokens are spent
    assert go(loop, spends(90, 10), seconds=3, tokens=200) == ("time_limit", 2)
full = [*suite, test_tie]
print("survivors:", [name for name, loop in more.items() if not any(fails(test, loop) for test in full)])

# %% unseen-question [markdown] checkpoint="9.3" kind="number"
# ### Checkpoint 9.3
#
# No survivor, of the mutants that we planted. Here are four more:
#
# | mutant | instead of | it has |
# | --- | --- | --- |
# | `no answer` | `return reply.text, "answered", messages` | `return None, "answered", messages` |
# | `no task` | `{"role": "user", "content": task}` | `{"role": "user", "content": ""}` |
# | `no result` | `"content": result` | `"content": ""` |
# | `no message` | `result, failed = …, True` | `result, failed = …, True; continue` |
#
# How many of these four get past all tests of `full`?
#
# - `3` :: Reasons, numbers of calls and flags: the tests look at nothing else. The answer is thrown away in `go`, and no test reads a text. Only `no message` changes what they look at: a flag is missing from the list.
# - `0` :: Nothing has survived so far, and each exit, each edge and each promise has its test. But the mutants were made by those who made the tests, and break what they had in mind.
# - `1` :: That is how many are caught. `no message` drops a flag, and `test_results` compares the list of flags.
# - `2` :: Two of the texts look as if they were tested: the answer, since `test_answer` bears its name, and the result. `test_answer` compares the reason and throws the answer away.
# - `4` :: No test reads a text, and three of the mutants change texts alone. The fourth leaves a message out, and with it a flag that `test_results` waits for.

# %% unseen-predict role="predict"
predict("9.3")

# %% unseen-reveal role="reveal"
unseen = {"no answer": mutant("return reply.text", "return None"), "no task": mutant('"content": task', '"content": ""'),
          "no result": mutant('"content": result', '"content": ""'), "no message": mutant('{error}", True', '{error}", True; continue')}
table(full, unseen)
reveal("9.3", sum(not any(fails(test, loop) for test in full) for loop in unseen.values()))

# %% library-idea [markdown]
# Look down the columns of this table and of the last ones, as the pitfall says. `test_whole` is there for what you find: it reads every text.
#
# ## Hold the suite against the library
#
# The tests know nothing of how a loop is built. So a few lines that make `stoplib.run` look like `small_run` are enough to try them on it. The last line holds "the same guards twice" to the letter: one list of guards, two runs, the steps of each.

# %% library
def test_whole(loop):  # what comes back, and all that the model has read
    found, _, messages = loop(script(call("search", query="x"), answer("done")), TOOLS, "go", TickClock())
    assert [found, *(m["content"] for m in messages)] == ["done", "go", "", "nothing", "done"]

def library_run(model, tools, task, clock, max_steps=10, seconds=10**9, tokens=10**9):  # 10**9: as good as no limit
    guards = [stoplib.max_steps(max_steps), stoplib.time_limit(seconds), stoplib.token_budget(tokens)]
    outcome = stoplib.run(model, task, tools=tools, guards=guards, clock=clock)
    return outcome.answer, outcome.reason, outcome.messages

table([*full, test_whole], unseen | {"by hand": small_run, "the library": library_run})
clock, guards = TickClock(), [stoplib.time_limit(3), stoplib.max_steps(10)]
print("the same guards twice:", [stoplib.run(never_answers, "go", tools=TOOLS, guards=guards, clock=clock).steps for _ in range(2)])

# %% live-idea [markdown]
# ## Keep the live check off
#
# A script says what you believe about the API. Only a real model can say whether that is so: does it report usage, do we know its words for the end? That costs money, needs a key, and differs from run to run. So the **live check** runs only
# if somebody asks for it, has limits of its own, and asserts promises, never texts. The last two lines try the check itself, on a stand-in that reports usage and on one that does not.

# %% live
def live_check(model):
    limits = [stoplib.max_steps(3), stoplib.token_budget(20_000)]
    outcome = stoplib.run(model, "Search for page 1, then say what you found.", tools=TOOLS, guards=limits)
    assert outcome.reason not in ("fatal", "unfinished"), outcome.detail
    assert outcome.usage.total > 0, "no usage is reported, so a token budget counts calls, not tokens"

if os.environ.get("STOPLIB_LIVE") == "1":
    from my_model import model  # yours: it asks the API and returns a Reply
    live_check(model)
else:
    print("live check: skipped; set STOPLIB_LIVE=1 to run it")
print("with usage:   ", "fails" if fails(live_check, spends(900, 60, answers_after(1))) else "passes")
print("without usage:", "fails" if fails(live_check, answers_after(1)) else "passes")

# %% recap [markdown]
# ## Exercise
#
# [Exercise 08: catch the planted bugs](../exercises/08_planted_bugs.ipynb). About {minutes of exercise 08} minutes. You write the tests; the bugs are planted in loops that you do not see.
#
# ## Recap
#
# You can now
#
# - list the exits of a loop, and give each a run that takes it
# - put tests on N−1, N and N+1, and say why that is not every edge
# - plant a bug for each test, and spot the test that cannot fail
# - say what a suite does not look at, also when no mutant has survived
# - hold a property against many scripts, and one suite against two loops
#
# ## In practice
#
# - These bugs are not invented. A check with `>` let an agent make [one step more than its maximum](https://github.com/alibaba/page-agent/pull/664), an answer on the last allowed step was
#   [reported as an error](https://github.com/OpenHands/software-agent-sdk/issues/2659), and a quota that was used up in the middle of a batch left [requests without results](https://github.com/langchain-ai/langchain/pull/39258).
# - There are tools that plant the bugs for you, [mutmut](https://github.com/boxed/mutmut) for instance. Some mutants behave exactly like the original. No test can catch those, so zero survivors is no goal in itself.
# - [Hypothesis](https://hypothesis.readthedocs.io) makes up the runs for a property, edge cases among them. The library's own tests use it.
# - In a test runner such as pytest a test calls the loop directly. Here it takes the loop as an argument, so that one suite can be held against many loops.
#
# ---
#
# Previous: [08 Ending well: what does the caller get when it did not work?](08_ending_well.ipynb) · Next: [10 Choosing limits: what number?](10_choosing_limits.ipynb)
