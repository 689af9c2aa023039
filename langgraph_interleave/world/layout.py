"""Where everything stands: a scene becomes boxes. Pure and deterministic.

What has a named cell is placed first, then what stands beside something, then the rest in a fixed
order of free places; so a thing keeps its place when others are added, unless one of them claims it
by name. Things that are not related never overlap while there is room to avoid it: they are moved a
little, then made smaller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop

from langgraph_interleave.world.scene import Beside, Scene, Thing
from langgraph_interleave.world.spots import (
    GAP,
    Box,
    Frame,
    Group,
    Spot,
    beside_spots,
    cell_spots,
    free_spots,
    hides,
    parts,
    stands_under,
)
from langgraph_interleave.world.vocabulary import BACKDROPS, CARD, KINDS, PHOTO

#: Id of the pinned photo among the placed; a `Beside` may name it.
PHOTO_ID = "photo"
#: Share of the shorter side kept free along the picture's edge.
MARGIN = 0.05
SIZES: Mapping[str, float] = {"small": 0.66, "medium": 1.0, "large": 1.36}
#: How several of a kind are set out: copies per row, and how much smaller each is drawn.
ROWS: Mapping[int, tuple[tuple[int, ...], float]] = {
    1: ((1,), 1.0), 2: ((2,), 0.84), 3: ((3,), 0.7), 4: ((2, 2), 0.62), 5: ((3, 2), 0.58), 6: ((3, 3), 0.56),
    7: ((4, 3), 0.5), 8: ((4, 4), 0.5), 9: ((3, 3, 3), 0.5),
}  # fmt: skip

_SCALES = (0.92, 0.84, 0.76, 0.68, 0.6, 0.52, 0.44, 0.36, 0.3, 0.24, 0.18)
# What it costs to be drawn smaller, beside the distance from the natural spot.
_SHRINKING = 0.9
_SHRINKING_IN_CELL = 0.55
_TINY = 1.5
# Below this share of its size a thing counts as very small.
_SMALL = 0.58


@dataclass(frozen=True, slots=True)
class Placed:
    """One copy of a thing and its box. `x`, `y` are its upper left corner.

    Coordinates are shares of the picture's width (`x`, `w`) and height (`y`, `h`), from the upper
    left. `scale` is how large it is drawn beside its medium size, `grounded` whether it stands on
    the ground and throws a shadow there.
    """

    id: str
    index: int
    kind: str
    x: float
    y: float
    w: float
    h: float
    scale: float = 1.0
    grounded: bool = False

    def pixels(self, width: int, height: int) -> tuple[int, int, int, int]:
        """The box in a picture of that size: left, top, right, bottom."""
        return (
            round(self.x * width), round(self.y * height),
            round((self.x + self.w) * width), round((self.y + self.h) * height),
        )  # fmt: skip


def layout(scene: Scene, *, aspect: float = 1.0) -> tuple[Placed, ...]:
    """Place everything a scene shows.

    Args:
        scene: What is shown. Kinds the vocabulary does not know are placed like cards.
        aspect: Width by height of the picture, 1/3 to 3.

    Returns:
        One `Placed` per copy, in drawing order (later ones in front); a pinned photo has the id `photo`.

    Example:
        >>> from langgraph_interleave.world.scene import Scene, Thing
        >>> [placed] = layout(Scene(things=(Thing(id="ball", kind="ball"),)))
        >>> round(placed.x + placed.w / 2, 2)
        0.5
    """
    frame = _frame(scene, aspect)
    groups = {thing.id: _group(thing, frame) for thing in scene.things}
    if scene.photo and PHOTO_ID not in groups:
        groups = {PHOTO_ID: _photo(frame), **groups}
    placing = _Placing(frame, groups)
    for cell in dict.fromkeys(group.thing.at for group in groups.values() if isinstance(group.thing.at, str)):
        sharing = [group for group in groups.values() if group.thing.at == cell]
        for group, part in zip(sharing, parts(sharing), strict=True):
            placing.settle(group, cell_spots(group, cell, frame, part), roomy=False)
    placing.place_rest()
    if placing.cramped():
        placing.rearrange()
    return tuple(placed for group in _drawing_order(groups) for placed in _copies(group, frame))


def bounds(places: Iterable[Placed], thing: str) -> Placed | None:
    """The box around all copies of the thing with that id, `None` when it is not there."""
    boxes = [placed for placed in places if placed.id == thing]
    if not boxes:
        return None
    x, y = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.x + box.w for box in boxes), max(box.y + box.h for box in boxes)
    return replace(boxes[0], index=0, x=x, y=y, w=right - x, h=bottom - y)


class _Placing:
    """The groups of one scene while they find their places."""

    def __init__(self, frame: Frame, groups: Mapping[str, Group]) -> None:
        self.frame = frame
        self.groups = groups

    def place_rest(self) -> None:
        """Place what has no place yet, in the scene's order."""
        for group in self.groups.values():
            self._place(group)

    def cramped(self) -> bool:
        """Whether something that stands came out very small, or on top of something foreign."""
        return any(
            group.overlaps or group.shrink < _SMALL
            for group in self.groups.values()
            if group.stands and _is_movable(group)
        )

    def rearrange(self) -> None:
        """Set what stands out anew, in rows across the picture; kept as it was where that is no better."""
        fixed = [group.placed for group in self.groups.values() if not _is_movable(group)]
        ceiling = max((box.bottom for box in fixed), default=MARGIN)
        row = self._row()
        if self.frame.backdrop.floats or ceiling > 0.6 * self.frame.h or not row:
            return
        before = [(group, group.box, group.shrink, group.grounded, group.overlaps) for group in self.groups.values()]
        worst = self._worst()
        for group in self.groups.values():
            if _is_movable(group):
                group.box, group.shrink, group.overlaps = None, 1.0, False
        self._fill_rows(row, ceiling)
        self.place_rest()
        if self._worst() <= worst:
            for group, box, shrink, grounded, overlaps in before:
                group.box, group.shrink, group.grounded, group.overlaps = box, shrink, grounded, overlaps

    def _place(self, group: Group) -> None:
        if group.box is not None:
            return
        at = group.thing.at
        if not isinstance(at, Beside) or not self._has_place_beside(group):
            self.settle(group, free_spots(group, self.frame, self._lift(group)), roomy=True)
            return
        neighbour = self.groups[at.of]
        self._place(neighbour)
        self.settle(group, beside_spots(group, at.relation, neighbour, self.frame), roomy=False, beside=neighbour)

    def _has_place_beside(self, group: Group) -> bool:
        """Whether it stands beside something that is there (and not, in a circle, beside itself)."""
        seen = {group.thing.id}
        at = group.thing.at
        while isinstance(at, Beside):
            if at.of in seen or at.of not in self.groups:
                return False
            seen.add(at.of)
            at = self.groups[at.of].thing.at
        return True

    def _worst(self) -> tuple[bool, float]:
        """How good the poorest place is; greater is better."""
        groups = self.groups.values()
        return not any(group.overlaps for group in groups), min(group.shrink for group in groups)

    def _row(self) -> list[Group]:
        """What stands on the ground from left to right, neighbours beside each other."""
        row: list[Group] = []
        for group in self.groups.values():
            if not _is_movable(group) or not group.stands or group in row:
                continue
            at = group.thing.at
            if at is None or not self._has_place_beside(group):
                row.append(group)
            elif isinstance(at, Beside) and at.relation in ("left of", "right of") and self.groups[at.of] in row:
                row.insert(row.index(self.groups[at.of]) + (at.relation == "right of"), group)
        return row

    def _fill_rows(self, row: list[Group], ceiling: float) -> None:
        frame = self.frame
        single = [(row, frame.floor, self._fitting(row, frame.floor - ceiling - GAP))]
        plans = [single]
        for cut in range(1, len(row)):
            far, near = row[:cut], row[cut:]
            if not _belong(far[-1], near[0]):
                plans.append([
                    (far, frame.back, self._fitting(far, frame.back - ceiling - GAP)),
                    (near, frame.lowest, self._fitting(near, frame.lowest - frame.back - GAP)),
                ])  # fmt: skip
        best = max(plans, key=lambda plan: min(scale for _, _, scale in plan) - 0.05 * len(plan))
        for groups, base, scale in best:
            rest = frame.w - 2 * MARGIN - sum(group.width * scale for group in groups)
            gap = min(rest / (len(groups) + 1), 0.12)
            x = (frame.w - sum(group.width * scale for group in groups) - gap * (len(groups) - 1)) / 2
            for group in groups:
                w, h = group.width * scale, group.height * scale
                group.box, group.shrink = Box(x, base - h, w, h), scale
                group.grounded = self._is_grounded(group, None)
                x += w + gap

    def _fitting(self, row: Sequence[Group], tall: float) -> float:
        """The scale at which a row fits across the frame and under a height."""
        room = self.frame.w - 2 * MARGIN - GAP * (len(row) - 1)
        return max(0.1, min(1.0, room / sum(group.width for group in row), tall / max(group.height for group in row)))

    def settle(self, group: Group, spots: Sequence[Spot], *, roomy: bool, beside: Group | None = None) -> None:
        """Take the cheapest spot and size at which it is inside the frame and overlaps nothing foreign."""
        others = [
            other for other in self.groups.values() if other.box is not None and not self._related(group, other, beside)
        ]
        shrinking = _SHRINKING_IN_CELL if isinstance(group.thing.at, str) else _SHRINKING
        tries = [
            (spot.cost + (1 - scale) * shrinking + max(0.0, 0.62 - scale) * _TINY, -scale, index)
            for index, spot in enumerate(spots)
            for scale in self._scales(group, spot)
        ]
        heapify(tries)
        best: tuple[float, Box, float] | None = None
        while tries:
            _, negative, index = heappop(tries)
            scale = -negative
            box = self._box(group, spots[index], scale)
            if box is None:
                continue
            gap = GAP / 2 if roomy else 0.004
            roomier = Box(box.x - gap, box.y - gap, box.w + 2 * gap, box.h + 2 * gap)
            common = sum(roomier.overlap(other.placed) for other in others) / (box.w * box.h)
            if best is None or common < best[0] - 1e-9:
                best = (common, box, scale)
            if common <= 1e-9:
                break
        if best is None:
            # Every spot lies too far outside: the middle of the frame.
            scale = min((self.frame.w - 2 * MARGIN) / group.width, (self.frame.h - 2 * MARGIN) / group.height, 1.0)
            w, h = group.width * scale, group.height * scale
            best = (0.0, Box((self.frame.w - w) / 2, (self.frame.h - h) / 2, w, h), scale)
        group.box, group.shrink, group.overlaps = best[1], best[2], best[0] > 1e-9
        group.grounded = self._is_grounded(group, beside)

    def _scales(self, group: Group, spot: Spot) -> list[float]:
        """The sizes to try at a spot: the largest that fits, and smaller ones."""
        widest = min(self.frame.w - 2 * MARGIN, spot.widest)
        tallest = min(self.frame.lowest - MARGIN, spot.tallest)
        most = min(1.0, widest / group.width, tallest / group.height)
        return [most, *(scale for scale in _SCALES if scale < most)]

    def _box(self, group: Group, spot: Spot, scale: float) -> Box | None:
        w, h = group.width * scale, group.height * scale
        x, y = spot.x - w / 2, spot.y if spot.top else spot.y - h + spot.sunk * group.copy[1] * scale
        left, right, lowest = MARGIN, self.frame.w - MARGIN, self.frame.lowest
        x, y = min(max(x, left), right - w), min(max(y, MARGIN), max(lowest - h, MARGIN))
        # Pushed in from the edge a little is still that spot; pushed far is another.
        if abs(x + w / 2 - spot.x) > 0.17 * self.frame.w or abs((y if spot.top else y + h) - spot.y) > 0.12:
            return None
        return Box(x, y, w, h)

    def _related(self, group: Group, other: Group, beside: Group | None) -> bool:
        if other is group:
            return True
        at = group.thing.at
        if beside is None or not isinstance(at, Beside):
            return False
        if other.thing.id == PHOTO_ID and at.relation not in ("on", "in"):
            # It must not be covered: a later picture takes it from this one.
            return False
        if at.relation == "below" and stands_under(group, beside):
            return other is beside or other in self._carriers(beside)
        if at.relation in ("left of", "right of", "above", "below"):
            # These do not touch; only what the neighbour itself rests on may be overlapped.
            return other is not beside and other in self._carriers(beside)
        return other is beside or other in self._carriers(beside)

    def _carriers(self, group: Group) -> list[Group]:
        found: list[Group] = []
        at = group.thing.at
        while isinstance(at, Beside) and at.of in self.groups and self.groups[at.of] not in found:
            found.append(self.groups[at.of])
            at = found[-1].thing.at
        return found

    def _lift(self, group: Group) -> float:
        """How far it is raised above the floor because something is asked for below it."""
        below = [
            other.height
            for other in self.groups.values()
            if isinstance(other.thing.at, Beside)
            and other.thing.at.relation == "below"
            and other.thing.at.of == group.thing.id
            and not stands_under(other, group)
        ]
        return max(below, default=-GAP) + GAP

    def _is_grounded(self, group: Group, beside: Group | None) -> bool:
        if not group.stands or self.frame.backdrop.floats:
            return False
        if beside is not None:
            at = group.thing.at
            on_top = isinstance(at, Beside) and at.relation in ("on", "in", "above")
            return not on_top and group.placed.bottom > self.frame.backdrop.horizon * self.frame.h
        return group.placed.bottom > self.frame.backdrop.horizon * self.frame.h - 0.02 and self._lift(group) == 0


