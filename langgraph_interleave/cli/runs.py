"""`langgraph-interleave runs`: which runs there are, what became of each, and how to be rid of one."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from langgraph_interleave.cli.deleting import delete_runs, planned
from langgraph_interleave.cli.folder import resume_line, shown
from langgraph_interleave.cli.known import Known, everywhere, find, in_folder, is_ambiguous, is_leased
from langgraph_interleave.cli.pipe import quietly
from langgraph_interleave.cli.progress import said
from langgraph_interleave.cli.screen import tolerate
from langgraph_interleave.cli.summary import clock, cost
from langgraph_interleave.cli.wording import count, one_line
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.ledger.records import CallRecord

#: States that `--resume` goes on from.
_OPEN = ("unfinished", "waiting", "cancelled", "failed", "partial")


def list_runs(folders: Sequence[Path], *, as_json: bool = False, working: Path | None = None) -> int:
    """Say which runs there are, the newest first.

    Args:
        folders: Folders to look in besides, perhaps copied from elsewhere.
        as_json: As JSON.
        working: Folder for relative paths.

    Returns:
        The exit code.

    Raises:
        ConfigError: One of the folders is none.
    """
    working = working or Path.cwd()
    for folder in folders:
        if not (working / folder).is_dir():
            raise ConfigError(f"{folder} is no folder.", remedy="Name folders that `run` made.")
    found = [one.look() for one in everywhere([(working / folder).resolve() for folder in folders])]
    if as_json:
        _write(json.dumps([_told(one) for one in found], ensure_ascii=False, indent=1))
        return 0
    if not found:
        _write("No run was begun yet.")
    for one in found:
        _write(_line(one, working))
    return 0


def show(reference: str, *, as_json: bool = False, working: Path | None = None) -> int:
    """Say what became of a run: its steps, its calls, and how to go on.

    Args:
        reference: A folder, or an id or its beginning.
        as_json: As JSON.
        working: Folder for relative paths.

    Returns:
        The exit code.

    Raises:
        ConfigError: There is no such run.
    """
    working = working or Path.cwd()
    found = [one.look() for one in find(reference, working)]
    if as_json:
        _write(json.dumps([_told(one, calls=True) for one in found], ensure_ascii=False, indent=1))
        return 0
    for place, one in enumerate(found):
        if place:
            _write("")
        for line in _lines(one, working):
            _write(line)
    return 0


def delete(reference: str, *, yes: bool = False, working: Path | None = None) -> int:
    """Delete a run, or all runs of a folder, and what only they need.

    Args:
        reference: A folder, or an id or its beginning.
        yes: Do not ask.
        working: Folder for relative paths.

    Returns:
        The exit code; 1 where the question was answered with no.

    Raises:
        ConfigError: There is no such run, or it is made right now, or nobody is there to be asked.
    """
    working = working or Path.cwd()
    found = [one.look() for one in find(reference, working)]
    for one in found:
        if one.is_running:
            pid = one.begun.maker if one.begun else None
            raise ConfigError(
                f"Run {one.short} is being made{f' by process {pid}' if pid else ''}.",
                remedy="Stop it first (Ctrl-C, or kill), or wait until it has ended.",
            )
    what = planned(found, working)
    if not yes:
        if not sys.stdin.isatty():
            raise ConfigError(f"That would delete {what}.", remedy="Say --yes to have it done without being asked.")
        if not typer.confirm(f"Delete {what}?"):
            return 1
    _write(delete_runs(found, working))
    return 0


def _write(line: str) -> None:
    tolerate(sys.stdout)
    quietly(lambda: typer.echo(line))


def _when(text: str) -> str:
    return text[:16].replace("T", " ")


def _steps(one: Known) -> str:
    done, steps = one.steps()
    return "no plan" if steps is None else f"{done} of {count(steps, 'step')}"


def _line(one: Known, working: Path) -> str:
    parts = [one.short, _when(one.when), f"{one.state:10}"]
    if one.spend is not None:
        parts += [f"{_steps(one):11}", f"{count(sum(one.spend.calls.values()), 'call'):9}", cost(one.spend, free=False)]
        if one.spend.ambiguous:
            parts.append(f"{one.spend.ambiguous} ambiguous")
    return "  ".join([*parts, one_line(shown(one.folder, working)), one_line(one.asked, 60)])


def _lines(one: Known, working: Path) -> list[str]:
    place = one_line(shown(one.folder, working))
    lines = [f"run {one.run}: {one.state}", f"  asked: {one_line(one.asked, 200)}", f"  begun: {_when(one.when)} UTC"]
    lines.append(f"  folder: {place}")
    if one.begun is None or one.spend is None:
        return [*lines, f"  the folder is gone; to forget it: langgraph-interleave runs delete {one.short}"]
    if one.begun.base is not None:
        lines.append("  a change of the document there")
    done, steps = one.steps()
    lines.append("  steps: no plan yet" if steps is None else f"  steps: {done} of {steps}")
    progress = one.progress()
    told = {} if progress is None else progress.steps
    numbers = {index: step.number for index, step in told.items()}
    for index in sorted({*told, *(call.step for call in one.calls if call.step is not None)}):
        tries = len({call.attempt for call in one.calls if call.step == index and call.role == "backend"})
        state = one_line(said(told[index]), 120) if index in told else "begun"
        title = one_line(told[index].title, 60) if index in told else ""
        lines.append(f"    {numbers.get(index, index + 1)}. {title}: {state} ({count(tries, 'attempt')})")
    lines.append(f"  calls: {sum(one.spend.calls.values())}, {cost(one.spend, free=False)}")
    lines += [f"    {_call_line(call, numbers)}" for call in one.calls]
    if one.spend.ambiguous:
        lines.append(
            f"  ambiguous: {count(one.spend.ambiguous, 'call')} cut off: nobody knows whether the work was done "
            "and, where it is paid for, billed; going on makes it again"
        )
    if one.state in _OPEN:
        by_id = place.startswith("..") or _others_open(one)
        how = f"langgraph-interleave run --resume {one.short}" if by_id else ""
        lines.append(f"  to go on: {how or resume_line(one.folder, one.run, working)}")
    return lines


def _others_open(one: Known) -> bool:
    """Whether its folder has another run to go on with: then the folder alone may mean that one."""
    others = (other.begun for other in in_folder(one.folder) if other.run != one.run)
    return any(begun is not None and (begun.outcome is None or begun.outcome in _OPEN) for begun in others)


def _status(call: CallRecord) -> str:
    if is_ambiguous(call):
        return "ambiguous"
    return "under way" if is_leased(call) else call.status


def _call_line(call: CallRecord, numbers: dict[int, int]) -> str:
    parts = [f"{call.role:8}"]
    if call.step is not None:
        parts.append(f"step {numbers.get(call.step, call.step + 1)}, attempt {call.attempt + 1}")
    parts.append(_status(call))
    if call.seconds is not None:
        parts.append(clock(call.seconds))
    if call.status == "finished" and (call.billed or call.usage.cost_usd):
        parts.append("cost unknown" if call.usage.cost_usd is None else f"${call.usage.cost_usd:.4f}")
    if call.ambiguous_before:
        parts.append(f"made again, after {call.ambiguous_before} cut off")
    if call.failed:
        parts.append(f"{len(call.failed)} answered with nothing to use")
    if call.problem is not None and call.status != "finished":
        parts.append(one_line(call.problem.message, 120))
    return " · ".join(parts)


def _told(one: Known, *, calls: bool = False) -> dict[str, Any]:
    """A run as JSON."""
    done, steps = one.steps()
    told: dict[str, Any] = {
        "run": one.run,
        "state": one.state,
        "asked": one.asked,
        "begun": one.when,
        "last": one.begun.last if one.begun else None,
        "folder": str(one.folder),
        "change": bool(one.begun and one.begun.base),
        "steps": steps,
        "done": done,
        "spend": None if one.spend is None else one.spend.model_dump(mode="json", exclude={"seconds"}),
        "resume": f"langgraph-interleave run --resume {one.run}" if one.state in _OPEN else None,
    }
    if calls:
        told["calls"] = [
            {
                "key": call.key,
                "role": call.role,
                "step": call.step,
                "attempt": call.attempt,
                "candidate": call.candidate,
                "status": _status(call),
                "seconds": call.seconds,
                "billed": call.billed,
                "cost_usd": call.usage.cost_usd,
                "ambiguous_before": call.ambiguous_before,
                "problem": None if call.problem is None else call.problem.model_dump(mode="json"),
            }
            for call in one.calls
        ]
    return told
