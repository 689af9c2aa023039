"""What a client is told of a job: words first, then small pictures, then where the rest is.

Clients differ: some show pictures, some only words, some drop all content when there is structured data
besides. So the words alone say everything, the pictures come as content, and there is no structured data.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mcp.types import CallToolResult, ContentBlock, ImageContent, ResourceLink, TextContent

from langgraph_interleave.agents.changed import Came
from langgraph_interleave.agents.mcp_server.names import ARTIFACT, DOCUMENT, PAGE, Name
from langgraph_interleave.agents.mcp_server.plain import plain
from langgraph_interleave.agents.mcp_server.record import Job
from langgraph_interleave.agents.mcp_server.shelf import Shelf
from langgraph_interleave.document.markdown import escape_line
from langgraph_interleave.document.pictures import read_picture
from langgraph_interleave.document.text import one_line, shorten
from langgraph_interleave.document.view import title_of
from langgraph_interleave.errors import InterleaveError
from langgraph_interleave.imaging import downscale
from langgraph_interleave.types import ArtifactRef, DocumentData, DocumentStep, ImageBytes

Images = Literal["thumbnails", "full", "none"]

#: Longest side of a thumbnail, and of the smaller ones where there are many, in pixels.
_SIDES = (512, 320, 192)
#: A picture this small is sent as it is, in bytes.
_VERBATIM = 24_000
#: Base64 of all pictures of one answer, at most, in characters: clients refuse answers of more than a megabyte.
_MOST_SMALL = 700_000
#: The same where the client asked for whole pictures.
_MOST_WHOLE = 8_000_000
_CAPTION = 300
_CAME: dict[Came, str] = {
    "nothing": "Nothing was changed: nothing would be otherwise than it is.",
    "stopped": "The change was stopped before it was finished.",
    "failed": "The change failed.",
}


@dataclass(frozen=True, slots=True)
class _Picture:
    """A picture that is sent: base64 and its type."""

    data: str
    mime: str


def refusal(error: InterleaveError) -> CallToolResult:
    """An error as the result of a tool: what is wrong, and what to do."""
    return CallToolResult(content=[TextContent(type="text", text=plain(str(error)))], is_error=True)


def answer(job: Job, shelf: Shelf, images: Images) -> CallToolResult:
    """The result of a tool that asked for a job. Blocks: call it in a thread.

    Args:
        job: The job.
        shelf: Where its document is.
        images: Whether pictures are sent small, whole, or not at all.

    Raises:
        ArtifactMissing: The document is gone from the store.
    """
    data = shelf.document(job)
    if not job.ended:
        return CallToolResult(content=[TextContent(type="text", text=_unfinished(job))])
    failed = job.outcome == "failed" and job.same is None
    before = _before(job, shelf)
    if data is None:
        return CallToolResult(content=[TextContent(type="text", text=f"{_nothing(job)}{before}")], is_error=failed)
    if job.same is not None:
        job = shelf.find(Name(job.document, job.same))
    shown = [(step, step.image) for step in data.steps if step.image is not None]
    sent = _sent([ref for _, ref in shown], shelf, images)
    said = _summary(job, data, len(shown) - len(sent), images)
    content: list[ContentBlock] = [TextContent(type="text", text=f"{before.lstrip()}\n{said}" if before else said)]
    for place, (step, ref) in enumerate(shown):
        picture = sent.get(place)
        if picture is not None:
            content.append(ImageContent(type="image", data=picture.data, mime_type=picture.mime))
        content.append(_link(job, data, step, ref))
    content += _pages(job, data)
    return CallToolResult(content=content, is_error=failed)


def _before(job: Job, shelf: Shelf) -> str:
    """That a change came to nothing, of the change itself and of the version it leaves; empty for all else."""
    if not job.stands:
        now = shelf.find(Name(job.document)).version
        return f" {_CAME[_came(job)]} {job.document} is as it was, in version {now}."
    fallen = shelf.fallen(job)
    if fallen is None:
        return ""
    came = _came(fallen)
    see = "" if came == "nothing" else f" See {fallen.name}."
    return f" This is the document as it was before its last change. {_CAME[came]}{see}"


def _came(job: Job) -> Came:
    if job.same is not None:
        return "nothing"
    return "stopped" if job.outcome == "cancelled" else "failed"


def _unfinished(job: Job) -> str:
    parts = "" if job.total is None else f" ({job.done} of {job.total} parts done)"
    stop = " It was told to stop." if job.stop else ""
    return (
        f"Still being made: {plain(job.now)}{parts}.{stop}\n"
        f"document_id: {job.document}, version {job.version}\n"
        f'Wait on with get_document("{job.name}"); it is made whether anybody waits or not.'
    )


def _nothing(job: Job) -> str:
    if job.problem is not None:
        return plain(f"{job.name} could not be made. {job.problem.message} {job.problem.remedy}".strip())
    return f"{job.name} was stopped before anything was drawn. Ask again to have it made."


def _summary(job: Job, data: DocumentData, left_out: int, images: Images) -> str:
    reasons = f" ({', '.join(reason.replace('_', ' ') for reason in data.reasons)})" if data.reasons else ""
    changed = f" (changed from version {job.order.changes})" if job.order.changes else ""
    lines = [
        escape_line(shorten(title_of(data), _CAPTION)),
        f"{data.outcome}{reasons}; {_count(len(data.steps))}{_cost(data)}",
        f"document_id: {job.document}, version {job.version}{changed}",
    ]
    if job.problem is not None:
        lines.append(plain(f"{job.problem.message} {job.problem.remedy}".strip()))
    lines += ["", *(_line(step, data) for step in data.steps)]
    lines += [f"Note: {plain(one_line(words))}" for words in (*data.notes, *data.warnings)]
    drawn = [step.index + data.first_number for step in data.steps if step.image]
    if drawn:
        called = f"{job.name}.step_{drawn[0]}" + (" and so on" if len(drawn) > 1 else "")
        lines += ["", f"Pictures are called {called}: give that to edit_image, or in images."]
    if left_out and images != "none":
        lines.append(f"Pictures that would make this answer too long: {left_out}; their links are below.")
    return "\n".join(lines)


def _line(step: DocumentStep, data: DocumentData) -> str:
    words = [one_line(part) for part in (step.title, step.caption) if part]
    said = " – ".join(dict.fromkeys(words)) or one_line(step.alt)
    mark = f" [{escape_line(step.mark)}]" if step.mark else ""
    return f"{step.index + data.first_number}. {escape_line(shorten(said, _CAPTION))}{mark}"


def _cost(data: DocumentData) -> str:
    """What it cost, where that is known and anything."""
    cost = data.spend.cost_usd
    return f"; about ${cost:.2f}" if cost and cost >= 0.005 else ""


def _count(steps: int) -> str:
    return "1 step" if steps == 1 else f"{steps} steps"


def _link(job: Job, data: DocumentData, step: DocumentStep, ref: ArtifactRef) -> ResourceLink:
    number = step.index + data.first_number
    return ResourceLink(
        type="resource_link",
        uri=f"{ARTIFACT}{ref.sha256}",
        name=f"{job.name}.step_{number}",
        title=shorten(step.title or step.caption or step.alt, 80) or f"Step {number}",
        description=f"The picture of step {number}, {ref.width} × {ref.height} pixels.",
        mime_type=ref.mime,
        size=ref.size,
    )


def _pages(job: Job, data: DocumentData) -> Iterator[ResourceLink]:
    title = shorten(title_of(data), 80)
    for end, mime, what in (("", "text/markdown", "Markdown"), (PAGE, "text/html", "one self-contained page")):
        yield ResourceLink(
            type="resource_link",
            uri=f"{DOCUMENT}{job.name}{end}",
            name=f"{job.name}{'.html' if end else '.md'}",
            title=title,
            description=f"The document as {what}.",
            mime_type=mime,
        )


def _sent(refs: list[ArtifactRef], shelf: Shelf, images: Images) -> dict[int, _Picture]:
    """The pictures that are sent, by their place: as large as all of them together may be."""
    if images == "none":
        return {}
    most = _MOST_WHOLE if images == "full" else _MOST_SMALL
    found: dict[str, ImageBytes] = {}
    for ref in refs:
        picture = read_picture(shelf.artifacts, ref)
        if isinstance(picture, ImageBytes):  # one that is gone or damaged is linked all the same
            found[ref.sha256] = picture
    sides: list[int | None] = [*([None] if images == "full" else []), *_SIDES]
    sent: dict[int, _Picture] = {}
    for side in sides:
        made = {digest: _small(picture, side) for digest, picture in found.items()}
        sent = {place: made[ref.sha256] for place, ref in enumerate(refs) if ref.sha256 in made}
        if sum(len(picture.data) for picture in sent.values()) <= most:
            return sent
    kept: dict[int, _Picture] = {}
    left = most
    for place, picture in sent.items():
        if len(picture.data) <= left:
            left -= len(picture.data)
            kept[place] = picture
    return kept


def _small(picture: ImageBytes, side: int | None) -> _Picture:
    if side is not None and not (len(picture.data) <= _VERBATIM and max(picture.width, picture.height) <= side):
        picture = downscale(picture, side, mime="image/jpeg")
    return _Picture(base64.b64encode(picture.data).decode("ascii"), picture.mime)
