"""A small web app that answers links to pictures, for `http.app` in langgraph.json or any ASGI server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.serving.links import Links

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}

#: Of every answer. What is served can be shown in pages of anybody, and can run nothing anywhere.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
}


def create_app(artifacts: ArtifactStore, links: Links) -> Starlette:
    """Make the app: `GET` and `HEAD` of `/artifacts/<digest>?exp=…&sig=…`, and nothing else.

    Only PNG, JPEG and WebP pictures are served, under the type their bytes measure as. Plans, records,
    documents and whatever else is in the store are not, nor is there a list. What has no good signature,
    is not there, or is no picture is the same 404; a link that was good and has ended is a 410.

    Args:
        artifacts: The store.
        links: What the links are made with.

    Returns:
        A Starlette app. Its routes need no login: the signature is the permission. Where the server knows
        its users (`"enable_custom_route_auth"`), links made for one are answered to that one only.

    Example:
        >>> links = Links("0123456789abcdef")
        >>> [route.path for route in create_app(ArtifactStore.memory(), links).routes]
        ['/artifacts/{digest}']
    """
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route

    def refused(status: int, words: str) -> Response:
        return PlainTextResponse(words, status, headers=_HEADERS | {"Cache-Control": "no-store"})

    async def picture(request: Request) -> Response:
        digest = request.path_params["digest"]
        expires, signature = request.query_params.get("exp", ""), request.query_params.get("sig", "")
        verdict = links.check(digest, expires, signature, subjects=_subjects(request))
        if verdict == "expired":
            return refused(410, "This link has expired. Open the picture from where you got the link again.")
        data = await _read(artifacts, digest) if verdict == "good" else None
        mime = await asyncio.to_thread(_type_of, data) if data is not None else None
        if data is None or mime is None:
            return refused(404, "There is nothing here.")
        headers = _HEADERS | {
            "ETag": f'"{digest}"',
            "Cache-Control": f"private, max-age={links.left(expires)}, immutable",
            "Content-Disposition": f'inline; filename="{digest[:12]}.{_ENDINGS[mime]}"',
        }
        if _holds(request.headers.get("if-none-match", ""), digest):
            return Response(status_code=304, headers=headers)
        return Response(data, media_type=mime, headers=headers)

    return Starlette(routes=[Route("/artifacts/{digest}", picture, methods=["GET"], name="artifact")])


async def _read(artifacts: ArtifactStore, digest: str) -> bytes | None:
    try:
        return await artifacts.aget(digest)
    except (ArtifactMissing, ConfigError):
        return None


def _type_of(data: bytes) -> str | None:
    from langgraph_interleave.imaging import measure_image

    measured = measure_image(data)
    return measured[0] if measured is not None and measured[0] in _ENDINGS else None


def _subjects(request: Request) -> tuple[str | None, ...]:
    """Whose links may be used: those for nobody in particular, and those for whoever is logged in."""
    user = request.scope.get("user")
    identity = user.identity if user is not None and user.is_authenticated else None
    return (None, identity) if identity else (None,)


def _holds(header: str, digest: str) -> bool:
    return any(each.strip().removeprefix("W/") in (f'"{digest}"', "*") for each in header.split(","))
