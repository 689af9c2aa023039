"""stable-diffusion.cpp's own server, built from a source package, with a model small enough for a test.

    binary = build(cache)            # about 8 minutes on two cores, then kept in `cache`
    with running(binary, tiny_model(folder)) as base_url:
        ...

The source package `stable-diffusion-cpp-python` holds the whole of stable-diffusion.cpp, its server
included, which its own installation leaves out. The model has the layout of FLUX.1 with one block of
each kind and random weights; its text encoder is all zeros, so that a prompt moves no pixel, while
seeds, references and the order of references do.
"""

from __future__ import annotations

import json
import shutil
import socket
import struct
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PACKAGE = "stable-diffusion-cpp-python==0.4.7"
_SWITCHES = (
    "-DSD_BUILD_EXAMPLES=ON", "-DGGML_NATIVE=OFF", "-DGGML_OPENMP=OFF", "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
)  # fmt: skip
_START_S = 60.0


def build(cache: Path) -> Path:
    """The server's binary, built if `cache` does not hold it yet."""
    kept = cache / f"sd-server-{PACKAGE.rpartition('=')[2]}"
    if kept.exists():
        return kept
    cmake = shutil.which("cmake")
    assert cmake, "cmake is missing"
    work = cache / "build"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    # Its metadata is made by scikit-build-core, which must be there beforehand: nothing else is isolated.
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    _run([*pip, "install", "--quiet", "--target", str(work / "tools"), "scikit-build-core"], work)
    _run(
        [*pip, "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", PACKAGE],
        work,
        env={"PYTHONPATH": str(work / "tools")},
    )
    [archive] = work.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(work, filter="data")
    [source] = work.glob("*/vendor/stable-diffusion.cpp")
    _run([cmake, "-B", "b", "-S", str(source), *_SWITCHES], work)
    _run([cmake, "--build", "b", "--target", "sd-server", "-j2"], work)
    [made] = [path for path in (work / "b").rglob("sd-server") if path.is_file()]
    shutil.copy2(made, kept)
    shutil.rmtree(work)
    return kept


def _run(command: list[str], folder: Path, env: Mapping[str, str] | None = None) -> None:
    import os

    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command[:4])} …\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def tiny_model(folder: Path) -> Mapping[str, Path]:
    """Write the model; what each file is for, by the server's own switch. Needs torch and diffusers."""
    import torch
    from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    paths = {
        "--diffusion-model": folder / "flux.safetensors",
        "--taesd": folder / "taef1.safetensors",
        "--clip_l": folder / "clip_l.safetensors",
    }
    torch.manual_seed(0)
    save_file(_transformer(torch), str(paths["--diffusion-model"]))
    save_file(_autoencoder(torch, AutoencoderTiny(latent_channels=16)), str(paths["--taesd"]))
    _empty_text_encoder(paths["--clip_l"])
    return paths


def _autoencoder(torch: Any, made: Any) -> dict[str, Any]:
    with torch.no_grad():
        for name, weight in made.named_parameters():
            # Layer by layer, random weights fade into the bias, and all pictures into one grey.
            if name.endswith("bias"):
                weight.zero_()
            else:
                weight.mul_(2.0 if name.startswith("encoder") else 1.5)
        made.encoder.layers[-1].weight.mul_(2)
    return {name: weight.contiguous() for name, weight in made.state_dict().items()}


