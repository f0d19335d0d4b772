"""The kernel of one run, as nbval sees it: it is looked after, and its check cells are served by the judge."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from nbval.kernel import RunningKernel

from stoplib.course.grading.judging import inside
from stoplib.course.grading.judging.channel import Broken, Pipe
from stoplib.course.grading.judging.judge import Judge, Verdict
from stoplib.course.grading.judging.link import GONE, Link
from stoplib.course.grading.running import kernel as started
from stoplib.course.grading.running.limits import Limits
from stoplib.course.grading.running.starting import ALWAYS, PACKAGE, Starter
from stoplib.course.grading.running.watching import Watch

KERNEL_SECONDS = 60
READY_SECONDS = 1
OUTPUT_SECONDS = 30
POLL_MS = 200
LONGEST_ADDRESS = 100  # of a socket in the file system
WINDOWS = os.name == "nt"

# What a kernel needs of the environment; everything else stays here, keys and passwords included.
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT")


@dataclass(frozen=True)
class Order:
    """What to examine: the notebook, the sources that the judge needs, and how far it may go."""

    notebook: dict[str, Any]
    cells: Mapping[str, str]
    secret: str
    limits: Limits = field(default_factory=Limits)
    hidden: tuple[str, ...] = ()
    namespaces: bool = False


class Kernel(RunningKernel):  # type: ignore[misc]
    """The kernel of one run. While nbval waits for a cell, it serves what a check cell asks of the judge."""

    def __init__(self, folder: Path, order: Order, starter: Starter) -> None:
        self.lost = ""
        self.verdict: Verdict | None = None
        self._check: str | None = None
        self._early: deque[Any] = deque()
        self._link: Link | None = None
        self._listening, address = listen(folder / "run")
        file = str(folder / "run" / "kernel.json")
        way: dict[str, Any] = {} if WINDOWS else {"transport": "ipc", "ip": str(folder / "run" / "kernel")}
        write_connection_file(file, key=secrets.token_hex(16).encode(), **way)
        self._process = starter.start(folder, ["-f", file], environment(folder, address, order, starter))
        self.watch = Watch(order.limits, starter.root, self._process.poll)
        self.kc = BlockingKernelClient(connection_file=file)
        self.kc.load_connection_file()
        self.kc.start_channels()
        try:
            self._wait_until_ready()
        except (RuntimeError, Broken):
            self.end()
            raise

    def begin(self, check: str | None, judge: Judge) -> None:
        """A cell begins."""
        self.watch.start_cell()
        self._check, self._judge, self.verdict = check, judge, None

    def await_reply(self, message_id: str, timeout: float | None = None) -> None:
        """Wait until the cell has run. Raises RuntimeError if the kernel had to be ended, or has ended."""
        with self._looked_after():
            while not self._replied(message_id):
                self.watch()

    def get_message(self, stream: str, timeout: float | None = None) -> Any:
        """The next message; output that came while the cell was running is first in the queue."""
        if stream == "iopub" and self._early:
            return self._early.popleft()
        message = super().get_message(stream, timeout)
        if stream == "iopub":
            with self._looked_after():
                self.watch()
                self._count(message)
        return message

    @contextmanager
    def _looked_after(self) -> Iterator[None]:
        """End the kernel if it must be ended. Raises RuntimeError then, which makes nbval's cell a failed one."""
        try:
            yield
        except Broken as error:
            self.lost = str(error)
            self.end()
            raise RuntimeError(self.lost) from None

    def is_alive(self) -> bool:
        """Whether its process is there."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the kernel."""
        self._process.kill()
        self.kc.stop_channels()
        self._listening.close()
        if self._link is not None:
            self._link.pipe.close()

    def stop(self) -> None:
        """Nbval calls this when it has waited for output in vain."""
        self.lost = self.lost or f"Its output did not come within {OUTPUT_SECONDS} seconds."
        self.end()

    interrupt = stop

    def _wait_until_ready(self) -> None:
        """Until it answers, and what it shows comes through. Raises RuntimeError if it does not."""
        end = time.monotonic() + KERNEL_SECONDS
        while self.is_alive() and time.monotonic() < end:
            message_id = self.kc.kernel_info()
            with suppress(Empty):
                self._wait_for("shell", message_id, "kernel_info_reply")
                self._wait_for("iopub", message_id, "status")
                return
        raise RuntimeError(f"It gave no answer within {KERNEL_SECONDS} seconds.")

    def _wait_for(self, stream: str, message_id: str, kind: str) -> None:
        """Wait for the last message of an answer. Raises Empty if it does not come soon."""
        while True:
            message = super().get_message(stream, timeout=READY_SECONDS)
            ours = message["parent_header"].get("msg_id") == message_id and message["msg_type"] == kind
            if ours and message["content"].get("execution_state") != "busy":
                return

    def _replied(self, message_id: str) -> bool:
        """Wait for a short while, and do what is to be done. Whether the cell has run."""
        poller = zmq.Poller()
        sockets = [self.kc.shell_channel.socket, self.kc.iopub_channel.socket]
        judged = self._listening if self._link is None else self._link.pipe
        for one in (*sockets, judged.fileno()):
            poller.register(one, zmq.POLLIN)
        ready = dict(poller.poll(POLL_MS))
        if judged.fileno() in ready:
            self._serve()
        if sockets[1] in ready:
            self._early.append(message := super().get_message("iopub", timeout=0))
            self._count(message)
        if sockets[0] in ready:
            message = super().get_message("shell", timeout=0)
            return bool(message["parent_header"].get("msg_id") == message_id)
        return False

    def _serve(self) -> None:
        """A check cell asks for its verdict."""
        if self._link is None:
            connected, _ = self._listening.accept()
            self._link = Link(Pipe(connected, self.watch))
            return
        try:
            asked = self._link.request()
        except Broken as error:
            if str(error) == GONE:
                self.watch.died()
            raise
        if asked != self._check or self.verdict is not None:
            raise Broken("It asked for a check out of its turn.")
        self.verdict = self._judge.serve(asked, self._link)
        if self.verdict.broken:
            if self.verdict.error == GONE:
                self.watch.died()
            raise Broken(self.verdict.error)

    def _count(self, message: Any) -> None:
        content = message["content"]
        self.watch.count(len(content.get("text", "")) + sum(map(len, map(str, content.get("data", {}).values()))))


