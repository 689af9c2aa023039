from __future__ import annotations

import asyncio
import io
import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from comfy_server import ComfyServer, Play, Refusal, reference_workflow, serving_comfy, shuffled, text_workflow
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from langgraph_interleave.backends import comfyui_run
from langgraph_interleave.backends.comfyui import ComfyUIBackend, harmless
from langgraph_interleave.backends.comfyui_server import ComfyUIServer
from langgraph_interleave.backends.comfyui_workflow import Workflow
from langgraph_interleave.errors import (
    BadResponse,
    CallTimeout,
    ConfigError,
    InvalidRequest,
    NoImage,
    Unavailable,
)
from langgraph_interleave.imaging import load_image, provenance
from langgraph_interleave.testing.conformance import check_backend
from langgraph_interleave.types import ImageBytes, ImageRequest, ImageResult, Progress

SMALL: dict[str, Any] = {"width": 64, "height": 64}


@pytest.fixture(scope="module")
def running() -> Iterator[ComfyServer]:
    with serving_comfy() as server:
        yield server


@pytest.fixture
def server(running: ComfyServer) -> Iterator[ComfyServer]:
    running.reset()
    yield running
    assert running.violations == []


def picture(colour: str, size: tuple[int, int] = (64, 48)) -> ImageBytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return load_image(buffer.getvalue())


async def draw(server: ComfyServer, request: ImageRequest, workflow: Any = None, **options: Any) -> ImageResult:
    backend = ComfyUIBackend(text_workflow() if workflow is None else workflow, server.base_url, **options)
    try:
        return await backend.agenerate(request)
    finally:
        await backend.aclose()


def colour(image: ImageBytes) -> Any:
    with Image.open(io.BytesIO(image.data)) as opened:
        return opened.convert("RGB").getpixel((0, 0))


# The workflow.


def test_a_placeholder_that_is_the_whole_input_keeps_its_type() -> None:
    flow = Workflow.read(text_workflow())
    values = {"prompt": "a cup", "negative_prompt": "", "seed": 2**32 - 1, "width": 64, "height": 48}
    nodes = flow.filled(values, lambda _: None)
    assert nodes["3"]["inputs"]["seed"] == 2**32 - 1
    assert nodes["5"]["inputs"] == {"width": 64, "height": 48, "batch_size": 1}
    assert nodes["6"]["inputs"]["text"] == "a cup, ink"
    assert flow.nodes["6"]["inputs"]["text"] == "{{prompt}}, ink"


@given(prompt=st.text(max_size=60), seed=st.integers(0, 2**32 - 1))
def test_whatever_the_prompt_says_is_sent_as_it_is_and_nothing_else_changes(prompt: str, seed: int) -> None:
    flow = Workflow.read(reference_workflow(1))
    values = {"prompt": prompt, "negative_prompt": "{{seed}}", "seed": seed, "width": 16, "height": 16}
    nodes = flow.filled({**values, "reference_0": "a.png"}, lambda _: None)
    assert json.loads(json.dumps(nodes)) == nodes
    assert nodes["6"]["inputs"]["text"] == f"{prompt}, ink"
    assert nodes["7"]["inputs"]["text"] == "{{seed}}"
    assert set(nodes) == set(flow.nodes)
    assert nodes["9"] == flow.nodes["9"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"6": {"class_type": "CLIPTextEncode", "inputs": {"text": "fixed"}}}, "no place for the prompt"),
        ({"10": {"class_type": "X", "inputs": {"a": ["{{promt}}"]}}}, "{{promt}}"),
        ({"10": {"class_type": "LoadImage", "inputs": {"image": "{{reference_1}}"}}}, "from 0"),
        ({"10": {"inputs": {}}}, "'10' is no node"),
        ({"10": "x"}, "'10' is no node"),
        ({"10": {"class_type": "X", "inputs": []}}, "no inputs"),
        ({"nodes": [], "links": []}, "editor's format"),
    ],
)
def test_a_workflow_that_cannot_be_used_says_why(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Workflow.read({**text_workflow(), **change})
    assert said in str(caught.value)
    assert caught.value.remedy


def test_a_workflow_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps({"prompt": text_workflow()}), encoding="utf-8")
    assert Workflow.read(path).digest == Workflow.read(shuffled(text_workflow())).digest
    renamed = text_workflow()
    renamed["9"]["_meta"]["title"] = "other"
    assert Workflow.read(renamed).digest == Workflow.read(path).digest
    assert Workflow.read(text_workflow(steps=5)).digest != Workflow.read(path).digest
    for text, said in (("{", "no JSON"), ("[]", "no JSON object"), ("{}", "no nodes")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=said):
            Workflow.read(str(path))
    with pytest.raises(ConfigError, match="cannot be read"):
        Workflow.read(tmp_path / "none.json")


