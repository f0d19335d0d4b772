# %% title [markdown]
# # {kind} 07: end well
#
# **What you will do.** Write `end_well`, which takes a run that was stopped and makes of it a result that a caller can rely on: with a closing summary if there is room for one, and
# with the same form whatever the model does in that last call.
#
# **What you need.** [Chapter 08](../notebooks/08_ending_well.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% task [markdown]
# ## What it must do
#
# `end_well(reason, messages, model, steps_left, tokens_left=None)` returns a dictionary with these keys:
#
# | key | value |
# | --- | --- |
# | `"status"` | `"incomplete"`: only runs that were stopped come here |
# | `"reason"` | the `reason` that was passed in, always |
# | `"answer"` | `None` |
# | `"summary"` | the text of the closing reply, or `NO_SUMMARY` |
# | `"evidence"` | a list: the `content` of each tool message whose `is_error` is `False`, in order |
# | `"model_calls"` | how many calls `end_well` made: 1 or 0 |
#
# The **closing call** is `model(…, [])`: the first argument is a list of all messages with `REQUEST` after them, the second an empty list, since no tools are offered. There is at most one call. The list `messages` belongs to the caller: it is
# the same afterwards.
#
# **Room.** There is no call if `steps_left` is 0. There is none either if it would need more than `tokens_left`; `None` means no limit. A call needs one token for 4 characters of the `content` of everything that it sends, `REQUEST`
# included, counted together and not rounded, and `ANSWER_TOKENS` for the answer. Exactly as many as are left is enough.
#
# **What counts as a summary.** Only a reply that ends its turn with text and asks for no tool: in chapter 07 that was `answered`. `ending(reply)`, imported below, returns `("answered", "")` for such a reply, and something else for every other one. Everything
# else gives `NO_SUMMARY`: a reply that asks for a tool, one that is empty, cut off, refused or paused, a model that raises an `Exception`, a model that returns something that is no reply. Nothing of this gets out of
# `end_well`, and the call counts in `"model_calls"`, since it may have to be paid for. (In `outcome.steps` the library counts a step only when its reply has come.)

# %% hints [markdown]
# <details><summary>Hint: the caller's list</summary>
# The model has to read one message more than the caller gave you. Who else still holds the list that you add it to?
# </details>
# <details><summary>Hint: what can fail</summary>
# Which lines can raise an exception: only the call itself, or also the look at what came back?
# </details>
# <details><summary>Hint: the room</summary>
# Is 0 tokens left the same as no limit? Look at how you ask for <code>None</code>. And what does Python's <code>//</code> do with the last three characters?
# </details>

# %% given [markdown]
# ## What you are given
#
# A stopped run to try your function on, and a model for its closing call.

# %% given-names
from stoplib import answer, call, max_steps, run
from stoplib.course.exercises.final_summary import ANSWER_TOKENS, NO_SUMMARY, REQUEST
from stoplib.fakes import never_answers
from stoplib.reasons import ending

stopped = run(never_answers, "Find it", tools={"search": lambda query: "nothing"}, guards=[max_steps(3)])

def sums_up(messages, tools):
    return answer("Three searches found nothing.")

ending(answer("Three searches found nothing.")), ending(call("search", query="more"))

# %% yours [markdown]
# ## Your function

# %% end-well role="answer"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    """Return the structured result of a run that was stopped."""
    ### BEGIN SOLUTION
    to_send = [*messages, REQUEST]
    needed = sum(len(message["content"]) for message in to_send) / 4 + ANSWER_TOKENS
    has_room = steps_left > 0 and (tokens_left is None or needed <= tokens_left)
    summary = NO_SUMMARY
    if has_room:
        try:
            reply = model(to_send, [])
            if ending(reply) == ("answered", ""):
                summary = reply.text
        except Exception:
            pass
    return {
        "status": "incomplete",
        "reason": reason,
        "answer": None,
        "summary": summary,
        "evidence": [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]],
        "model_calls": 1 if has_room else 0,
    }
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# Each cell ends several stopped runs with your function and says what it saw.

# %% check-summary role="check"
from stoplib.course.exercises import final_summary
final_summary.check_summary(end_well)

# %% check-room role="check"
final_summary.check_room(end_well)

# %% check-replies role="check"
final_summary.check_replies(end_well)

# %% check-errors role="check"
final_summary.check_errors(end_well)

# %% check-claims role="check"
final_summary.check_claims(end_well)

# %% check-evidence role="check"
final_summary.check_evidence(end_well)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - The result is built in one place, after the closing call, from things that the call cannot change. So no reply can turn it into a success.
# - `summary` starts as the fixed text. Only one line can replace it, and it asks for the one good case instead of listing the bad ones.
# - The `try` covers the look at the reply too: a model that returns `None` fails there.
# - `except Exception` lets Ctrl-C through: a person who stops the program is not a failed summary.
# - The room is worked out before the call. A call that was made and brought nothing still counts.
# - `[*messages, REQUEST]` is a new list. With `append` the next reader of the transcript would find a question that the run never asked.

# %% stretch [markdown]
# ## Stretch goal
#
# A summary that was cut off at its limit is thrown away here, although half of it may be useful. Under another name, write a version that keeps it, in a form that nobody can take for the whole. Which of its readers
# would you ask whether that is better?

# %% back [markdown]
# Back to [chapter 08](../notebooks/08_ending_well.ipynb). A solution with reasons is in [solutions](../solutions/07_a_final_summary.ipynb).
