"""Orders: what a text about a plan asks for, piece by piece, and of which steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "revise",  # its scene is another: `words`
    "insert",  # a new step before `place`: `words`, or none for one in between
    "delete",
    "move",  # to before `place`
    "swap",
    "reverse",
    "redo",  # drawn again as it is
    "simplify",  # planned otherwise, because it was too much at once
    "split",
    "caption",  # `words`
    "title",  # of a step: `words`
    "heading",  # of the document: `words`
    "look",  # of all pictures: `words`
    "palette",  # of all pictures: `words`
    "language",  # `words`
    "keep",
    "unclear",
]


@dataclass(frozen=True, slots=True)
class Order:
    """One thing that is wanted of a plan.

    Attributes:
        kind: What is to happen.
        said: The user's words.
        steps: Indices of the steps it is about; empty where none was named.
        words: The scene, caption, title, look or language wanted.
        place: Where a step goes: before the step of this index of the plan as it was.
        every: All steps were named, as all of them.
        alone: Of the named steps only; those after them do not follow.
        inherited: The steps were named in the piece before, not in this one.
        missing: Steps that were named and are not there.
    """

    kind: Kind
    said: str
    steps: tuple[int, ...] = ()
    words: str = ""
    place: int | None = None
    every: bool = False
    alone: bool = False
    inherited: bool = False
    missing: tuple[str, ...] = ()
