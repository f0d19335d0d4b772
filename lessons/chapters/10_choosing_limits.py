# %% title [markdown]
# # Choosing limits: what number?
#
# **What you will do.** Choose the numbers of a guard set from 240 recorded runs, and find out on other tasks what they are worth.
#
# **What you will learn**
#
# - measure what a limit stops, what it loses and what it saves, by replay
# - try a number on tasks that it was not chosen on
# - add headroom, and say how many successes a number was learned from
# - write down limits for an agent at your own work, and how you would notice that they are wrong
#
# **What you need.** [Chapter 04](04_running_in_circles.ipynb) and [chapter 05](05_what_a_run_costs.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% population [markdown]
# ## Look at runs before you choose
#
# So far every number in this course was picked to make a point. For your own agent you need a reason for it, and the reason is in its runs: record them, and find out for each whether the task was really done.
#
# Here are 240 such runs, four of each of 60 tasks. Scripted agents made them: workers, searchers, pollers, and now and then a **runaway**, which goes on until the harness ends it at 100 steps.

# %% runs
import math
from stoplib import going_in_circles, max_steps, repeated_call, replay, token_budget, too_many_errors
from stoplib.course.checkpoint import predict, reveal
from stoplib.course.population import recorded_runs, split

runs = recorded_runs(seed=23)
for one in runs[48:52]:
    print(one.task, "| success:", one.success, "|", one.outcome)

# %% labels [markdown]
# `success` is a **label**: a check of the result, made after the run. It is not the reason. A run that ended with `answered` can have failed.
#
# The population is made up, and each number that a cell prints holds for it alone. Its shape follows real runs that others have published; *In practice* names them.

# %% lengths
def percentile(values, share):
    return sorted(values)[math.ceil(share * len(values)) - 1]

for label, wanted in (("succeeded", True), ("failed", False)):
    lengths = [one.outcome.steps for one in runs if one.success is wanted]
    shown = [percentile(lengths, share) for share in (0.5, 0.9, 0.95, 1)]
    print(f"{label:9} {len(lengths):4} runs | steps: median {shown[0]}, p90 {shown[1]}, p95 {shown[2]}, longest {shown[3]}")

# %% overlap [markdown]
# The **95th percentile** (p95) is the number that 95 % of the values do not exceed. The two rows overlap: up to the p90, failures take only a little longer than successes. The difference is at the far end.
#
# ## Ask what a limit would have done
#
# `replay` holds guards against a recorded run. Here is the longest one, with and without a limit of 20.

# %% one-replay
longest = max((one.outcome for one in runs), key=lambda outcome: outcome.steps)
print(longest)
print(replay(longest, [max_steps(20)]))

# %% four-numbers [markdown]
# A limit does good where it cuts a run that fails, and harm where it cuts one that would have succeeded. So measure both, and what the first saves:
#
# - **stopped**: failed runs that it cuts, in % of the failed runs
# - **lost**: successful runs that it cuts, in % of the successful runs
# - **saved**: steps and tokens of failed runs after the cut, in % of all

# %% measure
def measure(runs, guards):
    pairs = [(one.success, one.outcome, replay(one.outcome, [*guards, max_steps(1000)])) for one in runs]
    cut = [pair for pair in pairs if pair[2].steps < pair[1].steps]
    lost = sum(success for success, _, _ in cut)
    good = sum(one.success for one in runs)
    steps = sum(was.steps - ended.steps for success, was, ended in cut if not success)
    tokens = sum(was.usage.total - ended.usage.total for success, was, ended in cut if not success)
    of_all = [sum(one.outcome.steps for one in runs), sum(one.outcome.usage.total for one in runs)]
    parts = [(len(cut) - lost, len(runs) - good), (lost, good), (steps, of_all[0]), (tokens, of_all[1])]
    return [100 * part / whole for part, whole in parts]

# %% bounding [markdown]
# `max_steps(1000)` is there because guards have to bound a run also in a replay. No recording is that long, so it changes nothing.
#
# ## Walk along the limits
#
# One number is an opinion. A row of numbers shows what you pay for what.

