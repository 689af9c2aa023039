"""`langgraph-interleave backends`: what is installed, what it can do, what is missing."""

from __future__ import annotations

import sys
from typing import TextIO

from langgraph_interleave.backends.registry import BackendInfo, describe, survey_backends
from langgraph_interleave.cli.wording import one_line
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.registry import KINDS, OURS, Entry, installed, load


def backends(stream: TextIO | None = None) -> None:
    """Print the list of installed parts.

    Args:
        stream: Where to; stdout by default.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=stream or sys.stdout, highlight=False, markup=False, emoji=False)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for title, least in (("backend", 9), ("from", 8), ("can do", 20), ("missing", 7)):
        table.add_column(title, overflow="fold", min_width=least, header_style="bold")
    for info in survey_backends():
        table.add_row(*(Text(cell) for cell in row(info)))
    console.print(table)
    console.print()
    for kind in KINDS:
        if kind != "backend":
            names = ", ".join(map(_named, installed(kind))) or "none"
            console.print(Text(f"{_plural(kind):9} {names}"))


def row(info: BackendInfo) -> tuple[str, str, str, str]:
    """One line of the list: name, origin, what it can do, what is missing (with the pip line)."""
    if info.problem is not None:
        can, lacks = "", str(info.problem)
    elif info.capabilities is None:
        can, lacks = "depends on its argument", ""
    else:
        can, lacks = ", ".join(describe(info.capabilities)), ""
    if info.summary:
        can = f"{one_line(info.summary)} {can[:1].upper()}{can[1:]}".strip()
    return one_line(info.entry.name), _origin(info.entry), can, one_line(lacks)


def _named(entry: Entry) -> str:
    name = one_line(entry.name) + ("" if entry.distribution == OURS else f" ({_origin(entry)})")
    if entry.shadowed:
        return f"{name}: another of that name goes first"
    try:
        load(entry)
    except ConfigError as error:
        return f"{name}: {one_line(str(error))}"
    return name


def _origin(entry: Entry) -> str:
    return "built in" if entry.distribution == OURS else one_line(entry.distribution)


def _plural(kind: str) -> str:
    return f"{kind}s"
