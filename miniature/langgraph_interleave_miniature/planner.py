"""The planner `miniature`: plans by the grammar of the miniature's world, without any model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from langgraph_interleave.errors import PlanError
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.types import (
    Capabilities,
    Plan,
    PlanDelta,
    PlanFinished,
    PlanWarning,
    ReasoningDelta,
    Step,
    StepDelta,
    StyleDelta,
    StyleGuide,
)

from langgraph_interleave_miniature.captions import command, describe
from langgraph_interleave_miniature.changes import edit_between
from langgraph_interleave_miniature.instructions import instruction_of
from langgraph_interleave_miniature.naming import nouns
from langgraph_interleave_miniature.outlines import REMEDY, Outline, outline_of
from langgraph_interleave_miniature.reading import Reader
from langgraph_interleave_miniature.scenes import MOST, Edit, Scene
from langgraph_interleave_miniature.sight import Sight

#: Changes whenever the same request would get another plan.
_VERSION = 2

STYLE = StyleGuide(
    look="flat shapes with an outline, 64 pixels a side",
    palette="six strong colors",
    keep="whatever a step does not name",
)


class MiniaturePlanner:
    """Plans for the backend `miniature`: no model, no network, always the same answer.

    It reads a picture and the changes to it, in the words of `words.py`, and stories about what stands in it. Each
    change the model has an edit for builds on the picture before; any other picture is described in full. An
    instruction always says in the end what the whole picture shows, so that a critic can tell. Words it does not
    know are refused by name rather than left out. A picture of the user's, if it is one of this world, is read, and
    the first step changes it; only for that a trained network is loaded.

    Args:
        reader: Reads the user's pictures; by default the trained one of `weights`.
        weights: Folder of weights; this package's own by default.

    Raises:
        ConfigError: The reader's weights are not there.

    Example:
        >>> from langgraph_interleave_miniature.reading import certain
        >>> MiniaturePlanner(lambda picture: certain(Scene("paper"))).billed
        False
    """

    name = "miniature"
    billed = False

    def __init__(self, reader: Reader | None = None, *, weights: str | Path | None = None) -> None:
        self._sight = Sight(reader, folder=weights)
        self.fingerprint = f"miniature/{_VERSION}/{self._sight.kind}"

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        """Stream the plan: reasoning sentence by sentence, the style guide, each step, `PlanFinished` last.

        Raises:
            PlanError: The request has words for what the miniature does not know, or asks for what cannot be.
        """
        seen = await asyncio.to_thread(self._sight.see, request.images[0]) if request.images else None
        given = None if seen is None or seen.foreign else seen.reading.scene
        for delta in plan_deltas(request, given):
            yield delta


def plan_deltas(request: PlanRequest, given: Scene | None = None) -> list[PlanDelta]:
    """All deltas of the plan for a request, in order.

    Args:
        request: What is asked for.
        given: What the first of its pictures shows, if that is one of this world.

    Raises:
        PlanError: As `MiniaturePlanner.aplan`.
    """
    text = request.request.text
    if not text:
        raise PlanError("The request has no words.", remedy=REMEDY)
    outline = outline_of(text, steps=request.steps, most=request.limits.max_steps, seed=request.seed, given=given)
    steps = steps_of(outline, request.capabilities, given)
    used = steps[0].sources == ("input:0",)
    drawn = "pictures" if len(steps) > 1 else "picture"
    thoughts = [f"{len(steps)} {drawn} of the miniature's world.", *outline.thoughts]
    if given is not None:
        thoughts.insert(0, f"I see {nouns(given)} in the given picture.")
    spoken = [f"{thought} " for thought in thoughts[:-1]] + thoughts[-1:]
    plan = Plan(steps=steps, style_guide=STYLE, title=_noun_of(outline.moments[0].scene))
    return [
        *(ReasoningDelta(thought) for thought in spoken),
        StyleDelta(STYLE),
        *(StepDelta(step) for step in steps),
        PlanFinished(plan=plan, reasoning="".join(spoken), warnings=_warnings(request, outline, used=used)),
    ]


def steps_of(outline: Outline, capabilities: Capabilities, given: Scene | None = None) -> tuple[Step, ...]:
    """The steps of an outline: edits of the picture before where that is one edit and the backend takes references.

    Args:
        outline: What is to be shown.
        capabilities: What the backend can do.
        given: What the picture shows that the user gave to begin with.
    """
    edits = capabilities.edit == "instruct" and capabilities.max_references > 0
    steps: list[Step] = []
    before = given
    for index, moment in enumerate(outline.moments):
        edit = edit_between(before, moment.scene) if before is not None and edits else None
        steps.append(
            Step(
                index=index,
                op="generate" if edit is None else "edit",
                title=_title(edit, moment.scene),
                instruction=instruction_of(moment.scene, edit),
                prompt=describe(moment.scene) if edit is None else command(edit),
                caption=moment.caption,
                sources=() if edit is None else (f"step:{index - 1}" if index else "input:0",),
            )
        )
        before = moment.scene
    return tuple(steps)


def _title(edit: Edit | None, scene: Scene) -> str:
    if edit is None:
        return _noun_of(scene)
    if edit.thing is None:
        return _noun_of(Scene(edit.after.background))
    if edit.op == "remove":
        return f"Without the {edit.thing.kind}"
    thing = edit.after.named(edit.thing.kind)
    assert thing is not None
    return _noun_of(Scene(edit.after.background, (thing,)))


def _noun_of(scene: Scene) -> str:
    """The things of a scene as a heading, or its background."""
    if not scene.things:
        return {"meadow": "In a meadow", "night": "At night", "beach": "On the beach", "paper": "White paper"}[
            scene.background
        ]
    text = nouns(scene)
    return text[:1].upper() + text[1:]


def _warnings(request: PlanRequest, outline: Outline, *, used: bool) -> list[PlanWarning]:
    warnings: list[PlanWarning] = []
    if outline.asked is not None:
        said = f"{outline.asked} pictures were asked for; at most {request.limits.max_steps} are allowed."
        warnings.append(PlanWarning("step_count", said))
    if outline.unshown:
        said = f"The miniature cannot show this, and leaves it out: {', '.join(outline.unshown)}."
        warnings.append(PlanWarning("unknown_words", said))
    crowded = [index for index, moment in enumerate(outline.moments) if len(moment.scene.things) > MOST]
    if crowded:
        said = f"The miniature was trained on pictures with at most {MOST} things; more go wrong more often."
        warnings.append(PlanWarning("other", said, crowded[0]))
    if len(request.images) > (1 if used else 0):
        left_out = "Of several pictures only the first is used" if used else "The given pictures are not used"
        said = f"{left_out}: the miniature changes one picture of its own world, by one edit at a time."
        warnings.append(PlanWarning("unused_input", said))
    if request.style:
        warnings.append(PlanWarning("other", "The miniature has one look; the style asked for is left out."))
    if request.language and not request.language.lower().startswith("en"):
        warnings.append(PlanWarning("other", "The miniature understands and writes English only."))
    return warnings
