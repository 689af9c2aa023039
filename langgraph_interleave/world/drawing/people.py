"""Drawings: people, and what belongs to a body."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.animals import draw_eye
from langgraph_interleave.world.drawing.outline import arc, blob, bow, box, line, oval, path, star
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import INK, Tone

_TROUSERS = Tone("#6b7a94", "#39455c", "#55647e")
_HAIR = Tone("#6b4a2f", "#3d2815", "#553820")
_FAIR = Tone("#c9964e", "#7b5520", "#b07f38")

_LEGS = {
    "standing": (((-11, -78), (-12, -40), (-12, -7)), ((11, -78), (12, -40), (12, -7))),
    "walking": (((-6, -78), (-16, -42), (-32, -8)), ((6, -78), (18, -44), (28, -7))),
    "running": (((-4, -80), (-22, -52), (-54, -54)), ((6, -80), (30, -58), (26, -14))),
    "sitting": (((-10, -50), (20, -48), (24, -8)), ((8, -50), (38, -46), (42, -8))),
}
_ARMS = {
    "standing": (((-25, -130), (-36, -106), (-37, -80)), ((25, -130), (36, -106), (37, -80))),
    "waving": (((-25, -130), (-36, -106), (-37, -80)), ((25, -130), (45, -142), (46, -178))),
    "walking": (((-23, -130), (-38, -112), (-44, -88)), ((23, -130), (34, -108), (46, -92))),
    "running": (((-23, -130), (-44, -116), (-36, -92)), ((23, -130), (42, -110), (58, -128))),
    "sitting": (((-25, -130), (-34, -106), (-18, -84)), ((25, -130), (36, -108), (26, -84))),
}


def _figure(pen: Pen, pose: str, hair: Tone, head: float) -> None:
    """A standing height of 200 units."""
    legs, arms = _LEGS.get(pose, _LEGS["standing"]), _ARMS[pose]
    drop = 0.0
    if pose == "sitting":
        pen.draw(box(-30, -42, 26, -34), "wood")
        for x in (-24, 20):
            pen.draw(box(x - 3, -34, x + 3, 0), "wood")
    shift = 30.0 if pose == "sitting" else 0.0
    for points in legs:
        pen.bar(bow(*points), 15, _TROUSERS)
    for (fx, fy), (kx, _) in ((leg[-1], leg[-2]) for leg in legs):
        if pose == "running" and fy < -30:
            pen.draw(oval(fx - 3, fy - 2, 6, 11), "black")
        else:
            toe = 5 if pose in ("walking", "running", "sitting") or fx > kx else -5
            pen.draw(path(
                f"M {fx - 9 + toe * 0.3} -1 Q {fx - 9} {fy - 5} {fx} {fy - 5} Q {fx + 10 + toe * 0.4} "
                f"{fy - 3} {fx + 10 + toe * 0.3} -1 Z"
            )
                     if fy > -12 else oval(fx + 4, fy + 5, 11, 6), "black")  # fmt: skip
    with pen.at(0, drop + shift):
        back, front = arms
        pen.bar(bow(*back), 13)
        pen.dot(*back[-1], 8.4, "#93603d")
        pen.dot(*back[-1], 6.4, "#f0c7a2")
        pen.draw(
            path("M -22 -138 Q 0 -146 22 -138 Q 30 -132 26 -108 L 24 -72 L -24 -72 L -26 -108 Q -30 -132 -22 -138 Z"),
            shade=0.4,
        )
        pen.bar(bow(*front), 13)
        pen.dot(*front[-1], 8.4, "#93603d")
        pen.dot(*front[-1], 6.4, "#f0c7a2")
        with pen.at(0, -144, scale=head):
            _head(pen, hair)
    if pose == "waving":
        for x, lean in ((56, 3), (62, 4)):
            pen.stroke(bow((x - 4, -190), (x + lean - 2, -181), (x - 2, -171)), INK, weight=0.6)


def _head(pen: Pen, hair: Tone) -> None:
    """A head whose chin is at the origin, 54 units high."""
    pen.draw(oval(0, -26, 23, 25), "skin")
    pen.draw(path("M -25 -24 C -30 -60 30 -60 25 -24 C 20 -36 10 -40 -6 -38 C -16 -38 -22 -32 -25 -24 Z"), hair)
    for x in (-9, 9):
        pen.dot(x, -25, 2.6)
    pen.stroke(arc(0, -19, 9, 8, 25, 155), INK, weight=0.8)
    for x in (-15, 15):
        pen.dot(x, -18, 3.2, "#eab08c")


def person(pen: Pen, state: str) -> None:
    """A grown person."""
    _figure(pen, state, _HAIR, 1.0)


def child(pen: Pen, state: str) -> None:
    """A child: a larger head on a smaller body."""
    with pen.at(scale=0.735):
        _figure(pen, state, _FAIR, 1.14)


def baby(pen: Pen, state: str) -> None:
    """A sitting baby."""
    for side in (-1, 1):
        pen.bar(bow((side * 14, -10), (side * 30, -16), (side * 32, -8)), 14)
        pen.dot(side * 35, -9, 8, "#93603d")
        pen.dot(side * 35, -9, 6, "#f0c7a2")
    pen.draw(path("M -20 -44 C -34 -24 -30 -2 -18 -2 L 18 -2 C 30 -2 34 -24 20 -44 Z"), shade=0.4)
    for side in (-1, 1):
        pen.bar(bow((side * 18, -38), (side * 30, -34), (side * 36, -40)), 10)
        pen.dot(side * 37, -41, 6.4, "#93603d")
        pen.dot(side * 37, -41, 4.6, "#f0c7a2")
    pen.draw(oval(0, -66, 29, 27), "skin")
    pen.stroke(bow((-3, -93), (4, -88), (7, -92), (3, -95), (-2, -88)), _FAIR.stroke, weight=1.0)
    for x in (-11, 11):
        pen.dot(x, -66, 3)
    for x in (-18, 18):
        pen.dot(x, -58, 4, "#eab08c")
    pen.stroke(arc(0, -60, 8, 7, 20, 160), INK, weight=0.8)


def hand(pen: Pen, state: str) -> None:
    """A hand: palm towards us, or with one finger doing something."""
    if state == "pointing":
        pen.draw(box(-47, -62, -22, -22, corner=5), "blue")
        pen.union(
            box(-28, -70, 14, -16, corner=14), box(-4, -68, 46, -53, corner=7), box(-2, -54, 24, -41, corner=6),
            box(-2, -42, 22, -29, corner=6), box(-4, -30, 16, -17, corner=6), color="skin",
        )  # fmt: skip
        for y, x in ((-53, 24), (-41, 23), (-29, 20)):
            pen.ink(line((2, y), (x - 2, y)), "skin", weight=0.8)
        pen.ink(bow((-14, -66), (2, -62), (8, -52)), "skin", weight=0.9)
        return
    if state == "thumb up":
        pen.draw(box(-47, -58, -24, -10, corner=5), "blue")
        pen.union(
            box(-30, -66, 26, -4, corner=16), box(-14, -114, 6, -48, corner=10), box(4, -66, 36, -50, corner=7),
            box(4, -51, 38, -35, corner=7), box(4, -36, 36, -20, corner=7), box(4, -21, 32, -6, corner=7), color="skin",
        )  # fmt: skip
        for y in (-50, -35, -20):
            pen.ink(line((10, y), (35, y)), "skin", weight=0.8)
        return
    fingers = ((-22, -86, -8), (-7, -104, -2), (8, -101, 3), (22, -84, 9))
    shapes = [box(-24, -62, 26, -12, corner=16), box(-14, -26, 16, 0, corner=4)]
    for x, top, lean in fingers:
        with pen.at(x, -56, turn=lean):
            shapes.append(box(-6.5, top + 50, 6.5, 12, corner=6.5).moved((1, 0, 0, 1, x, -56)))
    pen.union(*shapes, path("M -18 -20 C -32 -26 -46 -42 -44 -56 C -38 -64 -30 -54 -26 -46 L -16 -40 Z"), color="skin")
    pen.ink(bow((-14, -44), (2, -48), (18, -42)), "skin", weight=0.8)
    pen.ink(bow((-12, -36), (-2, -24), (-4, -14)), "skin", weight=0.8)
    if state in ("wet", "soapy"):
        for x, y in ((-30, -78), (0, -74), (34, -60), (-40, -26), (36, -30)):
            with pen.at(x, y, scale=0.3):
                pen.draw(
                    path(
                        "M 0 -40 C 6 -24 20 -14 20 0 C 20 11 11 17 0 17 C -11 17 -20 11 -20 0 C -20 -14 -6 -24 0 -40 Z"
                    ),
                    "water",
                )
    if state == "soapy":
        for x, y, r in (
            (-14, -42, 12),
            (6, -50, 14),
            (20, -38, 11),
            (2, -30, 13),
            (-26, -58, 8),
            (28, -66, 8),
            (-4, -78, 7),
            (14, -88, 6),
        ):
            pen.draw(oval(x, y, r), Tone("#ffffff", "#8fb2c9", "#dceaf2"))
            pen.stroke(arc(x, y, r * 0.6, r * 0.6, 190, 270), "#b9d3e2", weight=0.7)


def face(pen: Pen, state: str) -> None:
    """A face and how it feels."""
    for side in (-1, 1):
        pen.draw(oval(side * 52, -58, 8, 12), "skin")
    pen.draw(oval(0, -60, 51, 54), "skin", shade=0.24)
    pen.draw(path("M -53 -64 C -64 -140 64 -140 53 -64 C 46 -88 24 -96 -10 -92 C -32 -92 -46 -82 -53 -64 Z"), _HAIR)
    for x in (-20, 20):
        if state == "sleeping":
            pen.stroke(arc(x, -64, 10, 6, 10, 170), INK)
        else:
            draw_eye(pen, x, -62, 5.4)
    if state != "sleeping":
        raised = {"sad": 5, "surprised": -5}.get(state, 0)
        for side in (-1, 1):
            pen.stroke(
                bow(
                    (side * 30, -76 + (3 if state == "sad" else 0)),
                    (side * 20, -80 + raised * 0.4),
                    (side * 11, -77 - (raised if state == "sad" else 0)),
                ),
                _HAIR.stroke,
            )
    pen.ink(bow((0, -56), (4, -46), (-2, -44)), "skin", weight=0.9)
    if state == "smiling":
        pen.stroke(arc(0, -36, 20, 15, 15, 165), INK, weight=1.1)
        for x in (-34, 34):
            pen.dot(x, -42, 6, "#eab08c")
    elif state == "sad":
        pen.stroke(arc(0, -18, 16, 11, 200, 340), INK, weight=1.1)
        with pen.at(26, -44, scale=0.34):
            pen.draw(
                path("M 0 -40 C 6 -24 20 -14 20 0 C 20 11 11 17 0 17 C -11 17 -20 11 -20 0 C -20 -14 -6 -24 0 -40 Z"),
                "water",
            )
    elif state == "surprised":
        pen.draw(oval(0, -24, 8, 11), Tone("#a8544a", "#6b2d26", "#6b2d26"))
    else:
        pen.stroke(arc(0, -30, 9, 5, 15, 165), INK)


def tooth(pen: Pen, state: str) -> None:
    """A molar with a face."""
    color = Tone("#f3ead0", "#5d5f66", "#e0d3a8") if state == "dirty" else None
    pen.draw(path(
        "M -30 -52 C -40 -84 -18 -92 0 -84 C 18 -92 40 -84 30 -52 C 28 -36 26 -14 20 -3 C 12 -2 10 -30 0 -30 "
        "C -10 -30 -12 -2 -20 -3 C -26 -14 -28 -36 -30 -52 Z"
    ),
             color, shade=0.3)  # fmt: skip
    for x in (-11, 11):
        pen.dot(x, -62, 3)
    if state == "dirty":
        for x, y, r in ((-20, -74, 5), (18, -76, 6), (22, -48, 5), (-22, -44, 4)):
            pen.draw(blob((x - r, y), (x, y - r * 0.8), (x + r, y), (x, y + r)), Tone("#b89a55", "#7d6429", "#7d6429"))
        pen.stroke(arc(0, -44, 8, 5, 200, 340), INK, weight=0.9)
    else:
        pen.stroke(arc(0, -54, 10, 7, 20, 160), INK, weight=0.9)
    if state == "sparkling":
        for x, y, r in ((-34, -82, 9), (33, -66, 7), (-34, -22, 6)):
            pen.draw(star(x, y, r, r * 0.3, 4), "yellow")


DRAWINGS: Mapping[str, Draw] = {
    "person": person, "child": child, "baby": baby, "hand": hand, "face": face, "tooth": tooth,
}  # fmt: skip
