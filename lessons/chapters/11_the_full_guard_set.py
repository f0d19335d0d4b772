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

# %% honest-idea [markdown]
# ## Begin with runs that should go on
#
# A guard set needs numbers, and in chapter 10 they came from runs that succeeded. Here are four **honest runs** of the agent of this chapter: runs that get on, and that no guard should end. The agent reads pages in batches, waits for a job, edits and tests until the test passes, and looks for a key in drawers.
# A step takes 2 seconds and reports 1,600 tokens.
#
# Its index has two entries, and each points to the other. Numbered pages are there, each with a text of its own. For all other words there is no match. An edit is saved. In the honest run `mends` the sixth test passes; elsewhere in this chapter none does.

# %% record
import math, threading
from collections import Counter
from itertools import groupby, product
from stoplib import Guard, ManualClock, TickClock, Usage, answer, call, fakes, replay, run, script, tool
from stoplib import cancelled, going_in_circles, max_steps, max_tool_calls, no_new_results, repeated_call
from stoplib import time_limit, token_budget, too_many_errors, too_many_refusals
from stoplib.course.checkpoint import predict, reveal

INDEX = {"stop": "see halt", "halt": "see stop"}
def search(query):
    number = query.split()[-1]
    return INDEX.get(query, f"page {number}" if number[0].isdigit() else "no match")
TOOLS = {"search": search, "edit": lambda change: "saved", "test": lambda: "1 failed",
         "open": lambda drawer: "the key" if drawer == 5 else "empty"}

def record(model, **tools):
    return run(fakes.spends(1_500, 100, model), "go", tools=TOOLS | tools, guards=[max_steps(40)], clock=TickClock(2))
def until(rounds, model):
    return lambda messages: model(messages) if fakes.said(messages) < rounds else answer("done")

# %% honest
states, tests = iter(["running"] * 9 + ["done"]), iter(["1 failed"] * 5 + ["passed"])
def status():
    return next(states)

honest = {
    "reads": record(until(4, fakes.asks_in_batches(4))),
    "waits": record(fakes.polls(), status=tool(poll=12)(status)),
    "mends": record(until(12, fakes.edits_and_tests), test=lambda: next(tests)),
    "looks": record(script(*(call("open", drawer=n) for n in range(1, 6)), answer("the key"))),
}
print(*(f"{name} {outcome}" for name, outcome in honest.items()), sep="\n")

# %% assemble [markdown]
# ## Assemble the set
#
# **Which numbers?** For steps, tool calls and tokens: the most that an honest run has used, times 1.5. For seconds: somebody waits at a screen, a minute at most. Two passes of a cycle and three of everything else are what is often proposed; whether that is right will be seen.
#
# **In which order?** Between gates the list does not matter: whoever looks before the action fires earlier in the step than whoever looks after the round. At one gate all guards look, all that fire are recorded in `fired`, and the first in the list
# is the `reason`. So the order does not decide *whether* a run is stopped. It decides what the caller reads. Put first what tells the caller most: a person said stop; something is broken; the model is stuck; and last, what says only that something ran out.
#
# In the second cell the index is down: each search raises the same error. Two guards see it after the same round, first with the list as it is, then turned round.

# %% guards
def room(used):  # the most that an honest run has used, and half as much again
    return math.ceil(1.5 * max(used(outcome) for outcome in honest.values()))

stop = threading.Event()
guards = [
    cancelled(stop), too_many_errors(3), too_many_refusals(3),  # a person said stop; something is wrong
    going_in_circles(), repeated_call(3), no_new_results(3),  # stuck
    max_tool_calls(room(lambda it: it.tool_calls)), token_budget(room(lambda it: it.usage.total), hard=True),
    time_limit(60), max_steps(room(lambda it: it.steps)),  # these four: something ran out
]
print(*guards[6:], sep=", ")

# %% fired
def down(query):
    raise OSError("the index is down")
outcomes = [run(fakes.never_answers, "go", tools={"search": down}, guards=order, clock=TickClock(2)) for order in (guards, guards[::-1])]
print(*((outcome.reason, outcome.fired) for outcome in outcomes), sep="\n")

