"""A chat model that fails on schedule."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, ModelProfile
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import ConfigDict

from langgraph_interleave.testing.faults.hanging import Hanging
from langgraph_interleave.testing.faults.kind import SPEAKING, Kind
from langgraph_interleave.testing.faults.provider import exception_of
from langgraph_interleave.testing.faults.saying import PAUSE_S, as_message, endless, in_pieces, instead_of
from langgraph_interleave.testing.faults.schedule import Schedule
from langgraph_interleave.testing.faults.tally import Tally

Replies = Callable[[Sequence[BaseMessage]], str]


class FaultyChatModel(BaseChatModel):
    """A chat model with faults in between, and a count of its own of what was really done.

    What a provider refuses is raised as the `openai` SDK raises it; the planner or critic that asks maps
    it, as it does with a real model. Streamed and whole, async and sync alike; the sync forms block
    their thread where the others wait.

    Args:
        inner: The chat model that answers, or a function of the messages that gives its words.
        faults: Names of `SPEAKING`: a list used up in the order of asking (`None`: no fault), or how
            often each comes, 0 to 1.
        seed: Seed of the chance.
        retry_after_s: Seconds to wait that `retry_after` and `overloaded` name.

    Attributes:
        tally: What was really done.

    Raises:
        ConfigError: There is no such fault.

    Example:
        >>> from langgraph_interleave.testing import FaultyChatModel
        >>> model = FaultyChatModel(lambda messages: "Yes.", ["garbage", None])
        >>> model.invoke("Is it?").text == "Yes.", model.invoke("Is it?").text
        (False, 'Yes.')
        >>> model.tally.worked
        2
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    inner: Any
    retry_after_s: float = 0.05
    tally: Any = None
    schedule: Any = None
    hanging: Any = None

    def __init__(
        self,
        inner: BaseChatModel | Replies,
        faults: Sequence[str | None] | Mapping[str, float] = (),
        *,
        seed: int = 0,
        **fields: Any,
    ) -> None:
        made: dict[str, Any] = {
            "schedule": Schedule(faults, SPEAKING, seed=seed),
            "tally": Tally(),
            "hanging": Hanging(),
        }
        super().__init__(**cast("dict[str, Any]", {"inner": inner, **made, **fields}))

    @property
    def _llm_type(self) -> str:
        return "faulty"

    def _resolve_model_profile(self) -> ModelProfile:
        told = getattr(self.inner, "profile", None)
        return told or ModelProfile(text_inputs=True, image_inputs=True, text_outputs=True)

    def release(self) -> None:
        """Let everything end that never would; a thread that is stuck cannot be ended otherwise."""
        self.hanging.release()

    # --- what LangChain calls -----------------------------------------------------------------

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _whole(list(self._said(messages, kwargs)))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _whole([piece async for piece in self._asaid(messages, kwargs)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for piece in self._said(messages, kwargs):
            yield ChatGenerationChunk(message=piece)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for piece in self._asaid(messages, kwargs):
            yield ChatGenerationChunk(message=piece)

    # --- what happens -------------------------------------------------------------------------

    def _said(self, messages: list[BaseMessage], options: Mapping[str, Any]) -> Iterator[AIMessageChunk]:
        kind = self._begin(messages)
        if kind is not None and not kind.ends:
            if not kind.works:
                self.hanging.block()
            else:
                self.tally.work()
                for piece in endless(kind.name):
                    yield piece
                    if not self.hanging.pause(PAUSE_S):
                        break
            raise exception_of("timeout_before", retry_after_s=self.retry_after_s)
        answer: AIMessageChunk | None = None
        if kind is None or kind.works:
            asked = self.inner.invoke(messages, **options) if self._wraps else self.inner(messages)
            answer = as_message(asked)
            self.tally.work()
        yield from self._end(kind, answer)

    async def _asaid(self, messages: list[BaseMessage], options: Mapping[str, Any]) -> AsyncIterator[AIMessageChunk]:
        kind = self._begin(messages)
        if kind is not None and not kind.ends:
            if not kind.works:
                await self.hanging.forever(kind.name)
            else:
                self.tally.work()
                for piece in endless(kind.name):
                    yield piece
                    await asyncio.sleep(PAUSE_S)
                    if self.hanging.released:
                        break
            raise exception_of("timeout_before", retry_after_s=self.retry_after_s)
        answer: AIMessageChunk | None = None
        if kind is None or kind.works:
            asked = await self.inner.ainvoke(messages, **options) if self._wraps else self.inner(messages)
            answer = as_message(asked)
            self.tally.work()
        for piece in self._end(kind, answer):
            yield piece

    @property
    def _wraps(self) -> bool:
        return isinstance(self.inner, BaseChatModel)

    def _begin(self, messages: Sequence[BaseMessage]) -> Kind | None:
        kind = cast("Kind | None", self.schedule.next("\n".join(message.text for message in messages)))
        self.tally.begin(kind)
        return kind

    def _end(self, kind: Kind | None, answer: AIMessageChunk | None) -> Iterator[AIMessageChunk]:
        """What is said, and how it ends. Known to be answered is what is told to its end."""
        if answer is not None:
            yield from in_pieces(instead_of(kind.name if kind else "", answer))
        if kind is None or kind.known != "unsure":
            self.tally.end(kind.known if kind else "answered")
        if answer is None or (kind is not None and kind.known == "unsure"):
            assert kind is not None
            raise exception_of(kind.name, retry_after_s=self.retry_after_s)


def _whole(pieces: Sequence[AIMessageChunk]) -> ChatResult:
    message = pieces[0] if pieces else AIMessageChunk(content="")
    for piece in pieces[1:]:
        message = message + piece
    return ChatResult(generations=[ChatGeneration(message=message)])
