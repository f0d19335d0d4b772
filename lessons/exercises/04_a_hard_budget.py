# %% title [markdown]
# # {kind} 04: write a hard budget
#
# **What you will do.** Write `hard_budget`, a guard that ends the run *before* the call that could take it past its budget.
#
# **What you need.** [Chapter 03](../notebooks/03_guards_are_functions.ipynb) and [chapter 05](../notebooks/05_what_a_run_costs.ipynb). The library's `token_budget` stays closed: write it from what a run tells you.
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% task [markdown]
# ## What it must do
#
# `hard_budget(max_tokens, output_cap)` returns a guard: a function `guard(run)` that is looked at before each model call. It returns a text if the next call *could* take the run past `max_tokens`, and `None` if the call may be made.
#
# What the next call needs is the sum of three parts:
#
# | part | how many tokens |
# | --- | --- |
# | what it sends again: all that the last call sent and received | the last call's usage says so; which of its fields count is for you to decide |
# | what it sends for the first time: the results that have come since | the characters of their texts, all together, divided by 4, rounded up |
# | what it brings: the answer | `output_cap`, the most that the API lets it be |
#
# - Before the first call there is no last one, and there are no results. Something is sent all the same. Of that the guard sees one thing, a text; count it as you count results.
# - Used tokens and needed tokens together may be as many as `max_tokens`. One more, and the guard returns its text.
# - The text holds both numbers, used and needed, for instance `"30500 used, and the next call needs 31502"`.
# - The same guard may be used for many runs, one after the other or at once.
#
# A run tells you this:
#
# | name | what it is |
# | --- | --- |
# | `run.tokens` | all tokens used so far |
# | `run.task` | the task, a text |
# | `run.trace` | the steps so far, a list; before the first call it is empty |
# | `run.trace[-1].reply.usage` | the last reply's `Usage`, with the fields `input`, `output`, `cache_read` and `cache_write`, and their sum as `total` |
# | `run.trace[-1].results` | the results of the last step, a list; each has a `text` |

# %% look-text [markdown]
# This guard never fires. It prints what a guard gets to see:

# %% look
from stoplib import Usage, answer, call, max_steps, run, script

def look(run):
    last = run.trace[-1] if run.trace else None
    print(run.tokens, "used; last:", last and last.reply.usage, last and [result.text for result in last.results])

model = script(call("search", query="a", usage=Usage(200, 50, cache_read=800)), answer("found", usage=Usage(300, 40)))
outcome = run(model, "Find it.", tools={"search": lambda query: "nothing yet"}, guards=[look, max_steps(3)])

# %% hints [markdown]
# <details><summary>Hint: the shape</summary>
# Which two functions are there, which one is called once, and which one before each call? Which of them may see <code>max_tokens</code>?
# </details>
# <details><summary>Hint: the last call</summary>
# Is <code>run.tokens</code> what the last call sent, or what all calls sent? When are the two the same?
# </details>
# <details><summary>Hint: rounding up</summary>
# 5 characters are 2 tokens here, and 4 characters are 1. What does <code>//</code> give for 5 and 4? What does it give for 7 and 4, and for 8 and 4?
# </details>

# %% your-guard [markdown]
# ## Your guard

# %% hard-budget role="answer"
def hard_budget(max_tokens, output_cap):
    """Return a guard that ends the run before the call that could pass max_tokens."""
    ### BEGIN SOLUTION
    def guard(run):
        if run.trace:
            last = run.trace[-1]
            sent = last.reply.usage.total
            new = sum(len(result.text) for result in last.results)
        else:
            sent, new = 0, len(run.task)
        needed = sent + (new + 3) // 4 + output_cap
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} of {max_tokens} tokens used, and the next call needs {needed}"
        return None

    return guard
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# Each cell tries your guard on several runs and says what it saw.

# %% check-looks-ahead role="check"
from stoplib.course.exercises import hard_budget as checks
checks.check_looks_ahead(hard_budget)

# %% check-sends-again role="check"
checks.check_sends_again(hard_budget)

# %% check-output-cap role="check"
checks.check_output_cap(hard_budget)

# %% check-exact-fit role="check"
checks.check_exact_fit(hard_budget)

# %% check-first-call role="check"
checks.check_first_call(hard_budget)

# %% check-again role="check"
checks.check_again(hard_budget)

# %% check-text role="check"
checks.check_text(hard_budget)

# %% check-many role="check"
checks.check_many(hard_budget)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - The guard has no memory. All that it needs is counted by the run, so it can be shared by runs, and tried on recorded ones.
# - `usage.total` and not `input + output`: cached tokens are sent again like all others.
# - The last *call*, not `run.tokens`: the transcript is sent once per call, not once for each call there has been.
# - `(new + 3) // 4` rounds up without floating-point numbers, and once, over all new results together.
# - `output_cap` is a promise of the API, and the length of the last answer is none. It makes the guard stop earlier, and lets you rely on it.
# - Two parts are known and one is not: results are counted in characters, and how many tokens those are only the API knows. So even this budget is as exact as its estimate.

# %% stretch [markdown]
# ## Stretch goal
#
# What does your guard do if the loop cuts old messages away before a call, so that less is sent than before? Write a second guard that also takes a function which says how much the next call will send, and compare the two on the replies of
# chapter 05 with a budget of 61,000.

# %% back [markdown]
# Back to [chapter 05](../notebooks/05_what_a_run_costs.ipynb). A solution with reasons is in [solutions](../solutions/04_a_hard_budget.ipynb).
