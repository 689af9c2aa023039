"""Key-value caches of earlier prompts, so that a beginning two prompts share is read once.

Each slot holds one conversation: its tokens, and the cache that reading them left. A new prompt takes the
slot it has most in common with, cut back to that; planner and critic, who share nothing, come to have one
each. A picture's tokens are equal only where the picture is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_interleave.models.libraries import library

#: What a token is in a prompt: its number, or the picture it stands for.
Key = int | str
#: Sharing less is not worth a slot: every prompt begins with the same few words of the template.
_LEAST_TOKENS, _LEAST_SHARE = 16, 0.25


@dataclass(slots=True)
class Slot:
    """The tokens that were read, and the cache that reading them left."""

    keys: list[Key]
    cache: Any
    used: int = 0

    def cut(self, length: int) -> None:
        """Go back to the first so many tokens."""
        if length < len(self.keys):
            # Counted from the end, which every version of transformers takes.
            self.cache.crop(length - len(self.keys))
            self.keys = self.keys[:length]


class Prefixes:
    """The slots of one model. Not for several threads at once: the model's own turn covers it.

    Args:
        slots: How many there are; 0 for none.
    """

    def __init__(self, slots: int) -> None:
        self.most = slots
        self._slots: list[Slot] = []
        self._clock = 0

    def __len__(self) -> int:
        return len(self._slots)

    def take(self, keys: Sequence[Key]) -> Slot | None:
        """The slot to go on from, cut back to what it shares with a prompt; it is no longer here.

        The last token of a prompt is never shared: reading it gives the first token of the answer.
        """
        best: Slot | None = None
        length = 0
        for slot in self._slots:
            shared = common(slot.keys, keys[:-1])
            if shared > length:
                best, length = slot, shared
        if best is None or length < max(_LEAST_TOKENS, _LEAST_SHARE * len(best.keys)):
            return None
        self._slots.remove(best)
        best.cut(length)
        return best

    def put(self, keys: Sequence[Key], cache: Any) -> None:
        """Keep a cache for prompts to come; the one unused for longest goes."""
        if self.most <= 0 or not can_be_cut(cache):
            return
        self._clock += 1
        self._slots.append(Slot(list(keys), cache, self._clock))
        self._slots.sort(key=lambda slot: slot.used)
        del self._slots[: max(0, len(self._slots) - self.most)]

    def clear(self) -> int:
        """Forget all; how many there were."""
        gone = len(self._slots)
        self._slots.clear()
        return gone


def common(one: Sequence[Key], other: Sequence[Key]) -> int:
    """How many tokens two prompts begin with in common; never a part of a picture.

    Example:
        >>> common([1, 2, 3], [1, 2, 4]), common([1, "a", "a", 2], [1, "a", "a", 3]), common([1, "a", "a"], [1, "a"])
        (2, 3, 1)
    """
    most = min(len(one), len(other))
    length = next((i for i in range(most) if one[i] != other[i]), most)
    # A picture that goes on in either is not whole yet.
    while length > 0 and any(
        length < len(keys) and isinstance(keys[length], str) and keys[length] == keys[length - 1]
        for keys in (one, other)
    ):
        length -= 1
    return length


def new_cache(model: Any) -> Any | None:
    """An empty cache for a model; `None` for one that keeps its own kind."""
    transformers = library("transformers")
    if getattr(model, "_is_stateful", False):
        return None
    return transformers.DynamicCache(config=model.config.get_text_config(decoder=True))


def can_be_cut(cache: Any) -> bool:
    """Whether a cache can go back to an earlier token: one with sliding windows or states has forgotten it."""
    layers = getattr(cache, "layers", None)
    return bool(layers) and all(type(layer).__name__ == "DynamicLayer" for layer in layers)
