"""The faults there are, by name: what happens, and what it says about the work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from langgraph_interleave.errors import ConfigError

#: What whoever asked can know of the work: `answered` it was done; `refused` it was not; `blocked` it
#: was refused for what it asks; `unsure` it may have been done, and billed.
Known = Literal["answered", "refused", "blocked", "unsure"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault.

    Attributes:
        name: What it is called.
        says: What happens.
        works: Whether the work is done, and would be billed.
        known: What whoever asked can know of that.
        ends: Whether it ends by itself; if not, somebody's deadline has to.
    """

    name: str
    says: str
    works: bool
    known: Known
    ends: bool = True


_BOTH = (
    Kind("rate_limited", "429, and no word about when to come back", False, "refused"),
    Kind("retry_after", "429, with the time to wait (`retry_after_s`)", False, "refused"),
    Kind("refused_connection", "nobody listens there", False, "refused"),
    Kind("overloaded", "503, with the time to wait", False, "refused"),
    Kind("no_credit", "429 that never passes: the account is empty", False, "refused"),
    Kind("blocked", "moderation refuses the request before any work", False, "blocked"),
    Kind("timeout_before", "the client's time-out, nothing having been done", False, "unsure"),
    Kind("timeout_after", "the client's time-out, after the work was done", True, "unsure"),
    Kind("server_error", "500, nothing having been done", False, "unsure"),
    Kind("server_error_after", "500, after the work was done", True, "unsure"),
    Kind("html", "200, with a web page", False, "unsure"),
    Kind("cut_stream", "the connection breaks in the middle of the answer", True, "unsure"),
    Kind("foreign", "an exception that is no provider's: a bug", False, "unsure"),
    Kind("secret", "an exception that carries a key and the bytes of a picture", False, "unsure"),
    Kind("never_answers", "no answer, ever; it can be cancelled", False, "unsure", ends=False),
    Kind("stuck", "no answer, ever: a thread blocks, and cannot be cancelled", False, "unsure", ends=False),
    Kind("deaf", "no answer, ever: cancelling it is ignored", False, "unsure", ends=False),
)
_OF_DRAWING = (
    Kind("empty", "an answer without a picture, as an error", True, "answered"),
    Kind("nothing", "a result with no picture in it", True, "unsure"),
    Kind("blocked_after", "moderation refuses the picture that was drawn", True, "blocked"),
    Kind("black", "a picture that is black all over", True, "answered"),
    Kind("nan", "a picture of numbers that are no numbers", True, "unsure"),
    Kind("broken", "a picture whose file ends in the middle", True, "unsure"),
    Kind("no_picture", "bytes that are no picture", True, "unsure"),
    Kind("wrong_size", "a picture of another size than asked for", True, "answered"),
    Kind("too_many", "three times as many pictures as asked for", True, "answered"),
    Kind("too_few", "a picture less than asked for", True, "unsure"),
)
_OF_SPEAKING = (
    Kind("empty", "no words at all", True, "answered"),
    Kind("garbage", "words and signs without sense", True, "answered"),
    Kind("truncated", "a token limit cuts the answer off", True, "answered"),
    Kind("blocked_after", "a filter stops the answer", True, "blocked"),
    Kind("endless_thinking", "reasoning that never ends", True, "unsure", ends=False),
    Kind("endless_steps", "a list of steps that never ends", True, "unsure", ends=False),
    Kind("same_plan", "again and again the same plan, which cannot be used", True, "answered"),
    Kind("never_accepts", "a critic that always finds something", True, "answered"),
)

#: The faults of a `FaultyBackend`, by name.
DRAWING: Mapping[str, Kind] = {kind.name: kind for kind in (*_BOTH, *_OF_DRAWING)}
#: The faults of a `FaultyChatModel`, by name.
SPEAKING: Mapping[str, Kind] = {kind.name: kind for kind in (*_BOTH, *_OF_SPEAKING)}


def kinds(names: Iterable[str | None], known: Mapping[str, Kind]) -> list[Kind | None]:
    """Look names up; `None` is no fault.

    Raises:
        ConfigError: There is no such fault.

    Example:
        >>> [kind and kind.works for kind in kinds(["black", None, "rate_limited"], DRAWING)]
        [True, None, False]
    """
    found: list[Kind | None] = []
    for name in names:
        if name is not None and name not in known:
            raise ConfigError(f"There is no fault {name!r}.", remedy=f"Use one of {', '.join(known)}.")
        found.append(None if name is None else known[name])
    return found
