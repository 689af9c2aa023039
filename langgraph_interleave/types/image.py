"""The contract data between the graph and an image backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph_interleave.types.artifact import ImageBytes
from langgraph_interleave.types.usage import Usage


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an image backend can do. A missing capability is an error or a stated warning, never silence.

    Attributes:
        generate: Draws from text alone.
        edit: `instruct` changes a reference as told, `img2img` restyles it, `none` does neither.
        max_references: How many references it conditions on; 0 for none.
        max_images: Most images one call returns.
        size_multiple: Sides are multiples of this, in pixels.
        min_side: Shortest side, in pixels.
        max_pixels: Largest area, in pixels.
        max_aspect: Longest side over shortest at most; `None` for any.
        sizes: Only these, as `WIDTHxHEIGHT` or as ratios (`16:9`); empty for any within the other bounds.
        seed: `exact` gives the same bytes for the same request and seed; `ignored` does not.
        negative_prompt: It takes words for what must not be there.
        mask: It changes only what a mask marks.
        transparent: It draws on a transparent ground when asked to.
        prompt_batch: Whether requests that wait at the same moment are drawn as one batch: `none`,
            those with `prompts` only, or also those with the same references (`shared_references`).
        progress: What it reports while it draws.
        cancel: `cooperative` stops a drawing under way when its task is cancelled; `none` lets it finish.
        max_prompt_tokens: Longest prompt it reads; more is cut off. `None` where nobody knows.
        concurrency: How many calls may run at once; 1 when it holds a lock.
        billed: Each call costs money; then nothing is drawn on a bet unless asked for.
        choices: Where there are several backends to choose from: the name of each, and what it is for.
    """

    generate: bool = True
    edit: Literal["none", "instruct", "img2img"] = "none"
    max_references: int = 0
    max_images: int = 1
    size_multiple: int = 1
    min_side: int = 16
    max_pixels: int = 4096 * 4096
    max_aspect: float | None = None
    sizes: tuple[str, ...] = ()
    seed: Literal["exact", "ignored"] = "ignored"
    negative_prompt: bool = False
    mask: bool = False
    transparent: bool = False
    prompt_batch: Literal["none", "prompts", "shared_references"] = "none"
    progress: Literal["none", "steps", "previews"] = "none"
    cancel: Literal["none", "cooperative"] = "none"
    max_prompt_tokens: int | None = None
    concurrency: int = 1
    billed: bool = False
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """One request to a backend.

    Half of a character (a surrogate by itself, as a model's broken JSON has it) becomes U+FFFD in its words:
    no server can be sent it.

    Attributes:
        prompt: Text for the model.
        references: Pictures to condition on; the order matters ("image 1", "image 2").
        width: Pixels wanted, or `None` for the first reference's, else the backend's own.
        height: As `width`.
        n: Images wanted; image i uses `seed + i`.
        seed: 0 to 2**32-1, or `None` for the backend's choice.
        negative_prompt: Words for what must not be there, where the backend takes them.
        mask: A picture of the first reference's size; what is transparent in it may change.
        quality: How much care is taken; `None` for the backend's own.
        transparent: Draw on a transparent ground.
        backend: Which of several backends the plan wants for this picture.
        timeout_s: Deadline of the call in seconds.
        extra: Set by the operator, never from a model's words.
    """

    prompt: str
    references: Sequence[ImageBytes] = ()
    width: int | None = None
    height: int | None = None
    n: int = 1
    seed: int | None = None
    negative_prompt: str | None = None
    mask: ImageBytes | None = None
    quality: Literal["draft", "standard", "high"] | None = None
    transparent: bool = False
    backend: str | None = None
    timeout_s: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        for name in ("prompt", "negative_prompt"):
            words = getattr(self, name)
            if isinstance(words, str) and not words.isascii():
                whole = words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
                object.__setattr__(self, name, whole)


@dataclass(frozen=True, slots=True)
class ImageResult:
    """What a backend drew: 1 to n pictures, never none; plus what should be known about it.

    `warnings` name what was not done as asked (snapped size, dropped seed, fewer than n). `signed` says
    that a picture carries its provider's Content Credentials (C2PA) and is kept byte for byte.
    """

    images: tuple[ImageBytes, ...]
    text: str | None = None
    usage: Usage = field(default_factory=Usage)
    warnings: tuple[str, ...] = ()
    model: str | None = None
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a drawing is: `step` of `total`, perhaps with a preview."""

    step: int
    total: int | None = None
    preview: ImageBytes | None = None


OnProgress = Callable[[Progress], None]
