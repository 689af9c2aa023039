"""Outlines: what each step shows and says, before steps are numbered and built on each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from langgraph_interleave.types import PlanWarning
from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.procedures.procedure import Order
from langgraph_interleave.world.scene import Scene


@dataclass(frozen=True, slots=True)
class Part:
    """One step to be.

    Attributes:
        caption: Words shown with the picture, or instead of it.
        scene: What the picture shows; `None` for words alone.
        title: A short name.
        extra: Told only when more steps are asked for than there are without it.
        alone: Drawn from nothing, whatever came before.
        change: What changes, in the user's own words; `None`: it is put into words when it is laid out.
    """

    caption: str
    scene: Scene | None = None
    title: str | None = None
    extra: bool = False
    alone: bool = False
    change: str | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """The whole sequence in words and scenes.

    Attributes:
        title: What the document is called.
        parts: The steps to be, in order.
        order: How the pictures hang together.
        language: Of captions.
        thoughts: What was recognised and decided, sentence by sentence.
        warnings: What the user should know.
        unknown: Words that became labelled cards.
        needs: What one needs, as a sentence; for a wish to list it.
        tip: A closing word; for a wish to have one.
        intro: An opening word; for a wish to have one.
        keeps_photo: A given photo stays in every picture.
        linked: Each picture follows from the one before in the same place, even when no thing stays.
    """

    title: str | None
    parts: tuple[Part, ...]
    order: Order = "chain"
    language: Language = "en"
    thoughts: tuple[str, ...] = ()
    warnings: tuple[PlanWarning, ...] = field(default=())
    unknown: tuple[str, ...] = ()
    needs: str | None = None
    tip: str | None = None
    intro: str | None = None
    keeps_photo: bool = False
    linked: bool = False

    def thinking(self, *thoughts: str) -> Outline:
        """The same outline with further thoughts."""
        return replace(self, thoughts=(*self.thoughts, *thoughts))

    def warned(self, *warnings: PlanWarning) -> Outline:
        """The same outline with further warnings."""
        return replace(self, warnings=(*self.warnings, *warnings))

    @property
    def drawn(self) -> tuple[Part, ...]:
        """The parts with a picture."""
        return tuple(part for part in self.parts if part.scene is not None)


def joined_captions(captions: Iterable[str], language: Language) -> str:
    """Captions of steps that were merged, one after the other."""
    return ("" if language == "zh" else " ").join(captions)


def joined_titles(titles: Iterable[str | None], language: Language) -> str | None:
    """The title of steps that were merged: "Boil the water and pour".

    Example:
        >>> joined_titles(["Boil the water", "Pour"], "en")
        'Boil the water and pour'
    """
    given = [title for title in titles if title]
    if len(given) < 2:
        return given[0] if given else None
    if len(given) > 2:
        return f"{given[0]} … {given[-1]}"
    first, second = given
    if language == "zh":
        return f"{first}、{second}"
    if language == "de":
        return f"{first}, {second}" if second[:1].isupper() and " " in second else f"{first} und {second}"
    if "," in first or " and " in first or first.split(" ")[0] in ("A", "An", "The") or ":" in second:
        return f"{first}; {second[0].lower()}{second[1:]}"
    return f"{first} and {second[0].lower()}{second[1:]}"
