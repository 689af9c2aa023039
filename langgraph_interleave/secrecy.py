"""Secrets by their values: what a holder, a request or the environment keeps, and text without any of it.

A provider may repeat what it was sent, so no pattern of what keys look like is enough: what was sent is known.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from pydantic import SecretBytes, SecretStr

#: What stands in place of a secret.
HIDDEN = "***"

_NAME = re.compile(
    r"(?i)(?:api|access|private|signing|gateway|service|shared|account|subscription|master)[_-]?key(?:[_-]?id)?"
    r"|(?:^|[_-])(?:key|sig|sas|dsn|auth|pwd)(?:$|[_-])|apikey|authorization|bearer|token|secret|passw|credential|cookie"
    r"|signature"
)
#: Names of this form that count, or measure, and hold no secret.
_NO_SECRET = re.compile(r"(?i)max_|_tokens$|^tokens|tokenizer|_?token_(?:count|limit|ids?)$|_file$|_path$|_dir$|_sock$")
#: Headers every client sends, with nothing in them but what it is and what it takes.
_PLAIN_HEADER = re.compile(
    r"(?i)accept(?:-.*)?|connection|content-.*|date|host|user-agent|transfer-encoding|x-stainless-.*|sec-websocket-.*"
    r"|anthropic-(?:version|beta)|x-goog-api-client|upgrade|cache-control|pragma|traceparent|openai-beta"
)
_SHORTEST, _SHORTEST_UNNAMED = 4, 12
#: Bytes of one that are looked for in base64.
_SHORTEST_WHOLE = 6
_DEEPEST = 6


def is_secret_name(name: str) -> bool:
    """Whether what goes by this name is a secret.

    Example:
        >>> [is_secret_name(name) for name in ("api_key", "X-Auth-Token", "OPENAI_API_KEY", "max_tokens", "model")]
        [True, True, True, False, False]
    """
    return _NAME.search(name) is not None and _NO_SECRET.search(name) is None


def secrets_in(*holders: object) -> frozenset[str]:
    """The secrets in objects: what is typed as one, what is named as one, and what an address carries.

    Args:
        holders: A model or client (its fields), a mapping of options, an address, `SecretStr`. A string that is no
            address is a secret itself.

    Example:
        >>> sorted(secrets_in({"model": "m", "extra": {"token": "abcd1234"}}, "https://me:hunter22@host/v1?sig=zzzz9999"))
        ['abcd1234', 'hunter22', 'zzzz9999']
    """
    found: set[str] = set()
    for holder in holders:
        if isinstance(holder, str) and "://" not in holder:
            found.update(_spelled(holder))
        else:
            found.update(_held(holder, "", 0))
    return _long_enough(found)


def secrets_of_headers(headers: Mapping[str, str]) -> frozenset[str]:
    """The secrets in headers: whatever is in one that not every client sends."""
    found: set[str] = set()
    for name, value in headers.items():
        if _PLAIN_HEADER.fullmatch(name):
            continue
        if is_secret_name(name):
            found.update(_spelled(value))
        elif len(value) >= _SHORTEST_UNNAMED and " " not in value:
            found.add(value)
    return _long_enough(found)


def secrets_of_environment() -> frozenset[str]:
    """The secrets in environment variables: those named as one, and the passwords in addresses."""
    found: set[str] = set()
    for name, value in os.environ.items():
        if "://" in value:
            found.update(_of_address(value))
        elif len(value) >= 2 * _SHORTEST and is_secret_name(name):
            found.add(value.strip())
    return _long_enough(found)


def without(text: str, secrets: Iterable[str]) -> str:
    """A text without these secrets, however they are written: plainly, in base64, for an address or in JSON.

    Example:
        >>> without("Bearer pa ss1 is wrong; you sent pa%20ss1", ["pa ss1"])
        'Bearer *** is wrong; you sent ***'
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        # The longest first: with a backslash at its end a secret is a part of its own spelling in JSON.
        for written in sorted({secret, *_written(secret)}, key=len, reverse=True):
            if written in text:
                text = text.replace(written, HIDDEN)
    return text


def public(text: str) -> str:
    """A text without the secrets of the environment: the net under every message that is kept or shown."""
    return without(text, secrets_of_environment())


def _written(secret: str) -> Iterator[str]:
    data = secret.encode("utf-8", "surrogatepass")
    yield quote(secret, safe="", errors="replace")
    yield quote(secret, errors="replace")
    yield quote_plus(secret, errors="replace")
    yield json.dumps(secret)[1:-1]
    yield repr(secret)[1:-1]
    # In base64 it begins at any of three places in a group; the groups that are all its own are looked for.
    for start in range(3):
        whole = data[start : start + (len(data) - start) // 3 * 3]
        if len(whole) >= _SHORTEST_WHOLE:
            core = base64.b64encode(whole).decode()
            yield core
            yield core.replace("+", "-").replace("/", "_")


def _held(value: object, name: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST or value is None:
        return
    if isinstance(value, SecretStr | SecretBytes):
        plain = value.get_secret_value()
        yield from _spelled(plain if isinstance(plain, str) else plain.decode("utf-8", "replace"))
    elif isinstance(value, str):
        if "://" in value:
            yield from _of_address(value)
        elif name and is_secret_name(name):
            yield from _spelled(value)
    elif isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value)
        if "headers" in name.lower():
            yield from secrets_of_headers({str(key): text for key, text in pairs.items() if isinstance(text, str)})
        for key, inner in pairs.items():
            # Below a name that says secret, all of it is.
            yield from _held(inner, str(key) if not is_secret_name(name) else name, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in cast("Iterable[object]", value):
            yield from _held(inner, name, depth + 1)
    elif isinstance(fields := getattr(type(value), "model_fields", None), Mapping):
        yield from _held({key: getattr(value, key, None) for key in fields}, "", depth + 1)


def _of_address(address: str) -> Iterator[str]:
    try:
        parts = urlsplit(address)
        user, password, query = parts.username, parts.password, parse_qsl(parts.query)
    except ValueError:
        return
    if secret := password or user:
        yield secret
        yield unquote(secret)
    for name, value in query:
        if is_secret_name(name) or len(value) >= 2 * _SHORTEST_UNNAMED:
            yield value


def _spelled(value: str) -> Iterator[str]:
    """A secret as it is, and its parts: `Bearer …`, `Basic …`, cookies."""
    value = value.strip()
    yield value
    scheme, _, rest = value.partition(" ")
    if rest and scheme.isalpha():
        yield rest.strip()
        if scheme.lower() == "basic":
            try:
                user, _, password = base64.b64decode(rest.strip(), validate=True).decode().partition(":")
            except (binascii.Error, UnicodeDecodeError):
                return
            yield password or user
    if ";" in value or "=" in value.rstrip("="):
        for crumb in value.split(";"):
            yield crumb.partition("=")[2].strip()


def _long_enough(found: Iterable[str]) -> frozenset[str]:
    return frozenset(one for one in found if len(one) >= _SHORTEST and one not in (HIDDEN, "none", "None", "null"))


def secrets_sent(request: Any) -> frozenset[str]:
    """The secrets in a request of an HTTP library, as an exception of it carries it: in headers and address."""
    headers, address = getattr(request, "headers", None), getattr(request, "url", None)
    found: frozenset[str] = frozenset()
    if isinstance(headers, Mapping):
        found |= secrets_of_headers({str(name): str(value) for name, value in headers.items()})
    if address is not None:
        found |= _long_enough(_of_address(str(address)))
    return found
