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
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from stoplib import going_in_circles, load, max_steps, repeated_call, replay, token_budget, too_many_errors
from stoplib.course.checkpoint import predict, reveal
from stoplib.course.population import recorded_runs, split

runs = recorded_runs(seed=23)
for one in runs[48:52]:
    print(one.task, "| success:", one.success, "|", one.outcome)

# %% labels [markdown]
# `success` is a **label**: a check of the result, made after the run. It is not the reason. A run that ended with `answered` can have failed.
#
# At work the labels are most of the effort. Best is a check that a program can make: the tests pass, the booking is in the database. It can be the one that you would give to `goal_reached`. Where a person has to read, let two people label the same
# twenty runs first, and see whether they agree.
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
# A run has to be kept before anybody can ask it anything: `outcome.save` writes it to a file, and `load` reads it ([how to keep runs](../docs/recordings-and-replay.md)). `replay` then holds guards against it. The second cell has the longest run,
# with and without a limit of 20.

# %% save
with TemporaryDirectory() as folder:
    runs[0].outcome.save(Path(folder, "run.jsonl"))
    print(load(Path(folder, "run.jsonl")) == runs[0].outcome)

# %% one-replay
longest = max((one.outcome for one in runs), key=lambda outcome: outcome.steps)
print(longest)
print(replay(longest, [max_steps(20)]))

# %% four-numbers [markdown]
# A limit does good where it cuts a run that fails, and harm where it cuts one that would have succeeded. `cut_by` finds the runs that it cuts, and `measure` says four things of them:
#
# - **stopped**: failed runs that it cuts, in % of the failed runs
# - **lost**: successful runs that it cuts, in % of the successful runs
# - **saved**, twice: steps and tokens of failed runs after the cut, in % of all
#
# ## Walk along the limits
#
# One number is an opinion. A row of numbers shows what you pay for what.

# %% cut
def cut_by(guards, runs):
    replays = [(one, replay(one.outcome, guards)) for one in runs]
    return [(one, ended) for one, ended in replays if ended.steps < one.outcome.steps]
print("max_steps(10) cuts", len(cut_by([max_steps(10)], runs)), "of", len(runs), "runs")

# %% measure
def measure(runs, guards):
    cut = cut_by(guards, runs)
    failed = [(one.outcome, ended) for one, ended in cut if not one.success]
    good, all_steps = sum(one.success for one in runs), sum(one.outcome.steps for one in runs)
    return {
        "stopped": 100 * len(failed) / (len(runs) - good),
        "lost": 100 * (len(cut) - len(failed)) / good,
        "steps": 100 * sum(was.steps - ended.steps for was, ended in failed) / all_steps,
        "tokens": 100 * sum(was.usage.total - ended.usage.total for was, ended in failed) / sum(one.outcome.usage.total for one in runs),
    }

# %% table
def table(runs, guard_sets):
    print(f"{'':34} stopped   lost   saved: steps  tokens")
    for guards in guard_sets:
        it, name = measure(runs, guards), " + ".join(map(repr, guards))
        print(f"{name:34} {it['stopped']:6.1f}% {it['lost']:5.1f}% {it['steps']:13.1f}% {it['tokens']:6.1f}%")

limits = (5, 8, 10, 12, 15, 20, 25, 30, 40, 60)
table(runs, [[max_steps(n)] for n in limits])

# %% fuse [markdown]
# Read it from below. A high limit stops few runs, loses none and saves much: it meets the runaways. On the way up more failures are stopped, and more successes go with them. A step limit is a **fuse**: it does not tell good runs from bad ones.

# %% chart
from matplotlib.figure import Figure
from stoplib.course.show import show_picture

figure = Figure(figsize=(7, 3), layout="constrained")
axes = figure.add_subplot(xlabel="max_steps", ylabel="%", ylim=(0, 100))
results = [measure(runs, [max_steps(n)]) for n in limits]
for key, style, label in (("stopped", "o-", "failures stopped"), ("lost", "X--", "successes lost"), ("tokens", "s:", "tokens saved")):
    axes.plot(limits, [it[key] for it in results], style, label=label)
