"""The server: its tools and resources, each a few lines over desk, workshop and library."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any, cast

import anyio
from mcp.server import MCPServer
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError, UnexpectedResourceError
from mcp.types import CallToolResult, ToolAnnotations
from mcp.types import Resource as ListedResource
from mcp.types import ResourceTemplate as ListedTemplate
from pydantic import BeforeValidator, Field, ValidationError
from typing_extensions import override

from langgraph_interleave.agents.mcp_server import library, words
from langgraph_interleave.agents.mcp_server.answers import Images, answer, refusal
from langgraph_interleave.agents.mcp_server.names import ARTIFACT, DOCUMENT, PAGE, Name, quoted
from langgraph_interleave.agents.mcp_server.orders import Desk
from langgraph_interleave.agents.mcp_server.pictures import MOST_CHARACTERS, MOST_PICTURES
from langgraph_interleave.agents.mcp_server.record import Job
from langgraph_interleave.agents.mcp_server.workshop import Workshop
from langgraph_interleave.errors import ArtifactMissing, ConfigError, InterleaveError, InternalError, refused_option

log = logging.getLogger(__name__)

#: Nobody waits longer in one call, in seconds.
MOST_WAIT_S = 300.0
#: A client that does not take its notifications is not waited for, in seconds.
_NOTIFY_S = 5.0

_Text = Annotated[str, Field(min_length=1, max_length=20_000, description=words.REQUEST)]
_Change = Annotated[str, Field(min_length=1, max_length=20_000, description=words.CHANGE)]
_Prompt = Annotated[str, Field(min_length=1, max_length=8_000, description=words.PROMPT)]
_EditPrompt = Annotated[str, Field(min_length=1, max_length=8_000, description=words.EDIT_PROMPT)]
_Picture = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]
_Image = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS, description=words.IMAGE)]
_Pictures = Annotated[
    # The length is the list's own: asked of the whole it would be asked of `null`, too, which models send.
    Annotated[list[_Picture], Field(max_length=MOST_PICTURES)] | None,
    # Models write a single picture without the list around it.
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    Field(description=words.IMAGES),
]
_Steps = Annotated[int | None, Field(ge=1, le=1000, description=words.STEPS)]
_Size = Annotated[str | None, Field(max_length=20, description=words.SIZE)]
_Style = Annotated[str | None, Field(max_length=500, description=words.STYLE)]
_Language = Annotated[str | None, Field(max_length=60, description=words.LANGUAGE)]
_Seed = Annotated[int | None, Field(ge=0, lt=2**63, description=words.SEED)]
_Id = Annotated[str, Field(min_length=1, max_length=100, description=words.DOCUMENT_ID)]
_Version = Annotated[int | None, Field(ge=1, le=9999, description=words.VERSION)]
_Wait = Annotated[float, Field(ge=0, description=words.WAIT)]
_See = Annotated[Images, Field(description=words.SEE)]

_MAKES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_STOPS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


class DocumentServer(MCPServer[Any]):
    """Serves the documents of a workshop as resources; each is read by its address alone.

    Arguments that cannot be are told in plain words, and none is ignored.
    """

    def __init__(self, workshop: Workshop) -> None:
        from langgraph_interleave import __version__

        super().__init__(
            words.NAME, title=words.TITLE, instructions=words.INSTRUCTIONS, version=__version__, log_level="WARNING"
        )
        self.workshop = workshop

    @override
    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        schema = next((tool.input_schema for tool in await self.list_tools() if tool.name == name), None)
        refused = None if schema is None else _misnamed(name, arguments, schema)
        if refused is not None:
            return refusal(refused)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                return refusal(refused_option(error.__cause__, name))
            raise

    @override
    async def list_resources(self) -> list[ListedResource]:
        found = await self.workshop.files(library.listing, self.workshop.shelf)
        return [
            ListedResource(
                uri=f"{DOCUMENT}{listed.name}{end}",
                name=f"{listed.name}{'.html' if end else '.md'}",
                title=listed.title,
                mime_type=library.HTML if end else library.MARKDOWN,
            )
            for listed in cast("list[library.Listed]", found)
            for end in ("", PAGE)
        ]

    @override
    async def list_resource_templates(self) -> list[ListedTemplate]:
        return [
            ListedTemplate(
                uri_template=f"{DOCUMENT}{{document_id}}",
                name="document",
                title="A document as Markdown",
                description="The newest version, or one of them: doc_….v2.",
                mime_type=library.MARKDOWN,
            ),
            ListedTemplate(
                uri_template=f"{DOCUMENT}{{document_id}}{PAGE}",
                name="page",
                title="A document as one self-contained page",
                description="With its pictures inside; nothing is loaded from elsewhere.",
                mime_type=library.HTML,
            ),
            ListedTemplate(
                uri_template=f"{ARTIFACT}{{digest}}",
                name="picture",
                title="A picture of a document",
                description="PNG, JPEG or WebP, as it was drawn.",
            ),
        ]

    @override
    async def read_resource(self, uri: Any, context: Any = None) -> Iterable[ReadResourceContents]:
        try:
            kept: library.Kept = await self.workshop.files(library.read, str(uri), self.workshop.shelf)
        except ConfigError as error:
            raise ResourceNotFoundError(str(error)) from error
        except ArtifactMissing as error:
            raise ResourceError(str(_gone(error))) from error
        except InterleaveError as error:
            raise ResourceError(str(error)) from error
        except Exception as error:
            # Said in the log; the client is told only which address it was.
            raise UnexpectedResourceError(f"{uri} cannot be read.") from error
        return [ReadResourceContents(content=kept.content, mime_type=kept.mime)]


def make_server(workshop: Workshop) -> DocumentServer:
    """Make the server over a workshop."""
    server = DocumentServer(workshop)
    desk = Desk(workshop.shelf, workshop.outfit)

    async def create_document(
        request: _Text, ctx: Context[Any, Any], images: _Pictures = None, steps: _Steps = None, size: _Size = None,
        style: _Style = None, language: _Language = None, seed: _Seed = None, wait_seconds: _Wait = 25,
    ) -> CallToolResult:  # fmt: skip
        choices = {"steps": steps, "size": size, "style": style, "language": language, "seed": seed}
        return await _made(workshop, ctx, wait_seconds, desk.document, request, images or (), choices)

    async def revise_document(
        document_id: _Id, request: _Change, ctx: Context[Any, Any], version: _Version = None,
        images: _Pictures = None, style: _Style = None, language: _Language = None, seed: _Seed = None,
        wait_seconds: _Wait = 25,
    ) -> CallToolResult:  # fmt: skip
        def change() -> Job:
            choices = {"style": style, "language": language, "seed": seed}
            return desk.change(desk.named(document_id, version), request, images or (), choices)

        return await _made(workshop, ctx, wait_seconds, change)

    async def get_document(
        document_id: _Id, ctx: Context[Any, Any], version: _Version = None, wait_seconds: _Wait = 25,
        images: _See = "thumbnails",
    ) -> CallToolResult:  # fmt: skip
        async def got() -> CallToolResult:
            return await _waited(workshop, ctx, desk.named(document_id, version), wait_seconds, images)

        return await _told(got)

    async def generate_image(
        prompt: _Prompt, ctx: Context[Any, Any], size: _Size = None, style: _Style = None, seed: _Seed = None,
        wait_seconds: _Wait = 25,
    ) -> CallToolResult:  # fmt: skip
        choices = {"size": size, "style": style, "seed": seed}
        return await _made(workshop, ctx, wait_seconds, desk.picture, prompt, None, choices)

    async def edit_image(
        image: _Image, prompt: _EditPrompt, ctx: Context[Any, Any], seed: _Seed = None, wait_seconds: _Wait = 25
    ) -> CallToolResult:
        return await _made(workshop, ctx, wait_seconds, desk.picture, prompt, image, {"seed": seed})

    async def cancel_document(document_id: _Id, version: _Version = None) -> CallToolResult:
        async def stopped() -> CallToolResult:
            job = await workshop.stop(desk.named(document_id, version))
            job = await workshop.wait(job.name, _NOTIFY_S)
            return await workshop.files(answer, job, workshop.shelf, "none")

        return await _told(stopped)

    def add(function: Callable[..., Any], title: str, description: str, annotations: ToolAnnotations) -> None:
        server.add_tool(
            function, title=title, description=description, annotations=annotations, structured_output=False
        )

    add(create_document, "Make an illustrated document", words.CREATE, _MAKES)
    add(revise_document, "Change a document", words.REVISE, _MAKES)
    add(get_document, "Get a document", words.GET, _READS)
    add(generate_image, "Draw a picture", words.GENERATE, _MAKES)
    if workshop.outfit.edits:
        add(edit_image, "Change a picture", words.EDIT, _MAKES)
    add(cancel_document, "Stop making a document", words.CANCEL, _STOPS)
    return server


def _misnamed(tool: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> ConfigError | None:
    """What is wrong with the names of some arguments: one that is not there would be ignored in silence."""
    takes = schema["properties"]
    unknown = [quoted(name) for name in arguments if name not in takes]
    if unknown:
        return ConfigError(f"{tool} takes no {', '.join(unknown[:5])}.", remedy=f"It takes {', '.join(takes)}.")
    missing = [name for name in schema.get("required", ()) if name not in arguments]
    if missing:
        return ConfigError(
            f"{tool} was called without {', '.join(missing)}.", remedy=str(takes[missing[0]]["description"])
        )
    return None


async def _made(
    workshop: Workshop, ctx: Context[Any, Any], wait_seconds: float, order: Callable[..., Job], *arguments: Any
) -> CallToolResult:
    """Take an order, have it made, wait for it."""

    async def made() -> CallToolResult:
        job = await workshop.submit(await workshop.files(order, *arguments))
        return await _waited(workshop, ctx, job.name, wait_seconds, "thumbnails")

    return await _told(made)


async def _told(work: Callable[[], Awaitable[CallToolResult]]) -> CallToolResult:
    """Errors of ours are told as what they are, with what to do."""
    try:
        return await work()
    except ArtifactMissing as error:
        return refusal(_gone(error))
    except InterleaveError as error:
        return refusal(error)
    except TimeoutError:
        return refusal(ConfigError("The folder of the server does not answer.", remedy="Try again later."))
    except OSError as error:
        return refusal(_unusable(error))


def _gone(error: ArtifactMissing) -> ArtifactMissing:
    """What is said of a part of a document that is lost: its store has a place that is nobody's business."""
    log.warning("%s", error)
    return ArtifactMissing(
        "A part of this document is gone from the folder of the server, or damaged.",
        remedy="Make it anew with create_document.",
    )


