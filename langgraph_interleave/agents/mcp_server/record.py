"""The record of a job: one version of one document, asked for, being made, or made."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from langgraph_interleave.agents.mcp_server.names import Name
from langgraph_interleave.types import Plan, RunOutcome
from langgraph_interleave.types.base import Frozen
from langgraph_interleave.types.record import Problem


class Order(Frozen):
    """What a client asked for. Pictures are references; the bytes are in the store.

    Attributes:
        request: Content blocks, as the graph takes them.
        plan: The plan, where nothing is to be planned: a single picture.
        base: Digest of the document to change, and its version.
        choices: Per-run values: `steps`, `size`, `style`, `language`, `seed`; what was not chosen is left out.
    """

    request: tuple[dict[str, Any], ...]
    plan: Plan | None = None
    base: str | None = None
    changes: int | None = Field(default=None, ge=1, description="the version that is changed")
    choices: dict[str, Any] = Field(default_factory=dict)


class Job(Frozen):
    """One version of a document. Its file is written whole or not at all.

    `owner` is the server that makes it, until `lease_until` (seconds since 1970) if it gives no sign of
    life; `outfit` names what it is made with. `total` is unknown until it is planned.
    """

    v: int = 1
    document: str
    version: int = Field(ge=1)
    order: Order
    asked: str = Field(description="digest of the order: the same call, made again, joins the job")
    outfit: str
    created: float
    state: Literal["unfinished", "ended"] = "unfinished"
    owner: str | None = None
    lease_until: float = 0.0
    taken_up: int = Field(default=0, ge=0, description="how often a server went on with what another left")
    stop: bool = False
    done: int = 0
    total: int | None = None
    now: str = "waiting to begin"
    data: str | None = Field(default=None, description="digest of the document")
    outcome: RunOutcome | None = None
    problem: Problem | None = None
    same: int | None = Field(default=None, ge=1, description="it changed nothing: its document is that of this version")

    @property
    def name(self) -> Name:
        """What clients call it."""
        return Name(self.document, self.version)

    @property
    def run_id(self) -> str:
        """Id of its run: the ledger never pays twice for the same."""
        return f"{self.document}-v{self.version}"

    @property
    def ended(self) -> bool:
        """Whether nothing more is done for it."""
        return self.state == "ended"

    @property
    def stands(self) -> bool:
        """Whether the document is in this version, or may be: a change that came to nothing leaves it as it was."""
        fell = self.same is not None or self.outcome in ("cancelled", "failed")
        return self.order.base is None or not (self.ended and fell)
