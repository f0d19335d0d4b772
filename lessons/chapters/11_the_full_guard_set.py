# %% title [markdown]
# # The full guard set: which rule would have stopped it first?
#
# **What you will do.** Assemble a full guard set, let its guards race against recorded runs, and write the page that you would defend in a design review: what this run cannot do, each sentence next to a run that tries.
#
# **What you will learn**
#
# - order a guard set, and say why in that order
# - find out by replay which guard would have stopped a run, when, and at what cost
# - say what the set costs honest runs, and what happens when one guard is missing
# - turn guards into sentences that hold, and name what they do not see
#
# **What you need.** [Chapters 03](03_guards_are_functions.ipynb) to [10](10_choosing_limits.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% assemble [markdown]
# ## Assemble the set
#
# In which order? Between gates the list does not matter: whoever looks before the action fires earlier in the step than whoever looks after the round. At one gate all guards look, all that fire are recorded, and the first in the list names the reason. So the order does not
# decide *whether* a run is stopped. It decides what the caller reads. Put first what tells the caller most: a person said stop; something is broken; the model is stuck; and last, what says only that something ran out.

# %% guards
import threading
from stoplib import cancelled, going_in_circles, max_steps, max_tool_calls, no_new_results, repeated_call
from stoplib import time_limit, token_budget, too_many_errors, too_many_refusals

stop = threading.Event()
guards = [
    cancelled(stop),  # a person said stop
    too_many_errors(3), too_many_refusals(3),  # something is wrong, and the model cannot mend it
    going_in_circles(), repeated_call(3), no_new_results(3),  # stuck
    max_tool_calls(24), token_budget(30_000, hard=True), time_limit(60), max_steps(20),  # something ran out
]

# %% record-idea [markdown]
# ## Record six runs
#
# The runs are those of six scripted models: `never_answers`, `retries`, `alternates`, `edits_and_tests`, `asks_in_batches`, and one that rewords. To compare guards, let each go on too long: 40 steps, with nothing but a step limit. A step takes 2 seconds and reports 1,600 tokens.
#
# The index of `search` has two entries, and each points to the other. Numbered pages are there, each with a text of its own. For all other words there is no match. An edit is saved, and the test keeps failing.

# %% record
from stoplib import ManualClock, TickClock, Usage, answer, call, fakes, replay, run, script, tool
from stoplib.course.checkpoint import predict, reveal
from stoplib.course.charts import describe_race, plot_race
from stoplib.course.show import show_picture

INDEX = {"stop": "see halt", "halt": "see stop"}

def search(query):
    number = query.split()[-1]
    return INDEX.get(query, f"page {number}" if number[0].isdigit() else "no match")

TOOLS = {"search": search, "edit": lambda change: "saved", "test": lambda: "1 failed"}

def record(model):
    return run(fakes.spends(1_500, 100, model), "go", tools=TOOLS, guards=[max_steps(40)], clock=TickClock(2))

# %% race-idea [markdown]
# ## Let the guards race
#
# `replay` says what guards would have done with a recorded run. So give it one guard at a time, next to a bound that is out of reach: the replay ends where this guard alone would have stopped the run. Sorted by steps, that is a **race**. At the same step, whoever stopped before
# the tools ran has fewer tool calls and comes first. Here is `retries`, which asks for the same thing every time. In the cell below it is `never_answers`, which always finds something new, also as a chart.

# %% race
def race(outcome, guards):
    alone = [(guard.name, replay(outcome, [guard, max_steps(1_000)])) for guard in guards]
    return sorted((it.steps, it.tool_calls, it.usage.total, name) for name, it in alone if it.reason == name)

def show_lanes(lanes):
    for steps, calls, tokens, name in lanes:
        print(f"{name:17}{steps:>3} steps {calls:>3} tool calls {tokens:>7,} tokens")
show_lanes(race(record(fakes.retries), guards))

# %% chart
looks = record(fakes.never_answers)
show_lanes(race(looks, guards))
show_picture(plot_race(looks, guards), describe_race(looks, guards))

