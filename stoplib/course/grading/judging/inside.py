"""The learner's end of the pipe. It runs in the kernel, where any code of the learner's can change it.

That does no harm. The judge takes nothing from here on trust: it asks for a function by its name, calls it, and
sees what it does. The functions below are named in what the judge sends, so that they are called when it is read.
"""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import socket
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

from stoplib.course.checks import OURS, Endless, Muted, bounded, lines_of
from stoplib.course.grading.judging.channel import CALL, RAISE, RETURN, Endpoint, Message, Pipe
from stoplib.course.grading.judging.plain import Tables, pack, signature_from
from stoplib.state import Run

OURS.add(__file__)

#: where the judge listens, as a path or a port
ADDRESS = "STOPLIB_JUDGE"
LARGEST_MESSAGE = 1 << 31
PRINTED_LINES = 20
MOST_LINES_TOLD = 20
PRINTED_CHARACTERS = 4_000
# A call over the pipe takes as long as some hundred lines do. So endless code is stopped while there still is time.
LINES_A_CALL = 20

# What of a run is not sent each time: what grows is sent in parts, and what guards keep stays where they are.
GROWS = ("trace", "messages", "repeats", "_results")
STAYS = ("notes", "guards", "outer", "running", "_clock", "__dict__", "__weakref__")
NOT_SENT = frozenset((*GROWS, *STAYS))


