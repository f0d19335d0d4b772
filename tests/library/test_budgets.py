"""Budgets: tool calls, tokens, money and characters, each against its limit."""

# ruff: noqa: SIM300

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stoplib
from stoplib import (
    Reply,
    Usage,
    answer,
    batch,
    call,
    cost_budget,
    going_in_circles,
    max_steps,
    max_tool_calls,
    rough_token_budget,
    run,
    script,
    time_limit,
    token_budget,
)
from stoplib.guards import GATES, GuardSet
from stoplib.repeats import canonical

from .helpers import LOOK, always, contents, counting, looking, requests, results, state

NAN, INF = float("nan"), float("inf")
NO_WHOLE_NUMBERS = [True, False, 2.5, 3.0, "3", None, NAN, INF, [3], Decimal(3)]
NO_AMOUNTS = [True, "3", None, [3], NAN, INF, -1, -0.01, Decimal("NaN")]

PRICES = {"input": 3, "output": 15}


def used(**counts):
    """A run that has used this much."""
    run_so_far = state()
    for name, value in counts.items():
        setattr(run_so_far, name, value)
    return run_so_far


def replied(usage, *texts, **counts):
    """A run whose last reply had this usage and was followed by these results."""
    asked = batch(*[call("look")] * len(texts), usage=usage)
    run_so_far = state()
    run_so_far.record_reply(asked)
    for one, text in zip(run_so_far.batch, texts, strict=True):
        run_so_far.record_result(stoplib.Result(one, text))
    for name, value in counts.items():
        setattr(run_so_far, name, value)
    return run_so_far


class TestMaxToolCalls:
    """`max_tool_calls(n)`: at most n tool calls, a batch all or nothing."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "max_tool_calls" in stoplib.__all__

    @pytest.mark.parametrize(("calls", "fires"), [(2, False), (3, True), (4, True)])
    def test_boundary_before_a_call(self, calls, fires):
        """With nothing asked for, it lets n-1 calls go on and fires when the n-th has been made."""
        assert fires == (max_tool_calls(3)(used(tool_calls=calls)) is not None)

    @pytest.mark.parametrize(("asked", "fires"), [(1, False), (2, False), (3, True)])
    def test_boundary_before_a_batch(self, asked, fires):
        """A batch that fills the quota may run; one that is larger by one may not."""
        run_so_far = used(tool_calls=1, batch=batch(*[call("look")] * asked).calls)
        assert fires == (max_tool_calls(3)(run_so_far) is not None)

    @pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
    def test_exactly_n_calls_run(self, n):
        """A model that asks for one call at a time gets exactly n of them, and is not asked for one more."""
        model = looking()
        outcome = run(model, "go", tools=LOOK, guards=[max_tool_calls(n), max_steps(20)])
        assert ("max_tool_calls", n, n) == (outcome.reason, outcome.tool_calls, model.calls)

    @pytest.mark.parametrize(("size", "ran"), [(1, 5), (2, 4), (3, 3), (5, 5), (6, 0)])
    def test_a_batch_is_all_or_nothing(self, size, ran):
        """With a quota of five, batches run whole as long as they fit, and the one that does not fit not at all."""
        calls = []
        tools = {"look": lambda: calls.append("look")}
        model = always(batch(*[call("look")] * size))
        outcome = run(model, "go", tools=tools, guards=[max_tool_calls(5), max_steps(20)])
        assert ("max_tool_calls", ran, ran) == (outcome.reason, outcome.tool_calls, len(calls))
        assert requests(outcome.messages) == results(outcome.messages)

    def test_what_did_not_run_is_said(self):
        """Each call of the batch that did not fit has a result that says so."""
        outcome = run(always(batch(*[call("look")] * 3)), "go", tools=LOOK, guards=[max_tool_calls(2), max_steps(9)])
        assert ["not run: the run stopped (max_tool_calls)"] * 3 == contents(outcome.messages)

    def test_an_answer_comes_first(self):
        """An answer after as many calls as there is room for is not reached: the quota is used up before that call."""
        model = script(call("look"), call("look"), answer("done"))
        outcomes = [run(model, "go", tools=LOOK, guards=[max_tool_calls(n), max_steps(9)]) for n in (2, 3)]
        assert ["max_tool_calls", "answered"] == [o.reason for o in outcomes]

    def test_failed_and_unknown_calls_count(self):
        """A call that fails, or for a tool that does not exist, has been carried out."""
        model = always(batch(call("unknown"), call("bad")))
        tools = {"bad": lambda: 1 / 0}
        outcome = run(model, "go", tools=tools, guards=[max_tool_calls(4), max_steps(9)])
        assert ("max_tool_calls", 4, 2) == (outcome.reason, outcome.tool_calls, outcome.steps)

    def test_declined_calls_do_not_count(self):
        """A call that a person declined was not carried out, so it uses nothing up."""
        outcome = run(
            looking(), "go", tools=LOOK, approve=lambda asked: False, guards=[max_tool_calls(1), max_steps(4)]
        )
        assert ("max_steps", 0) == (outcome.reason, outcome.tool_calls)

    @pytest.mark.parametrize(
        ("guard", "run_so_far", "expected"),
        [
            (max_tool_calls(3), used(tool_calls=3), "3 of 3 tool calls used"),
            (
                max_tool_calls(3),
                used(tool_calls=2, batch=batch(*[call("look")] * 5).calls),
                "2 of 3 tool calls used, and 5 more asked for",
            ),
            (
                max_tool_calls(1, tool="send"),
                used(tool_calls=9, calls_of={"send": 1}, batch=batch(call("look"), call("send")).calls),
                "1 of 1 send calls used, and 1 more asked for",
            ),
        ],
    )
    def test_the_detail(self, guard, run_so_far, expected):
        """The detail says what was used, of what, and what was asked for."""
        assert expected == guard(run_so_far)

    @pytest.mark.parametrize("n", NO_WHOLE_NUMBERS)
    def test_refuses_what_is_no_whole_number(self, n):
        """What is no whole number is a TypeError that names the guard, the limit and the value."""
        with pytest.raises(TypeError) as caught:
            max_tool_calls(n)
        assert f"max_tool_calls: n must be a whole number of at least 0, not {n!r}" == str(caught.value)

    def test_refuses_negative_numbers(self):
        """A negative quota is a ValueError."""
        with pytest.raises(ValueError, match="not -1"):
            max_tool_calls(-1)

    @pytest.mark.parametrize("tool", [5, ["look"], lambda: None])
    def test_the_tool_is_given_by_its_name(self, tool):
        """The tool's function, a list or a number is refused: the quota would never fire."""
        with pytest.raises(TypeError, match="tool must be the name of a tool"):
            max_tool_calls(3, tool=tool)

    def test_it_does_not_bound(self):
        """A model that pauses for ever uses no tool, so a quota alone is refused."""
        with pytest.raises(ValueError, match="do not bound"):
            GuardSet([max_tool_calls(3)])


