"""Exercise 07: another style passes, and one mistake is told in one place."""

import contextlib
import io

from stoplib.course.checks import ChecksFailed
from stoplib.course.exercises import final_summary as exercise
from stoplib.reasons import ending

CHECKS = ("summary", "room", "replies", "errors", "claims", "evidence")


def end_well(reason, messages, model, steps_left, tokens_left=None, is_evidence=lambda m: not m["is_error"]):
    """A right answer that names the arguments of the closing call."""
    sent, summary = [*messages, exercise.REQUEST], exercise.NO_SUMMARY
    needed = sum(len(m["content"]) for m in sent) / 4 + exercise.ANSWER_TOKENS
    room = steps_left > 0 and (tokens_left is None or needed <= tokens_left)
    if room:
        with contextlib.suppress(Exception):
            reply = model(messages=sent, tools=[])
            if ending(reply) == ("answered", ""):
                summary = reply.text
    evidence = [m["content"] for m in messages if m["role"] == "tool" and is_evidence(m)]
    found = {"summary": summary, "evidence": evidence, "model_calls": int(room)}
    return {"status": "incomplete", "reason": reason, "answer": None, **found}


def wrong(answer):
    """The checks that object to this answer, and all that they print."""
    printed, failed = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        for name in CHECKS:
            try:
                getattr(exercise, f"check_{name}")(answer)
            except ChecksFailed:
                failed.append(name)
    return failed, printed.getvalue()


def test_arguments_by_name():
    """The closing call may name its arguments, as the given model does."""
    assert wrong(end_well)[0] == []


def test_a_wrong_evidence_is_told_once():
    """Only the check of the evidence objects to it, and it says where the evidence goes wrong."""
    failed, said = wrong(lambda *args, **limits: end_well(*args, **limits, is_evidence=lambda m: True))
    assert failed == ["evidence"]
    assert "seen: evidence[0] is 'a person declined this" in said


def test_evidence_that_ends_too_soon():
    """A list that lacks its last texts is said to be too short."""
    failed, said = wrong(lambda *args, **limits: end_well(*args, **limits, is_evidence=lambda m: False))
    assert failed == ["evidence"]
    assert "seen: evidence has 0 texts, and at least one is missing" in said
