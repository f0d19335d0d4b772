# Answers to exercise 06 that people really give. Each is tried by the tests: the named check must
# catch it, and the text after `hint` must be part of what the learner then reads.

# %% everything-else-is-done check="check-unknown" hint="a word that you do not know is never a success"
def understand(reply):
    if reply.stop in ("max_tokens", "length", "MAX_TOKENS"):
        return "truncated", False, "raise the limit"
    if reply.stop == "model_context_window_exceeded":
        return "context_full", False, "send less"
    if reply.stop in ("refusal", "content_filter", "guardrail_intervened", "SAFETY"):
        return "refused", False, "ask a person"
    if reply.stop == "pause_turn":
        return None, False, "send it back"
    if reply.calls:
        return None, False, "run the tools"
    if not reply.text.strip():
        return "empty_reply", False, "ask again"
    return "answered", True, "use the answer"

# %% requests-first check="check-requests" hint="a reply that was cut off may hold half a request"
def understand(reply):
    if reply.calls:
        return None, False, "run the tools"
    if reply.stop in ("end_turn", "stop_sequence", "stop", "STOP"):
        return ("answered", True, "use the answer") if reply.text.strip() else ("empty_reply", False, "ask again")
    if reply.stop in ("max_tokens", "length", "MAX_TOKENS"):
        return "truncated", False, "raise the limit"
    if reply.stop == "model_context_window_exceeded":
        return "context_full", False, "send less"
    if reply.stop in ("refusal", "content_filter", "guardrail_intervened", "SAFETY"):
        return "refused", False, "ask a person"
    if reply.stop == "pause_turn":
        return None, False, "send it back"
    return "unfinished", False, "find out"

# %% unknown-request-runs check="check-unknown" hint="with a word that you do not know nothing runs"
def understand(reply):
    if reply.stop in ("max_tokens", "length", "MAX_TOKENS"):
        return "truncated", False, "raise the limit"
    if reply.stop == "model_context_window_exceeded":
        return "context_full", False, "send less"
    if reply.stop in ("refusal", "content_filter", "guardrail_intervened", "SAFETY"):
        return "refused", False, "ask a person"
    if reply.stop == "pause_turn":
        return None, False, "send it back"
    if reply.calls:
        return None, False, "run the tools"
    if reply.stop in ("end_turn", "stop_sequence", "stop", "STOP"):
        return ("answered", True, "use the answer") if reply.text.strip() else ("empty_reply", False, "ask again")
    return "unfinished", False, "find out"

# %% empty-is-an-answer check="check-ended" hint="a turn can end without anything having been said"
def understand(reply):
    ended = ("end_turn", "stop_sequence", "stop", "STOP")
    if reply.stop in ended or reply.stop in ("tool_use", "tool_calls"):
        if reply.calls:
            return None, False, "run the tools"
        if reply.stop in ended:
            return "answered", True, "use the answer"
    return "unfinished", False, "find out"

# %% spaces-are-text check="check-ended" hint="Which method of a text takes them off?"
def understand(reply):
    if reply.stop in ("end_turn", "stop_sequence", "stop", "STOP"):
        if reply.calls:
            return None, False, "run the tools"
        return ("answered", True, "use the answer") if reply.text else ("empty_reply", False, "ask again")
    return "unfinished", False, "find out"

# %% one-api-only check="check-ended" hint="Is it in your list, as it is written in the table?"
def understand(reply):
    if reply.calls and reply.stop == "tool_use":
        return None, False, "run the tools"
    if reply.stop == "end_turn":
        return ("answered", True, "use the answer") if reply.text.strip() else ("empty_reply", False, "ask again")
    return "unfinished", False, "find out"

# %% ended-beside-a-request check="check-requests" hint="Some APIs send their word for an ended turn beside a request"
def understand(reply):
    if reply.stop in ("max_tokens", "length", "MAX_TOKENS"):
        return "truncated", False, "raise the limit"
    if reply.stop in ("refusal", "content_filter", "guardrail_intervened", "SAFETY"):
        return "refused", False, "ask a person"
    if reply.stop in ("tool_use", "tool_calls"):
        return (None, False, "run the tools") if reply.calls else ("unfinished", False, "find out")
    if reply.stop in ("end_turn", "stop_sequence", "stop", "STOP"):
        return ("answered", True, "use the answer") if reply.text.strip() else ("empty_reply", False, "ask again")
    return "unfinished", False, "find out"

# %% the-word-alone check="check-requests" hint="the word announces a tool and no request is there"
def understand(reply):
    if reply.stop in ("tool_use", "tool_calls"):
        return None, False, "run the tools"
    if reply.stop in ("end_turn", "stop_sequence", "stop", "STOP"):
        if reply.calls:
            return None, False, "run the tools"
        return ("answered", True, "use the answer") if reply.text.strip() else ("empty_reply", False, "ask again")
    return "unfinished", False, "find out"

