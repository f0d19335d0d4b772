# %% title [markdown]
# # {kind} 01: write a loop with three exits
#
# **What you will do.** Write `run_with_limits`, an agent loop that ends with an answer, at a step limit, or at a time budget, and that
# survives a tool that fails.
#
# **What you need.** [Chapter 01](../notebooks/01_one_exit.ipynb) and [chapter 02](../notebooks/02_three_exits.ipynb), closed while you write.
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% task [markdown]
# ## What it must do
#
# `run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None)` returns `(answer, reason)`.
#
# | reason | when | answer |
# | --- | --- | --- |
# | `"final"` | the model gave a final answer | its `content` |
# | `"max_steps"` | `max_steps` calls were made and none was final | `None` |
# | `"budget"` | the time since the start has reached `time_budget` | `None` |
#
# - `model(messages)` returns `{"type": "final", "content": …}` or `{"type": "tool", "name": …, "args": {…}}`. `args` may be missing.
# - `messages` starts with `{"role": "user", "content": user_msg}`. Each round adds the reply itself, then
#   `{"role": "tool", "name": …, "content": result}`.
# - An unknown tool and a tool that raises are not the end: their result is a text that starts with `error`, and the run goes on.
# - `clock()` is read once at the start and once before each call. `time_budget=None` means no time limit; whether you read the clock then is up to you.
# - Time is looked at before a call, an answer as soon as it is there. So a time budget that is used up pays for no further call, and an answer at the last allowed step is an answer.

# %% hints [markdown]
# <details><summary>Hint: the clock</summary>
# What does the first reading belong to? If you compare a reading with the budget directly, what happens with a clock that starts at 500?
# </details>
# <details><summary>Hint: the order</summary>
# Go through one round in your head. At which moment can you still decide not to pay for a call?
# </details>
# <details><summary>Hint: the failing tool</summary>
# Two different lines can fail when a tool is asked for: looking it up, and calling it. Does one <code>try</code> cover both?
# </details>

# %% your-loop [markdown]
# ## Your loop

# %% run-with-limits role="answer"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    """Return (answer, reason); answer is None unless reason is "final"."""
    ### BEGIN SOLUTION
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        try:
            result = tools[reply["name"]](**reply.get("args", {}))
        except Exception as error:
            result = f"error: {type(error).__name__}: {error}"
        messages.append(reply)
        messages.append({"role": "tool", "name": reply["name"], "content": result})
    return None, "max_steps"
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# Each cell tries your loop on several runs and says what it saw.

# %% check-answer role="check"
from stoplib.course.exercises import three_exits
three_exits.check_answer(run_with_limits)

# %% check-steps role="check"
three_exits.check_steps(run_with_limits)

# %% check-time role="check"
three_exits.check_time(run_with_limits)

# %% check-ties role="check"
three_exits.check_ties(run_with_limits)

# %% check-tools role="check"
three_exits.check_tools(run_with_limits)

# %% check-messages role="check"
three_exits.check_messages(run_with_limits)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - The look at the clock is the first thing in a round, so a budget that is used up never pays for a call, and a budget of 0 pays for none.
# - `is not None` and not `if time_budget`: otherwise 0 would mean "no limit".
# - The clock is read once at the start and in one place inside the loop, so each round has exactly one reading.
# - The step limit has no line of its own: it is where the `for` loop runs out. So an answer at the last step is an answer.
# - One `try` covers both the look-up and the call. It catches `Exception`, not everything: Ctrl-C still gets through.

# %% stretch [markdown]
# ## Stretch goal
#
# In a copy of your function under another name, return the number of calls as a third value. Then make a model that counts its own calls, and let the two disagree once on purpose: is
# there a run in which they should?

# %% back [markdown]
# Back to [chapter 02](../notebooks/02_three_exits.ipynb). A solution with reasons is in [solutions](../solutions/01_three_exits.ipynb).
