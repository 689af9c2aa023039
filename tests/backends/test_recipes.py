"""The recipes run, up to the network: clients of the same shape stand in for the services'."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from langgraph_interleave.errors import ContentBlocked, RateLimited
from langgraph_interleave.testing import noise_card
from langgraph_interleave.types import ImageRequest

RECIPES = (Path(__file__).resolve().parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
FINAL = noise_card("final", side=16)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Everything the document defines."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-example")
    defined: dict[str, Any] = {"__name__": "recipes"}
    for text in re.findall(r"^```python\n(.*?)^```$", RECIPES, re.DOTALL | re.MULTILINE):
        exec(compile(text, "recipes.md", "exec"), defined)
    return defined


async def test_replicate(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class ModelError(Exception):
        pass

    class ReplicateError(Exception):
        """As the client's: the status, and no response."""

        status = 429

    class File:
        async def aread(self) -> bytes:
            return FINAL.data

    async def async_run(model: str, *, input: dict[str, Any]) -> Any:  # noqa: A002
        asked.append((model, input))
        if "nude" in input["prompt"]:
            raise ModelError("NSFW content detected")
        if "busy" in input["prompt"]:
            raise ReplicateError
        return [File()]

    module = types.ModuleType("replicate")
    module.async_run = async_run  # type: ignore[attr-defined]
    exceptions = types.ModuleType("replicate.exceptions")
    exceptions.ModelError = ModelError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "replicate", module)
    monkeypatch.setitem(sys.modules, "replicate.exceptions", exceptions)
    backend = names["replicate_backend"]
    request = ImageRequest("a pot", references=[noise_card("one")], seed=3)
    assert (await backend.agenerate(request)).images[0].data == FINAL.data
    model, inputs = asked[0]
    assert model == names["MODEL"]
    assert inputs["seed"] == 3
    assert inputs["input_image"].read(4) == b"\x89PNG"
    with pytest.raises(ContentBlocked):
        await backend.agenerate(ImageRequest("nude"))
    with pytest.raises(RateLimited):
        await backend.agenerate(ImageRequest("busy"))
    assert backend.capabilities.billed


async def test_fal(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    asked: list[Any] = []

    class FalClientHTTPError(Exception):
        """As the client's."""

        def __init__(self, status: int, body: str) -> None:
            super().__init__("failed")
            self.status_code = status
            self.response = httpx.Response(status, text=body, request=httpx.Request("POST", "https://q.example.org"))

    async def subscribe_async(application: str, *, arguments: dict[str, Any]) -> Any:
        asked.append((application, arguments))
        if "busy" in arguments["prompt"]:
            raise FalClientHTTPError(429, "{}")
        if "refused" in arguments["prompt"]:
            raise FalClientHTTPError(422, '{"detail": [{"type": "content_policy_violation"}]}')
        return {"images": [{"url": "https://files.example.org/a.png"}], "has_nsfw_concepts": ["nude" in str(arguments)]}

    module = types.ModuleType("fal_client")
    module.subscribe_async = subscribe_async  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fal_client", module)

    class Client(httpx.AsyncClient):
        def __init__(self, **options: Any) -> None:
            answering = httpx.MockTransport(lambda request: httpx.Response(200, content=FINAL.data))
            super().__init__(transport=answering, **options)

    monkeypatch.setattr(httpx, "AsyncClient", Client)
    backend = names["fal_backend"]
    result = await backend.agenerate(ImageRequest("a pot", width=64, height=48))
    assert result.images[0].data == FINAL.data
    assert asked[0] == (names["DRAWS"], {
        "prompt": "a pot", "num_images": 1, "output_format": "png", "image_size": {"width": 64, "height": 48},
    })  # fmt: skip
    await backend.agenerate(ImageRequest("a pot", references=[noise_card("one")]))
    assert asked[1][0] == names["EDITS"]
    assert asked[1][1]["image_url"].startswith("data:image/png;base64,")
    for prompt in ("nude", "refused"):
        with pytest.raises(ContentBlocked):
            await backend.agenerate(ImageRequest(prompt))
    with pytest.raises(RateLimited):
        await backend.agenerate(ImageRequest("busy"))


def test_the_graph_of_the_recipes_is_made(names: dict[str, Any]) -> None:
    assert "generate" in names["graph"].get_graph().nodes
