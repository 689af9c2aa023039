"""The backdrops: where a scene plays, drawn pale so that the things stand out."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from langgraph_interleave.world.drawing.outline import Outline, arc, blob, bow, box, line, oval, poly
from langgraph_interleave.world.drawing.pen import Pen
from langgraph_interleave.world.palette import INK, PAPER, Tone

#: Distance of the drawn frame from the edge of the picture, in canvas units.
EDGE = 9.0


@dataclass(frozen=True, slots=True)
class Ground:
    """The picture's size in canvas units, its horizon, and chance that is the same at every drawing."""

    width: float
    height: float
    horizon: float
    rng: random.Random

    def area(self, top: float, bottom: float | None = None) -> Outline:
        """Everything between two heights, frame to frame."""
        return box(EDGE, top, self.width - EDGE, self.height - EDGE if bottom is None else bottom)

    def land(self, top: float, wave: float = 3.0) -> Outline:
        """Everything below a gently uneven line."""
        steps = max(4, round(self.width / 60))
        left, right = EDGE, self.width - EDGE
        crest = [
            (left + (right - left) * index / steps, top + self.rng.uniform(-wave, wave)) for index in range(steps + 1)
        ]
        return poly(*smooth(crest), (right, self.height - EDGE), (left, self.height - EDGE))

    def across(self, count: int, inset: float = 26.0) -> list[float]:
        """Places spread unevenly from left to right."""
        step = (self.width - 2 * inset) / max(1, count)
        return [inset + step * (index + self.rng.uniform(0.25, 0.75)) for index in range(count)]