# %% alternates-question [markdown] checkpoint="11.1"
# ### Checkpoint 11.1
#
# `alternates` asks for "stop" and "halt" in turn, and the index sends it from one to the other. Which guard is the first to stop this run?
#
# - a) `no_new_results` :: Nothing in these results is news after the second one. But the rule compares each result with the one before it, and "see halt" is not "see stop".
# - b) `going_in_circles` :: Four rounds are two passes of one cycle of two rounds, with the same requests and the same results. That is seen after round 4, and the third "stop" is asked for in step 5.
# - c) `repeated_call` :: It does fire on this run: at the third request for "stop", in step 5. One step earlier the second pass of the cycle is complete.
# - d) `too_many_errors` :: A dead end feels like an error. The search did its job each time, though: "see halt" is a result.

# %% alternates-predict role="predict"
predict("11.1")

# %% alternates-reveal role="reveal"
lanes = race(record(fakes.alternates), guards)
show_lanes(lanes[:3])
reveal("11.1", lanes[0][-1])

# %% edits-question [markdown] checkpoint="11.2"
# ### Checkpoint 11.2
#
# `edits_and_tests` makes a new edit, runs the test, which still fails, makes the next edit, and so on. That is honest work on a hard bug. Which guard is the first to stop it?
#
# - a) `going_in_circles` :: Edit, test, edit, test looks like a cycle of two. But each edit is another one, so no round comes back with the same request.
# - b) `no_new_results` :: The test brings "1 failed" each time. In between, every edit brings "saved", so no three results in a row are the same.
# - c) `repeated_call` :: It counts the same request anywhere in the run, whatever has happened in between. The test takes no arguments, so its third run, in step 6, is the third request for the same call.
# - d) `token_budget` :: One would hope so: honest work should go on until something runs out, and the budget would be the first of those. But another rule takes this work for repetition.

# %% edits-predict role="predict"
predict("11.2")

# %% edits-reveal role="reveal"
lanes = race(record(fakes.edits_and_tests), guards)
show_lanes(lanes[:3])
reveal("11.2", lanes[0][-1])

# %% honest-idea [markdown]
# ## Ask what the set costs honest runs
#
# A run that is stopped although it was getting on is a cost as well, and no table of spend shows it. So the winner of that race leaves the set. Then hold the rest against three **honest runs**, which end well: nothing may fire. The tool that one of them polls declares it, with
# `tool(poll=12)`.

# %% honest
winner = race(record(fakes.edits_and_tests), guards)[0][-1]
full = [guard for guard in guards if guard.name != winner]
states = iter(["running"] * 9 + ["done"])
def status():
    return next(states)
def mends_it(messages):
    return fakes.edits_and_tests(messages) if fakes.said(messages) < 16 else answer("it works")

for model in (fakes.answers_after(12), fakes.polls(), mends_it):
    tools = TOOLS | {"status": tool(poll=12)(status)}
    print(run(model, "go", tools=tools, guards=full, clock=TickClock(2)))

# %% batches-question [markdown] checkpoint="11.3"
# ### Checkpoint 11.3
#
# `asks_in_batches(5)` asks for five pages in each reply. The quota is `max_tool_calls(24)`. Which guard is the first to stop this run, and how many tool calls have been carried out by then?
#
# - a) `max_tool_calls, 24` :: Four batches make 20, and four more calls would be allowed. But a batch is one unit: the guard looks before it runs, and a batch that would pass the quota does not run at all.
# - b) `max_tool_calls, 25` :: That would be so if the guard looked only between the rounds: 20 is below the quota, so a fifth batch would go through. It looks before the action as well.
# - c) `token_budget, 90` :: A budget would stop it after 18 steps. Five calls a step use up the quota long before.
# - d) `max_tool_calls, 20` :: At the fifth batch, 20 calls are done and 5 are asked for. 25 would pass the quota, so none of the five runs.

# %% batches-predict role="predict"
predict("11.3")

# %% batches-reveal role="reveal"
steps, calls, tokens, name = race(record(fakes.asks_in_batches(5)), full)[0]
reveal("11.3", f"{name}, {calls}")

