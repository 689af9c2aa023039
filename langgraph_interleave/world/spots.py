"""Candidate places: where a thing could stand, the natural place first. Pure geometry.

Lengths are in units of the picture's shorter side, from its upper left corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from langgraph_interleave.world.kind import Backdrop, Kind
from langgraph_interleave.world.scene import Relation, Thing

#: Share of the shorter side kept free between things.
GAP = 0.03
_COLUMN = {"left": 0, "middle": 1, "right": 2}
_ROW = {"upper": 0, "middle": 1, "lower": 2}
_GROUND = (0.5, 0.2, 0.8, 0.35, 0.65, 0.1, 0.9)
_SKY = (0.8, 0.22, 0.5, 0.36, 0.66)
_AIR = (0.5, 0.22, 0.78, 0.14, 0.86)


class Box(NamedTuple):
    """A rectangle: upper left corner and size."""

    x: float
    y: float
    w: float
    h: float

    @property
    def middle(self) -> float:
        return self.x + self.w / 2

    @property
    def bottom(self) -> float:
        return self.y + self.h

    def overlap(self, other: Box) -> float:
        """Area in common."""
        across = min(self.x + self.w, other.x + other.w) - max(self.x, other.x)
        down = min(self.bottom, other.bottom) - max(self.y, other.y)
        return max(0.0, across) * max(0.0, down)


class Spot(NamedTuple):
    """A candidate place: the box's middle, and its bottom or (`top`) its top; what it costs to stray there.

    What is wider than `widest` or higher than `tallest` does not fit there; `sunk` is the share of a copy's
    height that it goes lower.
    """

    x: float
    y: float
    cost: float
    top: bool = False
    widest: float = 99.0
    tallest: float = 99.0
    sunk: float = 0.0


@dataclass(slots=True)
class Group:
    """The copies of one thing, and where they have come to stand."""

    thing: Thing
    kind: Kind
    rows: tuple[int, ...]
    scale: float
    copy: tuple[float, float]
    gap: tuple[float, float]
    box: Box | None = None
    shrink: float = 1.0
    grounded: bool = False
    overlaps: bool = False

    @property
    def width(self) -> float:
        return max(self.rows) * self.copy[0] + (max(self.rows) - 1) * self.gap[0]

    @property
    def height(self) -> float:
        return len(self.rows) * self.copy[1] + (len(self.rows) - 1) * self.gap[1]

    @property
    def placed(self) -> Box:
        assert self.box is not None
        return self.box

    @property
    def stands(self) -> bool:
        return self.kind.stands == "ground"


class Frame(NamedTuple):
    """The picture, and the lines things keep to."""

    w: float
    h: float
    backdrop: Backdrop
    floor: float
    lowest: float
    zoom: float

    @property
    def back(self) -> float:
        """Where things stand that are farther away: behind the floor, before the horizon."""
        # Bare paper has no ground: there they may stand anywhere.
        return self.floor - 0.3 if self.backdrop.horizon > 0.8 else self.backdrop.horizon * self.h + 0.03


class Part(NamedTuple):
    """A part of a cell that several things share: from `start` to `end` across it, in one of its rows."""

    start: float
    end: float
    row: int
    rows: int


#: A cell that one thing has to itself.
WHOLE = Part(0.0, 1.0, 0, 1)


def parts(sharing: Sequence[Group]) -> list[Part]:
    """How things that name the same cell divide it: side by side, by their widths; more than three in rows."""
    length = 2 if len(sharing) == 4 else 3
    rows = [sharing[start : start + length] for start in range(0, len(sharing), length)]
    found: list[Part] = []
    for number, row in enumerate(rows):
        total, start = sum(group.width for group in row), 0.0
        for group in row:
            end = 1.0 if group is row[-1] else start + group.width / total
            found.append(Part(start, end, number, len(rows)))
            start = end
    return found


def hides(kind: Kind) -> bool:
    """Whether the front of a container hides what is in it."""
    return kind.opening is not None and kind.color != "glass"


def stands_under(group: Group, neighbour: Group) -> bool:
    """Whether what is below a thing stands in the room under it, like a cat under a table."""
    return neighbour.kind.under is not None and group.stands


def cell_spots(group: Group, cell: str, frame: Frame, part: Part) -> list[Spot]:
    """Spots whose box keeps its middle inside the named cell, the natural one first.

    Args:
        group: What is to be placed.
        cell: Its cell.
        frame: The picture.
        part: Which part of the cell is its own.
    """
    words = cell.split()
    column = _COLUMN[words[-1]]
    row = _ROW[words[0]] if len(words) == 2 else 1
    x = frame.w * (0.19, 0.5, 0.81)[column]
    y = frame.h * (0.21, 0.5, 0.79)[row]
    low, high = frame.h * row / 3 + 0.005, frame.h * (row + 1) / 3 - 0.005
    if part != WHOLE:
        left = max(frame.w * column / 3, GAP)
        across = min(frame.w * (column + 1) / 3, frame.w - GAP) - left
        x, wide = left + across * (part.start + part.end) / 2, across * (part.end - part.start)
        tall = (high - low) / part.rows
        foot = low + tall * (part.row + 1) - 0.01
        if group.stands and part.rows == 1:
            foot = _on_ground(foot, row, frame)
        return [Spot(x, min(foot, frame.lowest), 0.0, widest=wide - 0.012, tallest=tall - 0.012)]
    spots: list[Spot] = []
    for dx in (0.0, -0.05, 0.05, -0.1, 0.1):
        for dy in (0.0, -0.05, 0.05, -0.1, 0.1):
            for share in (1.0, 0.7, 0.45, 0.3):
                height = group.height * share
                base = y + dy + height / 2
                if group.stands and not dy:
                    base = _on_ground(base, row, frame)
                base = min(base, frame.lowest)
                middle = min(max(base - height / 2, low), high)
                spots.append(Spot(x + dx, middle + height / 2, abs(dx) + abs(dy) + (1 - share) * 0.4))
    return spots


def _on_ground(base: float, row: int, frame: Frame) -> float:
    """Where in a row of cells something stands: not above the horizon where there is ground."""
    horizon = frame.backdrop.horizon * frame.h
    if frame.backdrop.floats or row == 0:
        return base
    if row == 2:
        return 0.92 * frame.h
    # Not lower for what is taller: a plant that grows stays where its pot stands.
    return horizon + 0.03 if horizon < 0.75 * frame.h else base


def free_spots(group: Group, frame: Frame, lift: float) -> list[Spot]:
    """Places for what may stand anywhere, in the order they are taken."""
    spots: list[Spot] = []
    stands = group.kind.stands
    if stands == "sky":
        for order, x in enumerate(_SKY):
            spots.append(Spot(x * frame.w, 0.09 * frame.h, order * 0.03, top=True))
    elif stands == "ground" and not frame.backdrop.floats:
        for order, x in enumerate(_GROUND):
            spots.append(Spot(x * frame.w, frame.floor - lift, order * 0.03))
            spots.append(Spot(x * frame.w, frame.back, 0.3 + order * 0.03))
            spots.append(Spot(x * frame.w, frame.lowest, 0.34 + order * 0.03))
    else:
        for row, y in enumerate((0.47, 0.8, 0.17)):
            for order, x in enumerate(_AIR):
                spots.append(Spot(x * frame.w, y * frame.h + group.height / 2, row * 0.12 + order * 0.03))
    highest = frame.back if stands == "ground" and not frame.backdrop.floats else 0.0
    for across in range(9):
        for down in range(8):
            x, y = frame.w * (0.08 + 0.105 * across), frame.h * (0.2 + 0.105 * down)
            if y >= highest:
                spots.append(Spot(x, y, 0.6 + abs(across - 4) * 0.01 + abs(down - 5) * 0.01))
    return spots


def beside_spots(group: Group, relation: Relation, neighbour: Group, frame: Frame) -> list[Spot]:
    """Places that say the relation, the plainest first."""
    box = neighbour.placed
    aim = group.kind.aim.get(group.thing.state or "", 0.5)
    middle = box.middle + (0.5 - aim) * group.width
    shifts = (0.0, -0.28, 0.28, -0.14, 0.14, -0.42, 0.42)
    if relation == "on":
        base = box.y + box.h * neighbour.kind.surface
        if group.kind.category == "clothing" and neighbour.kind.category in (
            "person",
            "body",
            "animal",
            "landscape",
            "toy",
        ):
            # Worn on a head, not stood on: as wide as one, and pulled down a little.
            widest = box.w * (0.6 if neighbour.kind.category != "body" else 1.1)
            return [Spot(box.middle, base + min(0.04, box.h * 0.1), 0.0, widest=widest)]
        return [Spot(box.middle + shift * box.w, base, abs(shift) * 0.2) for shift in shifts]
    if relation == "in":
        opening = neighbour.kind.opening
        if opening is None:
            size = min(0.7 * box.w / group.width, 0.7 * box.h / group.height, 1.0)
            base = box.y + box.h * 0.5 + group.height * size / 2
            return [Spot(box.middle + shift * box.w, base, abs(shift) * 0.2) for shift in shifts]
        if not hides(neighbour.kind):
            inside = box.bottom - 0.05 * box.h
            return [Spot(box.middle + shift * box.w * 0.5, inside, abs(shift), widest=box.w * 0.8) for shift in shifts]
        rim = box.y + box.h * opening
        return [
            Spot(box.middle + shift * box.w, rim, abs(shift) * 0.2 + index * 0.05, widest=box.w * 0.92, sunk=sunk)
            for shift in shifts[:5]
            for index, sunk in enumerate((0.36, 0.25, 0.15))
        ]
    if relation == "above":
        high = box.y - GAP
        spots = [Spot(middle + s * 0.3, high - up, abs(s) * 0.2 + up * 0.4) for s in shifts for up in (0.0, 0.05, 0.12)]
        if group.kind.stands == "sky":
            spots.insert(0, Spot(middle, min(0.09 * frame.h + group.height, high), -0.1))
        return spots
    if relation == "below" and stands_under(group, neighbour):
        clear = box.h * (neighbour.kind.under or 0.0)
        # Beside a trunk, in the middle between legs.
        aside = 0.42 if neighbour.kind.category == "plant" else 0.0
        return [
            Spot(
                box.middle + s * box.w * 0.7, box.bottom + 0.01, abs(abs(s) - aside) * 0.2,
                widest=box.w * 0.8, tallest=clear,
            )
            for s in shifts
        ]  # fmt: skip
    if relation == "below":
        base = frame.floor if group.stands and frame.floor - group.height > box.bottom + GAP else None
        spots = [Spot(box.middle + s * 0.3, box.bottom + GAP, abs(s) * 0.2, top=True) for s in shifts]
        return [Spot(box.middle, base, -0.1), *spots] if base is not None else spots
    if relation in ("left of", "right of"):
        sign = -1 if relation == "left of" else 1
        level = box.bottom if group.stands and neighbour.stands else box.y + box.h / 2 + group.height / 2
        edge = box.x if sign < 0 else box.x + box.w
        return [
            Spot(
                edge + sign * (GAP + group.width * share / 2 + away),
                level + dy,
                away * 0.4 + abs(dy) + (1 - share) * 0.5,
            )
            for away in (0.0, 0.06, 0.12, 0.2)
            for share in (1.0, 0.8, 0.6, 0.4)
            for dy in (0.0, -0.06, 0.06)
        ]
    nearer = relation == "in front of"
    if group.stands and not neighbour.stands and not frame.backdrop.floats:
        # Before something that hangs or flies, it stands on the ground.
        return [Spot(box.middle + s, frame.floor, abs(s) * 0.3) for s in (0.0, -0.2, 0.2, -0.32, 0.32)]
    base = box.bottom + (0.07 if nearer else -0.08)
    aside = 0.3 * box.w if nearer else 0.42 * max(box.w, group.width)
    return [
        Spot(box.middle + s * aside, base, 0.05 * index) for index, s in enumerate((-1.0, 1.0, -0.6, 0.6, -1.4, 1.4))
    ]