def listen(folder: Path) -> tuple[socket.socket, str]:
    """A socket that listens for the kernel, and its address."""
    path = str(folder / "judge")
    if WINDOWS or len(path) > LONGEST_ADDRESS:
        made = socket.create_server(("127.0.0.1", 0))
        return made, str(made.getsockname()[1])
    made = socket.socket(socket.AF_UNIX)
    made.bind(path)
    made.listen(1)
    return made, path


def environment(folder: Path, address: str, order: Order, starter: Starter) -> dict[str, str]:
    """The environment of the kernel: nothing of ours but where programs are."""
    settings = {
        "folder": str(folder),
        "limits": order.limits.as_dict(),
        "namespaces": order.namespaces,
        "hidden": [*order.hidden, str(Path.home()), *courses()],
        "kept": [*kept_folders(), *map(str, starter.kept)],
    }
    home, temporary = str(folder / "home"), str(folder / "tmp")
    return {
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        **dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "MPLCONFIGDIR"), home),
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
        "IPYTHONDIR": str(folder / "home" / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder / "run"),
        **ALWAYS,
        inside.ADDRESS: address,
        started.SETTINGS: json.dumps(settings),
    }


def courses() -> list[str]:
    """The folders of a course that Python finds modules in, ours and any other."""
    return sorted({path for path in (str(PACKAGE.parent), *sys.path) if Path(path, "solutions").is_dir()})


def kept_folders() -> list[str]:
    """The folders that Python itself lives in; the kernel has to read them wherever they are."""
    found = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).parent, Path(nbformat.__file__).parents[1]}
    return sorted({str(path) for one in found for path in (one, one.resolve())})
