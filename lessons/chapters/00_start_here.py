# %% title [markdown]
# # Start here: run one agent loop by hand
#
# **What you will do.** Play the part of an agent loop for one question, predict what happens next, and
# have a line of your own code checked.
#
# **What you will learn**
#
# - run the cells of this course, and see that your installation works
# - name the parts of an agent loop: model, tool, messages, step
# - commit to a prediction before you see a result
#
# **What you need.** Basic Python. No account, no key and no network: every model here is a short function
# that always does the same.
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% how-cells-work [markdown]
# ## Run a cell
#
# A notebook is a list of cells. Click into the next cell and press *Shift + Enter*: its code runs, the
# result appears under it, and the next cell is chosen. Work from top to bottom.

# %% versions
from importlib.metadata import version

for package in ("stoplib", "matplotlib", "ipywidgets"):
    print(package, version(package))

# %% if-it-fails [markdown]
# Three lines with versions and no error: your installation works. If you see an error instead, close JupyterLab
# and run `python3 course.py check` in a terminal. It says what is missing and what to do.

# %% parts [markdown]
# ## Meet the four parts
#
# An **agent loop** is a small program around a language model. It has four parts. The first is a list of
# **messages**: everything that has been said so far. At the start it holds one message, yours.

# %% messages
messages = [{"role": "user", "content": "What is the capital of France?"}]
messages

# %% model-part [markdown]
# The second part is the **model**. A real one is a service that you send the messages to. Ours is **scripted**: a
# plain function, so that it costs nothing and never surprises us. It replies in one of two ways: with a
# final answer, or with a request to run a tool, a **tool call**.

# %% model
def model(messages):
    if len(messages) == 1:
        return {"type": "tool", "name": "search", "args": {"query": "capital of France"}}
    return {"type": "final", "content": messages[-1]["content"] + " is the capital of France."}

# %% tool-part [markdown]
# The third part is the **tools**: functions that the model may ask for. The model cannot run them. It can only
# say which one it wants, and with which arguments.

# %% tools
def search(query):
    return "Paris"

tools = {"search": search}

# %% loop-part [markdown]
# The fourth part is the loop itself: code that calls the model, runs the tool it asks for, adds the result to
# the messages, and calls the model again. Here you are the loop, one cell at a time. One call of the model is
# one **step**. This is step 1:

# %% step-1
reply = model(messages)
reply

# %% run-the-tool [markdown]
# The model wants a search. So the loop runs it, and writes down both the request and its result.

# %% act
result = tools[reply["name"]](**reply["args"])
messages.append(reply)
messages.append({"role": "tool", "name": reply["name"], "content": result})
len(messages)

# %% predict-first [markdown]
# ## Predict, then run
#
# Before the interesting runs of this course you are asked what will happen. Decide first, then run: a wrong
# guess that you made shows you more than a right result that you only read. Nothing is sent anywhere, and nobody
# counts your mistakes.

# %% import-checkpoints
from stoplib.course.checkpoint import predict, reveal

# %% next-reply-question [markdown] checkpoint="0.1"
# ### Checkpoint 0.1
#
# You are about to call `model(messages)` for the second time. The list now holds three messages. Read the model
# above once more. What is the `type` of its reply?
#
# - a) `tool` :: It asked for a search the first time, and nothing in it remembers that. But it looks at how many
#   messages there are, and that number has changed.
# - b) `final` :: The list no longer has exactly one message, so the first branch is skipped and the model answers
#   with the last message's text.
# - c) `user` :: That is the role of the first message. A reply of this model has a type, and it is one of the two
#   that its code names.

# %% next-reply-predict role="predict"
predict("0.1")

# %% next-reply-reveal role="reveal"
reply = model(messages)
print(reply)
reveal("0.1", reply["type"])

# %% how-checkpoints-work [markdown]
# That was a **checkpoint**. If you had made no prediction, it would have shown the result alone: go back one cell
# and choose, whenever you like.

# %% who-ended-it [markdown]
# Every loop needs something that ends it. Look at what you have done by hand and ask: who decides that the run is over,
# and what if that never happens? That is chapter 01.

# %% check-part [markdown]
# ## Have your code checked
#
# In an exercise you write code, and a check tells you what it does on several runs. Try it: complete the function
# so that it returns `True` for a final reply and `False` for a request to run a tool. Run your cell, then the check.

# %% your-turn
def is_final(reply):
    ...  # your code here

# %% check-your-turn
from stoplib.course.practice import check_is_final
check_is_final(is_final)

# %% pitfall [markdown]
# > **Pitfall: cells run out of order.** The notebook remembers what you ran, not what you see. If you run the cell
# > that adds to the messages twice, there are five messages, not three. When things look strange, click into the cell where
# > you are and choose *Kernel*, then *Restart Kernel and Run up to Selected Cell…*

# %% recap [markdown]
# ## Recap
#
# You can now
#
# - run a cell, and run everything again from the top
# - say what a model, a tool, a message and a step are
# - predict a result, see it, and try again
# - read what a check says about your code
#
# ## In practice
#
# - You work in your own copy, in the folder `work`. The course never overwrites what you changed there.
#   `python3 course.py fresh 00_start_here` gives you a new copy of a notebook and keeps yours.
# - Real models reply with more than two types: replies can be cut off, refused or empty. The first chapters stay with two,
#   so that there is one new thing at a time.
#
# ---
#
# Next: [01 One exit: who decides that the run is over?](01_one_exit.ipynb)
