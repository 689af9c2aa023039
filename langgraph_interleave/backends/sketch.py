"""The backend `sketch`: hand-drawn storyboard pictures by code. No model, no network, no cost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langgraph_interleave.backends.base import Companions
from langgraph_interleave.backends.untaken import untaken
from langgraph_interleave.errors import CallTimeout, ConfigError, InvalidRequest
from langgraph_interleave.types import Capabilities, ImageBytes, ImageRequest, ImageResult, OnProgress, Progress, Usage

if TYPE_CHECKING:
    from langgraph_interleave.world.scene import Scene

#: Changes whenever the same request would be drawn in another way.
_VERSION = 1
#: Told with every document.
SKETCHED = "Sketches drawn by code."
#: Pixels of a picture nobody gave a size for.
SIDE = 512
_MAX_IMAGES = 8
_MAX_REFERENCES = 8
_MAX_SEED = 2**32
# A reference larger than this does not make the sketch as large.
_LARGEST_BY_REFERENCE = 1536


@dataclass(frozen=True, slots=True)
class Understood:
    """What a request asks for: the scene, the photo pinned up in it, and what was not done as asked."""

    scene: Scene
    photo: ImageBytes | None = None
    warnings: tuple[str, ...] = ()


class SketchBackend:
    """Draws scenes as a storyboard artist would: by hand, plainly, the same way every time.

    It reads the prompt as a scene of the built-in world. With a picture of its own as first
    reference, a prompt that tells a change is applied to that picture's scene; any other picture is
    pinned up in the scene as a photo. A word it does not know becomes a labelled card, and a
    warning. It makes no mistakes of drawing; it does not understand more than its vocabulary.

    Example:
        >>> import asyncio
        >>> from langgraph_interleave.types import ImageRequest
        >>> result = asyncio.run(SketchBackend().agenerate(ImageRequest(prompt="a red ball", width=128, height=128)))
        >>> result.images[0].width
        128
    """

    name = "sketch"
    fingerprint = f"sketch/{_VERSION}"
    companions = Companions(planner="scene", critic="pixel", note=SKETCHED, style_in_prompts=False)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        from langgraph_interleave.world.render import MAX_ASPECT, MAX_SIDE, MIN_SIDE

        return Capabilities(
            generate=True, edit="instruct", max_references=_MAX_REFERENCES, max_images=_MAX_IMAGES, size_multiple=1,
            min_side=MIN_SIDE, max_pixels=MAX_SIDE * MAX_SIDE, max_aspect=MAX_ASPECT, seed="exact", progress="steps",
            concurrency=16, billed=False,
        )  # fmt: skip

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw.

        Args:
            request: Prompt, references in order, size (64 to 4096 a side, at most 3 : 1), seed.
            on_progress: Called after each picture.

        Returns:
            `request.n` pictures; image i is drawn with `seed + i`.

        Raises:
            InvalidRequest: A size, number or seed is out of range.
            CallTimeout: The deadline passed.
        """
        width, height, warnings = size_of(request)
        _check(request)
        try:
            async with asyncio.timeout(request.timeout_s):
                understood = await asyncio.to_thread(understand, request)
                images: list[ImageBytes] = []
                for index in range(request.n):
                    seed = ((request.seed or 0) + index) % _MAX_SEED
                    images.append(await asyncio.to_thread(draw, understood, width, height, seed))
                    if on_progress is not None:
                        on_progress(Progress(step=index + 1, total=request.n))
        except TimeoutError as error:
            raise CallTimeout(
                f"The sketch was not finished within {request.timeout_s:g} s.",
                remedy="Allow more time, or ask for a smaller picture.",
                ambiguous=False,
            ) from error
        return ImageResult(
            tuple(images),
            usage=Usage(images=len(images), cost_usd=0.0),
            warnings=(*warnings, *understood.warnings, *untaken(request, self.capabilities, what="The sketch")),
            model=self.fingerprint,
        )


def understand(request: ImageRequest) -> Understood:
    """Read a request: which scene is asked for, and which photo belongs into it.

    Args:
        request: Its prompt and references are read, nothing else.

    Returns:
        The scene; warnings name words that are not known, changes that were not understood and
        characters that no font has.

    Example:
        >>> understood = understand(ImageRequest(prompt="three red apples on a table"))
        >>> [(thing.kind, thing.color, thing.count) for thing in understood.scene.things]
        [('apple', 'red', 3)]
    """
    from langgraph_interleave.world.grammar import read, revise
    from langgraph_interleave.world.marks import photo_of, scene_of

    scenes = [scene_of(reference.data) for reference in request.references]
    before = scenes[0] if scenes else None
    photo = next((picture for picture, scene in zip(request.references, scenes, strict=True) if scene is None), None)
    warnings: list[str] = []
    unknown: tuple[str, ...] = ()
    left_out = 0
    stated = _stated(request.prompt)
    if stated is not None:
        scene = stated
    elif before is not None:
        reading = revise(request.prompt, before)
        scene, unknown, left_out = reading.scene, reading.unknown, reading.left_out
        if scene == before and request.prompt.strip():
            warnings.append(f"No change was understood in {_quoted(request.prompt)}; the scene is drawn as it was.")
    else:
        reading = read(request.prompt)
        scene, unknown, left_out = reading.scene, reading.unknown, reading.left_out
    if photo is not None and not scene.photo:
        scene = scene.model_copy(update={"photo": True})
    if scene.photo and photo is None:
        photo = next((kept for picture in request.references if (kept := photo_of(picture.data))), None)
        if photo is None:
            warnings.append("A photo is asked for but none was given; an empty mount is drawn in its place.")
    photos = sum(scene is None for scene in scenes)
    if photos > 1:
        warnings.append(f"Of {photos} photos among the references the first is pinned up, and no other.")
    if left_out:
        warnings.append(f"{left_out} things are left out: a sketch shows {len(scene.things)} at most.")
    if unknown:
        words = ", ".join(dict.fromkeys(unknown))
        warnings.append(f"Not in the sketch's vocabulary, drawn as labelled cards: {words}.")
    return Understood(scene, photo, (*warnings, *_missing(scene)))


