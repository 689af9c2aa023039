"""Building blocks of the chat model's tests: scripted roles, and steps that finish in reverse order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from langgraph_interleave import ChatInterleave
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan
from langgraph_interleave.types import CritiqueRequest, ImageRequest


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


def first_once_more(asked: CritiqueRequest) -> str:
    return "revise" if asked.instruction.endswith("0.") and asked.attempt == 0 else "accept"


@pytest.fixture
def in_reverse(chat: Callable[..., ChatInterleave]) -> Callable[..., ChatInterleave]:
    """Three steps side by side; the first takes longest and is revised once."""

    def slow(request: ImageRequest) -> float:
        return {"0": 0.06, "1": 0.03}.get(request.prompt.removeprefix("thing ")[:1], 0.0)

    def build(**options: Any) -> ChatInterleave:
        plan = simple_plan(3, sources=[[], [], []])
        return chat(plan, ScriptedBackend(delay_s=slow), first_once_more, **options)

    return build
