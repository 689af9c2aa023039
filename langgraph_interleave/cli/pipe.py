"""Output into a pipe whose reader may go away, or a terminal that may be closed."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable

#: What writing says, and reading, when nobody is at the other end: of a pipe; of a terminal.
_GONE = (errno.EPIPE, errno.EIO, errno.ENXIO)


def is_gone(error: OSError) -> bool:
    """Whether an error says that nobody reads our output any more.

    Example:
        >>> is_gone(BrokenPipeError(errno.EPIPE, "Broken pipe")), is_gone(FileNotFoundError(errno.ENOENT, "no"))
        (True, False)
    """
    return isinstance(error, BrokenPipeError) or (error.errno in _GONE and error.filename is None)


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
    except OSError as error:
        if not is_gone(error):
            raise
        mute()
