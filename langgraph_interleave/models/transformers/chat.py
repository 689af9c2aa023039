"""A LangChain chat model over weights on this machine."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, Literal, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import agenerate_from_stream, generate_from_stream
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import Field, PrivateAttr, field_validator

from langgraph_interleave.models.transformers.generating import Asked, Ended, answer
from langgraph_interleave.models.transformers.loaded import Lease, Loaded, Wanted
from langgraph_interleave.models.transformers.placement import check_name, dtype_name
from langgraph_interleave.models.transformers.source import Source, read_source
from langgraph_interleave.models.transformers.turns import Turn, turns_of

#: A piece of text, or the end, or what went wrong.
_Said = str | Ended | BaseException


class TransformersChat(BaseChatModel):
    """A language model, or one that sees, run by transformers in this process.

    Making it is cheap: nothing is imported or loaded before the first call. Whoever names the same weights,
    device and numbers shares one copy in memory; it answers one question after another. The beginning that a
    prompt shares with an earlier one is not read again. What the model says is passed on token by token, its
    thinking in tags as it writes them.

    Not guaranteed: the same answer to the same question, unless `temperature` is 0 or there is a `seed`, and
    even then only on the same machine and with the same libraries.

    Args:
        model: A folder with a checkpoint, or `organisation/model` of the Hugging Face Hub.
        revision: Branch, tag or commit, for one of the hub.
        device: `auto`, `cuda`, `cuda:1`, `xpu`, `mps`, `cpu`, or `spread` over all there are.
        dtype: `auto` (as stored), `bfloat16`, `float16` or `float32`.
        quantization: `4bit` or `8bit` (bitsandbytes); checkpoints that are quantised need none.
        thinking: Whether it thinks first, where its template has the choice; `None` for the template's own way.
        max_new_tokens: Most tokens of an answer, thinking included.
        temperature: 0 takes the likeliest token; by default as the model's authors recommend.
        top_p: As `temperature`.
        top_k: As `temperature`.
        seed: For the same choice each time.
        stop: The answer ends before the first of these.
        prefix_slots: Prompts whose beginnings are remembered, each in as much memory as its tokens take (about
            0.15 MB a token for 8 billion parameters); 0 for none.

    Raises:
        ConfigError: There is no such folder, it holds no model, or an option makes no sense.

    Example:
        >>> from langgraph_interleave.errors import ConfigError
        >>> try:
        ...     TransformersChat(model="./no-such-folder")
        ... except ConfigError as error:
        ...     print(error.message)
        There is no folder ./no-such-folder.
    """

    model: str
    revision: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    quantization: Literal["4bit", "8bit"] | None = None
    thinking: bool | None = None
    max_new_tokens: int = Field(default=4096, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=10)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=0)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    stop: list[str] | None = None
    prefix_slots: int = Field(default=2, ge=0, le=64)

    _source: Source = PrivateAttr()
    _lease: Lease = PrivateAttr()

    @field_validator("device")
    @classmethod
    def _known_device(cls, value: str) -> str:
        return check_name(value)

    @field_validator("dtype", mode="before")
    @classmethod
    def _known_dtype(cls, value: Any) -> str:
        return dtype_name(str(value))

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    def model_post_init(self, context: Any, /) -> None:
        """Look at what the name means; nothing is loaded."""
        super().model_post_init(context)
        self._source = read_source(self.model, self.revision)
        if self.profile is None:
            self.profile = cast("Any", _profile(self._source, self.max_new_tokens))
        self._lease = Lease(
            Wanted(
                self._source.path, self.revision, self._source.identity, self.device, self.dtype, self.quantization,
                self.prefix_slots,
            )
        )  # fmt: skip

    @property
    def _llm_type(self) -> str:
        return "transformers-chat"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.model, "dtype": self.dtype, "quantization": self.quantization, **self.lc_attributes}

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """It can describe itself: its parameters are part of the ledger's key."""
        return True

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """What else the answer depends on: the weights in that place."""
        return {"weights": self._source.identity}

    def close(self) -> None:
        """Let go of the model; it leaves memory once nobody holds it. The next call loads it again."""
        self._lease.close()

    # --- calls ----------------------------------------------------------------------------------

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        return generate_from_stream(self._stream(messages, stop, run_manager, **kwargs))

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:  # fmt: skip
        turns, asked = turns_of(messages), self._asked(stop, kwargs)
        said: queue.SimpleQueue[_Said] = queue.SimpleQueue()
        stopped = threading.Event()
        under_way = _started(self._lease.loaded(), turns, asked, said.put, stopped)
        try:
            while True:
                chunk = self._chunk(said.get())
                if run_manager is not None and chunk.text:
                    run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk
                if chunk.message.response_metadata:
                    return
        finally:
            stopped.set()
            under_way.cancel()

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:  # fmt: skip
        loop = asyncio.get_running_loop()
        turns = await asyncio.to_thread(turns_of, messages)
        asked = self._asked(stop, kwargs)
        said: asyncio.Queue[_Said] = asyncio.Queue()
        stopped = threading.Event()

        def tell(one: _Said) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(said.put_nowait, one)

        loaded = await asyncio.to_thread(self._lease.loaded)
        under_way = _started(loaded, turns, asked, tell, stopped)
        try:
            while True:
                chunk = self._chunk(await said.get())
                if run_manager is not None and chunk.text:
                    await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk
                if chunk.message.response_metadata:
                    return
        finally:
            stopped.set()
            under_way.cancel()

    def _asked(self, stop: list[str] | None, options: dict[str, Any]) -> Asked:
        """How to answer this call: what was bound goes before what the model was made with."""
        return Asked(
            what=self.model,
            thinking=options.get("thinking", self.thinking),
            most=options.get("max_new_tokens") or options.get("max_tokens") or self.max_new_tokens,
            stops=stop if stop is not None else self.stop or (),
            temperature=options.get("temperature", self.temperature),
            top_p=options.get("top_p", self.top_p),
            top_k=options.get("top_k", self.top_k),
            seed=options.get("seed", self.seed),
        )

    def _chunk(self, said: _Said) -> ChatGenerationChunk:
        if isinstance(said, BaseException):
            raise said
        if isinstance(said, str):
            return ChatGenerationChunk(message=AIMessageChunk(content=said))
        metadata: dict[str, Any] = {"finish_reason": said.reason, "model_name": self.model}
        if said.seed is not None:
            metadata["seed"] = said.seed
        usage: Any = {
            "input_tokens": said.read,
            "output_tokens": said.said,
            "total_tokens": said.read + said.said,
            "input_token_details": {"cache_read": said.reused, "image": said.of_pictures},
        }
        message = AIMessageChunk(content="", response_metadata=metadata, usage_metadata=usage, chunk_position="last")
        return ChatGenerationChunk(message=message, generation_info={"finish_reason": said.reason})


def _started(
    loaded: Loaded, turns: Sequence[Turn], asked: Asked, tell: Callable[[_Said], None], stopped: threading.Event
) -> Future[None]:
    """Have an answer given in the model's turn; everything that comes of it is told, its failure as well."""

    def work() -> None:
        if stopped.is_set():
            return
        try:
            tell(answer(loaded, turns, asked, tell, stopped))
        except BaseException as error:  # noqa: BLE001 - raised again where the answer is waited for
            tell(error)

    return loaded.submit(work)


def _profile(source: Source, most: int) -> dict[str, Any]:
    profile: dict[str, Any] = {
        "name": source.path, "open_weights": True, "text_inputs": True, "text_outputs": True, "image_outputs": False,
        "image_url_inputs": False, "max_output_tokens": most, "structured_output": False, "tool_calling": False,
    }  # fmt: skip
    if (sees := source.takes_pictures) is not None:
        profile["image_inputs"] = sees
    if (context := source.context) is not None:
        profile["max_input_tokens"] = context
    return profile
