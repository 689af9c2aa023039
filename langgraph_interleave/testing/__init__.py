"""Fakes of the three roles, for tests of code that uses this package."""

from langgraph_interleave.testing.fakes import (
    RephrasingPlanner,
    ScriptedBackend,
    ScriptedCritic,
    ScriptedPlanner,
    ScriptExhausted,
    noise_card,
    simple_plan,
)

__all__ = [
    "RephrasingPlanner",
    "ScriptExhausted",
    "ScriptedBackend",
    "ScriptedCritic",
    "ScriptedPlanner",
    "simple_plan",
    "noise_card",
]
