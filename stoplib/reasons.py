"""Every way a run can end, as a tree. A run has exactly one reason, and the reason is a value.

a run ends
├── complete
│   ├── answered       the model ended its turn with text and no tool request
│   └── goal_reached   a check of the world passes, whatever the model thinks
└── incomplete
    ├── the reply said so
    │   ├── refused        the model refused, or a filter stepped in
    │   ├── truncated      the reply was cut off at its output limit
    │   ├── context_full   the context window is full
    │   ├── empty_reply    the turn ended and nothing was said
    │   └── unfinished     the API gave a word that we do not know, or one that does not fit;
    │                      or the model answered and a goal check said no
    ├── a guard fired      the guard's own name: max_steps, time_limit, …
    ├── interrupted        Ctrl-C, anywhere; the transcript is kept
    └── fatal              a Fatal; or the model, a guard, a listener or `approve` raised, or gave what cannot
                           be, such as a text for a yes; the exception is on `error`
"""

from stoplib.messages import Reply

ANSWERED = "answered"
GOAL_REACHED = "goal_reached"
REFUSED = "refused"
TRUNCATED = "truncated"
CONTEXT_FULL = "context_full"
EMPTY_REPLY = "empty_reply"
UNFINISHED = "unfinished"
INTERRUPTED = "interrupted"
FATAL = "fatal"

COMPLETE = frozenset({ANSWERED, GOAL_REACHED})

# Names that a guard of one's own may not have: they would say something untrue.
RESERVED = frozenset({ANSWERED, REFUSED, TRUNCATED, CONTEXT_FULL, EMPTY_REPLY, UNFINISHED, INTERRUPTED, FATAL})

# The APIs' own words. A word that is not here is never a success.
TURN_ENDED = frozenset({"end_turn", "stop", "stop_sequence", "completed"})
TOOLS_ASKED = frozenset({"tool_use", "tool_calls", "function_call"})
PAUSED = frozenset({"pause_turn"})
CUT_OFF = {
    "max_tokens": TRUNCATED,
    "length": TRUNCATED,
    "max_output_tokens": TRUNCATED,
    "refusal": REFUSED,
    "content_filter": REFUSED,
    "model_context_window_exceeded": CONTEXT_FULL,
}


def ending(reply: Reply) -> tuple[str, str] | None:
    """What the reply itself says about the end: (reason, detail), or None if the run goes on.

    >>> from stoplib import Reply, answer, call
    >>> ending(answer("Paris"))
    ('answered', '')
    >>> ending(call("search", query="capital")) is None
    True
    >>> ending(Reply("The capital of", stop="max_tokens"))
    ('truncated', "the API's stop reason is 'max_tokens'")
    """
    word = reply.stop
    if word is None and reply.calls:
        return None
    if word in CUT_OFF:
        return CUT_OFF[word], f"the API's stop reason is {word!r}"
    if word in PAUSED:
        return None
    if word is not None and word not in TURN_ENDED and word not in TOOLS_ASKED:
        return UNFINISHED, f"the API's stop reason is {word!r}, which has no known meaning"
    if reply.calls:
        return None
    if word in TOOLS_ASKED:
        return UNFINISHED, f"the API's stop reason is {word!r}, but the reply asks for no tool"
    if not reply.text.strip():
        return EMPTY_REPLY, "the model ended its turn and said nothing"
    return ANSWERED, ""