# %% race-idea [markdown]
# ## Let the guards race
#
# To compare guards, let a run go on too long: 40 steps, with nothing but a step limit. `replay` says what other guards would have done with it. Give it one guard at a time: it ends where this guard alone would have stopped the run. Sorted by
# steps, that is a **race**. At the same step, whoever stopped before the tools ran has fewer tool calls and comes first.
#
# Here is `retries`, which asks for the same thing every time, and `never_answers`, which always finds something new, also as a chart. (The clock is read once before each call. So the call that `time_limit(60)` refuses is the thirtieth.)

# %% race
from stoplib.course.charts import describe_race, plot_race
from stoplib.course.show import show_picture

def race(outcome, guards):
    alone = [(guard.name, replay(outcome, [guard])) for guard in guards]
    return sorted((it.steps, it.tool_calls, it.usage.total, name) for name, it in alone if it.steps < outcome.steps)

for steps, calls, tokens, name in race(record(fakes.retries), guards):
    print(f"{name:17}{steps:>3} steps {calls:>3} tool calls {tokens:>7,} tokens")
for_ever = record(fakes.never_answers)
show_picture(plot_race(for_ever, guards), describe_race(for_ever, guards))

# %% honest-question [markdown] checkpoint="11.1" kind="number"
# ## Ask what the set costs honest runs
#
# ### Checkpoint 11.1
#
# Now replay the four honest runs with `guards`. How many of the four does the set stop before their end?
#
# - `2` :: "mends" runs the same test after each edit: its third test is the third request for one call, and `repeated_call(3)` stops it. "looks" opens three empty drawers in a row, and that is `no_new_results(3)`. The job's tool has declared that it polls, and 16 tool calls are below the
#   quota.
# - `0` :: The limits on steps, calls and tokens were taken from these runs, with room above. Three guards have numbers from elsewhere, though.
# - `1` :: One comes to mind at once, since chapters 04 and 10 have been there: tests after edits, or the drawers. It is both.
# - `3` :: "waits" makes the same call ten times and reads "running" nine times. But `tool(poll=12)` says that this is fine, and the rules about repetition respect it.
# - `4` :: "reads" makes 16 tool calls in five steps, which looks like much. The quota is above that: it came from this run.

# %% honest-predict role="predict"
predict("11.1")

# %% honest-reveal role="reveal"
replays = {name: replay(outcome, guards) for name, outcome in honest.items()}
print(*(f"{name} {it}" for name, it in replays.items()), sep="\n")
reveal("11.1", sum(not it.complete for it in replays.values()))

# %% full-idea [markdown]
# A run that is stopped although it was getting on is a cost as well, and no table of spend shows it. So a guard that has stopped one has to answer for it. A count of equal results can be raised: to five, as in chapter 04. A count of calls *anywhere*
# in a run is mended by no number, since honest work may go on; so that rule leaves. Then every honest run has to reach its end.

# %% full
full = [guard for guard in guards if guard.name != "repeated_call"]
full[full.index(no_new_results(3))] = no_new_results(5)
print(*(f"{name}: {replay(outcome, full).reason}" for name, outcome in honest.items()), sep=", ")

# %% batches-question [markdown] checkpoint="11.2"
# ### Checkpoint 11.2
#
# Now for runs that should not go on. `asks_in_batches(5)` asks for five pages in each reply, for ever. The quota is `max_tool_calls(24)`. Which guard of `full` is the first to stop this run, and how many tool calls have been carried out by then?
#
# - a) `max_tool_calls, 24` :: Four batches make 20, and four more calls would be allowed. But a batch is one unit: the guard looks before it runs, and a batch that would pass the quota does not run at all.
# - b) `max_tool_calls, 25` :: That would be so if the guard looked only between the rounds: 20 is below the quota, so a fifth batch would go through. It looks before the action as well.
# - c) `token_budget, 95` :: A budget would stop it after 19 steps. Five calls a step use up the quota long before.
# - d) `max_tool_calls, 20` :: At the fifth batch, 20 calls are done and 5 are asked for. 25 would pass the quota, so none of the five runs.

