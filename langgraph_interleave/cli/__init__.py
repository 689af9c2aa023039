"""The command line: `langgraph-interleave`.

Importing this package loads neither typer nor rich nor LangGraph; `main` does.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Args:
        arguments: Words after the program's name; `None` for those of the process.

    Raises:
        SystemExit: Always; 0 complete, 3 partial or waiting, 1 failed, 2 usage, 130 cancelled.
    """
    try:
        from langgraph_interleave.cli.app import run_app

        code = run_app(arguments)
    except KeyboardInterrupt:  # while it still loads
        code = 130
    from langgraph_interleave import ending

    ending.insist(code)
    raise SystemExit(code)
