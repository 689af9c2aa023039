"""Real diffusion pipelines, tiny and with random weights, built in code: no download, half a megabyte each.

They keep the rules of the real ones (sizes that are multiples of 16, chat templates, token limits), and
their conditioning is turned up so that words, references and the order of references change pixels.
Each is built once per process, in a folder that goes away with it.

    pipe = load("klein")            # a new pipeline object
    backend = DiffusersBackend(folder("klein"))
"""

from __future__ import annotations

import atexit
import importlib
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
_building = threading.Lock()


def module(name: str) -> Any:
    """A library of models; what it exports is more than its types say."""
    return importlib.import_module(name)


@cache
def _root() -> Path:
    root = Path(tempfile.mkdtemp(prefix="tiny-pipelines-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def folder(kind: str) -> Path:
    """The folder of a tiny pipeline: `klein`, `klein-base`, `flux`, `kontext` or `sd`."""
    with _building:
        path = _root() / kind
        if not path.exists():
            pipe = _built(_BUILDERS[kind])
            # Another process never sees half a folder.
            pipe.save_pretrained(path.with_suffix(".part"), safe_serialization=True)
            path.with_suffix(".part").rename(path)
        return path


def load(kind: str) -> Any:
    """A new pipeline object: one of those that have a folder, or one of `_OBJECTS`."""
    if kind in _OBJECTS:
        with _building:
            pipe = _built(_OBJECTS[kind])
    else:
        path = folder(kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pipe = module("diffusers").DiffusionPipeline.from_pretrained(path, local_files_only=True)
    pipe.set_progress_bar_config(disable=True)
    return pipe


def _built(builder: Callable[[], Any]) -> Any:
    """What a builder makes, always with the same weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        diffusers, torch, transformers = module("diffusers"), module("torch"), module("transformers")
        # Tensors this small are drawn faster by one thread than by several that wait for each other.
        torch.set_num_threads(1)
        for library in (diffusers, transformers):
            library.utils.logging.disable_progress_bar()
            library.utils.logging.set_verbosity_error()
        state = torch.random.get_rng_state()
        torch.manual_seed(0)
        try:
            return builder()
        finally:
            torch.random.set_rng_state(state)


def bytes_tokenizer() -> Any:
    """A tokenizer that reads any text, byte by byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    transformers = module("transformers")

    vocabulary = {symbol: index for index, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    for special in SPECIALS:
        vocabulary[special] = len(vocabulary)
    raw: Any = Tokenizer(models.BPE(vocab=vocabulary, merges=[], fuse_unk=False))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens(list(SPECIALS))
    tokenizer: Any = transformers.Qwen2TokenizerFast(
        tokenizer_object=raw,
        vocab=vocabulary,
        merges=[],
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        unk_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.model_max_length = 512
    return tokenizer


def _klein(*, distilled: bool = True) -> Any:
    diffusers = module("diffusers")
    torch = module("torch")
    transformers = module("transformers")

    tokenizer, hidden = bytes_tokenizer(), 16
    language: Any = transformers.Qwen3ForCausalLM(
        transformers.Qwen3Config(
            vocab_size=len(tokenizer), hidden_size=hidden, intermediate_size=16, num_attention_heads=2,
            # Hidden states 9, 18 and 27 are what the pipeline reads.
            num_hidden_layers=28, num_key_value_heads=1, head_dim=8, max_position_embeddings=1024,
            tie_word_embeddings=True,
        )
    )  # fmt: skip
    vae = diffusers.AutoencoderKLFlux2(
        down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(8, 8, 8, 8), layers_per_block=1, latent_channels=4, norm_num_groups=4, sample_size=64,
        mid_block_add_attention=False,
    )  # fmt: skip
    transformer: Any = diffusers.Flux2Transformer2DModel(
        patch_size=1, in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=16,
        num_attention_heads=2, joint_attention_dim=3 * hidden, timestep_guidance_channels=32,
        axes_dims_rope=(4, 4, 4, 4), guidance_embeds=False,
    )  # fmt: skip
    with torch.no_grad():
        for name, weight in transformer.named_parameters():
            # Random gates are nearly closed, and random words nearly silent.
            if weight.ndim == 2 and "context_embedder" in name:
                weight.mul_(60)
            elif weight.ndim == 2 and ("modulation" in name or "time_guidance_embed" in name):
                weight.mul_(6)
    return diffusers.Flux2KleinPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
        vae=vae.eval(), text_encoder=language.eval(), tokenizer=tokenizer, transformer=transformer.eval(),
        is_distilled=distilled,
    )  # fmt: skip


def _clip_tokenizer() -> Any:
    from tokenizers import pre_tokenizers

    transformers = module("transformers")

    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = [*symbols, *(f"{symbol}</w>" for symbol in symbols), "<|startoftext|>", "<|endoftext|>"]
    return transformers.CLIPTokenizer(
        vocab={name: index for index, name in enumerate(names)}, merges=[], model_max_length=77
    )


def _clip(tokenizer: Any) -> Any:
    transformers = module("transformers")

    return transformers.CLIPTextModel(
        transformers.CLIPTextConfig(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=37, num_hidden_layers=2,
            num_attention_heads=4, max_position_embeddings=77, projection_dim=32,
            bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    ).eval()  # fmt: skip


def _autoencoder(**options: Any) -> Any:
    diffusers = module("diffusers")

    return diffusers.AutoencoderKL(
        in_channels=3, out_channels=3, down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4, block_out_channels=(8, 8, 8, 8), layers_per_block=1,
        norm_num_groups=4, sample_size=64, mid_block_add_attention=False, **{"latent_channels": 4, **options},
    ).eval()  # fmt: skip


def _flux() -> Any:
    diffusers, torch, transformers = module("diffusers"), module("torch"), module("transformers")

    words = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -2.0), *((chr(i), -3.0) for i in range(33, 127))]
    second: Any = transformers.T5TokenizerFast(vocab=words, extra_ids=0, model_max_length=512)
    first = _clip_tokenizer()
    transformer = diffusers.FluxTransformer2DModel(
        patch_size=1, in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=16,
        num_attention_heads=2, joint_attention_dim=32, pooled_projection_dim=32, axes_dims_rope=(4, 4, 8),
        guidance_embeds=True,
    )  # fmt: skip
    with torch.no_grad():
        for name, weight in transformer.named_parameters():
            # As for klein: open the gates, and look closer.
            if weight.ndim == 2 and ("norm" in name or "attn" in name):
                weight.mul_(6)
    return diffusers.FluxPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=_autoencoder(scaling_factor=0.36, shift_factor=0.11, use_quant_conv=False, use_post_quant_conv=False),
        text_encoder=_clip(first), tokenizer=first, tokenizer_2=second,
        text_encoder_2=transformers.T5EncoderModel(
            transformers.T5Config(vocab_size=len(second), d_model=32, d_ff=37, d_kv=8, num_layers=2, num_heads=4)
        ).eval(),
        transformer=transformer.eval(),
    )  # fmt: skip


def _kontext() -> Any:
    diffusers = module("diffusers")

    return diffusers.FluxKontextPipeline(**_flux().components)


def _stable() -> Any:
    diffusers = module("diffusers")

    tokenizer = _clip_tokenizer()
    return diffusers.StableDiffusionPipeline(
        vae=_autoencoder(), text_encoder=_clip(tokenizer), tokenizer=tokenizer,
        unet=diffusers.UNet2DConditionModel(
            block_out_channels=(8, 16), layers_per_block=1, sample_size=8, in_channels=4, out_channels=4,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"), cross_attention_dim=32, attention_head_dim=4,
            norm_num_groups=4,
        ).eval(),
        scheduler=diffusers.DDIMScheduler(
            beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", clip_sample=False,
            set_alpha_to_one=False,
        ),
        safety_checker=None, feature_extractor=None, requires_safety_checker=False,
    )  # fmt: skip


def _zimage() -> Any:
    diffusers, transformers = module("diffusers"), module("transformers")
    tokenizer = bytes_tokenizer()
    language = transformers.Qwen3Model(
        transformers.Qwen3Config(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=32, num_attention_heads=2,
            num_hidden_layers=3, num_key_value_heads=1, head_dim=16, max_position_embeddings=1024,
        )
    )  # fmt: skip
    return diffusers.ZImagePipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=_autoencoder(
            latent_channels=16, scaling_factor=0.36, shift_factor=0.11, use_quant_conv=False,
            use_post_quant_conv=False,
        ),
        text_encoder=language.eval(), tokenizer=tokenizer,
        transformer=diffusers.ZImageTransformer2DModel(
            all_patch_size=(2,), all_f_patch_size=(1,), in_channels=16, dim=32, n_layers=2, n_refiner_layers=1,
            n_heads=2, n_kv_heads=2, qk_norm=True, cap_feat_dim=32, axes_dims=[8, 4, 4], axes_lens=[256, 32, 32],
        ).eval(),
    )  # fmt: skip


def _qwen_parts() -> dict[str, Any]:
    diffusers, transformers = module("diffusers"), module("transformers")
    tokenizer = bytes_tokenizer()
    tokenizer.model_max_length = 4096
    tokens = {
        "vision_start_token_id": "<|vision_start|>", "vision_end_token_id": "<|vision_end|>",
        "image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>",
    }  # fmt: skip
    tokenizer.add_tokens(list(tokens.values()), special_tokens=True)
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer), "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2,
            "num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 4096, "rope_theta": 1e6,
            "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2], "rope_type": "default"},
        },
        vision_config={
            "depth": 2, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2, "out_hidden_size": 16,
            "fullatt_block_indexes": [1], "patch_size": 14, "window_size": 112,
        },
        **{name: tokenizer.convert_tokens_to_ids(token) for name, token in tokens.items()},
    )  # fmt: skip
    return {
        "scheduler": diffusers.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
        "vae": diffusers.AutoencoderKLQwenImage(
            base_dim=8, z_dim=4, dim_mult=[1, 1, 1, 1], num_res_blocks=1, temperal_downsample=[False, True, True],
            latents_mean=[0.0] * 4, latents_std=[1.0] * 4,
        ).eval(),
        "text_encoder": transformers.Qwen2_5_VLForConditionalGeneration(config).eval(),
        "tokenizer": tokenizer,
        "transformer": diffusers.QwenImageTransformer2DModel(
            patch_size=2, in_channels=16, out_channels=4, num_layers=1, attention_head_dim=16, num_attention_heads=2,
            joint_attention_dim=16, guidance_embeds=False, axes_dims_rope=(4, 6, 6),
        ).eval(),
    }  # fmt: skip


