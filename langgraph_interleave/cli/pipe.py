"""Output into a pipe whose reader may go away."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable


def mute() -> None:
    """Write to nowhere from now on; else the next line fails again, and Python's own flush at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if not stream.isatty():
            with contextlib.suppress(OSError, ValueError):
                os.dup2(nowhere, stream.fileno())


def quietly(tell: Callable[[], None]) -> None:
    """Say something that nobody need hear: work goes on, and ends as it would have."""
    try:
        tell()
    except BrokenPipeError:
        mute()
