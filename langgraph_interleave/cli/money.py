"""Whether a part that counts as billed may cost nothing: what to say of servers on this machine or network."""

from __future__ import annotations

import ipaddress
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.prices import ENVIRONMENT, Price, Prices


def use_prices(file: Path | None, kept: Mapping[str, Price] | None = None) -> dict[str, Price] | None:
    """Have the user's own prices go before the built-in ones, in this process.

    Args:
        file: TOML or JSON.
        kept: Rows that were kept with a run; those of the file go before them.

    Returns:
        The rows, to be kept with a run; `None` without either, and then nothing is changed.

    Raises:
        ConfigError: The file cannot be read, or holds something else than prices.
    """
    if file is None and not kept:
        return None
    prices = Prices(kept) if file is None else Prices(kept).merged(file)
    rows = {name: row.model_dump(mode="json", exclude_defaults=True) for name, row in prices.rows.items()}
    # The rows themselves: the file may be written anew while the run is made.
    os.environ[ENVIRONMENT] = json.dumps(rows)
    return dict(prices.rows) or None


class Billed(Protocol):
    """A planner or critic, as far as money goes."""

    @property
    def billed(self) -> bool:
        """Whether its calls cost money."""
        ...


def own_server(name: str) -> str | None:
    """The host of a server of one's own that a part's name gives as its `base_url`.

    Only loopback and private addresses are. They still count as billed: a proxy on this machine may pass
    everything on to a service that is paid.

    Args:
        name: As typed, `provider:model?base_url=http://127.0.0.1:8000/v1`.

    Example:
        >>> own_server("openai:flux?base_url=http://127.0.0.1:8000/v1"), own_server("openai?base_url=https://a.example/v1")
        ('127.0.0.1', None)
    """
    _, _, query = name.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if "billed" in options:
        return None
    address = options.get("base_url") or (os.environ.get("OPENAI_BASE_URL", "") if name.startswith("openai") else "")
    try:
        host = urlsplit(address).hostname or ""
        ours = host == "localhost" or host.endswith((".localhost", ".local")) or ipaddress.ip_address(host).is_private
    except ValueError:
        return None
    return host if ours else None


def hint_of(*roles: tuple[str | tuple[str, ...] | None, Billed | ImageBackend | None]) -> str:
    """As `free_perhaps`, of roles that count as billed.

    Args:
        roles: What was typed for each, and what was made of it.
    """
    names: list[str] = []
    for typed, part in roles:
        billed = part is not None and (part.capabilities if isinstance(part, ImageBackend) else part).billed
        if typed is not None and billed:
            names += (typed,) if isinstance(typed, str) else typed
    return free_perhaps(names)


def free_perhaps(names: Iterable[str | None]) -> str:
    """What to say where a cost is unknown: of servers that may cost nothing, how that is told. Else nothing.

    Example:
        >>> print(free_perhaps(["openai:flux?base_url=http://127.0.0.1:8000/v1", "scene", None]))
        127.0.0.1 may be a proxy to a paid service; if it costs nothing, add "&billed=false" to openai:flux?….
        >>> free_perhaps(["openai"])
        ''
    """
    found = [(name, host) for name in names if name and (host := own_server(name))]
    if not found:
        return ""
    brief = [f"{name.partition('?')[0]}?…" if "?" in name else name for name, _ in found]
    mark = "&" if all("?" in name for name, _ in found) else "?"
    return (
        f"{', '.join(dict.fromkeys(host for _, host in found))} may be a proxy to a paid service; if it costs nothing, "
        f'add "{mark}billed=false" to {" and ".join(dict.fromkeys(brief))}.'
    )
