# %% title [markdown]
# # {kind} 01: write a loop with three exits
#
# **What you will do.** Write `run_with_limits`, an agent loop that ends with an answer, at a step limit, or at a time budget, and that
# survives a tool that fails. Then find the place for a fourth exit that no chapter has shown yet: a limit on tool calls.
#
# **What you need.** [Chapter 01](../notebooks/01_one_exit.ipynb) and [chapter 02](../notebooks/02_three_exits.ipynb), closed while you write.
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% task [markdown]
# ## What it must do
#
# `run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None)` returns `(answer, reason)`.
#
# | reason | when | answer |
# | --- | --- | --- |
# | `"final"` | the model gave a final answer | its `content` |
# | `"max_steps"` | `max_steps` calls were made and none was final | `None` |
# | `"budget"` | the time since the start has reached `time_budget` | `None` |
# | `"max_tool_calls"` | the model asks for a tool, and as many requests as are allowed have been carried out already | `None` |
#
# - `model(messages)` returns `{"type": "final", "content": …}` or `{"type": "tool", "name": …, "args": {…}}`. `args` may be missing.
# - `messages` starts with `{"role": "user", "content": user_msg}`. Each round adds the reply itself, then
#   `{"role": "tool", "name": …, "content": result}`.
# - An unknown tool and a tool that raises are not the end: their result is a text that starts with `error`, and the run goes on.
# - `clock()` is read once at the start and once before each call. `time_budget=None` means no time limit; whether you read the clock then is up to you.
# - A request is carried out when the loop has tried to run its tool, whatever came of it: one that failed counts like any other. The request that would be one too many is not carried out. `max_tool_calls=None` means no such limit.
# - Each limit is looked at where it can still prevent something: time before a call of the model, tool calls before a tool runs. An answer is looked at as soon as it is there.

# %% hints [markdown]
# <details><summary>Hint: the clock</summary>
# What does the first reading belong to? If you compare a reading with the budget directly, what happens with a clock that starts at 500?
# </details>
# <details><summary>Hint: the order</summary>
# Go through one round in your head. At which moment can you still decide not to pay for a call?
# </details>
# <details><summary>Hint: the fourth exit</summary>
# Between which two lines is it known that a tool is asked for, and nothing has happened yet? What does an answer need that a model gives when all allowed tool calls are used?
# </details>
# <details><summary>Hint: the failing tool</summary>
# Two different lines can fail when a tool is asked for: looking it up, and calling it. Does one <code>try</code> cover both?
# </details>

# %% your-loop [markdown]
# ## Your loop

# %% run-with-limits role="answer"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None):
    """Return (answer, reason); answer is None unless reason is "final"."""
    ### BEGIN SOLUTION
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for tool_calls in range(max_steps):  # each round before this one has carried out one request
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        if max_tool_calls is not None and tool_calls >= max_tool_calls:
            return None, "max_tool_calls"
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

# %% check-tool-calls role="check"
three_exits.check_tool_calls(run_with_limits)

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
# - Tool calls are looked at between the answer and the tool. Earlier the loop does not know what is asked for, so a model that has used all its tool calls could not even answer; later the tool has run.
# - A reply asks for one tool here, so the number of rounds so far is the number of tool calls, failed ones included. Where a reply can ask for several, the loop needs a counter of its own.
# - One `try` covers both the look-up and the call. It catches `Exception`, not everything: Ctrl-C still gets through.

# %% stretch [markdown]
# ## Stretch goal
#
# In a copy of your function under another name, look at the tool calls before each call of the model instead. Find a run that now ends for another reason, and one that ends the same but has cost one call
# less. Which of the two places would you defend?

# %% back [markdown]
# Back to [chapter 02](../notebooks/02_three_exits.ipynb). A solution with reasons is in [solutions](../solutions/01_three_exits.ipynb).