# Drawing.


async def test_it_draws_what_was_asked_for(server: ComfyServer) -> None:
    request = ImageRequest("a red cup", seed=7, negative_prompt="text", **SMALL)
    result = await draw(server, request)
    [image] = result.images
    assert (image.width, image.height, image.seed) == (64, 64, 7)
    assert result.warnings == ()
    assert result.usage.images == 1
    assert result.usage.cost_usd == 0
    [run] = server.runs
    assert run.inputs("CLIPTextEncode")[0]["text"] == "a red cup, ink"
    assert run.inputs("CLIPTextEncode")[1]["text"] == "text"
    again = await draw(server, request)
    assert again.images[0].data == image.data
    other = await draw(server, ImageRequest("a red cup", seed=8, negative_prompt="text", **SMALL))
    assert colour(other.images[0]) != colour(image)


async def test_the_workflow_and_the_prompt_do_not_stay_in_the_file(server: ComfyServer) -> None:
    result = await draw(server, ImageRequest("a secret", **SMALL))
    assert b"secret" not in result.images[0].data
    assert b"tEXt" not in result.images[0].data
    assert provenance.read(result.images[0].data).source_type == "trainedAlgorithmicMedia"
    plain = await draw(server, ImageRequest("a secret", **SMALL), marked=False)
    assert provenance.read(plain.images[0].data).source_type is None


async def test_a_broken_reference_is_refused_before_it_is_sent(server: ComfyServer) -> None:
    broken = ImageBytes(b"\x89PNG\r\n\x1a\nbroken", "image/png", 8, 8)
    with pytest.raises(InvalidRequest, match="Reference 1"):
        await draw(server, ImageRequest("x", references=[broken]), reference_workflow(1))
    assert server.uploads == {}


@pytest.mark.slow
def test_it_passes_the_conformance_suite(server: ComfyServer) -> None:
    flows = text_workflow(), reference_workflow(2)
    report = check_backend(lambda: ComfyUIBackend(flows[0], server.base_url, edit_workflow=flows[1]))
    assert [finding for finding in report.findings if finding.status not in ("passed", "not applicable")] == []


async def test_progress_is_told_with_previews(server: ComfyServer) -> None:
    told: list[Progress] = []
    server.script([Play(previews=True)])
    backend = ComfyUIBackend(text_workflow(), server.base_url)
    await backend.agenerate(ImageRequest("x", **SMALL), on_progress=told.append)
    await backend.aclose()
    assert [one.step for one in told if one.preview is None] == [1, 2, 3, 4]
    assert {one.total for one in told} == {4}
    previews = [one.preview for one in told if one.preview is not None]
    assert len(previews) == 4
    assert all((one.width, one.height, one.mime) == (16, 16, "image/jpeg") for one in previews)


