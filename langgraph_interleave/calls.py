"""What one paid call of a run is: its key, and the coroutine that makes it.

The ledger knows nothing of steps; this module is where a step's call becomes a key and a `produce`.
Bytes are read from the store inside `produce`, so they live only as long as the call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph_interleave import routing
from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.checks.base import Check
from langgraph_interleave.context import Settings
from langgraph_interleave.errors import BadResponse, ContentBlocked, CritiqueError, PlanError
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.ledger import Call, Produced, RunScope, call_key
from langgraph_interleave.planner import PlanRequest, Rephraser
from langgraph_interleave.roles import Roles
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    CheckResult,
    Critique,
    CritiqueRequest,
    CritiqueResult,
    ImageBytes,
    ImageRequest,
    ImageResult,
    Plan,
    PlanDelta,
    PlanFinished,
    PlanWarning,
    Request,
    Step,
    StepRecord,
    StyleGuide,
)

#: Part of every key: a change of how calls are made must not be answered by old records.
TEMPLATE = "1"

Produce = Callable[[], Any]


class RunCalls:
    """Makes the calls of one run."""

    def __init__(self, run_id: str, request: Request, settings: Settings, roles: Roles, scope: RunScope) -> None:
        self.run_id = run_id
        self._scope = scope
        self._request = request
        self._settings = settings
        self._roles = roles

    # --- planner ----------------------------------------------------------------------------

    def plan(self, on_delta: Callable[[PlanDelta], None]) -> tuple[Call, Produce]:
        """The call that plans. Its result is `{plan: digest of plan_result}`."""
        planner, settings = self._roles.planner, self._settings
        capabilities = self._roles.backend.capabilities
        key = call_key(
            scope=self.run_id,
            role="planner",
            template=TEMPLATE,
            fingerprint=planner.fingerprint,
            request=self._request.model_dump(mode="json"),
            capabilities=[capabilities.generate, capabilities.edit, capabilities.max_references],
            steps=settings.steps,
            max_steps=settings.limits.max_steps,
            language=settings.language,
            style=settings.style,
            seed=settings.seed,
        )
        call = Call(
            scope=self.run_id,
            key=key,
            role="planner",
            step=None,
            attempt=0,
            billed=planner.billed,
            deadline_s=settings.limits.call_timeout_s,
        )

        async def produce() -> Produced:
            images = await self._pictures(self._request.images)
            request = PlanRequest(
                request=self._request,
                images=images,
                capabilities=capabilities,
                limits=settings.limits,
                steps=settings.steps,
                language=settings.language,
                style=settings.style,
                seed=settings.seed,
            )
            finished: PlanFinished | None = None
            async for delta in planner.aplan(request):
                on_delta(delta)
                if isinstance(delta, PlanFinished):
                    finished = delta
            if finished is None:
                raise PlanError(
                    "The planner ended without a plan.", remedy="A planner's last delta must be PlanFinished."
                )
            check_inputs(finished.plan, len(self._request.images))
            # The plan may be long and ledger records are small: it is an artifact of its own.
            digest = await self._roles.artifacts.aput_json(plan_result(finished))
            return Produced({"plan": digest}, finished.usage)

        return call, produce

    # --- backend ----------------------------------------------------------------------------

    def draw(self, step: Step, draw: routing.Draw, seed: int) -> tuple[Call, Produce]:
        """The call that draws an attempt. Its result is `{image, prompt, checks, warnings, model, seed}`.

        A prompt the provider blocks is said in other words once, where the planner can; that counts
        as a resend, not as an attempt.
        """
        backend, settings = self._roles.backend, self._settings
        width, height = settings.pixels or (None, None)
        key = call_key(
            scope=self.run_id,
            role="backend",
            template=TEMPLATE,
            fingerprint=backend.fingerprint,
            step=draw.step,
            attempt=draw.attempt,
            candidate=0,
            prompt=draw.prompt,
            references=[ref.sha256 for ref in draw.references],
            size=[width, height],
            seed=seed,
            checks=[check.name for check in self._roles.checks],
        )
        call = Call(
            scope=self.run_id,
            key=key,
            role="backend",
            step=draw.step,
            attempt=draw.attempt,
            images=1,
            billed=backend.capabilities.billed,
            deadline_s=settings.limits.call_timeout_s,
        )

        async def produce() -> Produced:
            references = await self._pictures(draw.references)
            request = ImageRequest(
                prompt=draw.prompt,
                references=references,
                width=width,
                height=height,
                seed=seed,
                timeout_s=settings.limits.call_timeout_s,
            )
            try:
                result = await backend.agenerate(request)
            except ContentBlocked as blocked:
                request = replace(request, prompt=await self._rephrase(draw, blocked))
                result = await backend.agenerate(request)
            image = await asyncio.to_thread(first_picture, result, backend)
            ref = await self._roles.artifacts.aput_image(image)
            # Stored before it is checked: it is paid for.
            checks, broken = await asyncio.to_thread(run_checks, self._roles.checks, step, image, references)
            body: dict[str, Any] = {
                "image": ref.model_dump(mode="json"),
                "prompt": request.prompt,
                "checks": [check.model_dump(mode="json") for check in checks],
                "warnings": [*result.warnings, *broken],
                "model": result.model,
                "seed": image.seed if image.seed is not None else seed,
            }
            return Produced(body, result.usage)

        return call, produce

    async def _rephrase(self, draw: routing.Draw, blocked: ContentBlocked) -> str:
        planner, settings = self._roles.planner, self._settings
        if not isinstance(planner, Rephraser):
            raise blocked
        key = call_key(
            scope=self.run_id,
            role="planner",
            template=TEMPLATE,
            fingerprint=planner.fingerprint,
            step=draw.step,
            attempt=draw.attempt,
            rephrase=draw.prompt,
        )
        call = Call(
            scope=self.run_id,
            key=key,
            role="planner",
            step=draw.step,
            attempt=draw.attempt,
            billed=planner.billed,
            deadline_s=settings.limits.call_timeout_s,
        )

        async def produce() -> Produced:
            said = await planner.arephrase(draw.prompt, reason=blocked.message)
            return Produced({"prompt": said.prompt}, said.usage)

        done = await self._scope.run(call, produce)
        return str((done.record.result or {})["prompt"])

    # --- critic -----------------------------------------------------------------------------

    def judge(
        self, step: Step, record: StepRecord, attempt: Attempt, style: StyleGuide, on_text: Callable[[str], None]
    ) -> tuple[Call, Produce]:
        """The call that judges a drawn attempt. Its result is `{critique}`."""
        critic, settings = self._roles.critic, self._settings
        assert attempt.image is not None, "only a drawn attempt is judged"
        earlier = [a.critique for a in record.attempts[: attempt.number] if a.critique is not None]
        key = call_key(
            scope=self.run_id,
            role="critic",
            template=TEMPLATE,
            fingerprint=critic.fingerprint,
            step=step.index,
            attempt=attempt.number,
            instruction=step.instruction,
            prompt=attempt.prompt,
            after=attempt.image.sha256,
            references=[ref.sha256 for ref in attempt.references],
            style=style.model_dump(mode="json"),
            checks=[check.model_dump(mode="json") for check in attempt.failed_checks],
            earlier=[critique.model_dump(mode="json") for critique in earlier],
        )
        call = Call(
            scope=self.run_id,
            key=key,
            role="critic",
            step=step.index,
            attempt=attempt.number,
            billed=critic.billed,
            deadline_s=settings.limits.call_timeout_s,
        )
        after = attempt.image

        async def produce() -> Produced:
            pictures = await self._pictures((*attempt.references, after))
            references = pictures[:-1]
            request = CritiqueRequest(
                instruction=step.instruction or "",
                prompt=attempt.prompt,
                after=pictures[-1],
                before=references[0] if references else None,
                references=references,
                style_guide=style,
                checks=attempt.failed_checks,
                attempt=attempt.number,
                earlier=earlier,
            )
            result = critique_result(await critic.acritique(request, on_text=on_text))
            return Produced({"critique": result.critique.model_dump(mode="json")}, result.usage)

        return call, produce

    async def _pictures(self, refs: Sequence[ArtifactRef]) -> tuple[ImageBytes, ...]:
        return tuple([await self._roles.artifacts.aget_image(ref) for ref in refs])


def check_inputs(plan: Plan, inputs: int) -> None:
    """Refuse a plan that builds on an image the request does not have.

    Raises:
        PlanError: Naming the step and the source.
    """
    for step in plan.steps:
        for source in step.sources:
            kind, number = source.split(":")
            if kind == "input" and int(number) >= inputs:
                raise PlanError(
                    f"Step {step.index + 1} builds on {source}, but the request has {inputs} image(s).",
                    remedy="Ask again, or add the image to the request.",
                )


def first_picture(result: object, backend: ImageBackend) -> ImageBytes:
    """The first picture of a result, decoded and measured whatever the backend said of it.

    Raises:
        BadResponse: There is none, or it is no picture.
    """
    if not isinstance(result, ImageResult):
        raise BadResponse(
            f"Backend {backend.name!r} returned a {type(result).__name__}.",
            remedy="A backend must return an ImageResult, or raise one of the CallErrors.",
        )
    if not result.images:
        raise BadResponse(
            f"Backend {backend.name!r} returned no picture and no error.",
            remedy="A backend must return at least one picture or raise NoImage.",
        )
    data: object = getattr(result.images[0], "data", None)
    if not isinstance(data, bytes):
        raise BadResponse(
            f"Backend {backend.name!r} returned a picture whose data is a {type(data).__name__}.",
            remedy="The data of a picture must be the bytes of a PNG, JPEG or WebP file.",
        )
    return verify_image(data, what=f"picture of backend {backend.name!r}", seed=result.images[0].seed)


def critique_result(result: object) -> CritiqueResult:
    """What a critic returned, if it is what critics return.

    Raises:
        CritiqueError: It is something else.
    """
    if not isinstance(result, CritiqueResult):
        raise CritiqueError(
            f"The critic returned a {type(result).__name__}.", remedy="A critic must return a CritiqueResult."
        )
    return result


def run_checks(
    checks: Sequence[Check], step: Step, after: ImageBytes, references: Sequence[ImageBytes]
) -> tuple[list[CheckResult], list[str]]:
    """Run every check on a picture, in order.

    Returns:
        Their results, and a warning for each check that is broken: it has no say.
    """
    results: list[CheckResult] = []
    warnings: list[str] = []
    before = references[0] if references else None
    for check in checks:
        try:
            results.append(CheckResult.model_validate(check.check(step, before, after, references)))
        except Exception as error:  # noqa: BLE001 - code of others; the picture it was given is paid for
            warnings.append(f"Check {check.name} could not be run: {type(error).__name__}.")
            results.append(CheckResult(name=check.name, passed=None, reason=warnings[-1]))
    return results, warnings


def plan_result(finished: PlanFinished) -> dict[str, Any]:
    """A finished plan as JSON."""
    return {
        "plan": finished.plan.model_dump(mode="json"),
        "reasoning": finished.reasoning,
        "warnings": [[w.code, w.message, w.step] for w in finished.warnings],
    }


def read_plan_result(result: Mapping[str, Any]) -> PlanFinished:
    """The inverse of `plan_result`."""
    return PlanFinished(
        plan=Plan.model_validate(result["plan"]),
        reasoning=result["reasoning"],
        warnings=tuple(PlanWarning(code, message, step) for code, message, step in result["warnings"]),
    )


def read_critique(result: Mapping[str, Any]) -> Critique:
    """The critique in the JSON of a ledger record."""
    return Critique.model_validate(result["critique"])
