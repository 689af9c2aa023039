"""The graph's state: small, JSON only, keyed by run. Everything of size is an artifact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, cast

from langgraph.channels import EphemeralValue
from pydantic import Field
from typing_extensions import TypedDict

from langgraph_interleave.migrations import newest, to_newest
from langgraph_interleave.types import RunOutcome, StepOutcome

FORM = newest("checkpoint")


class StepProgress(TypedDict, total=False):
    """Where a step is; `record` is a digest.

    `outcome` is `started` while it is worked on, and `waiting` while somebody is to be asked. `round` counts
    how often a reviewer has sent it back.
    """

    outcome: StepOutcome | Literal["started", "waiting"]
    attempt: int
    record: str
    round: NotRequired[int]


class Progress(TypedDict):
    """One turn of a thread: its number, its run, the digest of its plan record, its steps by index.

    A finished turn is one `document` digest and no steps; `history` holds those of the turns
    before, by run id. `plans` counts how often the plan was replaced within the turn, and `again` is
    the digest of what it is to be replaced for; an `unapproved` plan is put before a reviewer. `seconds`
    is what the run took until it last waited. `v` is the number of this form.
    """

    v: NotRequired[int]
    turn: int
    run_id: str
    plan: str
    steps: dict[str, StepProgress]
    plans: NotRequired[int]
    again: NotRequired[str]
    unapproved: NotRequired[bool]
    cancelled: NotRequired[bool]
    seconds: NotRequired[float]
    document: NotRequired[str]
    history: NotRequired[dict[str, str]]


class Task(TypedDict):
    """What one `Send` carries: which step and attempt of which run, and the record so far.

    `sources` are the records of the steps it builds on, digest by index, so that a task can be
    taken up again without the rest of the state.
    """

    v: NotRequired[int]
    turn: int
    plans: NotRequired[int]
    run_id: str
    plan: str
    step: int
    attempt: int
    round: NotRequired[int]
    record: str | None
    sources: dict[str, str]


def _rank(step: StepProgress) -> tuple[bool, int, bool, int, str]:
    outcome = step.get("outcome", "started")
    # What a reviewer sent back is worked on again, and may wait again without another attempt: at a limit.
    return (
        outcome not in ("started", "waiting"),
        step.get("round", 0),
        outcome == "waiting",
        step.get("attempt", 0),
        step.get("record", ""),
    )


def join_progress(left: Progress | None, right: Progress | None) -> Progress:
    """Reducer: join two views of a thread's progress, in any order and any grouping.

    The later turn wins whole, and so does a later plan of one turn, and a finished turn over an
    unfinished view of it; else steps are joined one by one, and a finished step is never overwritten
    by a started one.
    """
    if not left or not right:
        # LangGraph begins a channel with an empty value of its type.
        return left or right or Progress(turn=0, run_id="", plan="", steps={})
    if _age(left) != _age(right):
        return max(left, right, key=_age)
    steps = dict(left["steps"])
    for index, step in right["steps"].items():
        known = steps.get(index)
        steps[index] = step if known is None else max(known, step, key=_rank)
    joined: Progress = {**left, **right, "steps": steps}
    if "seconds" in left or "seconds" in right:
        joined["seconds"] = max(left.get("seconds", 0.0), right.get("seconds", 0.0))
    return joined


def _age(progress: Progress) -> tuple[int, bool, int]:
    return progress["turn"], "document" in progress, progress.get("plans", 0)


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
    base: NotRequired[
        Annotated[
            dict[str, Any] | str | None,
            Field(
                description="The document to change, where the request says what should be otherwise: as it was "
                'returned, its artifact:// address, or "latest" for the one of this thread. Leave it out for a new one.'
            ),
        ]
    ]


class InterleaveOutput(TypedDict, total=False):
    """What comes out."""

    document: Annotated[
        dict[str, Any] | None, Field(description="The finished sequence: captions, image references, marks.")
    ]
    outcome: Annotated[RunOutcome | None, Field(description="complete, partial, waiting, cancelled or failed.")]
    spend: Annotated[dict[str, Any] | None, Field(description="Calls, pictures, tokens and seconds used.")]


class InterleaveState(TypedDict, total=False):
    """All channels.

    What goes in and out lives for one super-step only: the request is stored with the plan record,
    and a turn does not carry the document of the one before through all its checkpoints.
    """

    request: Annotated[RequestValue, EphemeralValue]
    base: Annotated[dict[str, Any] | str | None, EphemeralValue]
    progress: Annotated[Progress, join_progress]
    document: Annotated[dict[str, Any] | None, EphemeralValue]
    outcome: Annotated[RunOutcome | None, EphemeralValue]
    spend: Annotated[dict[str, Any] | None, EphemeralValue]


# --- from one progress to the next ---------------------------------------------------------------


def state_progress(state: InterleaveState) -> Progress:
    """The progress of the turn; the planner has begun it before any other node runs.

    Raises:
        ConfigError: A newer release made the checkpoint.
    """
    progress = known_progress(state)
    assert progress is not None, "the planner runs first"
    return progress


def known_progress(state: InterleaveState) -> Progress | None:
    """The progress of the thread, of whatever form; `None` before its first turn.

    Raises:
        ConfigError: A newer release made the checkpoint.
    """
    found = state.get("progress")
    if not found:
        return found
    return cast("Progress", to_newest("checkpoint", found, name="The checkpoint of this thread"))


def own_task(task: Task) -> Task:
    """What a `Send` carries, of whatever form: it may be one of a checkpoint.

    Raises:
        ConfigError: A newer release made the checkpoint.
    """
    return cast("Task", to_newest("checkpoint", task, name="A step under way in the checkpoint of this thread"))


def next_turn(before: Progress | None, run_id: str, plan: str) -> Progress:
    """The progress a new turn begins with; of the turn before only the document's digest stays."""
    if not before:
        return Progress(v=FORM, turn=1, run_id=run_id, plan=plan, steps={})
    progress = Progress(v=FORM, turn=before["turn"] + 1, run_id=run_id, plan=plan, steps={})
    history = dict(before.get("history") or {})
    if "document" in before:
        history.pop(before["run_id"], None)  # a caller's own id may come again: the last comes last
        history[before["run_id"]] = before["document"]
    if history:
        progress["history"] = history
    return progress


