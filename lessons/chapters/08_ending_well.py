# %% title [markdown]
# # Ending well: what does the caller get when it did not work?
#
# **What you will do.** Turn a run that stops at a limit from a `None` into a report that a caller can act on, and find out what a summary, a retry and
# a goal check are each worth.
#
# **What you will learn**
#
# - return what was found, the reason and the spend also when there is no answer
# - get a closing summary inside the limit, and say what it is worth
# - choose the caller's next move by the reason
# - look at what a run did to the world before it is run again
# - let a check of the world decide what is done
#
# **What you need.** [Chapter 07](07_the_reply_has_reasons.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% lose [markdown]
# ## Lose everything at the limit
#
# A model has to find out who of five suppliers delivers within a week. It asks for one after the other, and then it answers. `said(messages)` counts how often the model has spoken.

# %% world
from stoplib import Reply, Usage, answer, call, cost_budget, goal_reached, max_steps, run, script, tool
from stoplib.course.checkpoint import predict, reveal
from stoplib.fakes import cycles, said

TASK = "Which of A, B, C, D and E delivers within a week?"
DAYS = {"A": 3, "B": 9, "C": 5, "D": 12, "E": 6}

def delivery(supplier):
    return f"{supplier} delivers in {DAYS[supplier]} days"

def asks_five(messages):
    if said(messages) == 5:
        return answer("A, C and E deliver within a week.")
    return call("delivery", supplier="ABCDE"[said(messages)])

# %% run-or-none
def run_or_none(model, tools, task, max_steps):
    messages = [{"role": "user", "content": task}]
    for _ in range(max_steps):
        reply = model(messages)
        if not reply.calls:
            return reply.text
        result = tools[reply.calls[0].name](**reply.calls[0].args)
        messages += [{"role": "assistant", "content": ""}, {"role": "tool", "content": result}]
    return None

for limit in (6, 4):
    print(run_or_none(asks_five, {"delivery": delivery}, TASK, limit))

# %% keep [markdown]
# The second run made four calls and asked four suppliers. The caller gets `None`, and cannot tell a run that nearly made it from one that never began.
#
# ## Return what was found
#
# What the run found is in its messages. So when a run ends without an answer, return a **structured result**: a status that nobody can take for success, the reason, and the evidence. Here it is, written for the messages of a
# library run.

# %% incomplete
def incomplete(reason, messages):
    return {"status": "incomplete", "reason": reason, "evidence": [m["content"] for m in messages if m["role"] == "tool"]}

stopped = run(asks_five, TASK, tools=[delivery], guards=[max_steps(4)], clock=lambda: 0)
incomplete(stopped.reason, stopped.messages)

# %% report [markdown]
# Every outcome of the library has this as `report()`, with the spend. Complete runs have it too, so a caller always reads the same form.
#
# Evidence can be long. Cut it if you must, and say that you did: a list that ends without a word looks like all there is.

# %% report-run
report = stopped.report()
print(report["status"], "|", report["reason"], "|", report["spend"])
found = [one["result"] for one in report["evidence"]]
print(*found[:2], f"… and {len(found) - 2} more", sep="\n")

# %% last-word [markdown]
# ## Ask for a last word
#
# Evidence is long to read. The model could say in a sentence what it found and what is missing. So call it once more, with a request and without tools. A model that has a second parameter, `tools`, is told by the
# library which tools it may ask for. `closes_with` makes one that works as before while there are tools, and says the given reply when there are none.

# %% closes-with
def closes_with(reply):
    def model(messages, tools):
        return asks_five(messages) if tools else reply
    return model

sums_up = closes_with(answer("A and C deliver within a week, B does not. Not all five have been asked."))

def last_word(model, messages):
    request = {"role": "user", "content": "Stop here. Summarise what you have found and what is missing."}
    return model([*messages, request], []).text

print(last_word(sums_up, stopped.messages), "| model calls:", stopped.steps + 1)

# %% summarize [markdown]
# The summary leaves out D, which was asked. A summary is the model's word; what was found is in the evidence, so give the caller both.
#
# And the limit was four calls, and now there are five. The last word belongs inside the limit, so one step has to be kept back for it. In the library that is `summarize=True`: the **closing call** comes when a guard has ended the
# run, and it is the last one allowed.

# %% summarize-run
closed = run(sums_up, TASK, tools=[delivery], guards=[max_steps(4)], summarize=True)
print(closed.reason, "|", closed.detail)
print("model calls:", closed.steps, "| suppliers asked:", closed.tool_calls)
print("answer:", closed.answer, "| summary:", closed.summary)

