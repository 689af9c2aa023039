"""The backend `hf_inference`, over loopback: what is sent, what comes back, what goes wrong."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from PIL import Image

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


class Endpoint:
    """An inference endpoint that answers what it is told, and remembers what it was sent."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.status, self.body, self.kind = 200, FINAL.data, "image/png"
        self.headers: dict[str, str] = {}
        self.delay_s = 0.0
        self.draw: Callable[[bytes], bytes] | None = None
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                endpoint.requests.append(({k.lower(): v for k, v in self.headers.items()}, self.rfile.read(length)))
                time.sleep(endpoint.delay_s)
                body = endpoint.body if endpoint.draw is None else endpoint.draw(endpoint.requests[-1][1])
                try:
                    self.send_response(endpoint.status)
                    self.send_header("content-type", endpoint.kind)
                    self.send_header("content-length", str(len(body)))
                    for name, value in endpoint.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    return

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/draw"

    @property
    def sent(self) -> dict[str, Any]:
        return json.loads(self.requests[-1][1])


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    from huggingface_hub import constants

    # It refuses to speak to anybody where the hub is off, as it is in these tests.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    made = Endpoint()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def drawn(endpoint: Endpoint, request: ImageRequest, **options: Any) -> ImageResult:
    backend = HfInferenceBackend(base_url=endpoint.url, **FIXED | options)
    assert isinstance(backend, ImageBackend)

    async def once() -> ImageResult:
        try:
            return await backend.agenerate(request)
        finally:
            await backend.aclose()

    return asyncio.run(once())


def test_it_draws_and_keeps_the_bytes(endpoint: Endpoint) -> None:
    request = ImageRequest("a pot", width=512, height=384, seed=7, negative_prompt="people")
    result = drawn(endpoint, request, num_inference_steps=4, guidance_scale=1.0)
    [image] = result.images
    assert image.data == FINAL.data
    assert (image.width, image.seed) == (32, 7)
    assert any("512x384 was asked for" in warning for warning in result.warnings)
    told = json.dumps(endpoint.sent)
    for word in ("a pot", '"width": 512', '"seed": 7', '"num_inference_steps": 4', "people"):
        assert word in told
    assert endpoint.requests[0][0]["authorization"] == "Bearer hf_secretsecret"
    assert result.usage.images == 1
    assert result.usage.cost_usd == 0.0


def test_it_edits_one_reference(endpoint: Endpoint) -> None:
    reference = noise_card("before", side=24)
    assert drawn(endpoint, ImageRequest("make it blue", references=[reference])).images[0].data == FINAL.data
    assert endpoint.sent["inputs"] == base64.b64encode(reference.data).decode()
    assert "make it blue" in json.dumps(endpoint.sent)
    with pytest.raises(InvalidRequest, match="takes 1"):
        drawn(endpoint, ImageRequest("x", references=[reference, reference]))
    with pytest.raises(InvalidRequest, match="takes 0"):
        drawn(endpoint, ImageRequest("x", references=[reference]), edits=False)
    assert len(endpoint.requests) == 1


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
    endpoint: Endpoint, status: int, body: bytes, headers: dict[str, str], error: type[Exception]
) -> None:
    endpoint.status, endpoint.body, endpoint.headers = status, body, headers
    endpoint.kind = "application/json" if body.startswith(b"{") else "text/html"
    with pytest.raises(error) as raised:
        drawn(endpoint, ImageRequest("a pot"))
    assert len(endpoint.requests) == 1
    assert "secretsecret" not in str(raised.value)
    if isinstance(raised.value, RateLimited):
        assert raised.value.retry_after == 2


def test_a_deadline_and_nobody_there(endpoint: Endpoint) -> None:
    endpoint.delay_s = 0.6
    with pytest.raises(CallTimeout):
        drawn(endpoint, ImageRequest("a pot", timeout_s=0.2))
    assert len(endpoint.requests) == 1
    gone = Endpoint()
    gone.server.server_close()
    with pytest.raises(Unavailable) as raised:
        drawn(gone, ImageRequest("a pot"))
    assert not raised.value.ambiguous


def test_an_endpoint_of_ones_own_needs_no_key_and_is_sent_none(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn(endpoint, ImageRequest("a pot"), api_key=None)
    assert endpoint.requests[0][0].get("authorization", "") == ""
    with pytest.raises(ConfigError, match="HF_TOKEN"):
        HfInferenceBackend("org/model")
    monkeypatch.setenv("HF_TOKEN", "hf_fromenvironment")
    drawn(endpoint, ImageRequest("a pot"), api_key=None)
    assert endpoint.requests[1][0]["authorization"] == "Bearer hf_fromenvironment"


def test_the_hub_switched_off_is_said(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match="HF_HUB_OFFLINE"):
        drawn(endpoint, ImageRequest("a pot"))
    assert endpoint.requests == []


def test_by_name(endpoint: Endpoint) -> None:
    made = init_image_backend(f"hf_inference:org/model?base_url={endpoint.url}&billed=no&num_inference_steps=2")
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
def test_what_cannot_be_asked(endpoint: Endpoint, request_: ImageRequest) -> None:
    with pytest.raises(InvalidRequest):
        drawn(endpoint, request_)
    assert endpoint.requests == []


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


def test_it_conforms(endpoint: Endpoint) -> None:
    endpoint.draw = by_rule
    report = check_backend(lambda: HfInferenceBackend("org/model", base_url=endpoint.url, billed=False))
    assert report.ok, str(report)
    for item in ("edits", "references_arrive", "negative_prompt"):
        assert report[item].status == "passed", str(report)
