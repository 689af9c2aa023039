"""The planner `chat`: any LangChain chat model lays the sequence out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import Runnable

from langgraph_interleave.errors import BadResponse, ConfigError, PlanError
from langgraph_interleave.imaging import downscale
from langgraph_interleave.models.answering import Answered, Answering
from langgraph_interleave.models.changing import change_messages
from langgraph_interleave.models.forms import FORMS, Form, Output
from langgraph_interleave.models.identity import fingerprint_of
from langgraph_interleave.models.messages import plan_messages
from langgraph_interleave.models.naming import chat_model, named_model
from langgraph_interleave.models.options import read_options
from langgraph_interleave.models.pricing import costs_of
from langgraph_interleave.models.reading import BETWEEN, Said
from langgraph_interleave.models.schema import changes_schema, plan_schema
from langgraph_interleave.parsing import IncrementalPlan
from langgraph_interleave.parsing.speaking import Speaking
from langgraph_interleave.planner import PlanRequest, Rephrased
from langgraph_interleave.planners.changing import ChangedPlan
from langgraph_interleave.prices import Costs
from langgraph_interleave.prompts import Prompts
from langgraph_interleave.types import ImageBytes, PlanDelta, PlanFinished, ReasoningDelta

#: Options of this class in a model's name.
_OPTIONS: dict[str, Any] = {
    "output": Output,
    "prompts": str,
    "billed": bool,
    "downscale_from": int,
    "downscale_to": int,
}


class ChatPlanner:
    """Asks a chat model for the plan, and reads it while it is being written.

    Each step is passed on as soon as its object closes. Both of a planner's tasks are the model's to
    tell apart: words about pictures the user gave (text steps only), and pictures, new or going on
    from the user's own. Where a plan is to be changed, the model says what becomes of each step, and only
    its reasoning is passed on before the end. Not guaranteed: that a model gives the same plan twice.

    Args:
        model: A LangChain chat model, or its name: `openai:gpt-5`, `huggingface:org/model`,
            `openai:name?base_url=http://127.0.0.1:8000/v1`.
        output: How to ask: `json_schema`, `tool`, `tagged` text, or `auto`, the first of these the
            model takes. The released InterleaveThinker-Planner-8B wants `tagged`.
        prompts: Templates, or a folder with some that replace the built-in ones.
        prices: To know what a call costs: a table, or a file that goes before the built-in one.
        billed: Whether a call costs money; if not, its cost is 0 and no table is asked.
        downscale_from: From so many pictures in the request on, each is made smaller.
        downscale_to: Longest side of those, in pixels.

    Raises:
        ConfigError: The model is unknown, its key is missing, or it has no such output.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> ChatPlanner(FakeListChatModel(responses=["…"]), output="tagged").output
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
        downscale_from: int = 5,
        downscale_to: int = 384,
    ) -> None:
        if downscale_from < 1 or downscale_to < 16:
            raise ConfigError(
                f"downscale_from={downscale_from}, downscale_to={downscale_to} makes no sense.",
                remedy="Give a number of pictures of at least 1, and a side of at least 16 pixels.",
            )
        self.model = chat_model(model) if isinstance(model, str) else model
        self.prompts = Prompts.given(prompts)
        self.billed = billed
        self.output: Output = output
        self.downscale_from, self.downscale_to = downscale_from, downscale_to
        self.prices = costs_of(prices, billed=billed)
        self._answering = Answering(self.model, plan_schema(), role="planner", output=output, prices=self.prices)
        self._changing = Answering(self.model, changes_schema(), role="planner", output=output, prices=self.prices)
        self.fingerprint = fingerprint_of(
            self.model,
            role="planner",
            output=output,
            prompts=self.prompts.version,
            shown=[downscale_from, downscale_to],
        )

    @classmethod
    def from_string(cls, text: str, **options: Any) -> ChatPlanner:
        """The planner that `provider:model?option=value` means, options of the model and of this class alike."""
        model, written = named_model(text, _OPTIONS)
        return cls(model, **{**read_options(text, written, _OPTIONS), **options})

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        """Stream the plan.

        Raises:
            PlanError: The answer cannot be read; it has the usage, so the model may be asked again.
            CallError: The model failed.
        """
        pictures = await self._shown(request.images)
        existing = request.existing
        reader: IncrementalPlan | ChangedPlan
        if existing is None:
            reader = IncrementalPlan(
                inputs=len(request.images), steps=request.steps, max_steps=request.limits.max_steps
            )
        else:
            reader = ChangedPlan(request, existing)
        speaking = Speaking("reasoning")
        between = ""
        whole: Answered | None = None
        async with aclosing(self._asked(request, pictures)) as parts:
            async for part in parts:
                if isinstance(part, Answered):
                    whole = part
                elif part.thought:
                    between = BETWEEN
                    yield ReasoningDelta(part.text)
                else:
                    if more := speaking.feed(part.text):
                        yield ReasoningDelta(between + more)
                        between = ""
                    for delta in reader.feed(part.text):
                        if not isinstance(delta, ReasoningDelta):
                            yield delta
        assert whole is not None
        try:
            parsed = reader.finish(truncated=whole.truncated)
        except PlanError as error:
            error.usage = whole.usage
            raise
        reasoning = BETWEEN.join(text for text in (whole.thought, parsed.reasoning) if text)
        origins = None if isinstance(reader, IncrementalPlan) else reader.origins
        yield PlanFinished(parsed.plan, reasoning, parsed.warnings, whole.text, whole.usage, origins)

    def _asked(self, request: PlanRequest, pictures: Sequence[ImageBytes]) -> AsyncGenerator[Said | Answered]:
        existing = request.existing
        messages: dict[Form, Sequence[BaseMessage]] = {
            form: plan_messages(request, pictures, self.prompts, form)
            if existing is None
            else change_messages(request, existing, pictures, self.prompts, form)
            for form in FORMS
        }
        answering = self._answering if existing is None else self._changing
        stable = len(messages[FORMS[0]][1].content)
        return answering.ask(messages, pictures, about=self.fingerprint, stable=stable)

    async def arephrase(self, prompt: str, *, reason: str) -> Rephrased:
        """Say a refused prompt in other words.

        Raises:
            CallError: The model failed, or had nothing to say.
        """
        words = self.prompts.fill("rephrase", prompt=prompt, reason=reason)
        answer = await self._answering.say([HumanMessage(words)])
        said = answer.text.strip().strip('"“”').strip()
        if not said or answer.truncated:
            raise BadResponse(
                "The planner model gave no other words for a refused prompt.",
                role="planner",
                usage=answer.usage,
                ambiguous=False,  # it answered, and said what that used
            )
        return Rephrased(said, answer.usage)

    async def aready(self) -> None:
        """Find out whether key and server are right, where that costs nothing.

        Raises:
            ConfigError: The key is refused, or the model is not there.
            Unavailable: Nobody answers.
        """
        await self._answering.ready()

    async def _shown(self, pictures: Sequence[ImageBytes]) -> tuple[ImageBytes, ...]:
        if len(pictures) < self.downscale_from:
            return tuple(pictures)
        return tuple([await asyncio.to_thread(downscale, picture, self.downscale_to) for picture in pictures])
