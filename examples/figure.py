"""Pictures of the examples for a front page: rows of pictures with their words, one width, one look."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

WIDTH, MARGIN, GAP = 1200, 24, 22
INK, GREY, RED, PAPER, FRAME = "#3a3a38", "#6f6d68", "#9c2f22", "#fdfcf7", "#d8d4c8"
#: The font that Pillow brings along has no more than these.
_PLAIN = str.maketrans({"–": "-", "…": "...", "Ω": " ohm", "→": ">", "’": "'"})


@dataclass(frozen=True, slots=True)
class Tile:
    """A picture with a title and a few words below it, or beside it.

    Attributes:
        image: Its bytes.
        title: The line that is read first.
        words: What is said below, wrapped.
        wrong: Whether it was rejected.
    """

    image: bytes
    title: str = ""
    words: str = ""
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Pictures beside one another, in equal shares of the width.

    Attributes:
        tiles: The pictures.
        columns: How many would fill the width.
        heading: A line above them.
        beside: The height of pictures with their words at their right; `None`: below, pictures as wide as they can be.
    """

    tiles: Sequence[Tile]
    columns: int
    heading: str = ""
    beside: int | None = None


def figure(rows: Sequence[Row], path: Path) -> Path:
    """Draw the rows below one another and save them as a small PNG.

    Args:
        rows: From top to bottom.
        path: The file.

    Returns:
        The file.
    """
    sheet = Image.new("RGB", (WIDTH, 10_000), PAPER)
    pen = ImageDraw.Draw(sheet)
    top = MARGIN
    for row in rows:
        if not row.tiles:
            continue
        if row.heading:
            pen.text((MARGIN, top), _plain(row.heading), INK, _font(26), stroke_width=0.4)
            top += 46
        share = (WIDTH - 2 * MARGIN - GAP * (row.columns - 1)) // row.columns
        heights = [
            _tile(sheet, pen, tile, MARGIN + number * (share + GAP), top, share, row.beside)
            for number, tile in enumerate(row.tiles)
        ]
        top += max(heights) + GAP
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.crop((0, 0, WIDTH, top)).quantize(128, dither=Image.Dither.NONE).save(path, "PNG", optimize=True)
    return path


def _tile(
    sheet: Image.Image, pen: ImageDraw.ImageDraw, tile: Tile, left: int, top: int, share: int, beside: int | None
) -> int:
    """Draw one tile; the height it took."""
    with Image.open(io.BytesIO(tile.image)) as found:
        image = found.convert("RGB")
    if beside is None:
        size = share, round(share * image.height / image.width)
        x, y, width = left, top + size[1] + 12, share
    else:
        size = round(beside * image.width / image.height), beside
        x, y, width = left + size[0] + 16, top + 4, share - size[0] - 16
    sheet.paste(image.resize(size, Image.Resampling.LANCZOS), (left, top))
    color = RED if tile.wrong else FRAME
    pen.rectangle((left, top, left + size[0] - 1, top + size[1] - 1), outline=color, width=3 if tile.wrong else 1)
    large = 23 if share > 250 else 18
    for line in _wrapped(tile.title, large, width):
        pen.text((x, y), line, RED if tile.wrong else INK, _font(large), stroke_width=0.3)
        y += large + 7
    y += 2
    for line in _wrapped(tile.words, 20, width):
        pen.text((x, y), line, GREY, _font(20))
        y += 26
    return max(y - top, size[1])


def _wrapped(text: str, size: int, width: int) -> list[str]:
    lines: list[str] = []
    for word in _plain(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _font(size).getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _plain(text: str) -> str:
    return text.translate(_PLAIN)


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
