"""The graph a chat model makes for itself, when it is not given one."""

from __future__ import annotations

from typing import Any, NamedTuple

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.choose import choose_roles
from langgraph_interleave.graph import CompiledGraph, wire


class Made(NamedTuple):
    """A graph with its store, and what tells it from others in traces."""

    graph: CompiledGraph
    artifacts: ArtifactStore
    identity: dict[str, Any]


def make_graph(artifacts: ArtifactStore | None, chosen: dict[str, Any]) -> Made:
    """Make a graph without a checkpointer: a call of the model is a run, or a part of the graph around it.

    Args:
        artifacts: The store; in memory by default.
        chosen: The other arguments of `create_interleave_graph`, as far as they were given.

    Raises:
        ConfigError: As for `create_interleave_graph`.
    """
    given: dict[str, Any] = {"planner": None, "backend": None, "critic": None, "checks": ("not_blank",), **chosen}
    roles = choose_roles(artifacts=artifacts, **given)
    identity = {
        "planner": roles.planner.fingerprint,
        "backend": roles.backend.fingerprint,
        "critic": roles.critic.fingerprint,
        "settings": roles.settings.model_dump(mode="json"),
    }
    return Made(wire(roles).compile(name="interleave"), roles.artifacts, identity)
