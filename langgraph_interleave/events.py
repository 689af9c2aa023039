"""What is written to the graph's `custom` stream: a versioned wire contract.

Every event is plain JSON with a namespaced `type`, `v`, `run_id` and `t` (seconds since the run
started; the only field besides `spend.seconds` that differs between two otherwise equal runs);
inside an agent's tool, `tool_call_id` says which call it is of.
Consumers de-duplicate segments by `segment_id` and order them by (`step`, `seq`); a `step` of
`null` is the plan's own and comes first. Nothing is told of a step before the plan is, even where
the step was drawn while the plan was still being written; its `t` says when that was.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from langgraph_interleave.types import ArtifactRef, Critique, Plan, RunOutcome, RunReason, Scores, Spend, StepOutcome
from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.usage import Usage

VERSION = 1

Track = Literal["reasoning", "answer"]
ReasoningKind = Literal["reasoning", "critique", "refined_prompt", "budget", "rejected_image", "preview"]
AnswerKind = Literal["plan", "caption", "image", "placeholder", "answer"]
Kind = Literal[
    "plan", "caption", "budget", "refined_prompt", "preview", "reasoning", "critique",
    "rejected_image", "image", "placeholder", "answer",
]  # fmt: skip

#: Kinds in the order they take within one attempt; the place is part of `seq`.
KINDS: tuple[Kind, ...] = (
    "plan", "caption", "budget", "refined_prompt", "preview", "reasoning", "critique",
    "rejected_image", "image", "placeholder", "answer",
)  # fmt: skip
_ANSWER: frozenset[str] = frozenset({"plan", "caption", "image", "placeholder", "answer"})
_INDICES = 100


class SegmentImage(Frozen):
    """A picture in a segment: where it is and what it measures. `unchecked` until it was judged.

    `url` is where it can be fetched for a while, if the store is served anywhere.
    """

    uri: str
    sha256: str
    mime: str
    width: int | None = None
    height: int | None = None
    unchecked: bool | None = None
    url: str | None = None

    @classmethod
    def of(cls, ref: ArtifactRef, *, unchecked: bool | None = None, url: str | None = None) -> SegmentImage:
        """Describe a stored picture."""
        return cls(
            uri=ref.uri,
            sha256=ref.sha256,
            mime=ref.mime,
            width=ref.width,
            height=ref.height,
            unchecked=unchecked,
            url=url,
        )


class _Event(Frozen):
    v: int = VERSION
    run_id: str
    t: float = 0.0
    tool_call_id: str | None = Field(
        default=None, description="the tool call an agent makes the run in; null where the graph runs by itself"
    )


class SegmentEvent(_Event):
    """A piece of the interleaved output.

    `start` resets the segment, `delta` adds `text` at character `offset`, `finish` carries the
    whole; a consumer that reads only `finish` misses nothing but the liveness.
    """

    type: Literal["interleave.segment"] = "interleave.segment"
    segment_id: str
    step: int | None
    attempt: int = 0
    seq: int
    track: Track
    kind: Kind
    phase: Literal["start", "delta", "finish"] = "finish"
    text: str | None = None
    offset: int | None = None
    image: SegmentImage | None = None
    critique: Critique | None = None
    plan: Plan | None = None
    usage: Usage | None = None
    provisional: bool | None = None
    replaces: str | None = None
    candidate: int | None = Field(
        default=None, description="which of several pictures of an attempt it is of; the first where it does not say"
    )


class RunEvent(_Event):
    """The run started, waits, or finished."""

    type: Literal["interleave.run"] = "interleave.run"
    phase: Literal["start", "waiting", "finish"]
    outcome: RunOutcome | None = None
    reasons: tuple[RunReason, ...] = ()
    steps: int | None = None
    spend: Spend | None = None
    metrics: dict[str, float | None] = Field(default_factory=dict)


class StepEvent(_Event):
    """A step started or finished."""

    type: Literal["interleave.step"] = "interleave.step"
    step: int
    phase: Literal["start", "finish"]
    outcome: StepOutcome | None = None
    attempts: int | None = None


class AttemptEvent(_Event):
    """An attempt started (its drawing was asked for) or finished (it was judged, or failed)."""

    type: Literal["interleave.attempt"] = "interleave.attempt"
    step: int
    attempt: int
    phase: Literal["start", "finish"]
    seed: int | None = None
    verdict: Literal["accept", "revise"] | None = None
    scores: Scores | None = None


class LimitEvent(_Event):
    """A limit of the run was reached."""

    type: Literal["interleave.limit"] = "interleave.limit"
    limit: str
    used: float
    cap: float


class WarningEvent(_Event):
    """Something the user should know; the run goes on."""

    type: Literal["interleave.warning"] = "interleave.warning"
    code: str
    message: str
    step: int | None = None


Event = Annotated[
    SegmentEvent | RunEvent | StepEvent | AttemptEvent | LimitEvent | WarningEvent, Field(discriminator="type")
]
_adapter: TypeAdapter[Event] = TypeAdapter(Event, config=ConfigDict(defer_build=True))


def seq(kind: Kind, attempt: int = 0, index: int = 0) -> int:
    """Place of a segment within its step: by attempt, then kind, then index.

    Args:
        kind: What it is.
        attempt: 0-based attempt.
        index: Which of several of a kind, 0 to 99.
    """
    return (attempt * len(KINDS) + KINDS.index(kind)) * _INDICES + index


def segment_id(run_id: str, step: int | None, attempt: int, kind: Kind, index: int = 0, *, before: int = 0) -> str:
    """The same segment has the same id however often it is emitted, also after a resume.

    A step of a plan that took the place of `before` others of its run is another than theirs of the same number.
    """
    of = "plan" if step is None else f"{step}.{before}" if before else step
    return f"{run_id}:{of}:{attempt}:{kind}:{index}"


def segment(
    run_id: str, step: int | None, kind: Kind, *, attempt: int = 0, index: int = 0, before: int = 0, **fields: Any
) -> SegmentEvent:
    """Build a segment; id, order and track follow from what it is.

    Args:
        run_id: The run.
        step: The step; `None` for what is of the plan itself.
        kind: What it is.
        attempt: Which attempt of the step; of the plan's own, which plan of the run.
        index: Which of several of a kind.
        before: How many plans of this run the step's plan took the place of.
        fields: The rest.

    Example:
        >>> segment("r", 0, "caption", text="Dig a hole.").track
        'answer'
    """
    return SegmentEvent(
        run_id=run_id,
        segment_id=segment_id(run_id, step, attempt, kind, index, before=before),
        step=step,
        attempt=attempt,
        seq=seq(kind, attempt, index),
        track="answer" if kind in _ANSWER else "reasoning",
        kind=kind,
        **fields,
    )


def to_dict(event: Event) -> dict[str, Any]:
    """The wire form: JSON types only, `null` fields left out except `step`."""
    data = event.model_dump(mode="json", exclude_none=True)
    if isinstance(event, SegmentEvent):
        data["step"] = event.step
    return data


def from_dict(data: object) -> Event | None:
    """Read the wire form.

    Args:
        data: What came over a `custom` stream; other writers use it too.

    Returns:
        The event, or `None` when it is not one of ours.

    Raises:
        ValueError: It says it is ours and is not valid.
    """
    if not isinstance(data, dict) or not str(data.get("type", "")).startswith("interleave."):
        return None
    try:
        return _adapter.validate_python(data)
    except ValidationError as error:
        raise ValueError(f"not a valid {data['type']} event: {error}") from error
