"""Words on things: signs, labels, keys."""

from __future__ import annotations

from zlib import crc32

from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.lettering import fit, letter
from langgraph_interleave.world.palette import INK


def write(pen: Pen, text: str, x: float, y: float, w: float, h: float, *, cap: float, color: str = INK) -> None:
    """Letter a text into a box about (x, y), upright whatever the drawing is turned."""
    pen.raw(letter(fit(text, w, h, cap=cap), *pen.point(x, y), color=color, seed=crc32(text.encode()), scale=pen.scale))