def _qwen_edit(kind: str) -> Any:
    parts = _qwen_parts()
    transformers, tokenizer = module("transformers"), parts["tokenizer"]
    backend = module("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")
    # Its constructor asks for a video processor, and that for torchvision; pictures need neither.
    processor = transformers.Qwen2_5_VLProcessor.__new__(transformers.Qwen2_5_VLProcessor)
    processor.image_processor = backend.Qwen2VLImageProcessorPil(min_pixels=56 * 56, max_pixels=28 * 28 * 40)
    processor.tokenizer = tokenizer
    processor.video_processor = processor.chat_template = None
    processor.image_token, processor.video_token = "<|image_pad|>", "<|video_pad|>"
    processor.image_token_id = tokenizer.convert_tokens_to_ids(processor.image_token)
    processor.video_token_id = tokenizer.convert_tokens_to_ids(processor.video_token)
    return getattr(module("diffusers"), kind)(**parts, processor=processor)


def _pix2pix() -> Any:
    diffusers = module("diffusers")
    parts = dict(_stable().components)
    # The picture comes in beside the noise.
    config = {**parts["unet"].config, "in_channels": 8}
    parts["unet"] = diffusers.UNet2DConditionModel.from_config(config).eval()
    return diffusers.StableDiffusionInstructPix2PixPipeline(**parts, requires_safety_checker=False)


#: Those that cannot be saved, or need not be.
_OBJECTS: dict[str, Callable[[], Any]] = {
    "klein-kv": lambda: module("diffusers").Flux2KleinKVPipeline(**_klein().components),
    "pix2pix": _pix2pix,
    "qwen": lambda: module("diffusers").QwenImagePipeline(**_qwen_parts()),
    "qwen-edit": lambda: _qwen_edit("QwenImageEditPipeline"),
    "qwen-edit-plus": lambda: _qwen_edit("QwenImageEditPlusPipeline"),
    "zimage": _zimage,
}
_BUILDERS: dict[str, Callable[[], Any]] = {
    "klein": _klein,
    "klein-base": lambda: _klein(distilled=False),
    "flux": _flux,
    "kontext": _kontext,
    "sd": _stable,
}
