"""The planner `chat` on the real `ChatOpenAI`, over loopback: every form, streamed and not, both tasks."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import ConfigurableField
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer
from loopback_replies import Chat, ToolCall, bad_request, rate_limited, wrong_key

from langgraph_interleave.errors import (
    BadResponse,
    ConfigError,
    ContentBlocked,
    InvalidRequest,
    PlanError,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.limits import Limits
from langgraph_interleave.planner import Planner, PlanRequest, Rephraser
from langgraph_interleave.planners.chat import ChatPlanner
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import (
    ArtifactRef,
    ImagePart,
    PlanDelta,
    PlanFinished,
    ReasoningDelta,
    Request,
    StepDelta,
    StyleDelta,
    TextPart,
    Unusable,
)

POT = {
    "title": "Pot", "op": "generate", "instruction": "A pot on a table.", "prompt": "A clay pot on a table",
    "caption": "Take a pot.", "sources": [],
}  # fmt: skip
BEAN = {**POT, "title": "Bean", "op": "edit", "instruction": "One bean in it.", "prompt": "Add", "sources": ["step:0"]}
WORDS = {"title": "Why", "op": "text", "instruction": None, "prompt": None, "caption": "It sprouts.", "sources": []}
STYLE = {"look": "ink", "palette": "", "characters": "", "keep": "the table"}


def plan_of(*steps: dict[str, Any], first_number: int = 1, reasoning: str = 'A pot, "then" a bean.') -> str:
    plan = {
        "reasoning": reasoning, "title": "A bean", "style_guide": STYLE, "first_number": first_number, "steps": steps,
    }  # fmt: skip
    return json.dumps(plan, ensure_ascii=False)


def tagged(*steps: tuple[int, str | None, str | None]) -> str:
    listed = [
        {"step_number": n, "step_name": f"Step {n}", "instruction": prompt, "prompt": prompt, "auxiliary_text": caption}
        for n, prompt, caption in steps
    ]
    return f"<think>A pot first.</think>\n<answer>{{'execution_plan': {listed!r}}}</answer>"


def replies(form: str, plan: str) -> Chat:
    if form == "tool":
        return Chat(text=None, tool_calls=[ToolCall("plan", plan)])
    return Chat(text=plan)


def model(server: LoopbackServer, **options: Any) -> ChatOpenAI:
    given: dict[str, Any] = {"model": "gpt-5-mini", "api_key": "sk-loop", "base_url": server.base_url}
    return ChatOpenAI(**given | options)


def asking(text: str = "Plant a bean", images: int = 0, **fields: Any) -> PlanRequest:
    pictures = [noise_card(f"input{number}", side=32) for number in range(images)]
    parts = [TextPart(text=text), *(ImagePart(image=ref(picture.sha256)) for picture in pictures)]
    return PlanRequest(Request(parts=tuple(parts)), images=pictures, **fields)


def ref(digest: str) -> ArtifactRef:
    return ArtifactRef(sha256=digest, mime="image/png", size=1, width=1, height=1)


async def planned(planner: ChatPlanner, request: PlanRequest | None = None) -> tuple[PlanFinished, list[PlanDelta]]:
    deltas = [delta async for delta in planner.aplan(request or asking())]
    finished = deltas[-1]
    assert isinstance(finished, PlanFinished)
    return finished, deltas


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("form", ["json_schema", "tool", "tagged", "auto"])
async def test_every_form_streamed_and_not(loopback: LoopbackServer, form: Any, streamed: bool) -> None:
    answer = (
        tagged((1, "A clay pot", "Take a pot."), (2, "A bean in it", None)) if form == "tagged" else plan_of(POT, BEAN)
    )
    loopback.script("chat", [replies(form, answer)])
    planner = ChatPlanner(model(loopback, disable_streaming=not streamed), output=form)
    assert isinstance(planner, Planner)
    assert isinstance(planner, Rephraser)
    finished, deltas = await planned(planner)
    assert [step.sources for step in finished.plan.steps] == [(), ("step:0",)]
    steps = [delta.step for delta in deltas if isinstance(delta, StepDelta)]
    assert steps == list(finished.plan.steps), "each step was told, in order, as it is in the plan"
    thoughts = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    assert thoughts == finished.reasoning == ("A pot first." if form == "tagged" else 'A pot, "then" a bean.')
    assert finished.raw == answer
    count = loopback.counts["chat"]
    assert (finished.usage.input_tokens, finished.usage.output_tokens) == (count.input_tokens, count.output_tokens)
    assert finished.usage.cost_usd is not None, "gpt-5-mini is in the table"
    if form != "tagged":
        assert any(isinstance(delta, StyleDelta) and delta.style_guide.look == "ink" for delta in deltas)
    if streamed:
        assert sum(isinstance(delta, ReasoningDelta) for delta in deltas) > 1
    body = loopback.requests[-1].body
    assert ("response_format" in body) == (form in ("json_schema", "auto"))
    assert ("tools" in body) == (form == "tool")
    assert "tool_choice" not in body, "a model that thinks refuses to be forced"
    assert bool(body.get("stream")) == streamed


async def test_a_step_comes_before_the_plan_is_over(loopback: LoopbackServer) -> None:
    loopback.script("chat", [Chat(text=plan_of(POT, BEAN), chunk=5, chunk_delay_s=0.002)])
    at: dict[str, float] = {}
    async for delta in ChatPlanner(model(loopback)).aplan(asking()):
        at[f"step {delta.step.index}" if isinstance(delta, StepDelta) else type(delta).__name__] = time.monotonic()
    assert at["ReasoningDelta"] < at["StyleDelta"] < at["step 0"] < at["step 1"] <= at["PlanFinished"]
    # Some thirty pieces of text lie between the two.
    assert at["step 1"] - at["step 0"] > 0.03


async def test_words_about_a_complete_sequence(loopback: LoopbackServer) -> None:
    form: Any
    for form, answer in (("json_schema", plan_of(WORDS)), ("tagged", tagged((1, None, "It sprouts.")))):
        loopback.script("chat", [Chat(text=answer)])
        finished, _ = await planned(ChatPlanner(model(loopback), output=form), asking("Explain these", images=3))
        [step] = finished.plan.steps
        assert (step.op, step.caption, step.prompt) == ("text", "It sprouts.", None)


async def test_a_sequence_that_goes_on_from_the_users(loopback: LoopbackServer) -> None:
    more: dict[str, Any] = {**BEAN, "sources": ["input:1"]}
    form: Any
    for form, answer in (
        ("json_schema", plan_of(more, first_number=3)),
        ("tagged", tagged((3, "A bean", "Sow it."), (4, "A sprout", "Wait."))),
    ):
        loopback.script("chat", [Chat(text=answer)])
        finished, _ = await planned(ChatPlanner(model(loopback), output=form), asking("Go on", images=2))
        assert finished.plan.first_number == 3
        assert finished.plan.steps[0].sources[0] == "input:1", "it goes on from the newest picture"
        assert [warning.code for warning in finished.warnings if warning.code == "renumbered"] == []


async def test_pictures_are_sent_in_order_and_made_smaller_from_five_on(loopback: LoopbackServer) -> None:
    planner = ChatPlanner(model(loopback), downscale_to=16)
    for images, side in ((4, 32), (5, 16)):
        loopback.script("chat", [Chat(text=plan_of(POT))])
        request = asking(images=images)
        await planned(planner, request)
        parts = loopback.requests[-1].body["messages"][1]["content"]
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        assert len(urls) == images
        assert [width(url) for url in urls] == [side] * images
        if images == 4:
            assert [bytes_of(url) for url in urls] == [picture.data for picture in request.images]


def bytes_of(url: str) -> bytes:
    import base64

    return base64.b64decode(url.partition(",")[2])


def width(url: str) -> int:
    return int.from_bytes(bytes_of(url)[16:20], "big")


async def test_a_form_the_server_does_not_take_is_left_for_the_next_and_remembered(loopback: LoopbackServer) -> None:
    loopback.script(
        "chat",
        [
            bad_request("response_format of type json_schema is not supported", param="response_format"),
            bad_request("this model does not support tools", param="tools"),
            Chat(text=tagged((1, "A pot", "Pot."))),
            Chat(text=tagged((1, "A pot", "Pot."))),
        ],
    )
    planner = ChatPlanner(model(loopback, model="local"))
    await planned(planner)
    await planned(planner)
    bodies = [request.body for request in loopback.on("chat")]
    assert ["response_format" in body for body in bodies] == [True, False, False, False]
    assert ["tools" in body for body in bodies] == [False, True, False, False]


async def test_another_refusal_is_no_reason_to_ask_otherwise(loopback: LoopbackServer) -> None:
    loopback.script("chat", [bad_request("maximum context length exceeded")])
    with pytest.raises(InvalidRequest, match="context length"):
        await planned(ChatPlanner(model(loopback)))
    loopback.script("chat", [bad_request("json_schema is not supported")])
    with pytest.raises(InvalidRequest, match="json_schema"):
        await planned(ChatPlanner(model(loopback), output="json_schema"))
    assert loopback.counts["chat"].requests == 2


async def test_a_server_that_does_not_tell_usage_while_streaming(loopback: LoopbackServer) -> None:
    loopback.script("chat", [bad_request("unknown field stream_options"), Chat(text=plan_of(POT))])
    finished, _ = await planned(ChatPlanner(model(loopback)))
    assert finished.usage.output_tokens == 0
    assert "stream_options" not in loopback.requests[-1].body


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("form", ["json_schema", "tool", "tagged"])
async def test_an_answer_that_was_cut_off_has_its_usage(loopback: LoopbackServer, form: Any, streamed: bool) -> None:
    cut = Chat(text=plan_of(POT, BEAN)[:150], finish_reason="length")
    if form == "tool":
        cut = Chat(text=None, tool_calls=[ToolCall("plan", plan_of(POT, BEAN)[:150])], finish_reason="length")
    loopback.script("chat", [cut])
    with pytest.raises(PlanError, match="cut off") as caught:
        await planned(ChatPlanner(model(loopback, disable_streaming=not streamed), output=form))
    assert caught.value.truncated
    assert caught.value.usage is not None
    assert caught.value.usage.output_tokens == loopback.counts["chat"].output_tokens > 0


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_refusal_is_no_plan_and_is_paid(loopback: LoopbackServer, streamed: bool) -> None:
    loopback.script("chat", [Chat(text="", refusal="I cannot help with that.")])
    with pytest.raises(ContentBlocked, match="I cannot help with that") as caught:
        await planned(ChatPlanner(model(loopback, disable_streaming=not streamed)))
    assert caught.value.role == "planner"
    assert caught.value.usage is not None


@pytest.mark.parametrize(
    ("reply", "error"),
    [(rate_limited("3"), RateLimited), (wrong_key(), ConfigError), (Chat(cut_after=2, text="x" * 90), Unavailable)],
)
async def test_errors_are_ours_and_sent_once(loopback: LoopbackServer, reply: Any, error: type[Exception]) -> None:
    loopback.script("chat", [reply])
    with pytest.raises(error) as caught:
        await planned(ChatPlanner(model(loopback, max_retries=5)))
    assert loopback.counts["chat"].requests == 1, "the SDK does not send again"
    assert "sk-" not in str(caught.value)


async def test_why_it_is_asked_again_is_said(loopback: LoopbackServer) -> None:
    loopback.script("chat", [Chat(text=plan_of(POT))])
    await planned(ChatPlanner(model(loopback)), asking(unusable=[Unusable("The plan has 2 steps.", "{}")]))
    messages = loopback.requests[-1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "The plan has 2 steps." in messages[-1]["content"]


async def test_other_words_for_a_refused_prompt(loopback: LoopbackServer) -> None:
    loopback.script("chat", [Chat(text='"A knight stands."\n'), Chat(text=" ")])
    planner = ChatPlanner(model(loopback))
    said = await planner.arephrase("A knight bleeds $5", reason="violence")
    assert said.prompt == "A knight stands."
    assert said.usage.output_tokens > 0
    assert "A knight bleeds $5" in loopback.requests[-1].body["messages"][0]["content"]
    with pytest.raises(BadResponse, match="no other words"):
        await planner.arephrase("x", reason="y")


async def test_steps_asked_for_are_counted(loopback: LoopbackServer) -> None:
    loopback.script("chat", [Chat(text=plan_of(POT))])
    finished, _ = await planned(ChatPlanner(model(loopback)), asking(steps=3, limits=Limits(max_steps=2)))
    assert [warning.code for warning in finished.warnings] == ["step_count"]


class Thinking(FakeListChatModel):
    """Sends reasoning in blocks of its own, as several providers do."""

    def _generate(self, *args: Any, **options: Any) -> ChatResult:
        del args, options
        return ChatResult(generations=[ChatGeneration(message=AIMessage(plan_of(POT, reasoning="")))])

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        del args, options
        for text in ("Let me ", "think."):
            thought = {"type": "thinking", "thinking": text, "index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk(content=[thought]))
        yield ChatGenerationChunk(
            message=AIMessageChunk(
                content=[{"type": "text", "text": plan_of(POT, reasoning=self.responses[0]), "index": 1}]
            )
        )


@pytest.mark.parametrize(("said", "after"), [("", []), ("A pot.", ["\n\nA pot."])])
async def test_reasoning_in_the_providers_own_form(said: str, after: list[str]) -> None:
    finished, deltas = await planned(ChatPlanner(Thinking(responses=[said])))
    told = [delta.text for delta in deltas if isinstance(delta, ReasoningDelta)]
    assert told == ["Let me ", "think.", *after]
    assert finished.reasoning == "".join(told)
    assert finished.plan.title == "A bean"


async def test_a_model_without_any_form_but_text() -> None:
    planner = ChatPlanner(FakeListChatModel(responses=[tagged((1, "A pot", "Pot."))]))
    finished, _ = await planned(planner)
    assert finished.plan.steps[0].prompt == "A pot"
    assert finished.usage.cost_usd is None
    with pytest.raises(ConfigError, match="no tool output"):
        ChatPlanner(FakeListChatModel(responses=[]), output="tool")
    with pytest.raises(ConfigError, match="no json_schema output"):
        ChatPlanner(FakeListChatModel(responses=[]), output="json_schema")


def test_the_fingerprint_names_what_the_answer_depends_on(tmp_path: Any) -> None:
    def planner(**options: Any) -> str:
        chat = ChatOpenAI(
            model=options.pop("model", "gpt-4.1"), api_key=options.pop("key", "a"), temperature=options.pop("t", None)
        )
        return ChatPlanner(chat, **options).fingerprint

    assert planner() == planner(key="another")
    (tmp_path / "planner.txt").write_text("Plan.")
    others = [planner(model="gpt-5-mini"), planner(t=0.5), planner(output="tagged"), planner(prompts=tmp_path)]
    assert len({planner(), *others}) == 5
    assert planner().startswith("gpt-4.1/")


AROUND: dict[str, Any] = {
    "bound": lambda chat, other: chat.bind(stop=["END"]),
    "tools": lambda chat, other: chat.bind(tools=[{"type": "function", "function": {"name": "mine"}}]),
    "retry": lambda chat, other: chat.bind(stop=["END"]).with_retry(stop_after_attempt=5),
    "fallbacks": lambda chat, other: chat.with_fallbacks([other.bind(stop=["END"])]),
    "configurable": lambda chat, other: chat.configurable_fields(model_name=ConfigurableField("name")),
    "configured": lambda chat, other: other.configurable_alternatives(
        ConfigurableField("which"), small=chat
    ).with_config(configurable={"which": "small"}),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("form", ["json_schema", "tool", "tagged"])
async def test_what_is_around_a_model_stays_and_its_answers_are_counted(
    loopback: LoopbackServer, form: Any, around: str
) -> None:
    answer = tagged((1, "A clay pot", "Take a pot.")) if form == "tagged" else plan_of(POT)
    loopback.script("chat", [replies(form, answer)])
    planner = ChatPlanner(AROUND[around](model(loopback), model(loopback, model="gpt-5")), output=form)
    finished, _ = await planned(planner)
    body, count = loopback.requests[-1].body, loopback.counts["chat"]
    assert body["model"] == "gpt-5-mini"
    assert (finished.usage.input_tokens, finished.usage.output_tokens) == (count.input_tokens, count.output_tokens)
    assert finished.usage.cost_usd
    assert body.get("stop") == (["END"] if around in ("bound", "retry") else None)
    if form == "tool":
        assert [tool["function"]["name"] for tool in body["tools"]] == ["plan"], "ours is the one that is answered"


async def test_another_model_stands_in_and_retries_of_its_own_are_off(loopback: LoopbackServer) -> None:
    loopback.script("chat", [rate_limited("0"), Chat(text=plan_of(POT))])
    several = model(loopback).with_fallbacks([model(loopback, model="gpt-5")])
    finished, _ = await planned(ChatPlanner(several))
    assert [request.body["model"] for request in loopback.requests] == ["gpt-5-mini", "gpt-5"]
    assert finished.usage.input_tokens == loopback.total.input_tokens > 0

    loopback.reset()
    loopback.script("chat", [rate_limited("0")] * 2)
    with pytest.raises(RateLimited):
        await planned(ChatPlanner(model(loopback).with_retry(stop_after_attempt=5)))
    assert loopback.counts["chat"].requests == 1, "resending has one budget, and it is not here"


def test_a_chain_is_no_model() -> None:
    chain = FakeListChatModel(responses=["A plan."]) | StrOutputParser()
    with pytest.raises(ConfigError, match="chain"):
        ChatPlanner(chain)


@pytest.mark.parametrize(
    "options", [{"output": "json"}, {"downscale_from": 0}, {"downscale_to": 3}, {"prices": "no-such-file.toml"}]
)
def test_an_option_that_cannot_be_is_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ChatPlanner(FakeListChatModel(responses=[]), **options)


async def test_what_is_not_billed_costs_nothing_and_ones_own_prices_go_first(
    loopback: LoopbackServer, tmp_path: Any
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[gpt-5-mini]\ninput = 1000\noutput = 1000\nsource = "x"\nas_of = 2026-01-01\n')
    cases: list[tuple[dict[str, Any], float | None]] = [({"billed": False}, 0.0), ({"prices": prices}, None)]
    for options, cost in cases:
        loopback.script("chat", [Chat(text=plan_of(POT))])
        finished, _ = await planned(ChatPlanner(model(loopback), **options))
        used = finished.usage
        expected = (used.input_tokens + used.output_tokens) / 1000 if cost is None else cost
        assert used.cost_usd == pytest.approx(expected)
