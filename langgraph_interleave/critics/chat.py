"""The critic `chat`: any LangChain chat model that sees pictures judges them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from langgraph_interleave.critic import OnText
from langgraph_interleave.errors import ConfigError, CritiqueError
from langgraph_interleave.imaging import downscale
from langgraph_interleave.models.answering import Answered, Answering
from langgraph_interleave.models.forms import FORMS, Form, Output, ability
from langgraph_interleave.models.identity import fingerprint_of, name_of
from langgraph_interleave.models.messages import critique_messages
from langgraph_interleave.models.naming import chat_model, named_model
from langgraph_interleave.models.options import read_options
from langgraph_interleave.models.pricing import costs_of
from langgraph_interleave.models.reading import BETWEEN
from langgraph_interleave.models.schema import critique_schema
from langgraph_interleave.parsing import parse_critique
from langgraph_interleave.parsing.speaking import Speaking
from langgraph_interleave.prices import Costs
from langgraph_interleave.prompts import Prompts
from langgraph_interleave.types import CritiqueRequest, CritiqueResult, ImageBytes

#: Options of this class in a model's name.
_OPTIONS: dict[str, Any] = {"output": Output, "prompts": str, "billed": bool, "max_side": int}


class ChatCritic:
    """Shows a chat model the picture, and what it builds on, and asks for a verdict.

    Not guaranteed: that it is right, or says the same twice. An answer without a clear verdict is an
    error, never an accept.

    Args:
        model: A LangChain chat model that takes pictures, or its name, as for `ChatPlanner`.
        output: How to ask, as for `ChatPlanner`. The released InterleaveThinker-Critic-8B wants `tagged`.
        prompts: Templates, or a folder with some that replace the built-in ones.
        prices: To know what a call costs: a table, or a file that goes before the built-in one.
        billed: Whether a call costs money; if not, its cost is 0 and no table is asked.
        max_side: Longest side of the pictures it is shown, in pixels; `None` for as they are.

    Raises:
        ConfigError: The model is unknown, its key is missing, it has no such output, or its profile
            says that it takes no pictures.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> ChatCritic(FakeListChatModel(responses=["…"]), output="tagged").output
        'tagged'
    """

    name = "chat"
    written = "PROVIDER:MODEL, as in openai:gpt-6-sol"
    in_name = frozenset(_OPTIONS)

    def __init__(
        self,
        model: BaseChatModel | Runnable[Any, Any] | str,
        *,
        output: Output = "auto",
        prompts: Prompts | str | Path | None = None,
        prices: Costs | str | Path | None = None,
        billed: bool = True,
        max_side: int | None = None,
    ) -> None:
        if max_side is not None and max_side < 16:
            raise ConfigError(f"max_side={max_side} is too small.", remedy="Give at least 16 pixels, or None.")
        self.model = chat_model(model) if isinstance(model, str) else model
        _check_sees(self.model, model if isinstance(model, str) else name_of(model))
        self.prompts = Prompts.given(prompts)
        self.billed = billed
        self.output: Output = output
        self.max_side = max_side
        self.prices = costs_of(prices, billed=billed)
        self._answering = Answering(self.model, critique_schema(), role="critic", output=output, prices=self.prices)
        self.fingerprint = fingerprint_of(
            self.model, role="critic", output=output, prompts=self.prompts.version, shown=[max_side]
        )

    @classmethod
    def from_string(cls, text: str, **options: Any) -> ChatCritic:
        """The critic that `provider:model?option=value` means, options of the model and of this class alike."""
        model, written = named_model(text, _OPTIONS)
        _check_sees(model, text)
        return cls(model, **{**read_options(text, written, _OPTIONS), **options})

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Judge `request.after`.

        Raises:
            CritiqueError: The answer cannot be read; it has the usage, so the model may be asked again.
            CallError: The model failed.
        """
        after = await self._shown(request.after)
        references = [await self._shown(picture) for picture in request.references]
        messages: dict[Form, Sequence[BaseMessage]] = {
            form: critique_messages(request, after, references, self.prompts, form) for form in FORMS
        }
        # All but the picture to judge, and the words before it.
        stable = len(messages[FORMS[0]][1].content) - 2
        shown = [*references, after]
        speaking = Speaking("reasoning")
        tell = on_text or (lambda _: None)
        between = ""
        whole: Answered | None = None
        async with aclosing(self._answering.ask(messages, shown, about=self.fingerprint, stable=stable)) as parts:
            async for part in parts:
                if isinstance(part, Answered):
                    whole = part
                elif part.thought:
                    between = BETWEEN
                    tell(part.text)
                elif more := speaking.feed(part.text):
                    tell(between + more)
                    between = ""
        assert whole is not None
        if whole.truncated:
            raise CritiqueError(
                "No critique: the answer was cut off by the token limit.",
                remedy="Raise the critic's limit of output tokens (max_new_tokens or max_tokens).",
                raw=whole.text,
                truncated=True,
                usage=whole.usage,
            )
        try:
            parsed = parse_critique(whole.text, prompt=request.prompt)
        except CritiqueError as error:
            error.usage = whole.usage
            raise
        critique = parsed.critique
        if whole.thought:
            reasoning = BETWEEN.join(text for text in (whole.thought, critique.reasoning) if text)
            critique = critique.model_copy(update={"reasoning": reasoning})
        return CritiqueResult(critique, whole.usage, parsed.raw)

    async def aready(self) -> None:
        """Find out whether key and server are right, where that costs nothing.

        Raises:
            ConfigError: The key is refused, or the model is not there.
            Unavailable: Nobody answers.
        """
        await self._answering.ready()

    async def _shown(self, picture: ImageBytes) -> ImageBytes:
        if self.max_side is None:
            return picture
        return await asyncio.to_thread(downscale, picture, self.max_side)


def _check_sees(model: object, called: str) -> None:
    """Refuse a model that is known to take no pictures, by the name its user gave it."""
    if ability(model, "image_inputs") is False:
        raise ConfigError(
            f"The critic model {called} takes no pictures.", remedy="Choose one that does: a critic judges by pixels."
        )
