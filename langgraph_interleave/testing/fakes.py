"""One fake per role, all scripted the same way: a list of replies, or a function of the request.

Each keeps what it was asked in `requests`. A script that runs out raises `ScriptExhausted`, so that
a call too many is a failing test and not a silent success.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import struct
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from langgraph_interleave.changes import apply_changes
from langgraph_interleave.critic import OnText
from langgraph_interleave.planner import PlanRequest, Rephrased
from langgraph_interleave.types import (
    Capabilities,
    Changes,
    Critique,
    CritiqueRequest,
    CritiqueResult,
    ImageBytes,
    ImageRequest,
    ImageResult,
    OnProgress,
    Plan,
    PlanDelta,
    PlanFinished,
    ReasoningDelta,
    Step,
    StepDelta,
    StyleDelta,
    Usage,
    Verdict,
)

Asked = TypeVar("Asked")

_USED = Usage(input_tokens=10, output_tokens=20)


class ScriptExhausted(AssertionError):
    """A fake was asked more often than its script has replies."""


class _Script(Generic[Asked]):
    def __init__(self, who: str, replies: Iterable[Any] | Callable[[Asked], Any]) -> None:
        self._who = who
        self._lock = threading.Lock()
        self._answer = replies if callable(replies) else None
        self._replies = None if callable(replies) else list(replies)

    async def reply(self, asked: Asked) -> Any:
        if self._answer is not None:
            answer = self._answer(asked)
            answer = await answer if inspect.isawaitable(answer) else answer
        else:
            with self._lock:
                if not self._replies:
                    raise ScriptExhausted(f"The script of {self._who} has no reply left for {asked!r}.")
                answer = self._replies.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def noise_card(words: str, *, seed: int = 0, side: int = 16) -> ImageBytes:
    """A small PNG that differs with the words and the seed, and is not blank.

    Made without Pillow, so that it costs nothing. Same words and seed, same bytes.

    Example:
        >>> noise_card("a cat").width
        16
    """
    noise = hashlib.shake_256(f"{seed}/{words}".encode()).digest(side * side * 3)
    rows = b"".join(b"\0" + noise[y * side * 3 : (y + 1) * side * 3] for y in range(side))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
    return ImageBytes(png, "image/png", side, side, seed=seed)


def simple_plan(count: int, *, sources: Sequence[Sequence[int]] | None = None, text: Iterable[int] = ()) -> Plan:
    """A plan of `count` steps: a chain, or with the given sources per step; some may be text only.

    Example:
        >>> [step.sources for step in simple_plan(3).steps]
        [(), ('step:0',), ('step:1',)]
    """
    words = set(text)
    steps: list[Step] = []
    for index in range(count):
        if index in words:
            steps.append(Step(index=index, op="text", caption=f"Words of step {index}."))
            continue
        before = [index - 1] if sources is None and index else sources[index] if sources else []
        drawn = tuple(f"step:{j}" for j in before if j not in words)
        steps.append(
            Step(
                index=index,
                op="edit" if drawn else "generate",
                title=f"Step {index}",
                instruction=f"Show thing {index}.",
                prompt=f"thing {index}",
                caption=f"Caption of step {index}.",
                sources=drawn,
            )
        )
    return Plan(steps=tuple(steps), title="A plan")


class ScriptedPlanner:
    """A planner that replies with plans (or errors) from a script, step by step.

    Args:
        replies: Plans, changes of the existing plan, or exceptions; or a function of the `PlanRequest`; a single
            plan stands for ever.
        pace_s: Seconds the whole plan takes; step i of n is complete at `pace_s * (i + 1) / n`.
        billed: What it says of itself.
    """

    def __init__(
        self,
        replies: Plan | Iterable[Plan | Changes | BaseException] | Callable[[PlanRequest], Any],
        *,
        pace_s: float = 0.0,
        billed: bool = False,
        fingerprint: str = "scripted-planner",
    ) -> None:
        script = (lambda _: replies) if isinstance(replies, Plan) else replies
        self._script: _Script[PlanRequest] = _Script("the planner", script)
        self._pace_s = pace_s
        self.billed = billed
        self.fingerprint = fingerprint
        self.requests: list[PlanRequest] = []

    async def aplan(self, request: PlanRequest) -> AsyncIterator[PlanDelta]:
        """Stream the next plan of the script."""
        self.requests.append(request)
        said: Plan | Changes = await self._script.reply(request)
        if isinstance(said, Changes):
            assert request.existing is not None, "Changes are a reply where there is a plan to change"
            changed = apply_changes(request.existing.plan, said, pictures=request.existing.pictures)
            yield ReasoningDelta("Otherwise.")
            yield PlanFinished(changed.plan, "Otherwise.", usage=_USED, origins=changed.origins)
            return
        plan = said
        yield ReasoningDelta("One step ")
        yield ReasoningDelta("after another.")
        yield StyleDelta(plan.style_guide)
        for step in plan.steps:
            await asyncio.sleep(self._pace_s / len(plan.steps))
            yield StepDelta(step)
        yield PlanFinished(plan, reasoning="One step after another.", usage=_USED)


class RephrasingPlanner(ScriptedPlanner):
    """A scripted planner that can also say a blocked prompt in other words.

    `rephrased` holds the prompts it was asked to say differently.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rephrased: list[str] = []

    async def arephrase(self, prompt: str, *, reason: str) -> Rephrased:
        """Say it gently."""
        self.rephrased.append(prompt)
        return Rephrased(f"a gentle {prompt}", Usage(input_tokens=3, output_tokens=3))


