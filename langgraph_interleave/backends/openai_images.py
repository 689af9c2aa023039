"""The backend `openai`: pictures by the OpenAI Images API, or any server that speaks it."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self
from weakref import WeakKeyDictionary

from langgraph_interleave.artifacts import canonical_json
from langgraph_interleave.backends.openai_answer import differences, read_answer
from langgraph_interleave.backends.openai_options import KEY, checked_address, given, host_of, one_of, read_name, within
from langgraph_interleave.backends.openai_sizes import (
    MAX_LONG,
    MAX_SHORT,
    MIN_SIDE,
    MULTIPLE,
    is_standard,
    snapped,
    wanted_size,
)
from langgraph_interleave.errors import CallError, CallTimeout, ConfigError, InvalidRequest
from langgraph_interleave.models.faults import call_error
from langgraph_interleave.models.ready import check_ready
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, OnProgress, Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import ImagesResponse

    from langgraph_interleave.prices import Prices

DEFAULT_MODEL = "gpt-image-2.6-flare"
#: Changes whenever the same request would be sent in another way.
_VERSION = 1
_ADDRESS = "https://api.openai.com/v1"
#: Pictures take minutes; a shorter wait pays for what is not fetched.
_TIMEOUT_S, _CONNECT_S = 600.0, 10.0
_MAX_IMAGES, _MAX_REFERENCES = 10, 16
_MAX_PROMPT, _MAX_FILE = 32_000, 50 * 1024 * 1024
#: Gone from OpenAI's own service.
_RETIRED = frozenset({"dall-e-2", "dall-e-3", "gpt-image-1"})
_FORMATS = ("jpeg", "png", "webp")
_QUALITIES = ("low", "medium", "high", "xhigh", "max", "auto")
#: What sd-server (stable-diffusion.cpp) takes for settings: a model's words must not set any.
_MARKUP = re.compile(r"</?\s*sd_cpp_extra_args\s*>", re.IGNORECASE)
_EXTENSION = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}
OutputFormat = Literal["png", "jpeg", "webp"]


class OpenAIImagesBackend:
    """Draws with an image model of OpenAI, or of any server that speaks its Images API.

    Without references it generates, with references it edits, and sends them in order. Nothing is
    sent twice: the SDK's own retries are off, the ledger resends what was provably not made. The
    size is the nearest one the model takes, and a warning says where that is another one. Seeds
    are ignored: the API has none. The key is sent to whatever `base_url` names.

    Args:
        model: The model; the default is the current one of OpenAI's.
        client: An `AsyncOpenAI` of your own (proxies, Azure); its retries are switched off here.
        api_key: Default: `OPENAI_API_KEY`. Not needed with a `base_url` of your own.
        base_url: Another server, with its path (`http://127.0.0.1:8000/v1`); default: `OPENAI_BASE_URL`,
            else OpenAI's.
        quality: `low`, `medium`, `high`, `xhigh`, `max` or `auto`; by default the model's own.
        background: `transparent`, `opaque` or `auto`.
        output_format: `png`, `jpeg` or `webp`.
        output_compression: 0 to 100, for JPEG and WebP.
        moderation: `low` or `auto`; only generating takes it.
        input_fidelity: `high` or `low`; only editing takes it, and only models before gpt-image-2.
        response_format: `b64_json`, for servers that answer with addresses otherwise. OpenAI's
            own models refuse it.
        max_references: References it takes; fewer than 16 for servers that take fewer.
        concurrency: Calls at once.
        billed: Whether a picture costs money; `False` for a server of your own.
        prices: Default: the built-in table.
        extra_body: Further fields of every request (a server's own: `seed`, `steps`).

    Raises:
        ConfigError: An option is wrong, the model is retired, or there is no key.

    Example:
        >>> OpenAIImagesBackend(api_key="sk-example", quality="low").capabilities.max_references
        16
        >>> OpenAIImagesBackend.from_string("flux?base_url=http://127.0.0.1:1234/v1&billed=no").model
        'flux'
    """

    name = "openai"

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        client: AsyncOpenAI | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        quality: str | None = None,
        background: str | None = None,
        output_format: OutputFormat | None = None,
        output_compression: int | None = None,
        moderation: str | None = None,
        input_fidelity: str | None = None,
        response_format: str | None = None,
        max_references: int = _MAX_REFERENCES,
        concurrency: int = 8,
        billed: bool = True,
        prices: Prices | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model.strip() or DEFAULT_MODEL
        self.billed = billed
        self._what = f"openai:{self.model}"
        self._both = given(
            quality=one_of("quality", quality, _QUALITIES),
            background=one_of("background", background, ("transparent", "opaque", "auto")),
            output_format=one_of("output_format", output_format, _FORMATS),
            output_compression=within("output_compression", output_compression, 0, 100),
            response_format=one_of("response_format", response_format, ("b64_json",)),
        )
        self._generating = given(moderation=one_of("moderation", moderation, ("low", "auto")))
        self._editing = given(input_fidelity=one_of("input_fidelity", input_fidelity, ("high", "low")))
        if background == "transparent" and output_format == "jpeg":
            raise ConfigError("JPEG pictures cannot be transparent.", remedy='Set output_format="png" or "webp".')
        self._extra = dict(extra_body or {})
        self._max_references = within("max_references", max_references, 0, _MAX_REFERENCES) or 0
        self._concurrency = within("concurrency", concurrency, 1, 1000) or 1
        self._prices = prices
        if client is not None and not inspect.iscoroutinefunction(getattr(client, "post", None)):
            raise ConfigError(f"A {type(client).__name__} cannot be awaited.", remedy="Give an openai.AsyncOpenAI.")
        self._given_client = client
        address = str(client.base_url) if client is not None else base_url or os.environ.get("OPENAI_BASE_URL")
        self._base_url = checked_address(address or _ADDRESS)
        self._key = "" if client is not None else self._found_key(api_key)
        if self._official and self.model in _RETIRED:
            raise ConfigError(f"OpenAI has shut {self.model} down.", remedy=f"Use {DEFAULT_MODEL}.")
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = WeakKeyDictionary()
        self._making = threading.Lock()
        sent = {**self._both, **self._generating, **self._editing, "extra": self._extra}
        parameters = hashlib.sha256(canonical_json(sent)).hexdigest()[:8]
        self.fingerprint = f"openai/{_VERSION}/{self.model}@{host_of(self._base_url)}/{parameters}"

    @classmethod
    def from_string(cls, text: str, **options: Any) -> Self:
        """The backend that `openai:<text>` means: a model, and options after a question mark.

        Args:
            text: `model`, or `model?base_url=http://127.0.0.1:8000/v1&quality=low`.
            options: As for the class; they go before those of the text.

        Raises:
            ConfigError: An option is unknown or wrong.
        """
        model, found = read_name(text)
        return cls(model, **{**found, **options})

    def __repr__(self) -> str:
        # Neither key nor extra fields: they may hold one.
        return f"OpenAIImagesBackend({self.model!r}, at {host_of(self._base_url)})"

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        standard = is_standard(self.model)
        return Capabilities(
            generate=True, edit="instruct" if self._max_references else "none", max_references=self._max_references,
            max_images=_MAX_IMAGES, size_multiple=MULTIPLE, min_side=1024 if standard else MIN_SIDE,
            max_pixels=1536 * 1024 if standard else MAX_LONG * MAX_SHORT, seed="ignored", progress="none",
            concurrency=self._concurrency, billed=self.billed,
        )  # fmt: skip

    async def aready(self) -> None:
        """Ask for nothing but whether the key and the model are taken; costs nothing.

        Raises:
            ConfigError: The key is refused, the model is not there, the address is no API's.
            CallError: Nobody answers.
        """
        await check_ready(await self._client(), self.model, role="backend", what=self._what)

    async def aclose(self) -> None:
        """Close the connections of the running event loop. A client of your own stays open."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None and self._given_client is None:
            await client.close()

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw: one request, whatever becomes of it.

        Args:
            request: Prompt (up to 32,000 characters), up to 16 references in order, any size.
            on_progress: Never called: the API does not tell.

        Returns:
            The pictures as they were sent, measured, with tokens and cost. The prompt as the model
            rewrote it, fewer pictures than asked and another size are in the warnings.

        Raises:
            ConfigError: The key or the model is refused.
            CallError: One of its subclasses, by cause.
        """
        self._check(request)
        prompt = request.prompt if self._official else _MARKUP.sub("", request.prompt)
        size = snapped(*wanted_size(request), standard=is_standard(self.model))
        said = () if prompt == request.prompt else ("Settings for the server were taken out of the prompt.",)
        timeout_s = request.timeout_s or _TIMEOUT_S
        client = await self._client()
        try:
            async with asyncio.timeout(timeout_s):
                response: object = await self._send(client, replace(request, prompt=prompt), size, timeout_s)
        except TimeoutError as error:
            raise CallTimeout(
                f"{self._what} did not answer within {timeout_s:g} s.",
                remedy="Allow more time; it may have been billed.", code="timeout",
            ) from error  # fmt: skip
        except Exception as error:  # noqa: BLE001 - each becomes one of ours, or goes on as the bug it is
            self._raise(error)
        try:
            return await asyncio.to_thread(self._result, response, request, size, said)
        except CallError as error:
            # What could not be used was paid for all the same.
            error.usage = None if error.usage is None else self._priced(error.usage)
            raise

    async def _send(
        self, client: AsyncOpenAI, request: ImageRequest, size: tuple[int, int], timeout_s: float
    ) -> ImagesResponse:
        from openai import Timeout

        options: dict[str, Any] = {
            "model": self.model,
            "prompt": request.prompt,
            "n": request.n,
            "size": f"{size[0]}x{size[1]}",
            "timeout": Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
            **self._both,
        }
        if extra := {**self._extra, **request.extra}:
            options["extra_body"] = extra
        if not request.references:
            return await client.images.generate(**options, **self._generating)
        # Bytes alone would go out as application/octet-stream, which is refused.
        files = [
            (f"ref{index}.{_EXTENSION[image.mime]}", image.data, image.mime)
            for index, image in enumerate(request.references)
        ]
        # One file goes as `image`, which servers that take one only understand.
        return await client.images.edit(image=files if len(files) > 1 else files[0], **options, **self._editing)

    async def _client(self) -> AsyncOpenAI:
        """The client of the running loop: connections do not outlive theirs."""
        loop = asyncio.get_running_loop()
        # Importing the SDK and reading certificates takes a second the first time; others go on meanwhile.
        return self._clients.get(loop) or await asyncio.to_thread(self._make_client, loop)

    def _make_client(self, loop: asyncio.AbstractEventLoop) -> AsyncOpenAI:
        with self._making:
            if loop not in self._clients:
                if self._given_client is not None:
                    self._clients[loop] = self._given_client.with_options(max_retries=0)
                else:
                    from openai import AsyncOpenAI

                    self._clients[loop] = AsyncOpenAI(api_key=self._key, base_url=self._base_url, max_retries=0)
            return self._clients[loop]

    def _check(self, request: ImageRequest) -> None:
        if not 1 <= request.n <= _MAX_IMAGES:
            raise InvalidRequest(
                f"{request.n} pictures cannot be drawn in one call.", remedy=f"Ask for 1 to {_MAX_IMAGES}."
            )
        if len(request.references) > self._max_references:
            raise InvalidRequest(
                f"{len(request.references)} references are too many for {self._what}.",
                remedy=f"Give at most {self._max_references}.",
            )
        if not request.prompt.strip() or len(request.prompt) > _MAX_PROMPT:
            raise InvalidRequest(
                f"A prompt of {len(request.prompt)} characters cannot be drawn.",
                remedy=f"Give 1 to {_MAX_PROMPT} characters.",
            )
        for side in (request.width, request.height):
            if side is not None and side < 1:
                raise InvalidRequest(f"A side of {side} pixels cannot be drawn.", remedy="Give 1 or more.")
        for index, image in enumerate(request.references):
            if image.mime not in _EXTENSION or len(image.data) > _MAX_FILE:
                raise InvalidRequest(
                    f"Reference {index} ({image!r}) is not taken by {self._what}.",
                    remedy="Give PNG, JPEG or WebP of at most 50 MB.",
                )

    def _result(
        self, response: object, request: ImageRequest, size: tuple[int, int], said: tuple[str, ...]
    ) -> ImageResult:
        answer = read_answer(response, what=self._what)
        return ImageResult(
            answer.images,
            usage=self._priced(answer.usage),
            warnings=(*differences(answer, request, size, model=self.model), *said),
            model=self._what,
        )

    def _priced(self, usage: Usage) -> Usage:
        if not self.billed:
            return usage.model_copy(update={"cost_usd": 0.0})
        if self._prices is None:
            from langgraph_interleave.prices import Prices

            self._prices = Prices.default()
        return self._prices.priced(self.model, usage)

    def _raise(self, error: Exception) -> NoReturn:
        found = call_error(error, role="backend", what=self._what)
        if found is None:
            raise error
        # What was wrong with a key may quote it.
        raise found from None if isinstance(found, ConfigError) else error

    @property
    def _official(self) -> bool:
        return host_of(self._base_url) == "api.openai.com"

    def _found_key(self, api_key: str | None) -> str:
        key = (api_key if api_key is not None else os.environ.get(KEY, "")).strip()
        if not key and self._official:
            raise ConfigError(f"{self._what} needs a key, and {KEY} is not set.", remedy=f"Set {KEY}, or pass api_key.")
        if not key.isascii() or not key.isprintable():
            raise ConfigError(f"{KEY} holds characters no key has.", remedy="Copy it again, without quotes.")
        # Servers of one's own ask for none; the SDK does.
        return key or "none"
