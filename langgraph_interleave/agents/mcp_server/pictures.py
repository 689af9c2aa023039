"""Pictures a client names or sends: never a path of this machine, and no address unless its operator says so."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from langgraph_interleave import _sync
from langgraph_interleave.agents.mcp_server.names import Name, is_name, quoted, read_digest, read_name
from langgraph_interleave.agents.mcp_server.shelf import Shelf
from langgraph_interleave.content import image_block
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging import fetch_image, is_web_address, load_image
from langgraph_interleave.types import ArtifactRef

#: Pictures in one call, at most.
MOST_PICTURES = 8
#: Bytes of a picture that is sent, at most.
MOST_BYTES = 8 * 1024 * 1024
#: Characters of an argument that is a picture: base64 takes four for three bytes.
MOST_CHARACTERS = MOST_BYTES * 4 // 3 + 200
#: Pixels of a picture that is sent, at most.
_MOST_PIXELS = 40_000_000
_SAY = (
    "Name a picture of a document (doc_0123456789abcdef.step_2), give its address (interleave://artifact/…), "
    "or send the picture itself as data:image/png;base64,…"
)


def picture_blocks(given: Sequence[str], shelf: Shelf, *, fetch: bool = False) -> list[dict[str, Any]]:
    """The pictures of a call as blocks of a request, in their order; what was sent is put into the store.

    Blocks: call it in a thread.

    Args:
        given: Names of pictures, their addresses, or `data:` URLs.
        shelf: Where the documents are.
        fetch: Whether addresses of the public web are fetched.

    Raises:
        ConfigError: One is something else, too large, no picture, or of no document here.
    """
    if len(given) > MOST_PICTURES:
        raise ConfigError(f"{len(given)} pictures are too many.", remedy=f"Give at most {MOST_PICTURES}.")
    return [_block(text.strip(), index, shelf, fetch=fetch) for index, text in enumerate(given)]


def _block(text: str, index: int, shelf: Shelf, *, fetch: bool) -> dict[str, Any]:
    if text[:5].lower() == "data:":
        label = f"picture {index + 1}"
        picture = load_image(_bytes(text, label), name=label, max_pixels=_MOST_PIXELS, max_bytes=MOST_BYTES)
        return image_block(shelf.artifacts.put_image(picture), name=None)
    digest = read_digest(text)
    if digest is not None:
        ref = shelf.picture(digest)
        if ref is None:
            raise ConfigError(f"There is no picture {digest[:12]}… in any document here.", remedy=_SAY)
        return image_block(ref, name=None)
    if is_name(text):
        name = read_name(text)
        return image_block(picture_of(name, shelf), name=str(name))
    if fetch and is_web_address(text):
        picture, called = _sync.run_sync(lambda: fetch_image(text, max_bytes=MOST_BYTES, max_pixels=_MOST_PIXELS))
        return image_block(shelf.artifacts.put_image(picture), name=called)
    raise ConfigError(
        f"{quoted(text)} is no picture this server takes: it opens no files and no addresses.", remedy=_SAY
    )


def picture_of(name: Name, shelf: Shelf) -> ArtifactRef:
    """The picture of a step; where none is said, that of the only one.

    Raises:
        ConfigError: There is no such step, or it has no picture.
    """
    data = shelf.document(shelf.made(name))
    assert data is not None, "what is made has a document"
    drawn = {step.index + data.first_number: step.image for step in data.steps if step.image is not None}
    if name.step is None and len(drawn) == 1:
        return next(iter(drawn.values()))
    picture = None if name.step is None else drawn.get(name.step)
    if picture is None:
        there = ", ".join(f"step_{number}" for number in drawn) or "none at all"
        raise ConfigError(f"{name} is not one picture.", remedy=f"Pictures of that document: {there}.")
    return picture


def _bytes(url: str, label: str) -> bytes:
    head, comma, body = url.partition(",")
    if not comma or not head[5:].lower().startswith("image/"):
        raise ConfigError(f"{label} is a data: URL of no picture.", remedy="Write data:image/png;base64,…")
    if len(body) > MOST_CHARACTERS:
        raise ConfigError(f"{label} is too large.", remedy=f"Send at most {MOST_BYTES // 1024**2} MiB.")
    if not head.lower().endswith(";base64"):
        return unquote_to_bytes(body)
    try:
        return base64.b64decode("".join(body.split()), validate=True)
    except binascii.Error as error:
        raise ConfigError(f"{label} is not base64: {error}.", remedy="Write data:image/png;base64,…") from error
