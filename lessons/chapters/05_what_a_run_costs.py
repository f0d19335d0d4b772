# %% title [markdown]
# # What a run costs: why did 10 steps cost 45 times one step?
#
# **What you will do.** Count what a run spends, in characters, in tokens and in money, and stop it at a budget: after a step, before a step, and across many runs.
#
# **What you will learn**
#
# - work out how a run's cost grows with its steps
# - set a budget, and say what has been paid when it fires
# - choose between a soft and a hard budget, and say where each one is wrong
# - count cached tokens, and refuse numbers that cannot be true
# - keep a cap per day that runs at the same time cannot get round
#
# **What you need.** [Chapter 03](03_guards_are_functions.ipynb) and [chapter 04](04_running_in_circles.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% count [markdown]
# ## Count what is sent
#
# A model remembers nothing between two calls, so each call sends the whole **transcript** again, all messages in their order. This loop writes down its length as text twice in each round: before the call, which is what the call *sends*, and
# after the round, with the reply and the result in it, which is what the *next* call will send. The second number is what the round costs, and the sum of these is the run's **spend**. So the spend is one call ahead: it counts what a
# round has written, whether or not another call will send it.
#
# The second limit, `budget`, is switched off for now. The model reads one note after the other and never answers.

# %% loop
from itertools import accumulate
from stoplib.course.checkpoint import predict, reveal

def run_counting(question, model, tools, max_steps=4, budget=None):
    messages, costs, sent = [{"role": "user", "content": question}], [], []
    for _ in range(max_steps):
        sent.append(len(str(messages)))
        reply = model(messages)
        if "answer" in reply:
            return "end_turn", costs, sent
        result = tools[reply["tool"]](**reply["args"])
        messages.append({"role": "assistant", "content": reply})
        messages.append({"role": "tool", "content": result, "is_error": not result["ok"]})
        costs.append(len(str(messages)))
        if budget is not None and sum(costs) > budget:
            return "budget_spent", costs, sent
    return "max_steps", costs, sent

def reads_next_note(messages):
    return {"tool": "read_file", "args": {"path": f"notes/{len(messages) // 2 + 1}.md"}}

tools = {"read_file": lambda path: {"ok": True, "text": f"contents of {path}"}}

# %% four-steps
reason, costs, sent = run_counting("Summarize the notes.", reads_next_note, tools, max_steps=4)
print(reason, "after rounds that cost", costs)
print("spend after each round:", list(accumulate(costs)))
print("sent by the calls:     ", sent, "in all", sum(sent))

# %% square
for steps in (1, 10, 20, 40):
    _, costs, sent = run_counting("Summarize the notes.", reads_next_note, tools, max_steps=steps)
    print(f"{steps:2} steps: spend {sum(costs):7,}, {sum(costs) / 238:3.0f} times one step; sent {sum(sent):7,}")

# %% why-square [markdown]
# Each round costs 185 characters more than the one before: after round 2 there are two rounds to send, after round 3 three, and 1 + 2 + … + 10 is 55, not 10. (Here it is 45, because 53 of the first 238 characters are the question, and that
# does not grow.) So spend grows with the *square* of the steps: from 20 steps to 40 it becomes almost four times as much. What was sent lags one call behind, and grows in the same way.
#
# ## See what a step limit does not see
#
# A step limit counts all steps alike. Here are the same model and the same four steps once more. Only the notes are longer.

# %% long-notes
long = {"read_file": lambda path: {"ok": True, "text": "a page of text " * 300}}
reason, costs, sent = run_counting("Summarize the notes.", reads_next_note, long, max_steps=4)
print(reason, "after", len(costs), "steps:", f"a spend of {sum(costs):,} instead of 2,062")

# %% budget-rule [markdown]
# ## Stop at a budget
#
# So the run needs a limit on the spend itself. In the loop above it stands right after the round: if the spend is now more than `budget`, the run ends, and its reason is `budget_spent`. First without it, a model that tries two
# fixes in turn on a test that never passes:

