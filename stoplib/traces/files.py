"""Which files, and how each is opened: plain, gzip, or a zip archive of JSON."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from io import BufferedReader, RawIOBase, TextIOWrapper
from os import PathLike
from pathlib import Path
from typing import IO, Any

from stoplib.traces.jsonstream import END, NO_JSON, Broken, Item, items

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
GZIP_BITS = 31
PIECE = 1 << 16

NO_ZSTD = "packed with zstd, which needs Python 3.14 or the package backports.zstd"

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


def files_of(paths: Paths) -> Iterator[Path]:
    """The files of these paths, each once; of a folder all that are in it, hidden ones apart.

    Raises FileNotFoundError.
    """
    seen: set[Path] = set()
    for path in [Path(paths)] if isinstance(paths, (str, PathLike)) else [Path(path) for path in paths]:
        if not path.exists():
            raise FileNotFoundError(f"there is no file or folder {str(path)!r}")
        for file in _inside(path) if path.is_dir() else [path]:
            if file not in seen:
                seen.add(file)
                yield file


def _inside(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def encoding_of(start: bytes) -> str:
    """How a text that begins so is written: UTF-8, or UTF-16 as Windows' PowerShell and Excel write it.

    >>> encoding_of("{}".encode("utf-16")), encoding_of(b"{}")
    ('utf-16', 'utf-8')
    """
    return "utf-16" if start.startswith(UTF_16) else "utf-8"


class Source:
    """One file, and how far it has been read."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.size = size
        self._raw: IO[bytes] | None = None

    @property
    def name(self) -> str:
        """The file's name without its endings: `runs` for `runs.traj.json.gz`."""
        name = self.path.name
        for ending in (".gz", ".json", ".jsonl", ".traj", ".eval"):
            name = name.removesuffix(ending)
        return name

    @property
    def position(self) -> int:
        """The bytes of the file that have been read."""
        return self.size if self._raw is None or self._raw.closed else self._raw.tell()

    def items(self) -> Generator[Item, None, None]:
        """The file's pieces, from its beginning. Raises OSError or EOFError for a file that cannot be read on."""
        with self.path.open("rb") as self._raw:
            start = self._raw.read(4)
            self._raw.seek(0)
            if start == ZIP:
                yield from _archive(self._raw)
            else:
                plain = BufferedReader(Unpacked(self._raw)) if start.startswith(GZIP) else self._raw
                with TextIOWrapper(plain, encoding=encoding_of(start), errors="replace") as text:
                    yield from items(text)


class Unpacked(RawIOBase):
    """What a gzip file holds, as far as it goes: one that is cut off gives what is there."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._unpack = zlib.decompressobj(wbits=GZIP_BITS)
        self._rest = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, into: Any) -> int:
        """Fill a buffer as far as one piece goes. Raises OSError for what is no gzip any more."""
        found = b""
        while not found:
            packed = self._rest or self._packed.read(PIECE)
            if self._unpack.eof:  # files that were put one behind the other
                packed = self._unpack.unused_data or packed
                self._unpack = zlib.decompressobj(wbits=GZIP_BITS)
            if not packed:
                return 0
            try:
                found = self._unpack.decompress(packed, len(into))
            except zlib.error as error:
                raise OSError(f"no gzip any more: {error}") from None
            self._rest = self._unpack.unconsumed_tail
        into[: len(found)] = found
        return len(found)


def _archive(raw: IO[bytes]) -> Iterator[Item]:
    """An Inspect log as a zip archive, with the pieces that the same log has as JSON."""
    with _opened(raw) as archive:
        names = set(archive.namelist())
        for name in ("header.json", "_journal/start.json"):  # the second is there while the evaluation still runs
            if name in names:
                header = _member(archive, name)
                yield Item(header.get("eval") if isinstance(header, dict) else header, "eval")
                break
        samples = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
        yield Item([], "samples")
        for number, name in enumerate(samples, 1):
            yield Item(_member(archive, name), "samples", number)
    yield Item(END)


@contextmanager
def _opened(raw: IO[bytes]) -> Iterator[Any]:
    """The archive, with zstd where this Python has it or the package for it is installed. Raises OSError."""
    module: Any = zipfile
    with suppress(ImportError):
        module = import_module("backports.zstd.zipfile")
    try:
        archive = module.ZipFile(raw)
    except module.BadZipFile as error:
        raise OSError(f"no archive any more: {error}") from None
    with archive:
        yield archive


def _member(archive: Any, name: str) -> Any:
    try:
        return json.loads(archive.read(name))
    except NotImplementedError:
        return Broken(NO_ZSTD)
    except Exception as error:  # each way of packing has its own ways to be broken
        return Broken(NO_JSON, f"{name}: {error}")
