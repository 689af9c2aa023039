"""Words on their way into a pipeline: how many it reads, and what they were encoded to before."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from langgraph_interleave.backends.diffusers.families import Family
from langgraph_interleave.backends.prompts import Fitted, fit_prompt
from langgraph_interleave.errors import InvalidRequest
from langgraph_interleave.models.libraries import library

#: Encoded prompts that are kept, in bytes of main memory.
KEPT_BYTES = 256 * 1024 * 1024


def read_by(pipe: Any, family: Family, prompt: str, most: int | None, what: str) -> Fitted:
    """A prompt as far as a pipeline reads it, and what was left out; the lock of the pipeline is held.

    Args:
        pipe: The pipeline, whose own tokenizer counts.
        family: How it is called.
        prompt: The prompt.
        most: Tokens it reads; the family's own number by default.
        what: What to call it.
    """
    most = most or family.max_tokens
    tokenizer: Any = getattr(pipe, family.tokenizer, None) or getattr(pipe, "tokenizer", None)
    # A token is a byte at least: a short prompt need not be counted.
    if most is None or tokenizer is None or len(prompt.encode()) < most // 2:
        return Fitted(prompt)
    own = getattr(tokenizer, "model_max_length", most)
    room = (min(most, own) if isinstance(own, int) else most) - _around(tokenizer)

    def count(text: str) -> int:
        return len(tokenizer(text, add_special_tokens=False)["input_ids"])

    try:
        return fit_prompt(prompt, max_tokens=room, count=count, what=what)
    except InvalidRequest:
        # One word without an end: the pipeline cuts it off itself.
        return Fitted(prompt, (f"{what} reads {room} tokens of a prompt; the end of this one was cut off.",))


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
