"""The backend `callable`: any function that draws."""

from __future__ import annotations

import asyncio
import difflib
import inspect
import io
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from math import log
from typing import Any, cast

from langgraph_interleave.backends.turns import Turns
from langgraph_interleave.backends.untaken import untaken
from langgraph_interleave.errors import BadResponse, CallTimeout, ConfigError, InvalidRequest, NoImage
from langgraph_interleave.imaging.formats import MAX_PIXELS, Unreadable, decode
from langgraph_interleave.imaging.results import read_result
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress, Usage

#: What a function may take, by name.
TAKEN: tuple[str, ...] = (
    "prompt",
    "references",
    "width",
    "height",
    "seed",
    "negative_prompt",
    "mask",
    "quality",
    "transparent",
    "request",
    "on_progress",
)

#: What some call these arguments.
_ALIASES = {
    "prompt": ("text", "description", "instruction", "words"),
    "references": ("refs", "images", "image", "pictures", "inputs"),
    "negative_prompt": ("negative",),
    "width": ("w",),
    "height": ("h",),
    "seed": ("random_seed",),
    "on_progress": ("progress", "callback"),
}

#: How far the shape of a picture may be from its reference's, as the logarithm of the ratio.
_SHAPE = 0.15

Drawing = Callable[..., Any]