axes.legend()
words = ", ".join(f"{n}: {it['stopped']:.0f}/{it['lost']:.0f}/{it['tokens']:.0f}" for n, it in zip(limits, results, strict=True))
show_picture(figure, f"Failures stopped / successes lost / tokens saved, in %, over the limit. {words}.")

# %% twice-question [markdown] checkpoint="10.1"
# ## Forbid what looks foolish
#
# Perhaps a rule about behaviour tells good from bad. "Never make the same call twice" is often proposed: `repeated_call(2)`. Of the 240 runs, 142 succeeded: that is 59 %.
#
# ### Checkpoint 10.1
#
# And of those runs alone that this rule cuts: what share succeeded?
#
# - a) `under 30 %` :: A run that asks the same again looks lost, and the runaways do just that. But they are four of 240 runs, and much sound work has a call that is made again.
# - b) `30 to 50 %` :: Some good runs test twice, so a part of the harm is foreseen, and still the rule should meet failures more often than successes. It hardly does: a test after an edit and a question for the state of a job are what good runs
#   are made of, too.
# - c) `50 to 70 %` :: Successful runs repeat calls about as often as failed ones: the tests after each edit, the state of a job. So among the runs that are cut there are nearly as many successes as among all. The rule tells you next to nothing.
# - d) `over 70 %` :: Whoever tests more often works with more care, and might succeed more often. But failed runs are a little longer, and the longer a run, the likelier it is that a call comes back.

# %% twice-predict role="predict"
predict("10.1")

# %% twice-reveal role="reveal"
cut = cut_by([repeated_call(2)], runs)
share = 100 * sum(one.success for one, _ in cut) / len(cut)
print(f"{len(cut)} runs cut, {share:.0f} % of them had succeeded")
reveal("10.1", "under 30 %" if share < 30 else "30 to 50 %" if share < 50 else "50 to 70 %" if share <= 70 else "over 70 %")

# %% compare [markdown]
# A rule tells you something only as far as the runs that it cuts differ from all runs.
#
# Now compare rules about repetition and errors. `repeated_call` counts anywhere in a run. `going_in_circles(6)` counts only rounds that follow each other and bring the same results. `too_many_errors()` stands for three in a row.

# %% repeats
table(runs, [[repeated_call(n)] for n in (2, 3, 5, 8)] + [[going_in_circles(6)], [too_many_errors()]])

# %% p95-question [markdown] checkpoint="10.2"
# A higher count does less harm and still saves much. Errors in a row lose nothing, but they save little, since these runs end soon after. And `max_steps(60)` stopped 4.1 % of the failures, four runaways, where the rule about circles
# stops three: one runaway drifts from page to page and never repeats itself. Only a budget ends it.
#
# ## Choose on some tasks, try on others
#
# A number fits the runs that it was chosen on. To learn what it does to the next ones, hold some back: choose on half of the tasks, try on the other half. `split(runs, seed)` draws whole tasks, not single runs, because runs of one task are alike.
#
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
def steps_of_successes(runs):
    return [one.outcome.steps for one in runs if one.success]

losses = []
for known, held_out in (split(runs, seed) for seed in range(20)):
    limit = percentile(steps_of_successes(known), 0.95)
    losses.append(measure(held_out, [max_steps(limit)])["lost"])
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
# You cannot know the longest success that is still to come. So take the longest that you have seen and multiply it: that is **headroom**. Each line is about 10 splits, measured on the held-out halves: the mean of what is lost, the worst split, and the mean of
# what is saved.

# %% headroom-run
def over_splits(share, factor):
    lost, saved = [], []
    for known, held_out in (split(runs, seed, share) for seed in range(10)):
        it = measure(held_out, [max_steps(math.ceil(factor * max(steps_of_successes(known))))])
        lost, saved = [*lost, it["lost"]], [*saved, it["tokens"]]
    return sum(lost) / 10, max(lost), sum(saved) / 10

