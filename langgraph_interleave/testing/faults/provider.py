"""The exceptions of a real SDK: those `openai` raises, made with its own classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph_interleave.testing.faults.pictures import SECRET, picture_bytes

#: Where the requests would have gone; no such host can be.
_URL = "https://faulty.invalid/v1/images"


def _answer(status: int, body: Mapping[str, Any] | str, headers: Mapping[str, str] | None = None) -> Any:
    import httpx2

    request = httpx2.Request("POST", _URL)
    if isinstance(body, str):
        return httpx2.Response(status, text=body, headers={"content-type": "text/html"}, request=request)
    return httpx2.Response(status, json={"error": dict(body)}, headers=dict(headers or {}), request=request)


def _refusal(cls: Any, status: int, words: str, code: str, headers: Mapping[str, str] | None = None) -> Exception:
    body = {"message": words, "type": code, "code": code}
    error: Exception = cls(words, response=_answer(status, body, headers), body=body)
    return error


def exception_of(name: str, *, retry_after_s: float) -> Exception:
    """What the SDK, or the transport under it, raises for a fault of this name.

    Args:
        name: The fault.
        retry_after_s: Seconds that a provider who names a time says to wait.

    Example:
        >>> exception_of("retry_after", retry_after_s=2).response.headers["retry-after"]
        '2'
    """
    import httpx2
    import openai

    wait = {"retry-after": f"{retry_after_s:g}"}
    request = httpx2.Request("POST", _URL)
    match name:
        case "rate_limited" | "retry_after":
            headers = wait if name == "retry_after" else None
            return _refusal(openai.RateLimitError, 429, "Rate limit reached.", "rate_limit_exceeded", headers)
        case "overloaded":
            return _refusal(openai.InternalServerError, 503, "Overloaded.", "server_is_overloaded", wait)
        case "no_credit":
            return _refusal(openai.RateLimitError, 429, "You exceeded your quota.", "insufficient_quota")
        case "blocked" | "blocked_after":
            return _refusal(openai.BadRequestError, 400, "Rejected by the safety system.", "moderation_blocked")
        case "server_error" | "server_error_after":
            return _refusal(openai.InternalServerError, 500, "The server had an error.", "server_error")
        case "timeout_before" | "timeout_after":
            return openai.APITimeoutError(request)
        case "refused_connection":
            error = openai.APIConnectionError(request=request)
            error.__cause__ = httpx2.ConnectError("Connection refused", request=request)
            return error
        case "html":
            page = "<!doctype html><html><body>Welcome</body></html>"
            return openai.APIResponseValidationError(_answer(200, page), body=page)
        case "cut_stream":
            return httpx2.RemoteProtocolError("peer closed connection without sending complete message body")
        case "secret":
            return _Careless(f"Authorization: Bearer {SECRET} was sent with {picture_bytes()!r}")
        case "foreign":
            return ZeroDivisionError("division by zero")
        case _:
            raise ValueError(f"{name!r} is no exception of a provider's")


class _Careless(Exception):
    """An exception of somebody who puts everything into its words."""