class ScriptedBackend:
    """A backend that draws test cards, or what its script says.

    Args:
        replies: Pictures, results or exceptions, or a function of the `ImageRequest` that returns
            one (or an awaitable of one). Default: a noise card of prompt and seed.
        delay_s: Seconds a drawing takes, or a function of the request.
        capabilities: What it says of itself.
    """

    def __init__(
        self,
        replies: Iterable[Any] | Callable[[ImageRequest], Any] | None = None,
        *,
        delay_s: float | Callable[[ImageRequest], float] = 0.0,
        capabilities: Capabilities | None = None,
        name: str = "scripted",
        fingerprint: str = "scripted-backend",
    ) -> None:
        self._script: _Script[ImageRequest] = _Script("the backend", replies if replies is not None else _card)
        self._delay_s = delay_s
        self._capabilities = capabilities or Capabilities(
            edit="instruct", max_references=16, seed="exact", concurrency=64
        )
        self.name = name
        self.fingerprint = fingerprint
        self.requests: list[ImageRequest] = []

    @property
    def capabilities(self) -> Capabilities:
        """What it says of itself."""
        return self._capabilities

    async def agenerate(self, request: ImageRequest, *, on_progress: OnProgress | None = None) -> ImageResult:
        """Reply with the next picture of the script."""
        self.requests.append(request)
        await asyncio.sleep(self._delay_s(request) if callable(self._delay_s) else self._delay_s)
        reply = await self._script.reply(request)
        if isinstance(reply, ImageBytes):
            return ImageResult(images=(reply,), usage=Usage(images=1))
        return reply


def _card(request: ImageRequest) -> ImageBytes:
    return noise_card(request.prompt, seed=request.seed or 0)


class ScriptedCritic:
    """A critic that replies with verdicts, critiques or errors from a script; default: accept.

    Args:
        replies: `"accept"`, `"revise"`, critiques, results or exceptions, or a function of the
            `CritiqueRequest`.
        delay_s: Seconds a critique takes.
        billed: What it says of itself.
    """

    def __init__(
        self,
        replies: Iterable[Any] | Callable[[CritiqueRequest], Any] | None = None,
        *,
        delay_s: float | Callable[[CritiqueRequest], float] = 0.0,
        billed: bool = False,
        fingerprint: str = "scripted-critic",
    ) -> None:
        self._script: _Script[CritiqueRequest] = _Script(
            "the critic", replies if replies is not None else lambda _: "accept"
        )
        self._delay_s = delay_s
        self.billed = billed
        self.fingerprint = fingerprint
        self.requests: list[CritiqueRequest] = []

    async def acritique(self, request: CritiqueRequest, *, on_text: OnText | None = None) -> CritiqueResult:
        """Reply with the next critique of the script."""
        self.requests.append(request)
        await asyncio.sleep(self._delay_s(request) if callable(self._delay_s) else self._delay_s)
        reply = await self._script.reply(request)
        if isinstance(reply, str):
            reply = critique_of(reply, request)
        if isinstance(reply, Critique):
            reply = CritiqueResult(reply, Usage(input_tokens=5, output_tokens=5))
        if on_text is not None:
            on_text(reply.critique.reasoning)
        return reply


def critique_of(verdict: Verdict | str, request: CritiqueRequest) -> Critique:
    """A plain critique with a verdict; a revise refines the prompt by its attempt."""
    if verdict == "accept":
        return Critique(verdict="accept", reasoning="As asked.")
    if verdict == "revise":
        return Critique(
            verdict="revise",
            reasoning="Not as asked.",
            refined_prompt=f"{request.prompt.partition(' (again')[0]} (again {request.attempt + 1})",
        )
    raise ValueError(f"a script says {verdict!r}, which is neither 'accept' nor 'revise'")