class CallableBackend:
    """Draws by calling a function of yours: `(prompt, references) -> picture`.

    The function is given what it takes, by name: `prompt`, `references` (a list of PIL pictures, in
    order), `width`, `height` and `seed` (numbers or `None`), `negative_prompt`, `mask`, `quality`,
    `transparent`, `request` (the whole `ImageRequest`) and `on_progress`. Where it needs one or two
    arguments only, they may have any names: they are prompt and references. It returns a PIL picture,
    the bytes of a PNG, JPEG or WebP file, an `ImageBytes` or `ImageResult`, or a list of pictures.

    A plain function is called in a thread, so it may block; several at once only as far as
    `capabilities.concurrency` says. A coroutine function is awaited on the package's own event loop:
    clients it uses must be made there, in its first call, not in the loop you call `ainvoke` from.
    What it raises is a fault of its own and ends the run once the document is composed, unless it is
    one of the `CallError`s of `langgraph_interleave.errors`.

    Args:
        function: The function.
        name: What people call it.
        fingerprint: Names its version; another one when it draws differently. By default made from
            module, name and source, where there is one.
        capabilities: What it can do. By default told from what it takes: `references` means that it
            edits as told, `seed` that the same seed draws the same.
        billed: A call costs money.
        concurrency: How many calls may run at once.

    Raises:
        ConfigError: It is no function, or takes something unknown.

    Example:
        >>> from PIL import Image
        >>> def red(prompt, references, width=64):
        ...     return Image.new("RGB", (width or 64, 64), "red")
        >>> backend = CallableBackend(red)
        >>> asyncio.run(backend.agenerate(ImageRequest("a red square", width=32))).images[0].width
        32
    """

    def __init__(
        self,
        function: Drawing,
        *,
        name: str = "callable",
        fingerprint: str | None = None,
        capabilities: Capabilities | None = None,
        billed: bool = False,
        concurrency: int = 1,
    ) -> None:
        if not callable(function):
            raise ConfigError(f"A {type(function).__name__} cannot be called.", remedy="Give a function that draws.")
        self.name = name
        self._function = function
        self._by_place, self._by_name = _taken(function)
        self._takes = frozenset((*self._by_place, *self._by_name.values()))
        self.fingerprint = fingerprint or f"{name}/{_identity(function)}"
        told = capabilities or Capabilities(
            edit="instruct" if {"references", "request"} & self._takes else "none",
            max_references=16 if {"references", "request"} & self._takes else 0,
            seed="exact" if "seed" in self._takes else "ignored",
            negative_prompt="negative_prompt" in self._takes,
            mask="mask" in self._takes,
            transparent="transparent" in self._takes,
            progress="steps" if "on_progress" in self._takes else "none",
            cancel="cooperative" if inspect.iscoroutinefunction(function) else "none",
            concurrency=concurrency,
        )
        self.capabilities = replace(told, billed=told.billed or billed)
        self._turn = Turns(self.capabilities.concurrency)

    def __repr__(self) -> str:
        return f"CallableBackend({getattr(self._function, '__name__', 'function')!r}, name={self.name!r})"

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Call the function, as often as pictures are wanted.

        Raises:
            InvalidRequest: There are more references than the function takes, one of them is no picture,
                or size, seed or number cannot be.
            NoImage: It returned nothing.
            BadResponse: It returned what is no picture, or a black one, or gave itself up.
            CallTimeout: The deadline passed; a plain function goes on in its thread all the same.
        """
        self._check(request)
        images: list[ImageBytes] = []
        text: str | None = None
        usage, warnings = Usage(), ()
        deadline = asyncio.timeout(request.timeout_s)
        try:
            async with deadline, self._turn:
                for index in range(request.n):
                    seed = None if request.seed is None else (request.seed + index) % 2**32
                    returned = await self._call(replace(request, seed=seed, n=1), on_progress)
                    if isinstance(returned, ImageResult):
                        text, usage, warnings = returned.text, usage + returned.usage, returned.warnings
                        returned = returned.images
                    images += await asyncio.to_thread(self._pictures, returned, seed)
        except TimeoutError as error:
            if not deadline.expired():
                # The function's own, of something it waited for: a fault of its own, like any other.
                raise
            raise CallTimeout(
                f"{self.name} was not finished within {request.timeout_s:g} s.",
                remedy="Allow more time.",
                ambiguous=self.capabilities.billed,
            ) from error
        usage = usage if usage != Usage() else Usage(images=len(images))
        if len(images) > request.n:
            first = "the first was" if request.n == 1 else f"the first {request.n} were"
            warnings = (*warnings, f"{self.name} drew {len(images)} pictures; {first} kept.")
            images = images[: request.n]
        said = (*untaken(request, self.capabilities, what=self.name), *_other_size(request, images, self.name))
        warnings = tuple(dict.fromkeys((*warnings, *said)))
        return ImageResult(tuple(images), text=text, usage=usage, warnings=warnings, model=self.fingerprint)

    def _check(self, request: ImageRequest) -> None:
        most = self.capabilities.max_references
        if request.references and not most:
            raise InvalidRequest(
                f"{self.name} takes no references, and {len(request.references)} were given.",
                remedy="Let the function take `references`, or plan steps that start from nothing.",
            )
        if len(request.references) > most:
            raise InvalidRequest(
                f"{len(request.references)} references are too many for {self.name}.", remedy=f"Give at most {most}."
            )
        if request.n < 1:
            raise InvalidRequest(f"{request.n} pictures cannot be drawn.", remedy="Ask for 1 or more.")
        if request.seed is not None and request.seed < 0:
            raise InvalidRequest(f"The seed {request.seed} is out of range.", remedy="Give 0 or more.")
        for side in (request.width, request.height):
            if side is not None and side < 1:
                raise InvalidRequest(f"A side of {side} pixels cannot be drawn.", remedy="Give 1 or more.")

    async def _call(self, request: ImageRequest, on_progress: OnProgress | None) -> object:
        references = await asyncio.to_thread(_opened, request.references)
        mask = (await asyncio.to_thread(_opened, [request.mask]))[0] if request.mask is not None else None
        known: dict[str, Any] = {
            "prompt": request.prompt,
            "references": references,
            "width": request.width,
            "height": request.height,
            "seed": request.seed,
            "negative_prompt": request.negative_prompt,
            "mask": mask,
            "quality": request.quality,
            "transparent": request.transparent,
            "request": request,
            "on_progress": on_progress,
        }
        arguments = [known[meaning] for meaning in self._by_place]
        named = {name: known[meaning] for name, meaning in self._by_name.items()}
        try:
            if inspect.iscoroutinefunction(self._function):
                return await self._function(*arguments, **named)
            returned = await asyncio.to_thread(self._plainly, arguments, named)
            return await cast("Awaitable[object]", returned) if inspect.isawaitable(returned) else returned
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled this call: something inside the function was, and it let that out.
            raise BadResponse(
                f"{self.name} gave itself up: something it waited for was cancelled.",
                remedy="Let the function catch asyncio.CancelledError of its own tasks.",
            ) from error

    def _plainly(self, arguments: list[Any], named: dict[str, Any]) -> object:
        try:
            return self._function(*arguments, **named)
        except StopIteration as error:
            # No future can hold it: whoever waits would wait for ever.
            raise RuntimeError(f"{self.name} raised StopIteration.") from error

    def _pictures(self, returned: object, seed: int | None) -> list[ImageBytes]:
        if returned is None:
            raise NoImage(f"{self.name} returned nothing.", remedy="Let the function return a picture.")
        many = list(cast("Sequence[object]", returned)) if isinstance(returned, list | tuple) else [returned]
        if not many:
            raise NoImage(f"{self.name} returned an empty list.", remedy="Let the function return a picture.")
        return [self._picture(one, seed) for one in many]

    def _picture(self, returned: object, seed: int | None) -> ImageBytes:
        if isinstance(returned, ImageBytes):
            # What it says of itself is measured all the same.
            return read_result(returned.data, what=self.name, seed=seed if returned.seed is None else returned.seed)
        if isinstance(returned, bytes | bytearray | memoryview):
            return read_result(bytes(returned), what=self.name, seed=seed)
        if callable(getattr(returned, "save", None)):
            return read_result(self._encoded(returned), what=self.name, seed=seed)
        remedy = "Return a PIL picture, or the bytes of a PNG, JPEG or WebP file."
        if hasattr(returned, "agenerate"):
            remedy = "It makes a backend rather than a picture: give that backend instead of the function."
        raise BadResponse(f"{self.name} returned a {type(returned).__name__}.", remedy=remedy)

    def _encoded(self, picture: Any) -> bytes:
        buffer = io.BytesIO()
        try:
            picture.save(buffer, "PNG")
        except Exception as error:
            raise BadResponse(
                f"What {self.name} returned, a {type(picture).__name__}, cannot be written as PNG: {error}",
                remedy="Return a PIL picture of mode RGB or RGBA, or the bytes of a PNG, JPEG or WebP file.",
            ) from error
        return buffer.getvalue()


def _taken(function: Drawing) -> tuple[tuple[str, ...], dict[str, str]]:
    """What is given to a function by place, and what under which name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"What {function!r} takes cannot be found out.", remedy="Wrap it: lambda prompt, references: …"
        ) from error
    rest = {one.kind for one in parameters} & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    required = [one for one in parameters if one.default is one.empty and one.kind not in rest]
    means = _meanings([one.name for one in required])
    by_place = tuple(means[one.name] for one in required if one.kind is not one.KEYWORD_ONLY)
    optional = {one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    by_name = {name: name for name in TAKEN if name in optional and name not in means.values()}
    by_name |= {one.name: means[one.name] for one in required if one.kind is one.KEYWORD_ONLY}
    # What takes anything at all takes at least the words and the pictures.
    left = [name for name in ("prompt", "references") if name not in (*by_place, *by_name.values())]
    if inspect.Parameter.VAR_KEYWORD in rest:
        by_name |= {name: name for name in left}
    elif inspect.Parameter.VAR_POSITIONAL in rest and not optional:
        by_place += tuple(left)
    return by_place, by_name


def _meanings(required: Sequence[str]) -> dict[str, str]:
    """What each argument a function needs is: its name says it, or its place among two at most."""
    means = {name: name for name in required if name in TAKEN}
    unknown = [name for name in required if name not in means]
    free = [name for name in ("prompt", "references") if name not in means]
    # Beside a width or a seed only the first one is sure to be the prompt.
    plain = set(means) <= {"prompt", "references"} or (free[:1] == ["prompt"] and unknown == [required[0]])
    if len(required) <= 2 and len(unknown) <= len(free) and plain:
        return means | dict(zip(unknown, free, strict=False))
    if unknown:
        renamed = {name: meant for name in unknown if (meant := _meant(name)) and meant not in means}
        others = [name for name in unknown if name not in renamed]
        what = [f"Rename {', '.join(f'{name} to {meant}' for name, meant in renamed.items())}"] if renamed else []
        what += [f"give {', '.join(others)} a default"] if others else []
        remedy = " and ".join(what)
        raise ConfigError(
            f"The function takes {', '.join(unknown)}, which nobody can give it.",
            remedy=f"{remedy[0].upper()}{remedy[1:]}. What it may take: {', '.join(TAKEN)}.",
        )
    return means


def _meant(name: str) -> str | None:
    """The argument a name of one's own most likely stands for."""
    known = {alias: meant for meant, aliases in _ALIASES.items() for alias in (meant, *aliases)}
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.75)
    return known[close[0]] if close else None


