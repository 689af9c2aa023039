"""`langgraph-interleave run --estimate`: what a run may take. Nothing is called, so no key is needed."""

from __future__ import annotations

import os
import re
import sys

from langgraph_interleave.cli.drawing import choose_backend
from langgraph_interleave.cli.money import hint_of
from langgraph_interleave.cli.typed import Options
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.roles import Roles

#: How every part says that its key is not there.
_MISSING = re.compile(r"needs a key, and ([A-Za-z_]\w*) is not set\.")
#: Stands for a key while a client is made that is never used.
_PLACEHOLDER = "sk-for-an-estimate-never-sent"
#: No more roles than this have keys.
_MOST = 12


def estimate(options: Options) -> int:
    """Say what the run may take; nothing is spent and nothing written.

    Args:
        options: What the user typed.

    Returns:
        The exit code, 0.

    Raises:
        InterleaveError: A role is not known, or cannot be as it was typed.
    """
    from langgraph_interleave.estimate import TYPICAL_STEPS, describe, estimate_run
    from langgraph_interleave.prices import Prices
    from langgraph_interleave.world.planning.wishes import take_count

    roles, lacking = _roles(options)
    count = options.steps or take_count(options.request)[1]
    expected = estimate_run(
        count or TYPICAL_STEPS,
        limits=options.limits,
        planner=roles.planner,
        backend=roles.backend,
        critic=roles.critic,
        prices=Prices.default(),
        candidates=options.candidates,
    )
    sys.stdout.write(describe(expected) + "\n")
    typed = (options.planner, roles.planner), (options.backend, roles.backend), (options.critic, roles.critic)
    if hint := hint_of(*typed):
        sys.stdout.write(f"{hint}\n")
    if count is None:
        sys.stdout.write(f"{TYPICAL_STEPS} steps are assumed; --steps says how many.\n")
    if options.references == "sheet":
        sys.stdout.write("Where the plan names characters, their sheet is one drawing more.\n")
    if lacking:
        keys = "keys" if len(lacking) > 1 else "a key"
        sys.stdout.write(f"The run itself needs {keys}: set {' and '.join(lacking)} first.\n")
    return 0


def _roles(options: Options) -> tuple[Roles, list[str]]:
    """The roles, and which variables would have to hold keys; those hold a placeholder while roles are made."""
    from langgraph_interleave.choose import choose_roles

    lacking: list[str] = []
    before: dict[str, str | None] = {}
    try:
        while True:
            try:
                backend = choose_backend(options.backend)
                return choose_roles(options.planner, backend, options.critic, limits=options.limits), lacking
            except ConfigError as error:
                found = _MISSING.search(error.message)
                if found is None or found[1] in lacking or len(lacking) == _MOST:
                    raise
                lacking.append(found[1])
                before[found[1]] = os.environ.get(found[1])
                os.environ[found[1]] = _PLACEHOLDER
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
