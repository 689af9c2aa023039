"""One answer of a local model: read the prompt, as far as it is new, and say token after token."""

from __future__ import annotations

import copy
import functools
import inspect
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_interleave import ending
from langgraph_interleave.errors import InvalidRequest, Unavailable
from langgraph_interleave.models.libraries import library
from langgraph_interleave.models.transformers.loaded import Loaded
from langgraph_interleave.models.transformers.loading import Weights
from langgraph_interleave.models.transformers.placement import free_memory, is_out_of_memory
from langgraph_interleave.models.transformers.prefix import Key, Slot, new_cache
from langgraph_interleave.models.transformers.prompting import Prompt
from langgraph_interleave.models.transformers.sampling import Sampler, sampling_of
from langgraph_interleave.models.transformers.source import context_of
from langgraph_interleave.models.transformers.speech import Speech
from langgraph_interleave.models.transformers.turns import Turn

#: Inputs with one row for each picture, or for each part of one.
_OF_PICTURES = ("pixel_values", "image_grid_thw", "image_sizes", "pixel_attention_mask")


@dataclass(frozen=True, slots=True)
class Asked:
    """How an answer is to be given.

    Attributes:
        what: The model's name, for messages.
        thinking: On, off, or as the template has it.
        most: Most tokens of the answer.
        stops: The answer ends before the first of these.
        temperature: 0 takes the likeliest token; `None` as the model's authors recommend.
        top_p: As `temperature`.
        top_k: As `temperature`.
        seed: `None` for another one each time.
    """

    what: str
    thinking: bool | None
    most: int
    stops: Sequence[str]
    temperature: float | None
    top_p: float | None
    top_k: int | None
    seed: int | None


@dataclass(frozen=True, slots=True)
class Ended:
    """How an answer ended, and what it used.

    Attributes:
        reason: `stop`, or `length` where a limit cut it off.
        read: Tokens of the prompt.
        reused: Those of them that had been read before.
        of_pictures: Those that stand for pictures.
        said: Tokens of the answer.
        seed: What it was drawn with; `None` where nothing was drawn.
    """

    reason: str
    read: int
    reused: int
    of_pictures: int
    said: int
    seed: int | None


def answer(
    loaded: Loaded, turns: Sequence[Turn], asked: Asked, tell: Callable[[str], None], stopped: threading.Event
) -> Ended:
    """Answer, in the model's turn.

    Args:
        loaded: The model.
        turns: The conversation.
        asked: How.
        tell: Told the text, piece by piece.
        stopped: Set from outside, it ends the answer with the next token.

    Raises:
        ConfigError: The model cannot be loaded.
        InvalidRequest: The prompt does not fit, or has pictures the model does not take.
        Unavailable: There was no memory left; it is free again.
    """
    weights = loaded.weights()
    prompt = weights.prompting.prompt(turns, thinking=asked.thinking)
    most = _room(weights, prompt, asked)
    said_anything = False

    def telling(text: str) -> None:
        nonlocal said_anything
        said_anything = said_anything or bool(text)
        if text:
            tell(text)

    for _ in range(2):
        try:
            return _Answer(loaded, weights, prompt, asked, most, telling, stopped).run()
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        # Out here nothing holds the frames of the failure, and with them its tensors.
        freed = loaded.prefixes.clear()
        free_memory()
        if said_anything or not freed:
            break
    raise Unavailable(
        f"There was not enough memory for an answer of {asked.what} to {len(prompt.keys)} tokens.",
        remedy="Show it smaller or fewer pictures, or use quantization=4bit, or a smaller model.",
        code="out_of_memory",
    )


def _room(weights: Weights, prompt: Prompt, asked: Asked) -> int:
    context = context_of(weights.model.config.to_dict())
    if context is None:
        return asked.most
    if len(prompt.keys) >= context:
        raise InvalidRequest(
            f"A prompt of {len(prompt.keys)} tokens does not fit {asked.what}, which reads {context}.",
            remedy="Shorten it, or show smaller pictures.",
            code="context_length_exceeded",
        )
    return min(asked.most, context - len(prompt.keys))


