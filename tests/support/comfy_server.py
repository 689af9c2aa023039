"""A server on 127.0.0.1 that speaks ComfyUI's protocol: it validates workflows, queues and "runs" them.

    with serving_comfy() as server:
        server.script([OutOfMemory(), None])
        ...
        assert server.violations == []

It knows a handful of nodes as `/object_info` describes them. A run draws a flat picture whose colour comes
from prompt, seed and references, so a test sees whether they arrived, and in which order. What each run does
beyond that is scripted: a `Play` per run.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from loopback_bodies import read_body
from PIL import Image, PngImagePlugin
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

Inputs = Mapping[str, Any]
_INT = {"min": 16, "max": 8192}
#: Nodes as `/object_info` tells them; links are written as the type they carry.
CLASSES: dict[str, dict[str, dict[str, Any]]] = {
    "CheckpointLoaderSimple": {"required": {"ckpt_name": [["tiny.safetensors", "other.safetensors"], {}]}},
    "CLIPTextEncode": {"required": {"text": ["STRING", {"multiline": True}], "clip": ["CLIP"]}},
    "EmptyLatentImage": {
        "required": {"width": ["INT", _INT], "height": ["INT", _INT], "batch_size": ["INT", {"min": 1, "max": 64}]}
    },
    "LoadImage": {"required": {"image": ["COMBO", {"options": ["example.png"], "image_upload": True}]}},
    "ImageScale": {"required": {"image": ["IMAGE"], "width": ["INT", _INT], "height": ["INT", _INT]}},
    "VAEEncode": {"required": {"pixels": ["IMAGE"], "vae": ["VAE"]}},
    "ReferenceLatent": {"required": {"conditioning": ["CONDITIONING"]}, "optional": {"latent": ["LATENT"]}},
    "KSampler": {
        "required": {
            "model": ["MODEL"], "seed": ["INT", {"min": 0, "max": 2**64 - 1}], "steps": ["INT", {"min": 1, "max": 100}],
            "cfg": ["FLOAT", {"min": 0.0, "max": 100.0}], "sampler_name": [["euler", "ddim"], {}],
            "positive": ["CONDITIONING"], "negative": ["CONDITIONING"], "latent_image": ["LATENT"],
        }
    },
    "VAEDecode": {"required": {"samples": ["LATENT"], "vae": ["VAE"]}},
    "SaveImage": {"required": {"images": ["IMAGE"], "filename_prefix": ["STRING", {}]}},
    "PreviewImage": {"required": {"images": ["IMAGE"]}},
}  # fmt: skip
_ENDS = ("SaveImage", "PreviewImage")
_STEPS = 4


@dataclass
class Play:
    """What one run does.

    Attributes:
        step_s: Seconds a step of the sampler takes.
        error: An exception's type and message, raised by the sampler.
        black: The picture is black all over.
        pictures: How many it makes per image node; `None`: as `batch_size` says.
        previews: A preview is told with every step.
        silent: Nothing is told of this run.
        drop: The websocket is closed once the run began.
        forget: The server forgets the run in its middle, as one does that was restarted.
        body: What `/view` answers in place of the picture.
        interrupted: Somebody else stops it.
    """

    step_s: float = 0.0
    error: tuple[str, str] | None = None
    black: bool = False
    pictures: int | None = None
    previews: bool = False
    silent: bool = False
    drop: bool = False
    forget: bool = False
    body: bytes | None = None
    interrupted: bool = False


@dataclass
class Run:
    """One run, as it was sent."""

    prompt_id: str
    client_id: str
    nodes: dict[str, Any]
    extra: dict[str, Any]
    play: Play
    steps: int = 0
    state: str = "pending"
    stop: bool = False

    def inputs(self, class_type: str) -> list[Inputs]:
        """The inputs of its nodes of a class."""
        return [node["inputs"] for node in self.nodes.values() if node["class_type"] == class_type]


@dataclass
class Refusal:
    """An answer to any request in place of the real one."""

    status: int
    body: str = ""
    html: bool = False


@dataclass
class ComfyServer:
    """The server; use it through `serving_comfy`.

    Attributes:
        base_url: Its address.
        runs: Every run that was taken, in order.
        uploads: Uploaded files by `subfolder/name`.
        violations: What was wrong with requests beyond what a workflow's author can do.
        refusals: What a path answers instead, once each.
        websocket: Whether there is one.
        own_ids: It names runs itself, as older servers do.
    """

    base_url: str = ""
    runs: list[Run] = field(default_factory=list)
    uploads: dict[str, bytes] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    refusals: dict[str, Refusal] = field(default_factory=dict)
    websocket: bool = True
    own_ids: bool = False
    headers: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._plays: list[Play] = []
        self._history: dict[str, Any] = {}
        self._files: dict[str, bytes] = {}
        self._sockets: dict[str, WebSocket] = {}
        self._queue: list[Run] = []
        self._news = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None
        self.stopping = False

    def script(self, plays: list[Play]) -> None:
        """Say what the next runs do."""
        self._plays = list(plays)

    def reset(self) -> None:
        """Forget everything; the server goes on, for the next test."""
        self.runs.clear()
        self.uploads.clear()
        self.violations.clear()
        self.refusals.clear()
        self.headers.clear()
        self._plays, self._history, self._files = [], {}, {}
        self.websocket, self.own_ids = True, False

    def wait(self, true: Callable[[], bool], *, timeout_s: float = 5.0) -> bool:
        """Wait until something is so; call it in a thread where a loop is running."""
        until = time.monotonic() + timeout_s
        while not true() and time.monotonic() < until:
            time.sleep(0.002)
        return true()

    # --- requests -------------------------------------------------------------------------------

    def app(self) -> Starlette:
        """The application."""
        routes = [
            Route("/prompt", self._guarded(self._prompt), methods=["POST"]),
            Route("/upload/image", self._guarded(self._upload), methods=["POST"]),
            Route("/history/{id}", self._guarded(self._told), methods=["GET"]),
            Route("/object_info/{name}", self._guarded(self._info), methods=["GET"]),
            Route("/queue", self._guarded(self._waiting), methods=["GET", "POST"]),
            Route("/interrupt", self._guarded(self._interrupt), methods=["POST"]),
            Route("/view", self._guarded(self._view), methods=["GET"]),
            WebSocketRoute("/ws", self._listen),
        ]
        return Starlette(routes=routes)

    def _guarded(self, answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def guarded(request: Request) -> Response:
            self.headers.append(dict(request.headers))
            path = "/" + request.url.path.strip("/").partition("/")[0]
            refusal = self.refusals.get(path)
            if refusal is not None:
                if refusal.html:
                    return HTMLResponse(refusal.body, refusal.status)
                return Response(refusal.body, refusal.status, media_type="application/json")
            return await answer(request)

        return guarded

    async def _prompt(self, request: Request) -> Response:
        body = await request.json()
        nodes = body.get("prompt")
        if not isinstance(nodes, dict) or not isinstance(body.get("client_id"), str):
            self.violations.append("a prompt without nodes or client_id")
            return JSONResponse({"error": {"type": "no_prompt", "message": "No prompt provided"}}, 400)
        refused = _refused(nodes, self.uploads)
        if refused is not None:
            return JSONResponse(refused, 400)
        prompt_id = f"own-{len(self.runs)}" if self.own_ids else str(body.get("prompt_id"))
        play = self._plays.pop(0) if self._plays else Play()
        run = Run(prompt_id, body["client_id"], nodes, body.get("extra_data") or {}, play)
        self.runs.append(run)
        self._queue.append(run)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return JSONResponse({"prompt_id": prompt_id, "number": len(self.runs), "node_errors": {}})

    async def _upload(self, request: Request) -> Response:
        fields, files = read_body(request.headers.get("content-type", ""), await request.body())
        if [file.field for file in files] != ["image"] or not files[0].mime.startswith("image/"):
            self.violations.append("an upload that is no picture")
            return Response("", 400)
        folder, name, data = fields.get("subfolder", ""), files[0].name, files[0].data
        with Image.open(io.BytesIO(data)) as opened:
            opened.verify()
        self.uploads[f"{folder}/{name}" if folder else name] = data
        return JSONResponse({"name": name, "subfolder": folder, "type": "input"})

    async def _told(self, request: Request) -> Response:
        name = request.path_params["id"]
        return JSONResponse({name: self._history[name]} if name in self._history else {})

    async def _info(self, request: Request) -> Response:
        name = request.path_params["name"]
        return JSONResponse({name: {"input": CLASSES[name]}} if name in CLASSES else {})

    async def _waiting(self, request: Request) -> Response:
        if request.method == "POST":
            gone = set((await request.json()).get("delete", ()))
            for run in [run for run in self._queue if run.prompt_id in gone and run.state == "pending"]:
                run.state = "deleted"
                self._queue.remove(run)
            return Response("")
        rows = [[number, run.prompt_id, run.nodes, {}, []] for number, run in enumerate(self._queue)]
        running = [row for row, run in zip(rows, self._queue, strict=True) if run.state == "running"]
        return JSONResponse({"queue_running": running, "queue_pending": [row for row in rows if row not in running]})

    async def _interrupt(self, request: Request) -> Response:
        wanted = (await request.json()).get("prompt_id")
        for run in self._queue:
            if run.state == "running" and wanted in (None, run.prompt_id):
                run.stop = True
        return Response("")

    async def _view(self, request: Request) -> Response:
        name = request.query_params.get("filename", "")
        if name not in self._files:
            return Response("", 404)
        return Response(self._files[name], media_type="image/png")

    async def _listen(self, websocket: WebSocket) -> None:
        if not self.websocket:
            await websocket.close()
            return
        await websocket.accept()
        client = websocket.query_params.get("clientId", "")
        self._sockets[client] = websocket
        await websocket.send_text(json.dumps({"type": "status", "data": {"status": {}, "sid": client}}))
        with suppress(WebSocketDisconnect, RuntimeError):
            while not self.stopping:
                await websocket.receive_text()
        self._sockets.pop(client, None)

    # --- the queue ------------------------------------------------------------------------------

    async def _work(self) -> None:
        while self._queue:
            run = self._queue[0]
            run.state = "running"
            try:
                await self._run(run)
            finally:
                with suppress(ValueError):
                    self._queue.remove(run)

    async def _run(self, run: Run) -> None:
        play, told = run.play, []
        sampler = next((name for name, node in run.nodes.items() if node["class_type"] == "KSampler"), "?")
        await self._tell(run, "execution_start", told)
        await self._tell(run, "executing", told, node=sampler)
        if play.drop and run.client_id in self._sockets:
            await self._sockets.pop(run.client_id).close()
        for step in range(_STEPS):
            await asyncio.sleep(play.step_s)
            if play.forget:
                run.state = "forgotten"
                return
            if run.stop or play.interrupted:
                run.state = "interrupted"
                await self._tell(run, "execution_interrupted", told, node_id=sampler, node_type="KSampler", executed=[])
                self._history[run.prompt_id] = _entry({}, "error", told)
                return
            if play.error is not None:
                run.state = "failed"
                kind, words = play.error
                await self._tell(
                    run, "execution_error", told, node_id=sampler, node_type="KSampler", exception_type=kind,
                    exception_message=words, traceback=["secret path"], executed=[],
                )  # fmt: skip
                self._history[run.prompt_id] = _entry({}, "error", told)
                return
            run.steps = step + 1
            await self._tell(run, "progress", told, value=step + 1, max=_STEPS, node=sampler)
            if play.previews:
                await self._preview(run, step)
        outputs: dict[str, Any] = {}
        for name, node in run.nodes.items():
            if node["class_type"] in _ENDS:
                outputs[name] = {"images": self._pictures(run, name, node)}
                await self._tell(run, "executed", told, node=name, output=outputs[name])
        await self._tell(run, "execution_success", told)
        self._history[run.prompt_id] = _entry(outputs, "success", told)
        run.state = "done"
        await self._tell(run, "executing", [], node=None)

    async def _tell(self, run: Run, kind: str, told: list[Any], **data: Any) -> None:
        data["prompt_id"] = run.prompt_id
        told.append([kind, data])
        socket = self._sockets.get(run.client_id)
        if socket is not None and not run.play.silent:
            with suppress(WebSocketDisconnect, RuntimeError):
                await socket.send_text(json.dumps({"type": kind, "data": data}))

    async def _preview(self, run: Run, step: int) -> None:
        socket = self._sockets.get(run.client_id)
        if socket is None:
            return
        buffer = io.BytesIO()
        Image.new("RGB", (16, 16), (step * 10, 90, 90)).save(buffer, "JPEG")
        if step % 2:
            metadata = json.dumps({"node_id": "3", "prompt_id": run.prompt_id}).encode()
            head = struct.pack(">II", 4, len(metadata)) + metadata
        else:
            head = struct.pack(">II", 1, 1)
        with suppress(WebSocketDisconnect, RuntimeError):
            await socket.send_bytes(head + buffer.getvalue())

    def _pictures(self, run: Run, name: str, node: Mapping[str, Any]) -> list[dict[str, str]]:
        latents = run.inputs("EmptyLatentImage")
        loaded = [inputs["image"] for inputs in run.inputs("LoadImage")]
        size = (latents[0]["width"], latents[0]["height"]) if latents else _size(self.uploads[loaded[0]])
        count = run.play.pictures
        count = (latents[0]["batch_size"] if latents else 1) if count is None else count
        made: list[dict[str, str]] = []
        for index in range(count):
            words = [inputs["text"] for inputs in run.inputs("CLIPTextEncode")]
            seeds = [inputs["seed"] for inputs in run.inputs("KSampler")]
            seen = [hashlib.sha256(self.uploads[one]).hexdigest() for one in loaded if one in self.uploads]
            digest = hashlib.sha256(json.dumps([words, seeds, seen, index]).encode()).digest()
            colour = (0, 0, 0) if run.play.black else (digest[0] | 1, digest[1], digest[2])
            buffer, chunks = io.BytesIO(), PngImagePlugin.PngInfo()
            chunks.add_text("prompt", json.dumps(run.nodes))
            Image.new("RGB", size, colour).save(buffer, "PNG", pnginfo=chunks)
            kind = "output" if node["class_type"] == "SaveImage" else "temp"
            file = f"{run.prompt_id}_{name}_{index}.png"
            self._files[file] = buffer.getvalue() if run.play.body is None else run.play.body
            made.append({"filename": file, "subfolder": "", "type": kind})
        return made


def _size(data: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(data)) as opened:
        return opened.size


def _entry(outputs: Mapping[str, Any], status: str, told: list[Any]) -> dict[str, Any]:
    told = [one for one in told if one[0].startswith("execution_")]
    return {"outputs": outputs, "status": {"status_str": status, "completed": status == "success", "messages": told}}


def _refused(nodes: Mapping[str, Any], uploads: Mapping[str, bytes]) -> dict[str, Any] | None:
    """What the real server says of a workflow that cannot run, in its own form."""
    for name, node in nodes.items():
        kind = node.get("class_type") if isinstance(node, dict) else None
        if kind not in CLASSES:
            told = {"node_id": name, "class_type": kind, "node_title": kind}
            message = f"Node '{kind}' not found. The custom node may not be installed."
            return {
                "error": {"type": "missing_node_type", "message": message, "details": "", "extra_info": told},
                "node_errors": {},
            }
    if not any(node["class_type"] in _ENDS for node in nodes.values()):
        error = {"type": "prompt_no_outputs", "message": "Prompt has no outputs", "details": "", "extra_info": {}}
        return {"error": error, "node_errors": {}}
    wrong = {name: found for name, node in nodes.items() if (found := list(_errors(node, nodes, uploads)))}
    if not wrong:
        return None
    message = {"type": "prompt_outputs_failed_validation", "message": "Prompt outputs failed validation"}
    held = {
        name: {"errors": errors, "dependent_outputs": ["9"], "class_type": nodes[name]["class_type"]}
        for name, errors in wrong.items()
    }
    return {"error": {**message, "details": "", "extra_info": {}}, "node_errors": held}


def _errors(
    node: Mapping[str, Any], nodes: Mapping[str, Any], uploads: Mapping[str, bytes]
) -> Generator[dict[str, Any]]:
    described = CLASSES[node["class_type"]]
    for group in ("required", "optional"):
        for key, spec in described.get(group, {}).items():
            value = node["inputs"].get(key)
            told = {"input_name": key, "input_config": spec, "received_value": value}
            if value is None:
                if group == "required":
                    yield _error("required_input_missing", "Required input is missing", key, {"input_name": key})
                continue
            kind, limits = spec[0], spec[1] if len(spec) > 1 else {}
            if isinstance(value, list):
                if len(value) != 2 or value[0] not in nodes:
                    yield _error("bad_linked_input", "Bad linked input", key, told)
            elif node["class_type"] == "LoadImage" and key == "image":
                if value not in uploads and value not in limits["options"]:
                    yield _error(
                        "custom_validation_failed",
                        "Custom validation failed for node",
                        f"{key} - Invalid image file: {value}",
                        told,
                    )
            elif isinstance(kind, list):
                if value not in kind:
                    yield _error("value_not_in_list", "Value not in list", f"{key}: '{value}' not in {kind}", told)
            elif kind in ("INT", "FLOAT"):
                if isinstance(value, bool) or not isinstance(value, int if kind == "INT" else int | float):
                    yield _error("invalid_input_type", f"Failed to convert an input value to a {kind} value", key, told)
                elif value < limits["min"]:
                    yield _error(
                        "value_smaller_than_min", f"Value {value} smaller than min of {limits['min']}", key, told
                    )
                elif value > limits["max"]:
                    yield _error(
                        "value_bigger_than_max", f"Value {value} bigger than max of {limits['max']}", key, told
                    )
            elif kind == "STRING":
                if not isinstance(value, str):
                    yield _error("invalid_input_type", "no text", key, told)
            else:
                yield _error(
                    "bad_linked_input", "Bad linked input, must be a length-2 list of [node_id, slot_index]", key, told
                )


def _error(kind: str, message: str, details: str, told: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": kind, "message": message, "details": details, "extra_info": dict(told)}


# Workflows to run on it.


def text_workflow(**sampler: Any) -> dict[str, Any]:
    """A picture from words."""
    return {
        "4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "tiny.safetensors"}},
        "5": {
            "class_type": "EmptyLatentImage",
            "inputs": {"width": "{{width}}", "height": "{{height}}", "batch_size": 1},
        },
        "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "{{prompt}}, ink", "clip": ["4", 1]}},
        "7": {"class_type": "CLIPTextEncode", "inputs": {"text": "{{negative_prompt}}", "clip": ["4", 1]}},
        "3": {
            "class_type": "KSampler",
            "inputs": {
                "model": ["4", 0], "seed": "{{seed}}", "steps": 4, "cfg": 1.0, "sampler_name": "euler",
                "positive": ["6", 0], "negative": ["7", 0], "latent_image": ["5", 0], **sampler,
            },
        },
        "8": {"class_type": "VAEDecode", "inputs": {"samples": ["3", 0], "vae": ["4", 2]}},
        "9": {
            "class_type": "SaveImage",
            "inputs": {"images": ["8", 0], "filename_prefix": "step"},
            "_meta": {"title": "the picture"},
        },
    }  # fmt: skip


def reference_workflow(count: int = 2) -> dict[str, Any]:
    """The same, conditioned on pictures: each through `LoadImage`, `ImageScale`, `VAEEncode`, `ReferenceLatent`."""
    nodes = text_workflow()
    before = "6"
    for index in range(count):
        at = 20 + 10 * index
        nodes[f"{at}"] = {"class_type": "LoadImage", "inputs": {"image": f"{{{{reference_{index}}}}}"}}
        nodes[f"{at + 1}"] = {
            "class_type": "ImageScale",
            "inputs": {"image": [f"{at}", 0], "width": "{{width}}", "height": "{{height}}"},
        }
        nodes[f"{at + 2}"] = {"class_type": "VAEEncode", "inputs": {"pixels": [f"{at + 1}", 0], "vae": ["4", 2]}}
        nodes[f"{at + 3}"] = {
            "class_type": "ReferenceLatent",
            "inputs": {"conditioning": [before, 0], "latent": [f"{at + 2}", 0]},
        }
        before = f"{at + 3}"
    nodes["3"]["inputs"]["positive"] = [before, 0]
    return nodes


def shuffled(nodes: Mapping[str, Any], seed: int = 0) -> dict[str, Any]:
    """The same workflow with its nodes in another order."""
    names = list(nodes)
    random.Random(seed).shuffle(names)
    return {name: nodes[name] for name in names}


@contextmanager
def serving_comfy() -> Generator[ComfyServer]:
    """Run a server on a free port of 127.0.0.1 while the block runs."""
    server = ComfyServer()
    listening = socket.create_server(("127.0.0.1", 0))
    server.base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    config = uvicorn.Config(
        server.app(), log_config=None, log_level="critical", access_log=False, lifespan="off",
        ws="websockets-sansio", http="h11", loop="asyncio", proxy_headers=False, timeout_graceful_shutdown=1,
    )  # fmt: skip
    running = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve(sockets=[listening])), daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 10
        while not running.started:
            assert thread.is_alive() and time.monotonic() < until, "the server did not start"
            time.sleep(0.002)
        yield server
    finally:
        server.stopping = True
        running.should_exit = True
        thread.join(10)
        listening.close()
        assert not thread.is_alive(), "the server did not stop"
