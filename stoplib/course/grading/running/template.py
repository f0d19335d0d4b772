"""The template: a process that has loaded what a kernel needs, and forks kernels: `Template` starts it.

It reads questions as lines of JSON: `{"start": …}` is answered with a process number, `{"poll": …}` and
`{"wait": …}` with an exit code or null. It ends when nobody asks any more.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import Any, NoReturn

import ipykernel.ipkernel
import ipykernel.kernelapp
import ipykernel.zmqshell  # noqa: F401
import psutil  # noqa: F401

from stoplib.course.grading.judging import inside  # noqa: F401
from stoplib.course.grading.running import kernel


def main() -> None:
    """Answer questions."""
    gc.freeze()  # what is loaded stays, so no copy has to look through it
    for line in sys.stdin:
        question = json.loads(line)
        if "start" in question:
            answer: Any = start(**question["start"])
        elif "wait" in question:
            answer = ended(question["wait"], 0)
        else:
            answer = ended(question["poll"], os.WNOHANG)
        print(json.dumps(answer), flush=True)


def start(arguments: list[str], environment: dict[str, str], folder: str) -> int:
    """Fork a kernel, and return its process number."""
    child = os.fork()
    if child == 0:
        become(arguments, environment, folder)
    return child


def become(arguments: list[str], environment: dict[str, str], folder: str) -> NoReturn:
    """In the copy: let go of what belongs to the template, and be the kernel."""
    code = 1
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        kernel.main(arguments)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(code)


def ended(child: int, options: int) -> int | None:
    """The exit code of a kernel, or None if it runs."""
    try:
        found, status = os.waitpid(child, options)
    except ChildProcessError:
        return 0
    return os.waitstatus_to_exitcode(status) if found else None


if __name__ == "__main__":
    main()
