"""The last stop of every command: an error is a line with its remedy, and an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

import typer

from langgraph_interleave.cli.pipe import is_gone, mute, quietly
from langgraph_interleave.errors import ConfigError, InterleaveError, InternalError


def guarded(command: Callable[[], int], *, with_traceback: bool = False) -> int:
    """Run a command; every error on one line with its remedy, where it came from only when asked for.

    Args:
        command: The work; gives the exit code.
        with_traceback: Show where an unexpected error came from.

    Returns:
        The exit code: the command's, 130 stopped, 2 an option is wrong, 1 any other error.
    """
    try:
        code = command()
        # What is still to be written is written here, where it is known what to do if nobody reads it.
        quietly(sys.stdout.flush)
        return code
    except KeyboardInterrupt:
        _say("Stopped; the same command, or `run --resume`, goes on with what was begun.")
        return 130
    except OSError as error:
        if not is_gone(error):
            return _failed(error, with_traceback)
        mute()
        return 130
    except Exception as error:  # noqa: BLE001 - the last stop: a person reads a line, not a traceback
        return _failed(error, with_traceback)


def _failed(error: Exception, with_traceback: bool) -> int:
    from langgraph_interleave.cli.wording import one_line

    unexpected = error.__cause__ if isinstance(error, InternalError) and error.__cause__ else error
    if with_traceback:
        traceback.print_exception(unexpected, file=sys.stderr)
    if isinstance(error, InterleaveError) and not isinstance(error, InternalError):
        says = str(error)
    else:
        says = f"Unexpected {type(unexpected).__name__}: {unexpected}. Use --traceback to see where it came from."
    _say(f"Error: {one_line(says)}")
    return 2 if isinstance(error, ConfigError) else 1


def _say(line: str) -> None:
    quietly(lambda: typer.echo(line, err=True))
