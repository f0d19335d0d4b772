# %% title [markdown]
# # {kind} 09: defend a limit
#
# **What you will do.** Write `choose`, which takes recorded runs of an agent and returns a guard set for it, with a claim about what it will lose. It is tried on three agents of very different size, each time on tasks that `choose` has not seen.
#
# **What you need.** [Chapter 10](../notebooks/10_choosing_limits.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% task [markdown]
# ## What it must do
#
# `choose(runs)` returns two things, `guards` and `claim`. `guards` is a list of guards of the library. `runs` is a list; each element has
#
# - `outcome`: the recorded run, with `steps`, `usage.total` (tokens), `seconds`, `reason` and all the rest
# - `success`: whether the task was really done
# - `task`: what it was asked to do; several runs share a task
#
# A run that was still going when the harness ended it has the reason `max_steps`. Some of these **runaways** repeat themselves and some do not.
#
# The same `choose` is called with the runs of three agents, 16 tasks each. Agent B's tasks are four times as long as agent A's and its calls are cheap; agent C's tasks are shorter and each call costs about six times as many tokens. Each guard set is then replayed over runs of the same
# agent on 60 *other* tasks, and has to
#
# - bound a run, whatever the model does, as `run` demands
# - lose at most 1 % of the successes
# - save at least 75 % of the tokens that the runaways used
#
# A run counts as lost if it was a success and the guards end it after fewer steps.
#
# *The claim* is a share, from 0 to 1: *of the next successes these guards will lose at most so many*, with 95 % confidence, as far as the runs that `choose` was given can show it. Remember that runs of one task are alike. A claim that the runs do not
# bear out is wrong, also if all goes well on the other tasks. A claim that is larger than need be is wrong, too. So that the rule of the chapter can be used, the guards lose none of the successes among `runs`.
#
# `choose` gets a list of its own each time and leaves the runs as they are. It may run 1,000,000 lines of your own code, and call what it likes: it may replay, split and compare.

# %% hints [markdown]
# <details><summary>Hint: which runs</summary>
# What do you want to know: how much work needs, or how long trouble lasts? Which of the runs can tell you?
# </details>
# <details><summary>Hint: which number</summary>
# You have about 40 successes. Is the longest of them the longest that there will ever be? What does a number that is twice too high cost, and what one that is too low?
# </details>
# <details><summary>Hint: which guards</summary>
# What do all runaways have in common, also those that never make the same call twice?
# </details>
# <details><summary>Hint: which claim</summary>
# None of the successes that you know is lost, let us say. Of how many is that, and how many of these are independent of each other?
# </details>

# %% given [markdown]
# ## What you are given
#
# Runs of a fourth agent to try your function on: some to choose from, and some on other tasks. `measured` says what your guards do there.

# %% given-names
from stoplib import going_in_circles, max_steps, repeated_call, token_budget, too_many_errors
from stoplib.course.exercises.defended_limit import measured
from stoplib.course.population import recorded_runs

some_runs = recorded_runs(seed=7, tasks=16, runaways=0.06)
other_tasks = recorded_runs(seed=107, runaways=0.06)
for guards in ([max_steps(12)], [token_budget(30_000)], [repeated_call(3), max_steps(500)],
               [going_in_circles(4), too_many_errors(3), max_steps(500)]):
    print(guards, measured(other_tasks, guards), sep="\n    ")

# %% your-choice [markdown]
# ## Your choice

# %% choose role="answer"
def choose(runs):
    """Return a list of guards for the agent that made these runs, and the share of its next successes that may be lost."""
    ### BEGIN SOLUTION
    good = [one.outcome for one in runs if one.success]
    most_steps = max(outcome.steps for outcome in good)
    most_tokens = max(outcome.usage.total for outcome in good)
    guards = [
        going_in_circles(8),
        max_steps(round(1.75 * most_steps)),
        token_budget(round(1.75 * most_tokens)),
    ]
    tasks = {one.task for one in runs if one.success}
    return guards, 3 / len(tasks)
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# The first cell looks at what `choose` returns, the next two at what the guards are worth on other tasks, the last one at the claim. They say the numbers also where you are right.

# %% check-guards role="check"
from stoplib.course.exercises import defended_limit
defended_limit.check_guards(choose)

# %% check-lost role="check"
defended_limit.check_lost(choose)

# %% check-saved role="check"
defended_limit.check_saved(choose)

# %% check-claim role="check"
defended_limit.check_claim(choose)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - Only successes say what work needs. The failures hold the runaways, and their length says where the harness stood, nothing else.
# - The largest success seen is too low for the next tasks: it was learned from about 40 runs of 16 tasks. With headroom of 1.75 almost nothing is lost. A factor of 1.5 or 2 does as well; what is wrong is no headroom, and so much that the runaways are hardly cut.
# - The claim is about a fifth, and on the other tasks next to nothing is lost. Both are true: 16 tasks are too few to *show* more. To be allowed to promise 2 % one needs 150 tasks of which none is lost. Say that before somebody asks for it.
# - Tasks are counted, not runs: whoever counts the 40 runs promises a twelfth, and rests it on the same 15 tasks.
# - The token budget and the step limit are learned apart, each from its own numbers. So `choose` needs no change for an agent whose calls are dearer.
# - `going_in_circles(8)` ends those that repeat themselves sooner than the budget does. It needs no number from the runs, only a look at them: the pollers here ask at most six times.
# - There is no `time_limit`: seconds were not asked for. For an agent that waits for jobs, a limit in seconds would be a matter of who waits.

# %% stretch [markdown]
# ## Stretch goal
#
# Split `runs` by task, choose on one half and measure on the other, for several splits, and raise the headroom until the largest loss is small enough. Is it better than one fixed factor? Then write the defence, in three sentences that a person who was not
# here understands: the numbers, what they rest on, and what would make you change them.

# %% back [markdown]
# Back to [chapter 10](../notebooks/10_choosing_limits.ipynb). A solution with reasons is in [solutions](../solutions/09_a_defended_limit.ipynb).
