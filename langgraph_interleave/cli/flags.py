"""Switches that several commands have, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

Events = Annotated[bool, typer.Option("--events", help="One JSON event per line, nothing else on stdout.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not open the page when it is done.")]
WithTraceback = Annotated[bool, typer.Option("--traceback", help="Show where an unexpected error came from.")]
Yes = Annotated[bool, typer.Option("--yes", help="Accept whatever would be asked.")]
