# %% title [markdown]
# # The reply has reasons too: is "it stopped" the same as "it is done"?
#
# **What you will do.** Run a loop that takes every reply without a tool request for the answer, see what it makes of broken replies, and sort
# replies and failed tools into the reasons that they stand for.
#
# **What you will learn**
#
# - tell a finished reply from one that was cut off, refused, paused or left empty
# - decide whether the tools of a broken reply may run
# - tell a tool error from a result, and a mistake of the model from a broken environment
# - say what a tool's time limit does, and what it cannot do
#
# **What you need.** Chapters [02](02_three_exits.ipynb) and [03](03_guards_are_functions.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% words [markdown]
# ## Read the API's own word
#
# Until now a model answered or asked for a tool. A real one stops talking for more reasons, and its API says which, in one word beside the text. These are the
# words of two APIs. The **context window** is the most that one call can hold, messages and reply together.
#
# | what happened | Anthropic's Messages API | OpenAI's Chat Completions |
# | --- | --- | --- |
# | the model ended its turn, or came to a stop text of yours | `end_turn`, `stop_sequence` | `stop` |
# | it asks for tools | `tool_use` | `tool_calls` |
# | it reached its output limit | `max_tokens` | `length` |
# | it refused, or a filter stepped in | `refusal` | `content_filter` |
# | the server paused a long turn | `pause_turn` | – |
# | the context window is full | `model_context_window_exceeded` | – |
#
# In the library a reply has a text, the calls that it asks for, and this word, called `stop`. Here are five replies without calls, and each is broken in its own way.

# %% five-replies
from threading import Event
from stoplib import (Fatal, Reply, ToolCall, answer, call, max_steps, print_trace, reasons, run, script, tool,
                     too_many_errors)
from stoplib.course.checkpoint import predict, reveal

five = {
    "cut off": Reply("There were three causes. The first", stop="max_tokens"),
    "refused": Reply("I cannot help with that.", stop="refusal"),
    "paused": Reply("Searching the web.", stop="pause_turn"),
    "full window": Reply("The first cause was", stop="model_context_window_exceeded"),
    "empty": Reply("", stop="end_turn"),
}

# %% naive [markdown]
# ## Take everything else for done
#
# A first loop often asks one question: is there a tool request? If there is, run it. If there is not, the text must be the answer. Such a loop never looks at the
# word.

# %% naive-loop
def naive_loop(model, tools, task):
    messages = [{"role": "user", "content": task}]
    while True:
        reply = model(messages)
        messages.append({"role": "assistant", "content": reply.text})
        if not reply.calls:
            return reply.text, "done"
        for request in reply.calls:
            result = tools[request.name](**request.args)
            messages.append({"role": "tool", "content": result})

# %% five-runs
QUESTION = "Why did the site go down?"
for name, reply in five.items():
    text, reason = naive_loop(script(reply), {}, QUESTION)
    print(f"{name:<12} {reason}: {text!r}")

# %% allow [markdown]
# `script` makes a model that says the given replies, one per step. Five runs, five times `done`, and not one of these texts answers the question.
#
# ## Ask for the word that means done
#
# The loop concludes from something that is *missing*. Turn it round: a reply is done if the word for that is *there*.

# %% says-done
def says_done(reply):
    return not reply.calls and reply.stop == "end_turn"

two_more = {"answer": Reply("The disk was full.", stop="end_turn"),
            "another API": Reply("The disk was full.", stop="stop")}
for name, reply in (five | two_more).items():
    print(f"{name:<12} {'done' if says_done(reply) else 'not done'}")

# %% two-wrong [markdown]
# Two of the seven are still wrong, in opposite directions. The empty reply has the right word and no content: the text has to be looked at as well. And the good answer of
# another API is turned away, because its word is not on our list. (The library's list has the words of both.)
#
# The second mistake is the better one to make: somebody finds a good answer marked unfinished and adds a word to a list. A broken reply that is marked done is found by
# nobody. So **a word that you do not know is never a success**.
#
# > **Pitfall: a list of the bad words.** `if stop == "max_tokens": … else: done` is right on the day when it is written, but then the API gets a new word, and the new word falls into
# > the `else`. List the words that mean done, and let everything else be a question.

