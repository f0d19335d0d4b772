"""What is started as the kernel: it takes its limits first, then runs cells like any other kernel.

    python -m stoplib.course.grading.running.kernel -f CONNECTION_FILE

The folder and the limits come in the environment, as JSON under `SETTINGS`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stoplib.course.grading.running import linux
from stoplib.course.grading.running.limits import Limits

SETTINGS = "STOPLIB_KERNEL"
WRITABLE = ("work", "home", "tmp")
QUIET = ["--log-level=50", "--HistoryManager.enabled=False", "--IPKernelApp.capture_fd_output=False"]


def main(arguments: Sequence[str]) -> None:
    """Take the limits, then run the kernel."""
    settings = json.loads(os.environ.pop(SETTINGS))
    if settings["namespaces"]:
        hidden, kept = (map(Path, settings[name]) for name in ("hidden", "kept"))
        linux.enter(Path(settings["folder"]), WRITABLE, hidden, kept)
    Limits(**settings["limits"]).hold()
    from ipykernel.kernelapp import IPKernelApp

    IPKernelApp.launch_instance([*arguments, *QUIET])


if __name__ == "__main__":
    main(sys.argv[1:])
