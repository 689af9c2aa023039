"""The forms in which a chat model can be asked for one object: structured output, a tool, tagged text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from langchain_core.runnables import Runnable, RunnableSequence

from langgraph_interleave.errors import ConfigError
from langgraph_interleave.models.wrapping import chat_models, mapped

Form = Literal["json_schema", "tool", "tagged"]
Output = Literal["auto", "json_schema", "tool", "tagged"]
FORMS: tuple[Form, ...] = ("json_schema", "tool", "tagged")
OUTPUTS: tuple[Output, ...] = ("auto", *FORMS)


def in_form(model: Any, schema: Mapping[str, Any], form: Form) -> Runnable[Any, Any]:
    """Bind to a model what makes it answer in a form; it is never forced into a tool call.

    Args:
        model: A chat model, with whatever is around it.
        schema: JSON schema of the object, with `title` and `description`.
        form: The form.

    Raises:
        ConfigError: The model has no such form.
    """
    return model if form == "tagged" else mapped(model, lambda one: _bound(one, schema, form))


def ability(model: object, name: str) -> bool | None:
    """What the profile of a model says of an ability; `None` when it says nothing.

    Example:
        >>> ability(object(), "image_inputs") is None
        True
    """
    profiles = [cast("Mapping[str, Any]", getattr(inner, "profile", None) or {}) for inner in chat_models(model)]
    said = [profile.get(name) for profile in profiles]
    # What one of them cannot do cannot be asked of any: nobody knows which will answer.
    return False if False in said else (True if True in said else None)


def _bound(model: Any, schema: Mapping[str, Any], form: Form) -> Runnable[Any, Any]:
    bound: Any
    try:
        if form == "tool":
            bound = model.bind_tools([_as_tool(schema)])
        else:
            structured = model.with_structured_output(dict(schema), method="json_schema")
            # The model with its options bound; the parser behind it is ours.
            bound = structured.first if isinstance(structured, RunnableSequence) else structured
    except (NotImplementedError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{type(model).__name__} has no {form} output: {str(error)[:200]}",
            remedy='Leave out output=, or use output="tagged".',
        ) from error
    if form == "json_schema" and "tools" in getattr(bound, "kwargs", {}):
        # What LangChain does for classes without structured output; models that think refuse it.
        raise ConfigError(
            f"{type(model).__name__} has no json_schema output; it would be forced into a tool call.",
            remedy='Leave out output=, or use output="tool" or output="tagged".',
        )
    return bound


def _as_tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {key: value for key, value in schema.items() if key not in ("title", "description")}
    function = {"name": schema["title"], "description": schema["description"], "parameters": parameters}
    return {"type": "function", "function": function}