# %% half [markdown]
# ## See half a request run
#
# A reply can reach its output limit in the middle of a tool request. Here a model wants to delete `drafts/old.md` and gets as far as `{"path": "drafts`. Some clients repair such JSON: they add
# the quote and the bracket that are missing. Then half a request looks like a whole one.

# %% half-run
half = Reply("I will delete it.", [ToolCall("delete", {"path": "drafts"})], stop="max_tokens")
deleted = []

def delete(path):
    deleted.append(path)
    return f"deleted {path}"

print(naive_loop(script(half, answer("Done.")), {"delete": delete}, "Delete drafts/old.md"))
print("deleted:", deleted)

# %% half-library [markdown]
# The whole folder is gone, nothing raised an error, and the run says `done`. Now `stoplib.run` gets the same two replies and the same tool. What does the caller get back, and what would the model read about its request?

# %% half-library-run
deleted.clear()
outcome = run(script(half, answer("Done.")), "Delete drafts/old.md", tools=[delete])
print(outcome.reason, "| deleted:", deleted)
print("result of the request:", outcome.messages[-1]["content"])

# %% paused-question [markdown] checkpoint="7.1"
# The word comes first. A reply that was cut off ends the run, and none of its requests runs, however whole they look; each has a result that says so. Some loops would let the model try again. This one leaves that to the caller, because the same
# output limit would cut off the same request again.
#
# ## Send a paused turn back
#
# Some APIs run tools of their own on their server, a web search for instance, all within one turn. If that takes too many rounds there, the API hands out what it has, with the word `pause_turn`. Nothing is
# wrong. You add the reply to the messages, call the model again, and it goes on where it was. The library does that.
#
# ### Checkpoint 7.1
#
# A model pauses twice and then answers; it asks for no tool. The only guard is `max_steps(2)`. What is the reason?
#
# - a) `answered` :: A pause is not the end of a turn, so one might count the three calls as one step. But each time that a reply is sent back the model is called, and paid, again.
# - b) `max_steps` :: A step is one call of the model, whatever comes back. The two pauses are two steps, and the third call is not made. So a model that pauses for ever meets the step limit as well.
# - c) `unfinished` :: Two replies, neither an answer nor a request: a loop that knows only those two kinds would have to give up. This one knows the word, and goes on.
# - d) `pause_turn` :: The API's words and the reasons of a run are two lists. A pause is no reason at all, since the run does not end with it.

# %% paused-predict role="predict"
predict("7.1")

# %% paused-reveal role="reveal"
model = script(five["paused"], five["paused"], answer("The disk was full."))
first, second = (run(model, QUESTION, guards=[max_steps(n)]) for n in (2, 3))
print(f"max_steps(2): {first.reason}, max_steps(3): {second.reason}")
reveal("7.1", first.reason)

# %% match-question [markdown] checkpoint="7.2" kind="match"
# ## Compare the library's reasons
#
# The library reads text, requests and word together. These are reasons that a run can end with:
#
# - a) `answered`
# - b) `empty_reply`
# - c) `fatal`
# - d) `refused`
# - e) `truncated`
# - f) `unfinished`
#
# ### Checkpoint 7.2
#
# Six runs begin with these replies: first the API's word, then the text. One of them has a request as well. How does each run end? A letter may be needed twice, or not at all.
#
# - 1) `length` and "The disk was full." :: The text reads like a whole answer. But the word says that the output limit was reached, and nobody can see what is missing.
# - 2) `tool_use` and "I will look." :: The word announces a request, and there is none. The two do not fit, and the library does not guess which of them is wrong.
# - 3) `stop` and "The disk was full." :: The word of Chat Completions for an ended turn, and a text: nothing speaks against it.
# - 4) `end_turn` and a text of two line breaks :: The turn has ended and nothing was said, since line breaks are no text. The word alone would make an answer of it.
# - 5) `finished`, "I will delete it." and a request to delete `drafts` :: Nobody has listed this word, so nobody knows whether the request is whole. A word that is not known is no success, and nothing runs.
# - 6) `content_filter` and "The disk was full." :: A filter stepped in, so what is left is not what the model wanted to say, however good it sounds.

