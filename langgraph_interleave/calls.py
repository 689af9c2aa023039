"""What one paid call of a run is: its key, and the coroutine that makes it.

The ledger knows nothing of steps; this module is where a step's call becomes a key and a `produce`.
Bytes are read from the store inside `produce`, so they live only as long as the call. An answer that
cannot be used was paid for all the same: it is the finished result of its call, and asking again is
a call of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import asdict
from typing import Any

from langgraph_interleave import routing
from langgraph_interleave.callprices import CallPrices
from langgraph_interleave.context import Settings
from langgraph_interleave.errors import (
    CallError,
    Cancelled,
    ContentBlocked,
    CritiqueError,
    LimitReached,
    PlanError,
    Role,
)
from langgraph_interleave.imaging import provenance
from langgraph_interleave.ledger import Call, Produced, Repeats, RunScope, call_key
from langgraph_interleave.planner import Existing, PlanRequest, Rephraser
from langgraph_interleave.previews import OnPreview, Previews
from langgraph_interleave.results import (
    all_pictures,
    check_backends,
    check_inputs,
    critique_result,
    picture_result,
    plan_result,
    run_checks,
    unusable_result,
)
from langgraph_interleave.roles import Roles
from langgraph_interleave.types import (
    ArtifactRef,
    Attempt,
    CheckResult,
    CritiqueRequest,
    Earlier,
    ImageBytes,
    ImageRequest,
    PlanDelta,
    PlanFinished,
    Request,
    Step,
    StepRecord,
    StyleGuide,
    Unusable,
)

#: Part of every key: a change of how calls are made must not be answered by old records.
TEMPLATE = "2"

Produce = Callable[[], Any]


class RunCalls:
    """Makes the calls of one run."""

    def __init__(
        self,
        run_id: str,
        request: Request,
        settings: Settings,
        roles: Roles,
        scope: RunScope,
        *,
        existing: Existing | None = None,
    ) -> None:
        self.run_id = run_id
        self.artifacts = roles.artifacts
        self._scope = scope
        self._request = request
        self._settings = settings
        self._roles = roles
        self._existing = existing
        self._prices = CallPrices.of(roles.planner, roles.backend, roles.critic, steps=settings.steps)
        self._prices.check(settings.limits)

    # --- planner ----------------------------------------------------------------------------

    def plan(
        self,
        on_delta: Callable[[PlanDelta], None],
        *,
        unusable: Sequence[Unusable] = (),
        repeats: Repeats,
        mending: bool = False,
    ) -> tuple[Call, Produce]:
        """The call that plans. Its result is `{plan: digest of plan_result}`, or an unusable answer.

        Args:
            on_delta: Told every delta.
            unusable: Answers of the planner that could not be used.
            repeats: How often it may be repeated.
            mending: There is a plan that can be kept: then a refusal is an answer like any that cannot be
                used, and final; asked anew when the run is sent again, it might replace what was drawn.
        """
        planner, settings = self._roles.planner, self._settings
        capabilities = self._roles.backend.capabilities
        key = self._key(
            "planner",
            planner.fingerprint,
            request=self._request.model_dump(mode="json"),
            capabilities=[capabilities.generate, capabilities.edit, capabilities.max_references, capabilities.choices],
            steps=settings.steps,
            max_steps=settings.limits.max_steps,
            language=settings.language,
            style=settings.style,
            seed=settings.seed,
            unusable=[asdict(answer) for answer in unusable],
            **({} if self._existing is None else {"existing": self._existing.named}),
        )
        call = self._call("planner", key, billed=planner.billed, repeats=repeats)

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
                unusable=unusable,
                existing=self._existing,
            )
            try:
                finished = await self._planned(request, on_delta)
            except PlanError as error:
                if error.usage is None:
                    raise
                return Produced(unusable_result(error), error.usage)
            except ContentBlocked as refused:
                if not mending or refused.usage is None:
                    raise
                return Produced(unusable_result(PlanError(refused.message)), refused.usage)
            # The plan may be long and ledger records are small: it is an artifact of its own.
            digest = await self._roles.artifacts.aput_json(plan_result(finished))
            return Produced({"plan": digest}, finished.usage)

        return call, produce

    async def _planned(self, request: PlanRequest, on_delta: Callable[[PlanDelta], None]) -> PlanFinished:
        finished: PlanFinished | None = None
        async for delta in self._roles.planner.aplan(request):
            on_delta(delta)
            if isinstance(delta, PlanFinished):
                finished = delta
        if finished is None:
            raise PlanError("The planner ended without a plan.", remedy="A planner's last delta must be PlanFinished.")
        try:
            check_inputs(finished.plan, len(self._request.images))
            check_backends(finished.plan, [name for name, _ in request.capabilities.choices])
        except PlanError as error:
            if finished.raw is not None:
                error.raw, error.usage = finished.raw, finished.usage
            raise
        return finished

    # --- backend ----------------------------------------------------------------------------

    def draw(
        self, step: Step, draw: routing.Draw, seed: int, on_preview: OnPreview | None = None
    ) -> tuple[Call, Produce]:
        """The call that draws an attempt. Its result is `{image, prompt, checks, warnings, model, seed}`.

        Of a call for several pictures, `{pictures: [{image, checks, seed}, …], prompt, warnings, model}`.

        A prompt the provider blocks is said in other words once, where the planner can; that counts
        as a repeat, not as an attempt.

        Args:
            step: The step.
            draw: What is drawn.
            seed: Its seed.
            on_preview: Told of pictures of the drawing while it is not done, where the backend gives some.
        """
        backend, settings = self._roles.backend, self._settings
        width, height = settings.pixels or (None, None)
        key = self._key(
            "backend",
            backend.fingerprint,
            step=draw.step,
            attempt=draw.attempt,
            candidate=draw.candidate,
            prompt=draw.wording.text(draw.prompt),
            references=[ref.sha256 for ref in draw.references],
            size=[width, height],
            seed=seed,
            checks=[check.name for check in self._roles.checks],
            **({"before": draw.before.sha256} if draw.before else {}),
            **({"backend": step.backend} if step.backend else {}),
            **({"n": draw.n} if draw.n > 1 else {}),
        )
        repeats = Repeats(settings.limits.max_repeats)
        billed = backend.capabilities.billed
        call = self._call(
            "backend", key, step=draw.step, attempt=draw.attempt, candidate=draw.candidate, images=draw.n,
            billed=billed, repeats=repeats,
        )  # fmt: skip

        said: str | None = None

        async def produce() -> Produced:
            nonlocal said
            references = await self._pictures(draw.references)
            request = ImageRequest(
                # Sent again, what was blocked is not: it would be blocked again.
                prompt=draw.wording.text(said or draw.prompt),
                references=references,
                width=width,
                height=height,
                n=draw.n,
                seed=seed,
                backend=step.backend,
                timeout_s=settings.limits.call_timeout_s,
            )
            previews = Previews(self._roles.artifacts, on_preview)
            try:
                result = await backend.agenerate(request, on_progress=previews)
            except ContentBlocked as blocked:
                if said is not None or not isinstance(self._roles.planner, Rephraser) or not repeats.left:
                    raise
                said = await self._rephrase(self._roles.planner, draw, blocked, repeats)
                # The ledger sends it again: this sending counts, whatever comes of the next.
                again = copy(blocked)
                again.resendable, again.retry_after = True, 0.0
                raise again from blocked
            await previews.finish()
            images, unreadable = await asyncio.to_thread(all_pictures, result, backend, draw.n)
            # Stored before they are checked: they are paid for.
            refs = [await self._roles.artifacts.aput_image(image) for image in images]
            before = await self._pictures((draw.before,)) if draw.before else references[:1]
            pictures: list[dict[str, Any]] = []
            warnings = [*draw.warnings, *result.warnings, *unreadable]
            for number, (image, ref) in enumerate(zip(images, refs, strict=True)):
                checks, broken = await asyncio.to_thread(
                    run_checks, self._roles.checks, step, image, references, before=before[0] if before else None
                )
                warnings += [warning for warning in broken if warning not in warnings]
                own_seed = image.seed if image.seed is not None else (seed + number) % 2**32
                pictures.append(picture_result(ref, checks, own_seed, signed=provenance.read(image.data).signed))
            prompt = said or draw.prompt
            body: dict[str, Any] = {"prompt": prompt, "warnings": warnings, "model": result.model}
            body |= pictures[0] if draw.n == 1 else {"pictures": pictures}
            if request.prompt != prompt:
                body["sent"] = request.prompt
            return Produced(body, result.usage)

        return call, produce

    async def _rephrase(self, planner: Rephraser, draw: routing.Draw, blocked: ContentBlocked, repeats: Repeats) -> str:
        role = self._roles.planner
        key = self._key("planner", role.fingerprint, step=draw.step, attempt=draw.attempt, rephrase=draw.prompt)
        call = self._call("planner", key, step=draw.step, attempt=draw.attempt, billed=role.billed, repeats=repeats)

        async def produce() -> Produced:
            said = await planner.arephrase(draw.prompt, reason=blocked.message)
            return Produced({"prompt": said.prompt}, said.usage)

        try:
            done = await self._scope.run(call, produce)
        except (CallError, LimitReached) as error:
            if isinstance(error, Cancelled):
                raise
            # That call is recorded and counted for itself; of this one it says nothing but that there are no words.
            raise blocked from error
        return str(done.result["prompt"])

    # --- critic -----------------------------------------------------------------------------

    def judge(
        self,
        step: Step,
        record: StepRecord,
        attempt: Attempt,
        style: StyleGuide,
        on_text: Callable[[str], None],
        *,
        candidate: int = 0,
        unusable: Sequence[Unusable] = (),
        repeats: Repeats,
    ) -> tuple[Call, Produce]:
        """The call that judges a drawn attempt. Its result is `{critique}`, or an unusable answer.

        Args:
            step: The step.
            record: Its record, with the attempts before.
            attempt: The attempt.
            style: What the sequence shares.
            on_text: Told the critic's reasoning as it comes.
            candidate: Which of several pictures; no part of what the call is, so equal ones are judged once.
            unusable: Answers of the critic about this attempt that could not be used.
            repeats: How often it may be repeated.
        """
        critic = self._roles.critic
        assert attempt.image is not None, "only a drawn attempt is judged"
        # What the step builds on comes first, whatever it was drawn from.
        seen = (*((attempt.before,) if attempt.before else ()), *attempt.references)
        failed = objections(attempt)
        earlier = [
            Earlier(before.prompt, before.critique, objections(before))
            for before in record.attempts[: attempt.number]
            if before.critique is not None
        ]
        key = self._key(
            "critic",
            critic.fingerprint,
            step=step.index,
            attempt=attempt.number,
            instruction=step.instruction,
            prompt=attempt.prompt,
            after=attempt.image.sha256,
            references=[ref.sha256 for ref in seen],
            style=style.model_dump(mode="json"),
            checks=[check.model_dump(mode="json") for check in failed],
            earlier=[[before.prompt, before.critique.model_dump(mode="json")] for before in earlier],
            unusable=[asdict(answer) for answer in unusable],
        )
        call = self._call(
            "critic",
            key,
            step=step.index,
            attempt=attempt.number,
            candidate=candidate,
            calls=int(getattr(critic, "calls_at_most", 1)),
            billed=critic.billed,
            repeats=repeats,
        )
        after = attempt.image

        async def produce() -> Produced:
            pictures = await self._pictures((*seen, after))
            references = pictures[:-1]
            request = CritiqueRequest(
                instruction=step.instruction or "",
                prompt=attempt.prompt,
                after=pictures[-1],
                before=references[0] if references else None,
                references=references,
                style_guide=style,
                checks=failed,
                attempt=attempt.number,
                earlier=earlier,
                unusable=unusable,
            )
            try:
                result = critique_result(await critic.acritique(request, on_text=on_text))
            except CritiqueError as error:
                if error.usage is None:
                    raise
                return Produced(unusable_result(error), error.usage)
            return Produced({"critique": result.critique.model_dump(mode="json")}, result.usage)

        return call, produce

    # --- shared -----------------------------------------------------------------------------

    def _key(self, role: Role, fingerprint: str, **parts: Any) -> str:
        return call_key(scope=self.run_id, role=role, template=TEMPLATE, fingerprint=fingerprint, **parts)

    def _call(self, role: Role, key: str, **fields: Any) -> Call:
        deadline, remake = self._settings.limits.call_timeout_s, self._settings.redraw_missing
        price: float | None = getattr(self._prices, role)
        if price is not None:
            price *= fields.get("images", 1)
        return Call(self.run_id, key, role, deadline_s=deadline, remake=remake, price_usd=price, **fields)

    async def _pictures(self, refs: Sequence[ArtifactRef]) -> tuple[ImageBytes, ...]:
        return tuple([await self._roles.artifacts.aget_image(ref) for ref in refs])


#: The name under which a reviewer's remark is told to the critic, beside the checks that failed.
REVIEWER = "reviewer"


def objections(attempt: Attempt) -> tuple[CheckResult, ...]:
    """What is held against an attempt before the critic says anything: failed checks, and a reviewer's remark.

    A remark goes the way of a failed check: the critic has to say `revise`, and writes the refined prompt.
    """
    review = attempt.review
    if review is None or review.verdict == "accept" or not review.reasoning:
        return attempt.failed_checks
    return (*attempt.failed_checks, CheckResult(name=REVIEWER, passed=False, reason=review.reasoning))
