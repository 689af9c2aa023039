"""The colours of the built-in world: one muted scheme, and the colour words people say.

A *tone* is three colours that belong together: `fill` for areas, `stroke` for outlines and `shade`
for the hatching laid over the fill. Colour words are tones too; the rest of the tones are materials
(wood, soil, glass, …) that things have by themselves.

Fills of any two colour words are at least `MIN_DISTANCE` apart (CIE76, the Euclidean distance in
L*a*b*), so that a reader of pixels can tell them apart. Areas whose colour may be asked for are
filled solid: hatching alone would lower the saturation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

RGB = tuple[int, int, int]


class Tone(NamedTuple):
    """Three colours that belong together, each `#rrggbb`."""

    fill: str
    stroke: str
    shade: str


PAPER = "#fdfbf6"
INK = "#333333"

#: The colour words a picture can be asked for.
COLORS: Mapping[str, Tone] = {
    "red": Tone("#d5524a", "#8e2b28", "#b23c37"),
    "orange": Tone("#ea9446", "#a3571b", "#cd7630"),
    "yellow": Tone("#f3d35c", "#9c7a1e", "#d8b23c"),
    "green": Tone("#74b266", "#2f6b2a", "#549248"),
    "turquoise": Tone("#63c0b8", "#23716b", "#419c94"),
    "blue": Tone("#5b8cc9", "#2b548a", "#4472ad"),
    "purple": Tone("#9670b9", "#573a7c", "#79549d"),
    "pink": Tone("#f0a5bb", "#ac4f6a", "#d98099"),
    "brown": Tone("#98683f", "#57381d", "#7b512e"),
    "black": Tone("#3b3b40", "#17171a", "#27272b"),
    "grey": Tone("#a5a8ad", "#5a5e64", "#878b91"),
    "white": Tone("#ffffff", "#5d5f66", "#d9dade"),
}

#: What else people call them. Every value is a key of `COLORS`.
COLOR_SYNONYMS: Mapping[str, str] = {
    "gray": "grey", "silver": "grey", "gold": "yellow", "golden": "yellow", "violet": "purple", "lilac": "purple",
    "lavender": "purple", "teal": "turquoise", "cyan": "turquoise", "aqua": "turquoise", "navy": "blue",
    "crimson": "red", "scarlet": "red", "rose": "pink", "magenta": "pink", "lime": "green", "tan": "brown",
    "chestnut": "brown", "amber": "orange",
}  # fmt: skip

#: Tones that things have by themselves and nobody asks for by name.
MATERIALS: Mapping[str, Tone] = {
    "terracotta": Tone("#d07a50", "#94452b", "#b65f39"),
    "wood": Tone("#d9b07c", "#85633c", "#bb9059"),
    "soil": Tone("#5f4433", "#3d2a1e", "#4b3527"),
    "leaf": Tone("#7cb866", "#356f2e", "#5a9849"),
    "glass": Tone("#dceef8", "#6f9dbf", "#b3d4e8"),
    "water": Tone("#8fc1e3", "#3f7fb0", "#6ba7d1"),
    "metal": Tone("#bcc4cc", "#566270", "#98a3ae"),
    "skin": Tone("#f0c7a2", "#93603d", "#dba77d"),
    "cream": Tone("#faf0d7", "#94815a", "#e3d3a8"),
    "straw": Tone("#ecd596", "#8f7434", "#d3b765"),
    "snow": Tone("#fbfdff", "#7d93ab", "#d5e2ee"),
    "stone": Tone("#bdb7ad", "#6c665d", "#9d968b"),
    "paper": Tone("#fffefb", "#55565c", "#dedbd2"),
    "flame": Tone("#f6b73f", "#c4561f", "#e8822d"),
    "glow": Tone("#fbe38d", "#b88a1e", "#f0cb58"),
    "night": Tone("#3f4d73", "#28324f", "#344061"),
}

TONES: Mapping[str, Tone] = {**COLORS, **MATERIALS}

#: Least distance between the fills of two colour words.
MIN_DISTANCE = 25.0


def tone(name: str) -> Tone:
    """The tone of a colour word, a synonym of one, or a material.

    Args:
        name: For example `red`, `gray`, `wood`.

    Returns:
        Its three colours.

    Raises:
        KeyError: Nothing is called that.

    Example:
        >>> tone("gray") == tone("grey")
        True
    """
    return TONES[COLOR_SYNONYMS.get(name, name)]


def rgb(color: str) -> RGB:
    """`#rrggbb` as three numbers of 0 to 255.

    Example:
        >>> rgb("#ff8000")
        (255, 128, 0)
    """
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def lighter(color: str, share: float = 0.3) -> str:
    """A colour mixed with white.

    Example:
        >>> lighter("#000000", 0.5)
        '#808080'
    """
    return "#" + "".join(f"{round(part + (255 - part) * share):02x}" for part in rgb(color))


def lab(color: str | RGB) -> tuple[float, float, float]:
    """A colour in CIE L*a*b* (D65): lightness 0 to 100, then green-red and blue-yellow.

    Args:
        color: `#rrggbb`, or sRGB numbers of 0 to 255.

    Example:
        >>> [round(value) for value in lab("#ffffff")]
        [100, 0, 0]
    """
    red, green, blue = (_linear(part / 255) for part in (rgb(color) if isinstance(color, str) else color))
    x = _cube_root((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047)
    y = _cube_root(0.2126729 * red + 0.7151522 * green + 0.0721750 * blue)
    z = _cube_root((0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one: str | RGB, other: str | RGB) -> float:
    """How different two colours look: CIE76, about 2.3 being just noticeable.

    Example:
        >>> distance("#000000", "#ffffff") > 99
        True
    """
    return sum((a - b) ** 2 for a, b in zip(lab(one), lab(other), strict=True)) ** 0.5


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _cube_root(value: float) -> float:
    return value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
