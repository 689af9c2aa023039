"""One conversation: a photo, a document made from it, a change, and back; with every way of listening."""

from __future__ import annotations

import base64
import json
import runpy
import warnings
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_interleave import ArtifactStore, Document, Ledger
from langgraph_interleave.agents import InterleaveMiddleware
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.testing import ScriptedBackend, ScriptedCritic, ScriptedPlanner, noise_card, simple_plan
from langgraph_interleave.types import Plan

PHOTO: Any = {
    "type": "image_url",
    "image_url": {"url": "data:image/png;base64," + base64.b64encode(noise_card("photo", side=64).data).decode()},
}
CONFIG: Any = {"configurable": {"thread_id": "t"}}
CREATE, CHANGE, RESTORE = (f"{verb}_illustrated_document" for verb in ("create", "change", "restore"))
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "conversation.py"


class Scripted(FakeMessagesListChatModel):
    """Says what its script says; tools may be bound to it."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def plan(request: PlanRequest) -> Plan:
    """Four things: the second is drawn from the first and the third from the second; the fourth stands alone."""
    made = simple_plan(4, sources=[[], [0], [1], []])
    if request.existing is None:
        first = made.steps[0].model_copy(update={"op": "edit", "sources": ("input:0",)})
        return made.model_copy(update={"steps": (first, *made.steps[1:])})
    changed = request.existing.plan.steps[1].model_copy(update={"prompt": f"thing 1, {request.existing.change.text}"})
    steps = request.existing.plan.steps
    return request.existing.plan.model_copy(update={"steps": (steps[0], changed, *steps[2:])})


class Talk:
    """An agent with its backend and its ledger, listened to in one of four ways."""

    def __init__(self, way: str, **change: Any) -> None:
        self.way = way
        self.store = ArtifactStore.memory()
        self.ledger = Ledger(self.store)
        self.planner, self.backend, self.critic = ScriptedPlanner(plan), ScriptedBackend(), ScriptedCritic()
        said: list[tuple[str, dict[str, Any]]] = [
            (CREATE, {"request": "four things from this", "images": ["img_1"]}),
            (CHANGE, {"document": "doc_1", "request": "at night", **change}),
            (RESTORE, {"document": "doc_1", "version": 1}),
            (CHANGE, {"document": "doc_1", "request": "in winter"}),
        ]
        script: Any = []
        for number, (name, arguments) in enumerate(said):
            script += [AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{number}"}])]
            script += [AIMessage(f"Done {number}.")]
        middleware = InterleaveMiddleware(
            planner=self.planner, backend=self.backend, critic=self.critic, ledger=self.ledger, artifacts=self.store
        )
        self.agent: Any = create_agent(
            Scripted(responses=script), middleware=[middleware], checkpointer=InMemorySaver()
        )

    async def say(self, *content: Any) -> tuple[Any, list[Any]]:
        """One turn: the artifact of its tool message, and the segments that were heard."""
        asked = {"messages": [HumanMessage(list(content))]}
        options: Any = {"stream_mode": "custom", "version": "v2"}
        if self.way == "stream":
            heard = [part["data"] for part in self.agent.stream(asked, CONFIG, **options)]
        elif self.way == "astream":
            heard = [part["data"] async for part in self.agent.astream(asked, CONFIG, subgraphs=True, **options)]
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # LangGraph calls v3 experimental
                if self.way == "v3":
                    heard = list(self.agent.stream_events(asked, CONFIG, version="v3").extensions["segments"])
                else:
                    run = await self.agent.astream_events(asked, CONFIG, version="v3")
                    heard = [segment async for segment in run.extensions["segments"]]
        segments = [event for event in heard if event["type"] == "interleave.segment"]
        messages = (await self.agent.aget_state(CONFIG)).values["messages"]
        return next(one for one in reversed(messages) if isinstance(one, ToolMessage)).artifact, segments

    def calls(self) -> list[int]:
        """How often planner, backend and critic were called so far."""
        return [len(role.requests) for role in (self.planner, self.backend, self.critic)]

    def recorded(self, run_id: str) -> list[str]:
        """The roles of a run's calls, as the ledger recorded them."""
        return sorted(record["role"] for record in self.store.list_calls(run_id))


