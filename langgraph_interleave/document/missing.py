"""What of a document is gone from its store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import ArtifactMissing
from langgraph_interleave.types import DocumentData

What = Literal["given picture", "picture", "record", "plan"]


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing that is gone, or damaged.

    Attributes:
        sha256: Its digest.
        what: What it is.
        steps: Indices of the steps it belongs to; none for what belongs to the whole document.
    """

    sha256: str
    what: What
    steps: tuple[int, ...] = ()


def find_missing(data: DocumentData, artifacts: ArtifactStore) -> tuple[Missing, ...]:
    """Everything a document names that its store cannot give back unharmed, in the document's order."""
    named: dict[str, tuple[What, list[int]]] = {}
    for image in data.request.images:
        named.setdefault(image.sha256, ("given picture", []))
    if data.plan is not None:
        named.setdefault(data.plan, ("plan", []))
    for step in (*((data.sheet,) if data.sheet is not None else ()), *data.steps):
        if step.image is not None:
            named.setdefault(step.image.sha256, ("picture", []))[1].append(step.index)
        if step.record is not None:
            named.setdefault(step.record, ("record", []))[1].append(step.index)
    return tuple(
        Missing(digest, what, tuple(steps))
        for digest, (what, steps) in named.items()
        if not _is_there(digest, artifacts)
    )


def _is_there(digest: str, artifacts: ArtifactStore) -> bool:
    try:
        artifacts.get(digest)
    except ArtifactMissing:
        return False
    return True
