# %% title [markdown]
# # {kind} 05: ask, run or decline
#
# **What you will do.** Write `answer_calls`, the part of an agent loop between a reply and the next call: it asks a person about each request, runs it or not, and leaves exactly one result for each, also when Ctrl-C strikes in the middle.
#
# **What you need.** [Chapter 06](../notebooks/06_a_person_in_the_loop.ipynb), closed while you write.
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% task [markdown]
# ## What it must do
#
# `answer_calls(calls, tools, approve, messages, refusals)` answers all requests of one reply and returns the number of refusals in a row.
#
# - `calls` is a list of requests, each `{"id": …, "name": …, "args": {…}}`. `tools` is a dictionary of functions by name.
# - For each request exactly one message is added to the list `messages`, in the order of the requests: `{"role": "tool", "tool_call_id": …, "content": …}`. `tool_call_id` is the request's `id`, and `content` is a text:
#
# | what happened | `content` |
# | --- | --- |
# | there is no tool of that name; nobody is asked | starts with `error` |
# | `approve(call)` returned anything but `True`; the tool does not run | starts with `declined` |
# | the tool ran | what it returned |
# | the tool raised an error | starts with `error` |
# | Ctrl-C came before the tool was started | starts with `not run` |
# | Ctrl-C came while the tool was running | starts with `not run to its end` |
#
# - `approve` is asked at most once about a request. Whether you ask about all of them first, or about each when its turn comes, is up to you.
# - Ctrl-C (`KeyboardInterrupt`) may come out of `approve` or out of a tool. The messages are made whole, and then it goes on to the caller.
# - `refusals` is the number of refusals in a row before this reply. If at least one call of the reply was let through, wherever it stands, return 0, also if the tool then failed. If not, every refusal in the reply adds one: three times no in one reply add three. A reply in which nobody was asked changes nothing.

# %% loop-text [markdown]
# This is the loop that your function goes into. Run the cell; there is nothing to change in it.

# %% loop
def run_with_person(model, tools, task, approve, max_steps=10, max_refusals=3):
    messages, refusals = [{"role": "user", "content": task}], 0
    try:
        for _ in range(max_steps):
            reply = model(messages)
            messages.append({"role": "assistant", **reply})
            if not reply["calls"]:
                return "answered", messages
            refusals = answer_calls(reply["calls"], tools, approve, messages, refusals)
            if refusals >= max_refusals:
                return "too_many_refusals", messages
    except KeyboardInterrupt:
        return "interrupted", messages
    return "max_steps", messages

# %% hints [markdown]
# <details><summary>Hint: a yes</summary>
# Which of <code>True</code>, <code>"no"</code>, <code>1</code> and <code>None</code> get past <code>if approve(call)</code>? Which comparison lets only one of them through?
# </details>
# <details><summary>Hint: the row</summary>
# When do you know whether any call of the reply was let through: at the first request, or after the last?
# </details>
# <details><summary>Hint: Ctrl-C</summary>
# What is true of each request <em>before</em> you touch it? If that were written down first, what would be left to do when Ctrl-C comes? Which keyword makes a block run also when an error passes through?
# </details>

# %% your-part [markdown]
# ## Your part of the loop

# %% answer-calls role="answer"
def answer_calls(calls, tools, approve, messages, refusals):
    """Add one result for each call to messages; return the number of refusals in a row."""
    ### BEGIN SOLUTION
    texts = {call["id"]: "not run: a person stopped the run" for call in calls}
    let_through = declined = 0
    try:
        for call in calls:
            name, args, place = call["name"], call["args"], call["id"]
            if name not in tools:
                texts[place] = f"error: there is no tool {name!r}"
            elif approve(call) is not True:
                declined += 1
                texts[place] = "declined: do not ask for this again; say what you would have done"
            else:
                let_through += 1
                texts[place] = "not run to its end: a person stopped the run"
                try:
                    texts[place] = tools[name](**args)
                except Exception as error:
                    texts[place] = f"error: {type(error).__name__}: {error}"
    finally:
        for place, text in texts.items():
            messages.append({"role": "tool", "tool_call_id": place, "content": text})
    return 0 if let_through else refusals + declined
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# Each cell lets your function answer several replies and says what it saw. In the checks a call with the id `c2` asks for the path `2.txt`.

# %% check-order role="check"
from stoplib.course.exercises import approval
approval.check_order(answer_calls)

# %% check-yes role="check"
approval.check_yes(answer_calls)

# %% check-results role="check"
approval.check_results(answer_calls)

# %% check-refusals role="check"
approval.check_refusals(answer_calls)

# %% check-ctrl-c role="check"
approval.check_ctrl_c(answer_calls)

# %% check-whole-run role="check"
approval.check_whole_run(answer_calls)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - Each request has a text from the start, and the text is true at every moment: first "not run", then, just before the tool is started, "not run to its end". Whenever Ctrl-C comes, the texts need no repair.
# - `finally` writes them down, and lets `KeyboardInterrupt` pass. There is no `except` for it, so it cannot be forgotten to raise it again.
# - `is not True` takes nothing but a yes for a yes.
# - The inner `except Exception` does not catch Ctrl-C, which is no `Exception`.
# - Counting comes last, when the whole reply is known: one call that was let through ends the row, wherever it stands.

# %% stretch [markdown]
# ## Stretch goal
#
# Add a second answer to `approve`: "yes, and do not ask me about this tool again". Where does your function keep that, and for how long: this reply, this run, for ever? Write down who may decide that before you write the code.

# %% back [markdown]
# Back to [chapter 06](../notebooks/06_a_person_in_the_loop.ipynb). A solution with reasons is in [solutions](../solutions/05_approval.ipynb).
