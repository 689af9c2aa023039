"""Every family that has a tiny pipeline draws alone and together, with and without pictures."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("diffusers")

import tiny_checkpoints

from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.types import ImageBytes, ImageRequest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "references", "calls"),
    [
        ("klein-kv", 2, 1),
        ("pix2pix", 1, 2),
        ("qwen", 0, 1),
        ("qwen-edit", 1, 2),
        ("qwen-edit-plus", 2, 2),
        ("zimage", 0, 1),
    ],
)
def test_requests_at_once_equal_their_serial_results(
    kind: str, references: int, calls: int, look: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tiny_pipelines import load, module

    for name in ("", "_plus") if kind.startswith("qwen-edit") else ():
        # These bring every reference to a megapixel, which takes a minute here.
        editing = module(f"diffusers.pipelines.qwenimage.pipeline_qwenimage_edit{name}")
        real = editing.calculate_dimensions
        monkeypatch.setattr(editing, "calculate_dimensions", lambda _area, ratio, real=real: real(96 * 96, ratio))
    backend = DiffusersBackend(load(kind))
    pictures = [look.card("red", (128, 64)), look.card("blue")][:references]
    requests = [
        ImageRequest(words, pictures, 96, 64, seed=seed, extra={"steps": 3})
        for seed, words in enumerate(["a cat", "a dog beside a much longer row of words"])
    ]

    async def at_once() -> list[ImageBytes]:
        return [one.images[0] for one in await asyncio.gather(*map(backend.agenerate, requests))]

    serial = [asyncio.run(backend.agenerate(request)).images[0] for request in requests]
    assert backend._shared is not None
    before = backend._shared.calls
    together = asyncio.run(at_once())
    assert backend._shared.calls - before == calls
    assert [(one.width, one.height) for one in serial] == [(96, 64)] * 2
    assert all(look.difference(one, other) <= 1 for one, other in zip(serial, together, strict=True))
    if references:
        other = ImageRequest(
            "a cat", [look.card("green", (128, 64)), *pictures[1:]], 96, 64, seed=0, extra={"steps": 3}
        )
        assert asyncio.run(backend.agenerate(other)).images[0].data != serial[0].data


def test_a_transformer_from_a_gguf_file(tmp_path: Path, look: Any) -> None:
    gguf: Any = pytest.importorskip("gguf")
    from tiny_pipelines import folder, load

    weights = tmp_path / "klein-Q8_0.gguf"
    writer = gguf.GGUFWriter(str(weights), "flux")
    # Named as its makers do, as in the files people download.
    for name, tensor in tiny_checkpoints.flux2(load("klein").transformer).items():
        values = tensor.float().numpy()
        if values.ndim == 2 and values.shape[-1] % 32 == 0:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    request = ImageRequest("a red cat", width=64, height=64, seed=1, extra={"steps": 2})
    whole = DiffusersBackend(folder("klein"))
    small = DiffusersBackend(folder("klein"), quantization=f"gguf:{weights}")
    one, other = (asyncio.run(backend.agenerate(request)).images[0] for backend in (whole, small))
    assert 0 < look.difference(one, other) <= 40
    assert small.fingerprint != whole.fingerprint