class _Answer:
    def __init__(
        self, loaded: Loaded, weights: Weights, prompt: Prompt, asked: Asked, most: int,
        tell: Callable[[str], None], stopped: threading.Event,
    ) -> None:  # fmt: skip
        self._loaded, self._model, self._prompt, self._asked, self._most = loaded, weights.model, prompt, asked, most
        tokenizer = weights.tokenizer

        def decode(tokens: Sequence[int]) -> str:
            return tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)

        self._speech = Speech(decode, asked.stops)
        self._tell, self._stopped = tell, stopped
        self._config = self._how(tokenizer)
        self._ends = frozenset(self._config.eos_token_id)
        self._said: list[int] = []

    def run(self) -> Ended:
        prompt, config = self._prompt, self._config
        sampling = sampling_of(self._model.generation_config, *self._chosen())
        seed = None
        processors: list[Any] = []
        if sampling.temperature > 0:
            seed = secrets.randbelow(2**32) if self._asked.seed is None else self._asked.seed
            processors = [Sampler(sampling, seed)]
        self._tell(prompt.opening)
        slot = self._loaded.prefixes.take(prompt.keys)
        slot, inputs = self._inputs(slot)
        cache = new_cache(self._model) if slot is None else slot.cache
        options = {} if cache is None else {_cache_name(): cache}
        with ending.computing(stops=True):
            self._model.generate(
                **inputs, **options, generation_config=config, logits_processor=processors,
                stopping_criteria=[self._over],
            )  # fmt: skip
        if cache is not None:
            keys: list[Key] = [*prompt.keys, *self._said]
            self._loaded.prefixes.put(keys[: cache.get_seq_length()], cache)
        self._tell(self._speech.finish())
        ended = self._speech.stopped or (bool(self._said) and self._said[-1] in self._ends)
        cut = not ended and len(self._said) >= self._most
        return Ended(
            "length" if cut else "stop",
            len(prompt.keys),
            0 if slot is None else len(slot.keys),
            prompt.image_tokens,
            len(self._said),
            seed,
        )

    def _over(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Called by `generate` after each token: pass it on, and say whether it was the last."""
        for token in input_ids[0, len(self._prompt.keys) + len(self._said) :].tolist():
            self._said.append(token)
            if token not in self._ends:
                self._tell(self._speech.feed(token))
        torch = library("torch")
        over = self._stopped.is_set() or self._speech.stopped or ending.begun()
        return torch.full((input_ids.shape[0],), over, device=input_ids.device, dtype=torch.bool)

    def _chosen(self) -> tuple[float | None, float | None, int | None]:
        return self._asked.temperature, self._asked.top_p, self._asked.top_k

    def _how(self, tokenizer: Any) -> Any:
        """The model's own settings, with greedy choice: what is random happens in `Sampler`."""
        config = copy.deepcopy(self._model.generation_config)
        told = config.eos_token_id
        ends = {*(told if isinstance(told, list | tuple) else [told]), tokenizer.eos_token_id} - {None}
        config.eos_token_id = sorted(ends)
        if config.pad_token_id is None:
            config.pad_token_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else min(ends, default=0)
        config.max_new_tokens, config.max_length, config.min_length = self._most, None, 0
        config.do_sample, config.num_beams, config.num_return_sequences = False, 1, 1
        config.temperature = config.top_p = config.top_k = config.min_p = config.typical_p = None
        config.cache_implementation, config.use_cache = None, True
        config.return_dict_in_generate = False
        return config

    def _inputs(self, slot: Slot | None) -> tuple[Slot | None, Mapping[str, Any]]:
        """The tensors on the model's device; of pictures only those that were not read before."""
        inputs = {name: value for name, value in self._prompt.inputs.items() if hasattr(value, "is_floating_point")}
        turns_positions = hasattr(getattr(self._model, "model", None), "rope_deltas")
        if turns_positions:
            # Left over from another conversation; taken for this one's where a cache is.
            self._model.model.rope_deltas = None
        if slot is not None and self._prompt.image_tokens:
            positions = self._positions(inputs) if turns_positions else None
            first = next(at for at, key in enumerate(self._prompt.keys) if isinstance(key, str))
            if len(slot.keys) > first:
                before = sum(end <= len(slot.keys) for _, end in self._prompt.pictures)
                rest = _rest_of_pictures(inputs, len(self._prompt.pictures), before)
                if rest is None or (turns_positions and positions is None):
                    # How its tensors belong to its pictures is not known: all pictures are read again.
                    slot.cut(first)
                else:
                    inputs = rest
            inputs |= {} if positions is None else {"position_ids": positions}
        dtype = self._model.dtype
        return slot, {
            name: value.to(self._model.device, dtype if value.is_floating_point() else None)
            for name, value in inputs.items()
        }

    def _positions(self, inputs: Mapping[str, Any]) -> Any | None:
        """Where each token stands, for families that place pictures in a plane: it depends on every picture."""
        prepare = getattr(self._model, "_prepare_position_ids_for_generation", None)
        return None if prepare is None else prepare(inputs["input_ids"], dict(inputs))


@functools.cache
def _cache_name() -> str:
    """What `generate` calls a cache: it has had another name."""
    takes = inspect.signature(library("transformers").GenerationMixin.prepare_inputs_for_generation).parameters
    return "cache" if "cache" in takes else "past_key_values"


def _rest_of_pictures(inputs: Mapping[str, Any], pictures: int, before: int) -> dict[str, Any] | None:
    """The inputs without the first pictures; `None` where it is not known which rows are theirs."""
    kept = dict(inputs)
    if pictures == 0 or "pixel_values" not in kept:
        return None
    if before == pictures:
        return {name: value for name, value in kept.items() if name not in _OF_PICTURES}
    grid = kept.get("image_grid_thw")
    rows = kept["pixel_values"].shape[0]
    if grid is not None and grid.shape[0] == pictures:
        each = [int(one) for one in grid.prod(dim=-1).tolist()]
        if sum(each) != rows:
            return None
        kept["pixel_values"] = kept["pixel_values"][sum(each[:before]) :]
        kept["image_grid_thw"] = grid[before:]
        return kept
    named = [name for name in kept if name in _OF_PICTURES]
    if any(kept[name].shape[0] != pictures for name in named):
        return None
    for name in named:
        kept[name] = kept[name][before:]
    return kept
