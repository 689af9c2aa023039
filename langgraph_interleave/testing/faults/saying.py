"""What a faulty chat model says instead of its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata

#: Between two pieces of what never ends, in seconds.
PAUSE_S = 0.005
_PIECE = 40

_GARBAGE = "}]]<answer>{'plan': \x00 lorem ipsum ] ``` {\"steps\": [}} ∂∆ </think><answer> {verdict: mayb"
#: It builds on a picture there is not, and so cannot be drawn.
_UNUSABLE = json.dumps({"steps": [{"op": "edit", "instruction": "i", "prompt": "p", "sources": ["input:99"]}]})
_NEVER = json.dumps(
    {"verdict": "revise", "reasoning": "Still not it.", "refined_prompt": "the same, but better", "scores": {}}
)
_STEP = '{"step_number": %d, "step_name": "Step %d", "instruction": "A pot", "prompt": "pot %d"}, '


def as_message(answer: str | BaseMessage) -> AIMessageChunk:
    """An answer as the one chunk it would be; with a count of tokens, by its length, where it has none."""
    if isinstance(answer, str):
        answer = AIMessage(answer)
    assert isinstance(answer, AIMessage), "a chat model answers with an AIMessage"
    tokens = max(1, len(answer.text) // 4)
    used = answer.usage_metadata or UsageMetadata(input_tokens=10, output_tokens=tokens, total_tokens=10 + tokens)
    return AIMessageChunk(content=answer.content, response_metadata=answer.response_metadata, usage_metadata=used)


def instead_of(name: str, answer: AIMessageChunk) -> AIMessageChunk:
    """What a fault makes of an answer.

    Args:
        name: The fault; others leave the answer as it is, or as much as arrives of it.
        answer: What the model would say.

    Example:
        >>> instead_of("empty", as_message("Yes.")).text
        ''
    """
    text = answer.text
    match name:
        case "empty":
            return answer.model_copy(update={"content": ""})
        case "garbage":
            return answer.model_copy(update={"content": _GARBAGE})
        case "same_plan":
            return answer.model_copy(update={"content": f"<answer>{_UNUSABLE}</answer>"})
        case "never_accepts":
            return answer.model_copy(update={"content": _NEVER})
        case "truncated":
            ended = {**answer.response_metadata, "finish_reason": "length"}
            return answer.model_copy(update={"content": text[: len(text) // 3], "response_metadata": ended})
        case "blocked_after":
            ended = {**answer.response_metadata, "finish_reason": "content_filter"}
            return answer.model_copy(update={"content": text[:10], "response_metadata": ended})
        case "cut_stream":
            return AIMessageChunk(content=text[: len(text) // 2])
        case "timeout_after" | "server_error_after" | "html":
            return AIMessageChunk(content="")  # nothing of it arrives
        case _:
            return answer


def in_pieces(message: AIMessageChunk) -> Iterator[AIMessageChunk]:
    """A message as a stream gives it: words piece by piece, what is known about it at the end."""
    text = message.text
    for start in range(0, len(text), _PIECE):
        yield AIMessageChunk(content=text[start : start + _PIECE], id=message.id)
    if message.usage_metadata or message.response_metadata:
        yield AIMessageChunk(
            content="",
            response_metadata=message.response_metadata,
            usage_metadata=message.usage_metadata,
            id=message.id,
        )


def endless(name: str) -> Iterator[AIMessageChunk]:
    """What never ends: reasoning, or a list of steps."""
    nth = 0
    if name == "endless_steps":
        yield AIMessageChunk(content='<answer>{"execution_plan": [')
    else:
        yield AIMessageChunk(content="<think>")
    while True:
        nth += 1
        yield AIMessageChunk(
            content=_STEP % (nth, nth, nth) if name == "endless_steps" else "Now, let me think again. "
        )