def shown(segments: list[Any]) -> set[int]:
    """The steps whose delivered picture was heard of, each in a segment of its own."""
    found = [one["step"] for one in segments if one["kind"] == "image" and one["phase"] == "finish"]
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("way", ["stream", "astream", "v3", "async v3"])
async def test_a_photo_a_change_and_back(way: str) -> None:
    talk = Talk(way)
    first, segments = await talk.say({"type": "text", "text": "Make something of this"}, PHOTO)
    assert shown(segments) == {0, 1, 2, 3} and {one["tool_call_id"] for one in segments} == {"call-0"}
    assert talk.calls() == [1, 4, 4]
    [from_the_photo] = [one for one in talk.backend.requests if one.prompt == "thing 0"]
    assert from_the_photo.references[0].width == 64

    second, segments = await talk.say({"type": "text", "text": "Make step 2 night-time"})
    assert (second["document"], second["version"], second["parent"]) == ("doc_1", 2, 1)
    assert {one["tool_call_id"] for one in segments} == {"call-1"}
    assert talk.calls() == [2, 6, 6], "exactly the step that changed, and the one drawn from it"
    assert [one.prompt for one in talk.backend.requests[4:]] == ["thing 1, at night", "thing 2"]
    assert talk.recorded(second["run_id"]) == ["backend", "backend", "critic", "critic", "planner"]
    assert kept(first, second) == {1, 4}

    third, segments = await talk.say({"type": "text", "text": "No, as it was"})
    assert talk.calls() == [2, 6, 6] and not segments, "going back calls nobody"
    assert (third["version"], third["digest"]) == (1, first["digest"])

    fourth, _ = await talk.say({"type": "text", "text": "In winter, then"})
    assert (fourth["version"], fourth["parent"]) == (3, 1)
    assert [one.prompt for one in talk.backend.requests[6:]] == ["thing 1, in winter", "thing 2"], "from version 1"
    assert talk.store.get_json(fourth["digest"])["parent"] == first["digest"]
    document = Document.load(talk.store.get_json(fourth["digest"]), talk.store)
    assert len(list(document.images())) == 4


def kept(before: Any, after: Any) -> set[int]:
    """The steps whose picture is the same in both documents, as the reader counts them."""
    both = [
        {(one["number"], one["image"]["sha256"]) for one in artifact["segments"] if one["kind"] == "image"}
        for artifact in (before, after)
    ]
    return {number for number, _ in both[0] & both[1]}


async def test_a_photo_of_what_was_done_goes_with_the_change() -> None:
    talk = Talk("astream", images=["img_2"])
    await talk.say(PHOTO)
    done = {"type": "image", "base64": base64.b64encode(noise_card("done", side=32).data).decode()}
    await talk.say({"type": "text", "text": "This is how far I got"}, {**done, "mime_type": "image/png"})
    existing = talk.planner.requests[1].existing
    assert existing is not None and len(existing.given) == 1
    assert talk.planner.requests[1].images[existing.given[0]].width == 32


async def test_nothing_of_it_grows_with_the_pictures() -> None:
    talk = Talk("astream")
    big = noise_card("big", side=256)
    assert len(big.data) > 150_000
    photo: Any = {"type": "image", "base64": base64.b64encode(big.data).decode(), "mime_type": "image/png"}
    await talk.say(photo)
    await talk.say({"type": "text", "text": "Make step 2 night-time"})
    state = (await talk.agent.aget_state(CONFIG)).values
    told = [message.model_dump() for message in state["messages"]]
    assert len(json.dumps(told, default=str)) + len(json.dumps(state["interleave_gallery"])) < 20_000


@pytest.mark.slow
def test_the_example_prints_what_was_called(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    said = capsys.readouterr().out.split("\nYou: ")
    assert [turn.splitlines()[2].strip() for turn in said[1:]] == [
        "doc_1, version 1: drawn: 1, 2, 3, 4; kept: none",
        "doc_1, version 2: drawn: 2, 3, 4; kept: 1",
        "doc_1, version 1: drawn: none; kept: 1, 2, 3, 4",
        "doc_1, version 3: drawn: none; kept: 1, 2, 3",
    ]
    assert [turn.splitlines()[3].strip().split(",")[0] for turn in said[1:]] == [
        "called: planner 1", "called: planner 1", "called: nobody", "called: planner 1",
    ]  # fmt: skip