# %% table
def table(runs, guard_sets):
    print(f"{'':34} stopped  lost   saved: steps  tokens")
    for guards in guard_sets:
        stopped, lost, steps, tokens = measure(runs, guards)
        name = " + ".join(map(repr, guards))
        print(f"{name:34} {stopped:6.1f}% {lost:5.1f}% {steps:12.1f}% {tokens:6.1f}%")

limits = (5, 8, 10, 12, 15, 20, 25, 30, 40, 60)
table(runs, [[max_steps(n)] for n in limits])

# %% fuse [markdown]
# Read it from below. A high limit stops few runs, loses none and saves much: it meets the runaways. On the way up more failures are stopped, and more successes go with them. A step limit is a **fuse**: it does not tell good runs from bad ones.

# %% chart
from matplotlib.figure import Figure
from stoplib.course.show import show_picture

figure = Figure(figsize=(7, 3), layout="constrained")
axes = figure.add_subplot(xlabel="max_steps", ylabel="% of its kind", ylim=(0, 100))
results = [measure(runs, [max_steps(n)]) for n in limits]
axes.plot(limits, [stopped for stopped, *_ in results], "o-", label="failures stopped")
axes.plot(limits, [lost for _, lost, *_ in results], "X--", label="successes lost")
axes.legend()
words = ", ".join(f"{n}: {stopped:.0f}/{lost:.0f}" for n, (stopped, lost, *_) in zip(limits, results, strict=True))
show_picture(figure, f"Failures stopped / successes lost, in %, over the limit. {words}.")

# %% twice-question [markdown] checkpoint="10.1"
# ## Forbid what looks foolish
#
# Perhaps a rule about behaviour tells good from bad. "Never make the same call twice" is often proposed: `repeated_call(2)`.
#
# ### Checkpoint 10.1
#
# Of all the runs that this rule cuts, what share had succeeded?
#
# - a) `under a tenth` :: A run that asks the same again looks lost, and the runaways do just that. But they are four of 240 runs, and much sound work has a call that is made again.
# - b) `about a quarter` :: Some good runs test twice, so a part of the harm is foreseen. It is more: running the same tests after an edit and asking for the state of a job are what careful agents do.
# - c) `over a half` :: Successful runs repeat calls about as often as failed ones: the tests after each edit, the state of a job. There are more successes than failures, so more of them are hit.

# %% twice-predict role="predict"
predict("10.1")

# %% twice-reveal role="reveal"
cut = [one for one in runs if replay(one.outcome, [repeated_call(2), max_steps(1000)]).steps < one.outcome.steps]
share = sum(one.success for one in cut) / len(cut)
print(f"{len(cut)} runs cut, {100 * share:.0f} % of them had succeeded")
reveal("10.1", "under a tenth" if share < 0.1 else "about a quarter" if 0.2 < share < 0.3 else "over a half" if share > 0.5 else "?")

# %% compare [markdown]
# In all runs 59 % succeed. A rule tells you something only as far as the runs that it cuts differ from that.
#
# Now compare rules about repetition and errors. `repeated_call` counts anywhere in a run. `going_in_circles(6)` counts only rounds that follow each other and bring the same results.

# %% repeats
print(f"{100 * sum(one.success for one in runs) / len(runs):.0f} % of all runs succeeded")
table(runs, [[repeated_call(n)] for n in (2, 3, 5, 8)] + [[going_in_circles(6)], [too_many_errors(3)]])

# %% drift [markdown]
# A higher count does less harm and still saves much. Errors in a row lose nothing, but they save little, since these runs end soon after. And `max_steps(60)` stopped 4.1 % of the failures, four runaways, where the rule about circles
# stops three: one runaway drifts from page to page and never repeats itself. Only a budget ends it.
#
# ## Choose on some tasks, try on others
#
# A number fits the runs that it was chosen on. To learn what it does to the next ones, hold some back: choose on half of the tasks, try on the other half. `split` draws whole tasks, not single runs, because runs of one task are alike.

# %% split
def steps_of_successes(runs):
    return [one.outcome.steps for one in runs if one.success]

known, held_out = split(runs, seed=0)
print(len(known), "runs to choose on,", len(held_out), "held out")

