"""Deterministic tests of a picture, run before the critic."""

from langgraph_interleave.checks.base import Check
from langgraph_interleave.checks.blank import NotBlank

__all__ = ["Check", "NotBlank"]
