"""Where the program keeps what is no document: the user's own folder for data of programs."""

from __future__ import annotations

import os
from pathlib import Path

#: Names another folder.
VARIABLE = "INTERLEAVE_HOME"


def home() -> Path:
    """The folder; it need not be there yet.

    Example:
        >>> os.environ["INTERLEAVE_HOME"] = "/data"
        >>> home().as_posix()
        '/data'
        >>> del os.environ["INTERLEAVE_HOME"]
    """
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("langgraph-interleave", appauthor=False)
