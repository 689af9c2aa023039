"""An image backend that fails on schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.errors import InterleaveError, NoImage
from langgraph_interleave.models.faults import call_error
from langgraph_interleave.testing.faults.hanging import Hanging
from langgraph_interleave.testing.faults.kind import DRAWING, Kind
from langgraph_interleave.testing.faults.pictures import spoilt
from langgraph_interleave.testing.faults.provider import exception_of
from langgraph_interleave.testing.faults.schedule import Schedule
from langgraph_interleave.testing.faults.tally import Tally
from langgraph_interleave.types import Capabilities, ImageRequest, ImageResult, OnProgress, Progress

_SPOILT = frozenset({"black", "nan", "broken", "no_picture", "wrong_size"})


class FaultyBackend:
    """Another backend, with faults in between, and a count of its own of what was really done.

    A provider's refusals are the exceptions of the `openai` SDK, and go through the mapping that real
    ones go through (`models.faults.call_error`): what is raised are errors of this package, caused by
    the SDK's. `foreign` and `secret` are raised as they are, as a bug would be.

    Args:
        inner: The backend that draws.
        faults: Names of `DRAWING`: a list used up in the order of asking (`None`: no fault), or how
            often each comes, 0 to 1.
        seed: Seed of the chance.
        retry_after_s: Seconds to wait that `retry_after` and `overloaded` name.
        billed: Whether a call costs money; as the inner one says, if left out.

    Attributes:
        tally: What was really done.

    Raises:
        ConfigError: There is no such fault.

    Example:
        >>> import asyncio
        >>> from langgraph_interleave.testing import FaultyBackend, ScriptedBackend
        >>> backend = FaultyBackend(ScriptedBackend(), ["rate_limited"])
        >>> asyncio.run(backend.agenerate(ImageRequest("a pot")))
        Traceback (most recent call last):
        ...
        langgraph_interleave.errors.RateLimited: scripted has had too many requests: ...
        >>> asyncio.run(backend.agenerate(ImageRequest("a pot"))).images[0].width
        16
        >>> backend.tally.asked, backend.tally.worked
        (2, 1)
    """

    def __init__(
        self,
        inner: ImageBackend,
        faults: Sequence[str | None] | Mapping[str, float] = (),
        *,
        seed: int = 0,
        retry_after_s: float = 0.05,
        billed: bool | None = None,
    ) -> None:
        self.inner = inner
        self.name = inner.name
        self.fingerprint = inner.fingerprint
        self.tally = Tally()
        self._schedule = Schedule(faults, DRAWING, seed=seed)
        self._retry_after_s = retry_after_s
        self._billed = billed
        self._hanging = Hanging()

    def __repr__(self) -> str:
        return f"FaultyBackend({self.inner!r}, {self.tally!r})"

    @property
    def capabilities(self) -> Capabilities:
        """What the inner backend can do."""
        inner = self.inner.capabilities
        return inner if self._billed is None else replace(inner, billed=self._billed)

    def release(self) -> None:
        """Let everything end that never would; a thread that is stuck cannot be ended otherwise."""
        self._hanging.release()

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Draw, or fail as the schedule says.

        Raises:
            CallError: One of its subclasses, as the fault has it.
            Exception: `foreign`, `secret`, or what the inner backend raises.
        """
        kind = self._schedule.next(request.prompt)
        self.tally.begin(kind)
        if kind is not None and not kind.ends:
            await self._hanging.forever(kind.name)
            raise self._error("timeout_before")
        result: ImageResult | None = None
        if kind is None or kind.works:
            result = await self.inner.agenerate(request, on_progress=on_progress)
            result = self._changed(kind, result)
            self.tally.work(images=result.usage.images)
        if kind is None or (kind.name == "too_few" and result is not None and result.images):
            self.tally.end("answered")
        elif kind.known != "unsure":
            self.tally.end(kind.known)
        if result is None or (kind is not None and not self._answers(kind)):
            assert kind is not None
            if kind.name == "cut_stream" and on_progress is not None:
                on_progress(Progress(1, 2))
            raise self._error(kind.name)
        return result

    @staticmethod
    def _answers(kind: Kind) -> bool:
        return kind.name in _SPOILT or kind.name in ("nothing", "too_many", "too_few")

    def _changed(self, kind: Kind | None, result: ImageResult) -> ImageResult:
        """The result of a fault; `usage.images` is what was drawn, however little of it arrives."""
        drawn = max(result.usage.images, len(result.images))
        images = result.images
        match kind.name if kind else "":
            case "nothing":
                images = ()
            case "too_few":
                images = images[:-1]
            case "too_many":
                images, drawn = images * 3, drawn * 3
            case name if name in _SPOILT:
                images = tuple(spoilt(name, image) for image in images)
            case _:
                pass
        return replace(result, images=images, usage=result.usage.model_copy(update={"images": drawn}))

    def _error(self, name: str) -> Exception:
        if name == "empty":
            return NoImage(
                f"{self.name} answered without a picture.",
                remedy="Ask again, or in other words.",
                detail={"text": "I have drawn nothing."},
            )
        cause = exception_of(name, retry_after_s=self._retry_after_s)
        error = call_error(cause, role="backend", what=self.name)
        if error is None:
            return cause
        assert isinstance(error, InterleaveError)
        error.__cause__ = cause
        return error
