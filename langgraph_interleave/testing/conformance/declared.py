"""What a backend says of itself: that it is complete, consistent, and the same the next time."""

from __future__ import annotations

import os
import re
from typing import get_args, get_type_hints

from langgraph_interleave.testing.conformance.item import Item, exactly
from langgraph_interleave.testing.conformance.subject import Failed, Subject
from langgraph_interleave.types import Capabilities

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_SIZE = re.compile(r"[1-9]\d*x[1-9]\d*|[1-9]\d*:[1-9]\d*")
_ENCODED = re.compile(r"[A-Za-z0-9+/=]{300,}|(?:\\x[0-9a-f]{2}){16,}")
_SECRET = re.compile(r"(?i)(key|token|secret|password)")
_LONGEST = 2000


async def contract(subject: Subject) -> str:
    """Name, fingerprint and capabilities are there, consistent, and the same for a second object."""
    backend = subject.backend
    wrong: list[str] = []
    for what in ("name", "fingerprint"):
        value: object = getattr(backend, what)
        if not isinstance(value, str) or not value.strip() or "\n" in value or len(value) > 500:
            wrong.append(f"{what} is {str(value)[:40]!r}, not one line of text")
    if _ADDRESS.search(str(backend.fingerprint)):
        wrong.append("fingerprint holds an address in memory, which is another one every time")
    wrong += inconsistent(subject.capabilities)
    second = subject.make()
    if second.fingerprint != backend.fingerprint:
        wrong.append(f"a second object made the same way has the fingerprint {second.fingerprint!r:.80}, not the same")
    if second.capabilities != subject.capabilities:
        wrong.append("a second object made the same way has other capabilities")
    if wrong:
        raise Failed(f"{'; '.join(wrong)}.")
    if second is backend:
        return "Name, fingerprint and capabilities are complete and consistent; only one object was given to try."
    return "Name, fingerprint and capabilities are complete, consistent, and the same for a second object."


def inconsistent(capabilities: Capabilities) -> list[str]:
    """What contradicts itself in what a backend says it can do.

    Example:
        >>> inconsistent(Capabilities(edit="instruct"))
        ['it edits, and takes no references']
    """
    wrong: list[str] = []
    for name, hint in get_type_hints(Capabilities).items():
        allowed, value = get_args(hint), getattr(capabilities, name)
        if allowed and all(isinstance(one, str) for one in allowed) and value not in allowed:
            wrong.append(f"{name} is {value!r}, none of {', '.join(allowed)}")
    least = {"max_images": 1, "size_multiple": 1, "min_side": 1, "max_pixels": 1, "concurrency": 1, "max_references": 0}
    wrong += [f"{name} is {getattr(capabilities, name)!r}" for name, low in least.items()
              if not isinstance(getattr(capabilities, name), int) or getattr(capabilities, name) < low]  # fmt: skip
    if wrong:
        return wrong
    if not capabilities.generate and capabilities.edit == "none":
        wrong.append("it neither draws from words nor edits")
    if capabilities.edit != "none" and not capabilities.max_references:
        wrong.append("it edits, and takes no references")
    if capabilities.mask and not capabilities.max_references:
        wrong.append("it takes masks, and no references")
    if capabilities.min_side**2 > capabilities.max_pixels:
        wrong.append("the shortest side it draws makes a picture larger than the largest")
    if capabilities.max_aspect is not None and capabilities.max_aspect < 1:
        wrong.append(f"max_aspect is {capabilities.max_aspect:g}, below 1")
    if capabilities.max_prompt_tokens is not None and capabilities.max_prompt_tokens < 1:
        wrong.append(f"max_prompt_tokens is {capabilities.max_prompt_tokens}")
    wrong += [f"{size!r} in sizes is neither WIDTHxHEIGHT nor a ratio"
              for size in capabilities.sizes if not _SIZE.fullmatch(str(size))]  # fmt: skip
    return wrong


async def silence(subject: Subject) -> str:
    """No bytes of pictures and no secrets in anything it says. Asked last: then it has said something."""
    await subject.plain()
    said = {"repr": repr(subject.backend), "name": subject.backend.name, "fingerprint": subject.backend.fingerprint}
    said |= {f"message {number}": words for number, words in enumerate(subject.words)}
    secrets = {name: value for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= 8}
    for where, words in said.items():
        if len(words) > _LONGEST and where == "repr":
            raise Failed(f"Its repr is {len(words)} characters long.")
        if _ENCODED.search(words):
            raise Failed(f"Its {where} holds what looks like the bytes of a picture.")
        for name, value in secrets.items():
            if value in words:
                raise Failed(f"Its {where} holds the value of {name}.")
    return f"Neither bytes nor secrets in its repr, its name and {len(subject.words)} things it said."


ITEMS = (
    Item(
        "contract",
        "Says who it is and what it can do, and the same the next time",
        contract,
        exactly(0),
        remedy=(
            "Give name and fingerprint as one line of text, the fingerprint made of model, version and options, "
            "and Capabilities(…) that do not contradict themselves."
        ),
    ),
)
LAST = (
    Item(
        "silence",
        "Puts neither bytes nor secrets into words",
        silence,
        exactly(1),
        remedy="Leave bytes and keys out of repr, name, fingerprint, warnings and messages of errors.",
    ),
)
