from __future__ import annotations

import enum
import json
from typing import Any

import httpx2
import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_openai import ChatOpenAI

from langgraph_interleave.models.usage import model_name, usage_of, was_blocked, was_truncated
from langgraph_interleave.types.usage import Usage


class Table:
    """Knows one price: a dollar for every input token of one model."""

    def cost(self, model: str, usage: Usage) -> float | None:
        return float(usage.input_tokens) if model == "dear" else None


def answer(metadata: dict[str, Any] | None = None, content: Any = "Yes.", **fields: Any) -> AIMessage:
    return AIMessage(content, response_metadata=metadata or {}, **fields)


def test_usage_metadata() -> None:
    told = {
        "input_tokens": 900, "output_tokens": 20, "total_tokens": 920,
        "input_token_details": {"cache_read": 512, "image": 300}, "output_token_details": {"reasoning": 15},
    }  # fmt: skip
    usage = usage_of(answer({"model_name": "dear"}, usage_metadata=told), Table())
    assert usage == Usage(
        input_tokens=900, output_tokens=20, cached_tokens=512, image_input_tokens=300, cost_usd=900.0
    )  # fmt: skip


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"token_usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}},
         (9, 2, 4)),
        ({"token_usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None}}, (9, 2, 0)),
        ({"usage": {"input_tokens": 9, "output_tokens": 2}}, (9, 2, 0)),
        ({"prompt_eval_count": 9, "eval_count": 2}, (9, 2, 0)),
        ({"token_usage": {"prompt_tokens": None, "completion_tokens": "many"}}, (0, 0, 0)),
        ({"token_usage": {"prompt_tokens": float("inf"), "completion_tokens": -3}}, (0, 0, 0)),
        ({}, (0, 0, 0)),
    ],
)  # fmt: skip
def test_counts_in_the_providers_own_form(metadata: dict[str, Any], expected: tuple[int, int, int]) -> None:
    usage = usage_of(answer(metadata))
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == expected
    assert usage.cost_usd is None


def test_cached_tokens_of_a_tier_and_never_more_than_there_were() -> None:
    told = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "input_token_details": {"flex_cache_read": 4}}
    assert usage_of(answer(usage_metadata=told)).cached_tokens == 4
    told["input_token_details"] = {"cache_read": 40, "cache_creation": 7}
    assert usage_of(answer(usage_metadata=told)).cached_tokens == 9


def test_cost() -> None:
    told: Any = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}
    assert usage_of(answer(usage_metadata=told), Table()).cost_usd is None
    assert usage_of(answer(usage_metadata=told), Table(), model="dear").cost_usd == 9
    assert usage_of(answer({"model_name": "cheap"}, usage_metadata=told), Table(), model="dear").cost_usd is None
    assert usage_of(answer({"model_name": "dear"}), Table()).cost_usd is None
    # A bill that came with the answer.
    for bill in (0.25, {"input_tokens_cost": 0.2, "total_cost": 0.25}):
        assert usage_of(answer({"token_usage": {"cost": bill}}, usage_metadata=told)).cost_usd == 0.25
    for odd in (True, "0.25", -1, float("nan"), {}):
        assert usage_of(answer({"token_usage": {"cost": odd}}, usage_metadata=told)).cost_usd is None


class Reason(enum.Enum):
    MAX_TOKENS = 2
    SAFETY = 3


@pytest.mark.parametrize(
    ("metadata", "truncated", "blocked"),
    [
        ({"finish_reason": "stop"}, False, None),
        ({"finish_reason": "tool_calls"}, False, None),
        ({"finish_reason": "length"}, True, None),
        ({"finish_reason": "lengthlength"}, True, None),
        ({"finish_reason": "MAX_TOKENS"}, True, None),
        ({"finish_reason": Reason.MAX_TOKENS}, True, None),
        ({"stop_reason": "max_tokens"}, True, None),
        ({"stop_reason": "end_turn"}, False, None),
        ({"stopReason": "max_tokens"}, True, None),
        ({"done_reason": "length"}, True, None),
        ({"done_reason": "stop", "status": "completed"}, False, None),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, True, None),
        ({"status": "incomplete"}, True, None),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, False, "content_filter"),
        ({"finish_reason": "content_filter"}, False, "content_filter"),
        ({"finish_reason": "SAFETY"}, False, "SAFETY"),
        ({"finish_reason": Reason.SAFETY}, False, "SAFETY"),
        ({"finish_reason": "PROHIBITED_CONTENT"}, False, "PROHIBITED_CONTENT"),
        ({"stop_reason": "refusal"}, False, "refusal"),
        ({"stopReason": "guardrail_intervened"}, False, "guardrail_intervened"),
        ({"prompt_feedback": {"block_reason": 0}}, False, None),
        ({"prompt_feedback": {"block_reason": Reason.SAFETY}}, False, "SAFETY"),
        ({"prompt_feedback": {"block_reason": "OTHER"}}, False, "OTHER"),
        ({"finish_reason": None, "incomplete_details": None}, False, None),
        ({}, False, None),
    ],
)
def test_how_it_ended(metadata: dict[str, Any], truncated: bool, blocked: str | None) -> None:
    message = answer(metadata)
    assert (was_truncated(message), was_blocked(message)) == (truncated, blocked)