# %% p95-question [markdown] checkpoint="10.2"
# ### Checkpoint 10.2
#
# On one half of the tasks take the p95 of the successes as the step limit, so that at most 5 % of them are lost. Then try it on the other half. Do this for 20 splits. How many of the held-out successes are lost?
#
# - a) `at most 5 % in every split` :: That is what the percentile promises, and it keeps the promise for the runs it was computed from. The others never took part.
# - b) `more than 5 % in some splits` :: The limit is an estimate. Where the long tasks happen to lie in the other half, it is too low for them; where they lie in the first half, it is higher than needed.
# - c) `more than 5 % in every split` :: A fitted number tends to look better than it is, but here it errs in both directions: some halves hold more of the long tasks than others.

# %% p95-predict role="predict"
predict("10.2")

# %% p95-reveal role="reveal"
losses = []
for seed in range(20):
    known, held_out = split(runs, seed)
    limit = percentile(steps_of_successes(known), 0.95)
    losses.append(measure(held_out, [max_steps(limit)])[1])
over = sum(loss > 5 for loss in losses)
print(f"lost on held-out tasks: from {min(losses):.1f} % to {max(losses):.1f} %, over 5 % in {over} of 20 splits")
reveal("10.2", f"{'at most' if over == 0 else 'more than'} 5 % in {'every split' if over in (0, 20) else 'some splits'}")

# %% lab-intro [markdown]
# ## Lab: a slider over all runs
#
# Move the step limit and watch what is stopped, lost and saved over the 240 runs. Which second guard saves most without losing a success?

# %% lab
from stoplib.course.lab import lab_recorded
lab_recorded(runs)

# %% headroom [markdown]
# ## Leave headroom
#
# You cannot know the longest success that is still to come. So take the longest that you have seen and multiply it: that is **headroom**. Each line is a mean over 10 splits, measured on the held-out halves.

# %% headroom-run
def over_splits(share, factor):
    lost = saved = 0
    for seed in range(10):
        known, held_out = split(runs, seed, share)
        limit = math.ceil(factor * max(steps_of_successes(known)))
        result = measure(held_out, [max_steps(limit)])
        lost, saved = lost + result[1] / 10, saved + result[3] / 10
    return lost, saved

print("factor  lost  saved tokens")
for factor in (1, 1.5, 2.5):
    lost, saved = over_splits(0.5, factor)
    print(f"{factor:6} {lost:4.1f}% {saved:12.1f}%")

# %% few [markdown]
# On the runs it was chosen from, factor 1 loses nothing at all. On new tasks it does. Headroom costs a part of the saving, because each runaway goes on for longer.
#
# ## Say how many successes it was learned from
#
# The largest of few is small. Here the same rule, without headroom, learns from fewer tasks.

# %% few-run
for share in (0.5, 0.2, 0.05):
    known = sum(len(steps_of_successes(split(runs, seed, share)[0])) for seed in range(10)) / 10
    print(f"learned from {known:3.0f} successes on average: {over_splits(share, 1)[0]:4.1f}% lost")

# %% three-over-n [markdown]
# Even "none was lost" has a size. If a limit lost none of *n* independent successes, up to about 3 / *n* of the next ones may still be lost, with 95 % confidence: none of 60 allows 5 %. Four runs of one task are not independent, so count tasks if in doubt.
#
# > **Pitfall: fit on all runs.** The longest of *all* runs is a runaway that your harness ended. A limit above it, or a percentile of failures, bounds nothing that matters. Learn what work needs from the runs that did it.
#
# ## Put the set together
#
# Repetition where it does no harm, and budgets with headroom for what does not repeat. Tokens get a budget of their own: each call sends everything again, so the last steps of a long run are the dearest.

# %% chosen
known, held_out = split(runs, 0)
good = [one.outcome for one in known if one.success]
chosen = [
    going_in_circles(6),
    too_many_errors(3),
    max_steps(math.ceil(1.5 * max(outcome.steps for outcome in good))),
    token_budget(math.ceil(1.5 * max(outcome.usage.total for outcome in good))),
]
print(*chosen, f"learned from {len(good)} successes", sep="\n")

