"""How many requests arrive when a call goes wrong: the SDKs' own retries are off, and one budget holds for all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from loopback import LoopbackServer, serving
from loopback_replies import Hang, Reply, Reset, rate_limited, server_error
from telling import telling

from langgraph_interleave import background
from langgraph_interleave.backends.openai_images import OpenAIImagesBackend
from langgraph_interleave.ledger import resend
from langgraph_interleave.limits import Limits

pytestmark = pytest.mark.server

KEY = "sk-proj-abcdefghijklmnop0123456789"
ASK: Any = {"request": "things"}
#: What a role's server answers to everything, and how many requests that makes of one billed call with 3 repeats.
ROWS: dict[str, tuple[Reply, int]] = {
    "429": (rate_limited("0"), 4),
    "500": (server_error(), 2),
    "reset": (Reset(), 2),
    "hang": (Hang(), 1),
}
Make = Callable[..., Any]


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with serving(key=KEY) as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer) -> LoopbackServer:
    running.reset()
    return running


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resend, "FIRST_PAUSE_S", 0.001)


def limits(row: str) -> Limits:
    return Limits(max_attempts=1, max_repeats=3, call_timeout_s=0.4 if row == "hang" else 20)


def chat(server: LoopbackServer) -> Any:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    # As a user makes one: with the SDK's own two retries.
    return ChatOpenAI(model="m", api_key=SecretStr(KEY), base_url=server.base_url)


@asynccontextmanager
async def drawing(backend: Any) -> AsyncGenerator[Any]:
    try:
        yield backend
    finally:
        # Where its connections were made.
        await asyncio.wrap_future(background.submit(backend.aclose))


@pytest.mark.parametrize("row", ROWS)
async def test_openai_images(make: Make, server: LoopbackServer, row: str) -> None:
    reply, sent = ROWS[row]
    server.script("generations", lambda _: reply)
    async with drawing(OpenAIImagesBackend("m", api_key=KEY, base_url=server.base_url)) as backend:
        graph = make_with(make, backend=backend, limits=limits(row))
        result = await graph.ainvoke(ASK)
    assert server.total.requests == server.counts["generations"].requests == sent
    assert result["spend"]["calls"].get("backend", 0) == {"429": 0, "500": 2, "reset": 2, "hang": 1}[row]
    assert result["spend"]["ambiguous"] == {"429": 0, "500": 2, "reset": 2, "hang": 1}[row]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("role", ["planner", "critic"])
async def test_chat_models(make: Make, server: LoopbackServer, role: str, row: str) -> None:
    reply, sent = ROWS[row]
    server.script("chat", lambda _: reply)
    graph = make_with(make, **{role: chat(server)}, limits=limits(row))
    result = await graph.ainvoke(ASK)
    assert server.total.requests == server.counts["chat"].requests == sent
    assert result["outcome"] in ("failed", "partial")


def make_with(make: Make, *, planner: Any = None, backend: Any = None, critic: Any = None, **options: Any) -> Any:
    """A graph of scripted roles but for one."""
    from langgraph_interleave.graph import create_interleave_graph

    _, scripted, drawn, judging = make(1)
    return create_interleave_graph(planner or scripted, backend or drawn, critic or judging, **options)


@pytest.mark.parametrize(("status", "sent"), [(429, 4), (500, 2)])
async def test_hugging_face(make: Make, monkeypatch: pytest.MonkeyPatch, status: int, sent: int) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    from langgraph_interleave.backends.hf_inference import HfInferenceBackend

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with telling({"error": "no"}) as endpoint:
        endpoint.status, endpoint.headers = status, {"retry-after": "0"} if status == 429 else {}
        async with drawing(HfInferenceBackend(base_url=endpoint.base_url, api_key="hf_secret", billed=True)) as backend:
            await make_with(make, backend=backend, limits=limits("")).ainvoke(ASK)
        assert len(endpoint.asked) == sent


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("status", "sent"), [(429, 4), (500, 2)])
async def test_gemini(make: Make, monkeypatch: pytest.MonkeyPatch, status: int, sent: int) -> None:
    pytest.importorskip("langchain_google_genai")
    from langgraph_interleave.backends.chat_model import ChatModelImageBackend

    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-example")
    with telling({"error": {"code": status, "message": "no", "status": "X", "details": []}}) as endpoint:
        endpoint.status, endpoint.headers = status, {"retry-after": "0"}
        name = f"google_genai:gemini-3.1-flash-image?base_url={endpoint.base_url}"
        await make_with(make, backend=ChatModelImageBackend.from_string(name), limits=limits("")).ainvoke(ASK)
        assert len(endpoint.asked) == sent


@pytest.mark.parametrize(
    ("status", "billed", "sent"), [(429, False, 4), (429, True, 4), (503, False, 4), (503, True, 2), (401, True, 1)]
)
async def test_comfyui(make: Make, status: int, billed: bool, sent: int) -> None:
    from comfy_server import Refusal, serving_comfy, text_workflow

    from langgraph_interleave.backends.comfyui import ComfyUIBackend

    class Counted(dict[str, Refusal]):
        """What is refused, counting how often it was."""

        asked = 0

        def get(self, path: str, default: Any = None) -> Any:
            self.asked += path in self
            return super().get(path, default)

    with serving_comfy() as server:
        server.refusals = counted = Counted({"/prompt": Refusal(status, "{}")})
        async with drawing(ComfyUIBackend(text_workflow(), server.base_url, billed=billed)) as backend:
            await make_with(make, backend=backend, limits=limits(""), size="64x64").ainvoke(ASK)
        assert (counted.asked, server.runs) == (sent, [])


async def test_nobody_is_there(make: Make) -> None:
    with telling({}) as server:
        address = f"{server.base_url}/v1"
    async with drawing(OpenAIImagesBackend("m", api_key=KEY, base_url=address)) as backend:
        graph = make_with(make, backend=backend, limits=limits(""))
        parts = graph.astream(ASK, stream_mode=["custom"], version="v2", subgraphs=True)
        events = [part["data"] async for part in parts]
    spend = events[-1]["spend"]
    assert spend["calls"].get("backend", 0) == spend["ambiguous"] == 0, "nothing was sent, so nothing was spent"
    assert sum(event.get("code") == "resent" for event in events) == 1, "the same words are told once"
