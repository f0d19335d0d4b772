# %% title [markdown]
# # A person in the loop: who may say no, and what then?
#
# **What you will do.** Put a person between the model and its tools, and let that person decline, take their time, and stop the run, without losing what it has found out.
#
# **What you will learn**
#
# - ask before an action, and take nothing but a yes for a yes
# - end a run in which refusals pile up
# - count the time a person takes apart from the time the run works
# - stop a run by Ctrl-C or by a flag, and keep a transcript that is whole
#
# **What you need.** [Chapter 02](02_three_exits.ipynb) for clocks, [chapter 03](03_guards_are_functions.ipynb) for guards.
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% before [markdown]
# ## Ask before the action
#
# Some tools only look. Others act on the world: they delete, send, pay. For these a person is asked, and asked *before*. The order is: look the tool up, ask the person, run the tool. So nobody is bothered about a tool that does not exist, and after
# a "no" nothing has happened.

# %% act
from stoplib import answer, call, cancelled, max_steps, print_trace, run, script, too_many_refusals
from stoplib.course.checkpoint import predict, reveal

def act(request, tools, approve):
    if request["name"] not in tools:
        return f"error: there is no tool {request['name']!r}"
    if not approve(request):
        return "declined: do not ask for this again; say what you would have done"
    return tools[request["name"]](**request["args"])

files = {"draft.txt": "one line", "thesis.txt": "three years"}

def delete(path):
    files.pop(path, None)
    return f"{path} is gone"

# %% three-requests
def person(request):
    print("the person is asked:", request["name"], request["args"])
    return request["args"]["path"] != "thesis.txt"

for name, path in (("delete", "draft.txt"), ("delete", "thesis.txt"), ("delte", "thesis.txt")):
    print("  ", act({"name": name, "args": {"path": path}}, {"delete": delete}, person))
print("left:", list(files))

# %% pitfall [markdown]
# > **Pitfall: a "no" that counts as a yes.** `input("Delete? ")` gives back a text, and in Python every text that is not empty counts as true. In the next cell the person types "no".

# %% typed-no
request = {"name": "delete", "args": {"path": "thesis.txt"}}
print(act(request, {"delete": delete}, lambda request: "no"))
print("left:", list(files))

# %% library [markdown]
# ## Let the library take over
#
# `run` takes a function `approve` and calls it with each tool call, at the gate *before the action*. It must return `True` or `False`. A text is a mistake in your code: the run ends as `fatal`, and the tool has not run. There is no silent yes.

# %% library-typed-no
files = {"thesis.txt": "three years"}
model = script(call("delete", path="thesis.txt"), answer("I would have deleted thesis.txt. Please look at it first."))
outcome = run(model, "Tidy up.", tools=[delete], approve=lambda call: "no")
print(outcome.reason, "|", outcome.detail, "| left:", list(files))

# %% once-question [markdown] checkpoint="6.1"
# ### Checkpoint 6.1
#
# The same model runs again, and this time `approve` returns `False`. The model reads that a person has declined, and its second reply says what it would have done. What is the reason of the run?
#
# - a) `answered` :: A "no" ends an action, and not the run. It becomes the result of the request, the model reads it, and its second reply is text without a request.
# - b) `refused` :: Somebody did refuse. But in the library this reason means that the *model* refused the task. What a person declines is the result of one tool call.
# - c) `interrupted` :: In some programs a "no" does stop everything. Here that takes Ctrl-C; a "no" only keeps the tool from running.

# %% once-predict role="predict"
predict("6.1")

# %% once-reveal role="reveal"
outcome = run(model, "Tidy up.", tools=[delete], approve=lambda call: False, on_event=print_trace)
print("left:", list(files))
reveal("6.1", outcome.reason)

# %% pile-up [markdown]
# ## Stop asking
#
# `print_trace` prints what happens as it happens. The model above listens. Here is one that does not. It is given no guards, so only `max_steps(10)` bounds it, which `run` takes by itself. A person who is asked for the tenth time may say yes only to be left in peace.

# %% asked-ten-times
def insists(messages):
    return call("delete", path=f"{len(messages) // 2 + 1}.txt")

outcome = run(insists, "Tidy up.", tools=[delete], approve=lambda call: False)
print(outcome.reason, "after", sum(len(step.results) for step in outcome.trace), "questions to the person")

# %% thrice-question [markdown] checkpoint="6.2"
# ### Checkpoint 6.2
#
# The rule that was missing is `too_many_refusals(3)`. It is looked at after each round, and fires when a person has declined three calls and let none through in between. The person says no, no, yes, and from then on no. How many times is the person asked?
#
# - a) `4` :: The fourth answer is the third no. But between the second and the third a call was let through, and with it the count starts again.
# - b) `6` :: The yes sets the count back to 0. The answers four, five and six are the three in a row, and the look after that round ends the run.
# - c) `10` :: One might fear that a yes switches the rule off, so that only the step limit is left. It starts the count again, no more.

# %% thrice-predict role="predict"
predict("6.2")

