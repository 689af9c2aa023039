"""Keys planted everywhere a key can be; servers that repeat all they are sent; then every byte is searched."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from canaries import Canaries, Heard, listening
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from loopback import LoopbackServer, serving
from loopback_answers import Recorded
from loopback_replies import Chat, Failure, Pictures, Raw, Reply
from openai import AsyncOpenAI
from pydantic import SecretStr

from langgraph_interleave import ArtifactStore, Document, InterleaveError, Ledger, create_interleave_graph
from langgraph_interleave.backends.openai_images import OpenAIImagesBackend
from langgraph_interleave.critics.chat import ChatCritic
from langgraph_interleave.ledger.records import problem_of
from langgraph_interleave.limits import Limits
from langgraph_interleave.planner import PlanRequest
from langgraph_interleave.planners.chat import ChatPlanner
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import Capabilities, CritiqueRequest, ImageRequest, Request, TextPart

STEP = {
    "title": "Pot",
    "op": "generate",
    "instruction": "A pot.",
    "prompt": "A pot",
    "caption": "A pot.",
    "sources": [],
}
PLAN = json.dumps({"reasoning": "One.", "title": "A pot", "first_number": 1, "steps": [STEP],
                   "style_guide": {"look": "ink", "palette": "", "characters": "", "keep": ""}})  # fmt: skip
CRITIQUE = json.dumps({"reasoning": "A pot.", "verdict": "accept", "refined_prompt": None,
                       "scores": {"semantics": 8, "quality": 8, "consistency": None}})  # fmt: skip

ENVIRONMENT = (
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN", "AZURE_OPENAI_API_KEY", "XAI_API_KEY",
    "LANGSMITH_API_KEY", "INTERLEAVE_LINK_SECRET", "INTERLEAVE_MCP_KEY", "AWS_SECRET_ACCESS_KEY",
)  # fmt: skip


def echo(request: Recorded, canary: Canaries | None = None) -> str:
    """All a server was sent, as a debugging gateway repeats it; the keys first: words are cut short."""
    if canary is not None:
        everything = f"{dict(request.headers)} {request.query} {request.body}"
        return "You sent " + " ".join(key for key in canary.by_place.values() if key in everything)
    sent = {name: value for name, value in request.body.items() if name not in ("messages", "prompt", "image")}
    return f"Refused: headers={dict(request.headers)} query={request.query} body={json.dumps(sent)}"


def failure(kind: str, request: Recorded, words: str) -> Reply:
    match kind:
        case "moderation":
            return Failure(400, {"message": words, "code": "moderation_blocked"})
        case "quota":
            return Failure(429, {"message": words, "code": "insufficient_quota"})
        case "in 200":
            return Raw(json.dumps({"error": {"message": words, "code": 500}}))
        case "words in 200":
            return Raw(json.dumps({"error": words}))
        case "html":
            return Raw(f"<html>{words}</html>", "text/html")
        case "text":
            return Raw(words, "text/plain")
        case "code":
            return Failure(400, {"message": "no", "code": words[:400], "type": words, "param": words})
        case _:
            return Failure(int(kind), {"message": words}, {"x-request-id": request.headers["authorization"]})


KINDS = ("400", "401", "403", "404", "408", "409", "429", "500", "503", "moderation", "quota", "in 200", "words in 200",
         "html", "text", "code")  # fmt: skip


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer) -> LoopbackServer:
    running.reset()
    running.lenient = True
    return running


@pytest.fixture
def canaries(monkeypatch: pytest.MonkeyPatch) -> Canaries:
    planted = Canaries()
    for name in ENVIRONMENT:
        monkeypatch.setenv(name, planted(f"environment {name}"))
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:{planted('proxy')}@127.0.0.1:9")
    monkeypatch.setenv("DATABASE_URL", f"postgresql://me:{planted('database')}@127.0.0.1:9/x")
    return planted


def chat(role: str, server: LoopbackServer, canary: Canaries) -> ChatOpenAI:
    return ChatOpenAI(
        model="gpt-5-mini", api_key=SecretStr(canary(f"{role} key")), base_url=server.base_url, max_retries=0,
        default_headers={"X-Gateway": canary(f"{role} header"), "Cookie": f"session={canary(f'{role} cookie')}"},
        default_query={"gateway_token": canary(f"{role} query")},
        extra_body={"server_key": canary(f"{role} extra body"), "nested": {"auth": [canary(f"{role} nested")]}},
        model_kwargs={"extra_headers": {"X-Model-Key": canary(f"{role} model kwargs")}},
    )  # fmt: skip


def painter(server: LoopbackServer, canary: Canaries) -> OpenAIImagesBackend:
    client = AsyncOpenAI(
        api_key=canary("backend key"), base_url=server.base_url,
        default_headers={"X-Gateway": canary("backend header")}, default_query={"sig": canary("backend query")},
    )  # fmt: skip
    return OpenAIImagesBackend("m", client=client, extra_body={"api_key": canary("backend extra body")})


async def whole_run(
    server: LoopbackServer, canary: Canaries, heard: Heard, folder: Path, *, failing: str = "", kind: str = ""
) -> dict[str, Any]:
    """One run with everything noted that can be read of it."""

    def answer(request: Recorded) -> Reply:
        if request.route != "chat":
            return failure(kind, request, echo(request, canary)) if failing == "backend" else Pictures()
        planning = str(request.body["messages"][0]["content"]).startswith("You plan")
        if failing == ("planner" if planning else "critic"):
            return failure(kind, request, echo(request, canary))
        return Chat(PLAN if planning else CRITIQUE)

    for route in ("chat", "generations"):
        server.script(route, answer)
    artifacts = ArtifactStore.folder(folder / "store")
    planner, critic = ChatPlanner(chat("planner", server, canary)), ChatCritic(chat("critic", server, canary))
    backend = painter(server, canary)
    config: Any = {"configurable": {"thread_id": "t"}, "callbacks": [heard]}
    async with AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as saver:
        graph: Any = create_interleave_graph(
            planner, backend, critic, artifacts=artifacts, ledger=Ledger(artifacts), checkpointer=saver, size="64x64"
        )
        stream = graph.astream(
            {"request": "A pot"},
            config,
            stream_mode=["custom", "updates", "values", "debug"],
            version="v2",
            subgraphs=True,
        )
        async for part in stream:
            heard.note("stream", part)
        result = (await graph.aget_state(config)).values
        async for state in graph.aget_state_history(config):
            heard.note("state", state)
        heard.note("graph", graph)
    for each in (planner, critic, backend, planner.fingerprint, critic.fingerprint, backend.fingerprint):
        heard.parts.append(("repr", f"{each!r} {each}".encode()))
    heard.note("result", result)
    if result.get("document"):
        document = Document.load(result["document"], artifacts)
        for words in (repr(document), document.to_html(), document.to_markdown(), document.fragment()):
            heard.note("document", words)
    heard.file(folder)
    return result


async def test_a_run_that_goes_well(server: LoopbackServer, canaries: Canaries, tmp_path: Path) -> None:
    with listening() as heard:
        result = await whole_run(server, canaries, heard, tmp_path)
    assert result["outcome"] == "complete"
    sent = "".join(echo(request) for request in server.requests).encode()
    assert len(canaries.found_in(sent)) >= 17, "the keys were used"
    assert "\n".join(heard.leaks(canaries)) == ""


@pytest.mark.parametrize("failing", ["planner", "critic", "backend"])
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in ("400", "in 200", "text") else pytest.mark.slow) for kind in KINDS]
)
async def test_a_run_that_fails(
    server: LoopbackServer, canaries: Canaries, tmp_path: Path, kind: str, failing: str
) -> None:
    with listening() as heard:
        try:
            result = await whole_run(server, canaries, heard, tmp_path, failing=failing, kind=kind)
            assert result["outcome"] in ("partial", "failed")
        except InterleaveError as error:
            heard.note("exception", error)
    assert "\n".join(heard.leaks(canaries)) == ""


ROLES = ("planner", "critic", "backend")


async def call(role: str, server: LoopbackServer, canary: Canaries, heard: Heard) -> None:
    """One call of a role by itself, its model with callbacks of its own."""
    picture = noise_card("pot", side=64)
    if role == "backend":
        await painter(server, canary).agenerate(ImageRequest("A pot", width=64, height=64))
        return
    model = chat(role, server, canary).model_copy(update={"callbacks": [heard]})
    if role == "critic":
        await ChatCritic(model).acritique(CritiqueRequest(instruction="A pot.", prompt="A pot", after=picture))
        return
    async for _ in ChatPlanner(model).aplan(
        PlanRequest(Request(parts=(TextPart(text="A pot"),)), capabilities=Capabilities(), limits=Limits())
    ):
        pass


@pytest.mark.parametrize("role", ROLES)
async def test_whatever_a_server_repeats_no_error_repeats_it(
    server: LoopbackServer, canaries: Canaries, role: str
) -> None:
    _ = painter(server, canaries) if role == "backend" else chat(role, server, canaries)
    cases = 0
    with listening() as heard:
        for number, (place, key) in enumerate(canaries.by_place.items()):
            if not place.startswith((role, "environment OPENAI")):
                continue
            spelled = (key, quote(key, safe=""), base64.b64encode(f"me:{key}".encode()).decode())
            for kind in KINDS[number % 4 :: 4]:
                words = spelled[cases % 3]
                for route in ("chat", "generations"):
                    server.script(
                        route, lambda request, kind=kind, words=words: failure(kind, request, f"Not {words}.")
                    )
                with pytest.raises(InterleaveError) as caught:
                    await call(role, server, canaries, heard)
                heard.note(f"exception {kind}", caught.value)
                heard.note(f"problem {kind}", problem_of(caught.value))
                cases += 1
    assert cases >= 16
    assert "\n".join(heard.leaks(canaries)) == ""
