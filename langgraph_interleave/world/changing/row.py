"""A row: one step of a plan while the plan is being changed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from langgraph_interleave.types import Step
from langgraph_interleave.types.plan import parse_source
from langgraph_interleave.world.grammar import describe, target
from langgraph_interleave.world.grammar.wording import sentence
from langgraph_interleave.world.scene import Scene


@dataclass(eq=False, slots=True)
class Row:
    """A step with its scene; rows are told apart by identity.

    Attributes:
        old: Its index in the plan as it was; `None` for a new step.
        op: As in a step.
        caption: As in a step, and so are `title`, `instruction` and `prompt`.
        sources: What it builds on: other rows, and pictures of the request as `input:i`.
        scene: What its picture shall show; `None` for words alone.
        was: What its picture showed.
        stated: Its instruction says its whole scene, so that it can be written anew.
        drawn: It has a picture.
        change: Of a new step, what changes in the user's own words.
        said: What was wanted of it, in the user's own words.
        afresh: It is to be drawn again, changed or not.
        rebuilt: Its sources are no longer what they were.
        renamed: Title or caption was changed.
        seen: What the user's picture that it starts from shows, where that is known.
    """

    old: int | None
    op: str
    title: str | None = None
    caption: str | None = None
    instruction: str = ""
    prompt: str = ""
    sources: list[str | Row] = field(default_factory=list["str | Row"])
    scene: Scene | None = None
    was: Scene | None = None
    stated: bool = True
    drawn: bool = False
    change: str | None = None
    said: list[str] = field(default_factory=list[str])
    afresh: bool = False
    rebuilt: bool = False
    renamed: bool = False
    seen: Scene | None = None

    @property
    def base(self) -> Row | None:
        """The step its picture is a change of."""
        return next((source for source in self.sources if isinstance(source, Row)), None)

    @property
    def changed(self) -> bool:
        """Whether its picture shall show something else than it did."""
        return self.scene != self.was

    def want(self, scene: Scene, said: str) -> None:
        """Let it show something else, as somebody asked for."""
        self.scene = scene
        if said and said not in self.said:
            self.said.append(said)
        self.afresh = True

    def rebuild(self, sources: list[str | Row]) -> None:
        """Let it build on something else."""
        if sources == self.sources:
            return
        self.sources = sources
        self.op = "edit" if sources else "generate"
        self.rebuilt = True

    def told(self) -> str:
        """What was wanted, as sentences."""
        return " ".join(sentence(words) for words in self.said)


def rows_of(steps: Collection[Step], drawn: Collection[int]) -> list[Row]:
    """The steps of a plan as rows.

    Args:
        steps: The steps, in order.
        drawn: Which of them have a picture.
    """
    rows: list[Row] = []
    for step in steps:
        sources: list[str | Row] = []
        for source in step.sources:
            kind, number = parse_source(source)
            sources.append(rows[number] if kind == "step" else source)
        scene = target(step.instruction) if step.instruction is not None else None
        rows.append(
            Row(
                old=step.index,
                op=step.op,
                title=step.title,
                caption=step.caption,
                instruction=step.instruction or "",
                prompt=step.prompt or "",
                sources=sources,
                scene=scene,
                was=scene,
                stated=scene is not None and describe(scene)[1:] in (step.instruction or ""),
                drawn=step.index in drawn,
            )
        )
    return rows
