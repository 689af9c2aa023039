"""The interleave graph for agents: as a sub-agent of a supervisor, in a swarm, behind a chat interface."""

from langgraph_interleave.agents.agent import create_interleave_agent as create_interleave_agent
from langgraph_interleave.agents.history import legible as legible

__all__ = ["create_interleave_agent", "legible"]
