"""Clients of the OpenAI SDK, one for each event loop: connections do not outlive theirs."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from langgraph_interleave.backends.openai_options import KEY
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.secrecy import secrets_in, secrets_of_headers

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class Clients:
    """The clients of one backend. None of them sends anything twice.

    Args:
        given: A client of the caller's own; its retries are switched off in a copy.
        key: The key; unused with `given`.
        base_url: The address; unused with `given`.

    Raises:
        ConfigError: `given` cannot be awaited.
    """

    def __init__(self, given: AsyncOpenAI | None, *, key: str, base_url: str) -> None:
        if given is not None and not inspect.iscoroutinefunction(getattr(given, "post", None)):
            raise ConfigError(f"A {type(given).__name__} cannot be awaited.", remedy="Give an openai.AsyncOpenAI.")
        self._given = given
        self._key = key
        self._base_url = base_url
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = WeakKeyDictionary()
        self._making = threading.Lock()

    async def of_this_loop(self) -> AsyncOpenAI:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        # Importing the SDK and reading certificates takes a second the first time; others go on meanwhile.
        return self._made.get(loop) or await asyncio.to_thread(self._make, loop)

    async def aclose(self) -> None:
        """Close the connections of the running loop. A client of the caller's own stays open."""
        client = self._made.pop(asyncio.get_running_loop(), None)
        if client is not None and self._given is None:
            await client.close()

    def _make(self, loop: asyncio.AbstractEventLoop) -> AsyncOpenAI:
        with self._making:
            if loop not in self._made:
                if self._given is not None:
                    self._made[loop] = self._given.with_options(max_retries=0)
                else:
                    from openai import AsyncOpenAI

                    self._made[loop] = AsyncOpenAI(api_key=self._key, base_url=self._base_url, max_retries=0)
            return self._made[loop]


def secrets_of(client: AsyncOpenAI | None) -> frozenset[str]:
    """What a client of the caller's own sends that nobody may read: its key, headers and query."""
    if client is None:
        return frozenset()
    told = {str(name): str(value) for name, value in client.default_headers.items()}
    return secrets_in(client.api_key, dict(client.default_query), str(client.base_url)) | secrets_of_headers(told)


def authorization(client: AsyncOpenAI) -> dict[str, str]:
    """What the server's own origin is shown when a picture is fetched from it."""
    key = client.api_key
    return {"authorization": f"Bearer {key}"} if key else {}


def found_key(api_key: str | None, *, what: str, needed: bool) -> str:
    """The key: as given, else of the environment.

    Args:
        api_key: As given.
        what: Whose it is, for messages.
        needed: The server takes nobody without one.

    Raises:
        ConfigError: There is none, or it cannot be sent.
    """
    key = (api_key if api_key is not None else os.environ.get(KEY, "")).strip()
    if not key and needed:
        raise ConfigError(f"{what} needs a key, and {KEY} is not set.", remedy=f"Set {KEY}, or pass api_key.")
    if not key.isascii() or not key.isprintable():
        raise ConfigError(f"{KEY} holds characters no key has.", remedy="Copy it again, without quotes.")
    # Servers of one's own ask for none; the SDK does.
    return key or "none"
