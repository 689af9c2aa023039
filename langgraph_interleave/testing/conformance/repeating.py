"""Seeds, several calls at once, and calls that end before they are done."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from langgraph_interleave.errors import CallTimeout, InterleaveError
from langgraph_interleave.testing.conformance.item import Item, exactly
from langgraph_interleave.testing.conformance.pictures import NEAR, apart
from langgraph_interleave.testing.conformance.subject import (
    SEED,
    Failed,
    NotApplicable,
    NotProvable,
    Subject,
    outcome_of,
)
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult

#: A drawing quicker than this is over before it can be stopped, in seconds.
_QUICK_S = 0.5
#: How often a clock ticks beside several calls, in seconds; and how long it may stand still, in seconds and as a
#: part of the time they take: on a busy machine it stands for a moment, but never for most of it.
_TICK_S, _STOOD_S, _STOOD = 0.01, 0.4, 0.6
#: What a call may take beyond its deadline, in seconds: a thread must notice, a connection must close.
_SLACK_S = 2.0


async def same_seed(subject: Subject) -> str:
    """The same request and seed give the same bytes, where it says so."""
    if not subject.exact:
        raise NotApplicable("It says that seeds are ignored.")
    first = (await subject.plain()).images[0]
    again = await subject.again()
    if first.data != again.data:
        distance = apart(first, again)
        seen = f"pictures up to {distance} grey levels apart" if distance else "the same pixels in other bytes"
        raise Failed(f'It says seed="exact", and the same request gave {seen}.')
    return "The same request and seed gave the same bytes."


async def other_seed(subject: Subject) -> str:
    """Another seed gives another picture."""
    if not subject.exact:
        raise NotApplicable("It says that seeds are ignored.")
    first = (await subject.plain()).images[0]
    other = (await subject.once(subject.request(seed=SEED + 1))).images[0]
    if first.data == other.data or not apart(first, other):
        raise Failed('It says seed="exact", and two seeds gave the same picture: seeds do nothing.')
    return "Another seed gave another picture."


async def concurrency(subject: Subject) -> str:
    """As many calls at once as it says it takes: all succeed, and each is the picture it is alone."""
    count = min(max(2, subject.capabilities.concurrency), max(2, subject.options.at_once))
    requests = [replace(subject.request(), seed=SEED + index) for index in range(count)]
    if not (subject.exact and await subject.repeats()):
        tasks = [subject.start(request) for request in requests]
        for result in await _all(subject, tasks, requests):
            subject.read(result)
        return f"{count} calls at once all drew."
    alone = [await subject.once(request) for request in requests]
    together = await _all(subject, [subject.start(request) for request in requests], requests)
    for index, (result, single) in enumerate(zip(map(subject.read, together), alone, strict=True)):
        if apart(result.images[0], single.images[0]) > NEAR:
            raise Failed(f"Of {count} calls at once, number {index} is not the picture it is alone.")
    return f"{count} calls at once drew what each draws alone."


async def _all(subject: Subject, tasks: list[asyncio.Task[ImageResult]], requests: list[ImageRequest]) -> list[object]:
    async def ticked() -> None:
        nonlocal stood
        last = started
        while True:
            now = time.monotonic()
            stood, last = max(stood, now - last - _TICK_S), now
            await asyncio.sleep(_TICK_S)

    # None of the tasks has begun.
    stood, started = 0.0, time.monotonic()
    ticking = asyncio.ensure_future(ticked())
    try:
        done, late = await asyncio.wait(tasks, timeout=subject.options.patience_s)
        took = time.monotonic() - started
        # Once more, so that it sees how long the loop stood still before the last of them was done.
        await asyncio.sleep(2 * _TICK_S)
    finally:
        ticking.cancel()
        for task in tasks:
            task.cancel()
    if stood > _STOOD_S and stood > took * _STOOD:
        raise Failed(
            f"While it drew, the event loop stood still for {stood:.1f} of {took:.1f} s: nobody else could go on. "
            "Await what takes long, or move it into a thread (asyncio.to_thread)."
        )
    if late:
        raise Failed(f"{len(late)} of {len(tasks)} calls at once did not end within {subject.options.patience_s:g} s.")
    outcomes: list[object] = []
    for index, task in enumerate(tasks):
        assert task in done
        try:
            outcomes.append(outcome_of(task, requests[index], subject.words))
        except (Failed, InterleaveError) as error:
            raise Failed(f"Of {len(tasks)} calls at once, number {index} failed: {error}") from error
    return outcomes


async def cancellation(subject: Subject) -> str:
    """A cancelled call ends, as it says it does, and the next one is as if nothing had been."""
    before, took = await subject.plain(), await subject.seconds()
    try:
        comparable = await subject.repeats()
    except NotProvable:
        comparable = False
    task = subject.start(subject.request())
    started = time.monotonic()
    await asyncio.wait({task}, timeout=min(0.02, took / 4) if took < _QUICK_S else took / 4)
    over = task.done()
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=subject.options.cancel_s)
    if not done:
        task.cancel()
        raise Failed(f"Cancelled, it went on for more than {subject.options.cancel_s:g} s.")
    ended = time.monotonic() - started
    if not task.cancelled():
        try:
            outcome_of(task, subject.request(), subject.words)
        except InterleaveError as error:
            if over:
                raise Failed(f"The very request it drew before failed: {error}") from error
    if subject.capabilities.cancel == "cooperative" and not over and took > _QUICK_S and ended > took * 0.9:
        raise Failed(f'It says cancel="cooperative", and went on for {ended:.1f} of {took:.1f} s.')
    after = await subject.draw(subject.request())
    if comparable and apart(before.images[0], after.images[0]) > NEAR:
        raise Failed("After a cancelled call the same request gives another picture.")
    how = "was over before it could be stopped" if over else "ended at once" if ended < _QUICK_S else "ended"
    return f"Cancelled, it {how}; the next call drew{' the same picture' if comparable else ''}."


async def deadline(subject: Subject) -> str:
    """A call that cannot be done in time ends as `CallTimeout`, and not much later."""
    took = await subject.seconds()
    limit = max(0.001, took / 5)
    started = time.monotonic()
    try:
        await subject.draw(replace(subject.request(), timeout_s=limit))
    except CallTimeout:
        pass
    except InterleaveError as error:
        raise Failed(f"A deadline of {limit:.3f} s passed, and {type(error).__name__} came: {error}") from error
    else:
        if (ended := time.monotonic() - started) > limit + _SLACK_S:
            raise Failed(f"Asked for a picture within {limit:.3f} s, it drew for {ended:.1f} s.")
        return "It drew too quickly to pass the deadline by much."
    ended = time.monotonic() - started
    if ended > limit + max(_SLACK_S, took):
        raise Failed(f"A deadline of {limit:.3f} s was noticed after {ended:.1f} s.")
    return "A deadline that passed is a CallTimeout."


def _concurrent_calls(capabilities: Capabilities) -> int:
    count = min(max(2, capabilities.concurrency), 4)
    return 2 * count if capabilities.seed == "exact" else count


ITEMS = (
    Item(
        "same_seed",
        "Same seed, same bytes",
        same_seed,
        exactly(1),
        remedy='Draw from request.seed and nothing else that changes, or say Capabilities(seed="ignored").',
    ),
    Item(
        "other_seed",
        "Another seed, another picture",
        other_seed,
        lambda can: int(can.seed == "exact"),
        remedy='Draw from request.seed, or say Capabilities(seed="ignored").',
    ),
    Item(
        "concurrency",
        "Draws several at once, each as alone",
        concurrency,
        _concurrent_calls,
        remedy=(
            "Keep nothing of a call on the object, or take a lock around the drawing; Capabilities(concurrency=…) "
            "says how many may run at once."
        ),
    ),
    Item(
        "cancellation",
        "Ends when it is cancelled, and draws the next",
        cancellation,
        exactly(2),
        remedy=(
            "Let asyncio.CancelledError through, and leave nothing half done for the next call; where a drawing "
            'goes on, say Capabilities(cancel="none").'
        ),
    ),
    Item(
        "deadline",
        "Keeps a deadline",
        deadline,
        exactly(1),
        remedy=(
            "Draw inside `async with asyncio.timeout(request.timeout_s)`, and raise CallTimeout(message, remedy=…)."
        ),
    ),
)