# %% fired-idea [markdown]
# ## Read all that fired
#
# `reason` is one name, `fired` holds them all. Here the index is down: each search raises the same error. Two guards see it after the same round, and the order of the list decides which of them speaks. Run it with the list as it is, and turned round.

# %% fired
def down(query):
    raise OSError("the index is down")

for order in (full, full[::-1]):
    outcome = run(fakes.never_answers, "go", tools={"search": down}, guards=order, clock=TickClock(2))
    print(outcome.reason, outcome.fired)

# %% out-question [markdown] checkpoint="11.4" kind="number"
# ### Checkpoint 11.4
#
# Somebody takes `no_new_results` out of `full`, since "the other guards will see it". A model asks the same thing in six wordings, one after the other, and then begins again with the first: `fakes.cycles(*wordings)`. There is no match for any of them.
# At which step does the rest of the set stop it?
#
# - `12` :: The requests come back after six rounds, with the same results. After twelve, `going_in_circles` has seen two passes of a cycle of six. With nine wordings it would not see it at all: it looks for cycles of up to eight rounds.
# - `3` :: Three times the same result is what `no_new_results(3)` would have seen. But that is the guard that was taken out.
# - `6` :: After six queries the model has used up its wordings. No rule can know that yet: all six requests are different.
# - `7` :: The seventh query is the first that comes back. One repeated round is no cycle: the guard wants two whole passes.
# - `13` :: One step less. The second pass is complete after round 12, and the guard looks after the round.
# - `18` :: That is where the token budget would be reached. Another guard is earlier, though not by much.
# - `20` :: The step limit always fires if nothing else does. Two others come before it here.

# %% out-predict role="predict"
predict("11.4")

# %% out-reveal role="reveal"
wordings = [call("search", query=f"{verb} the loop") for verb in ("stop", "halt", "end", "finish", "leave", "quit")]
rewording = record(fakes.cycles(*wordings))
show_picture(plot_race(rewording, full), describe_race(rewording, full))
reveal("11.4", replay(rewording, [guard for guard in full if guard.name != "no_new_results"]).steps)

# %% review-idea [markdown]
# ## Write the page for the design review
#
# "It usually stops in time" cannot be reviewed. "This run cannot …" can: one run that does it proves the sentence wrong. `cannot` makes such a sentence of each guard, and next to each belongs a run that tries. Every attack below runs against the full set and goes for one guard. It shows
# that the guard is there and fires; that it does so at the right step is what the tests of chapter 09 are for.

# %% cannot
def cannot(guard):
    match guard:
        case cancelled():
            return "make another model call after somebody has said stop while it runs"
        case too_many_errors(n=n):
            return f"go on after {n} tool errors with no success in between"
        case too_many_refusals(n=n):
            return f"go on after a person has declined {n} calls and no tool has done its job in between"
        case going_in_circles(times=times, longest=longest):
            return f"begin pass {times + 1} of a cycle of up to {longest} rounds, declared polls apart"
        case no_new_results(n=n):
            return f"go on after {n} rounds in a row that brought the same result, declared polls and effects apart"
        case max_tool_calls(n=n, tool=name):
            return f"carry out more {f'calls of {name}' if name else 'tool calls'} than {n}"
        case token_budget(n=n, hard=True):
            return f"spend more than {n:,} tokens, as far as the next call can be estimated"
        case time_limit(seconds=seconds):
            return f"begin a model call {seconds} seconds after its start, or later"
        case max_steps(n=n):
            return f"make more than {n} model calls"
    raise ValueError(f"there is no sentence for {guard!r} yet")

# %% attacks
def attack(model, tools=TOOLS, clock=None, **options):
    stop.clear()
    return run(model, "go", tools=tools, guards=full, clock=clock or TickClock(2), **options)

slow = ManualClock()
attacks = [attack(fakes.never_answers, {"search": lambda query: stop.set()}), attack(fakes.never_answers, {"search": down}),
    attack(fakes.never_answers, approve=lambda call: False),
    attack(fakes.alternates), attack(fakes.rewords), attack(fakes.asks_in_batches(5)),
    attack(fakes.spends(1_500, 100)), attack(fakes.never_answers),
    attack(fakes.never_answers, {"search": lambda query: slow.advance(35)}, slow)]

