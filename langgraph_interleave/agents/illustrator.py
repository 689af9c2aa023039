"""What the document tools of one agent share: the graph they run, and what they say of a document."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.tools import ToolException
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolRuntime

from langgraph_interleave.agents.around import calls_before, forwarder, gallery_of, messages_of
from langgraph_interleave.agents.gallery import (
    Found,
    Gallery,
    KnownVersion,
    UnknownName,
    document_name,
    read_document,
    version_of,
)
from langgraph_interleave.agents.telling import Linker, artifact_for, content_for, words_for
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.background import in_thread
from langgraph_interleave.chat.ending import failure_of
from langgraph_interleave.content import image_block
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.document.view import title_of
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.runs import stop_run
from langgraph_interleave.types import SCHEME, DocumentData

CREATE, CHANGE, RESTORE = "create_illustrated_document", "change_illustrated_document", "restore_illustrated_document"

Answer = tuple[Any, dict[str, Any]]


@dataclass(slots=True)
class Job:
    """One call of a tool that runs the graph: what the graph is given, and what its document will be called."""

    given: dict[str, Any]
    gallery: Gallery
    document: str
    version: int
    parent: int | None
    options: dict[str, Any]
    forward: Callable[[Any], None]
    own: bool = False
    run_id: str | None = None
    made: dict[str, Any] = field(default_factory=dict[str, Any])

    def hear(self, part: Any) -> None:
        """Take one part of the graph's stream: pass its events on, keep its document."""
        data: Any = part["data"]
        if part["type"] == "custom":
            if isinstance(data, dict) and str(data.get("type", "")).startswith("interleave."):
                self.run_id = self.run_id or data.get("run_id")
            self.forward(data)
        elif isinstance(data, Mapping):
            document: Any = data.get("document")
            if isinstance(document, dict) and "run_id" in document:
                self.made = cast("dict[str, Any]", document)


