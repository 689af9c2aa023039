"""One call of a pipeline: arguments in, pictures out, a word after every step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from langgraph_interleave import ending
from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.backends.diffusers.jobs import Drawn, Job
from langgraph_interleave.backends.diffusers.latents import previewed
from langgraph_interleave.backends.diffusers.pictures import encoded, plain, verified
from langgraph_interleave.backends.diffusers.probe import taken
from langgraph_interleave.backends.diffusers.prompts import Encoded, read_by
from langgraph_interleave.errors import BadResponse, CallError, Cancelled, ContentBlocked
from langgraph_interleave.models.libraries import library
from langgraph_interleave.types import Progress

if TYPE_CHECKING:
    from PIL.Image import Image

#: One picture to draw: whose it is, its words as far as they are read, its seed.
Item = tuple[Job, str, int]
Outcome = Drawn | CallError


def draw(pipe: Any, family: Family, batch: Sequence[Job], words: Encoded, *, name: str, most: int) -> list[Outcome]:
    """Draw jobs that fit each other; the lock of the pipeline is held.

    Args:
        pipe: The pipeline.
        family: How it is called.
        batch: The jobs.
        words: What was encoded before.
        name: What to call the pipeline in messages.
        most: Pictures in one call at most.

    Returns:
        One outcome per job, in order. Every picture has a random generator of its own, so that it
        does not depend on what it is drawn together with.

    Raises:
        Cancelled: Nobody waits for any of it any more.
        Exception: Whatever the pipeline raises.
    """
    reads = dict(batch[0].look.arguments).get("max_sequence_length")
    fits = [read_by(pipe, family, job.prompt, reads, name) for job in batch]
    items = [(job, fit.text, seed) for job, fit in zip(batch, fits, strict=True) for seed in job.seeds]
    at_once = 1 if family.batch == "none" else most
    groups = [items[start : start + at_once] for start in range(0, len(items), at_once)]
    pictures: list[Image | CallError] = []
    for place, group in enumerate(groups):
        pictures += _call(pipe, family, group, words, name=name, part=(place, len(groups)))
    found = iter(pictures)
    outcomes: list[Outcome] = []
    for job, fit in zip(batch, fits, strict=True):
        mine = [next(found) for _ in job.seeds]
        good = tuple(one for one in mine if not isinstance(one, CallError))
        failed = next((one for one in mine if isinstance(one, CallError)), None)
        outcomes.append(failed or Drawn(good, fit.warnings, together=len(groups[0])))
    return outcomes


def _call(
    pipe: Any, family: Family, items: Sequence[Item], words: Encoded, *, name: str, part: tuple[int, int]
) -> list[Image | CallError]:
    if ending.begun():
        raise Cancelled(f"{name} was not asked: the process ends.")
    arguments = _arguments(pipe, family, items, words)
    if family.stops:
        arguments["callback_on_step_end"] = _follower(family, items, name, part)
    with _quiet():
        result = pipe(**arguments)
    flagged = getattr(result, "nsfw_content_detected", None) or []
    pictures: list[Image | CallError] = []
    for place, picture in enumerate(plain(result.images)):
        try:
            if place < len(flagged) and flagged[place]:
                raise ContentBlocked(
                    f"The safety filter of {name} blanked the picture.",
                    remedy="Say it in other words, or another seed.",
                )
            pictures.append(verified(picture, name))
        except CallError as error:
            pictures.append(error)
    if len(pictures) != len(items):
        raise BadResponse(
            f"{name} drew {len(pictures)} pictures where {len(items)} were asked for.",
            remedy="Set batch=False; this pipeline does not draw several at once.", ambiguous=False,
        )  # fmt: skip
    return pictures


def _arguments(pipe: Any, family: Family, items: Sequence[Item], words: Encoded) -> dict[str, Any]:
    torch = library("torch")
    takes = taken(pipe)
    job = items[0][0]
    alone = len(items) == 1
    arguments: dict[str, Any] = {**family.fixed, **dict(job.look.arguments)}
    prompts = [text for _, text, _ in items]
    options = {name: arguments[name] for name in ("max_sequence_length",) if name in arguments}
    said = words.of(pipe, family, prompts, options)
    arguments |= said or {"prompt": prompts[0] if alone else prompts}
    if job.look.negative is not None:
        arguments["negative_prompt"] = job.look.negative if alone else [job.look.negative] * len(items)
    generators = [torch.Generator("cpu").manual_seed(seed) for *_, seed in items]
    arguments["generator"] = generators[0] if alone else generators
    width, height = job.look.size
    if family.sized:
        arguments |= {"height": height, "width": width}
    if "max_area" in takes:
        # Else the size asked for is only a shape, and the reference is brought to one of a list.
        arguments |= {"max_area": width * height} | ({"_auto_resize": False} if "_auto_resize" in takes else {})
    if job.references:
        arguments["image"] = list(job.references) if family.many else job.references[0]
    if job.mask is not None:
        arguments["mask_image"] = job.mask
    # Numbers rather than pictures: in a picture, what is no number has become black.
    return {**arguments, "output_type": "pt" if family.known else "pil"}


def _follower(family: Family, items: Sequence[Item], name: str, part: tuple[int, int]) -> Callable[..., dict[str, Any]]:
    """What a pipeline calls after every step: tells how far it is, and stops it when nobody waits."""
    jobs = list(dict.fromkeys(job for job, *_ in items))
    look = jobs[0].look

    def follow(pipe: Any, index: int, _timestep: Any, state: dict[str, Any]) -> dict[str, Any]:
        if ending.begun() or all(job.left for job in jobs):
            # Setting the pipeline's own flag would skip the steps left and still decode noise.
            raise Cancelled(f"{name} was stopped.")
        steps = int(getattr(pipe, "num_timesteps", 0) or dict(look.arguments).get("num_inference_steps", 0))
        step, total = part[0] * steps + index + 1, part[1] * steps
        told = [job for job in jobs if job.on_progress is not None and not job.left]
        every = look.preview_every
        shown: list[Image | None] = []
        if told and every and family.layout != "none" and (index + 1) % every == 0 and index + 1 < steps:
            shown = plain(previewed(pipe, state["latents"], family.layout, look.size))
        for job in told:
            _tell(job, step, total, _preview(job, items, shown))
        return state

    return follow


def _preview(job: Job, items: Sequence[Item], shown: Sequence[Image | None]) -> Image | None:
    place = next(place for place, (one, *_) in enumerate(items) if one is job)
    return shown[place] if place < len(shown) else None


def _tell(job: Job, step: int, total: int, shown: Image | None) -> None:
    assert job.on_progress is not None
    preview = None if shown is None else encoded(shown, None, edited=bool(job.references))
    try:
        job.on_progress(Progress(step, total or None, preview))
    except BaseException as error:  # noqa: BLE001 - a listener's fault is its own, and stops no other's drawing
        job.left = True
        job.fail(error)


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """No numpy warnings in this thread: values that are no numbers are looked for afterwards."""
    import importlib

    with importlib.import_module("numpy").errstate(all="ignore"):
        yield
