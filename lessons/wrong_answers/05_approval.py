# Answers to exercise 05 that people really give. Each is tried by the tests: the named check must
# catch it, and the text after `hint` must be part of what the learner then reads.

# %% asks-about-unknown-tools check="check-order" hint="look the tool up first"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if approve(call) is not True:
            text, refusals = "declined", refusals + 1
        elif call["name"] not in tools:
            text = "error: no such tool"
        else:
            text, refusals = tools[call["name"]](**call["args"]), 0
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% asks-after-it-ran check="check-order" hint="ask before the tool runs"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        else:
            text = tools[call["name"]](**call["args"])
            if approve(call) is not True:
                text, refusals = "declined", refusals + 1
            else:
                refusals = 0
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% runs-it-anyway check="check-order" hint="after a no the tool must not run"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        text = "error: no such tool"
        if call["name"] in tools:
            if approve(call) is not True:
                refusals += 1
            text = tools[call["name"]](**call["args"])
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% asks-until-yes check="check-order" hint="a no is an answer"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        text = "error: no such tool"
        if call["name"] in tools:
            while approve(call) is not True:
                refusals += 1
            text = tools[call["name"]](**call["args"])
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return 0

# %% a-text-is-a-yes check="check-yes" hint="only True is a yes"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif not approve(call):
            text, refusals = "declined", refusals + 1
        else:
            text, refusals = tools[call["name"]](**call["args"]), 0
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% one-equals-true check="check-yes" hint="What does your if make of a text, of None, of 1?"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) == True:
            text, refusals = tools[call["name"]](**call["args"]), 0
        else:
            text, refusals = "declined", refusals + 1
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% none-is-a-yes check="check-yes" hint="of None"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is False:
            text, refusals = "declined", refusals + 1
        else:
            text, refusals = tools[call["name"]](**call["args"]), 0
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% a-no-leaves-no-result check="check-results" hint="each request gets exactly one result"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            refusals += 1
            continue
        else:
            text, refusals = tools[call["name"]](**call["args"]), 0
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% stops-at-the-first-no check="check-results" hint="each request gets exactly one result"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "declined"})
            return refusals + 1
        else:
            try:
                text = tools[call["name"]](**call["args"])
            except Exception as error:
                text = f"error: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return 0

# %% a-tool-error-ends-it check="check-results" hint="a tool that raises is no reason to stop"
def answer_calls(calls, tools, approve, messages, refusals):
    let_through = declined = 0
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, declined = "declined", declined + 1
        else:
            text, let_through = tools[call["name"]](**call["args"]), 1
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return 0 if let_through else refusals + declined

# %% an-empty-result-is-replaced check="check-results" hint="its result is what it returned, and nothing else"
def answer_calls(calls, tools, approve, messages, refusals):
    let_through = declined = 0
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, declined = "declined", declined + 1
        else:
            let_through = 1
            try:
                text = tools[call["name"]](**call["args"]) or "done"
            except Exception as error:
                text = f"error: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return 0 if let_through else refusals + declined

# %% name-instead-of-id check="check-results" hint="each message with role, tool_call_id and content"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, refusals = "declined", refusals + 1
        else:
            text, refusals = tools[call["name"]](**call["args"]), 0
        messages.append({"role": "tool", "name": call["name"], "content": text})
    return refusals

# %% the-row-goes-by-calls check="check-refusals" hint="ends the row, wherever in the reply it stands"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, refusals = "declined", refusals + 1
        else:
            refusals = 0
            try:
                text = tools[call["name"]](**call["args"])
            except Exception as error:
                text = f"error: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% starts-from-zero check="check-refusals" hint="adds one to the number that was passed in"
def answer_calls(calls, tools, approve, messages, refusals):
    refusals = 0
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, refusals = "declined", refusals + 1
        else:
            try:
                text = tools[call["name"]](**call["args"])
            except Exception as error:
                text = f"error: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% never-starts-again check="check-refusals" hint="a call that was let through ends the row"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, refusals = "declined", refusals + 1
        else:
            try:
                text = tools[call["name"]](**call["args"])
            except Exception as error:
                text = f"error: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals

# %% an-unknown-tool-starts-again check="check-refusals" hint="nobody was asked, so nothing has changed"
def answer_calls(calls, tools, approve, messages, refusals):
    declined = 0
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, declined = "declined", declined + 1
        else:
            try:
                text = tools[call["name"]](**call["args"])
            except Exception as error:
                text = f"error: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return refusals + declined if declined == len(calls) else 0

# %% ctrl-c-leaves-holes check="check-ctrl-c" hint="each request gets exactly one result"
def answer_calls(calls, tools, approve, messages, refusals):
    let_through = declined = 0
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, declined = "declined", declined + 1
        else:
            let_through = 1
            try:
                text = tools[call["name"]](**call["args"])
            except Exception as error:
                text = f"error: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return 0 if let_through else refusals + declined

