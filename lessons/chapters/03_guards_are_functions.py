# %% title [markdown]
# # Guards are functions: how do you add a rule without touching the loop?
#
# **What you will do.** Turn stop rules into functions that one loop takes in a list, and watch six such functions go wrong.
#
# **What you will learn**
#
# - write a guard, and run any list of guards in one loop
# - predict after which tool call a guard ends a run
# - recognise a guard that remembers, reads too much, misreads a result or looks too late
# - combine guards, and say which one names the reason
#
# **What you need.** [Chapter 02](02_three_exits.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% take-them-out [markdown]
# ## Take the rules out of the loop
#
# In chapter 02 each limit was a parameter and a few lines of the loop. Four more rules would be four more parameters. Take the rules out instead: a **guard** is a function that
# looks at the run so far and returns a text, the reason to stop, or `None`. The model cannot influence it.
#
# The loop below keeps what has happened in `run`, and hands that to each guard before each call of the model. It has one limit of its own, the number of steps, so that it always ends. `print_run` prints
# the **trace** of a run: each step's call and its result, then the reason.

# %% run-agent
from types import SimpleNamespace
from stoplib.course.checkpoint import predict, reveal

def run_agent(model, tools, task, max_steps=20, guards=()):
    run = SimpleNamespace(messages=[{"role": "user", "content": task}], tool_calls=0)
    for _ in range(max_steps):
        for guard in guards:
            if reason := guard(run):
                return run, reason
        reply = model(run.messages)
        if not reply.calls:
            return run, "answered"
        asked = reply.calls[0]
        result = tools[asked.name](**asked.args)
        run.messages.append({"role": "assistant", "tool_calls": [{"name": asked.name, "args": asked.args}]})
        run.messages.append({"role": "tool", "content": result})
        run.tool_calls += 1
    return run, f"step limit {max_steps}"

def print_run(run, reason):
    for request, result in zip(run.messages[1::2], run.messages[2::2], strict=True):
        print(request["tool_calls"][0]["args"], "->", result["content"])
    print("stopped:", reason)

# %% models-part [markdown]
# Two scripted models will be in trouble here: `retries` asks for the same query again and again, `alternates` for two queries in turn. They reply as models of the library do, so that they can run in both loops. First without guards:

# %% no-guards
from stoplib.fakes import alternates, retries

tools = {"search": lambda query: "no match"}
print_run(*run_agent(retries, tools, "Find it.", max_steps=4))

# %% guards-part [markdown]
# ## Write three guards
#
# A step limit of 4 stops this model after four calls, and one of 400 after four hundred. A better rule looks at what was asked, and at what came of it. A guard with a limit of its own is made by a function: `max_tool_calls(10)` returns a
# guard that knows the 10. `too_many_errors(3)` makes one for three failed tool calls in a row, and `repeated_call(2)` one that goes through the requests; `sort_keys` makes the order of their arguments irrelevant.

# %% two-guards
def max_tool_calls(limit):
    def guard(run):
        return f"{limit} tool calls" if run.tool_calls >= limit else None
    return guard

def too_many_errors(limit):
    def guard(run):
        last = [m["content"] for m in run.messages if m["role"] == "tool"][-limit:]
        if len(last) == limit and all("error" in text for text in last):
            return f"{limit} errors in a row"
    return guard

# %% repeated-call
import json

def requests(messages):
    return [json.dumps(c, sort_keys=True) for m in messages for c in m.get("tool_calls", [])]

def repeated_call(limit):
    def guard(run):
        asked = requests(run.messages)
        if asked and asked.count(asked[-1]) >= limit:
            return f"repeated call, {limit} times"
    return guard

# %% same-query
guards = [repeated_call(2), max_tool_calls(10), too_many_errors(3)]
print_run(*run_agent(retries, tools, "Find it.", guards=guards))

