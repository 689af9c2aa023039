"""Cards and photos: what stands for things that are not drawn."""

from __future__ import annotations

from langgraph_interleave.world.drawing.outline import box, line, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.drawing.writing import write
from langgraph_interleave.world.palette import Tone

_CARD_W, _CARD_H = 136.0, 96.0
_TAPE = Tone("#efe3b4", "#cdb978", "#e2d196")


def draw_card(pen: Pen, label: str) -> None:
    """A taped-up card with a label, in the drawing's coordinates (middle of its foot is the origin)."""
    half = _CARD_W / 2
    pen.draw(box(-half, -_CARD_H + 5, half, 0, corner=4))
    pen.fill(poly((-half + 4, -3.5), (half - 4, -3.5), (half - 4, -1.5), (-half + 4, -1.5)), pen.own.shade)
    draw_tape(pen, 0, -_CARD_H + 5)
    write(pen, label, 0, -_CARD_H / 2 + 5, _CARD_W - 20, _CARD_H - 32, cap=17)


def draw_tape(pen: Pen, x: float, y: float, *, turn: float = -3.0) -> None:
    """A strip of tape."""
    with pen.at(x, y, turn=turn):
        pen.draw(poly((-17, -5), (17, -5), (15, 0), (17, 5), (-17, 5), (-15, 0)), _TAPE)


def draw_photo(pen: Pen, x: float, y: float, w: float, h: float, *, empty: bool) -> None:
    """The mount of a photo whose picture has its upper left corner at (x, y); hatched when there is none."""
    rim = 7.0
    pen.fill(box(x - rim - 4, y - rim + 5, x + w + rim - 4, y + h + rim + 5), "#d8d2c4")
    pen.draw(box(x - rim, y - rim, x + w + rim, y + h + rim), "paper")
    if empty:
        pen.hatch(box(x, y, x + w, y + h), "#b9b4a8", gap=9)
        pen.stroke(box(x, y, x + w, y + h), "#8d887c")


def draw_mount(pen: Pen, x: float, y: float, w: float, h: float) -> None:
    """What lies over a photo: the line around it and two strips of tape."""
    corners = ((x, y), (x + w, y), (x + w, y + h), (x, y + h))
    for index, corner in enumerate(corners):
        pen.stroke(line(corner, corners[(index + 1) % 4]), "#55565c", weight=0.8)
    draw_tape(pen, x + 4, y - 3, turn=-38)
    draw_tape(pen, x + w - 4, y - 3, turn=38)
