"""The records of the vocabulary: a kind of thing, and a backdrop.

Sizes are shares of the picture's shorter side, for a thing of medium size in its default state.
Those are storyboard sizes (a seed is small and a house is not a hundred cups high), so that every
thing can be recognised next to every other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Category = Literal[
    "plant", "sky", "animal", "person", "body", "building", "landscape", "vehicle", "kitchen", "food",
    "stationery", "furniture", "household", "tool", "science", "toy", "shape", "clothing", "sign",
]  # fmt: skip
Stands = Literal["ground", "sky", "air"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing.

    Attributes:
        name: What it is called, and how `Thing.kind` names it.
        width: Share of the picture's shorter side.
        height: As `width`.
        color: Its own tone (`palette.TONES`).
        category: What sort of thing it is.
        plural: Name of several.
        synonyms: Other words for it, singular.
        recolourable: Whether a colour word changes its looks.
        states: What it can be; the first is meant when nothing is said. Empty: it is always the same.
        state_words: Other words for a state.
        extents: Width and height in a state that needs another box than the default.
        stands: On the ground, in the sky, or anywhere in the air when no place is asked for.
        backdrop: Where it is drawn when nothing is said.
        opening: For what things can be put *in*: how far below its top the rim lies, share of its height.
        surface: For what is put *on* it: how far below its top that rests, share of its height.
        under: For what things can stand *under*: how high the room below it is, share of its height.
        aim: Where what it pours in a state falls, share of its width from the left; that comes over the target.
    """

    name: str
    width: float
    height: float
    color: str
    category: Category
    plural: str = ""
    synonyms: tuple[str, ...] = ()
    recolourable: bool = True
    states: tuple[str, ...] = ()
    state_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    extents: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    stands: Stands = "ground"
    backdrop: str = "paper"
    opening: float | None = None
    surface: float = 0.0
    under: float | None = None
    aim: Mapping[str, float] = field(default_factory=dict[str, float])

    def extent(self, state: str | None) -> tuple[float, float]:
        """Width and height in a state (`None`: the default one)."""
        return self.extents.get(state or "", (self.width, self.height))


@dataclass(frozen=True, slots=True)
class Backdrop:
    """Where a scene plays. `horizon` and `floor` are shares of the picture's height, from the top.

    Things that stand by themselves stand on `floor`. `floats` means: nothing stands here.
    """

    name: str
    horizon: float
    floor: float = 0.83
    synonyms: tuple[str, ...] = ()
    floats: bool = False
    indoors: bool = False


def entry(name: str, width: float, height: float, color: str, category: Category, **more: object) -> Kind:
    """A `Kind`, its plural being its name with an s unless given."""
    plural = more.pop("plural", None) or name + "s"
    return Kind(name, width, height, color, category, plural=str(plural), **more)  # pyright: ignore[reportArgumentType]
