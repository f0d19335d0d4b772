# %% title [markdown]
# # {kind} 06: say what a reply means
#
# **What you will do.** Write `understand`, which reads a reply of any of four APIs and says how the run ends, whether the task is done, and what to do next.
#
# **What you need.** [Chapter 07](../notebooks/07_the_reply_has_reasons.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% task [markdown]
# ## What it must do
#
# `understand(reply)` returns three things, `(reason, complete, then)`. A reply is the library's `Reply`: it has a `text`, `calls` (a tuple, empty if it asks for no tool) and `stop`, the API's own word. These are the words
# of four APIs that you have to know. Some were not in the chapter.
#
# | what the word says | the words |
# | --- | --- |
# | the turn ended | `end_turn`, `stop_sequence`, `stop`, `STOP` |
# | it asks for tools | `tool_use`, `tool_calls` |
# | it reached the output limit | `max_tokens`, `length`, `MAX_TOKENS` |
# | the context window is full | `model_context_window_exceeded` |
# | the model refused, or a filter stepped in | `refusal`, `content_filter`, `guardrail_intervened`, `SAFETY` |
# | the turn is paused | `pause_turn` |
#
# And this is what a reply means:
#
# | the reply | `reason` | `complete` | `then` |
# | --- | --- | --- | --- |
# | the turn ended, there is text and no request | `"answered"` | `True` | `"use the answer"` |
# | the turn ended, there is no request and no text | `"empty_reply"` | `False` | `"ask again"` |
# | it has a request, and the word asks for tools | `None` | `False` | `"run the tools"` |
# | the turn is paused | `None` | `False` | `"send it back"` |
# | it reached the output limit | `"truncated"` | `False` | `"raise the limit"` |
# | the context window is full | `"context_full"` | `False` | `"send less"` |
# | the model refused, or a filter stepped in | `"refused"` | `False` | `"ask a person"` |
# | anything else | `"unfinished"` | `False` | `"find out"` |
#
# - `None` as the reason means that the run goes on.
# - Text that is only spaces or line breaks is no text.
# - Some APIs send a word for an ended turn beside a request. Then it is a request like any other. A paused reply has no requests.
# - A word counts as it is written in the table, capitals included. `stop` is always a text.
# - What the text says does not matter: the word decides.
#
# Three kinds of reply are easily put into the wrong row. Chapter 07 has met each of them. Before you write code, say which row each belongs to, and what it would cost to take another one:
#
# - a request in a reply that was cut short: at the output limit, by a full window, by a refusal or a filter
# - a request beside a word that is not in the first table
# - a word that asks for tools, in a reply without a request

# %% hints [markdown]
# <details><summary>Hint: the order</summary>
# Which words decide alone, and which need a second look at the reply? If you ask for the requests first, what happens to half a request?
# </details>
# <details><summary>Hint: the words you do not know</summary>
# Follow a reply with the word <code>"ratelimited"</code> through your function, line by line. Where does it come out?
# </details>
# <details><summary>Hint: many words, few lines</summary>
# Several words share one meaning. Which Python container says in one line whether a word is among several?
# </details>

# %% example [markdown]
# ## Replies to try things on
#
# Your function gets replies like these.

# %% replies
from stoplib import Reply, ToolCall

whole = Reply("The disk was full.", stop="STOP")
asks = Reply("", [ToolCall("read", {"path": "log.txt"})], stop="tool_calls")
strange = Reply("The disk was full.", stop="ratelimited")

# %% yours [markdown]
# ## Your function

# %% understand role="answer"
def understand(reply):
    """Return (reason, complete, then) for a reply."""
    ### BEGIN SOLUTION
    cut_short = {
        "max_tokens": ("truncated", False, "raise the limit"),
        "length": ("truncated", False, "raise the limit"),
        "MAX_TOKENS": ("truncated", False, "raise the limit"),
        "model_context_window_exceeded": ("context_full", False, "send less"),
        "refusal": ("refused", False, "ask a person"),
        "content_filter": ("refused", False, "ask a person"),
        "guardrail_intervened": ("refused", False, "ask a person"),
        "SAFETY": ("refused", False, "ask a person"),
        "pause_turn": (None, False, "send it back"),
    }
    ended = ("end_turn", "stop_sequence", "stop", "STOP")
    if reply.stop in cut_short:
        return cut_short[reply.stop]
    if reply.calls and reply.stop in (*ended, "tool_use", "tool_calls"):
        return None, False, "run the tools"
    if reply.stop in ended and reply.text.strip():
        return "answered", True, "use the answer"
    if reply.stop in ended:
        return "empty_reply", False, "ask again"
    return "unfinished", False, "find out"
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# Each cell shows your function a number of replies and says what came back.

# %% check-ended role="check"
from stoplib.course.exercises import reply_reasons
reply_reasons.check_ended(understand)

# %% check-requests role="check"
reply_reasons.check_requests(understand)

# %% check-cut-short role="check"
reply_reasons.check_cut_short(understand)

# %% check-unknown role="check"
reply_reasons.check_unknown(understand)

# %% check-text role="check"
reply_reasons.check_text(understand)

# %% check-many role="check"
reply_reasons.check_many(understand)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - The words that decide alone come first, before anybody looks for requests. So the tools of a reply that was cut off never run.
# - They stand in a table, not in branches: another API's word is one more line, and nothing else changes.
# - Only one line can return `True`, and everything has to be right for it: the word, the text, no request.
# - The three kinds: half a request must not run, so a word that decides alone beats a request. With a word that nobody knows, nobody knows whether the request is whole, so nothing runs. And a word without its request is no answer. What all three cost is one more question to a person;
#   the other row would have cost a folder.
# - "Anything else" is where the function runs out. A word from next year lands there too.
# - The text is asked one question, whether it is there. A refusal is not found by searching for "sorry", and an answer may well contain it.

# %% stretch [markdown]
# ## Stretch goal
#
# Some servers report a reply that was cut off in the middle of a request as `tool_calls`. Without the right word, how could you still notice? Write it down as a rule over `reply.calls`, then look for a whole
# request that your rule would take for half of one.

# %% back [markdown]
# Back to [chapter 07](../notebooks/07_the_reply_has_reasons.ipynb). A solution with reasons is in [solutions](../solutions/06_reasons.ipynb).
