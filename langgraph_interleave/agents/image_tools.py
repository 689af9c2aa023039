"""`create_image_tools`: an image backend as LangChain tools, for agents that draw when they need a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool, ToolException
from langgraph.prebuilt import ToolRuntime
from pydantic import Field

from langgraph_interleave._sync import run_sync
from langgraph_interleave.agents.offering import offer, takes_pictures
from langgraph_interleave.agents.studio import Quality, Studio
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.given import Given, as_backend
from langgraph_interleave.context import parse_size
from langgraph_interleave.errors import ConfigError
from langgraph_interleave.ledger import Ledger
from langgraph_interleave.limits import Limits

#: An agent that draws in a loop is stopped here, where nobody says otherwise.
DEFAULT_LIMITS = Limits(max_images=20)

Shown = Literal["reference", "blocks"]

Prompt: TypeAlias = Annotated[str, Field(description="What the picture shows, in words.")]
Change: TypeAlias = Annotated[str, Field(description="What to change in the first picture, and what must stay.")]
References: TypeAlias = Annotated[
    list[str],
    Field(description="Ids of the pictures to start from, in order; the first is the one that is changed."),
]
Size: TypeAlias = Annotated[
    str | None, Field(description="WIDTHxHEIGHT in pixels, such as 1024x768. Leave it out for the usual size.")
]
Seed: TypeAlias = Annotated[
    int | None, Field(description="A number. The same words with another seed are another picture.")
]
Care: TypeAlias = Annotated[Quality | None, Field(description="How much care is taken. Leave it out for the usual.")]


def create_image_tools(
    backend: Given,
    *,
    artifacts: ArtifactStore | None = None,
    ledger: Ledger | None = None,
    limits: Limits | None = None,
    images: Shown | None = None,
    model: BaseChatModel | None = None,
    size: str | None = None,
    quality: Quality | None = None,
) -> list[BaseTool]:
    """Make LangChain tools from an image backend: `generate_image`, and `edit_image` where it edits.

    A picture goes into the store; the conversation gets its id (`artifact://…`), which is what
    `edit_image` takes as a reference. The tool message's `artifact` is a JSON object without bytes:
    `images` (image blocks by reference), `prompt`, `seed`, `model`, `warnings`, `replayed`.

    Every drawing goes through a ledger: the same words, size, seed and references in one conversation
    (one `thread_id`) are drawn once, also when the graph is resumed, and the limits hold for the
    conversation as a whole. What cannot be drawn comes back as a tool message with
    `status="error"` that says what to do; what only the operator can mend (a refused key) is raised.

    Args:
        backend: A backend, its name, a function that draws, a pipeline of diffusers, or several by name.
        artifacts: The store; in memory by default. Pictures of the user are put into the same one with
            `image_part`.
        ledger: The ledger, when there is one already.
        limits: `max_images`, `max_calls`, `max_cost_usd`, `max_repeats` and `call_timeout_s` of one conversation, and
            `max_seconds` from its first drawing in this process. By default 20 pictures.
        images: `"reference"`: the agent's model gets words and the id. `"blocks"`: it is shown the
            picture too, at most 1024 pixels a side, and the bytes are in the conversation. By default
            `"blocks"` where the `model` says it takes pictures in tool messages, else `"reference"`.
        model: The agent's model, to be asked that. It is never called here.
        size: Size of pictures the agent names none for, `WIDTHxHEIGHT`.
        quality: Quality of pictures the agent names none for.

    Returns:
        The tools, for `create_agent(model, tools=…)`, `ToolNode`, or `bind_tools`.

    Raises:
        ConfigError: The backend is unknown or draws nothing, or store and ledger do not belong together.

    Example:
        >>> generate, edit = create_image_tools("sketch", size="128x128")
        >>> message = generate.invoke({"type": "tool_call", "id": "1", "name": "generate_image",
        ...                            "args": {"prompt": "a red ball"}})
        >>> message.content.startswith("The picture is drawn: artifact://")
        True
        >>> changed = edit.invoke({"type": "tool_call", "id": "2", "name": "edit_image", "args": {
        ...     "prompt": "make the ball blue", "references": [message.artifact["images"][0]["url"]]}})
        >>> changed.status
        'success'
    """
    if images not in (None, "reference", "blocks"):
        raise ConfigError(f"images={images!r} is unknown.", remedy='Say "reference" or "blocks".')
    if quality not in (None, *get_args(Quality)):
        raise ConfigError(f"quality={quality!r} is unknown.", remedy=f"Say {', '.join(map(repr, get_args(Quality)))}.")
    if ledger is not None and artifacts is not None and ledger.artifacts is not artifacts:
        raise ConfigError(
            "The ledger keeps its records in another store than `artifacts`.",
            remedy="Pass only one of the two, or Ledger(artifacts).",
        )
    if size is not None:
        parse_size(size)
    studio = Studio(
        as_backend(backend),
        ledger or Ledger(artifacts or ArtifactStore.memory()),
        limits or DEFAULT_LIMITS,
        shown=images == "blocks" or (images is None and takes_pictures(model)),
        size=size,
        quality=quality,
    )
    capabilities = studio.backend.capabilities
    tools = [_generating(studio)] if capabilities.generate else []
    if capabilities.edit != "none" and capabilities.max_references:
        tools.append(_editing(studio))
    if not tools:
        raise ConfigError(f"Backend {studio.backend.name!r} draws nothing.", remedy="Use another backend.")
    return tools


def _generating(studio: Studio) -> BaseTool:
    async def agenerate_image(
        prompt: Prompt, size: Size = None, seed: Seed = None, quality: Care = None,
        runtime: ToolRuntime = None,  # type: ignore[assignment, type-arg]
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        return await studio.draw(prompt, (), size=size, seed=seed, quality=quality, runtime=runtime)

    def generate_image(
        prompt: Prompt, size: Size = None, seed: Seed = None, quality: Care = None,
        runtime: ToolRuntime = None,  # type: ignore[assignment, type-arg]
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        return run_sync(lambda: studio.draw(prompt, (), size=size, seed=seed, quality=quality, runtime=runtime))

    description = "Draw a picture from words. It is kept, and you get its id; the reader is shown it."
    return offer(generate_image, agenerate_image, "generate_image", description, nothing="Nothing was drawn.")


def _editing(studio: Studio) -> BaseTool:
    async def aedit_image(
        prompt: Change, references: References, size: Size = None, seed: Seed = None, quality: Care = None,
        runtime: ToolRuntime = None,  # type: ignore[assignment, type-arg]
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        _some(references)
        return await studio.draw(prompt, references, size=size, seed=seed, quality=quality, runtime=runtime)

    def edit_image(
        prompt: Change, references: References, size: Size = None, seed: Seed = None, quality: Care = None,
        runtime: ToolRuntime = None,  # type: ignore[assignment, type-arg]
    ) -> tuple[Any, dict[str, Any]]:  # fmt: skip
        _some(references)
        return run_sync(lambda: studio.draw(prompt, references, size=size, seed=seed, quality=quality, runtime=runtime))

    most = studio.backend.capabilities.max_references
    description = (
        f"Draw a picture that starts from others: change the first as told. Up to {most} "
        f"{'references' if most > 1 else 'reference'}, by the ids that tools named. The old picture is kept."
    )
    return offer(edit_image, aedit_image, "edit_image", description, nothing="Nothing was drawn.")


def _some(references: Sequence[str]) -> None:
    if not references:
        raise ToolException("No picture to start from. Name one in references, or use generate_image.")