def _transformer(torch: Any) -> dict[str, Any]:
    # One head of FLUX.1 has 128 dimensions.
    hidden = 128
    shapes: dict[str, tuple[int, int]] = {
        "img_in": (hidden, 64), "time_in.in_layer": (hidden, 256), "time_in.out_layer": (hidden, hidden),
        "vector_in.in_layer": (hidden, 768), "vector_in.out_layer": (hidden, hidden), "txt_in": (hidden, 4096),
        "single_blocks.0.linear1": (7 * hidden, hidden), "single_blocks.0.linear2": (hidden, 5 * hidden),
        "single_blocks.0.modulation.lin": (3 * hidden, hidden), "final_layer.linear": (64, hidden),
        "final_layer.adaLN_modulation.1": (2 * hidden, hidden),
    }  # fmt: skip
    norms = ["single_blocks.0.norm.query_norm.scale", "single_blocks.0.norm.key_norm.scale"]
    for side in ("img", "txt"):
        block = f"double_blocks.0.{side}"
        shapes |= {
            f"{block}_mod.lin": (6 * hidden, hidden), f"{block}_attn.qkv": (3 * hidden, hidden),
            f"{block}_attn.proj": (hidden, hidden), f"{block}_mlp.0": (4 * hidden, hidden),
            f"{block}_mlp.2": (hidden, 4 * hidden),
        }  # fmt: skip
        norms += [f"{block}_attn.norm.query_norm.scale", f"{block}_attn.norm.key_norm.scale"]
    weights: dict[str, Any] = {name: torch.ones(hidden) for name in norms}
    for name, shape in shapes.items():
        # Random gates are nearly closed: references would hardly be seen.
        gate = "mod" in name or "time_in" in name
        weights[f"{name}.weight"] = (torch.randn(*shape) * (0.6 if gate else 0.05)).half()
        weights[f"{name}.bias"] = torch.zeros(shape[0])
    return weights


def _empty_text_encoder(path: Path) -> None:
    """CLIP-L of zeros as a file with a hole: 246 MB long, some kB on the disk."""
    width, inner, words, places = 768, 3072, 49408, 77
    prefix = "text_model"
    shapes: dict[str, list[int]] = {
        f"{prefix}.embeddings.token_embedding.weight": [words, width],
        f"{prefix}.embeddings.position_embedding.weight": [places, width],
        f"{prefix}.final_layer_norm.weight": [width],
        f"{prefix}.final_layer_norm.bias": [width],
    }
    for index in range(12):
        layer = f"{prefix}.encoder.layers.{index}"
        for name in ("q", "k", "v", "out"):
            shapes[f"{layer}.self_attn.{name}_proj.weight"] = [width, width]
            shapes[f"{layer}.self_attn.{name}_proj.bias"] = [width]
        shapes |= {f"{layer}.mlp.fc1.weight": [inner, width], f"{layer}.mlp.fc1.bias": [inner]}
        shapes |= {f"{layer}.mlp.fc2.weight": [width, inner], f"{layer}.mlp.fc2.bias": [width]}
        for norm in ("layer_norm1", "layer_norm2"):
            shapes |= {f"{layer}.{norm}.weight": [width], f"{layer}.{norm}.bias": [width]}
    header: dict[str, Any] = {}
    at = 0
    for name, shape in shapes.items():
        end = at + 2 * shape[0] * (shape[1] if len(shape) == 2 else 1)
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)


@contextmanager
def running(binary: Path, model: Mapping[str, Path]) -> Generator[str]:
    """The server on a free port of 127.0.0.1 while the block runs: what the SDK takes as `base_url`."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    files = [word for switch, path in model.items() for word in (switch, str(path))]
    command = [
        str(binary), *files, "--steps", "2", "--cfg-scale", "1.0", "-W", "64", "-H", "64", "-t", "1", "-l",
        "127.0.0.1", "--listen-port", str(port),
    ]  # fmt: skip
    log = next(iter(model.values())).with_name("server.log")
    with log.open("wb") as said:
        server = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
    try:
        address = f"http://127.0.0.1:{port}/v1"
        until = time.monotonic() + _START_S
        while True:
            assert server.poll() is None, f"sd-server ended at once:\n{log.read_text(errors='replace')[-2000:]}"
            try:
                with urllib.request.urlopen(f"{address}/models", timeout=2):
                    break
            except (urllib.error.URLError, OSError):
                assert time.monotonic() < until, "sd-server did not answer in time"
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            # It hears nothing while it draws.
            server.kill()
            server.wait(10)