def finished_turn(progress: Progress, document: str) -> Progress:
    """The progress a turn ends with."""
    return {**progress, "steps": {}, "document": document}


def record_digests(steps: Mapping[str, StepProgress]) -> dict[int, str]:
    """The digests of the records of steps, by index; of those that have one."""
    return {int(index): step["record"] for index, step in steps.items() if "record" in step}


def latest_document(progress: Progress | None) -> str | None:
    """The digest of the last document of a thread; a turn that was left without one does not count."""
    if not progress:
        return None
    return progress.get("document") or next(reversed((progress.get("history") or {}).values()), None)


def past_turns(progress: Progress) -> Progress:
    """What a progress holds of the turns before."""
    return cast("Progress", {"history": progress["history"]} if "history" in progress else {})


def same_plan(progress: Progress | Task) -> Progress:
    """The progress of the same plan of the same turn, without any step."""
    return Progress(
        v=FORM, turn=progress["turn"], plans=progress.get("plans", 0), run_id=progress["run_id"], plan=progress["plan"],
        steps={},
    )  # fmt: skip


def first_task(progress: Progress, step: int, sources: tuple[int, ...]) -> Task:
    """The task that begins a step."""
    records = {str(source): progress["steps"][str(source)].get("record", "") for source in sources}
    return Task(
        v=FORM,
        turn=progress["turn"],
        plans=progress.get("plans", 0),
        run_id=progress["run_id"],
        plan=progress["plan"],
        step=step,
        attempt=0,
        record=None,
        sources=records,
    )


def review_task(progress: Progress, step: int, sources: tuple[int, ...]) -> Task:
    """The task that asks about a step."""
    known = progress["steps"][str(step)]
    return {
        **first_task(progress, step, sources),
        "attempt": known.get("attempt", 0),
        "round": known.get("round", 0),
        "record": known.get("record"),
    }
