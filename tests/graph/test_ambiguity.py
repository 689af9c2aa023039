"""A call that may have been made twice is told of, whatever it was for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langgraph_interleave import ArtifactStore, InterleaveContext, create_interleave_graph
from langgraph_interleave.errors import PlanError
from langgraph_interleave.files import MemoryFiles
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan
from langgraph_interleave.types import Capabilities, ImageRequest

ASK: Any = {"request": "things"}


class Scene:
    """Two runs of one id over one store, the first of which is cut off in the middle of a call."""

    def __init__(self) -> None:
        self.files = MemoryFiles()
        self.busy = asyncio.Event()
        self.loop = asyncio.get_running_loop()

    def graph(
        self,
        *,
        plan_s: float = 0.0,
        draw_s: Callable[[ImageRequest], float] | float = 0.0,
        early: bool = False,
        steps: int = 2,
    ) -> Any:
        does = Capabilities(edit="instruct", max_references=4, seed="exact", billed=True)

        def seconds(asked: ImageRequest) -> float:
            taken = draw_s(asked) if callable(draw_s) else draw_s
            if taken > 1:
                self.loop.call_soon_threadsafe(self.busy.set)
            return taken

        def plan(_: Any) -> Any:
            if plan_s > 1 and not early:
                self.loop.call_soon_threadsafe(self.busy.set)
            return simple_plan(steps) if steps else PlanError("It cannot be planned.")

        return create_interleave_graph(
            ScriptedPlanner(plan, pace_s=plan_s, billed=True),
            ScriptedBackend(delay_s=seconds, capabilities=does),
            ScriptedCritic(),
            ledger=Ledger(ArtifactStore(self.files), grace_s=0.0),
            lookahead=True,
            early_start=early,
        )

    async def told(self, cut_off: Any, **again: Any) -> tuple[list[int | None], int]:
        """The steps that are warned of when the run is sent again, and what is counted."""
        context = InterleaveContext(run_id="twice")
        task = asyncio.create_task(cut_off.ainvoke(ASK, context=context))
        await asyncio.wait_for(self.busy.wait(), 10)
        task.cancel()
        await asyncio.wait([task])
        warned: list[int | None] = []
        result: Any = None
        parts = self.graph(**again).astream(ASK, context=context, stream_mode=["custom", "values"])
        async for mode, part in parts:
            if mode == "values":
                result = part
            elif part["type"] == "interleave.warning" and part["code"] == "ambiguous":
                warned.append(part.get("step"))
        return warned, result["spend"]["ambiguous"]


async def test_a_plan() -> None:
    scene = Scene()
    assert await scene.told(scene.graph(plan_s=30.0)) == ([None], 1)


async def test_a_drawing() -> None:
    scene = Scene()
    assert await scene.told(scene.graph(draw_s=30.0)) == ([0], 1)


async def test_a_drawing_that_was_a_bet() -> None:
    """Made again as a bet, and finished before it is certain: nobody waits for it then."""
    scene = Scene()
    graph = scene.graph(draw_s=lambda asked: 30.0 if asked.prompt == "thing 1" else 0.0)
    assert await scene.told(graph) == ([1], 1)


async def test_a_drawing_for_a_plan_that_is_not_made_again() -> None:
    """It was begun while the plan was being written; what is told of its step is void, but it was paid for."""
    scene = Scene()

    def slowly(asked: ImageRequest) -> float:
        return 30.0 if asked.prompt == "thing 1" else 0.0

    cut_off = scene.graph(plan_s=4.0, draw_s=slowly, early=True, steps=40)
    warned, counted = await scene.told(cut_off, steps=0)
    assert sorted(warned, key=str) == [1, None]
    assert counted == 2
