"""A conversation as one model reads it: its chat template filled in, and encoded."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langgraph_interleave.errors import ConfigError, InvalidRequest
from langgraph_interleave.models.transformers.prefix import Key
from langgraph_interleave.models.transformers.turns import Picture, Turn, pictures_of

_BETWEEN = "\n\n"
_OPENED = re.compile(r"<think(?:ing)?>\s*\Z")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is given.

    Attributes:
        inputs: Tensors by name, `input_ids` among them.
        keys: One for each token.
        pictures: The tokens of each picture, from and to; empty where they cannot be told apart.
        image_tokens: How many tokens stand for pictures.
        opening: Thinking that the template has begun already, as text that belongs to the answer.
    """

    inputs: Mapping[str, Any]
    keys: Sequence[Key]
    pictures: Sequence[tuple[int, int]]
    image_tokens: int
    opening: str


class Prompting:
    """Makes prompts for one model.

    Args:
        what: The model's name, for messages.
        tokenizer: Its tokenizer.
        processor: Its processor, for a model that sees.
        image_token: The number of the token that stands for a picture's part.
    """

    def __init__(self, what: str, tokenizer: Any, processor: Any | None, image_token: int | None) -> None:
        self._what, self._tokenizer, self._processor, self._image_token = what, tokenizer, processor, image_token
        self._filling = processor if processor is not None and processor.chat_template else tokenizer
        if not self._filling.chat_template:
            raise ConfigError(
                f"{what} has no chat template: it is a base model, which goes on with a text and does not answer.",
                remedy="Use its Instruct or Chat version.",
            )
        self._specials = _specials(tokenizer, processor)
        self._takes_system = True

    def prompt(self, turns: Sequence[Turn], *, thinking: bool | None) -> Prompt:
        """Fill in the template, and encode.

        Raises:
            InvalidRequest: There are pictures, and the model sees none; or the template refuses the turns.
        """
        pictures = pictures_of(turns)
        if pictures and self._processor is None:
            raise InvalidRequest(
                f"{self._what} takes no pictures, and {len(pictures)} were given.",
                remedy="Choose a model that sees (an image-text-to-text model).",
            )
        text = self._filled(turns, {} if thinking is None else {"enable_thinking": thinking})
        inputs = self._encoded(text, pictures)
        ids: list[int] = inputs["input_ids"][0].tolist()
        keys, spans = self._keys(ids, pictures)
        opened = _OPENED.search(text)
        seen = sum(isinstance(key, str) for key in keys)
        return Prompt(inputs, keys, spans, seen, "" if opened is None else opened[0])

    def _filled(self, turns: Sequence[Turn], options: Mapping[str, Any]) -> str:
        if not self._takes_system:
            turns = _without_system(turns)
        messages = [self._message(turn) for turn in turns]
        try:
            filled = self._filling.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options)
        except Exception as error:
            # Templates raise jinja's errors, with the words their authors chose.
            if type(error).__name__ not in ("TemplateError", "UndefinedError", "TypeError"):
                raise
            if self._takes_system and turns[0].role == "system":
                self._takes_system = False
                return self._filled(turns, options)
            raise InvalidRequest(
                f"The chat template of {self._what} refuses the conversation: {str(error)[:200]}",
                remedy="Let human and AI messages alternate.",
            ) from error
        return cast("str", filled)

    def _message(self, turn: Turn) -> dict[str, Any]:
        blocks: list[dict[str, str]] = []
        for part in turn.parts:
            if isinstance(part, Picture):
                blocks.append({"type": "image"})
                continue
            words = self._specials.sub(lambda match: f"{match[0][0]} {match[0][1:]}", part)
            if blocks and blocks[-1]["type"] == "text":
                # Templates put nothing in between.
                blocks[-1]["text"] += _BETWEEN + words
            else:
                blocks.append({"type": "text", "text": words})
        if self._processor is not None:
            return {"role": turn.role, "content": blocks}
        return {"role": turn.role, "content": "".join(block["text"] for block in blocks)}

    def _encoded(self, text: str, pictures: Sequence[Picture]) -> dict[str, Any]:
        # What begins a text is in the template already.
        if self._processor is None:
            return dict(self._tokenizer(text, return_tensors="pt", add_special_tokens=False))
        begins = self._tokenizer.bos_token is not None and text.startswith(self._tokenizer.bos_token)
        options = {"add_special_tokens": False} if begins else {}
        images = [picture.pixels for picture in pictures] or None
        return dict(self._processor(text=[text], images=images, return_tensors="pt", **options))

    def _keys(self, ids: list[int], pictures: Sequence[Picture]) -> tuple[list[Key], list[tuple[int, int]]]:
        spans = _runs(ids, self._image_token) if pictures else []
        keys: list[Key] = list(ids)
        if len(spans) == len(pictures):
            digests = [picture.digest for picture in pictures]
        else:
            # Which tokens are which picture's is not known; they are the same where all pictures are.
            together = hashlib.sha256(" ".join(picture.digest for picture in pictures).encode()).hexdigest()
            digests = [together] * len(spans)
        for (start, end), digest in zip(spans, digests, strict=True):
            keys[start:end] = [digest] * (end - start)
        return keys, spans if len(spans) == len(pictures) else []


def _runs(ids: Sequence[int], token: int | None) -> list[tuple[int, int]]:
    """Where a token stands, from and to, for each stretch of it."""
    runs: list[tuple[int, int]] = []
    for at, one in enumerate(ids):
        if one != token:
            continue
        if runs and runs[-1][1] == at:
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    return runs


def _without_system(turns: Sequence[Turn]) -> list[Turn]:
    """What the system says, said by the user first, for templates that know no system."""
    if not turns or turns[0].role != "system":
        return list(turns)
    first, *rest = turns
    if rest and rest[0].role == "user":
        return [Turn("user", first.parts + rest[0].parts), *rest[1:]]
    return [Turn("user", first.parts), *rest]


def _specials(tokenizer: Any, processor: Any | None) -> re.Pattern[str]:
    """What must not be read as more than text where a message says it (`<|im_end|>`, `<image>`)."""
    added = [str(token) for token in tokenizer.added_tokens_decoder.values() if token.special]
    named = [
        getattr(holder, name, None) for holder in (tokenizer, processor) for name in ("image_token", "video_token")
    ]
    words = {word for word in (*added, *tokenizer.all_special_tokens, *named) if isinstance(word, str) and word}
    # Longest first: one may begin another.
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))) or r"(?!)")
