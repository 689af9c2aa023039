"""Pictures for whoever is asked: as files beside the document, and in the terminal as half blocks of colour."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.cli.folder import shown as shown_path
from langgraph_interleave.errors import InterleaveError
from langgraph_interleave.files import FolderFiles

if TYPE_CHECKING:
    from rich.text import Text

REVIEW = "review"
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}
_BLOCK = "▀"


class Shown:
    """The pictures somebody is asked about, written as files into the folder `review` of the document's.

    Args:
        folder: The document's folder.
        artifacts: The store the pictures are in.
        working: Paths inside this folder are told as from there.
    """

    def __init__(self, folder: Path, artifacts: ArtifactStore, working: Path) -> None:
        self._folder = folder / REVIEW
        self._working = working
        self._artifacts = artifacts

    def file(self, block: Mapping[str, Any] | None, stem: str) -> Path | None:
        """Write the picture of an image block; `None` where there is none, or it cannot be had."""
        ending = _ENDINGS.get(str((block or {}).get("mime_type")))
        data = self.data(block)
        if data is None or ending is None:
            return None
        path = self._folder / f"{stem}.{ending}"
        with contextlib.suppress(OSError):
            if self._folder.is_symlink():
                return None
            if path.is_symlink() or not path.exists() or path.read_bytes() != data:
                FolderFiles(self._folder).write(path.name, data)
            return path
        return None

    def data(self, block: Mapping[str, Any] | None) -> bytes | None:
        """The bytes of an image block's picture."""
        if not block:
            return None
        try:
            return self._artifacts.get(str(block.get("url")))
        except InterleaveError:
            return None

    def told(self, path: Path) -> str:
        """A file's path as the user would type it."""
        return shown_path(path, self._working)

    def clear(self) -> None:
        """Nobody is asked any more: the files go."""
        shutil.rmtree(self._folder, ignore_errors=True)


def with_files(question: Mapping[str, Any], shown: Shown) -> dict[str, Any]:
    """A question with the paths of its pictures' files, as `file` beside each picture."""
    if question.get("ask") == "plan":
        steps = [_with_file(step, "sketch", shown, f"sketch-{step['number']:02d}") for step in question["steps"]]
        return {**question, "steps": steps}
    if question.get("ask") == "limit":
        return dict(question)
    number = question["number"]
    attempts = [
        _with_file(attempt, "image", shown, f"step-{number:02d}-attempt-{attempt['attempt'] + 1}")
        for attempt in question["attempts"]
    ]
    proposed = next((one for one in attempts if one["attempt"] == question.get("attempt") and "file" in one), None)
    return {**question, "attempts": attempts, **({"file": proposed["file"]} if proposed else {})}


def _with_file(shows: Mapping[str, Any], key: str, shown: Shown, stem: str) -> dict[str, Any]:
    path = shown.file(shows.get(key), stem)
    return {**shows, **({"file": shown.told(path)} if path else {})}


def half_blocks(data: bytes, *, columns: int, lines: int) -> Text | None:
    """A picture as characters, two pixels each, one above the other.

    Args:
        data: An encoded picture.
        columns: Characters in a line, at most.
        lines: Lines, at most.

    Returns:
        The text; `None` where the bytes are no picture.
    """
    from PIL import Image, UnidentifiedImageError
    from rich.color import Color
    from rich.style import Style
    from rich.text import Text

    try:
        with Image.open(io.BytesIO(data)) as opened:
            image = Image.new("RGB", opened.size, "white")
            rgba = opened.convert("RGBA")
            image.paste(rgba, mask=rgba)
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError):
        return None
    scale = min(columns / image.width, 2 * lines / image.height)
    width, height = max(round(image.width * scale), 1), max(round(image.height * scale / 2), 1) * 2
    pixels = image.resize((width, height), Image.Resampling.BOX if scale < 1 else Image.Resampling.NEAREST).load()
    assert pixels is not None, "it was made here"
    text = Text(no_wrap=True)
    for y in range(0, height, 2):
        for x in range(width):
            over, under = pixels[x, y], pixels[x, y + 1]
            style = Style(color=Color.from_rgb(*over), bgcolor=Color.from_rgb(*under))  # pyright: ignore[reportArgumentType, reportGeneralTypeIssues]
            text.append(_BLOCK, style)
        text.append("\n")
    text.right_crop(1)
    return text
