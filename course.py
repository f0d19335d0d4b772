"""The one command of the course. `python3 course.py --help` says what it can do.

This file is written so that any Python from 2.7 on can read it: one that is too old
for the course is then told so in a sentence. The work is done in stoplib/course/.
"""

from __future__ import print_function

import io
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
NEEDED = ("pyproject.toml", "requirements.txt", "constraints.txt", os.path.join("stoplib", "course"))


def main(arguments):
    """Run one command of the course and return its exit code."""
    sentence = obstacle(FOLDER)
    if sentence:
        print(sentence, file=sys.stderr)
        return 1
    sys.path.insert(0, FOLDER)  # before any other stoplib that may be installed
    from stoplib.course import commands

    return commands.main(arguments, FOLDER)


def obstacle(folder):
    """Say why the course cannot start from this folder with this Python, or return None."""
    missing = [name for name in NEEDED if not os.path.exists(os.path.join(folder, name))]
    if missing:
        return (
            "course.py needs the whole course around it, but in {} there is no {}.\n"
            "Download or clone all of the course and start course.py from there."
        ).format(folder, " and no ".join(missing))
    oldest = oldest_python(folder)
    if sys.version_info[:2] < oldest:
        return (
            "This is Python {0[0]}.{0[1]}, and the course needs {1[0]}.{1[1]} or newer.\n"
            "Install a newer Python (www.python.org) and start course.py with it: python{1[0]}.{1[1]} course.py lab"
        ).format(sys.version_info, oldest)
    return None


def oldest_python(folder):
    """Return the oldest Python that will do, as pyproject.toml states it: (3, 11)."""
    with io.open(os.path.join(folder, "pyproject.toml"), encoding="utf-8") as project:
        stated = re.search(r'requires-python = ">=(\d+)\.(\d+)"', project.read())
    return int(stated.group(1)), int(stated.group(2))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