async def test_references_arrive_in_order(server: ComfyServer) -> None:
    red, blue = picture("red"), picture("blue")
    flow = reference_workflow(2)

    async def drawn(*references: ImageBytes) -> Any:
        return colour((await draw(server, ImageRequest("x", references=references, seed=1, **SMALL), flow)).images[0])

    one, two = await drawn(red, blue), await drawn(blue, red)
    assert one != two
    assert [server.uploads[inputs["image"]] for inputs in server.runs[0].inputs("LoadImage")] == [red.data, blue.data]
    assert await drawn(red, blue) == one


async def test_fewer_references_leave_out_what_needs_the_others(server: ComfyServer) -> None:
    flow = reference_workflow(2)
    result = await draw(server, ImageRequest("x", references=[picture("red")], seed=1), flow)
    assert (result.images[0].width, result.images[0].height) == (64, 48)
    [run] = server.runs
    assert len(run.inputs("LoadImage")) == len(run.inputs("ImageScale")) == len(run.inputs("VAEEncode")) == 1
    assert [sorted(inputs) for inputs in run.inputs("ReferenceLatent")] == [
        ["conditioning", "latent"],
        ["conditioning"],
    ]
    await draw(server, ImageRequest("x", seed=1, **SMALL), flow, generate=True)
    assert server.runs[1].inputs("LoadImage") == []


async def test_a_workflow_that_needs_its_references_says_so(server: ComfyServer) -> None:
    flow = text_workflow()
    flow["20"] = {"class_type": "LoadImage", "inputs": {"image": "{{reference_0}}"}}
    flow["21"] = {"class_type": "VAEEncode", "inputs": {"pixels": ["20", 0], "vae": ["4", 2]}}
    flow["3"]["inputs"]["latent_image"] = ["21", 0]
    with pytest.raises(InvalidRequest, match="draws from references only"):
        await draw(server, ImageRequest("x"), flow)
    with pytest.raises(InvalidRequest, match="draws from 1 references, and 0 were given"):
        await draw(server, ImageRequest("x"), flow, generate=True)
    with pytest.raises(InvalidRequest, match="2 references are too many"):
        await draw(server, ImageRequest("x", references=[picture("red")] * 2), flow)
    both = await draw(server, ImageRequest("x", references=[picture("red")]), text_workflow(), edit_workflow=flow)
    assert both.images
    assert len(server.runs) == 1


async def test_several_pictures_are_as_many_runs_with_seeds_of_their_own(server: ComfyServer) -> None:
    result = await draw(server, ImageRequest("x", n=3, seed=2**32 - 1, **SMALL))
    assert [image.seed for image in result.images] == [2**32 - 1, 0, 1]
    assert [run.inputs("KSampler")[0]["seed"] for run in server.runs] == [2**32 - 1, 0, 1]
    alone = await draw(server, ImageRequest("x", seed=0, **SMALL))
    assert alone.images[0].data == result.images[1].data


async def test_a_batch_is_one_run_where_the_workflow_has_a_place_for_it(server: ComfyServer) -> None:
    flow = text_workflow()
    flow["5"]["inputs"]["batch_size"] = "{{n}}"
    backend = ComfyUIBackend(flow, server.base_url)
    assert backend.capabilities.seed == "ignored"
    result = await backend.agenerate(ImageRequest("x", n=3, seed=5, **SMALL))
    await backend.aclose()
    assert len(server.runs) == 1
    assert len({image.data for image in result.images}) == 3
    assert result.warnings == ()


async def test_more_or_fewer_pictures_than_asked_for_are_told(server: ComfyServer) -> None:
    server.script([Play(pictures=3), Play(pictures=0)])
    result = await draw(server, ImageRequest("x", **SMALL))
    assert len(result.images) == 1
    assert result.warnings == ("The workflow made 3 pictures; the first 1 were kept.",)
    with pytest.raises(NoImage, match="left no picture"):
        await draw(server, ImageRequest("x", **SMALL))


