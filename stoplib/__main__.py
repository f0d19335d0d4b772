"""The command `stoplib`, also as `python -m stoplib`."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

USAGE = """\
Guards for LLM agent loops, and exactly one reason per run.

  stoplib limits PATH ...   choose limits from recorded runs   (-h shows its options)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["help"])
    Guards for LLM agent loops, and exactly one reason per run.
    <BLANKLINE>
      stoplib limits PATH ...   choose limits from recorded runs   (-h shows its options)
    0
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # logs may hold letters that the terminal lacks
    name, *rest = [*(sys.argv[1:] if arguments is None else arguments)] or ["help"]
    if name in ("help", "-h", "--help"):
        print(USAGE, end="")
        return 0
    if name == "limits":
        from stoplib.traces.command import main as limits

        return limits(rest)
    print(f"stoplib has no command {name!r}. It has: limits.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
