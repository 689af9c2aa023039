"""Building blocks of the chat model's tests: scripted roles, and steps that finish in reverse order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from langgraph_interleave import ChatInterleave
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import CritiqueRequest, ImageBytes, ImageRequest


@pytest.fixture
def chat() -> Callable[..., ChatInterleave]:
    """A chat model over scripted roles; a number or a plan, the backend's and the critic's script."""

    def build(plan: Any = 2, drawings: Any = None, verdicts: Any = None, **options: Any) -> ChatInterleave:
        if not isinstance(plan, ScriptedPlanner):
            plan = ScriptedPlanner(simple_plan(plan) if isinstance(plan, int) else plan)
        backend = drawings if isinstance(drawings, ScriptedBackend) else ScriptedBackend(drawings)
        options.setdefault("artifacts", ArtifactStore.memory())
        return ChatInterleave(planner=plan, backend=backend, critic=ScriptedCritic(verdicts), **options)

    return build


class Reversed:
    """Draws a step once the one after it is accepted, and has the first revised once; over and over."""

    def __init__(self, steps: int) -> None:
        self._last = steps - 1
        self._accepted: set[int] = set()

    async def draw(self, request: ImageRequest) -> ImageBytes:
        step = int(request.prompt.split()[1])
        while step < self._last and step + 1 not in self._accepted:  # noqa: ASYNC110 - judged on another loop
            await asyncio.sleep(0.002)
        return noise_card(request.prompt, seed=request.seed or 0)

    def judge(self, asked: CritiqueRequest) -> str:
        step = int(asked.instruction.split()[2].rstrip("."))
        if step == 0 and asked.attempt == 0:
            return "revise"
        # The first is the last to be accepted; then it may begin anew.
        self._accepted = {*self._accepted, step} if step else set()
        return "accept"


@pytest.fixture
def in_reverse(chat: Callable[..., ChatInterleave]) -> Callable[..., ChatInterleave]:
    """Three steps side by side that finish in reverse order; the first is revised once."""

    def build(**options: Any) -> ChatInterleave:
        roles = Reversed(3)
        return chat(simple_plan(3, sources=[[], [], []]), roles.draw, roles.judge, **options)

    return build
