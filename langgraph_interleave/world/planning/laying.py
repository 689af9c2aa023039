"""Lays an outline out as steps: what each builds on, its instruction and its prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from langgraph_interleave.types import Capabilities, PlanWarning, Step, StyleGuide
from langgraph_interleave.world.grammar import change_in_words, instruction, prompt
from langgraph_interleave.world.grammar.phrases import BACKDROPS, listed
from langgraph_interleave.world.grammar.prose import phrase
from langgraph_interleave.world.planning.outline import Outline, Part
from langgraph_interleave.world.scene import Scene, Thing

LOOK = "hand-drawn storyboard frames: calm ink outlines of one weight, flat muted colours, the same horizon and light"
PALETTE = "muted, about a dozen colours on warm white paper"


@dataclass(slots=True)
class Layout:
    """The steps laid out so far.

    Attributes:
        outline: What is laid out.
        images: How many pictures the request has; each is used by a step.
        capabilities: What the backend can do; one that takes no references gets steps that stand alone.
        warnings: What could not be done as asked.
    """

    outline: Outline
    images: int
    capabilities: Capabilities
    warnings: list[PlanWarning] = field(default_factory=list[PlanWarning])

    def steps(self) -> Iterator[Step]:
        """The steps, in order."""
        parts = self.outline.parts
        drawn = [index for index, part in enumerate(parts) if part.scene is not None]
        last: tuple[int, Scene] | None = None
        for index, part in enumerate(parts):
            if part.scene is None:
                yield Step(index=index, op="text", title=part.title, caption=part.caption)
                continue
            place = drawn.index(index)
            inputs = self._inputs(place, len(drawn))
            scene = self._with_photo(part.scene, place, bool(inputs))
            before = last if last is not None and self._follows(part, scene, last[1]) else None
            yield self._drawn(index, part, scene, before, inputs)
            last = (index, scene)
        if self.images and not drawn:
            self.warnings.append(
                PlanWarning("unused_input", "Only words were asked for, so the given pictures are not used.")
            )

    def _inputs(self, place: int, drawn: int) -> list[int]:
        """The request's pictures that a drawn step uses: one each in order, further ones in turn."""
        return list(range(place, self.images, drawn))

    def _with_photo(self, scene: Scene, place: int, has_own: bool) -> Scene:
        pinned = self.images > 0 and (has_own or (self.outline.keeps_photo and scene.photo))
        return scene if scene.photo == pinned else scene.model_copy(update={"photo": pinned})

    def _follows(self, part: Part, scene: Scene, before: Scene) -> bool:
        """Whether a picture is a change of the one before: it keeps something of it."""
        if self.outline.order == "independent" or part.alone:
            return False
        there = {(thing.id, thing.kind) for thing in before.things}
        shared = there.intersection((thing.id, thing.kind) for thing in scene.things)
        same_place = self.outline.linked and scene.backdrop == before.backdrop
        return bool(shared) or same_place or (scene.photo and before.photo)

    def _drawn(self, index: int, part: Part, scene: Scene, before: tuple[int, Scene] | None, inputs: list[int]) -> Step:
        sources = [f"input:{number}" for number in inputs]
        if scene.photo and not inputs and before is not None:
            # The photo goes along, so that it does not fade from picture to picture.
            sources = ["input:0"]
        change = ""
        if before is not None:
            # First what the critic compares with: the picture before.
            change = part.change or change_in_words(before[1], scene)
            sources.insert(0, f"step:{before[0]}")
        elif inputs:
            change = "Pin up the given photo and draw around it."
        if not self._takes_references():
            change, sources = "", []
        elif len(sources) > self.capabilities.max_references > 0:
            sources = self._within_limit(index, sources)
        edits = bool(sources)
        return Step(
            index=index,
            op="edit" if edits else "generate",
            title=part.title,
            instruction=instruction(change, scene),
            prompt=prompt(change, scene),
            caption=part.caption,
            sources=tuple(sources),
        )

    def _within_limit(self, index: int, sources: list[str]) -> list[str]:
        most = self.capabilities.max_references
        left_out = [source for source in sources[most:] if source != "input:0"]
        if left_out:
            self.warnings.append(
                PlanWarning(
                    "unused_input",
                    f"The backend takes {most} pictures at once; left out: {', '.join(left_out)}.",
                    index,
                )
            )
        return sources[:most]

    def _takes_references(self) -> bool:
        takes = self.capabilities.edit != "none" or self.capabilities.max_references > 0
        if not takes and not any(warning.code == "other" for warning in self.warnings):
            self.warnings.append(
                PlanWarning(
                    "other",
                    "The backend takes no pictures to build on: every picture is drawn from its own words"
                    + (", and the given ones are not used." if self.images else "."),
                )
            )
        return takes


def style_of(outline: Outline, style: str | None) -> StyleGuide:
    """The style guide of an outline: its look, its recurring things, what stays.

    Args:
        outline: The finished outline.
        style: The look the caller asks for.
    """
    scenes = [part.scene for part in outline.drawn if part.scene is not None]
    if not scenes:
        return StyleGuide()
    seen = Counter((thing.id, thing.kind) for scene in scenes for thing in scene.things)
    first: dict[tuple[str, str], Thing] = {}
    for scene in scenes:
        for thing in scene.things:
            first.setdefault((thing.id, thing.kind), thing)
    recurring = [first[key] for key, count in seen.items() if count > 1][:6]
    names = [phrase(thing.model_copy(update={"state": None, "count": 1}), placed=False) for thing in recurring]
    backdrops = list(dict.fromkeys(BACKDROPS.get(scene.backdrop, scene.backdrop) for scene in scenes))
    keep: list[str] = []
    if len(backdrops) == 1:
        keep.append(f"every picture is set {backdrops[0]}")
    if names and outline.order != "independent":
        keep.append("what recurs keeps its looks, size and place unless a step changes it")
    return StyleGuide(
        look=style or LOOK, palette="" if style else PALETTE, characters=listed(names), keep="; ".join(keep)
    )
