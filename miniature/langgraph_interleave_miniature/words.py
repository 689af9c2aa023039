"""Words: how the miniature's world is talked about. The first is the usual one; the model knows all."""

from __future__ import annotations

from langgraph_interleave_miniature.scenes import COLORS

KIND_WORDS: dict[str, tuple[str, ...]] = {
    "ball": ("ball", "circle"),
    "box": ("box", "square"),
    "star": ("star",),
    "heart": ("heart",),
    "house": ("house", "cottage"),
    "tree": ("tree",),
    "car": ("car",),
    "fish": ("fish",),
}
COLOR_WORDS: dict[str, tuple[str, ...]] = {color: (color,) for color in COLORS} | {"purple": ("purple", "violet")}
BACKGROUND_WORDS: dict[str, tuple[str, ...]] = {
    "meadow": ("in a meadow", "on the grass", "in a green field"),
    "night": ("at night", "in the dark", "at night time"),
    "beach": ("on the beach", "on a sandy beach", "on the sand"),
    "paper": ("on white paper", "on a plain background", "on a white background"),
}
#: By column and by row of the grid.
COLUMN_WORDS: tuple[tuple[str, ...], ...] = (("left",), ("middle", "centre", "center"), ("right",))
ROW_WORDS: tuple[tuple[str, ...], ...] = (("top", "upper"), ("bottom", "lower"))

ADD_WORDS = ("add", "draw", "put")
REMOVE_WORDS = ("remove", "delete", "erase", "take away")
RECOLOR_WORDS = ("make", "paint", "turn", "change")
#: Before a picture's description, or nothing.
OPENINGS = ("", "draw", "a picture of", "please draw")
#: After an edit, when the rest is to stay; and after a description, when there is to be nothing else.
KEEPING = "and keep everything else"
NOTHING_ELSE = "and nothing else"
