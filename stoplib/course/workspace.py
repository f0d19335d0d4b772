"""The learner's working copy: `work/`, which git ignores, so that updating the course never gets in its way.

The course's files are copied there, together with a record of what was copied. A file that
is still as it was copied follows the course; one that the learner changed is never touched.
A notebook is copied without its outputs: what a run gives is for the learner to find out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from enum import Enum
from itertools import count
from pathlib import Path

from .environment import COMMAND, SetupError

FOLDERS = ("notebooks", "exercises", "solutions")


class State(Enum):
    """How a file in `work/` stands to the course's."""

    MISSING = "not there"
    SAME = "as in the course"
    OUTDATED = "as it was copied, and the course has a newer one"
    CHANGED = "changed by the learner"
    BOTH_CHANGED = "changed by the learner, and the course has a newer one"


def compare(mine: str | None, copied: str | None, course: str) -> State:
    """Tell how a file stands, from three hashes: the learner's, the one once copied, the course's."""
    if mine is None:
        return State.MISSING
    if mine == course:
        return State.SAME
    if mine == copied:
        return State.OUTDATED
    if copied == course:
        return State.CHANGED
    return State.BOTH_CHANGED


def prepare(root: Path) -> list[str]:
    """Bring `work/` up to date without touching the learner's changes; return what the learner should know."""
    record = read_record(root)
    copied, remarks = 0, []
    try:
        for name in course_files(root):
            content, work = for_learner(root / name), root / "work" / name
            state = compare(fingerprint(work), record.get(name), hash_of(content))
            if state is State.BOTH_CHANGED:
                remarks.append(newer_version(name))
                continue
            if state in (State.MISSING, State.OUTDATED):
                write(work, content)
                copied += 1
            record[name] = hash_of(content)
    finally:
        write_record(root, record)
    if copied:
        remarks.insert(0, f"Copied {copied} file{'s' * (copied > 1)} of the course to work/, where you work.")
    return remarks


def fresh(root: Path, wanted: str) -> str:
    """Put the course's version of a file into `work/`, keep the learner's beside it, and say what was done."""
    name = find(root, wanted)
    content, work = for_learner(root / name), root / "work" / name
    mine = fingerprint(work)
    if mine == hash_of(content):
        return f"work/{name} is already as in the course."
    said = f"work/{name} is fresh"
    if mine is not None:
        kept = spare_name(work)
        work.rename(kept)
        said += f"; yours is kept as {kept.name}"
    write(work, content)
    write_record(root, {**read_record(root), name: hash_of(content)})
    return said + "."


def find(root: Path, wanted: str) -> str:
    """Return the course file that is meant by a name like `01_one_exit` or `work/exercises/01_three_exits.ipynb`."""
    asked = "/" + wanted.replace("\\", "/").removeprefix("./").removeprefix("work/")
    known = list(course_files(root))
    found = [name for name in known if f"/{name}".endswith((asked, f"{asked}.ipynb"))]
    if len(found) == 1:
        return found[0]
    if found:
        raise SetupError(f"{wanted} can be {' or '.join(found)}. Say which one: {COMMAND} fresh {found[0]}")
    notebooks = ", ".join(name for name in known if name.endswith(".ipynb"))
    raise SetupError(f"The course has no file {wanted}. Its notebooks are: {notebooks}")


def course_files(root: Path) -> Iterator[str]:
    """Yield the path of every file that is copied, relative to the course's folder, with forward slashes."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root)
            by_hand = not any(part.startswith((".", "__")) for part in name.parts)
            if by_hand and path.is_file():
                yield name.as_posix()


def newer_version(name: str) -> str:
    """Say how to get the newer version of a file that the learner has changed."""
    return (
        f"work/{name} has your changes, and the course has a newer version.\n"
        f"  {COMMAND} fresh {name} gives you that one and keeps yours."
    )


def spare_name(path: Path) -> Path:
    """Return the next free name for the learner's version: `01_one_exit.mine-1.ipynb`."""
    names = (path.with_name(f"{path.stem}.mine-{number}{path.suffix}") for number in count(1))
    return next(name for name in names if not name.exists())


def for_learner(path: Path) -> bytes:
    """Return what a learner gets of a course file: a notebook as if it had never been run, all else as it is."""
    content = path.read_bytes()
    if path.suffix != ".ipynb":
        return content
    try:
        notebook = json.loads(content)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.update(outputs=[], execution_count=None)
    except (ValueError, KeyError, TypeError):  # no notebook, whatever its name says
        return content
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def fingerprint(path: Path) -> str | None:
    """Return the hash of a file's content, or None if there is no such file."""
    try:
        return hash_of(path.read_bytes())
    except FileNotFoundError:
        return None


def hash_of(content: bytes) -> str:
    """Return the hash of a content."""
    return hashlib.sha256(content).hexdigest()


def read_record(root: Path) -> dict[str, str]:
    """Return the hash of each file as it was copied; none when the record is lost, so that no file is overwritten."""
    try:
        record: dict[str, str] = json.loads(record_path(root).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return record


def write_record(root: Path, record: dict[str, str]) -> None:
    """Keep the hash of each file as it was copied."""
    write(record_path(root), json.dumps(record, indent=1).encode())


def record_path(root: Path) -> Path:
    """Where the record is."""
    return root / "work" / ".copied.json"


def write(path: Path, content: bytes) -> None:
    """Replace a file in one go: it holds the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
