"""Signals that ask the program to stop: Ctrl-C, SIGTERM, and SIGHUP when the terminal is closed.

What they do depends on what goes on:

- while a run is made ready, or somebody is asked: `KeyboardInterrupt`, as Ctrl-C always was
- while it is made: it is stopped in good order; the next one ends it at once
- while what exists is written: nothing, that takes no time; the next one is a `KeyboardInterrupt`
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Generator
from types import FrameType, TracebackType
from typing import Any, Self


class Stopping:
    """Takes the signals of this process while inside. A signal that is ignored (`nohup`) stays so."""

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self._act: Callable[[], None] = _interrupt
        self._late = 0
        self._hung_up = False

    def __enter__(self) -> Self:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number: signal.Signals | None = getattr(signal, name, None)
            if number is None or signal.getsignal(number) is signal.SIG_IGN:
                continue
            with contextlib.suppress(ValueError):  # not the main thread: signals are somebody else's
                self._before[number] = signal.signal(number, self._arrived)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    @contextlib.contextmanager
    def by(self, act: Callable[[], None]) -> Generator[None]:
        """While inside, do this; safe to be done between any two steps of the program."""
        before, self._act = self._act, act
        try:
            yield
        finally:
            if self._act is act:
                self._act = before

    def finishing(self) -> None:
        """From now on what exists is written."""
        self._act = self._noted

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        # A terminal that is closed is told twice, by the kernel and by the shell: nobody insists by that.
        hung_up = number == getattr(signal, "SIGHUP", None)
        if not (hung_up and self._hung_up):
            self._hung_up = self._hung_up or hung_up
            self._act()

    def _noted(self) -> None:
        self._late += 1
        if self._late > 1:
            raise KeyboardInterrupt


def _interrupt() -> None:
    raise KeyboardInterrupt
