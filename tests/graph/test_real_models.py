"""The whole loop on real SDK clients over loopback: chat plans and judges, an image API draws."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from loopback import LoopbackServer
from loopback_answers import Recorded
from loopback_replies import Chat, Pictures, Reply, moderation_blocked, rate_limited

from langgraph_interleave import (
    ArtifactStore,
    Document,
    InterleaveContext,
    Ledger,
    Limits,
    create_interleave_graph,
    image_part,
    init_image_backend,
    stream_segments,
)
from langgraph_interleave.testing import noise_card

STEPS = [
    {"title": "Pot", "op": "edit", "instruction": "A pot on the table.", "prompt": "Put a clay pot on the table",
     "caption": "Take a pot.", "sources": ["input:0"]},
    {"title": "Soil", "op": "edit", "instruction": "Soil in it.", "prompt": "Fill the pot with soil",
     "caption": "Fill it.", "sources": ["step:0"]},
    {"title": "Knife", "op": "generate", "instruction": "A knife beside a bean.", "prompt": "A bloody knife and a bean",
     "caption": "Score the bean.", "sources": []},
    {"title": "Bean", "op": "edit", "instruction": "The bean in the soil.", "prompt": "Lay the bean on the soil",
     "caption": "Sow it.", "sources": ["step:1", "step:2"]},
    {"title": "Wait", "op": "text", "instruction": None, "prompt": None, "caption": "Wait ten days.", "sources": []},
]  # fmt: skip
STYLE = {"look": "photo", "palette": "", "characters": "", "keep": "the table"}
PLAN = json.dumps(
    {"reasoning": "Pot, soil, bean.", "title": "A bean", "style_guide": STYLE, "first_number": 1, "steps": STEPS}
)


def critique(verdict: str, refined: str | None = None) -> Chat:
    scores = {"semantics": 8, "quality": 8, "consistency": None}
    answer = {"reasoning": f"I say {verdict}.", "scores": scores, "verdict": verdict, "refined_prompt": refined}
    return Chat(text=json.dumps(answer), cached_tokens=100)


class Models:
    """Answers as planner and critic do, told apart by what they were told."""

    def __init__(self, *plans: Reply) -> None:
        self.plans = list(plans)
        self.revised = False
        self._lock = threading.Lock()

    def __call__(self, request: Recorded) -> Reply:
        system = str(request.body["messages"][0]["content"])
        with self._lock:
            if system.startswith("You plan"):
                return self.plans.pop(0)
            if system.startswith("An image provider refused"):
                return Chat(text="A butter knife and a bean")
            human = json.dumps(request.body["messages"][1]["content"])
            if "Soil in it." in human and not self.revised:
                self.revised = True
                return critique("revise", "Fill the pot to the brim with dark soil")
            return critique("accept")


def graph_on(server: LoopbackServer, artifacts: ArtifactStore, **options: Any) -> Any:
    url = server.base_url
    return create_interleave_graph(
        f"openai:gpt-5-mini?base_url={url}",
        init_image_backend("openai:gpt-image-2.6-flare", base_url=url, api_key="sk-loop", quality="low"),
        f"openai:gpt-5-mini?base_url={url}",
        ledger=Ledger(artifacts),
        size="256x256",
        **options,
    )


@pytest.mark.parametrize("lookahead", [None, True])
async def test_a_document_with_references_a_refusal_a_rate_limit_and_a_truncated_plan(
    loopback: LoopbackServer, lookahead: bool | None
) -> None:
    models = Models(Chat(text=PLAN[:300], finish_reason="length"), Chat(text=PLAN, cached_tokens=50))
    loopback.script("chat", models)
    loopback.script("edits", [rate_limited("0")])
    blocked = iter([moderation_blocked()])
    loopback.script("generations", lambda request: next(blocked) if "bloody" in request.body["prompt"] else Pictures())
    artifacts = ArtifactStore.memory()
    photo = image_part(noise_card("table", side=256).data, artifacts)
    graph = graph_on(loopback, artifacts, lookahead=lookahead)
    result = await graph.ainvoke({"request": [{"type": "text", "text": "Plant a bean here, in 5 steps"}, photo]})
    document = Document.load(result["document"], artifacts)
    assert result["outcome"] == "complete", result["document"]
    assert [step.outcome for step in document.steps] == ["accepted"] * 4 + ["text_only"]
    assert [step.attempts for step in document.steps] == [1, 2, 1, 1, 0]

    edits = loopback.on("edits")
    prompts = [request.body["prompt"] for request in edits]
    said = "\n\nStyle of the whole sequence: photo; keep the same: the table."
    assert all(prompt.endswith(said) for prompt in prompts)
    assert sorted({prompt.removesuffix(said) for prompt in prompts}) == [
        "Fill the pot to the brim with dark soil",
        "Fill the pot with soil",
        "Lay the bean on the soil",
        "Put a clay pot on the table",
    ]
    last = [request for request in edits if request.body["prompt"].startswith("Lay")][-1]
    pictures = [artifacts.get(step.image) for step in document.steps if step.image]
    assert [file.data for file in last.files] == pictures[1:3], "the pictures it builds on, in order"
    generated = [request.body["prompt"].removesuffix(said) for request in loopback.on("generations")]
    assert generated == ["A bloody knife and a bean", "A butter knife and a bean"]

    spend, chat = result["spend"], loopback.counts["chat"]
    bets = spend["wasted"]
    assert loopback.counts["edits"].requests == 4 + 1 + bets, "one of them was turned away, and sent again"
    assert bets == (1 if lookahead else 0), "drawn on the bet that the soil is accepted"
    # What the provider refused to draw is a call as well, and no picture.
    drawn = loopback.counts["edits"].answered + loopback.counts["generations"].requests
    assert (spend["calls"]["backend"], spend["images"]) == (drawn, loopback.total.images)
    assert spend["calls"]["planner"] + spend["calls"]["critic"] == chat.answered == chat.requests
    assert spend["calls"]["planner"] == 3, "the plan twice, and other words once"
    assert (spend["input_tokens"], spend["output_tokens"], spend["cached_tokens"]) == (
        loopback.total.input_tokens,
        loopback.total.output_tokens,
        loopback.total.cached_tokens,
    )
    assert spend["cost_usd"] > 0
    assert spend["ambiguous"] == 0


async def test_sent_again_with_the_same_run_id_nothing_is_paid_twice(loopback: LoopbackServer) -> None:
    artifacts = ArtifactStore.memory()
    cut = Chat(text=PLAN[:300], finish_reason="length")
    loopback.script("chat", Models(cut, Chat(text=PLAN)))
    photo = image_part(noise_card("table", side=256).data, artifacts)
    request = {"request": [{"type": "text", "text": "Plant a bean here"}, photo]}
    context = InterleaveContext(run_id="bean")
    first = await graph_on(loopback, artifacts).ainvoke(request, context=context)
    before = loopback.total
    again = await graph_on(loopback, artifacts).ainvoke(request, context=context)
    assert loopback.total == before, "not even the plan that was cut off"
    spend = again["spend"]
    assert spend["replayed"] == sum(spend["calls"].values()) == sum(first["spend"]["calls"].values())
    assert spend["cost_usd"] == pytest.approx(first["spend"]["cost_usd"])
    assert again["document"]["steps"] == first["document"]["steps"]


async def test_the_first_step_is_drawn_while_the_plan_is_written_only_when_asked_for(loopback: LoopbackServer) -> None:
    drawn_at: list[float] = []

    def draw(_: Recorded) -> Reply:
        drawn_at.append(time.monotonic())
        return Pictures()

    plan = json.loads(PLAN) | {"steps": [{**STEPS[2], "prompt": "a bean"}, STEPS[4]]}
    for lookahead in (None, True):
        drawn_at.clear()
        loopback.reset()
        loopback.script("generations", draw)
        slowly = 0.03 if lookahead else 0.0
        loopback.script("chat", Models(Chat(text=json.dumps(plan), chunk=16, chunk_delay_s=slowly)))
        planned_at = 0.0
        graph = graph_on(loopback, ArtifactStore.memory(), lookahead=lookahead)
        async for part in graph.astream({"request": "A bean"}, stream_mode="custom", version="v2"):
            data: Any = part["data"]
            if data.get("kind") == "plan":
                planned_at = time.monotonic()
        assert len(drawn_at) == 1
        assert (drawn_at[0] < planned_at) == bool(lookahead)


def test_reasoning_streams_between_the_answers(loopback: LoopbackServer) -> None:
    loopback.script("chat", Models(Chat(text=json.dumps(json.loads(PLAN) | {"steps": STEPS[2:3]}))))
    graph = graph_on(loopback, ArtifactStore.memory())
    told = list(stream_segments(graph, {"request": "A bean"}, deltas=True))
    kinds = [(segment.step, segment.kind, segment.phase) for segment in told]
    assert kinds.count((None, "reasoning", "delta")) > 1
    assert kinds.count((0, "reasoning", "delta")) > 1
    assert (
        kinds.index((None, "plan", "finish"))
        < kinds.index((0, "caption", "finish"))
        < kinds.index((0, "image", "finish"))
    )
    whole = {
        segment.step: segment.text for segment in told if segment.kind == "reasoning" and segment.phase == "finish"
    }
    for step in (None, 0):
        pieces = [s.text or "" for s in told if s.step == step and s.kind == "reasoning" and s.phase == "delta"]
        assert "".join(pieces) == whole[step]


async def test_a_limit_on_calls_counts_what_is_asked_again(loopback: LoopbackServer) -> None:
    loopback.script("chat", lambda _: Chat(text="Sure!"))
    graph = graph_on(loopback, ArtifactStore.memory(), limits=Limits(max_calls=2))
    result = await graph.ainvoke({"request": "A bean"})
    assert result["outcome"] == "failed"
    assert result["document"]["problem"]["error"] == "LimitReached"
    assert loopback.counts["chat"].requests == 2
    assert result["spend"]["calls"] == {"planner": 2}


@pytest.mark.parametrize("lookahead", [None, True])
async def test_what_is_streamed_of_an_answer_that_breaks_off_is_not_part_of_the_next(
    loopback: LoopbackServer, lookahead: bool | None
) -> None:
    answers = Models(Chat(text=PLAN, error_after=12), Chat(text=PLAN))
    cut = iter([True])

    def reply(request: Recorded) -> Reply:
        whole = answers(request)
        if not str(request.body["messages"][0]["content"]).startswith("You plan") and next(cut, False):
            assert isinstance(whole, Chat)
            return replace(whole, cut_after=4)
        return whole

    loopback.script("chat", reply)
    artifacts = ArtifactStore.memory()
    photo = image_part(noise_card("table", side=256).data, artifacts)
    request = {"request": [{"type": "text", "text": "Plant a bean here"}, photo]}
    said: dict[str, str] = {}
    wholes: dict[str, str] = {}
    graph = graph_on(loopback, artifacts, lookahead=lookahead)
    async for part in graph.astream(request, stream_mode="custom", version="v2"):
        event: Any = part["data"]
        if event.get("kind") == "reasoning":
            name = event["segment_id"]
            if event["phase"] == "start":
                said[name] = ""
            elif event["phase"] == "delta":
                said[name] += event["text"]
            else:
                wholes[name] = event["text"]
    assert len(wholes) == 6 and wholes == said
    assert "Pot, soil, bean." in wholes.values()


@pytest.mark.parametrize("said", ["", "A butter knife and a bean"])
async def test_a_refused_prompt_and_its_other_words_are_counted_once(loopback: LoopbackServer, said: str) -> None:
    plan = Chat(text=json.dumps(json.loads(PLAN) | {"steps": STEPS[2:3]}))

    def chat(request: Recorded) -> Reply:
        system = str(request.body["messages"][0]["content"])
        if system.startswith("An image provider refused"):
            return Chat(text=said)
        return plan if system.startswith("You plan") else critique("accept")

    turned_away = iter([rate_limited("0"), rate_limited("0")])

    def draw(request: Recorded) -> Reply:
        if "bloody" in request.body["prompt"]:
            return moderation_blocked()
        return next(turned_away, Pictures())

    loopback.script("chat", chat)
    loopback.script("generations", draw)
    result = await graph_on(loopback, ArtifactStore.memory()).ainvoke({"request": "A bean"})
    spend, total = result["spend"], loopback.total
    assert (spend["input_tokens"], spend["output_tokens"]) == (total.input_tokens, total.output_tokens)
    assert (spend["images"], spend["ambiguous"]) == (total.images, 0)
    assert spend["calls"]["planner"] == 2
    prompts = [request.body["prompt"].partition("\n\nStyle of")[0] for request in loopback.on("generations")]
    [step] = result["document"]["steps"]
    if said:
        assert result["outcome"] == "complete"
        assert prompts == ["A bloody knife and a bean", *[said] * 3], "what was refused is not sent again"
    else:
        assert step["outcome"] == "blocked"
        assert prompts == ["A bloody knife and a bean"]


async def test_a_plan_that_was_kept_is_kept_when_the_run_is_sent_again(loopback: LoopbackServer) -> None:
    plan = Chat(text=json.dumps(json.loads(PLAN) | {"steps": STEPS[4:]}))
    refusal = Chat(text=None, refusal="I cannot write more.")
    loopback.script("chat", Models(plan, refusal))
    artifacts = ArtifactStore.memory()
    context = InterleaveContext(run_id="kept", steps=2)
    first = await graph_on(loopback, artifacts).ainvoke({"request": "A bean"}, context=context)
    assert len(first["document"]["steps"]) == 1 and first["outcome"] == "complete"
    before = loopback.total
    assert first["spend"]["input_tokens"] == before.input_tokens
    again = await graph_on(loopback, artifacts).ainvoke({"request": "A bean"}, context=context)
    assert loopback.total == before, "the refusal is an answer, too"
    assert again["document"]["steps"] == first["document"]["steps"]
    assert again["spend"]["calls"] == first["spend"]["calls"] == {"planner": 2}
