# Answers to exercise 10 that people really give. Each is tried by the tests: the named check must
# catch it, and the text after `hint` must be part of what the learner then reads.

# %% budgets-alone check="check-stuck" hint="Which guard takes both numbers?"
def guard_set(tools, stop):
    return tools, [cancelled(stop), max_tool_calls(60), token_budget(100_000, hard=True), time_limit(300), max_steps(40)]

# %% soft-budget check="check-limits" hint="Which kind looks ahead?"
def guard_set(tools, stop):
    return tools, [max_tool_calls(60), token_budget(100_000), time_limit(300), max_steps(40)]

# %% no-quota check="check-limits" hint="What counts the tool calls in them?"
def guard_set(tools, stop):
    return tools, [token_budget(100_000, hard=True), time_limit(300), max_steps(40)]

# %% the-same-call-anywhere check="check-honest" hint="the same call may come back if something has happened in between"
def guard_set(tools, stop):
    declared = tools | {"status": tool(poll=16)(tools["status"])}
    return declared, [repeated_call(3), max_tool_calls(60), token_budget(100_000, hard=True), max_steps(40)]

# %% two-passes-are-a-circle check="check-honest" hint="How many passes make a circle?"
def guard_set(tools, stop):
    declared = tools | {"status": tool(poll=16)(tools["status"])}
    return declared, [going_in_circles(), no_new_results(4), time_limit(300, working=True), max_steps(40)]

# %% poll-not-declared check="check-honest" hint="which declaration for the second?"
def guard_set(tools, stop):
    return tools, [no_new_results(4), time_limit(300, working=True), max_steps(40)]

# %% patience-without-end check="check-stuck" hint="How long must it be, and how long may it be?"
def guard_set(tools, stop):
    declared = tools | {"status": tool(poll=100)(tools["status"]), "feed": tool(volatile=("at",))(tools["feed"])}
    return declared, [going_in_circles(times=3), no_new_results(4), max_steps(40)]

# %% new-time-is-news check="check-stuck" hint="Who can tell the guards?"
def guard_set(tools, stop):
    declared = tools | {"status": tool(poll=16)(tools["status"])}
    return declared, [going_in_circles(times=3), no_new_results(4), max_steps(40)]

# %% lunch-counts check="check-honest" hint="a person who thinks is not a run that works"
def guard_set(tools, stop):
    declared = tools | {"status": tool(poll=16)(tools["status"])}
    return declared, [going_in_circles(times=3), no_new_results(4), time_limit(300), max_steps(40)]

# %% stuck-speaks-first check="check-trouble" hint="which one should be read?"
def guard_set(tools, stop):
    return tools, [cancelled(stop), no_new_results(4), too_many_errors(4), too_many_refusals(3), max_steps(40)]

# %% effect-alone check="check-trouble" hint="a function of yours that looks at run.batch?"
def guard_set(tools, stop):
    declared = tools | {"send": tool(effect=True)(tools["send"])}
    guards = [cancelled(stop), too_many_errors(3), too_many_refusals(3), going_in_circles(), no_new_results(4), max_steps(40)]
    return declared, guards

# %% one-message-ever check="check-honest" hint="send up to three different messages"
def guard_set(tools, stop):
    declared = tools | {"status": tool(poll=16)(tools["status"])}
    return declared, [max_tool_calls(1, tool="send"), going_in_circles(times=3), max_steps(40)]

# %% strict-on-everybody check="check-honest" hint="honest runs make up to 29 model calls"
def guard_set(tools, stop):
    return tools, [max_steps(10)]

# %% guards-alone check="check-limits" hint="return two things"
def guard_set(tools, stop):
    return [max_tool_calls(60), token_budget(100_000, hard=True), time_limit(300), max_steps(40)]

# %% some-tools-lost check="check-honest" hint="all seven of them under their names"
def guard_set(tools, stop):
    return [tool(poll=16)(tools["status"]), tools["search"]], [max_steps(40)]

# %% nothing-that-bounds check="check-stuck" hint="what does the message say about your list?"
def guard_set(tools, stop):
    return tools, [going_in_circles(times=3), no_new_results(4)]

# %% out-of-reach check="check-limits" hint="Which limit sees it all the same"
def guard_set(tools, stop):
    return tools, [max_steps(10_000)]

# %% a-guard-that-remembers check="check-honest" hint="What do they remember?"
def guard_set(tools, stop):
    looks = []
    def too_long(run):
        looks.append(run.steps)
        return "it has gone on for long" if len(looks) > 40 else None
    return tools, [too_long, max_steps(40)]

# %% a-guard-that-never-returns check="check-stuck" hint="Which guard takes both numbers?"
def guard_set(tools, stop):
    def same_again(run):
        asked = [message for message in run.messages if "tool_calls" in message]
        place = 0
        while place < len(asked):
            if asked[place:] == []:
                place += 1
        return None
    return tools, [same_again, max_steps(40)]

# %% a-guard-that-raises check="check-trouble" hint="a guard, or a tool, raised an error"
def guard_set(tools, stop):
    def same_message(run):
        return "again" if run.messages[-2]["content"] == run.messages[-4]["content"] else None
    return tools, [same_message, cancelled(stop), max_steps(40)]

# %% less-time-than-promised check="check-honest" hint="honest runs work for up to 200 seconds"
def guard_set(tools, stop):
    declared = tools | {"status": tool(poll=16)(tools["status"])}
    return declared, [going_in_circles(times=3), no_new_results(4), time_limit(150, working=True), max_steps(40)]

# %% fewer-tokens-than-promised check="check-honest" hint="a hard budget wants room"
def guard_set(tools, stop):
    declared = tools | {"status": tool(poll=16)(tools["status"])}
    return declared, [going_in_circles(times=3), token_budget(49_000, hard=True), max_steps(40)]

# %% a-function-looks-too-late check="check-trouble" hint="At which gate does a plain function look?"
def guard_set(tools, stop):
    def same_message_again(run):
        texts = [str(call.args) for step in run.trace for call in step.calls if call.name == "send"]
        return "the same message twice" if len(texts) != len(set(texts)) else None
    return tools, [cancelled(stop), too_many_errors(3), too_many_refusals(3), same_message_again, max_steps(40)]

# %% a-class-that-is-no-guard check="check-trouble" hint="derive its class from stoplib.Guard hint: what does the message say about your list?"
class one_message:
    gates = ("before_action",)

    def __call__(self, run):
        texts = [str(call.args) for step in run.trace for call in step.calls if call.name == "send"]
        return "the same message twice" if len(texts) != len(set(texts)) else None

def guard_set(tools, stop):
    return tools, [cancelled(stop), too_many_errors(3), too_many_refusals(3), one_message(), max_steps(40)]

# %% everything-looks-stuck check="check-limits" hint="What did your guard take for a repeat?"
def guard_set(tools, stop):
    def the_same_tool_again(run):
        names = [call.name for step in run.trace for call in step.calls]
        return "the same tool again" if len(names) > 2 and names[-1] == names[-2] else None
    return tools, [the_same_tool_again, max_tool_calls(60), token_budget(100_000, hard=True), time_limit(300), max_steps(40)]