async def test_saved_pictures_go_before_previews_and_one_node_can_be_named(server: ComfyServer) -> None:
    flow = text_workflow()
    flow["1"] = {"class_type": "PreviewImage", "inputs": {"images": ["8", 0]}}
    flow["12"] = {"class_type": "SaveImage", "inputs": {"images": ["8", 0], "filename_prefix": "second"}}
    assert len((await draw(server, ImageRequest("x", **SMALL), flow)).images) == 1
    for node, told in (("the picture", ()), ("12", ())):
        assert (await draw(server, ImageRequest("x", **SMALL), flow, output_node=node)).warnings == told
    with pytest.raises(ConfigError, match="no node 'other'"):
        await draw(server, ImageRequest("x", **SMALL), flow, output_node="other")


async def test_the_size_asked_for_is_snapped_and_told(server: ComfyServer) -> None:
    result = await draw(server, ImageRequest("x", width=70, height=50))
    assert (result.images[0].width, result.images[0].height) == (64, 48)
    assert result.warnings == ("70x50 was asked for; the workflow draws 64x48.",)
    fixed = text_workflow()
    fixed["5"]["inputs"] = {"width": 96, "height": 96, "batch_size": 1}
    result = await draw(server, ImageRequest("x", **SMALL), fixed)
    assert result.warnings == ("The workflow drew 96x96, not 64x64; it has no place for a size.",)


def test_a_models_words_neither_load_files_nor_set_weights() -> None:
    said: list[str] = []
    assert "embedding:" not in harmless("EMBEDDING: x, (cup:1.9)", said)
    assert said
    assert harmless("a cup <lora:evil:1<>", []) == "a cup evil:1<>"
    assert harmless("(cup:1.9) at 16:9 (a: b)", []) == "(cup:1.9,) at 16:9 (a: b)"


# What is missing, by name.


async def test_a_missing_node_is_named(server: ComfyServer) -> None:
    flow = text_workflow()
    flow["30"] = {"class_type": "UltraUpscale", "inputs": {"image": ["8", 0]}}
    with pytest.raises(ConfigError) as caught:
        await draw(server, ImageRequest("x", **SMALL), flow)
    assert "no node UltraUpscale (node 30" in str(caught.value)
    assert "custom nodes" in caught.value.remedy


async def test_missing_models_are_named_with_what_there_is(server: ComfyServer) -> None:
    flow = text_workflow(sampler_name="heun")
    flow["4"]["inputs"]["ckpt_name"] = "flux.safetensors"
    with pytest.raises(ConfigError) as caught:
        await draw(server, ImageRequest("x", **SMALL), flow)
    said = str(caught.value)
    assert "ckpt_name 'flux.safetensors' (there: tiny.safetensors, other.safetensors)" in said
    assert "sampler_name 'heun' (there: euler, ddim)" in said
    assert "models folder" in said


async def test_ready_finds_out_what_is_missing_before_anything_is_drawn(server: ComfyServer) -> None:
    flow = text_workflow()
    flow["4"]["inputs"]["ckpt_name"] = "flux.safetensors"
    flow["30"] = {"class_type": "UltraUpscale", "inputs": {"image": ["8", 0]}}
    backend = ComfyUIBackend(flow, server.base_url)
    with pytest.raises(ConfigError) as caught:
        await backend.aready()
    assert "there is no node UltraUpscale" in str(caught.value)
    assert "no ckpt_name 'flux.safetensors'" in str(caught.value)
    await backend.aclose()
    sound = ComfyUIBackend(reference_workflow(), server.base_url)
    await sound.aready()
    await sound.aclose()
    assert server.runs == []


async def test_what_the_request_got_wrong_is_not_blamed_on_the_workflow(server: ComfyServer) -> None:
    with pytest.raises(InvalidRequest, match="bigger than max"):
        await draw(server, ImageRequest("x", width=8704, height=64), max_pixels=10**8)