# %% any-spelling check="check-unknown" hint="a word counts as it is written in the table"
def understand(reply):
    word = reply.stop.strip().lower()
    if word in ("max_tokens", "length"):
        return "truncated", False, "raise the limit"
    if word == "model_context_window_exceeded":
        return "context_full", False, "send less"
    if word in ("refusal", "content_filter", "guardrail_intervened", "safety"):
        return "refused", False, "ask a person"
    if word == "pause_turn":
        return None, False, "send it back"
    if reply.calls and word in ("end_turn", "stop_sequence", "stop", "tool_use", "tool_calls"):
        return None, False, "run the tools"
    if word in ("end_turn", "stop_sequence", "stop"):
        return ("answered", True, "use the answer") if reply.text.strip() else ("empty_reply", False, "ask again")
    return "unfinished", False, "find out"

# %% part-of-the-word check="check-unknown" hint="Do you compare whole words?"
def understand(reply):
    if "stop" in reply.stop or "end" in reply.stop or reply.stop == "STOP":
        if reply.calls:
            return None, False, "run the tools"
        return ("answered", True, "use the answer") if reply.text.strip() else ("empty_reply", False, "ask again")
    return "unfinished", False, "find out"

# %% a-pause-is-an-end check="check-cut-short" hint="a paused turn is no end"
def understand(reply):
    if reply.stop in ("max_tokens", "length", "MAX_TOKENS", "pause_turn"):
        return "truncated", False, "raise the limit"
    if reply.stop == "model_context_window_exceeded":
        return "context_full", False, "send less"
    if reply.stop in ("refusal", "content_filter", "guardrail_intervened", "SAFETY"):
        return "refused", False, "ask a person"
    return "unfinished", False, "find out"

# %% a-refusal-is-done check="check-cut-short" hint="refused is not done, and neither is filtered"
def understand(reply):
    if reply.stop in ("refusal", "content_filter", "guardrail_intervened", "SAFETY"):
        return "refused", True, "use the answer"
    return "unfinished", False, "find out"

# %% reads-the-text check="check-text" hint="the word decides, not what the text says"
def understand(reply):
    if "cannot" in reply.text or "Sorry" in reply.text:
        return "refused", False, "ask a person"
    if reply.stop in ("end_turn", "stop_sequence", "stop", "STOP"):
        return ("answered", True, "use the answer") if reply.text.strip() else ("empty_reply", False, "ask again")
    return "unfinished", False, "find out"

# %% a-table-without-a-way-out check="check-unknown" hint="a table in square brackets fails for a word that is not in it"
def understand(reply):
    return {
        "end_turn": ("answered", True, "use the answer"),
        "stop": ("answered", True, "use the answer"),
        "max_tokens": ("truncated", False, "raise the limit"),
    }[reply.stop]

# %% the-reason-alone check="check-ended" hint="return three things"
def understand(reply):
    if reply.stop in ("end_turn", "stop_sequence", "stop", "STOP"):
        return "answered"

# %% none-as-text check="check-requests" hint="that is None, not a text"
def understand(reply):
    if reply.calls:
        return "None", False, "run the tools"
    return "unfinished", False, "find out"

# %% waits-for-a-better-reply check="check-cut-short" hint="nothing has to be repeated here"
def understand(reply):
    while reply.stop == "pause_turn":
        pass
    return "unfinished", False, "find out"

# %% another-wording check="check-cut-short" hint="Compare the third value, letter by letter"
def understand(reply):
    if reply.stop in ("max_tokens", "length", "MAX_TOKENS"):
        return "truncated", False, "raise the output limit"
    return "unfinished", False, "find out"

# %% text-before-the-request check="check-requests" hint="your function knows this word in other replies"
def understand(reply):
    ended = ("end_turn", "stop_sequence", "stop", "STOP")
    if reply.stop in ("max_tokens", "length", "MAX_TOKENS"):
        return "truncated", False, "raise the limit"
    if reply.stop in ("refusal", "content_filter", "guardrail_intervened", "SAFETY"):
        return "refused", False, "ask a person"
    if not reply.text.strip() and not reply.calls:
        return ("empty_reply", False, "ask again") if reply.stop in ended else ("unfinished", False, "find out")
    if reply.calls and not reply.text and reply.stop in (*ended, "tool_use", "tool_calls"):
        return None, False, "run the tools"
    if reply.stop in ended and not reply.calls:
        return "answered", True, "use the answer"
    return "unfinished", False, "find out"

# %% asks-for-text-first check="check-ended" hint="your function knows this word in other replies"
def understand(reply):
    if reply.stop in ("end_turn", "stop_sequence", "stop", "STOP") and reply.text.strip():
        return "answered", True, "use the answer"
    return "unfinished", False, "find out"
