"""What becomes of the steps of a plan, or of a document, when something is wanted otherwise."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.plan import Op, StyleGuide

ChangeKind = Literal["keep", "redo", "insert", "delete", "reorder", "recaption"]


class Change(Frozen):
    """What becomes of one step.

    `keep`: as it is, where it is. `reorder`: as it is, at another place. `recaption`: the picture stays,
    title or caption is another. `redo`: drawn again, by what is given here; what is left out stays.
    `insert`: a new step. `delete`: gone; what was drawn from its picture keeps its own.

    `step` is its index (0-based) in the plan that is changed, and so are the `step:j` in `sources`: they
    mean the pictures of that plan's steps. A new step is named by its place in the list of changes,
    as `new:j`.
    """

    change: ChangeKind
    step: int | None = Field(default=None, ge=0, description="index of the step as it was; none for a new one")
    op: Op | None = None
    title: str | None = None
    instruction: str | None = None
    prompt: str | None = None
    caption: str | None = None
    sources: tuple[str, ...] | None = None
    backend: str | None = None

    @model_validator(mode="after")
    def _names_what_it_changes(self) -> Self:
        if (self.step is None) != (self.change == "insert"):
            wants = "names no step" if self.change == "insert" else "needs the step it is about"
            raise ValueError(f"{self.change!r} {wants}")
        if self.change == "recaption" and self.caption is None and self.title is None:
            raise ValueError(f"'recaption' of step {self.step} needs a caption or a title")
        return self


class Changes(Frozen):
    """A plan's changes: every step there shall be, in its new order, and those that are gone.

    Guaranteed: each step is named once at most. A step that is not named is gone.
    """

    steps: tuple[Change, ...] = Field(min_length=1)
    title: str | None = Field(default=None, description="a new title; none for the old one")
    style_guide: StyleGuide | None = Field(
        default=None, description="a new style guide; then every picture is drawn again"
    )

    @model_validator(mode="after")
    def _each_step_once(self) -> Self:
        named = [change.step for change in self.steps if change.step is not None]
        twice = sorted({step for step in named if named.count(step) > 1})
        if twice:
            raise ValueError(f"step {twice[0]} is named more than once")
        if all(change.change == "delete" for change in self.steps):
            raise ValueError("no step is left")
        return self
