"""The judge's end of the pipe: the learner's functions, as functions.

What goes out is pickled, with handles for what must stay here: functions, events, exceptions. A list or a
dictionary that is passed as an argument is the same object for both sides as long as the call lasts: with every
message its contents go along, so that a learner's function can add to it, and can see that a loop has added to it.
A `Run` is sent once, and then what is new in it.
"""

from __future__ import annotations

import io
import json
import pickle
from itertools import count
from typing import Any

from stoplib.course.checks import OURS, bound
from stoplib.course.grading.judging.channel import CALL, RAISE, RETURN, Broken, Endpoint, Message, Pipe
from stoplib.course.grading.judging.plain import Proxies, signature_from, unpack
from stoplib.course.grading.judging.sending import ERRORS, Pickler, Shared, Told
from stoplib.state import Run

OURS.add(__file__)

LARGEST_MESSAGE = 16_000_000
GONE = "Its process came to an end."
NOT_OURS = "It sent something that no check asks for"


class Link(Endpoint, Proxies):
    """The judge's end."""

    def __init__(self, pipe: Pipe) -> None:
        Endpoint.__init__(self, pipe)
        Proxies.__init__(self)
        self.broken: Broken | None = None
        self.forget()

    def forget(self) -> None:
        """Forget the objects of the last check, on this side."""
        self.known = {}
        self._given: list[Any] = []
        self._handles: dict[int, int] = {}
        self._runs: dict[int, Told] = {}
        self._shared: list[list[Shared]] = []
        self._keys = count()

    def request(self) -> str:
        """The check that the learner's process asks for."""
        try:
            return str(json.loads(self.pipe.receive(LARGEST_MESSAGE))["check"])
        except Broken as error:
            raise self.breaks(error) from None
        except EOFError:
            raise self.breaks(Broken(GONE)) from None
        except Exception as error:
            raise self.breaks(Broken(f"{NOT_OURS} ({type(error).__name__}).")) from None

    # What the check uses

    def name(self, name: str) -> Any:
        """What the learner's process has under a name. Raises NameError if there is nothing."""
        return self.ask(lambda: {"do": "name", "name": name})

    def function(self, handle: int, name: str, doc: str, parameters: list[list[Any]] | None) -> Any:
        """A function that calls the learner's."""

        def learners(*args: Any, **kwargs: Any) -> Any:
            return self.call(handle, args, kwargs)

        learners.__name__ = learners.__qualname__ = name
        learners.__doc__ = doc
        learners.__module__ = "__main__"
        learners.__theirs__ = handle  # type: ignore[attr-defined]
        if parameters is not None:
            signature = signature_from(parameters)
            learners.__signature__ = signature  # type: ignore[attr-defined]
        return learners

    def call(self, handle: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the learner's process."""
        outermost = not self._shared
        if outermost:
            self._shared.append([])
        try:
            return self.ask(
                lambda: {
                    "do": CALL,
                    "what": handle,
                    "args": tuple(map(self._argument, args)),
                    "kwargs": {key: self._argument(value) for key, value in kwargs.items()},
                    "lines": bound(),
                }
            )
        finally:
            if outermost:
                self._shared.pop()

    def own(self, handle: int) -> Any:
        """The judge's object that was given out under this handle."""
        if type(handle) is not int or not 0 <= handle < len(self._given):
            raise ValueError(f"nothing was given out under the handle {handle!r}")
        return self._given[handle]

    def give(self, value: Any) -> int:
        """The handle of an object that stays here."""
        if id(value) not in self._handles:
            self._handles[id(value)] = len(self._given)
            self._given.append(value)
        return self._handles[id(value)]

    # Messages

    def send(self, message: Message) -> None:
        """Write a message: pickled, with the contents of what is shared."""
        self._check()
        try:
            content = self.dumps(message)
            shared = {one.key: one.news(self.dumps) for frame in self._shared for one in frame}
            self.pipe.send(pickle.dumps((content, shared)))
        except Broken as error:
            raise self.breaks(error) from None
        except OSError:
            raise self.breaks(Broken(GONE)) from None

    def receive(self) -> Message:
        """Read the next message. Raises Broken if there will be none, or if it is none of ours."""
        self._check()
        try:
            message: Message = json.loads(self.pipe.receive(LARGEST_MESSAGE))
            for key, contents in message["changed"]:
                self._changed(int(key), unpack(contents, self))
            if message["do"] not in (RETURN, RAISE, CALL):
                raise ValueError(f"unknown message {message['do']!r}")
        except Broken as error:
            raise self.breaks(error) from None
        except EOFError:
            raise self.breaks(Broken(GONE)) from None
        except Exception as error:
            raise self.breaks(Broken(f"{NOT_OURS} ({type(error).__name__}).")) from None
        return message

    def breaks(self, error: Broken) -> Broken:
        """Remember that the pipe is of no use any more."""
        self.broken = self.broken or error
        return error

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken

    def carry_out(self, message: Message) -> Any:
        """Call one of the judge's own functions for the learner's code."""
        self._shared.append([])
        function = self._unpacked(message["what"])
        args = [self._unpacked(value) for value in message["args"]]
        kwargs = {str(key): self._unpacked(value) for key, value in message["kwargs"]}
        return function(*args, **kwargs)

    def serve(self, message: Message, tracer: Any) -> Any:
        """Carry out a call; what was shared during it is shared until its answer is sent."""
        before = len(self._shared)
        try:
            return super().serve(message, tracer)
        finally:
            del self._shared[before:]

    def returning(self, value: Any) -> Message:
        return {"do": RETURN, "value": value}

    def raising(self, error: BaseException) -> Message:
        return {"do": RAISE, "error": error}

    def value_in(self, message: Message) -> Any:
        self._print(message)
        return self._unpacked(message["value"])

    def error_in(self, message: Message) -> BaseException:
        """The learner's exception: the judge's own if it came from here, a built-in one, or one of that name."""
        self._print(message)
        try:
            packed = message["error"]
            if "yours" in packed:
                own = self.own(packed["yours"])
                if isinstance(own, BaseException):
                    return own
            return self._their_error(packed)
        except Exception as error:
            raise self.breaks(Broken(f"{NOT_OURS} ({error}).")) from None

    def _their_error(self, packed: dict[str, Any]) -> BaseException:
        args = tuple(unpack(value, self) for value in packed["args"])
        kind = ERRORS.get(packed["type"])
        if kind is None:
            kind = type(str(packed["type"])[:80], (Exception if packed["ordinary"] is True else BaseException,), {})
        try:
            error = kind(*args)
        except Exception:
            error = type(kind.__name__, (Exception,), {})(*args)
        for note in packed["notes"]:
            error.add_note(str(note)[:200])
        error.__theirs__ = int(packed["theirs"])  # type: ignore[attr-defined]
        error.__lines__ = [(str(name), str(line)[:200]) for name, line in packed["lines"]]  # type: ignore[attr-defined]
        return error

    def _print(self, message: Message) -> None:
        if printed := str(message.get("printed", "")):
            print(printed, end="")

    def _unpacked(self, packed: Any) -> Any:
        try:
            return unpack(packed, self)
        except Exception as error:
            raise self.breaks(Broken(f"{NOT_OURS} ({error}).")) from None

    # What both sides share

    def _argument(self, value: Any) -> Any:
        """Share a list or a dictionary that is an argument."""
        if type(value) not in (list, dict):
            return value
        known = (one for frame in self._shared for one in frame if one.value is value)
        shared = next(known, None)
        if shared is None:
            shared = Shared(next(self._keys), value)
            self._shared[-1].append(shared)
        return shared

    def _changed(self, key: int, contents: Any) -> None:
        """The learner's code has changed what is shared."""
        for one in (one for frame in self._shared for one in frame if one.key == key):
            one.become(contents)

    def dumps(self, value: Any) -> bytes:
        """Pickle a value for the other end."""
        buffer = io.BytesIO()
        Pickler(buffer, self).dump(value)
        return buffer.getvalue()

    def tell(self, run: Run) -> dict[str, Any]:
        """What is new in a run since it was last sent."""
        told = self._runs.setdefault(id(run), Told(run))
        return told.news()
