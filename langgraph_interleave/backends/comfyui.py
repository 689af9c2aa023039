"""The backend `comfyui`: pictures by a workflow of your own, run by a ComfyUI server."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote, urlsplit

from langgraph_interleave.artifacts import canonical_json
from langgraph_interleave.backends.comfyui_answer import missing, stored
from langgraph_interleave.backends.comfyui_run import run
from langgraph_interleave.backends.comfyui_server import ComfyUIServer
from langgraph_interleave.backends.comfyui_workflow import Workflow
from langgraph_interleave.backends.prompts import neutralised
from langgraph_interleave.backends.references import check_references
from langgraph_interleave.backends.turns import Turns
from langgraph_interleave.errors import CallTimeout, ConfigError, InvalidRequest, NoImage
from langgraph_interleave.imaging import MAX_BYTES
from langgraph_interleave.imaging.provenance import SourceType, mark
from langgraph_interleave.imaging.results import read_result
from langgraph_interleave.imaging.sizes import snap_size, wanted_size
from langgraph_interleave.models.cleaning import cleaning
from langgraph_interleave.models.naming import split_options
from langgraph_interleave.models.options import read_options
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress, Usage

#: Changes whenever the same request would be sent in another way.
_VERSION = 1
_ADDRESS = "http://127.0.0.1:8188"
_TIMEOUT_S = 1800.0
_MOST_IMAGES, _LONGEST_PROMPT = 16, 100_000
#: ComfyUI weighs words by it; a model's words must not.
_WEIGHT = re.compile(r":(\s*[-+]?[\d.]+\s*)\)")
_OPTIONS: dict[str, Any] = {
    "base_url": str, "billed": bool, "concurrency": int, "edit": Literal["instruct", "img2img"],
    "edit_workflow": str, "generate": bool, "height": int, "marked": bool, "max_pixels": int, "negative_prompt": str,
    "output_node": str, "size_multiple": int, "width": int,
}  # fmt: skip


class ComfyUIBackend:
    """Draws by running a workflow of yours on a ComfyUI server.

    The workflow is exported in the API format, and has placeholders for what changes: `{{prompt}}`,
    `{{negative_prompt}}`, `{{seed}}`, `{{width}}`, `{{height}}`, `{{n}}` (pictures per run), and
    `{{reference_0}}`, `{{reference_1}}`, … where a `LoadImage` node names its file. A placeholder that is a
    whole input keeps its type: a seed stays a number.

    References are uploaded under names made from their content. Where fewer are given than the workflow
    takes, the nodes that load the others are left out, with those that cannot do without them. Several
    pictures are as many runs, each with its own seed, unless the workflow has `{{n}}`. Texts that ComfyUI
    writes into PNG files (the workflow and the prompt) are taken out. Cancelling takes the run out of the
    queue, or stops it.

    Progress and previews come over a websocket. Where none is to be had, the history is asked instead, and a
    warning says so.

    Args:
        workflow: The workflow, or the path of its file.
        base_url: The server's address.
        edit_workflow: Another workflow, for steps with references.
        headers: Sent with every request, for a server behind a proxy.
        extra_data: Sent beside every workflow (`{"api_key_comfy_org": "…"}` for nodes that cost money).
        edit: What it does with references: `instruct` follows words, `img2img` redraws.
        generate: Whether it draws without references; by default if `workflow` has none, or all its
            references are in `edit_workflow`.
        output_node: Id or title of the node whose pictures count; default: all that save pictures.
        negative_prompt: For `{{negative_prompt}}`, where a request has none.
        width: Pixels, where a request has neither size nor references.
        height: As `width`.
        size_multiple: Sides are multiples of this.
        max_pixels: Largest area.
        concurrency: Runs in the server's queue at once.
        billed: Whether a run costs money.
        marked: Whether pictures state, in their metadata, that a trained model made them.

    Raises:
        ConfigError: A workflow cannot be read, or an option is wrong.

    Example:
        >>> nodes = {
        ...     "1": {"class_type": "LoadImage", "inputs": {"image": "{{reference_0}}"}},
        ...     "2": {"class_type": "MyEdit", "inputs": {"image": ["1", 0], "text": "{{prompt}}", "seed": "{{seed}}"}},
        ...     "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "step"}},
        ... }
        >>> backend = ComfyUIBackend(nodes)
        >>> backend.capabilities.max_references, backend.capabilities.generate, backend.capabilities.seed
        (1, False, 'exact')
    """

    name = "comfyui"
    written = "comfyui:WORKFLOW.json, a workflow in API format"
    in_name = frozenset(_OPTIONS)

    def __init__(
        self,
        workflow: Mapping[str, Any] | str | Path,
        base_url: str = _ADDRESS,
        *,
        edit_workflow: Mapping[str, Any] | str | Path | None = None,
        headers: Mapping[str, str] | None = None,
        extra_data: Mapping[str, Any] | None = None,
        edit: Literal["instruct", "img2img"] = "instruct",
        generate: bool | None = None,
        output_node: str | None = None,
        negative_prompt: str = "",
        width: int = 1024,
        height: int = 1024,
        size_multiple: int = 16,
        max_pixels: int = 2048 * 2048,
        concurrency: int = 1,
        billed: bool = False,
        marked: bool = True,
    ) -> None:
        for option, value, low in (
            ("width", width, 16), ("height", height, 16), ("size_multiple", size_multiple, 1),
            ("max_pixels", max_pixels, 64 * 64), ("concurrency", concurrency, 1),
        ):  # fmt: skip
            if value < low:
                raise ConfigError(f"{option}={value} of backend 'comfyui' is too small.", remedy=f"Give {low} or more.")
        self._drawing = Workflow.read(workflow)
        self._editing = self._drawing if edit_workflow is None else Workflow.read(edit_workflow)
        if edit_workflow is not None and not self._editing.references:
            raise ConfigError(
                "The edit_workflow takes no references.",
                remedy="Write {{reference_0}} into its LoadImage node, or leave edit_workflow out.",
            )
        self._server = ComfyUIServer(_checked(base_url), headers or {}, beside=extra_data)
        self._extra_data = dict(extra_data or {})
        self._output_node, self._marked = output_node, marked
        self._negative, self._size = negative_prompt, (width, height)
        self._required: dict[str, frozenset[str] | None] = {}
        both = self._drawing.holes & self._editing.holes
        self.capabilities = Capabilities(
            generate=not self._drawing.references if generate is None else generate,
            edit=edit if self._editing.references else "none",
            max_references=self._editing.references,
            max_images=_MOST_IMAGES,
            size_multiple=size_multiple,
            min_side=max(16, size_multiple),
            max_pixels=max_pixels,
            seed="exact" if "seed" in both and "n" not in self._drawing.holes | self._editing.holes else "ignored",
            negative_prompt="negative_prompt" in both,
            progress="steps",
            cancel="cooperative",
            concurrency=concurrency,
            billed=billed,
        )
        self._turn = Turns(concurrency)
        told = [self._drawing.digest, self._editing.digest, output_node, negative_prompt, width, height, size_multiple]
        digest = hashlib.sha256(canonical_json([*told, max_pixels, marked])).hexdigest()[:16]
        self.fingerprint = f"comfyui/{_VERSION}/{digest}@{self._server.host}"

    @classmethod
    def from_string(cls, text: str, **options: Any) -> Self:
        """The backend that `comfyui:<text>` means: a workflow's file, and options after a question mark.

        Args:
            text: `workflow.json`, or `workflow.json?base_url=http://127.0.0.1:8188&width=768`.
            options: As for the class; they go before those of the text.

        Raises:
            ConfigError: An option is unknown or wrong, or the workflow cannot be read.
        """
        path, written = split_options(text)
        if not path:
            raise ConfigError("comfyui: names no workflow.", remedy="Write comfyui:workflow.json.")
        for option in written:
            if option not in _OPTIONS:
                raise ConfigError(
                    f"backend 'comfyui' has no option {option!r}.", remedy=f"Options: {', '.join(sorted(_OPTIONS))}."
                )
        return cls(path, **{**read_options(text, written, _OPTIONS), **options})

    def __repr__(self) -> str:
        # Neither headers nor extra data: they may hold a key.
        return f"ComfyUIBackend({len(self._drawing.nodes)} nodes, at {self._server.host})"

    async def aready(self) -> None:
        """Ask whether the server is there and has every node and model the workflow names; costs nothing.

        Raises:
            ConfigError: Something is missing, each by name.
            CallError: Nobody answers.
        """
        lacking: list[str] = []
        nodes = [node for flow in {self._drawing, self._editing} for node in flow.nodes.values()]
        for class_type in sorted({node["class_type"] for node in nodes}):
            info = await self._info(class_type)
            if info is None:
                lacking.append(f"there is no node {class_type[:80]}")
                continue
            for node in nodes:
                if node["class_type"] == class_type:
                    lacking += missing(class_type, info, node)
        if lacking:
            raise ConfigError(
                f"{self._server.what} cannot run the workflow: {'; '.join(dict.fromkeys(lacking))}.",
                remedy="Install the custom nodes and models, or change the workflow.",
            )

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._server.aclose()

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw: one run for each picture, or one for all where the workflow has `{{n}}`.

        Args:
            request: Prompt, references in order, size, seed.
            on_progress: Called with every step a sampler reports, and with previews where they are on.

        Returns:
            The pictures, measured, each with its seed where the workflow has one.

        Raises:
            ConfigError: The server lacks a node or a model, or refuses the credentials.
            CallError: One of its subclasses, by cause.
        """
        self._check(request)
        await check_references(request.references, what=self._server.what, most=self.capabilities.max_references)
        timeout_s = request.timeout_s or _TIMEOUT_S
        try:
            async with asyncio.timeout(timeout_s), self._turn:
                with cleaning(lambda: self._server.secrets):
                    return await self._draw(request, on_progress or (lambda _: None))
        except TimeoutError as error:
            raise CallTimeout(
                f"{self._server.what} was not finished within {timeout_s:g} s.",
                remedy="Allow more time: a model is loaded first.", code="timeout", ambiguous=self.capabilities.billed,
            ) from error  # fmt: skip

    async def _draw(self, request: ImageRequest, tell: OnProgress) -> ImageResult:
        flow = self._editing if request.references else self._drawing
        warnings: list[str] = []
        if request.negative_prompt and "negative_prompt" not in flow.holes:
            warnings.append("The workflow has no place for a negative prompt; it was left out.")
        if request.transparent:
            warnings.append("The ground is what the workflow makes it; a transparent one cannot be asked for.")
        size = self._wanted(request, flow, warnings)
        uploaded = [await self._server.upload(picture) for picture in request.references]
        seed = secrets.randbelow(2**32) if request.seed is None else request.seed
        at_once = request.n if "n" in flow.holes else 1
        values: dict[str, Any] = {
            "prompt": harmless(request.prompt, warnings),
            "negative_prompt": harmless(request.negative_prompt or self._negative, warnings),
            "width": size[0],
            "height": size[1],
            "n": at_once,
            **{f"reference_{index}": name for index, name in enumerate(uploaded)},
        }
        if len(uploaded) < flow.references:
            await self._learn(flow)
        images: list[ImageBytes] = []
        client_id = uuid.uuid4().hex
        async with self._server.listening(client_id) as socket:
            if socket is None:
                warnings.append("The server's websocket cannot be had: its history is asked, and no progress is told.")
            for index in range(0, request.n, at_once):
                own = (seed + index) % 2**32
                nodes = flow.filled({**values, "seed": own}, self._required.get)
                entry = await run(
                    self._server, flow, nodes, told_on=socket, client_id=client_id, tell=tell,
                    extra=self._extra_data, warnings=warnings,
                )  # fmt: skip
                images += await self._fetch(entry, at_once, own if "seed" in flow.holes else None, flow, warnings)
        self._compare(images, request, size, flow, warnings)
        return ImageResult(
            tuple(images),
            usage=Usage(images=len(images), cost_usd=None if self.capabilities.billed else 0.0),
            warnings=tuple(dict.fromkeys(warnings)),
            model=self.fingerprint,
        )

    async def _fetch(
        self, entry: Mapping[str, Any], most: int, seed: int | None, flow: Workflow, warnings: list[str]
    ) -> list[ImageBytes]:
        files = stored(entry, self._node_of(flow))
        if not files:
            raise NoImage(
                f"The workflow ran at {self._server.what}, and left no picture.",
                remedy="Let it end in a SaveImage node, for PNG, JPEG or WebP; output_node names one of several.",
            )
        if len(files) != most:
            then = f"the first {most} were kept" if len(files) > most else f"{most} were asked for"
            warnings.append(f"The workflow made {len(files)} pictures; {then}.")
        images: list[ImageBytes] = []
        made = self._made_by(flow)
        for file in files[:most]:
            data = await self._server.view(file, MAX_BYTES)
            image = await asyncio.to_thread(read_result, data, what=self._server.what, seed=seed)
            images.append(image if made is None else mark(image, made))
        return images

    def _made_by(self, flow: Workflow) -> SourceType | None:
        """How its pictures say that they were made."""
        if not self._marked:
            return None
        return "compositeWithTrainedAlgorithmicMedia" if flow.references else "trainedAlgorithmicMedia"

    def _node_of(self, flow: Workflow) -> str | None:
        """The id of the node whose pictures count."""
        if self._output_node is None or self._output_node in flow.nodes:
            return self._output_node
        for name, node in flow.nodes.items():
            if (node.get("_meta") or {}).get("title") == self._output_node:
                return name
        raise ConfigError(
            f"The workflow has no node {self._output_node!r}.", remedy="Give the id or the title of its SaveImage node."
        )

    async def _learn(self, flow: Workflow) -> None:
        """Find out what its nodes cannot do without."""
        for class_type in flow.classes():
            if class_type not in self._required:
                info = await self._info(class_type)
                needed = (info.get("input") or {}).get("required") if info else None
                self._required[class_type] = frozenset(needed) if isinstance(needed, dict) else None

    async def _info(self, class_type: str) -> dict[str, Any] | None:
        told = await self._server.get(f"/object_info/{quote(class_type, safe='')}")
        held = told.get(class_type) if isinstance(told, dict) else None
        return held if isinstance(held, dict) else None

    def _check(self, request: ImageRequest) -> None:
        what, can = self._server.what, self.capabilities
        if not 1 <= request.n <= _MOST_IMAGES:
            raise InvalidRequest(
                f"{request.n} pictures cannot be drawn in one call.", remedy=f"Ask for 1 to {_MOST_IMAGES}."
            )
        if request.seed is not None and not 0 <= request.seed < 2**32:
            raise InvalidRequest(f"The seed {request.seed} is out of range.", remedy="Give 0 to 2**32 - 1.")
        if not request.prompt.strip() or len(request.prompt) > _LONGEST_PROMPT:
            raise InvalidRequest(
                f"A prompt of {len(request.prompt)} characters cannot be drawn.",
                remedy=f"Give 1 to {_LONGEST_PROMPT} characters.",
            )
        if not request.references and not can.generate:
            raise InvalidRequest(
                f"The workflow at {what} draws from references only.",
                remedy="Give one, or a workflow for words and this one as edit_workflow.",
            )
        if request.mask is not None:
            raise InvalidRequest(f"The workflow at {what} takes no mask.", remedy="Leave it out.")
        for side in (request.width, request.height):
            if side is not None and side < 1:
                raise InvalidRequest(f"A side of {side} pixels cannot be drawn.", remedy="Give 1 or more.")

    def _wanted(self, request: ImageRequest, flow: Workflow, warnings: list[str]) -> tuple[int, int]:
        """The size to ask for: as wanted, else in the shape of the first reference, else the default."""
        asked = request.width is not None or request.height is not None
        wanted = wanted_size(request) if asked or request.references else self._size
        snapped = snap_size(*wanted, self.capabilities, name="the workflow")
        if asked and snapped.warning and {"width", "height"} <= flow.holes:
            warnings.append(snapped.warning)
        return snapped.width, snapped.height

    @staticmethod
    def _compare(
        images: list[ImageBytes], request: ImageRequest, size: tuple[int, int], flow: Workflow, warnings: list[str]
    ) -> None:
        if request.width is None and request.height is None:
            return
        for image in images:
            if (image.width, image.height) != size:
                why = "" if {"width", "height"} <= flow.holes else "; it has no place for a size"
                warnings.append(f"The workflow drew {image.width}x{image.height}, not {size[0]}x{size[1]}{why}.")


def harmless(prompt: str, warnings: list[str]) -> str:
    """A prompt whose words neither load files nor set weights.

    Example:
        >>> harmless("a cup (red:1.5), embedding:secret", [])
        'a cup (red:1.5,), embedding secret'
    """
    fitted = neutralised(prompt, {"embedding", "lora"})
    warnings += fitted.warnings
    return _WEIGHT.sub(r":\1,)", fitted.text)


def _checked(address: str) -> str:
    try:
        parts = urlsplit(address.strip())
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not parts.query
    except ValueError:
        sound = False
    if not sound or "@" in urlsplit(address.strip()).netloc:
        raise ConfigError(
            "base_url of backend 'comfyui' is no address, or holds a password.",
            remedy=f"Give one like {_ADDRESS}; credentials go into headers.",
        )
    return address.strip()
