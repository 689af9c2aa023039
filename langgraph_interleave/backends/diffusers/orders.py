"""A request made into a job: checked, sized, its pictures opened, its options named as the pipeline names them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph_interleave.backends.diffusers.abilities import MAX_IMAGES
from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.backends.diffusers.jobs import Job, Look, frozen
from langgraph_interleave.backends.diffusers.options import arguments, negative_of
from langgraph_interleave.backends.diffusers.pictures import fitted, opened, painted
from langgraph_interleave.backends.diffusers.probe import taken
from langgraph_interleave.backends.diffusers.sizes import Size, size_of
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.types import ImageRequest

if TYPE_CHECKING:
    from PIL.Image import Image

    from langgraph_interleave.backends.diffusers.shared import SharedPipeline

_MAX_SEED = 2**32


@dataclass(frozen=True, slots=True)
class Manner:
    """How a backend draws: the operator's options, pictures in one call, how often it shows a preview."""

    defaults: Mapping[str, Any]
    most: int
    preview_every: int


def check(request: ImageRequest, what: str) -> None:
    """Refuse what no pipeline draws.

    Args:
        request: What is wanted.
        what: What to call the backend.

    Raises:
        InvalidRequest: Naming what cannot be drawn.
    """
    if not 1 <= request.n <= MAX_IMAGES:
        raise InvalidRequest(
            f"{request.n} pictures cannot be drawn in one request.", remedy=f"Ask for 1 to {MAX_IMAGES}."
        )
    if request.seed is not None and not 0 <= request.seed < _MAX_SEED:
        raise InvalidRequest(f"The seed {request.seed} is out of range.", remedy="Give 0 to 2**32 - 1.")
    if not request.prompt.strip():
        raise InvalidRequest("There are no words to draw from.", remedy="Give a prompt.")
    if request.transparent:
        raise InvalidRequest(
            f"{what} draws on no transparent ground.", remedy="Leave `transparent` out, or cut it out later."
        )


def job_of(request: ImageRequest, pipeline: SharedPipeline, manner: Manner) -> tuple[Job, tuple[str, ...]]:
    """Make a job of a request that was checked.

    Returns:
        The job, and what will not be done as asked.

    Raises:
        InvalidRequest: This pipeline does not take it.
    """
    family, what = pipeline.family, pipeline.name
    _check_pictures(request, family, what)
    side = manner.defaults.get("size")
    size, sized = size_of(request, family, side=side if isinstance(side, int) else None, what=what)
    takes = taken(pipeline.pipe)
    told, unchanged = arguments(family, takes, manner.defaults, request.extra, request.quality)
    negative, dropped = negative_of(family, request.negative_prompt, what)
    references: list[Image] = []
    said = [*sized, *unchanged, *dropped]
    for index, reference in enumerate(request.references, 1):
        name = f"Reference {index}"
        picture, changed = fitted(opened(reference, name), family, size, name)
        references.append(picture)
        said += changed
    look = Look(
        size=size,
        arguments=frozen(told),
        references=tuple(reference.sha256 for reference in request.references),
        mask=(request.mask.sha256 if request.mask is not None else "all") if family.masked else None,
        negative=negative,
        preview_every=manner.preview_every,
        most=manner.most,
    )
    first = request.seed if request.seed is not None else secrets.randbelow(_MAX_SEED)
    seeds = tuple((first + index) % _MAX_SEED for index in range(request.n))
    return Job(request.prompt, seeds, look, references, _mask(request, family, size)), tuple(said)


def _mask(request: ImageRequest, family: Family, size: Size) -> Image | None:
    if request.mask is not None:
        return painted(request.mask, size)
    if not family.masked:
        return None
    from PIL import Image

    # Nothing is marked: all of it may change.
    return Image.new("L", size, 255)


def _check_pictures(request: ImageRequest, family: Family, what: str) -> None:
    count = len(request.references)
    if count > family.max_references:
        most = f"at most {family.max_references}" if family.max_references else "none: it draws from words alone"
        raise InvalidRequest(f"{count} references are too many for {what}.", remedy=f"Give {most}.")
    if not count and not family.generates:
        raise InvalidRequest(
            f"{what} draws from a picture, and none was given.",
            remedy="Give a reference, or use a pipeline that draws from words.",
        )
    if request.mask is not None and not family.masked:
        raise InvalidRequest(f"{what} takes no mask.", remedy="Use an inpainting pipeline, or leave it out.")
