"""One end of the pipe between the judge's process and the learner's.

The two take turns. Each asks for something and serves the other's questions until its answer is there, as calls
nest: the check calls the learner's loop, the loop calls the check's model.
"""

from __future__ import annotations

import socket
import struct
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from stoplib.course.checks import OURS

OURS.add(__file__)

RETURN, RAISE, CALL = "return", "raise", "call"
POLL_SECONDS = 0.2
AT_ONCE = 1 << 18

Message = dict[str, Any]


class Broken(BaseException):
    """The pipe is of no use any more: the other end is gone, was ended, or does not keep to the rules.

    Not an Exception, so that no check takes it for something that a learner's function raised.
    """


class Pipe:
    """Whole messages over a socket. `watch` is called again and again while the other side keeps one waiting."""

    def __init__(self, connected: socket.socket, watch: Callable[[], None] | None = None) -> None:
        self._socket = connected
        self._watch = watch
        self._read = bytearray()
        connected.settimeout(None if watch is None else POLL_SECONDS)

    def send(self, content: bytes) -> None:
        """Send one message. Raises OSError if nobody is there any more."""
        left = memoryview(struct.pack(">I", len(content)) + content)
        while left:
            try:
                left = left[self._socket.send(left) :]
            except TimeoutError:
                self._look()

    def receive(self, most: int) -> bytes:
        """The next message. Raises EOFError at the end, Broken if it is longer than `most` bytes."""
        (size,) = struct.unpack(">I", self._take(4))
        if size > most:
            raise Broken(f"It returned, or passed on, something of more than {most / 1e6:.0f} MB.")
        return self._take(size)

    def fileno(self) -> int:
        """The number of the socket, to wait for it together with others."""
        return self._socket.fileno()

    def close(self) -> None:
        """Let the other side know that this is the end."""
        self._socket.close()

    def _take(self, size: int) -> bytes:
        while len(self._read) < size:
            try:
                more = self._socket.recv(AT_ONCE)
            except TimeoutError:
                self._look()
                continue
            if not more:
                raise EOFError("the other side has closed the pipe")
            self._read += more
        taken = bytes(self._read[:size])
        del self._read[:size]
        return taken

    def _look(self) -> None:
        if self._watch is not None:
            self._watch()


class Endpoint(ABC):
    """One end. Subclasses say how messages are written and what a question is."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe
        self.depth = 0  # of the other side's questions that are being served
        self._turn = threading.RLock()  # a learner's function may ask from two threads

    def ask(self, make: Callable[[], Message]) -> Any:
        """Send a question, serve the other end until the answer comes, and return it or raise what it raises."""
        tracer = sys.gettrace()
        sys.settrace(None)  # the lines that follow are nobody's code: `checks.bounded` must not count them
        with self._turn:
            try:
                self.send(make())
                while True:
                    message = self.receive()
                    if message["do"] == RETURN:
                        return self.value_in(message)
                    if message["do"] == RAISE:
                        raise self.error_in(message)
                    tracer = self.serve(message, tracer)
            finally:
                sys.settrace(tracer)

    def serve(self, message: Message, tracer: Any) -> Any:
        """Carry out one question of the other end, and send the answer.

        Returns the tracer that is in force afterwards: none, once the bound that it keeps was passed.
        """
        self.depth += 1
        try:
            sys.settrace(tracer)
            try:
                value = self.carry_out(message)
            finally:
                tracer = sys.gettrace()
                sys.settrace(None)
            answer = self.returning(value)
        except Broken:
            raise
        except BaseException as error:
            answer = self.raising(error)
        finally:
            self.depth -= 1
        self.send(answer)
        return tracer

    @abstractmethod
    def send(self, message: Message) -> None:
        """Write a message."""

    @abstractmethod
    def receive(self) -> Message:
        """Read the next message."""

    @abstractmethod
    def carry_out(self, message: Message) -> Any:
        """Do what the other end asks for."""

    @abstractmethod
    def returning(self, value: Any) -> Message:
        """The message that hands back a value."""

    @abstractmethod
    def raising(self, error: BaseException) -> Message:
        """The message that hands back an exception."""

    @abstractmethod
    def value_in(self, message: Message) -> Any:
        """The value that a message hands back."""

    @abstractmethod
    def error_in(self, message: Message) -> BaseException:
        """The exception that a message hands back."""
