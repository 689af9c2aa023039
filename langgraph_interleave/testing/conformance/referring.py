"""References: that they arrive, each of them, in order; and that what cannot be used is refused or told."""

from __future__ import annotations

from dataclasses import replace
from math import log

from langgraph_interleave.errors import InterleaveError
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.testing.conformance.drawing import says_size
from langgraph_interleave.testing.conformance.item import Item, exactly, with_references
from langgraph_interleave.testing.conformance.pictures import (
    NEAR,
    SIDE,
    apart,
    broken,
    half_mask,
    is_see_through,
    mean_apart,
    two_colours,
)
from langgraph_interleave.testing.conformance.subject import (
    BLUE,
    GREEN,
    RED,
    YELLOW,
    Failed,
    NotApplicable,
    NotProvable,
    Subject,
)
from langgraph_interleave.types import ImageRequest, ImageResult

#: How far the shape of an edited picture may be from its reference's, as the logarithm of the ratio.
_SHAPE = 0.15
#: What a mask keeps may change by this much on average, in grey levels: models see through a lossy code.
_KEPT = 24.0
_CHANCE = "Two drawings of one request differ by chance: what made the difference cannot be told."
_NONE = "It takes no references."
_FEW = (_NONE, "It takes one reference.")


async def edits(subject: Subject) -> str:
    """A reference becomes a picture of its shape; where nothing is edited, a reference is refused or told of."""
    capabilities = subject.capabilities
    wide = two_colours(RED, BLUE, width=SIDE * 3 // 2, height=SIDE)
    request = replace(subject.request(references=(wide,)), width=None, height=None)
    if not capabilities.max_references:
        result = await subject.refused(request)
        if isinstance(result, InterleaveError):
            raise NotApplicable(f"{_NONE} A reference is refused ({type(result).__name__}).")
        if not result.warnings:
            raise Failed("It takes no references, got one, and drew without a word about it.")
        raise NotApplicable(f"{_NONE} It says so in a warning.")
    if capabilities.edit == "none":
        raise NotApplicable("It looks at references, and does not edit.")
    result = await subject.draw(request)
    image = verify_image(result.images[0].data, what="the picture")
    if abs(log(image.width / image.height / 1.5)) > _SHAPE and not says_size(result, (image.width, image.height)):
        raise Failed(
            f"The reference is {wide.width}x{wide.height}, no size was asked for, {image.width}x{image.height} came: "
            "another shape, and no warning says so."
        )
    return f"A reference of {wide.width}x{wide.height} became a picture of {image.width}x{image.height}."


async def references_arrive(subject: Subject) -> str:
    """With another reference, and without one, the same request is another picture."""
    await _comparable(subject, 1)
    first, distance = await _difference(subject)
    if distance <= NEAR:
        raise Failed("Two quite different references gave the same picture: they do not arrive.")
    if not subject.capabilities.generate:
        return f"Another reference changes the picture by up to {distance} grey levels."
    without = await subject.once(replace(subject.request(), prompt=subject.options.edit_prompt))
    if apart(first.images[0], without.images[0]) <= NEAR:
        raise Failed("With a reference and without one the same picture came.")
    return f"Another reference changes the picture by up to {distance} grey levels, and so does none."


async def references_order(subject: Subject) -> str:
    """The first reference is the first: it gives the shape, and the other order is another picture."""
    if subject.capabilities.max_references < 2:
        raise NotApplicable(_FEW[subject.capabilities.max_references])
    wide = two_colours(RED, BLUE, width=SIDE * 2)
    tall = two_colours(GREEN, YELLOW, height=SIDE * 2)
    for references, across in (((wide, tall), True), ((tall, wide), False)):
        request = replace(subject.request(references=references), width=None, height=None)
        result = await subject.once(request)
        image = verify_image(result.images[0].data, what="the picture")
        if (image.width > image.height) is not across and not says_size(result, (image.width, image.height)):
            raise Failed(
                f"The first reference is {references[0].width}x{references[0].height}, no size was asked for, "
                f"{image.width}x{image.height} came: it has not the shape of the first one."
            )
    if not await subject.repeats():
        raise NotProvable(f"The picture has the shape of the first. {_CHANCE}")
    await _arriving(subject)
    there = await subject.once(subject.request(references=(wide, tall)))
    back = await subject.once(subject.request(references=(tall, wide)))
    distance = apart(there.images[0], back.images[0])
    if distance <= NEAR:
        raise Failed("The same two references in the other order gave the same picture: their order is lost.")
    return f"The picture has the shape of the first, and the other order changes it by up to {distance} grey levels."


async def every_reference(subject: Subject) -> str:
    """The second reference counts too, or it is said that it does not."""
    await _comparable(subject, 2)
    await _arriving(subject)
    first, second, other = two_colours(RED, BLUE), two_colours(GREEN, YELLOW), two_colours(YELLOW, RED)
    one = await subject.once(subject.request(references=(first, second)))
    two = await subject.once(subject.request(references=(first, other)))
    if apart(one.images[0], two.images[0]) > NEAR:
        return "The second reference changes the picture too."
    if one.warnings and two.warnings:
        return f"The second reference is not used, as a warning says: {one.warnings[0][:120]}"
    raise Failed("The second reference makes no difference, and no warning says so.")


async def too_many_references(subject: Subject) -> str:
    """More references than it takes are refused, or it says which were left out."""
    most = subject.capabilities.max_references
    if not most:
        raise NotApplicable(_NONE)
    picture = two_colours(RED, BLUE)
    result = await subject.refused(subject.request(references=(picture,) * (most + 1)))
    if isinstance(result, InterleaveError):
        return f"{most + 1} references are refused."
    if not result.warnings:
        raise Failed(f"It takes {most} references, got {most + 1}, and did not say what became of them.")
    return f"{most + 1} references: {result.warnings[0][:120]}"


async def broken_reference(subject: Subject) -> str:
    """A reference that cannot be decoded is refused, or it says that it was left out."""
    if not subject.capabilities.max_references:
        raise NotApplicable(_NONE)
    result = await subject.refused(subject.request(references=(broken(),)))
    if isinstance(result, InterleaveError):
        return f"Refused: {result.message[:120]}"
    if not result.warnings:
        if await subject.repeats():
            await _arriving(subject)
        raise Failed("A reference that is no picture was drawn from as if it were one.")
    return f"Drawn, with the warning: {result.warnings[0][:120]}"


async def mask(subject: Subject) -> str:
    """What a mask keeps is kept; where masks are not taken, that is said."""
    if not subject.capabilities.max_references:
        raise NotApplicable(_NONE)
    width, height = subject.size
    before = two_colours(RED, BLUE, width=width, height=height)
    request = replace(subject.request(references=(before,)), mask=half_mask(width, height))
    if not subject.capabilities.mask:
        plain = subject.request(references=(two_colours(RED, BLUE),))
        return await _untaken(subject, request, "a mask", beside=plain)
    after = (await subject.draw(request)).images[0]
    kept = mean_apart(before, after, (width // 2 + width // 16, 0, width, height))
    if kept <= _KEPT:
        return f"What the mask keeps changed by {kept:.1f} grey levels on average."
    if not await subject.repeats():
        raise NotProvable(f"It took the mask, and what it keeps changed by {kept:.0f} grey levels: a wish to it.")
    raise Failed(f"What the mask keeps changed by {kept:.0f} grey levels on average.")


async def negative_prompt(subject: Subject) -> str:
    """Words for what must not be there change the picture; where they are not taken, that is said."""
    request = replace(subject.request(), negative_prompt="red, ball, table")
    if not subject.capabilities.negative_prompt:
        return await _untaken(subject, request, "a negative prompt", beside=subject.request())
    result = await subject.draw(request)
    if not await subject.repeats():
        raise NotProvable(_CHANCE)
    if apart(result.images[0], (await subject.plain()).images[0]) <= NEAR:
        raise Failed("With a negative prompt and without one the same picture came.")
    return "A negative prompt changes the picture."


async def transparent(subject: Subject) -> str:
    """A transparent ground is transparent; where there is none, that is said."""
    request = replace(subject.request(), transparent=True)
    if not subject.capabilities.transparent:
        return await _untaken(subject, request, "a transparent ground", beside=subject.request())
    result = await subject.draw(request)
    if is_see_through(result.images[0]):
        return "The ground is transparent."
    if (said := _news(result, await subject.plain())) is not None:
        return f"It is not transparent, as a warning says: {said[:120]}"
    raise Failed("A transparent ground was asked for, the picture is opaque, and no warning says so.")


async def _untaken(subject: Subject, request: ImageRequest, what: str, *, beside: ImageRequest) -> str:
    result = await subject.refused(request)
    if isinstance(result, InterleaveError):
        raise NotApplicable(f"It does not take {what}, and refuses one.")
    said = _news(result, await subject.once(beside)) if result.warnings else None
    if said is None:
        raise Failed(f"It does not take {what}, got one, and drew without a word about it.")
    raise NotApplicable(f"It does not take {what}, as a warning says: {said[:120]}")


def _news(result: ImageResult, beside: ImageResult) -> str | None:
    """The first warning of a drawing that the drawing beside it has not: what is said of both is about neither."""
    return next((warning for warning in result.warnings if warning not in beside.warnings), None)


async def _comparable(subject: Subject, references: int) -> None:
    if subject.capabilities.max_references < references:
        raise NotApplicable(_FEW[subject.capabilities.max_references])
    if not await subject.repeats():
        raise NotProvable(_CHANCE)


async def _difference(subject: Subject) -> tuple[ImageResult, int]:
    """A drawing from a reference, and how far that from quite another one is from it."""
    first = await subject.once(subject.request(references=(two_colours(RED, BLUE),)))
    other = await subject.once(subject.request(references=(two_colours(GREEN, YELLOW),)))
    return first, apart(first.images[0], other.images[0])


async def _arriving(subject: Subject) -> None:
    if (await _difference(subject))[1] <= NEAR:
        raise NotProvable("References do not arrive at all (see references_arrive).")


ITEMS = (
    Item(
        "edits",
        "Edits a reference in its own shape, or says that it does not",
        edits,
        exactly(1),
        remedy=(
            "Without a size draw in the shape of the first reference, or name the size that came in a warning; "
            "where it does not edit, raise InvalidRequest or add a warning."
        ),
    ),
    Item(
        "references_arrive",
        "Draws from its references",
        references_arrive,
        with_references(3),
        remedy='Hand request.references to the model, or say Capabilities(edit="none", max_references=0).',
    ),
    Item(
        "references_order",
        "Keeps the order of its references",
        references_order,
        with_references(4, least=2),
        remedy="Hand request.references on in their order; without a size the first one gives the shape.",
    ),
    Item(
        "every_reference",
        "Draws from each of them, or says so",
        every_reference,
        with_references(2, least=2),
        remedy=(
            "Hand on all of request.references, or say so: Capabilities(max_references=1), or a warning that "
            "names what was not used."
        ),
    ),
    Item(
        "too_many_references",
        "Says so when there are too many",
        too_many_references,
        with_references(1),
        remedy=(
            "Raise InvalidRequest, as check_request of langgraph_interleave.backends.requests does, say a larger "
            "max_references, or add a warning that names what was left out."
        ),
    ),
    Item(
        "broken_reference",
        "Says so when one is no picture",
        broken_reference,
        with_references(1),
        remedy=(
            "Decode the references first and raise InvalidRequest, as check_request of "
            "langgraph_interleave.backends.requests does."
        ),
    ),
    Item(
        "mask",
        "Keeps what a mask keeps, or says so",
        mask,
        with_references(2),
        remedy=(
            "Raise InvalidRequest or add a warning, as untaken of langgraph_interleave.backends.untaken words it; "
            "one that says mask=True keeps what is opaque in the mask."
        ),
    ),
    Item(
        "negative_prompt",
        "Minds a negative prompt, or says so",
        negative_prompt,
        exactly(2),
        remedy=(
            "Raise InvalidRequest or add a warning, as untaken of langgraph_interleave.backends.untaken words it; "
            "one that says negative_prompt=True hands it to the model."
        ),
    ),
    Item(
        "transparent",
        "Draws on a transparent ground, or says so",
        transparent,
        exactly(2),
        remedy=(
            "Raise InvalidRequest or add a warning, as untaken of langgraph_interleave.backends.untaken words it; "
            "one that says transparent=True returns a PNG or WebP with an alpha channel."
        ),
    ),
)
