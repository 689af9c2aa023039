"""Deterministic tests of a picture, run before the critic."""

from langgraph_interleave.checks.base import Check
from langgraph_interleave.checks.blank import NotBlank
from langgraph_interleave.checks.netlist import Netlist
from langgraph_interleave.checks.palette import PaletteDrift
from langgraph_interleave.checks.text import TextPresent
from langgraph_interleave.checks.unchanged import Unchanged

__all__ = ["Check", "Netlist", "NotBlank", "PaletteDrift", "TextPresent", "Unchanged"]
