"""Drawing from words: a picture, of the size that was asked for, as many as were asked for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

from langgraph_interleave.errors import CallTimeout, InterleaveError
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.testing.conformance.item import Item, exactly
from langgraph_interleave.testing.conformance.pictures import NEAR, apart, is_black
from langgraph_interleave.testing.conformance.subject import (
    SEED,
    Failed,
    NotApplicable,
    NotProvable,
    Subject,
)
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, Progress

#: The longest shape that is tried, as longer over shorter side, where it names none.
_LONG = 5.0
#: The largest picture it draws is asked for only if it takes so long at most, by what the plainest takes, in seconds.
_LARGE_S = 20.0
#: How many times more words than it reads a prompt has that is too long.
_TOO_LONG = 3


async def draws(subject: Subject) -> str:
    """A whole picture that shows something, and is what it says it is."""
    result = await subject.plain()
    for image in result.images:
        try:
            real = verify_image(image.data, what="the picture")
        except InterleaveError as error:
            raise Failed(error.message) from error
        if real.mime != image.mime:
            raise Failed(f"The picture says it is {image.mime} and is {real.mime}.")
        if (real.width, real.height) != (image.width, image.height):
            raise Failed(
                f"The picture says it is {image.width}x{image.height} and is {real.width}x{real.height}: "
                "measure it, as verify_image does."
            )
        if is_black(image):
            raise Failed("The picture is black or transparent all over: it shows nothing.")
    first = result.images[0]
    return f"Drew {first.width}x{first.height} pixels, {first.mime}."


async def size_as_asked(subject: Subject) -> str:
    """Sizes it says it takes are the sizes that come: a plain one, and the longest shape."""
    seen = [await _sized(subject, subject.request(), strict=True)]
    capabilities, (_, height) = subject.capabilities, subject.size
    longest = min(capabilities.max_aspect or _LONG, _LONG)
    width = int(height * longest) // capabilities.size_multiple * capabilities.size_multiple
    if not capabilities.sizes and width * height <= capabilities.max_pixels and width != subject.size[0]:
        seen.append(await _sized(subject, replace(subject.request(), width=width), strict=True))
    return " ".join(seen)


async def odd_sizes(subject: Subject) -> str:
    """Sizes that are no multiple of anything, upright and wide: as asked, or said to be another."""
    width, height = subject.size
    seen = [
        await _sized(subject, replace(subject.request(), width=w, height=h))
        for w, h in ((width + 7, height + 13), (width * 3 // 2 + 1, height))
    ]
    return " ".join(seen)


async def extreme_sizes(subject: Subject) -> str:
    """Sizes nobody can draw: refused, or another size with a warning."""
    capabilities = subject.capabilities
    sizes = [(0, 0), (-8, 8), (1, 1)]
    if capabilities.max_aspect is not None:
        short = capabilities.min_side
        sizes.append((int(short * capabilities.max_aspect * 1.5) + 1, short))
    seen = [await _sized(subject, replace(subject.request(), width=w, height=h)) for w, h in sizes]
    return " ".join(dict.fromkeys([*seen, await _too_large(subject)]))


async def _too_large(subject: Subject) -> str:
    """More pixels than it says it draws: it may draw as many as it can, which must not take minutes."""
    most, (width, height) = subject.capabilities.max_pixels, subject.size
    side = int((most * 1.5) ** 0.5) + 1
    expected = await subject.seconds() * most / (width * height)
    if expected > _LARGE_S:
        return f"{side}x{side} was not tried: the largest picture may take some {expected:.0f} s."
    request = replace(subject.request(), width=side, height=side, timeout_s=_LARGE_S * 2)
    return await _sized(subject, request)


async def _sized(subject: Subject, request: ImageRequest, *, strict: bool = False) -> str:
    asked = f"{request.width}x{request.height}"
    result = await subject.once(request) if strict else await subject.refused(request)
    if isinstance(result, CallTimeout):
        return f"{asked} was not done in time."
    if isinstance(result, InterleaveError):
        return f"{asked} is refused."
    real = verify_image(result.images[0].data, what="the picture")
    measured = (real.width, real.height)
    if measured == (request.width, request.height):
        return f"{asked} as asked."
    if not says_size(result, measured):
        raise Failed(f"{asked} was asked for, {measured[0]}x{measured[1]} came, and no warning says so.")
    return f"{asked} came as {measured[0]}x{measured[1]}, as a warning says."


def says_size(result: ImageResult, measured: tuple[int, int]) -> bool:
    """Whether a warning names the size that came.

    Example:
        >>> from langgraph_interleave.types import ImageBytes
        >>> picture = ImageBytes(b"", "image/png", 64, 48)
        >>> says_size(ImageResult((picture,), warnings=("70x50 was asked for; drew 64 x 48.",)), (64, 48))
        True
    """
    numbers = [set(re.findall(r"\d+", warning)) for warning in result.warnings]
    return any({str(side) for side in measured} <= found for found in numbers)


async def batch(subject: Subject) -> str:
    """Several pictures in one call: as many as asked, each the one its own seed draws."""
    count = min(3, subject.capabilities.max_images)
    if count == 1:
        raise NotApplicable("It draws one picture a call.")
    request = subject.request()
    result = await subject.draw(replace(request, n=count))
    came = len(result.images)
    if came != count and not (came < count and result.warnings):
        raise Failed(f"{count} pictures were asked for, {came} came, and no warning says so.")
    if not (subject.exact and await subject.repeats()):
        return f"{came} of {count} pictures in one call."
    for index, image in enumerate(result.images):
        single = (await subject.once(replace(request, seed=SEED + index))).images[0]
        if apart(image, single) > NEAR:
            raise Failed(f"Picture {index} of a batch is not the one that seed + {index} draws alone.")
    return f"{came} of {count} pictures in one call, each as its own seed draws it alone."


async def usage(subject: Subject) -> str:
    """What was used is counted, and a backend that is free costs nothing."""
    used = (await subject.plain()).usage
    drawn = len((await subject.plain()).images)
    if used.images != drawn:
        raise Failed(f"It drew {drawn} and counts {used.images} in usage.images.")
    if not subject.capabilities.billed:
        if used.cost_usd:
            raise Failed(f"It says it is not billed, and that the picture cost ${used.cost_usd:g}.")
        return "Pictures are counted; it costs nothing."
    if used.cost_usd is None:
        raise NotProvable("Pictures are counted; what they cost, neither it nor the price table knows.")
    return f"Pictures are counted; this one cost ${used.cost_usd:.4f}."


async def progress(subject: Subject) -> str:
    """It tells how far it is, as it says it does."""
    kind = subject.capabilities.progress
    if kind == "none":
        raise NotApplicable("It does not say how far it is.")
    heard: list[Progress] = []
    await subject.draw(subject.request(), on_progress=heard.append)
    if not heard:
        raise Failed(f'It says progress="{kind}", and on_progress was never called.')
    for one in heard:
        if not isinstance(cast("object", one), Progress):
            raise Failed(f"It reported a {type(one).__name__}, not a Progress.")
        if one.step < 0 or (one.total is not None and one.step > one.total):
            raise Failed(f"It reported step {one.step} of {one.total}.")
    if [one.step for one in heard] != sorted(one.step for one in heard):
        raise Failed(f"Its steps go backwards: {[one.step for one in heard][:12]}.")
    previews = [one.preview for one in heard if one.preview is not None]
    if kind == "previews" and not previews:
        raise Failed('It says progress="previews", and none came.')
    for preview in previews:
        verify_image(preview.data, what="a preview")
    return f"{len(heard)} report{'s' * (len(heard) > 1)} of it, {len(previews)} with a preview."


async def long_prompt(subject: Subject) -> str:
    """A prompt longer than it reads is refused, or it says that it was cut."""
    most = subject.capabilities.max_prompt_tokens
    if most is None:
        raise NotApplicable("It names no longest prompt.")
    words = " ".join(f"a {colour} box," for colour in ("red", "blue", "green") * most)
    request = replace(subject.request(), prompt=f"{words[: most * _TOO_LONG * 4]} and nothing else.")
    result = await subject.refused(request)
    if isinstance(result, InterleaveError):
        return f"Refused ({type(result).__name__})."
    if not result.warnings:
        raise Failed(f"It reads {most} tokens, got several times as many, and did not say what became of them.")
    return f"Drawn, with the warning: {result.warnings[0][:120]}"


async def empty_prompt(subject: Subject) -> str:
    """A prompt without words is drawn, or refused in words."""
    result = await subject.refused(replace(subject.request(), prompt="  "))
    return f"Refused ({type(result).__name__})." if isinstance(result, InterleaveError) else "Drawn all the same."


async def wrong_numbers(subject: Subject) -> str:
    """Numbers of pictures and seeds that cannot be are refused, or it says what became of them."""
    most = subject.capabilities.max_images
    seen: list[str] = []
    for words, request in (
        ("n=0", replace(subject.request(), n=0)),
        (f"n={most + 1}", replace(subject.request(), n=most + 1)),
        ("seed=-1", replace(subject.request(), seed=-1)),
    ):
        result = await subject.refused(request)
        if isinstance(result, InterleaveError):
            seen.append(f"{words} is refused")
            continue
        came = f"{words} gave {len(result.images)} picture{'s' * (len(result.images) != 1)}"
        if len(result.images) != request.n and not (result.warnings and request.n):
            raise Failed(f"{came}, and no warning says so.")
        drawn = result.images[0].seed
        if request.seed == -1 and drawn not in (None, -1) and subject.exact and not result.warnings:
            raise Failed(f"{came}, drawn with the seed {drawn}, and no warning says so.")
        seen.append(came if len(result.images) == request.n else f"{came}, with a warning")
    return f"{'; '.join(seen)}."


def _batch_calls(capabilities: Capabilities) -> int:
    count = min(3, capabilities.max_images)
    return 0 if count == 1 else count if capabilities.seed == "exact" else 1


ITEMS = (
    Item(
        "draws",
        "Draws a whole picture that is what it says it is",
        draws,
        exactly(1),
        remedy=(
            "Return ImageResult((verify_image(data, what=…),)): verify_image of langgraph_interleave.imaging "
            "decodes and measures."
        ),
    ),
    Item(
        "usage",
        "Counts what it used",
        usage,
        exactly(0),
        remedy="Return ImageResult(…, usage=Usage(images=len(images))); where nothing is billed, without cost_usd.",
    ),
    Item(
        "size_as_asked",
        "Draws a size it takes as asked",
        size_as_asked,
        exactly(1),
        remedy=(
            "Draw request.width x request.height, or say what it takes (Capabilities: sizes, size_multiple, "
            'min_side, max_pixels), or name the size that came in a warning: ImageResult(…, warnings=("128x128 '
            'was asked for; 256x256 came.",)).'
        ),
    ),
    Item(
        "odd_sizes",
        "Draws odd sizes, or says which size came",
        odd_sizes,
        exactly(2),
        remedy=(
            'Name the size that came in a warning: ImageResult(…, warnings=("135x141 was asked for; 128x128 '
            'came.",)), or raise InvalidRequest.'
        ),
    ),
    Item(
        "extreme_sizes",
        "Refuses impossible sizes, or says which size came",
        extreme_sizes,
        exactly(5),
        remedy=(
            "Raise InvalidRequest(message, remedy=…), as check_request of langgraph_interleave.backends.requests "
            "does, or name the size that came in a warning."
        ),
    ),
    Item(
        "batch",
        "Draws several pictures in one call",
        batch,
        _batch_calls,
        remedy=(
            "Draw request.n pictures, number i with request.seed + i; with fewer add a warning, or say "
            "Capabilities(max_images=1)."
        ),
    ),
    Item(
        "progress",
        "Tells how far it is",
        progress,
        lambda can: int(can.progress != "none"),
        remedy='Call on_progress(Progress(step, total)) with rising steps, or say Capabilities(progress="none").',
    ),
    Item(
        "empty_prompt",
        "Draws or refuses a prompt without words",
        empty_prompt,
        exactly(1),
        remedy="Draw it all the same, or raise InvalidRequest(message, remedy=…).",
    ),
    Item(
        "long_prompt",
        "Says so when a prompt is too long",
        long_prompt,
        lambda can: int(bool(can.max_prompt_tokens)),
        remedy="Add a warning where a prompt is shortened, or raise InvalidRequest(message, remedy=…).",
    ),
    Item(
        "wrong_numbers",
        "Refuses numbers that cannot be",
        wrong_numbers,
        exactly(3),
        remedy=(
            "Raise InvalidRequest for n below 1 or above max_images and for a seed below 0, as check_request of "
            "langgraph_interleave.backends.requests does, or say in a warning what was drawn."
        ),
    ),
)
