# %% title [markdown]
# # {kind} 03: write a detector
#
# **What you will do.** Write `is_stuck`, a function that stops runs that go round and lets runs that work go on. It is scored on the twelve runs of chapter 04, and on a thirteenth, the search in the drawers.
#
# **What you need.** [Chapter 04](../notebooks/04_running_in_circles.ipynb).
#
# **Time.** About {minutes} minutes.
#
# **Look it up.** Words are in the [glossary](../notebooks/glossary.md), rules in [guards and reasons](../notebooks/guards_and_reasons.md) and, to print, on [one page](../notebooks/on_one_page.html).

# %% look-around [markdown]
# ## What your detector gets to see
#
# The detector is asked before each tool call, when the model has asked for it and it has not run. It gets all earlier rounds, the oldest first, and the call that is about to run. Here are the first rounds of three of the twelve.

# %% look
from stoplib.course.sequences import twelve

for number in (1, 10, 12):
    print(*twelve()[number - 1].rounds(2), "", sep="\n")

# %% task [markdown]
# ## What it must do
#
# `is_stuck(rounds, asked)` returns `True` to stop the run before the call `asked` runs, and `False` to let it run.
#
# - A round has `tool` (its name), `args` (a dictionary), `result` (a text), `poll` and `effect`. `asked` has the same without `result`. At the first call, `rounds` is empty.
# - `poll` is `None`, or how many equal results of this tool in a row are fine. Up to that number, and with it, they are no reason to stop, also when `asked` is a call of another tool. With one more the poll is stuck.
# - `effect` is `True` for a tool that acts on the world: the same call, that is the same tool with the same arguments, must not run twice, whatever the results say.
# - Each run is judged by its own rounds. Your detector remembers nothing.
#
# Stop the ones that are stuck in time: the last column says how many calls may have run by then. A stop before anything has come a second time is too early. The others must not be stopped.
#
# | | run | what to do |
# | --- | --- | --- |
# | 1 | the same call, the same result | stop, at most 4 calls |
# | 2 | two calls in turn, each with its own result | stop, at most 6 |
# | 3 | three calls in turn | stop, at most 9 |
# | 4 | seven calls in turn | stop, at most 21 |
# | 5 | the same call, a new result each time | let it go on |
# | 6 | a poll: nine times "running", then "done" | let it go on; if it is "running" for ever, stop it at most 4 calls after its patience |
# | 7 | as 1, with the keys of the arguments in another order each time | stop, at most 4 |
# | 8 | the same query and a random argument, always the same result | stop, at most 6 |
# | 9 | a reworded query each time, always the same result | stop, at most 6 |
# | 10 | edit, test, edit, test: a new edit each time, the same failing test | let it go on |
# | 11 | twelve different files | let it go on |
# | 12 | the same message sent again, with a fresh id in each result | stop, at most 1 |
# | 13 | the search at the end of chapter 04: four times "empty", in the fifth drawer the key | let it go on |
#
# The check runs each in three versions: as here, and in other words, after two or three honest rounds. The numbers then count from where the thirteen begin. Of 6 and 12 there are variants that must be let go on; what `poll` and `effect` mean is all that you
# need for them.

# %% hints [markdown]
# <details><summary>Hint: where to begin</summary>
# Which rule of chapter 04 was right on most of the twelve, and which two kinds of run did it miss?
# </details>
# <details><summary>Hint: cycles</summary>
# When are the last seven rounds a second pass of the seven before them? How do you write "the seven before them" as a slice, and what does that slice give in a run that is too short?
# </details>
# <details><summary>Hint: how many equal results</summary>
# Runs 8 and 9 say how many equal results in a row you may put up with, run 13 how many you have to. Which numbers are left?
# </details>
# <details><summary>Hint: what tools declare</summary>
# Which of <code>poll</code> and <code>effect</code> makes a detector stricter, and which one more patient? Which question should come first?
# </details>

# %% your-detector [markdown]
# ## Your detector

# %% is-stuck role="answer"
def is_stuck(rounds, asked):
    """Whether to stop the run before the call `asked` runs."""
    ### BEGIN SOLUTION
    if asked.effect:
        return any((one.tool, one.args) == (asked.tool, asked.args) for one in rounds)
    if asked.poll is not None:
        results = [one.result for one in rounds if one.tool == asked.tool][-asked.poll - 1:]
        return len(results) > asked.poll and len(set(results)) == 1
    seen = [one if one.poll is None else number for number, one in enumerate(rounds)]  # a poll repeats nothing
    for length in range(1, len(seen) // 2 + 1):
        if seen[-length:] == seen[-2 * length:-length]:
            return True
    last = [one.result for one in rounds[-5:] if one.poll is None and not one.effect]
    return len(last) == 5 and len(set(last)) == 1
    ### END SOLUTION

# %% checks [markdown]
# ## Check it
#
# One cell for each kind of run. Each kind has runs to stop and runs to leave alone.

# %% check-same-call role="check"
from stoplib.course.exercises import a_detector
a_detector.check_same_call(is_stuck)

# %% check-cycles role="check"
a_detector.check_cycles(is_stuck)

# %% check-nothing-new role="check"
a_detector.check_nothing_new(is_stuck)

# %% check-declared role="check"
a_detector.check_declared(is_stuck)

# %% the-score [markdown]
# ## Your score

# %% check-all role="check"
a_detector.check_all(is_stuck)

# %% why [markdown] only="solution"
# ## Why it is written this way
#
# - What a tool declares comes first, because it changes what a repeat means: an effect is judged by the call alone, a poll by its own patience, and for neither is anything else looked at.
# - Arguments are compared as dictionaries, so the order of their keys does not matter. As texts they would differ.
# - For the other rules a round of a poll is a number, equal to no other round: while it waits, nothing repeats. Without that, a run that has polled nine times could not ask for anything else.
# - The cycle rule compares the last `length` rounds with as many before them. It tries every length that fits, and a length of 1 is the same call with the same result.
# - Edit and test go round in neither sense: the edits make the rounds differ, and the results alternate.
# - The last rule looks at the results alone, for whoever rewords or varies a query. Five equal results in a row are the least that lets the search in the drawers go on, and one call less than 8 and 9 allow. With six drawers it would stop honest work. No detector is right on everything.
# - It reads the rounds anew before each call. For a run of sixty rounds that is nothing; the library keeps counts instead, and its cost per step stays the same however long the run gets.

# %% stretch [markdown]
# ## Stretch goal
#
# Write the rounds of a run that is stuck and that your detector lets go on, and of one that works and that it stops. Then change one number in your detector so that one of the two comes out right. Which of the thirteen is lost, if any?

# %% back [markdown]
# Back to [chapter 04](../notebooks/04_running_in_circles.ipynb). A solution with reasons is in [solutions](../solutions/03_a_detector.ipynb).
