# Answers to exercise 01 that people really give. Each is tried by the tests: the named check must
# catch it, and the text after `hint` must be part of what the learner then reads.

# %% single-exit check="check-steps" hint="something must end the loop even if the model never answers"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    while True:
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]

# %% never-calls check="check-steps" hint="something must end the loop even if the model never answers"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    steps = 0
    while steps < max_steps:
        messages = [{"role": "user", "content": user_msg}]
    return None, "max_steps"

# %% one-step-too-many check="check-steps" hint="max_steps counts calls of the model"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    steps, start = 0, clock()
    while steps <= max_steps:
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        steps += 1
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% limit-after-the-call check="check-steps" hint="no steps allowed means that no call is made"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    steps, start = 0, clock()
    while True:
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
        steps += 1
        if steps >= max_steps:
            return None, "max_steps"

# %% clock-from-zero check="check-time" hint="a clock may start anywhere"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    clock()
    for _ in range(max_steps):
        if time_budget is not None and clock() >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% greater-not-equal check="check-time" hint="compare with >=, before the call"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for _ in range(max_steps):
        if time_budget is not None and clock() - start > time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% zero-is-false check="check-time" hint="0 is a budget too"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for _ in range(max_steps):
        if time_budget and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% the-computers-clock check="check-time" hint="the time comes from the clock that was passed in"
import time

def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = time.monotonic()
    for _ in range(max_steps):
        if time_budget is not None and time.monotonic() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% two-readings-a-round check="check-time" hint="read the clock once at the start and once before each call"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
    return None, "max_steps"

# %% time-after-the-answer check="check-ties" hint="time comes before the answer"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for _ in range(max_steps):
        now = clock()
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        if time_budget is not None and now - start >= time_budget:
            return None, "budget"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% last-answer-thrown-away check="check-ties" hint="an answer at the last allowed step is an answer"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for step in range(1, max_steps + 1):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if step == max_steps:
            break
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% answer-alone check="check-answer" hint="return two things"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    for _ in range(max_steps):
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"]
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]

# %% tool-errors-crash check="check-tools" hint="the run must go on"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        result = tools[reply["name"]](**reply.get("args", {}))
        messages += [reply, {"role": "tool", "name": reply["name"], "content": result}]
    return None, "max_steps"

# %% errors-end-the-run check="check-tools" hint="the run must go on"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        try:
            result = tools[reply["name"]](**reply.get("args", {}))
        except Exception as error:
            return None, "error"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": result}]
    return None, "max_steps"

# %% args-must-be-there check="check-tools" hint="args may be missing"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    for _ in range(max_steps):
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        args = reply["args"]
        try:
            result = tools[reply["name"]](**args)
        except Exception as error:
            result = f"error: {error}"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": result}]
    return None, "max_steps"

# %% request-not-written-down check="check-messages" hint="for each round, the reply itself and one message"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    for _ in range(max_steps):
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages.append({"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])})
    return None, "max_steps"

# %% the-chapters-loop check="check-tool-calls" hint="keep the first line as it stands in the answer cell"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None):
    messages = [{"role": "user", "content": user_msg}]
    start = clock()
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages.append(reply)
        messages.append({"role": "tool", "name": "search", "content": tools["search"](**reply["args"])})
    return None, "max_steps"

# %% tool-calls-before-the-call check="check-tool-calls" hint="an answer needs no tool"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None):
    messages = [{"role": "user", "content": user_msg}]
    start, used = clock(), 0
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        if max_tool_calls is not None and used >= max_tool_calls:
            return None, "max_tool_calls"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        used += 1
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% tool-calls-after-the-tool check="check-tool-calls" hint="the request that is one too many is not carried out"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None):
    messages = [{"role": "user", "content": user_msg}]
    start, used = clock(), 0
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
        used += 1
        if max_tool_calls is not None and used > max_tool_calls:
            return None, "max_tool_calls"
    return None, "max_steps"

# %% no-tool-calls-is-no-limit check="check-tool-calls" hint="0 is a limit too, the strictest"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None):
    messages = [{"role": "user", "content": user_msg}]
    start, used = clock(), 0
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        if max_tool_calls and used >= max_tool_calls:
            return None, "max_tool_calls"
        used += 1
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% failures-do-not-count check="check-tool-calls" hint="a request counts when the loop has tried to carry it out"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None):
    messages = [{"role": "user", "content": user_msg}]
    start, used = clock(), 0
    for _ in range(max_steps):
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        if max_tool_calls is not None and used >= max_tool_calls:
            return None, "max_tool_calls"
        try:
            result = tools[reply["name"]](**reply.get("args", {}))
            used += 1
        except Exception as error:
            result = f"error: {error}"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": result}]
    return None, "max_steps"

# %% steps-before-tool-calls check="check-ties" hint="tool calls are looked at before a tool runs"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None):
    messages = [{"role": "user", "content": user_msg}]
    start, steps, used = clock(), 0, 0
    while steps < max_steps:
        if time_budget is not None and clock() - start >= time_budget:
            return None, "budget"
        reply, steps = model(messages), steps + 1
        if reply["type"] == "final":
            return reply["content"], "final"
        if steps == max_steps:
            break
        if max_tool_calls is not None and used >= max_tool_calls:
            return None, "max_tool_calls"
        used += 1
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% no-first-reading check="check-time" hint="once for the start, once for the look"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None):
    messages = [{"role": "user", "content": user_msg}]
    for _ in range(max_steps):
        if time_budget is not None and clock() >= time_budget:
            return None, "budget"
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"

# %% args-are-always-there check="check-tools" hint="args may be missing. Then the tool is called all the same"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None):
    messages = [{"role": "user", "content": user_msg}]
    for _ in range(max_steps):
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "final"
        try:
            result = tools[reply["name"]](**reply["args"])
        except Exception as error:
            result = f"error: {error}"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": result}]
    return None, "max_steps"

# %% the-librarys-names check="check-ties" hint="the reason is one of the names in the table"
def run_with_limits(model, tools, user_msg, clock, max_steps=10, time_budget=None, max_tool_calls=None):
    messages = [{"role": "user", "content": user_msg}]
    for _ in range(max_steps):
        reply = model(messages)
        if reply["type"] == "final":
            return reply["content"], "answered"
        messages += [reply, {"role": "tool", "name": reply["name"], "content": tools[reply["name"]](**reply["args"])}]
    return None, "max_steps"
