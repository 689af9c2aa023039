"""Requests that wait for a pipeline, and which of them are drawn in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langgraph_interleave.backends.diffusers.sizes import Size
from langgraph_interleave.types import OnProgress

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True)
class Look:
    """What requests must have in common to be drawn in one call.

    `arguments` are those of the pipeline's call besides words, seeds and pictures; `references` are
    digests, so that equal pictures are equal; `most` is how many pictures one call may draw.
    """

    size: Size
    arguments: tuple[tuple[str, Any], ...] = ()
    references: tuple[str, ...] = ()
    mask: str | None = None
    negative: str | None = None
    preview_every: int = 0
    most: int = 1


@dataclass(frozen=True, slots=True)
class Drawn:
    """What became of a job: pictures, one per seed, and how many were drawn in the same call."""

    pictures: tuple[Image, ...]
    warnings: tuple[str, ...] = ()
    together: int = 1


@dataclass(eq=False, slots=True)
class Job:
    """One request that waits, or is being drawn.

    Attributes:
        prompt: Its words.
        seeds: One per picture.
        look: What it shares with those drawn together with it.
        references: Pictures it builds on.
        mask: What may change.
        on_progress: Told every step.
        future: Its end.
        left: Nobody waits for it any more.
    """

    prompt: str
    seeds: tuple[int, ...]
    look: Look
    references: Sequence[Image] = ()
    mask: Image | None = None
    on_progress: OnProgress | None = None
    future: Future[Drawn] = field(default_factory=Future["Drawn"])
    left: bool = False

    def fail(self, error: BaseException) -> None:
        """End it with an error, unless it has ended."""
        if not self.future.done():
            self.future.set_exception(error)


def together(waiting: Sequence[Job], most: int, *, with_references: bool) -> list[Job]:
    """The jobs to draw in the next call: the one that waits longest, and those that fit it.

    Args:
        waiting: In the order they came; at least one.
        most: Pictures in one call at most; a single job with more is drawn on its own.
        with_references: Jobs that share their references may be drawn together.

    Example:
        >>> look, other = Look((64, 64)), Look((96, 64))
        >>> jobs = [Job("a", (1,), look), Job("b", (2,), other), Job("c", (3, 4), look)]
        >>> [job.prompt for job in together(jobs, 3, with_references=False)]
        ['a', 'c']
    """
    first = waiting[0]
    chosen, pictures = [first], len(first.seeds)
    if first.look.mask is not None or (first.look.references and not with_references):
        return chosen
    for job in waiting[1:]:
        if job.look == first.look and pictures + len(job.seeds) <= most:
            chosen.append(job)
            pictures += len(job.seeds)
    return chosen


def frozen(arguments: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Arguments as a part of a `Look`; lists become tuples.

    Example:
        >>> frozen({"b": 1, "a": [1, 2]})
        (('a', (1, 2)), ('b', 1))
    """
    return tuple(
        sorted((name, tuple(value) if isinstance(value, list) else value) for name, value in arguments.items())
    )
