"""Tokenizer: byte pairs learnt from captions, in the class that the real pipeline uses."""

from __future__ import annotations

import json
import random
from typing import Any, TypeAlias

import torch

from langgraph_interleave_miniature.captions import caption, command, describe, instruction
from langgraph_interleave_miniature.scenes import random_edit, random_scene

#: A tokenizer of the library, which has no annotations worth checking.
Tokens: TypeAlias = Any

_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"]
#: Lower case, and neither a role nor room for thoughts: what the pipeline makes of a prompt.
_TEMPLATE = "{% for m in messages %}<|im_start|> {{ m['content'] | lower | trim }}<|im_end|>{% endfor %}"


def build_tokenizer(seed: int = 0) -> Tokens:
    """Learns the tokenizer from captions of random scenes, in a few seconds; the same seed gives the same one."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import Qwen2TokenizerFast  # pyright: ignore[reportAttributeAccessIssue] - a lazy module

    rng = random.Random(seed)
    texts: list[str] = []
    for _ in range(3000):
        scene = random_scene(rng)
        edit = random_edit(rng, scene)
        texts += [" " + describe(scene), " " + command(edit), " " + caption(rng, scene), " " + instruction(rng, edit)]
    raw = Tokenizer(models.BPE(fuse_unk=False))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=768,
        min_frequency=2,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=_SPECIAL,
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    learnt = json.loads(raw.to_str())["model"]
    tokenizer = Qwen2TokenizerFast(
        tokenizer_object=raw,
        vocab=learnt["vocab"],
        merges=[tuple(pair) for pair in learnt["merges"]],
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        unk_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
        padding_side="right",
    )
    tokenizer.chat_template = _TEMPLATE
    tokenizer.model_max_length = 512
    return tokenizer


def token_ids(tokenizer: Tokens, texts: list[str], length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask of texts as the pipeline would make them, padded and cut to a length."""
    framed = [f"<|im_start|> {text.lower().strip()}<|im_end|>" for text in texts]
    rows = tokenizer(framed, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
    return rows["input_ids"], rows["attention_mask"]
