"""The interleave graph as LangChain tools: make an illustrated document, change it, go back."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolRuntime
from pydantic import Field
from typing_extensions import Unpack

from langgraph_interleave.agents.illustrator import CHANGE, CREATE, RESTORE, Answer, Illustrator
from langgraph_interleave.agents.offering import offer, takes_pictures
from langgraph_interleave.agents.options import GraphOptions, graph_of
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import ConfigError

Shown = Literal["reference", "blocks"]

Wanted: TypeAlias = Annotated[
    str,
    Field(description="What the document should show, in words: its subject, and what was asked of look and steps."),
]
Otherwise: TypeAlias = Annotated[
    str, Field(description="What should be otherwise, in words. Everything that is not named stays as it is.")
]
Pictures: TypeAlias = Annotated[
    list[str],
    Field(
        description="Ids of pictures it is about or starts from, in order, such as img_1 (the first picture that was "
        "put into the conversation) or doc_1.step_2. Empty where it is about none."
    ),
]
Name: TypeAlias = Annotated[str, Field(description="Id of the document, such as doc_1.")]
Number: TypeAlias = Annotated[int, Field(description="Which version, such as 1.")]


def create_interleave_tools(
    graph: Any = None,
    *,
    artifacts: ArtifactStore | None = None,
    images: Shown | None = None,
    model: BaseChatModel | None = None,
    **options: Unpack[GraphOptions],
) -> list[BaseTool]:
    """Make the tools an agent illustrates with: make a document, change one, go back to a version of one.

    Their names are `create_illustrated_document(request, images)`, `change_illustrated_document(document,
    request, images)` and `restore_illustrated_document(document, version)`. Pictures and documents go by the
    ids they have in the conversation: `img_1` is the first picture anyone put in, in whatever form; `doc_1`
    the first document, `doc_1.step_2` a picture of it. Bytes are put into the store and are never written
    by the model. A change draws only what depends on it again; going back makes no call of any role.

    The graph is streamed inside the tool, and each of its events goes to the agent's own `custom` stream
    with the `tool_call_id`, so `stream_segments(agent, …)` works. Where the graph asks a reviewer, the agent
    is interrupted and resumed as the graph would be. The tool message holds words and ids; its `artifact` is
    JSON without bytes: `document`, `version`, `uri`, `outcome`, `spend`, `segments` (captions and references
    to pictures), `warnings`. What cannot be made is a tool message with `status="error"` that says what to
    do; what only the operator can mend is raised.

    With messages that are removed or summarised, use `InterleaveMiddleware`, which keeps the ids.

    Args:
        graph: A compiled interleave graph, then with its `artifacts`, without a checkpointer of its own, so
            that it shares the agent's. Without it, one is made of `options`; nothing at all means the simulator.
        artifacts: The store; in memory by default.
        images: `"reference"`: the agent's model gets words and ids. `"blocks"`: it is shown the pictures too,
            at most 1024 pixels a side, and the bytes are in the conversation. By default `"blocks"` where the
            `model` says it takes pictures in tool messages, else `"reference"`.
        model: The agent's model, to be asked that. It is never called here.
        options: As for `create_interleave_graph`.

    Returns:
        The three tools, for `create_agent(model, tools=…)`, `ToolNode`, or `bind_tools`.

    Raises:
        ConfigError: An option is not valid, or a graph came without its store.

    Example:
        >>> create, change, restore = create_interleave_tools(size="64x64")
        >>> message = create.invoke({"type": "tool_call", "id": "1", "name": create.name,
        ...     "args": {"request": "How to plant a bean, in 2 steps"}})
        >>> message.content.splitlines()[0]
        'doc_1, version 1: “How to plant a bean”, 2 steps, complete.'
        >>> [segment["kind"] for segment in message.artifact["segments"]]
        ['caption', 'image', 'caption', 'image']
    """
    if images not in (None, "reference", "blocks"):
        raise ConfigError(f"images={images!r} is unknown.", remedy='Say "reference" or "blocks".')
    used, store = graph_of(graph, artifacts, options)
    shown = images == "blocks" or (images is None and takes_pictures(model))
    illustrator = Illustrator(used, store, shown=shown)
    return [_creating(illustrator), _changing(illustrator), _restoring(illustrator)]


def create_interleave_tool(
    graph: Any = None,
    *,
    artifacts: ArtifactStore | None = None,
    images: Shown | None = None,
    model: BaseChatModel | None = None,
    **options: Unpack[GraphOptions],
) -> BaseTool:
    """Make the first of `create_interleave_tools` alone: `create_illustrated_document(request, images)`.

    For an agent that makes documents and does not change them; all else is as there.

    Example:
        >>> tool = create_interleave_tool(size="64x64")
        >>> tool.name, list(tool.tool_call_schema.model_json_schema()["properties"])
        ('create_illustrated_document', ['request', 'images'])
    """
    return create_interleave_tools(graph, artifacts=artifacts, images=images, model=model, **options)[0]


def _creating(illustrator: Illustrator) -> BaseTool:
    async def acreate(
        request: Wanted, images: Pictures = [],  # noqa: B006
        runtime: ToolRuntime[Any, Any] = None,  # type: ignore[assignment]
    ) -> Answer:  # fmt: skip
        return await illustrator.acreate(request, images, runtime)

    def create(
        request: Wanted, images: Pictures = [],  # noqa: B006
        runtime: ToolRuntime[Any, Any] = None,  # type: ignore[assignment]
    ) -> Answer:  # fmt: skip
        return illustrator.create(request, images, runtime)

    description = (
        "Make an illustrated document: a sequence of pictures, each following from the last, with their captions (a "
        "how-to, a guide, a story, a lesson). It is planned, drawn and checked as a whole. The reader is shown it; you "
        "get its id and those of its pictures."
    )
    return offer(create, acreate, CREATE, description, nothing="Nothing was made.")


def _changing(illustrator: Illustrator) -> BaseTool:
    async def achange(
        document: Name, request: Otherwise, images: Pictures = [],  # noqa: B006
        runtime: ToolRuntime[Any, Any] = None,  # type: ignore[assignment]
    ) -> Answer:  # fmt: skip
        return await illustrator.achange(document, request, images, runtime)

    def change(
        document: Name, request: Otherwise, images: Pictures = [],  # noqa: B006
        runtime: ToolRuntime[Any, Any] = None,  # type: ignore[assignment]
    ) -> Answer:  # fmt: skip
        return illustrator.change(document, request, images, runtime)

    description = (
        "Change an illustrated document as it is now: other pictures or captions of some steps, steps added, removed "
        "or in another order, another look or language; or go on from a picture of what the reader really did. Only "
        "what depends on the change is drawn again. The old version is kept."
    )
    return offer(change, achange, CHANGE, description, nothing="Nothing was made.")


def _restoring(illustrator: Illustrator) -> BaseTool:
    async def arestore(
        document: Name, version: Number,
        runtime: ToolRuntime[Any, Any] = None,  # type: ignore[assignment]
    ) -> Answer:  # fmt: skip
        return await illustrator.arestore(document, version, runtime)

    def restore(
        document: Name, version: Number,
        runtime: ToolRuntime[Any, Any] = None,  # type: ignore[assignment]
    ) -> Answer:  # fmt: skip
        return illustrator.restore(document, version, runtime)

    description = (
        "Go back to a version of an illustrated document that was made before. Nothing is drawn; the next change "
        "starts from that version."
    )
    return offer(restore, arestore, RESTORE, description, nothing="Nothing was made.")
