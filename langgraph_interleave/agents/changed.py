"""What a change of a document came to: a new version, or the document stays as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from langgraph_interleave.types import DocumentData

#: `nothing`: the document that was to be changed came back as it was.
Came = Literal["version", "nothing", "stopped", "failed"]


#: Codes of warnings that are known without them: what roles always say of themselves, and that nothing changed.
_KNOWN = frozenset({"note", "nothing_changed"})


def said_by(event: object) -> str | None:
    """What an event warns of, in words; `None` for every other event.

    A change of nothing returns the document as it was: why, is in the events of its run alone.

    Args:
        event: As JSON.
    """
    if not isinstance(event, Mapping):
        return None
    fields = cast("Mapping[str, Any]", event)
    if fields.get("type") != "interleave.warning" or fields.get("code") in _KNOWN:
        return None
    return str(fields.get("message", "")) or None


def came_to(data: DocumentData, before: DocumentData) -> Came:
    """What a change came to. Only what is complete, or not all as asked, is a new version.

    Args:
        data: The document of the run.
        before: The document it was to change.
    """
    # A change has a number, a run and a plan record of its own. A graph of somebody else's may count no versions.
    if data.version == before.version and (data.run_id == before.run_id or data.plan == before.plan is not None):
        return "nothing"
    if data.outcome == "failed":
        return "failed"
    return "stopped" if data.outcome == "cancelled" else "version"
