"""What a change starts from: a plan that is there, and what came of its steps.

The same for all changes: of a finished document on a later turn, of a plan a reviewer wants otherwise, and
of a plan one step of which cannot be drawn. Steps that do not depend on the change are taken over with
their records: nothing is called for them again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from langgraph_interleave import routing
from langgraph_interleave.artifacts import ArtifactStore
from langgraph_interleave.changes import match_steps
from langgraph_interleave.errors import ArtifactMissing, ConfigError
from langgraph_interleave.migrations import Damaged
from langgraph_interleave.planner import Existing
from langgraph_interleave.routing import RunView
from langgraph_interleave.stored import as_document, as_plan_record, as_step_record
from langgraph_interleave.types import (
    SCHEME,
    DocumentData,
    ImagePart,
    Plan,
    PlanFinished,
    PlanRecord,
    Request,
    StepRecord,
    StyleGuide,
    parse_source,
)

M = TypeVar("M", bound=BaseModel)

_REMEDY = 'Pass result["document"] of an earlier run, its artifact:// address, or "latest" on a thread that has one.'


@dataclass(frozen=True, slots=True)
class Base:
    """A plan and what came of it.

    Attributes:
        plan: Its record.
        digest: The digest of that record.
        records: The records of the steps that were begun, by index; that of the sheet after the last.
        digests: Their digests.
        document: Digest of the document, where the plan is a finished document's.
        version: Version of that document; 0 where there is none yet.
        unsaid: What is wanted otherwise are no words of anybody's, and no part of what was asked for.
    """

    plan: PlanRecord
    digest: str
    records: Mapping[int, StepRecord] = field(default_factory=dict[int, StepRecord])
    digests: Mapping[int, str] = field(default_factory=dict[int, str])
    document: str | None = None
    version: int = 0
    unsaid: bool = False

    @property
    def steps(self) -> Plan:
        """The plan itself."""
        assert self.plan.plan is not None, "only a plan that was made is changed"
        return self.plan.plan


async def base_of(given: object, artifacts: ArtifactStore, *, latest: str | None) -> Base:
    """Find the document a caller means.

    Args:
        given: The document as it was returned, its digest or address, or `"latest"`.
        artifacts: The store it is in.
        latest: Digest of the last document of this thread.

    Raises:
        ConfigError: It is none of these, or nothing was planned for it.
        ArtifactMissing: It, its plan, or a record is not in this store.
    """
    if isinstance(given, Mapping):
        data = _document(cast("Mapping[str, Any]", given))
        digest = await artifacts.aput_json(data.model_dump(mode="json", exclude_none=True))
    elif isinstance(given, str):
        digest = _digest(given, latest)
        data = _document(await _read(digest, artifacts, "The document"))
    else:
        raise ConfigError(f"base is a {type(given).__name__}, no document.", remedy=_REMEDY)
    if data.plan is None:
        raise ConfigError(
            "The document in base has no plan, so there is nothing to change.",
            remedy="Ask for a new one: leave out base.",
        )
    what = "The plan of the document in base"
    plan = _record(as_plan_record, await _read(data.plan, artifacts, what), what)
    if plan.plan is None:
        raise ConfigError(
            "Nothing was planned for the document in base, so there is nothing to change.",
            remedy="Ask for a new one: leave out base.",
        )
    steps = (*data.steps, *((data.sheet,) if data.sheet is not None else ()))
    digests = {step.index: step.record for step in steps if step.record is not None}
    records = await read_records(digests, artifacts)
    for step in steps:
        record = records.get(step.index)
        if record is not None and (record.index, record.picture) != (step.index, step.image):
            raise ConfigError(
                f"Step {step.index} of the document in base is not what its record says: one was put in by hand.",
                remedy=_REMEDY,
            )
    return Base(plan, data.plan, records, digests, document=digest, version=data.version)


async def read_records(digests: Mapping[int, str], artifacts: ArtifactStore) -> dict[int, StepRecord]:
    """The records of steps, by index.

    Raises:
        ConfigError: One is the record of something else.
        ArtifactMissing: One is not in this store.
    """
    what = "The record of a step"
    found = await asyncio.gather(*(_read(digest, artifacts, what) for digest in digests.values()))
    return {index: _record(as_step_record, data, what) for index, data in zip(digests, found, strict=True)}


def _record(read: Callable[..., M], data: object, what: str) -> M:
    try:
        return read(data, name=what)
    except Damaged as error:
        raise ConfigError(f"{what} is something else.", remedy=_REMEDY) from error


def _digest(given: str, latest: str | None) -> str:
    if given == "latest":
        if latest is None:
            raise ConfigError(
                'There is no document in this thread yet, so "latest" is none.',
                remedy=f"{_REMEDY} As a part of a graph of yours, this one has a thread of its own only with "
                "create_interleave_graph(checkpointer=True).",
            )
        return latest
    digest = given.removeprefix(SCHEME)
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise ConfigError(f"base is {given[:80]!r}, which names no document.", remedy=_REMEDY)
    return digest


def _document(data: Mapping[str, Any]) -> DocumentData:
    try:
        return as_document(data, name="The document in base")
    except Damaged as error:
        raise ConfigError(f"base is not a document: {error.why}.", remedy=_REMEDY) from error


async def _read(digest: str, artifacts: ArtifactStore, what: str) -> dict[str, Any]:
    try:
        return await artifacts.aget_json(digest)
    except ArtifactMissing as missing:
        raise ArtifactMissing(
            f"{what}, {digest[:12]}…, is not in the artifact store of this graph.",
            remedy="Use the store the document was made with: create_interleave_graph(artifacts=…).",
        ) from missing


# --- what the planner is given, and what becomes of its answer --------------------------------


def asked_of(base: Base, change: Request) -> tuple[Request, Existing]:
    """What a planner is given: all that was ever asked for, the change, and what was drawn."""
    before, now = base.plan.request, change
    given = tuple(range(len(before.images), len(before.images) + len(now.images)))
    first = len(before.images) + len(now.images)
    number = base.steps.first_number
    drawn = [
        (step.index, picture)
        for step in base.steps.steps
        if (record := base.records.get(step.index)) is not None and (picture := record.picture) is not None
    ]
    shown = [ImagePart(image=picture, name=f"the picture of step {index + number}") for index, picture in drawn]
    existing = Existing(
        plan=base.steps,
        change=change,
        pictures={index: first + place for place, (index, _) in enumerate(drawn)},
        outcomes={
            index: outcome
            for index, record in base.records.items()
            if index < len(base.steps.steps) and (outcome := record.outcome or record.proposed) is not None
        },
        given=given,
    )
    return Request(parts=(*before.parts, *now.parts, *shown)), existing


def settle_plan(base: Base, finished: PlanFinished, request: Request, change: Request) -> tuple[PlanFinished, Request]:
    """A planner's answer with its origins found, and the request as it is kept.

    Drawn pictures that nothing builds on are left out of it, and so is what nobody said.

    Args:
        base: What was changed.
        finished: The planner's answer.
        request: What it was given.
        change: What was wanted otherwise.
    """
    asked = len(base.plan.request.images) + len(change.images)
    first = len(base.plan.request.parts)
    unsaid = range(first, first + len(change.parts)) if base.unsaid else ()
    plan = finished.plan
    origins = match_steps(base.steps, plan) if finished.origins is None else finished.origins
    named = {number for step in plan.steps for kind, number in map(parse_source, step.sources) if kind == "input"}
    kept = [number for number in range(len(request.images)) if number < asked or number in named]
    place = {number: index for index, number in enumerate(kept)}

    def moved(source: str) -> str:
        kind, number = parse_source(source)
        return f"input:{place[number]}" if kind == "input" else source

    steps = tuple(step.model_copy(update={"sources": tuple(map(moved, step.sources))}) for step in plan.steps)
    seen, parts = -1, []
    for number, part in enumerate(request.parts):
        seen += isinstance(part, ImagePart)
        if number not in unsaid and (not isinstance(part, ImagePart) or seen in place):
            parts.append(part)
    finished = replace(finished, plan=plan.model_copy(update={"steps": steps}), origins=origins)
    return finished, Request(parts=tuple(parts))


def taken_over(base: Base, view: RunView, origins: tuple[int | None, ...]) -> dict[int, StepRecord]:
    """The records of the steps that are kept: those with a picture, nothing of which depends on the change.

    A step is drawn again when a picture it is drawn from is. One that was never drawn is drawn now.

    Args:
        base: What was changed.
        view: The run with its new plan.
        origins: For each step of the plan, which step of the base it keeps the picture of.
    """
    kept: dict[int, StepRecord] = {}

    def keep(index: int, origin: int) -> None:
        record = base.records.get(origin)
        if record is not None and record.outcome is not None and record.picture is not None:
            update = {"index": index, "origin": base.digests.get(origin), "problem": record.problem}
            kept[index] = record.model_copy(update=update)

    if view.sheet is not None and view.style is not None and _same_sheet(base.steps.style_guide, view.style):
        keep(view.sheet, len(base.steps.steps))
    for step, origin in zip(view.planned, origins, strict=True):
        if step.op == "text" or origin is None:
            continue
        sources = routing.waits_for(view, step)
        if all(source in kept or view.steps[source].op == "text" for source in sources):
            keep(step.index, origin)
    return kept


def _same_sheet(old: StyleGuide, new: StyleGuide) -> bool:
    return (old.characters, old.look) == (new.characters, new.look)