def _opened(references: Sequence[ImageBytes]) -> list[Any]:
    opened: list[Any] = []
    for number, reference in enumerate(references, 1):
        try:
            opened.append(decode(reference.data, MAX_PIXELS)[0])
        except Unreadable as error:
            raise InvalidRequest(f"Reference {number} is {error.reason}.", remedy=error.remedy) from error
    return opened


def _other_size(request: ImageRequest, images: Sequence[ImageBytes], name: str) -> tuple[str, ...]:
    drawn = (images[0].width, images[0].height)
    if request.width is None and request.height is None:
        first = request.references[0] if request.references else None
        if first is None or abs(log(drawn[0] * first.height / (drawn[1] * first.width))) <= _SHAPE:
            return ()
        return (f"The first reference is {first.width}x{first.height}; {name} drew {drawn[0]}x{drawn[1]}.",)
    if (request.width or drawn[0], request.height or drawn[1]) == drawn:
        return ()
    asked = f"{request.width or 'any'}x{request.height or 'any'}"
    return (f"{asked} was asked for; {name} drew {drawn[0]}x{drawn[1]}.",)


def _identity(function: Drawing) -> str:
    import hashlib

    inner = getattr(function, "__wrapped__", function)
    try:
        source = inspect.getsource(inner)
    except (OSError, TypeError):
        source = ""
    name = f"{getattr(inner, '__module__', '')}.{getattr(inner, '__qualname__', type(inner).__name__)}"
    return f"{name}/{hashlib.sha256(source.encode()).hexdigest()[:12]}"
