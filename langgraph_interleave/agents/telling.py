"""What a tool says of a document: words for the model, an artifact for whoever shows it, pictures on request."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from langgraph_interleave.agents.changed import Came
from langgraph_interleave.agents.gallery import Gallery, KnownVersion
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.content import image_block
from langgraph_interleave.document.text import shorten
from langgraph_interleave.document.view import title_of
from langgraph_interleave.errors import ArtifactMissing
from langgraph_interleave.events import SegmentImage
from langgraph_interleave.types import SCHEME, ArtifactRef, DocumentData, DocumentStep, RunOutcome

Linker = Callable[[ArtifactRef], str | None]

#: Characters of a caption, and of a warning, that the model is told; the whole is in the artifact.
_SAID = 240
#: Warnings that are told; a run may have one for every step.
_WARNINGS = 5
_OUTCOMES: dict[RunOutcome, str] = {
    "complete": "complete",
    "partial": "not all as asked",
    "cancelled": "stopped before it was finished",
}


def words_for(name: str, known: KnownVersion, data: DocumentData) -> str:
    """A document in a few lines: what it is called, what came of it, each step with the id of its picture."""
    whole = _OUTCOMES.get(data.outcome, data.outcome)
    came = f", from version {known.parent}" if known.parent is not None else ""
    count = f"{len(data.steps)} step{'' if len(data.steps) == 1 else 's'}"
    lines = [f"{name}, version {known.version}{came}: “{shorten(title_of(data), 80)}”, {count}, {whole}."]
    lines += [_step_in_words(name, step, data.first_number) for step in data.steps]
    if data.problem is not None:
        lines.append(f"Problem: {shorten(data.problem.message, _SAID)} {data.problem.remedy}".rstrip())
    said = [*data.notes, *data.warnings]
    lines += [f"Note: {shorten(one, _SAID)}" for one in said[:_WARNINGS]]
    if len(said) > _WARNINGS:
        lines.append(f"{len(said) - _WARNINGS} more notes are in the document.")
    return "\n".join(lines)


def _step_in_words(name: str, step: DocumentStep, first_number: int) -> str:
    number = step.index + first_number
    said = shorten(step.caption or step.title or step.alt, _SAID)
    picture = f"[picture {name}.step_{number}]" if step.image is not None else ""
    mark = f"({shorten(step.mark, _SAID)})" if step.mark else ""
    return " ".join(part for part in (f"{number}.", said, picture, mark) if part)


def artifact_for(
    name: str, known: KnownVersion, data: DocumentData, gallery: Gallery, link: Linker | None = None
) -> dict[str, Any]:
    """A document as JSON, pictures by reference, no bytes.

    `segments` are the answer in order: `caption`, `image` and `placeholder`, as events of the same kinds
    carry them. `changed` says that the document is in this version from now on. `pictures` are the ids that
    were told in this conversation so far, so that they stay.

    Args:
        name: Id of the document.
        known: Its version.
        data: What it holds.
        gallery: The conversation's pictures.
        link: Makes the URL under which a picture can be fetched.
    """
    return {
        "type": "interleave.document",
        "v": 1,
        "document": name,
        "version": known.version,
        "changed": True,
        "parent": known.parent,
        "title": title_of(data),
        "uri": f"{SCHEME}{known.digest}",
        "digest": known.digest,
        "run_id": data.run_id,
        "outcome": data.outcome,
        "reasons": list(data.reasons),
        "spend": data.spend.model_dump(mode="json", exclude_none=True),
        "segments": [segment for step in data.steps for segment in _segments(step, data.first_number, link)],
        "notes": list(data.notes),
        "warnings": list(data.warnings),
        "known": known.model_dump(mode="json"),
        "pictures": {one.id: image_block(one.image, name=one.name) for one in gallery.pictures if one.image},
    }


def unchanged_words(name: str, known: KnownVersion, data: DocumentData, before: DocumentData, came: Came) -> str:
    """That a change came to nothing, and why.

    Args:
        name: Id of the document.
        known: The version it is still in.
        data: What the run returned.
        before: The document as it is.
        came: What the change came to.
    """
    why = {
        "nothing": "nothing would be otherwise than it is",
        "stopped": "it was stopped before it was finished",
    }.get(came, "it failed")
    lines = [f"Nothing was changed: {why}. {name} is as it was, version {known.version}."]
    if data.problem is not None and came != "nothing":
        lines.append(f"Problem: {shorten(data.problem.message, _SAID)} {data.problem.remedy}".rstrip())
    said = [one for one in (*data.notes, *data.warnings) if one not in (*before.notes, *before.warnings)]
    return "\n".join([*lines, *(f"Note: {shorten(one, _SAID)}" for one in said[:_WARNINGS])])


def unchanged_artifact(
    name: str, known: KnownVersion, before: DocumentData, data: DocumentData, gallery: Gallery, link: Linker | None
) -> dict[str, Any]:
    """As `artifact_for` of the document as it still is, but `changed` is false; how it went is that of the run."""
    went = {
        "changed": False,
        "run_id": data.run_id,
        "outcome": data.outcome,
        "reasons": list(data.reasons),
        "spend": data.spend.model_dump(mode="json", exclude_none=True),
        "notes": list(data.notes),
        "warnings": list(data.warnings),
    }
    return artifact_for(name, known, before, gallery, link) | went


def _segments(step: DocumentStep, first_number: int, link: Linker | None) -> list[dict[str, Any]]:
    place = {"step": step.index, "number": step.index + first_number}
    found: list[dict[str, Any]] = []
    if step.caption:
        found.append({**place, "kind": "caption", "text": step.caption})
    if step.image is not None:
        url = link(step.image) if link is not None else None
        image = SegmentImage.of(step.image, url=url).model_dump(mode="json", exclude_none=True)
        alt = {} if step.caption or not step.alt else {"alt": step.alt}
        found.append({**place, "kind": "image", "image": image, **alt})
    if step.mark:
        found.append({**place, "kind": "placeholder", "text": step.mark})
    return found


def content_for(words: str, data: DocumentData, artifacts: ArtifactStore, *, shown: bool) -> Any:
    """The content of the tool message: the words, and the pictures after them where the model is shown those.

    Reads from the store where pictures are shown: in async code, call this in a thread.
    """
    pictures = [step.image for step in data.steps if step.image is not None]
    if not shown or not pictures:
        return words
    blocks = [shown_block(ref, artifacts) for ref in pictures]
    return [{"type": "text", "text": words}, *(block for block in blocks if block is not None)]


def shown_block(ref: ArtifactRef, artifacts: ArtifactStore, *, side: int = 1024) -> dict[str, Any] | None:
    """A picture's bytes for a model, scaled down; `None` where they are gone.

    Args:
        ref: The picture.
        artifacts: The store.
        side: Longest side in pixels; more costs tokens and shows no more.
    """
    from langgraph_interleave.imaging import downscale

    try:
        image = downscale(artifacts.get_image(ref), side)
    except ArtifactMissing:
        return None
    return {"type": "image", "base64": base64.b64encode(image.data).decode("ascii"), "mime_type": image.mime}