# %% alternating-question [markdown] checkpoint="3.1"
# The search ran twice, although the second request already was the repeat. Between a request and its tool nobody looks: this loop hands the run to the guards only before a call of the *model*.
#
# ### Checkpoint 3.1
#
# The same guards, and now the model is `alternates`: "stop", "halt", "stop", "halt", … How often does `search` run?
#
# - a) `3` :: No request equals the one before it, but `repeated_call` counts over the whole run. The third request is the first one again, and before the fourth call of the model the guard sees it.
# - b) `4` :: Then both queries have been made twice. One of them is enough: the guard counts the last request alone.
# - c) `10` :: So it would be if `repeated_call` compared each request with the one before it: these never match, and the limit on tool calls would be next.
# - d) `20` :: That is the step limit. It is never reached, because `max_tool_calls(10)` stands before it whatever the model asks.

# %% alternating-predict role="predict"
predict("3.1")

# %% alternating-reveal role="reveal"
stopped, reason = run_agent(alternates, tools, "Find it.", guards=guards)
print_run(stopped, reason)
reveal("3.1", stopped.tool_calls)

# %% reading-part [markdown]
# ## A guard that reads too much
#
# Our `repeated_call` goes through all messages before every call. How much does it read in a longer run? Count the characters of the requests that it goes through.

# %% reading
def counts_reading(run):
    counts_reading.read += sum(len(text) for text in requests(run.messages))

for steps in (10, 20, 40):
    counts_reading.read = 0
    run_agent(alternates, tools, "Find it.", max_steps=steps, guards=[counts_reading])
    print(f"{steps} steps: {counts_reading.read:>6} characters read")

# %% memory-part [markdown]
# ## A guard that remembers
#
# Twice the steps, four times the reading: the cost grows with the square of the run. So somebody lets the guard read the last round alone and keep its own count. In the next cell one such guard is used for two runs.
#
# In the cell after it somebody else's deadline notes the time when the guard is made; then the program waits a minute for its first user. Where is each of these runs stopped?

# %% remembering
from collections import Counter

def repeated_call_2(limit):
    seen = Counter()
    def guard(run):
        seen.update(requests(run.messages[-2:]))
        return f"repeated call, {limit} times" if max(seen.values(), default=0) >= limit else None
    return guard

guards_2 = [repeated_call_2(2)]
for _ in range(2):
    print_run(*run_agent(retries, tools, "Find it.", guards=guards_2))

# %% deadline
from stoplib import ManualClock

def deadline(seconds, clock):
    start = clock()
    return lambda run: f"deadline of {seconds} s" if clock() - start >= seconds else None

clock = ManualClock()
guards_3 = [deadline(10, clock)]
clock.advance(60)  # the program waits for its first user
print_run(*run_agent(retries, tools, "Find it.", guards=guards_3))

# %% pitfall [markdown]
# The second run and the late run were stopped before their first call. What changes in a run belongs to the run; a guard that keeps it carries it into the next one.
#
# > **Pitfall: looking for a word.** Our `too_many_errors`, written by hand, takes a result for an error when the word "error" is in it. The next model wants to read three pages and then answer. The pages are good, and their
# > subject is how to handle errors.

# %% good-results
from stoplib.fakes import answers_after

pages = {"search": lambda query: f"How to handle an error, {query}"}
print_run(*run_agent(answers_after(3), pages, "How do I handle errors?", guards=[too_many_errors(3)]))

# %% library-part [markdown]
# ## Let the library take over
#
# In the library **the run counts, and a guard only looks**. Everything is counted once, when it happens, and a new run starts with new counts. So a guard has nothing to remember and nothing to read again. Errors are
# flagged, not searched for. The next cell has one list of guards for three runs: our two models in trouble, and the one that wants to read three pages. The time limit is made a minute before the first of them.
#
# If you pass no guards, `run` takes `max_steps(10)`; the last line shows that. If you pass some, one of them has to end the run whatever the model does, as a limit on steps, time or tokens does. Otherwise `run` refuses to start, as in the cell after it.

# %% library-rows
import stoplib

several = [stoplib.repeated_call(2, gate="before_call"), stoplib.max_tool_calls(10), stoplib.too_many_errors(3),
           stoplib.time_limit(10), stoplib.max_steps(20)]