# %% asks-question [markdown] checkpoint="8.1"
# ### Checkpoint 8.1
#
# Another model works in the same way, but at the closing call it asks for one more supplier, although it has no tools. With `max_steps(4)` and `summarize=True`, what does the run use?
#
# - a) `3 tool calls, 4 steps` :: The closing call is made and counts as a step. The request in its reply is answered with "not run", since the tools were taken away. No text came, so a fixed text stands in as the summary, and the
#   reason stays. (The fixed text speaks of the 3 steps after which the run was stopped; the closing call is the fourth.)
# - b) `3 tool calls, 3 steps` :: The closing call brought nothing to use, so one might leave it out of the count, and the fixed text speaks of 3 steps: those after which the run was stopped. But then one more reply came, and a reply is paid for
#   whatever it brings.
# - c) `4 tool calls, 4 steps` :: In every other step a request is carried out. The closing call is the one step in which nothing is: a tool that ran now would bring a result that no model gets to read.
# - d) `4 tool calls, 5 steps` :: The request could be carried out and the model asked for its summary again. Then the model would decide how long the run goes on after its end.

# %% asks-predict role="predict"
predict("8.1")

# %% asks-reveal role="reveal"
wants_more = closes_with(call("delivery", supplier="D"))
outcome = run(wants_more, TASK, tools=[delivery], guards=[max_steps(4)], summarize=True)
print("summary:", outcome.summary)
reveal("8.1", f"{outcome.tool_calls} tool calls, {outcome.steps} steps")

# %% claims-question [markdown] checkpoint="8.2"
# ## Ask what counts as a summary
#
# ### Checkpoint 8.2
#
# A third model reaches its output limit in the closing call: its reply is `Reply("A and C deliver", stop="max_tokens")`. Again `max_steps(4)` and `summarize=True`. What are the reason and the summary of the run?
#
# - a) `max_steps, half a sentence` :: Half a sentence seems better than none, and the run is marked incomplete in any case. But whoever reads it takes it for all that the model had to say: nothing in the text shows that B was to follow.
# - b) `max_steps, a fixed text` :: The limit ended the run before the summary was asked for, and a run has one reason. A summary is a reply that ends its turn with text. Half of one is not, so a text stands in that claims nothing.
# - c) `truncated, half a sentence` :: The API's word says "cut off", so the reader would be warned, and would still have the half. But a closing call changes nothing about the reason: the run had been stopped before it.
# - d) `truncated, a fixed text` :: In each step before the end, such a reply ends the run as `truncated`. This one comes after the end. It is no summary, and it is no reason either.

# %% claims-predict role="predict"
predict("8.2")

# %% claims-reveal role="reveal"
half = Reply("A and C deliver", stop="max_tokens")
outcome = run(closes_with(half), TASK, tools=[delivery], guards=[max_steps(4)], summarize=True)
reveal("8.2", f"{outcome.reason}, {'half a sentence' if outcome.summary == half.text else 'a fixed text'}")

# %% pitfall [markdown]
# > **Pitfall: `outcome.answer or outcome.summary`.** It always shows something, and nobody can see whether that was an answer or a summary. A model may call its summary a success, as in the cell below. Show `status` first, and give a
# > summary its name.
#
# ## Survive a summary that fails
#
# The closing call can fail like any call. In the version by hand, in the second cell, the error gets through and takes the evidence with it.

# %% boasts-run
boasts = closes_with(answer("All done! Every supplier delivers within a week."))
outcome = run(boasts, TASK, tools=[delivery], guards=[max_steps(4)], summarize=True)
print("one line:", outcome.answer or outcome.summary)
print("a report:", outcome.report()["status"], "|", outcome.reason, "| summary by the model:", outcome.summary)

# %% fails-run
def down(messages, tools):
    if not tools:
        raise ConnectionError("the service is down")
    return asks_five(messages)

try:
    last_word(down, stopped.messages)
except ConnectionError as error:
    print("by hand:", error)
outcome = run(down, TASK, tools=[delivery], guards=[max_steps(4)], summarize=True)
print("library:", outcome.reason, "| steps:", outcome.steps, "| evidence:", len(outcome.report()["evidence"]), "|", outcome.summary)

