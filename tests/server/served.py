"""Graphs of the server suite beside those of `graphs/`: scripted, so that what happens when is known."""

from __future__ import annotations

from langgraph_interleave import create_interleave_graph
from langgraph_interleave.serving import server_artifacts
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, simple_plan

#: Six steps, each from the one before, a third of a second each.
slow = create_interleave_graph(
    ScriptedPlanner(simple_plan(6)), ScriptedBackend(delay_s=0.3), ScriptedCritic(), artifacts=server_artifacts(),
    name="slow",
)  # fmt: skip

#: Three steps that depend on nothing, so that they are asked about together.
parallel = create_interleave_graph(
    ScriptedPlanner(simple_plan(3, sources=[[], [], []])), ScriptedBackend(), ScriptedCritic(),
    artifacts=server_artifacts(), name="parallel",
)  # fmt: skip