# %% match-predict role="predict"
predict("7.2")

# %% match-reveal role="reveal"
full, request = "The disk was full.", ToolCall("delete", {"path": "drafts"})
replies = [Reply(full, stop="length"), Reply("I will look.", stop="tool_use"), Reply(full, stop="stop"), Reply("\n\n", stop="end_turn"),
           Reply("I will delete it.", [request], stop="finished"), Reply(full, stop="content_filter")]
deleted.clear()
ends = {reply.stop: run(script(reply), QUESTION, tools=[delete]) for reply in replies}
for word, outcome in ends.items():
    print(f"{word:<15}{outcome.reason:<12} complete: {outcome.complete!s:<6} {outcome.answer!r:<21} {outcome.text!r}")
print("deleted:", deleted)
reveal("7.2", {word: outcome.reason for word, outcome in ends.items()})

# %% errors [markdown]
# A run that is not complete has no `answer`. What the model said is kept in `text`, the last column, for whoever decides how to go on.
#
# ## Hand the model its mistakes
#
# A reply can be whole and its request wrong all the same. That ends nothing: a mistake that the model can mend goes back to it, as a result marked as an error.

# %% read-tool
def read(path):
    if path != "log.txt":
        raise ValueError(f"there is no {path}")
    return "09:58 disk full"

# %% mistakes
mistakes = script(
    call("raed", path="log.txt"),                        # no such tool
    call("read", file="log.txt"),                        # wrong arguments
    Reply(calls=[ToolCall("read", '{"path": "lo')]),     # no valid JSON
    call("read", path="log"),                            # the tool itself raises
    call("read", path="log.txt"),
    answer("The disk was full."),
)
for step in run(mistakes, QUESTION, tools=[read]).trace[:-1]:
    print(step.results[0].status, "|", step.results[0].text)

# %% streak-question [markdown] checkpoint="7.3"
# ## Count errors in a row
#
# This model read its errors and got better. One that does not read them goes on until the step limit. The guard `too_many_errors(3)` ends a run after three **tool errors** in a row. A tool error is a tool call that
# could not do its job.
#
# ### Checkpoint 7.3
#
# There is one tool, `test`. It runs a test suite, and today it returns the text "1 failed". A model asks for `tets`, `tets`, `test`, `tets`, `tets`, in five steps, and then gives an answer. With
# `too_many_errors(3)` and `max_steps(10)`, how many steps does the run have?
#
# - a) `3` :: Two misspelled names and a failed test look like three failures. But the test suite ran, and it said what it found. That is a result, and the model needs it; only the calls of `tets` are errors.
# - b) `4` :: The fourth step brings the third error. That would end a run that adds up its errors from the start. Here the streak begins anew after each tool that did its job, and "1 failed" is a job done.
# - c) `5` :: The fifth step brings the second error after the test, or the fourth in all. Three in a row never happen, so the model gets its sixth call.
# - d) `6` :: Error, error, result, error, error: the failed test is a result and ends the first streak at two. The second streak also stops at two, and the sixth step is the answer.

# %% streak-predict role="predict"
predict("7.3")

# %% streak-reveal role="reveal"
model = script(*[call(name) for name in ("tets", "tets", "test", "tets", "tets")], answer("One test fails."))
outcome = run(model, "Do the tests pass?", tools={"test": lambda: "1 failed"},
              guards=[too_many_errors(3), max_steps(10)], on_event=print_trace)
reveal("7.3", outcome.steps)

# %% fatal [markdown]
# ## Stop when the world is broken
#
# Some errors no model can mend: a key that has expired, a server that is gone. A tool says so by raising `Fatal`. Compare it with an ordinary error, for a model that always tries again.

# %% fatal-runs
def broken(kind):
    def search(query):
        raise kind("the key has expired")
    return search

