"""`langgraph-interleave check`: try a backend, and say what it does and does not do."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import typer

from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.cli.money import free_perhaps
from langgraph_interleave.cli.preflight import check_roles
from langgraph_interleave.cli.screen import can_redraw
from langgraph_interleave.cli.wording import one_line
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.testing.conformance import ITEMS, Finding, Item, Options, check_backend, most_calls

_MARKS = {"passed": typer.colors.GREEN, "failed": typer.colors.RED}
#: Short enough for any terminal: a line that is folded cannot be taken back.
_WIDTH_OF_LINE = 78
_WIDTH = max(len(item.name) for item in ITEMS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to check, and how.

    Attributes:
        backend: Its name, as `backends` lists it.
        size: `WIDTHxHEIGHT` in pixels; by default the smallest comfortable one.
        max_calls: Calls at most.
        yes: Calls may cost money.
        as_json: The report as JSON, and nothing else on stdout.
    """

    backend: str
    size: str | None = None
    max_calls: int | None = None
    yes: bool = False
    as_json: bool = False


def check(wanted: Wanted) -> int:
    """Try a backend and print the report.

    Returns:
        0 when nothing failed, else 1.

    Raises:
        ConfigError: There is no such backend, or it is billed and `yes` was not said.
        InterleaveError: Nothing can be drawn: a model, a key or a server is missing.
    """
    size = _pixels(wanted.size)
    backend = init_image_backend(wanted.backend)
    capabilities = backend.capabilities
    most = most_calls(capabilities, wanted.max_calls)
    if capabilities.billed and not wanted.yes:
        raise ConfigError(
            f"Backend {wanted.backend!r} is billed, and the check makes up to {most} calls.",
            remedy=f"Say --yes to pay for them, perhaps with --max-calls. {free_perhaps([wanted.backend])}".rstrip(),
        )
    check_roles([backend])
    money = "each of them billed" if capabilities.billed else "free of charge"
    typer.echo(f"Up to {most} calls, {money}.", err=True)
    running = _Running(told=not wanted.as_json)
    report = check_backend(
        lambda: init_image_backend(wanted.backend),
        options=Options(size=size, max_calls=wanted.max_calls, allow_billed=wanted.yes),
        on_finding=running.found,
        on_item=running.began,
    )
    if wanted.as_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=not _unicode(), indent=2))
    elif report.problem is None:
        typer.echo(report.summary())
    if report.problem is not None:
        raise report.problem
    return 0 if report.ok else 1


class _Running:
    """Tells each finding; and on a terminal, which item is being tried: some take a while.

    Args:
        told: Whether anything is said.
    """

    def __init__(self, *, told: bool) -> None:
        self._told = told
        self._shown = told and can_redraw(sys.stderr)

    def began(self, item: Item) -> None:
        """An item is begun."""
        if self._shown:
            typer.echo(f"\r\x1b[K… {item.name}: {item.asks}"[: _WIDTH_OF_LINE + 4], nl=False, err=True)

    def found(self, finding: Finding) -> None:
        """An item is done."""
        if self._shown:
            typer.echo("\r\x1b[K", nl=False, err=True)
        if self._told:
            status = typer.style(f"{finding.status:<15}", fg=_MARKS.get(finding.status))
            typer.echo(f"{status} {finding.item:<{_WIDTH}}  {one_line(finding.text)}")


def _pixels(size: str | None) -> tuple[int, int] | None:
    if size is None:
        return None
    width, _, height = size.lower().partition("x")
    if not (width.isdigit() and height.isdigit() and int(width) and int(height)):
        raise ConfigError(f"--size {size!r} is not a size.", remedy="Write WIDTHxHEIGHT in pixels, as in 1024x1024.")
    return int(width), int(height)


def _unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
