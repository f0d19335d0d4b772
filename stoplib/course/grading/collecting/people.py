"""Who a file is from. Learning platforms write it into the names of folders and files, each in its own way.

Moodle       Ann Smith_12345_assignsubmission_file_/01_three_exits.ipynb
             Ann Smith_12345_assignsubmission_file_01_three_exits.ipynb
Canvas       smithann_LATE_12345_67890_01_three_exits-1.ipynb
Blackboard   Homework_ann.smith_attempt_2026-11-30-12-00-00_01_three_exits.ipynb
Brightspace  12345-67890 - Ann Smith - Nov 30, 2026 1203 PM/01_three_exits.ipynb
nbgrader     submitted/ann/ps1/01_three_exits.ipynb
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

PLATFORMS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<who>.+?)_\d+_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)",
        r"(?P<who>[^_\W][^_]*)_(?P<late>LATE_)?\d+_\d+_(?P<file>.+)",
        r".+_(?P<who>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|\.txt)?",
        r"\d+-\d+ - (?P<who>.+?) - .+",
    )
)
# Folders that say what is in them and not who it is from.
OF_THE_COURSE = {"exercises", "notebooks", "solutions", "work", "submitted", "submissions", "submission", "home"}
OF_THE_COURSE |= {"release", "course", "stoplib", "documents", "downloads", "desktop"}
EXERCISE = re.compile(r"\d\d(_[a-z0-9_]+)?")
LONGEST = 80
NOBODY = "unnamed"


@dataclass(frozen=True)
class Person:
    """Whom a file is from, and what else its name says."""

    name: str
    late: bool = False
    time: datetime | None = None


def person_in(part: str) -> Person | None:
    """Whom a platform has named in a folder or file, or None.

    >>> person_in("Ann Smith_12345_assignsubmission_file_").name
    'Ann Smith'
    >>> person_in("smithann_LATE_12345_67890_01_three_exits-1.ipynb")
    Person(name='smithann', late=True, time=None)
    >>> person_in("01_three_exits.ipynb") is None
    True
    """
    for pattern in PLATFORMS:
        if found := pattern.fullmatch(part):
            told = found.groupdict()
            time = datetime.strptime(told["time"], "%Y-%m-%d-%H-%M-%S") if told.get("time") else None
            return Person(tidy(found["who"]), bool(told.get("late")), time)
    return None


def owner(parts: Sequence[str], common: int, own_file: bool = False) -> Person:
    """Whom the file with these parts is from; the first `common` of its folders are those of all files.

    `own_file` says that the name of the file is a person's.

    >>> owner(("class.zip", "ann", "exercises", "01.ipynb"), 1).name
    'ann'
    >>> owner(("ann", "exercises", "01.ipynb"), 2).name
    'ann'
    >>> owner(("class", "ann.ipynb"), 1, own_file=True).name
    'ann'
    """
    for part in (parts[-1], *parts[:-1]):
        if (person := person_in(part)) is not None:
            return person
    if own := folders_of_people(parts[common:-1]):
        return Person(tidy(own[0]))
    if own_file:
        return Person(tidy(parts[-1].rpartition(".")[0]))
    shared = folders_of_people(parts[:common])
    return Person(tidy(shared[-1]) if shared else NOBODY)


def folders_of_people(folders: Iterable[str]) -> list[str]:
    """The folders that may be called after somebody.

    >>> folders_of_people(["work", "ann", "01_three_exits"])
    ['ann']
    """
    return [name for name in folders if name.lower() not in OF_THE_COURSE and not EXERCISE.fullmatch(name.lower())]


def tidy(name: str) -> str:
    """A name as it can be shown: one form of each letter, no control characters, not too long.

    >>> tidy("  Zoë\\u200b  Smith.zip ")
    'Zoë Smith'
    """
    text = unicodedata.normalize("NFC", name)
    text = "".join(letter for letter in text if unicodedata.category(letter)[0] != "C" or letter == " ")
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"(?i)\.zip$", "", text)[:LONGEST].strip() or NOBODY
