"""Pictures are in the requests that send them, and in the store; no log, trace, event, state or error has one."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from canaries import Heard, listening
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from loopback import LoopbackServer
from loopback_answers import Recorded
from loopback_replies import Chat, Failure, Pictures, Reply
from pydantic import SecretStr

from langgraph_interleave import ArtifactStore, InterleaveError, Ledger, create_interleave_graph, image_part
from langgraph_interleave.backends.openai_images import OpenAIImagesBackend
from langgraph_interleave.critics.chat import ChatCritic
from langgraph_interleave.planners.chat import ChatPlanner
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import CritiqueRequest, ImageBytes, ImageRequest

STEPS = [
    {"title": "Pot", "op": "edit", "instruction": "A pot.", "prompt": "A pot", "caption": "A.", "sources": ["input:0"]},
    {"title": "Soil", "op": "edit", "instruction": "Soil.", "prompt": "Soil", "caption": "B.", "sources": ["step:0"]},
]  # fmt: skip
PLAN = json.dumps({"reasoning": "Two.", "title": "A pot", "first_number": 1, "steps": STEPS,
                   "style_guide": {"look": "ink", "palette": "", "characters": "", "keep": ""}})  # fmt: skip
CRITIQUE = json.dumps({"reasoning": "A pot.", "verdict": "accept", "refined_prompt": None,
                       "scores": {"semantics": 8, "quality": 8, "consistency": None}})  # fmt: skip
#: What one critique may leave in a trace, in bytes.
MOST_TRACED = 20_000
_RUN = re.compile(rb"[A-Za-z0-9+/_-]{200,}")


@pytest.fixture(scope="module")
def large() -> ImageBytes:
    picture = noise_card("large", side=320)
    assert len(picture.data) > 200_000
    return picture


def shows(heard: Heard, *pictures: ImageBytes) -> list[str]:
    """Where a piece of a picture was heard, raw, as Python or JSON writes bytes, or in base64."""
    wanted: list[bytes] = []
    for picture in pictures:
        encoded = base64.b64encode(picture.data)
        for at in range(400, len(picture.data) - 400, len(picture.data) // 7):
            piece = picture.data[at : at + 60]
            wanted += [piece, repr(piece)[2:-1].encode(), encoded[at : at + 80]]
    return sorted({where for where, data in heard.parts if any(piece in data for piece in wanted) or _RUN.search(data)})


def model(server: LoopbackServer, heard: Heard) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-5-mini", api_key=SecretStr("k"), base_url=server.base_url, callbacks=[heard])


@pytest.mark.slow
async def test_a_whole_run_of_large_pictures(loopback: LoopbackServer, large: ImageBytes, tmp_path: Path) -> None:
    def answer(request: Recorded) -> Reply:
        return Chat(PLAN if str(request.body["messages"][0]["content"]).startswith("You plan") else CRITIQUE)

    drawn = noise_card("drawn", side=320)
    loopback.script("chat", answer)
    loopback.script("edits", lambda _: Pictures(images=[drawn.data]))
    with listening() as heard:
        artifacts = ArtifactStore.folder(tmp_path / "store")
        traced, judged = Heard(), Heard()
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.sqlite")) as saver:
            graph: Any = create_interleave_graph(
                ChatPlanner(model(loopback, traced)),
                OpenAIImagesBackend(api_key="k", base_url=loopback.base_url),
                ChatCritic(model(loopback, judged)),
                artifacts=artifacts, ledger=Ledger(artifacts), checkpointer=saver, size="320x320",
            )  # fmt: skip
            config: Any = {"configurable": {"thread_id": "t"}, "callbacks": [traced]}
            request = [{"type": "text", "text": "Plant it"}, image_part(large.data, artifacts)]
            async for part in graph.astream(
                {"request": request}, config, stream_mode=["custom", "updates", "values", "debug"], version="v2"
            ):
                heard.note("stream", part)
            states = [state async for state in graph.aget_state_history(config)]
        assert states[0].values["outcome"] == "complete"
        for state in states:
            heard.note("state", state)
        heard.file(tmp_path / "checkpoints.sqlite")
        heard.file(tmp_path / "store" / "calls")
    result = loopback.on("chat")
    assert len(result) == 3 and len(loopback.on("edits")) == 2
    assert any("data:image" in json.dumps(request.body) for request in result), "the pictures were sent"
    for each in (heard, traced, judged):
        assert shows(each, large, drawn) == []
    assert 0 < judged.traced < 2 * MOST_TRACED, "two critiques"


@pytest.mark.parametrize("status", [400, 429, 500])
async def test_errors_that_repeat_the_picture(loopback: LoopbackServer, large: ImageBytes, status: int) -> None:
    def repeated(request: Recorded) -> Reply:
        return Failure(
            status, {"message": f"Refused: {json.dumps(request.body)} {[file.data for file in request.files]}"}
        )

    for route in ("chat", "edits"):
        loopback.script(route, repeated)
    with listening() as heard:
        critic = ChatCritic(model(loopback, heard))
        painter = OpenAIImagesBackend(api_key="k", base_url=loopback.base_url)
        with pytest.raises(InterleaveError) as judging:
            await critic.acritique(CritiqueRequest("A pot.", "A pot", large))
        with pytest.raises(InterleaveError) as drawing:
            await painter.agenerate(ImageRequest("A pot", references=(large,), width=320, height=320))
        for caught in (judging, drawing):
            heard.note("exception", caught.value)
    assert shows(heard, large) == []
    assert heard.traced < MOST_TRACED
