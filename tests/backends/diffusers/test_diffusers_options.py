"""Families, sizes, options, names: what needs no model."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_interleave.backends.diffusers import DiffusersBackend, hardware, quantization
from langgraph_interleave.backends.diffusers.families import FAMILIES, Family, class_by_name, variant
from langgraph_interleave.backends.diffusers.identity import identity_of
from langgraph_interleave.backends.diffusers.jobs import Job, Look, together
from langgraph_interleave.backends.diffusers.options import arguments, negative_of
from langgraph_interleave.backends.diffusers.probe import family_of
from langgraph_interleave.backends.diffusers.sizes import size_of
from langgraph_interleave.backends.diffusers.source import read_name
from langgraph_interleave.errors import ConfigError, InvalidRequest
from langgraph_interleave.types import ImageBytes, ImageRequest


@pytest.mark.parametrize(
    ("name", "steps", "guidance", "references"),
    [
        ("black-forest-labs/FLUX.2-klein-4B", 4, 1.0, 4),
        ("black-forest-labs/FLUX.2-klein-base-9B", 50, 4.0, 4),
        ("black-forest-labs/FLUX.2-dev", 50, 4.0, 6),
        ("black-forest-labs/FLUX.1-schnell", 4, 0.0, 0),
        ("black-forest-labs/FLUX.1-dev", 28, 3.5, 0),
        ("black-forest-labs/FLUX.1-Kontext-dev", 28, 2.5, 1),
        ("Qwen/Qwen-Image", 50, 4.0, 0),
        ("Qwen/Qwen-Image-Edit", 50, 4.0, 1),
        ("Qwen/Qwen-Image-Edit-2509", 40, 4.0, 3),
        ("Tongyi-MAI/Z-Image-Turbo", 9, 0.0, 0),
        ("stabilityai/stable-diffusion-xl-base-1.0", 30, 5.0, 0),
        ("stable-diffusion-v1-5/stable-diffusion-v1-5", 30, 7.5, 0),
        ("timbrooks/instruct-pix2pix", 30, 7.5, 1),
    ],
)
def test_the_right_defaults_before_anything_is_downloaded(
    name: str, steps: int, guidance: float, references: int
) -> None:
    backend = DiffusersBackend(name)
    assert (backend.family.steps, backend.family.guidance) == (steps, guidance)
    can = backend.capabilities
    assert can.max_references == references and can.edit == ("instruct" if references else "none")
    assert not can.billed and can.seed == "exact"


def test_what_a_folder_says_goes_before_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "flux.1-schnell"
    (folder / "transformer").mkdir(parents=True)
    (folder / "model_index.json").write_text(json.dumps({"_class_name": "Flux2KleinPipeline", "is_distilled": False}))
    assert DiffusersBackend(folder).family.steps == 50
    (folder / "model_index.json").write_text(json.dumps({"_class_name": "FluxPipeline"}))
    (folder / "transformer" / "config.json").write_text(json.dumps({"guidance_embeds": True}))
    assert DiffusersBackend(folder).family.steps == 28


def test_a_name_carries_options() -> None:
    text = "a/b?offload=model&steps=4&guidance=1.5&size=512&batch=2&dtype=bf16&preview_every=2&revision=x"
    assert read_name(text) == (
        "a/b",
        {
            "offload": "model", "batch": 2, "dtype": "bf16", "preview_every": 2, "revision": "x",
            "defaults": {"guidance": 1.5, "size": 512, "steps": 4},
        },
    )  # fmt: skip
    assert read_name("a/b?batch=false")[1] == {"batch": False}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a/b?colour=red", "no option 'colour'"),
        ("a/b?steps=many", "steps=many"),
        ("a/b?offload=disk", "offload='disk'"),
        ("a/b?dtype=int3", "dtype='int3'"),
        ("a/b?quantization=q9", "quantization='q9'"),
        ("a/b?batch=-1", "negative"),
        ("./nowhere", "no folder"),
        ("nothing", "neither a folder nor a model"),
        ("", "needs a model"),
    ],
)
def test_names_that_are_wrong_are_refused_when_the_backend_is_made(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        DiffusersBackend.from_string(text)
    assert caught.value.remedy


def test_a_folder_without_a_pipeline_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no model_index\.json"):
        DiffusersBackend(tmp_path)


def test_no_pipeline_at_all() -> None:
    with pytest.raises(ConfigError, match="A dict is no pipeline"):
        DiffusersBackend({})


def test_fingerprints_name_what_changes_pixels(tmp_path: Path) -> None:
    def print_of(**options: Any) -> str:
        return DiffusersBackend("a/b", **options).fingerprint

    assert print_of().startswith("diffusers/1/a/b/")
    assert len({print_of(), print_of(dtype="bf16"), print_of(defaults={"steps": 3}), print_of(revision="x")}) == 4
    assert print_of(offload="model", batch=False, preview_every=1) == print_of()
    (tmp_path / "model_index.json").write_text("{}")
    before = identity_of(str(tmp_path))
    assert str(tmp_path.parent) not in before
    (tmp_path / "weights").write_bytes(b"1")
    assert identity_of(str(tmp_path)) != before


@given(width=st.integers(1, 20_000), height=st.integers(1, 20_000), family=st.sampled_from(sorted(FAMILIES)))
def test_every_size_is_snapped_to_one_the_family_takes(width: int, height: int, family: str) -> None:
    known = FAMILIES[family]
    request = ImageRequest("x", width=width, height=height)
    (w, h), _ = size_of(request, known)
    assert w % known.multiple == 0 and h % known.multiple == 0
    assert min(w, h) >= known.min_side and w * h <= known.max_pixels and max(w, h) <= known.max_aspect * min(w, h)
    assert size_of(ImageRequest("x", width=w, height=h), known) == ((w, h), ())
    if width == height:
        assert w == h


@pytest.mark.parametrize(
    ("request_size", "reference", "size"),
    [
        ((None, None), None, (1024, 1024)),
        ((None, None), (2000, 1000), (1440, 720)),
        ((512, None), None, (512, 512)),
        ((512, None), (200, 100), (512, 256)),
        ((None, 256), (200, 100), (512, 256)),
    ],
)
def test_sides_nobody_gave(request_size: Any, reference: tuple[int, int] | None, size: tuple[int, int]) -> None:
    references = [ImageBytes(b"", "image/png", *reference)] if reference else []
    request = ImageRequest("x", width=request_size[0], height=request_size[1], references=references)
    assert size_of(request, Family()) == (size, ())


def test_a_side_of_the_operators_own() -> None:
    assert size_of(ImageRequest("x"), Family(), side=512)[0] == (512, 512)


def test_options_of_a_call() -> None:
    takes: dict[str, Any] = dict.fromkeys(["num_inference_steps", "guidance_scale", "max_sequence_length", "sigmas"])
    family = Family(steps=28, guidance=3.5, max_tokens=512)
    told, said = arguments(family, takes, {"steps": 20, "size": 512}, {"guidance": 2.0}, "high")
    assert told == {"num_inference_steps": 20, "guidance_scale": 2.0, "max_sequence_length": 512}
    assert said == ()
    assert arguments(family, takes, {}, {}, "high")[0]["num_inference_steps"] == 42
    with pytest.raises(InvalidRequest, match="Options: guidance, guidance_scale"):
        arguments(family, takes, {}, {"colour": 1}, None)
    # What the operator has set wrong is no fault of the request.
    for wrong in ({"colour": 1}, {"prompt": "x"}, {"steps": 0}):
        with pytest.raises(ConfigError):
            arguments(family, takes, wrong, {}, None)


def test_negative_words() -> None:
    assert negative_of(FAMILIES["QwenImageEditPipeline"], None, "x") == (" ", ())
    assert negative_of(FAMILIES["StableDiffusionPipeline"], "rain", "x") == ("rain", ())
    assert negative_of(FAMILIES["StableDiffusionPipeline"], None, "x") == (None, ())
    assert negative_of(FAMILIES["FluxPipeline"], "rain", "x")[1] == ("x takes no negative prompt; it was left out.",)


# --- the probe ----------------------------------------------------------------------------------


def pipeline(name: str, call: Any, **parts: Any) -> Any:
    parts = {"config": {}, "vae_scale_factor": 8, "unet": None, **parts}
    return type(name, (), {"__call__": call, **parts})()


def inpainting(self: Any, prompt: Any = None, image: Any = None, mask_image: Any = None, strength: float = 0.8) -> None:
    """Paint within a mask."""


def restyling(
    self: Any, prompt: Any = None, image: Any = None, strength: float = 0.8, num_inference_steps: int = 20
) -> None:
    """Restyle."""


def editing(
    self: Any, image: Any = None, prompt: Any = None, height: Any = None, width: Any = None,
    true_cfg_scale: float = 4.0, negative_prompt: Any = None, num_inference_steps: int = 30,
    callback_on_step_end: Any = None,
) -> None:  # fmt: skip
    """Edit as told."""


def drawing(self: Any, prompt: Any, height: Any = None, width: Any = None, guidance_scale: float = 6.0) -> None:
    """Draw."""


def unworded(self: Any, batch_size: int = 1) -> None:
    """Draw something."""


def test_an_unknown_pipeline_is_told_by_what_its_call_takes() -> None:
    masks = family_of(pipeline("AnInpaintPipeline", inpainting), "x")
    assert masks.masked and not masks.generates and masks.max_references == 1 and not masks.sized
    styles = family_of(pipeline("AnImg2ImgPipeline", restyling), "x")
    assert (styles.edit, styles.generates, styles.steps, styles.stops) == ("img2img", False, 20, False)
    edits = family_of(pipeline("AnEditPipeline", editing), "x")
    assert (edits.edit, edits.generates, edits.guided_by, edits.guidance) == ("instruct", True, "true_cfg_scale", 4.0)
    assert edits.negative == "needed" and edits.stops and edits.sized and edits.batch == "none"
    draws = family_of(pipeline("APipeline", drawing), "x")
    assert (draws.edit, draws.max_references, draws.guidance, draws.known) == ("none", 0, 6.0, False)


def test_pipelines_that_need_what_nobody_can_give_are_refused() -> None:
    with pytest.raises(ConfigError, match="control picture"):
        family_of(pipeline("FluxControlNetPipeline", editing), "x")
    with pytest.raises(ConfigError, match="does not draw from words"):
        family_of(pipeline("DDPMPipeline", unworded), "x")


def test_a_variant_is_told_by_its_configuration_first() -> None:
    klein = FAMILIES["Flux2KleinPipeline"]
    assert variant(klein, "Flux2KleinPipeline", "mine-base", distilled=True, guided=None).steps == 4
    assert variant(klein, "Flux2KleinPipeline", "klein", distilled=False, guided=None).steps == 50
    assert class_by_name("me/nothing-known") is None


# --- which are drawn together -------------------------------------------------------------------


def test_those_alike_are_drawn_together_in_order_up_to_the_most() -> None:
    look, other = Look((64, 64)), Look((64, 64), references=("a",))
    jobs = [Job(str(index), (index,), other if index == 1 else look) for index in range(5)]
    assert [job.prompt for job in together(jobs, 3, with_references=True)] == ["0", "2", "3"]
    assert together(jobs[1:], 9, with_references=True) == [jobs[1]]
    many = Job("many", tuple(range(8)), look)
    assert together([many, jobs[0]], 4, with_references=True) == [many]
    shared = [Job(str(index), (index,), other) for index in range(2)]
    assert together(shared, 9, with_references=True) == shared
    assert together(shared, 9, with_references=False) == shared[:1]


# --- hardware -----------------------------------------------------------------------------------


class Torch:
    """As much of torch as a choice looks at."""

    __version__ = "2.13.0"
    float64 = "float64"

    def __init__(self, device: str = "cpu", *, bf16: bool = True) -> None:
        def when(kind: str) -> Any:
            return lambda: device == kind

        self.cuda = SimpleNamespace(is_available=when("cuda"), is_bf16_supported=lambda: bf16, device_count=lambda: 1)
        self.xpu = SimpleNamespace(is_available=when("xpu"))
        self.backends = SimpleNamespace(mps=SimpleNamespace(is_available=when("mps")))

    def __getattr__(self, name: str) -> str:
        return name


@pytest.mark.parametrize(
    ("there", "asked", "found"),
    [
        (Torch(), {}, ("cpu", "float32")),
        (Torch("cuda"), {}, ("cuda", "bfloat16")),
        (Torch("cuda", bf16=False), {}, ("cuda", "float16")),
        (Torch("mps"), {}, ("mps", "bfloat16")),
        (Torch("cuda"), {"device": "cuda:0", "dtype": "float32"}, ("cuda:0", "float32")),
        (Torch("cuda"), {"device": "cpu", "dtype": "bfloat16"}, ("cpu", "bfloat16")),
    ],
)
def test_the_best_of_the_machine(
    there: Any, asked: dict[str, Any], found: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hardware, "library", lambda name: there)
    chosen = hardware.choose(asked.get("device"), asked.get("dtype"))
    assert (chosen.device, chosen.dtype) == found


@pytest.mark.parametrize(
    ("there", "asked", "said"),
    [
        (Torch(), ("cuda", None, "none"), r"sees none\. Use device='cpu'"),
        (Torch("mps"), (None, "float64", "none"), "cannot compute in float64"),
        (Torch(), (None, "float16", "none"), "float16 on a CPU"),
        (Torch("cuda", bf16=False), (None, "bfloat16", "none"), "bfloat16"),
        (Torch("cuda"), ("cuda:3", None, "none"), "cuda:3"),
        (Torch(), ("tpu", None, "none"), "'tpu' is unknown"),
        (Torch(), (None, None, "model"), "runs on the CPU"),
        (Torch(), ("cpu", None, "sequential"), "runs on the CPU"),
    ],
)
def test_what_a_machine_cannot_do_is_said_before_loading(
    there: Any, asked: tuple[Any, Any, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hardware, "library", lambda name: there)
    with pytest.raises(ConfigError, match=said) as caught:
        hardware.choose(*asked)
    assert caught.value.remedy


def test_a_quantisation_that_is_not_installed_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantization, "has", lambda name: False)
    for name, package in (("bnb-4bit", "bitsandbytes"), ("gguf:x/y/z.gguf", "gguf"), ("torchao-int8", "torchao")):
        with pytest.raises(ConfigError, match=f"pip install {package}"):
            quantization.arguments(name, "a/b", None, None)


def test_without_the_libraries_the_pip_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    from langgraph_interleave.models import libraries

    def gone(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", gone)
    monkeypatch.setattr(libraries, "_ready", {})
    with pytest.raises(ConfigError, match=r"needs torch, .*langgraph-interleave\[diffusers\]"):
        libraries.library("torch")


class Pipeline:
    """As much of a pipeline as is looked at before it draws."""

    components: dict[str, Any] = {}  # noqa: RUF012

    def __call__(self, prompt: str, num_inference_steps: int = 20, guidance_scale: float = 5.0) -> None: ...


@pytest.mark.parametrize(
    ("defaults", "says"),
    [
        ({"foo": 3}, r"no option 'foo'.*Options: guidance, guidance_scale, num_inference_steps, size, steps"),
        ({"prompt": "x"}, "'prompt' cannot be set"),
        ({"steps": 0}, "0 steps cannot be drawn"),
        ({"size": "512x512"}, "'512x512' is no number of pixels"),
        ({"size": 0}, "size 0 is no number"),
    ],
)
def test_defaults_a_pipeline_object_does_not_take_are_refused_when_it_is_given(
    defaults: dict[str, Any], says: str
) -> None:
    assert DiffusersBackend(Pipeline(), defaults={"steps": 4, "guidance": 1.0, "size": 64})
    with pytest.raises(ConfigError, match=says):
        DiffusersBackend(Pipeline(), defaults=defaults)


@pytest.mark.parametrize("defaults", [{"steps": 0}, {"size": "512x512"}])
def test_defaults_no_pipeline_takes_are_refused_before_one_is_loaded(defaults: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        DiffusersBackend("owner/model", defaults=defaults)
