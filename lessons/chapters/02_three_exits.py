# %% title [markdown]
# # Three exits: answer, steps or time?
#
# **What you will do.** Give the loop two exits of its own, and work out which of the three is taken, also when two are due at once.
#
# **What you will learn**
#
# - return a reason with every run
# - limit steps and time, and say what each limit does not see
# - test a time limit without waiting
# - put the checks in an order that you can defend
#
# **What you need.** [Chapter 01](01_one_exit.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% models [markdown]
# ## Bring what you have
#
# You need a model that never answers, one that answers at its n-th call, and a counter around a model. To keep the loops of this chapter short, tool errors are left out
# here and there is one tool. The exercise puts both back.

# %% the-models
from stoplib.course.checkpoint import predict, reveal

SEARCH = {"type": "tool", "name": "search", "args": {"query": "one more look"}}

def never_answers(messages):
    return SEARCH

def answers_at(n):
    def model(messages):
        step = len(messages) // 2 + 1
        return {"type": "final", "content": "done"} if step == n else SEARCH
    return model

def counted(model):
    def counting(messages):
        counting.calls += 1
        return model(messages)
    counting.calls = 0
    return counting

tools = {"search": lambda query: "nothing"}

# %% count-steps [markdown]
# ## Limit the steps
#
# Replace `while True` by a `for` loop, and a model that never answers meets an end. The caller has to know which exit was taken, so the loop returns
# two things: the answer, and the **reason**, a short name. A run ends for exactly one reason.

# %% run-with-cap
def run_with_cap(model, tools, user_msg, max_steps=10):
    messages = [{"role": "user", "content": user_msg}]
    for _ in range(max_steps):
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages.append(reply)
        messages.append({"role": "tool", "name": "search", "content": tools["search"](**reply["args"])})
    return None, "max_steps"

# %% cap-runs
print(run_with_cap(never_answers, tools, "Where is it?"))
print(run_with_cap(answers_at(10), tools, "Where is it?"))

# %% steps-are-not-time [markdown]
# The second run used its last allowed step to answer, and that counts as an answer. "At most ten steps" means ten calls of the model.
#
# ## See what a step limit does not see
#
# Ten steps can take a second or an hour: a step is as long as its model call and its tools. Whoever waits for the answer counts minutes, not steps. So the loop
# needs a third exit, a **time budget**.
#
# How do you test one? Not by waiting. The loop does not ask the computer for the time, it asks a **clock** that the caller passes in: any function that
# returns seconds. In use that is `time.monotonic`. Here it is a clock that moves on by one second each time somebody looks at it.

# %% tick-clock
from stoplib import TickClock

clock = TickClock()
clock(), clock(), clock()

# %% time-rule [markdown]
# The rule: read the clock once at the start, then once before each call. If the time since the start has reached the budget, make no further call.

# %% run-with-limits
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages.append(reply)
        messages.append({"role": "tool", "name": "search", "content": tools["search"](**reply["args"])})
    return None, "max_steps"

# %% ticks-question [markdown] checkpoint="2.1"
# ### Checkpoint 2.1
#
# The clock ticks 0, 1, 2, 3, … and the model never answers. With `max_steps=10` and `time_budget=3`, how many times is the model called?
#
# - a) `2` :: The start takes the reading 0. The readings 1 and 2 are below the budget and each is followed by a call; the reading 3 is not.
# - b) `3` :: Three seconds, one call each: that would be so if the first call were made at 0. But the reading 0 is used for the start.
# - c) `4` :: Readings 0, 1, 2 and 3 make four. The first is the start, and the last one reaches the budget, because the rule says `>=`.
# - d) `10` :: That is the step limit. It would be reached if the time budget were not.

# %% ticks-predict role="predict"
predict("2.1")

# %% ticks-reveal role="reveal"
model = counted(never_answers)
print(run_with_limits(model, tools, "Where is it?", TickClock(), max_steps=10, time_budget=3))
reveal("2.1", model.calls)

# %% readings-part [markdown]
# Here are the readings, one by one. A clock of one's own is easily made: this one writes down what it said.

# %% readings
def noting(clock):
    def noted():
        noted.readings.append(clock())
        return noted.readings[-1]
    noted.readings = []
    return noted

clock = noting(TickClock())
run_with_limits(never_answers, tools, "Where is it?", clock, max_steps=10, time_budget=3)
clock.readings

# %% tie-question [markdown] checkpoint="2.2"
# ## Decide what wins a tie
#
# Several exits can be close at the same step. Then the order of the lines in the loop decides which reason the caller gets. Read `run_with_limits` from top to bottom once more.
#
# ### Checkpoint 2.2
#
# The clock ticks 0, 1, 2, …, and `time_budget` is 2. The model would answer at its second call, and `max_steps=2` makes that the last one allowed. What is the reason?
#
# - a) `final` :: The answer is one call away, and an answer beats the step limit. But that call is not made: the clock is looked at before it.
# - b) `budget` :: Before the second call the clock says 2. That reaches the budget, so the call that would have brought the answer is not made.
# - c) `max_steps` :: The step limit is only reached when the `for` loop has run out, and that is after the second call.

# %% tie-predict role="predict"
predict("2.2")

