# %% title [markdown]
# # {kind} 10: the guard set
#
# **What you will do.** Build one guard set, with the tools' declarations, that is right on sixteen scenarios: it stops runaways of every kind in time and for the right reason, and lets honest runs go to their end.
#
# **What you need.** [Chapter 11](../notebooks/11_the_full_guard_set.ipynb), and the chapters before it to look things up.
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% task [markdown]
# ## What you write
#
# `guard_set(tools, stop)` returns two things: the tools as `run` takes them, and the list of guards.
#
# - `tools` maps names to functions: `search(query)`, `read(path)`, `edit(change)`, `test()`, `status()`, `feed()`, `send(text)`. Return all seven under their names. Wrap those of which the guards should know something, as in `tool(poll=…)(tools["status"])`.
# - `stop` is a `threading.Event`. A person sets it to say stop.
# - `guard_set` is called anew for every scenario. Its guards may be used for more than one run.
# - The clock, the prices and, where there is one, the person who approves are given to `run` by the scenario. Usage is reported, and a token is four characters. A million tokens cost 3 as input and 15 as output.

# %% world [markdown]
# ## What you know about the tools
#
# | tool | what it does |
# | --- | --- |
# | `search`, `read` | the same request gives the same result, until they fail |
# | `edit` | changes a draft that only this run sees |
# | `test` | runs the tests on the draft |
# | `status` | says how far a job has got. It is asked again on purpose: an honest job may say the same 15 times in a row before it goes on |
# | `feed` | gives JSON such as `{"at": 17, "rows": []}`. `at` is the time of asking and says nothing |
# | `send` | sends a message to a customer. The result has a new receipt number each time |

# %% scenarios [markdown]
# ## The scenarios
#
# | runaway | must be stopped | reason |
# | --- | --- | --- |
# | it looks for ever, and finds something new each time | after at most 40 model calls | `max_steps` |
# | each call sends everything again, and the results are long | with at most 100,000 tokens, not one more | `token_budget` or `cost_budget` |
# | every tool call takes long | no model call begins after 300 seconds or later | `time_limit` |
# | it asks for many things in each reply | at most 60 tool calls are carried out | `max_tool_calls` |
# | it asks for the same 1 to 7 things in turn | within three passes | stuck |
# | new words each time, and never a match | after at most 8 model calls | stuck |
# | it asks for the status of a job that never gets on | after at most 30 model calls | stuck |
# | the feed brings nothing but a new time | after at most 8 model calls | stuck |
# | the search is broken: every request raises an error | at most 5 model calls after it broke | `too_many_errors` |
# | a person declines everything | after at most 4 questions to the person | `too_many_refusals` |
# | a person says stop | no model call after that | `cancelled` |
# | it sends the same message again, sometimes with other requests in between | the message goes out once | stuck, or `max_tool_calls` |
#
# *Stuck* means `going_in_circles`, `no_new_results`, `repeated_round`, `repeated_call`, or the name of a guard of your own. In a joined guard such as `a & b` one of the names is enough.
#
# **Honest runs** end with an answer, and no guard may fire, also when the same guards are used for a second run. They make up to 29 model calls and 40 tool calls, use up to 50,000 tokens and work for up to 200 seconds, and some of them go that far. In them
#
# - `status` says the same up to 15 times in a row, and a person takes 20 minutes to approve
# - an edit and a failing test follow each other up to nine times, each edit a new one, each test with the same result
# - three searches in a row find nothing, two in a row raise an error, a person declines two requests in a row
# - a file is read twice in a row, and again later
# - three different messages are sent

