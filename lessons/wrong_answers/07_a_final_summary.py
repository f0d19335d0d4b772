# Answers to exercise 07 that people really give. Each is tried by the tests: the named check must
# catch it, and the text after `hint` must be part of what the learner then reads.

# %% no-look-at-the-room check="check-room" hint="no step is left, so no call is made"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = NO_SUMMARY
    try:
        reply = model([*messages, REQUEST], [])
        if ending(reply) == ("answered", ""):
            summary = reply.text
    except Exception:
        pass
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% zero-tokens-is-no-limit check="check-room" hint="0 tokens left is a limit"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    to_send = [*messages, REQUEST]
    needed = sum(len(m["content"]) for m in to_send) / 4 + ANSWER_TOKENS
    room = steps_left > 0 and (not tokens_left or needed <= tokens_left)
    summary = model(to_send, []).text if room else NO_SUMMARY
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": int(room)}

# %% exactly-is-too-much check="check-room" hint="exactly as many as are left is enough"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    to_send = [*messages, REQUEST]
    needed = sum(len(m["content"]) for m in to_send) / 4 + ANSWER_TOKENS
    room = steps_left > 0 and (tokens_left is None or needed < tokens_left)
    summary = model(to_send, []).text if room else NO_SUMMARY
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": int(room)}

# %% rounded-down check="check-room" hint="without rounding"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    to_send = [*messages, REQUEST]
    needed = sum(len(m["content"]) for m in to_send) // 4 + ANSWER_TOKENS
    room = steps_left > 0 and (tokens_left is None or needed <= tokens_left)
    summary = model(to_send, []).text if room else NO_SUMMARY
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": int(room)}

# %% the-answer-costs-nothing check="check-room" hint="what is the answer's share"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    to_send = [*messages, REQUEST]
    needed = sum(len(m["content"]) for m in to_send) / 4
    room = steps_left > 0 and (tokens_left is None or needed <= tokens_left)
    summary = model(to_send, []).text if room else NO_SUMMARY
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": int(room)}

# %% appended-to-the-callers-list check="check-summary" hint="the list belongs to the caller"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary, calls = NO_SUMMARY, 0
    if steps_left > 0:
        messages.append(REQUEST)
        calls = 1
        summary = model(messages, []).text
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": calls}

# %% asked-without-the-request check="check-summary" hint="and REQUEST after them"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = model(messages, []).text
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% asked-for-the-request-alone check="check-summary" hint="send all messages of the run"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = model([REQUEST], []).text
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% tools-left-out check="check-summary" hint="the second argument is an empty list"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = model([*messages, REQUEST]).text
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% any-text-is-a-summary check="check-replies" hint="only a reply that ends its turn with text"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    try:
        summary = model([*messages, REQUEST], []).text.strip() or NO_SUMMARY
    except Exception:
        summary = NO_SUMMARY
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% text-beside-a-request check="check-replies" hint="its text is what it says on the way to the tool"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = NO_SUMMARY
    reply = model([*messages, REQUEST], [])
    if reply.stop in (None, "end_turn") and reply.text.strip():
        summary = reply.text
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% asks-until-it-gets-one check="check-replies" hint="there is one closing call at most"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    calls = 0
    while True:
        calls += 1
        reply = model([*messages, REQUEST], [])
        if ending(reply) == ("answered", ""):
            break
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": reply.text, "evidence": evidence, "model_calls": calls}

