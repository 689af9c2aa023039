"""`ChatInterleave`: the interleave graph wherever a LangChain chat model fits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any, NoReturn, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    BaseRunManager,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, ModelProfile
from langchain_core.language_models.chat_models import agenerate_from_stream, generate_from_stream
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import Field

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.background import in_thread
from langgraph_interleave.chat.blocks import Blocks, ImageForm, check_form
from langgraph_interleave.chat.call import forwarder, graph_call
from langgraph_interleave.chat.conversation import as_messages, holds_bytes, keep_pictures
from langgraph_interleave.chat.ending import delivered, metadata_of, usage_of
from langgraph_interleave.chat.making import make_graph
from langgraph_interleave.chat.order import Order
from langgraph_interleave.checks.base import Check
from langgraph_interleave.context import InterleaveContext
from langgraph_interleave.critic import Critic
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.planner import Planner
from langgraph_interleave.references import References
from langgraph_interleave.runs import stop_run
from langgraph_interleave.types import Approve, DocumentData, Lookahead, OnExhausted, OnLimit, Plan, Publish


class ChatInterleave(BaseChatModel):
    """A chat model that answers with an interleaved document: reasoning, text and pictures, in order.

    Each call is one run. The request is the last human message (with human messages directly before
    it), text and pictures in the user's order; system messages are the look all pictures share,
    unless a context sets `style`; everything else of the conversation is not looked at. Pictures
    given as base64 or data: URLs go into the artifact store first, and callbacks see references only;
    addresses on the web are refused.

    The answer's content blocks are in the order of the document: the plan's reasoning, then step by
    step the caption, what the critic says of each attempt, the delivered picture, and a mark (as
    text) where it was not simply accepted. They are streamed as they happen, except that a step that
    is ahead of its turn is held back. Previews and rejected pictures are never among them. Text blocks
    but the first begin with an empty line, so that `message.text` reads well.

    The last chunk carries `usage_metadata` and, in `response_metadata`, `outcome`, `reasons`, `run_id`,
    `spend`, `title`, `notes`, `warnings` and `document` (the stored document's `artifact://` address).

    A failed run raises; a partial one is an answer with marks. When whoever reads a stream stops
    reading, or the task is cancelled, the run is stopped. In a graph, the run's own events are passed
    on to that graph's `custom` stream. Tools, structured output and stop words
    have no meaning here and are refused.

    Args:
        graph: A compiled interleave graph, or one that contains it; then `artifacts` must be its
            store, and planner, backend and the rest are not given here. Without it, the arguments
            of `create_interleave_graph` are used; nothing at all means the simulator.
        images: How pictures are delivered: `"reference"` (their address in the store), a function
            from `ArtifactRef` to URL, or `"base64"`. Only with the last do callbacks, streams and
            checkpoints carry bytes.
        context: Per-run values for every call. One call's own go in as `context=`; without either,
            the `InterleaveContext` of the surrounding graph counts, if it has one.
        model_name: What to call it in metadata; the graph's name by default.

    Raises:
        ConfigError: The arguments do not fit together, or name something unknown.

    Example:
        >>> model = ChatInterleave(size="64x64")
        >>> message = model.invoke("How to plant a bean, in 2 steps")
        >>> [block["type"] for block in message.content_blocks if block["type"] != "reasoning"]
        ['text', 'image', 'text', 'image']
        >>> message.response_metadata["outcome"]
        'complete'
    """

    graph: Any = Field(default=None, exclude=True, repr=False)
    artifacts: Any = Field(default=None, exclude=True, repr=False)
    images: Any = "reference"
    context: InterleaveContext | None = None
    model_name: str = "interleave"
    streaming: bool = Field(default=False, description="LangChain's switch: stream to callbacks under invoke too.")
    identity: dict[str, Any] = Field(default_factory=dict[str, Any], exclude=True, repr=False)

    def __init__(
        self,
        graph: Any = None,
        *,
        images: ImageForm = "reference",
        context: InterleaveContext | None = None,
        artifacts: ArtifactStore | None = None,
        planner: Planner | Runnable[Any, Any] | Plan | Sequence[str] | str | None = None,
        backend: ImageBackend | Callable[..., Any] | Mapping[str, Any] | str | None = None,
        critic: Critic | Runnable[Any, Any] | str | None = None,
        limits: Limits | None = None,
        ceiling: Limits | None = None,
        ledger: Ledger | None = None,
        checks: Sequence[Check | str] | None = None,
        on_exhausted: OnExhausted | None = None,
        on_limit: OnLimit | None = None,
        approve: Collection[Approve] | None = None,
        draft: bool | None = None,
        lookahead: Lookahead | bool | None = None,
        second_usd: float | None = None,
        candidates: int | None = None,
        early_start: bool | None = None,
        publish: Publish | None = None,
        seed: int | None = None,
        steps: int | None = None,
        size: str | None = None,
        language: str | None = None,
        style: str | None = None,
        references: References | None = None,
        anchor_inputs: bool | None = None,
        reanchor_every: int | None = None,
        style_in_prompts: bool | None = None,
        **kwargs: Any,
    ) -> None:
        unknown = sorted(set(kwargs) - set(type(self).model_fields))
        if unknown:
            raise ConfigError(
                f"ChatInterleave has no option {', '.join(map(repr, unknown))}.",
                remedy="Planner and critic are models with options of their own; see the arguments of "
                "create_interleave_graph.",
            )
        check_form(images)
        given = {
            "planner": planner, "backend": backend, "critic": critic, "limits": limits, "ceiling": ceiling,
            "ledger": ledger, "checks": checks, "on_exhausted": on_exhausted, "on_limit": on_limit,
            "approve": approve, "draft": draft,
            "lookahead": lookahead, "second_usd": second_usd, "candidates": candidates, "early_start": early_start,
            "publish": publish, "seed": seed, "steps": steps, "size": size, "language": language, "style": style,
            "references": references, "anchor_inputs": anchor_inputs, "reanchor_every": reanchor_every,
            "style_in_prompts": style_in_prompts,
        }  # fmt: skip
        chosen = {name: value for name, value in given.items() if value is not None}
        identity: dict[str, Any] = {}
        if graph is None:
            graph, artifacts, identity = make_graph(artifacts, chosen)
        elif chosen:
            raise ConfigError(
                f"ChatInterleave was given a graph, and {', '.join(map(repr, chosen))} beside it.",
                remedy="Give these to create_interleave_graph, or per run in context=InterleaveContext(…).",
            )
        elif artifacts is None:
            raise ConfigError(
                "ChatInterleave was given a graph without its artifact store.",
                remedy="Pass artifacts=…, the same store as create_interleave_graph(artifacts=…).",
            )
        kwargs.setdefault("model_name", getattr(graph, "name", None) or "interleave")
        # The ledger answers what was answered before, and knows what else an answer depends on.
        kwargs.setdefault("cache", False)
        own: dict[str, Any] = {"graph": graph, "artifacts": artifacts, "identity": identity}
        own |= {"images": images, "context": context}
        super().__init__(**own, **kwargs)

    @property
    def _llm_type(self) -> str:
        return "interleave"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        images = self.images if isinstance(self.images, str) else "url"
        own = self.context.model_dump(mode="json", exclude_none=True) if self.context else {}
        return {"model_name": self.model_name, "images": images, "context": own, **self.identity}

    def _resolve_model_profile(self) -> ModelProfile:
        return ModelProfile(
            text_inputs=True,
            image_inputs=True,
            image_url_inputs=False,
            text_outputs=True,
            image_outputs=True,
            reasoning_output=True,
            tool_calling=False,
            structured_output=False,
        )

    # --- what it is not -------------------------------------------------------------------------

    def bind_tools(self, tools: Any, **kwargs: Any) -> NoReturn:
        """Refused: it makes documents and calls no tools.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(
            "ChatInterleave answers with a document and calls no tools.",
            remedy="Give the tools to an agent, and this model to it as a sub-agent: create_interleave_agent(…).",
        )

    def with_structured_output(self, schema: Any, **kwargs: Any) -> NoReturn:
        """Refused: its answer is a document.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(
            "ChatInterleave answers with a document, not with an object of a schema.",
            remedy='Read the document as data: the graph returns it as result["document"].',
        )

    # --- bytes of pictures go into the store before any callback sees the messages ------------------

    def generate(self, messages: list[list[BaseMessage]], *args: Any, **kwargs: Any) -> Any:
        """As every chat model's; pictures are put into the store first."""
        return super().generate([self._kept(given) for given in messages], *args, **kwargs)

    async def agenerate(self, messages: list[list[BaseMessage]], *args: Any, **kwargs: Any) -> Any:
        """As every chat model's; pictures are put into the store first."""
        return await super().agenerate([await self._akept(given) for given in messages], *args, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """As every chat model's; pictures are put into the store first."""
        yield from super().stream(self._kept(as_messages(input)), config, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """As every chat model's; pictures are put into the store first."""
        messages = await self._akept(as_messages(input))
        async with aclosing(cast("Any", super().astream(messages, config, **kwargs))) as chunks:
            async for chunk in chunks:
                yield chunk

    def stream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """As every chat model's; pictures are put into the store first."""
        return super().stream_events(self._kept(as_messages(input)), config, **kwargs)

    def astream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """As every chat model's; pictures are put into the store first."""
        events: Any = super().astream_events
        if kwargs.get("version") != "v3":
            return events(input, config, **kwargs)  # by way of `astream`

        async def begin() -> Any:
            return await events(await self._akept(as_messages(input)), config, **kwargs)

        return begin()

    def _kept(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        return keep_pictures(messages, self.artifacts) if holds_bytes(messages) else list(messages)

    async def _akept(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        if not holds_bytes(messages):
            return list(messages)
        return await in_thread(keep_pictures, messages, self.artifacts)

    # --- a run --------------------------------------------------------------------------------------

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._stream(messages, stop, run_manager, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        options = self._graph_call(messages, stop, kwargs, run_manager)
        order, blocks, forward = Order(), Blocks(self.artifacts, self.images), forwarder()
        with closing(self.graph.stream(**options)) as parts:
            try:
                for part in parts:
                    forward(part)
                    for piece in order.read(part):
                        yield _chunk([blocks.make(piece)])
            except BaseException:
                # Nodes run in threads that nobody can cancel; the run itself can be stopped.
                if order.run_id is not None:
                    stop_run(order.run_id)
                raise
        document = delivered(order.document, order.run_id)
        yield self._last(document, self.artifacts.put_json(order.raw_document))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        options = self._graph_call(messages, stop, kwargs, run_manager)
        order, blocks, forward = Order(), Blocks(self.artifacts, self.images), forwarder()
        async with aclosing(self.graph.astream(**options)) as parts:
            try:
                async for part in parts:
                    forward(part)
                    for piece in order.read(part):
                        if blocks.waits(piece):
                            yield _chunk([await asyncio.to_thread(blocks.make, piece)])
                        else:
                            yield _chunk([blocks.make(piece)])
            except BaseException:
                # Between two nodes none is there to be told; what was started ahead would go on.
                if order.run_id is not None:
                    stop_run(order.run_id)
                raise
        document = delivered(order.document, order.run_id)
        yield self._last(document, await self.artifacts.aput_json(order.raw_document))

    def _graph_call(
        self,
        messages: Sequence[BaseMessage],
        stop: list[str] | None,
        extra: dict[str, Any],
        run: BaseRunManager | None,
    ) -> dict[str, Any]:
        return graph_call(messages, extra, stop=stop, context=self.context, run=run)

    def _last(self, document: DocumentData, digest: str) -> ChatGenerationChunk:
        metadata = {"model_name": self.model_name, **metadata_of(document, digest)}
        message = AIMessageChunk(
            content=[],
            usage_metadata=usage_of(document.spend),
            response_metadata=metadata,
            chunk_position="last",
        )
        return ChatGenerationChunk(message=message)


def _chunk(content: list[Any]) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(content=content))