class TestMaxToolCallsOfOneTool:
    """`max_tool_calls(n, tool="…")`: a quota for one tool."""

    @pytest.mark.parametrize(("calls", "fires"), [(1, False), (2, False), (3, True)])
    def test_boundary(self, calls, fires):
        """With a quota of two, the batch that asks for the third call of the tool is stopped."""
        run_so_far = used(batch=batch(*[call("send")] * calls, call("look")).calls)
        assert fires == (max_tool_calls(2, tool="send")(run_so_far) is not None)

    def test_the_others_are_free(self):
        """Calls of other tools use nothing up and go on when the quota is full."""
        sent = []
        model = script(
            call("send"), call("look"), batch(call("look"), call("look")), call("look"), call("send"), answer("x")
        )
        tools = {**LOOK, "send": lambda: sent.append("sent")}
        outcome = run(model, "go", tools=tools, guards=[max_tool_calls(1, tool="send"), max_steps(9)])
        assert ("max_tool_calls", 5, 1) == (outcome.reason, outcome.steps, len(sent))

    def test_a_full_quota_does_not_stop_an_answer(self):
        """A quota of one tool that is just used up is no reason not to answer."""
        model = script(call("look"), answer("done"))
        guards = [max_tool_calls(1, tool="look"), max_steps(9)]
        assert "answered" == run(model, "go", tools=LOOK, guards=guards).reason

    def test_none_at_all(self):
        """A quota of nought forbids a tool: it never runs, and the others do."""
        ran = []
        model = script(call("look"), call("drop"), answer("x"))
        tools = {**LOOK, "drop": lambda: ran.append("dropped")}
        outcome = run(model, "go", tools=tools, guards=[max_tool_calls(0, tool="drop"), max_steps(9)])
        assert ("max_tool_calls", 2, 1, []) == (outcome.reason, outcome.steps, outcome.tool_calls, ran)

    def test_a_tool_that_does_not_exist(self):
        """Asking for a tool that does not exist counts under the name that was asked for."""
        guards = [max_tool_calls(2, tool="serach"), max_steps(9)]
        outcome = run(always(call("serach")), "go", tools=LOOK, guards=guards)
        assert ("max_tool_calls", 2) == (outcome.reason, outcome.tool_calls)

    def test_a_batch_with_one_call_too_many_does_not_run(self):
        """The whole batch stays undone, also the calls of other tools in it."""
        model = always(batch(call("look"), call("send"), call("send")))
        tools = {**LOOK, "send": lambda: "sent"}
        outcome = run(model, "go", tools=tools, guards=[max_tool_calls(1, tool="send"), max_steps(9)])
        assert ("max_tool_calls", 0, 1) == (outcome.reason, outcome.tool_calls, outcome.steps)

    @pytest.mark.parametrize("gate", ["before_call", "after_round"])
    def test_it_works_at_every_gate(self, gate):
        """Moved to another gate, it fires there once the quota is used up."""
        outcome = run(looking(), "go", tools=LOOK, guards=[max_tool_calls(2, tool="look", gate=gate), max_steps(6)])
        assert ("max_tool_calls", 2) == (outcome.reason, outcome.tool_calls)

    def test_it_works_in_a_combination(self):
        """Joined by & with a guard that looks after the round, it still has its say."""
        both = max_tool_calls(2, tool="look") & going_in_circles()
        outcome = run(looking(), "go", tools=LOOK, guards=[both, max_steps(6)])
        assert "max_tool_calls & going_in_circles" == outcome.reason


