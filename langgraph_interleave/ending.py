"""The end of the process, and the threads that compute meanwhile.

Threads of ours are daemons: none of them, stuck in a socket, keeps a process alive. But Python ends a
daemon thread by unwinding it, at the moment it comes back from a library; where that library is
written in C++ or Rust (torch, tokenizers), unwinding aborts the whole process: "terminate called
without an active exception", exit code 134, after everything was done and said. So such work says
that it is under way. When the process ends, it is asked to stop, and waited for, for seconds.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import time
from collections.abc import Generator

#: What stops when it is asked to is waited for this long, anything else that computes so long, in seconds.
STOPPING_S, OTHER_S = 5.0, 1.0
_TICK_S = 0.01


class _End:
    """What is known of the end: whether it has begun, who computes, and the code the process is to end with."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        #: Threads, and whether each stops when it is asked to. A thread may be in it twice.
        self.computing: list[tuple[threading.Thread, bool]] = []
        self.code: int | None = None
        self.watched = False


_end = _End()


def begun() -> bool:
    """Whether the process is ending: what computes in steps stops after the one under way, and begins nothing.

    Example:
        >>> begun()
        False
    """
    return _end.begun.is_set()


@contextlib.contextmanager
def computing(*, stops: bool = False) -> Generator[None]:
    """While inside, the process waits for this thread before it ends, for a moment.

    Args:
        stops: It looks at `begun()` every now and then, so that it is worth waiting for longer.

    Example:
        >>> with computing():
        ...     sum(range(10))
        45
    """
    if not _end.watched:
        # Not at import. Twice does no harm: the second finds nobody left.
        _end.watched = True
        atexit.register(_finish)
    entry = (threading.current_thread(), stops)
    _end.computing.append(entry)
    try:
        yield
    finally:
        _end.computing.remove(entry)


def insist(code: int) -> None:
    """End the process with this code, whatever still computes then. For programs, not for libraries."""
    _end.code = code


def left() -> bool:
    """Ask everything to stop and wait; whether anything computes all the same."""
    _end.begun.set()
    started = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):
        while under_way := _under_way():
            waited = time.monotonic() - started
            # Where the process ends with a code of its own, nothing is unwound, and little is gained by waiting.
            if waited > (STOPPING_S if any(under_way) and _end.code is None else OTHER_S):
                break
            time.sleep(_TICK_S)
    return bool(_under_way())


def _under_way() -> list[bool]:
    # A forked child has the list, and none of the threads. The one that asks is no daemon's.
    here = threading.current_thread()
    return [stops for thread, stops in list(_end.computing) if thread is not here and thread.is_alive()]


def _finish() -> None:
    if left() and _end.code is not None:
        # Nothing is unwound.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(_end.code)
