# Answers to exercise 03 that people really give. Each is tried by the tests: the named check must
# catch it, and the text after `hint` must be part of what the learner then reads.

# %% the-round-before check="check-cycles" hint="is it enough to compare the last round with the one before it"
def is_stuck(rounds, asked):
    return len(rounds) > 1 and rounds[-1] == rounds[-2]

# %% any-earlier-round check="check-cycles" hint="every second round is the same, and those between are new"
def is_stuck(rounds, asked):
    return bool(rounds) and rounds[-1] in rounds[:-1]

# %% never-the-same-call-twice check="check-same-call" hint="the request is the same, and the result is new each time"
def is_stuck(rounds, asked):
    return any((one.tool, one.args) == (asked.tool, asked.args) for one in rounds)

# %% arguments-as-text check="check-same-call" hint="compare arguments as dictionaries"
def is_stuck(rounds, asked):
    said = [(one.tool, str(one.args), one.result) for one in rounds]
    return len(said) > 1 and said[-1] == said[-2]

# %% cycles-up-to-three check="check-cycles" hint="this cycle has seven rounds"
def is_stuck(rounds, asked):
    for length in (1, 2, 3):
        if len(rounds) >= 2 * length and rounds[-length:] == rounds[-2 * length:-length]:
            return True
    return False

# %% four-passes check="check-cycles" hint="how many passes of a cycle does your detector wait for"
def is_stuck(rounds, asked):
    for length in range(1, 9):
        if len(rounds) >= 4 * length and rounds[-4 * length:] == rounds[-length:] * 4:
            return True
    return False

# %% short-slices check="check-cycles" hint="Two empty slices are equal"
def is_stuck(rounds, asked):
    return any(rounds[-length:] == rounds[-2 * length:-length] for length in range(1, 9))

# %% always check="check-same-call" hint="nothing has come a second time yet"
def is_stuck(rounds, asked):
    return True

# %% never check="check-same-call" hint="what do the last two rounds have in common when nothing has changed"
def is_stuck(rounds, asked):
    return False

# %% after-six-calls check="check-nothing-new" hint="What seems to repeat"
def is_stuck(rounds, asked):
    return len(rounds) >= 6

# %% the-same-tool-three-times check="check-nothing-new" hint="the files differ, and so does what is in them"
def is_stuck(rounds, asked):
    return len(rounds) > 2 and len({one.tool for one in rounds[-3:]}) == 1

# %% requests-only-in-cycles check="check-nothing-new" hint="the requests differ each time. What is it that does not"
def is_stuck(rounds, asked):
    for length in range(1, 9):
        if len(rounds) >= 2 * length and rounds[-length:] == rounds[-2 * length:-length]:
            return True
    return False

# %% impatient check="check-declared" hint="how many equal results are fine for this tool"
def is_stuck(rounds, asked):
    if asked.effect:
        return any((one.tool, one.args) == (asked.tool, asked.args) for one in rounds)
    return len(rounds) > 2 and rounds[-1].result == rounds[-2].result == rounds[-3].result

# %% polls-for-ever check="check-declared" hint="a poll has patience, and it ends"
def is_stuck(rounds, asked):
    if asked.poll:
        return False
    if asked.effect:
        return any((one.tool, one.args) == (asked.tool, asked.args) for one in rounds)
    return len(rounds) > 2 and rounds[-1].result == rounds[-2].result == rounds[-3].result

# %% looks-at-the-ids check="check-declared" hint="judge it by the call alone, before it runs again"
def is_stuck(rounds, asked):
    if asked.poll:
        results = [one.result for one in rounds][-asked.poll:]
        return len(results) == asked.poll and len(set(results)) == 1
    return len(rounds) > 1 and rounds[-1] == rounds[-2]

# %% one-send-too-many check="check-declared" hint="judge it by the call alone, before it runs again"
def is_stuck(rounds, asked):
    if asked.effect:
        sent = [(one.tool, one.args) for one in rounds]
        return len(sent) > 1 and sent[-1] == sent[-2]
    if asked.poll:
        results = [one.result for one in rounds][-asked.poll:]
        return len(results) == asked.poll and len(set(results)) == 1
    return False

# %% nothing-there-yet check="check-same-call" hint="at the first call `rounds` is empty"
def is_stuck(rounds, asked):
    return rounds[-1] == rounds[-2]

# %% remembers-the-last-run check="check-nothing-new" hint="What does your detector still know from another run"
seen = []

def is_stuck(rounds, asked):
    seen.extend(rounds[-1:])
    if asked.effect or asked.poll:
        return False
    return len(seen) > 3 and seen[-1] in seen[:-3] and len({one.result for one in rounds[-2:]}) == 1

# %% looks-for-ever check="check-cycles" hint="a detector looks once and returns"
def is_stuck(rounds, asked):
    length = 1
    while length < 9:
        if len(rounds) < 2 * length:
            continue
        if rounds[-length:] == rounds[-2 * length:-length]:
            return True
        length += 1
    return False

# %% three-missed check="check-all" hint="right on 10 of 13; not yet right: 6"
def is_stuck(rounds, asked):
    if asked.effect:
        return any((one.tool, one.args) == (asked.tool, asked.args) for one in rounds)
    if asked.poll:
        results = [one.result for one in rounds][-asked.poll:]
        return len(results) == asked.poll and len(set(results)) == 1
    for length in range(1, 9):
        if len(rounds) >= 2 * length and rounds[-length:] == rounds[-2 * length:-length]:
            return True
    return False

# %% blind-to-polls check="check-declared" hint="a poll within its patience is fine, also when the next call is another tool's"
def is_stuck(rounds, asked):
    if asked.effect:
        return any((one.tool, one.args) == (asked.tool, asked.args) for one in rounds)
    if asked.poll:
        results = [one.result for one in rounds if one.tool == asked.tool][-asked.poll:]
        return len(results) == asked.poll and len(set(results)) == 1
    for length in range(1, 9):
        if len(rounds) >= 2 * length and rounds[-length:] == rounds[-2 * length:-length]:
            return True
    last = [one.result for one in rounds[-5:]]
    return len(last) == 5 and len(set(last)) == 1

# %% out-of-patience-too-early check="check-declared" hint="as many equal results as `poll` says are still fine"
def is_stuck(rounds, asked):
    if asked.effect:
        return any((one.tool, one.args) == (asked.tool, asked.args) for one in rounds)
    if asked.poll:
        results = [one.result for one in rounds if one.tool == asked.tool][-asked.poll:]
        return len(results) == asked.poll and len(set(results)) == 1
    return len(rounds) > 1 and not rounds[-1].poll and rounds[-1] == rounds[-2]

# %% effects-by-their-arguments check="check-declared" hint="another tool with the same arguments is another call"
def is_stuck(rounds, asked):
    if asked.effect:
        return asked.args in [one.args for one in rounds]
    if asked.poll:
        results = [one.result for one in rounds if one.tool == asked.tool][-asked.poll:]
        return len(results) == asked.poll and len(set(results)) == 1
    return len(rounds) > 1 and not rounds[-1].poll and rounds[-1] == rounds[-2]

# %% three-equal-results check="check-nothing-new" hint="an empty drawer is an honest result, also the fourth"
def is_stuck(rounds, asked):
    last = [one.result for one in rounds[-3:]]
    return len(last) == 3 and len(set(last)) == 1

# %% no-calls-at-all check="check-same-call" hint="Two empty slices are equal"
def is_stuck(rounds, asked):
    return rounds[-1:] == rounds[-2:-1]
