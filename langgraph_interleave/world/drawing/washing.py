"""Drawings: washing, teeth and first aid."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.drawing.writing import write
from langgraph_interleave.world.palette import Tone


def _darker(pen: Pen) -> Tone:
    return Tone(pen.own.shade, pen.own.stroke, pen.own.stroke)


def soap(pen: Pen, state: str) -> None:
    """A bar of soap with bubbles."""
    for x, y, r in ((-22, -44, 8), (-6, -48, 6), (8, -44, 5)):
        pen.draw(oval(x, y, r), Tone("#ffffff", "#8fb2c9", "#dceaf2"))
    pen.draw(box(-40, -36, 40, -2, corner=12), shade=0.4)
    pen.ink(box(-24, -26, 24, -12, corner=6), weight=0.8)


def tap(pen: Pen, state: str) -> None:
    """A tap on the wall, its spout to the right."""
    foot = 72.0 if state == "running" else 0.0
    with pen.at(0, -foot):
        if state == "running":
            pen.bar(line((30, -22), (30, 70)), 12, "water")
            pen.stroke(line((28, -10), (28, 64)), "#ffffff", weight=0.8)
        pen.draw(box(-50, -64, -40, -22, corner=3), _darker(pen))
        pen.draw(
            path("M -40 -52 L 10 -52 C 32 -52 42 -40 42 -24 L 20 -24 C 20 -32 16 -34 8 -34 L -40 -34 Z"), shade=0.4
        )
        pen.draw(box(-12, -64, 4, -50), _darker(pen))
        pen.draw(box(-26, -78, 18, -64, corner=6), "blue")
        pen.draw(box(17, -26, 45, -18, corner=3), _darker(pen))
    if state == "closed":
        with pen.at(30, 0, scale=0.3):
            pen.draw(
                path("M 0 -48 C 6 -34 18 -26 18 -14 C 18 -5 10 0 0 0 C -10 0 -18 -5 -18 -14 C -18 -26 -6 -34 0 -48 Z"),
                "water",
            )


def towel(pen: Pen, state: str) -> None:
    """A towel over a rail."""
    pen.bar(line((-46, -96), (46, -96)), 6, "metal")
    pen.draw(path("M -34 -101 L 34 -101 L 36 -6 Q 16 -2 0 -6 Q -18 -2 -36 -6 Z"), shade=0.36)
    for y in (-28, -20):
        pen.stroke(bow((-35, y), (0, y + 3), (35, y)), "#ffffff", weight=1.1)
    pen.ink(bow((-10, -98), (-12, -60), (-9, -34)), weight=0.7)


def toothbrush(pen: Pen, state: str) -> None:
    """A toothbrush, bristles up on the right."""
    pen.draw(
        path(
            "M -66 -6 Q -66 -14 -58 -14 L 0 -12 L 22 -14 L 62 -14 Q 67 -14 67 -8 Q 67 -3 62 -3 L 20 -3 L "
            "0 -4 L -58 -1 Q -66 -1 -66 -6 Z"
        )
    )
    pen.draw(poly((26, -14), (26, -29), (62, -29), (62, -14)), "white")
    for x in (33, 40, 47, 54):
        pen.stroke(line((x, -28), (x, -15)), "#8fb2c9", weight=0.8)
    if state == "with toothpaste":
        pen.draw(path("M 24 -29 C 22 -40 36 -40 38 -34 C 42 -43 54 -42 54 -35 C 62 -38 67 -32 64 -29 Z"), "turquoise")


def toothpaste(pen: Pen, state: str) -> None:
    """A tube of toothpaste, its cap to the right."""
    pen.draw(box(42, -36, 62, -10, corner=3), "blue")
    pen.draw(path("M -62 -44 L -62 -2 L 22 -6 C 34 -8 40 -14 44 -16 L 44 -30 C 40 -32 34 -38 22 -40 Z"), shade=0.3)
    pen.fill(path("M -46 -34 L 14 -32 L 20 -24 L 14 -15 L -46 -13 Z"), "#63c0b8")
    pen.ink(line((-54, -43), (-54, -3)), weight=0.9)
    write(pen, "MINT", -18, -23.5, 44, 14, cap=10, color="#ffffff")


def bandage(pen: Pen, state: str) -> None:
    """A sticking plaster."""
    with pen.at(0, -23, turn=-8):
        pen.draw(box(-54, -15, 54, 15, corner=14), shade=0.3)
        pen.draw(box(-18, -15, 18, 15), "cream")
        for x in (-40, -30, 30, 40):
            for y in (-5, 5):
                pen.dot(x, y, 1.6, pen.own.stroke)
        for x in (-8, 0, 8):
            for y in (-6, 2, 9):
                pen.dot(x, y - 1, 1.2, "#c9b892")


def first_aid_kit(pen: Pen, state: str) -> None:
    """A case with a cross."""
    pen.ink(bow((-20, -76), (-18, -94), (18, -94), (20, -76)), weight=2.2)
    pen.draw(box(-62, -78, 62, -2, corner=8), shade=0.36)
    pen.draw(oval(0, -40, 28), "white")
    pen.fill(
        poly(
            (-6, -60),
            (6, -60),
            (6, -46),
            (20, -46),
            (20, -34),
            (6, -34),
            (6, -20),
            (-6, -20),
            (-6, -34),
            (-20, -34),
            (-20, -46),
            (-6, -46),
        ),
        "#d5524a",
    )
    pen.ink(arc(0, -40, 28, 28, 0, 350), weight=0.5)


DRAWINGS: Mapping[str, Draw] = {
    "soap": soap, "tap": tap, "towel": towel, "toothbrush": toothbrush, "toothpaste": toothpaste, "bandage": bandage,
    "first aid kit": first_aid_kit,
}  # fmt: skip
