"""The answers of the loopback server in the API's own form, and the count of what they used."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from loopback_bodies import File, size_of
from loopback_replies import Chat, ImageStream, Pictures, picture_of, tokens_of


@dataclass(slots=True)
class Recorded:
    """One request as it came. `abandoned` is set when the client went before it was answered."""

    route: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    files: tuple[File, ...] = ()
    abandoned: threading.Event = field(default_factory=threading.Event)
    query: str = ""


@dataclass(slots=True)
class Count:
    """What one route has done. `answered` are whole answers with status 200."""

    requests: int = 0
    answered: int = 0
    images: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


def pictures_of(reply: Pictures, recorded: Recorded, count: Count) -> dict[str, Any]:
    """An answer with pictures."""
    body = recorded.body
    width, height = reply.size or size_of(str(body.get("size")), default=(1024, 1024))
    asked = reply.n if reply.n is not None else int(body.get("n") or 1)
    images = reply.images
    if images is None:
        images = [picture_of(body["prompt"], width, height, index=index) for index in range(asked)]
    prefix = "data:image/png;base64," if reply.data_url else ""
    data = [
        {"b64_json": prefix + base64.b64encode(image).decode(), "revised_prompt": reply.revised_prompt}
        for image in images
    ]
    if reply.urls:
        data = [{"url": address} for address in reply.urls]
    count.images += len(images)
    count.answered += 1
    payload: dict[str, Any] = {"created": 1, "data": data, "size": f"{width}x{height}", "output_format": "png"}
    if reply.usage:
        text, pictures, out = tokens_of(body["prompt"]), 100 * len(recorded.files), len(images) * width * height // 1024
        details: dict[str, Any] = {"text_tokens": text, "image_tokens": pictures}
        if reply.cached_tokens:
            details["cached_tokens"] = reply.cached_tokens
        payload["usage"] = {
            "input_tokens": text + pictures, "output_tokens": out, "total_tokens": text + pictures + out,
            "input_tokens_details": details, "output_tokens_details": {"text_tokens": 0, "image_tokens": out},
        }  # fmt: skip
        count.input_tokens += text + pictures
        count.output_tokens += out
        count.cached_tokens += reply.cached_tokens
    return payload


def image_events_of(reply: ImageStream, recorded: Recorded, count: Count) -> Iterator[str]:
    """The pieces of a picture, each as one event with its name."""
    body, kind = recorded.body, "image_edit" if recorded.route == "edits" else "image_generation"
    width, height = size_of(str(body.get("size")), default=(1024, 1024))
    base = {
        "created_at": 1,
        "size": f"{width}x{height}",
        "quality": "low",
        "background": "auto",
        "output_format": "png",
    }

    def event(name: str, data: Mapping[str, Any]) -> str:
        return f"event: {name}\ndata: {json.dumps({'type': name, **base, **data})}\n\n"

    partials = int(body.get("partial_images") or 0) if reply.partials is None else reply.partials
    for index in range(partials):
        preview = b"broken" if reply.broken_previews else picture_of(body["prompt"], width, height, index=100 + index)
        told = {"b64_json": base64.b64encode(preview).decode(), "partial_image_index": index}
        yield event(f"{kind}.partial_image", told)
    if isinstance(reply.end, Mapping):
        yield f"event: error\ndata: {json.dumps({'type': 'error', 'error': dict(reply.end)})}\n\n"
    elif reply.end == "completed":
        image = reply.image or picture_of(body["prompt"], width, height)
        text, pictures, out = tokens_of(body["prompt"]), 100 * len(recorded.files), width * height // 1024
        count.images += 1
        count.answered += 1
        count.input_tokens += text + pictures
        count.output_tokens += out
        usage = {
            "input_tokens": text + pictures, "output_tokens": out, "total_tokens": text + pictures + out,
            "input_tokens_details": {"text_tokens": text, "image_tokens": pictures},
        }  # fmt: skip
        yield event(f"{kind}.completed", {"b64_json": base64.b64encode(image).decode(), "usage": usage})


def _tokens(reply: Chat, recorded: Recorded) -> tuple[int, int]:
    """Made up: four characters of text are a token, an image is 85."""
    given = 0
    for message in recorded.body["messages"]:
        content = message.get("content") or ""
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            given += tokens_of(part["text"]) if part["type"] == "text" else 85
    made = tokens_of((reply.text or "") + (reply.reasoning or "") + (reply.refusal or ""))
    made += sum(tokens_of(call.name + call.arguments) for call in reply.tool_calls)
    return (
        given if reply.input_tokens is None else reply.input_tokens,
        made if reply.output_tokens is None else reply.output_tokens,
    )


def _usage(reply: Chat, recorded: Recorded) -> dict[str, Any]:
    given, made = _tokens(reply, recorded)
    return {
        "prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": tokens_of(reply.reasoning or "")},
    }  # fmt: skip


def count_chat(reply: Chat, recorded: Recorded, count: Count) -> None:
    """Count a chat answer that was sent whole."""
    given, made = _tokens(reply, recorded)
    count.answered += 1
    count.input_tokens += given
    count.output_tokens += made
    count.cached_tokens += reply.cached_tokens


def _finish(reply: Chat) -> str:
    return reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")


def chat_of(reply: Chat, recorded: Recorded) -> dict[str, Any]:
    """A whole answer, as the API sends it."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.tool_calls
        ]
    payload: dict[str, Any] = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": recorded.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}],
    }  # fmt: skip
    if reply.usage:
        payload["usage"] = _usage(reply, recorded)
    return payload


def events_of(reply: Chat, recorded: Recorded, size: int) -> Iterator[str]:
    """The pieces of a streamed answer, as the API sends them."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": recorded.body["model"]}

    def piece(delta: Mapping[str, Any], finish: str | None = None) -> str:
        return json.dumps({**base, "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}]})

    yield piece({"role": "assistant", "content": ""})
    for name, text in (("reasoning_content", reply.reasoning), ("content", reply.text), ("refusal", reply.refusal)):
        for start in range(0, len(text or ""), size):
            yield piece({name: (text or "")[start : start + size]})
    for index, call in enumerate(reply.tool_calls):
        begun = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield piece({"tool_calls": [begun]})
        for start in range(0, len(call.arguments), size):
            part = call.arguments[start : start + size]
            yield piece({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield piece({}, _finish(reply))
    options = recorded.body.get("stream_options") or {}
    if reply.usage and options.get("include_usage"):
        yield json.dumps({**base, "choices": [], "usage": _usage(reply, recorded)})
    yield "[DONE]"
