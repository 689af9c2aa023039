"""Drawings: paper, writing and machines for it."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import arc, bow, box, line, oval, path, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.drawing.writing import write
from langgraph_interleave.world.palette import Tone


def _darker(pen: Pen) -> Tone:
    return Tone(pen.own.shade, pen.own.stroke, pen.own.stroke)


def book(pen: Pen, state: str) -> None:
    """A book lying, or open towards us."""
    if state == "open":
        pen.draw(path("M -78 -72 L -78 -6 Q -40 -16 0 -2 Q 40 -16 78 -6 L 78 -72 Z"))
        for side in (-1, 1):
            pen.draw(
                path(f"M 0 -70 Q {side * 36} -96 {side * 72} -80 L {side * 72} -14 Q {side * 36} -26 0 -8 Z"), "paper"
            )
            for y in (-62, -50, -38):
                pen.stroke(bow((side * 12, y - 4), (side * 36, y - 12), (side * 60, y - 6)), "#a5a8ad", weight=0.8)
        pen.ink(line((0, -70), (0, -6)), "paper")
        return
    pen.draw(poly((-46, -76), (52, -76), (58, -30), (-58, -30)), shade=0.3)
    pen.draw(poly((-58, -30), (58, -30), (58, -4), (-58, -4)), "cream")
    for y in (-22, -15, -10):
        pen.ink(line((-52, y), (56, y)), "cream", weight=0.6)
    pen.draw(box(-59, -33, 59, -27), _darker(pen))
    pen.draw(box(-59, -7, 59, -1), _darker(pen))
    pen.draw(box(-59, -32, -52, -2), _darker(pen))
    pen.draw(poly((-26, -64), (32, -64), (34, -48), (-29, -48)), "cream")


def pencil(pen: Pen, state: str) -> None:
    """A pencil, point down."""
    pen.draw(box(-10, -134, 10, -118, corner=4), "pink")
    pen.draw(box(-10, -122, 10, -110), "metal")
    pen.draw(box(-10, -112, 10, -26), shade=0.4)
    pen.ink(line((3, -110), (3, -28)), weight=0.8)
    pen.draw(poly((-10, -27), (10, -27), (0, -1)), "wood")
    pen.fill(poly((-3.4, -9), (3.4, -9), (0, -1)), "#3b3b40")


def paintbrush(pen: Pen, state: str) -> None:
    """A paintbrush with paint on it, bristles up."""
    pen.draw(path("M -5 -84 C -8 -50 -6 -20 0 -2 C 6 -20 8 -50 5 -84 Z"), shade=0.4)
    pen.draw(box(-8, -104, 8, -82), "metal")
    pen.draw(path("M -9 -102 C -14 -120 -6 -134 2 -142 C 8 -132 14 -118 9 -102 Z"), "red", shade=0.4)


def paper_sheet(pen: Pen, state: str) -> None:
    """A sheet of paper and what has become of it."""
    if state == "crumpled":
        pen.draw(
            poly((-36, -26), (-30, -56), (-8, -70), (20, -64), (38, -42), (34, -14), (10, -2), (-24, -4)), shade=0.4
        )
        for points in (
            ((-30, -56), (-10, -40), (20, -64)),
            ((-10, -40), (-36, -26)),
            ((-10, -40), (4, -18), (38, -42)),
            ((4, -18), (10, -2)),
            ((4, -18), (-24, -4)),
        ):
            pen.ink(line(*points), weight=0.8)
        return
    if state == "folded in half":
        pen.draw(poly((-50, -72), (50, -72), (50, -4), (-50, -4)), shade=0.2)
        pen.draw(poly((-50, -78), (46, -78), (50, -8), (-46, -1)))
        pen.ink(line((-50, -78), (46, -78)), weight=1.3)
        return
    pen.draw(poly((-50, -126), (30, -126), (50, -106), (50, -2), (-50, -2)))
    pen.draw(
        poly((30, -126), (30, -106), (50, -106)),
        _darker(pen) if pen.own.fill != "#fffefb" else Tone("#efece3", "#55565c", "#dedbd2"),
    )
    if state == "written":
        for y, right in ((-92, 36), (-74, 36), (-56, 36), (-38, 30), (-20, 4)):
            pen.stroke(bow((-36, y), (-10, y - 2), (10, y + 1), (right, y - 1)), "#5b8cc9", weight=0.9)
    elif state == "with drawing":
        pen.draw(oval(22, -92, 10), "yellow")
        pen.draw(poly((-32, -44), (-8, -66), (16, -44)), "red")
        pen.draw(box(-26, -44, 10, -16), "cream")
        pen.stroke(bow((-40, -14), (0, -12), (40, -15)), "#74b266", weight=1.4)


def paper_plane(pen: Pen, state: str) -> None:
    """A paper plane in flight, or lying as it is being folded."""
    if state == "folded":
        pen.draw(poly((0, -126), (38, -40), (38, -2), (-38, -2), (-38, -40)))
        pen.ink(line((0, -126), (0, -2)))
        pen.draw(
            poly((0, -126), (-38, -40), (-4, -60)),
            Tone("#f1eee6", "#55565c", "#dedbd2") if pen.own.fill == "#fffefb" else _darker(pen),
        )
        pen.draw(
            poly((0, -126), (38, -40), (4, -60)),
            Tone("#f1eee6", "#55565c", "#dedbd2") if pen.own.fill == "#fffefb" else _darker(pen),
        )
        return
    dark = Tone("#e4e0d6", "#55565c", "#d0ccc0") if pen.own.fill == "#fffefb" else _darker(pen)
    pen.draw(poly((62, -62), (-62, -48), (-26, -32)))
    pen.draw(poly((62, -62), (-26, -32), (-30, -4)), dark)
    pen.draw(poly((62, -62), (-12, -26), (8, -2)), None)
    for y, x in ((-20, -48), (-8, -58)):
        pen.stroke(line((x - 4, y), (x + 12, y - 3)), "#a5a8ad", weight=0.8)


def paper_boat(pen: Pen, state: str) -> None:
    """A folded paper boat."""
    dark = Tone("#e9e5db", "#55565c", "#d0ccc0") if pen.own.fill == "#fffefb" else _darker(pen)
    pen.draw(poly((0, -86), (-32, -30), (32, -30)), dark)
    pen.ink(line((0, -86), (0, -30)))
    pen.draw(poly((-62, -46), (-14, -28), (14, -28), (62, -46), (38, -2), (-38, -2)), shade=0.3)
    pen.ink(line((-38, -2), (0, -28), (38, -2)), weight=0.9)


def scissors(pen: Pen, state: str) -> None:
    """A pair of scissors, blades up."""
    spread = 20.0 if state == "open" else 4.0
    for side in (-1, 1):
        with pen.at(0, -62, turn=side * spread):
            pen.draw(
                path(f"M {-side * 7} 12 L {-side * 6} -40 Q {-side * 4} -58 {side * 1} -62 L {side * 6} 10 Z"),
                "metal",
                shade=0.3,
            )
    apart = 19.0 if state == "open" else 15.0
    for side in (-1, 1):
        pen.bar(bow((side * -4, -60), (side * 4, -50), (side * apart * 0.8, -38)), 8)
        pen.ink(oval(side * apart, -22, 14, 19), weight=3.2)
        pen.stroke(oval(side * apart, -22, 14, 19), pen.own.fill, weight=1.6)
    pen.draw(oval(0, -60, 5), "metal")


def ruler(pen: Pen, state: str) -> None:
    """A ruler."""
    pen.draw(box(-78, -29, 78, -2), shade=0.16)
    for index in range(15):
        x = -70 + index * 10
        pen.ink(line((x, -28), (x, -14 if index % 5 == 0 else -20)), weight=0.8)


def glue(pen: Pen, state: str) -> None:
    """A bottle of glue."""
    pen.draw(poly((-7, -92), (-4, -118), (4, -118), (7, -92)), "orange")
    pen.draw(path("M -26 -74 Q -24 -92 -10 -92 L 10 -92 Q 24 -92 26 -74 L 26 -4 L -26 -4 Z"), shade=0.36)
    pen.draw(box(-26, -62, 26, -24), "orange")
    write(pen, "GLUE", 0, -43, 42, 18, cap=12, color="#ffffff")


def envelope(pen: Pen, state: str) -> None:
    """An envelope."""
    if state == "open":
        pen.draw(poly((-58, -76), (0, -126), (58, -76)), _darker(pen))
        pen.draw(box(-44, -104, 44, -30), "paper")
        for y in (-92, -80):
            pen.stroke(line((-30, y), (26, y - 1)), "#5b8cc9", weight=0.8)
        pen.draw(path("M -58 -76 L 0 -34 L 58 -76 L 58 -2 L -58 -2 Z"), shade=0.3)
        pen.ink(line((-58, -2), (-12, -42)), weight=0.9)
        pen.ink(line((58, -2), (12, -42)), weight=0.9)
        return
    pen.draw(box(-58, -78, 58, -2), shade=0.26)
    if state == "stamped":
        pen.draw(box(28, -72, 50, -46), "red")
        pen.draw(oval(39, -59, 6), "yellow")
        for y, right in ((-38, 14), (-26, 22), (-14, 4)):
            pen.stroke(line((-36, y), (right, y)), "#3b3b40", weight=0.9)
        return
    pen.ink(line((-58, -2), (-8, -44)), weight=0.9)
    pen.ink(line((58, -2), (8, -44)), weight=0.9)
    pen.draw(poly((-58, -78), (58, -78), (0, -32)))
    pen.draw(oval(0, -38, 8), "red")


def computer(pen: Pen, state: str) -> None:
    """An open laptop."""
    pen.draw(box(-58, -118, 58, -26, corner=6), shade=0.2)
    pen.draw(
        box(-50, -110, 50, -34),
        Tone("#cfe6f5", "#4a5260", "#b5d3e8") if state == "on" else Tone("#4a5260", "#2b303a", "#3b424e"),
    )
    if state == "on":
        pen.draw(oval(-22, -82, 12), "yellow")
        pen.draw(poly((-48, -36), (-8, -66), (14, -50), (28, -62), (48, -36)), "green")
    pen.draw(poly((-60, -26), (60, -26), (74, -4), (-74, -4)), shade=0.2)
    for y, half in ((-21, 50), (-15, 54)):
        pen.ink(line((-half, y), (half, y)), weight=0.8)
    pen.draw(poly((-14, -10), (14, -10), (16, -5), (-16, -5)), _darker(pen))


def phone(pen: Pen, state: str) -> None:
    """A telephone to carry."""
    pen.draw(box(-28, -110, 28, -2, corner=8))
    pen.draw(box(-22, -100, 22, -16), Tone("#dceef8", "#4a5260", "#b5d3e8"))
    for index, color in enumerate(("red", "yellow", "green", "blue", "purple", "orange")):
        x, y = (index % 3 - 1) * 13, -86 + (index // 3) * 15
        pen.draw(box(x - 4.5, y - 4.5, x + 4.5, y + 4.5, corner=2), color, line=False)
    pen.draw(oval(0, -9, 4, 3.4), "grey")


def camera(pen: Pen, state: str) -> None:
    """A camera."""
    pen.draw(poly((-20, -62), (-14, -76), (14, -76), (20, -62)))
    pen.draw(box(-42, -68, -28, -60), "grey")
    pen.draw(box(-50, -62, 50, -2, corner=6), shade=0.3)
    pen.fill(box(-49, -48, 49, -18), "#6a6b70")
    pen.draw(oval(0, -32, 25), "metal")
    pen.draw(oval(0, -32, 17), "night")
    pen.stroke(arc(0, -32, 10, 10, -70, 10), "#ffffff", weight=1.0)
    pen.draw(oval(38, -54, 4.4), "red")


DRAWINGS: Mapping[str, Draw] = {
    "book": book, "pencil": pencil, "paintbrush": paintbrush, "paper sheet": paper_sheet, "paper plane": paper_plane,
    "paper boat": paper_boat, "scissors": scissors, "ruler": ruler, "glue": glue, "envelope": envelope,
    "computer": computer, "phone": phone, "camera": camera,
}  # fmt: skip
