"""The bench: a plan that is being changed, and what is said about it on the way."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from langgraph_interleave.types import Capabilities, Change, Changes, PlanWarning, StyleGuide
from langgraph_interleave.types.plan import Op
from langgraph_interleave.world.changing.carrying import carried, retold
from langgraph_interleave.world.changing.row import Row
from langgraph_interleave.world.grammar import change_in_words, instruction, prompt
from langgraph_interleave.world.scene import Scene


@dataclass(slots=True)
class Bench:
    """The rows in their order, and everything else that may change.

    Attributes:
        rows: The steps there shall be, in order.
        style: The style guide.
        capabilities: What the backend can do.
        most: Steps a plan may have.
        first: What the first step is called.
        restyled: Whether the style guide was changed.
        title: A new title, where one was given.
        gone: The steps that are no more.
        thoughts: What was understood and decided, sentence by sentence.
        warnings: What the user should know.
    """

    rows: list[Row]
    style: StyleGuide
    capabilities: Capabilities
    most: int
    first: int = 1
    restyled: bool = False
    title: str | None = None
    gone: list[Row] = field(default_factory=list[Row])
    thoughts: list[str] = field(default_factory=list[str])
    warnings: list[PlanWarning] = field(default_factory=list[PlanWarning])

    @property
    def edits(self) -> bool:
        """Whether the backend takes pictures to build on."""
        return self.capabilities.edit != "none" or self.capabilities.max_references > 0

    def number(self, row: Row) -> str:
        """What a step of the old plan is called: "step 2"."""
        return f"step {row.old + self.first}" if row.old is not None else "the new step"

    def row(self, old: int) -> Row | None:
        """The row of a step of the old plan, unless it is gone."""
        return next((row for row in self.rows if row.old == old), None)

    def think(self, thought: str) -> None:
        """Say what was understood or decided, once."""
        thought = f"{thought[0].upper()}{thought[1:]}"
        if thought not in self.thoughts:
            self.thoughts.append(thought)

    def warn(self, code: str, message: str) -> None:
        """Say what the user should know, once."""
        warning = PlanWarning(code, message)
        if warning not in self.warnings:
            self.warnings.append(warning)

    def position(self, place: int) -> int:
        """Where in `rows` the place before a step of the old plan is."""
        for index, row in enumerate(self.rows):
            if row.old is not None and row.old >= place:
                return index
        return len(self.rows)

    def before(self, position: int) -> Row | None:
        """The last row with a picture before a position."""
        return next((row for row in reversed(self.rows[:position]) if row.scene is not None), None)

    def follow(self, row: Row, old: Scene, but: Collection[Row], *, backdrop: bool = False) -> list[Row]:
        """Let the steps that build on a row have from it what it has become; those that did."""
        if row.scene is None:
            return []
        new: dict[int, tuple[Scene, Scene]] = {id(row): (old, row.scene)}
        followed: list[Row] = []
        for other in self.rows[self.rows.index(row) + 1 :]:
            base = other.base
            if base is None or id(base) not in new or other.scene is None or other in but:
                continue
            was = other.scene
            scene = carried(*new[id(base)], other.scene, backdrop=backdrop)
            # A later step may have from here what the one between lacks.
            scene = carried(old, row.scene, scene, backdrop=backdrop) if scene == was else scene
            new[id(other)] = (was, scene)
            if scene != was:
                other.want(scene, "")
                followed.append(other)
        return followed

    def settle(self) -> None:
        """Give every row sources that are there and come before it, and words that fit its scene."""
        place = {id(row): index for index, row in enumerate(self.rows)}
        for index, row in enumerate(self.rows):
            untouched = not (row.changed or row.afresh or row.rebuilt)
            if row.old is not None and row.drawn and untouched:
                # What has its picture keeps it, whatever it was made from.
                continue
            sources: list[str | Row] = []
            for source in row.sources:
                found = self._standing(source, place, index)
                sources.extend(one for one in found if one not in sources)
            row.rebuild(sources)
        for row in self.rows:
            self._word(row)

    def _standing(self, source: str | Row, place: dict[int, int], before: int) -> list[str | Row]:
        """A source that is there, or what it was made from, or the picture before."""
        if isinstance(source, str) or place.get(id(source), before) < before:
            return [source]
        if id(source) not in place:
            seen = [one for other in source.sources for one in self._standing(other, place, before)]
            if seen:
                return seen
            return []
        previous = self.before(before)
        return [previous] if previous is not None and self.edits else []

    def _word(self, row: Row) -> None:
        """Write a row's instruction and prompt anew where its scene, or what it is a change of, is another."""
        base = row.base
        moved = base is not None and base.scene is not None and (base.changed or base.old is None)
        if row.scene is None or not (
            row.changed or row.rebuilt or row.old is None or (moved and self._is_redrawn(row))
        ):
            return
        if row.old is not None and row.was is not None and row.caption and row.changed and not row.renamed:
            caption = retold(row.caption, row.was, row.scene)
            row.renamed = row.renamed or caption != row.caption
            row.caption = caption
        if not row.stated:
            if row.said:
                row.instruction = f"{row.instruction} {row.told()}".strip()
                row.prompt = f"{row.prompt} {row.told()}".strip()
            return
        change = ""
        if base is not None and base.scene is not None:
            change = row.change or change_in_words(base.scene, row.scene)
        elif row.seen is not None:
            change = change_in_words(row.seen, row.scene)
        elif row.sources:
            change = row.change or "Pin up the given photo and draw around it."
        row.instruction, row.prompt = instruction(change, row.scene), prompt(change, row.scene)

    def _is_redrawn(self, row: Row) -> bool:
        """Whether a row is drawn again because of what it builds on."""
        base = row.base
        while base is not None:
            if base.changed or base.afresh or base.rebuilt or base.old is None:
                return True
            base = base.base
        return False

    def changes(self, words: dict[int, tuple[str, str]]) -> Changes:
        """The list of changes that leads from the plan as it was to the rows.

        Args:
            words: Instruction and prompt of each step as they were, by index.
        """
        order = {id(row): index for index, row in enumerate(self.rows)}
        stays = _in_order([row.old for row in self.rows])
        found: list[Change] = []
        for row in self.rows:
            sources = tuple(self._named(source, order) for source in row.sources)
            if row.old is None:
                found.append(
                    Change(
                        change="insert", op=_op(row), title=row.title, caption=row.caption,
                        instruction=row.instruction or None, prompt=row.prompt or None,
                        sources=sources if row.scene is not None else None,
                    )
                )  # fmt: skip
                continue
            reworded = row.scene is not None and words.get(row.old) != (row.instruction, row.prompt)
            renamed = {"title": row.title, "caption": row.caption} if row.renamed else {}
            if row.scene is not None and (row.afresh or row.rebuilt or reworded):
                found.append(
                    Change(
                        change="redo", step=row.old,
                        op=_op(row) if row.rebuilt else None,
                        instruction=row.instruction if reworded else None,
                        prompt=row.prompt if reworded else None,
                        sources=sources if row.rebuilt else None,
                        **renamed,
                    )
                )  # fmt: skip
            elif row.renamed:
                found.append(Change(change="recaption", step=row.old, title=row.title, caption=row.caption))
            else:
                found.append(Change(change="keep" if row.old in stays else "reorder", step=row.old))
        found.extend(Change(change="delete", step=row.old) for row in self.gone if row.old is not None)
        return Changes(steps=tuple(found), title=self.title, style_guide=self.style if self.restyled else None)

    def _named(self, source: str | Row, order: dict[int, int]) -> str:
        if isinstance(source, str):
            return source
        return f"step:{source.old}" if source.old is not None else f"new:{order[id(source)]}"


def _op(row: Row) -> Op:
    return "text" if row.scene is None else "edit" if row.sources else "generate"


def _in_order(olds: list[int | None]) -> set[int]:
    """The most steps that have kept their order among each other."""
    best: list[list[int]] = []
    for old in (old for old in olds if old is not None):
        before = max((run for run in best if run[-1] < old), key=len, default=list[int]())
        best.append([*before, old])
    return set(max(best, key=len, default=list[int]()))
