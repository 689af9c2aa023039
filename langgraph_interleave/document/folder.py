"""The document as files: `index.html`, `document.md` and `images/`, each written whole or not at all."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from langgraph_interleave.errors import ConfigError

IMAGES = "images"
#: Names that only an earlier document of ours has: they stand in its `document.md`.
_OURS = re.compile(r"\(images/((?:step|input)-\d{2,}\.(?:png|jpg|webp))\)")


def write_folder(folder: Path, *, html: str, markdown: str, images: Mapping[str, bytes]) -> Path:
    """Write a document's files; what else is in the folder stays.

    Pictures come first and the page last, each by renaming a finished file: whoever opens the page
    sees the earlier document or this one. Pictures of an earlier document in this folder that
    are not part of this one are removed.

    Args:
        folder: Where to; made if it is not there.
        html: The page.
        markdown: The text, which links to `images/`.
        images: Bytes of the pictures, by file name.

    Returns:
        The path of `index.html`.

    Raises:
        ConfigError: The folder cannot be written to.
    """
    try:
        (folder / IMAGES).mkdir(parents=True, exist_ok=True)
        stale = _earlier(folder) - set(images)
        for name, data in images.items():
            _replace(folder / IMAGES / name, data)
        _replace(folder / "document.md", markdown.encode("utf-8", "replace"))
        _replace(folder / "index.html", html.encode("utf-8", "replace"))
        for name in stale:
            (folder / IMAGES / name).unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The document could not be written to {folder}: {error.strerror or error}.",
            remedy="Choose a folder that can be written to, with enough space.",
        ) from error
    return folder / "index.html"


def _earlier(folder: Path) -> set[str]:
    try:
        text = (folder / "document.md").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return set()
    return set(_OURS.findall(text))


def _replace(path: Path, data: bytes) -> None:
    unfinished = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        with unfinished.open("xb") as file:
            file.write(data)
        unfinished.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            unfinished.unlink()
        raise