# %% reserve [markdown]
# The library keeps the evidence, and its fixed text stands in. A step is counted when its reply has come, so the call that failed is not among the three; your provider may still charge for it.
#
# ## Keep money back, too
#
# A step that was kept back is of no use if the money is gone. Here each call costs 1, and 5 may be spent. `reserve` keeps money back for the closing call, as it kept tokens back in chapter 05.

# %% reserve-run
def costly(messages, tools):
    return sums_up(messages, tools)._replace(usage=Usage(900, 100))

for reserve in (0, 1):
    outcome = run(costly, TASK, tools=[delivery], guards=[cost_budget(5, reserve=reserve), max_steps(10)],
                  prices={"input": 1000, "output": 1000}, summarize=True)  # per million tokens
    print(f"cost {outcome.cost:g}, suppliers asked: {outcome.tool_calls}, summary: {outcome.summary}")

# %% next-moves [markdown]
# Both runs cost 5. The second one asked one supplier less and has something to say.
#
# ## Choose the next move by the reason
#
# The caller now knows why the run ended, so it can do something better than try again.
#
# | reason | a move that may help |
# | --- | --- |
# | `answered`, `goal_reached` | use the answer |
# | `max_steps`, `max_tool_calls`, `time_limit`, `token_budget`, `cost_budget` | raise the limit, if the evidence shows progress |
# | `daily_cap` | wait for tomorrow, or ask whoever pays |
# | `repeated_call`, `repeated_round`, `going_in_circles`, `no_new_results` | change the task or the tools; a higher limit buys more of the same |
# | `truncated`, `context_full` | raise the output limit; send less |
# | `refused`, `too_many_refusals` | ask a person |
# | `too_many_errors`, `fatal` | mend what is broken, then retry |
# | `empty_reply` | retry once |
# | `unfinished` | read `detail`: the reason has more than one cause |
# | `interrupted`, `cancelled` | nothing: a person has decided |
# | the name of a guard of yours | what you wrote it for |
#
# ## Retry a run that acted
#
# A retry looks harmless. Here a caller runs a task again if it was not complete. In the first run the message goes out, and then the model is down: the script has no further reply.

# %% retry-run
sent = []

@tool(effect=True)
def send(to):
    sent.append(to)

goes_down = script(call("send", to="Ann"))
for model in (goes_down, script(call("send", to="Ann"), answer("I have written to Ann."))):
    outcome = run(model, "Write to Ann", tools=[send])
    print(outcome.reason, "| complete:", outcome.complete, "| sent:", sent)

# %% acted [markdown]
# The second run is complete, and Ann has the message twice. Neither run did anything wrong; the retry did.
#
# So before a retry look at what the run did to the world. A tool that acts says so with `effect=True`, as in chapter 04, and `outcome.traits` holds what the tools have declared. Each result has a *status*: `ok`, `error`, `declined` or `not_run`.
#
# An error counts as well: in chapter 07 a message went out after its tool had timed out. So the list errs on the safe side. It also names a call whose arguments were wrong and which never reached the tool, as in the second list below.

# %% acted-run
def acted(outcome):
    acting = [name for name, declared in outcome.traits.items() if declared.effect]
    return [str(r.call) for step in outcome.trace for r in step.results if r.call.name in acting and r.status in ("ok", "error")]

acted(run(goes_down, "go", tools=[send])), acted(run(script(call("send", too="Ann")), "go", tools=[send])), acted(stopped)

# %% goal-question [markdown] checkpoint="8.3"
# A run with an empty list, such as the third, may be run again. After the other two a person decides, or the next run is told what has happened. The list is as good as the declarations: a tool that acts and does not say so is missing from it.
#
# ## Ask the world, not the model
#
# Also a complete run can be wrong: `answered` means that the model said so. The guard `goal_reached(check)` asks a function of yours. It is asked after each round, and once more when the model answers.
#
# ### Checkpoint 8.3
#
# The tool `save` has a fault: it returns "saved" and writes nothing. The model calls it once and then answers "I have saved the report." The guards are `goal_reached` with a check that looks for the file, and `max_steps(10)`. What is the
# reason?
#
# - a) `answered` :: By the rules of chapter 07 this is an answer: the turn ended with text and without a request. The check is asked before that counts, and it does not find the file.
# - b) `max_steps` :: The loop could send the model back to work until the check passes or the steps run out. That is a way to build it. This library ends the run and leaves it to the caller whether another try makes sense.
# - c) `unfinished` :: The model considers the task done and the check says that it is not. The check wins, and the reason says that something is missing. What the model said is in `text`, and `answer` is `None`.
# - d) `goal_reached` :: The tool's result says "saved", and so does the model. Both are texts. The check looks at the files.

