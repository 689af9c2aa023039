"""The backend `hf_inference`, over loopback: what is sent, what comes back, what goes wrong."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from telling import Telling, telling

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.backends.hf_inference import HfInferenceBackend
from langgraph_interleave.backends.registry import init_image_backend
from langgraph_interleave.errors import (
    BadResponse,
    CallTimeout,
    ConfigError,
    ContentBlocked,
    InvalidRequest,
    QuotaExhausted,
    RateLimited,
    Unavailable,
)
from langgraph_interleave.testing import check_backend, noise_card
from langgraph_interleave.types import ImageRequest, ImageResult

pytest.importorskip("huggingface_hub")
FIXED: dict[str, Any] = {"api_key": "hf_secretsecret", "billed": False}
FINAL = noise_card("final", side=32)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Telling]:
    from huggingface_hub import constants

    # It refuses to speak to anybody where the hub is off, as it is in these tests.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with telling(FINAL.data) as server:
        server.kind = "image/png"
        yield server


def drawn(endpoint: Telling, request: ImageRequest, **options: Any) -> ImageResult:
    backend = HfInferenceBackend(base_url=endpoint.base_url, **FIXED | options)
    assert isinstance(backend, ImageBackend)

    async def once() -> ImageResult:
        try:
            return await backend.agenerate(request)
        finally:
            await backend.aclose()

    return asyncio.run(once())


def test_it_draws_and_keeps_the_bytes(endpoint: Telling) -> None:
    request = ImageRequest("a pot", width=512, height=384, seed=7, negative_prompt="people")
    result = drawn(endpoint, request, num_inference_steps=4, guidance_scale=1.0)
    [image] = result.images
    assert image.data == FINAL.data
    assert (image.width, image.seed) == (32, 7)
    assert any("512x384 was asked for" in warning for warning in result.warnings)
    told = json.dumps(endpoint.asked[-1].data)
    for word in ("a pot", '"width": 512', '"seed": 7', '"num_inference_steps": 4', "people"):
        assert word in told
    assert endpoint.asked[0].headers["authorization"] == "Bearer hf_secretsecret"
    assert result.usage.images == 1
    assert result.usage.cost_usd == 0.0


def test_it_edits_one_reference(endpoint: Telling) -> None:
    reference = noise_card("before", side=24)
    assert drawn(endpoint, ImageRequest("make it blue", references=[reference])).images[0].data == FINAL.data
    assert endpoint.asked[-1].data["inputs"] == base64.b64encode(reference.data).decode()
    assert "make it blue" in json.dumps(endpoint.asked[-1].data)
    with pytest.raises(InvalidRequest, match="takes 1"):
        drawn(endpoint, ImageRequest("x", references=[reference, reference]))
    with pytest.raises(InvalidRequest, match="takes 0"):
        drawn(endpoint, ImageRequest("x", references=[reference]), edits=False)
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(
    ("status", "body", "headers", "error"),
    [
        (429, b'{"error":"Too many requests"}', {"retry-after": "2"}, RateLimited),
        (402, b'{"error":"You have exceeded your monthly included credits"}', {}, QuotaExhausted),
        (401, b'{"error":"Invalid credentials in Authorization header hf_secretsecret"}', {}, ConfigError),
        (404, b'{"error":"Model not found"}', {}, ConfigError),
        (400, b'{"error":"width must be a multiple of 8"}', {}, InvalidRequest),
        (400, b'{"error":"This violates our content policy"}', {}, ContentBlocked),
        (500, b'{"error":"CUDA out of memory"}', {}, Unavailable),
        (503, b'{"error":"Model is loading","estimated_time":20}', {}, Unavailable),
        (200, b"<html>Welcome</html>", {}, BadResponse),
        (200, FINAL.data[:60], {}, BadResponse),
    ],
)
def test_what_goes_wrong_is_named_and_nothing_is_sent_twice(
    endpoint: Telling, status: int, body: bytes, headers: dict[str, str], error: type[Exception]
) -> None:
    endpoint.status, endpoint.reply, endpoint.headers = status, body, headers
    endpoint.kind = "application/json" if body.startswith(b"{") else "text/html"
    with pytest.raises(error) as raised:
        drawn(endpoint, ImageRequest("a pot"))
    assert len(endpoint.asked) == 1
    assert "secretsecret" not in str(raised.value)
    if isinstance(raised.value, RateLimited):
        assert raised.value.retry_after == 2


def test_a_deadline_and_nobody_there(endpoint: Telling) -> None:
    endpoint.delay_s = 0.6
    with pytest.raises(CallTimeout):
        drawn(endpoint, ImageRequest("a pot", timeout_s=0.2))
    assert len(endpoint.asked) == 1
    gone = Telling()
    gone.close(serving=False)
    with pytest.raises(Unavailable) as raised:
        drawn(gone, ImageRequest("a pot"))
    assert not raised.value.ambiguous


def test_an_endpoint_of_ones_own_needs_no_key_and_is_sent_none(
    endpoint: Telling, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn(endpoint, ImageRequest("a pot"), api_key=None)
    assert endpoint.asked[0].headers.get("authorization", "") == ""
    with pytest.raises(ConfigError, match="HF_TOKEN"):
        HfInferenceBackend("org/model")
    monkeypatch.setenv("HF_TOKEN", "hf_fromenvironment")
    drawn(endpoint, ImageRequest("a pot"), api_key=None)
    assert endpoint.asked[1].headers["authorization"] == "Bearer hf_fromenvironment"


async def test_whether_the_key_is_taken_is_found_out_for_nothing(
    endpoint: Telling, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", endpoint.base_url)
    endpoint.reply, endpoint.kind = {"name": "somebody", "type": "user"}, "application/json"
    ready = HfInferenceBackend("org/model", api_key="hf_secretsecret")
    await ready.aready()
    assert endpoint.asked[0].path.endswith("/whoami-v2")
    endpoint.status, endpoint.reply = 401, {"error": "Invalid credentials hf_secretsecret"}
    with pytest.raises(ConfigError, match="refused the key") as raised:
        await ready.aready()
    assert "secretsecret" not in str(raised.value)
    count = len(endpoint.asked)
    await HfInferenceBackend("org/model", api_key="key-of-a-provider").aready()
    await HfInferenceBackend(base_url=endpoint.base_url, api_key="hf_secretsecret").aready()
    assert len(endpoint.asked) == count
    await ready.aclose()


def test_the_hub_switched_off_is_said(endpoint: Telling, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match="HF_HUB_OFFLINE"):
        drawn(endpoint, ImageRequest("a pot"))
    assert endpoint.asked == []


def test_by_name(endpoint: Telling) -> None:
    made = init_image_backend(f"hf_inference:org/model?base_url={endpoint.base_url}&billed=no&num_inference_steps=2")
    assert made.capabilities.max_references == 1
    assert made.fingerprint.startswith("hf_inference/1/org/model@127.0.0.1:")
    for wrong in ("org/m?token=hf_x", "org/m?steps=4", "org/m?base_url=ftp://x", "org/m?base_url=http://u:p@h/"):
        with pytest.raises(ConfigError) as raised:
            HfInferenceBackend.from_string(wrong, api_key="hf_x")
        assert "hf_x" not in str(raised.value)
        assert "u:p" not in str(raised.value)


@pytest.mark.parametrize(
    "request_",
    [ImageRequest("x", n=2), ImageRequest(" "), ImageRequest("x", width=3), ImageRequest("x", transparent=True)],
)
def test_what_cannot_be_asked(endpoint: Telling, request_: ImageRequest) -> None:
    with pytest.raises(InvalidRequest):
        drawn(endpoint, request_)
    assert endpoint.asked == []


def by_rule(body: bytes) -> bytes:
    """A picture as large as it is told, in colours that all of what was sent decides."""
    told = json.loads(body)
    settings = {**told, **told.get("parameters", {})}
    size = settings.get("target_size") or settings
    width, height = size.get("width"), size.get("height")
    if not width and "prompt" in settings:
        width, height = Image.open(io.BytesIO(base64.b64decode(told["inputs"]))).size
    buffer = io.BytesIO()
    Image.frombytes("RGB", (3, 3), hashlib.sha256(body).digest()[:27]).resize((width or 64, height or 64)).save(
        buffer, "PNG"
    )
    return buffer.getvalue()


def test_it_conforms(endpoint: Telling) -> None:
    endpoint.reply = by_rule
    report = check_backend(lambda: HfInferenceBackend("org/model", base_url=endpoint.base_url, billed=False))
    assert report.ok, str(report)
    for item in ("edits", "references_arrive", "negative_prompt"):
        assert report[item].status == "passed", str(report)