class TestTokenBudget:
    """`token_budget(n)`: at most n tokens."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "token_budget" in stoplib.__all__

    @pytest.mark.parametrize(("tokens", "fires"), [(99, False), (100, True), (101, True)])
    def test_boundary(self, tokens, fires):
        """It lets a run go on just below the limit and fires at the limit."""
        assert fires == (token_budget(100)(used(tokens=tokens)) is not None)

    @pytest.mark.parametrize(("n", "calls"), [(0, 0), (1, 1), (30, 1), (31, 2), (60, 2), (61, 3)])
    def test_model_calls_until_the_limit(self, n, calls):
        """With 30 tokens a call, a call is made as long as the budget is not used up; a call not made costs nothing."""
        model = always(call("look", usage=Usage(25, 5)))
        outcome = run(model, "go", tools=LOOK, guards=[token_budget(n)])
        assert ("token_budget", calls, 30 * calls) == (outcome.reason, model.calls, outcome.usage.total)

    def test_a_soft_budget_says_by_how_much_it_was_passed(self):
        """A soft budget can be passed by one call, and the detail says by how much."""
        model = script(call("look", usage=Usage(30_000, 500)), call("look", usage=Usage(20_000, 400)), answer("x"))
        outcome = run(model, "go", tools=LOOK, guards=[token_budget(50_000)])
        assert "50900 of 50000 tokens used, 900 tokens over" == outcome.detail

    @pytest.mark.parametrize("field", ["input", "output", "cache_read", "cache_write"])
    def test_all_kinds_count(self, field):
        """Tokens of each kind count, cached ones too."""
        model = always(call("look", usage=Usage(**{field: 10})))
        assert 3 == run(model, "go", tools=LOOK, guards=[token_budget(30)]).steps

    def test_a_call_is_at_least_one_token(self):
        """A model that reports no usage is bounded too: by n calls."""
        model = looking()
        outcome = run(model, "go", tools=LOOK, guards=[token_budget(7)])
        assert ("token_budget", 7) == (outcome.reason, model.calls)

    def test_an_answer_that_passes_it_is_an_answer(self):
        """A reply that passes the budget and answers is a success: the tokens are spent either way."""
        outcome = run(script(answer("x", usage=Usage(900, 200))), "go", guards=[token_budget(1000)])
        assert ("answered", 1100) == (outcome.reason, outcome.usage.total)

    @pytest.mark.parametrize("field", ["n", "reserve"])
    @pytest.mark.parametrize("value", [*NO_WHOLE_NUMBERS, -1])
    def test_refuses_what_is_no_whole_number(self, field, value):
        """Tokens are whole numbers of at least nought; the message names guard, field and value."""
        with pytest.raises((TypeError, ValueError)) as caught:
            token_budget(**{"n": 100, field: value})
        assert f"token_budget: {field} must be a whole number of at least 0, not {value!r}" == str(caught.value)

    def test_the_reserve_is_a_part(self):
        """A reserve that is larger than the budget is refused; one as large is not."""
        assert "token_budget(100, reserve=100)" == repr(token_budget(100, reserve=100))
        with pytest.raises(ValueError, match="reserve must be at most n=100, not 101"):
            token_budget(100, reserve=101)

    @pytest.mark.parametrize("hard", [1, "yes", None])
    def test_hard_is_yes_or_no(self, hard):
        """`hard` is a bool; a number passed by mistake is refused."""
        with pytest.raises(TypeError, match="hard must be True or False"):
            token_budget(100, hard)

    @pytest.mark.parametrize(("n", "reason", "steps"), [(100, "token_budget", 5), (120, "token_budget", 6)])
    def test_without_a_summary_nothing_is_kept_back(self, n, reason, steps):
        """The reserve is kept back only in a run that is going to be summarised."""
        model = always(call("look", usage=Usage(20)))
        outcome = run(model, "go", tools=LOOK, guards=[token_budget(n, reserve=40)])
        assert (reason, steps) == (outcome.reason, outcome.steps)

    def test_with_a_summary_the_reserve_is_kept_back(self):
        """With `summarize` the run stops at n - reserve, and the detail gives that limit and what it is short of n."""
        model = always(call("look", usage=Usage(20)))
        outcome = run(model, "go", tools=LOOK, guards=[token_budget(100, reserve=40), max_steps(50)], summarize=True)
        assert ("60 of 60 tokens used, 40 kept back for the summary", 80) == (outcome.detail, outcome.usage.total)


class TestHardTokenBudget:
    """`token_budget(n, hard=True)`: the call that would pass the limit is not made."""

    @pytest.mark.parametrize(("n", "fires"), [(216, False), (215, True), (217, False)])
    def test_boundary(self, n, fires):
        """100 + 8 sent again and received, nothing new, 0 for the answer: it goes if that reaches the limit exactly."""
        guard = token_budget(n, hard=True)
        assert fires == (guard(replied(Usage(100, 8), "", largest=0)) is not None)

    @pytest.mark.parametrize(
        ("usage", "texts", "largest", "cap", "needed"),
        [
            (Usage(100, 8), [""], 8, None, 116),
            (Usage(100, 8), [""], 20, None, 128),
            (Usage(100, 8), [""], 8, 50, 158),
            (Usage(20, 8, cache_read=70, cache_write=10), [""], 8, None, 116),
            (Usage(100, 8), ["12345678"], 8, None, 118),
            (Usage(100, 8), ["1"], 8, None, 117),
            (Usage(100, 8), ["1234", "5678"], 8, None, 118),
        ],
    )
    def test_what_the_next_call_needs(self, usage, texts, largest, cap, needed):
        """It sends what was sent and received, cached or not, and the new results; its answer is as long as ever."""
        run_so_far = replied(usage, *texts, largest=largest, output_cap=cap)
        assert [True, False] == [
            token_budget(run_so_far.tokens + needed - spare, hard=True)(run_so_far) is not None for spare in (1, 0)
        ]
        detail = token_budget(run_so_far.tokens + needed - 1, hard=True)(run_so_far)
        assert f"the next call would need about {needed}:" in detail

    def test_the_detail_says_what_is_known_and_what_is_estimated(self):
        """The detail gives both numbers, and says which are known and which estimated."""
        detail = token_budget(200, hard=True)(replied(Usage(100, 8), "12345678", largest=8))
        assert (
            "108 of 200 tokens used, and the next call would need about 118: 110 to send (what the last one sent"
            " and received, new results estimated), 8 for the answer"
        ) == detail

    def test_before_the_first_call(self):
        """A task that is too long for the budget is not sent at all."""
        model = looking()
        outcome = run(model, "x" * 400, guards=[token_budget(99, hard=True)])
        assert ("token_budget", 0) == (outcome.reason, model.calls)
        assert "0 of 99 tokens used, and the next call would need about 100: 100 to send" in outcome.detail

    @pytest.mark.parametrize(("cap", "calls"), [(89, 1), (90, 1), (91, 0)])
    def test_a_model_that_says_its_cap(self, cap, calls):
        """The model's own `max_output_tokens` is what its first answer may need."""

        def model(messages):
            model.calls += 1
            return answer("x")

        model.calls, model.max_output_tokens = 0, cap
        run(model, "x" * 40, guards=[token_budget(100, hard=True)])
        assert calls == model.calls

    def test_a_budget_that_fits_is_used_to_the_last_token(self):
        """A call that ends exactly at the limit is made."""
        model = script(call("look", usage=Usage(10, 2)), answer("x", usage=Usage(14, 2)))
        tools = {"look": lambda: "12345678"}
        reasons = [run(model, "go", tools=tools, guards=[token_budget(n, hard=True)]).reason for n in (28, 27)]
        assert ["answered", "token_budget"] == reasons

    @given(st.lists(st.tuples(st.text(max_size=40), st.integers(0, 10)), max_size=12), st.integers(0, 400))
    def test_an_honest_model_never_passes_it(self, rounds, n):
        """A model whose tokens are those that were estimated, and which keeps its cap, never passes the limit."""
        texts = iter([text for text, _ in rounds])
        model = honest([tokens for _, tokens in rounds], cap=10)
        outcome = run(model, "do it", tools={"look": lambda: next(texts)}, guards=[token_budget(n, hard=True)])
        assert outcome.usage.total <= n
        assert outcome.reason in ("answered", "token_budget")

    def test_nor_with_a_summary(self):
        """The closing summary stays inside a hard budget too: its request is part of what the call needs."""
        passed, tools = [], {"look": lambda: ""}
        for n in range(0, 200, 5):
            guards = [max_steps(4), token_budget(n, hard=True)]
            outcome = run(honest([1] * 9, cap=1), "go", tools=tools, guards=guards, summarize=True)
            if outcome.usage.total > n:
                passed.append((n, outcome.usage.total))
        assert [] == passed


