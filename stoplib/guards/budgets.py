"""Budgets: what the run has used, against a limit."""

from __future__ import annotations

from stoplib.guards.core import Limit
from stoplib.limits import in_full
from stoplib.messages import Usage
from stoplib.state import Run

CHARACTERS_PER_TOKEN = 4


class max_steps(Limit):
    """At most `n` steps, that is, `n` model calls. `max_steps(0)` makes none.

    >>> from stoplib import call, run
    >>> run(lambda messages: call("wait"), "go", tools={"wait": lambda: "ok"}, guards=[max_steps(4)]).steps
    4
    """

    n: int

    unit = "steps"
    caps_calls = True
    bounds = True

    def validate(self) -> None:
        super().validate()
        self._whole("n")
        if self.n == 0 and self.gate not in (None, "before_call"):
            raise ValueError(f"{self.name}(0) makes no call, so it cannot look at {self.gate}")

    @property
    def alarms(self) -> dict[str, float]:
        return {"steps": self.n - 1}

    def fires(self, run: Run) -> bool:
        return run.steps >= self.n - self._kept(run)

    def measure(self, run: Run) -> tuple[float, float]:
        return run.steps, self.n

    def says(self, run: Run) -> str:
        kept = ", the last one is kept back for the summary" if self._kept(run) else ""
        return f"{super().says(run)}{kept}"

    def _kept(self, run: Run) -> int:
        """One step for the closing summary, if there is more than one."""
        return 1 if run.summary_to_come and self.n > 1 else 0


class time_limit(Limit):
    """No model call once `seconds` have passed since the run started.

    The clock is read before each call, so in `run` a tool that is already running is not cut short;
    `arun` cancels it. With `working=True` the time spent waiting for a person does not count.
    """

    seconds: float
    working: bool = False

    unit = "s"
    caps_calls = True
    bounds = True

    def validate(self) -> None:
        super().validate()
        self._amount("seconds")
        self._flag("working")

    @property
    def alarms(self) -> dict[str, float]:
        return {"seconds": self.seconds}

    def fires(self, run: Run) -> bool:
        return (run.seconds - run.waited if self.working else run.seconds) >= self.seconds

    def measure(self, run: Run) -> tuple[float, float]:
        return (run.seconds - run.waited if self.working else run.seconds), self.seconds


class max_tool_calls(Limit):
    """At most `n` tool calls in the run, or `n` of one `tool`.

    It looks before the call (is the quota used up?) and before the action: a batch that would pass
    the quota does not run at all. Once `n` calls are done the model is not asked again, not even for its answer.
    """

    n: int
    tool: str | None = None

    unit = "tool calls"
    usual_gates = ("before_call", "before_action")

    def validate(self) -> None:
        super().validate()
        self._whole("n")
        if self.tool is not None and not isinstance(self.tool, str):
            raise TypeError(f"{self.name}: tool must be the name of a tool, not {self.tool!r}")

    @property
    def alarms(self) -> dict[str, float]:
        return {"asked": self.n}

    def measure(self, run: Run) -> tuple[float, float]:
        return (run.tool_calls if self.tool is None else run.calls_of.get(self.tool, 0)), self.n

    def fires(self, run: Run) -> bool:
        used, _ = self.measure(run)
        if not run.batch:
            return used >= self.n
        asked = self._asked(run)
        return asked > 0 and used + asked > self.n

    @property
    def gates(self) -> tuple[str, ...]:
        # A quota for one tool that is used up is no reason to stop before that tool is asked for.
        return super().gates if self.tool is None or self.gate else ("before_action",)

    def says(self, run: Run) -> str:
        used, _ = self.measure(run)
        asked = self._asked(run)
        more = f", and {asked} more asked for" if asked else ""
        return f"{in_full(used)} of {self.n} {self.tool or 'tool'} calls used{more}"

    def _asked(self, run: Run) -> int:
        if self.tool is None:
            return len(run.batch)
        return sum(call.name == self.tool for call in run.batch)


