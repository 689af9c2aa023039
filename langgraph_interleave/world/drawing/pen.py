"""The pen: puts outlines on paper with an unsteady hand.

Line weight, light and unsteadiness are fixed here and nowhere else. The unsteadiness of a line
depends on the pen's own seed and on the outline itself, that of the hatching on another seed: a thing
keeps its lines while it moves, while other parts of it change, and while its hatching is drawn anew.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Protocol

from langgraph_interleave.world.drawing.outline import (
    IDENTITY,
    Matrix,
    Outline,
    Point,
    Run,
    apply,
    combine,
    part,
    placed,
)
from langgraph_interleave.world.palette import INK, Tone, rgb, tone

#: Canvas units along the shorter side of every picture, whatever its pixels.
UNITS = 400.0
#: The one line weight, in canvas units.
WEIGHT = 2.3
#: Light falls from the upper right; hatching lies on the far side of it.
LIGHT: Point = (0.8, -0.6)

_GAP = 6.2
# Lines longer than this are gone over twice, as a hand does.
_DOUBLE = 44.0
_SEEDS = 2**31 - 2


class Hand(Protocol):
    """Draws unsteadily: all that is needed of a sketching library, as SVG path data."""

    def trace(self, points: tuple[Point, ...], *, curved: bool, roughness: float, seed: int, double: bool) -> str:
        """One line or curve through points."""
        ...

    def hatch(self, polygon: tuple[Point, ...], *, gap: float, angle: float, seed: int) -> str:
        """Hatching inside a polygon."""
        ...


class RoughHand:
    """The hand of the `rough` library."""

    def __init__(self) -> None:
        from rough.generator import RoughGenerator

        self._generator = RoughGenerator()

    def trace(self, points: tuple[Point, ...], *, curved: bool, roughness: float, seed: int, double: bool) -> str:
        """One line or curve through points."""
        from rough.core import Options

        options = Options(
            stroke=INK, roughness=roughness, bowing=1.2, seed=seed, disableMultiStroke=not double,
            fixedDecimalPlaceDigits=1, curveTightness=0.1,
        )  # fmt: skip
        drawable = (self._generator.curve if curved else self._generator.linearPath)(list(points), options)
        return " ".join(info.d for info in self._generator.toPaths(drawable))

    def hatch(self, polygon: tuple[Point, ...], *, gap: float, angle: float, seed: int) -> str:
        """Hatching inside a polygon."""
        from rough.core import Options

        options = Options(
            stroke="none", fill=INK, fillStyle="hachure", hachureGap=gap, hachureAngle=angle, roughness=0.8, seed=seed,
            disableMultiStrokeFill=True, fixedDecimalPlaceDigits=1,
        )  # fmt: skip
        drawable = self._generator.polygon(list(polygon), options)
        # From end to end: the bend of a hatching line is not seen, but costs a third of the time to draw.
        lines: list[str] = []
        for operations in (group.ops for group in drawable.sets):
            for start, end in zip(operations[::2], operations[1::2], strict=False):
                (x0, y0), (x1, y1) = start.data, end.data[-2:]
                lines.append(f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}")
        return "".join(lines)


@lru_cache(maxsize=1)
def hand() -> Hand:
    """The hand every pen draws with."""
    return RoughHand()


@lru_cache(maxsize=8192)
def _traced(points: tuple[Point, ...], curved: bool, roughness: float, seed: int, double: bool) -> str:
    # Kept: with another seed of the request only the hatching is drawn anew.
    return hand().trace(points, curved=curved, roughness=roughness, seed=seed, double=double)


class Pen:
    """Collects what is drawn as SVG elements.

    Args:
        own: The tone of the thing drawn.
        matrix: Maps the drawing's coordinates to canvas units.
        seed: Of the lines.
        hatch_seed: Of the hatching.
    """

    def __init__(self, own: Tone, *, matrix: Matrix = IDENTITY, seed: int = 1, hatch_seed: int = 1) -> None:
        self.own = own
        #: Whether that is not the kind's own tone, and so must show where it would be left out otherwise.
        self.asked = False
        self.elements: list[str] = []
        self.matrix = matrix
        self._seed = seed
        self._hatch_seed = hatch_seed
        self._base = matrix

    @contextmanager
    def at(
        self, x: float = 0.0, y: float = 0.0, *, turn: float = 0.0, scale: float = 1.0, flip: bool = False
    ) -> Generator[None]:
        """Draw the following moved, turned (degrees), scaled or mirrored."""
        before = self.matrix
        self.matrix = combine(before, placed(x, y, turn=turn, scale=scale, flip=flip))
        try:
            yield
        finally:
            self.matrix = before

    def draw(self, outline: Outline, color: str | Tone | None = None, *, shade: float = 0.0, line: bool = True) -> None:
        """Fill an outline, hatch its far side and draw its line.

        Args:
            outline: What to draw.
            color: A tone or its name; `None` for the thing's own.
            shade: Share of it that is hatched.
            line: Whether its line is drawn.
        """
        chosen = self._tone(color)
        moved = outline.moved(self.matrix)
        self.elements.append(f'<path d="{moved.data()}" fill="{chosen.fill}"/>')
        if shade:
            self._hatch(moved, shade, chosen.shade)
        if line:
            self._trace(moved, chosen.stroke, 1.0)

    def union(self, *outlines: Outline, color: str | Tone | None = None, shade: float = 0.0) -> None:
        """Draw overlapping outlines as one shape, without the lines inside it."""
        chosen = self._tone(color)
        moved = [outline.moved(self.matrix) for outline in outlines]
        for one in moved:
            self._trace(one, chosen.stroke, 1.5)
        self.elements.extend(f'<path d="{one.data()}" fill="{chosen.fill}"/>' for one in moved)
        if shade:
            for one in moved:
                self._hatch(one, shade, chosen.shade)

    def ink(self, outline: Outline, color: str | Tone | None = None, *, weight: float = 1.0) -> None:
        """Draw an outline's line only, in the stroke of a tone (`None`: the thing's own)."""
        self._trace(outline.moved(self.matrix), self._tone(color).stroke, weight)

    def stroke(self, outline: Outline, color: str, *, weight: float = 1.0) -> None:
        """Draw an outline's line in a colour `#rrggbb`."""
        self._trace(outline.moved(self.matrix), color, weight)

    def fill(self, outline: Outline, color: str) -> None:
        """Fill an outline with a colour `#rrggbb`, without a line."""
        self.elements.append(f'<path d="{outline.moved(self.matrix).data()}" fill="{color}"/>')

    def hatch(self, outline: Outline, color: str, *, gap: float = _GAP, angle: float = -41.0) -> None:
        """Hatch an outline with a colour `#rrggbb`."""
        self._hatch(outline.moved(self.matrix), 1.0, color, gap, angle)

    def bar(self, outline: Outline, width: float, color: str | Tone | None = None) -> None:
        """Draw a line as a thin solid bar, `width` thick: a stem, a handle, a cable."""
        chosen = self._tone(color)
        moved = outline.moved(self.matrix)
        scale = self.scale
        for paint, thick in ((chosen.stroke, width * scale + WEIGHT), (chosen.fill, max(width * scale - WEIGHT, 0.6))):
            self.elements.append(
                f'<path d="{moved.data()}" fill="none" stroke="{paint}" stroke-width="{thick:.2f}" '
                'stroke-linecap="round" stroke-linejoin="round"/>'
            )

    def dot(self, x: float, y: float, radius: float, color: str = INK) -> None:
        """A round spot."""
        cx, cy = apply(self.matrix, (x, y))
        self.elements.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{radius * self.scale:.1f}" fill="{color}"/>')

    def unless_asked(self, color: str | Tone) -> str | Tone:
        """A colour, or the thing's own where that was asked for."""
        return self.own if self.asked else color

    @property
    def mark(self) -> str:
        """A colour for eyes, mouths and whiskers that shows on the thing's own: ink, or a grey where that is dark."""
        return "#a9a9b0" if sum(rgb(self.own.fill)) < 240 else INK

    def raw(self, svg: str) -> None:
        """Put SVG on the paper that is already in canvas units."""
        if svg:
            self.elements.append(svg)

    def point(self, x: float, y: float) -> Point:
        """A point of the drawing in canvas units."""
        return apply(self.matrix, (x, y))

    @property
    def scale(self) -> float:
        """Canvas units per unit of the drawing."""
        a, b, *_ = self.matrix
        return (a * a + b * b) ** 0.5

    def _tone(self, color: str | Tone | None) -> Tone:
        return self.own if color is None else tone(color) if isinstance(color, str) else color

    def _seed_for(self, seed: int, points: Sequence[Point]) -> int:
        """A seed for an outline: the same for the same one, wherever the thing stands and whatever else is drawn."""
        a, b, _, _, x0, y0 = self._base
        k = 8 / (a * a + b * b) ** 0.5
        # Eighths of a unit, cut where no drawing has its corners.
        shape = tuple(int((part - start) * k + 1000.37) for x, y in points[:6] for part, start in ((x, x0), (y, y0)))
        # Never 0: the library takes that for "no seed".
        return (seed + hash((len(points), *shape))) % _SEEDS + 1

    def _trace(self, moved: Outline, color: str, weight: float) -> None:
        points = [point for run in moved.runs for point in run.points]
        wide = max(
            max(x for x, _ in points) - min(x for x, _ in points), max(y for _, y in points) - min(y for _, y in points)
        )
        roughness = min(0.95, 0.18 + wide / 110)
        seed = self._seed_for(self._seed, points)
        data: list[str] = []
        runs = list(moved.runs)
        first, last = runs[0].points[0], runs[-1].points[-1]
        if moved.closed and first != last:
            # A curve is not led on to where the outline began: that side is straight.
            runs[-1:] = [runs[-1], Run((last, first))] if runs[-1].curved else [Run((*runs[-1].points, first))]
        for index, run in enumerate(runs):
            curved = run.curved and len(run.points) > 2
            data.append(_traced(run.points, curved, roughness, seed + index, wide > _DOUBLE))
        self.elements.append(
            f'<path d="{" ".join(data)}" fill="none" stroke="{color}" stroke-width="{WEIGHT * weight:.2f}" '
            'stroke-linecap="round"/>'
        )

    def _hatch(self, moved: Outline, share: float, color: str, gap: float = _GAP, angle: float = -41.0) -> None:
        polygon = part(moved.flattened(), share, LIGHT)
        seed = self._seed_for(self._hatch_seed, polygon)
        if len(polygon) < 3:
            return
        data = hand().hatch(tuple(polygon), gap=gap, angle=angle, seed=seed)
        if data:
            self.elements.append(f'<path d="{data}" fill="none" stroke="{color}" stroke-width="1.5"/>')
