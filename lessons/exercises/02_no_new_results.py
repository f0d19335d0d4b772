# %% title [markdown]
# # {kind} 02: write the guard `no_new_results`
#
# **What you will do.** Write a guard that ends a run when its results repeat, whatever was asked, and a function that finds out which of several guards
# stops a model first.
#
# **What you need.** [Chapter 03](../notebooks/03_guards_are_functions.ipynb), closed while you write. You work with the library's loop here, `stoplib.run`.
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% look-around [markdown]
# ## What a guard gets to see
#
# A guard is called with the run before each call of the model. Here is what stands in it before the third call of a model that says the same thing in ever new words. `run.trace` holds a step for each call of the
# model; a step has its `calls` and its `results`, a result its `text`. `run.messages` is the same as a list of dictionaries.

# %% look
from stoplib import call, max_steps, run

def rewords(messages):
    return call("search", query="stop" + " please" * (len(messages) // 2))

def prints_the_run(run):
    if run.steps == 2:
        for step in run.trace:
            print(step.calls[0].args, "->", step.results[0].text)
        print("last message:", run.messages[-1])

outcome = run(rewords, "Find it.", tools={"search": lambda query: "no match"}, guards=[prints_the_run, max_steps(2)])

# %% task [markdown]
# ## What it must do
#
# `no_new_results(n)` returns a guard. The guard returns a text if the last `n` results of the run are all the same text, and `None` otherwise.
#
# - `n` is a whole number of at least 1. Fewer than `n` results are never enough.
# - Only results count: not the queries, not what the model says, not the task. A tool that failed has a result too, the text that the model reads about it.
# - Every reply in this exercise asks for one tool.
# - A run that your guard ends has the reason `no_new_results`. The reason is the name of the function that you return.
# - One guard can be used for many runs, one after the other or at the same time. Each run is judged by its own results alone.
# - Write the guard yourself, as a function. (Handing on the library's own guard of that name is no answer here.)

# %% hints [markdown]
# <details><summary>Hint: the shape</summary>
# Which of the two numbers, <code>n</code> and what is in the run, is known when the guard is made, and which one only when it is called? What does that say about the two functions?
# </details>
# <details><summary>Hint: the last n</summary>
# What does <code>texts[-3:]</code> give for a list of two? What follows for your comparison?
# </details>
# <details><summary>Hint: many runs</summary>
# Is there a list or a counter in your code that still exists when the run is over?
# </details>

# %% your-guard [markdown]
# ## Your guard

# %% no-new-results role="answer"
def no_new_results(n):
    """Return a guard that ends a run whose last n results are the same."""
    ### BEGIN SOLUTION
    from itertools import islice

    def no_new_results(run):
        backwards = (result.text for step in reversed(run.trace) for result in reversed(step.results))
        last = list(islice(backwards, n))
        if len(last) == n and len(set(last)) == 1:
            return f"the last {n} results are the same"
        return None

    return no_new_results
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# Each cell tries your guard on several runs and says what it saw.

# %% check-results role="check"
from stoplib.course.exercises import no_new_results as exercise
exercise.check_results(no_new_results)

# %% check-guard role="check"
exercise.check_guard(no_new_results)

# %% check-again role="check"
exercise.check_again(no_new_results)

# %% first-task [markdown]
# ## Who stops it first?
#
# `first_to_stop(model, tools, guards)` finds out which guard stops a model earliest. For each guard in the list `guards`, run the model alone with it:
# `run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])`.
#
# - A run that ends with `answered` or `max_steps` was not stopped by its guard. Any other run was.
# - Return the reason of the run that was stopped after the fewest tool calls. Where two are equal, the guard that stands first in the list wins.
# - Return `None` if no guard stopped the model.
#
# <details><summary>Hint</summary>
# What do you have to remember from one run to the next, and when does a new one replace it? Which comparison keeps the first of two equal ones?
# </details>

# %% first-to-stop role="answer"
def first_to_stop(model, tools, guards):
    """Return the reason of the guard that stops the model after the fewest tool calls, or None."""
    ### BEGIN SOLUTION
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        stopped = outcome.reason not in ("answered", "max_steps")
        if stopped and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None
    ### END SOLUTION

# %% first-checks [markdown]
# The last run of the check is the alternating model of chapter 03. Its search always finds "no match", and the guards are the library's: `max_tool_calls(4)`, `too_many_errors(3)`, `no_new_results(3)` and
# `repeated_call(2)`. Which one stops it first? Say what you expect before you run the cell.

# %% check-first role="check"
exercise.check_first(first_to_stop)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - The limit `n` belongs to the guard, so the outer function keeps it. What changes belongs to the run, so the inner function reads it there, each time anew, and has nothing to remember.
# - It goes through the results from the end and takes `n` of them. So it reads no more in a long run than in a short one.
# - `len(last) == n` comes before the comparison: one result is always the same as itself.
# - The inner function has the name that the caller should read as the reason.
# - `first_to_stop` compares with `<` and not `<=`, so the first of two equal guards stays. It uses a fresh run for each guard: in one run with all of them, the first to fire would end it for all.
# - The alternating model is stopped by `repeated_call(2)` before its third request runs. `no_new_results(3)` needs the third result.

# %% stretch [markdown]
# ## Stretch goal
#
# What should count if one reply asks for three tools: three results, or one round? See what the library's guard says about it (`import stoplib`, then `print(stoplib.no_new_results.__doc__)`), and find a run in
# which the two readings differ. Which one would you defend?

# %% back [markdown]
# Back to [chapter 03](../notebooks/03_guards_are_functions.ipynb). A solution with reasons is in [solutions](../solutions/02_no_new_results.ipynb).