# %% tie-reveal role="reveal"
answer, reason = run_with_limits(answers_at(2), tools, "Where is it?", TickClock(), max_steps=2, time_budget=2)
print((answer, reason))
reveal("2.2", reason)

# %% tie-without-time [markdown]
# The order of the lines keeps two promises: once the time is used up the model is not called again, and an answer that has been paid for is never thrown
# away. For the second promise, take the time budget away, so that only the answer and the step limit are left:

# %% tie-two
run_with_limits(answers_at(2), tools, "Where is it?", TickClock(), max_steps=2)

# %% zero-question [markdown] checkpoint="2.3"
# ### Checkpoint 2.3
#
# Somebody sets `time_budget=0` for a model that never answers; `max_steps` is 10. How many times is the model called?
#
# - a) `0` :: Any time at all reaches a budget of 0, so the first look already ends the run, and it comes before the first call.
# - b) `1` :: In a loop that looks at the clock after each step the first call would be free. Here the look comes before the call.
# - c) `10` :: Much code takes 0 for "no limit". This loop asks `is not None`, so 0 is a limit like any other.

# %% zero-predict role="predict"
predict("2.3")

# %% zero-reveal role="reveal"
model = counted(never_answers)
print(run_with_limits(model, tools, "Where is it?", TickClock(), time_budget=0))
reveal("2.3", model.calls)

# %% pitfall [markdown]
# > **Pitfall: `if time_budget:`.** It looks like a shorter way to write `is not None`, and it takes 0 for "no limit". The next cell is a loop written that way, reduced to its looks at the
# > clock. It counts how many calls each budget allows.

# %% truthiness
def calls_allowed(time_budget, max_steps=10):
    clock = TickClock()
    start = clock()
    for calls in range(max_steps):
        if time_budget and clock() - start >= time_budget:  # not "is not None"
            return calls
    return max_steps

print("budget 3:", calls_allowed(3), "calls, budget 0:", calls_allowed(0), "calls")

# %% late [markdown]
# ## See what a time limit does not see
#
# The clock is looked at between calls, and nowhere else. Here a tool takes 30 seconds of a budget of 10. A `ManualClock` moves only when it is told to, so the tool can move it.

# %% slow-tool
from stoplib import ManualClock

clock = ManualClock()
slow = {"search": lambda query: clock.advance(30)}
print(run_with_limits(never_answers, slow, "Where is it?", clock, time_budget=10))
print("seconds on the clock:", clock())

# %% overshoot [markdown]
# The run ended at its first look after the budget, 20 seconds late. A limit between calls stops the *next* call; it does not cut short what is running. For that a tool needs a time
# limit of its own.

# %% library [markdown]
# ## Let the library take over
#
# The library's loop is called `run`. Its models return `call("tool", …)` or `answer("text")` instead of dictionaries. The limits are not parameters but **guards** in a list: rules that the
# model cannot influence. What comes back is one value, an **outcome**. This is the run of checkpoint 2.1 once more:

# %% library-run
from stoplib import call, max_steps, run, time_limit

outcome = run(lambda messages: call("search", query="one more look"), "Where is it?",
              tools=tools, guards=[time_limit(3), max_steps(10)], clock=TickClock())
print(outcome.reason, outcome.steps, outcome.answer)
print(outcome.detail)

# %% same [markdown]
# The same two calls, and `detail` says what the guard saw. The reason has another name: in the library a guard's reason is the guard's own name, so what was `budget` is `time_limit`, and `final` is
# called `answered`. One difference: the library looks at *all* its guards before each call. Where two have reached their limit, the first in the list names the reason.

# %% lab-intro [markdown]
# ## Lab: two limits, one run
#
# Run the cell, then move one limit at a time. The bars show how near each limit is. Find settings at which the time limit ends the run, then change *only* the seconds per
# reading so that the step limit does.
#
# <details><summary>One way</summary>
# At 2 seconds per reading, with 12 seconds and 10 steps, the time runs out first, after 5 steps. At 1 second per reading the steps do.
# </details>

# %% lab
from stoplib.course.lab import lab_limits
lab_limits()

# %% exercise [markdown]
# ## Exercise
#
# [Exercise 01: write a loop with three exits](../exercises/01_three_exits.ipynb). About {minutes of exercise 01} minutes. Close this chapter before you start, and write the loop from what it has to do: the exercise
# brings back the tool errors of chapter 01, and any number of tools. It also wants a fourth exit, a limit on tool calls; where it belongs you work out there.

# %% recap [markdown]
# ## Recap
#
# You can now
#
# - return one reason with every run, and name the three exits
# - pass a clock in, and test a time limit without waiting
# - say which exit wins a tie, and why that order was chosen
# - tell what a step limit does not see, and what a time limit does not see
#
# ## In practice
#
# - Use `time.monotonic`, not `time.time`: the computer's wall clock is set back now and then, and a limit measured with it may then never be reached.
# - Real systems disagree on what "at most n steps" means: a model call, a call with its tools, or something larger. Look it up, or test it as you did here.
# - You will meet other names for the same exits: `final`, `end_turn` and `done` for the model's answer; `budget` and `deadline` for time.
#
# ---
#
# Previous: [01 One exit: who decides that the run is over?](01_one_exit.ipynb) · Next: [03 Guards are functions](03_guards_are_functions.ipynb)
