"""Before anything is spent: whether every role's key and server are right, asked where that costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from langgraph_interleave import background


@runtime_checkable
class Ready(Protocol):
    """A planner, backend or critic that can find out for nothing whether it can be used. Optional."""

    async def aready(self) -> None:
        """Find out.

        Raises:
            ConfigError: Its key is refused, or its model is not there.
            CallError: Nobody answers.
        """
        ...


def check_roles(roles: Iterable[object]) -> None:
    """Ask every role that can tell, all at once.

    Raises:
        InterleaveError: The first that cannot be used, in the order given.
    """
    asked = [role for role in roles if isinstance(role, Ready)]
    if not asked:
        return

    async def ask() -> list[BaseException | None]:
        return await asyncio.gather(*(role.aready() for role in asked), return_exceptions=True)

    # On the loop that makes the calls: a client's connections belong to one loop.
    for problem in background.submit(ask).result():
        if problem is not None:
            raise problem
