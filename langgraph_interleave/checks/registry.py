"""Checks by name."""

from __future__ import annotations

from typing import Any

from langgraph_interleave.checks.base import Check
from langgraph_interleave.registry import init


def init_check(name: str, **options: Any) -> Check:
    """Make a check by name.

    Args:
        name: `name` or `name:argument`.
        options: Passed to the check.

    Raises:
        ConfigError: The name is unknown or the check does not take these options.

    Example:
        >>> init_check("not_blank").name
        'not_blank'
    """
    check = init("check", name, Check, **options)
    assert isinstance(check, Check)
    return check