# %% two-fixes
def tries_two_fixes(messages):
    change = ("round the total", "truncate the total")[len(messages) // 2 % 2]
    return {"tool": "apply_fix", "args": {"change": change}}

fixing = {"apply_fix": lambda change: {"ok": True, "tests": "1 failed: test_total"}}
reason, costs, sent = run_counting("Make the failing test pass.", tries_two_fixes, fixing, max_steps=4)
print(reason, list(accumulate(costs)))

# %% characters-question [markdown] checkpoint="5.1"
# ### Checkpoint 5.1
#
# Now the same model gets `max_steps=40` and a budget of 5,000 characters. After how many rounds does the run end?
#
# - a) `6` :: After round 6 the spend is 4,398, and one more round does not fit into what is left. But how much the next round will cost the rule does not know before it has happened, and 4,398 is not more than 5,000.
# - b) `7` :: Each round costs about 195 more than the one before, so the spend goes on 3,183, 4,398, 5,804. The last of these is the first that is more than 5,000.
# - c) `8` :: That is the call with which more than 5,000 characters would have been sent. The spend is one call ahead of that: a round costs what the next call will send.
# - d) `20` :: The first round costs 251, and 5,000 divided by 251 is almost 20. That would be right if a round cost only what it adds. It costs all rounds before it, too.

# %% characters-predict role="predict"
predict("5.1")

# %% characters-reveal role="reveal"
from stoplib.course.show import show_picture
from stoplib.course.charts import describe_spend, plot_spend

reason, costs, sent = run_counting("Make the failing test pass.", tries_two_fixes, fixing, max_steps=40, budget=5000)
print(reason, list(accumulate(costs)), "sent by the calls:", sum(sent))
show_picture(plot_spend(costs, 5000, "characters"), describe_spend(costs, 5000, "characters"))
reveal("5.1", len(costs))

# %% tokens [markdown]
# In the picture each bar begins where the one before it ended; the broken line is the budget. The last bar passes it, and still the calls have sent less than 5,000. That bar is what the next call would have sent, and the run ended before it.
# So when this rule fires, what is over the budget has not been paid. Our loop can look so far ahead because it counts the transcript itself.
#
# ## Count in tokens
#
# An API charges by **tokens**, pieces of words, and says so afterwards: each reply reports its **usage**, the tokens sent and the ones that came back. Here are three usages, and a loop reduced to its counting. It looks
# *before* each call at what has been used. (The second call sends less than the first, as it does where old messages are cut away.)

# %% count-tokens
USAGES = [(30_000, 500), (20_000, 400), (9_000, 300)]  # the third reply is the answer

def count_tokens(usages, max_tokens):
    steps = tokens = 0
    for sent, received in usages:
        if tokens >= max_tokens:
            return "token_budget", steps, tokens
        steps += 1
        tokens += sent + received
    return "done", steps, tokens

# %% overshoot-question [markdown] checkpoint="5.2"
# ### Checkpoint 5.2
#
# `max_tokens` is 50,000. How many tokens has the run used when it ends?
#
# - a) `30500` :: The second call does not fit any more, so one would leave it out. But before that call the loop compares 30,500 with 50,000, and it does not know yet what the call will cost.
# - b) `50000` :: A limit sounds like a wall. But a call is paid for as a whole: nothing in this loop can cut one short when the tokens run out.
# - c) `50900` :: Before the second call 30,500 are used, which is below the limit, so it is made, and costs 20,400. Before the third call the limit has been reached.
# - d) `60200` :: That is all three calls. The third one would be made if the loop looked only after a call; here it looks first.

# %% overshoot-predict role="predict"
predict("5.2")

# %% overshoot-reveal role="reveal"
reason, steps, tokens = count_tokens(USAGES, max_tokens=50_000)
costs = [sum(usage) for usage in USAGES[:steps]]
show_picture(plot_spend(costs, 50_000), describe_spend(costs, 50_000))
reveal("5.2", tokens)

# %% library [markdown]
# ## Let the library take over
#
# In the library a reply carries its `Usage`, and the guard is called `token_budget`. It looks before each call, as the loop above does, and `detail` says what it saw. Compare the figures with those of the
# checkpoint.

# %% library-run
from stoplib import Usage, answer, call, cost_budget, max_steps, run, script, token_budget

model = script(call("search", query="a", usage=Usage(30_000, 500)),
               call("search", query="b", usage=Usage(20_000, 400)),
               answer("found", usage=Usage(9_000, 300)))
search = {"search": lambda query: "nothing yet"}
outcome = run(model, "Find it.", tools=search, guards=[token_budget(50_000)])
print(outcome.reason, "after", outcome.steps, "steps:", outcome.detail)

# %% hard [markdown]
# This budget asks what has been used; that is called **soft**. A **hard** one looks ahead. The next call sends again what the last one sent and received, then the new results, and it brings an answer, taken to be as long as the longest so far. If
# that would pass the budget, the call is not made. Before the *first* call there is no last one: the guard knows the task's text, and neither your system prompt nor what describes the tools.

# %% hard-run
for budget in (50_000, 25_000):
    outcome = run(model, "Find it.", tools=search, guards=[token_budget(budget, hard=True)])
    print(outcome.reason, "after", outcome.steps, "step:", outcome.detail)

# %% hard-question [markdown] checkpoint="5.3"
# ### Checkpoint 5.3
#
# Somebody raises the hard budget to 61,000. The three replies report 60,200 tokens together, so a soft budget of 61,000 lets the run come to its answer. How many steps does the run with the hard budget make?
#
# - a) `1` :: Known before the second call: 30,500 are used and will be sent again, and an answer comes on top. That is more than 61,000. That the call would send only 20,000 nobody can know before it is made.
# - b) `2` :: Twice 30,500 is 61,000, which would fit exactly. But a call does not only send what there was: the new result and the answer come on top.
# - c) `3` :: All three calls together fit, so none would pass the budget. But the guard judges a call by what can be known before it, not by what its reply will report.

# %% hard-predict role="predict"
predict("5.3")

# %% hard-reveal role="reveal"
for hard in (False, True):
    outcome = run(model, "Find it.", tools=search, guards=[token_budget(61_000, hard=hard)])
    print("hard:" if hard else "soft:", outcome.reason, outcome.usage.total, outcome.detail)
reveal("5.3", outcome.steps)

# %% reserve [markdown]
# Each kind errs in its own way. One call can take a run past a soft budget. A hard one can refuse a call that would have fitted: if old messages are cut away, less is sent than the last call lets one expect.
#
# ## Keep something back
#
# With `summarize=True` a run that a guard has ended may make one more call, in which the model says what it found; it is asked by a last message with the role `user`. (Chapter 08 is about that.) After a used-up budget nothing is left for
# this call, and a fixed text takes its place. So a budget can keep back a **reserve**. Here each call uses 5,500 tokens.

# %% reserve-run
def looks_on(messages):
    if len(messages) > 1 and messages[-1]["role"] == "user":  # the run has ended, and a summary is asked for
        return answer("I found two of three.", usage=Usage(5_000, 500))
    return call("search", query="more", usage=Usage(5_000, 500))

for guard in (token_budget(50_000), token_budget(50_000, reserve=6_000)):
    outcome = run(looks_on, "Find three.", tools=search, guards=[guard], summarize=True)
    print(f"{guard}: {outcome.steps} calls, {outcome.usage.total} tokens")
    print("   ", outcome.summary)

# %% cached [markdown]
# The first run is 5,000 over: at 49,500 one more call was allowed, and after it nothing was left for a summary. The second stopped at 44,000, so its ninth call, the summary, fitted in.
#
# ## Count cached tokens once
#
# What was sent before can be **cached** by the API: it still counts, at a lower price. Some APIs report the cached tokens *inside* the input, others *beside* it. Add up the whole of the first report, or leave a field of the second out, and you
# count wrong. `Usage` keeps them apart: its `input` holds no cached tokens.

# %% cached-run
inside = {"prompt_tokens": 100, "cached_tokens": 80, "completion_tokens": 10}
beside = {"input_tokens": 20, "cache_read_input_tokens": 80, "output_tokens": 10}
print("wrong:", sum(inside.values()), "and", beside["input_tokens"] + beside["output_tokens"])
first = Usage(inside["prompt_tokens"] - inside["cached_tokens"], 10, cache_read=80)
second = Usage(beside["input_tokens"], beside["output_tokens"], cache_read=80)
print("right:", first.total, "and", second.total)

# %% money [markdown]
# ## Count money, if you know the price
#
# Prices change, so you pass them in, as money per million tokens; those below are invented. And if there is none? A cost that is counted as 0 never reaches a budget. So the run is refused before its first call:
# **unknown is not zero**. The message shows how to give a price for each model by its name; where there is only one model, the inner dictionary is enough.

# %% money-run
guards = [cost_budget(0.10), max_steps(10)]
try:
    run(model, "Find it.", tools=search, guards=guards)
except ValueError as error:
    print("ValueError:", error)
outcome = run(model, "Find it.", tools=search, guards=guards, prices={"input": 3, "output": 15})
print(outcome.reason, "after", outcome.steps, "steps:", outcome.detail)

# %% pitfall [markdown]
# > **Pitfall: usage that is believed.** Somebody's code takes 60,000 cached tokens off an input of 20,000 that never held them, and reports -40,000. A division gives `nan`. Both go round a budget: the sum falls, or compares as false with everything. By hand a
# > thousand calls are made. The library ends the run at the first such report.

# %% strange-usage
for strange in (-40_000, float("nan")):
    print("by hand:", count_tokens([(strange, 500)] * 1000, max_tokens=50_000))
    outcome = run(script(call("search", usage=Usage(strange, 500))), "Find it.", guards=[token_budget(50_000)])
    print("library:", outcome.reason, "after", outcome.steps, "step:", outcome.detail)

# %% lab-intro [markdown]
# ## Lab: spend against a budget
#
# Run the cell and change how many tokens a round adds: by how much does the last call pass the budget? Then let the budget look ahead.

# %% lab
from stoplib.course.lab import lab_spend
lab_spend()

# %% day [markdown]
# ## Cap a day, from outside the run
#
# Each run counts only itself, so a cap on what all runs of a day spend has to live outside them. There a new trap waits: runs that look at the same moment all see the same sum. So each **reserves** what a call may cost before it is made,
# and **settles** what it did cost afterwards. Here 9 of 10 are spent, and five runs want a call for 1. Two more calls follow later: one that fails, and one that costs twice what was reserved for it.

# %% day-run
cap, day = 10, {"spent": 9, "reserved": 0}

def reserve(amount):
    fits = day["spent"] + day["reserved"] + amount <= cap
    day["reserved"] += amount if fits else 0
    return fits

def settle(reserved, cost):
    day["reserved"] -= reserved
    day["spent"] += cost

print("they look:   ", [day["spent"] + 1 <= cap for _ in range(5)])
print("they reserve:", [reserve(1) for _ in range(5)])
settle(1, cost=0.75)
print("settled:     ", day)
for cost in (0, 0.5):
    reserve(0.25)
    settle(0.25, cost)
    print(f"{f'one for {cost}:':13}", day)

# %% recap [markdown]
# A call that fails settles with a cost of 0, which gives its reserve back. One that cost more than its reserve settles with what it cost, so the cap can be passed by the difference, as in the last line. Looking and reserving must be *one* step
# for everybody, so with several processes the sums stand in a database. The library has that as a ledger, with a guard called `daily_cap`. They need a database package, and this course does not run them.
#
# ## Exercise
#
# [Exercise 04: a hard budget](../exercises/04_a_hard_budget.ipynb). About {minutes of exercise 04} minutes. You write the guard that refuses the call that would pass the budget, cached tokens and the first call included.
#
# ## Recap
#
# You can now
#
# - say why a run's cost grows with the square of its steps
# - tell a soft budget from a hard one, and say what each of them gets wrong
# - turn an API's report into usage that counts each token once
# - refuse a price that is not known, and usage that cannot be true
# - reserve before a call and settle after it
#
# ## In practice
#
# - [Anthropic](https://platform.claude.com/docs/en/build-with-claude/prompt-caching) reports cached tokens beside the input, [OpenAI](https://platform.openai.com/docs/guides/prompt-caching) inside it. A cache makes the tokens that are sent again cheaper by a
#   factor; the cost still grows with the square.
# - A soft budget can be passed by one call, so by as much as your largest call. If that is too much, lower the budget, or take a hard one and set the API's own limit on the length of an answer.
# - One published tool was given a cap of 5 dollars and [spent 5.135](https://github.com/garrytan/gbrain/issues/4365): four calls at once had looked at the same sum.
# - Other names for the same exits: `budget_spent`, `token_budget`, `budget exhausted`.
#
# ---
#
# Previous: [04 Running in circles: is it stuck, or is it working?](04_running_in_circles.ipynb) · Next: [06 A person in the loop: who may say no, and what then?](06_a_person_in_the_loop.ipynb)
