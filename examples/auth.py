"""Users of a LangGraph server, kept apart: each has their own threads and runs, and links to their own pictures.

    INTERLEAVE_USERS="alice=<token> bob=<token>" langgraph dev --config langgraph.auth.json

A user sends `Authorization: Bearer <token>`, or the token in a cookie `token`, which browsers send for `<img>`
as well. Put the check of your own identity provider in the place of `user_of`; the rest can stay.

- Threads, and the runs on them, belong to whoever made them; others do not find them.
- Everybody may use the assistants there are, nobody may make, change or remove one, nor a cron job.
- Everybody has a part of the store of their own.
- Links to pictures (`INTERLEAVE_BIND_LINKS`, set in langgraph.auth.json) are good for the user whose run
  made them, and for nobody they are passed on to.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from http.cookies import CookieError, SimpleCookie
from typing import Any

from langgraph_sdk import Auth

auth = Auth()


def users() -> dict[str, str]:
    """Names and tokens, from `INTERLEAVE_USERS`: `name=token`, with spaces between."""
    pairs = (entry.partition("=") for entry in os.environ.get("INTERLEAVE_USERS", "").split())
    return {name: token for name, _, token in pairs if name and token}


def user_of(token: str) -> str | None:
    """The user a token belongs to."""
    given = hashlib.sha256(token.encode()).digest()
    # All are compared, so that the time it takes says nothing about any of them.
    found = [name for name, own in users().items() if hmac.compare_digest(hashlib.sha256(own.encode()).digest(), given)]
    return found[0] if found else None


def token_in(headers: dict[bytes, bytes]) -> str:
    """The token of a request: from its `Authorization`, else from its cookie `token`."""
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    try:
        cookie = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get("token")
    except CookieError:
        return ""
    return cookie.value if cookie is not None else ""


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> Auth.types.MinimalUserDict:
    """Who is asking."""
    name = user_of(token_in(headers))
    if name is None:
        raise Auth.exceptions.HTTPException(status_code=401, detail="Send a token that is known here.")
    return {"identity": name}


@auth.on
async def refuse(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """What nobody said anything about is nobody's."""
    return False


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: Any) -> Auth.types.FilterType:
    """Threads, and runs on them, are marked with their owner, and found by their owner only."""
    if ctx.action in ("create", "create_run", "update"):
        # Changed in place: the server goes on with this very dict.
        value.setdefault("metadata", {})["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on.assistants
async def shared_assistants(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """The graphs that are served may be used as they are."""
    return ctx.action in ("read", "search")


@auth.on.store
async def own_store(ctx: Auth.types.AuthContext, value: Any) -> None:
    """Everybody's part of the store begins with their name."""
    namespace = tuple(value.get("namespace") or ())
    if namespace[:1] != (ctx.user.identity,):
        value["namespace"] = (ctx.user.identity, *namespace)
