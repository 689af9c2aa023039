"""What the image tools of one agent share: backend, ledger, conversations with their budgets, and ids of pictures."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from langchain_core.tools import ToolException
from langgraph.prebuilt import ToolRuntime

from langgraph_interleave.agents.around import gallery_of, thread_of
from langgraph_interleave.agents.gallery import UnknownName, is_name
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.background import in_thread
from langgraph_interleave.budget import Budget
from langgraph_interleave.callprices import CallPrices
from langgraph_interleave.content import image_block
from langgraph_interleave.context import parse_size
from langgraph_interleave.errors import ArtifactMissing, CallError, ConfigError, LimitReached
from langgraph_interleave.ledger import Call, Finished, Ledger, Produced, Repeats, RunScope, call_key
from langgraph_interleave.limits import Limits
from langgraph_interleave.results import first_picture
from langgraph_interleave.types import SCHEME, ArtifactRef, ImageRequest

#: Part of every key: a change of how calls are made must not be answered by old records.
TEMPLATE = "image-tools/1"
#: Conversations whose budget is in memory; that of an older one is counted anew from the ledger.
_REMEMBERED = 1000
#: Longest side of a picture shown to the agent's model, in pixels: more costs tokens and shows no more.
_SHOWN = 1024
_AROUND = " \t\r\n`'\"<>()[]{}.,;:!"
#: Fewest digits of an id that is not given whole.
_LEAST = 8

Quality = Literal["draft", "standard", "high"]


@dataclass(slots=True)
class Conversation:
    """One conversation: its budget, and the pictures that were made in it."""

    scope: RunScope
    known: dict[str, ArtifactRef] = field(default_factory=dict[str, ArtifactRef])


class Studio:
    """Draws for the tools of one agent.

    Args:
        backend: What draws.
        ledger: Every drawing goes through it.
        limits: Of one conversation.
        shown: The model is shown the picture, its bytes in the conversation.
        size: Of pictures nobody names a size for.
        quality: As `size`.
    """

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
        prices = CallPrices.of_backend(backend)
        prices.check(limits)
        self._price_usd = prices.backend
        self._own = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._conversations: dict[str, Conversation] = {}

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
            refs = [await self._reference(each, conversation, runtime) for each in references]
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
            scope.run_id, key, "backend", billed=backend.capabilities.billed, images=1, price_usd=self._price_usd,
            deadline_s=self.limits.call_timeout_s, repeats=Repeats(self.limits.max_repeats),
        )  # fmt: skip

        async def produce() -> Produced:
            pictures = tuple([await artifacts.aget_image(ref) for ref in refs])
            result = await backend.agenerate(replace(request, references=pictures))
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

    async def _conversation(self, runtime: ToolRuntime[Any, Any] | None) -> Conversation:
        scope = f"tools-{self._thread(runtime)}"
        with self._lock:
            known = self._conversations.get(scope)
            if known is not None:
                return known
        made = Conversation(self._ledger.scope(scope, Budget(self.limits)))
        # What an earlier process drew in it counts, and its pictures are known.
        for record in await made.scope.resume():
            if record.status == "finished" and record.result and "image" in record.result:
                ref = ArtifactRef.model_validate(record.result["image"])
                made.known[ref.sha256] = ref
        with self._lock:
            while len(self._conversations) >= _REMEMBERED:
                self._conversations.pop(next(iter(self._conversations)))
            return self._conversations.setdefault(scope, made)

    def _named(self, text: str, runtime: ToolRuntime[Any, Any] | None) -> ArtifactRef:
        return gallery_of(runtime, self._artifacts).find(text, self._artifacts)

    def _thread(self, runtime: ToolRuntime[Any, Any] | None) -> str:
        thread = thread_of(runtime)
        # Without one, each set of tools is a conversation of its own.
        named = f"own/{self._own}" if thread is None else f"thread/{thread}"
        return hashlib.sha256(named.encode()).hexdigest()[:32]

    async def _reference(
        self, text: str, conversation: Conversation, runtime: ToolRuntime[Any, Any] | None
    ) -> ArtifactRef:
        from langgraph_interleave.imaging import measure_image

        if is_name(text):
            # As the document tools name pictures, and the line of the middleware.
            try:
                return await in_thread(self._named, text, runtime)
            except UnknownName as error:
                raise ToolException(str(error)) from error
        # Models write ids as they write anything: in backticks, in brackets, at the end of a sentence.
        digest = text.strip(_AROUND).lower().removeprefix(SCHEME).strip("/")
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


def _ids(conversation: Conversation) -> str:
    known = [f"{SCHEME}{digest}" for digest in list(conversation.known)[-5:]]
    return f"Pictures drawn here: {', '.join(known)}." if known else "Give an id as a tool named it."
