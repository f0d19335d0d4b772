# %% title [markdown]
# # {kind} 09: defend a limit
#
# **What you will do.** Write `choose`, which takes recorded runs of an agent and returns a guard set for it. It is tried on three agents of very different size, each time on tasks that `choose` has not seen.
#
# **What you need.** [Chapter 10](../notebooks/10_choosing_limits.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% task [markdown]
# ## What it must do
#
# `choose(runs)` returns a list of guards of the library. `runs` is a list; each element has
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
# - bound a run, whatever the model does, as `run` and `replay` demand
# - lose at most 2 % of the successes
# - save at least 60 % of the tokens that the runaways used
#
# A run counts as lost if it was a success and the guards end it after fewer steps. `choose` gets a list of its own each time and leaves the runs as they are. It may replay, split and compare within 1,000,000 lines of Python.

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
    """Return a list of guards for the agent that made these runs."""
    ### BEGIN SOLUTION
    good = [one.outcome for one in runs if one.success]
    most_steps = max(outcome.steps for outcome in good)
    most_tokens = max(outcome.usage.total for outcome in good)
    return [
        going_in_circles(8),
        max_steps(round(1.75 * most_steps)),
        token_budget(round(1.75 * most_tokens)),
    ]
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# The first cell looks at what `choose` returns, the other two at what it is worth on other tasks. They say the numbers also where you are right.

# %% check-guards role="check"
from stoplib.course.exercises import defended_limit
defended_limit.check_guards(choose)

# %% check-lost role="check"
defended_limit.check_lost(choose)

# %% check-saved role="check"
defended_limit.check_saved(choose)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - Only successes say what work needs. The failures hold the runaways, and their length says where the harness stood, nothing else.
# - The largest success seen is too low for the next tasks: it was learned from about 40 runs of 16 tasks. With headroom of 1.75 almost nothing is lost. A factor of 1.5 or 2 does as well; what is wrong is no headroom, and so much that the runaways are hardly cut.
# - The token budget and the step limit are learned apart, each from its own numbers. So `choose` needs no change for an agent whose calls are dearer.
# - `going_in_circles(8)` ends those that repeat themselves sooner than the budget does. It needs no number from the runs, only a look at them: the pollers here ask at most six times.
# - There is no `time_limit`: seconds were not asked for. For an agent that waits for jobs, a limit in seconds would be a matter of who waits.

# %% stretch [markdown]
# ## Stretch goal
#
# Make `choose` say how sure it is: split `runs` by task, choose on one half and measure on the other, for several splits, and raise the headroom until the largest loss is small enough. Is it better than one fixed factor? On how many
# successes does it rest?

# %% back [markdown]
# Back to [chapter 10](../notebooks/10_choosing_limits.ipynb). A solution with reasons is in [solutions](../solutions/09_a_defended_limit.ipynb).