# %% goal-predict role="predict"
predict("8.3")

# %% goal-reveal role="reveal"
files = {}
model = script(call("save", name="report.md"), answer("I have saved the report."))
outcome = run(model, "Write the report", tools={"save": lambda name: "saved"},
              guards=[goal_reached(lambda: "report.md" in files), max_steps(10)])
print("text:", outcome.text, "| detail:", outcome.detail)
reveal("8.3", outcome.reason)

# %% done [markdown]
# What next is the caller's decision, as after every other end. If the model may try again, start a run with the check's finding in its task. The same task once more would meet the same broken tool.
#
# ## Stop a model that has succeeded
#
# The check works the other way too. This model makes one fix, then another one, then the first again. Only the second is right, and the model does not notice. Watch what three rounds do with and without the check.

# %% done-run
tests = {}

def fix(change):
    tests["result"] = "all passed" if change == "truncate the total" else "1 failed"
    return tests["result"]

two_fixes = cycles(call("fix", change="round the total"), call("fix", change="truncate the total"))
passed = goal_reached(lambda: tests["result"] == "all passed")
for guards in ([max_steps(3)], [passed, max_steps(3)]):
    outcome = run(two_fixes, "Make the failing test pass.", tools=[fix], guards=guards)
    print(f"{outcome.reason}, complete: {outcome.complete}, rounds: {outcome.steps}, tests: {tests['result']}")

# %% weak [markdown]
# Without the check, the third round undid what the second had achieved. With it the run ends complete, although the model never answered.
#
# A check has its own weakness: it knows only what it looks at. Here it looks for the file, and the first save writes an empty one.

# %% weak-run
files.clear()
model = script(call("save", name="report.md", text=""), call("save", name="report.md", text="A, C and E"))
outcome = run(model, "Write the report", tools={"save": lambda name, text: files.update({name: text})},
              guards=[goal_reached(lambda: "report.md" in files), max_steps(10)])
print(outcome.reason, "| complete:", outcome.complete, "| files:", files)

# %% recap [markdown]
# A check like this one is worse than none, because its word is final. Make it look at what the task was about: here, at what the file says.
#
# ## Exercise
#
# [Exercise 07: end well](../exercises/07_a_final_summary.ipynb). About {minutes of exercise 07} minutes. You write the end of a run: a closing summary inside what is left of the budget, a result that holds in every case, and all the ways in which the closing call goes wrong.
#
# ## Recap
#
# You can now
#
# - return status, reason, evidence and spend from a run that did not work
# - keep back a step and money for a closing summary, and survive its failure
# - say what each reason leaves the caller to do
# - find out what a run did to the world before you repeat it
# - add a check that decides what is done, and ask what it does not see
#
# ## In practice
#
# - These faults are reported for real tools: [a subagent](https://github.com/google-gemini/gemini-cli/issues/22323) that ran out of turns and was reported as a success; [a summary call](https://github.com/NousResearch/hermes-agent/pull/36246) whose reply
#   asks for a tool; [a goal](https://github.com/NousResearch/hermes-agent/issues/18421) marked as done because the model said that a file was there.
# - A `time_limit` keeps nothing back. When the time is up there is no closing call, and the fixed text stands in.
# - An API may reject a request that sets a choice of tools and offers none, and with it the closing call: [one report](https://github.com/NousResearch/hermes-agent/issues/94139).
# - `unfinished` has two causes, and `detail` tells them apart. A word of the API that the loop does not know: look it up, and add it to the list. A goal check that says no: mend what it found, or run again with the finding in the task.
# - *Raise the limit* means: another run. Neither the course nor the library resumes a stopped run. `outcome.messages` holds all that was said, and a model of yours can be given it; but steps, clock and budget begin anew, so write down that the
#   two runs together may spend both limits.
# - For actions that have to survive a retry, let the service recognise the repeat: [idempotency keys](https://docs.stripe.com/api/idempotent_requests) do that for payments. The key has to belong to the task, not to the run.
# - Elsewhere you may meet `goal_reached` under the name `done`. Its check runs after every round: if yours needs minutes, as a whole test suite does, use a quick one here, or let the model ask for the slow one as a tool.
#
# ---
#
# Previous: [07 The reply has reasons too: is "it stopped" the same as "it is done"?](07_the_reply_has_reasons.ipynb) · Next: [09 Test every exit: how do you know that each rule fires?](09_test_every_exit.ipynb)
