# %% title [markdown]
# # One exit: who decides that the run is over?
#
# **What you will do.** Read and run the shortest agent loop there is, and find a model that it cannot handle.
#
# **What you will learn**
#
# - read an agent loop of nine lines, and write one like it
# - find its exits, the planned and the unplanned one
# - bound a run from outside, so that you can watch it fail
#
# **What you need.** [Chapter 00](00_start_here.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% imports
from stoplib.course.checkpoint import predict, reveal

# %% the-loop [markdown]
# ## Turn it into code
#
# In chapter 00 you were the loop. As code it is short: call the model; if the reply is final, return it; if not, run the
# tool, write down request and result, and go round again.

# %% run-loop
def run_loop(model, tools, user_msg):
    messages = [{"role": "user", "content": user_msg}]
    while True:
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"]
        result = tools[reply["name"]](**reply.get("args", {}))
        messages.append(reply)
        messages.append({"role": "tool", "name": reply["name"], "content": result})

# %% a-good-model [markdown]
# It works with a model that looks twice and then answers. A step whose reply asks for a tool, together with the result, is a
# **round**. Each round adds two messages: the request and its result.

# %% answers-after-two
def answers_after_two(messages):
    rounds = len(messages) // 2
    if rounds == 2:
        return {"type": "final", "content": "Page 2 has it."}
    return {"type": "tool", "name": "search", "args": {"query": f"page {rounds + 1}"}}

# %% tools
def search(query):
    return "found it" if query == "page 2" else "nothing"

# %% run-good
tools = {"search": search}
run_loop(answers_after_two, tools, "Where is it?")

# %% one-exit [markdown]
# Look at the loop again and count its exits. There is one `return`, and it is reached only if the model says `final`. So
# *the model alone decides when the run is over*. This one did. Here is one that does not: it always wants one more look.

# %% never-answers
def never_answers(messages):
    return {"type": "tool", "name": "search", "args": {"query": "page 1"}}

# %% fuse-idea [markdown]
# ## Watch it fail safely
#
# `run_loop(never_answers, …)` would run until you interrupt it. To watch it safely, put a **fuse** around the model: it lets a
# fixed number of calls through, then raises an error.

# %% fuse
class FuseBlown(Exception):
    """More calls were asked for than the fuse lets through."""

def with_fuse(model, calls):
    left = iter(range(calls))
    def fused(messages):
        if next(left, None) is None:
            raise FuseBlown(f"{calls} calls were made, and it still goes on")
        return model(messages)
    return fused

# %% watched-part [markdown]
# The messages are inside the loop. To get at them, put a second wrapper around the model, one that keeps the list that it was sent. The loop goes on adding to that list, so at the end it holds everything.

# %% watched
seen = []

def watched(messages):
    seen.append(messages)
    return never_answers(messages)

# %% never-question [markdown] checkpoint="1.1"
# ### Checkpoint 1.1
#
# `with_fuse(never_answers, 3)` lets three calls through. `never_answers` asks for the same page each time, and `search` finds nothing there. You run the loop
# with it. How many messages does the list hold when the run ends?
#
# - a) `3` :: One for each call that was made. But the list starts with your message, and each round adds two more, the request and its result.
# - b) `5` :: Your message and two rounds: that would be so if the loop noticed that the second request is the same as the first one.
#   Nothing in it compares requests, so the third round is made like the others.
# - c) `7` :: Your message and three rounds of two. The fourth call is the one that the fuse does not let through, and nothing else ends this run.
# - d) `9` :: The fuse refuses the fourth call, so one might count four rounds. But it refuses before the model is asked, so there is no fourth request to write down.

# %% never-predict role="predict"
predict("1.1")

# %% never-reveal role="reveal"
try:
    run_loop(with_fuse(watched, 3), tools, "Where is it?")
except FuseBlown as error:
    print("FuseBlown:", error)
reveal("1.1", len(seen[-1]))

# %% fuse-is-no-answer [markdown]
# A fuse is good for watching and bad for use: it ends the run with an error, and with the error everything is lost that the run had
# found out. A run should end with a value. Chapter 02 builds that.
#
# ## Count what is sent
#
# An endless run is not only late, it is also expensive. Each call sends *all* messages again, and there are two more of them each
# time. Count the characters of the first five calls:

