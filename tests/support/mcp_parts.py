"""Roles for tests of the MCP server, which write down every call: also across processes that are killed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, noise_card, simple_plan
from langgraph_interleave.types import (
    Capabilities,
    Critique,
    CritiqueRequest,
    ImageBytes,
    ImageRequest,
    Plan,
    PlanDelta,
    PlanFinished,
    Step,
)

#: The environment variable that names the file of the calls.
CALLS = "MCP_PARTS_CALLS"
#: Seconds a drawing takes.
DELAY = "MCP_PARTS_DELAY"
CAN = Capabilities(edit="instruct", max_references=8, seed="exact", concurrency=8)


def note(words: str) -> None:
    """Write a call down, at once."""
    path = os.environ.get(CALLS)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{words}\n")


def noted(path: Path) -> list[str]:
    """The calls that were written down."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def forget(path: Path) -> None:
    """Begin with an empty file."""
    path.unlink(missing_ok=True)


class Planner:
    """Plans "N things", one built on the other; "darker K" changes step K; "stubborn K" is judged badly once."""

    fingerprint = "mcp-parts-planner"
    billed = False

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        note("plan")
        words = request.request.text
        if request.existing is None:
            count = re.search(r"(\d+) things", words)
            plan = simple_plan(request.steps or (int(count[1]) if count else 2))
            if "apart" in words:
                plan = simple_plan(len(plan.steps), sources=[[] for _ in plan.steps])
            yield PlanFinished(plan=plan)
            return
        plan = request.existing.plan
        darker = {int(number) - 1 for number in re.findall(r"darker (\d+)", request.existing.change.text)}
        steps = tuple(_darker(step) if step.index in darker else step for step in plan.steps)
        yield PlanFinished(plan=Plan(steps=steps, style_guide=plan.style_guide, title=plan.title))


def _darker(step: Step) -> Step:
    return step.model_copy(update={"instruction": f"{step.instruction} Darker.", "prompt": f"{step.prompt}, darker"})


def backend() -> ScriptedBackend:
    """Draws noise, slowly where it is told to."""

    def draw(request: ImageRequest) -> ImageBytes:
        note(f"draw {request.prompt}")
        return noise_card(request.prompt, seed=request.seed or 0)

    # Written down before and after: a call that was cut off is one without its end.
    def delay(request: ImageRequest) -> float:
        note(f"begin {request.prompt}")
        return float(os.environ.get(DELAY, "0"))

    return ScriptedBackend(draw, delay_s=delay, capabilities=CAN)


def stuck() -> ScriptedBackend:
    """The first picture at once, the second never."""

    def delay(request: ImageRequest) -> float:
        note(f"begin {request.prompt}")
        return 3600.0 if "thing 1" in request.prompt else 0.0

    def draw(request: ImageRequest) -> ImageBytes:
        note(f"draw {request.prompt}")
        return noise_card(request.prompt, seed=request.seed or 0)

    return ScriptedBackend(draw, delay_s=delay, capabilities=CAN)


def critic() -> ScriptedCritic:
    """Accepts everything but the first attempt at what is stubborn."""

    def judge(request: CritiqueRequest) -> Critique:
        note(f"judge {request.instruction}")
        if "stubborn" in request.instruction and request.attempt == 0:
            return Critique(verdict="revise", reasoning="Not yet.", refined_prompt="stubborn, at last")
        return Critique(verdict="accept", reasoning="As asked.")

    return ScriptedCritic(judge)


def wait_until(path: Path, words: str, *, times: int = 1, seconds: float = 20.0) -> None:
    """Wait until a call was written down so often."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if noted(path).count(words) >= times:
            return
        time.sleep(0.02)
    raise AssertionError(f"{words!r} did not come {times} times: {noted(path)}")
