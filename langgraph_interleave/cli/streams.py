"""The streams of the process as the command line needs them: there, and with no word in them that a terminal obeys."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TextIO

import typer

from langgraph_interleave.cli.pipe import quietly
from langgraph_interleave.cli.wording import one_line

#: What it logs of failed steps is for programs; people are told on the screen.
_SHOWN = ("langgraph_interleave.standing",)


class Lines(logging.Handler):
    """What is logged, each on a line of stderr; where it came from is for programs."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        if record.name not in _SHOWN:
            quietly(lambda: typer.echo(one_line(record.getMessage()), err=True))


_LINES = Lines(logging.WARNING)


def open_streams() -> None:
    """Streams that were closed before the program began lead nowhere; what is logged comes in lines."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None or (mode == "w" and _is_read_only(stream)):
            # Open as long as the process is.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    logging.getLogger("langgraph_interleave").addHandler(_LINES)


def _is_read_only(stream: TextIO) -> bool:
    """Whether a stream is a file that was opened for reading: a shell's script may get the number of a closed one."""
    try:
        import fcntl

        return fcntl.fcntl(stream.fileno(), fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    except (ImportError, OSError, ValueError):
        return False
