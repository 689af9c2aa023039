"""A program in a terminal of its own, talked to as a person would."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager

_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


class Terminal:
    """What is on the screen, and the keyboard."""

    def __init__(self, master: int, process: subprocess.Popen[bytes]) -> None:
        self._master = master
        self.process = process
        self.raw = ""
        self._seen = 0

    @property
    def text(self) -> str:
        """All that was shown so far, without colours."""
        return _CODES.sub("", self.raw).replace("\r", "")

    def until(self, words: str, *, seconds: float = 30) -> str:
        """Read until new text has `words`; that text. What was read is not looked at again."""
        until, start = time.monotonic() + seconds, self._seen
        while words not in self.text[start:]:
            left = until - time.monotonic()
            if left <= 0 or not self._more(left):
                raise AssertionError(f"{words!r} never came:\n{self.text[start:]}")
        shown = self.text[start:]
        self._seen = start + shown.index(words) + len(words)
        return shown[: shown.index(words) + len(words)]

    def answer(self, prompt: str, line: str) -> str:
        """Type a line once there is a prompt; what was shown before it."""
        shown = self.until(prompt)
        self.until("more > ")
        self.type(line)
        return shown

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._master, f"{line}\n".encode())

    def interrupt(self) -> None:
        """Ctrl-C."""
        os.write(self._master, b"\x03")

    def close(self) -> None:
        """The window is closed: nobody reads any more, and nobody types."""
        if self._master >= 0:
            os.close(self._master)
        self._master = -1

    def end(self, *, seconds: float = 30) -> int:
        """Read to the end; the exit code."""
        while self._more(seconds):
            pass
        return self.process.wait(timeout=seconds)

    def _more(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says so when nobody is at the other end
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)


@contextmanager
def terminal(*arguments: str, environment: Mapping[str, str] | None = None) -> Generator[Terminal]:
    """The command line in a terminal; it ends with the test whatever happens."""
    master, slave = pty.openpty()
    known = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "100", "LINES": "40"}
    process = subprocess.Popen(
        [sys.executable, "-m", "langgraph_interleave.cli", *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=os.environ | known | dict(environment or {}),
        start_new_session=True,
        preexec_fn=_take_over,
    )
    os.close(slave)
    screen = Terminal(master, process)
    try:
        yield screen
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        screen.close()


def _take_over() -> None:
    """The terminal is the process's own, so that Ctrl-C reaches it."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
