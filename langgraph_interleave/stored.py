"""Documents and their records, read from a store: of whatever form, found undamaged, or refused by name."""

from __future__ import annotations

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.migrations import read_form
from langgraph_interleave.types import DocumentData, PlanRecord, StepRecord

_SHORT = 12


def as_document(data: object, *, name: str = "The document") -> DocumentData:
    """A document from its JSON.

    Raises:
        ConfigError: It was written by a newer release.
        ArtifactMissing: It is damaged, or something else.

    Example:
        >>> asked = {"parts": [{"type": "text", "text": "a bean"}]}
        >>> as_document({"outcome": "complete", "request": asked, "run_id": "r", "v": 1}).outcome
        'complete'
    """
    return read_form("document", DocumentData, data, name=name)


def as_plan_record(data: object, *, name: str = "The record of a plan") -> PlanRecord:
    """What a run was asked and planned, from its JSON; errors as `as_document`."""
    return read_form("plan record", PlanRecord, data, name=name)


def as_step_record(data: object, *, name: str = "The record of a step") -> StepRecord:
    """What happened to a step, from its JSON; errors as `as_document`."""
    return read_form("step record", StepRecord, data, name=name)


def read_document(artifacts: ArtifactStore, digest: str) -> DocumentData:
    """A document of a store.

    Raises:
        ArtifactMissing: It is gone or damaged.
        ConfigError: It was written by a newer release.
    """
    return as_document(artifacts.get_json(digest), name=f"Document {digest[:_SHORT]}…")


def read_plan(artifacts: ArtifactStore, digest: str) -> PlanRecord:
    """The record of a plan; errors as `read_document`."""
    return as_plan_record(artifacts.get_json(digest), name=f"Plan record {digest[:_SHORT]}…")


def read_step(artifacts: ArtifactStore, digest: str) -> StepRecord:
    """The record of a step; errors as `read_document`."""
    return as_step_record(artifacts.get_json(digest), name=f"Step record {digest[:_SHORT]}…")


async def aread_document(artifacts: ArtifactStore, digest: str) -> DocumentData:
    """As `read_document`."""
    return as_document(await artifacts.aget_json(digest), name=f"Document {digest[:_SHORT]}…")


async def aread_plan(artifacts: ArtifactStore, digest: str) -> PlanRecord:
    """As `read_plan`."""
    return as_plan_record(await artifacts.aget_json(digest), name=f"Plan record {digest[:_SHORT]}…")


async def aread_step(artifacts: ArtifactStore, digest: str) -> StepRecord:
    """As `read_step`."""
    return as_step_record(await artifacts.aget_json(digest), name=f"Step record {digest[:_SHORT]}…")
