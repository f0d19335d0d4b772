# %% title [markdown]
# # Running in circles: is it stuck, or is it working?
#
# **What you will do.** Build rules that notice when a run repeats itself, and judge them on twelve runs: eight that are stuck and four that are at work.
#
# **What you will learn**
#
# - tell a repeated request from a repeated round
# - find cycles of more than one length
# - say why some runs cannot be told apart by looking at them, and what a tool has to declare
# - choose a set of guards, and name the runs that it still gets wrong
#
# **What you need.** [Chapter 03](03_guards_are_functions.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](glossary.md), rules in [guards and reasons](guards_and_reasons.md) and, to print, on [one page](on_one_page.html).

# %% loop-part [markdown]
# ## Look after each round
#
# `repeated_call` of chapter 03 looks at requests alone. Whether they brought anything new, only the results can say. So this loop looks after each round, at request *and* result. Its replies are plain dictionaries and its reasons have
# other names than in the last chapter: loops differ in such things, and in this course you meet several of them on purpose.
#
# `spend` adds up, after each round, the length of all messages as text, which is what the next call would send. Here it is no more than a measure of how far a run got; chapter 05 is about that sum.
#
# The first rule: the last round equals the one before it. The models here try to mend a program. `in_turn` makes one that applies some fixes in turn; after each fix the tests run, and one of them fails whatever the fix. A
# failed test is a result, not an error of the tool.

# %% run-rounds
from stoplib.course.checkpoint import predict, reveal
from stoplib.course.sequences import twelve

def run_rounds(question, model, tools, is_stuck, max_steps=4):
    messages, rounds, spend = [{"role": "user", "content": question}], [], [0]
    for _ in range(max_steps):
        reply = model(messages)
        if "answer" in reply:
            return "end_turn", len(rounds), spend[1:]
        result = tools[reply["tool"]](**reply["args"])
        messages.append({"role": "assistant", "content": reply})
        messages.append({"role": "tool", "content": result, "is_error": not result["ok"]})
        rounds.append((reply, result))
        spend.append(spend[-1] + len(str(messages)))
        if is_stuck(rounds):
            return "repeated_state", len(rounds), spend[1:]
    return "max_steps", len(rounds), spend[1:]

