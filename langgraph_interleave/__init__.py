"""Interleaved image-and-text generation for LangGraph.

A planner lays a whole sequence out, any image backend draws a step, a critic compares the picture
with the step's instruction and, when it falls short, rewrites the prompt; the step is drawn again.

Importing this package loads nothing else: every name below is fetched from its module when it is
first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph_interleave.agents import create_interleave_agent as create_interleave_agent
    from langgraph_interleave.artifacts import ArtifactStore as ArtifactStore
    from langgraph_interleave.backends.registry import init_image_backend as init_image_backend
    from langgraph_interleave.chat import ChatInterleave as ChatInterleave
    from langgraph_interleave.context import InterleaveContext as InterleaveContext
    from langgraph_interleave.critics.chat import ChatCritic as ChatCritic
    from langgraph_interleave.critics.ensemble import CriticEnsemble as CriticEnsemble
    from langgraph_interleave.critics.first_look import FirstLook as FirstLook
    from langgraph_interleave.document import Document as Document
    from langgraph_interleave.errors import InterleaveError as InterleaveError
    from langgraph_interleave.graph import create_interleave_graph as create_interleave_graph
    from langgraph_interleave.graph import interleave_state_graph as interleave_state_graph
    from langgraph_interleave.imaging import image_part as image_part
    from langgraph_interleave.ledger import Ledger as Ledger
    from langgraph_interleave.limits import Limits as Limits
    from langgraph_interleave.planners.chat import ChatPlanner as ChatPlanner
    from langgraph_interleave.segments import astream_segments as astream_segments
    from langgraph_interleave.segments import stream_segments as stream_segments
    from langgraph_interleave.types import ArtifactRef as ArtifactRef
    from langgraph_interleave.types import Critique as Critique
    from langgraph_interleave.types import Plan as Plan
    from langgraph_interleave.types import Request as Request
    from langgraph_interleave.types import Step as Step
    from langgraph_interleave.types import StyleGuide as StyleGuide

__version__ = "0.1.0"

#: Public name → the module below this package that holds it.
_HOMES = {
    "ArtifactRef": "types",
    "ArtifactStore": "artifacts",
    "ChatCritic": "critics.chat",
    "ChatInterleave": "chat",
    "ChatPlanner": "planners.chat",
    "CriticEnsemble": "critics.ensemble",
    "Critique": "types",
    "Document": "document",
    "FirstLook": "critics.first_look",
    "InterleaveContext": "context",
    "InterleaveError": "errors",
    "Ledger": "ledger",
    "Limits": "limits",
    "Plan": "types",
    "Request": "types",
    "Step": "types",
    "StyleGuide": "types",
    "astream_segments": "segments",
    "create_interleave_agent": "agents",
    "create_interleave_graph": "graph",
    "image_part": "imaging",
    "init_image_backend": "backends.registry",
    "interleave_state_graph": "graph",
    "stream_segments": "segments",
}

__all__ = [
    "ArtifactRef",
    "ArtifactStore",
    "ChatCritic",
    "ChatInterleave",
    "ChatPlanner",
    "CriticEnsemble",
    "Critique",
    "Document",
    "FirstLook",
    "InterleaveContext",
    "InterleaveError",
    "Ledger",
    "Limits",
    "Plan",
    "Request",
    "Step",
    "StyleGuide",
    "astream_segments",
    "create_interleave_agent",
    "create_interleave_graph",
    "image_part",
    "init_image_backend",
    "interleave_state_graph",
    "stream_segments",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
