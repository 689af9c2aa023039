"""Single files and LoRAs: what is told of them before loading, and what they draw."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("diffusers")

import tiny_checkpoints
from hypothesis import given
from hypothesis import strategies as st
from tiny_pipelines import folder, load

from langgraph_interleave.backends.diffusers import DiffusersBackend
from langgraph_interleave.backends.diffusers.families import FAMILIES
from langgraph_interleave.backends.diffusers.identity import identity_of
from langgraph_interleave.backends.diffusers.lora import read_loras
from langgraph_interleave.backends.diffusers.weights import Weights, read_weights
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.types import ImageBytes, ImageRequest


def ask(**options: Any) -> ImageRequest:
    return ImageRequest("a red cat", width=64, height=64, seed=1, extra={"steps": 2}, **options)


def drawn(backend: DiffusersBackend) -> ImageBytes:
    return asyncio.run(backend.agenerate(ask())).images[0]


def refused(*arguments: Any, **options: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        DiffusersBackend(*arguments, **options)
    assert caught.value.remedy
    return str(caught.value)


def header(path: Path, shapes: Mapping[str, list[int]]) -> Path:
    """A file of zeros with a header, and next to nothing on the disk."""
    told: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape in shapes.items():
        size = 4
        for side in shape:
            size *= side
        told[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(told).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)
    return path


UNET = "model.diffusion_model.input_blocks.0.0.weight"
REST = {"cond_stage_model.x": [1], "first_stage_model.x": [1]}
XL = {"conditioner.embedders.1.model.transformer.resblocks.9.mlp.c_proj.bias": [1], "first_stage_model.x": [1]}


@pytest.mark.parametrize(
    ("shapes", "told"),
    [
        ({UNET: [320, 4, 3, 3], **REST}, Weights("StableDiffusionPipeline", whole=True)),
        ({UNET: [320, 8, 3, 3], **REST}, Weights("StableDiffusionInstructPix2PixPipeline", whole=True)),
        ({UNET: [320, 9, 3, 3], **REST}, Weights("StableDiffusionInpaintPipeline", whole=True)),
        ({UNET: [320, 4, 3, 3], **XL}, Weights("StableDiffusionXLPipeline", whole=True)),
        ({UNET: [320, 4, 3, 3]}, Weights("StableDiffusionPipeline")),
        ({"double_blocks.0.img_attn.norm.key_norm.scale": [128]}, Weights("FluxPipeline")),
        ({"model.diffusion_model.double_blocks.0.img_attn.norm.key_norm.scale": [128]}, Weights("FluxPipeline")),
        ({"single_stream_modulation.lin.weight": [3, 3]}, Weights("Flux2Pipeline")),
        ({"layers.0.adaLN_modulation.0.weight": [3, 3]}, Weights("ZImagePipeline")),
        ({"unet.mid_block.to_q.lora_A.weight": [4, 8]}, Weights(lora=True)),
        ({"lora_unet_mid_block_to_q.alpha": [1]}, Weights(lora=True)),
        ({"something.weight": [1]}, Weights()),
        ({}, Weights()),
    ],
)
def test_what_a_file_is(shapes: Mapping[str, list[int]], told: Weights, tmp_path: Path) -> None:
    assert read_weights(header(tmp_path / "a.safetensors", shapes)) == told


@given(data=st.binary(max_size=200))
def test_a_file_that_is_none_is_refused_and_nothing_else_happens(data: bytes, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    path.write_bytes(data)
    with pytest.raises(ConfigError):
        read_weights(path)


def test_a_download_that_broke_off_is_told(tmp_path: Path) -> None:
    path = header(tmp_path / "a.safetensors", {UNET: [320, 4, 3, 3], **REST})
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 5)
    assert "is not whole" in refused(path)


def test_a_file_has_its_family_before_it_is_loaded(tmp_path: Path) -> None:
    whole = header(tmp_path / "mine.safetensors", {UNET: [320, 4, 3, 3], **XL})
    assert DiffusersBackend(whole).family == FAMILIES["StableDiffusionXLPipeline"]
    flux = {"double_blocks.0.img_attn.norm.key_norm.scale": [128], "text_encoders.x": [1], "vae.x": [1]}
    kontext = DiffusersBackend(header(tmp_path / "flux1-kontext-dev.safetensors", flux))
    assert kontext.capabilities.edit == "instruct"
    klein = header(tmp_path / "x.safetensors", {"single_stream_modulation.lin.weight": [3, 3]})
    assert DiffusersBackend(klein, config="black-forest-labs/FLUX.2-klein-4B").family.steps == 4
    assert DiffusersBackend.from_string(f"{klein}?config={folder('klein')}").family.steps == 4


@pytest.mark.parametrize(
    ("name", "shapes", "options", "said"),
    [
        ("a.safetensors", {"single_stream_modulation.lin.weight": [3, 3]}, {}, "no text encoder"),
        ("a.safetensors", {"something.weight": [3, 3]}, {}, "cannot be told"),
        ("a.safetensors", {"x.lora_A.weight": [3, 3]}, {}, "is a LoRA"),
        ("a.ckpt", {UNET: [320, 4, 3, 3], **REST}, {}, "not a .safetensors file"),
        ("a.gguf", {}, {}, "not a .safetensors file"),
        ("a.safetensors", {UNET: [320, 4, 3, 3], **REST}, {"quantization": "bnb-4bit"}, "loaded as it is"),
        ("a.safetensors", {UNET: [320, 4, 3, 3], **REST}, {"config": "no hub id"}, "neither a folder nor"),
    ],
)
def test_files_that_cannot_be_drawn_with_say_why(
    name: str, shapes: Mapping[str, list[int]], options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    assert said in refused(header(tmp_path / name, shapes), **options)


def test_options_of_files_alone() -> None:
    assert "the model is no file" in refused("a/b", config="c/d")
    assert "There is no file" in refused("a/b/c.safetensors")


def test_a_whole_checkpoint_draws_as_its_folder_does(tmp_path: Path) -> None:
    file = tiny_checkpoints.save(tiny_checkpoints.stable_diffusion(load("sd")), tmp_path / "mine.safetensors")
    backend = DiffusersBackend(file, config=str(folder("sd")))
    assert drawn(backend).data == drawn(DiffusersBackend(folder("sd"))).data
    assert backend.fingerprint.startswith("diffusers/1/mine.safetensors/")


def test_a_transformer_alone_takes_the_rest_from_its_pipeline(tmp_path: Path) -> None:
    file = tiny_checkpoints.save(tiny_checkpoints.flux2(load("klein").transformer), tmp_path / "mine.safetensors")
    backend = DiffusersBackend(file, config=str(folder("klein")))
    assert drawn(backend).data == drawn(DiffusersBackend(folder("klein"))).data


def test_a_file_for_another_pipeline_is_a_fault_in_words(tmp_path: Path) -> None:
    file = tiny_checkpoints.save(tiny_checkpoints.flux2(load("klein").transformer), tmp_path / "mine.safetensors")
    with pytest.raises(ConfigError, match=r"mine\.safetensors cannot be loaded|could stand for"):
        drawn(DiffusersBackend(file, config=str(folder("sd"))))


def test_what_a_file_lacks_and_no_hub(tmp_path: Path) -> None:
    file = tiny_checkpoints.save(tiny_checkpoints.stable_diffusion(load("sd")), tmp_path / "mine.safetensors")
    with pytest.raises(ConfigError, match="hub cannot be reached") as caught:
        drawn(DiffusersBackend(file))
    assert "config=" in caught.value.remedy


def test_identities_tell_large_files_of_one_size_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(b"\0" * 2_000_000)
    before = identity_of(str(path))
    path.write_bytes(b"\1" * 2_000_000)
    assert identity_of(str(path)) != before


# LoRAs.


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = tmp_path_factory.mktemp("loras")
    transformer, unet = load("klein").transformer, load("sd").unet
    return {
        "one": tiny_checkpoints.save(tiny_checkpoints.lora(transformer, "transformer"), made / "one.safetensors"),
        "two": tiny_checkpoints.save(
            tiny_checkpoints.lora(transformer, "transformer", seed=1), made / "two.safetensors"
        ),
        "sd": tiny_checkpoints.save(tiny_checkpoints.lora(unet, "unet"), made / "sd.safetensors"),
    }


def test_a_lora_changes_the_picture_by_its_scale(files: Mapping[str, Path], look: Any) -> None:
    plain = drawn(DiffusersBackend(folder("klein")))
    off = drawn(DiffusersBackend(folder("klein"), lora=f"{files['one']}:0"))
    assert look.difference(plain, off) <= 1
    pictures = [drawn(DiffusersBackend(folder("klein"), lora={str(files["one"]): scale})) for scale in (0.3, 1.0)]
    assert len({plain.data, *(one.data for one in pictures)}) == 3


def test_several_loras_and_their_fingerprints(files: Mapping[str, Path]) -> None:
    one, two = str(files["one"]), str(files["two"])
    backends = [
        DiffusersBackend(folder("klein"), lora=given)
        for given in (None, one, two, f"{one}:0.5", [one, f"{two}:0.5"], {two: 0.5, one: 1})
    ]
    assert len({backend.fingerprint for backend in backends}) == 6
    first, both = drawn(backends[1]), drawn(backends[4])
    assert first.data != both.data
    assert (
        DiffusersBackend.from_string(f"{folder('klein')}?lora={one},{two}:0.5").fingerprint == backends[4].fingerprint
    )


def test_a_lora_of_a_unet_in_a_folder(files: Mapping[str, Path], tmp_path: Path) -> None:
    (tmp_path / "pytorch_lora_weights.safetensors").write_bytes(files["sd"].read_bytes())
    (tmp_path / "another.safetensors").write_bytes(b"")
    with_it = drawn(DiffusersBackend(folder("sd"), lora=tmp_path))
    assert with_it.data != drawn(DiffusersBackend(folder("sd"))).data


def test_a_lora_of_another_model_is_never_passed_over(files: Mapping[str, Path]) -> None:
    for kind, name in (("klein", "sd"), ("sd", "one")):
        with pytest.raises(ConfigError, match=r"changes nothing|cannot be loaded") as caught:
            drawn(DiffusersBackend(folder(kind), lora=files[name]))
        assert "made for this model" in caught.value.remedy


def test_a_lora_that_is_not_here_and_no_hub() -> None:
    with pytest.raises(ConfigError, match=r"The LoRA owner/ink cannot be loaded"):
        drawn(DiffusersBackend(folder("klein"), lora="owner/ink"))


def test_without_peft_the_pip_line_is_told(files: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from langgraph_interleave.backends.diffusers import lora

    monkeypatch.setattr(lora, "has", lambda name: False)
    with pytest.raises(ConfigError, match=r"need peft, .*langgraph-interleave\[diffusers\]"):
        lora.apply(load("klein"), read_loras(str(files["one"])), "klein")


@pytest.mark.parametrize(
    ("given_as", "said"),
    [
        ("nothing", "neither a file nor on the hub"),
        ("./nothing.safetensors", "There is no LoRA"),
        ("a/b.c/weights.bin", "neither a file nor"),
        ({"a/b": "strong"}, "'strong'"),
        ({"a/b": float("nan")}, "nan"),
        ("a/b:inf", "inf"),
        (5, "A int is no LoRA"),
        ("", "neither a file"),
    ],
)
def test_loras_that_are_none(given_as: Any, said: str) -> None:
    assert said in refused("a/b", lora=given_as)


def test_loras_that_are_something_else(tmp_path: Path) -> None:
    assert "holds no files" in refused("a/b", lora=tmp_path)
    assert "is no LoRA" in refused("a/b", lora=header(tmp_path / "a.safetensors", {UNET: [320, 4, 3, 3]}))
    (tmp_path / "b.bin").write_bytes(b"")
    assert "not a .safetensors file" in refused("a/b", lora=tmp_path / "b.bin")
    (tmp_path / "c.safetensors").write_bytes(b"")
    assert "holds 2 files" in refused("a/b", lora=tmp_path)
    assert "is loaded already" in refused(load("klein"), lora="a/b")
