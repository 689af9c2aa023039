"""The scene planner: plans by rules, without any model, for the built-in world."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

from langgraph_interleave.errors import ConfigError, PlanError
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.types import (
    Plan,
    PlanDelta,
    PlanFinished,
    PlanWarning,
    ReasoningDelta,
    Step,
    StepDelta,
    StyleDelta,
)
from langgraph_interleave.world.changing.answer import changed_deltas
from langgraph_interleave.world.grammar.languages import name_of
from langgraph_interleave.world.planning.amount import read_text
from langgraph_interleave.world.planning.choice import outline_for
from langgraph_interleave.world.planning.laying import Layout, style_of
from langgraph_interleave.world.procedures import fingerprint

#: Changes whenever the same request would get another plan.
_VERSION = 2


class ScenePlanner:
    """Turns a request into a plan of scenes, by rules: no model, no network, always the same answer.

    It knows a book of procedures, numbered lists, "first … then …", series ("the first 25 numbers"),
    stories and growth; anything else becomes one picture, or honest general steps. Numbers of steps
    are kept where that makes sense. Every instruction and prompt ends in the canonical scene text
    that `grammar.target` reads. Not guaranteed: that free text is understood as it was meant.

    A plan that exists is changed as the words ask ("make step 2 night-time", "add a step after 3: …"), and
    continued from a picture of what the user really did. What is not understood is said in a warning, and
    the plan stays as it is.

    Args:
        pace_s: Seconds over which a plan is spread, for demonstrations and measurements; 0 for at once.

    Example:
        >>> ScenePlanner().billed
        False
    """

    name = "scene"
    written = "scene or scene:SECONDS"
    billed = False
    whole_prompts = True

    def __init__(self, *, pace_s: float = 0.0) -> None:
        if not 0 <= pace_s <= 3600:
            raise ConfigError(f"pace_s={pace_s} is not a number of seconds.", remedy="Give 0 to 3600.")
        self.pace_s = pace_s
        self.fingerprint = f"scene/{_VERSION}/{fingerprint()}"

    @classmethod
    def from_string(cls, text: str, *, pace_s: float = 0.0) -> ScenePlanner:
        """The planner that `scene:<argument>` means: `scene:5` or `scene:pace_s=5` spreads a plan over 5 s.

        Raises:
            ConfigError: The argument is no number of seconds.
        """
        match = re.fullmatch(r"\s*(?:pace_s\s*=\s*)?(\d+(?:\.\d+)?)\s*s?\s*", text) if text.strip() else None
        if text.strip() and match is None:
            raise ConfigError(
                f"The planner 'scene' does not understand {text!r}.", remedy="Write 'scene' or 'scene:2.5'."
            )
        return cls(pace_s=float(match[1]) if match is not None else pace_s)

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        """Stream the plan: reasoning sentence by sentence, the style guide, each step, `PlanFinished` last.

        Raises:
            PlanError: The request has neither words nor pictures.
        """
        looks = request.existing is not None and bool(request.existing.given)
        # Pictures are decoded and compared: not where everything else waits.
        deltas = await asyncio.to_thread(plan_deltas, request) if looks else plan_deltas(request)
        pause = self.pace_s / len(deltas)
        for delta in deltas:
            if pause:
                await asyncio.sleep(pause)
            yield delta


def plan_deltas(request: PlanRequest) -> list[PlanDelta]:
    """All deltas of the plan for a request, in order.

    Raises:
        PlanError: The request has neither words nor pictures.
    """
    if request.existing is not None:
        return changed_deltas(request, request.existing)
    text, cut = read_text(request.request.text)
    images = len(request.request.images)
    if not text and not images:
        raise PlanError("The request is empty.", remedy="Say what should be shown.")
    language = name_of(request.language)
    outline = outline_for(text, steps=request.steps, most=request.limits.max_steps, language=language, images=images)
    if request.language and language is None:
        outline = outline.warned(
            PlanWarning(
                "other", f"No captions can be written in {request.language!r} here; they are in another language."
            )
        )
    if cut is not None:
        outline = outline.warned(cut)
    layout = Layout(outline, images, request.capabilities)
    steps: list[Step] = list(layout.steps())
    thoughts = [thought for thought in outline.thoughts if thought]
    if images and outline.drawn:
        thoughts.append("The given photo is pinned into the first picture." if images == 1 else
                        "Each of the given photos is pinned into a picture.")  # fmt: skip
    style = style_of(outline, request.style)
    plan = Plan(steps=tuple(steps), style_guide=style, title=outline.title)
    spoken = [f"{thought} " for thought in thoughts[:-1]] + thoughts[-1:]
    deltas: list[PlanDelta] = [ReasoningDelta(thought) for thought in spoken]
    deltas.append(StyleDelta(style))
    deltas.extend(StepDelta(step) for step in steps)
    warnings = (*outline.warnings, *layout.warnings)
    deltas.append(PlanFinished(plan=plan, reasoning="".join(spoken), warnings=warnings))
    return deltas