# %% thrice-reveal role="reveal"
says, guards = iter([False, False, True]), [too_many_refusals(3), max_steps(10)]
outcome = run(insists, "Tidy up.", tools=[delete], guards=guards, approve=lambda call: next(says, False))
print(outcome.reason, [result.status for step in outcome.trace for result in step.results])
reveal("6.2", outcome.steps)

# %% fooled [markdown]
# The rule can be fooled. This model looks at a file, which it may, then asks to delete it, which it may not, and so on. The person says no to the same thing five times, and the rule sees nothing. A rule of chapter 04 does.

# %% alternates
from stoplib import going_in_circles
from stoplib.fakes import answers_after, cycles

in_turn = cycles(call("look", path="a.txt"), call("delete", path="a.txt"))
tools = {"look": lambda path: "one line", "delete": delete}
for rule in (too_many_refusals(3), going_in_circles()):
    outcome = run(in_turn, "Tidy up.", tools=tools, guards=[rule, max_steps(10)],
                  approve=lambda call: call.name == "look")
    print(outcome.reason, [result.status for step in outcome.trace for result in step.results])

# %% waiting [markdown]
# ## Count waiting apart
#
# People answer when they come back from lunch. Here each answer takes 10 minutes and each search 5 seconds, on a clock that moves only when told to. The model would answer after three searches, 15 seconds of work. The limit is 60 seconds.

# %% lunch
from stoplib import ManualClock, time_limit

def run_over_lunch(*guards):
    clock = ManualClock()
    def says_yes_later(call):
        clock.advance(600)
        return True
    tools = {"search": lambda query: clock.advance(5)}
    return run(answers_after(3), "Find it.", tools=tools, guards=guards, approve=says_yes_later, clock=clock)

outcome = run_over_lunch(time_limit(60))
print(f"{outcome.reason}, {outcome.seconds:g} s, of which waiting: {outcome.waited:g} s")

# %% working [markdown]
# The run was ended for somebody's lunch. With `working=True` the time that a person takes does not count. But then an answer after a day is as good as one after a second, and by then the question may have changed. So set two limits: one on the work, and a wider one on everything.

# %% two-limits
for limits in ([time_limit(60, working=True)], [time_limit(60, working=True), time_limit(900)]):
    outcome = run_over_lunch(*limits)
    print(f"{limits}: {outcome.reason}, {outcome.seconds:g} s, of which waiting: {outcome.waited:g} s")
    print("   ", outcome.detail or outcome.answer)

# %% ctrl-c [markdown]
# ## Stop by Ctrl-C, and keep the transcript
#
# When somebody presses Ctrl-C, Python raises `KeyboardInterrupt` wherever the program happens to be. Left alone, it takes the transcript with it. This loop catches it and makes a reason of it. After each round it calls `progress`, which prints a line; here that is where
# the person presses.

# %% interruptible
def run_interruptible(question, model, tools, progress, max_steps=4):
    messages = [{"role": "user", "content": question}]
    try:
        for step in range(1, max_steps + 1):
            reply = model(messages)
            result = tools[reply["tool"]](**reply["args"])
            messages.append({"role": "assistant", "content": reply})
            messages.append({"role": "tool", "content": result, "is_error": not result["ok"]})
            progress(step, reply, result)
    except KeyboardInterrupt:
        return "interrupted", messages
    return "max_steps", messages

def reads_next_note(messages):
    return {"tool": "read_file", "args": {"path": f"notes/{len(messages) // 2 + 1}.md"}}

def presses_after_two(step, request, result):
    print(f"round {step}: {request['args']['path']} -> {result['text']}")
    if step == 2:
        raise KeyboardInterrupt

# %% interrupt-question [markdown] checkpoint="6.3"
# ### Checkpoint 6.3
#
# The model would read four notes. The person presses Ctrl-C when the line of round 2 has been printed. How many messages does the caller get?
#
# - a) `0` :: An error that nobody catches leaves the caller with nothing. Here it is caught, inside the function that still has the list.
# - b) `3` :: Your message and one round: that would be so if the round in which the person presses were dropped. But both of its messages are in the list before its line is printed.
# - c) `5` :: Your message and two rounds of two. The interrupt comes after the second round is written down and before the third begins.
# - d) `9` :: Your message and four rounds, if Ctrl-C only said "stop when you are done". It leaves the `for` loop at once.

# %% interrupt-predict role="predict"
predict("6.3")

# %% interrupt-reveal role="reveal"
tools = {"read_file": lambda path: {"ok": True, "text": f"contents of {path}"}}
reason, messages = run_interruptible("Summarize the notes.", reads_next_note, tools, presses_after_two)
print(reason, "with", sum(message["role"] == "tool" for message in messages), "rounds in the transcript")
reveal("6.3", len(messages))

# %% listener [markdown]
# In the library a function that is told what happens is a **listener**: `on_event=`. It gets an event of the kind `reply`, `call`, `result` or `end`. `print_trace` is one; here is one of your own, which prints a line for each result, and presses Ctrl-C in the second.

