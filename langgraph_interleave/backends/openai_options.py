"""Options of the backend `openai`: read from a name, checked, and what of an address may be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from langgraph_interleave.errors import ConfigError

KEY = "OPENAI_API_KEY"
#: Options that a name may carry: `model?quality=low`.
_IN_NAME: Mapping[str, type] = {
    "background": str, "base_url": str, "billed": bool, "concurrency": int, "input_fidelity": str,
    "max_references": int, "moderation": str, "output_compression": int, "output_format": str, "quality": str,
    "response_format": str,
}  # fmt: skip
_TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def read_name(text: str) -> tuple[str, dict[str, Any]]:
    """A model, and the options after its question mark.

    Raises:
        ConfigError: An option is unknown or cannot be read.

    Example:
        >>> read_name("flux?quality=low&billed=no")
        ('flux', {'quality': 'low', 'billed': False})
    """
    model, _, query = text.strip().partition("?")
    found: dict[str, Any] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name == "api_key":
            raise ConfigError("A key does not belong into a backend's name.", remedy=f"Set {KEY}.")
        if name not in _IN_NAME:
            raise ConfigError(
                f"backend 'openai' has no option {name!r}.", remedy=f"Options: {', '.join(sorted(_IN_NAME))}."
            )
        found[name] = _read_option(name, value, _IN_NAME[name])
    return model, found


def given(**options: Any) -> dict[str, Any]:
    """Those options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def one_of(name: str, value: str | None, known: tuple[str, ...]) -> str | None:
    """The value, if it is a known one."""
    if value is not None and value not in known:
        raise ConfigError(f"{name}={value!r} of backend 'openai' is unknown.", remedy=f"Use {', '.join(known)}.")
    return value


def within(name: str, value: int | None, low: int, high: int) -> int | None:
    """The value, if it is in range."""
    if value is not None and not low <= value <= high:
        raise ConfigError(f"{name}={value!r} of backend 'openai' is out of range.", remedy=f"Give {low} to {high}.")
    return value


def _read_option(name: str, text: str, kind: type) -> Any:
    if kind is bool and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    if kind is int and text.isdecimal():
        return int(text)
    if kind is str and text:
        return text
    wanted = {bool: "yes or no", int: "a whole number", str: "a value"}[kind]
    raise ConfigError(f"{name}={text!r} of backend 'openai' cannot be read.", remedy=f"Give {wanted}.")


def checked_address(text: str) -> str:
    """The address, if it is one."""
    try:
        parts = urlsplit(text.strip())
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ConfigError(
            "base_url of backend 'openai' is no address.", remedy="Give http://host:port/v1 or https://…."
        )
    return text.strip()


def host_of(address: str) -> str:
    """Host and port; a user and password in an address stay out of what is shown and stored."""
    parts = urlsplit(address)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
