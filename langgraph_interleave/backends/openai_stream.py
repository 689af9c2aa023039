"""An answer in pieces: previews as they come, then the picture. A stream is never taken for silence."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from langgraph_interleave.errors import BadResponse
from langgraph_interleave.imaging.results import decode_result
from langgraph_interleave.types import OnProgress, Progress


class EventStream(Protocol):
    """What the SDK returns where an answer in pieces was asked for."""

    @property
    def response(self) -> Any:
        """The answer under it."""
        ...

    def __aiter__(self) -> AsyncIterator[Any]: ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...


def is_stream(stream: EventStream) -> bool:
    """Whether the answer is one in pieces, as was asked for."""
    return "event-stream" in str(stream.response.headers.get("content-type", "")).lower()


async def read_stream(
    stream: EventStream, *, what: str, partial_images: int, on_progress: OnProgress
) -> Mapping[str, Any] | str:
    """Read an answer in pieces to its end, and tell of each preview.

    Args:
        stream: From the SDK, with `stream=True`.
        what: Who was called, for messages.
        partial_images: Previews asked for.
        on_progress: Told of each preview, and of the end.

    Returns:
        The answer as it would have come in one piece. A server that knows of no pieces answers in one:
        that is returned as it is.

    Raises:
        BadResponse: It ended without a picture.
    """
    try:
        total = partial_images + 1
        if not is_stream(stream):
            whole = _whole(await stream.response.aread())
            on_progress(Progress(step=total, total=total))
            return whole
        async for event in stream:
            kind, text = str(getattr(event, "type", "") or ""), getattr(event, "b64_json", None)
            address, data = getattr(event, "url", None), getattr(event, "data", None)
            if kind.endswith(".partial_image"):
                if isinstance(text, str) and text:
                    on_progress(await _preview(event, text, total, what))
                continue
            # Servers of other makes leave the kind out, name the picture's address, or send their whole answer.
            items = [{"b64_json": text, "url": address}] if text or address else data
            if (kind.endswith(".completed") or not kind) and isinstance(items, list) and items:
                on_progress(Progress(step=total, total=total))
                return {"data": items, "usage": getattr(event, "usage", None)}
    finally:
        await stream.close()
    raise BadResponse(
        f"The answer of {what} ended without a picture.",
        remedy="Draw the step again; if it stays so, leave partial_images out.",
        code="cut",
    )


async def _preview(event: object, text: str, total: int, what: str) -> Progress:
    index = getattr(event, "partial_image_index", None)
    step = min(index + 1, total) if isinstance(index, int) and index >= 0 else 1
    try:
        image = await decode_result(text, what=what)
    except BadResponse:
        # A preview is worth no error: the picture is still to come.
        image = None
    return Progress(step=step, total=total, preview=image)


def _whole(body: bytes) -> Mapping[str, Any] | str:
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, dict) else text