clock.advance(60)
for model in (retries, alternates, answers_after(3)):
    outcome = stoplib.run(model, "Find it.", tools=pages, guards=several, clock=clock)
    print(f"{outcome.tool_calls} tool calls, {outcome.reason}: {outcome.detail or outcome.answer}")
print("no guards given:", stoplib.run(retries, "Find it.", tools=tools).detail)

# %% no-bound
try:
    stoplib.run(retries, "Find it.", tools=tools, guards=[stoplib.repeated_call(2)])
except ValueError as error:
    print("ValueError:", error)

# %% order-question [markdown] checkpoint="3.2" kind="order"
# ## Look in the right place
#
# With `gate="before_call"` the library's `repeated_call` looked where our loop looks, so the numbers are those of our loop. Left alone, a guard of the library looks at
# the first moment at which its question can be answered. Before a call the clock is read once, for all guards that look there.
#
# ### Checkpoint 3.2
#
# Here is what the library does in one step whose reply asks for a tool. In which order?
#
# - a) `run the tool` :: The request may run: nobody has objected to it. What comes of it can only be judged when it is there.
# - b) `ask whether the results are new` :: A result can be judged when it is there, and no sooner. What can still be prevented then is the next call of the model.
# - c) `read the clock` :: A step begins with the time, so that a limit on time is judged by the moment at which the call would be made. From there on each guard looks when its question can be answered, and before what it is to prevent.
# - d) `count the step` :: A call is counted as soon as its reply is there, and not at the end of the round: it has been made and paid for, whatever becomes of its request.
# - e) `ask whether steps are left` :: How many steps have been made is known before the call, and only before the call can it still be saved.
# - f) `ask whether the request is a repeat` :: The request is known now, and its tool has not run. A mail that should not go out twice can still be held back.
# - g) `call the model` :: Nothing is left to be asked before the call: what the model will want, nobody knows yet.

# %% order-predict role="predict"
predict("3.2")

# %% order-reveal role="reveal"
log = []

def noting(what, gives=None):
    def noted(*args, **named):
        log.append(what)
        return gives
    return noted

def sees_the_count(event):
    if event.run.steps > log.count("count the step"):
        log.append("count the step")

# `&` joins two guards, see below: here the first one notes that the second is asked
guards = [noting("ask whether steps are left") & stoplib.max_steps(20),
          noting("ask whether the request is a repeat") & stoplib.repeated_call(2),
          noting("ask whether the results are new") & stoplib.no_new_results(3),
          stoplib.max_steps(1)]
stoplib.run(noting("call the model", stoplib.call("search")), "Find it.", tools={"search": noting("run the tool")},
            guards=guards, clock=noting("read the clock", 0), on_event=sees_the_count)
reveal("3.2", log[1:8])  # the first reading of the clock is the start of the run

# %% gates-part [markdown]
# A **gate** is a place in a step where guards look. There are three: *before the call* of the model; *before the action*, when the request is known and its tools have not run; *after the round*. The first gate at which a guard fires ends the
# run. At one gate, the order of the list decides. `gate=` moves a guard to another gate.

# %% gates
for guard in (stoplib.repeated_call(2, gate="before_call"), stoplib.repeated_call(2)):
    outcome = stoplib.run(retries, "Find it.", tools=tools, guards=[guard, stoplib.max_steps(20)])
    print(f"{guard} looks at {guard.gates}: model calls {outcome.steps}, tool calls {outcome.tool_calls}")
print(stoplib.max_tool_calls(2), "looks at", stoplib.max_tool_calls(2).gates)

# %% json-part [markdown]
# Each guard has a gate of its own, or two: a quota asks whether it is used up, and whether the tools just asked for would pass it. A plain function works as a guard, too. It looks before the call.
#
# What a guard reads of a request was written by the model. It should be **JSON**, the text form in which models send arguments, but it can be cut off. Our next guard trusts it. The model is made by `script`: it says its replies in order, and
# sees in the messages which one is due, so it can be used for one run after the other.

# %% bad-json
from stoplib import Reply, ToolCall, answer, script

