"""Draft mode: a sketch of every step, by code and for nothing, so that a plan can be approved by looking."""

from __future__ import annotations

import asyncio
import hashlib

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.budget import Budget
from langgraph_interleave.errors import InterleaveError
from langgraph_interleave.ledger import Call, Ledger, Produced, RunScope, call_key
from langgraph_interleave.limits import Limits
from langgraph_interleave.results import first_picture
from langgraph_interleave.types import ArtifactRef, ImageRequest, Plan, Request, Step, Usage, parse_source

_TEMPLATE = "draft/1"


async def sketch_plan(
    plan: Plan,
    request: Request,
    *,
    run_id: str,
    ledger: Ledger,
    size: tuple[int, int] | None = None,
    deadline_s: float = 60.0,
    backend: ImageBackend | None = None,
) -> tuple[ArtifactRef | None, ...]:
    """Sketch a plan, step after step, each from the sketches of what it builds on.

    Args:
        plan: The plan.
        request: What was asked, for its pictures.
        run_id: The run. Its sketches are calls of a scope of their own, and count against no limit.
        ledger: Makes the calls, and keeps the sketches in its store.
        size: Width and height in pixels.
        deadline_s: Seconds for one sketch.
        backend: What sketches; the backend `sketch` by default.

    Returns:
        One sketch per step; `None` for a step in words, and for one that could not be sketched.
    """
    if backend is None:
        from langgraph_interleave.backends.sketch import SketchBackend

        backend = SketchBackend()
    scope = ledger.scope(hashlib.sha256(f"draft/{run_id}".encode()).hexdigest()[:32], Budget(Limits()))
    sketches: list[ArtifactRef | None] = []
    try:
        for step in plan.steps:
            if step.op == "text":
                sketches.append(None)
                continue
            references = _references(step, request, sketches)[: backend.capabilities.max_references]
            try:
                sketches.append(await _sketch(backend, step, references, scope, ledger, size, deadline_s))
            except InterleaveError:
                sketches.append(None)  # the plan can be approved by its words
    finally:
        scope.close(cancelled=True)
    return tuple(sketches)


def _references(step: Step, request: Request, sketches: list[ArtifactRef | None]) -> list[ArtifactRef]:
    found: list[ArtifactRef] = []
    for kind, number in map(parse_source, step.sources):
        picture = request.images[number] if kind == "input" else sketches[number]
        if picture is not None:
            found.append(picture)
    return found


async def _sketch(
    backend: ImageBackend,
    step: Step,
    references: list[ArtifactRef],
    scope: RunScope,
    ledger: Ledger,
    size: tuple[int, int] | None,
    deadline_s: float,
) -> ArtifactRef:
    artifacts = ledger.artifacts
    width, height = size or (None, None)
    key = call_key(
        scope=scope.run_id, role="backend", template=_TEMPLATE, fingerprint=backend.fingerprint, step=step.index,
        prompt=step.prompt, references=[ref.sha256 for ref in references], size=[width, height],
    )  # fmt: skip
    call = Call(scope.run_id, key, "backend", step=step.index, images=1, deadline_s=deadline_s)

    async def produce() -> Produced:
        pictures = tuple([await artifacts.aget_image(ref) for ref in references])
        asked = ImageRequest(
            prompt=step.prompt or "", references=pictures, width=width, height=height, seed=0, timeout_s=deadline_s
        )
        image = await asyncio.to_thread(first_picture, await backend.agenerate(asked), backend)
        ref = await artifacts.aput_image(image)
        return Produced({"image": ref.model_dump(mode="json")}, Usage(images=1, cost_usd=0.0))

    done = await scope.run(call, produce)
    return ArtifactRef.model_validate(done.result["image"])
