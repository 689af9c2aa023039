"""The backend `chat_model`: any LangChain chat model that returns pictures."""

from __future__ import annotations

import asyncio
from typing import Any, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable

from langgraph_interleave.backends.chat_answer import Drawn, read_drawn
from langgraph_interleave.backends.chat_aside import answers, aside
from langgraph_interleave.backends.chat_options import draws_by_tool, has_image_tool, told_to_draw
from langgraph_interleave.backends.references import check_references
from langgraph_interleave.errors import BadResponse, CallTimeout, ConfigError, InvalidRequest
from langgraph_interleave.models.faults import call_error
from langgraph_interleave.models.forms import ability
from langgraph_interleave.models.hydration import hydrating, showing
from langgraph_interleave.models.identity import fingerprint_of, innermost, name_of
from langgraph_interleave.models.messages import picture_part, text_part
from langgraph_interleave.models.naming import chat_model, named_model
from langgraph_interleave.models.options import read_options
from langgraph_interleave.models.pricing import costs_of
from langgraph_interleave.models.ready import check_ready
from langgraph_interleave.models.usage import model_name, usage_of
from langgraph_interleave.models.wrapping import chat_models, settled
from langgraph_interleave.prices import Costs
from langgraph_interleave.secrecy import secrets_in
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, OnProgress, Usage

#: Changes whenever the same request would be asked in another way.
_VERSION = 1
_TIMEOUT_S = 600.0
_MAX_REFERENCES, _MAX_SIDE = 16, 4096
#: How much a shape may differ before it is said.
_SHAPE = 0.03
_OPTIONS: dict[str, Any] = {"billed": bool, "concurrency": int, "max_references": int}