# %% ctrl-c-is-an-error check="check-ctrl-c" hint="Ctrl-C must reach the loop"
def answer_calls(calls, tools, approve, messages, refusals):
    let_through = declined = 0
    for call in calls:
        try:
            if call["name"] not in tools:
                text = "error: no such tool"
            elif approve(call) is not True:
                text, declined = "declined", declined + 1
            else:
                let_through, text = 1, tools[call["name"]](**call["args"])
        except BaseException as error:
            text = f"error: {type(error).__name__}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return 0 if let_through else refusals + declined

# %% ctrl-c-is-kept check="check-ctrl-c" hint="Where is it caught and not raised again?"
def answer_calls(calls, tools, approve, messages, refusals):
    texts, let_through, declined = {call["id"]: "not run" for call in calls}, 0, 0
    try:
        for call in calls:
            if call["name"] not in tools:
                texts[call["id"]] = "error: no such tool"
            elif approve(call) is not True:
                texts[call["id"]], declined = "declined", declined + 1
            else:
                let_through, texts[call["id"]] = 1, "not run to its end"
                try:
                    texts[call["id"]] = tools[call["name"]](**call["args"])
                except Exception as error:
                    texts[call["id"]] = f"error: {error}"
    except KeyboardInterrupt:
        pass
    messages += [{"role": "tool", "tool_call_id": id, "content": text} for id, text in texts.items()]
    return 0 if let_through else refusals + declined

# %% it-never-ran check="check-ctrl-c" hint="nobody knows how far it got"
def answer_calls(calls, tools, approve, messages, refusals):
    texts, let_through, declined = {call["id"]: "not run" for call in calls}, 0, 0
    try:
        for call in calls:
            if call["name"] not in tools:
                texts[call["id"]] = "error: no such tool"
            elif approve(call) is not True:
                texts[call["id"]], declined = "declined", declined + 1
            else:
                let_through = 1
                try:
                    texts[call["id"]] = tools[call["name"]](**call["args"])
                except Exception as error:
                    texts[call["id"]] = f"error: {error}"
    finally:
        messages += [{"role": "tool", "tool_call_id": id, "content": text} for id, text in texts.items()]
    return 0 if let_through else refusals + declined

# %% all-half-done check="check-ctrl-c" hint="this tool was never started"
def answer_calls(calls, tools, approve, messages, refusals):
    texts, let_through, declined = {call["id"]: "not run to its end" for call in calls}, 0, 0
    try:
        for call in calls:
            if call["name"] not in tools:
                texts[call["id"]] = "error: no such tool"
            elif approve(call) is not True:
                texts[call["id"]], declined = "declined", declined + 1
            else:
                let_through = 1
                try:
                    texts[call["id"]] = tools[call["name"]](**call["args"])
                except Exception as error:
                    texts[call["id"]] = f"error: {error}"
    finally:
        messages += [{"role": "tool", "tool_call_id": id, "content": text} for id, text in texts.items()]
    return 0 if let_through else refusals + declined

# %% results-twice check="check-ctrl-c" hint="Which of your branches adds none, or two?"
def answer_calls(calls, tools, approve, messages, refusals):
    let_through = declined = 0
    try:
        for call in calls:
            if call["name"] not in tools:
                text = "error: no such tool"
            elif approve(call) is not True:
                text, declined = "declined", declined + 1
            else:
                let_through = 1
                try:
                    text = tools[call["name"]](**call["args"])
                except Exception as error:
                    text = f"error: {error}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    except KeyboardInterrupt:
        for call in calls:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "not run"})
        raise
    return 0 if let_through else refusals + declined

# %% no-number-comes-back check="check-whole-run" hint="three refusals in a row end the run"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, refusals = "declined", refusals + 1
        else:
            text, refusals = tools[call["name"]](**call["args"]), 0
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})

# %% a-reply-is-one-refusal check="check-refusals" hint="each refusal adds one to the number that was passed in"
def answer_calls(calls, tools, approve, messages, refusals):
    let_through = declined = 0
    for call in calls:
        if call["name"] not in tools:
            text = "error: no such tool"
        elif approve(call) is not True:
            text, declined = "declined", 1
        else:
            let_through = 1
            try:
                text = tools[call["name"]](**call["args"])
            except Exception as error:
                text = f"error: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return 0 if let_through else refusals + declined

# %% adds-to-a-list-of-its-own check="check-results" hint="the caller's list has not grown"
def answer_calls(calls, tools, approve, messages, refusals):
    for call in calls:
        content = tools[call["name"]](**call["args"]) if approve(call) is True else "declined"
        messages = messages + [{"role": "tool", "tool_call_id": call["id"], "content": content}]
    return refusals