class Illustrator:
    """Makes, changes and restores documents for the tools of one agent.

    Args:
        graph: A compiled interleave graph.
        artifacts: Its store.
        shown: The agent's model is shown the pictures, their bytes in the conversation.
    """

    def __init__(self, graph: Any, artifacts: ArtifactStore, *, shown: bool) -> None:
        self.graph = graph
        self.artifacts = artifacts
        self._shown = shown
        #: What was made by calls outside any agent: they are a conversation of their own.
        self._own = Gallery()
        self._lock = threading.Lock()

    # --- the three tools ------------------------------------------------------------------------

    def create(self, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None) -> Answer:
        """Make a document.

        Raises:
            ToolException: It cannot be made, with what to do.
        """
        return self._stream(self._creating(request, images, runtime))

    async def acreate(self, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None) -> Answer:
        """As `create`."""
        return await self._astream(await in_thread(self._creating, request, images, runtime))

    def change(
        self, document: str, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None
    ) -> Answer:
        """Make another version of a document.

        Raises:
            ToolException: There is no such document, or it cannot be changed, with what to do.
        """
        return self._stream(self._changing(document, request, images, runtime))

    async def achange(
        self, document: str, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None
    ) -> Answer:
        """As `change`."""
        return await self._astream(await in_thread(self._changing, document, request, images, runtime))

    def restore(self, document: str, version: int, runtime: ToolRuntime[Any, Any] | None) -> Answer:
        """Go back to a version that is there: nothing is planned, drawn or judged.

        Raises:
            ToolException: There is no such document or version.
        """
        return self._restore(document, version, runtime, self.artifacts.linker())

    def _restore(
        self, document: str, version: int, runtime: ToolRuntime[Any, Any] | None, link: Linker | None
    ) -> Answer:
        gallery = self._gallery(runtime)
        found = self._named(gallery, document, version)
        try:
            data = read_document(found.version.digest, self.artifacts)
        except UnknownName as error:
            raise ToolException(str(error)) from error
        if messages_of(runtime) is None:
            with self._lock:
                self._own = self._own.with_version(found.document.id, found.document.title, found.version)
        words = f"{found.document.id} is as it was in version {version} again; a change starts from there.\n"
        return self._answer(gallery, found.document.id, found.version, data, link, before=words)

    async def arestore(self, document: str, version: int, runtime: ToolRuntime[Any, Any] | None) -> Answer:
        """As `restore`."""
        return await in_thread(self._restore, document, version, runtime, self.artifacts.linker())

    # --- before a run ---------------------------------------------------------------------------

    def _creating(self, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None) -> Job:
        gallery = self._gallery(runtime)
        given = {"request": self._request(request, images, gallery)}
        ahead = len([call for call in calls_before(runtime) if call["name"] == CREATE])
        return self._job(given, gallery, runtime, gallery.next_document(ahead), 1, None)

    def _changing(
        self, document: str, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None
    ) -> Job:
        gallery = self._gallery(runtime)
        found = self._named(gallery, document)
        try:
            data = read_document(found.version.digest, self.artifacts)
        except UnknownName as error:
            raise ToolException(str(error)) from error
        if data.plan is None or not data.steps:
            raise ToolException(f"{found.document.id} has no steps to change. Make a new one with {CREATE}.")
        given = {
            "request": self._request(request, images, gallery),
            "base": f"{SCHEME}{found.version.digest}",
        }
        ahead = [
            call
            for call in calls_before(runtime)
            if call["name"] == CHANGE and document_name(str(call["args"].get("document"))) == found.document.id
        ]
        number = found.document.versions[-1].version + 1 + len(ahead)
        return self._job(given, gallery, runtime, found.document.id, number, found.version.version)

    def _named(self, gallery: Gallery, document: str, version: int | None = None) -> Found:
        try:
            return gallery.document(document, version)
        except UnknownName as error:
            raise ToolException(str(error)) from error

    def _request(self, request: str, images: Sequence[str], gallery: Gallery) -> Any:
        if not request.strip():
            raise ToolException("The request is empty. Say in words what the document should show.")
        try:
            pictures = [gallery.find(name, self.artifacts) for name in images]
        except UnknownName as error:
            raise ToolException(f"Nothing was made. {error}") from error
        names = {one.key: one.name for one in gallery.pictures}
        return [
            {"type": "text", "text": request},
            *(image_block(one, name=names.get(one.sha256)) for one in pictures),
        ]

    def _job(
        self, given: dict[str, Any], gallery: Gallery, runtime: ToolRuntime[Any, Any] | None,
        document: str, version: int, parent: int | None,
    ) -> Job:  # fmt: skip
        options: dict[str, Any] = {"stream_mode": ["custom", "values"], "version": "v2", "subgraphs": True}
        context: Any = getattr(runtime, "context", None)
        call = getattr(runtime, "tool_call_id", None)
        if isinstance(context, InterleaveContext) and context.run_id is not None:
            # The caller's own id is that of the agent's turn; each document is a run of its own.
            own = hashlib.sha256(f"{context.run_id}/{call}".encode()).hexdigest()[:16]
            options["context"] = context.model_copy(update={"run_id": own})
        forward, own = forwarder(runtime), messages_of(runtime) is None
        return Job(given, gallery, document, version, parent, options, forward, own)

    def _gallery(self, runtime: ToolRuntime[Any, Any] | None) -> Gallery:
        if messages_of(runtime) is None:
            with self._lock:
                return self._own
        return gallery_of(runtime, self.artifacts)

    # --- the run --------------------------------------------------------------------------------

    def _stream(self, job: Job) -> Answer:
        with _stopping(job), closing(self.graph.stream(job.given, **job.options)) as parts:
            for part in parts:
                job.hear(part)
        return self._finish(job, self.artifacts.linker())

    async def _astream(self, job: Job) -> Answer:
        with _stopping(job):
            async with aclosing(self.graph.astream(job.given, **job.options)) as parts:
                async for part in parts:
                    job.hear(part)
        return await in_thread(self._finish, job, self.artifacts.linker())

    def _finish(self, job: Job, link: Linker | None) -> Answer:
        if not job.made:
            raise ConfigError(
                "The graph ended without a document.",
                remedy="Give the tool a graph made by create_interleave_graph, or one that returns its document.",
            )
        data = DocumentData.model_validate(job.made)
        failure = failure_of(data)
        if isinstance(failure, ConfigError):
            raise failure  # only the operator can mend it
        if failure is not None:
            raise ToolException(f"No document was made. {failure}")
        if data.outcome == "waiting":
            raise ToolException(
                "A reviewer is asked, and outside an agent nobody can answer here. Call the tool from an agent with "
                "a checkpointer."
            )
        digest = self.artifacts.put_json(job.made)
        if not job.own:
            known = version_of(data, version=job.version, digest=digest, parent=job.parent)
            return self._answer(job.gallery, job.document, known, data, link)
        with self._lock:
            # Calls at the same time were begun with the same gallery.
            name, number = job.document, 1
            if job.parent is None:
                name = self._own.next_document()
            else:
                number = self._own.document(name).document.versions[-1].version + 1
            known = version_of(data, version=number, digest=digest, parent=job.parent)
            self._own = self._own.with_version(name, title_of(data), known)
        return self._answer(job.gallery, name, known, data, link)

    def _answer(
        self,
        gallery: Gallery,
        name: str,
        known: KnownVersion,
        data: DocumentData,
        link: Linker | None,
        *,
        before: str = "",
    ) -> Answer:
        words = before + words_for(name, known, data)
        content = content_for(words, data, self.artifacts, shown=self._shown)
        return content, artifact_for(name, known, data, gallery, link)


@contextmanager
def _stopping(job: Job) -> Generator[None]:
    """Stop the run when its caller is stopped: nodes in threads, and calls ahead of them, hear nothing of that."""
    try:
        yield
    except GraphBubbleUp:
        raise  # somebody is asked; the agent waits, and goes on here
    except ArtifactMissing as missing:
        # A picture or a part of the document that is to be changed.
        raise ToolException(f"No document was made. {missing}") from missing
    except BaseException:
        if job.run_id is not None:
            stop_run(job.run_id)
        raise
