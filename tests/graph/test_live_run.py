"""A live run by itself: what a resumed graph brings while calls of the run are under way."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.context import Settings
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.roles import Roles
from langgraph_interleave.run import Run
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Attempt, Critique, PlanRecord, Request, StepRecord, TextPart


async def test_old_news_does_not_undo_what_a_resumed_node_brought() -> None:
    """Work ahead began step 0 anew, because only its task knows that it was revised already."""
    told: list[Any] = []
    first_is_drawn = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def draw(asked: Any) -> Any:
        if asked.prompt == "thing 0":
            await asyncio.sleep(0.05)
            loop.call_soon_threadsafe(first_is_drawn.set)
        else:
            await asyncio.sleep(0.3)
        return noise_card(asked.prompt)

    artifacts = ArtifactStore.memory()
    planner, backend, critic = ScriptedPlanner(simple_plan(1)), ScriptedBackend(draw), ScriptedCritic(delay_s=30)
    roles = Roles(planner, backend, critic, artifacts, Ledger(artifacts))
    request = Request(parts=(TextPart(text="x"),))
    run = Run("r", request, Settings(), roles, writer=told.append)
    plan = PlanRecord(run_id="r", request=request, settings={}, plan=simple_plan(1))
    run.restore(plan, "0" * 64)
    image = artifacts.put_image(noise_card("rejected"))
    critique = Critique(verdict="revise", refined_prompt="better")
    revised = Attempt(number=0, prompt="thing 0", image=image, critique=critique)
    with run.active():
        run.restore_steps([])
        run.advance()
        run.standing.adopt([StepRecord(index=0, attempts=(revised,))])
        record = await run.until(0, 1, judged=False)
        assert first_is_drawn.is_set()
    run.close()
    assert record.attempts[0] == revised and record.attempts[1].prompt == "better"
    assert [asked.prompt for asked in backend.requests] == ["thing 0", "better"]
    previews = [event["attempt"] for event in told if event.get("kind") == "preview"]
    assert previews == [1], "nothing is told of the drawing nobody needed"
