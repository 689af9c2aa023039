"""What no further call of a role can succeed after: a refused key, no credit left."""

from __future__ import annotations

from langgraph_interleave.errors import ConfigError, InterleaveError, QuotaExhausted, Role
from langgraph_interleave.routing import Draw, NextCall


class Fatal:
    """The errors that end a role's work for the whole run, where there are any.

    Example:
        >>> fatal = Fatal()
        >>> fatal.note("backend", QuotaExhausted("No credit left."))
        >>> fatal.any, fatal.of(Draw(0, 0, "a pot"))
        (True, QuotaExhausted('No credit left.'))
    """

    def __init__(self) -> None:
        self._errors: dict[Role, InterleaveError] = {}

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool(self._errors)

    def note(self, role: Role, outcome: object) -> None:
        """Take in what came of a call; the first error of a role counts."""
        if isinstance(outcome, ConfigError | QuotaExhausted):
            self._errors.setdefault(role, outcome)

    def of(self, following: NextCall) -> InterleaveError | None:
        """Why a call is not made at all. Nothing is drawn that nobody can judge."""
        critic = self._errors.get("critic")
        return (critic or self._errors.get("backend")) if isinstance(following, Draw) else critic
