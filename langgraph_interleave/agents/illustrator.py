"""What the document tools of one agent share: the graph they run, and what they say of a document."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from langchain_core.tools import ToolException
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolRuntime

from langgraph_interleave.agents.around import calls_before, forwarder, gallery_of, messages_of, thread_of
from langgraph_interleave.agents.changed import Came, came_to, said_by
from langgraph_interleave.agents.gallery import (
    Found,
    Gallery,
    KnownVersion,
    UnknownName,
    document_name,
    read_document,
    version_of,
)
from langgraph_interleave.agents.shelves import Shelves
from langgraph_interleave.agents.telling import (
    Linker,
    artifact_for,
    content_for,
    unchanged_artifact,
    unchanged_words,
    words_for,
)
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.background import in_thread
from langgraph_interleave.chat.ending import failure_of
from langgraph_interleave.content import image_block
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.document.view import title_of
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.runs import stop_run
from langgraph_interleave.types import SCHEME, DocumentData, Spend

CREATE, CHANGE, RESTORE = "create_illustrated_document", "change_illustrated_document", "restore_illustrated_document"

Answer = tuple[Any, dict[str, Any]]


class Caller(NamedTuple):
    """Who calls a tool: an agent with its messages, or anybody else on a thread, if there is one."""

    runtime: ToolRuntime[Any, Any] | None
    thread: str | None

    @property
    def keeps(self) -> bool:
        """Whether it is an agent, whose messages and state keep what there is."""
        return messages_of(self.runtime) is not None


class Base(NamedTuple):
    """The version that is to be changed, and the document in it."""

    version: KnownVersion
    data: DocumentData


@dataclass(slots=True)
class Job:
    """One call of a tool that runs the graph: what the graph is given, and what its document will be called."""

    given: dict[str, Any]
    gallery: Gallery
    document: str
    version: int
    options: dict[str, Any]
    forward: Callable[[Any], None]
    caller: Caller
    base: Base | None = None
    run_id: str | None = None
    made: dict[str, Any] = field(default_factory=dict[str, Any])
    spend: Spend | None = None
    warnings: dict[str, None] = field(default_factory=dict[str, None])

    def hear(self, part: Any) -> None:
        """Take one part of the graph's stream: pass its events on, keep its document."""
        data: Any = part["data"]
        if part["type"] == "custom":
            if isinstance(data, dict) and str(data.get("type", "")).startswith("interleave."):
                self.run_id = self.run_id or data.get("run_id")
            if (said := said_by(data)) is not None:
                self.warnings[said] = None
            self.forward(data)
        elif isinstance(data, Mapping):
            document: Any = data.get("document")
            if isinstance(document, dict) and "run_id" in document:
                self.made = cast("dict[str, Any]", document)
                self.spend = Spend.model_validate(data["spend"]) if "spend" in data else None

    def went(self, data: DocumentData, came: Came) -> DocumentData:
        """The document of a change that came to nothing, with what is true of its run and not of the document."""
        if came != "nothing":
            return data
        warnings = tuple(dict.fromkeys((*data.warnings, *self.warnings)))
        update = {"run_id": self.run_id or data.run_id, "spend": self.spend or data.spend, "warnings": warnings}
        return data.model_copy(update=update)


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
        #: What was made by calls outside any agent: those on a thread are a conversation, those without are one.
        self._shelves = Shelves()

    # --- the three tools ------------------------------------------------------------------------

    def create(self, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None) -> Answer:
        """Make a document.

        Raises:
            ToolException: It cannot be made, with what to do.
        """
        return self._stream(self._creating(request, images, _caller(runtime)))

    async def acreate(self, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None) -> Answer:
        """As `create`."""
        return await self._astream(await in_thread(self._creating, request, images, _caller(runtime)))

    def change(
        self, document: str, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None
    ) -> Answer:
        """Make another version of a document.

        Raises:
            ToolException: There is no such document, or it cannot be changed, with what to do.
        """
        return self._stream(self._changing(document, request, images, _caller(runtime)))

    async def achange(
        self, document: str, request: str, images: Sequence[str], runtime: ToolRuntime[Any, Any] | None
    ) -> Answer:
        """As `change`."""
        return await self._astream(await in_thread(self._changing, document, request, images, _caller(runtime)))

    def restore(self, document: str, version: int, runtime: ToolRuntime[Any, Any] | None) -> Answer:
        """Go back to a version that is there: nothing is planned, drawn or judged.

        Raises:
            ToolException: There is no such document or version.
        """
        return self._restore(document, version, _caller(runtime), self.artifacts.linker())

    def _restore(self, document: str, version: int, caller: Caller, link: Linker | None) -> Answer:
        gallery = self._gallery(caller)
        found = self._named(gallery, document, version)
        try:
            data = read_document(found.version.digest, self.artifacts)
        except UnknownName as error:
            raise ToolException(str(error)) from error
        if not caller.keeps:
            self._shelves.restore(caller.thread, found.document.id, found.document.title, found.version)
        words = f"{found.document.id} is as it was in version {version} again; a change starts from there.\n"
        return self._answer(gallery, found.document.id, found.version, data, link, before=words)

    async def arestore(self, document: str, version: int, runtime: ToolRuntime[Any, Any] | None) -> Answer:
        """As `restore`."""
        return await in_thread(self._restore, document, version, _caller(runtime), self.artifacts.linker())

    # --- before a run ---------------------------------------------------------------------------

    def _creating(self, request: str, images: Sequence[str], caller: Caller) -> Job:
        gallery = self._gallery(caller)
        given = {"request": self._request(request, images, gallery)}
        ahead = len([call for call in calls_before(caller.runtime) if call["name"] == CREATE])
        return self._job(given, gallery, caller, gallery.next_document(ahead), 1)

    def _changing(self, document: str, request: str, images: Sequence[str], caller: Caller) -> Job:
        gallery = self._gallery(caller)
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
            for call in calls_before(caller.runtime)
            if call["name"] == CHANGE and document_name(str(call["args"].get("document"))) == found.document.id
        ]
        number = found.document.versions[-1].version + 1 + len(ahead)
        return self._job(given, gallery, caller, found.document.id, number, Base(found.version, data))

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
        self, given: dict[str, Any], gallery: Gallery, caller: Caller, document: str, version: int,
        base: Base | None = None,
    ) -> Job:  # fmt: skip
        options: dict[str, Any] = {"stream_mode": ["custom", "values"], "version": "v2", "subgraphs": True}
        context: Any = getattr(caller.runtime, "context", None)
        call = getattr(caller.runtime, "tool_call_id", None)
        if isinstance(context, InterleaveContext) and context.run_id is not None:
            # The caller's own id is that of the agent's turn; each document is a run of its own.
            own = hashlib.sha256(f"{context.run_id}/{call}".encode()).hexdigest()[:16]
            options["context"] = context.model_copy(update={"run_id": own})
        return Job(given, gallery, document, version, options, forwarder(caller.runtime), caller, base)

    def _gallery(self, caller: Caller) -> Gallery:
        return gallery_of(caller.runtime, self.artifacts) if caller.keeps else self._shelves.gallery(caller.thread)

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
            raise ToolException(f"{_nothing(job)} {failure}")
        if data.outcome == "waiting":
            raise ToolException(
                "A reviewer is asked, and outside an agent nobody can answer here. Call the tool from an agent with "
                "a checkpointer."
            )
        digest = self.artifacts.put_json(job.made)
        parent = None if job.base is None else job.base.version.version
        if job.base is not None and (came := came_to(data, job.base.data)) != "version":
            went = job.went(data, came)
            words = unchanged_words(job.document, job.base.version, went, job.base.data, came)
            return words, unchanged_artifact(job.document, *job.base, went, job.gallery, link)
        if job.caller.keeps:
            known = version_of(data, version=job.version, digest=digest, parent=parent)
            return self._answer(job.gallery, job.document, known, data, link)
        # Calls at the same time were begun with the same gallery.
        name, known = self._shelves.add(
            job.caller.thread,
            None if job.base is None else job.document,
            title_of(data),
            lambda number: version_of(data, version=number, digest=digest, parent=parent),
        )
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


def _caller(runtime: ToolRuntime[Any, Any] | None) -> Caller:
    """Who calls: read before another thread of the process is entered, which knows nothing of the call's context."""
    return Caller(runtime, thread_of(runtime))


def _nothing(job: Job) -> str:
    if job.base is None:
        return "No document was made."
    return f"Nothing was changed: {job.document} is as it was, version {job.base.version.version}."


@contextmanager
def _stopping(job: Job) -> Generator[None]:
    """Stop the run when its caller is stopped: nodes in threads, and calls ahead of them, hear nothing of that."""
    try:
        yield
    except GraphBubbleUp:
        raise  # somebody is asked; the agent waits, and goes on here
    except ArtifactMissing as missing:
        # A picture or a part of the document that is to be changed.
        raise ToolException(f"{_nothing(job)} {missing}") from missing
    except BaseException:
        if job.run_id is not None:
            stop_run(job.run_id)
        raise