print("factor  lost: mean  worst  saved tokens")
for factor in (1, 1.2, 1.5, 2):
    mean, worst, saved = over_splits(0.5, factor)
    print(f"{factor:6} {mean:10.1f}% {worst:5.1f}% {saved:12.1f}%")

# %% few [markdown]
# On the runs it was chosen from, factor 1 loses nothing at all. On new tasks it does, and so does 1.2: little in the mean, 4 % in the worst split. Headroom costs a part of the saving, because each runaway goes on for longer. So 1.5 is the least of these four that lost
# nothing anywhere, and 2 would pay for more than these splits show a need of.
#
# ## Say how many successes it was learned from
#
# The largest of few is small: the first lines below are for the same rule, without headroom, learned from fewer tasks. And even "none was lost" has a size. Suppose that a limit loses 5 % of all successes in the long run. The last line says how often it would spare 60
# of them in a row, if they are independent.

# %% few-run
for share in (0.5, 0.2, 0.05):
    known = sum(len(steps_of_successes(split(runs, seed, share)[0])) for seed in range(10)) / 10
    print(f"learned from {known:3.0f} successes on average: {over_splits(share, 1)[0]:4.1f}% lost")
print(f"none of 60 lost, at 5 % each: {100 * 0.95 ** 60:.1f} % of the time")

# %% three-over-n [markdown]
# Sixty in a row are spared by luck in less than one case of twenty. So whoever has seen none of 60 lost may say "at most 5 %" and will seldom be wrong. In general: **none of *n* lost allows up to about 3 / *n***, with 95 % confidence. Four runs of one
# task are alike, so they are not independent. If in doubt count tasks.
#
# > **Pitfall: fit on all runs.** The longest of *all* runs is a runaway that your harness ended. A limit above it, or a percentile of failures, bounds nothing that matters. Learn what work needs from the runs that did it.
#
# ## Put the set together
#
# Repetition where it does no harm, and budgets with headroom for what does not repeat. Tokens get a budget of their own: each call sends everything again, so the last steps of a long run are the dearest. The factor was chosen on the splits; now all runs
# may say what they know.

# %% chosen
good = [one.outcome for one in runs if one.success]
chosen = [
    going_in_circles(6),
    too_many_errors(),  # three in a row
    max_steps(math.ceil(1.5 * max(outcome.steps for outcome in good))),
    token_budget(math.ceil(1.5 * max(outcome.usage.total for outcome in good))),
]
print(*chosen, f"learned from {len(good)} successes, on {len({outcome.task for outcome in good})} tasks", sep="\n")

# %% failures-question [markdown] checkpoint="10.3"
# ### Checkpoint 10.3
#
# Now come 240 runs of 60 other tasks, on which nothing was chosen: neither a limit nor the factor. What share of the failed ones does `chosen` stop?
#
# - a) `under a quarter` :: Most failed runs look like work from beginning to end: they take about as long as good ones, repeat nothing, and end with an answer that is wrong. No guard of this set has anything to see there.
# - b) `a quarter to a half` :: Four guards for four kinds of trouble seem to cover a good part of what goes wrong. They cover what goes on for too long, and most failures end by themselves.
# - c) `over a half` :: The set was chosen with care, and it may well save much. But to save and to detect are different things: a few runs make up a large part of the spend.

# %% failures-predict role="predict"
predict("10.3")

# %% failures-reveal role="reveal"
new = recorded_runs(seed=26)
it, good = measure(new, chosen), [one for one in new if one.success]
print(f"{len(good)} successes, on {len({one.task for one in good})} tasks")
print(f"stopped {it['stopped']:.1f} %, lost {it['lost']:.1f} %, saved {it['steps']:.1f} % of the steps and {it['tokens']:.1f} % of the tokens")
reveal("10.3", "under a quarter" if it["stopped"] < 25 else "a quarter to a half" if it["stopped"] <= 50 else "over a half")

