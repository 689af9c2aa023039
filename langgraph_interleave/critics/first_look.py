"""A cheaper critic looks first; only what it accepts is shown to the stronger one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Self

from langchain_core.runnables import Runnable

from langgraph_interleave.critic import Critic, OnText
from langgraph_interleave.critics.ensemble import ask, most_calls, named, names_in, no_voice, with_usage, would_hide
from langgraph_interleave.errors import CallError, ConfigError, CritiqueError
from langgraph_interleave.types import CritiqueRequest, CritiqueResult, Usage


class FirstLook:
    """A critic of two: the cheap one's `revise` stands, the other decides about what it accepts.

    What it saves: the stronger critic is not asked about pictures the cheap one sends back. What it
    costs: a picture the cheap one is wrong to send back is drawn again for nothing, by *its* refined
    prompt, and the stronger one never sees it; and an accepted picture takes both, one after the
    other. So it pays where many pictures fail in ways that are easy to see and drawing is cheap
    beside the stronger critic; where nearly all are accepted it only adds time. Nothing is accepted
    that the stronger critic has not seen.

    When the cheap one fails the other is asked, with a warning. When the other fails nothing stands:
    its error is raised, with what both used. Usage is that of the requests made, each a call.

    Args:
        cheap: The critic, or the name of one, that looks first.
        then: The critic, or the name of one, that decides.

    Example:
        >>> FirstLook("pixel", "pixel").billed
        False
    """

    def __init__(self, cheap: Critic | Runnable[Any, Any] | str, then: Critic | Runnable[Any, Any] | str) -> None:
        self.cheap = named(cheap)
        self.then = named(then)
        self.members = (self.cheap, self.then)
        self.billed = self.cheap.billed or self.then.billed
        self.fingerprint = f"first-look:{json.dumps([self.cheap.fingerprint, self.then.fingerprint])}"
        self.calls_at_most = most_calls(self.cheap) + most_calls(self.then)

    written = "first-look:CHEAP,THEN"

    @classmethod
    def from_string(cls, argument: str) -> Self:
        """Make one from two names with a comma between: `openai:small,openai:large`.

        Raises:
            ConfigError: They are not two.
        """
        names = names_in(argument)
        if len(names) != 2:
            raise ConfigError(
                f"A first look takes two critics, and {argument!r} names {len(names)}.",
                remedy="Write the cheap one, a comma, and the one that decides.",
            )
        return cls(*names)

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Ask the cheap critic, and the other unless it says revise.

        The reasoning given out is that of the critic whose critique is returned: the cheap one's in
        one piece, once it is known to stand; the other's as it comes.

        Raises:
            CritiqueError: No critique could be read from the deciding critic.
            CallError: The deciding critic failed.
        """
        first = await ask(self.cheap, request)
        if first.result is not None and first.result.critique.verdict == "revise":
            if on_text is not None:
                on_text(first.result.critique.reasoning)
            return replace(first.result, usage=Usage.total([first.usage or Usage()]))
        second = await ask(self.then, request, on_text=on_text)
        usage = Usage.total(used for answer in (first, second) if (used := answer.usage) is not None)
        if second.result is None:
            assert second.error is not None, "an answer is a result or an error"
            raise _telling(second.error, usage)
        result = replace(second.result, usage=usage)
        if first.error is None:
            return result
        critique = result.critique
        warnings = (*critique.warnings, no_voice(first.error))
        return replace(result, critique=critique.model_copy(update={"warnings": warnings}))


def _telling(error: CallError | CritiqueError, usage: Usage) -> CallError | CritiqueError:
    """The deciding critic's error; as one that counts, where it alone would say that nothing was used."""
    if not would_hide(error, usage):
        return with_usage(error, usage)
    counted = CritiqueError(f"The deciding critic failed. {error.message}", remedy=error.remedy, usage=usage)
    counted.__cause__ = error
    return counted