# %% batches-predict role="predict"
predict("11.2")

# %% batches-reveal role="reveal"
steps, calls, tokens, name = race(record(fakes.asks_in_batches(5)), full)[0]
reveal("11.2", f"{name}, {calls}")

# %% out-question [markdown] checkpoint="11.3" kind="number"
# ### Checkpoint 11.3
#
# Somebody takes `no_new_results` out of `full`, since "the other guards will see it". A model asks the same thing in six wordings, one after the other, and then begins again with the first: `fakes.cycles(*wordings)`. There is no match for any of them.
# At which step does the rest of the set stop it?
#
# - `12` :: The requests come back after six rounds, with the same results. After twelve, `going_in_circles` has seen two passes of a cycle of six. With nine wordings it would not see it at all: it looks for cycles of up to eight rounds.
# - `5` :: Five times the same result is what `no_new_results(5)` would have seen. But that is the guard that was taken out.
# - `6` :: After six queries the model has used up its wordings. No rule can know that yet: all six requests are different.
# - `7` :: The seventh query is the first that comes back. One repeated round is no cycle: the guard wants two whole passes.
# - `13` :: One step less. The second pass is complete after round 12, and the guard looks after the round.
# - `19` :: That is where the token budget would be reached. Another guard is earlier, though not by much.
# - `20` :: The step limit always fires if nothing else does. Two others come before it here.

# %% out-predict role="predict"
predict("11.3")

# %% out-reveal role="reveal"
wordings = [call("search", query=f"{verb} the loop") for verb in ("stop", "halt", "end", "finish", "leave", "quit")]
rewording = record(fakes.cycles(*wordings))
show_picture(plot_race(rewording, full), describe_race(rewording, full))
reveal("11.3", replay(rewording, [guard for guard in full if guard.name != "no_new_results"]).steps)

# %% attacks-idea [markdown]
# ## Leave each guard out once
#
# When may a guard go? Ask it of every one. An *attack* is a run that goes for one guard; it bears the guard's name. Below, each guard is left out in turn and all attacks are run. Printed are those that end otherwise than with the whole set: how far
# they come with it, how far without that guard, and what stops them then.

# %% attacks
ATTACKS = {
    "cancelled": lambda: {"tools": {"search": lambda query: stop.set() or query}},
    "too_many_errors": lambda: {"tools": {"search": down}}, "too_many_refusals": lambda: {"approve": lambda call: False},
    "going_in_circles": lambda: {"model": fakes.alternates}, "no_new_results": lambda: {"model": fakes.rewords},
    "max_tool_calls": lambda: {"model": fakes.asks_in_batches(5)}, "token_budget": lambda: {"model": fakes.spends(4_900, 100)},
    "time_limit": lambda: {"clock": (slow := ManualClock()), "tools": {"search": lambda query: slow.advance(35) or query}},
    "max_steps": lambda: {},  # the usual model, which never answers
}
def attack(name, guards):
    stop.clear()
    usual = {"model": fakes.never_answers, "task": "go", "tools": TOOLS, "clock": TickClock(2)}
    return run(**usual | ATTACKS[name](), guards=guards)

# %% left-out
for out, name in product(full, ATTACKS):
    whole, rest = attack(name, full), attack(name, [guard for guard in full if guard is not out])
    if (whole.reason, whole.steps) != (rest.reason, rest.steps):
        print(f"without {out.name:18} {whole.steps:2} steps, {whole.tool_calls:2} calls -> {rest.steps:2} steps, {rest.tool_calls:3} calls, {rest.reason}")

# %% review-idea [markdown]
# Each guard is missed by one attack. A guard that nobody misses could go, unless you find the run that needs it. Behind two of them stands another: without the count of errors or of refusals the run is stopped two rounds later, for a reason that tells the caller less.
#
# ## Write the page for the design review
#
# "It usually stops in time" cannot be reviewed. "This run cannot …" can: one run that does it proves the sentence wrong. `claim` makes such a sentence of each guard, and looks at a run whether the sentence *holds* there. It does not ask the guard:
# it counts what the run has done. The page has the sentence of each guard and the attack on it.
#
# So a page can also say that something is *not* so. In the last cell somebody has moved the quota to another gate, because "after the round all calls are known". Read what becomes of its sentence.

