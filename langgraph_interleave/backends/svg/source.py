"""A drawing as a model is shown it: names in the place of the pictures it holds."""

from __future__ import annotations

import re

_PICTURE = re.compile(r"data:image/[a-z]+;base64,[A-Za-z0-9+/=]+")


def shown(svg: str) -> tuple[str, dict[str, str]]:
    """A drawing with names in the place of its pictures, and what each name stands for: nobody reads base64.

    Example:
        >>> shown('<image href="data:image/png;base64,AAAA"/>')
        ('<image href="kept:1"/>', {'kept:1': 'data:image/png;base64,AAAA'})
    """
    names: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        return names.setdefault(match[0], f"kept:{len(names) + 1}")

    return _PICTURE.sub(named, svg), {name: url for url, name in names.items()}
