"""`create_image_tools`: an image backend as LangChain tools, for agents that draw when they need a picture."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import threading
import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime
from pydantic import Field, ValidationError
from pydantic.v1 import ValidationError as OldValidationError

from langgraph_interleave._sync import run_sync
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.budget import Budget
from langgraph_interleave.choose import as_backend
from langgraph_interleave.content import image_block
from langgraph_interleave.context import parse_size
from langgraph_interleave.errors import ArtifactMissing, CallError, ConfigError, LimitReached
from langgraph_interleave.ledger import Call, Finished, Ledger, Produced, Repeats, RunScope, call_key
from langgraph_interleave.limits import Limits
from langgraph_interleave.results import first_picture
from langgraph_interleave.types import SCHEME, ArtifactRef, ImageRequest

#: Part of every key: a change of how calls are made must not be answered by old records.
TEMPLATE = "image-tools/1"
#: An agent that draws in a loop is stopped here, where nobody says otherwise.
DEFAULT_LIMITS = Limits(max_images=20)
#: Conversations whose budget is in memory; that of an older one is counted anew from the ledger.
_REMEMBERED = 1000
#: Longest side of a picture shown to the agent's model, in pixels: more costs tokens and shows no more.
_SHOWN = 1024
#: Fewest digits of an id that is not given whole.
_LEAST = 8

Quality = Literal["draft", "standard", "high"]
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
    backend: ImageBackend | Callable[..., Any] | str,
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
        backend: A backend, its name, or a function that draws.
        artifacts: The store; in memory by default. Pictures of the user are put into the same one with
            `image_part`.
        ledger: The ledger, when there is one already.
        limits: `max_images`, `max_calls`, `max_repeats` and `call_timeout_s` of one conversation. By
            default 20 pictures.
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
    if ledger is not None and artifacts is not None and ledger.artifacts is not artifacts:
        raise ConfigError(
            "The ledger keeps its records in another store than `artifacts`.",
            remedy="Pass only one of the two, or Ledger(artifacts).",
        )
    if size is not None:
        parse_size(size)
    studio = _Studio(
        _backend(backend),
        ledger or Ledger(artifacts or ArtifactStore.memory()),
        limits or DEFAULT_LIMITS,
        shown=images == "blocks" or (images is None and _takes_pictures(model)),
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


@dataclass(slots=True)
class _Conversation:
    """One conversation: its budget, and the pictures that were made in it."""

    scope: RunScope
    known: dict[str, ArtifactRef] = field(default_factory=dict[str, ArtifactRef])


class _Studio:
    """What both tools share: the backend, the ledger, and the conversations."""

    def __init__(
        self, backend: ImageBackend, ledger: Ledger, limits: Limits, *, shown: bool, size: str | None,
        quality: Quality | None,
    ) -> None:  # fmt: skip
        self.backend = backend
        self.limits = limits
        self._ledger = ledger
        self._artifacts = ledger.artifacts
        self._shown = shown
        self._size = size
        self._quality: Quality | None = quality
        self._own = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._conversations: dict[str, _Conversation] = {}

    async def draw(
        self,
        prompt: str,
        references: Sequence[str],
        *,
        size: str | None,
        seed: int | None,
        quality: Quality | None,
        runtime: ToolRuntime[Any, Any] | None,
    ) -> tuple[Any, dict[str, Any]]:
        """Draw, and say so: content and artifact of the tool message.

        Raises:
            ToolException: It cannot be drawn, with what to do.
        """
        if not prompt.strip():
            raise ToolException("The prompt is empty. Say in words what the picture shows.")
        try:
            width, height = parse_size(size or self._size or "") if size or self._size else (None, None)
        except ConfigError as error:
            raise ToolException(str(error)) from error
        try:
            conversation = await self._conversation(runtime)
            refs = [await self._reference(each, conversation) for each in references]
            request = ImageRequest(
                prompt, width=width, height=height, seed=seed, quality=quality or self._quality,
                timeout_s=self.limits.call_timeout_s,
            )  # fmt: skip
            finished = await self._draw(conversation.scope, request, refs)
        except LimitReached as reached:
            raise ToolException(
                f"No more pictures can be drawn here: {reached.limit} is {reached.cap:g}. Go on with those there are."
            ) from reached
        except (CallError, ArtifactMissing) as error:
            raise ToolException(f"Nothing was drawn. {error}") from error
        ref = ArtifactRef.model_validate(finished.result["image"])
        conversation.known[ref.sha256] = ref
        artifact = {
            "images": [image_block(ref, alt=prompt)],
            "prompt": prompt,
            "references": [f"{SCHEME}{each.sha256}" for each in refs],
            "seed": finished.result["seed"],
            "model": finished.result["model"],
            "warnings": finished.result["warnings"],
            "replayed": finished.replayed,
        }
        return await self._content(ref, finished), artifact

    async def _draw(self, scope: RunScope, request: ImageRequest, refs: Sequence[ArtifactRef]) -> Finished:
        backend, artifacts = self.backend, self._artifacts
        key = call_key(
            scope=scope.run_id,
            role="backend",
            fingerprint=backend.fingerprint,
            template=TEMPLATE,
            params={
                "prompt": request.prompt, "size": [request.width, request.height], "seed": request.seed,
                "quality": request.quality,
            },
            digests=[ref.sha256 for ref in refs],
        )  # fmt: skip
        call = Call(
            scope.run_id, key, "backend", billed=backend.capabilities.billed, images=1,
            deadline_s=self.limits.call_timeout_s, repeats=Repeats(self.limits.max_repeats),
        )  # fmt: skip

        async def produce() -> Produced:
            pictures = tuple([await artifacts.aget_image(ref) for ref in refs])
            result = await backend.agenerate(_with(request, pictures))
            image = await asyncio.to_thread(first_picture, result, backend)
            ref = await artifacts.aput_image(image)
            drawn = {
                "image": ref.model_dump(mode="json"),
                "warnings": list(result.warnings),
                "model": result.model,
                "seed": image.seed if image.seed is not None else request.seed,
            }
            return Produced(drawn, result.usage)

        return await scope.run(call, produce)

    async def _content(self, ref: ArtifactRef, finished: Finished) -> Any:
        done = "This very picture was drawn before" if finished.replayed else "The picture is drawn"
        words = [f"{done}: {ref.uri} ({ref.width}x{ref.height} pixels). Name it by this id to change it."]
        if finished.replayed:
            words.append("For another one, change the words or the seed.")
        words += [f"Note: {warning}" for warning in finished.result["warnings"]]
        text = " ".join(words)
        if not self._shown:
            return text
        return [{"type": "text", "text": text}, await self._block(ref)]

    async def _block(self, ref: ArtifactRef) -> dict[str, Any]:
        from langgraph_interleave.imaging import downscale

        image = await self._artifacts.aget_image(ref)
        small = await asyncio.to_thread(downscale, image, _SHOWN)
        return {"type": "image", "base64": base64.b64encode(small.data).decode("ascii"), "mime_type": small.mime}

    async def _conversation(self, runtime: ToolRuntime[Any, Any] | None) -> _Conversation:
        scope = f"tools-{self._thread(runtime)}"
        with self._lock:
            known = self._conversations.get(scope)
            if known is not None:
                return known
        made = _Conversation(self._ledger.scope(scope, Budget(self.limits)))
        # What an earlier process drew in it counts, and its pictures are known.
        for record in await made.scope.resume():
            if record.status == "finished" and record.result and "image" in record.result:
                ref = ArtifactRef.model_validate(record.result["image"])
                made.known[ref.sha256] = ref
        with self._lock:
            while len(self._conversations) >= _REMEMBERED:
                self._conversations.pop(next(iter(self._conversations)))
            return self._conversations.setdefault(scope, made)

    def _thread(self, runtime: ToolRuntime[Any, Any] | None) -> str:
        config: Any = (runtime.config if runtime is not None else None) or {}
        thread = config.get("configurable", {}).get("thread_id")
        # Without one, each set of tools is a conversation of its own.
        named = f"own/{self._own}" if thread is None else f"thread/{thread}"
        return hashlib.sha256(named.encode()).hexdigest()[:32]

    async def _reference(self, text: str, conversation: _Conversation) -> ArtifactRef:
        from langgraph_interleave.imaging import measure_image

        digest = text.strip().removeprefix(SCHEME).strip("/").lower()
        if len(digest) < 64:
            fitting = [each for each in conversation.known if len(digest) >= _LEAST and each.startswith(digest)]
            if len(fitting) == 1:
                return conversation.known[fitting[0]]
        if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
            raise ToolException(f"{text[:80]!r} is not the id of a picture. {_ids(conversation)}")
        if digest in conversation.known:
            return conversation.known[digest]
        try:
            data = await self._artifacts.aget(digest)
        except ArtifactMissing as error:
            raise ToolException(f"There is no picture {SCHEME}{digest}. {_ids(conversation)}") from error
        measured = await asyncio.to_thread(measure_image, data)
        if measured is None:
            raise ToolException(f"{SCHEME}{digest} is not a picture. {_ids(conversation)}")
        mime, width, height = measured
        return ArtifactRef(sha256=digest, mime=mime, size=len(data), width=width, height=height)


def _ids(conversation: _Conversation) -> str:
    known = [f"{SCHEME}{digest}" for digest in list(conversation.known)[-5:]]
    return f"Pictures drawn here: {', '.join(known)}." if known else "Give an id as a tool named it."


def _with(request: ImageRequest, pictures: tuple[Any, ...]) -> ImageRequest:
    from dataclasses import replace

    return replace(request, references=pictures)


def _generating(studio: _Studio) -> BaseTool:
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
    return _tool(generate_image, agenerate_image, "generate_image", description)


def _editing(studio: _Studio) -> BaseTool:
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
    return _tool(edit_image, aedit_image, "edit_image", description)


def _some(references: Sequence[str]) -> None:
    if not references:
        raise ToolException("No picture to start from. Name one in references, or use generate_image.")


def _tool(
    function: Callable[..., Any], coroutine: Callable[..., Coroutine[Any, Any, Any]], name: str, description: str
) -> BaseTool:
    return StructuredTool.from_function(
        function,
        coroutine,
        name=name,
        description=description,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=_misread,
    )


def _misread(error: ValidationError | OldValidationError) -> str:
    """What is wrong with the arguments, for the model; nothing of what it sent."""
    wrong = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()[:4])
    return f"Nothing was drawn. The arguments cannot be read: {wrong}. Call the tool again with the right ones."


def _takes_pictures(model: BaseChatModel | None) -> bool:
    profile: Any = getattr(model, "profile", None) or {}
    return bool(profile.get("image_tool_message"))


def _backend(backend: ImageBackend | Callable[..., Any] | str) -> ImageBackend:
    if isinstance(backend, str):
        from langgraph_interleave.backends.registry import init_image_backend

        return init_image_backend(backend)
    return as_backend(backend)
