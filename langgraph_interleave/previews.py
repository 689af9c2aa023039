"""Pictures of a drawing that is not done: stored as they come, and told in their order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.types import ArtifactRef, Progress

log = logging.getLogger(__name__)

#: Told a stored preview and its number, from 1.
OnPreview = Callable[[ArtifactRef, int], None]


class Previews:
    """Takes a backend's progress, from any thread, and stores the pictures in it.

    Made on the event loop of the call. A preview that cannot be stored is no reason to lose the drawing.

    Args:
        artifacts: Where they are stored.
        on_preview: Told of each, on that loop.
    """

    def __init__(self, artifacts: ArtifactStore, on_preview: OnPreview | None) -> None:
        self._artifacts = artifacts
        self._on_preview = on_preview
        self._loop = asyncio.get_running_loop()
        self._last: asyncio.Task[None] | None = None
        self._count = 0

    def __call__(self, progress: Progress) -> None:
        """Take a backend's word."""
        if progress.preview is not None and self._on_preview is not None:
            self._loop.call_soon_threadsafe(self._take, progress)

    async def finish(self) -> None:
        """Wait for what is being stored."""
        if self._last is not None:
            await asyncio.wait({self._last})

    def _take(self, progress: Progress) -> None:
        self._last = self._loop.create_task(self._store(progress, self._last))

    async def _store(self, progress: Progress, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        assert progress.preview is not None
        assert self._on_preview is not None
        try:
            ref = await self._artifacts.aput_image(progress.preview)
        except Exception:
            log.exception("a preview could not be stored")
            return
        self._count += 1
        self._on_preview(ref, self._count)
