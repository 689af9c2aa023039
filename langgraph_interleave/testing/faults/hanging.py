"""Never answering, in three ways, with a way out: a test has to end."""

from __future__ import annotations

import asyncio
import threading
import time

_LOOK_S = 0.02


class Hanging:
    """Whoever waits here waits until `release`.

    Example:
        >>> hanging = Hanging()
        >>> hanging.release()
        >>> asyncio.run(hanging.forever("stuck"))
    """

    def __init__(self) -> None:
        self._out = threading.Event()

    def release(self) -> None:
        """Let everybody go who waits here, or ever will."""
        self._out.set()

    async def forever(self, name: str) -> None:
        """Wait: `never_answers` can be cancelled, `deaf` cannot, `stuck` blocks a thread of the loop's besides."""
        if name == "stuck":
            await asyncio.to_thread(self._out.wait)
            return
        while not self._out.is_set():
            try:
                await asyncio.sleep(_LOOK_S)
            except asyncio.CancelledError:
                if name != "deaf":
                    raise

    def block(self) -> None:
        """Wait, and block this thread."""
        self._out.wait()

    def pause(self, seconds: float) -> bool:
        """Block this thread for a moment; whether it is to go on after that."""
        time.sleep(seconds)
        return not self._out.is_set()

    @property
    def released(self) -> bool:
        """Whether everybody may go."""
        return self._out.is_set()