def test_refusals() -> None:
    block = {"type": "refusal", "refusal": "I will not."}
    for message in (
        answer(content=[{"type": "text", "text": ""}, block]),
        answer(content=[{"type": "non_standard", "value": block}]),
        answer(content="", additional_kwargs={"refusal": "I will not."}),
    ):
        assert was_blocked(message) == "I will not."
    assert was_blocked(answer(content=["words"], additional_kwargs={"refusal": None})) is None


def test_model_name() -> None:
    assert model_name(answer({"model_name": "gpt-5-mini-2025-08-07"})) == "gpt-5-mini-2025-08-07"
    assert model_name(answer({"model": "qwen3-vl:8b"})) == "qwen3-vl:8b"
    assert model_name(answer({"model_id": "x", "model_name": ""})) == "x"
    assert model_name(answer()) is None
    chunks = [AIMessageChunk(content="a", response_metadata={"model_name": "gpt-5-mini"}) for _ in range(2)]
    merged = chunks[0] + chunks[1]
    assert isinstance(merged, AIMessageChunk)
    assert model_name(merged) == "gpt-5-mini"


# Through the real class.


def _model(body: dict[str, Any], **options: Any) -> ChatOpenAI:
    def reply(request: httpx2.Request) -> httpx2.Response:
        if not json.loads(request.content).get("stream"):
            return httpx2.Response(200, json=body)
        [choice] = body["choices"]
        chunk = {**body, "object": "chat.completion.chunk", "usage": None}
        parts = [
            {**chunk, "choices": [{"index": 0, "delta": choice["message"], "finish_reason": choice["finish_reason"]}]},
            {**chunk, "choices": [], "usage": body["usage"]},
        ]
        text = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
        return httpx2.Response(200, text=text, headers={"content-type": "text/event-stream"})

    client = httpx2.Client(transport=httpx2.MockTransport(reply))
    return ChatOpenAI(model="dear", api_key="sk-test", http_client=client, **options)  # pyright: ignore[reportArgumentType]


def _completion(finish_reason: str, **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": "Y", **message}}
    counts = {
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "total_tokens": 11,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "dear", "choices": [choice], "usage": counts}


@pytest.mark.parametrize(
    ("body", "truncated", "blocked"),
    [
        (_completion("stop"), False, None),
        (_completion("length"), True, None),
        (_completion("content_filter"), False, "content_filter"),
    ],
)
def test_chat_completions(body: dict[str, Any], truncated: bool, blocked: str | None) -> None:
    model = _model(body)
    streamed: Any = None
    for chunk in model.stream("?"):
        streamed = chunk if streamed is None else streamed + chunk
    for message in (model.invoke("?"), streamed):
        assert usage_of(message, Table()) == Usage(input_tokens=9, output_tokens=2, cached_tokens=4, cost_usd=9)
        assert (was_truncated(message), was_blocked(message)) == (truncated, blocked)
        assert model_name(message) == "dear"


def test_responses() -> None:
    parts = [{"type": "refusal", "refusal": "I will not."}]
    body = {
        "id": "r", "object": "response", "created_at": 1, "model": "dear", "status": "incomplete", "error": None,
        "incomplete_details": {"reason": "max_output_tokens"}, "instructions": None, "metadata": {}, "tools": [],
        "output": [{"type": "message", "id": "m", "role": "assistant", "status": "incomplete", "content": parts}],
        "parallel_tool_calls": True, "tool_choice": "auto", "temperature": 1, "top_p": 1,
        "usage": {
            "input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 11,
        },
    }  # fmt: skip
    message = _model(body, use_responses_api=True).invoke("?")
    assert usage_of(message, Table()) == Usage(input_tokens=9, output_tokens=2, cached_tokens=4, cost_usd=9)
    assert was_truncated(message)
    assert was_blocked(message) == "I will not."