# %% page
stopped_by = {outcome.reason: outcome for outcome in attacks}
for guard in full:
    it = stopped_by[guard.name]
    print(f"This run cannot {cannot(guard)}.\n    tried: {it.reason}; steps {it.steps}, tool calls {it.tool_calls}, tokens {it.usage.total:,}, seconds {it.seconds:g}")

# %% more-sentences [markdown]
# Two more sentences. *It cannot call a cut-off reply an answer*: no guard says so, the loop itself does. *It cannot send the same message twice*: that is a question from the review, and the set has no sentence for it. So try it: a model sends a message, looks something up, and sends the
# same message again, first with the set as it is, then with a quota for that one tool. (The quota is stricter than the question, since it forbids a second message of any kind. Exercise 10 asks you for the exact rule.)

# %% send
outcome = attack(fakes.is_cut_off)
print("cut off:", outcome.reason, "complete:", outcome.complete, "answer:", outcome.answer, "tool calls:", outcome.tool_calls)
courier = script(call("send", text="hello"), call("search", query="more 1"), call("send", text="hello"), answer("sent"))
sent = []
for extra in ([], [max_tool_calls(1, tool="send")]):
    sent.clear()
    outcome = run(courier, "go", tools=TOOLS | {"send": lambda text: sent.append(text)}, guards=full + extra, clock=TickClock(2))
    print(len(sent), "sent,", outcome.reason, *(f"- This run cannot {cannot(guard)}." for guard in extra))

# %% lab-intro [markdown]
# ## Lab: everything
#
# Run the cell, choose a model, and say which guard wins before you look at the race. Under *Share it* is a text that gives somebody else the same situation.

# %% lab
from stoplib.course.lab import lab
lab()

# %% unseen-idea [markdown]
# ## Say what the set does not see
#
# A page that lists only what is safe is half a page. This set does not see
#
# - whether an answer is right: a wrong one is complete, too
# - how long the next answer will be: a reply longer than all before it can take the run over its hard budget
# - a tool that is running: the time limit is looked at between calls
# - other runs: whoever starts a hundred of them has a hundred budgets
# - whether the work gets anywhere, as long as each round brings something new: then only the last four guards are left
#
# The first three as runs:

# %% unseen
print("wrong:", attack(fakes.answers_after(0, "The capital of France is Lyon.")))
def bursts(messages):
    return fakes.never_answers(messages)._replace(usage=Usage(1_500, 9_000 if fakes.said(messages) == 16 else 100))
print("long: ", attack(bursts))
hours = ManualClock()
print("slow: ", attack(fakes.never_answers, {"search": lambda query: hours.advance(7_200)}, hours))

# %% recap [markdown]
# > **Pitfall: one more guard, to be on the safe side.** Each guard can also stop a run that was getting on. If you cannot name the run that needs it, or have no honest runs to hold it against, it does not make the set safer. It makes it harder to explain.
#
# ## Exercise
#
# [Exercise 10: the guard set](../exercises/10_the_guard_set.ipynb). About {minutes of exercise 10} minutes. Sixteen scenarios, runaways and honest runs, and one set that has to be right on all of them.
#
# ## Recap
#
# You can now
#
# - assemble a guard set, and defend its order
# - let guards race on a recorded run, and say what it costs to take one out
# - hold a set against honest runs before anybody else does
# - write down what a run cannot do, prove it, and write down what nobody has promised
#
# ## In practice
#
# - Replay answers "where would it have stopped?", not "what would have come next?". A guard that stops a recorded run too early can be seen only if the recording goes on from there, so keep whole recordings, those of good runs above all.
# - What the set does not see belongs to others: a check of the result to `goal_reached`, spend over many runs to a daily cap outside the process ([chapter 05](05_what_a_run_costs.ipynb)), a tool that hangs to its own `timeout`.
# - The page ages. Print it from the guards, as here, and run the attacks with your tests: then it cannot say what is no longer so.
#
# ---
#
# Previous: [10 Choosing limits: what number?](10_choosing_limits.ipynb)