# %% characters
messages, sent = [{"role": "user", "content": "Where is it?"}], []
for _ in range(5):
    sent.append(len(str(messages)))
    reply = never_answers(messages)
    messages += [reply, {"role": "tool", "name": "search", "content": "nothing"}]
print("characters per call:", sent)
print("characters in all:  ", sum(sent))

# %% grows [markdown]
# The fifth call alone sends more than ten times as much as the first. What a run costs grows faster than its number of steps. A later chapter is about that.

# %% second-exit [markdown]
# ## Find the exit that nobody planned
#
# There is a second way out of this loop. A model can ask for a tool that does not exist, here with two letters swapped.

# %% misspells
def misspells(messages):
    return {"type": "tool", "name": "serach", "args": {"query": "page 1"}}

# %% typo
try:
    run_loop(misspells, tools, "Where is it?")
except KeyError as error:
    print("KeyError:", error)

# %% error-result [markdown]
# The run crashed. A mistake of the model should not be a crash of the program: the model could read what went wrong and try something
# else. So the loop turns it into a result. The same goes for a tool that raises an error.

# %% run-tool
def run_tool(tools, reply):
    try:
        return tools[reply["name"]](**reply.get("args", {}))
    except Exception as error:
        return f"error: {type(error).__name__}: {error}"

# %% run-tool-once
run_tool(tools, misspells([]))

# %% run-loop-2
def run_loop_2(model, tools, user_msg):
    messages = [{"role": "user", "content": user_msg}]
    while True:
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"]
        result = run_tool(tools, reply)
        messages.append(reply)
        messages.append({"role": "tool", "name": reply["name"], "content": result})

# %% robust-question [markdown] checkpoint="1.2"
# ### Checkpoint 1.2
#
# Now the same misspelling model runs in `run_loop_2`, with a fuse of 50 calls. How does the run end?
#
# - a) `KeyError` :: That is how it ended before. Now the error is caught in `run_tool` and becomes a result.
# - b) `answer` :: The model now gets to read what went wrong, and a good model would correct itself. This one does not look at
#   the messages at all.
# - c) `FuseBlown` :: The crash was the only thing that ended this run. With the error handled, nothing does but the fuse.

# %% robust-predict role="predict"
predict("1.2")

# %% robust-reveal role="reveal"
try:
    run_loop_2(with_fuse(misspells, 50), tools, "Where is it?")
    ending = "answer"
except Exception as error:
    ending = type(error).__name__
reveal("1.2", ending)

# %% robust-means-longer [markdown]
# Turning the error into a result was right: a model that reads it can do better. What else it changed, the checkpoint has shown you. A loop that forgives
# more can run longer, so it needs limits that the model cannot influence.

# %% pitfall [markdown]
# > **Pitfall: the model as the only judge of "done".** "Tell the model to stop after five searches" is no limit: it is a wish, written
# > into a message. `never_answers` does not read it, and a real model sometimes does not either. A limit is code that runs whatever
# > the model says.

# %% lab-intro [markdown]
# ## Lab: model and steps
#
# The lab below runs the library's loop, `stoplib.run`. It does what `run_loop_2` does, with one thing more: `max_steps`, a limit on the number
# of model calls. Run the cell, choose a model, and move the limit. Which models end by themselves, and what is the lowest limit that lets them?

# %% lab
from stoplib.course.lab import lab_steps
lab_steps()

# %% exercise [markdown]
# ## Exercise
#
# Exercise 01 asks you to write this loop with three exits. It needs one more idea, the clock, so it comes after
# [chapter 02](02_three_exits.ipynb).
#
# ## Recap
#
# You can now
#
# - read an agent loop, and point at its only planned exit
# - bound a run from outside with a fuse
# - turn a tool's error into a result for the model
# - say why a loop that forgives errors needs limits all the more
#
# ## In practice
#
# - Search real code for `while` next to `"tool_use"` or `"tool_calls"`: the single-exit loop is common, in examples above all.
# - Catching every `Exception` is right at this one place, where the model gets to read it. Ctrl-C is not an `Exception` in Python, so it still
#   ends the run. So does a model that raises an error, for instance because the service is down: that is a third exit, and a real loop has to decide what it means.
#
# ---
#
# Previous: [00 Start here](00_start_here.ipynb) · Next: [02 Three exits: answer, steps or time?](02_three_exits.ipynb)
