"""Backends and chat models that fail as real ones do, on schedule, and count what they really did."""

from langgraph_interleave.testing.faults.backend import FaultyBackend
from langgraph_interleave.testing.faults.chat import FaultyChatModel
from langgraph_interleave.testing.faults.kind import DRAWING, SPEAKING, Kind, kinds
from langgraph_interleave.testing.faults.pictures import SECRET
from langgraph_interleave.testing.faults.schedule import Schedule
from langgraph_interleave.testing.faults.tally import Tally

__all__ = ["DRAWING", "SECRET", "SPEAKING", "FaultyBackend", "FaultyChatModel", "Kind", "Schedule", "Tally", "kinds"]