def smooth(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points along the smooth curve through points."""
    return Outline(bow(*points).runs, closed=False).flattened()


_PALE: Mapping[str, Tone] = {
    "sky": Tone("#e3f1f8", "#9cc3da", "#cfe5f0"),
    "grass": Tone("#d3e6bd", "#7fa863", "#bcd6a0"),
    "far": Tone("#c5dbc0", "#8fae8c", "#aecaa9"),
    "earth": Tone("#d9c3a6", "#a5835d", "#c7ab86"),
    "sand": Tone("#f3e5c1", "#c2a469", "#e5d2a2"),
    "sea": Tone("#bfdcec", "#6ba3c6", "#a5cce2"),
    "deep": Tone("#cfe6f0", "#7fb2cd", "#b5d7e6"),
    "snow": Tone("#f8fbfd", "#a9bfd2", "#e2ebf2"),
    "wood": Tone("#efdcba", "#a8845a", "#dfc699"),
    "wall": Tone("#fbf6ea", "#c9b992", "#efe5cc"),
    "tile": Tone("#e9f2f1", "#a4c2c0", "#d3e4e2"),
    "floor": Tone("#ecdcc3", "#b3936a", "#dcc5a0"),
    "glass": Tone("#d9ecf7", "#7ba7c7", "#c3dff0"),
    "road": Tone("#d6d5d2", "#8d8b87", "#c3c2be"),
    "town": Tone("#ece4d9", "#b5a794", "#ddd0bf"),
    "night": Tone("#5d6b96", "#3d4970", "#505d88"),
    "dusk": Tone("#6f8a80", "#4a6259", "#628074"),
    "space": Tone("#4b5585", "#333c63", "#434c79"),
}


def draw_backdrop(pen: Pen, name: str, ground: Ground) -> None:
    """Draw a backdrop; an unknown one is bare paper."""
    _BACKDROPS.get(name, _paper)(pen, ground)


def frame_sides(width: float, height: float) -> tuple[tuple[float, float, float, float], ...]:
    """Bounds of the drawn frame's four sides: left, top, right, bottom of each."""
    thick = EDGE + 7
    return (
        (0, 0, width, thick), (width - thick, 0, width, height), (0, height - thick, width, height),
        (0, 0, thick, height),
    )  # fmt: skip


def draw_frame_side(pen: Pen, side: int, width: float, height: float) -> None:
    """One side of the frame of a storyboard picture; what strays over it is covered with paper."""
    e, right, low = EDGE, width - EDGE, height - EDGE
    # Two strokes, each begun and ended a little off the corner.
    margin, first, second = (
        (box(0, 0, width, e), ((e - 2, e), (right + 1, e - 1.5)), ((e, e + 1.5), (right - 1, e + 1))),
        (
            box(right, 0, width, height),
            ((right, e - 2), (right + 1.5, low + 1)),
            ((right - 1.5, e), (right - 1, low + 2)),
        ),
        (box(0, low, width, height), ((right + 1, low), (e - 2, low + 1.5)), ((right, low - 1.5), (e + 1, low - 1))),
        (box(0, 0, e, height), ((e, low + 2), (e - 1.5, e)), ((e + 1.5, low), (e + 1, e - 1))),
    )[side]
    pen.fill(margin, PAPER)
    pen.stroke(line(*first), INK, weight=0.62)
    pen.stroke(line(*second), INK, weight=0.62)


def _paper(pen: Pen, ground: Ground) -> None:
    y = ground.horizon
    pen.stroke(line((EDGE + 16, y), (ground.width - EDGE - 16, y + 1)), "#c9bfae", weight=1.1)


def _window(pen: Pen, ground: Ground) -> None:
    size = min(96.0, ground.width * 0.26)
    right, top = ground.width - 34.0, 36.0
    pen.draw(box(right - size, top, right, top + size * 1.1), _PALE["glass"])
    pen.ink(line((right - size / 2, top), (right - size / 2, top + size * 1.1)), _PALE["glass"])
    pen.ink(line((right - size, top + size * 0.55), (right, top + size * 0.55)), _PALE["glass"])


def _top(pen: Pen, ground: Ground, color: str) -> None:
    """A table top, its front edge at the lower rim of the picture."""
    y, front = ground.horizon, ground.height - 34
    pen.fill(ground.area(y), _PALE[color].fill)
    pen.fill(ground.area(front), _PALE[color].shade)
    pen.ink(line((EDGE, y), (ground.width - EDGE, y)), _PALE[color])
    pen.ink(line((EDGE, front), (ground.width - EDGE, front)), _PALE[color])


def _table(pen: Pen, ground: Ground) -> None:
    _window(pen, ground)
    _top(pen, ground, "wood")
    for x in ground.across(4):
        y = ground.horizon + ground.rng.uniform(14, 62)
        pen.stroke(bow((x - 26, y), (x, y - 1.5), (x + 26, y + 1)), _PALE["wood"].shade, weight=0.8)


def _desk(pen: Pen, ground: Ground) -> None:
    right, left, top = ground.width - 40.0, ground.width - 40 - min(120.0, ground.width * 0.3), 40.0
    pen.draw(box(left, top, right, top + 74), Tone("#cfe0d2", "#8f7350", "#bcd2c0"))
    pen.stroke(bow((left + 16, top + 26), (left + 40, top + 20), (right - 22, top + 24)), "#f3f8f3", weight=0.8)
    pen.stroke(bow((left + 16, top + 44), (left + 44, top + 41), (right - 42, top + 44)), "#f3f8f3", weight=0.8)
    _top(pen, ground, "wood")


def _kitchen(pen: Pen, ground: Ground) -> None:
    y = ground.horizon
    pen.fill(ground.area(y - 96, y), _PALE["tile"].fill)
    for row in (y - 96, y - 64, y - 32):
        pen.stroke(line((EDGE, row), (ground.width - EDGE, row)), _PALE["tile"].shade, weight=0.7)
    columns = round(ground.width / 44)
    for index in range(1, columns):
        x = EDGE + (ground.width - 2 * EDGE) * index / columns
        pen.stroke(line((x, y - 96), (x, y)), _PALE["tile"].shade, weight=0.7)
    _window(pen, ground)
    _top(pen, ground, "wood")


def _room(pen: Pen, ground: Ground) -> None:
    pen.fill(ground.area(EDGE, ground.horizon), _PALE["wall"].fill)
    pen.fill(ground.area(ground.horizon), _PALE["floor"].fill)
    _window(pen, ground)
    y = ground.horizon
    pen.ink(line((EDGE, y), (ground.width - EDGE, y)), _PALE["floor"])
    pen.stroke(line((EDGE, y - 9), (ground.width - EDGE, y - 9)), _PALE["wall"].stroke, weight=0.7)
    for x in ground.across(5):
        foot = (x + (x - ground.width / 2) * 0.5, ground.height - EDGE)
        pen.stroke(line((x, y + 4), foot), _PALE["floor"].shade, weight=0.8)


def _bathroom(pen: Pen, ground: Ground) -> None:
    y = ground.horizon
    pen.fill(ground.area(EDGE, y), _PALE["tile"].fill)
    pen.fill(ground.area(y), "#f4f1e8")
    for row in range(1, 7):
        h = EDGE + (y - EDGE) * row / 7
        pen.stroke(line((EDGE, h), (ground.width - EDGE, h)), _PALE["tile"].shade, weight=0.7)
    columns = round(ground.width / 42)
    for index in range(1, columns):
        x = EDGE + (ground.width - 2 * EDGE) * index / columns
        pen.stroke(line((x, EDGE), (x, y)), _PALE["tile"].shade, weight=0.7)
    pen.ink(line((EDGE, y), (ground.width - EDGE, y)), _PALE["tile"])


def _tufts(pen: Pen, ground: Ground, color: str, count: int) -> None:
    for x in ground.across(count):
        y = ground.rng.uniform(ground.horizon + 16, ground.height - EDGE - 12)
        for lean in (-5, 0, 5):
            pen.stroke(line((x + lean * 0.4, y), (x + lean, y - 9)), color, weight=0.8)


def _meadow(pen: Pen, ground: Ground) -> None:
    y, w = ground.horizon, ground.width
    pen.fill(ground.area(EDGE), _PALE["sky"].fill)
    hills = smooth([(EDGE, y - 12), (w * 0.18, y - 30), (w * 0.4, y - 10), (w * 0.66, y - 34), (w - EDGE, y - 14)])
    pen.fill(poly(*hills, (w - EDGE, y + 8), (EDGE, y + 8)), _PALE["far"].fill)
    land = ground.land(y)
    pen.fill(land, _PALE["grass"].fill)
    pen.ink(line(*land.flattened()[:-2]), _PALE["grass"])
    _tufts(pen, ground, _PALE["grass"].stroke, 7)


def _garden(pen: Pen, ground: Ground) -> None:
    y, w = ground.horizon, ground.width
    pen.fill(ground.area(EDGE), _PALE["sky"].fill)
    tops = 44
    for index in range(round((w - 2 * EDGE) / 26)):
        x = EDGE + 4 + index * 26
        shoulder = y - tops + 8
        pen.draw(poly((x, y + 2), (x, shoulder), (x + 9, y - tops), (x + 18, shoulder), (x + 18, y + 2)), "snow")
    pen.fill(ground.area(y - 26, y - 19), "#f4f6f8")
    pen.stroke(line((EDGE, y - 19), (w - EDGE, y - 19)), "#b9c6d3", weight=0.8)
    land = ground.land(y, 2)
    pen.fill(land, _PALE["grass"].fill)
    pen.ink(line(*land.flattened()[:-2]), _PALE["grass"])
    bed = ground.land(y + (ground.height - y) * 0.42, 3)
    pen.fill(bed, _PALE["earth"].fill)
    pen.ink(line(*bed.flattened()[:-2]), _PALE["earth"])
    for x in ground.across(9):
        pen.dot(x, ground.rng.uniform(y + 75, ground.height - 16), 1.6, _PALE["earth"].stroke)


def _forest(pen: Pen, ground: Ground) -> None:
    y, w = ground.horizon, ground.width
    pen.fill(ground.area(EDGE), "#e6f0e4")
    for index in range(round(w / 46)):
        x = EDGE + 18 + index * 46 + ground.rng.uniform(-8, 8)
        h = ground.rng.uniform(120, 190)
        pen.fill(box(x - 4, y - 40, x + 4, y + 6), "#cbbba4")
        crown = ((x - 24, y - 40), (x - 16, y - h * 0.7), (x, y - h), (x + 16, y - h * 0.7), (x + 24, y - 40))
        pen.fill(blob(*crown), "#cfe2c6")
        pen.stroke(bow(*crown), "#a8c69d")
    land = ground.land(y)
    pen.fill(land, "#d5dfb4")
    pen.stroke(line(*land.flattened()[:-2]), "#94a66b")
    _tufts(pen, ground, "#94a66b", 6)


def _mountains(pen: Pen, ground: Ground) -> None:
    y, w = ground.horizon, ground.width
    pen.fill(ground.area(EDGE), _PALE["sky"].fill)
    for peak, half, top in ((0.2, 0.26, 150), (0.78, 0.3, 172), (0.5, 0.24, 118)):
        x, reach = w * peak, w * half
        slope = poly((max(EDGE, x - reach), y + 6), (x, y - top), (min(w - EDGE, x + reach), y + 6))
        pen.draw(slope, Tone("#dcdfe4", "#a3abb8", "#c9ced6"))
        cap = ((-0.2, 0.8), (0.0, 1.0), (0.2, 0.8), (0.08, 0.72), (0.0, 0.79), (-0.1, 0.7))
        pen.fill(poly(*((x + reach * across, y - top * up) for across, up in cap)), "#fbfdff")
    land = ground.land(y)
    pen.fill(land, _PALE["grass"].fill)
    pen.ink(line(*land.flattened()[:-2]), _PALE["grass"])
    _tufts(pen, ground, _PALE["grass"].stroke, 5)


def _waves(pen: Pen, ground: Ground, top: float, bottom: float, count: int, color: str) -> None:
    for x in ground.across(count):
        y = ground.rng.uniform(top, bottom)
        pen.stroke(bow((x - 16, y), (x - 8, y - 4), (x, y), (x + 8, y - 4), (x + 16, y)), color, weight=0.8)


def _beach(pen: Pen, ground: Ground) -> None:
    y = ground.horizon
    pen.fill(ground.area(EDGE), _PALE["sky"].fill)
    pen.fill(ground.area(y - 42), _PALE["sea"].fill)
    pen.ink(line((EDGE, y - 42), (ground.width - EDGE, y - 42)), _PALE["sea"])
    _waves(pen, ground, y - 32, y - 12, 5, _PALE["sea"].stroke)
    land = ground.land(y, 4)
    pen.fill(land, _PALE["sand"].fill)
    pen.ink(line(*land.flattened()[:-2]), _PALE["sand"])
    for x in ground.across(12):
        pen.dot(x, ground.rng.uniform(y + 14, ground.height - 16), 1.2, _PALE["sand"].stroke)


def _sea(pen: Pen, ground: Ground) -> None:
    y = ground.horizon
    pen.fill(ground.area(EDGE), _PALE["sky"].fill)
    pen.fill(ground.area(y), _PALE["sea"].fill)
    pen.ink(line((EDGE, y), (ground.width - EDGE, y)), _PALE["sea"])
    _waves(pen, ground, y + 18, ground.height - 22, 9, _PALE["sea"].stroke)


def _underwater(pen: Pen, ground: Ground) -> None:
    pen.fill(ground.area(EDGE), _PALE["deep"].fill)
    _waves(pen, ground, EDGE + 14, EDGE + 30, 4, _PALE["deep"].stroke)
    land = ground.land(ground.horizon, 4)
    pen.fill(land, _PALE["sand"].fill)
    pen.ink(line(*land.flattened()[:-2]), _PALE["sand"])
    for x in (34.0, ground.width - 46, ground.width - 34):
        y, tall = ground.horizon + 10, ground.rng.uniform(50, 90)
        pen.stroke(bow((x, y), (x - 7, y - tall * 0.35), (x + 6, y - tall * 0.7), (x, y - tall)), "#8fbf9a", weight=1.8)
    for x in ground.across(3, 60):
        pen.stroke(oval(x, ground.rng.uniform(60, 120), 4), _PALE["deep"].stroke, weight=0.8)


def _street(pen: Pen, ground: Ground) -> None:
    y, w = ground.horizon, ground.width
    pen.fill(ground.area(EDGE), _PALE["sky"].fill)
    x = EDGE
    while x < w - EDGE - 8:
        wide = min(ground.rng.uniform(46, 74), w - EDGE - x)
        tall = ground.rng.uniform(52, 124)
        pen.draw(box(x, y - tall, x + wide, y), _PALE["town"])
        for level in range(int(tall / 30)):
            for bay in range(int(wide / 22)):
                px, py = x + 8 + bay * 21, y - tall + 10 + level * 28
                pen.fill(box(px, py, px + 10, py + 13), "#dbe9ef")
        x += wide
    pen.fill(ground.area(y), "#e9e5dc")
    pen.ink(line((EDGE, y), (w - EDGE, y)), _PALE["road"])
    kerb = y + (ground.height - y) * 0.42
    pen.fill(ground.area(kerb), _PALE["road"].fill)
    pen.ink(line((EDGE, kerb), (w - EDGE, kerb)), _PALE["road"])
    for index in range(round(w / 70)):
        left = EDGE + 22 + index * 70
        pen.fill(box(left, ground.height - 30, left + 36, ground.height - 25), "#fbfaf6")


def _snow(pen: Pen, ground: Ground) -> None:
    y, w = ground.horizon, ground.width
    pen.fill(ground.area(EDGE), "#dfeaf3")
    for index in range(round(w / 60)):
        x = EDGE + 26 + index * 60 + ground.rng.uniform(-12, 12)
        h = ground.rng.uniform(34, 62)
        pen.draw(poly((x - h * 0.36, y + 4), (x, y - h), (x + h * 0.36, y + 4)), Tone("#c9dbd6", "#9bb6b3", "#b6ccc7"))
    land = ground.land(y, 5)
    pen.fill(land, _PALE["snow"].fill)
    pen.ink(line(*land.flattened()[:-2]), _PALE["snow"])
    for x in ground.across(10):
        pen.dot(x, ground.rng.uniform(EDGE + 16, y - 50), 2.6, "#ffffff")
    for x in ground.across(4):
        z = ground.rng.uniform(y + 26, ground.height - 24)
        pen.stroke(bow((x - 20, z), (x, z - 3), (x + 20, z)), _PALE["snow"].shade)


def _sky(pen: Pen, ground: Ground) -> None:
    pen.fill(ground.area(EDGE), _PALE["sky"].fill)
    for x, y in ((0.16, 0.62), (0.72, 0.74), (0.9, 0.42)):
        cx, cy = ground.width * x, ground.height * y
        if cx < ground.width - 60 or ground.width > 390:
            puff = bow((cx - 34, cy), (cx - 20, cy - 10), (cx - 2, cy - 14), (cx + 16, cy - 9), (cx + 26, cy))
            pen.stroke(puff, "#c2dcea")


def _stars(pen: Pen, ground: Ground, bottom: float, count: int) -> None:
    for x in ground.across(count, 20):
        pen.dot(x, ground.rng.uniform(EDGE + 12, bottom), ground.rng.choice((1.1, 1.5, 2.0)), "#f3ecc8")


def _night(pen: Pen, ground: Ground) -> None:
    pen.fill(ground.area(EDGE), _PALE["night"].fill)
    _stars(pen, ground, ground.horizon - 20, round(ground.width / 16))
    land = ground.land(ground.horizon, 5)
    pen.fill(land, _PALE["dusk"].fill)
    pen.ink(line(*land.flattened()[:-2]), _PALE["dusk"])


def _space(pen: Pen, ground: Ground) -> None:
    pen.fill(ground.area(EDGE), _PALE["space"].fill)
    _stars(pen, ground, ground.height - EDGE - 12, round(ground.width / 11))
    x, y = 52.0, ground.height - 62
    pen.draw(oval(x, y, 22), Tone("#7d86b3", "#5c659a", "#6b74a5"), shade=0.4)
    pen.ink(arc(x, y, 36, 9, -20, 200), Tone("#7d86b3", "#8f97c4", "#6b74a5"))


_BACKDROPS: Mapping[str, Callable[[Pen, Ground], None]] = {
    "paper": _paper, "table": _table, "desk": _desk, "kitchen": _kitchen, "room": _room, "bathroom": _bathroom,
    "meadow": _meadow, "garden": _garden, "forest": _forest, "mountains": _mountains, "beach": _beach, "sea": _sea,
    "underwater": _underwater, "street": _street, "snow": _snow, "sky": _sky, "night": _night, "space": _space,
}  # fmt: skip
