"""Cache hints: only to those who take them, and on the beginning that will be the same again."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from langchain_core.language_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from langgraph_interleave.critics.chat import ChatCritic
from langgraph_interleave.models.caching import cache_options, with_breakpoints
from langgraph_interleave.models.messages import critique_messages
from langgraph_interleave.prompts import Prompts
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import Critique, CritiqueRequest, Earlier

ACCEPT = json.dumps({"reasoning": "x", "scores": {}, "verdict": "accept", "refined_prompt": None})


class Claude(FakeListChatModel):
    @property
    def _llm_type(self) -> str:
        return "anthropic-chat"


async def test_openais_own_servers_are_told_what_belongs_together() -> None:
    bodies: list[dict[str, Any]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        message = {"role": "assistant", "content": ACCEPT}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return httpx2.Response(
            200, json={"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        )

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    chat = ChatOpenAI(model="gpt-5", api_key=SecretStr("k"), http_async_client=client, disable_streaming=True)
    for critic in (ChatCritic(chat), ChatCritic(chat), ChatCritic(chat, output="tagged")):
        await critic.acritique(CritiqueRequest("i", "p", noise_card("x")))
    await client.aclose()
    first, second, other = [body["prompt_cache_key"] for body in bodies]
    assert first == second != other
    assert len(first) <= 64


def test_nobody_else_is_sent_an_option_they_may_not_know() -> None:
    own_server = ChatOpenAI(model="x", api_key=SecretStr("k"), base_url="http://127.0.0.1:9/v1")
    for model in (own_server, Claude(responses=[])):
        assert cache_options(model, "a") == {}


def breakpoints(attempt: int, model: Any) -> list[tuple[int, int]]:
    earlier = [Earlier(f"p{n}", Critique(verdict="revise", reasoning="no")) for n in range(attempt)]
    request = CritiqueRequest("i", "p", noise_card("x"), earlier=earlier, attempt=attempt)
    messages = critique_messages(request, request.after, [noise_card("ref")], Prompts.builtin(), "tagged")
    marked = with_breakpoints(messages, model, stable=len(messages[1].content) - 2)
    return [
        (number, place)
        for number, message in enumerate(marked)
        if isinstance(message.content, list)
        for place, part in enumerate(message.content)
        if isinstance(part, dict) and "cache_control" in part
    ]


def test_what_the_next_attempt_begins_with_is_marked_for_those_who_want_marks() -> None:
    claude = Claude(responses=[])
    assert breakpoints(0, claude) == [(0, 0), (1, 4)]
    assert breakpoints(1, claude) == [(0, 0), (1, 6)], "the attempt before, what was said of it, and this one's words"
    assert breakpoints(0, FakeListChatModel(responses=[])) == []
