"""How our tools are offered to an agent's model, and what it is told when it calls one wrongly."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool, StructuredTool


def offer(
    function: Callable[..., Any],
    coroutine: Callable[..., Coroutine[Any, Any, Any]],
    name: str,
    description: str,
    *,
    nothing: str,
) -> BaseTool:
    """A tool that returns content and an artifact, and answers a wrong call instead of raising.

    Args:
        function: What it does.
        coroutine: The same for async code.
        name: Its name.
        description: What the model is told of it.
        nothing: What did not happen, for a call whose arguments cannot be read: `Nothing was drawn.`
    """

    def misread(error: Any) -> str:
        """What is wrong with the arguments; nothing of what the model sent."""
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()[:4]
        )
        return f"{nothing} The arguments cannot be read: {wrong}. Call the tool again with the right ones."

    return StructuredTool.from_function(
        function,
        coroutine,
        name=name,
        description=description,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=misread,
    )


def takes_pictures(model: BaseChatModel | None) -> bool:
    """Whether a model's profile says that it takes pictures in tool messages."""
    profile: Any = getattr(model, "profile", None) or {}
    return bool(profile.get("image_tool_message"))
