"""Turns for what runs a few at a time, whichever event loops and threads those who wait come from."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future


class Turns:
    """At most so many at once, in the order they came: `async with turns: …`.

    A semaphore of asyncio belongs to the first loop that waits for it; a backend is used from several
    (`asyncio.run` twice, a server's threads), and what it guards is one and the same for all of them.

    Args:
        most: How many at once, ≥ 1.

    Example:
        >>> turns = Turns(1)
        >>> async def drawn() -> str:
        ...     async with turns:
        ...         return "drawn"
        >>> asyncio.run(drawn()), asyncio.run(drawn())
        ('drawn', 'drawn')
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._waiting: deque[Future[None]] = deque()
        self._guard = threading.Lock()

    async def __aenter__(self) -> None:
        with self._guard:
            if self._free and not self._waiting:
                self._free -= 1
                return
            mine = Future[None]()
            self._waiting.append(mine)
        try:
            await asyncio.wrap_future(mine)
        except asyncio.CancelledError:
            if not mine.cancel() and not mine.cancelled():
                # The turn came at the same moment: the next one's.
                self._pass_on()
            raise

    async def __aexit__(self, *about: object) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        while True:
            with self._guard:
                if not self._waiting:
                    self._free += 1
                    return
                following = self._waiting.popleft()
            if following.set_running_or_notify_cancel():
                following.set_result(None)
                return
