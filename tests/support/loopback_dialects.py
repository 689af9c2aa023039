"""Servers that are not OpenAI's, as far as facts about them are known: what they take, refuse and get wrong.

    server.play("localai")     # routes, scripts and leniency of that server

A picture depends on prompt, seed and references, so that it shows whether they arrived.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from loopback import LoopbackServer
from loopback_answers import Recorded
from loopback_bodies import size_of
from loopback_replies import Failure, ImageStream, Pictures, Raw, Reply, picture_of
from PIL import Image
from PIL.PngImagePlugin import PngInfo


@dataclass(slots=True)
class Dialect:
    """One server: how it reads a request, and what it does to the answer.

    Attributes:
        refuses: Fields it does not take.
        demands: Fields it wants, with the value it wants.
        seeds: Where its seed comes from: the `body`, the `prompt`, or nowhere.
        seed: The seed where none is told; `None`: another each time.
        step: Sizes become multiples of this, upwards.
        one: It draws one picture, whatever `n` says.
        same_seed: All pictures of a call have one seed.
        negative_in_prompt: It splits the prompt at a bar.
        references: From files, from the JSON, or not at all.
        drops_broken: A reference it cannot read is left out.
        writes: It writes the prompt into the picture.
        address: It answers with an address unless told otherwise: relative or absolute.
    """

    refuses: frozenset[str] = frozenset()
    demands: dict[str, str] = field(default_factory=dict[str, str])
    seeds: str = "none"
    seed: int | None = None
    step: int = 16
    one: bool = False
    same_seed: bool = False
    negative_in_prompt: bool = False
    references: str = "files"
    drops_broken: bool = False
    writes: bool = False
    address: str = ""


DIALECTS = {
    "openai": Dialect(refuses=frozenset({"response_format", "seed", "negative_prompt", "ref_images"})),
    "vllm-omni": Dialect(seeds="body", same_seed=True),
    "sglang": Dialect(demands={"response_format": "b64_json"}, seeds="body", same_seed=True, address="relative"),
    "localai": Dialect(
        seeds="body", same_seed=True, step=8, negative_in_prompt=True, references="json", address="absolute"
    ),
    "sdcpp": Dialect(seeds="prompt", seed=42, step=8, drops_broken=True, writes=True),
    "ollama": Dialect(one=True, references="none"),
    "generic": Dialect(),
}


def play(server: LoopbackServer, name: str) -> None:
    """Let the server behave like another."""
    dialect, calls = DIALECTS[name], iter(range(1_000_000))
    server.lenient = name not in ("openai", "generic")
    server.missing = frozenset({"edits"} if dialect.references != "files" else ())

    def answer(request: Recorded) -> Reply:
        return _answer(server, dialect, request, calls.__next__)

    server.script("generations", answer)
    if dialect.references == "files":
        server.script("edits", answer)


def _answer(server: LoopbackServer, dialect: Dialect, request: Recorded, number: Callable[[], int]) -> Reply:
    body = request.body
    unknown = next((name for name in sorted(dialect.refuses) if name in body), None)
    if unknown:
        words = f"Unknown parameter: '{unknown}'."
        return Failure(400, {"message": words, "code": "unknown_parameter", "param": unknown})
    for name, value in dialect.demands.items():
        if body.get(name) != value:
            return Failure(400, f"{name} must be {value}")
    prompt, settings = _settings(body["prompt"]) if dialect.seeds == "prompt" else (body["prompt"], {})
    told = settings.get("seed") if dialect.seeds == "prompt" else body.get("seed") if dialect.seeds == "body" else None
    seed = told if told is not None else dialect.seed if dialect.seed is not None else f"call {number()}"
    if dialect.negative_in_prompt:
        prompt, _, without = prompt.partition("|")
        prompt = f"{prompt.strip()} without {without.strip()}"
    elif dialect.seeds == "body":
        prompt = f"{prompt} without {body.get('negative_prompt', '')}"
    references = _references(dialect, request)
    if isinstance(references, Failure):
        return references
    width, height = (-(-side // dialect.step) * dialect.step for side in size_of(str(body["size"]), default=(64, 64)))
    images: list[bytes] = []
    for index in range(1 if dialect.one else int(body.get("n") or 1)):
        counted = seed + index if isinstance(seed, int) and not dialect.same_seed else f"{seed}/{index}"
        images.append(_drawn(f"{prompt}/{counted}/{references}", width, height, dialect, prompt))
    if body.get("stream") is True:
        return ImageStream(image=images[0])
    if dialect.address and body.get("response_format") != "b64_json":
        return Pictures(images=images, urls=_kept(server, images, absolute=dialect.address == "absolute"))
    return Pictures(images=images)


def _settings(prompt: str) -> tuple[str, dict[str, int]]:
    found = re.search(r"<sd_cpp_extra_args>(.*?)</sd_cpp_extra_args>", prompt)
    if found is None:
        return prompt, {}
    return prompt.replace(found[0], ""), json.loads(found[1])


def _references(dialect: Dialect, request: Recorded) -> str | Failure:
    """What distinguishes the references, in order."""
    files = [file.data for file in request.files if file.field in ("image", "image[]")]
    if dialect.references == "json":
        files = [base64.b64decode(text) for text in request.body.get("ref_images", [])]
    digests: list[str] = []
    for data in files:
        try:
            with Image.open(io.BytesIO(data)) as image:
                pixels = image.convert("RGB").tobytes()
        except (OSError, SyntaxError):
            if dialect.drops_broken:
                continue
            return Failure(400, {"message": "The image cannot be read.", "code": "invalid_image_file"})
        digests.append(hashlib.sha256(pixels).hexdigest()[:16])
    masks = [hashlib.sha256(file.data).hexdigest()[:16] for file in request.files if file.field == "mask"]
    return "/".join([*digests, *masks])


def _drawn(key: str, width: int, height: int, dialect: Dialect, prompt: str) -> bytes:
    data = picture_of(key, width, height)
    if not dialect.writes:
        return data
    info, buffer = PngInfo(), io.BytesIO()
    info.add_text("parameters", f"{prompt}\nSteps: 2, Seed: 42")
    with Image.open(io.BytesIO(data)) as image:
        image.save(buffer, "PNG", pnginfo=info)
    return buffer.getvalue()


def _kept(server: LoopbackServer, images: list[bytes], *, absolute: bool) -> list[str]:
    origin = server.base_url.removesuffix("/v1") if absolute else ""
    paths: list[str] = []
    for data in images:
        path = f"/v1/images/{hashlib.sha256(data).hexdigest()[:12]}/content"
        server.files[path] = Raw(data, "image/png")
        paths.append(origin + path)
    return paths
