"""Switches that several commands have, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Events = Annotated[bool, typer.Option("--events", help="One JSON event per line, nothing else on stdout.")]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", min=0, metavar="USD", help="US dollars at most, in the whole run.", show_default=False),
]
StepMaxCost = Annotated[
    float | None,
    typer.Option("--step-max-cost", min=0, metavar="USD", help="US dollars at most for one step.", show_default=False),
]
StepMaxImages = Annotated[int | None, typer.Option(min=1, help="Pictures at most for one step.", show_default=False)]
StepMaxCalls = Annotated[int | None, typer.Option(min=1, help="Calls at most for one step.", show_default=False)]
StepMaxSeconds = Annotated[
    float | None, typer.Option(min=0.001, help="Wall-clock seconds at most for one step.", show_default=False)
]
PricesFile = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="What models cost, TOML or JSON: goes before the built-in prices.",
        show_default=False,
    ),
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not open the page when it is done.")]
WithTraceback = Annotated[bool, typer.Option("--traceback", help="Show where an unexpected error came from.")]
Yes = Annotated[
    bool, typer.Option("--yes", help="Accept whatever would be asked; at a limit, finish with what is there.")
]
