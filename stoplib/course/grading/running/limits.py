"""How much an exercise may use, and how that is held."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass
from typing import Any

MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What the code of one exercise may use.

    cell       seconds of processor time that one cell may take; a check is one cell
    wait       seconds that one cell may take in all, on a machine that does much else
    exercise   seconds for the whole exercise; a kernel that was ended is started again for the checks that are left
    processor  seconds of processor time that one process may take
    memory     bytes, of all its processes together
    output     bytes that one cell may print
    file       bytes in one file that it writes
    processes  how many it may have at a time
    """

    cell: float = 10
    wait: float = 40
    exercise: float = 120
    processor: int = 60
    memory: int = 2_000 * MB
    output: int = 1 * MB
    file: int = 20 * MB
    processes: int = 40

    def as_dict(self) -> dict[str, Any]:
        """The limits as JSON can hold them.

        >>> Limits(**Limits(cell=3).as_dict()) == Limits(cell=3)
        True
        """
        return asdict(self)

    def hold(self) -> None:
        """Put this process, and all that it starts, under those limits that the system itself can hold."""
        if sys.platform == "win32":
            return
        import resource

        def limit(name: str, most: int) -> None:
            kind = getattr(resource, name, None)
            if kind is None:
                return
            _, hard = resource.getrlimit(kind)
            if hard != resource.RLIM_INFINITY:
                most = min(most, hard)
            resource.setrlimit(kind, (most, most))

        limit("RLIMIT_CORE", 0)
        limit("RLIMIT_CPU", self.processor)
        limit("RLIMIT_FSIZE", self.file)
        if sys.platform == "linux":  # macOS takes the number and does not keep to it
            limit("RLIMIT_AS", self.memory)


def not_held(namespaces: bool) -> list[str]:
    """What this platform does not hold, as sentences for the teacher; none where all is held."""
    missing = []
    if not namespaces:
        missing += [
            "Code of a learner can read what you can read, use the network, and see and end your other processes.",
            "Files that you may write can be written by it; it finds a copy of the course, not the course itself.",
        ]
    if sys.platform != "linux":
        missing.append("Memory is looked at once a second and not held by the system, so a short peak gets through.")
    if os.name == "nt":
        missing.append("Processor time and the size of files are not limited; time, output and processes are.")
    return missing
