"""What a server draws with: the roles, the caps and the defaults of every document it makes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from langgraph_interleave.agents.mcp_server.record import Job
from langgraph_interleave.agents.options import check_options
from langgraph_interleave.choose import check_references, check_size, choose_roles
from langgraph_interleave.context import InterleaveContext, Settings
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.graph import CompiledGraph, create_interleave_graph
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits
from langgraph_interleave.roles import Roles


class Outfit:
    """Roles and defaults, looked up once.

    Args:
        planner: As for `create_interleave_graph`.
        backend: As for `create_interleave_graph`; the simulator without.
        critic: As for `create_interleave_graph`.
        limits: Caps on each document.
        fetch_images: Whether a client may name a picture by an address of the public web, which the server then
            fetches (`fetch_image`). Off by default: what a server fetches, it fetches from where it stands.
        defaults: Values of a run that a client does not choose: further options of `create_interleave_graph`
            (`size`, `style`, `language`, `seed`, `references`, `on_exhausted`, …).

    Raises:
        ConfigError: As for `create_interleave_graph`.

    Example:
        >>> Outfit(backend="sketch", planner="scene", critic="none", size="256x256").roles.backend.name
        'sketch'
    """

    def __init__(
        self, planner: Any = None, backend: Any = None, critic: Any = None, *, limits: Limits | None = None,
        fetch_images: bool = False, **defaults: Any,
    ) -> None:  # fmt: skip
        check_options(defaults)
        self.limits = limits or Limits()
        self.fetch_images = fetch_images
        self._defaults = {name: value for name, value in defaults.items() if value is not None}
        checks = ("not_blank",)
        self.roles: Roles = choose_roles(planner, backend, critic, limits=self.limits, checks=checks, **self._defaults)
        self._check(self.roles.settings)

    @property
    def name(self) -> str:
        """Digest of the roles: a job that another server left unfinished is taken up unasked only by its like."""
        roles = self.roles
        parts = (roles.planner.fingerprint, roles.backend.fingerprint, roles.critic.fingerprint)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    @property
    def edits(self) -> bool:
        """Whether the backend changes pictures."""
        can = self.roles.backend.capabilities
        return can.edit != "none" and bool(can.max_references)

    def check(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        """What a client chose, where it can be done.

        Args:
            choices: Per-run values; `None` for those not chosen.

        Returns:
            Those that were chosen.

        Raises:
            ConfigError: A value cannot be, the backend cannot draw the size, or there would be too many steps.
        """
        chosen = {name: value for name, value in choices.items() if value is not None}
        settings, _ = self.roles.settings.resolve(InterleaveContext(**chosen), {})
        if settings.steps is not None and settings.steps > self.limits.max_steps:
            raise ConfigError(
                f"{settings.steps} steps are more than this server draws.",
                remedy=f"Ask for at most {self.limits.max_steps}.",
            )
        self._check(settings)
        return chosen

    def graph(self, job: Job, ledger: Ledger) -> CompiledGraph:
        """The graph that makes a job."""
        roles = self.roles
        planner = roles.planner if job.order.plan is None else job.order.plan
        return create_interleave_graph(
            planner, roles.backend, roles.critic, limits=self.limits, ledger=ledger, **self._defaults
        )

    def context(self, job: Job) -> InterleaveContext:
        """The per-run values of a job."""
        return InterleaveContext(**job.order.choices, run_id=job.run_id)

    def _check(self, settings: Settings) -> None:
        check_size(settings, self.roles.backend)
        check_references(settings, self.roles.backend)