async def test_inputs_that_are_missing_are_the_workflows(server: ComfyServer) -> None:
    flow = text_workflow()
    del flow["3"]["inputs"]["model"]
    with pytest.raises(ConfigError, match=r"node 3 \(KSampler\) lacks its input model"):
        await draw(server, ImageRequest("x", **SMALL), flow)
    flow = text_workflow()
    del flow["9"]
    with pytest.raises(ConfigError, match="Prompt has no outputs"):
        await draw(server, ImageRequest("x", **SMALL), flow)


# What goes wrong.


async def test_a_failing_node_is_named_and_the_next_run_works(server: ComfyServer) -> None:
    server.script([Play(error=("RuntimeError", "shapes do not match\n/home/me/secret.py")), Play()])
    with pytest.raises(BadResponse) as caught:
        await draw(server, ImageRequest("x", **SMALL))
    assert str(caught.value).startswith("Node 3 (KSampler) of the workflow failed at comfyui at 127.0.0.1")
    assert "shapes do not match" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert not caught.value.ambiguous
    assert (await draw(server, ImageRequest("x", **SMALL))).images


@pytest.mark.parametrize(
    "error",
    [
        ("torch.OutOfMemoryError", "Allocation on device"),
        ("RuntimeError", "CUDA out of memory. Tried to allocate 2 GiB"),
    ],
)
async def test_out_of_memory_is_unavailable(server: ComfyServer, error: tuple[str, str]) -> None:
    server.script([Play(error=error)])
    with pytest.raises(Unavailable) as caught:
        await draw(server, ImageRequest("x", **SMALL))
    assert caught.value.code == "out_of_memory"


async def test_a_failure_is_found_in_the_history_too(server: ComfyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comfyui_run, "SILENCE_S", 0.05)
    server.script([Play(error=("ValueError", "bad"), silent=True), Play(interrupted=True, silent=True)])
    with pytest.raises(BadResponse, match="failed at .*: bad"):
        await draw(server, ImageRequest("x", **SMALL))
    with pytest.raises(BadResponse, match="by somebody else"):
        await draw(server, ImageRequest("x", **SMALL))


async def test_a_run_stopped_by_somebody_else_is_no_cancellation(server: ComfyServer) -> None:
    server.script([Play(interrupted=True)])
    with pytest.raises(BadResponse) as caught:
        await draw(server, ImageRequest("x", **SMALL))
    assert caught.value.code == "interrupted"


async def test_a_black_picture_is_refused(server: ComfyServer) -> None:
    server.script([Play(black=True)])
    with pytest.raises(BadResponse, match="black"):
        await draw(server, ImageRequest("x", **SMALL))


@pytest.mark.parametrize("body", [b"", b"<html>", b"\x89PNG\r\n\x1a\nbroken"])
async def test_what_is_no_picture_is_refused(server: ComfyServer, body: bytes) -> None:
    server.script([Play(body=body)])
    with pytest.raises(BadResponse):
        await draw(server, ImageRequest("x", **SMALL))