tries_again = script(*[call("search", query=f"try {n}") for n in range(10)])
for kind in (PermissionError, Fatal):
    outcome = run(tries_again, QUESTION, tools=[broken(kind)], guards=[too_many_errors(3), max_steps(10)])
    print(f"{kind.__name__:<16} {outcome.reason}, model calls: {outcome.steps}")

# %% model-raises [markdown]
# The ordinary error cost three model calls, `Fatal` cost one. Ask who can mend the error. A wrong file name is a matter for an ordinary exception: the model above read it and corrected the name.
#
# Chapter 01 left a question open: what if the model itself raises? It is fatal too, because nobody is left to read the error. What was found is kept:

# %% model-raises-run
def goes_down(messages):
    if len(messages) > 1:
        raise ConnectionError("the service is down")
    return call("read", path="log.txt")

outcome = run(goes_down, QUESTION, tools=[read])
print(outcome.reason, "|", outcome.detail)
print(outcome.messages[-1]["content"])

# %% timeout [markdown]
# ## Give a tool a time limit
#
# Chapter 02 showed a slow tool that made a run late, because nobody looks at the clock while a tool runs. A tool can have a limit of its own. The one below waits for a signal, and while the run
# lasts nobody gives it. After 0.02 seconds the loop waits no longer: the result is an error, and the run goes on.

# %% timeout-run
signal, finished, sent = Event(), Event(), []

@tool(timeout=0.02)
def send(to):
    signal.wait()
    sent.append(to)
    finished.set()

outcome = run(script(call("send", to="Ann"), answer("It could not be sent.")), "Write to Ann", tools=[send])
print(outcome.messages[2]["content"], sent, outcome.answer, sep="\n")

# %% timeout-late
signal.set()
finished.wait(5)
sent

# %% tree [markdown]
# The run was over, the model had said that nothing was sent, and then the message went out. **A timeout ends the waiting, not the work**: Python cannot end a function that runs in a thread. So after a timeout you do not know
# whether it happened.
#
# ## See all reasons at once
#
# Everything in this chapter fits into one tree. It stands at the top of the module `stoplib.reasons`. What it says about goals is a matter of chapter 08.

# %% tree-print
print(reasons.__doc__)

# %% lab-intro [markdown]
# ## Lab: you are the model
#
# Choose a reply and press *Reply*: the loop acts on it, and asks for the next one or ends. Find three ways to end a run that are not an answer.

# %% lab
from stoplib.course.lab import lab_replies
lab_replies()

# %% recap [markdown]
# ## Exercise
#
# [Exercise 06: say what a reply means](../exercises/06_reasons.ipynb). About {minutes of exercise 06} minutes. You write the function that reads text, requests and word, for four APIs and for words that nobody has told you about.
#
# ## Recap
#
# You can now
#
# - read text, requests and word of a reply, and say what each alone would miss
# - decide what a loop does with a reply that is cut off, refused, paused or empty
# - return mistakes to the model, and say which failures count as tool errors
# - end a run at once when the environment is broken
# - explain why a tool that timed out may still act
#
# ## In practice
#
# - The words and what to do about each: [stop reasons of the Messages API](https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons). Lists grow. The one of
#   [Amazon Bedrock](https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html) once had six words and has come to nine.
# - Half a request that looks whole is no invention: [this discussion](https://github.com/earendil-works/pi/pull/6285) is about a coding agent whose parser saves what it can of cut-off JSON. Sometimes even the word is wrong:
#   [a report to vLLM](https://github.com/vllm-project/vllm/issues/58228) describes replies cut off at the limit that arrive as `tool_calls`.
# - If you write a model for the library yourself, pass the API's word on as `stop`. Without it, a reply counts as an ended turn or, with requests, as a request.
# - `Fatal`, like Ctrl-C, is no `Exception` in Python. So a tool that catches every `Exception` does not swallow it.
# - An `async` tool can be cancelled: `arun` does that at the run's deadline.
#
# ---
#
# Previous: [06 A person in the loop: who may say no, and what then?](06_a_person_in_the_loop.ipynb) · Next: [08 Ending well: what does the caller get when it did not work?](08_ending_well.ipynb)