class NotYet(Exception):
    """A check is not passed. A notebook shows the message alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def judged(check: str) -> str:
    """Ask the judge to run a check on what this process holds; return its receipt. Raises NotYet."""
    return end().check(check)


class Inside(Endpoint):
    """The learner's end."""

    def __init__(self, pipe: Pipe) -> None:
        super().__init__(pipe)
        self.forget()

    def forget(self) -> None:
        """Forget the objects of the last check."""
        self.tables = Tables()
        self.runs: dict[int, Mirror] = {}
        self.shared: dict[int, Any] = {}
        self._known: dict[int, Any] = {}

    def check(self, check: str) -> str:
        """Serve the judge until it has its verdict."""
        self.forget()
        self.send({"do": "check", "check": check})
        while True:
            message = self.receive()
            if message["do"] == "verdict":
                print(message["said"], end="")
                if message["receipt"] is None:
                    raise NotYet(message["error"])
                receipt: str = message["receipt"]
                return receipt
            self.serve(message, sys.gettrace())

    def send(self, message: Message) -> None:
        message["changed"] = self._changes()
        self.pipe.send(json.dumps(message).encode())

    def receive(self) -> Message:
        content, shared = pickle.loads(self.pipe.receive(LARGEST_MESSAGE))
        message: Message = pickle.loads(content)
        for key, news in shared.items():
            if news is not None:
                self._become(key, *news)
        for key in self.shared.keys() - shared.keys():
            del self.shared[key], self._known[key]
        return message

    def carry_out(self, message: Message) -> Any:
        """Call a function of the learner's, or look a name up."""
        if message["do"] == "name":
            return looked_up(message["name"])
        function = self.tables.mine[message["what"]]
        printed = io.StringIO()
        try:
            with redirect_stdout(Muted(printed, PRINTED_LINES)):
                if self.depth > 1:  # the outermost call has set the bound
                    self._count()
                    return function(*message["args"], **message["kwargs"])
                self.calls_left = self.most_calls = message["lines"] // LINES_A_CALL
                with bounded(message["lines"]):
                    return function(*message["args"], **message["kwargs"])
        finally:
            self.printed = printed.getvalue()[:PRINTED_CHARACTERS]

    printed = ""
    calls_left = most_calls = 0

    def _count(self) -> None:
        """Count one call over the pipe, in either direction. Raises Endless if there were too many."""
        self.calls_left -= 1
        if self.calls_left < 0:
            raise Endless(f"did not stop within {self.most_calls:,} calls")

    def returning(self, value: Any) -> Message:
        return {"do": RETURN, "value": pack(value, self.tables), "printed": self.printed}

    def raising(self, error: BaseException) -> Message:
        yours = self.tables.yours.get(id(error))
        packed = {"yours": yours} if yours is not None else self._packed(error)
        return {"do": RAISE, "error": packed, "printed": self.printed}

    def _packed(self, error: BaseException) -> dict[str, Any]:
        return {
            "type": type(error).__name__,
            "args": [pack(arg, self.tables) for arg in error.args],
            "ordinary": isinstance(error, Exception),
            "notes": list(getattr(error, "__notes__", ())),
            "lines": [list(line) for line in lines_of(error)][-MOST_LINES_TOLD:],
            "theirs": self.tables.handle(error),
        }

    def value_in(self, message: Message) -> Any:
        return message["value"]

    def error_in(self, message: Message) -> BaseException:
        error: BaseException = message["error"]
        return error

    def call(self, handle: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the judge's."""
        self._count()
        return self.ask(
            lambda: {
                "do": CALL,
                "what": {"yours": handle},
                "args": [pack(value, self.tables) for value in args],
                "kwargs": [[key, pack(value, self.tables)] for key, value in kwargs.items()],
            }
        )

    def _become(self, key: int, same: int, news: bytes) -> None:
        """Bring a shared list or dictionary up to date."""
        mine, known = self.shared[key], self._known.setdefault(key, type(self.shared[key])())
        for one, new in ((mine, pickle.loads(news)), (known, pickle.loads(news))):
            if isinstance(one, list):
                one[same:] = new
            else:
                one.clear()
                one.update(new)

    def _changes(self) -> list[list[Any]]:
        """What the learner's code has changed in shared lists and dictionaries since both sides last agreed."""
        found = []
        for key, mine in self.shared.items():
            if mine != self._known.get(key):
                packed = pack(mine, self.tables)
                self._known[key] = copy.deepcopy(mine)
                found.append([key, packed])
        return found


_end: Inside | None = None


def end() -> Inside:
    """This process's end of the pipe."""
    global _end
    if _end is None:
        _end = Inside(Pipe(connected(os.environ[ADDRESS])))
    return _end


def connected(address: str) -> socket.socket:
    """A socket that is connected to the judge."""
    if not address.isdecimal():
        made = socket.socket(socket.AF_UNIX)
        made.connect(address)
        return made
    return socket.create_connection(("127.0.0.1", int(address)))


def looked_up(name: str) -> Any:
    """What the notebook has under a name."""
    import __main__

    if name not in vars(__main__):
        raise NameError(f"name {name!r} is not defined")
    return vars(__main__)[name]


# What the judge's messages name


def mine(handle: int) -> Any:
    """An object of this process."""
    return end().tables.mine[handle]


def function(handle: int, name: str, doc: str, parameters: list[list[Any]] | None) -> Callable[..., Any]:
    """A function that calls one of the judge's."""
    here = end()

    def judges(*args: Any, **kwargs: Any) -> Any:
        return here.call(handle, args, kwargs)

    judges.__name__ = judges.__qualname__ = name
    judges.__doc__ = doc
    if parameters is not None:
        judges.__signature__ = signature_from(parameters)  # type: ignore[attr-defined]
    return here.tables.came(judges, handle)  # type: ignore[no-any-return]


class Event:
    """What stands for a `threading.Event` of the judge."""

    def __init__(self, is_set: Callable[[], bool], set: Callable[[], None]) -> None:
        self.is_set, self.set = is_set, set


def event(handle: int, is_set: Callable[[], bool], set: Callable[[], None]) -> Event:
    """An event of the judge's."""
    made: Event = end().tables.came(Event(is_set, set), handle)
    return made


def error(handle: int, kind: type[BaseException], args: tuple[Any, ...], notes: list[str]) -> BaseException:
    """An exception that one of the judge's functions raised."""
    made = kind(*args)
    for note in notes:
        made.add_note(note)
    return end().tables.came(made, handle)  # type: ignore[no-any-return]


def shared(key: int, is_list: bool) -> Any:
    """A list or dictionary that both sides have; its contents come with the message."""
    return end().shared.setdefault(key, [] if is_list else {})


class Mirror(Run):
    """A run of the judge's, as far as it has been told."""

    fetch: Callable[[], Any]
    _repeats: Any

    @property
    def repeats(self) -> Any:  # type: ignore[override]
        """Fetched when a guard looks at it; few do."""
        if self._repeats is None:
            self._repeats = self.fetch()
        return self._repeats


def run(handle: int, told: dict[str, Any]) -> Mirror:
    """The run of that handle, brought up to date."""
    here = end()
    mirror = here.runs.get(handle)
    if mirror is None:
        mirror = here.runs[handle] = Mirror.__new__(Mirror)
        mirror.trace, mirror.messages, mirror.notes = [], [], {}
        here.tables.came(mirror, handle)
    for name, value in told["state"].items():
        setattr(mirror, name, value)
    mirror._repeats, mirror.fetch, mirror._clock = None, told["repeats"], told["clock"]
    for name in ("trace", "messages"):
        first, new = told[name]
        getattr(mirror, name)[first:] = new
    mirror._results = mirror.trace[-1].results if mirror.trace else []
    return mirror
