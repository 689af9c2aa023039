"""Input pictures on their way into a request: bytes into the store, a reference into the block."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Protocol

from langgraph_interleave.content import image_block
from langgraph_interleave.imaging.fetching import fetch_image, is_web_address
from langgraph_interleave.imaging.picture import load_image
from langgraph_interleave.types import ArtifactRef, ImageBytes


class PictureStore(Protocol):
    """What is needed of an artifact store to keep a picture."""

    def put_image(self, image: ImageBytes) -> ArtifactRef:
        """Store a picture."""
        ...

    async def aput_image(self, image: ImageBytes) -> ArtifactRef:
        """Store a picture without blocking the event loop."""
        ...


def image_part(
    source: bytes | str | Path, artifacts: PictureStore, *, name: str | None = None, fetch: bool = False
) -> dict[str, Any]:
    """Put an input picture into the store and describe it as an image block for `request`.

    The bytes stay in the store: the block, and with it every checkpoint, holds a reference.

    Args:
        source: A path, or the bytes of the file; with `fetch` also an `https://` or `http://` address.
        artifacts: The store that the graph uses.
        name: What the user calls it; default: the file's name.
        fetch: Whether an address is fetched. Only from the public web: nothing that is inside a network,
            whatever a name or a redirect says. Leave it off for addresses that came from somebody else.

    Returns:
        A LangChain image block with `url` `artifact://<sha256>`.

    Raises:
        ConfigError: See `load_image` and `fetch_image`.

    Example:
        >>> from langgraph_interleave.artifacts import ArtifactStore
        >>> dot = "47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b"
        >>> image_part(bytes.fromhex(dot), ArtifactStore.memory(), name="dot.gif")["mime_type"]
        'image/png'
    """
    if fetch and isinstance(source, str) and is_web_address(source):
        # Loaded here: the bridge needs LangChain, files do not.
        from langgraph_interleave._sync import run_sync

        picture, called = run_sync(lambda: fetch_image(source))
        return image_block(artifacts.put_image(picture), name=name or called)
    ref = artifacts.put_image(load_image(source, name=name))
    return image_block(ref, name=name or _file_name(source))


async def aimage_part(
    source: bytes | str | Path, artifacts: PictureStore, *, name: str | None = None, fetch: bool = False
) -> dict[str, Any]:
    """Like `image_part`, without blocking the event loop."""
    if fetch and isinstance(source, str) and is_web_address(source):
        picture, called = await fetch_image(source)
        return image_block(await artifacts.aput_image(picture), name=name or called)
    ref = await artifacts.aput_image(await asyncio.to_thread(load_image, source, name=name))
    return image_block(ref, name=name or _file_name(source))


def _file_name(source: bytes | str | Path) -> str | None:
    return None if isinstance(source, bytes) else Path(source).name
