"""How a chat model is told to draw, by provider: modalities, shape, the tool that draws."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase

from langgraph_interleave.backends.openai_sizes import snapped, wanted_size
from langgraph_interleave.models.wrapping import mapped
from langgraph_interleave.types import ImageRequest

_OPENAI, _GOOGLE = "openai-chat", "chat-google-generative-ai"
_TOOL = "image_generation"
#: Shapes Gemini's image models take.
_RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9")
_QUALITY = {"draft": "low", "standard": "medium", "high": "high"}


def has_image_tool(model: object) -> bool:
    """Whether somebody has bound the tool that draws already.

    Example:
        >>> has_image_tool(object())
        False
    """
    if isinstance(model, RunnableWithFallbacks):
        held = cast("Any", model)
        return any(has_image_tool(one) for one in (held.runnable, *held.fallbacks))
    if not isinstance(model, RunnableBindingBase):
        return False
    binding = cast("Any", model)
    tools = binding.kwargs.get("tools") or ()
    return any(isinstance(tool, Mapping) and tool.get("type") == _TOOL for tool in tools) or has_image_tool(
        binding.bound
    )


def draws_by_tool(model: object) -> bool:
    """Whether a chat model draws with OpenAI's own tool: it is of OpenAI, or set to the Responses API."""
    if getattr(model, "_llm_type", "") != _OPENAI:
        return False
    client = getattr(model, "root_client", None)
    host = getattr(getattr(client, "base_url", None), "host", "")
    return getattr(model, "use_responses_api", None) is True or host == "api.openai.com"


def told_to_draw(model: Any, request: ImageRequest, *, bound: bool) -> tuple[Any, tuple[str, ...]]:
    """Bind what a request needs.

    Args:
        model: A chat model, with whatever is around it.
        request: The request.
        bound: Whether the tool that draws is bound already; its settings are then whoever bound it's.

    Returns:
        The model, and what could not be told it, in words.
    """
    told: set[str] = set()

    def bind(one: Any) -> Any:
        if draws_by_tool(one) and not bound:
            told.update(("quality", "transparent"))
            return one.bind(tools=[_tool(request)], tool_choice={"type": _TOOL})
        if getattr(one, "_llm_type", "") == _GOOGLE and (options := _of_google(one, request)):
            return one.bind(**{**options, **request.extra})
        return one.bind(**request.extra) if request.extra else one

    ready = mapped(model, bind)
    unsaid = []
    if request.quality is not None and "quality" not in told:
        unsaid.append("This model has no setting for quality.")
    if request.transparent and "transparent" not in told:
        unsaid.append("This model cannot be told to draw on a transparent ground.")
    return ready, tuple(unsaid)


def ratio_of(width: int, height: int) -> str:
    """The shape nearest to a size, of those Gemini's image models take.

    Example:
        >>> ratio_of(1920, 1080), ratio_of(70, 100), ratio_of(512, 512)
        ('16:9', '2:3', '1:1')
    """

    def distance(ratio: str) -> float:
        across, _, down = ratio.partition(":")
        shape = int(across) / int(down) * height / width
        return max(shape, 1 / shape)

    return min(_RATIOS, key=distance)


def _tool(request: ImageRequest) -> dict[str, Any]:
    tool: dict[str, Any] = {"type": _TOOL, **request.extra}
    if request.width or request.height or request.references:
        width, height = snapped(*wanted_size(request))
        tool["size"] = f"{width}x{height}"
    if request.quality is not None:
        tool["quality"] = _QUALITY[request.quality]
    if request.transparent:
        tool["background"] = "transparent"
    return tool


def _of_google(model: Any, request: ImageRequest) -> dict[str, Any]:
    fields, options = type(model).model_fields, {}
    if "response_modalities" in fields and not model.response_modalities:
        # Its own names for them: words are not taken. The package is loaded, since the model is its.
        modality: Any = importlib.import_module("google.genai.types").Modality
        options["response_modalities"] = [modality.TEXT, modality.IMAGE]
    if "image_config" in fields and (request.width or request.height or request.references):
        given = model.image_config or {}
        given = given if isinstance(given, dict) else given.model_dump(exclude_none=True)
        if not given.get("aspect_ratio"):
            options["image_config"] = {**given, "aspect_ratio": ratio_of(*wanted_size(request))}
    return options
