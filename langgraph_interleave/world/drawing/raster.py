"""From SVG to pixels: one method, so that another renderer can take its place."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image


class Rasterizer(Protocol):
    """Turns SVG into pixels."""

    def rasterize(self, svg: str, width: int, *, fonts: Sequence[str] = ()) -> Image:
        """Draw an SVG `width` pixels wide, RGBA, transparent where nothing is drawn."""
        ...


class ResvgRasterizer:
    """`resvg`, with no fonts but those named: reading all of a machine's would take longer than drawing."""

    def rasterize(self, svg: str, width: int, *, fonts: Sequence[str] = ()) -> Image:
        """Draw an SVG `width` pixels wide, RGBA, transparent where nothing is drawn."""
        import resvg_py
        from PIL import Image

        data = resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True, font_files=list(fonts))
        image = Image.open(io.BytesIO(bytes(data)))
        image.load()
        return image.convert("RGBA")


@lru_cache(maxsize=1)
def rasterizer() -> Rasterizer:
    """The rasterizer every picture is drawn with."""
    return ResvgRasterizer()
