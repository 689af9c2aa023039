"""What can be read from the server: documents as Markdown and as a page, and their pictures. Nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph_interleave.agents.mcp_server.names import (
    ARTIFACT,
    DOCUMENT,
    PAGE,
    Name,
    is_name,
    quoted,
    read_digest,
    read_name,
)
from langgraph_interleave.agents.mcp_server.record import Job
from langgraph_interleave.agents.mcp_server.shelf import Shelf
from langgraph_interleave.document import Document
from langgraph_interleave.document.pictures import file_name
from langgraph_interleave.document.view import Shown, build_view, title_of
from langgraph_interleave.errors import ArtifactMissing, ConfigError

MARKDOWN, HTML = "text/markdown", "text/html"
#: Documents that are listed, the newest first.
_LISTED = 50


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that can be read: its content and its media type."""

    content: str | bytes
    mime: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A document in the list: its name and title."""

    name: Name
    title: str


def read(uri: str, shelf: Shelf) -> Kept:
    """Read what an address means. Blocks: call it in a thread.

    Raises:
        ConfigError: It means nothing here.
        ArtifactMissing: It is gone from the store.
    """
    if uri.startswith(ARTIFACT):
        digest = read_digest(uri)
        ref = None if digest is None else shelf.picture(digest)
        if ref is None:
            raise ConfigError(f"There is no picture {quoted(uri)} in any document here.", remedy="Take its link.")
        return Kept(shelf.artifacts.get(ref), ref.mime)
    if uri.startswith(DOCUMENT):
        wanted = uri.removeprefix(DOCUMENT)
        page = wanted.endswith(PAGE)
        wanted = wanted.removesuffix(PAGE)
        if is_name(wanted) and (name := read_name(wanted)).step is None:
            document = _document(name, shelf)
            return Kept(document.to_html(), HTML) if page else Kept(_markdown(document), MARKDOWN)
    raise ConfigError(
        f"There is nothing at {quoted(uri)}.", remedy="Take a link of an answer, or one of the listed resources."
    )


def listing(shelf: Shelf) -> list[Listed]:
    """The documents there are, each by the version it is in. Blocks: call it in a thread."""
    newest: dict[str, Job] = {}
    for job in shelf.jobs():
        known = newest.get(job.document)
        if job.data is not None and job.stands and (known is None or known.version < job.version):
            newest[job.document] = job
    found: list[Listed] = []
    for job in sorted(newest.values(), key=lambda job: job.created, reverse=True)[:_LISTED]:
        try:
            data = shelf.document(job)
        except ArtifactMissing:
            continue
        if data is not None:
            found.append(Listed(job.name, title_of(data)))
    return found


def _document(name: Name, shelf: Shelf) -> Document:
    data = shelf.document(shelf.made(name))
    assert data is not None, "what is made has a document"
    return Document.load(data, shelf.artifacts)


def _markdown(document: Document) -> str:
    """Markdown whose pictures are links that can be read here."""
    text = document.to_markdown(ARTIFACT.rstrip("/"))
    view = build_view(document.data, document.records(), None)
    given = [part for part in view.request if isinstance(part, Shown)]
    for shown in (*given, *(step.picture for step in view.steps if step.picture is not None)):
        text = text.replace(f"]({ARTIFACT}{file_name(shown)})", f"]({ARTIFACT}{shown.ref.sha256})")
    return text
