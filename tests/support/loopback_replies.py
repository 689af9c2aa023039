"""What the loopback server can answer: pictures, chat answers, every kind of failure. Tokens are made up, by rule."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PIL import Image


@dataclass(frozen=True, slots=True)
class Pictures:
    """A 200 with pictures.

    Attributes:
        images: The encoded pictures; default: one per image asked for, drawn from the prompt.
        n: How many are drawn; default: as asked.
        size: Drawn in this size in place of the one asked for.
        usage: Whether usage is told.
        cached_tokens: Of the input.
        revised_prompt: Told with each picture.
        data_url: The base64 comes as a data URL.
        urls: Addresses that are told in place of the pictures.
        delay_s: Before the answer.
    """

    images: Sequence[bytes] | None = None
    n: int | None = None
    size: tuple[int, int] | None = None
    usage: bool = True
    cached_tokens: int = 0
    revised_prompt: str | None = None
    data_url: bool = False
    urls: Sequence[str] = ()
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ImageStream:
    """A 200 with pictures in pieces, as `stream` asks for.

    Attributes:
        partials: Previews sent; default: as asked for.
        image: The picture at the end; default: drawn from the prompt.
        end: `completed`, or what comes in its place: `cut` (the connection goes), `closed` (nothing more
            is sent), or an error object.
        broken_previews: The previews are no pictures.
        content_type: Of the answer.
    """

    partials: int | None = None
    image: bytes | None = None
    end: str | Mapping[str, Any] = "completed"
    broken_previews: bool = False
    content_type: str = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool; `arguments` is JSON text, sent as it is (broken, if need be)."""

    name: str
    arguments: str
    id: str = "call_1"


@dataclass(frozen=True, slots=True)
class Chat:
    """A 200 with a chat answer, streamed or not as asked.

    Attributes:
        text: The content; `None` with tool calls alone.
        tool_calls: Calls made.
        finish_reason: Default `stop`, or `tool_calls`.
        refusal: The words of a refusal.
        reasoning: Sent as `reasoning_content`, as vLLM and DeepSeek do.
        cached_tokens: Of the input.
        input_tokens: Default: by rule.
        output_tokens: Default: by rule.
        usage: Whether usage is told.
        chunk: Characters of a streamed piece; default: the server's.
        chunk_delay_s: Before each piece; default: the server's.
        delay_s: Before the answer begins.
        cut_after: The connection is cut after so many pieces (not streamed: in the middle).
        error_after: After so many pieces an error event is sent, and no more.
        error: That event.
    """

    text: str | None = ""
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    cached_tokens: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    usage: bool = True
    chunk: int | None = None
    chunk_delay_s: float | None = None
    delay_s: float = 0.0
    cut_after: int | None = None
    error_after: int | None = None
    error: Mapping[str, Any] = field(
        default_factory=lambda: {"message": "The server had an error.", "type": "server_error"}
    )


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is no success: status, error object (or raw text), headers."""

    status: int
    error: Mapping[str, Any] | str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Raw:
    """A body as it is."""

    body: bytes | str
    content_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the client goes."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset once the request has been read."""


Reply = Pictures | ImageStream | Chat | Failure | Raw | Hang | Reset


def rate_limited(retry_after: str | None = None, *, headers: Mapping[str, str] | None = None) -> Failure:
    """429; `retry_after` in seconds or as a date."""
    fields = dict(headers or {})
    if retry_after is not None:
        fields["retry-after"] = retry_after
    error = {"message": "Rate limit reached for requests.", "type": "requests", "code": "rate_limit_exceeded"}
    return Failure(429, error, fields)


def insufficient_quota() -> Failure:
    """429 that will never pass by waiting."""
    words = "You exceeded your current quota, please check your plan and billing details."
    return Failure(429, {"message": words, "type": "insufficient_quota", "code": "insufficient_quota"})


def billing_hard_limit() -> Failure:
    """400 of an account at its limit."""
    words = "Billing hard limit has been reached."
    return Failure(400, {"message": words, "type": "billing_limit_user_error", "code": "billing_hard_limit_reached"})


def moderation_blocked(categories: Sequence[str] = ("violence",), stage: str = "input") -> Failure:
    """400 of the moderation."""
    return Failure(
        400,
        {
            "message": "Your request was rejected by the safety system.",
            "type": "image_generation_user_error",
            "code": "moderation_blocked",
            "moderation_details": {"categories": list(categories), "moderation_stage": stage},
        },
    )


def content_policy_violation() -> Failure:
    """400 of the moderation, as older models put it."""
    return Failure(400, {"message": "Your request was rejected.", "code": "content_policy_violation"})


def server_error(status: int = 500, *, retry_after: str | None = None) -> Failure:
    """5xx."""
    error = {"message": "The server had an error while processing your request.", "type": "server_error"}
    return Failure(status, error, {} if retry_after is None else {"retry-after": retry_after})


def wrong_key(key: str = "sk-wrong") -> Failure:
    """401; as the real one does, it repeats some of the key."""
    words = f"Incorrect API key provided: {key[:7]}****{key[-4:]}."
    return Failure(401, {"message": words, "type": "invalid_request_error", "code": "invalid_api_key"})


def no_such_model(model: str) -> Failure:
    """404."""
    words = f"The model `{model}` does not exist or you do not have access to it."
    return Failure(404, {"message": words, "type": "invalid_request_error", "code": "model_not_found"})


def bad_request(message: str, *, param: str | None = None, code: str | None = None) -> Failure:
    """400."""
    return Failure(400, {"message": message, "type": "invalid_request_error", "param": param, "code": code})


def html() -> Raw:
    """200 with a web page, as captive portals and wrong addresses give."""
    return Raw("<!doctype html><html><body>Welcome</body></html>", "text/html")


def error_in_200(message: str = "Upstream failed.", code: str | int | None = None) -> Raw:
    """200 that holds an error, as gateways give."""
    import json

    return Raw(json.dumps({"error": {"message": message, "code": code}}))


def no_data(data: str = "[]") -> Raw:
    """200 without a picture; `data` is `[]` or `null`."""
    return Raw(f'{{"created": 1, "data": {data}}}')


def picture_of(prompt: str, width: int, height: int, *, index: int = 0) -> bytes:
    """The PNG the server draws: sixteen blocks of colour that another prompt does not have."""
    digest = hashlib.sha256(f"{index}/{prompt}".encode()).digest() * 2
    blocks = Image.frombytes("RGB", (4, 4), digest[:48])
    buffer = io.BytesIO()
    blocks.resize((width, height), Image.Resampling.NEAREST).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def tokens_of(text: str) -> int:
    """Four characters are a token."""
    return (len(text) + 3) // 4
