"""What the loop asks of the outside world, and what it makes of a tool that failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoplib.messages import ToolCall
from stoplib.outcome import in_words
from stoplib.tools import as_text
from stoplib.transcript import ERROR, Result

NOTHING: Mapping[str, Any] = {}
CUT_OFF = "cut off: {}; what it has done by then is not known"


class DeadlinePassed(Exception):
    """Thrown into the loop by a driver that can cancel what is running."""


class Request:
    """Something that only the outside world can give: `function(*args, **kwargs)` gets it.

    kind       "model", "person" or "tool"
    timeout    the seconds that a tool allows itself
    time_left  the seconds until the run's deadline, if they have just been measured
    siblings   all tool requests of the same batch
    """

    timeout: float | None = None
    time_left: float | None = None
    siblings: tuple[Request, ...] = ()
    #: written by a driver that runs tools side by side: whether it has begun, and how to get what it gave
    begun = False
    given: Callable[[], Any] | None = None

    def __init__(
        self,
        kind: str,
        function: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] = NOTHING,
    ) -> None:
        self.kind = kind
        self.function = function
        self.args = args
        self.kwargs = kwargs

    def carry_out(self) -> Any:
        return self.function(*self.args, **self.kwargs)

    def left_off(self, call: ToolCall) -> Result:
        """What became of a tool call that has begun, and for which nobody waits any more."""
        if self.given is None:
            return Result(call, CUT_OFF.format("the run stopped"), ERROR)
        try:
            return Result(call, as_text(self.given()))
        except Exception as error:
            return Result(call, what_went_wrong(error, self.function, call), ERROR)
        except BaseException as error:
            return Result(call, in_words(error), ERROR)


def what_went_wrong(error: Exception, function: Callable[..., Any], call: ToolCall) -> str:
    """A tool's exception in the words that help the model."""
    from stoplib.schema import argument_error

    wrong = argument_error(function, call.args) if isinstance(error, TypeError) else None
    return f"wrong arguments for {call.name}: {wrong}" if wrong else in_words(error)
