# %% median-of-the-successes check="check-lost" hint="even among the runs that they were chosen from"
def choose(runs):
    lengths = sorted(one.outcome.steps for one in runs if one.success)
    return [max_steps(lengths[len(lengths) // 2])]

# %% p95-of-the-successes check="check-lost" hint="even among the runs that they were chosen from"
def choose(runs):
    lengths = sorted(one.outcome.steps for one in runs if one.success)
    return [max_steps(lengths[int(0.95 * len(lengths)) - 1])]

# %% largest-success-without-headroom check="check-lost" hint="what do you leave for it?"
def choose(runs):
    return [max_steps(max(one.outcome.steps for one in runs if one.success))]

# %% longest-of-all-runs check="check-saved" hint="which runs did you learn from?"
def choose(runs):
    return [max_steps(max(one.outcome.steps for one in runs))]

# %% fitted-on-failures check="check-saved" hint="which runs did you learn from?"
def choose(runs):
    tokens = sorted(one.outcome.usage.total for one in runs if not one.success)
    return [token_budget(tokens[int(0.99 * len(tokens))])]

# %% half-of-the-failures-stopped check="check-lost" hint="even among the runs that they were chosen from"
def choose(runs):
    lengths = sorted(one.outcome.steps for one in runs if not one.success)
    return [max_steps(lengths[len(lengths) // 2])]

# %% no-bound check="check-guards" hint="Which guard bounds every run?"
def choose(runs):
    return [going_in_circles(8), too_many_errors(3)]

# %% never-the-same-call-twice check="check-lost" hint="even among the runs that they were chosen from"
def choose(runs):
    return [repeated_call(2), max_steps(2 * max(one.outcome.steps for one in runs if one.success))]

# %% a-tokens-number-for-steps check="check-saved" hint="compare the units"
def choose(runs):
    return [max_steps(2 * max(one.outcome.usage.total for one in runs if one.success))]

# %% a-steps-number-for-tokens check="check-lost" hint="compare the units"
def choose(runs):
    return [token_budget(2 * max(one.outcome.steps for one in runs if one.success))]

# %% the-same-for-everyone check="check-lost" hint="the same for all three agents"
def choose(runs):
    return [max_steps(30), token_budget(200_000)]

# %% one-high-number-for-everyone check="check-saved" hint="the same for all three agents"
def choose(runs):
    return [going_in_circles(8), max_steps(150)]

# %% too-much-headroom check="check-saved" hint="How much headroom is enough?"
def choose(runs):
    return [max_steps(4 * max(one.outcome.steps for one in runs if one.success))]

# %% one-guard-without-a-list check="check-guards" hint="return a list of guards"
def choose(runs):
    return 2 * max(one.outcome.steps for one in runs if one.success)

# %% never-ends check="check-guards" hint="Which loop in it does not?"
def choose(runs):
    limit = 1
    while any(one.outcome.steps > limit for one in runs):
        limit = min(limit + 1, 20)
    return [max_steps(limit)]