def in_turn(*changes):
    return lambda messages: {"tool": "apply_fix", "args": {"change": changes[len(messages) // 2 % len(changes)]}}

tools = {"apply_fix": lambda change: {"ok": True, "tests": "1 failed: test_total"}}

def like_the_last(rounds):
    return rounds[-1:] == rounds[-2:-1]

# %% same-fix-question [markdown] checkpoint="4.1" kind="number"
# ### Checkpoint 4.1
#
# The model applies the same fix every time, and `max_steps` is 4. After how many rounds does the run end?
#
# - `2` :: The second round has the same request and the same result as the first, and the rule looks right after it.
# - `1` :: After one round there is nothing to compare it with. The slice of the round before is empty, and a round is not equal to nothing.
# - `3` :: A second try looks fair, and many rules allow it. This one does not: two equal rounds are enough.
# - `4` :: That is the step limit, and it is there for runs that no other rule sees.

# %% same-fix-predict role="predict"
predict("4.1")

# %% same-fix-reveal role="reveal"
reason, rounds, spend = run_rounds("Make the failing test pass.", in_turn("round the total"), tools, like_the_last)
print(reason, spend)
reveal("4.1", rounds)

# %% two-fixes-question [markdown] checkpoint="4.2"
# ### Checkpoint 4.2
#
# Now the model has two fixes and applies them in turn: "round the total", "truncate the total", "round the total", … After how many rounds does the run end?
#
# - a) `2` :: Both rounds have the same result, the failed test. But the requests differ, and the rule compares both.
# - b) `3` :: The third round is a repeat of the first. The rule compares it with the second.
# - c) `4` :: No round equals the one before it, so this rule never fires, and the step limit ends the run.

# %% two-fixes-predict role="predict"
predict("4.2")

# %% two-fixes-reveal role="reveal"
two_fixes = in_turn("round the total", "truncate the total")
reason, rounds, spend = run_rounds("Make the failing test pass.", two_fixes, tools, like_the_last)
print(reason, spend)
reveal("4.2", rounds)

# %% any-part [markdown]
# ## Look further back
#
# `like_the_last` compares neighbours alone. The next rule compares the last round with *every* earlier one. It runs with the two fixes, and then with a model that changes a number each time.

# %% like-any
def like_any(rounds):
    return rounds[-1] in rounds[:-1]

for model in (two_fixes, in_turn(*(f"round to {n} digits" for n in range(4)))):
    print(run_rounds("Make the failing test pass.", model, tools, like_any))

# %% honest-part [markdown]
# The two fixes are caught in round three, at a spend of 1332; compare the last number of checkpoint 4.2. A model that changes something each time gets past: no two of its rounds are equal, and what ends its run is the step limit, or a budget.
#
# Does the rule also stop runs that are at work? Only the rounds matter for that, so write them down: a pair, or just a letter, for each. `stops_at` says after which round a rule would have stopped.

# %% honest-runs
failed = "1 failed: test_total"
edits = [("edit 1", "saved"), ("test", failed), ("edit 2", "saved"), ("test", failed), ("edit 3", "saved"), ("test", "passed")]
poll = [("status", "running")] * 9 + [("status", "done")]

def stops_at(is_stuck, rounds):
    return next((n for n in range(1, len(rounds) + 1) if is_stuck(rounds[:n])), None)

print("A B A B:", stops_at(like_the_last, "ABAB"), "and", stops_at(like_any, "ABAB"))

# %% edits-question [markdown] checkpoint="4.3"
# ### Checkpoint 4.3
#
# `edits` is an honest run: it edits a file, tests, edits again, and its third edit makes the test pass. What is `stops_at(like_any, edits)`?
#
# - a) `3` :: The second edit brings "saved", as the first one did. That is the same result for another request, so the round is a new one.
# - b) `4` :: The fourth round is the test once more, with the same failure as in the second round. For this rule that is a repeat.
# - c) `None` :: Each edit is another one, and the run gets to its goal. But every second round is the test, and while it fails, its request and its result stay the same.

# %% edits-predict role="predict"
predict("4.3")

# %% edits-reveal role="reveal"
reveal("4.3", stops_at(like_any, edits))

# %% cycle-part [markdown]
# ## Find cycles
#
# A run is stuck when it goes round: when its last rounds are the *same rounds in the same order* as those just before. So look for a **cycle**: `length` rounds, `times` times in a row. Here is a rule that tries all lengths up to
# `longest`, on letters and on the honest run.

# %% in-a-cycle
def in_a_cycle(rounds, times=2, longest=8):
    for length in range(1, longest + 1):
        last = rounds[-length * times:]
        if len(last) == length * times and last == last[:length] * times:
            return length
    return 0

for rounds in ("ABABAB", "ABCABCABC", "ABCDEFGABCDEFG", "ABCDEFGHIABCDEFGHI", "ABACADAEAFAG", edits):
    print(stops_at(in_a_cycle, rounds), "of", len(rounds), rounds if rounds is not edits else "edits")

# %% poll-question [markdown] checkpoint="4.4"
# Cycles of two, three and seven are found, each after its second pass. Nine different rounds are longer than `longest`. In A B A C A D … the A comes again and again, but never after the same round. That is the
# shape of the honest run, and it goes on to its end: its test comes again, but never after the same edit.
#
# ### Checkpoint 4.4
#
# `poll` is the other honest run: it asks for the state of a job, is told "running" nine times, then "done". What is `stops_at(in_a_cycle, poll)`?
#
# - a) `2` :: A cycle can have length one. Two equal rounds are such a cycle, twice in a row, and the rule looks for that length first.
# - b) `3` :: The first round comes again two times in rounds two and three. But `times` counts passes, and the first round is a pass too.
# - c) `None` :: Asking for a state is no going round, for a person. For the rule it is one request with one result, again and again.

# %% poll-predict role="predict"
predict("4.4")

# %% poll-reveal role="reveal"
reveal("4.4", stops_at(in_a_cycle, poll))

# %% pitfall [markdown]
# > **Pitfall: "never the same call twice".** It is the first rule that comes to mind, but whoever tests after each edit, and whoever waits for a job, makes the same call again and is right to. Here is what this rule does to
# > them, as the guard `repeated_call(2)` of chapter 03.

# %% same-call-twice
from stoplib import answer, call, going_in_circles, max_steps, no_new_results, repeated_call, repeated_round, run, tool
from stoplib.fakes import alternates, edits_and_tests, polls, retries

lab = {"search": lambda query: "no match", "edit": lambda change: "saved", "test": lambda: failed, "status": lambda: "running"}
for name, model in (("edit and test", edits_and_tests), ("poll", polls())):
    outcome = run(model, "go", tools=lab, guards=[repeated_call(2), max_steps(12)])
    print(f"{name}: stopped before tool call {outcome.tool_calls + 1}")

# %% library-part [markdown]
# ## Let the library take over
#
# The library has the three rules as guards: `repeated_round()`, `repeated_round(ever=True)` and `going_in_circles()`. Three models run with each of them, for at most twelve rounds, and our three rules judge the same rounds. The numbers say
# after which round each rule stops the run, `-` that it does not.

# %% library
print(f"{'':16}{'ours: last, any, cycle':26}the library's")
for model in (retries, alternates, edits_and_tests):
    whole = run(model, "go", tools=lab, guards=[max_steps(12)])
    rounds = [(step.calls[0].name, step.calls[0].args, step.results[0].text) for step in whole.trace]
    ours = [stops_at(rule, rounds) or "-" for rule in (like_the_last, like_any, in_a_cycle)]
    guards = [repeated_round(), repeated_round(ever=True), going_in_circles()]
    runs = [run(model, "go", tools=lab, guards=[guard, max_steps(12)]) for guard in guards]
    theirs = ["-" if one.reason == "max_steps" else one.tool_calls for one in runs]
    print(f"{model.__name__:16}{ours!s:26}{theirs}")

# %% declare-part [markdown]
# ## Ask the tool's author
#
# A **poll**, a call that asks again until something is done, has the same rounds as a model that is stuck. No rule can tell the two apart by looking. The author of the tool can: `tool(poll=20)` declares that 20 equal results in a row
# are fine. That is the tool's **patience**; beyond it, an equal result is a repeat again.
#
# The second cell has the opposite case: one message goes out again and again, and each result looks new because of its id. `effect=True` declares that the tool acts on the world, so that a repeat is judged by the request alone, before it
# runs. `volatile=["id"]` declares that this field of the result does not count.

# %% declare-poll
def a_job():
    states = iter(["running"] * 9 + ["done"])
    def status():
        return next(states)
    return status

for patience in (20, 5):
    status = tool(poll=patience)(a_job())
    outcome = run(polls(), "Is the job done?", tools=[status], guards=[going_in_circles(), max_steps(40)])
    print(f"poll={patience}: {outcome.tool_calls} calls, {outcome.reason}")

# %% declare-effect
messages_sent = []

def send(to):
    messages_sent.append(to)
    return {"sent": True, "id": 100 + len(messages_sent)}

for declared in ({}, {"effect": True}, {"volatile": ["id"]}):
    messages_sent.clear()
    outcome = run(lambda messages: call("send", to="Ada"), "Greet Ada.", tools=[tool(**declared)(send)],
                  guards=[going_in_circles(), max_steps(12)])
    print(f"{declared}: {len(messages_sent)} sent, {outcome.reason}")

# %% reworded-part [markdown]
# ## Look at the results alone
#
# A model that rewords its query never makes the same request twice, so no cycle is found. What repeats is the answer. `no_new_results(3)`, the guard of exercise 02, sees that.

# %% reworded
reworded = twelve()[8]
print(*(one.args["query"] for one in reworded.rounds(4)), sep=" | ")
for guard in (going_in_circles(), no_new_results(3), no_new_results(5)):
    print(guard, "let", reworded.run([guard]).tool_calls, "calls run")

# %% lab-intro [markdown]
# ## Lab: twelve runs and your rules
#
# Eight of these runs are stuck and have to be stopped, four work and must get to their end. Pick rules, say for each run whether they will be right, and press *Step* to fill in its row.

# %% lab
from stoplib.course.lab import lab_sequences
lab_sequences()

# %% table-part [markdown]
# ## Judge the rules
#
# Here are twelve runs and five rules. Each pair is run with the library, beside a limit of 60 steps. A run that is stuck has to be stopped within a few passes (exercise 03 says how many), a run that works must get to its end.
# *Never* means that only the 60 steps ended it. The tools are declared: nine times "running" is within the patience of the poll in 6, for every rule, and the tool in 12 acts on the world.

# %% table
guards = [repeated_call(2), repeated_round(), repeated_round(ever=True), going_in_circles(), no_new_results(3)]
table = {one: [one.verdict([guard]) for guard in guards] for one in twelve()}
print(" " * 39 + "must   " + "".join(f"{letter:<10}" for letter in "ABCDE"))
for one, verdicts in table.items():
    print(f"{one.number:>2} {one.name:<35} {one.must:<6} ", *(f"{verdict:<9}" for verdict in verdicts))
for letter, guard, verdicts in zip("ABCDE", guards, zip(*table.values(), strict=True), strict=True):
    print(f"{letter} {guard}: right on {verdicts.count('right')} of 12")

# %% set-part [markdown]
# Each rule errs in its own way. A stops work twice (5, 10), C once (10). B misses cycles (2 to 4). All four from A to D miss what is reworded or varied (8, 9). E misses cycles and the message (12). D and E err on different runs, and neither
# stops work here, so join them. The second line below is for the same set and tools that declare nothing.
#
# A set chosen on twelve runs is not proved by them. The last two lines are a thirteenth: an honest search for a key in five drawers, with this set and with a more patient one.

# %% the-set
both = going_in_circles() | no_new_results(3)
for declared in (True, False):
    wrong = [one.number for one in twelve() if one.verdict([both], declared) != "right"]
    print(f"declared: {declared}, right on {12 - len(wrong)} of 12, wrong on {wrong}")

def opens_drawers(messages):
    number = len(messages) // 2 + 1
    return call("open", drawer=number) if number <= 5 else answer("It was in drawer 5.")

drawers = {"open": lambda drawer: "the key" if drawer == 5 else "empty"}
for guard in (both, going_in_circles() | no_new_results(5)):
    outcome = run(opens_drawers, "Where is the key?", tools=drawers, guards=[guard, max_steps(20)])
    print(f"{guard}: {outcome.tool_calls} drawers, {outcome.reason}")

# %% recap [markdown]
# When nothing is declared, 6 looks like 1 and 12 looks like 5 to every rule, so of each pair one must be wrong. And `both` stops the search too early, unless it puts up with five equal results; then the reworded query costs two calls more. How many
# equal results an honest run can have, your own runs will tell you. Chapter 10 is about choosing such numbers.
#
# ## Exercise
#
# [Exercise 03: write a detector](../exercises/03_a_detector.ipynb). About {minutes of exercise 03} minutes. It is scored on the twelve runs of this chapter, in other words than you have seen, and it has to leave the search in the drawers alone.
#
# ## Recap
#
# You can now
#
# - stop a run that goes round, in cycles of any length up to a longest one
# - show a run at work that a rule would stop, and a stuck one that it would miss
# - declare what only the author of a tool can know
# - join rules so that each covers what the other misses, and look for the run that fools both
#
# ## In practice
#
# - Both errors are reported from real agents. A poll every five minutes was [stopped as stuck](https://github.com/OpenHands/software-agent-sdk/issues/762) after four equal rounds; in another agent, a count of equal calls in a row
#   ([five](https://github.com/google-gemini/gemini-cli/pull/3919)) was reported to [stop honest work](https://github.com/google-gemini/gemini-cli/issues/8234) and to [miss calls in turn](https://github.com/google-gemini/gemini-cli/pull/20056).
# - The OpenHands [stuck detector](https://docs.openhands.dev/sdk/guides/agent-stuck-detector) compares actions with what came of them, as here, and has a threshold for each kind of repetition.
# - No rule of this chapter sees a model that does something new and useless each time. Steps, time and money are the limits that hold whatever it does.
#
# ---
#
# Previous: [03 Guards are functions: how do you add a rule without touching the loop?](03_guards_are_functions.ipynb) · Next: [05 What a run costs](05_what_a_run_costs.ipynb)
