"""What roles return, held against their contracts, as the JSON of ledger records, and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph_interleave.backends.base import ImageBackend
from langgraph_interleave.checks.base import Check
from langgraph_interleave.errors import BadResponse, CritiqueError, PlanError
from langgraph_interleave.imaging import verify_image
from langgraph_interleave.types import (
    ArtifactRef,
    CheckResult,
    Critique,
    CritiqueResult,
    ImageBytes,
    ImageResult,
    Plan,
    PlanFinished,
    PlanWarning,
    Step,
    Unusable,
)


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


def check_backends(plan: Plan, names: Sequence[str]) -> None:
    """Refuse a plan that wants a backend there is not, where there are several to choose from.

    Raises:
        PlanError: Naming the step and the backend.
    """
    for step in plan.steps:
        if names and step.backend is not None and step.backend not in names:
            raise PlanError(
                f"Step {step.index + 1} wants the backend {step.backend!r}; there are {', '.join(names)}.",
                remedy="Ask again, or add that backend.",
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


def all_pictures(result: object, backend: ImageBackend, n: int) -> tuple[list[ImageBytes], list[str]]:
    """Up to `n` pictures of a result, as `first_picture` takes the first, and a warning for each that is none.

    Raises:
        BadResponse: None of them is a picture.
    """
    if n == 1 or not isinstance(result, ImageResult) or not result.images:
        return [first_picture(result, backend)], []
    pictures: list[ImageBytes] = []
    errors: list[BadResponse] = []
    for image in result.images[:n]:
        try:
            pictures.append(first_picture(replace(result, images=(image,)), backend))
        except BadResponse as error:
            errors.append(error)
    if not pictures:
        raise errors[0]
    return pictures, [error.message for error in errors]


def picture_result(
    image: ArtifactRef, checks: Sequence[CheckResult], seed: int, *, signed: bool = False
) -> dict[str, Any]:
    """One picture that was drawn, as JSON."""
    body: dict[str, Any] = {
        "image": image.model_dump(mode="json"),
        "checks": [check.model_dump(mode="json") for check in checks],
        "seed": seed,
    }
    return {**body, "signed": True} if signed else body


def read_drawing(result: Mapping[str, Any]) -> dict[str, object]:
    """The fields of an attempt that the ledger record of its drawing fills."""
    return {
        "prompt": result["prompt"],
        "image": ArtifactRef.model_validate(result["image"]),
        "checks": tuple(CheckResult.model_validate(check) for check in result["checks"]),
        "warnings": tuple(result["warnings"]),
        "seed": result["seed"],
        "sent": result.get("sent"),
        "signed": result.get("signed"),
    }


def read_pictures(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pictures in the JSON of a ledger record, each as the fields of a candidate."""
    words = {"prompt": result["prompt"], "sent": result.get("sent")}
    return [{**words, **picture} for picture in result.get("pictures") or [_picture_in(result)]]


def _picture_in(result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: result[name] for name in ("image", "checks", "seed", "signed") if name in result}


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
    checks: Sequence[Check],
    step: Step,
    after: ImageBytes,
    references: Sequence[ImageBytes],
    *,
    before: ImageBytes | None = None,
) -> tuple[list[CheckResult], list[str]]:
    """Run every check on a picture, in order; `before` is the first reference, if it is no other.

    Returns:
        Their results, and a warning for each check that is broken: it has no say.
    """
    results: list[CheckResult] = []
    warnings: list[str] = []
    before = before or (references[0] if references else None)
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
        "raw": finished.raw,
        **({"origins": list(finished.origins)} if finished.origins is not None else {}),
    }


def read_plan_result(result: Mapping[str, Any]) -> PlanFinished:
    """The inverse of `plan_result`."""
    return PlanFinished(
        plan=Plan.model_validate(result["plan"]),
        reasoning=result["reasoning"],
        warnings=tuple(PlanWarning(code, message, step) for code, message, step in result["warnings"]),
        raw=result["raw"],
        origins=None if result.get("origins") is None else tuple(result["origins"]),
    )


def read_critique(result: Mapping[str, Any]) -> Critique:
    """The critique in the JSON of a ledger record."""
    return Critique.model_validate(result["critique"])


def unusable_result(error: PlanError | CritiqueError) -> dict[str, Any]:
    """An answer that was paid for and cannot be used, as JSON."""
    return {"unusable": {"reason": error.message, "raw": error.raw, "truncated": error.truncated}}


def read_unusable(result: Mapping[str, Any]) -> Unusable | None:
    """The inverse of `unusable_result`; `None` for an answer that can be used."""
    found = result.get("unusable")
    return None if found is None else Unusable(found["reason"], found["raw"], truncated=found["truncated"])
