"""Every file below the paths that were given, with the folders that it lies in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from stoplib.course.grading.collecting import archives

LARGEST = 20_000_000
NOT_LOOKED_INTO = (".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git", ".venv")


@dataclass(frozen=True)
class File:
    """One file. `parts` are its folders and its name, from the given path on; `read` returns its content.

    `refused` says why it is not looked at, if it is not.
    """

    parts: tuple[str, ...]
    time: datetime | None = None
    read: Callable[[], bytes] = bytes
    refused: str = ""

    @property
    def where(self) -> str:
        """The file as a path, for messages."""
        return "/".join(self.parts)

    @property
    def name(self) -> str:
        """The name without folders."""
        return self.parts[-1]


def files_in(path: Path, without: Path | None = None) -> Iterator[File]:
    """The files that a path stands for: itself, or what is in the folder or archive, archives in it included.

    The parts of each begin with the name of the path itself. What is in the folder `without` is passed over.
    """
    if path.is_dir():
        for folder, inner, names in os.walk(path):
            inner[:] = sorted(name for name in inner if not hidden(name) and Path(folder, name) != without)
            for name in sorted(names):
                if not hidden(name):
                    yield from _files_of(Path(folder, name), path.parent)
    else:
        yield from _files_of(path, path.parent)


def _files_of(path: Path, base: Path) -> Iterator[File]:
    parts = path.relative_to(base).parts
    try:
        state = path.lstat()
        time = datetime.fromtimestamp(state.st_mtime)
        if path.is_symlink() or not path.is_file():
            yield File(parts, time, refused="It is a link or no file at all.")
        elif path.suffix.lower() == ".zip":
            yield from in_archive(parts, path)
        elif state.st_size > LARGEST:
            yield File(parts, time, refused=too_large(state.st_size))
        else:
            yield File(parts, time, path.read_bytes)
    except OSError as error:
        yield File(parts, refused=f"It cannot be read: {error.strerror}.")


def in_archive(parts: tuple[str, ...], path: Path) -> Iterator[File]:
    """The files in an archive; its own name counts as a folder."""
    for entry in archives.entries(path, LARGEST):
        inner = (*parts, *entry.parts)
        if not any(hidden(name) for name in entry.parts):
            yield File(inner, entry.time, entry.read, entry.refused)


def hidden(name: str) -> bool:
    """Whether programs have left a file or folder there, not people."""
    return name in NOT_LOOKED_INTO or name.startswith((".", "._", "~$"))


def too_large(size: int) -> str:
    """What is said of a file that is too large."""
    return (
        f"It has {size / 1e6:,.0f} MB; at most {LARGEST / 1e6:.0f} MB are read."
        " Clear its outputs (Edit, Clear Outputs of All Cells), save it, and hand it in again."
    )