async def test_a_picture_has_a_cap(server: ComfyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_interleave.backends.comfyui.MAX_BYTES", 1_000_000)
    server.script([Play(body=b"x" * 1_200_000)])
    with pytest.raises(BadResponse, match="more than 1 MB"):
        await draw(server, ImageRequest("x", **SMALL))


# The way there.


async def test_without_a_websocket_the_history_is_asked(server: ComfyServer) -> None:
    server.websocket = False
    result = await draw(server, ImageRequest("x", **SMALL))
    assert result.images
    assert "websocket" in result.warnings[0]


@pytest.mark.parametrize("play", [Play(drop=True, step_s=0.01), Play(silent=True)], ids=["dropped", "silent"])
async def test_a_websocket_that_falls_silent_is_no_end(
    server: ComfyServer, monkeypatch: pytest.MonkeyPatch, play: Play
) -> None:
    monkeypatch.setattr(comfyui_run, "SILENCE_S", 0.05)
    server.script([play])
    assert (await draw(server, ImageRequest("x", **SMALL))).images


async def test_a_server_that_forgets_the_run_is_no_endless_wait(
    server: ComfyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comfyui_run, "SILENCE_S", 0.05)
    server.script([Play(forget=True, step_s=0.01)])
    with pytest.raises(Unavailable, match="knows nothing of the run"):
        await draw(server, ImageRequest("x", **SMALL))


async def test_older_servers_name_runs_themselves(server: ComfyServer) -> None:
    server.own_ids = True
    assert (await draw(server, ImageRequest("x", n=2, **SMALL))).images
    assert [run.prompt_id for run in server.runs] == ["own-0", "own-1"]


async def test_nobody_answers(server: ComfyServer) -> None:
    backend = ComfyUIBackend(text_workflow(), "http://127.0.0.1:9")
    with pytest.raises(Unavailable) as caught:
        await backend.agenerate(ImageRequest("x", **SMALL))
    await backend.aclose()
    assert not caught.value.ambiguous
    assert "Start ComfyUI" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "refusal", "kind", "said"),
    [
        ("/prompt", Refusal(200, "<html>hello</html>", html=True), BadResponse, "no answer of ComfyUI"),
        ("/prompt", Refusal(200, "[]"), BadResponse, "no answer of ComfyUI"),
        ("/prompt", Refusal(401, "{}"), ConfigError, ""),
        ("/prompt", Refusal(503, "busy"), Unavailable, ""),
        ("/prompt", Refusal(302, ""), Exception, ""),
        ("/history", Refusal(200, "null"), Unavailable, "knows nothing"),
        ("/view", Refusal(404, ""), Exception, ""),
    ],
)
async def test_answers_of_something_else(
    server: ComfyServer, path: str, refusal: Refusal, kind: type[Exception], said: str
) -> None:
    server.refusals[path] = refusal
    with pytest.raises(kind) as caught:
        await draw(server, ImageRequest("x", **SMALL))
    assert said in str(caught.value)
    assert type(caught.value).__module__ == "langgraph_interleave.errors"


async def test_headers_and_extra_data_are_sent_and_shown_nowhere(server: ComfyServer) -> None:
    backend = ComfyUIBackend(
        text_workflow(), server.base_url, headers={"authorization": "Bearer abc123"}, extra_data={"api_key": "def456"}
    )
    await backend.agenerate(ImageRequest("x", **SMALL))
    await backend.aclose()
    assert all(headers["authorization"] == "Bearer abc123" for headers in server.headers)
    assert server.runs[0].extra["api_key"] == "def456"
    assert not any(secret in f"{backend!r} {backend.fingerprint}" for secret in ("abc123", "def456"))


# Cancelling.


async def test_cancelling_stops_the_run_and_leaves_others_alone(server: ComfyServer) -> None:
    server.script([Play(step_s=0.05), Play()])
    backend = ComfyUIBackend(text_workflow(), server.base_url, concurrency=2)
    task = asyncio.create_task(backend.agenerate(ImageRequest("x", seed=1, **SMALL)))
    assert await asyncio.to_thread(server.wait, lambda: bool(server.runs) and server.runs[0].steps > 0)
    other = asyncio.create_task(backend.agenerate(ImageRequest("y", seed=2, **SMALL)))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await other).images
    await backend.aclose()
    assert server.runs[0].state == "interrupted"
    assert server.runs[1].state == "done"


async def test_cancelling_takes_a_waiting_run_out_of_the_queue(server: ComfyServer) -> None:
    server.script([Play(step_s=0.05), Play()])
    backend = ComfyUIBackend(text_workflow(), server.base_url, concurrency=2)
    first = asyncio.create_task(backend.agenerate(ImageRequest("x", **SMALL)))
    assert await asyncio.to_thread(server.wait, lambda: bool(server.runs) and server.runs[0].steps > 0)
    second = asyncio.create_task(backend.agenerate(ImageRequest("y", **SMALL)))
    assert await asyncio.to_thread(server.wait, lambda: len(server.runs) == 2)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert (await first).images
    await backend.aclose()
    assert server.runs[1].state == "deleted"


