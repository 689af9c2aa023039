"""`langgraph-interleave backends`: what is installed, what it can do, what is missing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from langgraph_interleave.backends.registry import BackendInfo, describe, survey_backends
from langgraph_interleave.cli.wording import one_line
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.registry import CHAT_MODELS, CHAT_ROLES, KINDS, OURS, Entry, installed, load

if TYPE_CHECKING:
    from langgraph_interleave.cli.options import Option

_PIPE_WIDTH = 240


def backends(stream: TextIO | None = None) -> None:
    """Print the list of installed parts.

    Args:
        stream: Where to; stdout by default.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    target = stream or sys.stdout
    # In a file or a pipe lines may be long: a command that was broken in two cannot be copied.
    console = Console(
        file=target, highlight=False, markup=False, emoji=False, width=None if target.isatty() else _PIPE_WIDTH
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("backend", overflow="fold", header_style="bold")
    table.add_column("from", overflow="fold", header_style="bold")
    table.add_column("what it is, what it can do, what is missing", overflow="fold", header_style="bold")
    for info in survey_backends():
        cell = Text()
        for line, style in lines(info):
            cell.append(("\n" if cell else "") + line, style=style)
        table.add_row(one_line(info.entry.name), _origin(info.entry), cell)
    console.print(table)
    console.print()
    for kind in KINDS:
        if kind != "backend":
            entries = [(entry, _wrong_with(entry)) for entry in installed(kind)]
            names = ", ".join(_named(entry) for entry, wrong in entries if wrong is None) or "none"
            console.print(Text(f"{_plural(kind):9} {names}"))
            if kind in CHAT_ROLES:
                console.print(Text(f"{'':9} any chat model is one too: {CHAT_MODELS}", style="dim"))
            for entry, wrong in entries:
                if wrong is not None:
                    console.print(Text(f"{'':9} {_named(entry)}: {one_line(wrong)}", style="yellow"))


def one(name: str, stream: TextIO | None = None) -> None:
    """Print what can be said to one part: how it is written, where Python has it, and its options.

    Args:
        name: A backend, planner, critic or check.
        stream: Where to; stdout by default.

    Raises:
        ConfigError: There is none of that name.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from langgraph_interleave.cli.options import find

    target = stream or sys.stdout
    console = Console(
        file=target, highlight=False, markup=False, emoji=False, width=None if target.isatty() else _PIPE_WIDTH
    )
    for number, part in enumerate(find(name)):
        console.print(Text(f"{chr(10) * (number > 0)}{part.kind} {one_line(part.name)}: {one_line(part.summary)}"))
        console.print(Text(f"written   {one_line(part.written)}"))
        console.print(Text(f"in Python {part.place}", style="dim"))
        if not part.options:
            continue
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for title in ("option", "default", "meaning"):
            table.add_column(title, overflow="fold", header_style="bold")
        for option in part.options:
            table.add_row(_optional(option), shown(option), one_line(option.meaning.replace("`", "")))
        console.print(table)
        if any(option.in_name for option in part.options):
            console.print(Text("?: may stand in a name, as in NAME?option=value&option=value", style="dim"))


def shown(option: Option) -> str:
    """A default for people."""
    return "–" if option.default == "None" else option.default or ("–" if not option.in_python else "(needed)")


def _optional(option: Option) -> str:
    return f"{option.name}{' ?' if option.in_name else ''}"


def lines(info: BackendInfo) -> list[tuple[str, str]]:
    """What is said of a backend, with the style of each line: what it is, can do, and lacks (with the pip line)."""
    told: list[tuple[str, str]] = [(one_line(info.summary), "")] if info.summary else []
    if info.problem is not None:
        told.append((f"missing: {one_line(info.problem.message)}", "yellow"))
        if info.problem.remedy:
            told.append((one_line(info.problem.remedy), "yellow"))
    elif info.capabilities is None:
        told.append(("what it can do depends on its argument", "dim"))
    else:
        told.append((" · ".join(describe(info.capabilities)), "dim"))
    return told


def _named(entry: Entry) -> str:
    return one_line(entry.name) + ("" if entry.distribution == OURS else f" ({_origin(entry)})")


def _wrong_with(entry: Entry) -> str | None:
    """Why a part that is installed cannot be used, if that is known."""
    if entry.shadowed:
        return "another of that name goes first"
    try:
        load(entry)
    except ConfigError as error:
        return str(error)
    return None


def _origin(entry: Entry) -> str:
    return "built in" if entry.distribution == OURS else one_line(entry.distribution)


def _plural(kind: str) -> str:
    return f"{kind}s"
