"""Plays a run: one step after the other, on the kernel's event loop, so that every button works meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

SECONDS = 0.2
REST = 0.03  # seconds between two steps in which the kernel hears what was clicked, however long a step takes


class Player:
    """Calls `tick` five times a second until it says False."""

    def __init__(self, tick: Callable[[], bool], seconds: float = SECONDS) -> None:
        self._tick = tick
        self.seconds = seconds
        self.task: asyncio.Task[None] | None = None

    @property
    def playing(self) -> bool:
        return self.task is not None and not self.task.done()

    def play(self) -> None:
        """Begin, unless it plays already. Raises RuntimeError where there is no event loop, as in a plain script."""
        if not self.playing:
            self.task = asyncio.get_running_loop().create_task(self._play())

    def pause(self) -> None:
        """No further step; the one that is being made is made."""
        if self.task is not None:
            self.task.cancel()
            self.task = None

    async def _play(self) -> None:
        clock = asyncio.get_running_loop().time
        due = clock()
        while self._tick():
            due = max(due + self.seconds, clock() + REST)
            await asyncio.sleep(due - clock())
