"""Building blocks of the graph's tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.graph import CompiledGraph, create_interleave_graph
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

Made = tuple[CompiledGraph, ScriptedPlanner, ScriptedBackend, ScriptedCritic]


@pytest.fixture
def make() -> Callable[..., Made]:
    """A graph of scripted roles; a number or a plan, the backend's and the critic's script."""

    def build(plan: Any = 2, drawings: Any = None, verdicts: Any = None, **options: Any) -> Made:
        planner = ScriptedPlanner(simple_plan(plan) if isinstance(plan, int) else plan)
        backend = drawings if isinstance(drawings, ScriptedBackend) else ScriptedBackend(drawings)
        critic = verdicts if isinstance(verdicts, ScriptedCritic) else ScriptedCritic(verdicts)
        options.setdefault("artifacts", ArtifactStore.memory())
        return create_interleave_graph(planner, backend, critic, **options), planner, backend, critic

    return build
