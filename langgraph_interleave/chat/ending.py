"""How a run's end is told to a caller of a chat model: usage and metadata, or the error it failed with."""

from __future__ import annotations

from typing import Any

from langchain_core.messages.ai import InputTokenDetails, UsageMetadata

from langgraph_interleave import errors
from langgraph_interleave.errors import InterleaveError
from langgraph_interleave.types import SCHEME, DocumentData, Problem, Spend

#: Errors that are made of a message and a remedy alone.
_PLAIN = (errors.ConfigError, errors.PlanError, errors.CritiqueError, errors.CallError, errors.ArtifactMissing)


def usage_of(spend: Spend) -> UsageMetadata:
    """Tokens of all calls of a run, planner's, critic's and backend's."""
    return UsageMetadata(
        input_tokens=spend.input_tokens,
        output_tokens=spend.output_tokens,
        total_tokens=spend.input_tokens + spend.output_tokens,
        input_token_details=InputTokenDetails(cache_read=spend.cached_tokens),
    )


def metadata_of(document: DocumentData, digest: str) -> dict[str, Any]:
    """What `response_metadata` says of a run.

    Args:
        document: Its document.
        digest: Under which it is stored.
    """
    return {
        "outcome": document.outcome,
        "reasons": list(document.reasons),
        "run_id": document.run_id,
        "document": f"{SCHEME}{digest}",
        "title": document.title,
        "notes": list(document.notes),
        "warnings": list(document.warnings),
        "spend": document.spend.model_dump(mode="json"),
    }


def failure_of(document: DocumentData) -> InterleaveError | None:
    """The error a failed run is reported by; `None` when there is something to deliver."""
    if document.outcome != "failed":
        return None
    if document.problem is not None:
        return _revived(document.problem)
    marks = [f"step {step.index + 1}: {step.mark}" for step in document.steps if step.mark]
    said = "; ".join(marks[:3]) + (" …" if len(marks) > 3 else "")
    return InterleaveError(
        f"Run {document.run_id} failed. {said}".strip(),
        remedy='Look at its steps; on_exhausted="best" keeps pictures that were not accepted.',
    )


def _revived(problem: Problem) -> InterleaveError:
    kind = getattr(errors, problem.error, None)
    if isinstance(kind, type) and issubclass(kind, _PLAIN):
        return kind(problem.message, remedy=problem.remedy)
    return InterleaveError(problem.message, remedy=problem.remedy)


def delivered(document: DocumentData | None, run_id: str | None) -> DocumentData:
    """The document of a run that has something to deliver.

    Raises:
        InterleaveError: The run failed, or came to no end.
    """
    if document is None:
        raise InterleaveError(
            f"Run {run_id} ended without a document.",
            remedy="If the graph is a larger one, see that it runs to the end of its interleave graph.",
        )
    failure = failure_of(document)
    if failure is not None:
        failure.add_note(f"run {document.run_id}")
        raise failure
    return document
