"""Whether a picture keeps the colours of the pictures it was made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product

from langgraph_interleave.drift import look_of, reduced, structure
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.imaging.formats import Unreadable
from langgraph_interleave.types import CheckResult, ImageBytes, Step

Cell = tuple[int, int, int]

#: Pictures are looked at with about this many pixels a side.
_SIDE = 64
#: Levels of 255 to a cell of colour; colours up to a cell apart are the same colour.
_LEVELS = 8
#: A colour with a smaller share of a reference is no colour of its palette: edges between two colours.
_LEAST = 0.002
#: Share of a picture that may be in new colours: over all edits of the built-in book of procedures that stay
#: in their scene, at most 0.22 is; with a warm cast over them, 0.98 at the median.
_ALLOWED = 0.35
#: From this share of differing edges on, a picture is another scene: a cast leaves the edges where they are.
#: Edits of the book that change the scene and with it most colours begin at 0.43.
_ANOTHER = 0.33


class PaletteDrift:
    """A check: fails on a picture of the same scene that is in other colours than its references.

    Colours are compared in cells of 8 levels; a colour is known when a reference has one not more than a
    cell away over at least 0.2 % of its area. An edit adds things, and they may bring colours of
    their own; that more than a third of a picture is in new colours, while its edges are where they
    were, is a cast or another rendering. Not applicable without references, and where the picture
    shows another scene than the one it builds on, as after nightfall: there a drift escapes it. So do
    faint casts, and loss of colour. Deterministic.

    Args:
        allowed: 0-1; the share of a picture that may be in new colours.

    Example:
        >>> from langgraph_interleave.testing import noise_card
        >>> step = Step(index=1, op="edit", instruction="Add a bean.", prompt="add a bean", sources=("step:0",))
        >>> pot = noise_card("a pot")
        >>> PaletteDrift().check(step, pot, pot, (pot,)).passed
        True
    """

    name = "palette"

    def __init__(self, *, allowed: float = _ALLOWED) -> None:
        if not 0 <= allowed <= 1:
            raise ConfigError(f"allowed={allowed!r} of the check palette is no share.", remedy="Give 0 to 1.")
        self.allowed = allowed

    def check(
        self, step: Step, before: ImageBytes | None, after: ImageBytes, references: Sequence[ImageBytes]
    ) -> CheckResult:
        """Compare the colours of `after` with those of all pictures it was made from."""
        pictures = {picture.sha256: picture for picture in (*((before,) if before else ()), *references)}
        if not pictures:
            return CheckResult(name=self.name, passed=None)
        try:
            if structure(look_of(next(iter(pictures.values()))), look_of(after)) > _ANOTHER:
                return CheckResult(name=self.name, passed=None, reason="The picture shows another scene.")
            share, color = new_colors(after, pictures.values())
        except Unreadable:
            return CheckResult(name=self.name, passed=None, reason="A picture could not be decoded.")
        if share <= self.allowed:
            return CheckResult(name=self.name, passed=True)
        reason = (
            f"the palette drifted: {share:.0%} of the picture is in colours its references do not have, such as {color}"
        )
        return CheckResult(name=self.name, passed=False, reason=reason)


def new_colors(picture: ImageBytes, references: Iterable[ImageBytes]) -> tuple[float, str]:
    """The share of a picture in colours that no reference has, and the most frequent of them as `#rrggbb`.

    Raises:
        Unreadable: A picture cannot be decoded.
    """
    known: set[Cell] = set()
    for reference in references:
        cells = _cells(reference)
        least = _LEAST * sum(cells.values())
        for (r, g, b), count in cells.items():
            if count >= least:
                known.update((r + x, g + y, b + z) for x, y, z in product((-1, 0, 1), repeat=3))
    cells = _cells(picture)
    new = {cell: count for cell, count in cells.items() if cell not in known}
    if not new:
        return 0.0, ""
    most = max(new, key=lambda cell: (new[cell], cell))
    levels = [min(255, value * _LEVELS + _LEVELS // 2) for value in most]
    return sum(new.values()) / sum(cells.values()), "#{:02x}{:02x}{:02x}".format(*levels)


def _cells(picture: ImageBytes) -> Counter[Cell]:
    data = reduced(picture, _SIDE).tobytes()
    cells = zip(data[0::3], data[1::3], data[2::3], strict=True)
    return Counter((r // _LEVELS, g // _LEVELS, b // _LEVELS) for r, g, b in cells)
