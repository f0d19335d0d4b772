# Answers to exercise 04 that people really give. Each is tried by the tests: the named check must
# catch it, and the text after `hint` must be part of what the learner then reads.

# %% soft-budget check="check-looks-ahead" hint="the call cannot fit"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        if run.tokens >= max_tokens:
            return f"{run.tokens} of {max_tokens} tokens used"
    return guard

# %% only-the-answer-is-new check="check-looks-ahead" hint="What will it send at least?"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        if run.tokens + output_cap > max_tokens:
            return f"{run.tokens} used, the next call needs {output_cap}"
    return guard

# %% all-calls-again check="check-looks-ahead" hint="what the last call alone sent and received"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        new = sum(len(r.text) for r in run.trace[-1].results) if run.trace else len(run.task)
        needed = run.tokens + (new + 3) // 4 + output_cap
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% input-and-output-only check="check-sends-again" hint="the cache makes tokens cheaper; they are still sent"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        sent, new = 0, len(run.task)
        if run.trace:
            usage = run.trace[-1].reply.usage
            sent, new = usage.input + usage.output, sum(len(r.text) for r in run.trace[-1].results)
        needed = sent + (new + 3) // 4 + output_cap
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% without-the-last-answer check="check-sends-again" hint="the last answer is part of the transcript now"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        sent, new = 0, len(run.task)
        if run.trace:
            usage = run.trace[-1].reply.usage
            sent, new = usage.total - usage.output, sum(len(r.text) for r in run.trace[-1].results)
        needed = sent + (new + 3) // 4 + output_cap
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% without-new-results check="check-sends-again" hint="the results that came in since the last call are sent for the first time"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        sent = run.trace[-1].reply.usage.total if run.trace else (len(run.task) + 3) // 4
        if run.tokens + sent + output_cap > max_tokens:
            return f"{run.tokens} used, the next call needs {sent + output_cap}"
    return guard

# %% each-result-rounded check="check-sends-again" hint="all new results together"
import math

def hard_budget(max_tokens, output_cap):
    def guard(run):
        if run.trace:
            needed = run.trace[-1].reply.usage.total + sum(math.ceil(len(r.text) / 4) for r in run.trace[-1].results)
        else:
            needed = math.ceil(len(run.task) / 4)
        needed += output_cap
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% last-answer-as-the-cap check="check-output-cap" hint="How long the last one was says nothing about the next"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        if not run.trace:
            needed = (len(run.task) + 3) // 4 + output_cap
        else:
            last = run.trace[-1]
            new = sum(len(r.text) for r in last.results)
            needed = last.reply.usage.total + (new + 3) // 4 + last.reply.usage.output
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% exact-fit-refused check="check-exact-fit" hint="uses the budget up exactly does not pass it"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        last = run.trace[-1] if run.trace else None
        sent = last.reply.usage.total if last else 0
        new = sum(len(r.text) for r in last.results) if last else len(run.task)
        needed = sent + (new + 3) // 4 + output_cap
        if run.tokens + needed >= max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% crashes-at-the-first-call check="check-first-call" hint="before the first call run.trace is empty"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        last = run.trace[-1]
        new = sum(len(r.text) for r in last.results)
        needed = last.reply.usage.total + (new + 3) // 4 + output_cap
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% first-call-for-free check="check-first-call" hint="the first call sends the task and brings an answer, too"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        if not run.trace:
            return None
        last = run.trace[-1]
        new = sum(len(r.text) for r in last.results)
        needed = last.reply.usage.total + (new + 3) // 4 + output_cap
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% remembers-the-last-total check="check-again" hint="the guard remembers something of the first run"
def hard_budget(max_tokens, output_cap):
    before = 0
    def guard(run):
        nonlocal before
        last_call, before = run.tokens - before, run.tokens
        new = sum(len(r.text) for r in run.trace[-1].results) if run.trace else len(run.task)
        needed = last_call + (new + 3) // 4 + output_cap
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% returns-true check="check-looks-ahead" hint="the guard returns a text if the next call is too much"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        last = run.trace[-1] if run.trace else None
        sent = last.reply.usage.total if last else 0
        new = sum(len(r.text) for r in last.results) if last else len(run.task)
        return run.tokens + sent + (new + 3) // 4 + output_cap > max_tokens
    return guard

# %% guard-not-returned check="check-looks-ahead" hint="hard_budget(max_tokens, output_cap) returns the guard"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        if run.tokens >= max_tokens:
            return "too much"

# %% a-guard-of-the-run check="check-looks-ahead" hint="returns the guard: a function that takes the run"
def hard_budget(max_tokens, output_cap):
    sent = run.trace[-1].reply.usage.total
    if run.tokens + sent + output_cap > max_tokens:
        return "too much"

# %% text-without-numbers check="check-text" hint="the text holds two numbers"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        last = run.trace[-1] if run.trace else None
        sent = last.reply.usage.total if last else 0
        new = sum(len(r.text) for r in last.results) if last else len(run.task)
        if run.tokens + sent + (new + 3) // 4 + output_cap > max_tokens:
            return "the next call would pass the budget"
    return guard

# %% waits-for-the-budget check="check-looks-ahead" hint="a guard looks at the run and returns"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        while run.tokens + output_cap <= max_tokens:
            pass
        return "too much"
    return guard

# %% rounds-down check="check-sends-again" hint="round up once"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        last = run.trace[-1] if run.trace else None
        sent = last.reply.usage.total if last else 0
        new = sum(len(r.text) for r in last.results) if last else len(run.task)
        needed = sent + new // 4 + output_cap
        if run.tokens + needed > max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard

# %% needed-with-what-is-used check="check-text" hint="needed is what the next call alone needs"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        last = run.trace[-1] if run.trace else None
        sent = last.reply.usage.total if last else 0
        new = sum(len(r.text) for r in last.results) if last else len(run.task)
        total = run.tokens + sent + (new + 3) // 4 + output_cap
        if total > max_tokens:
            return f"{run.tokens} used, and the next call needs {total}"
    return guard

# %% first-call-exactly check="check-first-call" hint="a call that uses the budget up exactly does not pass it"
def hard_budget(max_tokens, output_cap):
    def guard(run):
        last = run.trace[-1] if run.trace else None
        sent = last.reply.usage.total if last else 0
        new = sum(len(r.text) for r in last.results) if last else len(run.task)
        needed = sent + (new + 3) // 4 + output_cap
        if run.tokens + needed >= max_tokens:
            return f"{run.tokens} used, the next call needs {needed}"
    return guard
