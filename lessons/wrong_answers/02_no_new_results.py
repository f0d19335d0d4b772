# Answers to exercise 02 that people really give. Each is tried by the tests: the named check must
# catch it, and the text after `hint` must be part of what the learner then reads.

# %% no-count check="check-results" hint="fewer than n results are not enough"
def no_new_results(n):
    def no_new_results(run):
        last = [m["content"] for m in run.messages if m["role"] == "tool"][-n:]
        return "nothing new" if len(set(last)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% queries-not-results check="check-results" hint="compare the last n results with one another, whatever was asked for"
def no_new_results(n):
    def no_new_results(run):
        asked = [str(step.calls[0].args) for step in run.trace][-n:]
        return "nothing new" if len(asked) == n and len(set(asked)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% anywhere-in-the-run check="check-results" hint="it is the last n results that count, one after the other"
def no_new_results(n):
    def no_new_results(run):
        results = [result.text for step in run.trace for result in step.results]
        return "nothing new" if any(results.count(text) >= n for text in results) else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% always-two check="check-results" hint="compare the last n results with one another"
def no_new_results(n):
    def no_new_results(run):
        results = [result.text for step in run.trace for result in step.results]
        return "nothing new" if len(results) > 1 and results[-1] == results[-2] else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% first-and-last check="check-results" hint="it is the last n results that count, one after the other"
def no_new_results(n):
    def no_new_results(run):
        results = [result.text for step in run.trace for result in step.results]
        return "nothing new" if len(results) >= n and results[-1] in results[-n:-1] + results[-1:] * (n == 1) else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% good-results-only check="check-results" hint="a failed call has a result too"
def no_new_results(n):
    def no_new_results(run):
        last = [m["content"] for m in run.messages if m["role"] == "tool" and not m["is_error"]][-n:]
        return "nothing new" if len(last) == n and len(set(last)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% all-messages check="check-results" hint="only the results of tools count, not what else is said in the run"
def no_new_results(n):
    def no_new_results(run):
        said = [m["content"] for m in run.messages if m["content"]][-n:]
        return "nothing new" if len(said) == n and len(set(said)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% nothing-there-yet check="check-results" hint="before the first call there is nothing to look at yet"
def no_new_results(n):
    def no_new_results(run):
        results = [result.text for step in run.trace for result in step.results]
        if all(text == results[-1] for text in results[-n:]) and results[-n]:
            return "nothing new"
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% true-is-no-text check="check-guard" hint="a guard returns a text when the run has to stop"
def no_new_results(n):
    def no_new_results(run):
        last = [result.text for step in run.trace for result in step.results][-n:]
        return len(last) == n and len(set(last)) == 1
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% called-guard check="check-guard" hint="the name of the function that you return is the reason"
def no_new_results(n):
    def guard(run):
        last = [result.text for step in run.trace for result in step.results][-n:]
        return "nothing new" if len(last) == n and len(set(last)) == 1 else None
    return guard

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% no-inner-function check="check-results" hint="must return a function of the run"
def no_new_results(n):
    results = []
    return "nothing new" if len(results) == n and len(set(results)) == 1 else None

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% the-librarys-own check="check-guard" hint="write it yourself as a function"
def no_new_results(n):
    import stoplib
    return stoplib.no_new_results(n)

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% remembers-the-last-run check="check-again" hint="what does your guard still know from another run"
def no_new_results(n):
    seen = []
    def no_new_results(run):
        if run.trace:
            seen.extend(result.text for result in run.trace[-1].results)
        return "nothing new" if len(seen) >= n and len(set(seen[-n:])) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% forgets-at-the-start check="check-again" hint="what does your guard still know from another run"
def no_new_results(n):
    seen = []
    def no_new_results(run):
        if not run.trace:
            seen.clear()
        else:
            seen.extend(result.text for result in run.trace[-1].results)
        return "nothing new" if len(seen) >= n and len(set(seen[-n:])) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% waits-for-more-results check="check-results" hint="a guard looks once and returns. Which loop in it does not end"
def no_new_results(n):
    def no_new_results(run):
        while len(run.trace) < n:
            pass
        last = [result.text for step in run.trace for result in step.results][-n:]
        return "nothing new" if len(set(last)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% the-last-of-two-equal-ones check="check-first" hint="where two are equal, the first in the list wins"
def no_new_results(n):
    def no_new_results(run):
        last = [m["content"] for m in run.messages if m["role"] == "tool"][-n:]
        return "nothing new" if len(last) == n and len(set(last)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls <= best.tool_calls):
            best = outcome
    return best.reason if best else None

# %% the-fuse-counts check="check-first" hint="was not stopped by its guard"
def no_new_results(n):
    def no_new_results(run):
        last = [m["content"] for m in run.messages if m["role"] == "tool"][-n:]
        return "nothing new" if len(last) == n and len(set(last)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    outcomes = [run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)]) for guard in guards]
    return min(outcomes, key=lambda outcome: outcome.tool_calls).reason if outcomes else None

# %% the-first-that-stops-it check="check-first" hint="keep the one with the fewest tool calls so far"
def no_new_results(n):
    def no_new_results(run):
        last = [m["content"] for m in run.messages if m["role"] == "tool"][-n:]
        return "nothing new" if len(last) == n and len(set(last)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps"):
            return outcome.reason

# %% runs-for-ever check="check-first" hint="one run for each guard is enough"
def no_new_results(n):
    def no_new_results(run):
        last = [m["content"] for m in run.messages if m["role"] == "tool"][-n:]
        return "nothing new" if len(last) == n and len(set(last)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    while True:
        for guard in guards:
            outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])

# %% no-count-in-the-first-run check="check-again" hint="fewer than n results are not enough"
def no_new_results(n):
    def no_new_results(run):
        last = [m["content"] for m in run.messages if m["role"] == "tool"][-n:]
        return "nothing new" if len(set(last)) == 1 else None
    return no_new_results

def first_to_stop(model, tools, guards):
    best = None
    for guard in guards:
        outcome = run(model, "Find it.", tools=tools, guards=[guard, max_steps(20)])
        if outcome.reason not in ("answered", "max_steps") and (best is None or outcome.tool_calls < best.tool_calls):
            best = outcome
    return best.reason if best else None
