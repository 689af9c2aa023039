"""One object from any chat model, by the strongest form it understands, streamed.

Structured output goes first, then a tool the model may call, then tagged text. A model is never
forced into a tool call: models that think refuse that. A provider that does not take a form says so
before it does any work; then the next one is tried, and remembered.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables import Runnable

from langgraph_interleave.errors import (
    BadResponse,
    CallError,
    ConfigError,
    ContentBlocked,
    InterleaveError,
    InvalidRequest,
    Role,
)
from langgraph_interleave.models.caching import cache_options, with_breakpoints
from langgraph_interleave.models.faults import call_error
from langgraph_interleave.models.forms import OUTPUTS, Form, Output, ability, in_form
from langgraph_interleave.models.hydration import hydrating, showing
from langgraph_interleave.models.identity import innermost, name_of
from langgraph_interleave.models.reading import Reading, Said, as_chunk, cut_off
from langgraph_interleave.models.ready import check_ready
from langgraph_interleave.models.usage import model_name, usage_of, was_blocked, was_truncated
from langgraph_interleave.models.wrapping import chat_models, mapped, settled
from langgraph_interleave.prices import Costs
from langgraph_interleave.secrecy import secrets_in
from langgraph_interleave.types import ImageBytes, Usage

#: What a provider that does not take a form complains of.
_OF_THE_FORM = re.compile(
    r"(?i)response_?format|json_?schema|structured|output_(?:format|config)|\btools?\b|tool_choice|function"
)
_OF_THE_USAGE = re.compile(r"(?i)stream_options|include_usage")


@dataclass(frozen=True, slots=True)
class Answered:
    """The whole answer.

    Attributes:
        text: The answer's text: JSON, or tagged text.
        thought: Reasoning in the provider's own form.
        form: How it was asked for.
        usage: What it used.
        truncated: A token limit cut it off.
        model: What the provider calls the model.
    """

    text: str
    thought: str
    form: Form
    usage: Usage
    truncated: bool = False
    model: str | None = None


class Answering:
    """Asks one chat model for objects of one schema.

    Args:
        model: Any LangChain chat model, with options bound, fallbacks, configurable parts; retries of its own
            are taken off. It is copied, never changed.
        schema: JSON schema of the object, with `title` and `description`.
        role: Whose calls these are.
        output: How to ask; `auto` finds out.
        prices: To know the cost of a call.
    """

    def __init__(
        self,
        model: BaseChatModel | Runnable[Any, Any],
        schema: Mapping[str, Any],
        *,
        role: Role,
        output: Output = "auto",
        prices: Costs | None = None,
    ) -> None:
        if output not in OUTPUTS:
            raise ConfigError(f"There is no output {output!r}.", remedy=f"Use one of {', '.join(OUTPUTS)}.")
        self.model = hydrating(_with_usage(settled(model)))
        self.output: Output = output
        self._schema = dict(schema)
        self._role: Role = role
        self._prices = prices
        self._forms: list[Form] = self._possible() if output == "auto" else [output]
        self._form_of(self._forms[0])  # what cannot be bound is said now, not at the first call

    @property
    def form(self) -> Form:
        """How the model is asked next."""
        return self._forms[0]

    async def ask(
        self, messages: Mapping[Form, Sequence[BaseMessage]], pictures: Sequence[ImageBytes], *, about: str, stable: int
    ) -> AsyncGenerator[Said | Answered]:
        """Ask, and stream the answer; the last thing yielded is the whole.

        Args:
            messages: What to say, for each form.
            pictures: The pictures the messages refer to.
            about: What these calls have in common with others, for a provider's prefix cache.
            stable: How many parts of the human message the next call begins with as well.

        Raises:
            CallError: One of its subclasses.
            ConfigError: The key or the model is refused.
        """
        options = cache_options(self.model, about)
        while True:
            form = self._forms[0]
            said_anything = False
            marked = with_breakpoints(messages[form], self.model, stable=stable)
            try:
                async with aclosing(self._stream(form, marked, pictures, options)) as parts:
                    async for part in parts:
                        said_anything = True
                        yield part
                return
            except InvalidRequest as refused:
                # Refused before any work was done; the next form may be taken.
                if said_anything or not self._can_do_otherwise(form, refused):
                    raise

    def _can_do_otherwise(self, form: Form, refused: InvalidRequest) -> bool:
        telling = any(getattr(model, "stream_usage", False) for model in chat_models(self.model))
        if telling and _OF_THE_USAGE.search(refused.message):
            self.model = mapped(self.model, _without_usage)
            return True
        if self._forms[0] != form:
            return True  # another call found out meanwhile
        if self.output != "auto" or len(self._forms) < 2 or not _OF_THE_FORM.search(refused.message):
            return False
        self._forms.pop(0)
        return True

    async def say(self, messages: Sequence[BaseMessage], pictures: Sequence[ImageBytes] = ()) -> Answered:
        """Ask for plain text."""
        whole: Answered | None = None
        async with aclosing(self._stream("tagged", messages, pictures, {})) as parts:
            async for part in parts:
                whole = part if isinstance(part, Answered) else whole
        assert whole is not None
        return whole

    async def ready(self) -> None:
        """Find out whether key and server are right, where that costs nothing.

        Raises:
            ConfigError: The key is refused, or the model is not there.
            Unavailable: Nobody answers.
        """
        inner = innermost(self.model)
        client = getattr(inner, "root_async_client", None)
        if callable(getattr(client, "with_options", None)):
            await check_ready(client, name_of(inner), role=self._role, what=self._what)

    async def _stream(
        self, form: Form, messages: Sequence[BaseMessage], pictures: Sequence[ImageBytes], options: Mapping[str, Any]
    ) -> AsyncGenerator[Said | Answered]:
        runnable = self._form_of(form).bind(**options) if options else self._form_of(form)
        message: AIMessageChunk | None = None
        reading = Reading(form)
        try:
            with showing(pictures):
                async with aclosing(cast("AsyncGenerator[AIMessage]", runnable.astream(list(messages)))) as chunks:
                    async for said in chunks:
                        chunk = as_chunk(said)
                        message = chunk if message is None else message + chunk
                        for more in reading.read(chunk):
                            yield more
        except Exception as error:  # noqa: BLE001 - whatever an SDK raises; a bug is raised again as it is
            cut = cut_off(error)
            if cut is None:
                self._raise(error)
            else:
                message = (message or AIMessageChunk(content="")) + cut
        for more in reading.finish():
            yield more
        yield self._whole(form, reading, message)

    def _raise(self, error: Exception) -> None:
        if isinstance(error, CallError):
            # A model in this process cannot know whose call it was.
            error.role = self._role
        if isinstance(error, InterleaveError):
            raise error
        ours = call_error(error, role=self._role, what=self._what, secrets=secrets_in(*chat_models(self.model)))
        raise error if ours is None else ours from error

    def _whole(self, form: Form, reading: Reading, message: AIMessageChunk | None) -> Answered:
        if message is None:
            raise BadResponse(
                f"The {self._role} model ended its answer before it began.", role=self._role, remedy="Try again."
            )
        usage = usage_of(message, self._prices)
        reason = was_blocked(message)
        if reason is not None:
            raise ContentBlocked(
                f"The {self._role} model refused to answer: {reason}",
                remedy="Say the request in other words.",
                role=self._role,
                usage=usage,
            )
        return Answered(
            reading.answer, reading.thought, form, usage, truncated=was_truncated(message), model=model_name(message)
        )

    @property
    def _what(self) -> str:
        return f"the {self._role} model {name_of(self.model)}"

    # --- forms --------------------------------------------------------------------------------

    def _possible(self) -> list[Form]:
        forms: list[Form] = []
        for form, needed in (("json_schema", "structured_output"), ("tool", "tool_calling")):
            if ability(self.model, needed) is False:
                continue
            try:
                self._form_of(cast("Form", form))
            except ConfigError:
                continue
            forms.append(cast("Form", form))
        return [*forms, "tagged"]

    def _form_of(self, form: Form) -> Runnable[Any, Any]:
        return in_form(self.model, self._schema, form)


def _with_usage(model: Any) -> Any:
    """Have usage reported while streaming, where a model can and nobody decided otherwise."""

    def told(inner: Any) -> Any:
        if (
            "stream_usage" in getattr(type(inner), "model_fields", {})
            and not getattr(inner, "stream_usage", None)
            and ("stream_usage" not in inner.model_fields_set or inner.stream_usage is None)
        ):
            return inner.model_copy(update={"stream_usage": True})
        return inner

    return mapped(model, told)


def _without_usage(inner: Any) -> Any:
    return inner.model_copy(update={"stream_usage": False}) if getattr(inner, "stream_usage", False) else inner
