"""The conformance suite: every item, in order, against one backend."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from langgraph_interleave import background
from langgraph_interleave._sync import run_sync
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.given import Given, factory_of
from langgraph_interleave.errors import CallTimeout, ConfigError, InterleaveError, QuotaExhausted, Unavailable
from langgraph_interleave.testing.conformance import declared, drawing, origin, referring, repeating
from langgraph_interleave.testing.conformance.item import Item
from langgraph_interleave.testing.conformance.report import Finding, Report, Status
from langgraph_interleave.testing.conformance.subject import Failed, NotApplicable, NotProvable, Options, Subject
from langgraph_interleave.types import Capabilities

#: All items, in the order they are tried.
ITEMS: tuple[Item, ...] = (
    *declared.ITEMS, *drawing.ITEMS, *referring.ITEMS, *repeating.ITEMS, *origin.ITEMS, *declared.LAST,
)  # fmt: skip

OnFinding = Callable[[Finding], None]
OnItem = Callable[[Item], None]

#: Errors that say that it cannot be used here and now, and nothing of what it does.
_UNUSABLE = (ConfigError, QuotaExhausted, Unavailable)


def check_backend(
    backend: Given,
    *,
    options: Options | None = None,
    allow_billed: bool = False,
    max_calls: int | None = None,
    on_finding: OnFinding | None = None,
    on_item: OnItem | None = None,
) -> Report:
    """Try a backend: does it draw, edit, keep order and seeds, count, stop, refuse, and say what it did not do?

    It runs on the package's own event loop, as in a run. Nothing is imagined: each item draws, and
    what was drawn for one is not drawn again for another. How many calls that may be, `most_calls`
    says beforehand. When the plainest request cannot be drawn, nothing else is tried; and when that is
    because a key, a model or a server is missing, the report ends there (`report.problem`).

    Not guaranteed: that the pictures show what was asked for, which takes a critic; nor that references
    reach a model whose drawings differ by chance: those items are `not provable`.

    Args:
        backend: What a graph takes as a backend: a class or function without required arguments, which makes
            it (called twice, to see whether both say the same of themselves); a function that draws; a name; a
            backend object; a pipeline; a mapping of several.
        options: Prompts, size, patience.
        allow_billed: Try a backend whose calls cost money.
        max_calls: Calls at most; items there is no call left for are `not provable`.
        on_finding: Told each finding as soon as it is there, but not the one that is `report.problem`.
        on_item: Told each item as it is begun.

    Returns:
        The report; `report.ok` when nothing failed, `print(report)` for people.

    Raises:
        ConfigError: It is no backend and makes none, or one that is billed and was not allowed to be.

    Example:
        >>> from langgraph_interleave.testing import ScriptedBackend, check_backend
        >>> from langgraph_interleave.types import Capabilities
        >>> cannot_edit = lambda: ScriptedBackend(capabilities=Capabilities(seed="exact"))
        >>> report = check_backend(cannot_edit)
        >>> report["same_seed"].status, report["edits"].status
        ('passed', 'failed')
        >>> print(report["edits"].says)
        It takes no references, got one, and drew without a word about it.
    """
    chosen = _options(options, allow_billed, max_calls)
    factory = factory_of(backend, call="check_backend")
    return run_sync(lambda: _check(factory, chosen, on_finding, on_item))


async def acheck_backend(
    backend: Given,
    *,
    options: Options | None = None,
    allow_billed: bool = False,
    max_calls: int | None = None,
    on_finding: OnFinding | None = None,
    on_item: OnItem | None = None,
) -> Report:
    """As `check_backend`, for async code; cancelled, it stops what it was drawing."""
    chosen = _options(options, allow_billed, max_calls)
    factory = factory_of(backend, call="check_backend")
    level = max(background.current_level(), 0)
    future, cancel = background.start_on(
        level, lambda: _check(factory, chosen, on_finding, on_item), background.context_at(level)
    )
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        cancel()
        raise


def most_calls(capabilities: Capabilities, max_calls: int | None = None) -> int:
    """How many calls a check makes at most.

    Example:
        >>> most_calls(Capabilities()) < most_calls(Capabilities(edit="instruct", max_references=2, seed="exact"))
        True
    """
    most = sum(item.calls(capabilities) for item in ITEMS)
    return most if max_calls is None else min(most, max_calls)


async def found(item: Item, subject: Subject) -> Finding:
    """Try one item."""
    calls, started = subject.taken.calls, time.monotonic()
    status: Status = "passed"
    remedy = item.remedy
    try:
        async with asyncio.timeout(subject.options.item_s):
            says = await item.run(subject)
    except Failed as failed:
        status, says, remedy = "failed", str(failed), failed.remedy or remedy
    except NotApplicable as passed_over:
        status, says = "not applicable", str(passed_over)
    except NotProvable as open_question:
        status, says = "not provable", str(open_question)
    except TimeoutError:
        status, says = "not provable", f"It was not done within {subject.options.item_s:g} s, and given up."
    except _UNUSABLE as problem:
        subject.problem = problem
        status, says, remedy = "failed", f"{type(problem).__name__}: {problem}", problem.remedy or remedy
    except CallTimeout as late:
        status, says = "failed", f"It gave up: {late}"
    except InterleaveError as refused:
        status, says = "failed", f"It refused what it says it can do: {type(refused).__name__}: {refused}"
        remedy = f"Draw it, or take it out of its Capabilities. {remedy}"
    except Exception as error:  # noqa: BLE001 - whatever a backend gives in place of what it should; the others go on
        status, says = "failed", f"What it gave cannot be read: {type(error).__name__}: {error}"
    says = " ".join(says.split())
    calls, seconds = subject.taken.calls - calls, time.monotonic() - started
    return Finding(item.name, item.asks, status, says, calls, seconds, remedy if status == "failed" else "")


async def _check(
    factory: Callable[[], ImageBackend], options: Options, on_finding: OnFinding | None, on_item: OnItem | None
) -> Report:
    started = time.monotonic()
    # A factory may load a model.
    subject = await asyncio.to_thread(Subject, factory, options)
    try:
        findings = await _findings(subject, on_finding, on_item)
    finally:
        await _closed(subject.backend)
    return Report(
        str(subject.backend.name),
        str(subject.backend.fingerprint),
        tuple(findings),
        _plain(subject.capabilities),
        calls=subject.taken.calls,
        images=subject.taken.images,
        seconds=time.monotonic() - started,
        cost_usd=subject.taken.cost_usd if subject.capabilities.billed else 0.0,
        problem=subject.problem if findings[-1].item == "draws" else None,
    )


async def _findings(subject: Subject, on_finding: OnFinding | None, on_item: OnItem | None) -> list[Finding]:
    findings: list[Finding] = []
    draws = True
    for item in ITEMS:
        if draws:
            if on_item is not None:
                on_item(item)
            finding = await found(item, subject)
        else:
            finding = Finding(item.name, item.asks, "not provable", "It does not draw at all.")
        draws = draws and not (item.name == "draws" and finding.status == "failed" and not subject.taken.images)
        findings.append(finding)
        if item.name == "draws" and not draws and subject.problem is not None:
            break
        if on_finding is not None:
            on_finding(finding)
    return findings


async def _closed(backend: ImageBackend) -> None:
    """Let a backend that holds connections on this loop end them."""
    close = getattr(backend, "aclose", None)
    if inspect.iscoroutinefunction(close):
        await close()


def _options(options: Options | None, allow_billed: bool, max_calls: int | None) -> Options:
    chosen = options or Options()
    return replace(
        chosen,
        allow_billed=allow_billed or chosen.allow_billed,
        max_calls=chosen.max_calls if max_calls is None else max_calls,
    )


def _plain(capabilities: Capabilities) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(capabilities).items()}
