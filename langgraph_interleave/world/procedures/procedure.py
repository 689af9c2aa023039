"""A procedure: ordered steps, each with a scene and words in several languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from langgraph_interleave.world.grammar.languages import Language
from langgraph_interleave.world.scene import Scene

#: `chain`: each picture follows from the one before. `cycle`: a chain that begins again.
#: `independent`: each picture stands by itself.
Order = Literal["chain", "cycle", "independent"]


@dataclass(frozen=True, slots=True)
class Words:
    """The same words in several languages; English is always there."""

    en: str
    de: str | None = None
    zh: str | None = None

    def in_language(self, language: Language) -> str:
        """In a language, or in English where the book has it in no other."""
        found = {"en": self.en, "de": self.de, "zh": self.zh}.get(language)
        return found or self.en

    def has(self, language: Language) -> bool:
        """Whether the book has it in that language."""
        return language == "en" or (language == "de" and bool(self.de)) or (language == "zh" and bool(self.zh))


@dataclass(frozen=True, slots=True)
class ProcedureStep:
    """One step. `extra` steps are told only when more steps are asked for than the procedure has without them."""

    scene: Scene
    title: Words
    caption: Words
    extra: bool = False


@dataclass(frozen=True, slots=True)
class Procedure:
    """One entry of the book.

    Attributes:
        key: Its name in the book.
        title: What it is called.
        names: What people call it, by language; lower case.
        order: How its steps hang together.
        steps: All steps, the extra ones included.
        needs: What one needs for it, as a sentence.
        tip: What is good to know, as a sentence.
    """

    key: str
    title: Words
    names: dict[Language, tuple[str, ...]]
    order: Order
    steps: tuple[ProcedureStep, ...]
    needs: Words | None = None
    tip: Words | None = None

    @property
    def usual(self) -> tuple[ProcedureStep, ...]:
        """The steps told when no number is asked for."""
        return tuple(step for step in self.steps if not step.extra)