def _unusable(error: OSError) -> InternalError:
    """What is said of a disk that is full, read-only or broken: why, but not where it is."""
    log.error("the folder of the server cannot be used: %s", error)
    why = error.strerror or type(error).__name__
    return InternalError(
        f"The folder of the server cannot be used: {why}.",
        remedy="Whoever runs the server has to see to that; then call again. Nothing that was made is lost.",
    )


async def _waited(
    workshop: Workshop, ctx: Context[Any, Any], name: Name, wait_seconds: float, images: Images
) -> CallToolResult:
    """Wait for a job, say how far it is to whoever wants to know, and answer.

    A client that cancels the call, or goes away, ends the waiting. It does not end the job: clients send a
    cancellation also when their own time limit is over, and over HTTP it looks like a lost connection.
    """
    last = -1.0

    async def tell(job: Job) -> None:
        nonlocal last
        # Each notification must be further than the one before, also where a job begins anew.
        progress = float(job.done)
        if progress <= last:
            progress = last + 0.01
        if job.total is not None and progress > job.total:
            return
        last = progress
        with anyio.move_on_after(_NOTIFY_S):
            await ctx.report_progress(progress, None if job.total is None else float(job.total), job.now)

    job = await workshop.wait(name, min(wait_seconds, MOST_WAIT_S), tell)
    return await workshop.files(answer, job, workshop.shelf, images)