# %% own-listener
def progress(event):
    if event.kind == "result":
        print(f"step {event.step}: {event.result.call} -> {event.result.text}")
        if event.step == 2:
            raise KeyboardInterrupt

def next_note(messages):
    return call("read_file", path=f"notes/{len(messages) // 2 + 1}.md")

outcome = run(next_note, "Summarize the notes.", tools={"read_file": lambda path: f"contents of {path}"}, on_event=progress)
print(outcome.reason, "after", outcome.steps, "steps")

# %% batch-part [markdown]
# ## Leave no request without a result
#
# One reply can ask for several tools, a **batch**, and Ctrl-C can strike among them. A loop that just leaves then has more requests than results, and APIs refuse such a transcript: the talk cannot go on. And what of the tool that was running? It may have done half of its work, and the transcript should say so. The second cell presses in each place
# where a run can be: in the model, a tool, the person, a listener, a guard or the clock.

# %% batch-interrupted
from stoplib import batch

def read(path):
    if path == "b.txt":
        raise KeyboardInterrupt
    return f"contents of {path}"

three = batch(call("read", path="a.txt"), call("read", path="b.txt"), call("read", path="c.txt"))
outcome = run(script(three), "Read them.", tools=[read])
for result in outcome.trace[-1].results:
    print(result.call, "->", result.status, "|", result.text)

# %% anywhere
def press(*args, **kwargs):
    raise KeyboardInterrupt

usual = {"model": script(three), "task": "Read them.", "tools": {"read": lambda path: "text"}}
places = {"model": press, "tools": {"read": press}, "approve": press, "on_event": press,
          "guards": [press, max_steps(10)], "clock": press}
for place, pressed in places.items():
    outcome = run(**{**usual, place: pressed})
    requests = sum(len(message.get("tool_calls", ())) for message in outcome.messages)
    results = sum(message["role"] == "tool" for message in outcome.messages)
    print(f"{place:9} {outcome.reason}: {requests} requests, {results} results")

# %% flag [markdown]
# ## Stop by a flag
#
# A web page has no Ctrl-C. Its Stop button sets a **flag**, and the guard `cancelled` looks at it at each gate; a tool that is running is not cut short. A flag that was set while nothing was running belongs to no run: a loop that asked only
# `stop.is_set()` would end the next run for it. It counts again when it has been cleared and set anew. So clear it when a run ends; otherwise the next press goes unnoticed, as in the second line below.

# %% flags
from threading import Event

stop, search = Event(), {"search": lambda query: "nothing"}
stop.set()

def run_and_press(step):
    return run(answers_after(3), "Find it.", tools=search, guards=[cancelled(stop), max_steps(10)],
               on_event=lambda event: stop.set() if event.step == step else None).reason

print("set before the run:          ", run_and_press(None))
print("still set, pressed in step 2:", run_and_press(2))
stop.clear()
print("cleared, pressed in step 2:  ", run_and_press(2))

# %% lab-intro [markdown]
# ## Lab: you are the person
#
# Press *Play*, answer when you are asked, and press *Stop* in the middle of a run: the table shows what became of each request. Then choose the model that insists.

# %% lab
from stoplib.course.lab import lab_person
lab_person()

# %% recap [markdown]
# ## Exercise
#
# [Exercise 05: approval](../exercises/05_approval.ipynb). About {minutes of exercise 05} minutes. You write the part of the loop that asks, runs or declines, for several requests at once, and that leaves a whole transcript when Ctrl-C strikes in the middle.
#
# ## Recap
#
# You can now
#
# - put the question in its place: after the look-up, before the action
# - take nothing but `True` for a yes
# - bound how often a person is asked, and say what gets past that bound
# - limit work and waiting apart
# - end a run by Ctrl-C or by a flag, with as many results as requests
#
# ## In practice
#
# - Without `approve` every tool runs and nobody is asked. With it your function is asked about each call; for tools that only look, let it return `True` at once.
# - Say what a "no" does. Users of one program [did not expect](https://github.com/anomalyco/opencode/issues/30726) that it ended the whole run. In another a person said yes [27 seconds too late](https://github.com/preloop/preloop/pull/510): the run had stopped waiting.
# - Anthropic's message for a request without a result is ["tool_use ids were found without tool_result blocks"](https://github.com/anthropics/claude-code/issues/1776). And "not run" must be true: one program told its model that a tool [had not run](https://github.com/anthropics/claude-code/issues/86001) that had been stopped half-way.
# - A tool with a bare `except:` catches Ctrl-C as well, and the run goes on. `except Exception` does not.
# - `run` cannot cut a question or a running tool short, so it notices a person who never answers as little as you would. `arun`, its twin for `async` code, cancels at the time limit what is running or waiting.
#
# ---
#
# Previous: [05 What a run costs: why did 10 steps cost 45 times one step?](05_what_a_run_costs.ipynb) · Next: [07 The reply has reasons too: is "it stopped" the same as "it is done"?](07_the_reply_has_reasons.ipynb)
