"""Namespaces of Linux: a process that sees no other process, no network, and of the disk only what it needs.

All that was started in them ends together with the first process in them, also what has left its process group
or its session. Needs either root or the right to make user namespaces; where there is neither, `enter` says so.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
SPACES = NEW_MOUNTS | NEW_IPC | NEW_PROCESSES | NEW_NETWORK

READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS = 1, 2, 4, 8
REMOUNT, BIND, RECURSIVE, PRIVATE = 32, 4096, 16384, 1 << 18
FLAGS = {"ro": READ_ONLY, "nosuid": NO_SUID, "nodev": NO_DEVICES, "noexec": NO_PROGRAMS, "noatime": 1024}
FLAGS |= {"nodiratime": 2048, "relatime": 1 << 21}

DIE_WITH_PARENT, NO_NEW_RIGHTS = 1, 38
CAPABILITIES_VERSION = 0x20080522

SMALL = b"size=64m,mode=1777"


def enter(folder: Path, writable: Sequence[str], hidden: Iterable[Path], kept: Iterable[Path]) -> bool:
    """Go on in a process that sees only what it needs; the caller's process waits for it and ends as it ends.

    In `folder` it can write to the sub-folders `writable`, on a disk in memory, and to `run`. What is `hidden` is
    empty for it, apart from what is `kept`; everything else can only be read. Returns False, and changes
    nothing, where namespaces cannot be made.
    """
    if sys.platform != "linux" or not _leave_the_others():
        return False
    if first := os.fork():
        _end_as(first)
    _call("prctl", DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    _set_up_the_disk(folder, writable, hidden, kept)
    os.chdir(folder / writable[0])
    if second := os.fork():
        _end_as(second)
    _give_up_rights()
    return True


@cache
def available() -> bool:
    """Whether namespaces can be made here; tried in another process."""
    if sys.platform != "linux":
        return False
    return subprocess.run([sys.executable, __file__], stderr=subprocess.DEVNULL).returncode == 0


def _call(name: str, *args: Any) -> None:
    """Call a function of the C library. Raises OSError if it fails."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*args) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def _leave_the_others() -> bool:
    """Make the namespaces. Another one, of users, gives an ordinary user the right to make the rest."""
    try:
        _call("unshare", SPACES)
    except (OSError, AttributeError):
        user, group = os.getuid(), os.getgid()
        try:
            _call("unshare", NEW_USER | SPACES)
            for name, content in (
                ("setgroups", "deny"),
                ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                Path("/proc/self", name).write_text(content, encoding="ascii")
        except (OSError, AttributeError):
            return False
    return True


def _end_as(child: int) -> NoReturn:
    """Wait for a child, and for whatever else ends in between; end as it has ended."""
    while True:
        with contextlib.suppress(InterruptedError):
            ended, status = os.wait()
            if ended == child:
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)


def _set_up_the_disk(folder: Path, writable: Sequence[str], hidden: Iterable[Path], kept: Iterable[Path]) -> None:
    _mount(None, Path("/"), None, RECURSIVE | PRIVATE)
    _mount("proc", Path("/proc"), "proc", NO_SUID | NO_DEVICES | NO_PROGRAMS)
    if Path("/dev/shm").is_dir():
        _mount("tmpfs", Path("/dev/shm"), "tmpfs", NO_SUID | NO_DEVICES, SMALL)
    keep = [folder, *kept]
    for path in sorted(map(Path.resolve, hidden), key=lambda path: len(path.parts)):
        if path == Path(path.anchor):
            continue
        _hide(path, [place for place in keep if path in place.parents and place.exists()])
    for name in writable:
        _mount("tmpfs", folder / name, "tmpfs", NO_SUID | NO_DEVICES, SMALL)
    _mount(folder / "run", folder / "run", None, BIND)
    _allow_reading_only([folder / "run", *(folder / name for name in writable)])


def _hide(path: Path, keep: Sequence[Path]) -> None:
    """Put an empty folder, or an empty file, over `path`; show in it again what is to be kept."""
    if path.is_file():
        _mount(Path(os.devnull), path, None, BIND)
        return
    if not path.is_dir():
        return
    handles = [(place, os.open(place, os.O_PATH)) for place in keep]  # type: ignore[attr-defined,unused-ignore]
    _mount("tmpfs", path, "tmpfs", NO_SUID | NO_DEVICES, b"size=1m,mode=755")
    for place, handle in handles:
        place.mkdir(parents=True, exist_ok=True)
        _mount(Path(f"/proc/self/fd/{handle}"), place, None, BIND | RECURSIVE)
        os.close(handle)


def _allow_reading_only(but: Sequence[Path]) -> None:
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        fields = line.split()
        place = Path(fields[4].encode().decode("unicode_escape"))
        if place in but or place.parts[:2] in (("/", "proc"), ("/", "dev")):
            continue
        flags = sum(FLAGS.get(option, 0) for option in set(fields[5].split(",")))
        with contextlib.suppress(OSError):  # a file system of the kernel's own that cannot be mounted anew
            _mount(None, place, None, flags | REMOUNT | BIND | READ_ONLY)


def _mount(source: str | Path | None, target: Path, kind: str | None, flags: int, options: bytes | None = None) -> None:
    what = None if source is None else os.fsencode(source)
    sort = None if kind is None else kind.encode()
    _call("mount", what, os.fsencode(target), sort, ctypes.c_ulong(flags), options)


def _give_up_rights() -> None:
    """Nothing that has been set up can be undone from here on, also not by root."""

    class Header(ctypes.Structure):
        _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]

    _call("prctl", NO_NEW_RIGHTS, 1, 0, 0, 0)
    _call("capset", ctypes.byref(Header(CAPABILITIES_VERSION, 0)), (ctypes.c_uint32 * 6)())


if __name__ == "__main__":
    sys.exit(0 if _leave_the_others() else 1)