def size_of(request: ImageRequest) -> tuple[int, int, tuple[str, ...]]:
    """The size to draw: as asked, else the first reference's, else 512 x 512; with what had to be said about it.

    Raises:
        InvalidRequest: What was asked for is out of range.
    """
    from langgraph_interleave.world.render import MAX_ASPECT, MAX_SIDE, MIN_SIDE

    width, height = request.width, request.height
    first = request.references[0] if request.references else None
    if width is None and height is None and first is not None:
        w, h = float(first.width), float(first.height)
        # The longer side gives way where the picture is too long, then all of it where it is too large or small.
        w, h = min(w, h * MAX_ASPECT), min(h, w * MAX_ASPECT)
        scale = min(1.0, _LARGEST_BY_REFERENCE / max(w, h))
        scale = max(scale, MIN_SIDE / min(w, h))
        size = (round(w * scale), round(h * scale))
        said = f"The first reference is {first.width}x{first.height}; the sketch is {size[0]}x{size[1]}."
        return *size, () if size == (first.width, first.height) else (said,)
    aspect = first.width / first.height if first is not None else 1.0
    if width is None:
        width = round(height * aspect) if height is not None else SIDE
    if height is None:
        height = round(width / aspect)
    if not (MIN_SIDE <= width <= MAX_SIDE and MIN_SIDE <= height <= MAX_SIDE):
        raise InvalidRequest(
            f"A sketch of {width}x{height} pixels cannot be drawn.",
            remedy=f"Ask for sides of {MIN_SIDE} to {MAX_SIDE}.",
        )
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise InvalidRequest(
            f"A sketch of {width}x{height} pixels is too long.",
            remedy=f"The longer side is at most {MAX_ASPECT:g} times the shorter.",
        )
    return width, height, ()


def _check(request: ImageRequest) -> None:
    if not 1 <= request.n <= _MAX_IMAGES:
        raise InvalidRequest(
            f"{request.n} sketches cannot be drawn in one call.", remedy=f"Ask for 1 to {_MAX_IMAGES} images."
        )
    if len(request.references) > _MAX_REFERENCES:
        raise InvalidRequest(
            f"{len(request.references)} references are too many.", remedy=f"Give at most {_MAX_REFERENCES}."
        )
    if request.seed is not None and not 0 <= request.seed < _MAX_SEED:
        raise InvalidRequest(f"The seed {request.seed} is out of range.", remedy="Give 0 to 2**32 - 1.")
    if request.extra:
        raise InvalidRequest(
            f"The sketch has no option {', '.join(sorted(request.extra))}.",
            remedy="Leave `extra` empty for this backend.",
        )


def _stated(prompt: str) -> Scene | None:
    """The scene a prompt states in full, in canonical words; `None` when it is put otherwise."""
    from langgraph_interleave.world.grammar import describe, target

    scene = target(prompt)
    try:
        words = describe(scene)
    except ConfigError:
        # It relates to a thing that is not there: not canonical.
        return None
    return scene if words[1:] in prompt else None


def draw(understood: Understood, width: int, height: int, seed: int) -> ImageBytes:
    """Draw what was understood.

    Raises:
        InvalidRequest: The photo in it cannot be decoded.
    """
    from langgraph_interleave.world.render import render

    try:
        return render(understood.scene, width=width, height=height, seed=seed, photo=understood.photo)
    except (OSError, ValueError, SyntaxError) as error:
        # Only the photo comes from outside.
        raise InvalidRequest(
            f"The reference pinned up as a photo cannot be decoded: {error}.",
            remedy="Give a PNG, JPEG or WebP picture.",
        ) from error


def _missing(scene: Scene) -> tuple[str, ...]:
    from langgraph_interleave.world.fonts import REMEDY
    from langgraph_interleave.world.lettering import missing_glyphs

    written = [thing.label or thing.kind for thing in scene.things if thing.kind == "card"]
    missing = missing_glyphs(" ".join((*written, scene.caption or "")))
    return (
        (f"No font of this machine has the characters {missing}; they are drawn as empty boxes. {REMEDY}",)
        if missing
        else ()
    )


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f"“{text[:77]}…”" if len(text) > 78 else f"“{text}”"
