# %% median-of-the-successes check="check-lost" hint="even among the runs that they were chosen from"
def choose(runs):
    lengths = sorted(one.outcome.steps for one in runs if one.success)
    return [max_steps(lengths[len(lengths) // 2])], 0.2

# %% p95-of-the-successes check="check-lost" hint="even among the runs that they were chosen from"
def choose(runs):
    lengths = sorted(one.outcome.steps for one in runs if one.success)
    return [max_steps(lengths[int(0.95 * len(lengths)) - 1])], 0.2

# %% largest-success-without-headroom check="check-lost" hint="what do you leave for it?"
def choose(runs):
    return [max_steps(max(one.outcome.steps for one in runs if one.success))], 0.2

# %% longest-of-all-runs check="check-saved" hint="which runs did you learn from?"
def choose(runs):
    return [max_steps(max(one.outcome.steps for one in runs))], 0.2

# %% fitted-on-failures check="check-saved" hint="which runs did you learn from?"
def choose(runs):
    tokens = sorted(one.outcome.usage.total for one in runs if not one.success)
    return [token_budget(tokens[int(0.99 * len(tokens))])], 0.2

# %% half-of-the-failures-stopped check="check-lost" hint="even among the runs that they were chosen from"
def choose(runs):
    lengths = sorted(one.outcome.steps for one in runs if not one.success)
    return [max_steps(lengths[len(lengths) // 2])], 0.2

# %% no-bound check="check-guards" hint="Which guard bounds every run?"
def choose(runs):
    return [going_in_circles(8), too_many_errors(3)], 0.2

# %% never-the-same-call-twice check="check-lost" hint="even among the runs that they were chosen from"
def choose(runs):
    return [repeated_call(2), max_steps(2 * max(one.outcome.steps for one in runs if one.success))], 0.2

# %% a-tokens-number-for-steps check="check-saved" hint="compare the units"
def choose(runs):
    return [max_steps(2 * max(one.outcome.usage.total for one in runs if one.success))], 0.2

# %% a-steps-number-for-tokens check="check-lost" hint="compare the units"
def choose(runs):
    return [token_budget(2 * max(one.outcome.steps for one in runs if one.success))], 0.2

# %% the-same-for-everyone check="check-lost" hint="the same for all three agents"
def choose(runs):
    return [max_steps(30), token_budget(200_000)], 0.2

# %% one-high-number-for-everyone check="check-saved" hint="the same for all three agents"
def choose(runs):
    return [going_in_circles(8), max_steps(150)], 0.2

# %% too-much-headroom check="check-saved" hint="How much headroom is enough?"
def choose(runs):
    return [max_steps(4 * max(one.outcome.steps for one in runs if one.success))], 0.2

# %% one-guard-without-a-list check="check-guards" hint="the guards are a list"
def choose(runs):
    return max_steps(2 * max(one.outcome.steps for one in runs if one.success)), 0.2

# %% guards-without-a-claim check="check-guards" hint="return two things"
def choose(runs):
    good = [one.outcome for one in runs if one.success]
    return [max_steps(2 * max(outcome.steps for outcome in good)), token_budget(2 * max(outcome.usage.total for outcome in good))]

# %% never-ends check="check-guards" hint="Which loop in it does not?"
def choose(runs):
    limit = 1
    while any(one.outcome.steps > limit for one in runs):
        limit = min(limit + 1, 20)
    return [max_steps(limit)], 0.2

# %% none-lost-so-none-will-be check="check-claim" hint="none lost of a few is no promise of none"
def choose(runs):
    return [max_steps(2 * max(one.outcome.steps for one in runs if one.success))], 0

# %% runs-are-not-independent check="check-claim" hint="runs of one task are alike"
def choose(runs):
    lengths = [one.outcome.steps for one in runs if one.success]
    return [max_steps(2 * max(lengths))], 3 / len(lengths)

# %% what-was-measured-elsewhere check="check-claim" hint="runs of one task are alike"
def choose(runs):
    return [max_steps(2 * max(one.outcome.steps for one in runs if one.success))], 0.01

# %% to-be-on-the-safe-side check="check-claim" hint="that is more doubt than needed"
def choose(runs):
    return [max_steps(2 * max(one.outcome.steps for one in runs if one.success))], 0.5

# %% in-percent check="check-claim" hint="a number from 0 to 1"
def choose(runs):
    tasks = {one.task for one in runs if one.success}
    return [max_steps(2 * max(one.outcome.steps for one in runs if one.success))], round(300 / len(tasks))

# %% the-rule-for-none-after-some-were-lost check="check-claim" hint="for a limit that has lost none"
def choose(runs):
    lengths = sorted(one.outcome.steps for one in runs if one.success)
    return [max_steps(lengths[-3])], 3 / len({one.task for one in runs if one.success})

# %% high-but-the-repeats-cut check="check-lost" hint="repeated_call(2) cuts"
def choose(runs):
    return [max_steps(2 * max(one.outcome.steps for one in runs)), repeated_call(2)], 0.2
