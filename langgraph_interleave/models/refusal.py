"""What a provider said when it did not do as asked: status, code, words, time to wait, flagged categories."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from langgraph_interleave.secrecy import public

#: What an error inside an answer (a stream's error event, a 200 that holds an error) stands for.
_STATUS_OF_CODE = {
    "api_error": 500, "authentication_error": 401, "context_length_exceeded": 400, "internal_error": 500,
    "invalid_api_key": 401, "invalid_request_error": 400, "model_not_found": 404, "not_found_error": 404,
    "overloaded_error": 529, "permission_error": 403, "rate_limit_error": 429, "rate_limit_exceeded": 429,
    "request_too_large": 413, "server_error": 500, "server_is_overloaded": 503, "slow_down": 503,
}  # fmt: skip

_LONGEST_WORDS = 240
_SECRET = re.compile(
    r"(?i)\b(?:sk|pk|hf|ghp|xai|r8|gsk|key)[-_][A-Za-z0-9_*-]{4,}|\bAIza[\w-]{8,}|\bbearer\s+\S+"
    r"|(?<=://)[^/@\s]+@|(?<=[?&])[\w.-]+=[^&\s\"']+"
)
#: Encoded pictures and the like: too long a run for a word.
_BLOB = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/=_-]{80,}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a provider said: the status (that of the answer, or the one its code stands for) and its words."""

    status: int | None = None
    code: str | None = None
    kind: str | None = None
    words: str = ""
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    inside: bool = False

    @property
    def codes(self) -> frozenset[str]:
        """Everything that serves as a code, in small letters."""
        return frozenset(text.lower() for text in (self.code, self.kind) if text)


def refusal_of(
    body: Mapping[str, Any], *, status: int | None, headers: Mapping[str, str] | None = None, words: str = ""
) -> Refusal:
    """Read an error object; without a `status` of the answer, its code says which one it stands for."""
    code, kind = body.get("code"), body.get("type") or body.get("status")
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    inside = status is None
    if status is None and isinstance(code, int) and 400 <= code <= 599:
        status = code
    names = [str(name) for name in (code, kind) if isinstance(name, str) and name]
    if status is None:
        status = next((_STATUS_OF_CODE[name.lower()] for name in names if name.lower() in _STATUS_OF_CODE), None)
    return Refusal(
        status=status,
        code=code if isinstance(code, str) else kind if isinstance(kind, str) else None,
        kind=kind if isinstance(kind, str) else None,
        words=brief(str(body.get("message") or words)),
        body=body,
        headers=headers or {},
        inside=inside,
    )


def wait_of(answer: Refusal) -> float | None:
    """Seconds the provider asks to wait, by its headers or by its words."""
    seconds = retry_after_of(answer.headers)
    details = answer.body.get("details")
    if seconds is None and isinstance(details, list):  # Google's RetryInfo
        for item in details:
            match = (
                re.fullmatch(r"(\d+(?:\.\d+)?)s", str(item.get("retryDelay"))) if isinstance(item, Mapping) else None
            )
            if match:
                return float(match[1])
    return seconds


def moderation_of(answer: Refusal) -> tuple[list[str], str | None]:
    """The categories that were flagged, and whether it was the request or what was drawn."""
    told = answer.body.get("moderation_details")
    if isinstance(told, Mapping):
        categories, stage = told.get("categories"), told.get("moderation_stage") or told.get("stage")
    else:
        inner = answer.body.get("innererror")
        categories, stage = inner.get("content_filter_result") if isinstance(inner, Mapping) else None, None
    if isinstance(categories, Mapping):
        names = [
            str(name)
            for name, flag in categories.items()
            if (flag.get("filtered") if isinstance(flag, Mapping) else flag)
        ]
    elif isinstance(categories, list):
        names = [str(name) for name in categories]
    else:
        match = re.search(r"safety_violations=\[([^\]]*)\]", answer.words)
        names = [name.strip() for name in match[1].split(",") if name.strip()] if match else []
    return names, str(stage) if stage else None


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds a provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.

    Example:
        >>> retry_after_of({"retry-after-ms": "1500"}), retry_after_of({"retry-after": "soon"})
        (1.5, None)
    """
    fields = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(fields[name]) * unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    until = _date(fields.get("retry-after"))
    if until is None:
        return None
    # By the provider's own clock, where it tells the time.
    now = _date(fields.get("date")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (TypeError, ValueError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def brief(text: str) -> str:
    """A provider's words, in one line, short, without keys, query strings and encoded pictures."""
    if text.lstrip().startswith("<"):
        return "an HTML page"
    text = _BLOB.sub("…", _SECRET.sub("***", public(" ".join(text.split()))))
    return text if len(text) <= _LONGEST_WORDS else text[: _LONGEST_WORDS - 1] + "…"