# %% watch [markdown]
# Compare the shares that the cell prints: failures, steps, tokens. What a guard set saves is one question. Whether the task was done is another, and it needs a check of the result, as in [chapter 08](08_ending_well.ipynb).
#
# ## Watch the numbers
#
# None of the 145 successes, on 56 tasks, was lost. By the rule above that allows 2 %, or 5 % if tasks are counted; and it holds for tasks like these. So count every week for which reason runs were stopped. Below are three more weeks, and one in which the tasks have
# become twice as long. At work nobody knows the number after the bar without reading the stopped runs.

# %% watch-run
weeks = {"week 1": recorded_runs(27), "week 2": recorded_runs(28), "week 3": recorded_runs(29), "longer tasks": recorded_runs(30, scale=2)}
for name, week in weeks.items():
    reasons = sorted(Counter(ended.reason for _, ended in cut_by(chosen, week)).items())
    print(f"{name:13}", *(f"{reason} {count:2}" for reason, count in reasons), "| good ones:", sum(one.success for one, _ in cut_by(chosen, week)))

# %% recap [markdown]
# Now and then a good run is stopped, as the 3 / *n* allows. In the last week the count of one reason has moved, and with it the good runs. That count is your alarm: fix beforehand how far it may move, and who is told. That person reads ten of the stopped runs.
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
# 6. how many successes, of how many tasks, each number was learned from, and who labelled them
# 7. how you would know that they are right: which count would you look at each week, who looks at the runs that were stopped, and what would make you change a number?
#
# **On the first day there are no recordings.** Lines 2 to 5 need none: they ask what you will bear. For line 1 do a task or two by hand, and allow ten times as many steps; it is a fuse. Keep every run, and choose again when there are twenty good ones.
# [Which guard do I want?](../docs/which-guard.md) has a set to start from.
#
# Show the page to someone who pays for the agent and to someone who uses it. They will ask about different lines.
#
# ## Exercise
#
# [Exercise 09: defend a limit](../exercises/09_a_defended_limit.ipynb). About {minutes of exercise 09} minutes. You write the function that chooses a guard set from recorded runs, with a claim about what it will lose, and it is tried on three agents of very different size.
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
#   for this course from the files at these addresses, with guards checked after each call, and failures and successes taken as labelled there; the scripts of that count are not in this repository. They are from benchmarks, not from production.
# - No detector: of 491 failed runs, 72 % show no repeated call, no three errors in a row and no three equal results; 18 % of the successes do show one of these.
# - Runaways are rare and dear: in tau2-bench 1.4 % of the runs made 14 % of all calls, by one and the same call until the harness ended them.
# - "Never the same call twice" would have cut 16 % of the successes, 28 % in tau2-bench and 41 % in mini-swe-agent. Five times in a row: 0.3 %, and it saves 7 % of the calls.
# - No number fits all: the p95 of the successes was between 11 and 39 calls, by source.
# - Headroom: on held-out tasks of tau2-bench a token budget at the largest success lost 8 % of the successes (learned from 5 to 17); at 1.5 times as much it lost 0.9 % and saved 12 % of the tokens. In [MCPMark](https://github.com/eval-sys/mcpmark-experiments),
#   with about 60 successes for each model: 2.1 % lost, and with headroom 0.8 % lost, 11 % saved.
# - A replay cannot know what a run would have done after a nudge, and a success that was cut may have been done already. So *lost* is an upper bound.
# - A new model, a new tool or a new prompt makes a new population. Choose again.
# - For your own agent the library does this in one command: `python -m stoplib limits PATH` reads its logs (OpenAI or Anthropic messages, Inspect, OpenTelemetry, Claude Code and others), holds every guard with every number against them, tries the numbers
#   on other tasks, and proposes a guard set. [What limits do my own runs speak for?](../docs/your-own-runs.md) shows how, and what such numbers cannot say.
#
# ---
#
# Previous: [09 Test every exit](09_test_every_exit.ipynb) · Next: [11 The full guard set](11_the_full_guard_set.ipynb)
