"""The contract of an image backend: what it can do, and one method that draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, OnProgress


@dataclass(frozen=True, slots=True)
class Companions:
    """The planner and critic that come with a backend, by the names they are installed under.

    A backend that has them says so in an attribute `companions`; they are used where the user names no
    others, so that `--backend NAME` is enough.

    Attributes:
        planner: Name of the planner.
        critic: Name of the critic.
        note: What every reader of a document drawn by it should know, in a sentence.
        style_in_prompts: Whether the style guide may be added to its prompts, where the user says nothing.
    """

    planner: str
    critic: str
    note: str = ""
    style_in_prompts: bool = True


@runtime_checkable
class ImageBackend(Protocol):
    """Anything that draws a picture from words, with or without references.

    `name` is what people type; `fingerprint` names model, version and parameters and is part of
    the ledger's key, so that a changed backend is never answered with another's picture. One that
    brings a planner and a critic of its own has `companions`, too.
    """

    name: str
    fingerprint: str

    @property
    def capabilities(self) -> Capabilities:
        """What this backend can do."""
        ...

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw.

        It must not block: what keeps the event loop busy (`time.sleep`, a client that is not async, a model that
        computes) holds up every call of the process, and no deadline ends it. Such work goes into
        `asyncio.to_thread`; a plain function given as a backend runs in a thread by itself.

        Args:
            request: Prompt, references in order, size, seed.
            on_progress: Called from any thread while the drawing goes on.

        Returns:
            At least one decoded, verified, measured picture.

        Raises:
            CallError: One of its subclasses, by cause. Nothing else.
        """
        ...