def long_query(run):
    if run.trace and len(run.trace[-1].calls[0].args["query"]) > 99:
        return "a query of more than 99 characters"

cut_off = script(Reply(calls=[ToolCall("search", '{"query": "st')]), answer("done"))
for guard in (long_query, stoplib.repeated_call(2)):
    outcome = stoplib.run(cut_off, "Find it.", tools=tools, guards=[guard, stoplib.max_steps(20)])
    print(f"{outcome.reason}, model calls: {outcome.steps}, error: {outcome.error and type(outcome.error).__name__}")
print("The model read:", outcome.messages[2]["content"])

# %% combine-part [markdown]
# ## Combine guards
#
# Our guard raised an error before the second call, and that ended the run as `fatal`: a guard that fails must not let everything through. The library's guard did not mind, so the model could read what was wrong with its request.
#
# Guards can be joined. `a | b` is both, each at its own gate. `a & b` fires only when both do, at the later of their gates. So `patient` puts up with repeats until five tool calls are used.

# %% combine
patient = stoplib.repeated_call(2) & stoplib.max_tool_calls(5)
for guard in (patient, patient | stoplib.max_steps(4), max_tool_calls(3)):
    outcome = stoplib.run(alternates, "Find it.", tools=tools, guards=[guard, stoplib.max_steps(20)])
    print(f"{outcome.reason}: {outcome.detail}")

# %% which-question [markdown] checkpoint="3.3"
# The reason is the guard's name. The last line comes from our own `max_tool_calls`, whose inner function is called `guard`. Name yours well.
#
# ### Checkpoint 3.3
#
# `alternates` runs in the library with `guards=[repeated_call(2), max_tool_calls(2), max_steps(20)]`, all from the library. Which reason does the run end with?
#
# - a) `repeated_call` :: It is the first in the list, and the third request is a repeat. But that request is never made: the order of the list counts only among guards that fire at the same gate.
# - b) `repeated_call | max_tool_calls` :: Both limits are due at the third step, so one might expect both names. A run ends for one reason, and two entries of a list are not one joined guard.
# - c) `max_tool_calls` :: Two tool calls have been made when the third step begins. That is seen before the call, so the model never gets to ask for the repeat.

# %% which-predict role="predict"
predict("3.3")

# %% which-reveal role="reveal"
guards = [stoplib.repeated_call(2), stoplib.max_tool_calls(2), stoplib.max_steps(20)]
outcome = stoplib.run(alternates, "Find it.", tools=tools, guards=guards)
print(f"{outcome.steps} model calls, {outcome.tool_calls} tool calls, fired: {outcome.fired}")
reveal("3.3", outcome.reason)

# %% lab-intro [markdown]
# ## Lab: pick guards
#
# Run the cell, and switch guards on and off for one model after the other. Find a model that `repeated_call` never stops. Which other guards stop it?

# %% lab
from stoplib.course.lab import lab_guards
lab_guards()

# %% recap [markdown]
# ## Exercise
#
# [Exercise 02: write the guard `no_new_results`](../exercises/02_no_new_results.ipynb). About {minutes of exercise 02} minutes. You also find out which guard stops the alternating model first.
#
# ## Recap
#
# You can now
#
# - add a rule to a loop without touching the loop
# - tell what belongs to the guard, its limit, from what belongs to the run, everything that changes
# - choose the gate at which a rule looks, and say what has run by then
# - combine guards, and tell who names the reason
#
# ## In practice
#
# - Rules that keep state exist in real frameworks too, and have to be reset before they can be used again; AutoGen's [termination conditions](https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/tutorial/termination.html)
#   are of this kind, and are reset after each run.
# - Arguments that are not valid JSON do occur: in one [report](https://github.com/openai/openai-agents-python/issues/2061) a request with a missing brace was stored with the session, and broke it.
# - Exact comparison misses a query that says the same in other words. The next chapter is about what "the same" should mean.
#
# ---
#
# Previous: [02 Three exits: answer, steps or time?](02_three_exits.ipynb) · Next: [04 Running in circles: is it stuck, or is it working?](04_running_in_circles.ipynb)