class token_budget(Limit):
    """At most `n` tokens in the run, as the replies report them, cached ones included.

    A soft budget is passed by one call at most, and the detail says by how much. A hard one looks
    ahead: a call that would pass the limit is not made. What the next call sends is known from the
    last reply's usage, new results and the next answer are estimated. `reserve` tokens are kept back for
    the closing summary. A call is at least one token, so a model that reports none is bounded too.
    """

    n: int
    hard: bool = False
    reserve: int = 0

    unit = "tokens"
    caps_calls = True
    bounds = True

    def validate(self) -> None:
        super().validate()
        self._whole("n")
        self._flag("hard")
        self._whole("reserve")
        if self.reserve > self.n:
            raise ValueError(f"{self.name}: reserve must be at most n={self.n}, not {self.reserve}")

    @property
    def alarms(self) -> dict[str, float]:
        soft = self.n - self.reserve
        return {} if self.hard else {"tokens": soft, "steps": soft}

    def measure(self, run: Run) -> tuple[float, float]:
        return max(run.tokens, run.steps), self.n - self.reserve if run.summary_to_come else self.n

    def fires(self, run: Run) -> bool | str | None:
        limit = self.n - self.reserve if run.summary_to_come else self.n
        if run.tokens >= limit or run.steps >= limit:
            return True
        return self._look_ahead(run) if self.hard else False

    def _look_ahead(self, run: Run) -> str | None:
        used, limit = self.measure(run)
        sent, answer = next_call(run)
        if used + sent + answer <= limit:
            return None
        known = "what the last one sent and received, new results estimated" if run.steps else "estimated"
        return (
            f"{in_full(used)} of {in_full(limit)} tokens used{_kept_back(self.reserve, run)}, and the next call would"
            f" need about {sent + answer}: {sent} to send ({known}), {answer} for the answer"
        )

    def says(self, run: Run) -> str:
        return f"{super().says(run)}{_kept_back(self.reserve, run)}"


class cost_budget(Limit):
    """At most `amount` of money in the run, by the `prices` that were passed to it.

    A run whose model has no price is refused before its first call: unknown is not zero. `hard` and
    `reserve` are those of `token_budget`, in money.
    """

    amount: float
    hard: bool = False
    reserve: float = 0

    unit = "money"
    caps_calls = True

    def validate(self) -> None:
        super().validate()
        self._amount("amount")
        self._flag("hard")
        self._amount("reserve")
        if self.reserve > self.amount:
            raise ValueError(f"{self.name}: reserve must be at most amount={self.amount}, not {self.reserve}")

    def begin(self, run: Run) -> None:
        if run.price is None:
            raise ValueError(
                f"{self.name}: there is no price for the model {run.model!r}, and unknown is not zero."
                f" Pass prices={{{run.model!r}: {{'input': …, 'output': …}}}}, in money per million tokens."
            )

    @property
    def alarms(self) -> dict[str, float]:
        return {} if self.hard else {"spent": self.amount - self.reserve}

    def measure(self, run: Run) -> tuple[float, float]:
        return run.spent, self.amount - self.reserve if run.summary_to_come else self.amount

    def fires(self, run: Run) -> bool | str | None:
        if run.spent >= (self.amount - self.reserve if run.summary_to_come else self.amount):
            return True
        return self._look_ahead(run) if self.hard else False

    def _look_ahead(self, run: Run) -> str | None:
        if run.price is None:
            return None
        used, limit = self.measure(run)
        sent, answer = next_call(run)
        cost = run.price.of(Usage(input=sent, output=answer))
        if used + cost <= limit:
            return None
        kept = _kept_back(self.reserve, run)
        return f"{used:g} of {limit:g} spent{kept}, and the next call would cost about {cost:g}"

    def says(self, run: Run) -> str:
        return f"{super().says(run)}{_kept_back(self.reserve, run)}"


def _kept_back(reserve: float, run: Run) -> str:
    """What the limit in a detail is short of the one that was given."""
    return f", {in_full(reserve)} kept back for the summary" if reserve and run.summary_to_come else ""


class rough_token_budget(Limit):
    """A transcript of at most `n` tokens, estimated as its characters / 4. For models that report no usage.

    Each step counts for one character at least, so a model that says nothing is bounded too.
    """

    n: int

    unit = "tokens (estimated)"
    caps_calls = True
    bounds = True

    def validate(self) -> None:
        super().validate()
        self._whole("n")

    @property
    def alarms(self) -> dict[str, float]:
        most = CHARACTERS_PER_TOKEN * self.n
        return {"characters": most, "steps": most}

    def measure(self, run: Run) -> tuple[float, float]:
        return max(run.characters, run.steps) / CHARACTERS_PER_TOKEN, self.n

    def fires(self, run: Run) -> bool:
        most = CHARACTERS_PER_TOKEN * self.n
        return run.characters > most or run.steps > most


def next_call(run: Run) -> tuple[int, int]:
    """Tokens that the next call would need: (to send, for the answer).

    It sends again what the last one sent and received. New results are estimated from their
    characters, the answer is taken to be as long as the longest so far, or as the model's own cap.
    """
    if not run.trace:
        return -(-run.characters // CHARACTERS_PER_TOKEN), run.output_cap or 0
    last = run.trace[-1]
    new = sum(len(result.text) for result in last.results) + run.requested
    return last.reply.usage.total - (-new // CHARACTERS_PER_TOKEN), run.output_cap or run.largest
