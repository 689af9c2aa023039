"""What a chat model says, piece by piece: its answer's text, and reasoning in a form of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

from langgraph_interleave.models.forms import Form
from langgraph_interleave.splitter import Splitter

#: Between reasoning in a form of its own and reasoning in the answer.
BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Said:
    """More of an answer: `thought` is reasoning in the provider's own form, else it is the answer's text."""

    text: str
    thought: bool = False


class Reading:
    """What a stream has said so far, in one form."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._splitter = Splitter()
        self._text: list[str] = []
        self._arguments: list[str] = []
        self._thought: list[str] = []
        self._call: Any = None

    @property
    def answer(self) -> str:
        return "".join(self._arguments) or "".join(self._text)

    @property
    def thought(self) -> str:
        return "".join(self._thought).strip()

    def read(self, chunk: AIMessageChunk) -> list[Said]:
        said = [Said(text, thought=True) for text in _native(chunk)]
        self._thought += [thought.text for thought in said]
        text = chunk.text
        if text:
            self._text.append(text)
            # Beside a tool call words are no answer; whether one comes is not known yet.
            if self._form != "tool":
                said.append(Said(text))
        for call in chunk.tool_call_chunks:
            index = call.get("index")
            if self._call is None:
                self._call = (index,)
            if self._call == (index,) and (more := call.get("args")):
                self._arguments.append(more)
                said.append(Said(more))
        return said

    def finish(self) -> list[Said]:
        return [Said("".join(self._text))] if self._form == "tool" and self._text and not self._arguments else []


def as_chunk(message: AIMessage) -> AIMessageChunk:
    """A whole message, as models give that do not stream, as the only chunk."""
    if isinstance(message, AIMessageChunk):
        return message
    calls = [(call["name"], json.dumps(call["args"]), call["id"]) for call in message.tool_calls]
    calls += [(call["name"], call["args"], call["id"]) for call in message.invalid_tool_calls]
    return AIMessageChunk(
        content=message.content,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        tool_call_chunks=[
            tool_call_chunk(name=name, args=args, id=number, index=index)
            for index, (name, args, number) in enumerate(calls)
        ],
    )


def cut_off(error: Exception) -> AIMessageChunk | None:
    """The end of an answer for which the SDK raises because a token limit was reached."""
    completion = getattr(error, "completion", None)
    if type(error).__name__ != "LengthFinishReasonError":
        return None
    usage: Any = getattr(completion, "usage", None)
    known = None
    if usage is not None:
        details = getattr(usage, "prompt_tokens_details", None)
        known = {
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "total_tokens": usage.total_tokens,
            "input_token_details": {"cache_read": getattr(details, "cached_tokens", None) or 0},
        }
    return AIMessageChunk(
        content="",
        usage_metadata=cast("Any", known),
        response_metadata={"finish_reason": "length", "model_name": getattr(completion, "model", None)},
    )


def _native(chunk: AIMessageChunk) -> list[str]:
    """Reasoning that a provider sends in a form of its own, not inside the text."""
    content = chunk.content if isinstance(chunk.content, list) else []
    blocks = [block for block in content if isinstance(block, dict) and block.get("type") != "text"]
    pieces = Splitter().feed_blocks(cast("Any", blocks), chunk.additional_kwargs)
    return [piece.text for piece in pieces if piece.track == "reasoning"]
