"""The backend that is tried: made by its factory, asked for pictures at a counted price."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.errors import ConfigError, InterleaveError
from langgraph_interleave.testing.conformance.pictures import NEAR, apart, two_colours
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress, Usage

RED, BLUE, GREEN, YELLOW = (220, 30, 30), (30, 60, 220), (30, 160, 60), (240, 210, 40)
#: Seeds of the requests that are compared.
SEED = 7
#: How much later than patience lasts an answer is one all the same, in seconds.
_LATE_S = 1.0
#: Pixels a side of a picture nobody chose a size for, where the backend takes so few.
_SIDE = 128


_LATE = "End it in time: async with asyncio.timeout(request.timeout_s), and raise CallTimeout."
_RESULT = "Return ImageResult((verify_image(data, what=…),)), with at least one picture, or raise NoImage."
_WORDS = 'Give every error both: InvalidRequest("1 x 1 pixels are too few.", remedy="Ask for 16 or more.").'
_OWN = "Catch asyncio.CancelledError of tasks of its own, and raise BadResponse."


class Failed(Exception):
    """The backend does not do what it must.

    Args:
        says: The finding's sentence.
        remedy: What its author can write instead; by default what the item says.
    """

    def __init__(self, says: str, remedy: str = "") -> None:
        super().__init__(says)
        self.remedy = remedy


class NotApplicable(Exception):
    """The backend says it does nothing of the kind."""


class NotProvable(Exception):
    """Nobody can tell from outside."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a backend is tried.

    Attributes:
        prompt: What is drawn.
        edit_prompt: What is asked of a picture with references.
        size: Width and height in pixels; by default the smallest comfortable size the backend takes.
        at_once: Most calls made at the same time.
        max_calls: Calls at most; items there is no call left for are not provable.
        patience_s: Seconds after which a call counts as hanging.
        item_s: Seconds an item may take, with all its calls; one that takes longer is `not provable`.
        cancel_s: Seconds a cancelled call may take to end.
        allow_billed: Try a backend whose calls cost money.
    """

    prompt: str = "a red ball on a table"
    edit_prompt: str = "Put a red ball next to it."
    size: tuple[int, int] | None = None
    at_once: int = 4
    max_calls: int | None = None
    patience_s: float = 300.0
    item_s: float = 600.0
    cancel_s: float = 30.0
    allow_billed: bool = False


@dataclass(slots=True)
class Taken:
    """What was used so far."""

    calls: int = 0
    images: int = 0
    costs: list[float | None] = field(default_factory=list[float | None])

    @property
    def cost_usd(self) -> float | None:
        """The sum, where every call told."""
        known = [cost for cost in self.costs if cost is not None]
        return sum(known) if len(known) == len(self.costs) else None


class Subject:
    """One backend under trial. What was drawn once is not drawn again for the next item.

    Args:
        factory: Makes the backend; called again to see whether a second one says the same of itself.
        options: How it is tried.

    Attributes:
        problem: The last error that says nothing about the backend: a key, a model or a server is missing.
        words: Everything it said: warnings, names, messages of errors.

    Raises:
        ConfigError: The factory makes no backend, or one that is billed and was not allowed to be.
    """

    def __init__(self, factory: Callable[[], ImageBackend], options: Options = Options()) -> None:
        self.options = options
        self.make = factory
        self.backend, self.capabilities = _held(factory())
        if self.capabilities.billed and not options.allow_billed:
            raise ConfigError(
                f"{self.backend.name} is billed: each call of the check costs money.",
                remedy="Allow it with allow_billed=True (on the command line: --yes), perhaps with a cap of calls.",
            )
        self.size = options.size or smallest(self.capabilities)
        self.taken = Taken()
        self.words: list[str] = []
        self.problem: InterleaveError | None = None
        self._drawn: dict[object, ImageResult] = {}
        self._again: ImageBytes | None = None
        self._took = 0.0

    @property
    def exact(self) -> bool:
        """Whether the same request with the same seed is the same picture, by its own word."""
        return self.capabilities.seed == "exact"

    def request(self, *, references: tuple[ImageBytes, ...] = (), seed: int = SEED) -> ImageRequest:
        """A request the backend can do: of its size, from nothing where it draws from nothing."""
        if not references and not self.capabilities.generate:
            references = (two_colours(RED, BLUE),)
        prompt = self.options.edit_prompt if references else self.options.prompt
        return ImageRequest(prompt, references=references, width=self.size[0], height=self.size[1], seed=seed)

    async def draw(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw, counted.

        Raises:
            InterleaveError: What the backend raises, where it is of the tree.
            Failed: It raised something else, or does not answer at all, or answers with something else.
            NotProvable: No calls are left.
        """
        result = await self.ended(self.start(request, on_progress=on_progress), request)
        return self.read(result)

    def start(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> asyncio.Task[ImageResult]:
        """Begin to draw, counted, and do not wait."""
        if self.options.max_calls is not None and self.taken.calls >= self.options.max_calls:
            raise NotProvable(f"The {self.options.max_calls} calls that were allowed are used up.")
        self.taken.calls += 1
        return asyncio.ensure_future(self._called(request, on_progress))

    async def _called(self, request: ImageRequest, on_progress: OnProgress | None) -> ImageResult:
        before = replace(request, extra=dict(request.extra))
        # Without progress as most callers call it: not every backend takes the argument by position.
        if on_progress is None:
            result = await self.backend.agenerate(request)
        else:
            result = await self.backend.agenerate(request, on_progress=on_progress)
        if request != before:
            raise Failed("It changed the request it was given: whoever asked may ask again with it.")
        return result

    async def ended(self, task: asyncio.Task[ImageResult], request: ImageRequest) -> object:
        """Wait for a drawing, as long as patience lasts."""
        started = time.monotonic()
        try:
            done, _ = await asyncio.wait({task}, timeout=self.options.patience_s)
        finally:
            # Of a drawing that is over this is no more than a word.
            task.cancel()
        # Where it stops the loop, nothing can end the wait but itself.
        if not done or time.monotonic() - started > self.options.patience_s + _LATE_S:
            raise Failed(f"No answer within {self.options.patience_s:g} s to {told(request)}.", _LATE)
        return outcome_of(task, request, self.words)

    def read(self, result: object) -> ImageResult:
        """Hold a result against its type, and count what it used."""
        if not isinstance(result, ImageResult):
            raise Failed(f"It returned a {type(result).__name__}, not an ImageResult.", _RESULT)
        images = cast("tuple[object, ...]", result.images)
        if not images or not all(isinstance(image, ImageBytes) for image in images):
            raise Failed("Its result holds no picture.", _RESULT)
        for image in result.images:
            if not isinstance(cast("object", image.data), bytes):
                raise Failed(f"The data of its picture is a {type(image.data).__name__}, not bytes.")
        if not isinstance(cast("object", result.usage), Usage):
            raise Failed(f"Its usage is a {type(result.usage).__name__}, not a Usage.")
        if not isinstance(cast("object", result.warnings), tuple | list):
            raise Failed(f"Its warnings are a {type(result.warnings).__name__}, not a tuple of words.")
        self.taken.images += len(result.images)
        self.taken.costs.append(result.usage.cost_usd)
        self.words += [*map(str, result.warnings), result.text or "", result.model or ""]
        return result

    async def once(self, request: ImageRequest) -> ImageResult:
        """Draw, unless this very request was drawn for another item before."""
        key = _key(request)
        if key not in self._drawn:
            self._drawn[key] = await self.draw(request)
        return self._drawn[key]

    async def plain(self) -> ImageResult:
        """The plainest drawing there is."""
        return await self.once(self.request())

    async def again(self) -> ImageBytes:
        """The plainest drawing, drawn a second time."""
        if self._again is None:
            await self.plain()
            started = time.monotonic()
            self._again = (await self.draw(self.request())).images[0]
            self._took = time.monotonic() - started
        return self._again

    async def repeats(self) -> bool:
        """Whether the same request is the same picture: then two drawings can be compared.

        That is tried, whatever it says of seeds: behind a service that ignores them may be a model that
        takes none.

        Raises:
            NotProvable: It says that the same seed draws the same, and it does not.
        """
        if apart((await self.plain()).images[0], await self.again()) <= NEAR:
            return True
        if self.exact:
            raise NotProvable("It does not repeat itself (see same_seed), so drawings cannot be compared.")
        return False

    async def seconds(self) -> float:
        """How long the plainest drawing takes; the first one may have loaded a model."""
        await self.again()
        return self._took

    async def refused(self, request: ImageRequest) -> InterleaveError | ImageResult:
        """Draw what cannot be drawn: the error of the tree, or whatever came instead.

        Raises:
            Failed: The error says nothing, or not what to do.
        """
        try:
            return await self.draw(request)
        except InterleaveError as error:
            if not error.message.strip():
                raise Failed(f"{type(error).__name__} for {told(request)} has no message.", _WORDS) from error
            if not error.remedy.strip():
                raise Failed(f"{type(error).__name__} for {told(request)} does not say what to do.", _WORDS) from error
            return error


def _held(backend: object) -> tuple[ImageBackend, Capabilities]:
    """A backend, held against its contract, and what it says it can do."""
    try:
        stated: object = backend.capabilities if isinstance(backend, ImageBackend) else None
    except Exception as error:
        raise ConfigError(
            f"A {type(backend).__name__} does not say what it can do: {type(error).__name__}: {error}",
            remedy="Let `capabilities` return langgraph_interleave.types.Capabilities at any time.",
        ) from error
    if not isinstance(backend, ImageBackend):
        lacking = [name for name in ("name", "fingerprint", "capabilities", "agenerate") if not hasattr(backend, name)]
        raise ConfigError(
            f"A {type(backend).__name__} is no image backend: it lacks {', '.join(lacking)}.",
            remedy="Meet the contract of langgraph_interleave.backends.base.",
        )
    if not isinstance(stated, Capabilities):
        raise ConfigError(
            f"The capabilities of a {type(backend).__name__} are a {type(stated).__name__}.",
            remedy="Return langgraph_interleave.types.Capabilities.",
        )
    return backend, stated


def outcome_of(task: asyncio.Task[ImageResult], request: ImageRequest, words: list[str]) -> object:
    """What became of a drawing that is over; errors that are none of ours are a finding."""
    try:
        return task.result()
    except InterleaveError as error:
        words += [str(error), repr(error)]
        raise
    except Failed:
        raise
    except asyncio.CancelledError as error:
        raise Failed(f"It cancelled itself at {told(request)}.", _OWN) from error
    except Exception as error:
        words += [str(error)]
        said = " ".join(str(error).split())[:160]
        raise Failed(
            f"{type(error).__name__} ({said}) came for {told(request)}: only errors of the tree may come.",
            "Catch it and raise one of langgraph_interleave.errors instead: InvalidRequest for what cannot be drawn, "
            "Unavailable, NoImage, BadResponse …, with message and remedy.",
        ) from error


def told(request: ImageRequest) -> str:
    """A request in a few words, for a finding."""
    parts = [f"{request.width}x{request.height} px" if request.width is not None else "no size"]
    if request.references:
        parts.append(f"{len(request.references)} reference{'s' * (len(request.references) > 1)}")
    if request.n != 1:
        parts.append(f"n={request.n}")
    if not request.prompt.strip():
        parts.append("no prompt")
    parts += [name for name in ("mask", "negative_prompt", "transparent") if getattr(request, name)]
    return f"a request of {', '.join(parts)}"


def smallest(capabilities: Capabilities) -> tuple[int, int]:
    """The smallest comfortable size a backend takes, by its own word.

    Example:
        >>> smallest(Capabilities(size_multiple=48)), smallest(Capabilities(sizes=("1024x1024", "512x768")))
        ((144, 144), (512, 768))
    """
    pairs = [size.partition("x") for size in capabilities.sizes]
    fixed = [(int(width), int(height)) for width, x, height in pairs if x]
    if fixed:
        return min(fixed, key=lambda size: size[0] * size[1])
    multiple = max(1, capabilities.size_multiple)
    side = -(-max(_SIDE, capabilities.min_side) // multiple) * multiple
    most = int(capabilities.max_pixels**0.5) // multiple * multiple
    side = min(side, most) if most else side
    return side, side


def _key(request: ImageRequest) -> object:
    """What makes two requests the same one."""
    pictures = tuple(reference.sha256 for reference in request.references)
    mask = None if request.mask is None else request.mask.sha256
    size = (request.width, request.height, request.n, request.seed, request.timeout_s)
    return request.prompt, pictures, mask, size, request.negative_prompt, request.quality, request.transparent
