"""Fakes of the three roles, faults of real ones, a chat model of a few rules, and the conformance suite of backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_interleave.testing.fakes import (
    RephrasingPlanner,
    ScriptedBackend,
    ScriptedCritic,
    ScriptedPlanner,
    ScriptExhausted,
    noise_card,
    simple_plan,
)

if TYPE_CHECKING:
    from langgraph_interleave.testing.conformance import (
        BackendConformance,
        Finding,
        Options,
        Report,
        acheck_backend,
        check_backend,
    )
    from langgraph_interleave.testing.faults import DRAWING, SPEAKING, FaultyBackend, FaultyChatModel, Tally
    from langgraph_interleave.testing.host import RuleBasedChatModel

#: Loaded when they are asked for: the fakes need neither Pillow nor pytest.
_CONFORMANCE = ("BackendConformance", "Finding", "Options", "Report", "acheck_backend", "check_backend")
_FAULTS = ("DRAWING", "SPEAKING", "FaultyBackend", "FaultyChatModel", "Tally")

__all__ = [
    "DRAWING",
    "SPEAKING",
    "BackendConformance",
    "FaultyBackend",
    "FaultyChatModel",
    "Finding",
    "Options",
    "RephrasingPlanner",
    "Report",
    "RuleBasedChatModel",
    "ScriptExhausted",
    "ScriptedBackend",
    "ScriptedCritic",
    "ScriptedPlanner",
    "Tally",
    "acheck_backend",
    "check_backend",
    "noise_card",
    "simple_plan",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name in _CONFORMANCE:
        from langgraph_interleave.testing import conformance

        return getattr(conformance, name)
    if name in _FAULTS:
        from langgraph_interleave.testing import faults

        return getattr(faults, name)
    if name == "RuleBasedChatModel":
        from langgraph_interleave.testing.host import RuleBasedChatModel

        return RuleBasedChatModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