def _frame(scene: Scene, aspect: float) -> Frame:
    backdrop = BACKDROPS.get(scene.backdrop, BACKDROPS["paper"])
    w, h = (aspect, 1.0) if aspect >= 1 else (1.0, 1 / aspect)
    # Long pictures have room to draw a little larger.
    zoom = 1 + 0.2 * min(1.0, (max(aspect, 1 / aspect) - 1) / 2) if aspect < 1 else 1.0
    strip = 0.11 if scene.caption else 0.0
    floor = min(backdrop.floor * h, h - MARGIN - strip - 0.005)
    return Frame(w, h, backdrop, floor, h - MARGIN - strip, zoom)


def _group(thing: Thing, frame: Frame) -> Group:
    kind = KINDS.get(thing.kind, CARD)
    rows, smaller = ROWS[thing.count]
    scale = SIZES[thing.size] * smaller * frame.zoom
    width, height = kind.extent(thing.state)
    width, height = width * scale, height * scale
    return Group(thing, kind, rows, scale, (width, height), (max(GAP, width * 0.12), max(GAP, height * 0.12)))


def _photo(frame: Frame) -> Group:
    w, h = PHOTO.width * frame.zoom, PHOTO.height * frame.zoom
    group = Group(Thing(id=PHOTO_ID, kind=PHOTO.name), PHOTO, (1,), frame.zoom, (w, h), (0.0, 0.0))
    top = max(0.07, (frame.floor - h) * 0.3 if frame.h > 1 else 0.07)
    group.box = Box((frame.w - w) / 2, top, w, h)
    return group