class ChatModelImageBackend:
    """Draws with a chat model that returns pictures: Gemini, OpenAI's Responses, models behind a router.

    Every request stands alone: the prompt and the references in order are one new message, so nothing
    of an earlier answer has to be sent back. Of several pictures the last one counts; those before it
    are drafts. References go into the message inside the call, and pictures come out beside it:
    callbacks and tracers see neither. Size and shape are asked for where the provider has a setting,
    and in words; the picture that came is measured, and a warning says where it is another size.
    Chat models of OpenAI's own get the tool that draws bound, unless you bound it yourself.

    Args:
        model: A LangChain chat model, or its name: `google_genai:gemini-3.1-flash-image`,
            `openai:gpt-5`, `openai:google/gemini-3-pro-image?base_url=https://openrouter.ai/api/v1`.
        max_references: References it takes; Gemini 2.5 takes about three.
        prices: To know what a call costs: a table, or a file that goes before the built-in one.
        billed: Whether a call costs money; if not, its cost is 0 and no table is asked.
        concurrency: Calls at once.

    Raises:
        ConfigError: The model is unknown, its key is missing, or it is known to return no pictures.

    Example:
        >>> from langchain_core.language_models import FakeMessagesListChatModel
        >>> dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGM4AQAAygDJmcpdfgAAAABJRU5ErkJggg=="
        >>> answer = AIMessage([{"type": "image", "base64": dot, "mime_type": "image/png"}])
        >>> backend = ChatModelImageBackend(FakeMessagesListChatModel(responses=[answer]), billed=False)
        >>> asyncio.run(backend.agenerate(ImageRequest("a dot"))).images[0]
        ImageBytes(image/png, 1x1, 67 bytes)
    """

    name = "chat_model"
    written = "chat_model:PROVIDER:MODEL, as in chat_model:google_genai:gemini-3-pro-image"
    in_name = frozenset(_OPTIONS)

    def __init__(
        self,
        model: BaseChatModel | Runnable[Any, Any] | str,
        *,
        max_references: int = 8,
        prices: Costs | str | None = None,
        billed: bool = True,
        concurrency: int = 4,
    ) -> None:
        if not 0 <= max_references <= _MAX_REFERENCES or not 1 <= concurrency <= 1000:
            raise ConfigError(
                f"max_references={max_references}, concurrency={concurrency} of backend 'chat_model' is out of range.",
                remedy=f"Give 0 to {_MAX_REFERENCES} references, and 1 to 1000 calls at once.",
            )
        self.model = chat_model(model) if isinstance(model, str) else model
        self.billed = billed
        self._max_references, self._concurrency = max_references, concurrency
        self.prices = costs_of(prices, billed=billed)
        plain = settled(self.model)
        self._asked = aside(hydrating(plain))
        self._bound = has_image_tool(plain)
        by_tool = self._bound or any(draws_by_tool(one) for one in chat_models(plain))
        self._what = f"chat_model:{name_of(self.model)}"
        if not by_tool and ability(plain, "image_outputs") is False:
            raise ConfigError(
                f"{name_of(self.model)} answers in words only: its profile says that it returns no pictures.",
                remedy="Give a model that draws (gemini-3.1-flash-image, an OpenAI model), or the backend svg, "
                "with which any model that writes can draw.",
            )
        told = fingerprint_of(self.model, role="backend", chat_model=_VERSION)
        self.fingerprint = f"chat_model/{told}"

    @classmethod
    def from_string(cls, text: str, **options: Any) -> Self:
        """The backend that `chat_model:provider:model?option=value` means; options of both alike.

        Example:
            >>> text = "openai:m?base_url=http://127.0.0.1:8000/v1&max_references=2&billed=false"
            >>> ChatModelImageBackend.from_string(text).capabilities.max_references
            2
        """
        model, written = named_model(text, _OPTIONS)
        return cls(model, **{**read_options(text, written, _OPTIONS), **options})

    def __repr__(self) -> str:
        return f"ChatModelImageBackend({name_of(self.model)!r})"

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return Capabilities(
            generate=True, edit="instruct" if self._max_references else "none", max_references=self._max_references,
            max_pixels=_MAX_SIDE * _MAX_SIDE, negative_prompt=True, cancel="cooperative",
            concurrency=self._concurrency, billed=self.billed,
        )  # fmt: skip

    async def aready(self) -> None:
        """Find out whether key and server are right, where that costs nothing.

        Raises:
            ConfigError: The key is refused, or the model is not there.
            Unavailable: Nobody answers.
        """
        inner = innermost(self._asked)
        client = getattr(inner, "root_async_client", None)
        if callable(getattr(client, "with_options", None)):
            await check_ready(client, name_of(inner), role="backend", what=self._what)

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Ask for one picture: one call, whatever becomes of it.

        Args:
            request: Prompt, references in order, the size to ask for.
            on_progress: Never called: chat models do not tell.

        Returns:
            The picture as it was sent, measured; the words beside it; tokens and cost.

        Raises:
            ContentBlocked: It was refused, by moderation or in words.
            NoImage: There were only words; they are in the detail.
            BadResponse: The picture is broken, or only its address came.
            CallTimeout: No answer in time.
            CallError: Another of its subclasses, by cause.
        """
        self._check(request)
        await check_references(request.references, what=self._what, most=self._max_references)
        timeout_s = request.timeout_s or _TIMEOUT_S
        runnable, unsaid = told_to_draw(self._asked, request, bound=self._bound)
        try:
            async with asyncio.timeout(timeout_s):
                with answers() as whole, showing(request.references):
                    passed_on: object = await runnable.ainvoke([_message(request)])
        except TimeoutError as error:
            raise CallTimeout(
                f"{self._what} did not answer within {timeout_s:g} s.",
                remedy="Allow more time; it may have been billed.", code="timeout",
            ) from error  # fmt: skip
        except Exception as error:  # each becomes one of ours, or goes on as the bug it is
            ours = call_error(error, role="backend", what=self._what, secrets=secrets_in(*chat_models(self.model)))
            if ours is None or ours is error:
                raise
            # What was wrong with a key may quote it.
            raise ours from None if isinstance(ours, ConfigError) else error
        message = whole[-1] if whole else passed_on
        if whole and isinstance(passed_on, AIMessage):
            # LangChain adds what the provider counted once the model has returned.
            message = whole[-1].model_copy(update={"response_metadata": passed_on.response_metadata})
        if not isinstance(message, AIMessage):
            raise BadResponse(
                f"{self._what} answered with a {type(message).__name__}.", remedy="Give the model without a parser."
            )
        drawn = await asyncio.to_thread(read_drawn, message, what=self._what, usage=self._usage(message))
        usage = self._usage(message, images=1)
        return ImageResult(
            (drawn.image,), text=drawn.text, usage=usage, model=model_name(message) or self._what,
            warnings=(*_differences(drawn, request, self._what), *unsaid), signed=drawn.signed,
        )  # fmt: skip

    def _usage(self, message: AIMessage, *, images: int = 0) -> Usage:
        used = usage_of(message).model_copy(update={"images": images})
        if not self.billed:
            return used.model_copy(update={"cost_usd": 0.0})
        cost = self.prices.cost(model_name(message) or name_of(self.model), used)
        return used if cost is None else used.model_copy(update={"cost_usd": cost})

    def _check(self, request: ImageRequest) -> None:
        if request.n != 1:
            raise InvalidRequest(f"{self._what} draws one picture a call, not {request.n}.", remedy="Set n=1.")
        if not request.prompt.strip():
            raise InvalidRequest("An empty prompt cannot be drawn.", remedy="Say what the picture must show.")
        if request.mask is not None:
            raise InvalidRequest(f"{self._what} takes no mask.", remedy="Say in the prompt what may change.")
        for side in (request.width, request.height):
            if side is not None and not 1 <= side <= _MAX_SIDE:
                raise InvalidRequest(f"A side of {side} pixels cannot be drawn.", remedy=f"Give 1 to {_MAX_SIDE}.")


def _message(request: ImageRequest) -> HumanMessage:
    """The prompt, and every reference under its name: one message, on which nothing earlier bears."""
    words = [request.prompt.strip()]
    if request.negative_prompt and request.negative_prompt.strip():
        words.append(f"The picture must not show: {request.negative_prompt.strip()}")
    if request.width and request.height:
        words.append(f"Make the picture {request.width} by {request.height} pixels.")
    parts = [text_part("\n\n".join(words))]
    for number, reference in enumerate(request.references, 1):
        parts += [text_part(f"Image {number}:"), picture_part(reference)]
    return HumanMessage(content=list(parts))


def _differences(drawn: Drawn, request: ImageRequest, what: str) -> tuple[str, ...]:
    image, said = drawn.image, []
    if (request.width or image.width, request.height or image.height) != (image.width, image.height):
        asked = f"{request.width or 'any'}x{request.height or 'any'}"
        said.append(f"{asked} was asked for; {what} drew {image.width}x{image.height}.")
    elif request.references and not (request.width or request.height):
        first = request.references[0]
        if abs(image.width * first.height / (image.height * first.width) - 1) > _SHAPE:
            said.append(
                f"{what} drew {image.width}x{image.height}: another shape than the first reference "
                f"({first.width}x{first.height})."
            )
    if drawn.revised and drawn.revised != request.prompt:
        said.append(f"{what} drew another prompt: {drawn.revised}")
    return tuple(said)