def honest(answers, cap):
    """A model that says its cap, sends everything again, and counts new text as its characters / 4."""

    def tokens(messages):
        """(tokens sent, tokens answered) of the call with these messages."""
        said = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
        before = sum(tokens(messages[: said[-1]])) if said else 0
        new = messages[said[-1] + 1 :] if said else messages
        return before + sum(-(-len(m["content"]) // 4) for m in new), [*answers, 1][min(len(said), len(answers))]

    def model(messages):
        usage = Usage(*tokens(messages))
        done = sum(m["role"] == "assistant" for m in messages) >= len(answers)
        return answer("x", usage=usage) if done else call("look", usage=usage)

    model.max_output_tokens = cap
    return model


def priced(usage):
    """A model that says what it is called and reports this usage."""
    model = always(call("look", usage=usage))
    model.name = "small-1"
    return model


class TestCostBudget:
    """`cost_budget(amount)`: at most so much money."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "cost_budget" in stoplib.__all__

    @pytest.mark.parametrize(("cost", "fires"), [(0.0999, False), (0.1, True), (0.1001, True)])
    def test_boundary(self, cost, fires):
        """It lets a run go on just below the limit and fires at the limit."""
        assert fires == (cost_budget(0.1)(used(spent=cost)) is not None)

    @pytest.mark.parametrize(("amount", "calls"), [(0, 0), (0.01, 1), (0.0105, 1), (0.02, 2), (0.0211, 3)])
    def test_model_calls_until_the_limit(self, amount, calls):
        """With 1000 tokens in and 500 out at 3 and 15 a million, a call costs 0.0105."""
        model = priced(Usage(1000, 500))
        outcome = run(model, "go", tools=LOOK, guards=[cost_budget(amount), max_steps(9)], prices=PRICES)
        assert ("cost_budget", calls) == (outcome.reason, model.calls)
        assert pytest.approx(0.0105 * calls) == outcome.cost

    def test_the_detail_says_by_how_much(self):
        """What was spent above the limit is part of the detail."""
        model = priced(Usage(1000, 500))
        outcome = run(model, "go", tools=LOOK, guards=[cost_budget(0.02), max_steps(9)], prices=PRICES)
        assert "0.021 of 0.02 money used, 0.001 money over" == outcome.detail

    @pytest.mark.parametrize("prices", [None, {}, {"other-2": PRICES}, {"small-1": None}])
    def test_an_unknown_price_is_refused(self, prices):
        """Unknown is not zero: without a price for the model no call is made, and the model is named."""
        model = priced(Usage(1, 1))
        with pytest.raises(ValueError, match="no price for the model 'small-1'") as caught:
            run(model, "go", guards=[cost_budget(1), max_steps(9)], prices=prices)
        assert (0, True) == (model.calls, "prices={'small-1': {'input'" in str(caught.value))

    @pytest.mark.parametrize("wrap", [lambda g: g & max_steps(9), lambda g: g | max_steps(9)])
    def test_an_unknown_price_is_refused_inside_a_combination(self, wrap):
        """Also where it is joined with another guard."""
        with pytest.raises(ValueError, match="no price for the model"):
            run(looking(), "go", guards=[wrap(cost_budget(1)), max_steps(9)])

    def test_the_price_may_be_nought(self):
        """A local model costs nothing, and says so: the budget never fires."""
        outcome = run(
            looking(),
            "go",
            tools=LOOK,
            guards=[cost_budget(0.01), max_steps(5)],
            prices={"input": 0, "output": 0},
        )
        assert ("max_steps", 0.0) == (outcome.reason, outcome.cost)

    def test_it_does_not_bound(self):
        """A model that reports no tokens costs nothing for ever, so money alone is refused."""
        with pytest.raises(ValueError, match="do not bound"):
            run(looking(), "go", guards=[cost_budget(1)], prices=PRICES)

    @pytest.mark.parametrize("field", ["amount", "reserve"])
    @pytest.mark.parametrize("value", NO_AMOUNTS)
    def test_refuses_what_is_no_amount(self, field, value):
        """Money is a finite number of at least nought; the message names guard, field and value."""
        with pytest.raises((TypeError, ValueError)) as caught:
            cost_budget(**{"amount": 1, field: value})
        assert f"cost_budget: {field} must be a finite number of at least 0, not {value!r}" == str(caught.value)

    def test_the_reserve_is_a_part(self):
        """A reserve that is larger than the budget is refused."""
        with pytest.raises(ValueError, match=r"reserve must be at most amount=0\.1, not 0\.2"):
            cost_budget(0.1, reserve=0.2)

    @pytest.mark.parametrize("amount", [Decimal("0.02"), Fraction(1, 50)])
    def test_exact_numbers_work(self, amount):
        """A budget in exact numbers ends the run as itself."""
        outcome = run(
            priced(Usage(1000, 500)), "go", tools=LOOK, guards=[cost_budget(amount), max_steps(9)], prices=PRICES
        )
        assert ("cost_budget", 2) == (outcome.reason, outcome.steps)

    @pytest.mark.parametrize(("amount", "calls"), [(0.0035, 1), (0.0073, 1), (0.00733, 2)])
    def test_a_hard_budget_looks_ahead(self, amount, calls):
        """A call costs 0.0036; the next would send 1040 and answer 40, which is 0.00372: it is made if that fits."""
        model = priced(Usage(1000, 40))
        guards = [max_steps(2), cost_budget(amount, hard=True)]
        outcome = run(model, "go", tools={"look": lambda: ""}, guards=guards, prices=PRICES)
        assert ("cost_budget" if calls == 1 else "max_steps", calls) == (outcome.reason, model.calls)

    def test_the_detail_of_a_hard_budget(self):
        """The detail says what was spent and what the next call would cost."""
        model = priced(Usage(1000, 40))
        outcome = run(
            model, "go", tools={"look": lambda: ""}, guards=[cost_budget(0.004, hard=True), max_steps(9)], prices=PRICES
        )
        assert "0.0036 of 0.004 spent, and the next call would cost about 0.00372" == outcome.detail

    def test_before_the_first_call(self):
        """A task that is too dear for the budget is not sent at all."""
        model = priced(Usage(1, 1))
        outcome = run(model, "x" * 4000, guards=[cost_budget(0.0029, hard=True), max_steps(9)], prices=PRICES)
        assert ("cost_budget", 0) == (outcome.reason, model.calls)

    def test_cached_tokens_have_their_price(self):
        """What is read from the cache costs its own price, and what it costs counts."""
        model = always(call("look", usage=Usage(0, 0, cache_read=1_000_000)))
        prices = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}
        outcome = run(model, "go", tools=LOOK, guards=[cost_budget(1), max_steps(9)], prices=prices)
        assert ("cost_budget", 4) == (outcome.reason, outcome.steps)

    def test_with_a_summary_the_reserve_is_kept_back(self):
        """With `summarize` the run stops at amount - reserve, and the summary stays inside the amount."""
        model = priced(Usage(1000, 500))
        guards = [cost_budget(0.04, reserve=0.02), max_steps(50)]
        outcome = run(model, "go", tools=LOOK, guards=guards, prices=PRICES, summarize=True)
        assert ("cost_budget", 3) == (outcome.reason, outcome.steps)
        assert outcome.cost < 0.04


class TestRoughTokenBudget:
    """`rough_token_budget(n)`: the transcript's characters / 4."""

    def test_it_is_public(self):
        """It can be imported from the package itself."""
        assert "rough_token_budget" in stoplib.__all__

    @pytest.mark.parametrize(("characters", "fires"), [(396, False), (400, False), (401, True), (404, True)])
    def test_boundary(self, characters, fires):
        """It lets 4 n characters go on and fires when there are more."""
        assert fires == (rough_token_budget(100)(used(characters=characters)) is not None)

    def test_everything_in_the_transcript_counts(self):
        """The task, what the model says, the arguments and the results."""
        model = script(Reply("12345", call("look", q="123").calls), answer("1234567"))
        seen = []

        def watch(run):
            seen.append(run.characters)

        run(model, "1234", tools={"look": lambda q: "12"}, guards=[watch, max_steps(9)])
        assert [4, 4 + 5 + len(canonical({"q": "123"})) + 2] == seen

    def test_model_calls_until_the_limit(self):
        """With results of 40 characters it stops after the one that passes the limit."""
        model = looking()
        outcome = run(model, "x" * 40, tools={"look": lambda: "y" * 38}, guards=[rough_token_budget(20)])
        assert ("rough_token_budget", 2) == (outcome.reason, model.calls)

    def test_a_task_that_is_too_long(self):
        """A task that is too long by itself is not sent."""
        model = looking()
        run(model, "x" * 41, guards=[rough_token_budget(10)])
        assert 0 == model.calls

    @pytest.mark.parametrize("n", [0, 1, 3])
    def test_a_model_that_says_nothing_is_bounded_too(self, n):
        """A model that pauses for ever without a word is stopped all the same, since this guard claims to bound."""
        model = counting(lambda messages: Reply("", stop="pause_turn"))
        outcome = run(model, "", guards=[rough_token_budget(n)])
        assert ("rough_token_budget", 4 * n + 1) == (outcome.reason, model.calls)

    def test_the_detail(self):
        """The detail says that the tokens are estimated."""
        detail = rough_token_budget(100)(used(characters=406))
        assert "101.5 of 100 tokens (estimated) used, 1.5 tokens (estimated) over" == detail

    @pytest.mark.parametrize("n", [*NO_WHOLE_NUMBERS, -1])
    def test_refuses_what_is_no_whole_number(self, n):
        """What is no whole number of at least nought is refused with its value."""
        with pytest.raises((TypeError, ValueError)) as caught:
            rough_token_budget(n)
        assert f"rough_token_budget: n must be a whole number of at least 0, not {n!r}" == str(caught.value)


BUDGETS = [
    max_tool_calls(2),
    max_tool_calls(2, tool="look"),
    token_budget(100),
    token_budget(100, hard=True, reserve=10),
    cost_budget(0.5, hard=True, reserve=0.1),
    rough_token_budget(100),
]


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_repr_is_source(budget, gate):
    """Evaluating the repr of a budget, moved to another gate or not, gives an equal one."""
    moved = budget.replaced(gate=gate)
    assert (budget, moved) == (eval(repr(budget)), eval(repr(moved)))
    assert budget != moved


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 30), st.booleans())
def test_a_soft_budget_is_passed_by_one_call_at_most(n, reserve, each, summarize):
    """Without its last call, the run had not used the budget up."""
    model = always(call("look", usage=Usage(each)))
    guards = [token_budget(n, reserve=min(n, reserve)), time_limit(3600)]
    outcome = run(model, "go", tools=LOOK, guards=guards, summarize=summarize)
    assert outcome.usage.total - each < max(n, 1)