# %% claim
def claim(guard, it):
    statuses, texts, requests = zip(*((result.status, result.text, str(result.call)) for step in it.trace for result in step.results), strict=True)
    def in_a_row(values, *wanted):
        return max((len(list(same)) for value, same in groupby(values) if value in (wanted or values)), default=0)
    match guard:
        case cancelled():
            return "make another model call once somebody has said stop", it.steps == 1  # the attack says it in step 1
        case too_many_errors(n=n):
            return f"go on after {n} tool errors with no success in between", in_a_row(statuses, "error") <= n
        case too_many_refusals(n=n):
            return f"go on after a person has declined {n} calls in a row", in_a_row(statuses, "declined") <= n
        case going_in_circles(times=times, longest=longest):
            return f"begin pass {times + 1} of a cycle of up to {longest} rounds, declared polls apart", max(Counter(requests).values()) <= times
        case no_new_results(n=n):
            return f"go on after {n} rounds in a row with the same result, declared polls and effects apart", in_a_row(texts) <= n
        case max_tool_calls(n=n, tool=None):
            return f"carry out more than {n} tool calls", it.tool_calls <= n
        case token_budget(n=n, hard=True):
            return f"spend more than {n:,} tokens, as far as the next call can be estimated", it.usage.total <= n
        case time_limit(seconds=seconds):
            return f"begin a model call {seconds} seconds after its start, or later", it.trace[-1].seconds < seconds
        case max_steps(n=n):
            return f"make more than {n} model calls", it.steps <= n
    raise ValueError(f"there is no sentence for {guard!r} yet")

# %% page
def tried(guard, guards):
    it = attack(guard.name, guards)
    sentence, holds = claim(guard, it)
    print(f"This run cannot {sentence}.\n    holds: {holds}; {it.reason}, steps {it.steps}, tool calls {it.tool_calls}, tokens {it.usage.total:,}")

for guard in full:
    tried(guard, full)

# %% broken
moved = max_tool_calls(24, gate="after_round")
tried(moved, [moved if guard.name == moved.name else guard for guard in full])

# %% own-idea [markdown]
# ## Add a sentence of your own
#
# In the review somebody asks: can it write to anybody but Ann? No guard of the library says so. The obvious way is a function that looks for such a message. But a plain function looks *before the next call*, and by then the tools of the last reply have run.
#
# A rule about what must not *happen* has to look at the gate before the action, where `run.batch` holds the calls that are about to run. That takes a class: derive it from `Guard`, name the gate, and say when it `fires`.
# ([How do I add my own guard?](../docs/your-own-guard.md)) Both are tried on a model that sends a message to Ann and one to Bob.

# %% own
def for_others(calls):
    return [call.args["to"] for call in calls if call.name == "send" and call.args["to"] != "Ann"]

def seen_too_late(run):
    return "a message to somebody else" if run.trace and for_others(run.trace[-1].calls) else None

class only_to_ann(Guard):
    usual_gates = ("before_action",)
    def fires(self, run):
        return f"a message to {for_others(run.batch)[0]}" if for_others(run.batch) else None

# %% courier
@tool(effect=True)
def send(to):
    sent.append(to)

courier = script(call("send", to="Ann"), call("send", to="Bob"), answer("Both are told."))
for guard in (seen_too_late, only_to_ann()):
    sent = []
    outcome = run(courier, "go", tools=TOOLS | {"send": send}, guards=[guard, *full], clock=TickClock(2))
    print(f"{outcome.reason} ({outcome.detail}), sent to {sent}")

# %% lab-intro [markdown]
# ## Lab: everything
#
# Run the cell, choose a model, and say which guard wins before you look at the race. Under *Share it* is a text that gives somebody else the same situation.

