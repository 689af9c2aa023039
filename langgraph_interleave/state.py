"""The graph's state: small, JSON only, keyed by run. Everything of size is an artifact."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from langgraph.channels import EphemeralValue
from pydantic import Field
from typing_extensions import TypedDict

from langgraph_interleave.types import RunOutcome, StepOutcome


class StepProgress(TypedDict, total=False):
    """Where a step is. `outcome` is `started` while it is worked on; `record` is a digest."""

    outcome: StepOutcome | Literal["started"]
    attempt: int
    record: str


class Progress(TypedDict, total=False):
    """One run of a thread: its number, its id, the digest of its plan record, and its steps by index."""

    turn: int
    run_id: str
    plan: str
    steps: dict[str, StepProgress]


class Task(TypedDict, total=False):
    """What one `Send` carries: which step and attempt of which run, and the record so far.

    `sources` are the records of the steps it builds on, digest by index, so that a task can be
    taken up again without the rest of the state.
    """

    turn: int
    run_id: str
    plan: str
    step: int
    attempt: int
    record: str | None
    sources: dict[str, str]


def _rank(step: StepProgress) -> tuple[int, int, str]:
    finished = step.get("outcome", "started") != "started"
    return (1 if finished else 0, step.get("attempt", 0), step.get("record", ""))


def join_progress(left: Progress | None, right: Progress | None) -> Progress:
    """Reducer: join two views of a thread's progress, in any order and any grouping.

    The later turn wins whole; within a turn steps are joined one by one, and a finished step is
    never overwritten by a started one.
    """
    if not left:
        return right or {}
    if not right:
        return left
    if left.get("turn", 0) != right.get("turn", 0):
        return max(left, right, key=lambda p: p.get("turn", 0))
    steps = dict(left.get("steps") or {})
    for index, step in (right.get("steps") or {}).items():
        known = steps.get(index)
        steps[index] = step if known is None else max(known, step, key=_rank)
    return {**left, **right, "steps": steps}


def join_history(left: dict[str, str] | None, right: dict[str, str] | None) -> dict[str, str]:
    """Reducer: documents of earlier turns, digest by run id."""
    return {**(left or {}), **(right or {})}


RequestValue = str | list[dict[str, Any]]


class InterleaveInput(TypedDict):
    """What goes in."""

    request: Annotated[
        RequestValue,
        Field(
            description="What to make, in words; or a list of content blocks, text and image references "
            "in the user's order (make image references with image_part)."
        ),
    ]


class InterleaveOutput(TypedDict, total=False):
    """What comes out."""

    document: Annotated[
        dict[str, Any] | None, Field(description="The finished sequence: captions, image references, marks.")
    ]
    outcome: Annotated[
        RunOutcome | None, Field(description="complete, partial, waiting, cancelled or failed.")
    ]
    spend: Annotated[dict[str, Any] | None, Field(description="Calls, pictures, tokens and seconds used.")]


class InterleaveState(TypedDict, total=False):
    """All channels. `request` lives for the first node only; it is stored with the plan record."""

    request: Annotated[RequestValue, EphemeralValue]
    progress: Annotated[Progress, join_progress]
    history: Annotated[dict[str, str], join_history]
    document: dict[str, Any] | None
    outcome: RunOutcome | None
    spend: dict[str, Any] | None
