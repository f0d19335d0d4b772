"""Scripted models, which cost nothing and always do the same."""

# ruff: noqa: SIM300

from stoplib import answer, call, max_steps, run, script
from stoplib.fakes import answers_after, never_answers, said

SEARCH = {"search": lambda query: f"results for {query}"}


class TestScript:
    """`script(...)`: a model that says these replies, one per step."""

    def test_says_its_replies_in_order(self):
        """Each step gets the next reply."""
        outcome = run(script(call("search", query="a"), call("search", query="b"), answer("c")), "go", tools=SEARCH)
        assert ["search(query='a')", "search(query='b')"] == [str(s.reply.calls[0]) for s in outcome.trace[:2]]
        assert "c" == outcome.answer

    def test_works_twice(self):
        """It has no state: the same script gives the same run again."""
        model = script(call("search", query="a"), answer("b"))
        first, second = run(model, "go", tools=SEARCH), run(model, "go", tools=SEARCH)
        assert (first.reason, first.messages) == (second.reason, second.messages)

    def test_asked_for_more(self):
        """A script that has run out is an error, which says how many replies there were."""
        outcome = run(script(call("search", query="a")), "go", tools=SEARCH)
        assert ("fatal", IndexError) == (outcome.reason, type(outcome.error))
        assert "the script has 1 replies and was asked for one more" in outcome.detail

    def test_an_unused_reply_is_no_error(self):
        """A run that is stopped earlier leaves the rest unsaid."""
        model = script(call("search", query="a"), answer("never said"))
        assert "max_steps" == run(model, "go", tools=SEARCH, guards=[max_steps(1)]).reason


class TestNeverAnswers:
    """`never_answers`: a model that only a guard can stop."""

    def test_asks_for_something_new_each_time(self):
        """It never repeats itself and never answers."""
        outcome = run(never_answers, "go", tools=SEARCH, guards=[max_steps(3)])
        asked = [s.reply.calls[0].args["query"] for s in outcome.trace]
        assert ("max_steps", ["more 1", "more 2", "more 3"]) == (outcome.reason, asked)


class TestAnswersAfter:
    """`answers_after(n)`: a model that looks n times and then answers."""

    def test_rounds(self):
        """It needs n rounds and one step more for the answer."""
        for rounds in (0, 1, 4):
            outcome = run(answers_after(rounds), "go", tools=SEARCH)
            assert ("answered", "done", rounds + 1, rounds) == (
                outcome.reason,
                outcome.answer,
                outcome.steps,
                outcome.tool_calls,
            )

    def test_one_step_short(self):
        """With as many steps as rounds it is stopped before its answer."""
        assert "max_steps" == run(answers_after(4), "go", tools=SEARCH, guards=[max_steps(4)]).reason


def test_said_counts_what_the_model_said():
    """`said` counts the model's messages and no others."""
    messages = [{"role": role, "content": ""} for role in ("user", "assistant", "tool", "tool", "assistant")]
    assert 2 == said(messages)
