"""The backend `hf_inference`: image models of Hugging Face's inference providers, and endpoints of your own."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from langgraph_interleave.artifacts import canonical_json
from langgraph_interleave.backends.references import check_references
from langgraph_interleave.background import DaemonThreads
from langgraph_interleave.errors import BadResponse, CallTimeout, ConfigError, InvalidRequest, NoImage
from langgraph_interleave.imaging.provenance import read as provenance_of
from langgraph_interleave.imaging.results import read_result
from langgraph_interleave.models.faults import call_error
from langgraph_interleave.models.naming import split_options
from langgraph_interleave.models.options import read_options
from langgraph_interleave.models.refusal import brief
from langgraph_interleave.secrecy import secrets_in
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress, Usage

if TYPE_CHECKING:
    from huggingface_hub import InferenceClient

    from langgraph_interleave.prices import Prices

DEFAULT_MODEL = "black-forest-labs/FLUX.1-schnell"
#: Changes whenever the same request would be sent in another way.
_VERSION = 1
_KEYS = ("HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN")
_TIMEOUT_S = 600.0
_MAX_SIDE, _MIN_SIDE = 2048, 16
#: How much a shape may differ before it is said.
_SHAPE = 0.03
_OPTIONS: dict[str, Any] = {
    "base_url": str, "billed": bool, "bill_to": str, "concurrency": int, "edit_model": str, "edits": bool,
    "guidance_scale": float, "num_inference_steps": int, "provider": str,
}  # fmt: skip


class HfInferenceBackend:
    """Draws through Hugging Face: its providers by the model's name, or an inference endpoint by its address.

    Without a reference it generates; with one it edits, by a model that does (`edit_model`). Nothing is
    sent twice: the ledger resends what was provably not made. The picture is kept as it came, and
    measured. The seed is passed on; whether a provider heeds it is not known.

    Args:
        model: Organisation and name on the Hub.
        edit_model: The model that edits; default: `model`.
        edits: Whether edits are taken at all; by default when an `edit_model` or a `base_url` is given.
        provider: `auto`, or one of Hugging Face's (`fal-ai`, `replicate`, `together`, …).
        base_url: An inference endpoint of your own, in place of a model's name.
        api_key: Default: `HF_TOKEN`. An endpoint of your own may need none.
        bill_to: The organisation that pays.
        num_inference_steps: By default the model's own.
        guidance_scale: By default the model's own.
        extra_body: Further fields of every request.
        prices: Default: the built-in table.
        billed: Whether a picture costs money.
        concurrency: Calls at once.

    Raises:
        ConfigError: An option is wrong, or there is no key.

    Example:
        >>> backend = HfInferenceBackend("org/painter", api_key="hf_example", provider="fal-ai")
        >>> backend.capabilities.edit, HfInferenceBackend.from_string(
        ...     "org/painter?edit_model=org/editor&num_inference_steps=4", api_key="hf_example"
        ... ).capabilities.edit
        ('none', 'instruct')
    """

    name = "hf_inference"
    written = "hf_inference:OWNER/MODEL"
    in_name = frozenset(_OPTIONS)

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        edit_model: str | None = None,
        edits: bool | None = None,
        provider: str = "auto",
        base_url: str | None = None,
        api_key: str | None = None,
        bill_to: str | None = None,
        num_inference_steps: int | None = None,
        guidance_scale: float | None = None,
        extra_body: Mapping[str, Any] | None = None,
        prices: Prices | None = None,
        billed: bool = True,
        concurrency: int = 4,
    ) -> None:
        self.model = model.strip() or DEFAULT_MODEL
        self.edit_model = edit_model or self.model
        self.billed = billed
        self._edits = edits if edits is not None else edit_model is not None or base_url is not None
        if not 1 <= concurrency <= 1000 or (num_inference_steps is not None and not 1 <= num_inference_steps <= 500):
            raise ConfigError(
                f"concurrency={concurrency}, num_inference_steps={num_inference_steps} of backend 'hf_inference' "
                "is out of range.",
                remedy="Give 1 to 1000 calls at once, and 1 to 500 steps.",
            )
        self._concurrency = concurrency
        self._base_url = None if base_url is None else _checked(base_url)
        self._provider, self._bill_to = provider, bill_to
        key = api_key if api_key is not None else next((os.environ[name] for name in _KEYS if os.environ.get(name)), "")
        self._key = key.strip()
        if not self._key and self._base_url is None:
            raise ConfigError("The backend hf_inference needs a key, and HF_TOKEN is not set.", remedy="Set HF_TOKEN.")
        if not self._key.isascii() or not self._key.isprintable():
            raise ConfigError("HF_TOKEN holds characters no key has.", remedy="Copy it again, without quotes.")
        self._settings: dict[str, Any] = {
            name: value
            for name, value in (("num_inference_steps", num_inference_steps), ("guidance_scale", guidance_scale))
            if value is not None
        }
        self._extra = dict(extra_body or {})
        #: Prices of its own; the built-in ones by default.
        self.prices = prices
        self._where = _host(self._base_url) if self._base_url else provider
        self._what = f"hf_inference:{self.model}"
        self._pool: DaemonThreads | None = None
        self._making = threading.Lock()
        sent = {**self._settings, "extra": self._extra, "edit": self.edit_model}
        parameters = hashlib.sha256(canonical_json(sent)).hexdigest()[:8]
        self.fingerprint = f"hf_inference/{_VERSION}/{self.model}@{self._where}/{parameters}"

    @classmethod
    def from_string(cls, text: str, **options: Any) -> Self:
        """The backend that `hf_inference:<model>?option=value` means.

        Raises:
            ConfigError: An option is unknown or wrong, or is a key.
        """
        model, written = split_options(text)
        unknown = sorted(set(written) - set(_OPTIONS))
        if unknown:
            raise ConfigError(
                f"backend 'hf_inference' has no option {unknown[0]!r}.",
                remedy=f"Options: {', '.join(sorted(_OPTIONS))}.",
            )
        return cls(model, **{**read_options(text, written, _OPTIONS), **options})

    def __repr__(self) -> str:
        # Neither key nor extra fields: they may hold one.
        return f"HfInferenceBackend({self.model!r}, at {self._where})"

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return Capabilities(
            generate=True, edit="instruct" if self._edits else "none", max_references=1 if self._edits else 0,
            min_side=_MIN_SIDE, max_pixels=_MAX_SIDE * _MAX_SIDE, negative_prompt=True,
            concurrency=self._concurrency, billed=self.billed,
        )  # fmt: skip

    async def aready(self) -> None:
        """Find out whether the key is taken, where that costs nothing: not for an endpoint of your own.

        Raises:
            ConfigError: huggingface_hub is not installed, or the key is refused.
            CallError: Nobody answers.
        """
        if self._base_url is not None or not self._key.startswith("hf_"):
            return  # a provider's own key is nothing Hugging Face knows of
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads(), self._introduce)
        except Exception as error:  # each becomes one of ours, or goes on as the bug it is
            ours = self._read(error)
            if ours is None or ours is error:
                raise
            raise ours from None if isinstance(ours, ConfigError) else error

    def _introduce(self) -> None:
        api: Any = _hub().HfApi(token=self._key)
        api.whoami()

    async def aclose(self) -> None:
        """Let its threads end."""
        with self._making:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False)

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw: one request, whatever becomes of it.

        Args:
            request: Prompt, at most one reference.
            on_progress: Never called: the API does not tell.

        Raises:
            ConfigError: huggingface_hub is not installed; the key or the model is refused.
            CallError: One of its subclasses, by cause.
        """
        self._check(request)
        await check_references(request.references, what=self._what, most=1 if self._edits else 0)
        timeout_s = request.timeout_s or _TIMEOUT_S
        client = await asyncio.to_thread(self._client, timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                # Its asynchronous client waits for some providers without letting others go on.
                loop = asyncio.get_running_loop()
                returned: Any = await loop.run_in_executor(self._threads(), self._send, client, request)
        except TimeoutError as error:
            raise CallTimeout(
                f"{self._what} did not answer within {timeout_s:g} s.",
                remedy="Allow more time; it may have been billed.", code="timeout",
            ) from error  # fmt: skip
        except Exception as error:  # each becomes one of ours, or goes on as the bug it is
            ours = self._read(error)
            if ours is None:
                raise
            raise ours from None if isinstance(ours, ConfigError) else error
        image = await asyncio.to_thread(self._picture, returned, request.seed)
        usage = Usage(images=1)
        warnings: list[str] = []
        if (request.width or image.width, request.height or image.height) != (image.width, image.height):
            asked = f"{request.width or 'any'}x{request.height or 'any'}"
            warnings.append(f"{asked} was asked for; {self._what} drew {image.width}x{image.height}.")
        elif request.references and not (request.width or request.height):
            first = request.references[0]
            if abs(image.width * first.height / (image.height * first.width) - 1) > _SHAPE:
                warnings.append(
                    f"{self._what} drew {image.width}x{image.height}: another shape than the reference "
                    f"({first.width}x{first.height})."
                )
        if request.quality is not None:
            warnings.append(f"{self._what} has no setting for quality.")
        return ImageResult(
            (image,),
            usage=self._priced(usage),
            warnings=tuple(warnings),
            model=self._what,
            signed=provenance_of(image.data).signed,
        )

    def _threads(self) -> DaemonThreads:
        with self._making:
            if self._pool is None:
                self._pool = DaemonThreads(self._concurrency, "interleave-hf")
            return self._pool

    def _send(self, client: InferenceClient, request: ImageRequest) -> Any:
        extra = {**self._extra, **request.extra}
        try:
            if not request.references:
                return client.text_to_image(
                    request.prompt,
                    model=self._base_url or self.model,
                    negative_prompt=request.negative_prompt,
                    width=request.width,
                    height=request.height,
                    seed=request.seed,
                    extra_body=extra or None,
                    **self._settings,
                )
            options: dict[str, Any] = {**self._settings, **extra}
            if request.width and request.height:
                options["target_size"] = {"width": request.width, "height": request.height}
            if request.seed is not None:
                options["seed"] = request.seed
            return client.image_to_image(
                request.references[0].data,
                prompt=request.prompt,
                model=self._base_url or self.edit_model,
                negative_prompt=request.negative_prompt,
                **options,
            )
        except StopIteration:
            # What it raises where a model has no provider; it cannot leave a thread as it is.
            raise self._unasked("no provider has this model") from None

    def _read(self, error: Exception) -> Exception | None:
        if type(error).__name__ == "OfflineModeIsEnabled":
            return ConfigError(f"{self._what} cannot be asked: HF_HUB_OFFLINE is set.", remedy="Unset it.")
        ours = call_error(error, role="backend", what=self._what, secrets=secrets_in(self._key, self._extra))
        if ours is not None:
            return ours
        if type(error).__name__ == "UnidentifiedImageError":
            return BadResponse(
                f"{self._what} answered with something that is no picture.",
                remedy="Check the address and the model: does it draw?",
                code="unreadable",
            )
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = str(trace.tb_frame.f_globals.get("__name__", "")) if trace is not None else ""
        if isinstance(error, ValueError | KeyError) and where.startswith("huggingface_hub"):
            # It looks models and providers up before it asks one.
            return self._unasked(brief(str(error)))  # cleaned by now
        return None

    def _unasked(self, why: str) -> ConfigError:
        return ConfigError(
            f"{self._what} cannot be asked at {self._where}: {why.rstrip('.')}.",
            remedy="Choose a model that a provider has for this task, or another provider.",
        )

    def _client(self, timeout_s: float) -> InferenceClient:
        provider: Any = self._provider
        # Without a key it would send the one this machine has stored, to whatever address that is.
        headers = {} if self._key else {"authorization": ""}
        return _hub().InferenceClient(
            provider=provider, token=self._key or None, timeout=timeout_s, bill_to=self._bill_to, headers=headers
        )

    def _picture(self, returned: Any, seed: int | None) -> ImageBytes:
        if returned is None:
            raise NoImage(f"{self._what} answered without a picture.", remedy="Put the prompt in other words.")
        data = _bytes_of(returned)
        return read_result(data, what=self._what, seed=seed)

    def _priced(self, usage: Usage) -> Usage:
        if not self.billed:
            return usage.model_copy(update={"cost_usd": 0.0})
        if self.prices is None:
            from langgraph_interleave.prices import Prices

            self.prices = Prices.default()
        return self.prices.priced(self.model, usage)

    def _check(self, request: ImageRequest) -> None:
        if request.n != 1:
            raise InvalidRequest(f"{self._what} draws one picture a call, not {request.n}.", remedy="Set n=1.")
        if not request.prompt.strip():
            raise InvalidRequest("An empty prompt cannot be drawn.", remedy="Say what the picture must show.")
        if request.mask is not None or request.transparent:
            raise InvalidRequest(
                f"{self._what} takes no mask and no transparent ground.", remedy="Use a backend that has them."
            )
        for side in (request.width, request.height):
            if side is not None and not _MIN_SIDE <= side <= _MAX_SIDE:
                raise InvalidRequest(
                    f"A side of {side} pixels cannot be drawn.", remedy=f"Give {_MIN_SIDE} to {_MAX_SIDE}."
                )


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise ConfigError(
            "The backend hf_inference needs huggingface_hub, which is not installed.",
            remedy='Run: pip install "langgraph-interleave[hf]"',
        ) from error
    return huggingface_hub


def _bytes_of(image: Any) -> bytes:
    """The file as it came, with whatever its provider signed in it; the client opened it without decoding."""
    if isinstance(image, bytes | bytearray):
        return bytes(image)
    file = getattr(image, "fp", None)
    if isinstance(file, io.BytesIO):
        return file.getvalue()
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _checked(text: str) -> str:
    try:
        parts = urlsplit(text.strip())
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound, parts = False, urlsplit("")
    if not sound or "@" in parts.netloc:
        raise ConfigError(
            "base_url of backend 'hf_inference' is no address, or holds a password.",
            remedy="Give the endpoint's address, https://….",
        )
    return text.strip()


def _host(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
