"""Zip files from anywhere. Nothing is unpacked to disk, so no name in them can lead out of a folder.

What an archive says about its sizes is not believed: no more is read than is allowed.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath

MOST_ENTRIES = 20_000
MOST_BYTES = 1_000_000_000  # in all notebooks of one archive together
LARGEST_INNER = 200_000_000
DEEPEST = 3
ENCRYPTED, NAMES_IN_UTF8 = 0x1, 0x800


@dataclass(frozen=True)
class Entry:
    """One file in an archive; `refused` says why it is not read, if it is not."""

    parts: tuple[str, ...]
    time: datetime | None = None
    read: Callable[[], bytes] = bytes
    refused: str = ""


class _Budget:
    """How many entries and bytes may still come out of one archive, those inside it included."""

    def __init__(self) -> None:
        self.entries, self.bytes = MOST_ENTRIES, MOST_BYTES


def entries(source: Path | io.BytesIO, largest: int) -> Iterator[Entry]:
    """The files in an archive, and in the archives in it. One that is no archive is an entry with a refusal."""
    yield from _entries(source, largest, 1, _Budget())


def _entries(source: Path | io.BytesIO, largest: int, depth: int, budget: _Budget) -> Iterator[Entry]:
    try:
        archive = zipfile.ZipFile(source)
        found = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        yield Entry((), refused=f"It is no zip file that can be read ({error}). Pack it anew.")
        return
    for info in found:
        if info.is_dir():
            continue
        budget.entries -= 1
        if budget.entries < 0:
            yield Entry((), refused=f"It holds more than {MOST_ENTRIES:,} files; the rest is not looked at.")
            return
        yield from _entry(archive, info, largest, depth, budget)


def _entry(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, largest: int, depth: int, budget: _Budget
) -> Iterator[Entry]:
    parts, problem = _place(info)
    suffix = PurePosixPath(parts[-1]).suffix.lower() if parts else ""
    if problem:
        yield Entry(parts, refused=problem)
    elif info.flag_bits & ENCRYPTED:
        yield Entry(parts, refused="It is locked with a password.")
    elif suffix == ".zip":
        if depth == DEEPEST:
            yield Entry(parts, refused=f"It is an archive in an archive in an archive; {DEEPEST} levels are read.")
            return
        try:
            inner = io.BytesIO(_read(archive, info, LARGEST_INNER, budget))
        except Unreadable as error:
            yield Entry(parts, refused=str(error))
            return
        for entry in _entries(inner, largest, depth + 1, budget):
            yield Entry((*parts, *entry.parts), entry.time, entry.read, entry.refused)
    else:
        yield Entry(parts, _time(info), partial(_read, archive, info, largest, budget))


class Unreadable(ValueError):
    """An entry that cannot be read, or must not be."""


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int, budget: _Budget) -> bytes:
    """The content of an entry. Raises Unreadable."""
    allowed = min(most, budget.bytes)
    try:
        with archive.open(info) as file:
            content = file.read(allowed + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise Unreadable(f"It is damaged inside the archive ({error}). Pack it anew.") from None
    budget.bytes -= len(content)
    if len(content) > allowed:
        raise Unreadable(f"Unpacked it has more than {allowed / 1e6:,.0f} MB, which is not read.")
    return content


def _place(info: zipfile.ZipInfo) -> tuple[tuple[str, ...], str]:
    """The folders and the name of an entry, and what is wrong with them."""
    name = _name(info).replace("\\", "/")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if name.startswith("/") or ".." in parts or (parts and parts[0].endswith(":")):
        return tuple(part for part in parts if part != ".."), "Its name leads out of the archive, so it is not read."
    if stat.S_ISLNK(info.external_attr >> 16):
        return parts, "It is a link, which is not followed."
    if not parts:
        return ("unnamed",), "It has no name."
    return parts, ""


def _name(info: zipfile.ZipInfo) -> str:
    """The name of an entry. Some programs write UTF-8 and do not say so."""
    if not info.flag_bits & NAMES_IN_UTF8:
        try:
            return info.filename.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return info.filename


def _time(info: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*info.date_time)
    except ValueError:
        return None
