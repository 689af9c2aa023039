"""A scene: what a picture of the built-in world shows, as data.

Text, scene and picture are three forms of the same thing: `grammar` reads text into a scene and
describes a scene as text, `drawing` draws it, `critic` compares a picture with the drawing it expects.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from langgraph_interleave.types.base import Frozen

Size = Literal["small", "medium", "large"]
#: Where a thing stands when it stands by itself: a 3 x 3 grid of the picture.
Cell = Literal[
    "upper left", "upper middle", "upper right",
    "left", "middle", "right",
    "lower left", "lower middle", "lower right",
]  # fmt: skip
Relation = Literal["on", "in", "above", "below", "left of", "right of", "in front of", "behind"]

#: More things than these are not shown in one picture.
MOST_THINGS = 40


class Beside(Frozen):
    """A place relative to another thing: `Beside(relation="on", of="pot")`; `of` is that thing's id."""

    relation: Relation
    of: str


class Thing(Frozen):
    """One thing, or several of a kind.

    `id` names it within the scene and over the steps of a sequence (`pot`, `ball_2`). `kind` is one
    of the vocabulary's, or `card`: a labelled card for what the vocabulary does not know (`label`).
    `color` is one of the vocabulary's colour words or `None` for the kind's own. `state` is one of
    the kind's own states (`sprouted`, `lit`, `open`, …) or `None`.
    """

    id: str
    kind: str
    color: str | None = None
    size: Size = "medium"
    count: int = Field(default=1, ge=1, le=9)
    state: str | None = None
    label: str | None = None
    at: Cell | Beside | None = None


class Scene(Frozen):
    """Everything one picture shows. Things are drawn in order, later ones in front."""

    backdrop: str = "paper"
    things: tuple[Thing, ...] = ()
    caption: str | None = Field(default=None, description="words written into the picture itself, if asked for")
    photo: bool = Field(default=False, description="the first reference is pinned into the picture as a photo")

    def few(self) -> Scene:
        """The first `MOST_THINGS` things, less what stands beside one that is left out.

        Finding places takes time that grows with the cube of their number.

        Example:
            >>> crowd = Scene(things=tuple(Thing(id=f"ball_{n}", kind="ball") for n in range(99)))
            >>> len(crowd.few().things)
            40
        """
        if len(self.things) <= MOST_THINGS:
            return self
        kept = {thing.id: thing for thing in self.things[:MOST_THINGS]}
        while lost := [one.id for one in kept.values() if isinstance(one.at, Beside) and one.at.of not in kept]:
            for name in lost:
                del kept[name]
        return self.model_copy(update={"things": tuple(kept.values())})
