"""A pytest plugin that hardens nbval 0.11.0: `pytest -p stoplib.course.nbguard --nbval notebooks`.

nbval trusts the notebooks it runs. A loop that never ends, a kernel that dies and a cell that catches
its interrupt are what a course on stopping has to expect, so four of nbval's functions are replaced.
Each replacement says which behaviour it cures.
"""

import importlib.metadata
import math
import sys
import time
from collections.abc import Callable
from queue import Empty
from typing import Any

# nbval imports nbformat, nbformat imports jsonschema, and a jsonschema of 4.25 or later spends two
# seconds on this package, which nobody here needs; it does without when the import fails.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

from nbval.kernel import RunningKernel  # noqa: E402
from nbval.plugin import IPyNbCell  # noqa: E402

POLL_SECONDS = 0.5


def execute_cell_input(self: Any, source: str, allow_stdin: bool | None = None) -> str:
    """Cures: `plt.plot(x);` gives an output that is not in the notebook.

    nbval runs cells without history, and without history IPython ignores a semicolon at the end.
    """
    message_id: str = self.kc.execute(source, store_history=True, allow_stdin=bool(allow_stdin), stop_on_error=False)
    return message_id


def await_reply(self: Any, message_id: str, timeout: float | None = None) -> None:
    """Cures: a kernel that died is waited for until the cell's time is over, 2000 seconds by default.

    Raises queue.Empty when the time is over, and RuntimeError when the kernel has died.
    """
    end = math.inf if timeout is None else time.monotonic() + timeout
    while time.monotonic() < end:
        alive = self.is_alive()  # asked first: a kernel may reply and then end
        try:
            message = self.get_message("shell", timeout=POLL_SECONDS)
        except Empty:
            if alive:
                continue
            self.stop()
            raise RuntimeError("The cell ended its kernel: an exit, a crash, or no memory left.") from None
        if message["parent_header"].get("msg_id") == message_id:
            if message["content"]["status"] == "aborted":
                raise RuntimeError("The kernel refused to run the cell.")
            return
    raise Empty


def kill(self: Any) -> None:
    """Cures: a cell that catches the interrupt goes on after its time, and may print for ever.

    nbval calls this in place of an interrupt when the time of a cell is over. A kill cannot be caught.
    Raises TimeoutError, so that nbval does not wait for the output of a dead kernel.
    """
    self.stop()
    raise TimeoutError("The cell did not end within --nbval-cell-timeout. Its kernel was killed.")


def setup_cell(self: Any) -> None:
    """Cures: after a timeout nbval marks all later cells as expected to fail, and the run may pass."""


def replace(owner: type, name: str, replacement: Callable[..., Any]) -> None:
    """Put the replacement in the place of a function of nbval.

    Raises RuntimeError if there is no such function: this nbval is not the one the guard was made for.
    """
    if name not in vars(owner):
        version = importlib.metadata.version("nbval")
        raise RuntimeError(
            f"nbval {version} has no {owner.__name__}.{name}, which nbguard replaces. "
            "Install nbval==0.11.0, or adapt stoplib/course/nbguard.py."
        )
    setattr(owner, name, replacement)


replace(RunningKernel, "execute_cell_input", execute_cell_input)
replace(RunningKernel, "await_reply", await_reply)
replace(RunningKernel, "interrupt", kill)
replace(IPyNbCell, "setup", setup_cell)