# %% hints [markdown]
# <details><summary>Hint: where to begin</summary>
# Which four guards belong to the first four rows? Put them in, run the checks, and go on from what they show you.
# </details>
# <details><summary>Hint: how often is too often</summary>
# An honest run reads a file twice in a row, and a runaway may go round three times. Which number lies between the two, and which guard takes it?
# </details>
# <details><summary>Hint: the order</summary>
# Errors with the same text are results with the same text. Two guards see that. Which of them helps the caller more, and where in the list does it stand?
# </details>
# <details><summary>Hint: one message</summary>
# How do you say "a call is repeated" <i>and</i> "it is a message"? A guard can be joined with a plain function of the run, and <code>run.batch</code> holds the calls of the current reply.
# </details>
# <details><summary>Hint: a rule of your own</summary>
# At which gate must it look, and at which does a plain function look? Chapter 11 has a class that looks before the action; <a href="../docs/your-own-guard.md">How do I add my own guard?</a> has more.
# </details>

# %% your-set [markdown]
# ## Your guard set
#
# These guards are at hand, and `tool` for the declarations:

# %% at-hand
from stoplib import cancelled, cost_budget, going_in_circles, max_steps, max_tool_calls, no_new_results, repeated_call
from stoplib import repeated_round, rough_token_budget, time_limit, token_budget, too_many_errors, too_many_refusals
from stoplib import tool

for guard in (cancelled, too_many_errors, too_many_refusals, going_in_circles, no_new_results, repeated_call, repeated_round,
              max_tool_calls, token_budget, cost_budget, rough_token_budget, time_limit, max_steps):
    print(f"{guard.__name__:19}", guard.__doc__.splitlines()[0])

# %% guard-set role="answer"
def guard_set(tools, stop):
    """Return (tools, guards): the tools with what the loop should know about them, and the list of guards."""
    ### BEGIN SOLUTION
    def sending(run):
        return "a message is about to go out" if any(call.name == "send" for call in run.batch) else None

    declared = tools | {
        "status": tool(poll=16)(tools["status"]),
        "feed": tool(volatile=("at",))(tools["feed"]),
        "send": tool(effect=True)(tools["send"]),
    }
    guards = [
        cancelled(stop),
        too_many_errors(3),
        too_many_refusals(3),
        repeated_call(2) & sending,
        going_in_circles(times=3, longest=7),
        no_new_results(4),
        max_tool_calls(60),
        token_budget(100_000, hard=True),
        time_limit(300, working=True),
        max_steps(40),
    ]
    return declared, guards
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# Each scenario is played with three seeds. The first cell gives the whole score; it never fails. The others go through the groups and give hints.

# %% score
from stoplib.course.exercises import the_guard_set
the_guard_set.score(guard_set)

# %% check-limits role="check"
the_guard_set.check_limits(guard_set)

# %% check-stuck role="check"
the_guard_set.check_stuck(guard_set)

# %% check-trouble role="check"
the_guard_set.check_trouble(guard_set)

# %% check-honest role="check"
the_guard_set.check_honest(guard_set)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - The order: first what a person did, then what is broken, then what is stuck, and last what ran out. It decides only which reason the caller reads.
# - `going_in_circles(times=3)` lies between an honest second look and the third pass of a runaway. `repeated_call` alone would stop the failing test of an honest run, because it counts the same call anywhere.
# - `repeated_call(2) & sending` is looked at before the action, the later of the two gates. So the second copy does not go out, whatever lies between the two. A plain function alone would look before the next call, when the message has gone.
# - `poll=16`: sixteen equal results in a row are fine, one more than an honest job needs. The next one is a repeat, and from there on the ordinary rules apply.
# - The token budget is hard, because one call of this runaway is large. The time limit counts working time, because the person at lunch does not work.
# - What this set still does not see: two copies of a message in *one* reply, a message with one word changed, and everything that chapter 11 lists.

# %% stretch [markdown]
# ## Stretch goal
#
# Write a design-review page for your set, as in chapter 11: a sentence for each guard, and a run that tries to break it. Then break one: two copies of the same message in one reply. Which guard of your own would see that? ([How do I add my own guard?](../docs/your-own-guard.md))

# %% back [markdown]
# Back to [chapter 11](../notebooks/11_the_full_guard_set.ipynb). A solution with reasons is in [solutions](../solutions/10_the_guard_set.ipynb).
