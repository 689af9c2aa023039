"""The interleave graph for agents, as a sub-agent of a supervisor, in a swarm, behind a chat interface; image tools."""

from langgraph_interleave.agents.agent import create_interleave_agent as create_interleave_agent
from langgraph_interleave.agents.document_tools import create_interleave_tool as create_interleave_tool
from langgraph_interleave.agents.document_tools import create_interleave_tools as create_interleave_tools
from langgraph_interleave.agents.history import legible as legible
from langgraph_interleave.agents.image_tools import create_image_tools as create_image_tools
from langgraph_interleave.agents.middleware import InterleaveMiddleware as InterleaveMiddleware

__all__ = [
    "InterleaveMiddleware",
    "create_image_tools",
    "create_interleave_agent",
    "create_interleave_tool",
    "create_interleave_tools",
    "legible",
]
