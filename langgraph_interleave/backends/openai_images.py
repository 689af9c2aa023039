"""The backend `openai`: pictures by the OpenAI Images API, or any server that speaks it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

from langgraph_interleave.backends.openai_answer import differences, pictures_of, read_answer
from langgraph_interleave.backends.openai_client import Clients, authorization, found_key, secrets_of
from langgraph_interleave.backends.openai_options import (
    IN_NAME,
    checked_address,
    checked_settings,
    host_of,
    read_name,
    within,
)
from langgraph_interleave.backends.openai_profiles import profile_of, told_by
from langgraph_interleave.backends.openai_routes import missing_route
from langgraph_interleave.backends.openai_sending import Sending, check_request, lay_out, refused_field
from langgraph_interleave.backends.openai_sizes import bounds, is_standard
from langgraph_interleave.backends.openai_stream import is_stream, read_stream
from langgraph_interleave.backends.references import check_references
from langgraph_interleave.errors import CallError, CallTimeout, ConfigError
from langgraph_interleave.imaging import provenance
from langgraph_interleave.models.cleaning import cleaning
from langgraph_interleave.models.faults import call_error
from langgraph_interleave.models.ready import check_ready
from langgraph_interleave.secrecy import secrets_in
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, OnProgress, Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from langgraph_interleave.prices import Prices

DEFAULT_MODEL = "gpt-image-2.6-flare"
#: Changes whenever the same request would be sent in another way.
_VERSION = 2
_ADDRESS = "https://api.openai.com/v1"
#: Pictures take minutes; a shorter wait pays for what is not fetched.
_TIMEOUT_S, _CONNECT_S = 600.0, 10.0
#: Gone from OpenAI's own service.
_RETIRED = frozenset({"dall-e-2", "dall-e-3", "gpt-image-1"})
OutputFormat = Literal["png", "jpeg", "webp"]


class OpenAIImagesBackend:
    """Draws with an image model of OpenAI, or of any server that speaks its Images API.

    Without references it generates, with references it edits, and sends them in order. Nothing is
    sent twice: the SDK's own retries are off, the ledger resends what was provably not made. (One
    thing is: where a server refuses or demands a field that is optional, the request is sent again
    without or with it, and so are all later ones.) The size is the nearest one the model takes, and
    a warning says where that is another one. The key is sent to whatever `base_url` names. A picture
    answered as an address is fetched at once, from the server's own origin or a public one; the key
    goes to the former only. A cancelled call lets go of the connection at once; whether the server
    stops as well, the API does not say. Signed pictures (C2PA) are kept byte for byte, and the result says so.

    Compatible servers differ in what they take: `profile` says how, see `openai_profiles`. Seeds and
    words for what must not be there are sent where the profile has a way for them, else ignored
    (OpenAI's API knows no seeds).

    Args:
        model: The model; the default is the current one of OpenAI's.
        client: An `AsyncOpenAI` of your own (proxies, Azure); its retries are switched off here.
        api_key: Default: `OPENAI_API_KEY`. Not needed with a `base_url` of your own.
        base_url: Another server, with its path (`http://127.0.0.1:8000/v1`); default: `OPENAI_BASE_URL`,
            else OpenAI's.
        profile: `openai`, `vllm-omni`, `sglang`, `localai`, `sdcpp`, `ollama` or `generic`; by default
            told from `base_url`, which is `generic` for most servers of one's own.
        quality: `low`, `medium`, `high`, `xhigh`, `max` or `auto`; by default the model's own. That of
            a request (draft, standard, high) goes before it, as low, medium, high.
        background: `transparent`, `opaque` or `auto`.
        output_format: `png`, `jpeg` or `webp`.
        output_compression: 0 to 100, for JPEG and WebP.
        moderation: `low` or `auto`; only generating takes it.
        input_fidelity: `high` or `low`; only editing takes it, and only models before gpt-image-2.
        response_format: `b64_json`, for servers that answer with addresses otherwise. OpenAI's
            own models refuse it.
        partial_images: Previews of each picture while it is drawn, 0 to 3, for whoever passes
            `on_progress`; each is billed. Only where one picture is asked for.
        max_references: References the model takes; by default as many as the server does, 16 mostly. 0 for
            a server that generates only: then no step is planned as an edit.
        max_prompt_tokens: Longest prompt the model reads; a longer one loses words from its middle.
        max_pixels: Largest area that is asked for, in pixels: a server of one's own may run out of memory
            on more than its model was made for. Default: what OpenAI's API allows.
        concurrency: Calls at once; by default 8, and 1 for servers that draw one after the other.
        billed: Whether a picture costs money; by default not where the profile is that of a server
            of one's own.
        prices: Default: the built-in table.
        extra_body: Further fields of every request (a server's own: `steps`, `guidance_scale`). With
            the profile `sdcpp` they go where that server reads its settings.

    Raises:
        ConfigError: An option is wrong, the model is retired, or there is no key.

    Example:
        >>> OpenAIImagesBackend(api_key="sk-example", quality="low").capabilities.max_references
        16
        >>> own = OpenAIImagesBackend.from_string("flux?base_url=http://127.0.0.1:1234/v1&profile=sdcpp")
        >>> own.model, own.capabilities.seed, own.capabilities.billed
        ('flux', 'exact', False)
    """

    name = "openai"
    written = "openai, openai:gpt-image-2.6-flare or openai:MODEL?base_url=http://127.0.0.1:8000/v1"
    in_name = frozenset(IN_NAME)

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        client: AsyncOpenAI | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        profile: str | None = None,
        quality: str | None = None,
        background: str | None = None,
        output_format: OutputFormat | None = None,
        output_compression: int | None = None,
        moderation: str | None = None,
        input_fidelity: str | None = None,
        response_format: str | None = None,
        partial_images: int = 0,
        max_references: int | None = None,
        max_prompt_tokens: int | None = None,
        max_pixels: int | None = None,
        concurrency: int | None = None,
        billed: bool | None = None,
        prices: Prices | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model.strip() or DEFAULT_MODEL
        self._what = f"openai:{self.model}"
        address = str(client.base_url) if client is not None else base_url or os.environ.get("OPENAI_BASE_URL")
        self._base_url = checked_address(address or _ADDRESS)
        self.profile = profile_of(profile, self._base_url)
        self._settings = checked_settings(
            self.model, self.profile, quality=quality, background=background, output_format=output_format,
            output_compression=output_compression, moderation=moderation, input_fidelity=input_fidelity,
            response_format=response_format, partial_images=partial_images, max_references=max_references,
            max_prompt_tokens=max_prompt_tokens, max_pixels=max_pixels, extra_body=extra_body,
        )  # fmt: skip
        self.billed = self.profile.billed if billed is None else billed
        self._concurrency = within("concurrency", concurrency, 1, 1000) or self.profile.concurrency
        #: Prices of its own; the built-in ones by default.
        self.prices = prices
        key = "" if client is not None else found_key(api_key, what=self._what, needed=self._official)
        self._clients = Clients(client, key=key, base_url=self._base_url)
        self._secrets = secrets_of(client) | secrets_in(key, dict(extra_body or {}))
        if self._official and self.model in _RETIRED:
            raise ConfigError(f"OpenAI has shut {self.model} down.", remedy=f"Use {DEFAULT_MODEL}.")
        #: What this server has refused or demanded of the optional fields.
        self._dropped: set[str] = set()
        self._demanded = False
        #: The server has drawn with this model.
        self._drew = False
        self.fingerprint = f"openai/{_VERSION}/{self.model}@{host_of(self._base_url)}/{self._settings.digest}"

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
        profile, references = self.profile, self._settings.max_references
        sizes = bounds(standard=is_standard(self.model), multiple=profile.size_multiple, most=self._settings.max_pixels)
        has_seed = profile.seed != "none" and "seed" not in self._dropped
        previews = self._settings.partial_images and profile.stream and "stream" not in self._dropped
        return replace(
            sizes, generate=True, edit="instruct" if references else "none", max_references=references,
            max_images=profile.max_images, seed="exact" if has_seed else "ignored",
            negative_prompt=profile.negative != "none" and "negative_prompt" not in self._dropped,
            mask=profile.mask and references > 0, transparent=profile.transparent,
            progress="previews" if previews else "none", cancel="cooperative",
            max_prompt_tokens=self._settings.max_prompt_tokens, concurrency=self._concurrency, billed=self.billed,
        )  # fmt: skip

    async def aready(self) -> None:
        """Ask for nothing but whether the key and the model are taken; costs nothing.

        Raises:
            ConfigError: The key is refused, the model is not there, the address is no API's.
            CallError: Nobody answers.
        """
        await check_ready(await self._clients.of_this_loop(), self.model, role="backend", what=self._what)

    async def aprofile(self) -> str | None:
        """Ask the server's list of models who it is; costs nothing and changes nothing.

        Returns:
            The profile to name in `profile=`, or `None` where the server does not say.

        Raises:
            ConfigError: The key is refused.
            CallError: Nobody answers.
        """
        try:
            found: object = await (await self._clients.of_this_loop()).get("/models", cast_to=object)
        except Exception as error:  # noqa: BLE001 - each becomes one of ours, or goes on as the bug it is
            if getattr(error, "status_code", None) in (404, 405, 501):
                return None
            self._raise(error)
        return told_by(found) if isinstance(found, Mapping) else None

    async def aclose(self) -> None:
        """Close the connections of the running event loop. A client of your own stays open."""
        await self._clients.aclose()

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw: one request, whatever becomes of it.

        Several pictures with a seed are one request each where the server would draw them all from one.

        Args:
            request: Prompt (words beyond what is read are left out), references in order, any size.
            on_progress: Told of previews, where `partial_images` are asked for.

        Returns:
            The pictures as they were sent, measured, with tokens and cost. The prompt as the model
            rewrote it, fewer pictures than asked and another size are in the warnings.

        Raises:
            ConfigError: The key or the model is refused.
            CallError: One of its subclasses, by cause.
        """
        # Some servers leave a reference they cannot read out without a word.
        await check_references(request.references, what=self._what, most=self._settings.max_references)
        await asyncio.to_thread(check_request, request, self._settings, what=self._what)
        with cleaning(lambda: self._secrets):
            if request.n > 1 and request.seed is not None and self.profile.seed == "field":
                seeds = [(request.seed + i) % 2**32 for i in range(request.n)]
                return await self._each([replace(request, n=1, seed=seed) for seed in seeds])
            return await self._drawn(request, on_progress)

    async def _each(self, requests: Sequence[ImageRequest]) -> ImageResult:
        """Draw each; what cannot be drawn is told, unless it is all of them."""
        done = await asyncio.gather(*(self._drawn(request, None) for request in requests), return_exceptions=True)
        results = [one for one in done if isinstance(one, ImageResult)]
        errors = [one for one in done if isinstance(one, BaseException)]
        bugs = [error for error in errors if not isinstance(error, CallError)]
        if bugs or not results:
            raise (bugs or errors)[0]
        lost = [f"A picture could not be drawn. {error}" for error in errors]
        return ImageResult(
            tuple(image for one in results for image in one.images),
            usage=sum((one.usage for one in results[1:]), results[0].usage),
            warnings=tuple(dict.fromkeys([*(words for one in results for words in one.warnings), *lost])),
            model=self._what, signed=any(one.signed for one in results),
        )  # fmt: skip

    async def _drawn(self, request: ImageRequest, on_progress: OnProgress | None) -> ImageResult:
        """Draw with one request, and one more for each field the server has to say something about."""
        timeout_s = request.timeout_s or _TIMEOUT_S
        client = await self._clients.of_this_loop()
        usage: Usage | None = None
        try:
            async with asyncio.timeout(timeout_s):
                sending, response = await self._sent(client, request, timeout_s, on_progress)
                answer = read_answer(response, what=self._what)
                usage = answer.usage
                images, lost = await pictures_of(
                    answer, what=self._what, base_url=self._base_url, headers=authorization(client),
                    seeds=self._seeds(sending, len(answer.told)), most=request.n, timeout_s=timeout_s,
                )  # fmt: skip
                said = await asyncio.to_thread(
                    differences, images, answer, request, size=sending.size, prompt=sending.options["prompt"],
                    model=self.model,
                )  # fmt: skip
                signed = await asyncio.to_thread(lambda: any(provenance.read(image.data).signed for image in images))
        except TimeoutError as error:
            raise CallTimeout(
                f"{self._what} did not answer within {timeout_s:g} s.",
                remedy="Allow more time; it may have been billed.", code="timeout",
                usage=None if usage is None else self._priced(usage),
            ) from error  # fmt: skip
        except CallError as error:
            # What could not be used was paid for all the same.
            used = error.usage or usage
            error.usage = None if used is None else self._priced(used)
            raise
        except Exception as error:  # noqa: BLE001 - each becomes one of ours, or goes on as the bug it is
            self._raise(error)
        return ImageResult(
            images, usage=self._priced(answer.usage), warnings=(*said, *sending.said, *lost), model=self._what,
            signed=signed,
        )  # fmt: skip

    async def _sent(
        self, client: AsyncOpenAI, request: ImageRequest, timeout_s: float, on_progress: OnProgress | None
    ) -> tuple[Sending, object]:
        """Send, and once more for each optional field that the server turns out to refuse or demand."""
        while True:
            sending = lay_out(
                request, self._settings, dropped=self._dropped, demanded=self._demanded, stream=on_progress is not None
            )
            try:
                response: Any = await self._send(client, sending, timeout_s)
            except Exception as error:
                # A refused request was not worked on: nothing is paid twice.
                if self._learned(refused_field(error, sending.fields), sending):
                    continue
                missing = missing_route(
                    error, edits=sending.edits, drew=self._drew, host=host_of(self._base_url), model=self.model
                )
                if missing is None:
                    raise
                raise missing from error
            self._drew = self._drew or not sending.edits
            if sending.stream and on_progress is not None and hasattr(response, "response"):
                if not is_stream(response):
                    # It knows of no streams: later requests ask for none.
                    self._dropped.add("stream")
                response = await read_stream(
                    response, what=self._what, partial_images=self._settings.partial_images, on_progress=on_progress
                )
            return sending, response

    def _learned(self, field: str | None, sending: Sending) -> bool:
        """Remember what the server said about a field; whether that is news."""
        if field is None:
            return False
        if field in sending.fields:
            self._dropped.add(field)
            return True
        news = not self._demanded and field not in self._dropped
        self._demanded = True
        return news

    async def _send(self, client: AsyncOpenAI, sending: Sending, timeout_s: float) -> object:
        from openai import Timeout

        options: dict[str, Any] = {**sending.options, "timeout": Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s))}
        return await (client.images.edit if sending.edits else client.images.generate)(**options)

    def _seeds(self, sending: Sending, count: int) -> tuple[int | None, ...]:
        if sending.seed is None:
            return (None,) * count
        return tuple((sending.seed + i) % 2**32 for i in range(count))

    def _priced(self, usage: Usage) -> Usage:
        if not self.billed:
            return usage.model_copy(update={"cost_usd": 0.0})
        if self.prices is None:
            from langgraph_interleave.prices import Prices

            self.prices = Prices.default()
        return self.prices.priced(self.model, usage)

    def _raise(self, error: Exception) -> NoReturn:
        found = call_error(error, role="backend", what=self._what, secrets=self._secrets)
        if found is None:
            raise error
        # What was wrong with a key may quote it.
        raise found from None if isinstance(found, ConfigError) else error

    @property
    def _official(self) -> bool:
        return host_of(self._base_url) == "api.openai.com"