# %% failures-question [markdown] checkpoint="10.3"
# ### Checkpoint 10.3
#
# Try `chosen` on the held-out tasks. What share of the failed runs does it stop?
#
# - a) `under a fifth` :: Most failed runs look like work from beginning to end: they take about as long as good ones, repeat nothing, and end with an answer that is wrong. No guard of this set has anything to see there.
# - b) `about a half` :: Four guards for four kinds of trouble seem to cover much of what goes wrong. They cover what goes on for too long, and most failures end by themselves.
# - c) `over four fifths` :: The set was chosen with care, and it may well save much. But to save and to detect are different things: a few runs make up a large part of the spend.

# %% failures-predict role="predict"
predict("10.3")

# %% failures-reveal role="reveal"
stopped, lost, steps, tokens = measure(held_out, chosen)
print(f"stopped {stopped:.1f} %, lost {lost:.1f} %, saved {steps:.1f} % of the steps and {tokens:.1f} % of the tokens")
reveal("10.3", "under a fifth" if stopped < 20 else "about a half" if 40 < stopped < 60 else "over four fifths" if stopped > 80 else "?")

# %% money [markdown]
# Compare the shares that the cell prints: failures, steps, tokens. What a guard set saves is one question. Whether the task was done is another, and it needs a check of the result, as in [chapter 08](08_ending_well.ipynb).
#
# ## With pen and paper
#
# Take an agent at your own work, or one that you would like to have there. Write down, and give a reason for each number:
#
# 1. steps in one run: the longest success that you know of, times your headroom
# 2. seconds in one run: who waits for it, and for how long?
# 3. calls of each tool that acts on the world or costs money
# 4. money per run, and per day for all runs together
# 5. which tools poll or are called again in sound work, and what they declare
# 6. how many successes, of how many tasks, each number was learned from
# 7. how you would know that they are right: which count would you look at each week, who looks at the runs that were stopped, and what would make you change a number?
#
# Show it to someone who pays for the agent and to someone who uses it. They will ask about different lines.

# %% recap [markdown]
# ## Exercise
#
# [Exercise 09: defend a limit](../exercises/09_a_defended_limit.ipynb). About {minutes of exercise 09} minutes. You write the function that chooses a guard set from recorded runs, and it is tried on three agents of very different size.
#
# ## Recap
#
# You can now
#
# - replay guards over recorded runs, and count failures stopped, successes lost, steps and tokens saved
# - hold out tasks, and expect a fitted number to lose more on them
# - choose a headroom and say what it costs
# - explain why a guard set saves money and still does not tell you whether a run succeeded
#
# ## In practice
#
# - The shape of the population follows counts of published runs of agents with tools: 1,164 labelled runs, 673 of them successful, from [tau-bench](https://github.com/sierra-research/tau-bench), [tau2-bench](https://github.com/sierra-research/tau2-bench),
#   [AgentRx](https://github.com/microsoft/AgentRx), [mini-swe-agent on terminal-bench](https://github.com/laude-institute/terminal-bench-leaderboard) and a sample log of [Docent](https://github.com/TransluceAI/docent), among them runs that others put into pull requests to tau2-bench. All figures below were counted
#   for this course. They are from benchmarks, not from production.
# - No detector: of 491 failed runs, 72 % show no repeated call, no three errors in a row and no three equal results; 18 % of the successes do show one of these.
# - Runaways are rare and dear: in tau2-bench 1.4 % of the runs made 14 % of all calls, by one and the same call until the harness ended them.
# - "Never the same call twice" would have cut 16 % of the successes, 28 % in tau2-bench and 41 % in mini-swe-agent. Five times in a row: 0.3 %, and it saves 7 % of the calls.
# - No number fits all: the p95 of the successes was between 11 and 39 calls, by source.
# - Headroom: on held-out tasks of tau2-bench a token budget at the largest success lost 8 % of the successes (learned from 5 to 17); at 1.5 times as much it lost 0.9 % and saved 12 % of the tokens. In [MCPMark](https://github.com/eval-sys/mcpmark-experiments),
#   with about 60 successes for each model: 2.1 % lost, and with headroom 0.8 % lost, 11 % saved.
# - A replay cannot know what a run would have done after a nudge, and a success that was cut may have been done already. So *lost* is an upper bound.
# - A new model, a new tool or a new prompt makes a new population. Choose again.
#
# ---
#
# Previous: [09 Test every exit](09_test_every_exit.ipynb) · Next: [11 The full guard set](11_the_full_guard_set.ipynb)
