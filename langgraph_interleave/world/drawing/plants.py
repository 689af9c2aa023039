"""Drawings: plants."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_interleave.world.drawing import Draw
from langgraph_interleave.world.drawing.outline import blob, bow, box, line, oval, path, poly, star
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import Tone

_LEAF = "M 0 0 C 12 -22 40 -26 50 -14 C 40 2 16 8 0 0 Z"


def draw_leaf_pair(pen: Pen, x: float, y: float, size: float, color: str | Tone | None = "leaf") -> None:
    """Two leaves, left and right of a stem."""
    for flip in (True, False):
        with pen.at(x, y, scale=size, flip=flip):
            pen.draw(path(_LEAF), color, shade=0.45)
            pen.ink(bow((3, -1), (20, -9), (38, -12)), color, weight=0.7)


def draw_blossom(pen: Pen, x: float, y: float, size: float, color: str | Tone | None = None) -> None:
    """An open flower seen from the front."""
    with pen.at(x, y, scale=size):
        for turn in range(0, 360, 60):
            with pen.at(turn=turn + 10):
                pen.draw(oval(0, -19, 11, 15), color)
        pen.draw(oval(0, 0, 11), "straw" if color is not None else "yellow")


def flower_pot(pen: Pen, state: str) -> None:
    """A clay pot; what grows in it rises behind the rim."""
    if state != "empty":
        pen.draw(oval(0, -104, 56, 8), "soil")
    if state == "seeded":
        pen.draw(oval(0, -107, 9, 7), "straw")
    grown = {"sprouted": 62, "leafy": 108, "flowering": 108}.get(state, 0)
    if grown:
        pen.bar(bow((0, -102), (-3, -102 - grown * 0.5), (1, -102 - grown)), 5, "leaf")
    if state == "sprouted":
        draw_leaf_pair(pen, 1, -104 - grown + 12, 0.95)
    elif state in ("leafy", "flowering"):
        draw_leaf_pair(pen, -1, -132, 1.0)
        draw_leaf_pair(pen, 1, -172, 0.8)
        if state == "leafy":
            with pen.at(1, -208, turn=-62, scale=0.5):
                pen.draw(path(_LEAF), "leaf")
        else:
            draw_blossom(pen, 1, -214, 0.92, "pink")
    pen.draw(poly((-54, -84), (54, -84), (40, 0), (-40, 0)), shade=0.5)
    if state == "empty":
        pen.draw(box(-64, -110, 64, -82, corner=4))
        pen.draw(oval(0, -108, 56, 4), Tone(pen.own.shade, pen.own.stroke, pen.own.stroke))
    else:
        pen.draw(path("M -64 -106 L -56 -104 Q 0 -90 56 -104 L 64 -106 L 63 -82 L -63 -82 Z"))


def seed(pen: Pen, state: str) -> None:
    """A bean-shaped seed."""
    pen.draw(blob((-9, -8), (-11, -20), (-4, -30), (6, -30), (11, -20), (9, -6), (0, -1)), shade=0.4)
    pen.ink(bow((2, -24), (-2, -16), (2, -8)), weight=0.7)


def sprout(pen: Pen, state: str) -> None:
    """Two seed leaves on a stem out of a little heap of earth."""
    pen.bar(bow((0, -6), (-3, -28), (1, -52)), 5)
    draw_leaf_pair(pen, 1, -50, 0.92, None)
    pen.draw(path("M -40 0 Q -20 -14 0 -14 Q 22 -14 40 0 Z"), "soil")


def plant(pen: Pen, state: str) -> None:
    """A bushy plant of three shoots."""
    green = None if state == "leafy" else "leaf"
    if state == "wilted":
        dry = pen.unless_asked(Tone("#b7ac6a", "#6f6630", "#978c4e"))
        for side in (-1, 1):
            pen.bar(bow((0, 0), (side * 4, -60), (side * 22, -84), (side * 42, -66)), 5, dry)
            for x, y, turn in ((20, -80, 60), (42, -64, 84)):
                with pen.at(side * x, y, flip=side < 0), pen.at(turn=turn, scale=0.8):
                    pen.draw(path(_LEAF), dry, shade=0.4)
        pen.bar(bow((0, 0), (2, -70), (12, -100), (26, -92)), 5, dry)
        with pen.at(26, -92, turn=80, scale=0.8):
            pen.draw(path(_LEAF), dry, shade=0.4)
        return
    pen.bar(bow((0, 0), (-2, -60), (0, -116)), 6, green)
    for y, size in ((-22, 0.98), (-56, 0.9), (-88, 0.72)):
        draw_leaf_pair(pen, 0, y, size, green)
    if state == "flowering":
        draw_blossom(pen, 0, -112, 0.86, pen.unless_asked("red"))
    else:
        with pen.at(0, -110, turn=-64, scale=0.62):
            pen.draw(path(_LEAF))


def flower(pen: Pen, state: str) -> None:
    """One flower on its stem."""
    if state == "wilted":
        pen.bar(bow((-14, 0), (-18, -50), (-10, -92), (10, -96), (18, -78)), 5, "leaf")
        with pen.at(-16, -40, turn=50, scale=0.6, flip=True):
            pen.draw(path(_LEAF), "leaf", shade=0.4)
        with pen.at(17, -70, turn=165):
            for lean in (-30, 0, 30):
                with pen.at(turn=lean):
                    pen.draw(oval(0, -12, 7, 12))
        return
    pen.bar(bow((0, 0), (-3, -48), (0, -96)), 5, "leaf")
    draw_leaf_pair(pen, -1, -26, 0.72)
    if state == "bud":
        pen.draw(path("M 0 -132 C 20 -116 20 -94 0 -90 C -20 -94 -20 -116 0 -132 Z"), shade=0.5)
        pen.ink(bow((0, -128), (4, -112), (0, -96)), weight=0.8)
        pen.draw(path("M -15 -100 Q 0 -104 15 -100 Q 8 -86 0 -86 Q -8 -86 -15 -100 Z"), "leaf")
        return
    with pen.at(0, -99):
        for turn in range(0, 360, 60):
            with pen.at(turn=turn + 10):
                pen.draw(oval(0, -21, 11.5, 15), shade=0.3)
        pen.draw(oval(0, 0, 12), "yellow")


def leaf(pen: Pen, state: str) -> None:
    """A single leaf with its veins."""
    pen.draw(path("M -34 -6 C -44 -44 -6 -76 36 -74 C 42 -34 14 0 -26 -12 L -38 -2 Z"), shade=0.45)
    pen.ink(bow((-36, -4), (-8, -36), (30, -68)))
    for x, y in ((-16, -28), (0, -46)):
        pen.ink(line((x, y), (x - 4, y - 20)), weight=0.7)
        pen.ink(line((x, y), (x + 20, y + 4)), weight=0.7)


_CROWN = (
    (-64, -86), (-76, -112), (-66, -140), (-48, -152), (-40, -178), (-12, -194), (20, -192), (42, -176), (52, -156),
    (70, -140), (76, -112), (64, -86), (30, -76), (0, -82), (-32, -76),
)  # fmt: skip


def tree(pen: Pen, state: str) -> None:
    """A broad tree."""
    bark = pen.unless_asked("brown") if state == "bare" else "brown"
    if state == "bare":
        for width, *points in (
            (9, (-2, -60), (-16, -108), (-44, -150)), (9, (3, -60), (12, -116), (40, -158)),
            (10, (0, -60), (2, -130), (-6, -190)), (5, (-17, -116), (-42, -122), (-68, -116)),
            (5, (12, -112), (40, -118), (68, -118)), (5, (0, -138), (12, -160), (18, -186)),
            (5, (-32, -136), (-38, -162), (-32, -182)), (5, (28, -140), (46, -142), (64, -152)),
        ):  # fmt: skip
            pen.bar(bow(*points), width, bark)
        pen.draw(path("M -15 0 Q -9 -40 -8 -84 Q 0 -96 8 -84 Q 9 -40 16 0 Z"), bark, shade=0.5)
        return
    trunk = path("M -14 0 Q -8 -40 -12 -90 L 12 -90 Q 8 -40 15 0 Z")
    pen.draw(trunk, "brown", shade=0.5)
    seasons: Mapping[str, str | Tone] = {"autumn": Tone("#e09a45", "#9a5a1e", "#c97f30"), "blossoming": "pink"}
    crown = pen.unless_asked(seasons[state]) if state in seasons else None
    pen.draw(blob(*_CROWN), crown, shade=0.42)
    for points in (
        ((-30, -120), (-14, -112), (0, -122)),
        ((14, -146), (28, -138), (42, -148)),
        ((-22, -160), (-8, -154), (4, -162)),
    ):
        pen.ink(bow(*points), crown, weight=0.8)
    if state == "with apples":
        for x, y in ((-44, -112), (-12, -134), (24, -112), (44, -134), (6, -168), (-34, -150)):
            pen.draw(oval(x, y, 8), "red")
    elif state == "blossoming":
        for x, y in ((-44, -112), (-12, -138), (24, -108), (48, -134), (8, -170), (-36, -150)):
            draw_blossom(pen, x, y, 0.3, "white")
    elif state == "autumn":
        for x, y in ((-56, -34), (44, -50), (58, -8), (-40, -6)):
            pen.draw(oval(x, y, 6, 4, turn=30), "orange")


def pine_tree(pen: Pen, state: str) -> None:
    """A fir in three tiers."""
    pen.draw(box(-9, -30, 9, 0), "brown")
    for y, half, tall in ((-24, 60, 72), (-70, 48, 66), (-114, 36, 68)):
        inner, rise = half * 0.45, y - tall * 0.5
        tier = (
            f"M {-half} {y} Q {-inner} {rise} 0 {y - tall} Q {inner} {rise} {half} {y} "
            f"Q {inner} {y + 9} 0 {y + 3} Q {-inner} {y + 9} {-half} {y} Z"
        )
        pen.draw(path(tier), shade=0.45)
    if state == "decorated":
        for x, y, color in (
            (-26, -40, "red"), (20, -36, "yellow"), (0, -66, "blue"), (-18, -90, "yellow"), (18, -92, "red"),
            (-4, -122, "pink"), (10, -146, "yellow"),
        ):  # fmt: skip
            pen.draw(oval(x, y, 6), color)
        pen.draw(star(0, -178, 14, 6), "yellow")


def bush(pen: Pen, state: str) -> None:
    """A round bush."""
    edge = (
        (-66, -4), (-68, -36), (-48, -52), (-38, -74), (-8, -86), (18, -76), (34, -78), (50, -56), (66, -40), (67, -4),
        (0, -1),
    )  # fmt: skip
    pen.draw(blob(*edge), shade=0.45)
    for x, y in ((-34, -34), (-4, -56), (26, -30)):
        pen.ink(bow((x - 12, y - 4), (x, y + 3), (x + 12, y - 5)), weight=0.8)


def cactus(pen: Pen, state: str) -> None:
    """A cactus with two arms."""
    pen.draw(
        path(
            "M -14 -56 L -28 -56 Q -42 -56 -42 -72 L -42 -96 Q -42 -104 -34 -104 Q -26 -104 -26 -96 L "
            "-26 -76 L -10 -76 Z"
        )
    )
    pen.draw(path("M 12 -38 L 26 -38 Q 42 -38 42 -56 L 42 -84 Q 42 -92 34 -92 Q 26 -92 26 -84 L 26 -58 L 10 -58 Z"))
    pen.draw(path("M -18 0 L -18 -110 Q -18 -132 0 -132 Q 18 -132 18 -110 L 18 0 Z"), shade=0.5)
    for y in range(-112, -10, 20):
        for x in (-8, 8):
            pen.ink(line((x - 2, y), (x + 2, y - 5)), weight=0.8)


def mushroom(pen: Pen, state: str) -> None:
    """A toadstool."""
    pen.draw(path("M -15 -46 Q -12 -20 -18 0 Q 0 5 18 0 Q 12 -20 15 -46 Z"), "cream", shade=0.4)
    pen.draw(
        path("M -43 -40 C -42 -74 -20 -87 0 -87 C 20 -87 42 -74 43 -40 Q 20 -48 0 -46 Q -20 -48 -43 -40 Z"), shade=0.4
    )
    for x, y, r in ((-20, -60, 7), (6, -70, 8), (26, -56, 5)):
        pen.draw(oval(x, y, r, r * 0.85), "white", line=False)


DRAWINGS: Mapping[str, Draw] = {
    "flower pot": flower_pot, "seed": seed, "sprout": sprout, "plant": plant, "flower": flower, "leaf": leaf,
    "tree": tree, "pine tree": pine_tree, "bush": bush, "cactus": cactus, "mushroom": mushroom,
}  # fmt: skip
