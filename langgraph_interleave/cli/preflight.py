"""Before anything is spent: whether every role's key and server are right, asked where that costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from langgraph_interleave import background
from langgraph_interleave.errors import Unavailable

#: For all roles together, in seconds; each has a shorter one where it asks a server.
READY_S = 60.0


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
        Unavailable: No answer from one of them within a minute.
    """
    asked = [role for role in roles if isinstance(role, Ready)]
    if not asked:
        return

    async def ask() -> list[BaseException | None]:
        return await asyncio.gather(*(role.aready() for role in asked), return_exceptions=True)

    # On the loop that makes the calls: a client's connections belong to one loop.
    asking = background.submit(ask)
    try:
        problems = asking.result(READY_S)
    except TimeoutError as error:
        raise Unavailable(
            f"Within {READY_S:g} s nobody said whether the models can be used.",
            remedy="Try again later, or look whether their servers answer.",
        ) from error
    for problem in problems:
        if problem is not None:
            raise problem
