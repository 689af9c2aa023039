"""The critic `chat` on the real `ChatOpenAI`, over loopback."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer
from loopback_replies import Chat, ToolCall
from pydantic import SecretStr

from langgraph_interleave.critic import Critic
from langgraph_interleave.critics.chat import ChatCritic
from langgraph_interleave.errors import ConfigError, CritiqueError
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import CritiqueRequest, ImageBytes, Scores, StyleGuide, Unusable

REVISE = {
    "reasoning": "Two beans, not one.", "scores": {"semantics": 4, "quality": 9, "consistency": None},
    "verdict": "revise", "refined_prompt": "Exactly one bean in a pot",
}  # fmt: skip
ACCEPT = {**REVISE, "verdict": "accept", "reasoning": "One bean.", "refined_prompt": None}
TAGGED = "<think>Two beans.</think><answer>{'previous_step_success': False, 'refine_prompt': 'one bean'}</answer>"


def model(server: LoopbackServer, **options: Any) -> ChatOpenAI:
    given: dict[str, Any] = {"model": "gpt-5-mini", "api_key": "sk-loop", "base_url": server.base_url}
    return ChatOpenAI(**given | options)


def asking(references: int = 1, **fields: Any) -> CritiqueRequest:
    shown = [noise_card(f"ref{number}") for number in range(references)]
    before = shown[0] if shown else None
    after = fields.pop("after", noise_card("after", side=32))
    return CritiqueRequest(
        "One bean in the pot.",
        "a bean",
        after,
        before=before,
        references=shown,
        style_guide=StyleGuide(look="ink"),
        **fields,
    )


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("form", ["json_schema", "tool", "tagged", "auto"])
async def test_every_form_streamed_and_not(loopback: LoopbackServer, form: Any, streamed: bool) -> None:
    text = TAGGED if form == "tagged" else json.dumps(REVISE)
    reply = Chat(text=None, tool_calls=[ToolCall("critique", text)]) if form == "tool" else Chat(text=text)
    loopback.script("chat", [reply])
    critic = ChatCritic(model(loopback, disable_streaming=not streamed), output=form)
    assert isinstance(critic, Critic)
    told: list[str] = []
    result = await critic.acritique(asking(), on_text=told.append)
    assert result.critique.verdict == "revise"
    assert result.critique.refined_prompt == ("one bean" if form == "tagged" else "Exactly one bean in a pot")
    assert "".join(told) == result.critique.reasoning == ("Two beans." if form == "tagged" else "Two beans, not one.")
    assert (len(told) > 1) == streamed
    if form != "tagged":
        assert result.critique.scores == Scores(semantics=4, quality=9)
    assert result.usage.output_tokens == loopback.counts["chat"].output_tokens
    assert result.usage.cost_usd is not None
    assert "tool_choice" not in loopback.requests[-1].body


async def test_pictures_are_in_a_human_message_in_order_the_judged_one_last(loopback: LoopbackServer) -> None:
    loopback.script("chat", [Chat(text=json.dumps(ACCEPT), cached_tokens=64)])
    request = asking(references=2)
    result = await ChatCritic(model(loopback)).acritique(request)
    system, human = loopback.requests[-1].body["messages"]
    assert (system["role"], human["role"]) == ("system", "user")
    sent = [
        base64.b64decode(part["image_url"]["url"].partition(",")[2])
        for part in human["content"]
        if part["type"] == "image_url"
    ]
    assert sent == [picture.data for picture in (*request.references, request.after)]
    assert human["content"][-1]["type"] == "image_url"
    assert result.critique.verdict == "accept"
    assert result.usage.cached_tokens == 64


async def test_pictures_can_be_made_smaller(loopback: LoopbackServer) -> None:
    loopback.script("chat", [Chat(text=json.dumps(ACCEPT))])
    await ChatCritic(model(loopback), max_side=16).acritique(asking())
    url = loopback.requests[-1].body["messages"][1]["content"][-1]["image_url"]["url"]
    assert verify_image(base64.b64decode(url.partition(",")[2]), what="x").width == 16


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(
    "reply",
    [
        Chat(text="It looks fine to me."),
        Chat(text='{"verdict": "maybe", "reasoning": "x"}'),
        Chat(text=""),
        Chat(text=json.dumps(REVISE)[:60]),
        Chat(text=json.dumps(ACCEPT), finish_reason="length"),
    ],
)
async def test_an_unclear_answer_has_its_usage(loopback: LoopbackServer, reply: Chat, streamed: bool) -> None:
    loopback.script("chat", [reply])
    with pytest.raises(CritiqueError) as caught:
        # As text: the SDK's own reading of an object would hide what was said.
        await ChatCritic(model(loopback, disable_streaming=not streamed), output="tagged").acritique(asking())
    assert caught.value.usage is not None
    assert caught.value.raw == reply.text
    assert caught.value.truncated == (reply.finish_reason == "length")


async def test_why_it_is_asked_again_is_said(loopback: LoopbackServer) -> None:
    loopback.script("chat", [Chat(text=json.dumps(ACCEPT))])
    await ChatCritic(model(loopback)).acritique(asking(unusable=[Unusable("No verdict.", "Hm.")]))
    messages = loopback.requests[-1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2]["content"] == "Hm."


class Recorder(BaseCallbackHandler):
    """Keeps all that a tracer would be shown."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def _keep(self, *args: Any, **fields: Any) -> None:
        self.seen.append(repr(args) + repr(fields))

    on_chat_model_start = on_llm_new_token = on_llm_end = on_llm_error = _keep  # type: ignore[assignment]


@pytest.mark.parametrize("streamed", [True, False])
async def test_tracers_see_references_only(loopback: LoopbackServer, streamed: bool) -> None:
    loopback.script("chat", [Chat(text=json.dumps(ACCEPT))])
    recorder = Recorder()
    chat = model(loopback, callbacks=[recorder], disable_streaming=not streamed)
    big = [ImageBytes(bytes([n]) * 1_000_000, "image/png", 1000, 1000) for n in range(3)]
    request = CritiqueRequest("i", "p", big[2], before=big[0], references=big[:2])
    await ChatCritic(chat).acritique(request)
    recorded = "".join(recorder.seen)
    assert recorder.seen
    assert f"artifact://{big[2].sha256}" in recorded
    assert len(recorded) < 20_000
    assert sum(len(str(message)) for message in loopback.requests[-1].body["messages"]) > 4_000_000


def test_a_model_that_takes_no_pictures_is_refused() -> None:
    chat = ChatOpenAI(model="gpt-5", api_key=SecretStr("k"), profile={"image_inputs": False})
    with pytest.raises(ConfigError, match="takes no pictures"):
        ChatCritic(chat)


def test_by_name(loopback: LoopbackServer) -> None:
    from langgraph_interleave.registry import init_critic, init_planner

    url = loopback.base_url
    critic = init_critic(f"openai:local?base_url={url}&output=tagged&max_side=512&billed=false&temperature=0")
    assert isinstance(critic, ChatCritic)
    assert (critic.output, critic.max_side, critic.billed) == ("tagged", 512, False)
    planner = init_planner(f"huggingface:org/model?base_url={url}&downscale_to=128")
    assert planner.fingerprint.startswith("org/model/")
    with pytest.raises(ConfigError, match="max_side=big"):
        init_critic(f"openai:local?base_url={url}&max_side=big")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        init_critic("openai:gpt-5")
    with pytest.raises(ConfigError, match="Did you mean"):
        init_critic("opnai:gpt-5")
    with pytest.raises(ConfigError, match=r"Installed: .*provider:model"):
        init_planner("scenes")