# %% swallows-everything-and-asks-again check="check-errors" hint="there is one closing call at most"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = None
    while summary is None:
        try:
            summary = model([*messages, REQUEST], []).text
        except BaseException:
            pass
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% sends-a-paused-turn-back check="check-replies" hint="It is not tried again"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = NO_SUMMARY
    reply = model([*messages, REQUEST], [])
    if reply.stop == "pause_turn":
        reply = model([*messages, REQUEST, {"role": "assistant", "content": reply.text}], [])
    if ending(reply) == ("answered", ""):
        summary = reply.text
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% errors-get-out check="check-errors" hint="must not get out: the caller would lose the evidence"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    reply = model([*messages, REQUEST], [])
    summary = reply.text if ending(reply) == ("answered", "") else NO_SUMMARY
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% only-the-call-is-tried check="check-errors" hint="Can the look at the reply fail, too?"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary, reply = NO_SUMMARY, answer("")
    try:
        reply = model([*messages, REQUEST], [])
    except Exception:
        pass
    if ending(reply) == ("answered", ""):
        summary = reply.text
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% a-failed-call-is-fatal check="check-errors" hint="a run has one reason"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = NO_SUMMARY
    try:
        reply = model([*messages, REQUEST], [])
        if ending(reply) == ("answered", ""):
            summary = reply.text
    except Exception:
        reason = "fatal"
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": 1}

# %% a-failed-call-costs-nothing check="check-errors" hint="a call counts if it was made"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary, calls = NO_SUMMARY, 0
    try:
        reply = model([*messages, REQUEST], [])
        calls = 1
        if ending(reply) == ("answered", ""):
            summary = reply.text
    except Exception:
        pass
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": calls}

# %% believes-the-summary check="check-claims" hint="whatever its summary says"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    reply = model([*messages, REQUEST], [])
    done = "done" in reply.text.lower() or "complete" in reply.text.lower()
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "complete" if done else "incomplete", "reason": reason, "answer": None, "summary": reply.text,
            "evidence": evidence, "model_calls": 1}

# %% the-summary-is-the-answer check="check-claims" hint="a summary is no answer"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    reply = model([*messages, REQUEST], [])
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": reply.text, "summary": reply.text,
            "evidence": evidence, "model_calls": 1}

# %% the-reply-gives-the-reason check="check-claims" hint="a run has one reason"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    reply = model([*messages, REQUEST], [])
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": ending(reply)[0], "answer": None, "summary": reply.text,
            "evidence": evidence, "model_calls": 1}

# %% errors-are-evidence check="check-evidence" hint="not marked is_error"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = NO_SUMMARY
    if steps_left:
        try:
            summary = model([*messages, REQUEST], []).text
        except Exception:
            pass
    evidence = [m["content"] for m in messages if m["role"] == "tool"]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence,
            "model_calls": int(steps_left > 0)}

# %% a-word-marks-an-error check="check-evidence" hint="not marked is_error"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary = NO_SUMMARY
    if steps_left:
        try:
            summary = model([*messages, REQUEST], []).text
        except Exception:
            pass
    evidence = [m["content"] for m in messages if m["role"] == "tool" and "rror" not in m["content"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence,
            "model_calls": int(steps_left > 0)}

# %% the-last-result-alone check="check-evidence" hint="each tool message"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    found = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    summary = model([*messages, REQUEST], []).text
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": found[-1:], "model_calls": 1}

# %% a-text-instead-of-a-result check="check-summary" hint="return a dictionary with the keys"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    return model([*messages, REQUEST], []).text

# %% only-the-word-end-turn check="check-summary" hint="ending(reply) takes that for an ended turn"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    summary, calls = NO_SUMMARY, 0
    if steps_left > 0:
        calls = 1
        try:
            reply = model([*messages, REQUEST], [])
            if reply.stop == "end_turn" and not reply.calls and reply.text.strip():
                summary = reply.text
        except Exception:
            pass
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": evidence, "model_calls": calls}

# %% only-what-the-person-sees check="check-evidence" hint="the content of each tool message"
def end_well(reason, messages, model, steps_left, tokens_left=None):
    evidence = [m["content"] for m in messages if m["role"] == "tool" and not m["is_error"]]
    summary = NO_SUMMARY
    if steps_left > 0:
        try:
            summary = model([*messages, REQUEST], []).text
        except Exception:
            pass
    return {"status": "incomplete", "reason": reason, "answer": None, "summary": summary, "evidence": sorted(set(evidence)),
            "model_calls": int(steps_left > 0)}
