"""`InterleaveMiddleware`: one line gives a LangChain agent everything it illustrates with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import OmitFromInput
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import Unpack

from langgraph_interleave.agents.around import STATE_KEY
from langgraph_interleave.agents.document_tools import Shown, create_interleave_tools
from langgraph_interleave.agents.gallery import Gallery
from langgraph_interleave.agents.gathering import gather, stored, without_unreadable
from langgraph_interleave.agents.offering import takes_pictures
from langgraph_interleave.agents.options import GraphOptions, graph_of
from langgraph_interleave.agents.showing import shown_messages
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.background import in_thread
from langgraph_interleave.chat.conversation import holds_bytes
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.transformer import stream_transformers


class IllustratingState(AgentState[Any]):
    """The agent's state with what there is in the conversation: pictures and documents by their ids, as JSON."""

    interleave_gallery: NotRequired[Annotated[dict[str, Any], OmitFromInput]]


class InterleaveMiddleware(AgentMiddleware[IllustratingState, Any, Any]):
    """Everything an agent needs to illustrate, in one line.

    It brings the tools of `create_interleave_tools`; it puts the pictures that come as bytes, in people's
    messages and in those of tools, into the store before they are state, and shows the model the pictures in
    the messages again just before each call, so that neither state nor checkpoints hold them (LangGraph
    keeps one copy of its input, as of any); it tells the model in one line which pictures and documents there
    are, at the end of the last message, where it spoils no cache; it keeps their ids in the state key
    `interleave_gallery`, so that they stay when messages are removed; and it registers the transformers
    that let the events through in `stream_events(version="v3")`. Put it before middleware that removes or
    summarises messages.

    Args:
        graph: As in `create_interleave_tools`, and so are the others that are not listed here.
        artifacts: As there.
        show: Whether the agent's model is shown the pictures in people's messages. By default, unless its
            profile says that it takes none; in tool messages only where its profile says that it does.
        images: What the tools show of their documents, as there; by default `"reference"`.
        options: As for `create_interleave_graph`.

    Attributes:
        artifacts: The store.

    Raises:
        ConfigError: As `create_interleave_tools`.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeMessagesListChatModel
        >>> from langchain_core.messages import AIMessage
        >>> class Model(FakeMessagesListChatModel):
        ...     def bind_tools(self, tools, **kwargs):
        ...         return self
        >>> call = {"name": "create_illustrated_document", "args": {"request": "A bean, in 2 steps"}, "id": "1"}
        >>> model = Model(responses=[AIMessage("", tool_calls=[call]), AIMessage("There you are.")])
        >>> agent = create_agent(model, middleware=[InterleaveMiddleware(size="64x64")])
        >>> result = agent.invoke({"messages": [("user", "Show me how a bean grows")]})
        >>> result["messages"][-2].artifact["document"], result["messages"][-1].content
        ('doc_1', 'There you are.')
    """

    state_schema = IllustratingState

    @property
    def name(self) -> str:
        """Short, because the nodes of a drawing are named by it."""
        return "interleave"

    def __init__(
        self,
        graph: Any = None,
        *,
        artifacts: ArtifactStore | None = None,
        show: bool | None = None,
        images: Shown | None = None,
        **options: Unpack[GraphOptions],
    ) -> None:
        super().__init__()
        # A wrong value must not be taken for a yes.
        if show not in (None, True, False):
            raise ConfigError(f"show={show!r} is unknown.", remedy="Say True, False, or nothing.")
        graph, self.artifacts = graph_of(graph, artifacts, options)
        self.tools = create_interleave_tools(graph, artifacts=self.artifacts, images=images)
        self.transformers = stream_transformers()
        self._show = show

    # --- before anything is stored --------------------------------------------------------------

    def before_agent(self, state: IllustratingState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Put the pictures that came in into the store, and give them ids."""
        return self._taken_in(state)

    async def abefore_agent(self, state: IllustratingState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As `before_agent`."""
        return await in_thread(self._taken_in, state)

    def before_model(self, state: IllustratingState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """The same for what tools brought since the last call."""
        return self._taken_in(state)

    async def abefore_model(self, state: IllustratingState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As `before_model`."""
        return await in_thread(self._taken_in, state)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Put pictures that a tool returns as bytes into the store."""
        answer = handler(request)
        return stored(answer, self.artifacts) if isinstance(answer, ToolMessage) else answer

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """As `wrap_tool_call`."""
        answer = await handler(request)
        if isinstance(answer, ToolMessage) and holds_bytes([answer]):
            return await in_thread(stored, answer, self.artifacts)
        return answer

    # --- just before the model is called --------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Show the model the pictures, and tell it what there is."""
        return handler(self._shown(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`."""
        return await handler(await in_thread(self._shown, request))

    # --- shared ---------------------------------------------------------------------------------

    def _taken_in(self, state: Any) -> dict[str, Any] | None:
        before = state["messages"]
        # What a model said must stay as it said it: providers look for their own pictures in it.
        theirs = [isinstance(message, (HumanMessage, ToolMessage)) for message in before]
        messages = [
            stored(message, self.artifacts) if kept else message for message, kept in zip(before, theirs, strict=True)
        ]
        known = Gallery.from_json(state.get(STATE_KEY))
        gallery = gather(messages, known, self.artifacts)
        update: dict[str, Any] = {} if gallery == known else {STATE_KEY: gallery.to_json()}
        messages = [
            without_unreadable(message, gallery) if kept else message
            for message, kept in zip(messages, theirs, strict=True)
        ]
        changed = [kept for kept, given in zip(messages, before, strict=True) if kept is not given]
        return update | {"messages": changed} if changed else update or None

    def _shown(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        state: Any = request.state
        gallery = gather(request.messages, Gallery.from_json(state.get(STATE_KEY)), self.artifacts)
        profile: Any = getattr(request.model, "profile", None) or {}
        humans = self._show if self._show is not None else bool(profile.get("image_inputs", True))
        tools = self._show is not False and takes_pictures(request.model)
        messages = shown_messages(request.messages, gallery, self.artifacts, humans=humans, tools=tools)
        return request.override(messages=messages)