async def test_a_deadline_stops_the_run(server: ComfyServer) -> None:
    server.script([Play(step_s=0.3)])
    began = time.monotonic()
    with pytest.raises(CallTimeout, match="within 0.2 s"):
        await draw(server, ImageRequest("x", timeout_s=0.2, **SMALL))
    assert time.monotonic() - began < 2
    assert await asyncio.to_thread(server.wait, lambda: server.runs[0].state in ("interrupted", "deleted"))


async def test_one_at_a_time_is_one_at_a_time(server: ComfyServer) -> None:
    backend = ComfyUIBackend(text_workflow(), server.base_url)
    results = await asyncio.gather(*(backend.agenerate(ImageRequest(f"{i}", seed=i, **SMALL)) for i in range(4)))
    await backend.aclose()
    assert [result.images[0].seed for result in results] == [0, 1, 2, 3]


# The name.


def test_from_string(tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps(text_workflow()), encoding="utf-8")
    backend = ComfyUIBackend.from_string(f"{path}?base_url=http://gpu:8188&width=768&billed=yes&edit=img2img")
    assert backend.fingerprint.endswith("@gpu:8188")
    assert backend.capabilities.billed
    other = ComfyUIBackend(text_workflow(), "http://gpu:8188", width=768)
    assert other.fingerprint == backend.fingerprint
    assert ComfyUIBackend(text_workflow(), "http://gpu:8188").fingerprint != backend.fingerprint
    for text, said in (
        (f"{path}?steps=4", "no option 'steps'"),
        (f"{path}?width=wide", "width=wide"),
        (f"{path}?width=3", "too small"),
        (f"{path}?base_url=http://me:pw@gpu:8188", "password"),
        (f"{path}?base_url=gpu", "no address"),
        (f"{path}?api_key=x", "secret"),
        ("?width=5", "names no workflow"),
    ):
        with pytest.raises(ConfigError) as caught:
            ComfyUIBackend.from_string(text)
        assert said in str(caught.value)
        assert "pw" not in str(caught.value).replace("password", "")


def test_an_edit_workflow_takes_references() -> None:
    with pytest.raises(ConfigError, match="takes no references"):
        ComfyUIBackend(text_workflow(), edit_workflow=text_workflow())
    backend = ComfyUIBackend(text_workflow(), edit_workflow=reference_workflow(3))
    assert backend.capabilities.generate
    assert backend.capabilities.edit == "instruct"
    assert backend.capabilities.max_references == 3


def test_it_is_installed() -> None:
    from langgraph_interleave.backends.registry import init_image_backend

    with pytest.raises(ConfigError, match=r"none\.json cannot be read"):
        init_image_backend("comfyui:none.json")


def test_a_scheme_in_capitals_is_the_same_scheme() -> None:
    # It once switched the check of certificates off.
    server = ComfyUIServer("HTTPS://Comfy.example/base/", {})
    client: Any = server._made()
    context: ssl.SSLContext = client._transport._pool._ssl_context
    assert context.verify_mode is ssl.CERT_REQUIRED and context.check_hostname
    assert server._base_url == "https://Comfy.example/base"


def test_one_backend_serves_loop_after_loop(server: ComfyServer) -> None:
    backend = ComfyUIBackend(text_workflow(), server.base_url)

    async def three() -> int:
        requests = [ImageRequest("a ball", width=64, height=64, seed=seed) for seed in range(3)]
        done = await asyncio.gather(*(backend.agenerate(request) for request in requests))
        await backend.aclose()
        return len(done)

    # Somebody waits for a turn in both loops.
    assert [asyncio.run(three()), asyncio.run(three())] == [3, 3]
