"""Runs as another process would leave them."""

from __future__ import annotations

from pathlib import Path

from langgraph_interleave.cli.begun import BegunRuns
from langgraph_interleave.ledger import owner


def being_made(folder: Path, pid: int) -> None:
    """As if another process were making the folder's run."""
    runs = BegunRuns(folder)
    (one,) = runs.all()
    name = f"{owner.new_owner().partition('-')[0]}-{pid}-{owner._started(pid)}-0000aaaa"  # pyright: ignore[reportPrivateUsage]
    runs.write(one.model_copy(update={"owner": name, "outcome": None}))
