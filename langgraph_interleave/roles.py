"""The live objects a graph is made of: planner, backend, critic, checks, stores and defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.checks.base import Check
from langgraph_interleave.context import Settings
from langgraph_interleave.critic import Critic
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.odds import Odds
from langgraph_interleave.planner import Planner


@dataclass(frozen=True, slots=True)
class Roles:
    """What `create_interleave_graph` was given, or chose. `notes` are told to every reader."""

    planner: Planner
    backend: ImageBackend
    critic: Critic
    artifacts: ArtifactStore
    ledger: Ledger
    checks: Sequence[Check] = ()
    settings: Settings = field(default_factory=Settings)
    notes: tuple[str, ...] = ()
    odds: Odds = field(default_factory=Odds)