def _belong(left: Group, right: Group) -> bool:
    """Whether one of two neighbours in a row is said to be beside the other."""
    return any(
        isinstance(one.thing.at, Beside) and one.thing.at.of == other.thing.id
        for one, other in ((left, right), (right, left))
    )


def _is_movable(group: Group) -> bool:
    return not isinstance(group.thing.at, str) and group.thing.id != PHOTO_ID


def _drawing_order(groups: Mapping[str, Group]) -> list[Group]:
    order = list(groups.values())
    for group in list(order):
        at = group.thing.at
        if not isinstance(at, Beside) or at.of not in groups:
            continue
        other = groups[at.of]
        here, there = order.index(group), order.index(other)
        hidden = at.relation == "behind" or (at.relation == "in" and hides(other.kind))
        forward = not hidden and at.relation in ("on", "in", "in front of", "below") and here < there
        if forward or (hidden and here > there):
            order.insert(there, order.pop(here))
    return order


def _copies(group: Group, frame: Frame) -> list[Placed]:
    box, shrink = group.placed, group.shrink
    w, h, across, down = (size * shrink for size in (*group.copy, *group.gap))
    copies: list[Placed] = []
    for row, length in enumerate(group.rows):
        left = box.x + (box.w - length * w - (length - 1) * across) / 2
        for column in range(length):
            x, y = left + column * (w + across), box.y + row * (h + down)
            copies.append(Placed(
                id=group.thing.id, index=len(copies), kind=group.kind.name, x=x / frame.w, y=y / frame.h, w=w / frame.w,
                h=h / frame.h, scale=group.scale * shrink, grounded=group.grounded and row == len(group.rows) - 1,
            ))  # fmt: skip
    return copies
