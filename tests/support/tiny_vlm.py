"""Tiny language models built in code: random weights, byte-level tokenizers, chat templates; no hub.

They are real models of transformers' own classes, saved as real checkpoints. What they say is noise, so a
test that needs sense in it has them recite: `reciting` forces the tokens of a text, one after another, through
the whole path of generation.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>")
THINKING = ("<think>", "</think>")
#: As Qwen3's: the choice of thinking empties it where it is off.
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for p in m['content'] %}"
    "{% if p['type'] == 'image' %}{{ '<|vision_start|><|image_pad|><|vision_end|>' }}"
    "{% else %}{{ p['text'] }}{% endif %}{% endfor %}{% endif %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}"
    "{% elif enable_thinking is defined %}{{ '<think>\n' }}{% endif %}{% endif %}"
)


def tiny_tokenizer(template: str | None = TEMPLATE) -> Any:
    """Every byte is a token, so there is no text it cannot read or write."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocab = {symbol: number for number, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    raw = Tokenizer(models.BPE(vocab=vocab, merges=[], fuse_unk=False))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens([AddedToken(word, special=True) for word in SPECIALS])
    raw.add_tokens([AddedToken(word, special=False) for word in THINKING])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=100_000
    )
    tokenizer.chat_template = template
    return tokenizer


def tiny_causal(folder: Path, *, template: str | None = TEMPLATE, context: int = 16_384, seed: int = 0) -> Path:
    """A model that reads and writes: Qwen3's layers, 30,000 parameters."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = tiny_tokenizer(template)
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=context, tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, bos_token_id=None,
    )  # fmt: skip
    model = Qwen3ForCausalLM(config)
    _louder(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def tiny_llava(folder: Path, *, seed: int = 0) -> Path:
    """A model that sees: LLaVA's parts, four tokens a picture."""
    import torch
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        Qwen2Config,
    )

    tokenizer = tiny_tokenizer()
    side = {"height": 28, "width": 28}
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(size=side, crop_size=side), tokenizer=tokenizer, chat_template=TEMPLATE,
        patch_size=14, vision_feature_select_strategy="default", image_token="<|image_pad|>",
        num_additional_image_tokens=1,
    )  # fmt: skip
    torch.manual_seed(seed)
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=28,
            patch_size=14, projection_dim=32,
        ),
        text_config=Qwen2Config(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=32, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=16_384, bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<|image_pad|>"), vision_feature_layer=-2,
        vision_feature_select_strategy="default",
    )  # fmt: skip
    model = LlavaForConditionalGeneration(config)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    _louder(model)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def qwen_processor() -> Any:
    """Qwen3-VL's processor, without the part for videos: that one needs torchvision."""
    from transformers import Qwen3VLProcessor
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    class WithoutVideos(Qwen3VLProcessor):
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            return type(argument)

    images = Qwen2VLImageProcessorPil(
        patch_size=16, temporal_patch_size=2, merge_size=2, size={"shortest_edge": 32 * 32, "longest_edge": 64 * 64}
    )
    return WithoutVideos(images, tiny_tokenizer(), None, chat_template=TEMPLATE)


def tiny_qwen_vl(folder: Path, *, seed: int = 0) -> Path:
    """A model that sees, of the family the InterleaveThinker checkpoints are made from: Qwen3-VL's layers.

    The folder has no processor: have `AutoProcessor` give `qwen_processor()`.
    """
    import torch
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

    tokenizer = tiny_tokenizer()
    number = tokenizer.convert_tokens_to_ids
    torch.manual_seed(seed)
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 3,
            "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": 16_384,
            "rope_parameters": {
                "rope_type": "default", "mrope_section": [4, 2, 2], "mrope_interleaved": True, "rope_theta": 10_000.0
            },
            "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id,
        },
        vision_config={
            "depth": 2, "hidden_size": 32, "intermediate_size": 32, "num_heads": 2, "patch_size": 16,
            "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 32, "num_position_embeddings": 16,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=number("<|image_pad|>"), vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"), video_token_id=number("<|endoftext|>"),
    )  # fmt: skip
    model = Qwen3VLForConditionalGeneration(config)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    _louder(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _louder(model: Any) -> None:
    """Random weights hardly tell one prompt from another; larger ones do."""
    import torch

    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 2 and "embed" not in name and "visual" not in name and "vision" not in name:
                weight.mul_(8.0)


def weights_of(chat: Any) -> Any:
    """The weights behind a chat model, loaded."""
    loaded = chat._lease.loaded()
    return loaded.submit(loaded.weights).result()


@contextmanager
def reciting(chat: Any, *texts: str, end: bool = True) -> Generator[list[int]]:
    """Have a chat model say these texts, one an answer; yields the lengths of the prompts it was given."""
    weights = weights_of(chat)
    model, tokenizer = weights.model, weights.tokenizer
    original: Callable[..., Any] = model.generate
    waiting: Iterator[str] = iter(texts)
    lengths: list[int] = []

    def generate(**options: Any) -> Any:
        tokens = tokenizer(next(waiting), add_special_tokens=False)["input_ids"]
        tokens = [*tokens, tokenizer.eos_token_id] if end else tokens
        begins = options["input_ids"].shape[1]
        lengths.append(begins)

        def script(input_ids: Any, scores: Any) -> Any:
            at = min(input_ids.shape[1] - begins, len(tokens) - 1)
            forced = scores.new_full(scores.shape, -float("inf"))
            forced[:, tokens[at]] = 0.0
            return forced

        return original(**{**options, "logits_processor": [*options["logits_processor"], script]})

    model.generate = generate
    try:
        yield lengths
    finally:
        del model.generate


@contextmanager
def counting(chat: Any) -> Generator[list[int]]:
    """The number of tokens of every pass through a chat model."""
    passes: list[int] = []

    def count(module: Any, args: Any, options: dict[str, Any]) -> None:
        tokens = options.get("input_ids")
        passes.append(int((options["inputs_embeds"] if tokens is None else tokens).shape[1]))

    handle = weights_of(chat).model.register_forward_pre_hook(count, with_kwargs=True)
    try:
        yield passes
    finally:
        handle.remove()