# %% lab
from stoplib.course.lab import lab
lab()

# %% unseen-idea [markdown]
# ## Say what the set does not see, and what it stops wrongly
#
# A page that lists only what is safe is half a page. This set does not see
#
# - whether an answer is right: a wrong one is complete, too
# - how long the next answer will be: a reply longer than all before it can take the run over its hard budget
# - a tool that is running: the time limit is looked at between calls
# - other runs: whoever starts a hundred of them has a hundred budgets. A cap for the day is kept outside the process, by `daily_cap` and [its ledger](../docs/ledger.md)
# - whether the work gets anywhere, as long as each round brings something new: then only the last four guards are left
#
# And it stops runs that are right: an honest search with five empty drawers before the key, and work that takes more than one and a half times the most of four runs. Four are few: by the rule of chapter 10 they only show that at most 3 / 4 of the next
# ones are lost. The first cell has the first three of the list, and the drawers. The second one holds the set against the successes of another agent, the one of chapter 10.

# %% unseen
print("wrong:", run(fakes.answers_after(0, "The capital of France is Lyon."), "go", guards=full, clock=TickClock(2)))
def bursts(messages):
    return fakes.never_answers(messages)._replace(usage=Usage(1_500, 9_000 if fakes.said(messages) == 16 else 100))
print("long: ", run(bursts, "go", tools=TOOLS, guards=full, clock=TickClock(2)))
hours = ManualClock()
print("slow: ", run(fakes.never_answers, "go", tools={"search": lambda query: hours.advance(7_200)}, guards=full, clock=hours))
print("right:", replay(record(script(*(call("open", drawer=n) for n in (1, 2, 3, 4, 6, 5)), answer("the key"))), full))

# %% elsewhere
from stoplib.course.population import recorded_runs
good = [one.outcome for one in recorded_runs(seed=23) if one.success]
lost = [it.reason for it, outcome in ((replay(outcome, full), outcome) for outcome in good) if it.steps < outcome.steps]
print(f"{100 * len(lost) / len(good):.0f} % of {len(good)} successes lost:", dict(Counter(lost).most_common()))

# %% recap [markdown]
# Three in ten: 31,200 tokens are plenty for the one agent and too few for the other, whose polls declare nothing. A guard set belongs to an agent. Copy the way to the numbers, not the numbers.
#
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
# - assemble a guard set, and defend its numbers and its order
# - let guards race on a recorded run, and show what happens without each of them
# - hold a set against honest runs before anybody else does
# - write down what a run cannot do, with a run that tries and a count that decides, and write down what nobody has promised
# - add a guard of your own at the gate where it is needed
#
# ## In practice
#
# - Replay answers "where would it have stopped?", not "what would have come next?". A guard that stops a recorded run too early can be seen only if the recording goes on from there, so keep whole recordings, those of good runs above all.
# - What does the caller get? One more line for each ending: the report of [chapter 08](08_ending_well.ipynb), with the acts that have been carried out. A summary comes only where there is room for one: give `token_budget` a `reserve`. After a time limit there is none.
# - A tool that hangs has its own `timeout` ([chapter 07](07_the_reply_has_reasons.ipynb)). An agent that a tool starts is a run of its own: it needs its own guards, and its steps and tokens are in nobody else's count. Tools of one batch that run side by side (`arun`) count one by one.
# - Two things this course leaves out. It *stops* a run; another design first *nudges*: the model is told that it repeats itself, and goes on. That can save a run and costs a step, and whether it helps only live runs can show, no replay. And it does not
#   *resume*: a stopped run that should go on is a new run ([chapter 08](08_ending_well.ipynb)).
# - Some sentences need no guard. *It cannot call a cut-off reply an answer*: the loop itself sees to that ([chapter 07](07_the_reply_has_reasons.ipynb)).
# - The page ages. Print it from the guards, as here, and run the attacks with your tests: then it cannot say what is no longer so.
#
# ---
#
# Previous: [10 Choosing limits: what number?](10_choosing_limits.ipynb)
