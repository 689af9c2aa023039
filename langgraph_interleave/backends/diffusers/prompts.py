"""Words on their way into a pipeline: how many it reads, and what they were encoded to before."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.backends.diffusers.libraries import library

#: Encoded prompts that are kept, in bytes of main memory.
KEPT_BYTES = 256 * 1024 * 1024


def cut_off(pipe: Any, family: Family, prompt: str, most: int | None = None) -> str | None:
    """What to say where a pipeline does not read a prompt to its end; `None` where it does, or nobody knows."""
    most = most or family.max_tokens
    tokenizer: Any = getattr(pipe, family.tokenizer, None) or getattr(pipe, "tokenizer", None)
    # A token is a character at least: a short prompt need not be counted.
    if most is None or tokenizer is None or len(prompt.encode()) < most // 2:
        return None
    own = getattr(tokenizer, "model_max_length", most)
    most = min(most, own) if isinstance(own, int) else most
    room = most - _around(tokenizer)
    tokens = len(tokenizer(prompt, add_special_tokens=False)["input_ids"])
    if tokens <= room:
        return None
    return f"The model reads {room} tokens of a prompt; this one has {tokens}, and its end was cut off."


def _around(tokenizer: Any) -> int:
    """Tokens that a tokenizer, or the chat template of its pipeline, puts around a prompt."""
    if getattr(tokenizer, "chat_template", None):
        said = tokenizer.apply_chat_template(
            [{"role": "user", "content": ""}], tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        return len(tokenizer(said, add_special_tokens=False)["input_ids"])
    return len(tokenizer("")["input_ids"])


class Encoded:
    """Encoded prompts, those used last; a loop of attempts says much twice.

    They lie in main memory, so that they take none from the pictures.

    Args:
        most: Bytes kept at most.
    """

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._most = most
        self._held = 0
        self._kept: OrderedDict[tuple[Any, ...], tuple[Any, ...]] = OrderedDict()
        self._guard = threading.Lock()
        self.reused = 0

    def of(self, pipe: Any, family: Family, prompts: list[str], options: dict[str, Any]) -> dict[str, Any]:
        """Arguments of a call that stand for prompts, encoded one by one.

        Args:
            pipe: The pipeline; its lock is held.
            family: How it is called.
            prompts: In the order of the batch.
            options: What its encoder is told besides (`max_sequence_length`).

        Returns:
            Nothing where this pipeline's words cannot be encoded ahead.
        """
        if not family.embeds or not _plain(pipe):
            return {}
        torch = library("torch")
        each = [self._one(pipe, family, prompt, options) for prompt in prompts]
        device = pipe._execution_device
        return {
            name: torch.cat([parts[place].to(device) for parts in each]) for place, name in enumerate(family.embeds)
        }

    def _one(self, pipe: Any, family: Family, prompt: str, options: dict[str, Any]) -> tuple[Any, ...]:
        key = (prompt, *sorted(options.items()))
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                self.reused += 1
                return self._kept[key]
        torch = library("torch")
        arguments = {"prompt": prompt, **options}
        if family.layout == "flux":
            arguments["prompt_2"] = None
        with torch.no_grad():
            found = pipe.encode_prompt(**arguments)[: len(family.embeds)]
        parts = tuple(part.detach().to("cpu") for part in found)
        size = sum(part.numel() * part.element_size() for part in parts)
        with self._guard:
            if size <= self._most and key not in self._kept:
                self._kept[key] = parts
                self._held += size
            while self._held > self._most:
                _, gone = self._kept.popitem(last=False)
                self._held -= sum(part.numel() * part.element_size() for part in gone)
        return parts

    def __len__(self) -> int:
        return len(self._kept)


def _plain(pipe: Any) -> bool:
    """Whether nothing was added to the text encoders: adapters change what words are encoded to."""
    encoders = [getattr(pipe, name, None) for name in ("text_encoder", "text_encoder_2")]
    return not any(getattr(encoder, "_hf_peft_config_loaded", False) for encoder in encoders)
