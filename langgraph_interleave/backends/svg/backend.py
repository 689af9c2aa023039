"""The backend `svg`: any chat model draws by writing SVG, and edits by revising it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from langgraph_interleave.backends.references import check_references
from langgraph_interleave.backends.svg.asking import (
    MAX_SIDE,
    MIN_SIDE,
    Material,
    asked_again,
    drawing_in,
    material_of,
    messages_for,
    size_of,
)
from langgraph_interleave.backends.svg.renderer import Rendered, render
from langgraph_interleave.backends.svg.sanitizer import Drawing, clean
from langgraph_interleave.backends.svg.tree import Unsound
from langgraph_interleave.errors import BadResponse, CallError, CallTimeout, ConfigError, InvalidRequest, NoImage
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.imaging.drawings import source_of, with_source
from langgraph_interleave.imaging.provenance import SourceType, xmp
from langgraph_interleave.models.answering import Answered, Answering
from langgraph_interleave.models.forms import ability
from langgraph_interleave.models.identity import fingerprint_of, name_of
from langgraph_interleave.models.naming import chat_model, named_model
from langgraph_interleave.models.options import read_options
from langgraph_interleave.models.pricing import costs_of
from langgraph_interleave.models.wrapping import mapped, settled
from langgraph_interleave.prices import Costs
from langgraph_interleave.prompts import Prompts
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress, Usage

#: Changes whenever the same request would be asked or drawn in another way.
_VERSION = 1
_TIMEOUT_S = 600.0
_MAX_REFERENCES, _MAX_PIXELS = 8, MAX_SIDE * MAX_SIDE
_OPTIONS: dict[str, Any] = {
    "billed": bool, "concurrency": int, "deadline_s": float, "look": bool, "prompts": str, "show_side": int,
    "tries": int,
}  # fmt: skip


class SvgBackend:
    """Draws with a chat model that writes SVG: diagrams, circuits, charts, exact words, without an image model.

    The drawing travels with its picture, in a text chunk of the PNG, so that an edit is a change of
    that very drawing and what was not to change does not. Further references are shown to the model
    where it takes pictures, and can be placed in the drawing. What the model writes is taken apart and
    put together again from an allow-list, and rendered in a process of its own. A drawing that cannot
    be rendered is asked for again, with the reason. Not guaranteed: that it draws the same twice.

    Args:
        model: A LangChain chat model, or its name: `openai:gpt-5`,
            `openai:name?base_url=http://127.0.0.1:8000/v1`.
        tries: How often a drawing is asked for at most; each is a call.
        look: Whether references are shown to the model; by default as its profile says, and tried
            where that says nothing.
        show_side: Longest side of what is shown, in pixels.
        deadline_s: Seconds that rendering may take.
        prompts: Templates, or a folder with some that replace the built-in ones.
        prices: To know what a call costs: a table, or a file that goes before the built-in one.
        billed: Whether a call costs money; if not, its cost is 0 and no table is asked.
        concurrency: How many calls may run at once.

    Raises:
        ConfigError: The model is unknown, its key is missing, it does not write, or an option is out
            of range.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> answer = '<svg viewBox="0 0 40 20"><rect width="40" height="20" fill="teal"/></svg>'
        >>> backend = SvgBackend(FakeListChatModel(responses=[answer]), billed=False)
        >>> result = asyncio.run(backend.agenerate(ImageRequest("a teal bar", width=80)))
        >>> result.images[0]
        ImageBytes(image/png, 80x40, ... bytes)
        >>> SvgBackend.drawing_of(result.images[0])
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20" fill="teal"/></svg>'
    """

    name = "svg"
    written = "svg:PROVIDER:MODEL, as in svg:openai:gpt-6-sol"
    in_name = frozenset(_OPTIONS)

    def __init__(
        self,
        model: BaseChatModel | Runnable[Any, Any] | str,
        *,
        tries: int = 3,
        look: bool | None = None,
        show_side: int = 768,
        deadline_s: float = 20.0,
        prompts: Prompts | str | Path | None = None,
        prices: Costs | str | Path | None = None,
        billed: bool = True,
        concurrency: int = 4,
    ) -> None:
        self.model = chat_model(model) if isinstance(model, str) else model
        self.billed = billed
        self.tries = self.calls_at_most = int(_within("tries", tries, 1, 10))
        self.show_side = int(_within("show_side", show_side, 16, 4096))
        self.deadline_s = _within("deadline_s", deadline_s, 0.1, 600)
        self._concurrency = int(_within("concurrency", concurrency, 1, 1000))
        self.prompts = prompts if isinstance(prompts, Prompts) else _templates(prompts)
        # A drawing is of use as a whole only; and where a model's answer is streamed as plain text, LangChain
        # loses a refusal.
        whole = mapped(settled(self.model), lambda one: one.model_copy(update={"disable_streaming": True}))
        self.prices = costs_of(prices, billed=billed)
        self._answering = Answering(whole, {}, role="backend", output="tagged", prices=self.prices)
        if ability(self.model, "text_outputs") is False:
            raise ConfigError(
                f"{name_of(self.model)} writes no text, so it cannot write SVG.", remedy="Give a model that writes."
            )
        self._looks = look if look is not None else ability(self.model, "image_inputs") is not False
        self._sure = look is not None or ability(self.model, "image_inputs") is True
        self._what = f"svg:{name_of(self.model)}"
        told = fingerprint_of(
            self.model, role="backend", svg=_VERSION, prompts=self.prompts.version, tries=tries, look=look,
            shown=show_side,
        )  # fmt: skip
        self.fingerprint = f"svg/{told}"

    @classmethod
    def from_string(cls, text: str, **options: Any) -> Self:
        """The backend that `svg:provider:model?option=value` means, options of the model and of this class alike.

        Example:
            >>> SvgBackend.from_string("openai:m?base_url=http://127.0.0.1:8000/v1&tries=2&billed=false").tries
            2
        """
        model, written = named_model(text, _OPTIONS)
        return cls(model, **{**read_options(text, written, _OPTIONS), **options})

    @staticmethod
    def drawing_of(picture: ImageBytes) -> str | None:
        """The SVG a picture of this backend was rendered from; `None` for other pictures.

        It comes out of a file that anybody may have written: make it safe before rendering it.
        """
        return source_of(picture.data)

    def __repr__(self) -> str:
        return f"SvgBackend({name_of(self.model)!r})"

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return Capabilities(
            generate=True, edit="instruct", max_references=_MAX_REFERENCES, min_side=MIN_SIDE, max_pixels=_MAX_PIXELS,
            negative_prompt=True, transparent=True, cancel="cooperative", concurrency=self._concurrency,
            billed=self.billed,
        )  # fmt: skip

    async def aready(self) -> None:
        """Find out whether key and server are right, where that costs nothing.

        Raises:
            ConfigError: The key is refused, or the model is not there.
            Unavailable: Nobody answers.
        """
        await self._answering.ready()

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Have it drawn, and asked for again where it cannot be rendered.

        Args:
            request: Prompt, up to 8 references, any size of up to 4096 by 4096 pixels.
            on_progress: Never called.

        Returns:
            One picture, with the usage of all calls. What was left out of the drawing, and characters
            that no font of this machine has, are in the warnings.

        Raises:
            NoImage: The model wrote, but no drawing.
            BadResponse: None of its drawings can be rendered.
            CallTimeout: It was not finished in time.
            CallError: The model failed; one of its subclasses, by cause.
        """
        self._check(request)
        await check_references(request.references, what=self._what, most=_MAX_REFERENCES)
        usages: list[Usage] = []
        timeout_s = request.timeout_s or _TIMEOUT_S
        try:
            async with asyncio.timeout(timeout_s):
                return await self._draw(request, usages)
        except TimeoutError as error:
            raise CallTimeout(
                f"{self._what} did not finish within {timeout_s:g} s.", remedy="Allow more time, or ask for less.",
                code="timeout", usage=Usage.total(usages) if usages else None,
            ) from error  # fmt: skip
        except CallError as error:
            # What was drawn before was paid for all the same.
            if usages and error.usage is not usages[-1]:
                usages += [error.usage] if error.usage else []
            error.usage = Usage.total(usages) if usages else error.usage
            raise

    async def _draw(self, request: ImageRequest, usages: list[Usage]) -> ImageResult:
        material = await material_of(request.references, show_side=self.show_side)
        said, reason, found, cut = "", "", False, 0
        for _ in range(self.tries):
            more = asked_again(said, reason, self.prompts) if reason else []
            answer = await self._ask(request, material, more)
            usages.append(answer.usage)
            said = answer.text
            try:
                text = drawing_in(said, truncated=answer.truncated)
                found = True
                drawing = await asyncio.to_thread(clean, text, material.pictures)
                size = size_of(request, drawing.ratio)
                rendered = await render(drawing, *size, transparent=request.transparent, deadline_s=self.deadline_s)
            except Unsound as unsound:
                reason = unsound.reason
                cut = cut + 1 if answer.truncated else 0
                if cut > 1:
                    break  # told to be shorter, it was cut off again: another one would end there, too
                continue
            return await asyncio.to_thread(self._result, drawing, rendered, size, request, material, usages)
        more_room = "Raise the limit of output tokens of its model (max_new_tokens or max_tokens), or ask for less."
        if not found:
            raise NoImage(
                f"{self._what} {'was cut off before its drawing was whole' if cut else 'wrote no drawing'}.",
                remedy=more_room if cut else "Ask for a drawing, or use another model.", code="no_svg",
                detail={"text": said[:2000]}, usage=usages[-1],
            )  # fmt: skip
        raise BadResponse(
            f"{self._what} wrote {len(usages)} drawings that cannot be rendered; the last: {reason}",
            remedy=more_room if cut else "Ask for a simpler drawing, or use another model.", code="unrenderable",
            usage=usages[-1],
            ambiguous=False,
        )  # fmt: skip

    async def _ask(self, request: ImageRequest, material: Material, more: Sequence[BaseMessage]) -> Answered:
        look = self._looks and bool(material.seen)
        pictures = [picture for _, picture in material.seen] if look else []
        try:
            return await self._answering.say(
                [*messages_for(request, material, self.prompts, look=look), *more], pictures
            )
        except InvalidRequest:
            # Refused before any work: a model of which nobody knew whether it takes pictures does not.
            if self._sure or not look:
                raise
        answer = await self._answering.say([*messages_for(request, material, self.prompts, look=False), *more])
        self._looks = False
        return answer

    def _result(
        self,
        drawing: Drawing,
        rendered: Rendered,
        size: tuple[int, int],
        request: ImageRequest,
        material: Material,
        usages: Sequence[Usage],
    ) -> ImageResult:
        svg = drawing.svg()
        # Where a picture was placed, the whole is a composite.
        made: SourceType = "compositeWithTrainedAlgorithmicMedia" if "<image " in svg else "trainedAlgorithmicMedia"
        image = verify_image(with_source(rendered.png, svg, xmp(made)), what=f"The drawing of {self._what}")
        warnings = list(material.notes)
        if material.seen and not self._looks:
            warnings.append(f"{self._what} takes no pictures: it did not see the references it could place.")
        if request.quality is not None:
            warnings.append(f"{self._what} has no setting for quality.")
        if drawing.left_out:
            some = ", ".join(drawing.left_out[:12]) + (" …" if len(drawing.left_out) > 12 else "")
            warnings.append(f"Left out of the drawing: {some}.")
        if (missing := rendered.fonts.warning()) is not None:
            warnings.append(missing)
        if abs(drawing.ratio / (size[0] / size[1]) - 1) > 0.02:
            drawn = f"{drawing.box[2]:g} by {drawing.box[3]:g}"
            warnings.append(f"It was drawn {drawn} and fitted into {size[0]}x{size[1]}.")
        usage = Usage.total(usages).model_copy(update={"images": 1})
        return ImageResult((image,), usage=usage, warnings=tuple(warnings), model=self._what)

    def _check(self, request: ImageRequest) -> None:
        if request.n != 1:
            raise InvalidRequest(f"{self._what} draws one picture a call, not {request.n}.", remedy="Set n=1.")
        if not request.prompt.strip():
            raise InvalidRequest("An empty prompt cannot be drawn.", remedy="Say what the drawing must show.")
        if request.mask is not None:
            raise InvalidRequest(f"{self._what} takes no mask.", remedy="Say in the prompt what may change.")
        for side in (request.width, request.height):
            if side is not None and not MIN_SIDE <= side <= MAX_SIDE:
                raise InvalidRequest(
                    f"A side of {side} pixels cannot be drawn by {self._what}.",
                    remedy=f"Give {MIN_SIDE} to {MAX_SIDE}.",
                )


def _within(name: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise ConfigError(f"{name}={value!r} of backend 'svg' is out of range.", remedy=f"Give {low:g} to {high:g}.")
    return value


def _templates(folder: str | Path | None) -> Prompts:
    return Prompts.builtin() if folder is None else Prompts.folder(folder)
